//! The Bid book: aggregate demand at each price.

use serde::{Deserialize, Serialize};

use super::{ChipTypeRow, MarketClock, PoolName};
use crate::chips::Chips;
use crate::ids::ChipTypeId;
use crate::money::Price;

/// The aggregate demand for one chip type in the last cycle. Single bids do not appear in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BookView {
    /// The clock of the market.
    pub clock: MarketClock,
    /// All chip types with their present prices, to choose from.
    pub chip_types: Vec<ChipTypeRow>,
    /// All pools.
    pub pools: Vec<PoolName>,
    /// The chip type of this book.
    pub chip_type: ChipTypeId,
    /// Chips in the market: owned, lent and shared.
    pub supply: Chips,
    /// Reference price, global credits per chip-hour.
    pub reference_price: Option<Price>,
    /// Lowest price at which shared chips are sold; 0 when there is none.
    pub reserve_price: Price,
    /// Demand by price, highest price first: at most 200 levels, those at which demand steps or the curve bends most.
    pub levels: Vec<DepthLevel>,
    /// Demand per pool at the clearing price.
    pub by_pool: Vec<PoolDemand>,
}

/// Chips wanted at one price and above it, in global credits per chip-hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepthLevel {
    /// The price of this level.
    pub price: Price,
    /// Chips wanted by bids between this level and the one above it.
    pub chips: Chips,
    /// Chips wanted at this price: what the teams' limits and spending rates together ask for.
    pub cumulative: Chips,
}

/// What one pool wants and got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolDemand {
    /// The pool.
    pub pool: PoolName,
    /// Chips it owns.
    pub owned: Chips,
    /// Chips it lent to the shared market in this cycle.
    pub lent: Chips,
    /// Chips it bought from the shared market.
    pub bought: Chips,
    /// Chips its teams asked for at any price.
    pub asked: Chips,
    /// Chips its teams got.
    pub granted: Chips,
    /// Its price in global credits per chip-hour.
    pub price: Option<Price>,
    /// Its price in local credits per chip-hour.
    pub local_price: Option<Price>,
}
