//! What the policy sees of a tick: a token per job, and what a further node would bring it.

use candle_core::{Device, Result, Tensor};

use crate::nodes::need::Need;
use crate::nodes::simulation::Simulation;

/// Numbers of a job's token.
pub const TOKEN: usize = 20;
/// Numbers of what a further node brings a job.
pub const MARGIN: usize = 7;
/// Numbers of the tick as a whole.
pub const WHOLE: usize = 4;
/// Most nodes of one job.
pub const MOST: usize = 4;
/// A job that is less likely to end in time, with all nodes that it may have, gets none.
pub const HOPELESS: f64 = 0.05;
/// Ticks of waiting whose harm is looked at.
const WAITING: u32 = 3;
/// Keeps a score from being chosen.
pub(super) const NEVER: f32 = -1e9;

/// A tick.
#[derive(Clone, Debug)]
pub struct State {
    /// Tokens of the jobs that may have nodes.
    pub(super) tokens: Vec<[f32; TOKEN]>,
    /// What the first, second and further node brings each.
    pub(super) margins: Vec<[[f32; MARGIN]; MOST]>,
    /// Their places among the active jobs.
    pub places: Vec<usize>,
    /// The tick as a whole.
    pub(super) whole: [f32; WHOLE],
    /// Nodes to share out.
    pub nodes: usize,
}

/// Chances to end in time, and the node-ticks that this is expected to take, by nodes held until the deadline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outlook {
    /// Probability to end in time with none, one and more nodes.
    pub finish: [f64; MOST + 1],
    /// Node-ticks expected.
    pub cost: [f64; MOST + 1],
    /// The part of the chance with all nodes that a few ticks of waiting take, from 0 to 1.
    pub haste: f64,
}

impl Outlook {
    /// Of a job with so many ticks left.
    #[must_use]
    pub fn new(need: &Need, ticks: u32, data_per_node: f64) -> Self {
        const PIECES: u32 = 12;
        let mut outlook = Self::default();
        let pieces = ticks.min(PIECES);
        let length = f64::from(ticks) / f64::from(pieces.max(1));
        for nodes in 1..=MOST {
            let per_tick = nodes as f64 * data_per_node;
            outlook.finish[nodes] = need.within(per_tick * f64::from(ticks));
            let running: f64 =
                (0..pieces).map(|nth| 1.0 - need.within(per_tick * length * f64::from(nth))).sum();
            outlook.cost[nodes] = running * length * nodes as f64;
        }
        let later = f64::from(ticks.saturating_sub(WAITING)) * MOST as f64 * data_per_node;
        let lost = outlook.finish[MOST] - need.within(later);
        outlook.haste = (lost / outlook.finish[MOST].max(1e-9)).clamp(0.0, 1.0);
        outlook
    }

    /// What a job with so many nodes is worth beside others: the chance to end in time counts twice, as what a doubtful job
    /// takes is lost more often than not, and so does a job that cannot wait.
    #[must_use]
    pub fn merit(&self, nodes: usize) -> f64 {
        self.finish[nodes].powi(2) / self.cost[nodes].max(0.1) * (1.0 + self.haste)
    }
}

impl State {
    /// A tick, with the chances of its active jobs.
    #[must_use]
    pub fn new(now: &Simulation, needs: &[Need]) -> Self {
        let per_node = now.setting.data_per_node;
        let mut state = Self {
            tokens: vec![],
            margins: vec![],
            places: vec![],
            whole: [0.0; WHOLE],
            nodes: now.setting.nodes,
        };
        let mut wanted = 0.0;
        for (place, (job, need)) in now.active.iter().zip(needs).enumerate() {
            let ticks = job.ticks_left(now.tick);
            let outlook = Outlook::new(need, ticks, per_node);
            if outlook.finish[MOST] < HOPELESS {
                continue;
            }
            wanted += outlook.cost[MOST];
            let quantiles = [0.1, 0.5, 0.9].map(|p| need.quantile(p) / per_node);
            let log = |value: f64| ((value + 0.1).ln() / 2.0) as f32;
            let [q1, q2, q3, q4] = [1, 2, 3, 4].map(|nodes| outlook.finish[nodes] as f32);
            let age = f64::from(now.tick - job.begin);
            state.tokens.push([
                q1,
                q2,
                q3,
                q4,
                log(outlook.cost[1]),
                log(outlook.cost[MOST]),
                log(outlook.finish[MOST] / outlook.cost[MOST].max(0.1)),
                log(quantiles[0]),
                log(quantiles[1]),
                log(quantiles[2]),
                log(f64::from(ticks)),
                log(age),
                log(age + f64::from(ticks)),
                1.0 / ticks as f32,
                job.nodes as f32 / MOST as f32,
                f32::from(job.nodes > 0),
                f32::from(!job.log.is_empty()),
                job.progress() as f32,
                (quantiles[1] / (f64::from(ticks) * MOST as f64)).min(3.0) as f32,
                outlook.haste as f32,
            ]);
            state.margins.push(std::array::from_fn(|held| margin(&outlook, need, held, job.nodes, per_node)));
            state.places.push(place);
        }
        let share = |value: f64| (value / now.setting.nodes as f64 / 10.0).min(5.0) as f32;
        let all = f64::from(now.setting.arrivals + now.setting.drain);
        state.whole = [
            share(state.places.len() as f64 * 4.0),
            share(wanted),
            (f64::from(now.tick) / all) as f32,
            (f64::from(now.setting.arrivals.saturating_sub(now.tick)) / all) as f32,
        ];
        state
    }

