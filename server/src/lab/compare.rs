//! Runs policies on a trace, one after the other, and gathers their figures.

use std::time::Instant as Stopwatch;

use common::api::{LabPolicy, LabRequest, LabResult, LabTeam};
use policies::catalogue::{Choice, Makings, Needs, POLICIES, all, find};
use policies::columns::COLUMNS;
use policies::measure::{AgentFigures, Measures, measure};
use policies::optimum::welfare_bound;
use policies::policy::PolicyError;
use policies::simulate::{MEMORY_LIMIT_BYTES, Observer, Record, SimulateError, check_size, simulate};
use policies::trace::{Demand, Trace};
use policies::{pareto, regret};

use super::MOST_REGRET_ROUNDS;
use crate::error::AppError;

/// Stretches into which a trace is cut for charts.
const STRETCHES: usize = 120;

/// How a name chooses a weight of envy.
const WITH_WEIGHT: &str = "a learned one may have a weight of envy from 0 to 20 behind it, as in learned@2.5";

/// Hears how far a comparison is, and says whether it goes on.
pub trait Progress {
    /// `done` of `all` steps are done, and `policy` is at work. Answers whether to go on.
    fn step(&mut self, done: u64, all: u64, policy: &str) -> bool;
}

/// Checks a request before anything is computed.
///
/// # Errors
/// `Invalid`, at the field that is wrong.
pub fn check(request: &LabRequest) -> Result<Vec<Choice>, AppError> {
    if request.regret_rounds > MOST_REGRET_ROUNDS {
        let given = request.regret_rounds;
        let reason =
            format!("is {given}; the most is {MOST_REGRET_ROUNDS}, each is simulated 45 times per team");
        return Err(AppError::invalid("regret_rounds", reason));
    }
    if let Some(chips) = request.supply.filter(|chips| !(1..=policies::round::MAX_CHIPS).contains(chips)) {
        let reason = format!("is {chips}; it must be 1 to {}", policies::round::MAX_CHIPS);
        return Err(AppError::invalid("supply", reason));
    }
    if request.policies.is_empty() {
        return Ok(all().collect());
    }
    let mut choices: Vec<Choice> = Vec::new();
    for name in &request.policies {
        let Some(choice) = find(name) else {
            return Err(AppError::invalid("policies", no_policy(name)));
        };
        if !choices.iter().any(|known| known.name() == choice.name()) {
            choices.push(choice);
        }
    }
    Ok(choices)
}

/// What is said of a name that no policy has.
pub fn no_policy(name: &str) -> String {
    let known: Vec<&str> = POLICIES.iter().map(|entry| entry.name).collect();
    format!("{name:?} is no policy; there are {}; {WITH_WEIGHT}", known.join(", "))
}

/// Compares policies on a trace. None where `progress` stopped it.
///
/// # Errors
/// `Invalid`: the request is refused, or the run would not fit in memory. `Internal`: a policy failed.
pub fn compare(
    trace: &Trace,
    request: &LabRequest,
    progress: &mut dyn Progress,
) -> Result<Option<LabResult>, AppError> {
    let choices = check(request)?;
    check_size(trace.size(), MEMORY_LIMIT_BYTES)
        .map_err(|error| AppError::invalid("trace", error.to_string()))?;
    let bound = welfare_bound(trace);
    let mut comparison = Comparison {
        trace,
        request,
        bound,
        makings: Makings { karma_credits: karma_credits(trace), income_per_chip_hour: trace.mean_value() },
        rounds: trace.size().rounds as u64,
        before: 0,
        all: choices.len() as u64 * trace.size().rounds as u64,
        progress,
    };
    let mut policies = Vec::with_capacity(choices.len());
    for choice in choices {
        match comparison.policy(choice) {
            Ok(policy) => policies.push(policy),
            Err(SimulateError::Cancelled) => return Ok(None),
            Err(error @ SimulateError::TooLarge { .. }) => {
                return Err(AppError::invalid("trace", error.to_string()));
            }
            Err(SimulateError::Policy(PolicyError::DoesNotApply { policy, reason })) => {
                let refusal = format!("{policy} does not apply: {reason}");
                policies.push(LabPolicy { refusal: Some(refusal), ..named(choice) });
            }
            Err(SimulateError::Policy(PolicyError::Round(error))) => {
                return Err(AppError::invalid("trace", error.to_string()));
            }
            // One policy that fails must not cost the others their figures; the row says what happened.
            Err(SimulateError::Policy(error @ PolicyError::Unsolved { .. })) => {
                policies.push(LabPolicy { refusal: Some(error.to_string()), ..named(choice) });
            }
        }
        comparison.before += comparison.rounds;
    }
    let (supply, round_hours) = match &trace.demand {
        Demand::Fixed(rounds) => rounds.first().map(|round| (round.supply.clone(), round.hours)),
        Demand::Jobs(jobs) => Some((jobs.supply.clone(), jobs.hours)),
    }
    .unwrap_or_default();
    Ok(Some(LabResult {
        request: request.clone(),
        source: trace.source.clone(),
        value_source: trace.value_source.clone(),
        rounds: trace.size().rounds as u64,
        round_hours,
        supply,
        chip_types: trace.chip_types.clone(),
        teams: trace.agents.clone(),
        welfare_bound: bound,
        policies,
    }))
}

