//! Tries out a team's queue in a market that is cleared: only the chip types in which the team's demand changes are
//! cleared again.
//!
//! The answer is that of clearing the whole market with the queue in it. Where other teams' bids would choose other chip
//! types because of the queue, that is what is done.

use std::sync::OnceLock;

use crate::asks::Asks;
use crate::bidder::{Walk, Wish};
use crate::choice::Chooser;
use crate::clearing::Clearing;
use crate::curve::TeamCurve;
use crate::demand::{Demand, TeamRow};
use crate::jobs::{Counter, JobResult, Till};
use crate::last::LastMarkets;
use crate::market::{AlternativeRow, Market, NO_ALTERNATIVE, NO_CHIP_TYPE};
use crate::queue::{Queue, QueuedBid};
use crate::standing::{Place, Standing};
use crate::team_asks::TeamAsks;
use crate::ties::may_move;

/// A market that is cleared, and what is kept of it to clear it again.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) market: Market,
    pub(crate) clearing: Clearing,
    /// By chip type, made when first needed.
    standings: Vec<OnceLock<Standing>>,
    last: OnceLock<LastMarkets>,
    lookers: OnceLock<Vec<Vec<u32>>>,
}

/// A queue in the market: what it asks for, and what the team then has in each chip type's market.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    /// Of the team alone.
    pub(crate) demand: Demand,
    /// By row.
    places: Vec<Place>,
}

impl Base {
    pub(crate) fn new(market: Market) -> Self {
        let clearing = market.clear();
        let standings = market.chip_types.iter().map(|_| OnceLock::new()).collect();
        Self { market, clearing, standings, last: OnceLock::new(), lookers: OnceLock::new() }
    }

    /// A team's queue as it is.
    pub(crate) fn as_is(&self, team: usize) -> Tried {
        Tried::of(&self.market, &self.clearing, team)
    }

    /// Another queue of a team. What is the same as in `before` is taken from it.
    pub(crate) fn queue(&self, team: usize, queue: &Queue, before: &Tried) -> Tried {
        match self.choices(team, queue) {
            Some(choices) => self.with_choices(team, queue, choices, self.market.teams[team].cap, before),
            None => {
                let market = self.market.with_queue(team, queue);
                Tried::of(&market, &market.clear(), team)
            }
        }
    }

    /// Another queue of a team with this spending cap, in which bids choose these alternatives.
    pub(crate) fn with_choices(
        &self,
        team: usize,
        queue: &Queue,
        choices: Vec<u8>,
        cap: u64,
        before: &Tried,
    ) -> Tried {
        let demand = self.demand(team, queue, choices, cap);
        let place = |each: &TeamRow| {
            let curve = demand.curve(each.row as usize);
            before
                .same(each.chip_type, &curve)
                .unwrap_or_else(|| self.clear_again(team, each.chip_type, curve))
        };
        let places = demand.asked.rows_by_team().iter().map(place).collect();
        Tried { demand, places }
    }

    /// What a team has in a market in which it asks for something else.
    fn clear_again(&self, team: usize, chip_type: u32, curve: TeamCurve<'_>) -> Place {
        let (market, demand, nth) = (&self.market, &self.clearing.demand, chip_type as usize);
        let standing = self.standings[nth]
            .get_or_init(|| Standing::new(market, demand, nth, self.clearing.chip_types[nth].reference));
        let (index, pool) = (index(team), market.teams[team].pool as usize);
        let extract = demand.extract(market, nth, pool..pool + 1, index, Some(curve));
        standing.clear_with(market, demand, &extract, index)
    }

