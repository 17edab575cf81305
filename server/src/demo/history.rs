//! The demo's past: sets the organisation up, clears weeks of cycles at once, and hands over to the clock.

use std::collections::BTreeMap;

use common::instant::{Instant, MICROS_PER_SECOND};
use indicatif::{ProgressBar, ProgressStyle};
use market::snapshot::Lending;

use super::course::{Course, played, scaled, stretch_of};
use super::{DemoArgs, last_cycle};
use crate::clock::Clock;
use crate::cycle::{Clearing, maintain};
use crate::error::AppError;
use crate::services::{bids, organisation};
use crate::store::demo::{self as stored, Stretch};
use crate::store::entities::{self, ChipType, Organisation, OwnedSupply, Pool, Setup, Team};
use crate::store::history::step_start;
use crate::store::results::Cycle;
use crate::store::{Store, Tx, bids as stored_bids, results};

/// Seconds of a cycle in all but the last day of history: enough for charts of days and weeks, quick to clear.
const COARSE_SECONDS: u32 = 600;

/// Seconds of a cycle in the last day of history: the market's usual cycle.
const FINE_SECONDS: u32 = 60;

/// The stretch of history in which cycles are fine.
const FINE_STRETCH_SECONDS: i64 = 86_400;

/// Cycles cleared in one transaction: few enough that little is done again after a kill.
const CYCLES_AT_ONCE: u32 = 96;

/// Seconds between accounting steps, where the cycle fits into them.
const ACCOUNTING_SECONDS: u32 = 300;

/// Hours of history rolled up at most before the demo is served; the loop does what is left.
const ROLL_UP_HOURS: u32 = 24 * 60;

/// Writes the organisation and its first cycle, all at once: a database has both or neither.
pub(super) async fn set_up(
    store: &Store,
    course: &Course,
    now: Instant,
    args: &DemoArgs,
    chips: u64,
) -> Result<(), AppError> {
    let begins_at = step_start(now.plus_seconds(-i64::from(args.history)), COARSE_SECONDS.into());
    let stretch = Stretch {
        first_cycle: 1,
        trace: args.trace.clone(),
        chips,
        live: false,
        cycle_seconds: COARSE_SECONDS,
        trace_seconds: COARSE_SECONDS,
        played_seconds: course.skip_for(begins_at),
    };
    let mut tx = store.write().await?;
    let setup = setup(course.organisation(), &stretch);
    organisation::create(&mut tx, begins_at, &organisation::NewOrganisation { setup, grants: Vec::new() })
        .await?;
    stored::insert(&mut tx, &stretch).await?;
    clear(&mut tx, &mut Clearing::new(), course, &[stretch], 1, begins_at).await?;
    tx.commit().await
}

/// The plan as the store takes it.
fn setup(plan: &crate::trace::organisation::Organisation, stretch: &Stretch) -> Setup {
    let settings = Organisation {
        name: plan.name.clone(),
        data_note: Some(plan.data_note()),
        ..settings(Organisation::default(), stretch.cycle_seconds)
    };
    let chip_type = |plan: &crate::trace::organisation::ChipTypePlan| ChipType {
        id: plan.id.clone(),
        name: plan.name.clone(),
        shared: plan.shared,
        reserve_price: common::money::Price(0),
        list_price: None,
        retired: false,
    };
    let pool = |plan: &crate::trace::organisation::PoolPlan| Pool {
        id: plan.id.clone(),
        name: plan.name.clone(),
        weight: plan.weight,
        lending: Lending::All,
        archived: false,
    };
    let owned = plan.pools.iter().flat_map(|pool| {
        pool.owned.iter().map(|owned| OwnedSupply {
            pool: pool.id.clone(),
            chip_type: owned.chip_type.clone(),
            chips: owned.chips,
        })
    });
    let team = |team: &crate::trace::organisation::TeamPlan| Team {
        id: team.id.clone(),
        pool: plan.pools[team.pool].id.clone(),
        name: team.name.clone(),
        income: team.income,
        leverage_thousandths: 2_000,
        archived: false,
    };
    Setup {
        organisation: settings,
        chip_types: plan.chip_types.iter().map(chip_type).collect(),
        pools: plan.pools.iter().map(pool).collect(),
        owned: owned.collect(),
        teams: plan.teams.iter().map(team).collect(),
    }
}

