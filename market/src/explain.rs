//! Why a bid got what it got, in words and numbers (market.md 7).

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId};
use common::money::{MicroCredits, Price};

use crate::clearing::Clearing;
use crate::curve::NO_LIMIT;
use crate::jobs::{Counter, Granted, JobResult, Till};
use crate::market::{AlternativeRow, BidName, Market, PoolRow};

/// A bid's reason with its numbers. All money is in the pool's local credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The bid.
    pub bid: BidId,
    /// The chip type it chose.
    pub chip_type: Option<ChipTypeId>,
    /// Why.
    pub reason: Reason,
    /// Chips it got.
    pub chips: Chips,
    /// Chips it asked for and the least it can run on; absent where it chose no chip type.
    pub asked: Option<(Chips, Chips)>,
    /// Price per chip-hour.
    pub price: Option<Price>,
    /// The bid's limit per chip-hour.
    pub limit: Option<Price>,
    /// What the team may spend on this chip type, per hour.
    pub rate: Option<MicroCredits>,
    /// Chips that rate buys at the price; absent at price 0, where it buys any number.
    pub affordable: Option<Chips>,
    /// The team's quota of the chip type.
    pub quota: Option<Chips>,
    /// Chips of the quota that bids ahead in the queue left.
    pub left: Option<Chips>,
    /// The reason in words.
    pub text: String,
}

impl Clearing {
    /// Explains every bid, in the order of the outcome's bids: by team, position and id. Lazy: a page takes what it
    /// shows.
    pub fn explanations<'a>(&'a self, market: &'a Market) -> impl Iterator<Item = Explanation> + 'a {
        (0..market.teams.len()).flat_map(move |team| self.explain_team(market, team, |_| true))
    }

    /// Explains one bid; absent where the market has no such bid.
    #[must_use]
    pub fn explain(&self, market: &Market, bid: &BidId) -> Option<Explanation> {
        let nth = market.bid_of(bid)?;
        self.explain_team(market, market.team_of(nth), |bid| bid == nth).pop()
    }

    fn explain_team(&self, market: &Market, team: usize, asked: impl Fn(usize) -> bool) -> Vec<Explanation> {
        let Self { demand, quotas, chip_types, .. } = self;
        let granted = Granted { market, demand, quotas, chip_types };
        let mut counter = Counter::new(chip_types.len());
        granted.open(&mut counter, team);
        let mut explanations = Vec::new();
        for (bid, (row, wanted)) in market.bids_of(team).zip(granted.queue(team)) {
            let till = counter.till(wanted).copied();
            let job = counter.serve(row, wanted);
            if asked(bid) {
                let pool = &market.pools[market.teams[team].pool as usize];
                explanations.push(explanation(market, pool, &market.names[bid], wanted, job, till.as_ref()));
            }
        }
        explanations
    }
}

/// Of a bid, what it chose and got, and the till that it came to.
pub(crate) fn explanation(
    market: &Market,
    pool: &PoolRow,
    name: &BidName,
    chosen: Option<AlternativeRow>,
    job: JobResult,
    till: Option<&Till<'_>>,
) -> Explanation {
    let price = till.and_then(|till| till.price).and_then(|price| pool.local_price(price));
    let mut explanation = Explanation {
        bid: name.id.clone(),
        chip_type: chosen.map(|chosen| market.chip_types[chosen.chip_type as usize].id.clone()),
        reason: job.reason,
        chips: Chips(u64::from(job.chips)),
        asked: chosen.map(|chosen| (Chips(chosen.chips.into()), Chips(chosen.min_chips.into()))),
        price: price.map(Price),
        limit: (name.local_limit != NO_LIMIT).then_some(Price(name.local_limit)),
        rate: till.map(|till| local_rate(pool, till.rate())),
        affordable: till.and_then(Till::affordable).map(Chips),
        quota: till.map(|till| Chips(till.quota)),
        left: till.map(|till| Chips(till.left)),
        text: String::new(),
    };
    explanation.text = explanation.words();
    explanation
}

/// A global rate in local credits per hour, rounded down; 0 where the pool has no purchasing power.
fn local_rate(pool: &PoolRow, rate: u64) -> MicroCredits {
    let local = u128::from(rate) * u128::from(pool.incomes);
    let local = local.checked_div(u128::from(pool.weight)).unwrap_or(0);
    MicroCredits(i64::try_from(local).unwrap_or(i64::MAX))
}

impl Explanation {
    /// What the bid pays, in local credits per hour.
    #[must_use]
    pub fn cost_per_hour(&self) -> MicroCredits {
        let price = self.price.map_or(0, |price| price.0);
        MicroCredits(i64::try_from(u128::from(price) * u128::from(self.chips.0)).unwrap_or(i64::MAX))
    }

    fn words(&self) -> String {
        let chip_type = self.chip_type.as_ref().map_or("", ChipTypeId::as_str);
        let price =
            self.price.map_or_else(|| "no price your pool can pay".to_owned(), |price| price.to_string());
        let (asked, least) = self.asked.unwrap_or_default();
        match self.reason {
            Reason::Filled => format!("all {} at {price} per chip-hour", count(asked)),
            Reason::PartlyFilled => format!(
                "{} of {} at {price} per chip-hour: no more of your team's quota of {} is left",
                self.chips,
                count(asked),
                self.quota.unwrap_or_default()
            ),
            Reason::PriceAboveLimit => match (self.price, self.limit) {
                (Some(price), Some(limit)) => format!("price {price} is above your limit {limit}"),
                _ => "the price is beyond what your pool's credits can buy".to_owned(),
            },
            Reason::TeamSpendingCap => format!(
                "your team's {} credits per hour for {chip_type} buy {} at {price}; this bid needs at least {least}",
                self.rate.unwrap_or_default(),
                count(self.affordable.unwrap_or_default()),
            ),
            Reason::GangDoesNotFit => format!(
                "{} of your team's quota left; this bid needs at least {least}",
                count(self.left.unwrap_or_default())
            ),
            Reason::BehindInQueue => format!(
                "bids ahead in the queue use your team's quota of {}",
                count(self.quota.unwrap_or_default())
            ),
            Reason::LostTie => format!(
                "at price {price} more is asked for than there is, and your team was not drawn among those who \
                 would pay just that"
            ),
            Reason::NotInWindow => "this cycle is outside the bid's time window".to_owned(),
            Reason::Paused => "the bid is paused: it takes no part until it is resumed".to_owned(),
            Reason::NoSupply if self.chip_type.is_some() => {
                format!("your pool owns no {chip_type} and none is shared in this cycle")
            }
            Reason::NoSupply => "your pool can get none of the chip types the bid names".to_owned(),
        }
    }
}

fn count(chips: Chips) -> String {
    if chips.0 == 1 { "1 chip".to_owned() } else { format!("{chips} chips") }
}
