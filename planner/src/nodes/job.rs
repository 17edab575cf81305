//! A job in the simulator: what an allocator may see of it, and what only the oracle may.

use rand_chacha::ChaCha8Rng;

use crate::curves::Curve;
use crate::log::LossPoint;

/// Points that a job logs in a tick in which it has nodes.
pub const POINTS_PER_TICK: u32 = 6;

/// A job that wants to reach a loss before a deadline.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its number, in the order of arrival.
    pub number: usize,
    /// The tick in which it may first have nodes.
    pub begin: u32,
    /// The last tick in which it may have nodes.
    pub deadline: u32,
    /// The loss to reach.
    pub target: f64,
    /// Data spent so far.
    pub data: f64,
    /// Nodes that it had in the tick before.
    pub nodes: usize,
    /// What it logged, oldest first.
    pub log: Vec<LossPoint>,
    /// The lowest level of the loss so far: the mean of the logarithms of a tick's points.
    level: f64,
    need: f64,
    curve: Curve,
    noise: ChaCha8Rng,
}

impl Job {
    /// A job that needs `need` data on `curve` until it reaches the curve's loss there.
    #[must_use]
    pub fn new(number: usize, ticks: [u32; 2], need: f64, curve: Curve, noise: ChaCha8Rng) -> Self {
        Self {
            number,
            begin: ticks[0],
            deadline: ticks[1],
            target: curve.loss(need),
            data: 0.0,
            nodes: 0,
            log: Vec::new(),
            level: f64::INFINITY,
            need,
            curve,
            noise,
        }
    }

    /// Ticks in which it may still have nodes, this one included.
    #[must_use]
    pub fn ticks_left(&self, tick: u32) -> u32 {
        (self.deadline + 1).saturating_sub(tick)
    }

    /// Data left until the target, which only an oracle knows.
    #[must_use]
    pub fn oracle_remaining(&self) -> f64 {
        (self.need - self.data).max(0.0)
    }

    /// The job has reached its target.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.data >= self.need
    }

    /// Part of the way from its first loss to the target, in logarithms: 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        let Some(first) = self.log.first() else { return 0.0 };
        let (from, to) = (first.loss.ln(), self.target.ln());
        if from <= to {
            return 1.0;
        }
        ((from - self.level) / (from - to)).clamp(0.0, 1.0)
    }

    /// A tick with so many nodes, each of which adds `data_per_node`.
    pub(super) fn work(&mut self, nodes: usize, data_per_node: f64) {
        self.nodes = nodes;
        if nodes == 0 {
            return;
        }
        let (before, more) = (self.data, nodes as f64 * data_per_node);
        let mut sum = 0.0;
        for nth in 1..=POINTS_PER_TICK {
            let data = before + more * f64::from(nth) / f64::from(POINTS_PER_TICK);
            let point = LossPoint { data, loss: self.curve.observe(data, &mut self.noise) };
            self.log.push(point);
            sum += point.loss.ln();
        }
        self.data = before + more;
        self.level = self.level.min(sum / f64::from(POINTS_PER_TICK));
    }
}
