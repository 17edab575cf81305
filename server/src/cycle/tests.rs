//! Properties of accounting over thousands of small random markets, in memory.

use std::collections::BTreeMap;

use common::chips::Chips;
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Lending};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;

use super::state::{Changes, MarketState};
use crate::store::bids::{BidState, BidTerms, BidVersion};
use crate::store::entities::{ChipType, Organisation, OwnedSupply, Pool, Team};
use crate::store::ledger::{AccountKind, Book, Line, NewTransfer, TransferKind};

/// Random markets per property.
const MARKETS: u64 = 2_000;

/// 2026-11-30T00:00:00Z.
const START: Instant = Instant(1_795_996_800_000_000);

struct Market {
    seed: u64,
    random: ChaCha12Rng,
    state: MarketState,
    at: Instant,
    bids: u64,
}

impl Market {
    /// One or two chip types, two pools, three teams with a balance from 0 to some hours of income, some bids.
    fn new(seed: u64) -> Self {
        let (random, state) = (ChaCha12Rng::seed_from_u64(seed), MarketState::empty(Book::default()));
        let mut market = Self { seed, random, state, at: START, bids: 0 };
        let teams: Vec<Team> = (0..3).map(|team| market.team(team)).collect();
        for team in &teams {
            let amount = market.below(200) * 1_000_000;
            market.grant(team, amount.cast_signed());
        }
        let changes = Changes {
            organisation: vec![Organisation::default()],
            chip_types: vec![market.chip_type("A100"), market.chip_type("H100")],
            pools: vec![market.pool("p0"), market.pool("p1")],
            owned: vec![market.owned()],
            teams,
            bids: (0..6).map(|_| market.bid()).collect(),
            ..Changes::default()
        };
        market.clear(changes);
        market
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.random_range(0..end)
    }

    fn chip_type(&mut self, id: &str) -> ChipType {
        let shared = Chips(self.below(40));
        ChipType {
            id: id.parse().unwrap(),
            name: id.to_owned(),
            shared,
            reserve_price: Price(self.below(3) * 100_000),
            list_price: None,
            retired: false,
        }
    }

    fn pool(&mut self, id: &str) -> Pool {
        let weight = MicroCredits((1 + self.below(100_000_000)).cast_signed());
        Pool { id: id.parse().unwrap(), name: id.to_owned(), weight, lending: Lending::All, archived: false }
    }

    fn owned(&mut self) -> OwnedSupply {
        OwnedSupply {
            pool: "p0".parse().unwrap(),
            chip_type: "A100".parse().unwrap(),
            chips: Chips(self.below(12)),
        }
    }

    fn team(&mut self, number: u64) -> Team {
        Team {
            id: format!("t{number}").parse().unwrap(),
            pool: format!("p{}", number % 2).parse().unwrap(),
            name: format!("team {number}"),
            income: MicroCredits((1 + self.below(60_000_000)).cast_signed()),
            leverage_thousandths: u32::try_from(self.below(6_000)).unwrap(),
            archived: false,
        }
    }

    fn bid(&mut self) -> BidVersion {
        self.bids += 1;
        let chips = 1 + self.below(20);
        let (first, both) = (self.below(2), self.below(2) == 0);
        let mut types = vec!["A100", "H100"];
        types.rotate_left(usize::try_from(first).unwrap());
        types.truncate(if both { 2 } else { 1 });
        let alternative = |chip_type: &str| Alternative {
            chip_type: chip_type.parse().unwrap(),
            chips: Chips(chips),
            min_chips: Chips(1),
        };
        BidVersion {
            number: self.bids,
            id: format!("b{}", self.bids).parse().unwrap(),
            team: format!("t{}", self.below(3)).parse().unwrap(),
            version: 1,
            terms: BidTerms {
                name: "job".to_owned(),
                note: String::new(),
                position: self.below(4),
                alternatives: types.into_iter().map(alternative).collect(),
                limit: (self.below(2) == 0).then(|| Price(self.random.random_range(0..5_000_000))),
                not_before: None,
                not_after: None,
                work_chip_seconds: (self.below(2) == 0).then(|| self.random.random_range(1..100_000)),
            },
            state: BidState::Live,
        }
    }

    fn grant(&mut self, team: &Team, amount: i64) {
        if amount == 0 {
            return;
        }
        let issuance = self.state.book.account(AccountKind::Issuance, &team.pool, team.pool.as_str());
        let account = self.state.book.account(AccountKind::Team, &team.pool, team.id.as_str());
        let transfer = NewTransfer {
            kind: TransferKind::Mint,
            cycle: self.state.cycle + 1,
            step: None,
            pool: team.pool.clone(),
            reason: "start".to_owned(),
            key: team.id.to_string(),
            written_at: self.at,
        };
        self.state
            .book
            .post(transfer, vec![Line::plain(issuance, -amount), Line::plain(account, amount)])
            .unwrap();
    }

    /// Clears the next cycle, now and then after a gap of up to 100 minutes.
    fn clear(&mut self, changes: Changes) {
        let missed = if self.below(6) == 0 { self.below(100) } else { 0 };
        self.at = self.at.plus_seconds(60 * (1 + missed.cast_signed()));
        self.clear_at(changes);
    }

