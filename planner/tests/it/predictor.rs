//! The learned predictor: what ships scores what the documentation says, and a training is what it claims to be.

use planner::curves::Family;
use planner::forecast::{Effort, Job, Predictor, Remark, Spoke};
use planner::log::{LogError, LossLog, LossPoint};
use planner::predict::evaluate::{MIXTURE, one_seed};
use planner::predict::{FlowPredictor, Plan, Provenance, VERSION, or_fall_back};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A training in miniature: seconds.
fn small(seed: u64, steps: usize) -> (FlowPredictor, Vec<f64>) {
    let plan = Plan { seed, steps, batch: 64, finished: 4 };
    let mut losses = Vec::new();
    let provenance = Provenance::of(plan, "a test".to_owned(), "none".to_owned());
    let trained = FlowPredictor::train(plan, provenance, &mut |_, loss| losses.push(loss)).unwrap();
    (trained, losses)
}

/// Reduced bars of docs/PLANNER.md, with the room that fewer curves need.
#[test]
fn shipped_weights_score_what_the_documentation_says() {
    let predictor = FlowPredictor::built_in().unwrap();
    assert_eq!(predictor.provenance().version, VERSION);
    let all = one_seed(&predictor, 80, 77).unwrap();
    for scores in &all {
        let ratio = scores.flow.error / scores.least_squares;
        let most = if scores.name == MIXTURE { 0.5 } else { 1.0 };
        assert!(ratio < most, "{}: {ratio} of the error of least squares", scores.name);
        assert!(
            (0.6..0.97).contains(&scores.flow.coverage),
            "{}: coverage {}",
            scores.name,
            scores.flow.coverage
        );
    }
    let flagged = |name: &str| all.iter().find(|scores| scores.name == name).unwrap().flow.flagged;
    assert!(
        flagged(Family::PlateauThenDrop.name()) > 2.0 * flagged(MIXTURE),
        "what was never seen is noticed"
    );
}

#[test]
fn training_improves_and_a_seed_gives_the_same_bytes() {
    let (trained, losses) = small(3, 150);
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    let (first, last) = (mean(&losses[..20]), mean(&losses[130..]));
    assert!(last < 0.8 * first, "{first} then {last}");
    let bytes = trained.to_bytes().unwrap();
    assert_eq!(bytes, small(3, 150).0.to_bytes().unwrap());
    assert_ne!(bytes, small(4, 1).0.to_bytes().unwrap());
    let read = FlowPredictor::from_bytes(&bytes).unwrap();
    assert_eq!(read.provenance(), trained.provenance());
    // The file has the calibration in single precision.
    let median = |predictor: &FlowPredictor| predictor.forecast(&falling(), 1.02, 1).unwrap().quantile(0.5);
    assert!((median(&read) / median(&trained) - 1.0).abs() < 1e-3);
}

fn falling() -> LossLog {
    let point = |nth| LossPoint { data: f64::from(nth), loss: 1.0 + 2.0 / f64::from(nth) };
    LossLog::new((1..=40).map(point).collect()).unwrap()
}

#[test]
fn weights_that_cannot_be_used_are_refused_and_the_offset_power_law_speaks() {
    let bytes = FlowPredictor::built_in().unwrap().to_bytes().unwrap();
    let text = format!("\\\"version\\\":{VERSION}");
    let at = bytes.windows(text.len()).position(|part| part == text.as_bytes()).unwrap() + text.len() - 1;
    let mut other = bytes.clone();
    other[at] = b'9';
    let cases = [
        (b"no weights".to_vec(), "not a safetensors file"),
        (bytes[..bytes.len() / 2].to_vec(), "not a safetensors file"),
        (other, "they are of version 9, and 1 is needed"),
    ];
    for (bytes, why) in cases {
        let error = FlowPredictor::from_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        let forecast = or_fall_back(Err(error)).forecast(&falling(), 1.02, 1).unwrap();
        assert_eq!(forecast.spoke, Spoke::OffsetPower);
        let Some(Remark::WeightsUnusable(said)) = forecast.remarks.last() else {
            panic!("{:?}", forecast.remarks)
        };
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn many_jobs_at_once_are_foreseen_as_one_by_one_up_to_chance() {
    let predictor = FlowPredictor::built_in().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let tasks: Vec<_> = (0..12).map(|_| planner::curves::Task::draw(Family::Power, &mut random)).collect();
    let jobs: Vec<Job<'_>> = tasks.iter().map(|task| Job { log: &task.log, target: task.target }).collect();
    let many = predictor.forecast_all(&jobs, Effort { draws: 256, steps: 8 }, 1).unwrap();
    assert_eq!(many, predictor.forecast_all(&jobs, Effort { draws: 256, steps: 8 }, 1).unwrap());
    for (job, together) in jobs.iter().zip(&many) {
        let alone = predictor.forecast_all(&[*job], Effort { draws: 256, steps: 8 }, 2).unwrap();
        let ratio = alone[0].quantile(0.5) / together.quantile(0.5);
        assert!((0.7..1.4).contains(&ratio), "{ratio}");
    }
}

#[test]
fn a_log_that_is_none_is_refused_in_a_sentence() {
    let point = |data, loss| LossPoint { data, loss };
    let few = LossLog::new(vec![point(1.0, 2.0)]).unwrap_err();
    assert_eq!(few.to_string(), "1 points are too few to foresee a loss: at least 3 are needed");
    let points =
        |loss, data| LossLog::new(vec![point(1.0, 3.0), point(2.0, loss), point(data, 1.5)]).unwrap_err();
    assert_eq!(points(f64::NAN, 3.0).to_string(), "point 2 has loss NaN: it must be a finite number above 0");
    assert!(matches!(points(0.0, 3.0), LogError::NotPositive { index: 2, .. }));
    for repeated_or_unsorted in [2.0, 1.5] {
        let error = points(2.0, repeated_or_unsorted);
        assert!(matches!(error, LogError::NotIncreasing { index: 3, .. }), "{error}");
    }
}
