//! Cycles: a list, and one computed again from its stored inputs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use common::api::{
    CycleBid, CycleChipType, CycleProof, CycleSummary, CycleTeam, CycleView, Occupancy, Page, TeamQuota,
};
use common::chips::Chips;
use common::ids::{BidId, TeamId};
use market::snapshot::Bid;
use market::{Explanation, Previewer};
use tokio::sync::Mutex;

use super::book::{cleared_again, pool_demands};
use super::latest::occupancy;
use super::{MarketReader, driven};
use crate::cycle::{self, Rebuilt};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::live::Cleared;
use crate::services::paging::{self, check_limit};
use crate::store::Tx;
use crate::store::bids::{self, BidName};
use crate::store::entities::{Setup, Team};
use crate::store::results::{self, ChipTypePrice, Cycle};

/// Most bids of a cycle's page.
const MAX_BIDS: usize = 500;

/// Opened cycles that are kept: several people tend to look at the same ones.
const KEPT: usize = 4;

/// The cycles opened last. What a past cycle was never changes, so nothing here gets old.
#[derive(Default)]
pub(super) struct CycleCache(Mutex<VecDeque<Arc<Opened>>>);

/// A cycle computed again.
struct Opened {
    cycle: Cycle,
    setup: Setup,
    cleared: Arc<Cleared>,
    previewer: Previewer,
    names: BTreeMap<BidId, BidName>,
    prices: Vec<ChipTypePrice>,
    proof: CycleProof,
}

impl MarketReader {
    /// One page of cycles, newest first.
    ///
    /// # Errors
    /// `Invalid`: the cursor is none that this list gave out, or the limit is out of its range. `Unavailable`: the
    /// database does not answer.
    pub async fn cycles(&self, cursor: Option<&str>, limit: u32) -> Result<Page<CycleSummary>, AppError> {
        check_limit(limit)?;
        let before = paging::read_before(cursor)?;
        let mut tx = self.store.read().await?;
        let cycles = results::cycles_before(&mut tx, before, limit + 1).await?;
        let Page { items: cycles, next_cursor } =
            paging::page(cycles, limit, |oldest| paging::before(oldest.number));
        let (Some(newest), Some(oldest)) = (cycles.first(), cycles.last()) else {
            return Ok(Page { items: Vec::new(), next_cursor: None });
        };
        let prices = results::prices(&mut tx, oldest.number, newest.number, None).await?;
        let mut ends_at = results::cycle(&mut tx, newest.number + 1).await?.map(|next| next.starts_at);
        let mut items = Vec::with_capacity(cycles.len());
        for cycle in &cycles {
            let of_cycle = prices.iter().filter(|row| row.cycle == cycle.number);
            items.push(CycleSummary { ends_at, ..summary(cycle, of_cycle) });
            ends_at = Some(cycle.starts_at);
        }
        Ok(Page { items, next_cursor })
    }

    /// One cycle, computed again from its stored inputs; with a team, only that team's bids. Bids of a team are shown to
    /// those who may read them, its means to those who may read its budget; nothing tells of the others.
    ///
    /// # Errors
    /// `NotFound`: there is no such cycle, or no such team in it, or not for the viewer. `Unavailable`: the database does
    /// not answer.
    pub async fn cycle(
        &self,
        viewer: Option<&Viewer>,
        number: u64,
        team: Option<TeamId>,
    ) -> Result<CycleView, AppError> {
        let opened = self.opened(number).await?;
        let sight = Sight::new(viewer, &opened.setup);
        if let Some(team) = team.as_ref().filter(|team| !sight.bids.contains(*team)) {
            return Err(AppError::not_found("team", team));
        }
        let mut tx = self.store.read().await?;
        let next = results::cycle(&mut tx, number + 1).await?;
        let (bids, bids_left_out) =
            opened.bids(|of| sight.bids.contains(of) && team.as_ref().is_none_or(|team| team == of));
        Ok(CycleView {
            summary: CycleSummary {
                ends_at: next.map(|next| next.starts_at),
                ..summary(&opened.cycle, opened.prices.iter())
            },
            proof: opened.proof.clone(),
            chip_types: opened.chip_types(),
            teams: opened.teams(&sight),
            bids,
            bids_left_out,
        })
    }

    async fn opened(&self, number: u64) -> Result<Arc<Opened>, AppError> {
        let (cache, store) = (Arc::clone(&self.opened), self.store.clone());
        driven(async move {
            let mut kept = cache.0.lock().await;
            if let Some(opened) = kept.iter().find(|opened| opened.cycle.number == number) {
                return Ok(Arc::clone(opened));
            }
            let mut tx = store.read().await?;
            let opened = Arc::new(Opened::load(&mut tx, number).await?);
            kept.truncate(KEPT - 1);
            kept.push_front(Arc::clone(&opened));
            Ok(opened)
        })
        .await
    }
}

/// The row of a cycle, without its end.
fn summary<'a>(cycle: &Cycle, prices: impl Iterator<Item = &'a ChipTypePrice>) -> CycleSummary {
    let mut all = Occupancy::default();
    for row in prices.map(occupancy) {
        all.supply.0 += row.supply.0;
        all.paid.0 += row.paid.0;
        all.opportunistic.0 += row.opportunistic.0;
        all.idle.0 += row.idle.0;
    }
    CycleSummary {
        cycle: cycle.number,
        starts_at: cycle.starts_at,
        ends_at: None,
        clear_micros: cycle.clear_micros,
        bids: cycle.bids,
        occupancy: all,
    }
}

