//! What people call pools, teams and chip types. Pages show these names; links, forms and exports hold the ids.

use std::collections::BTreeMap;

use crate::ids::{ChipTypeId, PoolId, TeamId};

/// The display names of an organisation's pools, teams and chip types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pools: BTreeMap<PoolId, String>,
    teams: BTreeMap<TeamId, String>,
    chip_types: BTreeMap<ChipTypeId, String>,
}

impl Names {
    /// From ids with their names.
    #[must_use]
    pub fn new(
        pools: impl IntoIterator<Item = (PoolId, String)>,
        teams: impl IntoIterator<Item = (TeamId, String)>,
        chip_types: impl IntoIterator<Item = (ChipTypeId, String)>,
    ) -> Self {
        Self {
            pools: pools.into_iter().collect(),
            teams: teams.into_iter().collect(),
            chip_types: chip_types.into_iter().collect(),
        }
    }

    /// A pool's name; its id where there is none.
    #[must_use]
    pub fn pool(&self, id: &PoolId) -> String {
        self.pools.get(id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A team's name; its id where there is none.
    #[must_use]
    pub fn team(&self, id: &TeamId) -> String {
        self.teams.get(id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A chip type's name; its id where there is none.
    #[must_use]
    pub fn chip_type(&self, id: &ChipTypeId) -> String {
        self.chip_types.get(id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Whose chips those of a pool are: its name, or "shared" without one.
    #[must_use]
    pub fn whose(&self, pool: Option<&PoolId>) -> String {
        pool.map_or_else(|| "shared".to_owned(), |pool| self.pool(pool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_is_called_by_its_id() {
        let research = PoolId::new("research").unwrap();
        let names = Names::new([(research.clone(), "Research".to_owned())], [], []);
        assert_eq!(names.pool(&research), "Research");
        assert_eq!(names.whose(Some(&research)), "Research");
        assert_eq!(names.whose(None), "shared");
        assert_eq!(names.team(&TeamId::new("vc-1").unwrap()), "vc-1");
        assert_eq!(names.chip_type(&ChipTypeId::new("T4").unwrap()), "T4");
    }
}
