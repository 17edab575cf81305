//! The double-entry ledger: transfers that sum to zero, entries with running balances, a chain of hashes.

mod book;

use std::collections::BTreeMap;

use common::ids::PoolId;
use common::instant::Instant;

use super::db::{Row, Tx, values};
use crate::error::AppError;
pub(crate) use book::{Book, chained_sha256};

/// What an account is for. Each holds one pool's currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccountKind {
    /// Minus everything that was ever minted in a pool.
    Issuance,
    /// Minted credits on their way to the teams.
    Treasury,
    /// What teams paid for chips.
    Revenue,
    /// A team's balance.
    Team,
}

impl AccountKind {
    /// The kind as it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issuance => "issuance",
            Self::Treasury => "treasury",
            Self::Revenue => "revenue",
            Self::Team => "team",
        }
    }

    fn parse(text: &str) -> Result<Self, AppError> {
        [Self::Issuance, Self::Treasury, Self::Revenue, Self::Team]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| AppError::internal(format!("a stored account has the unknown kind {text:?}")))
    }
}

/// Why credits moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferKind {
    /// New credits.
    Mint,
    /// From the treasury to teams.
    Income,
    /// For chips used.
    Charge,
    /// Balances follow a change of the pool's total income.
    Rebase,
    /// Booked by a person.
    Correction,
    /// Credits above a cap expire.
    Lapse,
}

impl TransferKind {
    pub(crate) fn parse(text: &str) -> Result<Self, AppError> {
        [Self::Mint, Self::Income, Self::Charge, Self::Rebase, Self::Correction, Self::Lapse]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| AppError::internal(format!("a stored transfer has the unknown kind {text:?}")))
    }

    /// The kind as it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mint => "mint",
            Self::Income => "income",
            Self::Charge => "charge",
            Self::Rebase => "rebase",
            Self::Correction => "correction",
            Self::Lapse => "lapse",
        }
    }
}

/// The number of an account of a [`Book`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AccountNumber(u64);

impl AccountNumber {
    /// The number as entries carry it.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

/// A transfer to post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewTransfer {
    pub(crate) kind: TransferKind,
    /// The cycle from which it counts.
    pub(crate) cycle: u64,
    /// The accounting step that books it; absent for what a person books.
    pub(crate) step: Option<u64>,
    pub(crate) pool: PoolId,
    pub(crate) reason: String,
    /// Booked once under this key.
    pub(crate) key: String,
    pub(crate) written_at: Instant,
}

/// One side of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) account: AccountNumber,
    /// Micro-credits that come into the account.
    pub(crate) amount: i64,
    /// Of a charge: the chip type and the chip-seconds used.
    pub(crate) used: Option<(String, u64)>,
    /// Of an income or a charge: what is left below one micro-credit, in 1/3600 of it.
    pub(crate) carry: Option<u64>,
}

impl Line {
    /// A line without a carried remainder.
    pub(crate) const fn plain(account: AccountNumber, amount: i64) -> Self {
        Self { account, amount, used: None, carry: None }
    }
}

/// A line in its place, with the balance after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) place: u64,
    pub(crate) line: Line,
    pub(crate) balance_after: i64,
}

/// A transfer as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredTransfer {
    pub(crate) number: u64,
    pub(crate) transfer: NewTransfer,
    pub(crate) entries: Vec<Entry>,
    pub(crate) sha256: [u8; 32],
}

/// The transfers with numbers from `from` on whose cycle is at most `to_cycle`, in order.
pub(crate) async fn transfers(
    tx: &mut Tx,
    from: u64,
    to_cycle: u64,
) -> Result<Vec<StoredTransfer>, AppError> {
    const TRANSFERS: &str = "SELECT number, kind, cycle, step, pool, reason, unique_key, written_at, sha256 \
        FROM ledger_transfer WHERE number >= $1 AND number <= COALESCE((SELECT MAX(number) FROM ledger_transfer \
        WHERE cycle = (SELECT MAX(cycle) FROM ledger_transfer WHERE cycle <= $2)), 0) ORDER BY number";
    const ENTRIES: &str = "SELECT transfer, place, account, amount, balance_after, chip_type, chip_seconds, carry \
        FROM ledger_entry WHERE transfer BETWEEN $1 AND $2 ORDER BY transfer, place";
    let mut transfers = Vec::new();
    for mut row in tx.rows(TRANSFERS, values![from, to_cycle]).await? {
        transfers.push(StoredTransfer {
            number: row.unsigned()?,
            transfer: NewTransfer {
                kind: TransferKind::parse(&row.text()?)?,
                cycle: row.unsigned()?,
                step: row.optional_unsigned()?,
                pool: row.id()?,
                reason: row.text()?,
                key: row.text()?,
                written_at: Instant(row.int()?),
            },
            entries: Vec::new(),
            sha256: row.sha256()?,
        });
    }
    let Some(last) = transfers.last().map(|transfer| transfer.number) else { return Ok(transfers) };
    let places: BTreeMap<u64, usize> =
        transfers.iter().enumerate().map(|(place, transfer)| (transfer.number, place)).collect();
    for mut row in tx.rows(ENTRIES, values![from, last]).await? {
        let number = row.unsigned()?;
        if let Some(place) = places.get(&number) {
            transfers[*place].entries.push(entry_from_row(&mut row)?);
        }
    }
    Ok(transfers)
}

fn entry_from_row(row: &mut Row) -> Result<Entry, AppError> {
    let (place, account) = (row.unsigned()?, AccountNumber(row.unsigned()?));
    let (amount, balance_after) = (row.int()?, row.int()?);
    let used = row.optional_text()?.zip(row.optional_unsigned()?);
    Ok(Entry { place, line: Line { account, amount, used, carry: row.optional_unsigned()? }, balance_after })
}

/// What the last income of each team left below one micro-credit, as of `cycle`, by team.
pub(crate) async fn income_carries(tx: &mut Tx, cycle: u64) -> Result<BTreeMap<String, u64>, AppError> {
    const SQL: &str = "SELECT a.owner, COALESCE((SELECT e.carry FROM ledger_entry e WHERE e.account = a.number \
        AND e.cycle <= $1 AND e.chip_type IS NULL AND e.carry IS NOT NULL \
        ORDER BY e.cycle DESC, e.transfer DESC LIMIT 1), 0) FROM ledger_account a WHERE a.kind = 'team'";
    tx.rows(SQL, values![cycle]).await?.iter_mut().map(|row| Ok((row.text()?, row.unsigned()?))).collect()
}

/// What the last charge of each team and chip type left below one micro-credit, as of `cycle`.
pub(crate) async fn charge_carries(
    tx: &mut Tx,
    cycle: u64,
) -> Result<BTreeMap<(String, String), u64>, AppError> {
    const SQL: &str = "SELECT a.owner, c.id, COALESCE((SELECT e.carry FROM ledger_entry e WHERE e.account = a.number \
        AND e.chip_type = c.id AND e.cycle <= $1 ORDER BY e.cycle DESC LIMIT 1), 0) FROM ledger_account a \
        CROSS JOIN (SELECT DISTINCT id FROM chip_type_version) c WHERE a.kind = 'team'";
    let mut rows = tx.rows(SQL, values![cycle]).await?;
    rows.iter_mut().map(|row| Ok(((row.text()?, row.text()?), row.unsigned()?))).collect()
}
