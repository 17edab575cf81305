//! Bids: a team's queue, what its members ask for, and what a bid would do before it is sent.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{MarketClock, Reason, TeamName};
use crate::chips::Chips;
use crate::ids::{BidId, ChipTypeId, TeamId};
use crate::instant::Instant;
use crate::money::{MicroCredits, Price};

/// Which bids of a team are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BidFilter {
    /// Live and paused ones: the queue, in its order.
    #[default]
    Open,
    /// Those that are over, last ended first.
    Ended,
}

/// A list of bids to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BidsQuery {
    /// The team; without one, the viewer's first.
    pub team: Option<TeamId>,
    /// Which of its bids.
    #[serde(default)]
    pub show: BidFilter,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// A team's bids, and what is needed to place one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidsView {
    /// The clock of the market.
    pub clock: MarketClock,
    /// The team.
    pub team: TeamName,
    /// The viewer may place and change bids of this team.
    pub may_bid: bool,
    /// What the team has and spends.
    pub funds: TeamFunds,
    /// Chip types to choose from, in order of their ids.
    pub chip_types: Vec<BidChipType>,
    /// The bids.
    pub bids: Vec<BidView>,
    /// Bids of the team that are over, and open ones.
    pub counts: BidCounts,
    /// Hand this back as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// How many bids a team has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidCounts {
    /// Live and paused.
    pub open: u64,
    /// Over.
    pub ended: u64,
}

/// A team's money now, in local credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TeamFunds {
    /// Balance.
    pub balance: MicroCredits,
    /// Income per hour.
    pub income_per_hour: MicroCredits,
    /// Most it may bid per hour: the least of leverage × income and what it can sustain.
    pub cap_per_hour: MicroCredits,
    /// What its chips cost per hour at present prices.
    pub burn_per_hour: MicroCredits,
    /// How long the balance lasts at that rate; absent where income covers it.
    pub lasts_seconds: Option<u64>,
}

/// A chip type as a bidder of the team's pool sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidChipType {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Its display name.
    pub name: String,
    /// What the pool pays now, in local credits per chip-hour; absent: nobody of the pool could be priced.
    pub local_price: Option<Price>,
    /// What a chip-hour costs outside the market, in local credits; absent: nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_price: Option<Price>,
    /// All chips of it.
    pub supply: Chips,
    /// Chips nobody uses.
    pub idle: Chips,
    /// Most chips the pool could hold: owned, lent to it and shared. A bid for more can't be filled.
    pub most_chips: Chips,
    /// It is retired and takes no new bids.
    pub retired: bool,
}

/// The most a bid pays. There is no default: a bid says `"none"` or a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BidLimit {
    /// At most this, in local credits per chip-hour.
    At(Price),
    /// Whatever the price is, as long as the team's spending cap allows it.
    NoLimit,
}

impl BidLimit {
    /// The price, where there is a limit.
    #[must_use]
    pub const fn price(self) -> Option<Price> {
        match self {
            Self::At(price) => Some(price),
            Self::NoLimit => None,
        }
    }
}

impl From<Option<Price>> for BidLimit {
    fn from(limit: Option<Price>) -> Self {
        limit.map_or(Self::NoLimit, Self::At)
    }
}

impl Serialize for BidLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(price) => price.serialize(serializer),
            Self::NoLimit => serializer.serialize_str("none"),
        }
    }
}

impl<'de> Deserialize<'de> for BidLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        if text == "none" {
            return Ok(Self::NoLimit);
        }
        text.parse().map(Self::At).map_err(|error| {
            serde::de::Error::custom(format!("{text:?} {error}; or write \"none\" for no limit"))
        })
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for BidLimit {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .description(Some("Local credits per chip-hour as a decimal string, or `none` for no limit."))
            .into()
    }
}
#[cfg(feature = "openapi")]
impl utoipa::ToSchema for BidLimit {}

/// One way to fill a bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidAlternative {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// Chips it wants.
    pub chips: Chips,
    /// Least chips it can run on: its gang.
    pub min_chips: Chips,
}

