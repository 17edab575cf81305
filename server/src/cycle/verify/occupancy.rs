//! Charges against chips used times price, from stored rows alone.
//!
//! For each team and chip type, what accounting steps charged plus what they carried over must be the sum over cycles of
//! chips used times local price times seconds, and of chips over quota times their own. Steps that cover a gap are left to
//! the re-run: jobs may have ended in it.

use std::collections::{BTreeMap, BTreeSet};

use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;

use super::ledger::micros;
use super::steps::Steps;
use super::{Check, Difference, Figure, Report};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::bids;
use crate::store::db::values;
use crate::store::entities::{self, Organisation, Team};
use crate::store::history::seconds_between;
use crate::store::ledger;
use crate::store::results::{self, BidResult, PoolPrice, Rows, TeamQuota};

/// Cycles read at once.
const BATCH: u64 = 500;

/// Parts of a micro-credit in which remainders are carried.
const PARTS: i128 = 3_600;

type Key = (TeamId, ChipTypeId);

/// Jobs over quota by the numbers of their bids: whose and of what, how many chips, at what price.
type OverJobs = BTreeMap<u64, (Key, u64, u64)>;

/// Quotas and prices in force, and what is owed since the last accounting step, in parts of a micro-credit.
#[derive(Default)]
struct Owed {
    quotas: BTreeMap<Key, u64>,
    prices: BTreeMap<(String, ChipTypeId), u64>,
    pools: BTreeMap<TeamId, String>,
    over: OverJobs,
    owed: BTreeMap<Key, i128>,
    carried: BTreeMap<Key, i128>,
    has_gap: bool,
}

/// What was compared, and what is off.
#[derive(Default)]
struct Settled {
    charges: u64,
    /// In micro-credits.
    charged: i128,
    off: u64,
    /// In parts of a micro-credit, whatever its sign.
    parts: i128,
    first: Option<Difference>,
}

impl Settled {
    fn note(&mut self, cycle: u64, parts: i128, detail: String) {
        self.off += 1;
        self.parts += parts.abs();
        let (check, cycle) = (Check::Occupancy, Some(cycle));
        self.first.get_or_insert(Difference { check, cycle, transfer: None, detail });
    }
}

/// Checks the charges of the steps within cycles `from` to `to`.
pub(super) async fn check(
    tx: &mut Tx,
    from: u64,
    to: u64,
    report: &mut Report,
    steps: &mut Steps<'_>,
) -> Result<(), AppError> {
    let settled = compare(tx, from, to, steps).await?;
    report.charges = settled.charges;
    report.figures.push(Figure {
        check: Check::Occupancy,
        compared: settled.charges,
        total: Some(micros(settled.charged)),
        off: settled.off,
        // A part of a micro-credit is a difference as well.
        difference: Some(micros((settled.parts + PARTS - 1) / PARTS)),
    });
    report.differences.extend(settled.first);
    Ok(())
}

