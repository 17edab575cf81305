//! Places, amends, pauses and cancels bids. Each change takes effect in the next cycle.

use common::ids::{BidId, TeamId};
use common::instant::Instant;
use market::snapshot::Alternative;
use sha2::{Digest, Sha256};

use super::bid_checks::Known;
use super::checks::Checks;
use super::placing::Placing;
use crate::error::{AppError, ErrorKind};
use crate::store::Tx;
use crate::store::bids::{self, BidState, BidTerms, BidVersion};
use crate::store::queue;

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
    let mut placing = Placing::begin(tx, &bids).await?;
    let mut checks = Checks::default();
    for (index, bid) in bids.iter().enumerate() {
        let at = if bids.len() == 1 { String::new() } else { format!("bids[{index}].") };
        placing.known().check_team(&mut checks, &at, &bid.team);
        placing.known().check_terms(&mut checks, &at, &bid.terms, &[]);
    }
    checks.finish()?;
    let mut new = 0;
    for bid in bids {
        if let Some(request) = placing.new_request(&bid)? {
            placing.add(bid, request, now, None);
            new += 1;
        }
    }
    placing.write(tx).await?;
    Ok(new)
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
    let known = Known::of_terms(tx, [&terms].into_iter()).await?;
    known.check_terms(&mut checks, "", &terms, &present.terms.alternatives);
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
    let known = Known::of_terms(tx, [&terms].into_iter()).await?;
    known.check_terms(&mut checks, TERMS, &terms, &present.terms.alternatives);
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
    let known = Known::of_terms(tx, [&present.terms].into_iter()).await?;
    for Alternative { chip_type, .. } in present.terms.alternatives.iter().filter(|_| !paused) {
        if known.is_retired(chip_type) {
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
pub(super) fn request_sha256(bid: &NewBid) -> Result<[u8; 32], AppError> {
    let terms = &bid.terms;
    let text = serde_json::to_vec(&(
        bid.team.as_str(),
        (&terms.name, &terms.note, terms.position, &terms.alternatives),
        (terms.limit, terms.not_before, terms.not_after, terms.work_chip_seconds),
    ))
    .map_err(AppError::internal)?;
    Ok(Sha256::digest(text).into())
}
