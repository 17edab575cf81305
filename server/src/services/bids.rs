//! Places, amends, pauses and cancels bids. Each change takes effect in the next cycle.

use std::collections::BTreeMap;

use common::ids::{BidId, ChipTypeId, TeamId, UserId};
use common::instant::Instant;
use market::snapshot::Alternative;
use sha2::{Digest, Sha256};

use super::bid_checks::{Known, Openness, check_team, check_terms};
use super::checks::Checks;
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::bids::{self, Behind, BidState, BidTerms, BidVersion};
use crate::store::queue;

/// Between the positions of two bids that are placed one after the other: room for others to be moved between them.
pub(super) const POSITION_GAP: u64 = 1 << 20;

/// The path before the fields of a person's bid.
pub(super) const TERMS: &str = "terms.";

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
    let mut known = Known::default();
    let mut checks = Checks::default();
    for (index, bid) in bids.iter().enumerate() {
        let at = if bids.len() == 1 { String::new() } else { format!("bids[{index}].") };
        check_team(tx, &mut known, &mut checks, &at, &bid.team).await?;
        check_terms(tx, &mut known, &mut checks, &at, &bid.terms, &[]).await?;
    }
    checks.finish()?;
    let mut new = Vec::with_capacity(bids.len());
    let mut placed = bids::request_sha256s(tx, bids.iter().map(|bid| &bid.id)).await?;
    for bid in bids {
        let request = request_sha256(&bid)?;
        if is_new(&bid.id, placed.get(&bid.id).copied(), request)? {
            placed.insert(bid.id.clone(), request);
            new.push((bid, request));
        }
    }
    insert(tx, now, new).await
}

/// What a person's bid is placed behind; none where the same request placed it before, which answers what it answered, also
/// when its fields would be wrong by now.
///
/// # Errors
/// `Conflict`: the id is taken by another bid.
pub(super) async fn behind(tx: &mut Tx, bid: &NewBid) -> Result<Option<Behind>, AppError> {
    let behind = bids::behind(tx, &bid.id, &bid.team, first_chip_type(&bid.terms)).await?;
    Ok(is_new(&bid.id, behind.request_sha256, request_sha256(bid)?)?.then_some(behind))
}

/// The only chip type of most bids.
fn first_chip_type(terms: &BidTerms) -> Option<&ChipTypeId> {
    terms.alternatives.first().map(|one| &one.chip_type)
}

/// Places a person's bid behind the team's queue. Field paths begin with `terms.`.
///
/// # Errors
/// `Invalid`: a field is wrong, or was found to be so far.
pub(super) async fn place_for(
    tx: &mut Tx,
    now: Instant,
    placed_by: &UserId,
    (bid, behind): (NewBid, &Behind),
    mut checks: Checks,
) -> Result<BidVersion, AppError> {
    let mut known = Known::default();
    known.add_team(&bid.team, behind.is_team_archived);
    if let Some(chip_type) = first_chip_type(&bid.terms) {
        known.add_chip_type(chip_type, behind.is_chip_type_retired);
    }
    check_team(tx, &mut known, &mut checks, "", &bid.team).await?;
    check_terms(tx, &mut known, &mut checks, TERMS, &bid.terms, &[]).await?;
    checks.finish()?;
    let request = request_sha256(&bid)?;
    let NewBid { id, team, terms } = bid;
    let terms = BidTerms { position: behind.last_position + POSITION_GAP, ..terms };
    let version =
        BidVersion { number: behind.next_number, id, team, version: 1, terms, state: BidState::Live };
    let new = [(version, request)];
    bids::insert_first(tx, now, Some(placed_by), &new).await?;
    let [(version, _)] = new;
    Ok(version)
}

/// Whether a request is no repetition of the one that placed a bid of its id.
fn is_new(id: &BidId, placed: Option<[u8; 32]>, request: [u8; 32]) -> Result<bool, AppError> {
    match placed {
        None => Ok(true),
        Some(before) if before == request => Ok(false),
        Some(_) => Err(AppError::conflict(format!(
            "the id {id} is taken by another bid; make a new id for a new bid"
        ))),
    }
}

