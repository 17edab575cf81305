//! Previews and prices to win are the same clearing with changes in one team's queue.

use std::collections::BTreeMap;

use common::api::Reason;
use common::chips::Chips;
use common::ids::{BidId, TeamId};
use common::money::Price;
use market::snapshot::{Alternative, Bid};
use market::{
    Change, Draft, Explanation, Market, Preview, Previewer, PriceToWin, Snapshot, SnapshotError, run_auction,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::random::{Scale, each_market, market, more_bids};
use crate::support::{any, bid, chip_type, contest, credits, empty, pool, price, team};

/// The changes made in the snapshot itself, from what they are documented to do.
fn changed(snapshot: &Snapshot, team: &TeamId, changes: &[Change]) -> Snapshot {
    let mut queue: Vec<Bid> = snapshot.canonical().bids.into_iter().filter(|bid| bid.team == *team).collect();
    for change in changes {
        match change {
            Change::Put(draft) => {
                let old = queue.iter_mut().find(|bid| bid.id == draft.id);
                let still = |held: &_| draft.alternatives.iter().any(|way| way.chip_type == *held);
                let new = Bid {
                    id: draft.id.clone(),
                    team: team.clone(),
                    position: 0,
                    alternatives: draft.alternatives.clone(),
                    limit: draft.limit,
                    not_before: draft.not_before,
                    not_after: draft.not_after,
                    held: old.as_ref().and_then(|old| old.held.clone()).filter(still),
                };
                match old {
                    Some(old) => *old = new,
                    None => queue.push(new),
                }
            }
            Change::Remove(id) => queue.retain(|bid| bid.id != *id),
            Change::Order(ids) => {
                queue.sort_by_key(|bid| ids.iter().position(|id| *id == bid.id).unwrap_or(ids.len()));
            }
        }
    }
    let mut snapshot = snapshot.clone();
    snapshot.bids.retain(|bid| bid.team != *team);
    snapshot.bids.extend((0..).zip(queue).map(|(position, bid)| Bid { position, ..bid }));
    snapshot
}

/// Up to three random changes of a random team's queue.
fn random_changes(rng: &mut ChaCha8Rng, snapshot: &Snapshot, scale: Scale) -> Option<(TeamId, Vec<Change>)> {
    let team = snapshot.teams.get(rng.random_range(0..snapshot.teams.len().max(1)))?.id.clone();
    let mut ids: Vec<BidId> =
        snapshot.bids.iter().filter(|bid| bid.team == team).map(|bid| bid.id.clone()).collect();
    let mut changes = Vec::new();
    for nth in 0..rng.random_range(0..=3) {
        let new = || BidId::new(format!("{team}-new-{nth}")).unwrap();
        let any = |rng: &mut ChaCha8Rng| rng.random_range(0..ids.len().max(1));
        let place = any(rng);
        match (rng.random_range(0..5), ids.get(place).cloned()) {
            (0, Some(id)) => {
                ids.remove(place);
                changes.push(Change::Remove(id));
            }
            (1, Some(id)) => {
                let mut order = vec![ids[any(rng)].clone(), id];
                order.dedup();
                changes.push(Change::Order(order));
            }
            (kind, old) => {
                let id = old.filter(|_| kind > 2).unwrap_or_else(new);
                // Any bid of a random market on these chip types.
                let mut drafts = snapshot.clone();
                drafts.bids.clear();
                drafts.teams.truncate(1);
                more_bids(rng, &mut drafts, scale, 1);
                let Bid { alternatives, limit, not_before, not_after, .. } = drafts.bids.remove(0);
                if !ids.contains(&id) {
                    ids.push(id.clone());
                }
                changes.push(Change::Put(Draft { id, alternatives, limit, not_before, not_after }));
            }
        }
    }
    Some((team, changes))
}

/// What the whole clearing says of each bid of a team.
fn explained(snapshot: &Snapshot, team: &TeamId) -> Vec<Explanation> {
    let market = Market::build(snapshot).unwrap();
    let own: Vec<&BidId> = snapshot.bids.iter().filter(|bid| bid.team == *team).map(|bid| &bid.id).collect();
    let clearing = market.clear();
    clearing.explanations(&market).filter(|told| own.contains(&&told.bid)).collect()
}

fn check_preview(snapshot: &Snapshot, team: &TeamId, changes: &[Change]) {
    let previewer = Previewer::new(snapshot).unwrap();
    let said = previewer.edit(team, changes).unwrap().preview();
    let before = explained(snapshot, team);
    assert_eq!(said.bids, explained(&changed(snapshot, team, changes), team));
    let amended =
        |id: &BidId| changes.iter().any(|change| matches!(change, Change::Put(draft) if draft.id == *id));
    let chips: BTreeMap<&BidId, Chips> = before.iter().map(|told| (&told.bid, told.chips)).collect();
    for told in &said.bids {
        let was = chips.get(&told.bid).copied().filter(|was| *was > told.chips && !amended(&told.bid));
        let loser = said.losers.iter().find(|loser| loser.bid == told.bid);
        assert_eq!(loser.map(|loser| (loser.before, loser.after)), was.map(|was| (was, told.chips)));
    }
}

#[test]
fn a_preview_is_the_clearing_with_the_changes_in_it() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(2_000, scale, |rng, snapshot| {
            if let Some((team, changes)) = random_changes(rng, &snapshot, scale) {
                check_preview(&snapshot, &team, &changes);
            }
        });
    }
}