/// What a bid asks for; all that its team may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BidTerms {
    /// Display name, 1 to 100 characters.
    pub name: String,
    /// Free text for the team.
    #[serde(default)]
    pub note: String,
    /// In order of preference, 1 to 32, each chip type once.
    pub alternatives: Vec<BidAlternative>,
    /// The most it pays, in local credits per chip-hour, or `none`.
    pub limit: BidLimit,
    /// Not before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Instant>,
    /// Not at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Instant>,
    /// Estimate of all its work in chip-seconds; the bid ends when so much is done. Absent: it runs until it is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_chip_seconds: Option<u64>,
}

/// A bid to place, at the end of its team's queue. The client makes the id (a UUID), so that a repeated request is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PlaceBid {
    /// The bid.
    pub id: BidId,
    /// Its team.
    pub team: TeamId,
    /// What it asks for.
    pub terms: BidTerms,
}

/// A bid to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AmendBid {
    /// The version that the change was made from; a newer one is a conflict.
    pub version: u64,
    /// What it asks for from the next cycle on.
    pub terms: BidTerms,
}

/// Bids to put elsewhere in their team's queue, together and in the given order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MoveBids {
    /// The team.
    pub team: TeamId,
    /// The bids that move.
    pub bids: Vec<BidId>,
    /// The bid they go before; absent: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<BidId>,
}

/// What is done to chosen bids, all or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ChangeBids {
    /// The team.
    pub team: TeamId,
    /// The bids, 1 to 500.
    pub bids: Vec<BidId>,
    /// What is done to them.
    pub change: BidChange,
}

/// What a change of several bids comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidsChanged {
    /// The bids that are other than before, in the order of the request; one that was so already is not among them.
    pub changed: Vec<BidId>,
    /// The cycle from which the change holds.
    pub effective_cycle: u64,
}

/// A change that needs no form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BidChange {
    /// Out of the market until it is resumed.
    Pause,
    /// Back into the market.
    Resume,
    /// Ended for good.
    Cancel,
}

/// Where a bid is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BidStatus {
    /// In the market.
    Live,
    /// Kept out of the market until it is resumed.
    Paused,
    /// Ended by its team.
    Cancelled,
    /// Ended because its work is done.
    Served,
    /// Ended because its window is over.
    Expired,
}

/// A bid of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidView {
    /// The bid.
    pub id: BidId,
    /// Number of its newest version; a change names it.
    pub version: u64,
    /// The newest version waits for the next cycle.
    pub pending: bool,
    /// The cycle from which the newest version holds; where it waits, the next one.
    pub effective_cycle: u64,
    /// Place in the queue, from 1; absent when it is over.
    pub place: Option<u64>,
    /// What it asks for.
    pub terms: BidTerms,
    /// Where it is in its life.
    pub status: BidStatus,
    /// What it got in the cycle in force; absent before its first cycle and when it is over.
    pub now: Option<BidNow>,
    /// What it was charged up to the last accounting step, in local credits.
    pub cost: MicroCredits,
    /// Work done, in chip-seconds.
    pub done_chip_seconds: u64,
    /// How long its work still takes on the chips it has; absent without a work estimate or without chips.
    pub left_seconds: Option<u64>,
    /// When it was placed.
    pub placed_at: Instant,
    /// Who placed it: a display name; absent for bids that no person placed.
    pub placed_by: Option<String>,
    /// When its end was found or asked for; absent while it is open.
    pub ended_at: Option<Instant>,
    /// Chip types it names that are retired: it runs on with them, but can't be resumed or placed again so.
    pub retired: Vec<ChipTypeId>,
}

/// What a bid got in the cycle in force, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidNow {
    /// The chip type it chose, where it could choose one.
    pub chip_type: Option<ChipTypeId>,
    /// Chips it won.
    pub chips: Chips,
    /// Chips it uses for free.
    pub opportunistic_chips: Chips,
    /// Its pool's price, in local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Why.
    pub reason: Reason,
    /// The reason in words, with its numbers.
    pub explanation: String,
}

