//! Importing an inventory: a file is read whole, compared with the supply as it is set, and applied as one change or not
//! at all.

mod read;

use std::collections::BTreeMap;

use common::api::{Inventory, InventoryChange, InventoryFault, InventoryModel, InventoryView, SupplyEdit};
use common::chips::Chips;
use common::ids::ChipTypeId;
use common::words::counted;

use self::read::{Content, File};
use super::super::Services;
use super::super::audit::{Deed, Doer, check_reason, record};
use super::super::organisation::newest_setup;
use super::super::version::{check_version, version_of};
use super::edit::Supply;
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::supply::Hand;

/// Faults named at most.
const MOST_FAULTS: usize = 100;

impl Services {
    /// What a file says and what importing it would change. Changes nothing; what is wrong with the file is in the answer.
    ///
    /// # Errors
    /// `Forbidden`: the viewer is no admin.
    pub async fn read_inventory(
        &self,
        viewer: &Viewer,
        inventory: &Inventory,
    ) -> Result<InventoryView, AppError> {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        compare(&supply, inventory)
    }

    /// Imports a file: all of it from the next cycle on, or nothing. A file that is imported again changes nothing.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: something is wrong with the file, each fault with its line, or there is
    /// no reason. `PreconditionFailed`: what it would change was changed since `known`.
    pub async fn import_inventory(
        &self,
        doer: Doer<'_>,
        inventory: &Inventory,
        known: Option<&str>,
    ) -> Result<InventoryView, AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        let view = compare(&supply, inventory)?;
        if let Some(refusal) = refusal(&view.faults) {
            return Err(refusal);
        }
        check_version(known, &befores(&view.changes))?;
        for edit in edits(&view.changes) {
            supply.write(&mut tx, now, &edit).await?;
        }
        if !view.changes.is_empty() {
            let deed = Deed::new("supply.imported", "supply", "inventory");
            let (before, after) = (befores(&view.changes), edits(&view.changes));
            record(&mut tx, now, doer, deed.before(&before)?.after(&after)?).await?;
        }
        tx.commit().await?;
        Ok(view)
    }
}

/// The edits that an import makes.
pub(crate) fn edits(changes: &[InventoryChange]) -> Vec<SupplyEdit> {
    changes.iter().map(|change| edit(change, change.after)).collect()
}

/// What they change, as it is set now.
fn befores(changes: &[InventoryChange]) -> Vec<SupplyEdit> {
    changes.iter().map(|change| edit(change, change.before)).collect()
}

fn edit(change: &InventoryChange, chips: Chips) -> SupplyEdit {
    SupplyEdit::Chips { chip_type: change.chip_type.clone(), pool: change.pool.clone(), chips }
}

/// All faults of a file as one refusal.
fn refusal(faults: &[InventoryFault]) -> Option<AppError> {
    let first = faults.first()?;
    let said = |fault: &InventoryFault| match fault.line {
        Some(line) => format!("line {line}: {}", fault.detail),
        None => fault.detail.clone(),
    };
    let text = format!("nothing is imported: {}", said(first));
    let refusal = AppError::new(ErrorKind::Invalid, text);
    Some(faults.iter().fold(refusal, |refusal, fault| refusal.with_field("csv", said(fault))))
}

/// Reads a file and compares it with the supply as it is set.
fn compare(supply: &Supply, inventory: &Inventory) -> Result<InventoryView, AppError> {
    let File { form, rows, content, mut faults } = read::file(&inventory.csv);
    let mut models = Vec::new();
    let wanted = match content {
        Content::Hands(hands) => hands,
        Content::Models(found) => {
            models = mapped(supply, inventory, found, &mut faults);
            by_hand(&models, inventory)
        }
    };
    let mut changes = Vec::new();
    let mut unchanged = 0;
    for ((chip_type, pool), (line, after)) in wanted {
        let edit = SupplyEdit::Chips { chip_type: chip_type.clone(), pool: pool.clone(), chips: after };
        if let Err(error) = supply.check(&edit) {
            let detail = error.fields().iter().map(|fault| format!("{} {}", fault.field, fault.detail));
            faults.push(InventoryFault { line, detail: detail.collect::<Vec<_>>().join("; ") });
            continue;
        }
        let before =
            Chips(supply.in_force(&chip_type, pool.as_ref()).0 + supply.down(&chip_type, pool.as_ref()).0);
        if before == after {
            unchanged += 1;
        } else {
            changes.push(InventoryChange { chip_type, pool, before, after });
        }
    }
    faults.sort_by_key(|fault| fault.line);
    faults.truncate(MOST_FAULTS);
    let version = version_of(&befores(&changes))?;
    Ok(InventoryView { form, rows, models, changes, unchanged, faults, version })
}

/// Says for each model which chip type it is: as the admin said, else by its name.
fn mapped(
    supply: &Supply,
    inventory: &Inventory,
    found: BTreeMap<String, (u64, Chips)>,
    faults: &mut Vec<InventoryFault>,
) -> Vec<InventoryModel> {
    let mut models = Vec::new();
    for (model, (nodes, chips)) in found {
        let said = inventory.models.iter().find(|meaning| meaning.model == model);
        let said = said.map(|meaning| meaning.chip_type.clone());
        let left_out = said == Some(None);
        let chip_type = said.unwrap_or_else(|| guess(supply, &model));
        if chip_type.is_none() && !left_out {
            let detail = format!(
                "{model} is no chip type of this market ({} on {}); say which one it is, or leave it out",
                counted(chips.0, "chip"),
                counted(nodes, "node")
            );
            faults.push(InventoryFault { line: None, detail });
        }
        models.push(InventoryModel { model, nodes, chips, chip_type, left_out });
    }
    models
}

/// The chip type that a model is by its name: the same without regard to case, or the longest that its name begins with.
fn guess(supply: &Supply, model: &str) -> Option<ChipTypeId> {
    let model = model.to_lowercase();
    let ids = supply.setup.chip_types.iter().map(|chip_type| &chip_type.id);
    let begins = ids.filter(|id| model.starts_with(&id.as_str().to_lowercase()));
    begins.max_by_key(|id| id.as_str().len()).cloned()
}

/// The chips of each type in the hand that the nodes belong to.
fn by_hand(models: &[InventoryModel], inventory: &Inventory) -> BTreeMap<Hand, (Option<u64>, Chips)> {
    let mut hands: BTreeMap<Hand, (Option<u64>, Chips)> = BTreeMap::new();
    for model in models {
        if let Some(chip_type) = &model.chip_type {
            let hand = (chip_type.clone(), inventory.pool.clone());
            hands.entry(hand).or_insert((None, Chips(0))).1.0 += model.chips.0;
        }
    }
    hands
}
