//! The organisation's own market as a trace: what each team asked for, cycle by cycle.

use common::api::LabRequest;
use common::ids::{ChipTypeId, TeamId};
use common::words::counted;
use policies::round::{Agent, Round};
use policies::trace::{Demand, Trace};

use super::traces::{shortened, values};
use crate::error::AppError;
use crate::store::entities::{self, Organisation, Pool, Team};
use crate::store::{Store, results};

/// Cycles looked back at most: two weeks of minutes.
const MOST_CYCLES: u64 = 20_160;

/// Rounds at most, unless a request asks for fewer; of the cycles every so manieth is a round.
const MOST_ROUNDS: u64 = 1_440;

/// The last cycles of the live market as a trace.
///
/// # Errors
/// `NotFound`: no cycle was cleared yet. `Unavailable`: the database does not answer.
pub async fn trace(store: &Store, request: &LabRequest) -> Result<Trace, AppError> {
    let mut tx = store.read().await?;
    let Some(last) = results::last_cycle(&mut tx).await? else {
        return Err(AppError::not_found("history", "yet: no cycle was cleared"));
    };
    let first = results::first_detailed_cycle(&mut tx).await?.unwrap_or(last.number);
    let first = first.max(last.number.saturating_sub(MOST_CYCLES - 1));
    let step = (last.number - first + 1).div_ceil(MOST_ROUNDS);
    let organisation: Organisation =
        entities::in_cycle(&mut tx, last.number).await?.pop().unwrap_or_default();
    let hours = (step * u64::from(organisation.cycle_seconds)) as f64 / 3_600.0;
    let teams: Vec<Team> = entities::in_cycle(&mut tx, last.number).await?;
    let pools: Vec<Pool> = entities::in_cycle(&mut tx, last.number).await?;
    let prices = results::prices(&mut tx, first, last.number, None).await?;
    let mut types: Vec<ChipTypeId> = prices.iter().map(|price| price.chip_type.clone()).collect();
    types.sort();
    types.dedup();
    let (mut value, value_source) = values(request);
    let place = |ids: &[TeamId], id: &TeamId| ids.iter().position(|known| known == id);
    let ids: Vec<TeamId> = teams.iter().map(|team| team.id.clone()).collect();
    let mut asked = vec![vec![0_u64; types.len()]; teams.len()];
    let mut changes = results::quotas_in(&mut tx, first).await?;
    changes.extend(results::quota_changes(&mut tx, first, last.number).await?);
    let (mut changes, mut prices) = (changes.into_iter().peekable(), prices.into_iter().peekable());
    let weights: Vec<f64> = teams.iter().map(|team| weight(team, &teams, &pools)).collect();
    let mut rounds = Vec::new();
    for cycle in (first..=last.number).step_by(usize::try_from(step).unwrap_or(1)) {
        while let Some(change) = changes.next_if(|change| change.cycle <= cycle) {
            let at = types.iter().position(|id| *id == change.chip_type);
            if let Some((team, at)) = place(&ids, &change.team).zip(at) {
                asked[team][at] = change.asked.0;
            }
        }
        let mut supply = vec![0; types.len()];
        while let Some(price) = prices.next_if(|price| price.cycle <= cycle) {
            let at = types.iter().position(|id| *id == price.chip_type);
            if let Some(at) = at.filter(|_| price.cycle == cycle) {
                supply[at] = price.supply.0;
            }
        }
        let round = rounds.len();
        let agents = asked.iter().zip(&weights).enumerate().map(|(team, (demand, weight))| Agent {
            weight: *weight,
            demand: demand.clone(),
            value: demand.iter().map(|_| value(round, team)).collect(),
        });
        rounds.push(Round { hours, supply, agents: agents.collect(), gangs: Vec::new() });
    }
    let trace = Trace {
        name: request.trace.clone(),
        source: format!(
            "The live market: chips asked for at any price in cycles {first} to {}, {} a round; weights are incomes \
             in global credits",
            last.number,
            counted(step as u64, "cycle")
        ),
        value_source,
        agents: teams.iter().map(|team| team.name.clone()).collect(),
        chip_types: types.iter().map(ToString::to_string).collect(),
        demand: Demand::Fixed(rounds),
    };
    Ok(shortened(trace, request))
}

/// A team's income in global credits per hour: its part of its pool's weight. A team without an income counts for next to
/// nothing, for a weight is above 0.
fn weight(team: &Team, teams: &[Team], pools: &[Pool]) -> f64 {
    let incomes: i64 = teams.iter().filter(|other| other.pool == team.pool).map(|other| other.income.0).sum();
    let pool = pools.iter().find(|pool| pool.id == team.pool).map_or(0, |pool| pool.weight.0);
    global_income(team.income.0, incomes, pool)
}

/// A team's part of its pool's weight, in global credits per hour, within what a weight may be.
pub(super) fn global_income(income: i64, incomes: i64, pool_weight: i64) -> f64 {
    let global = if incomes > 0 { income as f64 / incomes as f64 * pool_weight as f64 / 1e6 } else { 0.0 };
    global.clamp(1e-6, 1e9)
}
