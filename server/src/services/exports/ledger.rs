//! The ledger as an export: an entry a row, with what its transfer says.

use async_trait::async_trait;
use common::ids::TeamId;

use super::scope::Scope;
use super::source::{Context, Progress, Source};
use super::table::{Batch, Cell, Column, Kind, column};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::exports::{self, ExportedEntry, Stretch};

/// Entries read at once.
const BATCH: u32 = 5_000;

pub(super) const COLUMNS: &[Column] = &[
    column("transfer", Kind::Whole, "Number of the transfer, from 1 without gaps; its entries sum to zero."),
    column("entry", Kind::Whole, "Place of the entry in its transfer, from 1."),
    column(
        "kind",
        Kind::Text,
        "mint, income, charge, rebase, correction or lapse; docs/LEDGER.md says what each is.",
    ),
    column(
        "counts_at",
        Kind::Time,
        "When it counts: what an accounting step books counts just before the step, in the time it covers.",
    ),
    column("month", Kind::Text, "The month of the organisation's zone in which it counts, such as 2026-11."),
    column("time_zone", Kind::Text, "The organisation's zone, in which months are counted."),
    column("booked_at", Kind::Time, "When it was booked."),
    column("cycle", Kind::Whole, "The cycle from which it counts."),
    column("step", Kind::Whole, "The accounting step that booked it; empty for what a person booked."),
    column("pool", Kind::Text, "The pool whose credits the amounts are."),
    column("account", Kind::Text, "team, or of a pool its issuance, treasury or revenue."),
    column("owner", Kind::Text, "The team, or the pool of a pool's account."),
    column("amount_credits", Kind::Micros, "What comes into the account; below zero, what leaves it."),
    column("balance_after_credits", Kind::Micros, "The account's balance after the entry."),
    column("chip_type", Kind::Text, "Of a charge: the chip type."),
    column(
        "used_chip_seconds",
        Kind::Whole,
        "Of a charge: what was used. Granted chips that nobody used cost nothing.",
    ),
    column("reason", Kind::Text, "Why it was booked."),
];

/// Where the reading stands.
enum At {
    /// All accounts, after a transfer and place.
    All((u64, u64)),
    /// One account after another: those left, the last one first, and a cycle, transfer and place of the one being read.
    Accounts { left: Vec<u64>, after: (u64, u64, u64) },
}

pub(super) struct Ledger {
    context: Context,
    stretch: Option<Stretch>,
    at: At,
    accounts: u64,
    expected: u64,
}

impl Ledger {
    pub(super) async fn open(tx: &mut Tx, context: Context) -> Result<Self, AppError> {
        let stretch = exports::transfers_between(tx, context.range.from, context.range.to).await?;
        let expected = match &stretch {
            Some(stretch) => exports::estimated_entries(tx, stretch).await?,
            None => 0,
        };
        let all = exports::team_accounts(tx).await?;
        let first_cycle = match &stretch {
            Some(stretch) => exports::first_cycle(tx, stretch).await?,
            None => 0,
        };
        let (at, share) = match &context.scope {
            Scope::Everything => {
                (At::All((stretch.map_or(0, |stretch| stretch.first.saturating_sub(1)), u64::MAX >> 1)), 1)
            }
            Scope::Teams(_) => {
                let readable = |(team, _): &&(TeamId, u64)| context.scope.has(team);
                let mut left: Vec<u64> = all.iter().filter(readable).map(|(_, number)| *number).collect();
                left.reverse();
                (At::Accounts { left, after: (first_cycle, 0, 0) }, all.len().max(1) as u64)
            }
        };
        let accounts = match &at {
            At::All(_) => 1,
            At::Accounts { left, .. } => left.len() as u64,
        };
        Ok(Self { context, stretch, at, accounts, expected: expected * accounts / share })
    }

    /// The next entries; none at the end.
    async fn read(&mut self, tx: &mut Tx) -> Result<Option<Vec<ExportedEntry>>, AppError> {
        let Some(stretch) = &self.stretch else { return Ok(None) };
        match &mut self.at {
            At::All(after) => {
                let entries = exports::entries_after(tx, stretch, *after, BATCH).await?;
                let Some(last) = entries.last() else { return Ok(None) };
                *after = (last.transfer, last.place);
                Ok(Some(entries))
            }
            At::Accounts { left, after } => {
                let Some(account) = left.last() else { return Ok(None) };
                let entries = exports::entries_of_after(tx, stretch, *account, *after, BATCH).await?;
                match entries.last() {
                    Some(last) => *after = (last.cycle, last.transfer, last.place),
                    None => {
                        left.pop();
                        *after = (exports::first_cycle(tx, stretch).await?, 0, 0);
                    }
                }
                Ok(Some(entries))
            }
        }
    }
}

#[async_trait]
impl Source for Ledger {
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError> {
        let Some(entries) = self.read(tx).await? else {
            self.stretch = None;
            return Ok(None);
        };
        let mut batch = Batch::default();
        for entry in entries {
            let counts_at = entry.counts_at();
            batch.push([
                Cell::count(entry.transfer),
                Cell::count(entry.place),
                Cell::Text(entry.kind),
                Cell::Time(counts_at),
                Cell::Text(self.context.month(counts_at)?),
                Cell::Text(self.context.time_zone.clone()),
                Cell::Time(entry.written_at),
                Cell::count(entry.cycle),
                Cell::or_absent(entry.step, Cell::count),
                Cell::text(entry.pool),
                Cell::Text(entry.account),
                Cell::Text(entry.owner),
                Cell::Micros(entry.amount.0),
                Cell::Micros(entry.balance_after.0),
                Cell::or_absent(entry.chip_type, Cell::text),
                Cell::or_absent(entry.chip_seconds, Cell::count),
                Cell::Text(entry.reason),
            ]);
        }
        Ok(Some(batch))
    }

    fn expected_rows(&self) -> u64 {
        self.expected
    }

    fn progress(&self) -> Progress {
        let Some(stretch) = &self.stretch else { return Progress::END };
        match &self.at {
            At::All((transfer, _)) => Progress {
                done: (transfer + 1).saturating_sub(stretch.first),
                all: stretch.last - stretch.first + 1,
            },
            At::Accounts { left, .. } => {
                Progress { done: self.accounts - left.len() as u64, all: self.accounts.max(1) }
            }
        }
    }
}
