//! What the network sees of each agent, and how that changes with what everybody holds.
//!
//! \[recon\] The features are without a unit and do not grow with the number of agents or resources, so that a network
//! trained on ten agents and three resources can be asked about others.

use super::super::{exchange, used};

/// Features of an agent.
pub(super) const INPUTS: usize = 12;

/// Keeps shares of a load apart from noise where hardly anything is used.
const LEAST_LOAD: f64 = 0.01;

/// Everything of a course that does not change from step to step.
#[derive(Clone, Debug)]
pub(super) struct Course<'a> {
    /// Agents in all.
    pub agents: f64,
    /// Demands of those that came so far, or of all.
    pub demands: &'a [Vec<f64>],
    /// The most that each can use. Who has that envies nobody.
    pub caps: &'a [f64],
    /// `exchange` of each pair: what `i` would have of what `j` holds, by `i`, then `j`.
    rates: Vec<Vec<f64>>,
    /// Each one's dominant resource.
    dominant: Vec<usize>,
    /// The weight of envy as the network sees it: `ln(1 + λ)`.
    pub conscience: f64,
}

/// The features of a step, and what is needed to take derivatives.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// By agent.
    pub inputs: Vec<[f64; INPUTS]>,
    /// What all hold of each resource.
    pub used: Vec<f64>,
    /// The resource of which least is left.
    pub fullest: usize,
    /// Whom each envies most.
    envied: Vec<Option<usize>>,
    /// Who envies each most.
    envious: Vec<Option<usize>>,
    poorest: usize,
    load: f64,
    room: f64,
}

/// Place of the largest number; the first of equal ones.
pub(super) fn largest(numbers: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (at, number) in numbers.enumerate() {
        if number > best.1 {
            best = (at, number);
        }
    }
    best.0
}

/// Of some agents the one with the largest number.
fn most(agents: impl Iterator<Item = usize>, of: impl Fn(usize) -> f64) -> Option<usize> {
    agents.max_by(|a, b| of(*a).total_cmp(&of(*b)))
}

impl<'a> Course<'a> {
    pub(super) fn new(agents: usize, demands: &'a [Vec<f64>], caps: &'a [f64], envy_weight: f64) -> Self {
        let rates = demands.iter().map(|i| demands.iter().map(|j| exchange(i, j)).collect()).collect();
        let dominant = demands.iter().map(|demand| largest(demand.iter().copied())).collect();
        Self { agents: agents as f64, demands, caps, rates, dominant, conscience: envy_weight.ln_1p() }
    }

    /// How much more of its own unit `i` would have with what `j` holds.
    pub(super) fn envy(&self, held: &[f64], i: usize, j: usize) -> f64 {
        self.rates[i][j] * held[j] - held[i]
    }

    pub(super) fn rate(&self, i: usize, j: usize) -> f64 {
        self.rates[i][j]
    }

    /// What the network sees when these hold so much, the newcomer last.
    pub(super) fn view(&self, held: &[f64]) -> View {
        let (arrived, n) = (held.len(), self.agents);
        let demands = &self.demands[..arrived];
        let used = used(demands, held);
        let part = arrived as f64 / n;
        let fullest = largest(used.iter().copied());
        let left: Vec<f64> = used.iter().map(|used| (part - used).max(0.0)).collect();
        let load: f64 = used.iter().sum::<f64>() + LEAST_LOAD;
        let room: f64 = left.iter().sum::<f64>() + LEAST_LOAD;
        let mean = held.iter().sum::<f64>() / arrived as f64;
        let poorest = largest(held.iter().map(|x| -x));
        let mut view = View {
            inputs: Vec::with_capacity(arrived),
            used,
            fullest,
            envied: Vec::with_capacity(arrived),
            envious: Vec::with_capacity(arrived),
            poorest,
            load,
            room,
        };
        let wants = |i: usize| held[i] < self.caps[i];
        for (i, demand) in demands.iter().enumerate() {
            let others = || (0..arrived).filter(|j| *j != i);
            let envied = wants(i).then(|| most(others(), |j| self.envy(held, i, j))).flatten();
            let envious = most(others().filter(|j| wants(*j)), |j| self.envy(held, j, i));
            let feels = envied.map_or(0.0, |j| self.envy(held, i, j));
            let causes = envious.map_or(0.0, |j| self.envy(held, j, i));
            let share = |of: &dyn Fn(usize) -> f64| {
                demand.iter().enumerate().map(|(at, need)| need * of(at)).sum::<f64>()
            };
            view.inputs.push([
                n * held[i] - 1.0,
                part,
                if i + 1 == arrived { 1.0 } else { 0.0 },
                n * feels,
                n * causes,
                demand.iter().sum::<f64>() / demand.len() as f64,
                share(&|at| view.used[at]) / load,
                share(&|at| left[at]) / room,
                if self.dominant[i] == fullest { 1.0 } else { 0.0 },
                n * (held[i] - mean),
                n * (held[i] - held[poorest]),
                self.conscience,
            ]);
            view.envied.push(envied);
            view.envious.push(envious);
        }
        view
    }

    /// Adds to `back` what the derivatives at an agent's inputs mean for what everybody holds.
    pub(super) fn view_back(&self, view: &View, i: usize, by: &[f64; INPUTS], back: &mut [f64]) {
        let (arrived, n) = (view.inputs.len(), self.agents);
        back[i] += n * (by[0] + by[9] + by[10]);
        if let Some(j) = view.envied[i] {
            back[j] += n * by[3] * self.rates[i][j];
            back[i] -= n * by[3];
        }
        if let Some(j) = view.envious[i] {
            back[i] += n * by[4] * self.rates[j][i];
            back[j] -= n * by[4];
        }
        let mean = n * by[9] / arrived as f64;
        back.iter_mut().for_each(|slope| *slope -= mean);
        back[view.poorest] -= n * by[10];
        let part = view.inputs[i][1];
        for (at, need) in self.demands[i].iter().enumerate() {
            let mut of_use = by[6] * (need - view.inputs[i][6]) / view.load;
            if part > view.used[at] {
                of_use -= by[7] * (need - view.inputs[i][7]) / view.room;
            }
            self.use_back(at, of_use, back);
        }
    }

    /// Adds to `back` what a derivative at the use of a resource means for what everybody holds.
    pub(super) fn use_back(&self, resource: usize, by: f64, back: &mut [f64]) {
        for (slope, demand) in back.iter_mut().zip(self.demands) {
            *slope += by * demand[resource];
        }
    }
}
