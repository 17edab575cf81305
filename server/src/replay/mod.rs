//! Runs months of a trace through the engine in memory, without a server or a store, and the same demand on static
//! pools of the same supply, so that both can be read side by side.

pub mod demand;
pub mod figures;
pub mod static_pools;
