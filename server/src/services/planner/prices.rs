//! Foresees hourly prices of one chip type, and says how far off it was on the past.
//!
//! Three simple methods, each the best known of its kind for a short series with days in it: seasonal naive, simple
//! exponential smoothing, and a first-order autoregression around the hour of the day. Which of them speaks is decided by a
//! back-test with a rolling origin on the same history, and its error stands beside the plan. Pure functions of the history.

/// Hours of a day.
const DAY: usize = 24;

/// Hours of history below which nothing is tested: the last price is then all that there is to say.
const LEAST_TESTED: usize = 3 * DAY;

/// Hours between two origins of the back-test.
const ORIGIN_STEP: usize = 6;

/// Hours at the end of the history that the back-test foresees.
const TEST_HOURS: usize = 7 * DAY;

/// Hours ahead that a forecast is tested for at most.
const TEST_AHEAD: usize = 2 * DAY;

/// The part of the forecasts that the upper price is not below.
const UPPER: f64 = 0.9;

/// Least relative room between a price and its upper bound: a quiet past is no promise.
const LEAST_ROOM: f64 = 0.05;

/// Relative room where nothing could be tested.
const UNTESTED_ROOM: f64 = 0.25;

/// A way to foresee prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// The last price goes on.
    LastPrice,
    /// The price of the same hour a day before, averaged over the last days.
    SeasonalNaive,
    /// A mean in which an hour counts less the older it is; its weight is fitted.
    ExponentialSmoothing,
    /// The hour's mean, and a part of how far the last price was from its own hour's mean.
    Autoregression,
}

impl Method {
    /// Those that a back-test compares.
    pub(crate) const TESTED: [Self; 4] =
        [Self::LastPrice, Self::SeasonalNaive, Self::ExponentialSmoothing, Self::Autoregression];

    /// A stable name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::LastPrice => "last_price",
            Self::SeasonalNaive => "seasonal_naive",
            Self::ExponentialSmoothing => "exponential_smoothing",
            Self::Autoregression => "autoregression",
        }
    }

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::LastPrice => "Last price",
            Self::SeasonalNaive => "Seasonal naive: the same hour of the last three days",
            Self::ExponentialSmoothing => "Exponential smoothing",
            Self::Autoregression => "Autoregression around the hour of the day",
        }
    }
}

/// What is foreseen, and how it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PriceForecast {
    /// One price for each hour asked for.
    pub(crate) prices: Vec<f64>,
    /// By what a price is to be multiplied so that nine in ten are not above it; at least 1.05.
    pub(crate) upper: f64,
    /// Who spoke.
    pub(crate) chosen: Method,
    /// Mean absolute error over mean price of each method; none where nothing was tested.
    pub(crate) errors: Vec<(Method, Option<f64>)>,
    /// Forecasts that the back-test compared with what came.
    pub(crate) tested: usize,
}

/// Foresees the `ahead` hours after a history of hourly prices, oldest first, with no price where nothing was traded; none
/// where there never was a price.
pub(crate) fn foresee(history: &[Option<f64>], ahead: usize) -> Option<PriceForecast> {
    let history = filled(history)?;
    if history.len() < LEAST_TESTED {
        let chosen = Method::LastPrice;
        return Some(PriceForecast {
            prices: ahead_of(chosen, &history, ahead),
            upper: 1.0 + UNTESTED_ROOM,
            chosen,
            errors: Method::TESTED.map(|method| (method, None)).into(),
            tested: 0,
        });
    }
    let tests: Vec<(Method, Test)> =
        Method::TESTED.iter().map(|method| (*method, back_test(*method, &history))).collect();
    let (chosen, best) = tests.iter().min_by(|a, b| a.1.error().total_cmp(&b.1.error()))?;
    Some(PriceForecast {
        prices: ahead_of(*chosen, &history, ahead),
        upper: best.upper(),
        chosen: *chosen,
        errors: tests.iter().map(|(method, test)| (*method, Some(test.error()))).collect(),
        tested: best.ratios.len(),
    })
}

