//! The supply as it is shown: now, planned, and how it went.

use common::api::{Holding, SuppliedType, SupplyEdit, SupplyHistory, SupplyView, SupplyingPool};
use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId};

use super::super::Services;
use super::super::changes::next_cycle;
use super::super::organisation::newest_setup;
use super::super::version::version_of;
use super::edit::{Supply, lends_at_most};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::entities::ChipType;
use crate::store::supply as stored;

/// Plans that are over and still shown.
const ENDED_SHOWN: u32 = 20;

impl Services {
    /// The supply as it is set, what waits for the next cycle included, and what is planned.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see it, or there is no organisation yet.
    pub async fn supply(&self, viewer: &Viewer) -> Result<SupplyView, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        let mut planned = stored::open_plans(&mut tx).await?;
        planned.extend(stored::ended_plans(&mut tx, ENDED_SHOWN).await?);
        let chip_types = supply.setup.chip_types.iter().map(|chip_type| supplied(&supply, chip_type));
        let pools = supply.setup.pools.iter().map(|pool| {
            let lends_at_most = lends_at_most(pool.lending);
            let version = version_of(&SupplyEdit::Lending { pool: pool.id.clone(), lends_at_most })?;
            Ok(SupplyingPool { pool: pool.id.clone(), name: pool.name.clone(), lends_at_most, version })
        });
        Ok(SupplyView {
            clock: self.market().clock(),
            next_cycle: next_cycle(&mut tx).await?,
            chip_types: chip_types.collect::<Result<_, AppError>>()?,
            pools: pools.collect::<Result<_, AppError>>()?,
            planned,
        })
    }

    /// How the supply of a chip type went, from the first cycle on; without one that of the first type.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see it, or there is no such chip type.
    pub async fn supply_history(
        &self,
        viewer: &Viewer,
        chip_type: Option<&ChipTypeId>,
    ) -> Result<SupplyHistory, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let mut known = newest_setup(&mut tx).await?.chip_types.into_iter();
        let found = known.find(|known| chip_type.is_none_or(|id| known.id == *id));
        let id = match (found, chip_type) {
            (Some(found), _) => found.id,
            (None, Some(id)) => return Err(AppError::not_found("chip type", id)),
            (None, None) => {
                return Err(AppError::new(crate::error::ErrorKind::NotFound, "there is no chip type yet"));
            }
        };
        let changes = stored::levels(&mut tx, &id).await?;
        Ok(SupplyHistory { chip_type: id, to: self.now(), changes })
    }
}

fn supplied(supply: &Supply, chip_type: &ChipType) -> Result<SuppliedType, AppError> {
    let ChipType { id, name, reserve_price, list_price, .. } = chip_type;
    let reserve = SupplyEdit::Reserve { chip_type: id.clone(), reserve_price: *reserve_price };
    let list = SupplyEdit::ListPrice { chip_type: id.clone(), list_price: *list_price };
    let mut holdings = vec![holding(supply, id, None)?];
    for pool in &supply.setup.pools {
        let holding = holding(supply, id, Some((&pool.id, &pool.name)))?;
        if holding.chips.0 > 0 {
            holdings.push(holding);
        }
    }
    Ok(SuppliedType {
        chip_type: id.clone(),
        name: name.clone(),
        reserve_price: *reserve_price,
        reserve_version: version_of(&reserve)?,
        list_price: *list_price,
        list_version: version_of(&list)?,
        holdings,
    })
}

/// What a hand has of a chip type; without a pool what is shared.
pub(super) fn holding(
    supply: &Supply,
    chip_type: &ChipTypeId,
    owner: Option<(&PoolId, &str)>,
) -> Result<Holding, AppError> {
    let pool = owner.map(|(pool, _)| pool);
    let (in_force, under_maintenance) = (supply.in_force(chip_type, pool), supply.down(chip_type, pool));
    let chips = Chips(in_force.0 + under_maintenance.0);
    let edit = SupplyEdit::Chips { chip_type: chip_type.clone(), pool: pool.cloned(), chips };
    Ok(Holding {
        pool: pool.cloned(),
        name: owner.map_or("shared", |(_, name)| name).to_owned(),
        chips,
        under_maintenance,
        in_force,
        version: version_of(&edit)?,
    })
}