    fn clear_at(&mut self, changes: Changes) {
        let cycle = self.state.cycle + 1;
        let cleared = self.state.advance(cycle, self.at, changes);
        cleared.unwrap_or_else(|error| panic!("seed {}: cycle {cycle}: {error:?}", self.seed));
    }

    fn balances(&self) -> BTreeMap<String, i64> {
        let teams = self.state.teams.keys().map(|team| team.as_str().to_owned());
        teams.map(|team| (team.clone(), self.state.book.team_balance(&team))).collect()
    }
}

#[test]
fn invariant_10_balances_never_go_below_zero() {
    for seed in 0..MARKETS {
        let mut market = Market::new(seed);
        for _ in 0..12 {
            let bids = if market.below(2) == 0 { vec![market.bid()] } else { Vec::new() };
            market.clear(Changes { bids, ..Changes::default() });
            for (team, balance) in market.balances() {
                // The local price is rounded up, by less than one tick per chip: in two hours no more than so much.
                let rounding = 2 * (12 + 40 + 40);
                assert!(balance >= -rounding, "seed {seed}: team {team} has {}", MicroCredits(balance));
            }
        }
        assert_eq!(market.state.book.sum_of_balances(), 0, "seed {seed}");
    }
}

#[test]
fn invariant_11_a_supply_change_touches_no_balance_and_a_failed_cycle_books_nothing_twice() {
    for seed in 0..MARKETS {
        let mut market = Market::new(seed);
        market.clear(Changes::default());
        let mut other =
            Market { random: market.random.clone(), state: market.state.clone(), ..Market::new(seed) };
        market.at = market.at.plus_seconds(60);
        // The same cycle with another supply: whatever it books, it books the same.
        let owned = OwnedSupply { chips: Chips(market.below(1_000)), ..market.owned() };
        let chip_types = vec![market.chip_type("A100"), market.chip_type("H100")];
        market.clear_at(Changes { owned: vec![owned], chip_types, ..Changes::default() });
        other.at = market.at;
        other.clear_at(Changes::default());
        assert_eq!(market.balances(), other.balances(), "seed {seed}");
        assert_eq!(market.state.book.take_posted(), other.state.book.take_posted(), "seed {seed}");

        // A cycle that fails is dropped with its state; cleared later, income and charges of the gap are booked once.
        let mut failed = other.state.clone();
        failed.advance(failed.cycle + 1, other.at.plus_seconds(300), Changes::default()).unwrap();
        drop(failed);
        let (before, last) = (other.balances(), other.state.starts_at);
        other.at = last.plus_seconds(600);
        other.clear_at(Changes::default());
        let seconds = (other.at.0 - other.state.accounting.booked_at.0) / 1_000_000;
        assert_eq!(seconds, 0, "seed {seed}: the step is booked up to now");
        let minted: i64 = other.state.book.take_posted().iter().map(minted_by).sum();
        let income: i64 = other.state.teams.values().map(|state| state.team.income.0).sum();
        let (least, most) = (income * 600 / 3_600, income * 900 / 3_600 + 6);
        assert!((least - 6..=most).contains(&minted), "seed {seed}: {minted} minted for 600 s, {before:?}");
    }
}

#[test]
fn no_balance_exceeds_its_cap_after_a_step_and_what_lapses_goes_back_to_the_issuance() {
    for seed in 0..MARKETS {
        let mut market = Market::new(seed);
        let hours = 1 + u32::try_from(market.below(4)).unwrap();
        let capped = Organisation { balance_cap_hours: Some(hours), ..Organisation::default() };
        market.clear(Changes { organisation: vec![capped], ..Changes::default() });
        for _ in 0..8 {
            let bids = if market.below(2) == 0 { vec![market.bid()] } else { Vec::new() };
            market.clear(Changes { bids, ..Changes::default() });
            if market.state.accounting.booked_at != market.at {
                continue;
            }
            for (team, balance) in market.balances() {
                let income = market.state.teams[team.as_str()].team.income.0;
                let cap = income * i64::from(hours);
                assert!(balance <= cap, "seed {seed}: team {team} has {balance}, more than {cap}");
            }
        }
        assert_eq!(market.state.book.sum_of_balances(), 0, "seed {seed}");
    }
}

#[test]
fn a_chip_type_that_is_gone_takes_what_pools_own_of_it_along() {
    for seed in 0..MARKETS / 10 {
        let mut market = Market::new(seed);
        market.clear(Changes::default());
        market.state.chip_types.remove("A100");
        for _ in 0..3 {
            let bids = vec![market.bid()];
            market.clear(Changes { bids, ..Changes::default() });
            let (snapshot, _) = market.state.snapshot(market.state.cycle, market.at);
            assert!(snapshot.pools.iter().all(|pool| pool.owned.is_empty()), "seed {seed}");
            let a100 = "A100".parse().unwrap();
            let quotas = market.state.quotas.iter().filter(|((_, chip_type), _)| *chip_type == a100);
            assert!(quotas.into_iter().all(|(_, quota)| quota.quota.0 == 0), "seed {seed}: nobody has any");
        }
    }
}

fn minted_by(posted: &crate::store::ledger::StoredTransfer) -> i64 {
    match posted.transfer.kind {
        TransferKind::Mint => posted.entries.iter().map(|entry| entry.line.amount.max(0)).sum(),
        _ => 0,
    }
}
