//! The cheapest hours before a deadline: which windows to bid for, at which limits, and what they would cost.
//!
//! Pure functions. Prices are foreseen as numbers; what is bid and what is summed is whole micro-credits.

use common::api::PlanWindow;
use common::chips::Chips;
use common::instant::Instant;
use common::money::{MAX_MICROS, MICROS_PER_CREDIT, MicroCredits, Price};

use crate::store::history::{seconds_between, step_start};

/// Seconds of an hour.
pub(super) const HOUR: i64 = 3_600;

/// Windows of a plan at most: a queue that nobody can read helps nobody. Where single hours would need more, hours are
/// taken in longer blocks.
const MOST_WINDOWS: usize = 24;

/// Lengths of a block in hours, shortest first.
const BLOCKS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 24];

/// Limits are whole cents of a credit, rounded up.
const LIMIT_STEP: u64 = 10_000;

/// An hour, or what is left of it, with its foreseen price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hour {
    pub(super) from: Instant,
    pub(super) to: Instant,
    /// In credits per chip-hour.
    pub(super) price: f64,
}

impl Hour {
    fn seconds(&self) -> u64 {
        seconds_between(self.from, self.to).unsigned_abs()
    }
}

/// The hours from now to a deadline; `price` is asked with the number of the hour, 0 for the one that has begun.
pub(super) fn hours(now: Instant, deadline: Instant, price: impl Fn(usize) -> f64) -> Vec<Hour> {
    let mut hours = Vec::new();
    let mut from = now;
    while from < deadline {
        let to = step_start(from, HOUR).plus_seconds(HOUR).min(deadline);
        hours.push(Hour { from, to, price: price(hours.len()) });
        from = to;
    }
    hours
}

/// What a job needs of chips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Chip-seconds to cover.
    pub(super) chip_seconds: u64,
    /// Most chips at once.
    pub(super) most: u64,
    /// Fewest chips that it runs on.
    pub(super) least: u64,
    /// Factor between a foreseen price and the limit.
    pub(super) upper: f64,
}

/// The cheapest windows that cover a need, in order of time; all there are where that is not enough.
pub(super) fn cheapest(hours: &[Hour], need: Need) -> Vec<PlanWindow> {
    let mut windows = Vec::new();
    for block in BLOCKS {
        windows = in_blocks(hours, need, block);
        if windows.len() <= MOST_WINDOWS {
            break;
        }
    }
    windows
}

/// Some hours in a row that are bid for or not as one.
struct Block<'a> {
    hours: &'a [Hour],
    chips: u64,
}

impl Block<'_> {
    fn seconds(&self) -> u64 {
        self.hours.iter().map(Hour::seconds).sum()
    }

    fn price(&self) -> f64 {
        mean_price(self.hours)
    }
}

/// The mean of prices by time.
fn mean_price(hours: &[Hour]) -> f64 {
    let weighted: f64 = hours.iter().map(|hour| hour.price * hour.seconds() as f64).sum();
    weighted / hours.iter().map(|hour| hour.seconds() as f64).sum::<f64>().max(1.0)
}

fn in_blocks(hours: &[Hour], need: Need, length: usize) -> Vec<PlanWindow> {
    let mut blocks: Vec<Block<'_>> = hours.chunks(length).map(|hours| Block { hours, chips: 0 }).collect();
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|a, b| blocks[*a].price().total_cmp(&blocks[*b].price()));
    let mut left = need.chip_seconds;
    for at in order {
        if left == 0 {
            break;
        }
        let seconds = blocks[at].seconds().max(1);
        blocks[at].chips = left.div_ceil(seconds).clamp(need.least.min(need.most), need.most);
        left = left.saturating_sub(blocks[at].chips * seconds);
    }
    let mut windows = Vec::new();
    let mut at = 0;
    for run in blocks.chunk_by(|one, next| one.chips == next.chips) {
        let first = at;
        at += run.iter().map(|block| block.hours.len()).sum::<usize>();
        if run[0].chips > 0 {
            windows.push(window(&hours[first..at], run[0].chips, need.upper));
        }
    }
    windows
}

fn window(hours: &[Hour], chips: u64, upper: f64) -> PlanWindow {
    let (from, to) = (hours[0].from, hours[hours.len() - 1].to);
    let chip_seconds = chips * seconds_between(from, to).unsigned_abs();
    let highest = hours.iter().map(|hour| hour.price).fold(0.0, f64::max);
    let price = price(mean_price(hours));
    let limit = Price(self::price(highest * upper).0.div_ceil(LIMIT_STEP).max(1) * LIMIT_STEP);
    PlanWindow { from, to, chips: Chips(chips), price, limit, chip_seconds, spend: cost(price, chip_seconds) }
}

