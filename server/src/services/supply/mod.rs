//! Changes of supply: chip types, shared and owned chips, reserve prices, lending. A change enters the next cycle, or one
//! to come, and touches no balance.
//!
//! Whatever is planned becomes ordinary versions in the cycle that is due (`plan`), so that a cycle follows from its
//! versions alone, whoever wrote them and when.

mod cuts;
mod edit;
pub(crate) mod effect;
pub(crate) mod import;
mod plan;
mod read;

use common::chips::Chips;
use common::ids::ChipTypeId;
use common::instant::Instant;

pub(crate) use self::edit::value_of;
pub(crate) use self::plan::apply_due;
use super::checks::Checks;
use super::organisation::{check_chip_type, check_owned, newest_setup};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::entities::{self, ChipType, OwnedSupply};

/// Adds a chip type, or changes its name, shared supply or reserve price.
///
/// # Errors
/// `NotFound`: there is no organisation yet. `Invalid`: a field is out of its range.
pub async fn put_chip_type(tx: &mut Tx, now: Instant, chip_type: &ChipType) -> Result<(), AppError> {
    newest_setup(tx).await?;
    let mut checks = Checks::default();
    check_chip_type(&mut checks, "", chip_type);
    checks.finish()?;
    entities::write(tx, now, chip_type).await
}

/// Sets the shared chips of a type.
///
/// # Errors
/// `NotFound`: there is no such chip type. `Invalid`: more chips than the engine takes.
pub async fn set_shared(tx: &mut Tx, now: Instant, id: &ChipTypeId, shared: Chips) -> Result<(), AppError> {
    let setup = newest_setup(tx).await?;
    let Some(present) = setup.chip_types.into_iter().find(|chip_type| chip_type.id == *id) else {
        return Err(AppError::not_found("chip type", id));
    };
    put_chip_type(tx, now, &ChipType { shared, ..present }).await
}

/// Sets the chips of a type that a pool owns.
///
/// # Errors
/// `NotFound`: there is no organisation yet. `Invalid`: the pool or the chip type is unknown, or it is too many chips.
pub async fn set_owned(tx: &mut Tx, now: Instant, owned: &OwnedSupply) -> Result<(), AppError> {
    let setup = newest_setup(tx).await?;
    let mut checks = Checks::default();
    check_owned(&mut checks, "", owned, &setup);
    checks.finish()?;
    entities::write(tx, now, owned).await
}
