//! One edit of supply: what it sets now, whether it may be set, and the version that sets it.

use std::collections::BTreeMap;

use common::api::SupplyEdit;
use common::chips::{Chips, MAX_CHIPS};
use common::ids::{ChipTypeId, PoolId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use common::words::counted;
use market::Edit;
use market::snapshot::Lending;

use super::super::checks::Checks;
use super::super::organisation::put_pool;
use super::{put_chip_type, set_owned};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::entities::{ChipType, OwnedSupply, Pool, Setup};
use crate::store::supply::{Hand, down};

/// The supply as it is set: the newest setup and what is down for maintenance.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    pub(super) setup: Setup,
    down: BTreeMap<Hand, Chips>,
}

impl Supply {
    pub(super) async fn load(tx: &mut Tx, setup: Setup) -> Result<Self, AppError> {
        Ok(Self { setup, down: down(tx).await? })
    }

    /// Chips of a hand that are down for maintenance.
    pub(super) fn down(&self, chip_type: &ChipTypeId, pool: Option<&PoolId>) -> Chips {
        self.down.get(&(chip_type.clone(), pool.cloned())).copied().unwrap_or_default()
    }

    /// Chips of a hand that the market has.
    pub(super) fn in_force(&self, chip_type: &ChipTypeId, pool: Option<&PoolId>) -> Chips {
        match pool {
            None => self.chip_type(chip_type).map(|found| found.shared).unwrap_or_default(),
            Some(pool) => {
                let mut owned = self.setup.owned.iter();
                let found = owned.find(|owned| owned.pool == *pool && owned.chip_type == *chip_type);
                found.map(|owned| owned.chips).unwrap_or_default()
            }
        }
    }

    fn chip_type(&self, id: &ChipTypeId) -> Option<&ChipType> {
        self.setup.chip_types.iter().find(|chip_type| chip_type.id == *id)
    }

    fn pool(&self, id: &PoolId) -> Option<&Pool> {
        self.setup.pools.iter().find(|pool| pool.id == *id)
    }

    /// The same thing as an edit sets, as it is set now.
    ///
    /// # Errors
    /// `Invalid`: it names a chip type or a pool that does not exist.
    pub(super) fn present(&self, edit: &SupplyEdit) -> Result<SupplyEdit, AppError> {
        let mut checks = Checks::default();
        self.check_names(&mut checks, edit);
        checks.finish()?;
        Ok(match edit {
            SupplyEdit::Chips { chip_type, pool, .. } => {
                let (in_force, down) =
                    (self.in_force(chip_type, pool.as_ref()), self.down(chip_type, pool.as_ref()));
                let chips = Chips(in_force.0 + down.0);
                SupplyEdit::Chips { chip_type: chip_type.clone(), pool: pool.clone(), chips }
            }
            SupplyEdit::Reserve { chip_type, .. } => {
                let reserve_price =
                    self.chip_type(chip_type).map(|found| found.reserve_price).unwrap_or_default();
                SupplyEdit::Reserve { chip_type: chip_type.clone(), reserve_price }
            }
            SupplyEdit::ListPrice { chip_type, .. } => {
                let list_price = self.chip_type(chip_type).and_then(|found| found.list_price);
                SupplyEdit::ListPrice { chip_type: chip_type.clone(), list_price }
            }
            SupplyEdit::Lending { pool, .. } => {
                let lends_at_most = self.pool(pool).and_then(|found| lends_at_most(found.lending));
                SupplyEdit::Lending { pool: pool.clone(), lends_at_most }
            }
        })
    }

