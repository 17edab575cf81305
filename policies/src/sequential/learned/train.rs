//! Training: Adam on fresh instances, seeded, so that the same seed gives the same networks on any number of threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::super::draw;
use super::course::{Aim, learn};
use super::network::{Network, PARAMETERS};
use super::weights::Trained;
use super::{AGENTS, MOST_ENVY_WEIGHT, RESOURCES, SIGMA};

/// The weights of envy that a network each is trained for.
const SWEEP: [f64; 7] = [0.0, 1.0, 2.0, 4.0, 7.0, 10.0, 20.0];

/// The weight of sharing incentive where resources may be given ahead of arrivals. At 1 it pays to leave somebody with
/// nothing; at 10 only small parts of a share are given away, and few where envy costs something.
const SHARING_WEIGHT: f64 = 10.0;

/// Instances of a step of Adam.
const BATCH: usize = 32;
/// Steps for a network that is told λ, and for one with a fixed λ.
const STEPS: (usize, usize) = (6_000, 3_000);
/// Its first rate; it falls to 0 along a cosine.
const RATE: f64 = 0.01;
/// How much of the mean and of the mean square of derivatives a step keeps.
const KEPT: (f64, f64) = (0.9, 0.99);

/// How one network is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lesson {
    /// The weight of envy; none draws one for each instance, so that the network learns to be told.
    pub envy_weight: Option<f64>,
    /// The weight of sharing incentive where resources may be given ahead of arrivals; none is strict.
    pub sharing_weight: Option<f64>,
    /// Steps of Adam.
    pub steps: usize,
    /// The same seed gives the same network.
    pub seed: u64,
}

/// The state of Adam (Kingma and Ba, 2015).
struct Adam {
    mean: Vec<f64>,
    square: Vec<f64>,
    steps: i32,
}

impl Adam {
    fn step(&mut self, parameters: &mut [f64], gradient: &[f64], rate: f64) {
        self.steps += 1;
        let (of_mean, of_square) = (1.0 - KEPT.0.powi(self.steps), 1.0 - KEPT.1.powi(self.steps));
        for (at, parameter) in parameters.iter_mut().enumerate() {
            let slope = gradient[at];
            self.mean[at] += (1.0 - KEPT.0) * (slope - self.mean[at]);
            self.square[at] += (1.0 - KEPT.1) * (slope * slope - self.square[at]);
            *parameter -= rate * (self.mean[at] / of_mean) / ((self.square[at] / of_square).sqrt() + 1e-8);
        }
    }
}

/// Trains a network. `watch` hears of each step and says whether to go on; none where it did not.
#[must_use]
pub fn train(lesson: &Lesson, watch: &mut dyn FnMut() -> bool) -> Option<Network> {
    let mut random = ChaCha8Rng::seed_from_u64(lesson.seed);
    let mut network = Network::random(random.random());
    let mut adam = Adam { mean: vec![0.0; PARAMETERS], square: vec![0.0; PARAMETERS], steps: 0 };
    for step in 0..lesson.steps {
        let mut gradient = vec![0.0; PARAMETERS];
        for _ in 0..BATCH {
            let instance = draw(&mut random, AGENTS, RESOURCES, SIGMA);
            let drawn = (random.random::<f64>() * MOST_ENVY_WEIGHT.ln_1p()).exp_m1();
            let envy_weight = lesson.envy_weight.unwrap_or(drawn);
            let aim = Aim { envy_weight, sharing_weight: lesson.sharing_weight };
            // Instances with much weight on envy must not drown the others.
            let weight = 1.0 / (BATCH as f64 * (1.0 + envy_weight).sqrt());
            learn(&network, &instance, aim, weight, &mut gradient);
        }
        let part = step as f64 / lesson.steps as f64;
        let rate = RATE * 0.5 * (1.0 + (std::f64::consts::PI * part).cos());
        adam.step(network.parameters_mut(), &gradient, rate);
        if !watch() {
            return None;
        }
    }
    Some(network.rounded())
}

/// All lessons of a training, the longest first.
fn lessons(seed: u64) -> Vec<Lesson> {
    let mut seeds = ChaCha8Rng::seed_from_u64(seed);
    let mut lesson = |envy_weight, sharing_weight, steps| Lesson {
        envy_weight,
        sharing_weight,
        steps,
        seed: seeds.random(),
    };
    let mut all = vec![lesson(None, None, STEPS.0), lesson(None, Some(SHARING_WEIGHT), STEPS.0)];
    all.extend(SWEEP.map(|envy_weight| lesson(Some(envy_weight), None, STEPS.1)));
    all
}

/// Trains all networks on so many threads. `watch` hears how many steps of how many are done, from any thread, and says
/// whether to go on; none where it did not.
#[must_use]
pub fn train_all(
    seed: u64,
    threads: usize,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Option<Trained> {
    let lessons = lessons(seed);
    let all = lessons.iter().map(|lesson| lesson.steps).sum();
    let (next, done, stopped) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut learned = Vec::new();
        while let nth = next.fetch_add(1, Ordering::Relaxed)
            && let Some(lesson) = lessons.get(nth)
        {
            let mut step = || {
                let goes_on = watch(done.fetch_add(1, Ordering::Relaxed) + 1, all);
                stopped.fetch_or(!goes_on, Ordering::Relaxed);
                !stopped.load(Ordering::Relaxed)
            };
            learned.push((nth, train(lesson, &mut step)?));
        }
        Some(learned)
    };
    let mut networks: Vec<(usize, Network)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        // A worker that panicked has said why; there is nothing to give then.
        workers.into_iter().map(|worker| worker.join().ok().flatten()).collect::<Option<Vec<_>>>()
    })?
    .into_iter()
    .flatten()
    .collect();
    networks.sort_by_key(|(nth, _)| *nth);
    let mut networks = networks.into_iter().map(|(_, network)| network);
    let (told, elastic) = (networks.next()?, networks.next()?);
    Some(Trained { told, elastic, fixed: SWEEP.into_iter().zip(networks).collect() })
}
