//! What an agent gains by not telling the truth: tried, not proved. Twenty random misreports and twenty-five steps of a
//! local search per agent give a lower bound of what the best liar gains.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::policy::{Policy, PolicyError};
use crate::round::Round;

/// Random misreports per agent.
const RANDOM: usize = 20;
/// Steps of the local search per agent.
const STEPS: usize = 25;

/// A way to misreport: demand and value are scaled, and rounds whose true demand is a small part of the agent's mean are
/// told differently from the others.
#[derive(Clone, Copy, Debug)]
struct Lie {
    /// Factor on demand where it is above the mean.
    high: f64,
    /// Factor on demand where it is below.
    low: f64,
    /// Factor on values.
    value: f64,
    /// Chips added to each demand, as part of the mean.
    added: f64,
}

impl Lie {
    fn random(random: &mut ChaCha8Rng) -> Self {
        Self {
            high: random.random_range(0.0..3.0),
            low: random.random_range(0.0..3.0),
            value: random.random_range(0.1..5.0),
            added: random.random_range(0.0..1.0),
        }
    }

    fn near(self, random: &mut ChaCha8Rng) -> Self {
        let mut moved = |value: f64, least: f64| (value + random.random_range(-0.25..0.25)).max(least);
        Self {
            high: moved(self.high, 0.0),
            low: moved(self.low, 0.0),
            value: moved(self.value, 0.01),
            added: moved(self.added, 0.0),
        }
    }
}

/// The most that each agent was found to gain, over the value it asked for; at least 0. `go_on` is asked before each agent;
/// none where it says no.
///
/// # Errors
/// The policy refuses or fails.
pub fn regret(
    rounds: &[Round],
    make: &dyn Fn() -> Box<dyn Policy>,
    seed: u64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<f64>>, PolicyError> {
    let agents = rounds.first().map_or(0, |round| round.agents.len());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let honest = values(rounds, rounds, make)?;
    let wanted: Vec<f64> = (0..agents).map(|agent| wanted(rounds, agent)).collect();
    let mut gains = vec![0.0; agents];
    for agent in (0..agents).filter(|agent| wanted[*agent] > 0.0) {
        if !go_on() {
            return Ok(None);
        }
        let gain = |lie: Lie| -> Result<f64, PolicyError> {
            let told = told(rounds, agent, lie);
            Ok((values(rounds, &told, make)?[agent] - honest[agent]) / wanted[agent])
        };
        let truth = Lie { high: 1.0, low: 1.0, value: 1.0, added: 0.0 };
        let (mut best, mut most) = (truth, 0.0);
        for nth in 0..RANDOM + STEPS {
            let lie = if nth < RANDOM { Lie::random(&mut random) } else { best.near(&mut random) };
            let gained = gain(lie)?;
            if gained > most {
                (best, most) = (lie, gained);
            }
        }
        gains[agent] = most;
    }
    Ok(Some(gains))
}

fn wanted(rounds: &[Round], agent: usize) -> f64 {
    let value = |round: &Round| {
        let agent = &round.agents[agent];
        let types = agent.demand.iter().enumerate();
        types.map(|(at, chips)| *chips as f64 * agent.value_of(at)).sum::<f64>() * round.hours
    };
    rounds.iter().map(value).sum()
}

/// The rounds as they look when an agent lies.
fn told(rounds: &[Round], agent: usize, lie: Lie) -> Vec<Round> {
    let types = rounds.first().map_or(0, |round| round.supply.len());
    let mean = |at: usize| {
        rounds.iter().map(|round| round.agents[agent].demand[at]).sum::<u64>() as f64 / rounds.len() as f64
    };
    let means: Vec<f64> = (0..types).map(mean).collect();
    let mut told = rounds.to_vec();
    for round in &mut told {
        let supply = round.supply.clone();
        let teller = &mut round.agents[agent];
        for (at, chips) in teller.demand.iter_mut().enumerate() {
            let factor = if *chips as f64 > means[at] { lie.high } else { lie.low };
            let said = *chips as f64 * factor + lie.added * means[at];
            // Nobody asks for more than there is: it would be seen.
            *chips = (said as u64).min(supply[at]);
        }
        for value in &mut teller.value {
            *value = (*value * lie.value).min(1e6);
        }
    }
    told
}

/// What each agent truly gets when the policy is told something else.
fn values(
    truth: &[Round],
    told: &[Round],
    make: &dyn Fn() -> Box<dyn Policy>,
) -> Result<Vec<f64>, PolicyError> {
    let mut policy = make();
    policy.foresee(told)?;
    let mut values = vec![0.0; truth.first().map_or(0, |round| round.agents.len())];
    for (truth, told) in truth.iter().zip(told) {
        let allocation = policy.allocate(told)?;
        for (nth, agent) in truth.agents.iter().enumerate() {
            for (at, chips) in allocation.chips[nth].iter().enumerate() {
                values[nth] += (*chips).min(agent.demand[at]) as f64 * agent.value_of(at) * truth.hours;
            }
        }
    }
    Ok(values)
}