    fn check_names(&self, checks: &mut Checks, edit: &SupplyEdit) {
        let (chip_type, pool) = match edit {
            SupplyEdit::Chips { chip_type, pool, .. } => (Some(chip_type), pool.as_ref()),
            SupplyEdit::Reserve { chip_type, .. } | SupplyEdit::ListPrice { chip_type, .. } => {
                (Some(chip_type), None)
            }
            SupplyEdit::Lending { pool, .. } => (None, Some(pool)),
        };
        if let Some(id) = chip_type.filter(|id| self.chip_type(id).is_none()) {
            checks.refuse("chip_type", format!("names {id}, and there is no such chip type"));
        }
        if let Some(id) = pool.filter(|id| self.pool(id).is_none()) {
            checks.refuse("pool", format!("names {id}, and there is no such pool"));
        }
    }

    /// Refuses what can't be set.
    ///
    /// # Errors
    /// `Invalid`, with each field at fault.
    pub(super) fn check(&self, edit: &SupplyEdit) -> Result<(), AppError> {
        let mut checks = Checks::default();
        self.check_names(&mut checks, edit);
        match edit {
            SupplyEdit::Chips { chip_type, pool, chips } => {
                let down = self.down(chip_type, pool.as_ref());
                checks.range("chips", chips.0, 0, MAX_CHIPS);
                if chips.0 < down.0 {
                    let detail = format!(
                        "is {chips}, but {down} of them are under maintenance; end that first, or set at least {down}"
                    );
                    checks.refuse("chips", detail);
                }
            }
            SupplyEdit::Reserve { reserve_price, .. } => {
                checks.amount("reserve_price", MicroCredits(reserve_price.0.cast_signed()));
            }
            SupplyEdit::ListPrice { list_price: Some(Price(0)), .. } => {
                checks.refuse("list_price", "is 0; it must be above 0, or absent where it is not known");
            }
            SupplyEdit::ListPrice { list_price, .. } => {
                checks.amount("list_price", MicroCredits(list_price.unwrap_or_default().0.cast_signed()));
            }
            SupplyEdit::Lending { lends_at_most, .. } => {
                checks.range("lends_at_most", lends_at_most.unwrap_or_default().0, 0, MAX_CHIPS);
            }
        }
        checks.finish()
    }

    /// Writes the version that sets it, from the next cycle on.
    ///
    /// # Errors
    /// `Invalid`: it can't be set.
    pub(super) async fn write(&self, tx: &mut Tx, now: Instant, edit: &SupplyEdit) -> Result<(), AppError> {
        self.check(edit)?;
        match edit {
            SupplyEdit::Chips { chip_type, pool, chips } => {
                let down = self.down(chip_type, pool.as_ref());
                self.write_in_force(tx, now, chip_type, pool.as_ref(), Chips(chips.0 - down.0)).await
            }
            SupplyEdit::Reserve { chip_type, reserve_price } => {
                let present = self.known_type(chip_type)?.clone();
                put_chip_type(tx, now, &ChipType { reserve_price: *reserve_price, ..present }).await
            }
            SupplyEdit::ListPrice { chip_type, list_price } => {
                let present = self.known_type(chip_type)?.clone();
                put_chip_type(tx, now, &ChipType { list_price: *list_price, ..present }).await
            }
            SupplyEdit::Lending { pool, lends_at_most } => {
                let present = self.pool(pool).ok_or_else(|| AppError::not_found("pool", pool))?.clone();
                put_pool(tx, now, &Pool { lending: lending(*lends_at_most), ..present }).await
            }
        }
    }

    /// Writes how many chips of a hand the market has from the next cycle on.
    pub(super) async fn write_in_force(
        &self,
        tx: &mut Tx,
        now: Instant,
        chip_type: &ChipTypeId,
        pool: Option<&PoolId>,
        chips: Chips,
    ) -> Result<(), AppError> {
        match pool {
            None => {
                let present = self.known_type(chip_type)?.clone();
                put_chip_type(tx, now, &ChipType { shared: chips, ..present }).await
            }
            Some(pool) => {
                let owned = OwnedSupply { pool: pool.clone(), chip_type: chip_type.clone(), chips };
                set_owned(tx, now, &owned).await
            }
        }
    }

