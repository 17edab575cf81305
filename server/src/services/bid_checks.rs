//! Checks that hold for every bid, a person's or a program's: what it names exists and takes bids, numbers are in range.

use std::collections::{BTreeMap, BTreeSet};

use common::chips::MAX_CHIPS;
use common::ids::{ChipTypeId, TeamId};
use common::money::MAX_MICROS;
use market::snapshot::Alternative;

use super::checks::{Checks, MAX_TEXT};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::bids::{self, BidTerms};

/// Alternatives of a bid at most.
const MAX_ALTERNATIVES: usize = 32;

/// What exists of what bids name: teams and chip types, each with whether it takes new bids.
#[derive(Default)]
pub(super) struct Known {
    teams: BTreeMap<TeamId, bool>,
    chip_types: BTreeMap<ChipTypeId, bool>,
}

impl Known {
    /// Looks up the chip types that terms name.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub(super) async fn of_terms<'a>(
        tx: &mut Tx,
        terms: impl Iterator<Item = &'a BidTerms>,
    ) -> Result<Self, AppError> {
        let named = terms.flat_map(|terms| &terms.alternatives).map(|one| &one.chip_type);
        let retired = bids::are_chip_types_retired(tx, named).await?;
        let chip_types = retired.into_iter().map(|(id, is_retired)| (id, !is_retired)).collect();
        Ok(Self { teams: BTreeMap::new(), chip_types })
    }

    /// A team that there is.
    pub(super) fn add_team(&mut self, id: TeamId, is_archived: bool) {
        self.teams.insert(id, !is_archived);
    }

    /// Whether bids that name a chip type can't be placed any more.
    pub(super) fn is_retired(&self, id: &ChipTypeId) -> bool {
        self.chip_types.get(id) == Some(&false)
    }

    /// Checks that a team may bid; `at` is the path before its field.
    pub(super) fn check_team(&self, checks: &mut Checks, at: &str, team: &TeamId) {
        match self.teams.get(team) {
            Some(true) => {}
            Some(false) => checks.refuse(
                &format!("{at}team"),
                format!("the team {team} is archived and takes no bids; choose another team"),
            ),
            None => checks.refuse(&format!("{at}team"), format!("there is no team {team}")),
        }
    }

    /// Checks what holds for every bid, a person's or a program's; `at` is the path before its fields. Of a chip type that is
    /// retired a bid may keep what it says already.
    pub(super) fn check_terms(&self, checks: &mut Checks, at: &str, terms: &BidTerms, kept: &[Alternative]) {
        checks.name(&format!("{at}name"), &terms.name);
        checks.length(&format!("{at}note"), &terms.note, MAX_TEXT);
        checks.range(&format!("{at}position"), terms.position, 0, MAX_MICROS.unsigned_abs());
        if let Some(limit) = terms.limit {
            checks.range(&format!("{at}limit"), limit.0, 0, MAX_MICROS.unsigned_abs());
        }
        if let Some(work) = terms.work_chip_seconds {
            checks.range(&format!("{at}work_chip_seconds"), work, 1, MAX_MICROS.unsigned_abs());
        }
        if let (Some(from), Some(to)) = (terms.not_before, terms.not_after)
            && from >= to
        {
            checks.refuse(&format!("{at}not_after"), format!("is {to}; it must be after not_before, {from}"));
        }
        if terms.alternatives.is_empty() || terms.alternatives.len() > MAX_ALTERNATIVES {
            let count = terms.alternatives.len();
            checks.refuse(
                &format!("{at}alternatives"),
                format!("are {count}; name 1 to {MAX_ALTERNATIVES} chip types"),
            );
        }
        let mut seen = BTreeSet::new();
        for (index, alternative) in terms.alternatives.iter().enumerate() {
            let at = format!("{at}alternatives[{index}].");
            let id = &alternative.chip_type;
            match self.chip_types.get(id) {
                Some(false) if !kept.contains(alternative) => checks.refuse(
                    &format!("{at}chip_type"),
                    format!("{id} is retired and takes no new bids; choose another chip type"),
                ),
                Some(_) => {}
                None => checks.refuse(&format!("{at}chip_type"), format!("there is no chip type {id}")),
            }
            if !seen.insert(&alternative.chip_type) {
                checks.refuse(&format!("{at}chip_type"), format!("{} is named twice", alternative.chip_type));
            }
            checks.range(&format!("{at}chips"), alternative.chips.0, 1, MAX_CHIPS);
            checks.range(&format!("{at}min_chips"), alternative.min_chips.0, 1, alternative.chips.0.max(1));
        }
    }
}