    /// The bidder for one queue (market.md 3.3 to 3.5).
    fn demand(&self, team: usize, queue: &Queue, choices: Vec<u8>, cap: u64) -> Demand {
        let market = &self.market;
        let (mut asks, mut walk) = (Asks::new(market.chip_types.len()), Walk::new(market.chip_types.len()));
        let wishes: Vec<Wish> = queue
            .bids
            .iter()
            .zip(&choices)
            .filter(|(_, choice)| **choice != NO_ALTERNATIVE)
            .map(|(bid, choice)| Wish {
                limit: bid.row.limit,
                wanted: bid.alternatives[usize::from(*choice)],
            })
            .collect();
        for wish in &wishes {
            asks.add(wish.wanted.chip_type, wish.limit, wish.wanted.chips);
        }
        let mut part = TeamAsks { choices, ..TeamAsks::default() };
        part.push_team(index(team), &mut asks);
        let pool = market.teams[team].pool as usize;
        let left = walk.reserve(cap, wishes.into_iter(), |chip_type| market.last_price(pool, chip_type));
        let demand = Demand::of_team(part, Vec::new());
        let rows = demand.asked.rows_by_team().iter();
        let types = rows.map(|each| (each.chip_type, demand.asked.asked(each.row as usize)));
        walk.split(left, types.clone());
        let rates = types.map(|(chip_type, _)| walk.take(chip_type)).collect();
        Demand { rates, ..demand }
    }

    /// What the bids of a queue choose (3.2); absent where other teams' bids would choose otherwise than they did.
    fn choices(&self, team: usize, queue: &Queue) -> Option<Vec<u8>> {
        let market = &self.market;
        let unshared = |way: &AlternativeRow| {
            way.chip_type != NO_CHIP_TYPE && market.chip_types[way.chip_type as usize].shared == 0
        };
        let looks =
            queue.bids.iter().any(|bid| bid.alternatives.len() > 1 || bid.alternatives.iter().any(unshared));
        if !looks && !market.needs_last_demand {
            return Some(choose(market, None, team, queue));
        }
        let last = self.last.get_or_init(|| LastMarkets::new(market));
        let (last, changed) = self.last_with(last, team, queue);
        let chooser = Chooser::new(market, Some(&last));
        let own = market.bids_of(team);
        let lookers = self.lookers.get_or_init(|| lookers(market));
        let others = changed.iter().flat_map(|chip_type| &lookers[*chip_type]);
        for bid in others.map(|bid| *bid as usize).filter(|bid| !own.contains(bid)) {
            let (row, name, ways) = (&market.bids[bid], &market.names[bid], market.alternatives_of(bid));
            let choice = chooser.choose(market.team_of(bid), row, name, ways);
            if choice != self.clearing.demand.asked.choices[bid] {
                return None;
            }
        }
        Some(choose(market, Some(&last), team, queue))
    }

    /// The last demand with what the bids of a queue held, and the chip types in which that makes a difference.
    fn last_with(&self, last: &LastMarkets, team: usize, queue: &Queue) -> (LastMarkets, Vec<usize>) {
        let (market, index) = (&self.market, index(team));
        let mut asks = Asks::new(market.chip_types.len());
        for bid in queue.bids.iter().filter(|bid| bid.row.in_window) {
            let held = bid.alternatives.get(usize::from(bid.row.held));
            if let Some(held) = held.filter(|held| held.chip_type != NO_CHIP_TYPE) {
                asks.add(held.chip_type, bid.row.limit, held.chips);
            }
        }
        let mut part = TeamAsks::default();
        part.push_team(index, &mut asks);
        let caps = vec![market.teams[team].cap; part.rows.len()];
        let new = Demand::of_team(part, caps);
        let (mut last, mut changed) = (last.clone(), Vec::new());
        for chip_type in 0..market.chip_types.len() {
            let row = new.asked.rows_by_team().iter().find(|row| row.chip_type as usize == chip_type);
            let curve = row.map(|row| new.curve(row.row as usize));
            let steps =
                |curve: Option<TeamCurve<'_>>| curve.map_or_else(Vec::new, |curve| curve.steps.to_vec());
            if steps(curve) != steps(last.curve(market, chip_type, index)) {
                last.set(market, chip_type, index, curve);
                changed.push(chip_type);
            }
        }
        (last, changed)
    }
}