    /// Jobs that may have nodes.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.places.len()
    }

    /// The nodes of each active job, from each node's choice (a place among [`State::places`], or beyond for none).
    #[must_use]
    pub fn shares(&self, choices: &[usize], active: usize) -> Vec<usize> {
        let mut nodes = vec![0; active];
        for choice in choices {
            if let Some(place) = self.places.get(*choice) {
                nodes[*place] += 1;
            }
        }
        nodes
    }
}

fn margin(outlook: &Outlook, need: &Need, held: usize, before: usize, per_node: f64) -> [f32; MARGIN] {
    let ratio = outlook.finish[held + 1] / outlook.cost[held + 1].max(0.1);
    [
        held as f32 / MOST as f32,
        (outlook.finish[held + 1] - outlook.finish[held]) as f32,
        ((ratio + 1e-3).ln() / 2.0 + 1.0) as f32,
        outlook.finish[held + 1] as f32,
        need.within(held as f64 * per_node) as f32,
        f32::from(held < before),
        ((outlook.merit(held + 1) + 1e-3).ln() / 2.0 + 1.0) as f32,
    ]
}

/// Some ticks, padded to the same number of jobs.
pub(super) struct Batch {
    pub(super) ticks: usize,
    pub(super) jobs: usize,
    pub(super) nodes: usize,
    /// (ticks, jobs, token)
    pub(super) tokens: Tensor,
    /// (ticks, jobs): 0, or [`NEVER`] for padding.
    pub(super) absent: Tensor,
    /// (ticks, whole)
    pub(super) whole: Tensor,
}

impl Batch {
    /// All with the same number of nodes.
    pub(super) fn new(states: &[&State]) -> Result<Self> {
        let jobs = states.iter().map(|state| state.jobs()).max().unwrap_or(0).max(1);
        let ticks = states.len();
        let mut tokens = vec![0.0f32; ticks * jobs * TOKEN];
        let mut absent = vec![NEVER; ticks * jobs];
        for (tick, state) in states.iter().enumerate() {
            for (job, token) in state.tokens.iter().enumerate() {
                let at = tick * jobs + job;
                tokens[at * TOKEN..(at + 1) * TOKEN].copy_from_slice(token);
                absent[at] = 0.0;
            }
        }
        let whole: Vec<f32> = states.iter().flat_map(|state| state.whole).collect();
        Ok(Self {
            ticks,
            jobs,
            nodes: states.first().map_or(0, |state| state.nodes),
            tokens: Tensor::from_vec(tokens, (ticks, jobs, TOKEN), &Device::Cpu)?,
            absent: Tensor::from_vec(absent, (ticks, jobs), &Device::Cpu)?,
            whole: Tensor::from_vec(whole, (ticks, WHOLE), &Device::Cpu)?,
        })
    }
}

/// What the next node of each tick may choose, given what each job holds already.
#[derive(Default)]
pub(super) struct Offers {
    /// What it would bring each job.
    pub(super) margins: Vec<f32>,
    /// 0, or [`NEVER`] where the choice is closed; the last choice of each node, none, is always open.
    pub(super) closed: Vec<f32>,
}

impl Offers {
    pub(super) fn add(&mut self, state: &State, jobs: usize, held: &[usize]) {
        for (job, held) in held.iter().enumerate().take(jobs) {
            match state.margins.get(job) {
                Some(margin) if *held < MOST => {
                    self.margins.extend(margin[*held]);
                    self.closed.push(0.0);
                }
                _ => {
                    self.margins.extend([0.0; MARGIN]);
                    self.closed.push(NEVER);
                }
            }
        }
        self.closed.push(0.0);
    }
}