#[test]
fn one_previewer_answers_for_all_teams() {
    each_market(50, Scale::Credits, |rng, mut snapshot| {
        more_bids(rng, &mut snapshot, Scale::Credits, 20);
        let previewer = Previewer::new(&snapshot).unwrap();
        for _ in 0..10 {
            let Some((team, changes)) = random_changes(rng, &snapshot, Scale::Credits) else { return };
            let said = previewer.edit(&team, &changes).unwrap().preview();
            assert_eq!(said.bids, explained(&changed(&snapshot, &team, &changes), &team));
        }
    });
}

#[test]
fn a_queue_as_it_is_needs_no_second_clearing() {
    each_market(300, Scale::Credits, |rng, mut snapshot| {
        more_bids(rng, &mut snapshot, Scale::Credits, 5);
        let previewer = Previewer::new(&snapshot).unwrap();
        for team in &snapshot.teams {
            let cleared_again = previewer.edit(&team.id, &[]).unwrap().preview();
            assert_eq!(previewer.queue(&team.id), Some(cleared_again));
        }
        assert_eq!(previewer.queue(&"no-such-team".parse().unwrap()), None);
    });
}

#[test]
fn t098_a_bid_stands_behind_those_that_would_pay_more() {
    let mut snapshot = contest();
    snapshot.bids[0].limit = None;
    snapshot.bids[1].limit = Some(price("2.00"));
    let mut third = snapshot.bids[1].clone();
    third.id = "third".parse().unwrap();
    snapshot.bids.push(third);
    let mut absent = snapshot.bids[1].clone();
    absent.id = "absent".parse().unwrap();
    absent.not_before = Some(snapshot.time.plus_seconds(60));
    snapshot.bids.push(absent);
    let previewer = Previewer::new(&snapshot).unwrap();
    let standing = |nth: usize| previewer.standing(&snapshot.bids[nth].id);
    assert_eq!((standing(0), standing(1), standing(2)), (Some((0, 3)), Some((1, 3)), Some((1, 3))));
    assert_eq!(standing(3), None, "outside its window it chose nothing");
}

fn filled(snapshot: &Snapshot, nth: usize) -> bool {
    let outcome = run_auction(snapshot).unwrap();
    let said = outcome.bids.iter().find(|said| said.id == snapshot.bids[nth].id).unwrap();
    said.reason == Reason::Filled
}

fn price_to_win(snapshot: &Snapshot, nth: usize) -> PriceToWin {
    let bid = &snapshot.bids[nth];
    let previewer = Previewer::new(snapshot).unwrap();
    previewer.edit(&bid.team, &[]).unwrap().price_to_win(&bid.id).unwrap()
}

#[test]
fn t098_the_price_to_win_wins_and_a_tick_less_does_not() {
    each_market(500, Scale::Credits, |rng, mut snapshot| {
        if snapshot.bids.is_empty() {
            return;
        }
        let nth = rng.random_range(0..snapshot.bids.len());
        match price_to_win(&snapshot, nth) {
            PriceToWin::Limit(limit) => {
                snapshot.bids[nth].limit = Some(limit);
                assert!(filled(&snapshot, nth), "at {limit}");
                if limit.0 > 0 {
                    snapshot.bids[nth].limit = Some(Price(limit.0 - 1));
                    assert!(!filled(&snapshot, nth), "a tick below {limit}");
                }
            }
            PriceToWin::MoreCredits(_) | PriceToWin::OutOfReach => {
                snapshot.bids[nth].limit = None;
                assert!(!filled(&snapshot, nth));
            }
        }
    });
}

