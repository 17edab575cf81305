//! Makes the state of the market again from the store.
//!
//! The state is read as it was at a cycle that booked an accounting step, when nothing runs up; what later cycles stored
//! is followed from there. The engine does not run: what holds is what is stored, also when a newer engine would decide
//! otherwise. `verify` is what proves it.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::MicroCredits;
use market::accounting::Meter;

use super::allowances;
use super::state::{Charge, MarketState, PoolState, Standing, TeamState};
use super::stored::{self, StoredCycle};
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::bids;
use crate::store::entities::{self, Setup};
use crate::store::ledger::{self, Book};
use crate::store::results::{self, Cycle, Rows};

impl MarketState {
    /// The state before the first cycle, with the ledger's accounts.
    pub(crate) async fn before_first(tx: &mut Tx) -> Result<Self, AppError> {
        Ok(Self::empty(Book::load(tx, 0).await?))
    }

    /// The state after `cycle`: read at the last accounting step up to it, and followed from there.
    ///
    /// # Errors
    /// `Inconsistent`: a cycle is missing or the ledger's chain is broken. `NotFound`: rows of the cycles needed are gone
    /// with the retention.
    pub(crate) async fn after(tx: &mut Tx, cycle: u64) -> Result<Self, AppError> {
        const ANCHOR: &str = "SELECT MAX(number) FROM cycle WHERE number <= $1 AND step IS NOT NULL";
        let row = tx.row(ANCHOR, crate::store::db::values![cycle]).await?;
        let anchor = row.map_or(Ok(None), |mut row| row.optional_unsigned())?;
        let anchor = match anchor {
            Some(number) => results::cycle(tx, number).await?,
            None => None,
        };
        let mut state = match anchor {
            Some(anchor) => Self::at_step(tx, &anchor).await?,
            None => Self::before_first(tx).await?,
        };
        if state.cycle < cycle {
            let mut rows = results::rows_between(tx, state.cycle + 1, cycle).await?;
            let next_transfer = state.book.next_transfer();
            for stored in stored::load(tx, state.cycle + 1, cycle, next_transfer).await? {
                let rows = rows.remove(&stored.cycle.number).unwrap_or_default();
                state.follow(stored, rows)?;
            }
        }
        Ok(state)
    }

    /// Takes over a stored cycle that booked no accounting step.
    fn follow(&mut self, stored: StoredCycle, rows: Rows) -> Result<(), AppError> {
        for transfer in stored.booked_by_people() {
            self.book.adopt(transfer)?;
        }
        let at = stored.cycle.starts_at;
        self.elapse(at)?;
        self.apply(stored.changes);
        // Its alerts are stored already.
        self.close_allowances(stored.cycle.number, at)?;
        for ended in stored.ended {
            self.bids.remove(&ended.number);
        }
        self.prices
            .extend(rows.pool_prices.into_iter().map(|row| ((row.pool.clone(), row.chip_type.clone()), row)));
        self.quotas
            .extend(rows.quotas.into_iter().map(|row| ((row.team.clone(), row.chip_type.clone()), row)));
        self.supplies = rows.prices.iter().map(|row| (row.chip_type.clone(), row.supply.0)).collect();
        for row in rows.bids {
            if let Some(standing) = self.bids.get_mut(&row.bid) {
                standing.result = Some((row, at));
            }
        }
        self.cycle = stored.cycle.number;
        self.starts_at = at;
        self.outcome_sha256 = stored.cycle.outcome_sha256;
        Ok(())
    }

