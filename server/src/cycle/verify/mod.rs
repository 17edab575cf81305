//! Proves the history: clears all stored cycles again and recomputes all money.
//!
//! Each check stands on its own: the ledger by itself (`ledger`), bids as they were placed and changed (`bids`), the cycles
//! by clearing them again (`rerun`), what bids cost by adding it up on the way (`costs`), the charges from stored quotas and
//! prices, by arithmetic that shares nothing with the loop's (`occupancy`), what is used and idle against the supply
//! (`supply`), and the roll-ups from their parts (`rollup`).

mod bids;
mod costs;
mod ledger;
mod occupancy;
mod rerun;
mod rollup;
mod steps;
mod supply;

use std::fmt::{self, Debug};

use common::money::MicroCredits;

use self::steps::Steps;
use crate::error::{AppError, ErrorKind};
use crate::store::{Store, results};

/// What a difference was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Transfers: numbers without gaps, no entry without a transfer.
    Ledger,
    /// The entries of each transfer sum to zero.
    Sums,
    /// Each balance is the sum of the entries up to it.
    Balances,
    /// Each transfer's hash, over what it says and the hash before it.
    Chain,
    /// What teams use and what is idle against the supply, times price.
    Supply,
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
    /// Versions of bids against their hashes, and the first against the request that placed the bid.
    Bids,
    /// What bids cost against their chips and prices.
    Costs,
    /// Hours against cycles and pieces of usage, days against hours.
    RollUps,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ledger => "ledger",
            Self::Sums => "sums",
            Self::Balances => "balances",
            Self::Chain => "chain",
            Self::Supply => "supply",
            Self::Snapshot => "inputs",
            Self::Outcome => "outcome",
            Self::Rows => "rows",
            Self::Accounting => "accounting",
            Self::Occupancy => "occupancy",
            Self::Bids => "bids",
            Self::Costs => "costs of bids",
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
    /// The transfer, where it is about one.
    pub transfer: Option<u64>,
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

/// What a check compared, in figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The check.
    pub check: Check,
    /// How many transfers, entries, charges or markets of a chip type were compared.
    pub compared: u64,
    /// The sum over them; absent where none is meant.
    pub total: Option<MicroCredits>,
    /// How many of them do not match.
    pub off: u64,
    /// By how much in all, whatever its sign; absent where it is no amount.
    pub difference: Option<MicroCredits>,
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
    /// Versions of bids compared with their hashes.
    pub bid_versions: u64,
    /// Bids whose cost was compared with their chips and prices: only where all cycles are verified.
    pub bid_costs: u64,
    /// Rows of hours and days compared with their parts.
    pub rolled_up: u64,
    /// What the checks of money compared: sums, balances, chain, occupancy, supply, roll-ups.
    pub figures: Vec<Figure>,
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
            "cycles {from} to {to} cleared again, rows of {} compared; {} transfers, {} charges, {} versions and {} costs \
             of bids and {} rows of hours and days checked",
            self.cycles_with_rows,
            self.transfers,
            self.charges,
            self.bid_versions,
            self.bid_costs,
            self.rolled_up
        )?;
        for figure in &self.figures {
            let total = figure.total.map_or_else(String::new, |total| format!(", {total} credits"));
            let difference = figure.difference.map_or_else(String::new, |off| format!(" by {off} credits"));
            let check = figure.check.to_string();
            writeln!(f, "  {check:<10} {} compared{total}; {} off{difference}", figure.compared, figure.off)?;
        }
        if self.is_clean() {
            return f.write_str("everything is as it was computed");
        }
        for difference in &self.differences {
            writeln!(f, "DIFFERENCE in the {difference}")?;
        }
        Ok(())
    }
}

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All there is to check; cycles are cleared again, which takes longest.
    Everything,
    /// The money alone: the ledger, charges, supply, roll-ups.
    Money,
}

/// Verifies cycles `from` to `to`, both included; without them the first and the last. The ledger and what was placed
/// are always checked as a whole. `progress` is told the steps done and to do.
///
/// # Errors
/// The database can't be read. `Invalid`: the range names cycles that do not exist. What is found is in the report, not
/// an error.
pub async fn verify(
    store: &Store,
    from: Option<u64>,
    to: Option<u64>,
    mut progress: impl FnMut(u64, u64) + Send,
) -> Result<Report, AppError> {
    check(store, from, to, Extent::Everything, &mut progress).await
}

/// Verifies the money alone: the ledger as a whole, and of cycles `from` to `to` the charges, the supply and the roll-ups,
/// without clearing the cycles again.
///
/// # Errors
/// As [`verify`].
pub async fn reconcile(
    store: &Store,
    from: Option<u64>,
    to: Option<u64>,
    mut progress: impl FnMut(u64, u64) + Send,
) -> Result<Report, AppError> {
    check(store, from, to, Extent::Money, &mut progress).await
}

async fn check(
    store: &Store,
    from: Option<u64>,
    to: Option<u64>,
    extent: Extent,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Report, AppError> {
    let mut tx = store.read().await?;
    let mut report = Report::default();
    let last = results::last_cycle(&mut tx).await?.map_or(0, |cycle| cycle.number);
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(last));
    let cycles = (to + 1).saturating_sub(from);
    // Clearing a cycle again takes about as long as all other checks of it.
    let again = if extent == Extent::Everything { 3 * cycles } else { 0 };
    let mut steps = Steps::new(last + 1 + 3 * cycles + again, progress);
    ledger::check(&mut tx, &mut report, &mut steps).await?;
    if extent == Extent::Everything {
        let (versions, difference) = bids::check(&mut tx).await?;
        report.bid_versions = versions;
        report.differences.extend(difference);
    }
    if last == 0 {
        return Ok(report);
    }
    if from == 0 || from > to || to > last {
        return Err(AppError::new(
            ErrorKind::Invalid,
            format!(
                "cycles {from} to {to} can't be verified; choose from 1 to {last}, the first not after the last"
            ),
        ));
    }
    report.cycles = Some((from, to));
    if extent == Extent::Everything {
        let costs = rerun::check(&mut tx, from, to, &mut report, &mut steps).await?;
        if let Some(costs) = costs.filter(|_| to == last) {
            let (compared, difference) = costs::check(&mut tx, &costs).await?;
            report.bid_costs = compared;
            report.differences.extend(difference);
        }
    }
    occupancy::check(&mut tx, from, to, &mut report, &mut steps).await?;
    supply::check(&mut tx, from, to, &mut report, &mut steps).await?;
    let (rolled_up, difference) = rollup::check(&mut tx, from, to).await?;
    report.rolled_up = rolled_up;
    let off = u64::from(difference.is_some());
    let (check, compared) = (Check::RollUps, rolled_up);
    report.figures.push(Figure { check, compared, total: None, off, difference: None });
    report.differences.extend(difference);
    steps.advance(cycles);
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
