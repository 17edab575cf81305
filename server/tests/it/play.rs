//! A seeded stretch of market life: bids come, change and go, supply, incomes and settings move, clearings are missed.

use common::chips::Chips;
use common::ids::BidId;
use common::instant::Instant;
use common::money::Price;
use market::snapshot::Alternative;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use server::clock::IdSource;
use server::cycle::Clearing;
use server::error::ErrorKind;
use server::services::bids::{self, NewBid};
use server::services::{ledger, organisation, supply};
use server::store::bids::BidTerms;
use server::store::entities::{Organisation, OwnedSupply};
use server::store::{Store, Tx};

use crate::fixture::{self, credits};

/// A player with its own random numbers.
pub(crate) struct Player {
    random: ChaCha12Rng,
    ids: IdSource,
    clearing: Clearing,
    placed: Vec<BidId>,
}

impl Player {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: ChaCha12Rng::seed_from_u64(seed),
            ids: IdSource::seeded(seed),
            clearing: Clearing::new(),
            placed: Vec::new(),
        }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.random_range(0..end)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Plays cycles from `from` on, one transaction for each write and each clearing; the answer is when it ended.
    pub(crate) async fn play(&mut self, store: &Store, from: Instant, cycles: u32) -> Instant {
        let mut at = from;
        for _ in 0..cycles {
            let missed = if self.one_in(15) { self.below(90).cast_signed() } else { 0 };
            at = at.plus_seconds(60 * (1 + missed));
            let now = at.plus_seconds(-20);
            for _ in 0..self.below(4) {
                let mut tx = store.write().await.expect("a transaction");
                self.write_something(&mut tx, now).await;
                tx.commit().await.expect("a commit");
            }
            let mut tx = store.write().await.expect("a transaction");
            self.clearing.clear(&mut tx, at).await.expect("the cycle clears");
            tx.commit().await.expect("a commit");
            if self.one_in(40) {
                // As after a restart.
                self.clearing = Clearing::new();
            }
        }
        at
    }

    async fn write_something(&mut self, tx: &mut Tx, now: Instant) {
        match self.below(20) {
            0 => {
                let id = "A100".parse().expect("an id");
                let chips = Chips(20 + self.below(40));
                supply::set_shared(tx, now, &id, chips).await.expect("shared supply");
            }
            1 => {
                let (pool, chip_type) = ("products".parse().expect("an id"), "H100".parse().expect("an id"));
                let chips = Chips(self.below(6));
                supply::set_owned(tx, now, &OwnedSupply { pool, chip_type, chips })
                    .await
                    .expect("owned supply");
            }
            2 => {
                let mut team = fixture::setup().teams.swap_remove(1);
                team.income = credits(10 + self.below(60).cast_signed());
                organisation::put_team(tx, now, &team).await.expect("a team");
            }
            3 => {
                let accounting_seconds = if self.one_in(2) { 300 } else { 420 };
                let balance_cap_hours = if self.one_in(2) { Some(2) } else { None };
                let settings =
                    Organisation { accounting_seconds, balance_cap_hours, ..fixture::setup().organisation };
                organisation::change_settings(tx, now, &settings).await.expect("settings");
            }
            4 => {
                let grant = ledger::Grant {
                    team: "ads".parse().expect("an id"),
                    amount: credits(5),
                    reason: "correction".to_owned(),
                    key: self.ids.new_id(now),
                };
                ledger::correct(tx, now, &grant).await.expect("a correction");
            }
            5..9 if !self.placed.is_empty() => self.change_a_bid(tx, now).await,
            _ => {
                let bid = self.new_bid(now);
                self.placed.push(bid.id.clone());
                bids::place(tx, now, bid).await.expect("a bid");
            }
        }
    }

    async fn change_a_bid(&mut self, tx: &mut Tx, now: Instant) {
        let place = usize::try_from(self.below(self.placed.len() as u64)).expect("an index");
        let id = self.placed[place].clone();
        let done = match self.below(4) {
            0 => bids::cancel(tx, now, &id).await.map(drop),
            1 => bids::set_paused(tx, now, &id, self.one_in(2)).await.map(drop),
            _ => {
                let terms = self.terms(now);
                bids::amend(tx, now, &id, None, terms).await.map(drop)
            }
        };
        match done {
            Ok(()) => {}
            // It ended meanwhile.
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}"),
        }
    }

    pub(crate) fn new_bid(&mut self, now: Instant) -> NewBid {
        let team = ["speech", "vision", "ads"][usize::try_from(self.below(3)).expect("an index")];
        let id = BidId::new(self.ids.new_id(now)).expect("an id");
        NewBid { id, team: team.parse().expect("an id"), terms: self.terms(now) }
    }

    fn terms(&mut self, now: Instant) -> BidTerms {
        let chips = 1 + self.below(24);
        let alternative = |chip_type: &str, chips, min_chips| Alternative {
            chip_type: chip_type.parse().expect("an id"),
            chips: Chips(chips),
            min_chips: Chips(min_chips),
        };
        let gang = if self.one_in(2) { chips } else { 1 };
        let mut alternatives = vec![alternative("A100", chips, gang)];
        if self.one_in(3) {
            alternatives.push(alternative("H100", 1 + chips / 4, 1));
        }
        BidTerms {
            name: format!("job {}", self.random.next_u32()),
            note: String::new(),
            position: self.below(5),
            alternatives,
            limit: if self.one_in(2) { Some(Price(self.below(4_000_000))) } else { None },
            not_before: None,
            not_after: if self.one_in(8) { Some(now.plus_seconds(3_600)) } else { None },
            work_chip_seconds: if self.one_in(3) { None } else { Some(1 + self.below(40_000)) },
        }
    }
}