async fn compare(tx: &mut Tx, from: u64, to: u64, steps: &mut Steps<'_>) -> Result<Settled, AppError> {
    const FIRST_STEP: &str =
        "SELECT MIN(number) FROM cycle WHERE number >= $1 AND number <= $2 AND step IS NOT NULL";
    let first = from.max(results::first_detailed_cycle(tx).await?.unwrap_or(from));
    let row = tx.row(FIRST_STEP, values![first, to]).await?;
    let Some(mut cycle) = row.map_or(Ok(None), |mut row| row.optional_unsigned())? else {
        steps.advance(to + 1 - from);
        return Ok(Settled::default());
    };
    steps.advance(cycle + 1 - from);
    let mut owed = Owed::begin(tx, cycle).await?;
    let (mut settled, mut before) = (Settled::default(), results::cycle(tx, cycle).await?);
    while cycle < to {
        let last = (cycle + BATCH).min(to);
        let cycles =
            results::cycles_from(tx, cycle + 1, u32::try_from(last - cycle).unwrap_or(u32::MAX)).await?;
        let mut rows = results::rows_between(tx, cycle + 1, last).await?;
        let over = OverQuota::between(tx, cycle + 1, last, (&rows, &owed.over)).await?;
        let mut charges = charges_between(tx, cycle + 1, last).await?;
        let mut settings =
            entities::stamped::<Organisation>(tx, cycle + 1, last).await?.into_iter().peekable();
        let mut seconds =
            entities::in_cycle::<Organisation>(tx, cycle).await?.pop().unwrap_or_default().cycle_seconds;
        for team in entities::in_cycle::<Team>(tx, last).await? {
            owed.pools.insert(team.id, team.pool.to_string());
        }
        for now in cycles {
            if let Some(before) = &before {
                owed.elapse(before.starts_at, now.starts_at, seconds);
            }
            while let Some((_, organisation)) = settings.next_if(|(cycle, _)| *cycle <= now.number) {
                seconds = organisation.cycle_seconds;
            }
            if now.step.is_some() {
                let booked = charges.remove(&now.number).unwrap_or_default();
                owed.settle(now.number, booked, &mut settled);
            }
            let rows = rows.remove(&now.number).unwrap_or_default();
            owed.take_over(now.number, &rows.bids, &over);
            owed.take(rows);
            before = Some(now);
        }
        steps.advance(last - cycle);
        cycle = last;
    }
    Ok(settled)
}

/// What has to be known of jobs over quota in a stretch of cycles.
#[derive(Default)]
struct OverQuota {
    teams: BTreeMap<u64, TeamId>,
    /// Bids that end, by the cycle.
    ended: BTreeMap<u64, Vec<u64>>,
}

impl OverQuota {
    /// Looked for only where there are such jobs.
    async fn between(
        tx: &mut Tx,
        from: u64,
        to: u64,
        (rows, before): (&BTreeMap<u64, Rows>, &OverJobs),
    ) -> Result<Self, AppError> {
        const TEAM: &str = "SELECT team FROM bid WHERE number = $1";
        let mut found = Self::default();
        let bids = rows.values().flat_map(|rows| &rows.bids).filter(|row| row.over.is_some());
        for bid in bids.map(|row| row.bid).collect::<BTreeSet<u64>>() {
            if let Some(mut row) = tx.row(TEAM, values![bid]).await? {
                found.teams.insert(bid, row.id()?);
            }
        }
        if found.teams.is_empty() && before.is_empty() {
            return Ok(found);
        }
        for (cycle, version) in bids::stamped(tx, from, to).await? {
            if version.state.is_end() {
                found.ended.entry(cycle).or_default().push(version.number);
            }
        }
        Ok(found)
    }
}

/// A charge: what was taken and what was carried over, in micro-credits and parts of one.
type Charges = BTreeMap<Key, (i128, i128)>;

async fn charges_between(tx: &mut Tx, from: u64, to: u64) -> Result<BTreeMap<u64, Charges>, AppError> {
    const SQL: &str = "SELECT e.cycle, a.owner, e.chip_type, e.amount, e.carry FROM ledger_entry e \
        JOIN ledger_account a ON a.number = e.account JOIN ledger_transfer t ON t.number = e.transfer \
        WHERE t.cycle BETWEEN $1 AND $2 AND t.kind = 'charge' AND e.chip_type IS NOT NULL";
    let mut cycles: BTreeMap<u64, Charges> = BTreeMap::new();
    for mut row in tx.rows(SQL, values![from, to]).await? {
        let cycle = row.unsigned()?;
        let key = (row.id()?, row.id()?);
        let charge = (-i128::from(row.int()?), i128::from(row.int()?));
        cycles.entry(cycle).or_default().insert(key, charge);
    }
    Ok(cycles)
}