/// The history without its gaps: an hour without a trade takes the price before it, hours before the first price are left
/// out.
fn filled(history: &[Option<f64>]) -> Option<Vec<f64>> {
    let first = history.iter().position(Option::is_some)?;
    let mut last = 0.0;
    let filled = history[first..].iter().map(|price| {
        last = price.unwrap_or(last);
        last
    });
    Some(filled.collect())
}

/// What a method says of the hours after a history that is not empty.
fn ahead_of(method: Method, history: &[f64], ahead: usize) -> Vec<f64> {
    let last = history[history.len() - 1];
    match method {
        Method::LastPrice => vec![last; ahead],
        Method::SeasonalNaive => (0..ahead).map(|hour| same_hour(history, hour)).collect(),
        Method::ExponentialSmoothing => {
            let level = smoothed(history, best_weight(history));
            vec![level; ahead]
        }
        Method::Autoregression => autoregressed(history, last, ahead),
    }
}

/// The mean price of the hour of the day that is `hour` hours after the end, over the last three days.
fn same_hour(history: &[f64], hour: usize) -> f64 {
    let from_end = DAY - hour % DAY;
    let days = (0..3).map(|day| from_end + day * DAY).filter(|back| *back <= history.len());
    let (sum, count) =
        days.fold((0.0, 0.0), |(sum, count), back| (sum + history[history.len() - back], count + 1.0));
    if count > 0.0 { sum / count } else { history[history.len() - 1] }
}

/// The level after a history when each new hour has a weight.
fn smoothed(history: &[f64], weight: f64) -> f64 {
    history.iter().skip(1).fold(history[0], |level, price| level + weight * (price - level))
}

/// The weight whose level would have been nearest to the hour after it.
fn best_weight(history: &[f64]) -> f64 {
    const WEIGHTS: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0];
    let miss = |weight: f64| {
        let mut level = history[0];
        let mut sum = 0.0;
        for price in &history[1..] {
            sum += (price - level).abs();
            level += weight * (price - level);
        }
        sum
    };
    WEIGHTS.into_iter().min_by(|a, b| miss(*a).total_cmp(&miss(*b))).unwrap_or(1.0)
}

/// The hour's mean plus what is left of the last price's distance from its own hour's mean.
fn autoregressed(history: &[f64], last: f64, ahead: usize) -> Vec<f64> {
    let means = hour_means(history);
    let of = |index: usize| history[index] - means[index % DAY];
    let (mut cross, mut own) = (0.0, 0.0);
    for index in 1..history.len() {
        cross += of(index) * of(index - 1);
        own += of(index - 1) * of(index - 1);
    }
    let keeps = if own > 0.0 { (cross / own).clamp(0.0, 0.999) } else { 0.0 };
    let mut distance = last - means[(history.len() - 1) % DAY];
    let hours = history.len()..history.len() + ahead;
    hours
        .map(|index| {
            distance *= keeps;
            (means[index % DAY] + distance).max(0.0)
        })
        .collect()
}

/// The mean price of each hour of the day, counted from the first hour of the history.
fn hour_means(history: &[f64]) -> [f64; DAY] {
    let mut means = [0.0; DAY];
    for (hour, mean) in means.iter_mut().enumerate() {
        let of_hour = history.iter().skip(hour).step_by(DAY);
        let count = of_hour.len().max(1) as f64;
        *mean = of_hour.sum::<f64>() / count;
    }
    means
}

/// What a back-test found.
#[derive(Debug, Default)]
struct Test {
    misses: f64,
    prices: f64,
    /// What came, over what was foreseen.
    ratios: Vec<f64>,
}

impl Test {
    /// Mean absolute error over mean price.
    fn error(&self) -> f64 {
        if self.prices > 0.0 { self.misses / self.prices } else { 0.0 }
    }

    /// The factor that nine in ten prices stayed below.
    fn upper(&self) -> f64 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f64::total_cmp);
        let at = ((ratios.len() as f64 * UPPER).ceil() as usize).clamp(1, ratios.len().max(1));
        ratios.get(at - 1).copied().unwrap_or(1.0).max(1.0 + LEAST_ROOM)
    }
}