async fn insert(tx: &mut Tx, now: Instant, bids: Vec<(NewBid, [u8; 32])>) -> Result<usize, AppError> {
    let mut next_number = bids::next_number(tx).await?;
    let mut last_positions: BTreeMap<TeamId, u64> = BTreeMap::new();
    let mut new = Vec::with_capacity(bids.len());
    for (mut bid, request) in bids {
        if bid.terms.position == 0 {
            bid.terms.position = take_position(tx, &mut last_positions, &bid.team).await?;
        }
        let NewBid { id, team, terms } = bid;
        new.push((
            BidVersion { number: next_number, id, team, version: 1, terms, state: BidState::Live },
            request,
        ));
        next_number += 1;
    }
    bids::insert_first(tx, now, None, &new).await?;
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
    let present = open_bid(tx, id, expected_version).await?;
    let mut checks = Checks::default();
    check_terms(tx, &mut Known::default(), &mut checks, "", &terms, &present.terms.alternatives).await?;
    checks.finish()?;
    if terms == present.terms {
        return Ok(present);
    }
    add_version(tx, now, BidVersion { terms, ..present }).await
}

/// Replaces what a bid says for a person who saw its version `seen`; the place in the queue stays. A bid that says so
/// already is left as it is, so that a repeated request changes nothing. Field paths begin with `terms.`.
///
/// # Errors
/// `NotFound`: there is no such bid. `Conflict`: it is over. `PreconditionFailed`: it says something else than in that
/// version; being moved in the queue does not count. `Invalid`: a field is wrong.
pub(super) async fn amend_for(
    tx: &mut Tx,
    now: Instant,
    id: &BidId,
    seen: Option<u64>,
    terms: BidTerms,
    mut checks: Checks,
) -> Result<(), AppError> {
    let present = newest_bid(tx, id).await?;
    let terms = BidTerms { position: present.terms.position, ..terms };
    if terms == present.terms {
        return Ok(());
    }
    refuse_ended(&present)?;
    if let Some(seen) = seen.filter(|seen| *seen != present.version) {
        let before = queue::version(tx, present.number, seen).await?;
        let says = |bid: &BidVersion| (BidTerms { position: 0, ..bid.terms.clone() }, bid.state);
        if before.as_ref().map(says) != Some(says(&present)) {
            return Err(changed_since(&present, seen));
        }
    }
    check_terms(tx, &mut Known::default(), &mut checks, TERMS, &terms, &present.terms.alternatives).await?;
    checks.finish()?;
    add_version(tx, now, BidVersion { terms, ..present }).await.map(drop)
}

fn changed_since(present: &BidVersion, seen: u64) -> AppError {
    AppError::new(
        ErrorKind::PreconditionFailed,
        format!(
            "the bid was changed since you read it: it is at version {}, your change was made from version {seen}; \
             compare the two and send your change again",
            present.version
        ),
    )
}

/// Takes a bid out of the market until it is resumed, or back in.
///
/// # Errors
/// `NotFound`: there is no such bid. `Conflict`: it is over, or would come back to a chip type that is retired.
pub async fn set_paused(tx: &mut Tx, now: Instant, id: &BidId, paused: bool) -> Result<BidVersion, AppError> {
    let present = open_bid(tx, id, None).await?;
    let state = if paused { BidState::Paused } else { BidState::Live };
    if present.state == state {
        return Ok(present);
    }
    for Alternative { chip_type, .. } in present.terms.alternatives.iter().filter(|_| !paused) {
        if Openness::of_chip_type(tx, chip_type).await? == Openness::Closed {
            let name = &present.terms.name;
            let message = format!(
                "the bid {name:?} names {chip_type}, which is retired; choose another chip type for it, then resume it"
            );
            return Err(AppError::new(ErrorKind::Conflict, message));
        }
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

pub(super) async fn newest_bid(tx: &mut Tx, id: &BidId) -> Result<BidVersion, AppError> {
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

pub(super) fn refuse_ended(bid: &BidVersion) -> Result<(), AppError> {
    if bid.state.is_end() {
        let message = format!("the bid {} is {} and stays so; place a new one", bid.id, bid.state.as_str());
        return Err(AppError::new(ErrorKind::Conflict, message));
    }
    Ok(())
}

pub(super) async fn add_version(
    tx: &mut Tx,
    now: Instant,
    present: BidVersion,
) -> Result<BidVersion, AppError> {
    let bid = BidVersion { version: present.version + 1, ..present };
    bids::insert_versions(tx, now, None, [&bid]).await?;
    Ok(bid)
}

/// The next place behind a team's queue; counts on over several bids of one request.
async fn take_position(
    tx: &mut Tx,
    last: &mut BTreeMap<TeamId, u64>,
    team: &TeamId,
) -> Result<u64, AppError> {
    let position = match last.get(team) {
        Some(position) => *position,
        None => bids::last_position(tx, team).await?,
    };
    let position = position + POSITION_GAP;
    last.insert(team.clone(), position);
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
