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

/// Whether bids may name a chip type, or be placed for a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// They may.
    Open,
    /// Not any more: it is retired or archived.
    Closed,
    /// There is none.
    Unknown,
}

impl Openness {
    /// From whether the newest version is retired or archived; none where there is none.
    const fn of(is_closed: Option<bool>) -> Self {
        match is_closed {
            None => Self::Unknown,
            Some(false) => Self::Open,
            Some(true) => Self::Closed,
        }
    }

    pub(super) async fn of_team(tx: &mut Tx, id: &TeamId) -> Result<Self, AppError> {
        Ok(Self::of(bids::is_team_archived(tx, id).await?))
    }

    pub(super) async fn of_chip_type(tx: &mut Tx, id: &ChipTypeId) -> Result<Self, AppError> {
        Ok(Self::of(bids::is_chip_type_retired(tx, id).await?))
    }
}

/// What exists, to check bids against: each looked up once.
#[derive(Default)]
pub(super) struct Known {
    teams: BTreeMap<TeamId, Openness>,
    chip_types: BTreeMap<ChipTypeId, Openness>,
}

impl Known {
    /// A team that was looked up: whether it is archived; none where there is no such team.
    pub(super) fn add_team(&mut self, id: &TeamId, is_archived: Option<bool>) {
        self.teams.insert(id.clone(), Openness::of(is_archived));
    }

    /// A chip type that was looked up: whether it is retired; none where there is no such type.
    pub(super) fn add_chip_type(&mut self, id: &ChipTypeId, is_retired: Option<bool>) {
        self.chip_types.insert(id.clone(), Openness::of(is_retired));
    }

    async fn team(&mut self, tx: &mut Tx, id: &TeamId) -> Result<Openness, AppError> {
        if let Some(known) = self.teams.get(id) {
            return Ok(*known);
        }
        let known = Openness::of_team(tx, id).await?;
        self.teams.insert(id.clone(), known);
        Ok(known)
    }

    async fn chip_type(&mut self, tx: &mut Tx, id: &ChipTypeId) -> Result<Openness, AppError> {
        if let Some(known) = self.chip_types.get(id) {
            return Ok(*known);
        }
        let known = Openness::of_chip_type(tx, id).await?;
        self.chip_types.insert(id.clone(), known);
        Ok(known)
    }
}

/// Checks that a team may bid; `at` is the path before its field.
pub(super) async fn check_team(
    tx: &mut Tx,
    known: &mut Known,
    checks: &mut Checks,
    at: &str,
    team: &TeamId,
) -> Result<(), AppError> {
    match known.team(tx, team).await? {
        Openness::Open => {}
        Openness::Closed => checks.refuse(
            &format!("{at}team"),
            format!("the team {team} is archived and takes no bids; choose another team"),
        ),
        Openness::Unknown => checks.refuse(&format!("{at}team"), format!("there is no team {team}")),
    }
    Ok(())
}

/// Checks what holds for every bid, a person's or a program's; `at` is the path before its fields. Of a chip type that is
/// retired a bid may keep what it says already.
pub(super) async fn check_terms(
    tx: &mut Tx,
    known: &mut Known,
    checks: &mut Checks,
    at: &str,
    terms: &BidTerms,
    kept: &[Alternative],
) -> Result<(), AppError> {
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
        match known.chip_type(tx, id).await? {
            Openness::Closed if !kept.contains(alternative) => checks.refuse(
                &format!("{at}chip_type"),
                format!("{id} is retired and takes no new bids; choose another chip type"),
            ),
            Openness::Open | Openness::Closed => {}
            Openness::Unknown => {
                checks.refuse(&format!("{at}chip_type"), format!("there is no chip type {id}"));
            }
        }
        if !seen.insert(&alternative.chip_type) {
            checks.refuse(&format!("{at}chip_type"), format!("{} is named twice", alternative.chip_type));
        }
        checks.range(&format!("{at}chips"), alternative.chips.0, 1, MAX_CHIPS);
        checks.range(&format!("{at}min_chips"), alternative.min_chips.0, 1, alternative.chips.0.max(1));
    }
    Ok(())
}
