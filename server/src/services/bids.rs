//! Places, amends, pauses and cancels bids. Each change takes effect in the next cycle.

use std::collections::{BTreeMap, BTreeSet};

use common::chips::MAX_CHIPS;
use common::ids::{BidId, ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::MAX_MICROS;
use sha2::{Digest, Sha256};

use super::checks::{Checks, MAX_TEXT};
use super::organisation::newest_setup;
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::bids::{self, BidState, BidTerms, BidVersion};

/// Alternatives of a bid at most.
const MAX_ALTERNATIVES: usize = 32;

/// A bid to place. Its client makes the id, so that a repeated request is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBid {
    /// The bid.
    pub id: BidId,
    /// Its team.
    pub team: TeamId,
    /// What is bid. Position 0 puts it behind the team's last bid.
    pub terms: BidTerms,
}

/// Places a bid. The same request again changes nothing and answers the same.
///
/// # Errors
/// `Invalid`: a field is wrong. `Conflict`: the id is taken by another bid.
pub async fn place(tx: &mut Tx, now: Instant, bid: NewBid) -> Result<BidVersion, AppError> {
    let id = bid.id.clone();
    place_many(tx, now, vec![bid]).await?;
    newest_bid(tx, &id).await
}

/// Places many bids, all or none; what was placed before by the same request is left as it is. The answer is how many
/// are new.
///
/// # Errors
/// As [`place`]; field paths begin with `bids[n].` when there is more than one.
pub async fn place_many(tx: &mut Tx, now: Instant, bids: Vec<NewBid>) -> Result<usize, AppError> {
    let setup = newest_setup(tx).await?;
    let known = Known {
        teams: setup.teams.iter().map(|team| &team.id).collect(),
        chip_types: setup.chip_types.iter().map(|chip_type| &chip_type.id).collect(),
    };
    let mut checks = Checks::default();
    for (index, bid) in bids.iter().enumerate() {
        let at = if bids.len() == 1 { String::new() } else { format!("bids[{index}].") };
        if !known.teams.contains(&bid.team) {
            checks.refuse(&format!("{at}team"), format!("there is no team {}", bid.team));
        }
        check_terms(&mut checks, &at, &bid.terms, &known.chip_types);
    }
    checks.finish()?;

    let mut next_number = bids::next_number(tx).await?;
    let mut next_positions: BTreeMap<TeamId, u64> = BTreeMap::new();
    let mut seen: BTreeMap<BidId, [u8; 32]> = BTreeMap::new();
    let mut new = Vec::with_capacity(bids.len());
    for mut bid in bids {
        let request = request_sha256(&bid)?;
        let placed = match seen.get(&bid.id) {
            Some(before) => Some(*before),
            None => bids::request_sha256(tx, &bid.id).await?,
        };
        match placed {
            Some(before) if before == request => continue,
            Some(_) => {
                return Err(AppError::conflict(format!(
                    "the id {} is taken by another bid; make a new id for a new bid",
                    bid.id
                )));
            }
            None => seen.insert(bid.id.clone(), request),
        };
        if bid.terms.position == 0 {
            bid.terms.position = take_position(tx, &mut next_positions, &bid.team).await?;
        }
        let number = next_number;
        next_number += 1;
        let NewBid { id, team, terms } = bid;
        new.push((BidVersion { number, id, team, version: 1, terms, state: BidState::Live }, request));
    }
    bids::insert_identities(tx, now, &new).await?;
    bids::insert_versions(tx, now, None, new.iter().map(|(bid, _)| bid)).await?;
    Ok(new.len())
}

/// Replaces what a bid says.
///
/// # Errors
/// `NotFound`: there is no such bid. `Conflict`: it is over, or `expected_version` is not its newest. `Invalid`: a field
/// is wrong.
pub async fn amend(
    tx: &mut Tx,
    now: Instant,
    id: &BidId,
    expected_version: Option<u64>,
    terms: BidTerms,
) -> Result<BidVersion, AppError> {
    let setup = newest_setup(tx).await?;
    let chip_types = setup.chip_types.iter().map(|chip_type| &chip_type.id).collect();
    let present = open_bid(tx, id, expected_version).await?;
    let mut checks = Checks::default();
    check_terms(&mut checks, "", &terms, &chip_types);
    checks.finish()?;
    if terms == present.terms {
        return Ok(present);
    }
    add_version(tx, now, BidVersion { terms, ..present }).await
}

/// Takes a bid out of the market until it is resumed, or back in.
///
/// # Errors
/// `NotFound`: there is no such bid. `Conflict`: it is over.
pub async fn set_paused(tx: &mut Tx, now: Instant, id: &BidId, paused: bool) -> Result<BidVersion, AppError> {
    let present = open_bid(tx, id, None).await?;
    let state = if paused { BidState::Paused } else { BidState::Live };
    if present.state == state {
        return Ok(present);
    }
    add_version(tx, now, BidVersion { state, ..present }).await
}

