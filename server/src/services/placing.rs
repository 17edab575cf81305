//! New bids, of one request or of many people at once: a few looks tell what all of them are checked against, and they are
//! written together. Each statement of a write keeps other writers waiting.

use std::collections::BTreeMap;

use common::ids::{BidId, TeamId, UserId};
use common::instant::Instant;

use super::bid_checks::Known;
use super::bids::{NewBid, request_sha256};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::bids::{self, BidState, BidTerms, BidVersion, FirstVersion, QueueEnd};

/// Between the positions of two bids that are placed one after the other: room for others to be moved between them.
pub(super) const POSITION_GAP: u64 = 1 << 20;

/// Bids that are being placed in a transaction.
pub(super) struct Placing {
    known: Known,
    /// The hashes of the requests that placed bids of these ids.
    requests: BTreeMap<BidId, [u8; 32]>,
    /// The ends of the teams' queues, with the bids added so far.
    ends: BTreeMap<TeamId, QueueEnd>,
    next_number: u64,
    next_cycle: u64,
    /// Added, and not written yet.
    added: Vec<FirstVersion>,
}

impl Placing {
    /// Looks up what bids are checked against and placed behind.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub(super) async fn begin(tx: &mut Tx, bids: &[NewBid]) -> Result<Self, AppError> {
        let requests = bids::request_sha256s(tx, bids.iter().map(|bid| &bid.id)).await?;
        let ends = bids::queue_ends(tx, bids.iter().map(|bid| &bid.team)).await?;
        let mut known = Known::of_terms(tx, bids.iter().map(|bid| &bid.terms)).await?;
        for (team, end) in &ends {
            known.add_team(team.clone(), end.is_archived);
        }
        let (next_number, next_cycle) = bids::next_numbers(tx).await?;
        Ok(Self { known, requests, ends, next_number, next_cycle, added: Vec::new() })
    }

    /// What there is of what the bids name.
    pub(super) const fn known(&self) -> &Known {
        &self.known
    }

    /// The cycle that is cleared next.
    pub(super) const fn next_cycle(&self) -> u64 {
        self.next_cycle
    }

    /// Whether a team's newest allowance is a hard one.
    pub(super) fn has_hard_allowance(&self, team: &TeamId) -> bool {
        self.ends.get(team).is_some_and(|end| end.has_hard_allowance)
    }

    /// The hash of the request for a bid; none where the same request placed it before.
    ///
    /// # Errors
    /// `Conflict`: the id is taken by another bid.
    pub(super) fn new_request(&self, bid: &NewBid) -> Result<Option<[u8; 32]>, AppError> {
        let request = request_sha256(bid)?;
        match self.requests.get(&bid.id) {
            None => Ok(Some(request)),
            Some(before) if *before == request => Ok(None),
            Some(_) => Err(AppError::conflict(format!(
                "the id {} is taken by another bid; make a new id for a new bid",
                bid.id
            ))),
        }
    }

    /// Adds a bid that was found to be right: where its position is 0, behind its team's queue. With it comes the number of
    /// its team's open bids, itself included. It is to be written.
    pub(super) fn add(
        &mut self,
        bid: NewBid,
        request_sha256: [u8; 32],
        placed_at: Instant,
        placed_by: Option<UserId>,
    ) -> (BidVersion, u64) {
        let NewBid { id, team, terms } = bid;
        self.requests.insert(id.clone(), request_sha256);
        let mut position = terms.position;
        let mut open = 1;
        if let Some(end) = self.ends.get_mut(&team) {
            if position == 0 {
                position = end.last_position + POSITION_GAP;
            }
            end.last_position = end.last_position.max(position);
            end.open += 1;
            open = end.open;
        }
        let terms = BidTerms { position, ..terms };
        let version =
            BidVersion { number: self.next_number, id, team, version: 1, terms, state: BidState::Live };
        self.next_number += 1;
        self.added.push(FirstVersion { version: version.clone(), request_sha256, placed_at, placed_by });
        (version, open)
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// `Unavailable`: the database does not take it.
    pub(super) async fn write(&mut self, tx: &mut Tx) -> Result<(), AppError> {
        bids::insert_first(tx, &std::mem::take(&mut self.added)).await
    }
}