/// The same settings with another cycle; accounting steps hold whole cycles.
fn settings(present: Organisation, cycle_seconds: u32) -> Organisation {
    let fits = ACCOUNTING_SECONDS.is_multiple_of(cycle_seconds);
    let accounting_seconds = if fits { ACCOUNTING_SECONDS } else { cycle_seconds };
    Organisation { cycle_seconds, accounting_seconds, ..present }
}

/// Clears what is left of the history up to now, then makes sure that the clock plays at the pace that was asked for.
pub(super) async fn catch_up(
    store: &Store,
    course: &Course,
    clock: &dyn Clock,
    args: &DemoArgs,
) -> Result<(), AppError> {
    let stretches = stored::stretches(&mut store.read().await?).await?;
    if stretches.last().is_some_and(|stretch| !stretch.live) {
        clear_history(store, course, clock).await?;
        maintain(store, clock.now(), ROLL_UP_HOURS).await?;
    }
    set_pace(store, clock, args).await
}

async fn clear_history(store: &Store, course: &Course, clock: &dyn Clock) -> Result<(), AppError> {
    let style =
        ProgressStyle::with_template("clearing history {bar:40} {msg} {pos}/{len} cycles, {eta} left");
    let bar = ProgressBar::no_length().with_style(style.map_err(AppError::internal)?);
    let mut clearing = Clearing::new();
    loop {
        let Some((last, starts_at)) = last_cycle(store).await? else { return Err(no_first_cycle()) };
        let mut times = Times { at: starts_at, now: clock.now() };
        bar.set_length(last + times.count());
        let mut tx = store.write().await?;
        let mut stretches = stored::stretches(&mut tx).await?;
        let mut done = 0;
        for cycle in last + 1..=last + u64::from(CYCLES_AT_ONCE) {
            let Some((at, seconds)) = times.next() else { break };
            let present = stretch_of(&stretches, cycle)?;
            if present.cycle_seconds != seconds {
                let next = Stretch {
                    first_cycle: cycle,
                    cycle_seconds: seconds,
                    trace_seconds: seconds,
                    played_seconds: played(&stretches, cycle)?,
                    ..present.clone()
                };
                change_pace(&mut tx, at, &next).await?;
                stretches.push(next);
            }
            clear(&mut tx, &mut clearing, course, &stretches, cycle, at).await?;
            bar.set_position(cycle);
            bar.set_message(at.to_string());
            done += 1;
        }
        if done == 0 {
            bar.finish_and_clear();
            return Ok(());
        }
        tx.commit().await?;
    }
}

fn no_first_cycle() -> AppError {
    AppError::internal("a demo's database has no cycle although its first is written with the organisation")
}

/// The starts of the cycles between one and now, with their seconds: coarse until the last day, then fine.
#[derive(Clone, Copy, Debug)]
struct Times {
    at: Instant,
    now: Instant,
}

impl Times {
    fn count(self) -> u64 {
        // A few thousand at most.
        Iterator::count(self) as u64
    }
}

impl Iterator for Times {
    type Item = (Instant, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let fine_from = self.now.plus_seconds(-FINE_STRETCH_SECONDS);
        let coarse = step_start(self.at, COARSE_SECONDS.into()).plus_seconds(COARSE_SECONDS.into());
        let fine = step_start(self.at, FINE_SECONDS.into()).plus_seconds(FINE_SECONDS.into());
        let (at, seconds) = if coarse <= fine_from { (coarse, COARSE_SECONDS) } else { (fine, FINE_SECONDS) };
        self.at = at;
        (at <= self.now).then_some((at, seconds))
    }
}

/// Places a cycle's bids and clears it.
async fn clear(
    tx: &mut Tx,
    clearing: &mut Clearing,
    course: &Course,
    stretches: &[Stretch],
    cycle: u64,
    at: Instant,
) -> Result<(), AppError> {
    bids::place_many(tx, at, course.bids_of(stretches, cycle)?).await?;
    let cleared = clearing.clear(tx, at).await?;
    if cleared.clock.cycle == cycle {
        Ok(())
    } else {
        Err(AppError::internal(format!("cycle {} cleared where {cycle} was due", cleared.clock.cycle)))
    }
}