/// A foreseen price in whole micro-credits.
fn price(credits: f64) -> Price {
    let micros = (credits * MICROS_PER_CREDIT as f64).round();
    Price((micros.clamp(0.0, MAX_MICROS as f64)) as u64)
}

/// What so many chip-seconds cost, rounded up.
pub(super) fn cost(price: Price, chip_seconds: u64) -> MicroCredits {
    let cost = (u128::from(price.0) * u128::from(chip_seconds)).div_ceil(3_600);
    MicroCredits(i64::try_from(cost).unwrap_or(i64::MAX))
}

/// What the first `chip_seconds` of the windows cost, at their prices or at their limits: a job that is done ends its bids.
pub(super) fn spend(
    windows: &[PlanWindow],
    chip_seconds: u64,
    at: impl Fn(&PlanWindow) -> Price,
) -> MicroCredits {
    let mut left = chip_seconds;
    let mut sum = MicroCredits::ZERO;
    for window in windows {
        let used = window.chip_seconds.min(left);
        left -= used;
        sum.0 = sum.0.saturating_add(cost(at(window), used).0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    fn need(chip_hours: u64, most: u64) -> Need {
        Need { chip_seconds: chip_hours * 3_600, most, least: 1, upper: 1.2 }
    }

    fn said(windows: &[PlanWindow]) -> Vec<(String, String, u64)> {
        windows.iter().map(|one| (one.from.to_string(), one.to.to_string(), one.chips.0)).collect()
    }

    #[test]
    fn the_cheapest_hours_are_taken_and_the_dearest_of_them_in_part() {
        let prices = [3.0, 3.0, 1.0, 1.0, 2.0, 9.0];
        let (now, deadline) = (at("2026-11-30T10:30:00Z"), at("2026-11-30T15:45:00Z"));
        let hours = hours(now, deadline, |hour| prices[hour]);
        assert_eq!(hours.len(), 6);
        let windows = cheapest(&hours, need(20, 8));
        let hour = |from: &str, to: &str, chips| {
            (format!("2026-11-30T{from}:00Z"), format!("2026-11-30T{to}:00Z"), chips)
        };
        assert_eq!(said(&windows), [hour("12:00", "14:00", 8), hour("14:00", "15:00", 4)]);
        assert_eq!((windows[0].price, windows[0].limit), (Price(1_000_000), Price(1_200_000)));
        assert_eq!(windows[0].spend.to_string(), "16.00");
        let all = cheapest(&hours, need(1_000, 8));
        assert_eq!(said(&all), [hour("10:30", "15:45", 8)], "all there are where it is not enough");
        assert_eq!(all[0].limit, Price(10_800_000), "the limit holds in its dearest hour");
    }

    #[test]
    fn a_long_plan_has_few_windows() {
        let (now, deadline) = (at("2026-11-30T00:00:00Z"), at("2027-01-20T00:00:00Z"));
        let hours = hours(now, deadline, |hour| f64::from(u32::try_from(hour * 7 % 11).unwrap()));
        let windows = cheapest(&hours, need(3_000, 8));
        assert!(windows.len() <= MOST_WINDOWS, "{}", windows.len());
        let covered: u64 = windows.iter().map(|one| one.chip_seconds).sum();
        assert!(covered >= 3_000 * 3_600);
        assert!(windows.windows(2).all(|pair| pair[0].to <= pair[1].from));
    }

    #[test]
    fn what_is_used_first_is_paid_first() {
        let (now, deadline) = (at("2026-11-30T10:00:00Z"), at("2026-11-30T14:00:00Z"));
        let hours = hours(now, deadline, |hour| [1.0, 5.0, 2.0, 5.0][hour]);
        let windows = cheapest(&hours, need(16, 8));
        assert_eq!(windows.len(), 2);
        assert_eq!(spend(&windows, 12 * 3_600, |one| one.price).to_string(), "16.00");
        assert_eq!(spend(&windows, 16 * 3_600, |one| one.price).to_string(), "24.00");
        assert_eq!(spend(&windows, 99 * 3_600, |one| one.limit).to_string(), "28.80");
        assert_eq!(spend(&[], 5, |one| one.price), MicroCredits::ZERO);
    }

    #[test]
    fn a_job_never_gets_fewer_chips_than_it_runs_on() {
        let (now, deadline) = (at("2026-11-30T10:00:00Z"), at("2026-11-30T14:00:00Z"));
        let hours = hours(now, deadline, |_| 0.0);
        let windows = cheapest(&hours, Need { least: 4, ..need(1, 8) });
        assert_eq!((windows.len(), windows[0].chips), (1, Chips(4)));
        assert_eq!(windows[0].limit, Price(10_000), "a limit of nothing would pay for nothing");
        assert!(cheapest(&hours, need(0, 8)).is_empty());
        assert!(super::hours(deadline, now, |_| 0.0).is_empty());
    }
}
