//! The pages, one file each.

pub mod allocations;
pub mod bids;
pub mod book;
pub mod cycle;
pub mod cycles;
pub mod market;
pub mod not_found;

pub use allocations::AllocationsPage;
pub use bids::BidsPages;
pub use book::BookPage;
pub use cycle::CyclePage;
pub use cycles::CyclesPage;
pub use market::MarketPage;
pub use not_found::NotFound;
