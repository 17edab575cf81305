//! The double-entry ledger: transfers that sum to zero, entries with running balances, a chain of hashes.

use std::collections::BTreeMap;

use common::ids::PoolId;
use common::instant::Instant;
use sha2::{Digest, Sha256};

use super::db::{Tx, Value, values};
use crate::error::AppError;

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

    /// Takes in what others booked since: transfers from the next number on, with their entries.
    pub(crate) async fn catch_up(&mut self, tx: &mut Tx) -> Result<(), AppError> {
        const HEAD: &str = "SELECT number, sha256 FROM ledger_transfer ORDER BY number DESC LIMIT 1";
        let Some(mut head) = tx.row(HEAD, []).await? else { return Ok(()) };
        let (number, sha256) = (head.unsigned()?, head.sha256()?);
        if number >= self.next_transfer {
            *self = Self::load(tx, i64::MAX.unsigned_abs()).await?;
        } else if sha256 != self.head_sha256 {
            return Err(AppError::internal("the head of the ledger is not the one that was written"));
        }
        Ok(())
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

    /// The number of the last transfer; 0 before the first.
    pub(crate) const fn last_transfer(&self) -> u64 {
        self.next_transfer - 1
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
        let sha256 = chained_sha256(self.head_sha256, number, &transfer, &entries)?;
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
struct Entry {
    place: u64,
    line: Line,
    balance_after: i64,
}

/// The hash of a transfer: over the hash before it and everything that it says, as a JSON list.
fn chained_sha256(
    before: [u8; 32],
    number: u64,
    transfer: &NewTransfer,
    entries: &[Entry],
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
