//! Invariant 12: small markets cleared again by trying every tick and every way to divide the shared chips. Written
//! from the rules, on ids and maps, without anything of the engine but its input and output.

use std::collections::BTreeMap;

use common::ids::ChipTypeId;
use market::{Outcome, Snapshot, run_auction};
use sha2::{Digest, Sha256};

use crate::random::{Scale, each_market};

/// A team's bids on one type as `(limit, chips)` in ticks, and its spending rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    pub(crate) team: String,
    rate: u64,
    pub(crate) bids: Vec<(u64, u64)>,
}

impl Asker {
    fn asks(&self, price: u64) -> u64 {
        let chips = self.bids.iter().filter(|(limit, _)| *limit >= price).map(|(_, chips)| chips).sum();
        self.rate.checked_div(price).map_or(chips, |affordable| chips.min(affordable))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Side {
    pool: String,
    owned: u64,
    pub(crate) askers: Vec<Asker>,
}

impl Side {
    pub(crate) fn asks(&self, price: u64) -> u64 {
        self.askers.iter().map(|asker| asker.asks(price)).sum()
    }

    /// Rule 4.3: what each team gets of `total` chips. Prices may be real ones here, so the first tick is bisected.
    pub(crate) fn shares(&self, cycle: u64, chip_type: &str, total: u64) -> Vec<u64> {
        let (mut below, mut first) = (0, 1 << 60);
        if self.asks(0) <= total {
            return self.askers.iter().map(|asker| asker.asks(0)).collect();
        }
        while first - below > 1 {
            let middle = below + (first - below) / 2;
            if self.asks(middle) <= total { first = middle } else { below = middle }
        }
        let mut quotas: Vec<u64> = self.askers.iter().map(|asker| asker.asks(first)).collect();
        let claim = |asker: &Asker| (asker.team.clone(), asker.asks(below) - asker.asks(first));
        let claims: Vec<(String, u64)> = self.askers.iter().map(claim).collect();
        let left = total - quotas.iter().sum::<u64>();
        let extra = tie(cycle, chip_type, "team", &claims, left);
        quotas.iter_mut().zip(extra).for_each(|(quota, extra)| *quota += extra);
        quotas
    }

    /// Rule 4.1, tick by tick.
    fn buys(&self, reference: u64) -> u64 {
        if reference == 0 || self.asks(0) <= self.owned {
            return self.asks(0).saturating_sub(self.owned);
        }
        if self.owned == 0 {
            return self.asks(reference);
        }
        let enough = |p: u64| {
            let asked = self.asks(p);
            asked <= self.owned || p * asked >= reference * (asked - self.owned)
        };
        let first = (1..=reference).find(|p| enough(*p)).unwrap();
        let part = self.owned * reference / (reference - (first - 1));
        let holds = self.asks(first).max(part.min(self.asks(first - 1)));
        holds.saturating_sub(self.owned)
    }
}

fn rank(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Rule 4.4 as it reads.
fn tie(cycle: u64, chip_type: &str, level: &str, claims: &[(String, u64)], left: u64) -> Vec<u64> {
    let sum: u64 = claims.iter().map(|claim| claim.1).sum();
    let mut got: Vec<u64> =
        claims.iter().map(|claim| (left * claim.1).checked_div(sum).unwrap_or(0)).collect();
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|i| rank(&format!("{cycle}|{chip_type}|{level}|{}", claims[*i].0)));
    let mut rest = left - got.iter().sum::<u64>();
    for i in order {
        if rest > 0 && got[i] < claims[i].1 {
            got[i] += 1;
            rest -= 1;
        }
    }
    got
}

/// All ways to give each pool between `low` and `high` chips, `total` in all.
fn divisions(low: &[u64], high: &[u64], total: u64) -> Vec<Vec<u64>> {
    let Some((first, rest)) = low.split_first() else {
        return if total == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    let mut all = Vec::new();
    for chips in *first..=high[0].min(total) {
        for mut tail in divisions(rest, &high[1..], total - chips) {
            tail.insert(0, chips);
            all.push(tail);
        }
    }
    all
}

/// What the engine said teams bid for one chip type, at the rates it reported.
pub(crate) fn sides(snapshot: &Snapshot, outcome: &Outcome, chip_type: &ChipTypeId) -> Vec<Side> {
    let mut sides = Vec::new();
    for pool in &snapshot.pools {
        let incomes: i64 =
            snapshot.teams.iter().filter(|team| team.pool == pool.id).map(|team| team.income.0).sum();
        let (weight, incomes) = (pool.weight.0.unsigned_abs(), incomes.unsigned_abs());
        let mut askers: BTreeMap<String, Asker> = BTreeMap::new();
        for bid in &snapshot.bids {
            let team = snapshot.teams.iter().find(|team| team.id == bid.team).unwrap();
            let said = outcome.bids.iter().find(|said| said.id == bid.id).unwrap();
            if team.pool != pool.id || said.chip_type.as_ref() != Some(chip_type) {
                continue;
            }
            let rates = &outcome.teams.iter().find(|said| said.id == team.id).unwrap().markets;
            let rate = rates.iter().find(|market| market.chip_type == *chip_type).unwrap().rate;
            let limit = match bid.limit {
                None => u64::MAX,
                Some(_) if incomes == 0 => 0,
                Some(limit) => limit.0 * weight / incomes,
            };
            let chosen =
                bid.alternatives.iter().find(|alternative| alternative.chip_type == *chip_type).unwrap();
            let asker = askers.entry(team.id.to_string()).or_default();
            asker.team = team.id.to_string();
            asker.rate = rate.0.unsigned_abs();
            asker.bids.push((limit, chosen.chips.0));
        }
        let owned =
            pool.owned.iter().filter(|owned| owned.chip_type == *chip_type).map(|owned| owned.chips.0).sum();
        let askers: Vec<Asker> = askers.into_values().collect();
        if owned > 0 || !askers.is_empty() {
            sides.push(Side { pool: pool.id.to_string(), owned, askers });
        }
    }
    sides.sort_by(|a, b| a.pool.cmp(&b.pool));
    sides
}

/// `p*` and `z_k` by trying every tick and every division.
fn reference(
    snapshot: &Snapshot,
    sides: &[Side],
    chip_type: &market::snapshot::ChipType,
) -> (Option<u64>, Vec<u64>) {
    let lent: u64 = sides
        .iter()
        .map(|side| {
            let idle = side.owned.saturating_sub(side.asks(0));
            match snapshot.pools.iter().find(|pool| pool.id.as_str() == side.pool).unwrap().lending {
                market::snapshot::Lending::All => idle,
                market::snapshot::Lending::None => 0,
                market::snapshot::Lending::AtMost(most) => idle.min(most.0),
            }
        })
        .sum();
    let shared = chip_type.shared.0 + lent;
    let buys = |p: u64| -> Vec<u64> { sides.iter().map(|side| side.buys(p)).collect() };
    if shared == 0 || sides.iter().all(|side| side.asks(0) == 0) {
        return (None, vec![0; sides.len()]);
    }
    let first = (0..).find(|p| buys(*p).iter().sum::<u64>() <= shared).unwrap();
    let price = first.saturating_sub(1);
    if price < chip_type.reserve_price.0 {
        return (Some(chip_type.reserve_price.0), buys(chip_type.reserve_price.0));
    }
    if first == 0 {
        return (Some(0), buys(0));
    }
    let (low, high) = (buys(first), buys(price));
    let claims: Vec<(String, u64)> = sides
        .iter()
        .zip(low.iter().zip(&high))
        .map(|(side, (low, high))| (side.pool.clone(), high - low))
        .collect();
    let left = shared - low.iter().sum::<u64>();
    let extra = tie(snapshot.cycle, chip_type.id.as_str(), "pool", &claims, left);
    let given: Vec<u64> = low.iter().zip(extra).map(|(low, extra)| low + extra).collect();
    // Of all divisions that a price between the two ticks allows, the tie rule names exactly this one.
    assert!(divisions(&low, &high, shared).contains(&given));
    (Some(price), given)
}

fn check(snapshot: &Snapshot) {
    let outcome = run_auction(snapshot).unwrap();
    for (chip_type, said) in snapshot.chip_types.iter().zip(&outcome.chip_types) {
        let sides = sides(snapshot, &outcome, &chip_type.id);
        let nobody = sides.iter().all(|side| side.asks(0) == 0);
        let (price, bought) = reference(snapshot, &sides, chip_type);
        assert_eq!(said.reference_price.map(|price| price.0), price, "reference price of {}", chip_type.id);
        assert_eq!(said.pools.iter().map(|pool| pool.bought.0).collect::<Vec<_>>(), bought);
        for ((side, said), bought) in sides.iter().zip(&said.pools).zip(bought) {
            let total = side.owned + bought;
            let first = (0..).find(|p| side.asks(*p) <= total).unwrap();
            let own = if first == 0 { 0 } else { first - 1 };
            let expected = if nobody {
                None
            } else if side.owned == 0 {
                price
            } else if side.asks(0) <= side.owned {
                Some(0)
            } else {
                Some(own.max(price.map_or(0, |price| (price * bought).div_ceil(total))))
            };
            assert_eq!(said.price.map(|price| price.0), expected, "price in {}", side.pool);
            let quotas = side.shares(snapshot.cycle, chip_type.id.as_str(), total);
            for (asker, quota) in side.askers.iter().zip(quotas) {
                let team = outcome.teams.iter().find(|team| team.id.as_str() == asker.team).unwrap();
                let market = team.markets.iter().find(|market| market.chip_type == chip_type.id).unwrap();
                assert_eq!(market.quota.0, quota, "quota of {}", asker.team);
            }
        }
    }
}

#[test]
fn i12_small_markets_clear_as_exhaustive_search_does() {
    each_market(3_000, Scale::Ticks, |_, snapshot| check(&snapshot));
}
