//! Jobs that arrive over time and share a few nodes, tick by tick.
//!
//! \[paper\] Jobs arrive over time, each must reach a loss before a deadline, and what it needs is not known; the reward is
//! 1 per job in time, plus what a potential of the active jobs' progress grew, so that its sum is the jobs done. \[recon\]
//! All numbers: needs, deadlines in proportion to them, noise, and how much a load of 1 asks for. The last is such that
//! the rules without learning end as many jobs as in the measurements that this simulator follows. Deadlines tell of
//! needs, within a factor of 3.3; an allocator may use that, as it may where people set deadlines.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::job::Job;
use crate::curves::{Curve, Family};
use crate::random::{log_uniform, normal};

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Nodes.
    pub nodes: usize,
    /// Most nodes of one job in a tick.
    pub most_nodes: usize,
    /// How many jobs arrive: at 1 they need [`OFFERED`] times what the nodes can give while jobs arrive.
    pub load: f64,
    /// Ticks in which jobs arrive.
    pub arrivals: u32,
    /// Ticks after them.
    pub drain: u32,
    /// Data that a node adds in a tick.
    pub data_per_node: f64,
}

impl Default for Setting {
    fn default() -> Self {
        Self { nodes: 8, most_nodes: 4, load: 1.0, arrivals: 160, drain: 60, data_per_node: 10.0 }
    }
}

/// Median of what a job needs, in data.
pub const MEDIAN_NEED: f64 = 120.0;
/// Standard deviation of its logarithm.
pub const SPREAD_NEED: f64 = 0.8;
/// Least and most ticks to the deadline, in parts of the ticks that the need takes on two nodes.
const SLACK: [f64; 2] = [1.2, 4.0];

/// Families of their loss curves, each as likely.
const FAMILIES: [Family; 4] =
    [Family::Power, Family::ShiftedPower, Family::StretchedExponential, Family::Mixed];
/// Data that jobs need at a load of 1, in parts of what the nodes can give while jobs arrive.
pub const OFFERED: f64 = 2.0;

/// What a tick brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Jobs done in time.
    pub done: usize,
    /// Jobs whose deadline has passed.
    pub expired: usize,
    /// The reward: jobs done, and what the potential grew.
    pub reward: f64,
}

/// The state of a simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What is simulated.
    pub setting: Setting,
    /// The tick to decide on.
    pub tick: u32,
    /// Jobs that may have nodes now, in the order of arrival.
    pub active: Vec<Job>,
    /// Jobs to come, the last first.
    coming: Vec<Job>,
    /// Jobs in all.
    pub jobs: usize,
    /// Jobs done in time.
    pub done: usize,
}

impl Simulation {
    /// Draws all jobs; the same setting and seed give the same jobs, and the same noise on the same data of each.
    #[must_use]
    pub fn new(setting: Setting, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mean_need = MEDIAN_NEED * (SPREAD_NEED * SPREAD_NEED / 2.0).exp();
        let rate = setting.load * OFFERED * setting.nodes as f64 * setting.data_per_node / mean_need;
        let mut coming = Vec::new();
        // Times between arrivals are exponential.
        let mut time = 0.0;
        loop {
            time -= (1.0 - random.random::<f64>()).ln() / rate;
            if time >= f64::from(setting.arrivals) {
                break;
            }
            coming.push(draw_job(coming.len(), time as u32, setting.data_per_node, &mut random));
        }
        coming.reverse();
        let mut simulation =
            Self { setting, tick: 0, active: Vec::new(), jobs: coming.len(), coming, done: 0 };
        simulation.admit();
        simulation
    }

    fn admit(&mut self) {
        while self.coming.last().is_some_and(|job| job.begin <= self.tick) {
            self.active.extend(self.coming.pop());
        }
    }

    /// All jobs of the simulation, without it.
    pub(super) fn into_jobs(mut self) -> Vec<Job> {
        self.active.append(&mut self.coming);
        self.active
    }

    /// Data that a job can still get before its deadline, with all nodes that it may have.
    #[must_use]
    pub fn most_data(&self, job: &Job) -> f64 {
        f64::from(job.ticks_left(self.tick)) * self.setting.most_nodes as f64 * self.setting.data_per_node
    }

    /// No tick is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tick >= self.setting.arrivals + self.setting.drain
    }

    /// The potential: how far the active jobs are on their ways.
    #[must_use]
    pub fn potential(&self) -> f64 {
        if self.is_over() { 0.0 } else { self.active.iter().map(Job::progress).sum() }
    }

    /// One tick with so many nodes for each active job.
    ///
    /// # Panics
    /// If the nodes are not one number per active job, or more than there are.
    pub fn step(&mut self, nodes: &[usize]) -> Step {
        assert_eq!(nodes.len(), self.active.len(), "a number per active job");
        assert!(nodes.iter().sum::<usize>() <= self.setting.nodes, "no more nodes than there are");
        assert!(nodes.iter().all(|nodes| *nodes <= self.setting.most_nodes), "no more than a job may have");
        let before = self.potential();
        for (job, nodes) in self.active.iter_mut().zip(nodes) {
            job.work(*nodes, self.setting.data_per_node);
        }
        let active = self.active.len();
        self.active.retain(|job| !job.is_done());
        let done = active - self.active.len();
        self.tick += 1;
        let (active, tick) = (self.active.len(), self.tick);
        self.active.retain(|job| job.ticks_left(tick) > 0);
        let expired = active - self.active.len();
        self.admit();
        self.done += done;
        Step { done, expired, reward: done as f64 + self.potential() - before }
    }
}

