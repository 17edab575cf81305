//! Pages and components of the quota marketplace.

#[cfg(feature = "ssr")]
pub mod backend;
