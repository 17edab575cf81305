//! Plans of jobs whose end is known, by a predictor that draws what the tests say.

use planner::forecast::{Effort, FanPoint, ForecastError, Job, Remark};

use super::*;

/// Says what it was given.
struct Says(Vec<f64>);

impl Predictor for Says {
    fn forecast_all(&self, jobs: &[Job<'_>], _: Effort, _: u64) -> Result<Vec<Forecast>, ForecastError> {
        let forecast = |job: &Job<'_>| {
            let newest = job.log.last();
            let point = |nth: u32| {
                let loss = newest.loss / f64::from(nth + 1);
                let data = newest.data * f64::from(nth + 1);
                FanPoint { data, p10: loss * 0.9, p50: loss, p90: loss * 1.1 }
            };
            Forecast {
                remaining: self.0.clone(),
                fan: (1..=5).map(point).collect(),
                spoke: Spoke::OffsetPower,
                unlike_training: false,
                remarks: vec![Remark::NotFalling],
            }
        };
        Ok(jobs.iter().map(forecast).collect())
    }
}

/// A job that needs 100 to 1,000 chip-hours in even steps.
fn even() -> Says {
    Says((1..=10).map(|nth| f64::from(nth) * 100.0).collect())
}

fn inputs(deadline: &str) -> Inputs {
    let loss =
        |nth: u64| PlanLoss { step: nth * 100, chip_hours: nth as f64 * 10.0, loss: 5.0 - nth as f64 / 10.0 };
    Inputs {
        now: "2026-11-30T10:00:00Z".parse().unwrap(),
        terms: serde_json::from_value(serde_json::json!({
            "name": "a job", "chip_type": "A100", "most_chips": 64, "target_loss": 2.0, "deadline": deadline,
        }))
        .unwrap(),
        losses: (1..=20).map(loss).collect(),
        prices: (0..240).map(|hour| Some(if hour % 24 < 12 { 1.0 } else { 2.0 })).collect(),
        balance: MicroCredits(500_000_000),
        income_per_hour: MicroCredits(10_000_000),
        cap_per_hour: MicroCredits(1_000_000_000),
    }
}

#[test]
fn a_job_that_can_finish_gets_its_cheapest_hours() {
    let made = forecast(&even(), &inputs("2026-12-02T10:00:00Z")).unwrap();
    assert_eq!(made.verdict, PlanVerdict::CanFinish, "{}", made.verdict_words);
    assert!((made.remaining.p80.unwrap() - 820.0).abs() < 1e-6, "{:?}", made.remaining);
    assert!(made.covered_chip_hours >= 820.0 && made.covered_chip_hours < 820.0 + 64.0);
    assert!(made.chance_with_bids >= 0.8);
    assert!(made.windows.iter().all(|one| one.price.0 == 1_000_000), "{:?}", made.windows);
    assert_eq!(made.prices.chosen, "seasonal_naive");
    assert_eq!(made.spend_p50.to_string(), "550.00");
    assert!(made.spend_p90 > made.spend_p50);
    assert_eq!(made.funds.income_until_deadline.to_string(), "480.00");
    assert_eq!(made.chances.iter().map(|one| one.chips.0).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
    assert!(made.chances.windows(2).all(|pair| pair[0].probability <= pair[1].probability));
    assert_eq!(made.notes, ["The loss does not fall, so nothing says when it would reach the target."]);
}

#[test]
fn what_cannot_finish_is_said_and_nothing_is_bid() {
    let made = forecast(&even(), &inputs("2026-11-30T11:00:00Z")).unwrap();
    assert_eq!(made.verdict, PlanVerdict::CannotFinish);
    assert!(
        made.verdict_words.contains("with all 64 chips until 2026-11-30 11:00 UTC"),
        "{}",
        made.verdict_words
    );
    assert!(made.windows.is_empty() && made.spend_p90 == MicroCredits::ZERO);
    let never = Says(vec![f64::INFINITY; 10]);
    let mut asks = inputs("2026-12-20T10:00:00Z");
    asks.terms.target_loss = 0.01;
    let made = forecast(&never, &asks).unwrap();
    assert_eq!((made.verdict, made.remaining), (PlanVerdict::CannotFinish, ChipHoursBand::default()));
    assert!(
        made.verdict_words.contains("The lowest loss foreseen at all is about 0.450"),
        "{}",
        made.verdict_words
    );
}

#[test]
fn what_may_not_finish_takes_every_hour() {
    let made = forecast(&even(), &inputs("2026-11-30T18:00:00Z")).unwrap();
    assert_eq!((made.verdict, made.windows.len()), (PlanVerdict::Uncertain, 1), "{}", made.verdict_words);
    assert!((made.covered_chip_hours - 512.0).abs() < 1e-6);
    // 512 lies 12 % of the way from the fifth of ten draws to the sixth.
    assert!((made.chance_with_bids - 4.12 / 9.0).abs() < 1e-6, "{}", made.chance_with_bids);
}

#[test]
fn a_target_met_and_a_deadline_past_leave_nothing_to_bid_for() {
    let mut asks = inputs("2026-12-02T10:00:00Z");
    asks.terms.target_loss = 3.0;
    let made = forecast(&even(), &asks).unwrap();
    assert_eq!((made.verdict, made.windows.len()), (PlanVerdict::Reached, 0));
    let made = forecast(&even(), &inputs("2026-11-30T09:00:00Z")).unwrap();
    assert_eq!((made.verdict, made.windows.len()), (PlanVerdict::Overdue, 0));
}

#[test]
fn what_is_to_be_known_is_said() {
    let mut asks = inputs("2026-12-02T10:00:00Z");
    asks.losses.truncate(6);
    (asks.balance, asks.income_per_hour) = (MicroCredits(1), MicroCredits(0));
    asks.cap_per_hour = MicroCredits(1_000_000);
    asks.prices = vec![Some(1.5)];
    let made = forecast(&even(), &asks).unwrap();
    for (nth, words) in
        ["The loss does not fall", "Only 6 losses", "costs 120.32", "may come to"].iter().enumerate()
    {
        assert!(made.notes[nth].contains(words), "{:?} has not {words}", made.notes);
    }
    assert!(made.prices.words.contains("too few to test"), "{}", made.prices.words);
    asks.prices.clear();
    let made = forecast(&even(), &asks).unwrap();
    assert!(made.prices.words.contains("never a price") && made.windows[0].limit.0 == 10_000);
}

#[test]
fn a_long_log_is_thinned_and_keeps_its_newest_loss() {
    let losses: Vec<PlanLoss> =
        (1..=4_321).map(|nth| PlanLoss { step: nth, chip_hours: nth as f64, loss: 1.0 }).collect();
    let kept = thinned(&losses, 400);
    assert!(kept.len() <= 400 && kept.len() > 300 && kept.last() == losses.last());
    assert_eq!(thinned(&losses[..7], 400).len(), 7);
}