fn draw_job(number: usize, begin: u32, data_per_node: f64, random: &mut ChaCha8Rng) -> Job {
    let need = MEDIAN_NEED * (SPREAD_NEED * normal(random)).exp();
    let slack = random.random_range(SLACK[0]..SLACK[1]);
    let ticks = (slack * need / (2.0 * data_per_node)).ceil() as u32;
    let noise = ChaCha8Rng::seed_from_u64(random.random());
    // Where on the curve the target lies is drawn; a fall that noise hides is no target.
    loop {
        let end = log_uniform(random, 0.5, 8.0);
        let family = FAMILIES[random.random_range(0..FAMILIES.len())];
        let curve = Curve::draw(family, random).stretched(need / end);
        if (curve.loss(need / 8.0) / curve.loss(need)).ln() > 0.1 {
            return Job::new(number, [begin, begin + ticks.max(1) - 1], need, curve, noise);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::baselines::{EarliestDeadline, Lara, Oracle};
    use crate::nodes::{Allocator, completion};

    fn run(seed: u64, allocator: &mut dyn Allocator) -> (Simulation, f64) {
        let mut simulation = Simulation::new(Setting::default(), seed);
        let mut reward = 0.0;
        while !simulation.is_over() {
            let nodes = allocator.allocate(&simulation).unwrap();
            reward += simulation.step(&nodes).reward;
        }
        (simulation, reward)
    }

    #[test]
    fn rewards_add_up_to_the_jobs_done_whatever_the_allocator() {
        for seed in 0..4 {
            for allocator in [&mut Lara::default() as &mut dyn Allocator, &mut EarliestDeadline] {
                let (simulation, reward) = run(seed, allocator);
                assert!((reward - simulation.done as f64).abs() < 1e-9, "{reward} {}", simulation.done);
            }
        }
    }

    #[test]
    fn the_potential_grows_with_progress_and_is_0_where_nothing_runs() {
        let mut simulation = Simulation::new(Setting::default(), 3);
        while simulation.active.is_empty() {
            simulation.step(&[]);
        }
        assert_eq!(simulation.potential(), 0.0);
        let nodes: Vec<usize> = (0..simulation.active.len()).map(|at| if at == 0 { 4 } else { 0 }).collect();
        for _ in 0..2 {
            let nodes: Vec<usize> =
                nodes.iter().copied().chain([0; 50]).take(simulation.active.len()).collect();
            simulation.step(&nodes);
        }
        assert!(simulation.potential() > 0.0 || simulation.done > 0);
        assert!(simulation.active.iter().all(|job| (0.0..=1.0).contains(&job.progress())));
    }

    #[test]
    fn a_seed_gives_the_same_jobs_and_arrivals_offer_twice_what_the_nodes_can_give() {
        let needs = |seed: u64| -> Vec<f64> {
            let simulation = Simulation::new(Setting::default(), seed);
            simulation.active.iter().chain(&simulation.coming).map(Job::oracle_remaining).collect()
        };
        assert_eq!(needs(5), needs(5));
        assert_ne!(needs(5), needs(6));
        let all: f64 = (0..60).map(|seed| needs(seed).iter().sum::<f64>()).sum();
        let offered = all / 60.0 / (160.0 * 8.0 * 10.0);
        assert!((offered - OFFERED).abs() < 0.15, "{offered}");
    }

    /// Few seeds, so wide bands: a completion of one seed has a standard deviation of about 4 points.
    #[test]
    fn rules_without_learning_end_about_as_many_jobs_as_they_should() {
        let mean = |load: f64, new: &dyn Fn() -> Box<dyn Allocator>| {
            let setting = Setting { load, ..Setting::default() };
            let all: f64 = (0..8).map(|seed| completion(setting, 40 + seed, &mut *new()).unwrap()).sum();
            100.0 * all / 8.0
        };
        for (load, lara, oracle) in [(0.7, 76.9, 91.4), (1.0, 57.0, 82.7), (1.4, 37.5, 65.5)] {
            let measured = mean(load, &|| Box::new(Lara::default()));
            assert!((measured - lara).abs() < 9.0, "LARA at {load}: {measured}");
            let measured = mean(load, &|| Box::new(Oracle));
            assert!((measured - oracle).abs() < 6.0, "oracle at {load}: {measured}");
        }
    }
}
