//! The pages, one file each.

mod allocations;
mod book;
mod cycle;
mod cycles;
mod market;
mod not_found;

pub(crate) use allocations::AllocationsPage;
pub(crate) use book::BookPage;
pub(crate) use cycle::CyclePage;
pub(crate) use cycles::CyclesPage;
pub(crate) use market::MarketPage;
pub(crate) use not_found::NotFound;
