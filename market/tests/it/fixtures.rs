//! Fixtures from the theory that need no rival policy (market.md 10).

use common::api::Reason;
use common::money::MicroCredits;
use market::fairness::{Ratio, TeamUse, fairness};
use market::{Snapshot, run_auction};

use crate::random::{Scale, each_market};
use crate::support::{any, bid, chip_type, credits, empty, pool, team};

/// Four agents, four rounds: in its own round an agent values the 1,000 chips at 1, otherwise at 0.01. Each bids its
/// whole budget, one credit a round saved up, in the round where it is worth most, and a hundredth of that in others.
#[test]
fn agents_who_value_rounds_differently_each_get_the_one_they_want() {
    let agents = 4;
    let mut value = vec![0_u64; agents];
    for round in 0..agents {
        let mut snapshot = empty(u64::try_from(round).unwrap());
        snapshot.chip_types.push(chip_type("H100", 1_000));
        for agent in 0..agents {
            let id = format!("a{agent}");
            snapshot.pools.push(pool(&id, "100.00", &[]));
            let mut member = team(&id, &id, "100.00");
            member.leverage_thousandths = 4_000;
            member.balance = credits("600.00");
            snapshot.teams.push(member);
            let limit = if agent == round { "0.40" } else { "0.004" };
            snapshot.bids.push(bid(&id, &id, any("H100", 1_000, 1), Some(limit)));
        }
        let outcome = run_auction(&snapshot).unwrap();
        for (agent, said) in outcome.bids.iter().enumerate() {
            // In hundredths of a chip of the most valuable round.
            value[agent] += said.chips.0 * if agent == round { 100 } else { 1 };
        }
    }
    assert_eq!(value, [100_000; 4]);
}

/// Everybody spends the whole budget: chips are `(1 / f_i) · (B_i / ΣB)` of the supply, up to whole chips.
#[test]
fn with_budgets_spent_chips_are_the_budget_share_over_the_price_ratio() {
    each_market(500, Scale::Credits, |_, snapshot| {
        let Some(spenders) = all_spend(snapshot) else { return };
        let outcome = run_auction(&spenders).unwrap();
        let price = |team: &market::snapshot::Team| {
            let pools = &outcome.chip_types[0].pools;
            pools.iter().find(|pool| pool.id == team.pool).unwrap().price.unwrap().0
        };
        let uses: Vec<TeamUse> = spenders
            .teams
            .iter()
            .zip(&outcome.teams)
            .map(|(team, said)| {
                let chips = said.markets[0].quota.0;
                TeamUse {
                    team: team.id.clone(),
                    chip_seconds: chips * 3_600,
                    paid: chips * price(team),
                    income: said.cap.0.unsigned_abs(),
                }
            })
            .collect();
        let said = fairness(&uses);
        for (fared, used) in said.teams.iter().zip(&uses) {
            let Some(f) = fared.price_ratio else { continue };
            // f · (chips share) is the share of what was paid, exactly.
            let chips = fared.chip_share.unwrap();
            let paid: u128 = uses.iter().map(|other| u128::from(other.paid)).sum();
            let product = Ratio::new(f.numerator * chips.numerator, f.denominator * chips.denominator);
            assert_eq!(product, Ratio::new(u128::from(used.paid), paid));
            // No team's price is further above the average than the guarantee says.
            let guarantee = said.guarantee.unwrap();
            assert!(!f.inverse().unwrap().is_below(guarantee));
        }
    });
}

/// The first chip type with every team wanting all of it, without limits or chips of its own.
fn all_spend(mut snapshot: Snapshot) -> Option<Snapshot> {
    snapshot.chip_types.truncate(1);
    snapshot.chip_types[0].shared.0 = 1_000;
    snapshot.bids.clear();
    for pool in &mut snapshot.pools {
        pool.owned.clear();
        pool.last_prices.clear();
    }
    for team in &mut snapshot.teams {
        team.balance = MicroCredits::ZERO;
        let id = team.id.as_str();
        snapshot.bids.push(bid(id, id, any("r0", 1_000, 1), None));
    }
    let outcome = run_auction(&snapshot).ok()?;
    let anyone = outcome.bids.iter().any(|bid| bid.reason == Reason::PartlyFilled);
    (anyone && snapshot.teams.len() > 1).then_some(snapshot)
}
