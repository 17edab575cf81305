//! The market between two cycles, in memory: what holds, what runs up, what the next cycle starts from.
//!
//! The state after cycle c is a function of what is stored up to c. The clearing loop keeps it from cycle to cycle; at
//! a start, and to verify, it is made again from the store.

use std::collections::{BTreeMap, BTreeSet};

use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::accounting::Meter;
use market::snapshot::{Bid, LastPrice, OwnedChips, Snapshot};

use super::allowances::Allowances;
use super::runway::Warned;
use crate::store::bids::{BidState, BidVersion};
use crate::store::cuts::CutPolicy;
use crate::store::entities::{ChipType, Organisation, OwnedSupply, Pool, Team};
use crate::store::history::seconds_between;
use crate::store::ledger::Book;
use crate::store::results::{BidResult, OverQuota, PoolPrice, TeamQuota};
use crate::store::usage::Usage;

/// The market between two cycles.
#[derive(Clone, Debug)]
pub(crate) struct MarketState {
    /// The last cleared cycle; 0 before the first.
    pub(crate) cycle: u64,
    /// When it began.
    pub(crate) starts_at: Instant,
    /// Of its outcome; zeros before the first.
    pub(crate) outcome_sha256: [u8; 32],
    pub(crate) organisation: Organisation,
    pub(crate) chip_types: BTreeMap<ChipTypeId, ChipType>,
    pub(crate) pools: BTreeMap<PoolId, PoolState>,
    pub(crate) teams: BTreeMap<TeamId, TeamState>,
    /// Bids that are not over, by their numbers.
    pub(crate) bids: BTreeMap<u64, Standing>,
    /// Pool prices in force.
    pub(crate) prices: BTreeMap<(PoolId, ChipTypeId), PoolPrice>,
    /// Quotas in force.
    pub(crate) quotas: BTreeMap<(TeamId, ChipTypeId), TeamQuota>,
    /// All chips of each type in the cycle in force.
    pub(crate) supplies: BTreeMap<ChipTypeId, u64>,
    pub(crate) cut_policy: CutPolicy,
    pub(crate) accounting: Accounting,
    pub(crate) allowances: Allowances,
    pub(crate) warned: Warned,
    pub(crate) book: Book,
}

/// A pool and what it owns.
#[derive(Clone, Debug)]
pub(crate) struct PoolState {
    pub(crate) pool: Pool,
    pub(crate) owned: BTreeMap<ChipTypeId, Chips>,
    /// The last total income of its teams that was not 0: what balances are measured against.
    pub(crate) base_income: MicroCredits,
}

/// A team and what runs up for it until the next accounting step.
#[derive(Clone, Debug)]
pub(crate) struct TeamState {
    pub(crate) team: Team,
    pub(crate) income: Meter,
    /// What the last accounting step left in the meter.
    pub(crate) income_carry: u64,
    pub(crate) charges: BTreeMap<ChipTypeId, Charge>,
}

/// What a team used of a chip type since the last accounting step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Charge {
    pub(crate) meter: Meter,
    pub(crate) chip_seconds: u64,
    /// Taken from the meter into pieces of usage, not yet booked in the ledger.
    pub(crate) amount: i64,
    /// Something ran up in the meter.
    pub(crate) is_owed: bool,
}

/// What is off the market.
struct Gone<'a> {
    chip_types: BTreeSet<&'a ChipTypeId>,
    teams: BTreeSet<&'a TeamId>,
    pools: BTreeSet<&'a PoolId>,
}

/// A bid that is not over, and what it has.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) version: BidVersion,
    /// The last stored result and the start of its cycle; absent before its first cycle.
    pub(crate) result: Option<(BidResult, Instant)>,
    /// Chip-seconds of its work done when the last cycle began.
    pub(crate) done_chip_seconds: u64,
}

