//! The accounting step: mints incomes, charges what was used, rebases balances when a pool's income changed, and lets
//! lapse what exceeds the cap on balances where there is one.

use std::collections::BTreeMap;

use common::ids::PoolId;
use common::instant::Instant;
use common::money::MicroCredits;
use market::accounting::rebased;

use super::state::MarketState;
use crate::error::AppError;
use crate::store::history::step_start;
use crate::store::ledger::{AccountKind, Line, NewTransfer, TransferKind};
use crate::store::usage::Usage;

/// What an accounting step booked besides transfers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Its number; absent when none was due.
    pub(crate) number: Option<u64>,
    /// Usage since the step before.
    pub(crate) pieces: Vec<Usage>,
    /// What each bid was charged since the step before, by its number, in 1/3600 of a micro-credit. The bids of a team
    /// and a chip type sum to the team's charge and what its remainder grew by.
    pub(crate) costs: BTreeMap<u64, u128>,
}

/// Where a transfer belongs.
struct Booking<'a> {
    pool: &'a PoolId,
    cycle: u64,
    step: u64,
    at: Instant,
}

impl MarketState {
    /// Books a step when one is due at `at`: at the first cycle, when an accounting interval ended since the last one,
    /// or when a pool's total income changed, so that old and new local credits never mix.
    pub(super) fn account(&mut self, cycle: u64, at: Instant) -> Result<Step, AppError> {
        let interval = i64::from(self.organisation.accounting_seconds.max(1));
        let due = step_start(at, interval) > self.accounting.booked_at || self.accounting.step == 0;
        let pools: Vec<PoolId> = self.pools.keys().cloned().collect();
        if !due && !pools.iter().any(|pool| self.income_changed(pool)) {
            return Ok(Step::default());
        }
        let step = self.accounting.step + 1;
        for pool in &pools {
            let booking = Booking { pool, cycle, step, at };
            self.book_income(&booking)?;
            self.book_charges(&booking)?;
            if self.income_changed(pool) {
                self.rebase(&booking)?;
            }
            self.lapse(&booking)?;
        }
        self.accounting.step = step;
        self.accounting.booked_at = at;
        let pieces = std::mem::take(&mut self.accounting.pieces).into_values().collect();
        let costs = std::mem::take(&mut self.accounting.costs);
        Ok(Step { number: Some(step), pieces, costs })
    }

    /// The pool's total income is another one than its balances are measured against.
    fn income_changed(&self, pool: &PoolId) -> bool {
        let total = self.total_income(pool);
        total.0 > 0 && self.pools.get(pool).is_some_and(|state| state.base_income != total)
    }

