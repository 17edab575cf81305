//! Losses of real models, trained here on data made here: what is foreseen from the first tenth of a run, against what
//! happened. No curve of these is one of the families that the predictor learned from.

use planner::log::{LossLog, LossPoint};
use planner::predict::shipped;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Points that a run logs.
const POINTS: usize = 400;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Runs `step`, which gives the loss of one batch, and logs the mean of each `every` batches.
fn train(every: usize, mut step: impl FnMut() -> f64) -> Vec<LossPoint> {
    let mut point = |nth: usize| {
        let loss = (0..every).map(|_| step()).sum::<f64>() / every as f64;
        LossPoint { data: (nth * every) as f64, loss }
    };
    (1..=POINTS).map(&mut point).collect()
}

/// Linear regression by stochastic gradient descent; the features' variances fall as a power law, as those of real data.
fn linear_model() -> Vec<LossPoint> {
    const FEATURES: usize = 60;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let scale = |at: usize| ((at + 1) as f64).powf(-0.75);
    let truth: Vec<f64> = (0..FEATURES).map(|_| normal(&mut random)).collect();
    let mut weights = vec![0.0; FEATURES];
    train(50, || {
        let row: Vec<f64> = (0..FEATURES).map(|at| scale(at) * normal(&mut random)).collect();
        let dot = |weights: &[f64]| row.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
        let error = dot(&weights) - dot(&truth) - 0.3 * normal(&mut random);
        weights.iter_mut().zip(&row).for_each(|(weight, value)| *weight -= 0.03 * error * value);
        error * error
    })
}

/// Logistic regression on two clouds of points that overlap.
fn logistic_model() -> Vec<LossPoint> {
    const FEATURES: usize = 20;
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut weights = vec![0.0; FEATURES];
    train(40, || {
        let label: f64 = if random.random_bool(0.5) { 1.0 } else { -1.0 };
        let row: Vec<f64> =
            (0..FEATURES).map(|at| label * 1.2 / (at + 1) as f64 + normal(&mut random)).collect();
        let margin = label * row.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>();
        let wrong = 1.0 / (1.0 + margin.exp());
        weights.iter_mut().zip(&row).for_each(|(weight, value)| *weight += 0.002 * wrong * label * value);
        (-margin).exp().ln_1p()
    })
}

/// A network of one hidden layer that learns a wave, by batches of 16.
fn small_network() -> Vec<LossPoint> {
    const HIDDEN: usize = 24;
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut unit = || [2.0 * normal(&mut random), normal(&mut random), 0.3 * normal(&mut random)];
    let mut units: Vec<[f64; 3]> = (0..HIDDEN).map(|_| unit()).collect();
    train(20, || {
        let mut gradients = [[0.0; 3]; HIDDEN];
        let mut loss = 0.0;
        for _ in 0..16 {
            let x = random.random_range(-2.0..2.0);
            let hidden: Vec<f64> = units.iter().map(|unit| (unit[0] * x + unit[1]).tanh()).collect();
            let out: f64 = units.iter().zip(&hidden).map(|(unit, value)| unit[2] * value).sum();
            let error = out - (2.5 * x).sin() - 0.1 * normal(&mut random);
            loss += error * error / 16.0;
            for ((gradient, unit), value) in gradients.iter_mut().zip(&units).zip(&hidden) {
                let inner = error * unit[2] * (1.0 - value * value);
                gradient[0] += inner * x / 8.0;
                gradient[1] += inner / 8.0;
                gradient[2] += error * value / 8.0;
            }
        }
        for (unit, gradient) in units.iter_mut().zip(&gradients) {
            unit.iter_mut().zip(gradient).for_each(|(weight, slope)| *weight -= 0.02 * slope);
        }
        loss
    })
}

/// The loss about a point of a run: noise of single points is no target.
fn smooth(run: &[LossPoint], at: usize) -> f64 {
    let near = &run[at.saturating_sub(8)..(at + 8).min(run.len())];
    near.iter().map(|point| point.loss).sum::<f64>() / near.len() as f64
}

/// What is foreseen of targets that the runs reach at 0.3 and 0.6 of their length, against what happened: each median
/// within a factor of 5, four of six within a factor of 2, and half of the bands hold. docs/PLANNER.md has the figures.
#[test]
fn what_the_first_tenth_foresees_of_real_models_holds_within_a_factor() {
    let predictor = shipped().unwrap();
    let (mut near, mut held) = (0, 0);
    for (name, run) in
        [("linear", linear_model()), ("logistic", logistic_model()), ("network", small_network())]
    {
        let log = LossLog::new(run[..POINTS / 10].to_vec()).unwrap();
        for share in [0.3, 0.6] {
            let target = smooth(&run, (share * POINTS as f64) as usize);
            let reached = (POINTS / 10..POINTS).find(|at| smooth(&run, *at) <= target).unwrap();
            let truth = run[reached].data - log.last().data;
            let forecast = predictor.forecast(&log, target, 1).unwrap();
            let [low, middle, high] = [0.1, 0.5, 0.9].map(|p| forecast.quantile(p) / truth);
            println!(
                "{name}, target {target:.4}: of the true need P10 {low:.2}, P50 {middle:.2}, P90 {high:.2}"
            );
            assert!((0.2..5.0).contains(&middle), "{name}: {middle}");
            near += usize::from((0.5..2.0).contains(&middle));
            held += usize::from((low..=high).contains(&1.0));
        }
    }
    assert!(near >= 4 && held >= 3, "{near} of 6 near, {held} bands held");
}