/// What runs up between accounting steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounting {
    /// The last step; 0 before the first.
    pub(crate) step: u64,
    /// The start of the cycle that booked it.
    pub(crate) booked_at: Instant,
    /// Usage since then, by start, team and chip type.
    pub(crate) pieces: BTreeMap<(Instant, TeamId, ChipTypeId), Usage>,
    /// What ran up for each bid since then, by its number, in 1/3600 of a micro-credit.
    pub(crate) costs: BTreeMap<u64, u128>,
}

/// What is written between two cycles and takes effect with the next one, each list in the order it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) organisation: Vec<Organisation>,
    /// All that hold from then on, where one of them or the settings change.
    pub(crate) allowances: Option<Allowances>,
    pub(crate) chip_types: Vec<ChipType>,
    pub(crate) pools: Vec<Pool>,
    pub(crate) owned: Vec<OwnedSupply>,
    pub(crate) teams: Vec<Team>,
    pub(crate) cut_policies: Vec<CutPolicy>,
    pub(crate) bids: Vec<BidVersion>,
}

/// The chips that a bid uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InUse<'a> {
    /// Within its team's quota, at the price in force.
    Paid(&'a ChipTypeId, Chips),
    /// Over quota, at a price of its own.
    Over(&'a OverQuota),
    /// For nothing, as long as nobody wins them.
    Free(&'a ChipTypeId, Chips),
}

impl InUse<'_> {
    /// How many.
    pub(crate) const fn chips(self) -> Chips {
        match self {
            Self::Paid(_, chips) | Self::Free(_, chips) => chips,
            Self::Over(over) => over.chips,
        }
    }
}

impl TeamState {
    /// A team whose income meter begins with a carried remainder.
    pub(crate) fn new(team: Team, income_carry: u64) -> Self {
        Self { team, income: Meter::carrying(income_carry), income_carry, charges: BTreeMap::new() }
    }
}

impl Standing {
    /// A bid that was in no cycle yet.
    pub(crate) const fn new(version: BidVersion) -> Self {
        Self { version, result: None, done_chip_seconds: 0 }
    }

    /// Whether it uses chips over quota.
    pub(crate) fn is_over_quota(&self) -> bool {
        self.result.as_ref().is_some_and(|(result, _)| result.over.is_some())
    }

    /// The chips it uses now.
    pub(crate) fn in_use(&self) -> Option<InUse<'_>> {
        let (result, _) = self.result.as_ref()?;
        match (&result.chip_type, &result.opportunistic, &result.over) {
            (Some(chip_type), ..) if result.chips.0 > 0 => Some(InUse::Paid(chip_type, result.chips)),
            (.., Some(over)) => Some(InUse::Over(over)),
            (_, Some((chip_type, chips)), _) => Some(InUse::Free(chip_type, *chips)),
            _ => None,
        }
    }

    /// Chip-seconds of its estimate that are not done; absent without an estimate.
    pub(crate) fn work_left(&self) -> Option<u64> {
        self.version.terms.work_chip_seconds.map(|work| work.saturating_sub(self.done_chip_seconds))
    }

    /// Chip-seconds done at an instant by what is stored: those at the last result's start, and its chips since then.
    pub(crate) fn done_by_result(&self, at: Instant) -> u64 {
        let Some((result, since)) = &self.result else { return 0 };
        let chips = self.in_use().map_or(0, |used| used.chips().0);
        let seconds = seconds_between(*since, at).unsigned_abs();
        result.done_chip_seconds.saturating_add(chips.saturating_mul(seconds))
    }

    /// How the bid is over at an instant, where it is.
    fn end_at(&self, at: Instant) -> Option<BidState> {
        if self.work_left() == Some(0) {
            return Some(BidState::Served);
        }
        self.version.terms.not_after.filter(|end| *end <= at).map(|_| BidState::Expired)
    }
}

