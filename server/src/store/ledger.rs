//! The double-entry ledger: transfers that sum to zero, entries with running balances, a chain of hashes.

use std::collections::BTreeMap;

use common::ids::PoolId;
use common::instant::Instant;
use sha2::{Digest, Sha256};

use super::db::{Row, Tx, Value, values};
use crate::error::{AppError, ErrorKind};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    fn parse(text: &str) -> Result<Self, AppError> {
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

/// An account and its running balance in micro-credits.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    /// The short number that entries carry.
    pub(crate) number: u64,
    /// The pool whose currency it holds.
    pub(crate) pool: PoolId,
    /// After the last entry.
    pub(crate) balance: i64,
}

/// The number of an account of a [`Book`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AccountNumber(u64);

/// A transfer to post.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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

/// The ledger's accounts with their balances, and what is to be written.
#[derive(Clone, Debug)]
pub(crate) struct Book {
    accounts: BTreeMap<(AccountKind, String), Account>,
    by_number: BTreeMap<u64, (AccountKind, String)>,
    next_transfer: u64,
    head_sha256: [u8; 32],
    new_accounts: Vec<[Value; 4]>,
    new_transfers: Vec<[Value; 9]>,
    new_entries: Vec<[Value; 9]>,
}

impl Book {
    /// The book as of `cycle`, with what is booked already for it.
    pub(crate) async fn load(tx: &mut Tx, cycle: u64) -> Result<Self, AppError> {
        const ACCOUNTS: &str = "SELECT a.number, a.kind, a.pool, a.owner, COALESCE((SELECT e.balance_after \
            FROM ledger_entry e WHERE e.account = a.number AND e.cycle <= $1 \
            ORDER BY e.cycle DESC, e.transfer DESC, e.place DESC LIMIT 1), 0) FROM ledger_account a ORDER BY a.number";
        const HEAD: &str =
            "SELECT number, sha256 FROM ledger_transfer WHERE cycle <= $1 ORDER BY number DESC LIMIT 1";
        let mut book = Self {
            accounts: BTreeMap::new(),
            by_number: BTreeMap::new(),
            next_transfer: 1,
            head_sha256: [0; 32],
            new_accounts: Vec::new(),
            new_transfers: Vec::new(),
            new_entries: Vec::new(),
        };
        for mut row in tx.rows(ACCOUNTS, values![cycle]).await? {
            let (number, kind) = (row.unsigned()?, AccountKind::parse(&row.text()?)?);
            let (pool, owner, balance) = (row.id()?, row.text()?, row.int()?);
            book.by_number.insert(number, (kind, owner.clone()));
            book.accounts.insert((kind, owner), Account { number, pool, balance });
        }
        if let Some(mut row) = tx.row(HEAD, values![cycle]).await? {
            book.next_transfer = row.unsigned()? + 1;
            book.head_sha256 = row.sha256()?;
        }
        Ok(book)
    }

    /// Takes over a transfer that is stored already, next in the chain.
    ///
    /// # Errors
    /// `Inconsistent`: its lines don't sum to zero, a running balance is not the one that follows, or its hash is not the
    /// one of what it says.
    pub(crate) fn adopt(&mut self, stored: &StoredTransfer) -> Result<(), AppError> {
        let key = &stored.transfer.key;
        let wrong = |what: &str| {
            AppError::new(
                ErrorKind::Inconsistent,
                format!("ledger transfer {} ({key}): {what}", stored.number),
            )
        };
        if stored.number != self.next_transfer {
            return Err(wrong(&format!("the next number after {} is missing", self.next_transfer - 1)));
        }
        if stored.entries.iter().map(|(entry, _)| i128::from(entry.line.amount)).sum::<i128>() != 0 {
            return Err(wrong("its entries do not sum to zero"));
        }
        for (entry, owner) in &stored.entries {
            let StoredOwner { kind, pool, owner } = owner;
            let number = entry.line.account.0;
            self.by_number.entry(number).or_insert_with(|| (*kind, owner.clone()));
            let new = || Account { number, pool: pool.clone(), balance: 0 };
            self.accounts.entry((*kind, owner.clone())).or_insert_with(new);
            let after = self.run_on(&entry.line, key)?;
            if after != entry.balance_after {
                return Err(wrong(&format!(
                    "entry {} says balance {} after it, but {} follows",
                    entry.place, entry.balance_after, after
                )));
            }
        }
        let entries: Vec<&Entry> = stored.entries.iter().map(|(entry, _)| entry).collect();
        let sha256 = chained_sha256(self.head_sha256, stored.number, &stored.transfer, &entries)?;
        if sha256 != stored.sha256 {
            return Err(wrong("its hash is not the one of what it says, after the transfer before it"));
        }
        self.next_transfer += 1;
        self.head_sha256 = sha256;
        Ok(())
    }