/// Foresees the end of a history from its beginning, from one origin after the other.
fn back_test(method: Method, history: &[f64]) -> Test {
    let first = history.len().saturating_sub(TEST_HOURS).max(LEAST_TESTED / 2);
    let mut test = Test::default();
    for origin in (first..history.len()).step_by(ORIGIN_STEP) {
        let ahead = TEST_AHEAD.min(history.len() - origin);
        let foreseen = ahead_of(method, &history[..origin], ahead);
        for (came, foreseen) in history[origin..].iter().zip(foreseen) {
            test.misses += (came - foreseen).abs();
            test.prices += came;
            if foreseen > 0.0 {
                test.ratios.push(came / foreseen);
            }
        }
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two weeks of hours.
    fn hours(price: impl Fn(usize) -> f64) -> Vec<Option<f64>> {
        (0..14 * DAY).map(|hour| Some(price(hour))).collect()
    }

    /// A steady sequence of numbers between 0 and 1.
    fn noise(seed: usize) -> f64 {
        let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 33) % 1_000) as f64 / 1_000.0
    }

    #[test]
    fn a_price_that_follows_the_day_is_foreseen_by_the_day() {
        let by_day = |hour: usize| if hour % DAY < 12 { 1.0 } else { 3.0 };
        let forecast = foresee(&hours(|hour| by_day(hour) + 0.1 * noise(hour)), 48).unwrap();
        assert!(matches!(forecast.chosen, Method::SeasonalNaive | Method::Autoregression), "{forecast:?}");
        for (hour, price) in forecast.prices.iter().enumerate() {
            assert!((price - by_day(hour)).abs() < 0.2, "hour {hour}: {price}");
        }
        let error = |of: Method| forecast.errors.iter().find(|(method, _)| *method == of).unwrap().1.unwrap();
        assert!(error(forecast.chosen) < 0.05 && error(Method::LastPrice) > 0.3, "{:?}", forecast.errors);
    }

    #[test]
    fn a_price_that_drifts_is_foreseen_by_where_it_is() {
        let mut at = 2.0;
        let walk: Vec<Option<f64>> = (0..14 * DAY)
            .map(|hour| {
                at = (at + 0.2 * (noise(hour) - 0.5)).max(0.1);
                Some(at)
            })
            .collect();
        let forecast = foresee(&walk, 6).unwrap();
        assert_ne!(forecast.chosen, Method::SeasonalNaive, "{:?}", forecast.errors);
        assert!((forecast.prices[0] - at).abs() < 0.3, "{} after {at}", forecast.prices[0]);
    }

    #[test]
    fn nine_in_ten_prices_stay_below_the_upper_one() {
        let history = hours(|hour| 1.0 + noise(hour));
        let forecast = foresee(&history, 24).unwrap();
        let limit = forecast.prices[0] * forecast.upper;
        let below = history.iter().flatten().filter(|price| **price <= limit).count();
        let part = below as f64 / history.len() as f64;
        assert!((0.85..=0.96).contains(&part), "{part} with {}", forecast.upper);
    }

    #[test]
    fn little_history_is_said_to_be_untested() {
        let forecast = foresee(&[None, Some(2.0), None], 3).unwrap();
        assert_eq!((forecast.chosen, forecast.prices.as_slice()), (Method::LastPrice, &[2.0, 2.0, 2.0][..]));
        assert!(forecast.errors.iter().all(|(_, error)| error.is_none()) && forecast.tested == 0);
        assert_eq!(foresee(&[None, None], 3), None);
        assert_eq!(foresee(&[], 3), None);
    }

    #[test]
    fn a_free_market_has_no_error() {
        let forecast = foresee(&hours(|_| 0.0), 5).unwrap();
        assert!(forecast.prices.iter().all(|price| *price == 0.0) && forecast.upper.is_finite());
        assert!(forecast.errors.iter().all(|(_, error)| *error == Some(0.0)));
    }
}
