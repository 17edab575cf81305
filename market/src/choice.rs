//! Which alternative a bid takes (market.md 3.2).

use crate::last::LastMarkets;
use crate::market::{AlternativeRow, BidName, BidRow, Market, NO_ALTERNATIVE, NO_CHIP_TYPE};
use crate::ties::may_move;

/// Chooses alternatives.
pub(crate) struct Chooser<'a> {
    market: &'a Market,
    /// Absent where no bid has a choice to make.
    last: Option<&'a LastMarkets>,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(market: &'a Market, last: Option<&'a LastMarkets>) -> Self {
        Self { market, last }
    }

    /// The index of the bid's choice among its alternatives, or [`NO_ALTERNATIVE`].
    pub(crate) fn choose(
        &self,
        team: usize,
        row: &BidRow,
        name: &BidName,
        alternatives: &[AlternativeRow],
    ) -> u8 {
        if !row.in_window {
            return NO_ALTERNATIVE;
        }
        let pool = self.market.teams[team].pool as usize;
        if let [only] = alternatives {
            return if self.admissible(pool, only) { 0 } else { NO_ALTERNATIVE };
        }
        let held = alternatives.get(usize::from(row.held)).filter(|held| self.admissible(pool, held));
        if held.is_some() && !may_move(self.market.cycle, name.id.as_str()) {
            return row.held;
        }
        // The first of the cheapest.
        let best = (0..)
            .zip(alternatives)
            .filter(|(nth, other)| (held.is_none() || *nth != row.held) && self.admissible(pool, other))
            .map(|(nth, other)| (self.would_cost(team, row.limit, other), nth))
            .min();
        let (Some(held), Some((new, nth))) = (held, best) else {
            return held.map(|_| row.held).or(best.map(|(_, nth)| nth)).unwrap_or(NO_ALTERNATIVE);
        };
        let price = self.market.last_price(pool, held.chip_type as usize);
        let old = u128::from(held.chips) * u128::from(price);
        // Five per cent cheaper, or it stays.
        if new < old && new.saturating_mul(100) <= old * 95 { nth } else { row.held }
    }

    /// Whether the pool can get chips of the type: its own, shared ones, or those lent on the last demand.
    fn admissible(&self, pool: usize, alternative: &AlternativeRow) -> bool {
        let chip_type = alternative.chip_type as usize;
        alternative.chip_type != NO_CHIP_TYPE
            && (self.market.chip_types[chip_type].shared > 0
                || self.market.owned(pool, chip_type) > 0
                || self.last.is_some_and(|last| last.lent(chip_type) > 0))
    }

    /// Chips times the price the bid would face there; beyond everything where there would be no price.
    fn would_cost(&self, team: usize, limit: u64, alternative: &AlternativeRow) -> u128 {
        let faced = self.last.and_then(|last| last.would_face(self.market, team, alternative, limit));
        faced.map_or(u128::MAX, |price| u128::from(alternative.chips) * u128::from(price))
    }
}
