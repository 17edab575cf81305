//! The names that a plain page shows in the place of ids: [`render`](super::render) gives them to its views.

use std::sync::Arc;

use common::ids::{ChipTypeId, PoolId, TeamId};
use common::names::Names;
use leptos::prelude::*;

/// The names of the page that is rendered; none outside of one.
fn names() -> Arc<Names> {
    use_context().unwrap_or_default()
}

/// A pool's name on the page that is rendered.
pub(crate) fn pool(id: &PoolId) -> String {
    names().pool(id)
}

/// A team's name on the page that is rendered.
pub(crate) fn team(id: &TeamId) -> String {
    names().team(id)
}

/// A chip type's name on the page that is rendered.
pub(crate) fn chip_type(id: &ChipTypeId) -> String {
    names().chip_type(id)
}

/// Whose chips those of a pool are: its name, or "shared" without one.
pub(crate) fn whose(pool: Option<&PoolId>) -> String {
    names().whose(pool)
}
