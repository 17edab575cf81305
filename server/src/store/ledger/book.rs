//! The book: accounts with running balances, what was posted, and the end of the chain of hashes.

use std::collections::BTreeMap;

use common::ids::PoolId;
use common::money::MicroCredits;
use sha2::{Digest, Sha256};

use super::{AccountKind, AccountNumber, Entry, Line, NewTransfer, StoredTransfer, transfers};
use crate::error::{AppError, ErrorKind};
use crate::store::db::{Tx, Value, values};

/// An account and its running balance in micro-credits.
#[derive(Clone, Copy, Debug)]
struct Account {
    /// The short number that entries carry.
    number: u64,
    /// After the last entry.
    balance: i64,
}

/// The ledger's accounts with their balances, and what is to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    accounts: BTreeMap<(AccountKind, String), Account>,
    by_number: BTreeMap<u64, (AccountKind, String)>,
    last_transfer: u64,
    head_sha256: [u8; 32],
    new_accounts: Vec<[Value; 4]>,
    /// Posted and not written yet.
    posted: Vec<StoredTransfer>,
}

impl Book {
    /// The book as of `cycle`, with what is booked already for it.
    pub(crate) async fn load(tx: &mut Tx, cycle: u64) -> Result<Self, AppError> {
        const ACCOUNTS: &str = "SELECT a.number, a.kind, a.owner, COALESCE((SELECT e.balance_after \
            FROM ledger_entry e WHERE e.account = a.number AND e.cycle <= $1 \
            ORDER BY e.cycle DESC, e.transfer DESC, e.place DESC LIMIT 1), 0) FROM ledger_account a ORDER BY a.number";
        const HEAD: &str =
            "SELECT number, sha256 FROM ledger_transfer WHERE cycle <= $1 ORDER BY number DESC LIMIT 1";
        let mut book = Self::default();
        for mut row in tx.rows(ACCOUNTS, values![cycle]).await? {
            let (number, kind) = (row.unsigned()?, AccountKind::parse(&row.text()?)?);
            let (owner, balance) = (row.text()?, row.int()?);
            book.by_number.insert(number, (kind, owner.clone()));
            book.accounts.insert((kind, owner), Account { number, balance });
        }
        if let Some(mut row) = tx.row(HEAD, values![cycle]).await? {
            book.last_transfer = row.unsigned()?;
            book.head_sha256 = row.sha256()?;
        }
        Ok(book)
    }

    /// Takes over the transfers from the next one on that count up to `cycle`, and the accounts made for them.
    ///
    /// # Errors
    /// As [`Book::adopt`], or the database can't be read.
    pub(crate) async fn catch_up(&mut self, tx: &mut Tx, cycle: u64) -> Result<(), AppError> {
        let stored = transfers(tx, self.next_transfer(), cycle).await?;
        if !stored.is_empty() {
            self.learn_accounts(tx).await?;
        }
        stored.iter().try_for_each(|transfer| self.adopt(transfer))
    }

    /// Learns of accounts that others made since.
    async fn learn_accounts(&mut self, tx: &mut Tx) -> Result<(), AppError> {
        const NEW: &str = "SELECT number, kind, owner FROM ledger_account WHERE number > $1 ORDER BY number";
        let known = self.by_number.last_key_value().map_or(0, |(number, _)| *number);
        for mut row in tx.rows(NEW, values![known]).await? {
            let (number, kind) = (row.unsigned()?, AccountKind::parse(&row.text()?)?);
            let owner = row.text()?;
            self.by_number.insert(number, (kind, owner.clone()));
            self.accounts.insert((kind, owner), Account { number, balance: 0 });
        }
        Ok(())
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
        if stored.number != self.next_transfer() {
            return Err(wrong(&format!("the next number after {} is missing", self.last_transfer)));
        }
        if stored.entries.iter().map(|entry| i128::from(entry.line.amount)).sum::<i128>() != 0 {
            return Err(wrong("its entries do not sum to zero"));
        }
        for entry in &stored.entries {
            let after = self.run_on(&entry.line, key)?;
            if after != entry.balance_after {
                return Err(wrong(&format!(
                    "entry {} says balance {} after it, but {} follows",
                    entry.place,
                    MicroCredits(entry.balance_after),
                    MicroCredits(after)
                )));
            }
        }
        let sha256 = chained_sha256(self.head_sha256, stored.number, &stored.transfer, &stored.entries)?;
        if sha256 != stored.sha256 {
            return Err(wrong("its hash is not the one of what it says, after the transfer before it"));
        }
        self.last_transfer += 1;
        self.head_sha256 = sha256;
        Ok(())
    }

    /// Takes out what was posted, where it is stored already.
    pub(crate) fn take_posted(&mut self) -> Vec<StoredTransfer> {
        self.new_accounts.clear();
        std::mem::take(&mut self.posted)
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
        self.accounts.insert(key, Account { number, balance: 0 });
        AccountNumber(number)
    }

    /// A team's balance in micro-credits of its pool; 0 without any entry.
    pub(crate) fn team_balance(&self, team: &str) -> i64 {
        self.accounts.get(&(AccountKind::Team, team.to_owned())).map_or(0, |account| account.balance)
    }

    /// The sum over all accounts: zero, whatever was posted.
    #[cfg(test)]
    pub(crate) fn sum_of_balances(&self) -> i128 {
        self.accounts.values().map(|account| i128::from(account.balance)).sum()
    }

    /// The number that the next transfer gets.
    pub(crate) const fn next_transfer(&self) -> u64 {
        self.last_transfer + 1
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
        let number = self.next_transfer();
        let mut entries = Vec::with_capacity(lines.len());
        for (line, place) in lines.into_iter().zip(1_u64..) {
            let balance_after = self.run_on(&line, &transfer.key)?;
            entries.push(Entry { place, line, balance_after });
        }
        let sha256 = chained_sha256(self.head_sha256, number, &transfer, &entries)?;
        self.posted.push(StoredTransfer { number, transfer, entries, sha256 });
        self.last_transfer += 1;
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
        let posted = std::mem::take(&mut self.posted);
        let transfers = posted.iter().map(|posted| {
            let NewTransfer { kind, cycle, step, pool, reason, key, written_at } = &posted.transfer;
            let (pool, reason, key) = (pool.as_str(), reason.as_str(), key.as_str());
            values![
                posted.number,
                kind.as_str(),
                *cycle,
                *step,
                pool,
                reason,
                key,
                written_at.0,
                posted.sha256
            ]
        });
        tx.insert(TRANSFERS, transfers.collect()).await?;
        let entries = posted.iter().flat_map(|posted| {
            posted.entries.iter().map(|Entry { place, line, balance_after }| {
                let (chip_type, chip_seconds) =
                    line.used.as_ref().map(|(id, seconds)| (id.as_str(), *seconds)).unzip();
                let (account, cycle) = (line.account.0, posted.transfer.cycle);
                let (amount, balance, carry) = (line.amount, *balance_after, line.carry);
                values![
                    posted.number,
                    *place,
                    account,
                    cycle,
                    amount,
                    balance,
                    chip_type,
                    chip_seconds,
                    carry
                ]
            })
        });
        tx.insert(ENTRIES, entries.collect()).await
    }
}

/// The hash of a transfer: over the hash before it and everything that it says, as a JSON list.
pub(crate) fn chained_sha256(
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
