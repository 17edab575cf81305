//! The price of one chip type over time.

use common::api::{PriceHistory, Span};
use common::ids::{ChipTypeId, PoolId};

use super::MarketReader;
use crate::error::AppError;
use crate::store::history;

/// Most points of a history in which each point is one cycle.
const MAX_CYCLE_POINTS: i64 = 500;

/// Length of a step for each span, so that a chart has at most 500 points; 0 gives each cycle its own point.
fn step_seconds(span: Span, cycle_seconds: u32) -> u32 {
    match span {
        Span::Hour if span.seconds() <= MAX_CYCLE_POINTS * i64::from(cycle_seconds) => 0,
        Span::Hour => 10,
        Span::Day => 300,
        Span::Week => 3_600,
        Span::Quarter => 6 * 3_600,
    }
}

impl MarketReader {
    /// The history of one chip type's price up to now. A span of one hour has a point for each cycle unless cycles
    /// are very short; longer spans have time-weighted steps that begin at multiples of their length in UTC.
    ///
    /// # Errors
    /// `NotFound`: there is no such chip type or pool. `Unavailable`: the database does not answer.
    pub async fn price_history(
        &self,
        chip_type: ChipTypeId,
        pool: Option<PoolId>,
        span: Span,
    ) -> Result<PriceHistory, AppError> {
        let latest = self.latest().await?;
        latest.check_chip_type(&chip_type)?;
        latest.check_pool(pool.as_ref())?;
        let step_seconds = step_seconds(span, latest.setup.organisation.cycle_seconds);
        let (from, to) = self.stretch(span);
        let (store, asked) = (self.store.clone(), (chip_type.clone(), pool.clone(), span));
        let make = async move {
            let mut tx = store.read().await?;
            let points =
                history::price_points(&mut tx, &chip_type, pool.as_ref(), from, to, step_seconds).await?;
            let supply_changes = history::supply_changes(&mut tx, &chip_type, from, to).await?;
            Ok(PriceHistory { chip_type, pool, span, step_seconds, points, supply_changes })
        };
        let history = self.histories.get(&self.clock(), self.now(), asked, make).await?;
        Ok(PriceHistory::clone(&history))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_at_most_500_points() {
        for span in Span::ALL {
            for cycle_seconds in [1, 5, 7, 60, 3_600] {
                let step = step_seconds(span, cycle_seconds);
                let length = if step == 0 { cycle_seconds } else { step };
                assert!(span.seconds() / i64::from(length) <= MAX_CYCLE_POINTS, "{span:?} {cycle_seconds}");
            }
        }
    }
}