    /// Drops what was posted but is stored already.
    pub(crate) fn forget_posted(&mut self) {
        self.new_accounts.clear();
        self.new_transfers.clear();
        self.new_entries.clear();
    }

    /// The account of an owner; made where there is none.
    pub(crate) fn account(&mut self, kind: AccountKind, pool: &PoolId, owner: &str) -> AccountNumber {
        if let Some(account) = self.accounts.get(&(kind, owner.to_owned())) {
            return AccountNumber(account.number);
        }
        let number = self.by_number.last_key_value().map_or(1, |(number, _)| number + 1);
        let key = (kind, owner.to_owned());
        self.new_accounts.push(values![number, kind.as_str(), pool.as_str(), owner]);
        self.by_number.insert(number, key.clone());
        self.accounts.insert(key, Account { number, pool: pool.clone(), balance: 0 });
        AccountNumber(number)
    }

    /// A team's balance in micro-credits of its pool; 0 without any entry.
    pub(crate) fn team_balance(&self, team: &str) -> i64 {
        self.accounts.get(&(AccountKind::Team, team.to_owned())).map_or(0, |account| account.balance)
    }

    /// The number that the next transfer gets.
    pub(crate) const fn next_transfer(&self) -> u64 {
        self.next_transfer
    }

    /// The hash at the end of the chain.
    pub(crate) const fn head_sha256(&self) -> [u8; 32] {
        self.head_sha256
    }

    /// Posts a transfer: checks that its lines sum to zero, runs the balances on and chains the hash.
    ///
    /// # Errors
    /// `Internal`: the lines don't sum to zero or a balance leaves 64 bits; nothing is posted then.
    pub(crate) fn post(&mut self, transfer: NewTransfer, lines: Vec<Line>) -> Result<(), AppError> {
        let sum: i128 = lines.iter().map(|line| i128::from(line.amount)).sum();
        if sum != 0 {
            return Err(AppError::internal(format!(
                "the transfer {} sums to {sum}, not to zero",
                transfer.key
            )));
        }
        let number = self.next_transfer;
        let mut entries = Vec::with_capacity(lines.len());
        for (line, place) in lines.into_iter().zip(1_u64..) {
            let balance_after = self.run_on(&line, &transfer.key)?;
            entries.push(Entry { place, line, balance_after });
        }
        let sha256 =
            chained_sha256(self.head_sha256, number, &transfer, &entries.iter().collect::<Vec<_>>())?;
        self.new_transfers.push(values![
            number,
            transfer.kind.as_str(),
            transfer.cycle,
            transfer.step,
            transfer.pool.as_str(),
            transfer.reason,
            transfer.key,
            transfer.written_at.0,
            sha256,
        ]);
        for Entry { place, line, balance_after } in entries {
            let (chip_type, chip_seconds) = line.used.unzip();
            self.new_entries.push(values![
                number,
                place,
                line.account.0,
                transfer.cycle,
                line.amount,
                balance_after,
                chip_type.as_deref(),
                chip_seconds,
                line.carry,
            ]);
        }
        self.next_transfer += 1;
        self.head_sha256 = sha256;
        Ok(())
    }

