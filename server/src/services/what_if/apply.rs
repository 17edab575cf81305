//! The inputs of a cycle with the changes of a question.

use std::collections::BTreeMap;

use common::api::WhatIfChange;
use common::chips::{Chips, MAX_CHIPS};
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::accounting::rebased;
use market::snapshot::{Alternative, Bid, Team};
use market::{Edit, Snapshot};

use super::super::supply::effect::edited;
use crate::error::AppError;

/// The inputs with the changes, which apply in their order. With `rebases` the balances of a pool whose total income
/// changes keep their global value, as they do when it changes in truth.
///
/// # Errors
/// `Invalid`: a change names what the cycle does not have, such as a team that came later.
pub(super) fn changed(
    snapshot: &Snapshot,
    changes: &[WhatIfChange],
    rebases: bool,
) -> Result<Snapshot, AppError> {
    let mut changed = snapshot.clone();
    for (nth, change) in changes.iter().enumerate() {
        changed = edited(&changed, &edits(&changed, nth, change)?)?;
    }
    if rebases {
        rebase(snapshot, &mut changed)?;
    }
    Ok(changed)
}

/// The edits that a change is, on inputs as they are by then.
fn edits(snapshot: &Snapshot, nth: usize, change: &WhatIfChange) -> Result<Vec<Edit>, AppError> {
    Ok(match change.clone() {
        WhatIfChange::Chips { chip_type, pool, by } => {
            let chips = moved(present(snapshot, &chip_type, pool.as_ref()), by);
            match pool {
                None => vec![Edit::Shared { chip_type, chips }],
                Some(pool) => vec![Edit::Owned { pool, chip_type, chips }],
            }
        }
        WhatIfChange::Reserve { chip_type, reserve_price } => {
            vec![Edit::Reserve { chip_type, price: reserve_price }]
        }
        WhatIfChange::Weight { pool, weight } => vec![Edit::Weight { pool, weight }],
        WhatIfChange::Income { team, income } => vec![Edit::Income { team, income }],
        WhatIfChange::WithoutTeam { team } => vec![Edit::WithoutTeam(team)],
        WhatIfChange::NewTeam { pool, income, chip_type, chips, limit } => {
            new_team(nth, pool, income, (chip_type, chips, limit))?
        }
    })
}

/// A team with one bid.
fn new_team(
    nth: usize,
    pool: PoolId,
    income: MicroCredits,
    (chip_type, chips, limit): (ChipTypeId, Chips, Option<Price>),
) -> Result<Vec<Edit>, AppError> {
    let team = TeamId::new(format!("new-team-{}", nth + 1)).map_err(AppError::internal)?;
    let bid = Bid {
        id: BidId::new(format!("bid-of-new-team-{}", nth + 1)).map_err(AppError::internal)?,
        team: team.clone(),
        position: 0,
        alternatives: vec![Alternative { chip_type, chips, min_chips: Chips(1) }],
        limit,
        not_before: None,
        not_after: None,
        held: None,
    };
    let team = Team { id: team, pool, income, balance: MicroCredits::ZERO, leverage_thousandths: 2_000 };
    Ok(vec![Edit::Team(Box::new(team)), Edit::Bid(Box::new(bid))])
}

fn present(snapshot: &Snapshot, chip_type: &ChipTypeId, pool: Option<&PoolId>) -> Chips {
    let found = match pool {
        None => snapshot.chip_types.iter().find(|row| row.id == *chip_type).map(|row| row.shared),
        Some(pool) => {
            let owner = snapshot.pools.iter().find(|row| row.id == *pool);
            let owned = owner.and_then(|row| row.owned.iter().find(|owned| owned.chip_type == *chip_type));
            owned.map(|owned| owned.chips)
        }
    };
    found.unwrap_or_default()
}

/// So many chips more, or fewer but never fewer than none.
fn moved(chips: Chips, by: i64) -> Chips {
    let chips = if by < 0 { chips.0.saturating_sub(by.unsigned_abs()) } else { chips.0 + by.unsigned_abs() };
    Chips(chips.min(MAX_CHIPS))
}

/// Rebases the balances of pools whose total income changed.
fn rebase(before: &Snapshot, after: &mut Snapshot) -> Result<(), AppError> {
    let (old, new) = (incomes(before), incomes(after));
    for team in &mut after.teams {
        let total =
            |totals: &BTreeMap<PoolId, i64>| MicroCredits(totals.get(&team.pool).copied().unwrap_or(0));
        if total(&old) != total(&new) {
            team.balance = rebased(team.balance, total(&old), total(&new)).map_err(AppError::internal)?;
        }
    }
    Ok(())
}

/// The total income of each pool's teams.
fn incomes(snapshot: &Snapshot) -> BTreeMap<PoolId, i64> {
    let mut totals: BTreeMap<PoolId, i64> = BTreeMap::new();
    for team in &snapshot.teams {
        let total = totals.entry(team.pool.clone()).or_default();
        *total = total.saturating_add(team.income.0);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_moved_and_never_below_none() {
        assert_eq!(moved(Chips(10), -4), Chips(6));
        assert_eq!(moved(Chips(10), -40), Chips(0));
        assert_eq!(moved(Chips(10), 5), Chips(15));
        assert_eq!(moved(Chips(MAX_CHIPS), 5), Chips(MAX_CHIPS));
    }
}