/// So many credits that nobody runs out of them: a fair share for each round.
fn karma_credits(trace: &Trace) -> u64 {
    let supply = match &trace.demand {
        Demand::Fixed(rounds) => {
            rounds.first().map_or(0, |round| round.supply.iter().copied().max().unwrap_or(0))
        }
        Demand::Jobs(jobs) => jobs.supply.iter().copied().max().unwrap_or(0),
    };
    let size = trace.size();
    (supply / size.agents.max(1) as u64).saturating_mul(size.rounds as u64)
}

fn named(choice: Choice) -> LabPolicy {
    LabPolicy {
        policy: choice.name(),
        title: choice.title(),
        explanation: choice.entry.explanation.to_owned(),
        source: choice.entry.source.to_owned(),
        ..LabPolicy::default()
    }
}

struct Comparison<'a> {
    trace: &'a Trace,
    request: &'a LabRequest,
    bound: f64,
    makings: Makings,
    rounds: u64,
    /// Steps of the policies before this one.
    before: u64,
    all: u64,
    progress: &'a mut dyn Progress,
}

/// Passes a simulation's rounds on as steps of the comparison.
struct Watcher<'a> {
    policy: &'static str,
    before: u64,
    all: u64,
    began: Stopwatch,
    progress: &'a mut dyn Progress,
}

impl Observer for Watcher<'_> {
    fn round_done(&mut self, done: usize, _all: usize) -> bool {
        self.progress.step(self.before + done as u64, self.all, self.policy)
    }

    fn nanoseconds(&mut self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Comparison<'_> {
    fn policy(&mut self, choice: Choice) -> Result<LabPolicy, SimulateError> {
        let entry = choice.entry;
        if entry.needs == Needs::Future && matches!(self.trace.demand, Demand::Jobs(_)) {
            let reason = "it knows all rounds beforehand, and here demand waits for what is given".to_owned();
            return Err(PolicyError::DoesNotApply { policy: entry.name, reason }.into());
        }
        let mut policy = choice.make(&self.makings);
        let mut watcher = Watcher {
            policy: entry.name,
            before: self.before,
            all: self.all,
            began: Stopwatch::now(),
            progress: &mut *self.progress,
        };
        let record = simulate(self.trace, policy.as_mut(), &mut watcher)?;
        let (mut measures, mut agents) = measure(&record, self.bound);
        measures.pareto_gap = pareto::gap(&record)?;
        self.look_for_regret(choice, &mut measures, &mut agents)?;
        let shown =
            COLUMNS.iter().filter_map(|column| Some((column.key.to_owned(), (column.of)(&measures)?)));
        let (utilisation, used) = stretches(&record);
        Ok(LabPolicy {
            measures: shown.collect(),
            teams: agents.iter().map(|agent| self.team(agent)).collect(),
            utilisation,
            used,
            ..named(choice)
        })
    }

    fn look_for_regret(
        &mut self,
        choice: Choice,
        measures: &mut Measures,
        agents: &mut [AgentFigures],
    ) -> Result<(), SimulateError> {
        let Demand::Fixed(rounds) = &self.trace.demand else { return Ok(()) };
        let rounds = &rounds[..rounds.len().min(self.request.regret_rounds as usize)];
        if rounds.is_empty() {
            return Ok(());
        }
        let (done, all, makings) = (self.before + self.rounds, self.all, self.makings);
        let mut go_on = || self.progress.step(done, all, choice.entry.name);
        let found = regret::regret(rounds, &|| choice.make(&makings), self.request.seed, &mut go_on)?;
        let found = found.ok_or(SimulateError::Cancelled)?;
        for (agent, gain) in agents.iter_mut().zip(&found) {
            agent.regret = Some(*gain);
        }
        measures.regret = found.into_iter().reduce(f64::max);
        Ok(())
    }

    fn team(&self, agent: &AgentFigures) -> LabTeam {
        LabTeam {
            asked: agent.asked,
            used: agent.used,
            wanted: agent.wanted,
            got: agent.got,
            welfare: agent.welfare(),
            static_got: agent.static_got,
            envies: agent.envies.map(|(other, _)| self.trace.agents[other].clone()),
            envy: agent.envies.map(|(_, by)| by),
            regret: agent.regret,
            price_ratio: agent.price_ratio,
            paid: agent.paid.map(|(paid, _)| paid),
            earned: agent.paid.map(|(_, earned)| earned),
        }
    }
}

/// Means over equal stretches: the part of the chips used, and each team's chips. Rounded to what a chart can show.
fn stretches(record: &Record) -> (Vec<f64>, Vec<Vec<f64>>) {
    let rounds = record.rounds();
    let count = rounds.min(STRETCHES);
    let (mut utilisation, mut used) =
        (Vec::with_capacity(count), vec![Vec::with_capacity(count); record.agents]);
    for stretch in 0..count {
        let (from, to) = (stretch * rounds / count, (stretch + 1) * rounds / count);
        let supply: u64 = record.supply[from * record.chip_types..to * record.chip_types].iter().sum();
        let mut all = 0_u64;
        for (agent, series) in used.iter_mut().enumerate() {
            let cells = (from..to).flat_map(|round| (0..record.chip_types).map(move |at| (round, at)));
            let chips: u64 =
                cells.map(|(round, at)| u64::from(record.useful[record.place(round, agent, at)])).sum();
            all += chips;
            series.push((chips as f64 / (to - from) as f64 * 10.0).round() / 10.0);
        }
        utilisation.push((all as f64 / supply.max(1) as f64 * 1e4).round() / 1e4);
    }
    (utilisation, used)
}
