//! The figures of a run: what was used, what it was worth, and how evenly it was shared.

use serde::{Deserialize, Serialize};

use crate::market_policy::Spending;
use crate::simulate::Record;
use crate::static_share;

/// Agents times agents times rounds times chip types up to which envy is computed.
const MOST_ENVY_STEPS: u64 = 2_000_000_000;

/// Figures of one policy on one trace. Shares are 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Chip-hours used over chip-hours there were.
    pub utilisation: f64,
    /// Value of what was used, in credits.
    pub welfare: f64,
    /// Welfare over the most that the trace allows.
    pub welfare_share: f64,
    /// Least over agents of value got over value asked for.
    pub least_welfare: f64,
    /// Mean over agents of the same.
    pub mean_welfare: f64,
    /// Least over most chip-hours per weight among agents that asked for any.
    pub fairness: f64,
    /// Jain's index of chip-hours per weight: 1 is even, 1/n is all to one.
    pub jain: f64,
    /// By how much of the value it asked for an agent would rather have another's chips, scaled to its own weight, at
    /// worst. Absent where demand waits or there are too many agents.
    pub envy: Option<f64>,
    /// By how much of its value in a static share an agent is worse off than there, at worst. Absent where demand waits.
    pub sharing_shortfall: Option<f64>,
    /// Chips that changed hands from round to round over chips held.
    pub quota_churn: f64,
    /// Change of the price from round to round over the price; absent without prices.
    pub price_churn: Option<f64>,
    /// The most that an agent gains by misreporting, over the value it asked for; absent where it was not looked for.
    pub regret: Option<f64>,
    /// What another allocation would give in all at nobody's cost, over what there is; absent where it can't be told.
    pub pareto_gap: Option<f64>,
    /// `min 1/f` with `f` an agent's mean price over the market's (Theorem 4); absent without prices.
    pub guarantee: Option<f64>,
    /// Least over agents of its part of all chip-hours over its part of all incomes; absent without prices.
    pub reached: Option<f64>,
    /// Jobs that ended in time over jobs that arrived; absent where the trace has no jobs.
    pub ended_in_time: Option<f64>,
    /// Time of a round in microseconds, by the caller's stopwatch.
    pub microseconds_per_round: f64,
}

/// Figures of one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentFigures {
    /// Chip-hours that it asked for.
    pub asked: f64,
    /// Chip-hours that it used.
    pub used: f64,
    /// Value that it asked for, in credits.
    pub wanted: f64,
    /// Value that it got, in credits.
    pub got: f64,
    /// Value that a static share would have given it, in credits; absent where demand waits.
    pub static_got: Option<f64>,
    /// Whom it envies most, and by how much of the value it asked for; absent where it envies nobody.
    pub envies: Option<(usize, f64)>,
    /// The most that it gains by misreporting, over the value it asked for.
    pub regret: Option<f64>,
    /// Its mean price over the market's; absent without prices.
    pub price_ratio: Option<f64>,
    /// Credits paid and earned; absent without money.
    pub paid: Option<(f64, f64)>,
}

impl AgentFigures {
    /// Value got over value asked for; 1 for who asked for nothing.
    #[must_use]
    pub fn welfare(&self) -> f64 {
        share(self.got, self.wanted, 1.0)
    }
}

fn share(part: f64, whole: f64, of_nothing: f64) -> f64 {
    if whole > 0.0 { part / whole } else { of_nothing }
}

/// Measures a record against the most welfare that its trace allows, in credits.
#[must_use]
pub fn measure(record: &Record, bound: f64) -> (Measures, Vec<AgentFigures>) {
    let mut agents = agent_figures(record);
    let envy = envy(record, &mut agents);
    let guarantee = theorem_4(&record.spending, &mut agents);
    let capacity: f64 = record
        .supply
        .iter()
        .enumerate()
        .map(|(at, chips)| *chips as f64 * record.hours[at / record.chip_types.max(1)])
        .sum();
    let used: f64 = agents.iter().map(|agent| agent.used).sum();
    let welfare: f64 = agents.iter().map(|agent| agent.got).sum();
    let asking: Vec<(usize, &AgentFigures)> =
        agents.iter().enumerate().filter(|(_, agent)| agent.asked > 0.0).collect();
    let parts: Vec<f64> = asking.iter().map(|(_, agent)| agent.welfare()).collect();
    let totals: Vec<f64> = asking.iter().map(|(nth, agent)| agent.used / record.weights[*nth]).collect();
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most_used = totals.iter().copied().fold(0.0, f64::max);
    let squares: f64 = totals.iter().map(|total| total * total).sum();
    let sum: f64 = totals.iter().sum();
    let (jobs, ended) = record.served.iter().fold((0, 0), |sums, of| (sums.0 + of.jobs, sums.1 + of.ended));
    let measures = Measures {
        utilisation: share(used, capacity, 0.0),
        welfare,
        welfare_share: share(welfare, bound, 1.0),
        least_welfare: if parts.is_empty() { 1.0 } else { least(&parts) },
        mean_welfare: share(parts.iter().sum(), parts.len() as f64, 1.0),
        fairness: if totals.is_empty() { 1.0 } else { share(least(&totals), most_used, 1.0) },
        jain: share(sum * sum, totals.len() as f64 * squares, 1.0),
        envy,
        sharing_shortfall: sharing_shortfall(&agents),
        quota_churn: quota_churn(record),
        price_churn: price_churn(record),
        regret: None,
        pareto_gap: None,
        guarantee,
        reached: reached(&record.spending),
        ended_in_time: (jobs > 0).then(|| ended as f64 / jobs as f64),
        microseconds_per_round: share(record.nanoseconds as f64 / 1e3, record.rounds() as f64, 0.0),
    };
    (measures, agents)
}

