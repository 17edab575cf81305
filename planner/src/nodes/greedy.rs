//! The marginal-probability greedy.
//!
//! \[recon\] Each node in turn goes where it brings most: to the job with the largest P(finish) per expected node-tick, with
//! as many nodes as make that largest. That is `value · P − price · node-ticks` at the price at which the last node just
//! pays, so no price has to be chosen for a load. A job below [`HOPELESS`] with all its nodes gets none, and a node goes
//! to a job that held none only for a gain above a threshold.

use candle_core::Result;

use super::Allocator;
use super::mara::state::{HOPELESS, MOST, Outlook, State};
use super::need::{Need, NeedNet, Needs};
use super::simulation::Simulation;

/// A larger number of nodes, and a job that held none, must be better by this factor.
const SWITCH: f64 = 1.02;
/// A job gets no more nodes than its need takes in this tick with this probability.
const ENOUGH: f64 = 0.95;

/// What so many nodes are worth to a job.
type Measure = fn(&Outlook, usize) -> f64;

/// The choices of [`Greedy::teacher`].
pub(super) fn lesson(now: &Simulation, needs: &[Need], state: &State) -> Vec<usize> {
    choices(now, needs, state, Outlook::merit)
}

/// Probability to end in time per node-tick.
fn per_node_tick(outlook: &Outlook, nodes: usize) -> f64 {
    outlook.finish[nodes] / outlook.cost[nodes]
}

/// The choice of each node, as places among the state's jobs; beyond them for none.
fn choices(now: &Simulation, needs: &[Need], state: &State, measure: Measure) -> Vec<usize> {
    let per_node = now.setting.data_per_node;
    let mut offers: Vec<(f64, usize, usize)> = Vec::new();
    for (at, place) in state.places.iter().enumerate() {
        let (job, need) = (&now.active[*place], &needs[*place]);
        let outlook = Outlook::new(need, job.ticks_left(now.tick), per_node);
        let mut best = (0.0, 0);
        for nodes in (1..=MOST).filter(|nodes| outlook.finish[*nodes] >= HOPELESS) {
            let worth = measure(&outlook, nodes);
            if worth > best.0 * SWITCH {
                best = (worth, nodes);
            }
        }
        let enough = (need.quantile(ENOUGH) / per_node).ceil().max(1.0) as usize;
        let worth = if job.nodes > 0 { best.0 * SWITCH } else { best.0 };
        offers.push((worth, at, best.1.min(enough)));
    }
    offers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut choices: Vec<usize> = offers
        .into_iter()
        .flat_map(|(_, at, nodes)| std::iter::repeat_n(at, nodes))
        .take(state.nodes)
        .collect();
    choices.resize(state.nodes, usize::MAX);
    choices
}

/// The greedy as an allocator.
pub struct Greedy<'a> {
    predictor: &'a NeedNet,
    needs: Needs,
    measure: Measure,
}

impl<'a> Greedy<'a> {
    /// The plain one, with a predictor: it goes by the probability to end in time per node-tick.
    #[must_use]
    pub fn new(predictor: &'a NeedNet) -> Self {
        Self { predictor, needs: Needs::default(), measure: per_node_tick }
    }

    /// The one that weighs doubt and haste as well ([`Outlook::merit`]): the teacher of the policy's warm start.
    #[must_use]
    pub fn teacher(predictor: &'a NeedNet) -> Self {
        Self { measure: Outlook::merit, ..Self::new(predictor) }
    }
}

impl Allocator for Greedy<'_> {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        let needs = self.needs.of(self.predictor, now)?;
        let state = State::new(now, &needs);
        Ok(state.shares(&choices(now, &needs, &state, self.measure), now.active.len()))
    }
}

/// Moore and Hodgson's rule, as in LARA, with the same predictor: what foreseeing alone brings.
pub struct Foreseeing<'a> {
    predictor: &'a NeedNet,
    needs: Needs,
}

/// The demand that Moore and Hodgson's rule plans with is enough with this probability.
const PLANNED: f64 = 0.7;

impl<'a> Foreseeing<'a> {
    /// With a predictor.
    #[must_use]
    pub fn new(predictor: &'a NeedNet) -> Self {
        Self { predictor, needs: Needs::default() }
    }
}

impl Allocator for Foreseeing<'_> {
    fn allocate(&mut self, now: &Simulation) -> Result<Vec<usize>> {
        let needs = self.needs.of(self.predictor, now)?;
        Ok(super::baselines::plan(now, |place, _| needs[place].quantile(PLANNED)))
    }
}