/// Ends a bid. A bid that is cancelled already stays so.
///
/// # Errors
/// `NotFound`: there is no such bid. `Conflict`: it ended otherwise.
pub async fn cancel(tx: &mut Tx, now: Instant, id: &BidId) -> Result<BidVersion, AppError> {
    let present = newest_bid(tx, id).await?;
    if present.state == BidState::Cancelled {
        return Ok(present);
    }
    refuse_ended(&present)?;
    add_version(tx, now, BidVersion { state: BidState::Cancelled, ..present }).await
}

/// Ends many bids, all or none.
///
/// # Errors
/// As [`cancel`].
pub async fn cancel_many(tx: &mut Tx, now: Instant, ids: &[BidId]) -> Result<(), AppError> {
    for id in ids {
        cancel(tx, now, id).await?;
    }
    Ok(())
}

/// What exists, to check bids against.
struct Known<'a> {
    teams: BTreeSet<&'a TeamId>,
    chip_types: BTreeSet<&'a ChipTypeId>,
}

async fn newest_bid(tx: &mut Tx, id: &BidId) -> Result<BidVersion, AppError> {
    bids::newest(tx, id).await?.ok_or_else(|| AppError::not_found("bid", id))
}

/// The newest version of a bid that is not over.
async fn open_bid(tx: &mut Tx, id: &BidId, expected_version: Option<u64>) -> Result<BidVersion, AppError> {
    let present = newest_bid(tx, id).await?;
    refuse_ended(&present)?;
    match expected_version {
        Some(expected) if expected != present.version => Err(AppError::conflict(format!(
            "the bid {id} was changed since: it is at version {}, not {expected}; read it again",
            present.version
        ))),
        _ => Ok(present),
    }
}

fn refuse_ended(bid: &BidVersion) -> Result<(), AppError> {
    if bid.state.is_end() {
        let message = format!("the bid {} is {} and stays so; place a new one", bid.id, bid.state.as_str());
        return Err(AppError::new(ErrorKind::Conflict, message));
    }
    Ok(())
}

async fn add_version(tx: &mut Tx, now: Instant, present: BidVersion) -> Result<BidVersion, AppError> {
    let bid = BidVersion { version: present.version + 1, ..present };
    bids::insert_versions(tx, now, None, [&bid]).await?;
    Ok(bid)
}

/// The next free place behind a team's queue; counts on over several bids of one request.
async fn take_position(
    tx: &mut Tx,
    next: &mut BTreeMap<TeamId, u64>,
    team: &TeamId,
) -> Result<u64, AppError> {
    let position = match next.get(team) {
        Some(position) => *position,
        None => bids::next_position(tx, team).await?,
    };
    next.insert(team.clone(), position + 1);
    Ok(position)
}

/// Whether the first version of a bid says what the request with that hash said. A request may have left the place in
/// the queue open.
pub(crate) fn is_as_requested(placed: &BidVersion, request: [u8; 32]) -> Result<bool, AppError> {
    let (id, team, terms) = (placed.id.clone(), placed.team.clone(), placed.terms.clone());
    let mut bid = NewBid { id, team, terms };
    if request_sha256(&bid)? == request {
        return Ok(true);
    }
    bid.terms.position = 0;
    Ok(request_sha256(&bid)? == request)
}

/// The hash by which a repeated request is told from another one with the same id.
fn request_sha256(bid: &NewBid) -> Result<[u8; 32], AppError> {
    let terms = &bid.terms;
    let text = serde_json::to_vec(&(
        bid.team.as_str(),
        (&terms.name, &terms.note, terms.position, &terms.alternatives),
        (terms.limit, terms.not_before, terms.not_after, terms.work_chip_seconds),
    ))
    .map_err(AppError::internal)?;
    Ok(Sha256::digest(text).into())
}

fn check_terms(checks: &mut Checks, at: &str, terms: &BidTerms, chip_types: &BTreeSet<&ChipTypeId>) {
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
        if !chip_types.contains(&alternative.chip_type) {
            checks.refuse(
                &format!("{at}chip_type"),
                format!("there is no chip type {}", alternative.chip_type),
            );
        }
        if !seen.insert(&alternative.chip_type) {
            checks.refuse(&format!("{at}chip_type"), format!("{} is named twice", alternative.chip_type));
        }
        checks.range(&format!("{at}chips"), alternative.chips.0, 1, MAX_CHIPS);
        checks.range(&format!("{at}min_chips"), alternative.min_chips.0, 1, alternative.chips.0.max(1));
    }
}