impl MarketState {
    /// A market in which nothing was written yet.
    pub(crate) fn empty(book: Book) -> Self {
        Self {
            cycle: 0,
            starts_at: Instant::default(),
            outcome_sha256: [0; 32],
            organisation: Organisation::default(),
            chip_types: BTreeMap::new(),
            pools: BTreeMap::new(),
            teams: BTreeMap::new(),
            bids: BTreeMap::new(),
            prices: BTreeMap::new(),
            quotas: BTreeMap::new(),
            supplies: BTreeMap::new(),
            cut_policy: CutPolicy::default(),
            accounting: Accounting::default(),
            allowances: Allowances::default(),
            warned: Warned::default(),
            book,
        }
    }

    /// The total income of a pool's teams, in its local credits per hour (`C_k`).
    pub(crate) fn total_income(&self, pool: &PoolId) -> MicroCredits {
        let teams = self.teams.values().filter(|state| state.team.pool == *pool);
        MicroCredits(teams.map(|state| state.team.income.0).fold(0, i64::saturating_add))
    }

    /// Takes changes into effect.
    pub(crate) fn apply(&mut self, changes: Changes) {
        if let Some(organisation) = changes.organisation.into_iter().next_back() {
            self.organisation = organisation;
        }
        if let Some(allowances) = changes.allowances {
            self.allowances = allowances;
        }
        for chip_type in changes.chip_types {
            self.chip_types.insert(chip_type.id.clone(), chip_type);
        }
        for pool in changes.pools {
            let (owned, base_income) = (BTreeMap::new(), MicroCredits::ZERO);
            let new = || PoolState { pool: pool.clone(), owned, base_income };
            self.pools.entry(pool.id.clone()).or_insert_with(new).pool = pool.clone();
        }
        for owned in changes.owned {
            if let Some(pool) = self.pools.get_mut(&owned.pool) {
                pool.owned.insert(owned.chip_type, owned.chips);
            }
        }
        if let Some(policy) = changes.cut_policies.into_iter().next_back() {
            self.cut_policy = policy;
        }
        for team in changes.teams {
            let new = || TeamState::new(team.clone(), 0);
            self.teams.entry(team.id.clone()).or_insert_with(new).team = team.clone();
        }
        for version in changes.bids {
            if version.state.is_end() {
                self.bids.remove(&version.number);
            } else {
                let number = version.number;
                let new = || Standing::new(version.clone());
                self.bids.entry(number).or_insert_with(new).version = version.clone();
            }
        }
    }

    /// Takes bids out whose work is done or whose window is over at `at`; the answer is their last versions.
    pub(crate) fn end_bids(&mut self, at: Instant) -> Vec<BidVersion> {
        let ended = |(number, standing): (&u64, &Standing)| standing.end_at(at).map(|state| (*number, state));
        let ends: Vec<(u64, BidState)> = self.bids.iter().filter_map(ended).collect();
        let mut end = |(number, state)| {
            let version = self.bids.remove(&number)?.version;
            Some(BidVersion { version: version.version + 1, state, ..version })
        };
        ends.into_iter().filter_map(&mut end).collect()
    }

    /// The inputs of a cycle in canonical order, and the numbers of its bids in the same order.
    pub(crate) fn snapshot(&self, cycle: u64, time: Instant) -> (Snapshot, Vec<u64>) {
        let mut live: Vec<&Standing> =
            self.bids.values().filter(|standing| standing.version.state == BidState::Live).collect();
        live.sort_by_key(|standing| {
            (&standing.version.team, standing.version.terms.position, &standing.version.id)
        });
        let numbers = live.iter().map(|standing| standing.version.number).collect();
        let gone = self.gone(&live);
        let on_market = self.chip_types.values().filter(|row| !gone.chip_types.contains(&row.id));
        let chip_types = on_market.map(|chip_type| market::snapshot::ChipType {
            id: chip_type.id.clone(),
            shared: chip_type.shared,
            reserve_price: chip_type.reserve_price,
        });
        let teams = self.teams.values().filter(|state| !gone.teams.contains(&state.team.id));
        let pools = self.pools.values().filter(|state| !gone.pools.contains(&state.pool.id));
        let snapshot = Snapshot {
            cycle,
            time,
            sustain_minutes: self.organisation.sustain_minutes,
            chip_types: chip_types.collect(),
            pools: pools.map(|pool| self.snapshot_pool(pool, &gone)).collect(),
            teams: teams.map(|state| self.snapshot_team(&state.team)).collect(),
            bids: live.into_iter().map(snapshot_bid).collect(),
        };
        (snapshot, numbers)
    }