    /// The state after a cycle that booked an accounting step, read from the store.
    async fn at_step(tx: &mut Tx, cycle: &Cycle) -> Result<Self, AppError> {
        let number = cycle.number;
        if results::first_detailed_cycle(tx).await?.is_some_and(|first| first > number) {
            return Err(AppError::new(
                ErrorKind::NotFound,
                format!(
                    "the rows of cycle {number} are gone with the retention; its inputs follow from the cycles before"
                ),
            ));
        }
        let Some(setup) = Setup::in_cycle(tx, number).await? else {
            return Err(AppError::new(
                ErrorKind::Inconsistent,
                format!("cycle {number} has no organisation"),
            ));
        };
        let mut state = Self::before_first(tx).await?;
        state.cycle = number;
        state.starts_at = cycle.starts_at;
        state.outcome_sha256 = cycle.outcome_sha256;
        state.accounting.step = cycle.step.unwrap_or_default();
        state.accounting.booked_at = cycle.starts_at;
        state.book = Book::load(tx, number).await?;
        state.take_setup(tx, setup).await?;
        state.allowances = allowances::load(tx, &state.organisation, number, number, cycle.starts_at).await?;
        // Its alerts are stored already.
        state.close_allowances(number, cycle.starts_at)?;
        for version in bids::in_cycle(tx, number).await? {
            state.bids.insert(version.number, Standing::new(version));
        }
        for (result, since) in results::bid_results_in(tx, number).await? {
            if let Some(standing) = state.bids.get_mut(&result.bid) {
                standing.result = Some((result, since));
                standing.done_chip_seconds = standing.done_by_result(cycle.starts_at);
            }
        }
        state.cut_policy = entities::in_cycle(tx, number).await?.pop().unwrap_or_default();
        let supplies = results::prices(tx, number, number, None).await?;
        state.supplies = supplies.into_iter().map(|row| (row.chip_type, row.supply.0)).collect();
        let prices = results::pool_prices_in(tx, number).await?;
        state.prices =
            prices.into_iter().map(|row| ((row.pool.clone(), row.chip_type.clone()), row)).collect();
        let quotas = results::quotas_in(tx, number).await?;
        state.quotas =
            quotas.into_iter().map(|row| ((row.team.clone(), row.chip_type.clone()), row)).collect();
        Ok(state)
    }

    async fn take_setup(&mut self, tx: &mut Tx, setup: Setup) -> Result<(), AppError> {
        let incomes = ledger::income_carries(tx, self.cycle).await?;
        let charges = ledger::charge_carries(tx, self.cycle).await?;
        self.organisation = setup.organisation;
        self.chip_types = setup.chip_types.into_iter().map(|row| (row.id.clone(), row)).collect();
        for team in setup.teams {
            let carry = incomes.get(team.id.as_str()).copied().unwrap_or(0);
            self.teams.insert(team.id.clone(), TeamState::new(team, carry));
        }
        for ((team, chip_type), carry) in charges {
            let (team, chip_type) = (parse::<TeamId>(&team)?, parse::<ChipTypeId>(&chip_type)?);
            if let Some(state) = self.teams.get_mut(&team) {
                state
                    .charges
                    .insert(chip_type, Charge { meter: Meter::carrying(carry), ..Charge::default() });
            }
        }
        for pool in setup.pools {
            let mut base_income = self.total_income(&pool.id);
            if base_income.0 == 0 {
                base_income = last_positive_income(tx, &pool.id, self.cycle).await?;
            }
            let id = pool.id.clone();
            self.pools.insert(id, PoolState { pool, owned: BTreeMap::new(), base_income });
        }
        for owned in setup.owned {
            if let Some(pool) = self.pools.get_mut(&owned.pool) {
                pool.owned.insert(owned.chip_type, owned.chips);
            }
        }
        Ok(())
    }
}

fn parse<T: std::str::FromStr<Err = common::ids::IdError>>(text: &str) -> Result<T, AppError> {
    text.parse().map_err(AppError::internal)
}

/// The last total income of a pool's teams that was not 0, up to `cycle`; 0 when there never was one.
async fn last_positive_income(tx: &mut Tx, pool: &PoolId, cycle: u64) -> Result<MicroCredits, AppError> {
    const TOTALS: &str = "SELECT CAST(COALESCE((SELECT SUM(t.income) FROM team_version t WHERE t.pool = $1 \
        AND t.effective_cycle <= e.cycle AND (t.superseded_cycle IS NULL OR t.superseded_cycle > e.cycle)), 0) AS BIGINT) \
        FROM (SELECT DISTINCT effective_cycle AS cycle FROM team_version WHERE pool = $1 AND effective_cycle <= $2) e \
        ORDER BY e.cycle DESC";
    for mut row in tx.rows(TOTALS, crate::store::db::values![pool.as_str(), cycle]).await? {
        let total = row.int()?;
        if total > 0 {
            return Ok(MicroCredits(total));
        }
    }
    Ok(MicroCredits::ZERO)
}
