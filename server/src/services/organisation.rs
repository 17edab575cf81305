//! Sets up and changes the organisation: settings, chip types, pools, teams.
//!
//! Everything written here takes effect in the next cycle.

use std::collections::BTreeSet;

use common::chips::MAX_CHIPS;
use common::instant::Instant;
use common::money::MicroCredits;
use market::snapshot::Lending;

use super::checks::Checks;
use super::finance::check_zone;
use super::ledger::{self, Grant};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::entities::{self, ChipType, Organisation, OwnedSupply, Pool, Setup, Team};

/// A whole new organisation.
#[derive(Clone, Debug)]
pub struct NewOrganisation {
    /// Everything but money and bids.
    pub setup: Setup,
    /// Balances that teams start with, each booked as a grant with its reason.
    pub grants: Vec<Grant>,
}

/// Creates the organisation of an empty database.
///
/// # Errors
/// `Conflict`: there is one already. `Invalid`: a field is out of its range or names what does not exist.
pub async fn create(tx: &mut Tx, now: Instant, new: &NewOrganisation) -> Result<(), AppError> {
    if Setup::newest(tx).await?.is_some() {
        return Err(AppError::conflict("the database has an organisation already; open an empty one"));
    }
    check_setup(&new.setup)?;
    let Setup { organisation, chip_types, pools, owned, teams } = &new.setup;
    entities::write(tx, now, organisation).await?;
    for chip_type in chip_types {
        entities::write(tx, now, chip_type).await?;
    }
    for pool in pools {
        entities::write(tx, now, pool).await?;
    }
    for supply in owned {
        entities::write(tx, now, supply).await?;
    }
    for team in teams {
        entities::write(tx, now, team).await?;
    }
    ledger::grant_all(tx, now, &new.grants).await
}

/// Changes the organisation's name and the market's settings.
///
/// # Errors
/// `NotFound`: there is no organisation yet. `Invalid`: a setting is out of its range, or the time zone is another one
/// while a month is closed.
pub async fn change_settings(tx: &mut Tx, now: Instant, settings: &Organisation) -> Result<(), AppError> {
    let present = newest_setup(tx).await?.organisation;
    let mut checks = Checks::default();
    check_settings(&mut checks, "", settings);
    checks.finish()?;
    check_zone(tx, &present.time_zone, &settings.time_zone).await?;
    entities::write(tx, now, settings).await
}

/// Adds a pool, or changes its name, weight or lending.
///
/// # Errors
/// `NotFound`: there is no organisation yet. `Invalid`: a field is out of its range.
pub async fn put_pool(tx: &mut Tx, now: Instant, pool: &Pool) -> Result<(), AppError> {
    newest_setup(tx).await?;
    let mut checks = Checks::default();
    check_pool(&mut checks, "", pool);
    checks.finish()?;
    entities::write(tx, now, pool).await
}

/// Adds a team, or changes its name, income or leverage. A team stays in its pool: its money is of that pool.
///
/// # Errors
/// `NotFound`: there is no organisation yet. `Invalid`: a field is out of its range, or the pool is unknown or another one.
pub async fn put_team(tx: &mut Tx, now: Instant, team: &Team) -> Result<(), AppError> {
    let setup = newest_setup(tx).await?;
    let mut checks = Checks::default();
    check_team(&mut checks, "", team, &setup.pools);
    if let Some(present) =
        setup.teams.iter().find(|present| present.id == team.id && present.pool != team.pool)
    {
        checks.refuse(
            "pool",
            format!("the team is of the pool {} and its money with it; add a new team", present.pool),
        );
    }
    checks.finish()?;
    entities::write(tx, now, team).await
}

/// The newest setup, or `NotFound` before there is an organisation.
pub(super) async fn newest_setup(tx: &mut Tx) -> Result<Setup, AppError> {
    Setup::newest(tx).await?.ok_or_else(no_organisation)
}

/// There is nothing in the database yet.
pub(crate) fn no_organisation() -> AppError {
    AppError::new(
        crate::error::ErrorKind::NotFound,
        "the database has no organisation yet; `demo` sets one up from the sample trace",
    )
}