    fn known_type(&self, id: &ChipTypeId) -> Result<&ChipType, AppError> {
        self.chip_type(id).ok_or_else(|| AppError::not_found("chip type", id))
    }

    /// The edit of the engine's inputs that stands for it; none where no clearing depends on it.
    pub(super) fn of_engine(&self, edit: &SupplyEdit) -> Option<Edit> {
        Some(match edit.clone() {
            SupplyEdit::Chips { chip_type, pool, chips } => {
                let chips = Chips(chips.0.saturating_sub(self.down(&chip_type, pool.as_ref()).0));
                match pool {
                    None => Edit::Shared { chip_type, chips },
                    Some(pool) => Edit::Owned { pool, chip_type, chips },
                }
            }
            SupplyEdit::Reserve { chip_type, reserve_price } => {
                Edit::Reserve { chip_type, price: reserve_price }
            }
            SupplyEdit::ListPrice { .. } => return None,
            SupplyEdit::Lending { pool, lends_at_most } => {
                Edit::Lending { pool, lending: lending(lends_at_most) }
            }
        })
    }
}

/// What a pool lends, as the engine takes it. Absent is all, 0 is none.
pub(super) const fn lending(lends_at_most: Option<Chips>) -> Lending {
    match lends_at_most {
        None => Lending::All,
        Some(Chips(0)) => Lending::None,
        Some(chips) => Lending::AtMost(chips),
    }
}

/// What a pool lends, as it is shown.
pub(super) const fn lends_at_most(lending: Lending) -> Option<Chips> {
    match lending {
        Lending::All => None,
        Lending::None => Some(Chips(0)),
        Lending::AtMost(chips) => Some(chips),
    }
}

/// What an edit is about, as the audit log names it.
pub(super) fn object_of(edit: &SupplyEdit) -> String {
    match edit {
        SupplyEdit::Chips { chip_type, pool: None, .. } => format!("{chip_type} shared"),
        SupplyEdit::Chips { chip_type, pool: Some(pool), .. } => format!("{chip_type} of {pool}"),
        SupplyEdit::Reserve { chip_type, .. } => format!("{chip_type} reserve price"),
        SupplyEdit::ListPrice { chip_type, .. } => format!("{chip_type} list price"),
        SupplyEdit::Lending { pool, .. } => format!("lending of {pool}"),
    }
}

/// What an edit sets, in words.
pub(crate) fn value_of(edit: &SupplyEdit) -> String {
    match edit {
        SupplyEdit::Chips { chips, .. } => counted(chips.0, "chip"),
        SupplyEdit::Reserve { reserve_price, .. } => format!("{reserve_price} credits per chip-hour"),
        SupplyEdit::ListPrice { list_price: None, .. } => "not known".to_owned(),
        SupplyEdit::ListPrice { list_price: Some(price), .. } => format!("{price} credits per chip-hour"),
        SupplyEdit::Lending { lends_at_most: None, .. } => "all that are idle".to_owned(),
        SupplyEdit::Lending { lends_at_most: Some(Chips(0)), .. } => "none".to_owned(),
        SupplyEdit::Lending { lends_at_most: Some(chips), .. } => {
            format!("at most {chips} of each chip type")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t095_absent_is_all_and_0_is_none_and_both_survive_json() {
        for (text, expected) in [
            (r#"{"set":"lending","pool":"p"}"#, Lending::All),
            (r#"{"set":"lending","pool":"p","lends_at_most":0}"#, Lending::None),
            (r#"{"set":"lending","pool":"p","lends_at_most":16}"#, Lending::AtMost(Chips(16))),
        ] {
            let edit: SupplyEdit = serde_json::from_str(text).unwrap();
            let SupplyEdit::Lending { lends_at_most: most, .. } = &edit else { panic!("{edit:?}") };
            assert_eq!(lending(*most), expected);
            assert_eq!(lends_at_most(expected), *most);
            assert_eq!(serde_json::to_string(&edit).unwrap(), text);
        }
    }
}
