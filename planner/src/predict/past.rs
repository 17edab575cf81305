//! What a predictor looks at of a log: its recent part in bins of equal width in the logarithm of data.
//!
//! Everything is relative to the newest data and to the loss there, so that neither the unit of the data nor that of
//! the loss matters.

use crate::log::LossLog;

/// Bins of the past.
pub(crate) const BINS: usize = 24;
/// The bins reach from the newest data down to this part of it.
pub(crate) const REACH: f64 = 32.0;

/// A bin with points in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bin {
    /// Mean of ln(data / newest data): at most 0.
    pub x: f64,
    /// Mean of ln(loss).
    pub y: f64,
    /// Points.
    pub points: f64,
}

/// The recent part of a log.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    /// Newest data.
    pub now: f64,
    /// Bins with points, by data.
    pub bins: Vec<Bin>,
    /// Standard deviation of ln(loss) from point to point.
    pub noise: f64,
    /// Data of the oldest point that is looked at, as ln(data / newest data).
    pub oldest: f64,
    /// Distance of the two newest points, in data.
    pub step: f64,
}

impl Past {
    pub(crate) fn of(log: &LossLog) -> Self {
        let (points, now) = (log.points(), log.last().data);
        let from = points.partition_point(|point| point.data < now / REACH).min(points.len() - 3);
        let recent = &points[from..];
        let mut sums = [(0.0, 0.0, 0.0); BINS];
        for point in recent {
            let x = (point.data / now).ln();
            let back = (-x / REACH.ln() * BINS as f64) as usize;
            let sum = &mut sums[BINS - 1 - back.min(BINS - 1)];
            *sum = (sum.0 + x, sum.1 + point.loss.ln(), sum.2 + 1.0);
        }
        let bins = sums.into_iter().filter(|sum| sum.2 > 0.0);
        let bins = bins.map(|(x, y, points)| Bin { x: x / points, y: y / points, points }).collect();
        Self {
            now,
            bins,
            noise: noise(recent.iter().map(|point| (point.data, point.loss.ln()))),
            oldest: (recent[0].data / now).ln().max(-REACH.ln()),
            step: now - recent[recent.len() - 2].data,
        }
    }

    /// Logarithm of the loss now: the mean of the newest bin.
    pub(crate) fn level(&self) -> f64 {
        self.bins.last().map_or(0.0, |bin| bin.y)
    }

    /// The logarithm of the loss in the middle of each bin, from the oldest, relative to [`Past::level`]: between the
    /// bins with points by straight lines, and before the oldest of them as there.
    pub(crate) fn profile(&self) -> [f64; BINS] {
        let level = self.level();
        let mut at = 0;
        std::array::from_fn(|nth| {
            let x = -REACH.ln() * (BINS - nth) as f64 / BINS as f64 + REACH.ln() / (2 * BINS) as f64;
            while at + 1 < self.bins.len() && self.bins[at + 1].x <= x {
                at += 1;
            }
            let (here, next) = (self.bins[at], self.bins[(at + 1).min(self.bins.len() - 1)]);
            let part = if next.x > here.x { ((x - here.x) / (next.x - here.x)).clamp(0.0, 1.0) } else { 0.0 };
            here.y + (next.y - here.y) * part - level
        })
    }
}

/// Robust noise of a series of (data, value): the median distance of a point from the line through its neighbours.
fn noise(series: impl Iterator<Item = (f64, f64)>) -> f64 {
    let series: Vec<_> = series.collect();
    let mut off: Vec<f64> = series
        .windows(3)
        .map(|three| {
            let [(a, low), (b, middle), (c, high)] = [three[0], three[1], three[2]];
            let part = (b - a) / (c - a);
            // The variance of this difference, in that of one point.
            let size = 1.0 + part * part + (1.0 - part) * (1.0 - part);
            (middle - low - (high - low) * part).abs() / size.sqrt()
        })
        .collect();
    off.sort_by(f64::total_cmp);
    // The median of |N(0, 1)| is 0.6745. A log may be without noise, the arithmetic is not.
    (off.get(off.len() / 2).copied().unwrap_or(0.0) / 0.6745).max(1e-4)
}