fn check_setup(setup: &Setup) -> Result<(), AppError> {
    let mut checks = Checks::default();
    check_settings(&mut checks, "organisation.", &setup.organisation);
    unique(&mut checks, "chip_types", setup.chip_types.iter().map(|chip_type| &chip_type.id));
    unique(&mut checks, "pools", setup.pools.iter().map(|pool| &pool.id));
    unique(&mut checks, "teams", setup.teams.iter().map(|team| &team.id));
    unique(&mut checks, "owned", setup.owned.iter().map(|owned| (&owned.pool, &owned.chip_type)));
    for (index, chip_type) in setup.chip_types.iter().enumerate() {
        check_chip_type(&mut checks, &format!("chip_types[{index}]."), chip_type);
    }
    for (index, pool) in setup.pools.iter().enumerate() {
        check_pool(&mut checks, &format!("pools[{index}]."), pool);
    }
    for (index, owned) in setup.owned.iter().enumerate() {
        check_owned(&mut checks, &format!("owned[{index}]."), owned, setup);
    }
    for (index, team) in setup.teams.iter().enumerate() {
        check_team(&mut checks, &format!("teams[{index}]."), team, &setup.pools);
    }
    checks.finish()
}

fn unique<T: Ord>(checks: &mut Checks, list: &str, keys: impl Iterator<Item = T>) {
    let mut seen = BTreeSet::new();
    for (index, key) in keys.enumerate() {
        if !seen.insert(key) {
            checks.refuse(
                &format!("{list}[{index}]"),
                "is in the list twice; each may be there once".to_owned(),
            );
        }
    }
}

fn check_settings(checks: &mut Checks, at: &str, settings: &Organisation) {
    checks.name(&format!("{at}name"), &settings.name);
    let cycle = settings.cycle_seconds;
    checks.range(&format!("{at}cycle_seconds"), cycle.into(), 1, 3_600);
    let accounting = settings.accounting_seconds;
    checks.range(&format!("{at}accounting_seconds"), accounting.into(), 1, 3_600);
    if cycle > 0 && !accounting.is_multiple_of(cycle) {
        checks.refuse(
            &format!("{at}accounting_seconds"),
            format!("is {accounting}; it must be a multiple of cycle_seconds, {cycle}"),
        );
    }
    checks.range(&format!("{at}sustain_minutes"), settings.sustain_minutes.into(), 1, 100_000);
    checks.range(&format!("{at}raw_retention_days"), settings.raw_retention_days.into(), 2, 36_500);
    if let Some(hours) = settings.balance_cap_hours {
        checks.range(&format!("{at}balance_cap_hours"), hours.into(), 1, 100_000);
    }
    if let Some(hours) = settings.most_bid_hours {
        checks.range(&format!("{at}most_bid_hours"), hours.into(), 1, 100_000);
    }
    if jiff::tz::TimeZone::get(&settings.time_zone).is_err() {
        checks.refuse(
            &format!("{at}time_zone"),
            format!("is {:?}; it must be an IANA time zone such as Europe/Berlin or UTC", settings.time_zone),
        );
    }
}

/// Checks a chip type; `at` is the path before its fields.
pub(super) fn check_chip_type(checks: &mut Checks, at: &str, chip_type: &ChipType) {
    checks.name(&format!("{at}name"), &chip_type.name);
    checks.range(&format!("{at}shared"), chip_type.shared.0, 0, MAX_CHIPS);
    checks.amount(&format!("{at}reserve_price"), MicroCredits(chip_type.reserve_price.0.cast_signed()));
}

fn check_pool(checks: &mut Checks, at: &str, pool: &Pool) {
    checks.name(&format!("{at}name"), &pool.name);
    checks.amount(&format!("{at}weight"), pool.weight);
    if let Lending::AtMost(chips) = pool.lending {
        checks.range(&format!("{at}lending.at_most"), chips.0, 0, MAX_CHIPS);
    }
}

/// Checks owned supply against a setup; `at` is the path before its fields.
pub(super) fn check_owned(checks: &mut Checks, at: &str, owned: &OwnedSupply, setup: &Setup) {
    checks.range(&format!("{at}chips"), owned.chips.0, 0, MAX_CHIPS);
    match setup.pools.iter().find(|pool| pool.id == owned.pool) {
        None => checks.refuse(&format!("{at}pool"), format!("there is no pool {}", owned.pool)),
        Some(pool) if pool.archived && owned.chips.0 > 0 => {
            checks.refuse(
                &format!("{at}pool"),
                format!("the pool {} is archived and owns no chips", owned.pool),
            );
        }
        Some(_) => {}
    }
    if !setup.chip_types.iter().any(|chip_type| chip_type.id == owned.chip_type) {
        checks.refuse(&format!("{at}chip_type"), format!("there is no chip type {}", owned.chip_type));
    }
}

fn check_team(checks: &mut Checks, at: &str, team: &Team, pools: &[Pool]) {
    checks.name(&format!("{at}name"), &team.name);
    checks.amount(&format!("{at}income"), team.income);
    checks.range(&format!("{at}leverage_thousandths"), team.leverage_thousandths.into(), 0, 1_000_000);
    if !pools.iter().any(|pool| pool.id == team.pool) {
        checks.refuse(&format!("{at}pool"), format!("there is no pool {}", team.pool));
    }
}
