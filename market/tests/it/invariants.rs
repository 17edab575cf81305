//! The invariants of the mechanism, each on random markets, by their numbers.

use common::money::{MicroCredits, Price};
use market::outcome::{Outcome, PoolOutcome};
use market::{Snapshot, run_auction};
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::exhaustive::{Side, sides};
use crate::random::{Scale, each_market};

const MARKETS: u64 = 2_000;

/// Every pool of every market, with what its teams asked for.
fn each_pool(check: impl Fn(&Snapshot, &Outcome, usize, &Side, &PoolOutcome)) {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |_, snapshot| {
            let outcome = run_auction(&snapshot).unwrap();
            for (nth, said) in outcome.chip_types.iter().enumerate() {
                for (side, pool) in sides(&snapshot, &outcome, &said.id).iter().zip(&said.pools) {
                    check(&snapshot, &outcome, nth, side, pool);
                }
            }
        });
    }
}

/// A team's quota of a chip type, and its rate for it.
fn market_of(outcome: &Outcome, team: &str, chip_type: usize) -> (u64, u64) {
    let team = outcome.teams.iter().find(|said| said.id.as_str() == team).unwrap();
    let chip_type = &outcome.chip_types[chip_type].id;
    let market = team.markets.iter().find(|market| market.chip_type == *chip_type).unwrap();
    (market.quota.0, market.rate.0.unsigned_abs())
}

fn reserve_binds(snapshot: &Snapshot, outcome: &Outcome, nth: usize) -> bool {
    let price = outcome.chip_types[nth].reference_price;
    price.is_some_and(|price| price.0 > 0 && price == snapshot.chip_types[nth].reserve_price)
}

#[test]
fn i01_shared_chips_that_someone_wants_are_sold_and_pools_share_all_they_have() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |_, snapshot| {
            let outcome = run_auction(&snapshot).unwrap();
            for (nth, said) in outcome.chip_types.iter().enumerate() {
                let bought: u64 = said.pools.iter().map(|pool| pool.bought.0).sum();
                let wanted: u64 =
                    said.pools.iter().map(|pool| pool.asked.0.saturating_sub(pool.owned.0)).sum();
                let most = said.shared.0.min(wanted);
                assert!(bought == most || bought < most && reserve_binds(&snapshot, &outcome, nth));
                for pool in &said.pools {
                    assert_eq!(pool.granted.0, pool.asked.0.min(pool.owned.0 + pool.bought.0));
                }
            }
        });
    }
}

#[test]
fn i02_nobody_pays_above_a_limit_or_spends_above_a_rate() {
    each_pool(|_, outcome, nth, side, pool| {
        for asker in &side.askers {
            let (quota, rate) = market_of(outcome, &asker.team, nth);
            let Some(price) = pool.price else {
                assert_eq!(quota, 0);
                continue;
            };
            let wanted: u64 =
                asker.bids.iter().filter(|(limit, _)| *limit >= price.0).map(|(_, chips)| chips).sum();
            assert!(quota <= wanted);
            assert!(u128::from(price.0) * u128::from(quota) <= u128::from(rate));
        }
    });
}

#[test]
fn i02_in_local_credits_a_team_exceeds_its_cap_by_at_most_a_tick_per_chip() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |_, snapshot| {
            let outcome = run_auction(&snapshot).unwrap();
            for (team, said) in snapshot.teams.iter().zip(&outcome.teams) {
                assert_eq!(team.id, said.id);
                let (income, sustain) = (i128::from(team.income.0), i128::from(snapshot.sustain_minutes));
                let by_income = income * i128::from(team.leverage_thousandths) * sustain;
                let by_balance = (income * sustain + i128::from(team.balance.0) * 60) * 1_000;
                // The cap times 1,000 · sustain.
                let cap = by_income.min(by_balance).max(0);
                let (mut cost, mut chips) = (0, 0);
                for market in &said.markets {
                    let chip_type =
                        outcome.chip_types.iter().find(|said| said.id == market.chip_type).unwrap();
                    let pool = chip_type.pools.iter().find(|pool| pool.id == team.pool).unwrap();
                    let price = pool.local_price.map_or(0, |price| i128::from(price.0));
                    assert!(market.quota.0 == 0 || pool.local_price.is_some());
                    cost += price * i128::from(market.quota.0);
                    chips += i128::from(market.quota.0);
                }
                assert!((cost - chips) * 1_000 * sustain <= cap, "{}", team.id);
            }
        });
    }
}

#[test]
fn i03_pools_pay_at_most_the_reference_price_and_those_without_chips_exactly_it() {
    each_pool(|_, outcome, nth, _, pool| {
        let Some(reference) = outcome.chip_types[nth].reference_price else { return };
        if pool.owned.0 == 0 {
            assert_eq!(pool.price, Some(reference));
        } else if pool.asked > pool.owned {
            assert!(pool.price.unwrap() <= reference);
        } else {
            assert_eq!(pool.price, Some(Price(0)));
        }
    });
}

#[test]
fn i04_a_pool_pays_what_it_owes_and_little_more() {
    each_pool(|snapshot, outcome, nth, _, pool| {
        let Some(reference) = outcome.chip_types[nth].reference_price else { return };
        let paid = u128::from(pool.price.unwrap().0) * u128::from(pool.granted.0);
        let owed = u128::from(reference.0) * u128::from(pool.bought.0);
        assert!(owed <= paid);
        if !reserve_binds(snapshot, outcome, nth) {
            assert!(paid <= owed + u128::from(reference.0) + u128::from(pool.granted.0));
        }
    });
}

