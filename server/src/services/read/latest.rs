//! Everything about the cycle in force that more than one view shows.

use std::sync::Arc;

use common::api::{ChipTypeRow, Occupancy};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use common::names::Names;
use market::Previewer;
use market::snapshot::Lending;
use tokio::sync::OnceCell;

use crate::error::AppError;
use crate::services::live::{Cleared, LiveState};
use crate::store::entities::{Organisation, Setup, Team};
use crate::store::finance::rates::Rate;
use crate::store::results::{self, ChipTypePrice, PoolPrice};
use crate::store::{Tx, history};

/// Length of a step of the day's line in seconds.
const LINE_STEP_SECONDS: u32 = 900;

const DAY_SECONDS: i64 = 86_400;

/// The cycle in force.
pub(in crate::services) struct Latest {
    /// Its number; 0 before the first.
    pub(in crate::services) number: u64,
    /// Names and settings.
    pub(in crate::services) setup: Setup,
    /// What pages call its pools, teams and chip types.
    pub(super) names: Arc<Names>,
    /// Inputs and outcome; absent before the first cycle.
    pub(in crate::services) cleared: Option<Arc<Cleared>>,
    /// The pools' prices.
    pub(in crate::services) pool_prices: Vec<PoolPrice>,
    /// One row per chip type on the market, without local prices.
    rows: Vec<ChipTypeRow>,
    /// The same cycle with the engine's own tables, made when a page first asks for them.
    pub(super) previewer: OnceCell<Arc<Previewer>>,
}

impl Latest {
    /// Whether nothing newer is in force. Before the first cycle a changed setup shows at once, so nothing is kept.
    pub(super) const fn is_of(&self, state: &LiveState) -> bool {
        self.number == state.clock.cycle && self.number > 0
    }

    pub(super) async fn load(tx: &mut Tx, state: &LiveState) -> Result<Self, AppError> {
        let number = state.clock.cycle;
        if number == 0 {
            let setup = Setup::newest(tx).await?.unwrap_or_else(empty_setup);
            return Ok(Self {
                number,
                names: Arc::new(names(&setup)),
                setup,
                cleared: None,
                pool_prices: Vec::new(),
                rows: Vec::new(),
                previewer: OnceCell::new(),
            });
        }
        let setup = Setup::in_cycle(tx, number).await?.unwrap_or_else(empty_setup);
        let prices = results::prices(tx, number, number, None).await?;
        let cleared_at = state.clock.cleared_at;
        let hour_ago = prices_at(tx, cleared_at.plus_seconds(-3_600)).await?;
        let day_ago = prices_at(tx, cleared_at.plus_seconds(-DAY_SECONDS)).await?;
        let mut rows = Vec::with_capacity(setup.chip_types.len());
        for chip_type in &setup.chip_types {
            let now = prices.iter().find(|row| row.chip_type == chip_type.id);
            if now.is_none() && chip_type.retired {
                continue;
            }
            rows.push(ChipTypeRow {
                chip_type: chip_type.id.clone(),
                name: chip_type.name.clone(),
                reference_price: now.and_then(|row| row.reference_price),
                local_price: None,
                reference_price_1h_ago: reference_price(&hour_ago, &chip_type.id),
                reference_price_24h_ago: reference_price(&day_ago, &chip_type.id),
                last_24h: day_line(tx, &chip_type.id, cleared_at).await?,
                occupancy: now.map_or_else(Occupancy::default, occupancy),
                asked: now.map_or(Chips(0), |row| row.asked),
                retired: chip_type.retired,
            });
        }
        let pool_prices = results::pool_prices_in(tx, number).await?;
        Ok(Self {
            number,
            names: Arc::new(names(&setup)),
            setup,
            cleared: state.cleared.clone(),
            pool_prices,
            rows,
            previewer: OnceCell::new(),
        })
    }

    /// One row per chip type on the market; with a pool, with what its teams pay.
    pub(in crate::services) fn rows(&self, pool: Option<&PoolId>) -> Vec<ChipTypeRow> {
        let mut rows = self.rows.clone();
        if let Some(pool) = pool {
            for row in &mut rows {
                row.local_price = self.pool_price(pool, &row.chip_type).and_then(|price| price.local_price);
            }
        }
        rows
    }

    pub(in crate::services) fn pool_price(
        &self,
        pool: &PoolId,
        chip_type: &ChipTypeId,
    ) -> Option<&PoolPrice> {
        self.pool_prices.iter().find(|price| price.pool == *pool && price.chip_type == *chip_type)
    }

    /// A team of the cycle in force.
    pub(in crate::services) fn team(&self, id: &TeamId) -> Option<&Team> {
        self.setup.teams.binary_search_by(|team| team.id.cmp(id)).ok().map(|at| &self.setup.teams[at])
    }

    /// Most chips of a type that a pool could hold: its own, the shared ones, and what others lend when all of theirs are
    /// idle. Absent where there is no such chip type in the cycle in force.
    pub(in crate::services) fn most_chips(&self, pool: &PoolId, chip_type: &ChipTypeId) -> Option<Reach> {
        let row = self.setup.chip_types.iter().find(|row| row.id == *chip_type)?;
        let mut reach = Reach { owned: Chips(0), others: row.shared };
        for owned in self.setup.owned.iter().filter(|owned| owned.chip_type == *chip_type) {
            if owned.pool == *pool {
                reach.owned = owned.chips;
            } else {
                let lending = self.setup.pools.iter().find(|other| other.id == owned.pool);
                reach.others.0 += match lending.map(|other| other.lending) {
                    Some(Lending::All) => owned.chips.0,
                    Some(Lending::AtMost(most)) => owned.chips.0.min(most.0),
                    Some(Lending::None) | None => 0,
                };
            }
        }
        Some(reach)
    }

