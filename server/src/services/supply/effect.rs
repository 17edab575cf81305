//! What a change does to the market: the same cycles cleared without and with it, side by side.

use std::collections::BTreeMap;

use common::api::{
    ComparedBid, ComparedPool, ComparedTeam, ComparedType, Comparison, Reason, Sides, SupplyEdit,
};
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::outcome::{BidOutcome, ChipTypeOutcome};
use market::{Edit, Outcome, Snapshot};

use super::super::Services;
use super::super::audit::{Deed, Origin};
use super::super::organisation::newest_setup;
use super::edit::Supply;
use crate::cycle::run_engine;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::bids;
use crate::store::entities::Team;

/// Bids that lose chips, named at most.
const MOST_LOSING: usize = 200;

impl Services {
    /// What changes of supply would do to the cycle in force, all else equal. Changes nothing; that single bids were shown
    /// is noted in the audit log.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see it. `Invalid`: an edit can't be set. `Conflict`: nothing has cleared yet.
    pub async fn supply_effect(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        edits: &[SupplyEdit],
    ) -> Result<Comparison, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let latest = self.market().latest().await?;
        let cleared = latest.cleared.clone().ok_or_else(nothing_cleared)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        for edit in edits {
            supply.check(edit)?;
        }
        let edits: Vec<Edit> = edits.iter().filter_map(|edit| supply.of_engine(edit)).collect();
        let names = bids::names(&mut tx, latest.number).await?;
        drop(tx);
        let mut tally = self
            .compute(move || {
                let edited = edited(&cleared.snapshot, &edits)?;
                let after = run_engine(&edited)?;
                let mut tally = Tally::default();
                tally.add((&cleared.snapshot, &cleared.outcome), (&edited, &after));
                Ok(tally)
            })
            .await?;
        for bid in &mut tally.losing {
            bid.name = names.get(&bid.bid).map(|name| name.name.clone()).unwrap_or_default();
        }
        let comparison = tally.finish(&latest.setup.teams);
        if !comparison.losing.is_empty() {
            self.note_look(viewer, origin, Deed::new("bids.read", "supply", "preview")).await?;
        }
        Ok(comparison)
    }
}

/// There is no book to compare with.
pub(in crate::services) fn nothing_cleared() -> AppError {
    AppError::conflict(
        "no cycle has cleared yet, so there is nothing to compare with; the next one changes that",
    )
}

/// The inputs of a cycle with edits.
///
/// # Errors
/// `Invalid`: an edit names what the cycle does not have, such as a pool that was added since.
pub(in crate::services) fn edited(snapshot: &Snapshot, edits: &[Edit]) -> Result<Snapshot, AppError> {
    snapshot.edited(edits).map_err(|error| {
        AppError::new(
            ErrorKind::Invalid,
            format!("cycle {} can't be cleared with this change: {error}", snapshot.cycle),
        )
    })
}

/// Inputs and outcome of one side of a cycle.
pub(in crate::services) type Side<'a> = (&'a Snapshot, &'a Outcome);

/// Adds up cycles that were cleared without and with a change.
#[derive(Clone, Debug, Default)]
pub(in crate::services) struct Tally {
    cycles: Option<(u64, u64)>,
    cleared: u64,
    types: BTreeMap<ChipTypeId, Sides<TypeSums>>,
    pools: BTreeMap<(PoolId, ChipTypeId), Sides<Prices>>,
    teams: BTreeMap<TeamId, (PoolId, Sides<TeamSums>)>,
    losing: Vec<ComparedBid>,
    losing_bids: u64,
    gaining_bids: u64,
}

/// Prices of the cycles that have one.
#[derive(Clone, Copy, Debug, Default)]
struct Prices {
    sum: u128,
    count: u64,
}

impl Prices {
    fn add(&mut self, price: Option<Price>) {
        if let Some(price) = price {
            self.sum += u128::from(price.0);
            self.count += 1;
        }
    }

