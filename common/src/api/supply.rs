//! Supply: what there is of each chip type, what is planned, and what a change does to the market.

use serde::{Deserialize, Serialize};

use super::MarketClock;
use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, PoolId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// One thing about supply, and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "set", rename_all = "snake_case", deny_unknown_fields)]
pub enum SupplyEdit {
    /// The chips of a type that exist, those under maintenance included.
    Chips {
        /// The chip type.
        chip_type: ChipTypeId,
        /// The pool that owns them; absent for shared chips.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pool: Option<PoolId>,
        /// How many; 0 to 4,294,967,295.
        chips: Chips,
    },
    /// The price below which shared chips of a type are not sold.
    Reserve {
        /// The chip type.
        chip_type: ChipTypeId,
        /// Global credits per chip-hour; "0.00" is none.
        reserve_price: Price,
    },
    /// What a chip-hour of a type costs outside the market, to compare with. No clearing depends on it.
    ListPrice {
        /// The chip type.
        chip_type: ChipTypeId,
        /// Global credits per chip-hour, above 0; absent: not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list_price: Option<Price>,
    },
    /// What a pool lends of its idle chips.
    Lending {
        /// The pool.
        pool: PoolId,
        /// At most so many of each chip type; 0 is none, absent is all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lends_at_most: Option<Chips>,
    },
}

/// The supply as it is set, what waits for the next cycle included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyView {
    /// The last and the next cycle.
    pub clock: MarketClock,
    /// The cycle in which a change made now takes effect.
    pub next_cycle: u64,
    /// Per chip type, in order of their ids.
    pub chip_types: Vec<SuppliedType>,
    /// Per pool, in order of their ids.
    pub pools: Vec<SupplyingPool>,
    /// Changes and maintenance that are still to come or run, the earliest first, and the last ones that are over.
    pub planned: Vec<PlannedChange>,
}

/// A chip type and whose chips there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SuppliedType {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Its display name.
    pub name: String,
    /// Global credits per chip-hour below which shared chips are not sold; "0.00" is none.
    pub reserve_price: Price,
    /// Version of the reserve price, for `If-Match`.
    pub reserve_version: String,
    /// What a chip-hour costs outside the market, in global credits; absent: nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_price: Option<Price>,
    /// Version of the list price, for `If-Match`.
    pub list_version: String,
    /// The shared chips first, then those of each pool that owns some.
    pub holdings: Vec<Holding>,
}

/// Chips of one type in one hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Holding {
    /// The pool that owns them; absent for shared chips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// The pool's display name; "shared" without one.
    pub name: String,
    /// Chips that exist.
    pub chips: Chips,
    /// Of them under maintenance now.
    pub under_maintenance: Chips,
    /// What the market has: the difference.
    pub in_force: Chips,
    /// Version of this, for `If-Match`.
    pub version: String,
}

/// A pool and what it lends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyingPool {
    /// The pool.
    pub pool: PoolId,
    /// Its display name.
    pub name: String,
    /// Idle chips lent at most, of each chip type; 0 is none, absent is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lends_at_most: Option<Chips>,
    /// Version of this, for `If-Match`.
    pub version: String,
}

/// How far a planned change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Its time has not come.
    Waiting,
    /// Maintenance runs: its chips are down.
    Running,
    /// It took effect; of maintenance: its chips are back.
    Done,
    /// Somebody took it back.
    Cancelled,
    /// It could not be applied when its time came; `note` says why.
    Refused,
}