    /// Adds a line to the running balance of its account; the answer is the balance after it.
    fn run_on(&mut self, line: &Line, key: &str) -> Result<i64, AppError> {
        let account = self.by_number.get(&line.account.0).and_then(|owner| self.accounts.get_mut(owner));
        let account =
            account.ok_or_else(|| AppError::internal("an entry of an account that does not exist"))?;
        let after = account.balance.checked_add(line.amount);
        account.balance = after
            .ok_or_else(|| AppError::internal(format!("the transfer {key} leaves the range of a balance")))?;
        Ok(account.balance)
    }

    /// Writes what was posted.
    pub(crate) async fn flush(&mut self, tx: &mut Tx) -> Result<(), AppError> {
        const ACCOUNTS: &str = "INSERT INTO ledger_account (number, kind, pool, owner)";
        const TRANSFERS: &str = "INSERT INTO ledger_transfer (number, kind, cycle, step, pool, reason, unique_key, \
                                 written_at, sha256)";
        const ENTRIES: &str = "INSERT INTO ledger_entry (transfer, place, account, cycle, amount, balance_after, \
                               chip_type, chip_seconds, carry)";
        tx.insert(ACCOUNTS, std::mem::take(&mut self.new_accounts)).await?;
        tx.insert(TRANSFERS, std::mem::take(&mut self.new_transfers)).await?;
        tx.insert(ENTRIES, std::mem::take(&mut self.new_entries)).await
    }
}

/// A line in its place, with the balance after it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) place: u64,
    pub(crate) line: Line,
    pub(crate) balance_after: i64,
}

/// Whose account an entry is of.
#[derive(Clone, Debug)]
pub(crate) struct StoredOwner {
    pub(crate) kind: AccountKind,
    pub(crate) pool: PoolId,
    pub(crate) owner: String,
}

/// A transfer as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredTransfer {
    pub(crate) number: u64,
    pub(crate) transfer: NewTransfer,
    pub(crate) entries: Vec<(Entry, StoredOwner)>,
    pub(crate) sha256: [u8; 32],
}

/// The hash of a transfer: over the hash before it and everything that it says, as a JSON list.
fn chained_sha256(
    before: [u8; 32],
    number: u64,
    transfer: &NewTransfer,
    entries: &[&Entry],
) -> Result<[u8; 32], AppError> {
    let head = (
        hex::encode(before),
        (number, transfer.kind.as_str(), transfer.cycle, transfer.step),
        (transfer.pool.as_str(), &transfer.reason, &transfer.key, transfer.written_at.0),
    );
    let entries: Vec<_> = entries
        .iter()
        .map(|Entry { place, line, balance_after }| {
            (*place, line.account.0, line.amount, *balance_after, &line.used, line.carry)
        })
        .collect();
    let text = serde_json::to_vec(&(head, entries)).map_err(AppError::internal)?;
    Ok(Sha256::digest(text).into())
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
    const ENTRIES: &str = "SELECT e.transfer, e.place, e.account, e.amount, e.balance_after, e.chip_type, e.chip_seconds, \
        e.carry, a.kind, a.pool, a.owner FROM ledger_entry e JOIN ledger_account a ON a.number = e.account \
        WHERE e.transfer BETWEEN $1 AND $2 ORDER BY e.transfer, e.place";
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
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    places.extend(transfers.iter().enumerate().map(|(place, transfer)| (transfer.number, place)));
    for mut row in tx.rows(ENTRIES, values![from, last]).await? {
        let number = row.unsigned()?;
        let (entry, owner) = (entry_from_row(&mut row)?, owner_from_row(&mut row)?);
        if let Some(place) = places.get(&number) {
            transfers[*place].entries.push((entry, owner));
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

fn owner_from_row(row: &mut Row) -> Result<StoredOwner, AppError> {
    Ok(StoredOwner { kind: AccountKind::parse(&row.text()?)?, pool: row.id()?, owner: row.text()? })
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