fn choose(market: &Market, last: Option<&LastMarkets>, team: usize, queue: &Queue) -> Vec<u8> {
    let chooser = Chooser::new(market, last);
    queue.bids.iter().map(|bid| chooser.choose(team, &bid.row, &bid.name, &bid.alternatives)).collect()
}

/// For each chip type the bids whose choice may depend on its last demand: on the price they would face there, or on
/// chips that are lent.
fn lookers(market: &Market) -> Vec<Vec<u32>> {
    let mut lookers = vec![Vec::new(); market.chip_types.len()];
    for (team, row) in market.teams.iter().enumerate() {
        let certain = |way: &AlternativeRow| {
            let chip_type = way.chip_type as usize;
            way.chip_type != NO_CHIP_TYPE
                && (market.chip_types[chip_type].shared > 0 || market.owned(row.pool as usize, chip_type) > 0)
        };
        for bid in market.bids_of(team).filter(|bid| market.bids[*bid].in_window) {
            let ways = market.alternatives_of(bid);
            let held = ways.get(usize::from(market.bids[bid].held));
            let looks = ways.len() > 1
                && (!held.is_some_and(certain) || may_move(market.cycle, market.names[bid].id.as_str()));
            let known = ways.iter().filter(|way| way.chip_type != NO_CHIP_TYPE);
            for way in known.filter(|way| looks || !certain(way)) {
                lookers[way.chip_type as usize].push(index(bid));
            }
        }
    }
    lookers
}

impl Tried {
    /// What a clearing says of a team.
    fn of(market: &Market, clearing: &Clearing, team: usize) -> Self {
        let asked = &clearing.demand.asked;
        let mut part =
            TeamAsks { choices: asked.choices[market.bids_of(team)].to_vec(), ..TeamAsks::default() };
        let (mut rates, mut places) = (Vec::new(), Vec::new());
        for each in asked.rows_of_team(team) {
            let (row, result) = (each.row as usize, &clearing.chip_types[each.chip_type as usize]);
            part.push_row(index(team), each.chip_type, clearing.demand.curve(row).steps);
            rates.push(clearing.demand.rates[row]);
            places
                .push(Place { price: result.price_in(market.teams[team].pool), quota: clearing.quotas[row] });
        }
        Self { demand: Demand::of_team(part, rates), places }
    }

    /// The team's place in a market where it asked for just this.
    fn same(&self, chip_type: u32, curve: &TeamCurve<'_>) -> Option<Place> {
        let each = self.demand.asked.rows_by_team().iter().find(|row| row.chip_type == chip_type)?;
        let mine = self.demand.curve(each.row as usize);
        (mine == *curve).then(|| self.places[each.row as usize])
    }

    /// Serves the queue: what each bid chose, what it got, and the till that it came to as it was before it.
    pub(crate) fn serve<'t>(
        &'t self,
        market: &Market,
        queue: &Queue,
    ) -> Vec<(Option<AlternativeRow>, JobResult, Option<Till<'t>>)> {
        let mut counter = Counter::new(market.chip_types.len());
        for (each, place) in self.demand.asked.rows_by_team().iter().zip(&self.places) {
            let till = Till::new(&self.demand, each.row as usize, place.price, place.quota);
            counter.open(each.chip_type, till);
        }
        let choices = self.demand.asked.choices.iter();
        let serve = |(bid, choice): (&QueuedBid, &u8)| {
            let wanted = (*choice != NO_ALTERNATIVE).then(|| bid.alternatives[usize::from(*choice)]);
            let till = counter.till(wanted).copied();
            (wanted, counter.serve(&bid.row, wanted), till)
        };
        queue.bids.iter().zip(choices).map(serve).collect()
    }
}

/// A market has fewer teams and bids than 2^32.
fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