/// A change of supply at a time to come, or a window of maintenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedChange {
    /// Its number, from 1.
    pub number: u64,
    /// What it sets; of maintenance: which chips, and how many are down.
    pub edit: SupplyEdit,
    /// It takes effect with the first cycle at or after this.
    pub from: Instant,
    /// Of maintenance: its chips are back with the first cycle at or after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Instant>,
    /// How far it is.
    pub state: PlanState,
    /// The cycle with which it took effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u64>,
    /// Of maintenance that runs or ran: chips that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Chips>,
    /// Why it could not be applied, or who took it back and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who planned it.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// A change to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewSupplyChange {
    /// What is set.
    pub edit: SupplyEdit,
    /// When: with the first cycle at or after it. Absent: with the next cycle.
    #[serde(default)]
    pub at: Option<Instant>,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// A window of maintenance to plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewMaintenance {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// The pool whose chips they are; absent for shared ones.
    #[serde(default)]
    pub pool: Option<PoolId>,
    /// Chips that are down, at least 1.
    pub chips: Chips,
    /// From the first cycle at or after this.
    pub from: Instant,
    /// Until the first cycle at or after this.
    pub to: Instant,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyChanged {
    /// The cycle with which it takes effect; absent where it waits for its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u64>,
    /// Number of the planned change; absent where it takes effect with the next cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
}

/// How a chip type's supply went, from the first cycle on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyHistory {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Now: where the last level ends.
    pub to: Instant,
    /// What took effect, oldest first.
    pub changes: Vec<SupplyLevel>,
}

/// Chips in one hand, from a cycle on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SupplyLevel {
    /// The cycle.
    pub cycle: u64,
    /// When it began.
    pub at: Instant,
    /// The pool that owns them; absent for shared chips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Chips before, 0 at the start.
    pub before: Chips,
    /// Chips from then on.
    pub after: Chips,
}

/// A figure without and with a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sides<T> {
    /// As things are.
    pub before: T,
    /// As they would be.
    pub after: T,
}

impl<T> Sides<T> {
    /// Both sides, each made into something else.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> Sides<U> {
        Sides { before: make(self.before), after: make(self.after) }
    }
}

impl<T: PartialEq> Sides<T> {
    /// Whether the change changes it.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.before != self.after
    }
}

/// The market without and with changes: of one cycle, or on average over many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// First cycle of the book that was used.
    pub first_cycle: u64,
    /// Last cycle of it; the same for a single one.
    pub last_cycle: u64,
    /// How many of them were cleared again.
    pub cleared: u64,
    /// Per chip type, in order of their ids.
    pub chip_types: Vec<ComparedType>,
    /// Prices of pools that differ, in order of pool and chip type.
    pub pools: Vec<ComparedPool>,
    /// Per team that asks for chips on either side, in order of their ids.
    pub teams: Vec<ComparedTeam>,
    /// Bids with fewer chips than before, the largest loss first; at most 200. Only of one cycle.
    pub losing: Vec<ComparedBid>,
    /// How many bids have fewer chips than before.
    pub losing_bids: u64,
    /// How many have more.
    pub gaining_bids: u64,
}

/// One chip type's market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedType {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// All chips, in thousandths.
    pub supply_milli: Sides<u64>,
    /// Reference price in global credits per chip-hour, averaged over the cycles that have one; absent where none has.
    #[cfg_attr(feature = "openapi", schema(value_type = Sides<Option<String>>))]
    pub reference_price: Sides<Option<Price>>,
    /// Chips asked for at any price, in thousandths.
    pub asked_milli: Sides<u64>,
    /// Chips in quotas, in thousandths.
    pub granted_milli: Sides<u64>,
}

/// What a pool's teams pay for a chip type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedPool {
    /// The pool.
    pub pool: PoolId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Local credits per chip-hour, averaged over the cycles that have a price; absent where none has.
    #[cfg_attr(feature = "openapi", schema(value_type = Sides<Option<String>>))]
    pub local_price: Sides<Option<Price>>,
}

/// What a team has and pays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedTeam {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// Its pool.
    pub pool: PoolId,
    /// Chips that its bids use, over all types, in thousandths.
    pub chips_milli: Sides<u64>,
    /// What they cost, in local credits per hour.
    #[cfg_attr(feature = "openapi", schema(value_type = Sides<String>))]
    pub spend: Sides<MicroCredits>,
}

/// A bid with fewer chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedBid {
    /// The bid.
    pub bid: BidId,
    /// Its name.
    pub name: String,
    /// Its team.
    pub team: TeamId,
    /// The chip type it has now.
    pub chip_type: ChipTypeId,
    /// Chips of it.
    pub chips: Sides<Chips>,
    /// Why it has so many afterwards.
    pub reason: super::Reason,
}