    /// Mints what the pool's teams earned since the last step and hands it to them.
    fn book_income(&mut self, booking: &Booking<'_>) -> Result<(), AppError> {
        let pool = booking.pool;
        let mut lines = Vec::new();
        for state in self.teams.values_mut().filter(|state| state.team.pool == *pool) {
            let amount = state.income.book().map_err(AppError::internal)?.0;
            let carry = state.income.carry();
            if amount > 0 || carry != state.income_carry {
                let account = self.book.account(AccountKind::Team, pool, state.team.id.as_str());
                lines.push(Line { account, amount, used: None, carry: Some(carry) });
                state.income_carry = carry;
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let total = sum(&lines, pool)?;
        let treasury = self.book.account(AccountKind::Treasury, pool, pool.as_str());
        let issuance = self.book.account(AccountKind::Issuance, pool, pool.as_str());
        let mint = vec![Line::plain(issuance, -total), Line::plain(treasury, total)];
        self.post(booking, TransferKind::Mint, "income of the pool's teams", mint)?;
        lines.insert(0, Line::plain(treasury, -total));
        self.post(booking, TransferKind::Income, "income since the last accounting step", lines)
    }

    /// Charges the pool's teams for what they used since the last step.
    fn book_charges(&mut self, booking: &Booking<'_>) -> Result<(), AppError> {
        let pool = booking.pool;
        let mut lines = Vec::new();
        for state in self.teams.values_mut().filter(|state| state.team.pool == *pool) {
            for (chip_type, charge) in &mut state.charges {
                let (amount, chip_seconds) = (charge.amount, charge.chip_seconds);
                (charge.amount, charge.chip_seconds) = (0, 0);
                if std::mem::take(&mut charge.is_owed) {
                    let account = self.book.account(AccountKind::Team, pool, state.team.id.as_str());
                    self.allowances.count_charge(&state.team.id, pool, amount);
                    let used = Some((chip_type.as_str().to_owned(), chip_seconds));
                    lines.push(Line { account, amount: -amount, used, carry: Some(charge.meter.carry()) });
                }
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let total = sum(&lines, pool)?;
        let revenue = self.book.account(AccountKind::Revenue, pool, pool.as_str());
        lines.push(Line::plain(revenue, -total));
        self.post(booking, TransferKind::Charge, "chips used since the last accounting step", lines)
    }

    /// Keeps the global value of the pool's balances: they follow the change of its total income.
    fn rebase(&mut self, booking: &Booking<'_>) -> Result<(), AppError> {
        let pool = booking.pool;
        let new = self.total_income(pool);
        let Some(state) = self.pools.get_mut(pool) else { return Ok(()) };
        let old = std::mem::replace(&mut state.base_income, new);
        if old.0 == 0 || !self.organisation.rebase_balances {
            return Ok(());
        }
        let mut lines = Vec::new();
        for state in self.teams.values().filter(|state| state.team.pool == *pool) {
            let balance = MicroCredits(self.book.team_balance(state.team.id.as_str()));
            let after = rebased(balance, old, new).map_err(AppError::internal)?;
            if after != balance {
                let account = self.book.account(AccountKind::Team, pool, state.team.id.as_str());
                lines.push(Line::plain(account, after.0 - balance.0));
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let total = sum(&lines, pool)?;
        let issuance = self.book.account(AccountKind::Issuance, pool, pool.as_str());
        lines.push(Line::plain(issuance, -total));
        let reason = format!("the pool's total income went from {old} to {new} credits per hour");
        self.post(booking, TransferKind::Rebase, &reason, lines)
    }

    /// Takes what exceeds the cap on balances out of the pool's currency. A team without an income lives on what it is
    /// granted, which never lapses.
    fn lapse(&mut self, booking: &Booking<'_>) -> Result<(), AppError> {
        let pool = booking.pool;
        let Some(hours) = self.organisation.balance_cap_hours else { return Ok(()) };
        let mut lines = Vec::new();
        for state in self.teams.values().filter(|state| state.team.pool == *pool && state.team.income.0 > 0) {
            let balance = self.book.team_balance(state.team.id.as_str());
            // A cap beyond the range of a balance caps nothing.
            let excess = balance.saturating_sub(state.team.income.0.saturating_mul(hours.into()));
            if excess > 0 {
                let account = self.book.account(AccountKind::Team, pool, state.team.id.as_str());
                lines.push(Line::plain(account, -excess));
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let total = sum(&lines, pool)?;
        let issuance = self.book.account(AccountKind::Issuance, pool, pool.as_str());
        lines.push(Line::plain(issuance, -total));
        self.post(booking, TransferKind::Lapse, &format!("balances above {hours} h of income"), lines)
    }

    fn post(
        &mut self,
        booking: &Booking<'_>,
        kind: TransferKind,
        reason: &str,
        lines: Vec<Line>,
    ) -> Result<(), AppError> {
        let Booking { pool, cycle, step, at } = *booking;
        let transfer = NewTransfer {
            kind,
            cycle,
            step: Some(step),
            pool: pool.clone(),
            reason: reason.to_owned(),
            key: format!("{}:{pool}:step {step}", kind.as_str()),
            written_at: at,
        };
        self.book.post(transfer, lines)
    }
}

/// The sum of lines that are not balanced yet.
fn sum(lines: &[Line], pool: &PoolId) -> Result<i64, AppError> {
    let sum = lines.iter().try_fold(0_i64, |sum, line| sum.checked_add(line.amount));
    sum.ok_or_else(|| AppError::internal(format!("a booking of pool {pool} leaves the range of a balance")))
}
