//! Wire types of `/api/v1`; the pages show the same values.
//!
//! Prices and amounts are decimal strings in credits, chips are whole numbers, instants are UTC with a `Z`. Lists
//! page by an opaque cursor.

mod allocations;
mod audit;
mod bids;
mod book;
mod budget;
mod cuts;
mod cycles;
mod exports;
mod finance;
mod inventory;
mod lab;
mod market;
mod organisation;
mod people;
mod planner;
mod plans;
mod reconciliation;
mod shares;
mod supply;
mod what_if;

pub use allocations::*;
pub use audit::*;
pub use bids::*;
pub use book::*;
pub use budget::*;
pub use cuts::*;
pub use cycles::*;
pub use exports::*;
pub use finance::*;
pub use inventory::*;
pub use lab::*;
pub use market::*;
pub use organisation::*;
pub use people::*;
pub use planner::*;
pub use plans::*;
pub use reconciliation::*;
pub use shares::*;
pub use supply::*;
pub use what_if::*;

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    /// The rows of this page.
    pub items: Vec<T>,
    /// Hand this back as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