/// A bid opened: what it takes to win, and what it got so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidDetail {
    /// The clock of the market.
    pub clock: MarketClock,
    /// Its team.
    pub team: TeamName,
    /// The viewer may change it.
    pub may_bid: bool,
    /// The bid.
    pub bid: BidView,
    /// What it would take to fill it in the cycle in force; absent when it is over or paused.
    pub price_to_win: Option<PriceToWinView>,
    /// Where it stands among all bids for its chip type in the cycle in force; absent when it chose none.
    pub rank: Option<BidRank>,
    /// Stretches of cycles with the same result, newest first.
    pub history: Vec<BidStretch>,
    /// Hand this back as `cursor` for older ones; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Where a bid stands among all bids for its chip type, those that would pay most first. Bids without a limit come before
/// all others; bids with the same limit, in global credits, share a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidRank {
    /// From 1.
    pub rank: u64,
    /// Bids for the chip type.
    pub of: u64,
}

/// Cycles in a row in which a bid got the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidStretch {
    /// The first cycle.
    pub first_cycle: u64,
    /// When it began.
    pub starts_at: Instant,
    /// When the stretch ended; absent: it goes on.
    pub ends_at: Option<Instant>,
    /// The chip type it chose.
    pub chip_type: Option<ChipTypeId>,
    /// Chips it won.
    pub chips: Chips,
    /// Chips it used for free.
    pub opportunistic_chips: Chips,
    /// Its pool's price when the stretch began, in local credits per chip-hour.
    pub local_price: Option<Price>,
    /// Why.
    pub reason: Reason,
}

/// What it takes to fill a bid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PriceToWinView {
    /// It is filled as it is.
    Filled,
    /// A limit of at least this fills it, in local credits per chip-hour.
    Limit {
        /// The lowest such limit.
        limit: Price,
    },
    /// No limit fills it alone: the team would need so much more to spend, in local credits per hour.
    Credits {
        /// The least that is enough.
        extra_per_hour: MicroCredits,
    },
    /// Nothing fills it: there are not so many chips for its pool.
    Never,
}

/// A bid to look at before it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PreviewBid {
    /// Its team.
    pub team: TeamId,
    /// The bid it would replace; absent: a new one at the end of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<BidId>,
    /// What it would ask for.
    pub terms: BidTerms,
}

/// What a bid would have done in the cycle in force, all else equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BidPreview {
    /// The cycle it is computed on.
    pub cycle: u64,
    /// What it would get, and why.
    pub now: BidNow,
    /// What it would cost per hour, in local credits.
    pub cost_per_hour: MicroCredits,
    /// What all its work would cost at that price, in local credits; absent without a work estimate or a price.
    pub cost_of_work: Option<MicroCredits>,
    /// What a chip-hour of the chip type it chose costs outside the market, in local credits; absent: nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_price: Option<Price>,
    /// The team's money with it.
    pub funds: TeamFunds,
    /// Bids of the team that would lose chips, in the order of the queue.
    pub losers: Vec<PreviewLoser>,
    /// What it would take to fill it.
    pub price_to_win: PriceToWinView,
}

/// A bid of the team that would lose chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PreviewLoser {
    /// The bid.
    pub bid: BidId,
    /// Its name.
    pub name: String,
    /// Chips it has.
    pub before: Chips,
    /// Chips it would have.
    pub after: Chips,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t106_a_limit_is_said_or_refused() {
        let terms = |limit: &str| {
            serde_json::from_str::<BidTerms>(&format!(
                r#"{{"name":"a","alternatives":[{{"chip_type":"A100","chips":8,"min_chips":8}}]{limit}}}"#
            ))
        };
        assert!(terms("").is_err(), "no limit is no default");
        assert_eq!(terms(r#","limit":"none""#).expect("none").limit, BidLimit::NoLimit);
        let at = terms(r#","limit":"3.20""#).expect("a price").limit;
        assert_eq!(at, BidLimit::At(Price(3_200_000)));
        assert_eq!(serde_json::to_string(&at).expect("JSON"), "\"3.20\"");
        for bad in ["-5", "NaN", "1e309", "1,000", "", "0.0000001"] {
            assert!(terms(&format!(r#","limit":"{bad}""#)).is_err(), "{bad}");
        }
    }
}