#[test]
fn t098_the_credits_that_are_missing_fill_the_bid_and_a_tick_less_does_not() {
    let mut said = 0;
    each_market(1_000, Scale::Credits, |rng, mut snapshot| {
        if snapshot.bids.is_empty() {
            return;
        }
        // No flexible bids, a local credit is a global one, and a credit more on the balance is one more to spend.
        snapshot.bids.iter_mut().for_each(|bid| bid.alternatives.truncate(1));
        snapshot.chip_types.iter_mut().for_each(|row| row.shared = row.shared.max(Chips(1)));
        snapshot.sustain_minutes = 60;
        for pool in &mut snapshot.pools {
            let incomes = snapshot.teams.iter().filter(|team| team.pool == pool.id).map(|team| team.income.0);
            pool.weight.0 = incomes.sum();
        }
        snapshot.teams.iter_mut().for_each(|team| team.leverage_thousandths = 1_000_000);
        let nth = rng.random_range(0..snapshot.bids.len());
        let place = snapshot.teams.iter().position(|team| team.id == snapshot.bids[nth].team).unwrap();
        snapshot.teams[place].income.0 = snapshot.teams[place].income.0.max(1_000_000);
        snapshot.teams[place].balance = credits("0.00");
        let own = snapshot.teams[place].pool.clone();
        let incomes = snapshot.teams.iter().filter(|team| team.pool == own).map(|team| team.income.0);
        snapshot.pools.iter_mut().find(|pool| pool.id == own).unwrap().weight.0 = incomes.sum();
        let PriceToWin::MoreCredits(more) = price_to_win(&snapshot, nth) else { return };
        snapshot.bids[nth].limit = None;
        if more.0 < 900 * snapshot.teams[place].income.0 {
            said += 1;
            snapshot.teams[place].balance = more;
            assert!(filled(&snapshot, nth), "with {more} more");
            snapshot.teams[place].balance.0 -= 1;
            assert!(!filled(&snapshot, nth), "with a tick less than {more} more");
        }
    });
    assert!(said > 50, "only {said} markets had such a bid");
}

#[test]
fn t098_a_loser_is_told_the_limit_that_would_have_won() {
    let mut snapshot = contest();
    snapshot.teams[1].income = credits("60.00");
    snapshot.pools[1].weight = credits("60.00");
    // A tick above the other's limit: only then is the whole supply left to this bid.
    assert_eq!(price_to_win(&snapshot, 1), PriceToWin::Limit(price("3.200001")));
}

#[test]
fn t098_a_team_without_means_is_told_how_much_more_it_needs() {
    let snapshot = contest();
    // 8 chips at a tick above 3.20 cost 25.600008 per hour; the team has 24.
    assert_eq!(price_to_win(&snapshot, 1), PriceToWin::MoreCredits(credits("1.600008")));
    let mut without = snapshot;
    without.chip_types[0].shared = Chips(4);
    assert_eq!(price_to_win(&without, 1), PriceToWin::OutOfReach);
}

/// A bid without a limit, as it would be placed.
fn draft(id: &str, alternatives: Vec<Alternative>) -> Draft {
    Draft { id: BidId::new(id).unwrap(), alternatives, limit: None, not_before: None, not_after: None }
}

/// The preview of a new bid for `chips` chips of a team that has 4 of the 8 there are.
fn new_bid(chips: u64) -> Preview {
    let mut snapshot = empty(3);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("a", "10.00", &[]));
    snapshot.teams.push(team("a", "a", "10.00"));
    snapshot.teams[0].leverage_thousandths = 2_000;
    snapshot.teams[0].balance = credits("100.00");
    snapshot.bids.push(bid("old", "a", any("H100", 4, 4), None));
    let previewer = Previewer::new(&snapshot).unwrap();
    let new = draft("new", vec![any("H100", chips, 1)]);
    let first = Change::Order(vec![new.id.clone()]);
    previewer.edit(&snapshot.teams[0].id, &[Change::Put(new), first]).unwrap().preview()
}

#[test]
fn a_preview_says_what_it_costs_how_long_the_balance_lasts_and_who_loses() {
    let said = new_bid(6);
    let new = said.bid(&BidId::new("new").unwrap()).unwrap();
    // Ten chips are wanted of eight: the team's 20 credits per hour meet at 20 / 9 less a tick's rounding.
    assert_eq!(new.price, Some(price("2.222222")));
    assert_eq!(new.cost_per_hour(), credits("13.333332"));
    assert_eq!(said.burn_per_hour, new.cost_per_hour());
    assert_eq!(said.income_per_hour, credits("10.00"));
    // 100 credits at 3.333332 per hour beyond the income.
    assert_eq!(said.balance_lasts_seconds, Some(108_000));
    assert_eq!(said.losers.len(), 1);
    assert_eq!((said.losers[0].before, said.losers[0].after), (Chips(4), Chips(0)));
    // Where there is enough for both, nobody loses and chips are free.
    let said = new_bid(4);
    assert_eq!((said.losers.len(), said.burn_per_hour), (0, credits("0.00")));
    assert_eq!(said.balance_lasts_seconds, None);
}

#[test]
fn a_team_that_the_snapshot_does_not_have_is_named() {
    let previewer = Previewer::new(&contest()).unwrap();
    let error: SnapshotError = previewer.edit(&TeamId::new("c").unwrap(), &[]).unwrap_err();
    assert_eq!(error.to_string(), "team is \"c\", but no team of the snapshot has this id");
}

#[test]
fn a_market_without_bids_takes_the_first() {
    let mut rng = rand::SeedableRng::seed_from_u64(1);
    let mut snapshot = market(&mut rng, Scale::Credits);
    snapshot.bids.clear();
    let new = draft("new", vec![any("r0", 4, 1)]);
    for team in &snapshot.teams {
        check_preview(&snapshot, &team.id, &[Change::Put(new.clone())]);
    }
}