/// Sums per agent.
fn agent_figures(record: &Record) -> Vec<AgentFigures> {
    let waits = !record.served.is_empty();
    let mut agents = vec![AgentFigures::default(); record.agents];
    let mut static_got = vec![0.0; record.agents];
    for round in 0..record.rounds() {
        let hours = record.hours[round];
        for chip_type in 0..record.chip_types {
            let supply = record.supply[round * record.chip_types + chip_type];
            let shares = if waits { Vec::new() } else { static_share::shares(supply, &record.weights) };
            for (nth, agent) in agents.iter_mut().enumerate() {
                let place = record.place(round, nth, chip_type);
                let (demand, useful) = (f64::from(record.demand[place]), f64::from(record.useful[place]));
                let worth = f64::from(record.value[place]) * hours;
                agent.asked += demand * hours;
                agent.used += useful * hours;
                agent.wanted += demand * worth;
                agent.got += useful * worth;
                if let Some(share) = shares.get(nth) {
                    static_got[nth] += demand.min(*share as f64) * worth;
                }
            }
        }
    }
    for (nth, agent) in agents.iter_mut().enumerate() {
        match record.served.get(nth) {
            Some(served) => (agent.wanted, agent.got) = (served.value, served.got),
            None => agent.static_got = Some(static_got[nth]),
        }
    }
    agents
}

/// The worst envy of all, and for each agent whom it envies most.
fn envy(record: &Record, agents: &mut [AgentFigures]) -> Option<f64> {
    let steps = (record.agents * record.agents) as u64 * (record.rounds() * record.chip_types) as u64;
    if !record.served.is_empty() || steps > MOST_ENVY_STEPS {
        return None;
    }
    let mut worst = 0.0_f64;
    for (nth, agent) in agents.iter_mut().enumerate().filter(|(_, agent)| agent.wanted > 0.0) {
        for other in (0..record.agents).filter(|other| *other != nth) {
            let scale = record.weights[nth] / record.weights[other];
            let mut would_have = 0.0;
            for round in 0..record.rounds() {
                for chip_type in 0..record.chip_types {
                    let place = record.place(round, nth, chip_type);
                    let chips = f64::from(record.granted[record.place(round, other, chip_type)]) * scale;
                    let worth = f64::from(record.value[place]) * record.hours[round];
                    would_have += chips.min(record.demand[place].into()) * worth;
                }
            }
            let by = (would_have - agent.got) / agent.wanted;
            if by > agent.envies.map_or(0.0, |envied| envied.1) {
                agent.envies = Some((other, by));
                worst = worst.max(by);
            }
        }
    }
    Some(worst)
}

fn sharing_shortfall(agents: &[AgentFigures]) -> Option<f64> {
    let mut worst = 0.0_f64;
    for agent in agents {
        let alone = agent.static_got?;
        worst = worst.max(share(alone - agent.got, alone, 0.0));
    }
    Some(worst)
}

fn quota_churn(record: &Record) -> f64 {
    let row = record.agents * record.chip_types;
    let (mut moved, mut held) = (0_u64, 0_u64);
    for pair in record.granted.chunks(row.max(1)).collect::<Vec<_>>().windows(2) {
        moved += pair[0].iter().zip(pair[1]).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>();
        held += pair[0].iter().map(|chips| u64::from(*chips)).sum::<u64>();
    }
    share(moved as f64, held as f64, 0.0)
}

fn price_churn(record: &Record) -> Option<f64> {
    if record.prices.is_empty() {
        return None;
    }
    let rows: Vec<&[f64]> = record.prices.chunks(record.chip_types).collect();
    let (mut moved, mut sum) = (0.0, 0.0);
    for pair in rows.windows(2) {
        moved += pair[0].iter().zip(pair[1]).map(|(a, b)| (a - b).abs()).sum::<f64>();
        sum += pair[0].iter().sum::<f64>();
    }
    Some(share(moved, sum, 0.0))
}

/// `min 1/f`: by Theorem 4 a market where all budgets are spent is so far fair, with budgets as weights.
fn theorem_4(spending: &[Spending], agents: &mut [AgentFigures]) -> Option<f64> {
    let paid: f64 = spending.iter().map(|of| of.paid as f64).sum();
    let chips: f64 = spending.iter().map(|of| of.chip_seconds as f64).sum();
    for (agent, of) in agents.iter_mut().zip(spending) {
        agent.paid = Some((of.paid as f64 / 1e6, of.earned as f64 / 1e6));
        if of.chip_seconds > 0 && paid > 0.0 {
            agent.price_ratio = Some((of.paid as f64 / of.chip_seconds as f64) / (paid / chips));
        }
    }
    let dearest = agents.iter().filter_map(|agent| agent.price_ratio).fold(0.0, f64::max);
    (dearest > 0.0).then(|| 1.0 / dearest)
}

/// The fairness that was reached: least over agents of chips' part over money's part.
fn reached(spending: &[Spending]) -> Option<f64> {
    let earned: f64 = spending.iter().map(|of| of.earned as f64).sum();
    let chips: f64 = spending.iter().map(|of| of.chip_seconds as f64).sum();
    let parts = spending.iter().filter(|of| of.earned > 0 && chips > 0.0);
    let parts = parts.map(|of| (of.chip_seconds as f64 / chips) / (of.earned as f64 / earned));
    parts.reduce(f64::min)
}