impl Owed {
    /// Begins right after the accounting step of a cycle.
    async fn begin(tx: &mut Tx, cycle: u64) -> Result<Self, AppError> {
        let mut owed = Self::default();
        let (prices, quotas) =
            (results::pool_prices_in(tx, cycle).await?, results::quotas_in(tx, cycle).await?);
        owed.take(Rows { pool_prices: prices, quotas, ..Rows::default() });
        let results: Vec<_> =
            results::bid_results_in(tx, cycle).await?.into_iter().map(|(row, _)| row).collect();
        let rows = BTreeMap::from([(cycle, Rows { bids: results.clone(), ..Rows::default() })]);
        let over = OverQuota::between(tx, cycle + 1, cycle, (&rows, &BTreeMap::new())).await?;
        owed.take_over(cycle, &results, &over);
        for ((team, chip_type), carry) in ledger::charge_carries(tx, cycle).await? {
            let parse = |text: &str| text.parse::<TeamId>().map_err(AppError::internal);
            let chip_type = chip_type.parse().map_err(AppError::internal)?;
            owed.carried.insert((parse(&team)?, chip_type), i128::from(carry));
        }
        Ok(owed)
    }

    fn take(&mut self, rows: Rows) {
        for PoolPrice { pool, chip_type, local_price, .. } in rows.pool_prices {
            self.prices.insert((pool.to_string(), chip_type), local_price.unwrap_or_default().0);
        }
        for TeamQuota { team, chip_type, used, .. } in rows.quotas {
            self.quotas.insert((team, chip_type), used.0);
        }
    }

    /// Takes over what results say of jobs over quota; one that ends or says nothing of it is none.
    fn take_over(&mut self, cycle: u64, results: &[BidResult], known: &OverQuota) {
        for row in results {
            let over = row.over.as_ref().zip(known.teams.get(&row.bid));
            match over {
                Some((over, team)) => {
                    let key = (team.clone(), over.chip_type.clone());
                    self.over.insert(row.bid, (key, over.chips.0, over.price.0));
                }
                None => drop(self.over.remove(&row.bid)),
            }
        }
        for bid in known.ended.get(&cycle).into_iter().flatten() {
            self.over.remove(bid);
        }
    }

    fn elapse(&mut self, from: Instant, to: Instant, cycle_seconds: u32) {
        let seconds = seconds_between(from, to);
        self.has_gap |= seconds > i64::from(cycle_seconds);
        for ((team, chip_type), used) in &self.quotas {
            let pool = self.pools.get(team).cloned().unwrap_or_default();
            let price = self.prices.get(&(pool, chip_type.clone())).copied().unwrap_or(0);
            let parts = i128::from(*used) * i128::from(price) * i128::from(seconds);
            *self.owed.entry((team.clone(), chip_type.clone())).or_default() += parts;
        }
        for (key, chips, price) in self.over.values() {
            let parts = i128::from(*chips) * i128::from(*price) * i128::from(seconds);
            *self.owed.entry(key.clone()).or_default() += parts;
        }
    }

    /// Compares what is owed with what the step of a cycle charged.
    fn settle(&mut self, cycle: u64, charges: Charges, settled: &mut Settled) {
        let mut owed = std::mem::take(&mut self.owed);
        let has_gap = std::mem::take(&mut self.has_gap);
        settled.charges += charges.len() as u64;
        for (key, (amount, carry)) in charges {
            let carried = self.carried.insert(key.clone(), carry).unwrap_or(0);
            let expected = owed.remove(&key).unwrap_or(0) + carried;
            let found = amount * PARTS + carry;
            settled.charged += amount;
            if found != expected && !has_gap {
                let (team, chip_type) = key;
                let detail = format!(
                    "team {team} is charged {found}/3600 micro-credits for {chip_type} with what is carried over, but its \
                     quotas and prices make {expected}/3600"
                );
                settled.note(cycle, found - expected, detail);
            }
        }
        for ((team, chip_type), parts) in owed.into_iter().filter(|(_, parts)| *parts != 0 && !has_gap) {
            let detail =
                format!("team {team} is not charged for {chip_type}, but owes {parts}/3600 micro-credits");
            settled.note(cycle, parts, detail);
        }
    }
}
