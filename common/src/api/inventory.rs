//! An inventory to import: a file, what it says, and how it differs from the supply as it is set.

use serde::{Deserialize, Serialize};

use crate::chips::Chips;
use crate::ids::{ChipTypeId, PoolId};

/// A file to import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// The text of the file: CSV with a header, in one of the forms that the documentation lists.
    pub csv: String,
    /// The pool that owns the nodes of a list of nodes; absent where their chips are shared.
    #[serde(default)]
    pub pool: Option<PoolId>,
    /// Which chip type models of a list of nodes are. One that is not named is taken for the type that its name begins
    /// with.
    #[serde(default)]
    pub models: Vec<ModelMeaning>,
}

/// Which chip type a model of GPU is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelMeaning {
    /// As the file writes it.
    pub model: String,
    /// The chip type; absent leaves the model's chips out.
    #[serde(default)]
    pub chip_type: Option<ChipTypeId>,
}

/// An inventory to import, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportInventory {
    /// The file and how it is read.
    pub inventory: Inventory,
    /// Why; 1 to 500 characters.
    pub reason: String,
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum InventoryForm {
    /// `chip_type,pool,chips`: a row is the chips of a type in one hand.
    Chips,
    /// `sn,…,gpu,model`: a row is a node.
    Nodes,
    /// `node,tres`: a row is a node with its trackable resources as Slurm writes them.
    Tres,
}

/// What a file says, and what importing it would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InventoryView {
    /// The form that its header shows; absent where it is none that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<InventoryForm>,
    /// Rows under the header.
    pub rows: u64,
    /// Models of a list of nodes, in order of their names.
    pub models: Vec<InventoryModel>,
    /// Hands that would have another number of chips, in order of chip type and pool.
    pub changes: Vec<InventoryChange>,
    /// Hands that the file names and that have that many already.
    pub unchanged: u64,
    /// What is wrong with it; nothing is imported while there is anything.
    pub faults: Vec<InventoryFault>,
    /// Version of what it would change, for `If-Match`.
    pub version: String,
}

/// A model of GPU in a list of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InventoryModel {
    /// As the file writes it.
    pub model: String,
    /// Nodes that have it.
    pub nodes: u64,
    /// GPUs of it.
    pub chips: Chips,
    /// The chip type it is taken for; absent where it is left out, or where nobody said what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip_type: Option<ChipTypeId>,
    /// Its chips are left out on purpose.
    pub left_out: bool,
}

/// Chips in one hand, now and after the import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InventoryChange {
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// The pool that owns them; absent for shared chips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolId>,
    /// Chips that exist as it is set.
    pub before: Chips,
    /// Chips by the file.
    pub after: Chips,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InventoryFault {
    /// Line of the file, the header being 1; absent where it is a matter of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What, and what would be right.
    pub detail: String,
}
