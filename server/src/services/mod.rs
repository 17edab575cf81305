//! What the product does, one file per noun. The REST API, the pages and the commands call these.

pub mod bids;
mod checks;
pub mod ledger;
pub mod live;
pub mod organisation;
pub mod read;
pub mod supply;