impl Opened {
    async fn load(tx: &mut Tx, number: u64) -> Result<Self, AppError> {
        let missing = || AppError::not_found("cycle", number);
        results::cycle(tx, number).await?.ok_or_else(missing)?;
        let setup = Setup::in_cycle(tx, number).await?.ok_or_else(missing)?;
        let names = bids::names(tx, number).await?;
        let prices = results::prices(tx, number, number, None).await?;
        let Rebuilt { cycle, cleared, snapshot_matches, outcome_matches } =
            cycle::rebuild(tx, number).await?;
        let cleared = Arc::new(cleared);
        let previewer = cleared_again(Arc::clone(&cleared)).await?;
        let proof = CycleProof {
            snapshot_sha256: hex::encode(cycle.snapshot_sha256),
            outcome_sha256: hex::encode(cycle.outcome_sha256),
            snapshot_matches,
            outcome_matches,
        };
        Ok(Self { cycle, setup, cleared, previewer, names, prices, proof })
    }

    fn chip_types(&self) -> Vec<CycleChipType> {
        let outcomes = self.cleared.outcome.chip_types.iter();
        outcomes
            .map(|outcome| {
                let row = self.setup.chip_types.iter().find(|row| row.id == outcome.id);
                let price = self.prices.iter().find(|row| row.chip_type == outcome.id);
                CycleChipType {
                    chip_type: outcome.id.clone(),
                    reference_price: outcome.reference_price,
                    reserve_price: row.map(|row| row.reserve_price).unwrap_or_default(),
                    shared: row.map_or(Chips(0), |row| row.shared),
                    asked: outcome.asked,
                    occupancy: price.map_or_else(Occupancy::default, occupancy),
                    pools: pool_demands(outcome, &self.setup),
                }
            })
            .collect()
    }

    fn teams(&self, sight: &Sight<'_>) -> Vec<CycleTeam> {
        let Cleared { snapshot, outcome } = &*self.cleared;
        let inputs: BTreeMap<&TeamId, &market::snapshot::Team> =
            snapshot.teams.iter().map(|team| (&team.id, team)).collect();
        let names: BTreeMap<&TeamId, &str> =
            self.setup.teams.iter().map(|team| (&team.id, team.name.as_str())).collect();
        let team = |team: &market::outcome::TeamOutcome| {
            let input = inputs.get(&team.id)?;
            Some(CycleTeam {
                team: team.id.clone(),
                name: names.get(&team.id).map_or(team.id.as_str(), |name| name).to_owned(),
                balance: input.balance,
                income: input.income,
                cap: team.cap,
                quotas: team.markets.iter().map(quota).collect(),
                shows_bids: sight.bids.contains(&team.id),
            })
        };
        outcome.teams.iter().filter(|team| sight.budgets.contains(&team.id)).filter_map(team).collect()
    }

    /// At most [`MAX_BIDS`] bids and how many more there are.
    fn bids(&self, visible: impl Fn(&TeamId) -> bool) -> (Vec<CycleBid>, u64) {
        let inputs: BTreeMap<&BidId, &Bid> =
            self.cleared.snapshot.bids.iter().map(|bid| (&bid.id, bid)).collect();
        let mut bids = Vec::new();
        let mut left_out = 0;
        let mut place = Place::default();
        let (market, clearing) = self.previewer.cleared();
        for explanation in clearing.explanations(market) {
            let Some(input) = inputs.get(&explanation.bid) else { continue };
            let place = place.next(&input.team);
            if !visible(&input.team) {
                continue;
            }
            if bids.len() == MAX_BIDS {
                left_out += 1;
            } else {
                bids.push(self.bid(explanation, input, place));
            }
        }
        (bids, left_out)
    }

    fn bid(&self, explanation: Explanation, input: &Bid, place: u64) -> CycleBid {
        // A bid that could choose nothing asks for its first alternative.
        let first = input.alternatives.first().map(|first| (first.chips, first.min_chips));
        let (asked, min_chips) = explanation.asked.or(first).unwrap_or_default();
        CycleBid {
            bid: input.id.clone(),
            name: self.names.get(&input.id).map(|name| name.name.clone()).unwrap_or_default(),
            team: input.team.clone(),
            place,
            chip_type: explanation.chip_type,
            asked,
            min_chips,
            chips: explanation.chips,
            limit: input.limit,
            local_price: explanation.price,
            reason: explanation.reason,
            explanation: explanation.text,
        }
    }
}

/// The teams of a cycle whose bids and whose means a viewer may read.
struct Sight<'a> {
    bids: BTreeSet<&'a TeamId>,
    budgets: BTreeSet<&'a TeamId>,
}

impl<'a> Sight<'a> {
    fn new(viewer: Option<&Viewer>, setup: &'a Setup) -> Self {
        let may = |action| {
            let can = |team: &&Team| {
                let object = Object::Team { team: &team.id, pool: &team.pool };
                viewer.is_some_and(|viewer| viewer.can(action, object))
            };
            setup.teams.iter().filter(can).map(|team| &team.id).collect()
        };
        Self { bids: may(Action::ReadBids), budgets: may(Action::ReadBudget) }
    }
}

/// Counts the places of each team's queue, from 1; bids come team by team.
#[derive(Default)]
struct Place {
    team: Option<TeamId>,
    place: u64,
}

impl Place {
    fn next(&mut self, team: &TeamId) -> u64 {
        if self.team.as_ref() != Some(team) {
            *self = Self { team: Some(team.clone()), place: 0 };
        }
        self.place += 1;
        self.place
    }
}

fn quota(market: &market::outcome::TeamMarket) -> TeamQuota {
    TeamQuota {
        chip_type: market.chip_type.clone(),
        asked: market.asked,
        quota: market.quota,
        used: market.used,
    }
}