#[test]
fn i05_no_team_gets_more_than_a_chip_less_than_in_its_pool_alone() {
    each_pool(|snapshot, outcome, nth, side, pool| {
        let id = outcome.chip_types[nth].id.as_str();
        let alone = side.shares(snapshot.cycle, id, pool.owned.0);
        for (asker, alone) in side.askers.iter().zip(alone) {
            let (quota, _) = market_of(outcome, &asker.team, nth);
            assert!(quota + 1 >= alone, "{} has {quota}, alone {alone}", asker.team);
        }
    });
}

/// The first chip type alone, without a floor, its bids without another choice, and spending caps that are exact.
fn one_exact_type(rng: &mut rand_chacha::ChaCha8Rng, mut snapshot: Snapshot) -> Snapshot {
    snapshot.sustain_minutes = 60;
    snapshot.chip_types.truncate(1);
    snapshot.chip_types[0].reserve_price = Price(0);
    let only = snapshot.chip_types[0].id.clone();
    for bid in &mut snapshot.bids {
        bid.alternatives.retain(|alternative| alternative.chip_type == only);
    }
    snapshot.bids.retain(|bid| !bid.alternatives.is_empty());
    for team in &mut snapshot.teams {
        team.leverage_thousandths = 2_000;
    }
    for pool in &mut snapshot.pools {
        pool.owned.retain(|owned| owned.chip_type == only);
        let incomes: i64 =
            snapshot.teams.iter().filter(|team| team.pool == pool.id).map(|team| team.income.0).sum();
        pool.weight = MicroCredits(incomes * rng.random_range(1..=3));
    }
    snapshot
}

#[test]
fn i06_scaling_all_rates_and_limits_scales_the_price() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |rng, snapshot| {
            let snapshot = one_exact_type(rng, snapshot);
            let c = rng.random_range(2_u64..=9);
            let mut scaled = snapshot.clone();
            for pool in &mut scaled.pools {
                pool.weight.0 *= i64::try_from(c).unwrap();
                pool.last_prices.iter_mut().for_each(|last| last.price.0 *= c);
            }
            let (before, after) = (run_auction(&snapshot).unwrap(), run_auction(&scaled).unwrap());
            let Some(before_price) = before.chip_types[0].reference_price else { return };
            let after_price = after.chip_types[0].reference_price.unwrap();
            let owned = before.chip_types[0].pools.iter().map(|pool| pool.owned.0).max().unwrap();
            let slack = if owned == 0 { 1 } else { 2 + owned };
            assert!(c * before_price.0 <= after_price.0);
            assert!(after_price.0 <= c * (before_price.0 + slack));
        });
    }
}

/// An outcome without what is in local credits.
fn without_local_prices(mut outcome: Outcome) -> Outcome {
    for pool in outcome.chip_types.iter_mut().flat_map(|chip_type| &mut chip_type.pools) {
        pool.local_price = None;
    }
    outcome
}

#[test]
fn i07_minting_more_in_a_pool_changes_nothing_but_its_currency() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |rng, snapshot| {
            let mut minted = snapshot.clone();
            let pool = minted.pools[rng.random_range(0..minted.pools.len())].id.clone();
            let c = rng.random_range(2..=9);
            for team in minted.teams.iter_mut().filter(|team| team.pool == pool) {
                team.income.0 *= c;
                team.balance.0 *= c;
                for bid in minted.bids.iter_mut().filter(|bid| bid.team == team.id) {
                    bid.limit = bid.limit.map(|limit| Price(limit.0 * c.unsigned_abs()));
                }
            }
            let (before, after) = (run_auction(&snapshot).unwrap(), run_auction(&minted).unwrap());
            assert_eq!(without_local_prices(before), without_local_prices(after));
        });
    }
}

#[test]
fn i08_more_supply_never_raises_the_price_and_a_higher_rate_never_lowers_it() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |rng, snapshot| {
            let snapshot = one_exact_type(rng, snapshot);
            let price = |snapshot: &Snapshot| run_auction(snapshot).unwrap().chip_types[0].reference_price;
            let Some(before) = price(&snapshot) else { return };
            let mut more = snapshot.clone();
            more.chip_types[0].shared.0 += rng.random_range(1..5);
            assert!(price(&more).unwrap() <= before);
            if !snapshot.teams.is_empty() {
                let mut richer = snapshot.clone();
                let team = rng.random_range(0..richer.teams.len());
                richer.teams[team].balance.0 += rng.random_range(1..=50_000_000);
                assert!(price(&richer).unwrap() >= before);
            }
        });
    }
}

#[test]
fn i09_permutation_changes_nothing_and_replay_is_byte_identical() {
    for scale in [Scale::Ticks, Scale::Credits] {
        each_market(MARKETS, scale, |rng, snapshot| {
            let outcome = run_auction(&snapshot).unwrap().canonical_json();
            assert_eq!(outcome, run_auction(&snapshot).unwrap().canonical_json());
            let mut shuffled = snapshot.clone();
            shuffled.chip_types.shuffle(rng);
            shuffled.pools.shuffle(rng);
            shuffled.teams.shuffle(rng);
            shuffled.bids.shuffle(rng);
            for pool in &mut shuffled.pools {
                pool.owned.shuffle(rng);
                pool.last_prices.shuffle(rng);
            }
            assert_eq!(snapshot.canonical_json(), shuffled.canonical_json());
            assert_eq!(snapshot.sha256_hex(), shuffled.sha256_hex());
            assert_eq!(outcome, run_auction(&shuffled).unwrap().canonical_json());
        });
    }
}
