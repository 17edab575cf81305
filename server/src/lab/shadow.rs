//! Policies in shadow: every accounting step the chosen ones share out the live cycle's chips among the live demand, and
//! what they would have given is stored. Nothing of it is ever in force.
//!
//! A policy with a memory, such as Karma, is first led through the recorded cycles, so that a restart does not make it
//! forget.

use std::sync::Arc;

use common::api::{LabRequest, LabValues};
use market::{Outcome, Snapshot};
use policies::catalogue::{Makings, Needs, find};
use policies::policy::Policy;
use policies::round::{Agent, Round};
use policies::trace::Demand;
use tokio_util::sync::CancellationToken;

use super::{history, traces};
use crate::error::{AppError, ErrorKind};
use crate::services::Services;
use crate::services::live::{Cleared, LiveState};
use crate::store::entities::{self, Organisation};
use crate::store::shadow::{self, ShadowStep, ShadowTeam};

/// Credits with which each team starts in Karma: a chip for each step of many years.
const KARMA_CREDITS: u64 = 10_000_000;

/// Days for which steps are kept.
const KEPT_DAYS: i64 = 90;

/// A policy and whose place is whose in its rounds.
struct Shadow {
    name: String,
    policy: Box<dyn Policy>,
}

/// The policies that run, in the order of their names, and the cycle they were last asked in.
#[derive(Default)]
struct Shadows {
    running: Vec<Shadow>,
    last_cycle: u64,
}

/// Whether a policy can run in shadow: it needs no more than the rounds so far.
#[must_use]
pub fn can_run(name: &str) -> bool {
    find(name).is_some_and(|choice| choice.entry.needs == Needs::Rounds)
}

/// Follows the market until the shutdown. Trouble is logged; the next step is tried again.
pub async fn follow(
    services: Arc<Services>,
    mut live: tokio::sync::watch::Receiver<LiveState>,
    stop: CancellationToken,
) {
    let mut shadows = Shadows::default();
    loop {
        let state = live.borrow_and_update().clone();
        if let Some(cleared) = state.cleared
            && let Err(error) = shadows.step(&services, &cleared).await
        {
            tracing::warn!(cause = %error.private_context(), "policies in shadow: {error}");
        }
        tokio::select! {
            changed = live.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
    }
}

impl Shadows {
    async fn step(&mut self, services: &Services, cleared: &Cleared) -> Result<(), AppError> {
        let cycle = cleared.outcome.cycle;
        let mut tx = services.store.read().await?;
        let organisation: Organisation = entities::in_cycle(&mut tx, cycle).await?.pop().unwrap_or_default();
        let every = u64::from(organisation.accounting_seconds / organisation.cycle_seconds.max(1)).max(1);
        if cycle == self.last_cycle || !cycle.is_multiple_of(every) {
            return Ok(());
        }
        let chosen = shadow::chosen(&mut tx).await?;
        drop(tx);
        self.last_cycle = cycle;
        self.choose(services, &chosen).await?;
        let (round, granted) = round_of(&cleared.snapshot, &cleared.outcome);
        let teams: Vec<_> = cleared.outcome.teams.iter().map(|team| team.id.clone()).collect();
        let mut steps = Vec::with_capacity(self.running.len());
        for shadow in &mut self.running {
            let allocation = match shadow.policy.allocate(&round) {
                Ok(allocation) => allocation,
                Err(error) => {
                    tracing::warn!(policy = shadow.name, "a policy in shadow gave nothing: {error}");
                    continue;
                }
            };
            let rows = teams.iter().enumerate().map(|(at, team)| ShadowTeam {
                team: team.clone(),
                asked: round.agents[at].demand.iter().sum(),
                granted: granted[at],
                given: allocation.chips[at].iter().sum(),
            });
            let asking = rows.filter(|row| row.asked > 0 || row.granted > 0);
            let (policy, at) = (shadow.name.clone(), cleared.outcome.time);
            steps.push(ShadowStep { policy, cycle, at, teams: asking.collect() });
        }
        if steps.is_empty() {
            return Ok(());
        }
        let mut tx = services.store.write().await?;
        shadow::insert(&mut tx, &steps).await?;
        shadow::remove_before(&mut tx, services.now().plus_seconds(-KEPT_DAYS * 86_400)).await?;
        tx.commit().await
    }

    /// Starts those that were chosen and do not run, and ends the others.
    async fn choose(&mut self, services: &Services, chosen: &[String]) -> Result<(), AppError> {
        self.running.retain(|shadow| chosen.contains(&shadow.name));
        let new: Vec<&String> = chosen
            .iter()
            .filter(|name| can_run(name) && !self.running.iter().any(|shadow| shadow.name == **name))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let past = past(services).await?;
        for name in new {
            let Some(choice) = find(name) else { continue };
            let makings = Makings { karma_credits: KARMA_CREDITS, income_per_chip_hour: 1.0 };
            let mut policy = choice.make(&makings);
            // What it can't do with the past it will say of the present.
            let led = past.iter().try_for_each(|round| policy.allocate(round).map(drop));
            if let Err(error) = led {
                tracing::debug!(policy = name, "the past was left out: {error}");
                policy = choice.make(&makings);
            }
            self.running.push(Shadow { name: name.clone(), policy });
        }
        self.running.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }
}

/// The recorded cycles as rounds; none before the first.
async fn past(services: &Services) -> Result<Vec<Round>, AppError> {
    let request = LabRequest {
        trace: traces::HISTORY.to_owned(),
        policies: Vec::new(),
        seed: 0,
        values: LabValues::Uniform,
        supply: None,
        regret_rounds: 0,
        rounds: 0,
    };
    match history::trace(&services.store, &request).await {
        Ok(trace) => Ok(match trace.demand {
            Demand::Fixed(rounds) => rounds,
            Demand::Jobs(_) => Vec::new(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A cycle's supply and demand as a round, and the chips that the market granted by team. Values are 1: the market's limits
/// are its own business.
fn round_of(snapshot: &Snapshot, outcome: &Outcome) -> (Round, Vec<u64>) {
    let types: Vec<_> = outcome.chip_types.iter().map(|row| &row.id).collect();
    let mut agents = Vec::with_capacity(outcome.teams.len());
    let mut granted = Vec::with_capacity(outcome.teams.len());
    for team in &outcome.teams {
        let mut demand = vec![0; types.len()];
        for market in &team.markets {
            if let Some(at) = types.iter().position(|id| **id == market.chip_type) {
                demand[at] = market.asked.0;
            }
        }
        granted.push(team.markets.iter().map(|market| market.quota.0).sum());
        let value = vec![1.0; types.len()];
        agents.push(Agent { weight: weight(snapshot, &team.id), demand, value });
    }
    let supply = outcome.chip_types.iter().map(|row| row.supply.0).collect();
    (Round { hours: 1.0, supply, agents, gangs: Vec::new() }, granted)
}

/// A team's income in global credits per hour; next to nothing where it has none, for a weight is above 0.
fn weight(snapshot: &Snapshot, id: &common::ids::TeamId) -> f64 {
    let Some(team) = snapshot.teams.iter().find(|team| team.id == *id) else { return 1e-6 };
    let incomes: i64 =
        snapshot.teams.iter().filter(|other| other.pool == team.pool).map(|other| other.income.0).sum();
    let pool = snapshot.pools.iter().find(|pool| pool.id == team.pool).map_or(0, |pool| pool.weight.0);
    history::global_income(team.income.0, incomes, pool)
}