    /// The average, rounded down to a tick; absent where no cycle has a price.
    fn average(self) -> Option<Price> {
        let average = self.sum.checked_div(u128::from(self.count))?;
        u64::try_from(average).ok().map(Price)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct TypeSums {
    supply: u64,
    asked: u64,
    granted: u64,
    prices: Prices,
}

#[derive(Clone, Copy, Debug, Default)]
struct TeamSums {
    chips: u64,
    spend: u128,
    asks: bool,
}

impl Tally {
    /// Adds a cycle.
    pub(in crate::services) fn add(&mut self, before: Side<'_>, after: Side<'_>) {
        let cycle = before.0.cycle;
        self.cycles = Some((self.cycles.map_or(cycle, |(first, _)| first), cycle));
        self.cleared += 1;
        self.add_side(
            before,
            |sides| &mut sides.before,
            |sides| &mut sides.before,
            |sides| &mut sides.before,
        );
        self.add_side(after, |sides| &mut sides.after, |sides| &mut sides.after, |sides| &mut sides.after);
        self.compare_bids(before, after.1);
    }

    fn add_side(
        &mut self,
        (snapshot, outcome): Side<'_>,
        of_type: fn(&mut Sides<TypeSums>) -> &mut TypeSums,
        of_pool: fn(&mut Sides<Prices>) -> &mut Prices,
        of_team: fn(&mut Sides<TeamSums>) -> &mut TeamSums,
    ) {
        let mut local_prices: BTreeMap<(&PoolId, &ChipTypeId), u64> = BTreeMap::new();
        for market in &outcome.chip_types {
            let ChipTypeOutcome { id, supply, asked, granted, reference_price, pools, .. } = market;
            let sums = of_type(self.types.entry(id.clone()).or_default());
            sums.supply += supply.0;
            sums.asked += asked.0;
            sums.granted += granted.0;
            sums.prices.add(*reference_price);
            for pool in pools {
                local_prices.insert((&pool.id, id), pool.local_price.unwrap_or_default().0);
                of_pool(self.pools.entry((pool.id.clone(), id.clone())).or_default()).add(pool.local_price);
            }
        }
        let pools: BTreeMap<&TeamId, &PoolId> =
            snapshot.teams.iter().map(|team| (&team.id, &team.pool)).collect();
        for team in &outcome.teams {
            let Some(pool) = pools.get(&team.id) else { continue };
            let new = || (PoolId::clone(pool), Sides::default());
            let sums = of_team(&mut self.teams.entry(team.id.clone()).or_insert_with(new).1);
            for market in &team.markets {
                let price = local_prices.get(&(*pool, &market.chip_type)).copied().unwrap_or_default();
                sums.chips += market.used.0;
                sums.spend += u128::from(market.used.0) * u128::from(price);
                sums.asks |= market.asked.0 > 0;
            }
        }
    }

    /// Finds the bids with other chips than before.
    fn compare_bids(&mut self, (snapshot, before): Side<'_>, after: &Outcome) {
        let teams: BTreeMap<&BidId, &TeamId> = snapshot.bids.iter().map(|bid| (&bid.id, &bid.team)).collect();
        let after: BTreeMap<&BidId, &BidOutcome> = after.bids.iter().map(|bid| (&bid.id, bid)).collect();
        self.losing.clear();
        for bid in &before.bids {
            let then = after.get(&bid.id);
            let chips = Sides { before: bid.chips, after: then.map_or(Chips(0), |then| then.chips) };
            self.gaining_bids += u64::from(chips.after > chips.before);
            if let (true, Some(chip_type), Some(team)) =
                (chips.after < chips.before, bid.chip_type.clone(), teams.get(&bid.id))
            {
                self.losing_bids += 1;
                self.losing.push(ComparedBid {
                    bid: bid.id.clone(),
                    name: String::new(),
                    team: TeamId::clone(team),
                    chip_type,
                    chips,
                    reason: then.map_or(Reason::NoSupply, |then| then.reason),
                });
            }
        }
        self.losing
            .sort_by_key(|bid| (std::cmp::Reverse(bid.chips.before.0 - bid.chips.after.0), bid.bid.clone()));
        self.losing.truncate(MOST_LOSING);
    }

    /// The averages. `teams` gives names; a team that is not among them is called by its id.
    pub(in crate::services) fn finish(self, teams: &[Team]) -> Comparison {
        let ((first, last), cleared) = (self.cycles.unwrap_or_default(), self.cleared);
        let milli = |sides: Sides<u64>| Sides {
            before: per_cycle(u128::from(sides.before) * 1_000, cleared),
            after: per_cycle(u128::from(sides.after) * 1_000, cleared),
        };
        let chip_types = self.types.into_iter().map(|(chip_type, sums)| ComparedType {
            chip_type,
            supply_milli: milli(sums.map(|sums| sums.supply)),
            reference_price: sums.map(|sums| sums.prices.average()),
            asked_milli: milli(sums.map(|sums| sums.asked)),
            granted_milli: milli(sums.map(|sums| sums.granted)),
        });
        let pools = self.pools.into_iter().map(|((pool, chip_type), prices)| ComparedPool {
            pool,
            chip_type,
            local_price: prices.map(Prices::average),
        });
        let names: BTreeMap<&TeamId, &str> =
            teams.iter().map(|team| (&team.id, team.name.as_str())).collect();
        let asking = self.teams.into_iter().filter(|(_, (_, sums))| sums.before.asks || sums.after.asks);
        let teams = asking.map(|(team, (pool, sums))| ComparedTeam {
            name: names.get(&team).map_or_else(|| team.to_string(), |name| (*name).to_owned()),
            team,
            pool,
            chips_milli: milli(sums.map(|sums| sums.chips)),
            spend: sums
                .map(|sums| MicroCredits(i64::try_from(per_cycle(sums.spend, cleared)).unwrap_or(i64::MAX))),
        });
        // Which bids lose is said of one cycle; over many they come and go.
        let single = cleared == 1;
        Comparison {
            first_cycle: first,
            last_cycle: last,
            cleared,
            chip_types: chip_types.collect(),
            pools: pools.filter(|pool| pool.local_price.differs()).collect(),
            teams: teams.collect(),
            losing: if single { self.losing } else { Vec::new() },
            losing_bids: if single { self.losing_bids } else { 0 },
            gaining_bids: if single { self.gaining_bids } else { 0 },
        }
    }
}

/// A sum per cycle, rounded down.
fn per_cycle(sum: u128, cycles: u64) -> u64 {
    u64::try_from(sum / u128::from(cycles.max(1))).unwrap_or(u64::MAX)
}