/// Begins a stretch with the next cycle that clears, or the one after it.
async fn change_pace(tx: &mut Tx, now: Instant, stretch: &Stretch) -> Result<(), AppError> {
    let present: Option<Organisation> = entities::newest(tx).await?.pop();
    let present = present.ok_or_else(organisation::no_organisation)?;
    organisation::change_settings(tx, now, &settings(present, stretch.cycle_seconds)).await?;
    stored::insert(tx, stretch).await
}

/// Lets the clock play at the pace that was asked for; nothing where it does.
async fn set_pace(store: &Store, clock: &dyn Clock, args: &DemoArgs) -> Result<(), AppError> {
    let mut tx = store.write().await?;
    let stretches = stored::stretches(&mut tx).await?;
    let last = results::last_cycle(&mut tx).await?.ok_or_else(no_first_cycle)?;
    let present = stretches.last().ok_or_else(no_first_cycle)?;
    let trace_seconds = args.cycle.saturating_mul(args.speed);
    if present.live && (present.cycle_seconds, present.trace_seconds) == (args.cycle, trace_seconds) {
        return Ok(());
    }
    // The bids of the next cycle may be placed already, with the work of the present pace.
    let first_cycle = present.first_cycle.max(last.number) + if present.live { 2 } else { 1 };
    let next = Stretch {
        first_cycle,
        live: true,
        cycle_seconds: args.cycle,
        trace_seconds,
        played_seconds: played(&stretches, first_cycle)?,
        ..present.clone()
    };
    let now = clock.now();
    rescale(&mut tx, now, &last, present, &next).await?;
    change_pace(&mut tx, now, &next).await?;
    tx.commit().await
}

/// Estimates again what is left of the work of live bids, in the time of the next pace. So as many jobs run at a time as
/// before, and each ends when the trace is as far as it would have been.
async fn rescale(
    tx: &mut Tx,
    now: Instant,
    last: &Cycle,
    present: &Stretch,
    next: &Stretch,
) -> Result<(), AppError> {
    // The trace is played to the end of the last cycle. The first one of the clock may begin before that.
    let played_to = last.starts_at.plus_seconds(present.cycle_seconds.into());
    let begins_at =
        if present.live { played_to } else { next_start(last.starts_at, now, next.cycle_seconds) };
    let done = done_by(tx, last.number, played_to).await?;
    let done_at_first = done_by(tx, last.number, begins_at).await?;
    for bid in stored_bids::in_cycle(tx, last.number).await? {
        // What its team changed since then stays changed.
        let Some(bid) = stored_bids::newest(tx, &bid.id).await?.filter(|bid| !bid.state.is_end()) else {
            continue;
        };
        let Some(work) = bid.terms.work_chip_seconds else { continue };
        let by = |done: &BTreeMap<u64, u64>| done.get(&bid.number).copied().unwrap_or(0).min(work);
        // Left in seconds of the trace, then in seconds of the next pace.
        let left = scaled(work - by(&done), present.trace_seconds, present.cycle_seconds);
        let work = (by(&done_at_first) + scaled(left, next.cycle_seconds, next.trace_seconds)).max(1);
        let terms = stored_bids::BidTerms { work_chip_seconds: Some(work), ..bid.terms };
        bids::amend(tx, now, &bid.id, Some(bid.version), terms).await?;
    }
    Ok(())
}

/// When a clock with cycles of so many seconds clears first after a cycle that began at `last`: at once where a cycle is
/// due, else with the next one.
fn next_start(last: Instant, now: Instant, cycle_seconds: u32) -> Instant {
    let seconds = i64::from(cycle_seconds);
    step_start(now, seconds).max(step_start(last, seconds).plus_seconds(seconds))
}

/// Chip-seconds of work that each bid in a cycle has done at an instant after its start, by the bid's number.
async fn done_by(tx: &mut Tx, cycle: u64, at: Instant) -> Result<BTreeMap<u64, u64>, AppError> {
    let results = results::bid_results_in(tx, cycle).await?;
    let done = results.into_iter().map(|(result, since)| {
        let free = result.opportunistic.map_or(0, |(_, chips)| chips.0);
        let seconds = (at.0 - since.0).max(0).unsigned_abs() / MICROS_PER_SECOND.unsigned_abs();
        (result.bid, result.done_chip_seconds + (result.chips.0 + free) * seconds)
    });
    Ok(done.collect())
}
