//! Proves the history: clears all stored cycles again and recomputes all money.
//!
//! Each check stands on its own: the ledger by itself (`ledger`), bids as they were placed (`bids`), the cycles by
//! clearing them again (`rerun`), the charges from stored quotas and prices, by arithmetic that shares nothing with the
//! loop's (`occupancy`), and the roll-ups from their parts (`rollup`).

mod bids;
mod ledger;
mod occupancy;
mod rerun;
mod rollup;

use std::fmt::{self, Debug};

use crate::error::{AppError, ErrorKind};
use crate::store::{Store, results};

/// What a difference was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Transfers: numbers, sums, running balances, the chain of hashes.
    Ledger,
    /// The inputs of a cycle, rebuilt from history.
    Snapshot,
    /// The outcome of clearing them.
    Outcome,
    /// The stored prices, quotas and results.
    Rows,
    /// Transfers and usage booked by an accounting step.
    Accounting,
    /// Charges against chips used times price.
    Occupancy,
    /// The first version of a bid against the request that placed it.
    Bids,
    /// Hours against cycles and pieces of usage, days against hours.
    RollUps,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ledger => "ledger",
            Self::Snapshot => "inputs",
            Self::Outcome => "outcome",
            Self::Rows => "rows",
            Self::Accounting => "accounting",
            Self::Occupancy => "occupancy",
            Self::Bids => "bids",
            Self::RollUps => "roll-ups",
        })
    }
}

/// The first place where what is stored is not what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it was found in.
    pub check: Check,
    /// The cycle, where it belongs to one.
    pub cycle: Option<u64>,
    /// What is stored and what follows.
    pub detail: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cycle {
            Some(cycle) => write!(f, "{} of cycle {cycle}: {}", self.check, self.detail),
            None => write!(f, "{}: {}", self.check, self.detail),
        }
    }
}

/// What was verified, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// First and last cycle cleared again; absent when there is none.
    pub cycles: Option<(u64, u64)>,
    /// Cycles whose rows were compared as well; those of older ones are gone with the retention.
    pub cycles_with_rows: u64,
    /// Transfers checked.
    pub transfers: u64,
    /// Charges compared with the chips used.
    pub charges: u64,
    /// Bids whose first version was compared with the request that placed them.
    pub bids: u64,
    /// Rows of hours and days compared with their parts.
    pub rolled_up: u64,
    /// The first difference of each check that found one.
    pub differences: Vec<Difference>,
}

impl Report {
    /// Nothing differs.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((from, to)) = self.cycles else {
            return f.write_str("nothing to verify: no cycle is stored");
        };
        writeln!(
            f,
            "cycles {from} to {to} cleared again, rows of {} compared; {} transfers, {} charges, {} bids and {} rows of \
             hours and days checked",
            self.cycles_with_rows, self.transfers, self.charges, self.bids, self.rolled_up
        )?;
        if self.is_clean() {
            return f.write_str("everything is as it was computed");
        }
        for difference in &self.differences {
            writeln!(f, "DIFFERENCE in the {difference}")?;
        }
        Ok(())
    }
}

/// Verifies cycles `from` to `to`, both included; without them the first and the last. The ledger and what was placed
/// are always checked as a whole. `progress` is told the cycles done and to do.
///
/// # Errors
/// The database can't be read. `Invalid`: the range names cycles that do not exist. What is found is in the report, not
/// an error.
pub async fn verify(
    store: &Store,
    from: Option<u64>,
    to: Option<u64>,
    progress: impl FnMut(u64, u64) + Send,
) -> Result<Report, AppError> {
    let mut tx = store.read().await?;
    let mut report = Report::default();
    let (transfers, difference) = ledger::check(&mut tx).await?;
    report.transfers = transfers;
    report.differences.extend(difference);
    let (bids, difference) = bids::check(&mut tx).await?;
    report.bids = bids;
    report.differences.extend(difference);
    let Some(last) = results::last_cycle(&mut tx).await?.map(|cycle| cycle.number) else {
        return Ok(report);
    };
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(last));
    if from == 0 || from > to || to > last {
        return Err(AppError::new(
            ErrorKind::Invalid,
            format!(
                "cycles {from} to {to} can't be verified; choose from 1 to {last}, the first not after the last"
            ),
        ));
    }
    report.cycles = Some((from, to));
    rerun::check(&mut tx, from, to, &mut report, progress).await?;
    let (charges, difference) = occupancy::check(&mut tx, from, to).await?;
    report.charges = charges;
    report.differences.extend(difference);
    let (rolled_up, difference) = rollup::check(&mut tx, from, to).await?;
    report.rolled_up = rolled_up;
    report.differences.extend(difference);
    Ok(report)
}

/// The first row that differs between two lists, in words.
fn compare<T: PartialEq + Debug>(what: &str, stored: &[T], found: &[T]) -> Result<(), String> {
    for (stored, found) in stored.iter().zip(found) {
        if stored != found {
            return Err(format!("a {what} is stored as {stored:?}, but {found:?} follows"));
        }
    }
    match (stored.get(found.len()), found.get(stored.len())) {
        (Some(extra), _) => Err(format!("a {what} is stored that does not follow: {extra:?}")),
        (_, Some(missing)) => Err(format!("a {what} is missing: {missing:?}")),
        (None, None) => Ok(()),
    }
}