    /// What a local credit of a pool is worth.
    pub(in crate::services) fn rate_of(&self, pool: &PoolId) -> Rate {
        let weight = self.setup.pools.iter().find(|row| row.id == *pool).map(|row| row.weight);
        let teams = self.setup.teams.iter().filter(|team| team.pool == *pool);
        let income = teams.fold(0_i64, |sum, team| sum.saturating_add(team.income.0));
        Rate::new(weight.unwrap_or_default(), MicroCredits(income))
    }

    /// What a chip-hour of a type costs outside the market, in local credits of a pool; absent where nobody said, or where
    /// the pool's credits are worth nothing.
    pub(in crate::services) fn list_price(&self, pool: &PoolId, chip_type: &ChipTypeId) -> Option<Price> {
        let global = self.setup.chip_types.iter().find(|row| row.id == *chip_type)?.list_price?;
        let rate = self.rate_of(pool);
        rate.is_defined().then(|| Price(rate.to_local(global.0.cast_signed()).cast_unsigned()))
    }

    /// Whether a chip type takes no new bids any more.
    pub(in crate::services) fn is_retired(&self, chip_type: &ChipTypeId) -> bool {
        self.setup.chip_types.iter().any(|row| row.retired && row.id == *chip_type)
    }

    /// Refuses an id that is none.
    pub(super) fn check_pool(&self, pool: Option<&PoolId>) -> Result<(), AppError> {
        match pool {
            Some(id) if !self.setup.pools.iter().any(|pool| pool.id == *id) => {
                Err(AppError::not_found("pool", id))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an id that is none.
    pub(super) fn check_chip_type(&self, chip_type: &ChipTypeId) -> Result<(), AppError> {
        if self.setup.chip_types.iter().any(|known| known.id == *chip_type) {
            return Ok(());
        }
        Err(AppError::not_found("chip type", chip_type))
    }
}

/// The chips of a type that a pool could hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::services) struct Reach {
    /// Its own.
    pub(in crate::services) owned: Chips,
    /// Shared ones, and others' that may be lent.
    pub(in crate::services) others: Chips,
}

impl Reach {
    /// All of them.
    pub(in crate::services) const fn most(self) -> Chips {
        Chips(self.owned.0.saturating_add(self.others.0))
    }
}

/// What a setup calls its pools, teams and chip types.
fn names(setup: &Setup) -> Names {
    Names::new(
        setup.pools.iter().map(|pool| (pool.id.clone(), pool.name.clone())),
        setup.teams.iter().map(|team| (team.id.clone(), team.name.clone())),
        setup.chip_types.iter().map(|chip_type| (chip_type.id.clone(), chip_type.name.clone())),
    )
}

/// What is shown before anybody set up an organisation.
fn empty_setup() -> Setup {
    Setup {
        organisation: Organisation { name: "No organisation yet".to_owned(), ..Organisation::default() },
        chip_types: Vec::new(),
        pools: Vec::new(),
        owned: Vec::new(),
        teams: Vec::new(),
    }
}

/// What the chips of one row do.
pub(super) fn occupancy(row: &ChipTypePrice) -> Occupancy {
    let (supply, paid, opportunistic) = (row.supply.0, row.paid.0, row.opportunistic.0);
    Occupancy {
        supply: row.supply,
        paid: row.paid,
        opportunistic: row.opportunistic,
        idle: Chips(supply.saturating_sub(paid).saturating_sub(opportunistic)),
    }
}

async fn prices_at(tx: &mut Tx, at: Instant) -> Result<Vec<ChipTypePrice>, AppError> {
    match results::cycle_at(tx, at).await? {
        Some(cycle) => results::prices(tx, cycle.number, cycle.number, None).await,
        None => Ok(Vec::new()),
    }
}

fn reference_price(rows: &[ChipTypePrice], chip_type: &ChipTypeId) -> Option<Price> {
    rows.iter().find(|row| row.chip_type == *chip_type)?.reference_price
}

/// Reference prices of the 24 hours up to the cycle in force, evenly spaced, oldest first.
async fn day_line(
    tx: &mut Tx,
    chip_type: &ChipTypeId,
    cleared_at: Instant,
) -> Result<Vec<Option<Price>>, AppError> {
    let to = cleared_at.plus_seconds(1);
    let first = history::step_start(to.plus_seconds(-DAY_SECONDS), i64::from(LINE_STEP_SECONDS));
    let points = history::price_points(tx, chip_type, None, first, to, LINE_STEP_SECONDS).await?;
    let mut points = points.into_iter().peekable();
    let mut line = Vec::new();
    let mut at = first;
    while at < to {
        let point = points.next_if(|point| point.at <= at);
        line.push(point.and_then(|point| point.reference_price));
        at = at.plus_seconds(i64::from(LINE_STEP_SECONDS));
    }
    Ok(line)
}