    /// What is retired or archived and has no live bid any more: the last one takes it off the market.
    fn gone(&self, live: &[&Standing]) -> Gone<'_> {
        let mut gone = Gone {
            chip_types: self.chip_types.values().filter(|row| row.retired).map(|row| &row.id).collect(),
            teams: self
                .teams
                .values()
                .map(|state| &state.team)
                .filter(|team| team.archived)
                .map(|team| &team.id)
                .collect(),
            pools: self
                .pools
                .values()
                .map(|state| &state.pool)
                .filter(|pool| pool.archived)
                .map(|pool| &pool.id)
                .collect(),
        };
        for BidVersion { team, terms, .. } in live.iter().map(|standing| &standing.version) {
            gone.teams.remove(team);
            for alternative in &terms.alternatives {
                gone.chip_types.remove(&alternative.chip_type);
            }
        }
        for state in self.teams.values().filter(|state| !gone.teams.contains(&state.team.id)) {
            gone.pools.remove(&state.team.pool);
        }
        gone
    }

    fn snapshot_pool(&self, state: &PoolState, gone: &Gone<'_>) -> market::snapshot::Pool {
        // The engine takes no chips of a type that is not on the market: what pools own of one that has left it goes too.
        let is_there = |id: &ChipTypeId| self.chip_types.contains_key(id) && !gone.chip_types.contains(id);
        let owned = state.owned.iter().filter(|(id, chips)| chips.0 > 0 && is_there(id));
        let prices = self.chip_types.keys().filter(|id| is_there(id)).filter_map(|chip_type| {
            let price = self.prices.get(&(state.pool.id.clone(), chip_type.clone()))?.price?;
            Some(LastPrice { chip_type: chip_type.clone(), price })
        });
        market::snapshot::Pool {
            id: state.pool.id.clone(),
            weight: state.pool.weight,
            lending: state.pool.lending,
            owned: owned.map(|(id, chips)| OwnedChips { chip_type: id.clone(), chips: *chips }).collect(),
            last_prices: prices.collect(),
        }
    }

    /// A team whose hard allowance, or whose pool's, is used up enters with a leverage of 0, so that its spending cap is 0.
    fn snapshot_team(&self, team: &Team) -> market::snapshot::Team {
        let is_over = self.allowances.is_over(&team.id, &team.pool);
        market::snapshot::Team {
            id: team.id.clone(),
            pool: team.pool.clone(),
            income: team.income,
            balance: MicroCredits(self.book.team_balance(team.id.as_str())),
            leverage_thousandths: if is_over { 0 } else { team.leverage_thousandths },
        }
    }

    /// The local price in force of a chip type for a team; 0 where there is none.
    pub(crate) fn local_price(&self, team: &TeamId, chip_type: &ChipTypeId) -> Price {
        let Some(state) = self.teams.get(team) else { return Price::default() };
        let price = self.prices.get(&(state.team.pool.clone(), chip_type.clone()));
        price.and_then(|price| price.local_price).unwrap_or_default()
    }
}

fn snapshot_bid(standing: &Standing) -> Bid {
    let BidVersion { id, team, terms, .. } = &standing.version;
    Bid {
        id: id.clone(),
        team: team.clone(),
        position: terms.position,
        alternatives: terms.alternatives.clone(),
        limit: terms.limit,
        not_before: terms.not_before,
        not_after: terms.not_after,
        held: standing.result.as_ref().and_then(|(result, _)| result.chip_type.clone()),
    }
}
