//! Changes of several bids at once, all or none: their order, pauses, ends.

use std::collections::BTreeSet;

use common::api::{BidChange, BidsChanged, ChangeBids, MoveBids};
use common::ids::{BidId, TeamId};
use common::instant::Instant;

use super::super::Services;
use super::super::bids;
use super::super::changes::next_cycle;
use super::super::placing::POSITION_GAP;
use crate::error::AppError;
use crate::policy::{Action, Viewer};
use crate::store::Tx;
use crate::store::bids::{BidTerms, BidVersion};
use crate::store::queue::{self, QueuePlace};

/// Bids changed at most by one request.
const MOST_BIDS: usize = 500;

impl Services {
    /// Puts bids elsewhere in their team's queue, from the next cycle on. Moves at the same time come one after the
    /// other; the last one holds.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: a bid is not in the queue, or named twice. `Unavailable`:
    /// the database does not take the write.
    pub async fn move_bids(&self, viewer: &Viewer, change: MoveBids) -> Result<BidsChanged, AppError> {
        let latest = self.latest().await?;
        Self::team_for(&latest, viewer, Action::ChangeBids, &change.team)?;
        check_list(&change.bids)?;
        let now = self.now();
        self.writes.run(move |tx| Box::pin(move_in(tx, now, change))).await
    }

    /// Pauses, resumes or ends bids, all or none, from the next cycle on. A bid that is so already is left as it is.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `Invalid`: a bid is none of the team's, or named twice. `Conflict`: a
    /// bid is over otherwise. `Unavailable`: the database does not take the write.
    pub async fn change_bids(&self, viewer: &Viewer, change: ChangeBids) -> Result<BidsChanged, AppError> {
        let latest = self.latest().await?;
        Self::team_for(&latest, viewer, Action::ChangeBids, &change.team)?;
        check_list(&change.bids)?;
        let now = self.now();
        self.writes.run(move |tx| Box::pin(change_in(tx, now, change))).await
    }
}

fn check_list(bids: &[BidId]) -> Result<(), AppError> {
    if bids.is_empty() || bids.len() > MOST_BIDS {
        return Err(AppError::invalid("bids", format!("are {}; name 1 to {MOST_BIDS}", bids.len())));
    }
    let mut seen = BTreeSet::new();
    match bids.iter().position(|id| !seen.insert(id)) {
        Some(index) => Err(AppError::invalid(format!("bids[{index}]"), "is named twice")),
        None => Ok(()),
    }
}

fn not_in_queue(field: impl Into<String>, id: &BidId) -> AppError {
    AppError::invalid(field, format!("is {id}, but the team has no such bid"))
}

async fn change_in(tx: &mut Tx, now: Instant, request: ChangeBids) -> Result<BidsChanged, AppError> {
    let mut changed = Vec::new();
    for (index, id) in request.bids.into_iter().enumerate() {
        let before = of_team(tx, &request.team, &id, || format!("bids[{index}]")).await?;
        let after = match request.change {
            BidChange::Pause => bids::set_paused(tx, now, &id, true).await?,
            BidChange::Resume => bids::set_paused(tx, now, &id, false).await?,
            BidChange::Cancel => bids::cancel(tx, now, &id).await?,
        };
        if after.version != before.version {
            changed.push(id);
        }
    }
    Ok(BidsChanged { changed, effective_cycle: next_cycle(tx).await? })
}

async fn of_team(
    tx: &mut Tx,
    team: &TeamId,
    id: &BidId,
    field: impl Fn() -> String,
) -> Result<BidVersion, AppError> {
    match crate::store::bids::newest(tx, id).await? {
        Some(bid) if bid.team == *team => Ok(bid),
        // Another team's bid is not told from none.
        Some(_) | None => Err(not_in_queue(field(), id)),
    }
}

async fn move_in(tx: &mut Tx, now: Instant, request: MoveBids) -> Result<BidsChanged, AppError> {
    let MoveBids { team, bids: moved, before } = request;
    let places = queue::places(tx, &team).await?;
    for (index, id) in moved.iter().enumerate() {
        if !places.iter().any(|place| place.id == *id) {
            let bid = of_team(tx, &team, id, || format!("bids[{index}]")).await?;
            bids::refuse_ended(&bid)?;
        }
    }
    let order = reordered(&places, &moved, before.as_ref())?;
    let mut changed = Vec::new();
    for (place, position) in repositioned(&order, &moved) {
        let present = bids::newest_bid(tx, &place.id).await?;
        let terms = BidTerms { position, ..present.terms.clone() };
        bids::add_version(tx, now, BidVersion { terms, ..present }).await?;
        if moved.contains(&place.id) {
            changed.push(place.id.clone());
        }
    }
    Ok(BidsChanged { changed, effective_cycle: next_cycle(tx).await? })
}

/// The queue with the moved bids together, in their given order, before another one or at the end.
fn reordered<'a>(
    places: &'a [QueuePlace],
    moved: &[BidId],
    before: Option<&BidId>,
) -> Result<Vec<&'a QueuePlace>, AppError> {
    let mut order: Vec<&QueuePlace> = places.iter().filter(|place| !moved.contains(&place.id)).collect();
    let at = match before {
        None => order.len(),
        Some(id) if moved.contains(id) => {
            return Err(AppError::invalid(
                "before",
                format!("is {id}, which is moved itself; name another bid"),
            ));
        }
        Some(id) => {
            order.iter().position(|place| place.id == *id).ok_or_else(|| not_in_queue("before", id))?
        }
    };
    let of = |id: &BidId| places.iter().find(|place| place.id == *id);
    let moved: Vec<&QueuePlace> = moved.iter().filter_map(of).collect();
    order.splice(at..at, moved);
    Ok(order)
}

/// Least distance between the positions of bids that are spread out.
const SPREAD_GAP: u64 = POSITION_GAP / 16;

/// The bids that need another position for the queue to stand in `order`, with that position. As a rule these are the
/// moved ones; where there is no room between their neighbours, those around them spread out as well.
fn repositioned<'a>(order: &[&'a QueuePlace], moved: &[BidId]) -> Vec<(&'a QueuePlace, u64)> {
    if order.is_sorted_by(|a, b| a < b) {
        return Vec::new();
    }
    let is_moved = |place: &&QueuePlace| moved.contains(&place.id);
    let (Some(first), Some(last)) = (order.iter().position(is_moved), order.iter().rposition(is_moved))
    else {
        return Vec::new();
    };
    // Any room is enough for the moved bids alone. Where others must move too, all get room for moves to come: else the
    // next move into the same gap would spread them out again.
    let (mut from, mut to, mut widen, mut room) = (first, last + 1, 1, 1);
    loop {
        let count = (to - from) as u64;
        let low = from.checked_sub(1).map_or(0, |before| order[before].position);
        let high = order.get(to).map_or_else(|| low + (count + 1) * POSITION_GAP, |next| next.position);
        let step = high.saturating_sub(low) / (count + 1);
        if step >= room {
            let positions = (1..=count).map(|nth| low + nth * step);
            let spread = order[from..to].iter().copied().zip(positions);
            return spread.filter(|(place, position)| place.position != *position).collect();
        }
        (from, to) = (from.saturating_sub(widen), (to + widen).min(order.len()));
        (widen, room) = (widen * 2, SPREAD_GAP);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(position: u64, nth: usize) -> QueuePlace {
        QueuePlace { position, id: BidId::new(format!("b{nth:03}")).unwrap() }
    }

    fn queue_of(positions: &[u64]) -> Vec<QueuePlace> {
        let mut places: Vec<QueuePlace> =
            positions.iter().enumerate().map(|(nth, position)| place(*position, nth)).collect();
        places.sort();
        places
    }

    fn applied(places: &[QueuePlace], changes: &[(&QueuePlace, u64)]) -> Vec<QueuePlace> {
        let mut after = places.to_vec();
        for (place, position) in changes {
            let bid = after.iter_mut().find(|bid| bid.id == place.id).unwrap();
            bid.position = *position;
        }
        after.sort();
        after
    }

    #[test]
    fn a_move_between_two_bids_writes_one_version() {
        let places = queue_of(&[POSITION_GAP, 2 * POSITION_GAP, 3 * POSITION_GAP]);
        let moved = [places[2].id.clone()];
        let order = reordered(&places, &moved, Some(&places[1].id)).unwrap();
        let changes = repositioned(&order, &moved);
        assert_eq!(changes, [(&places[2], POSITION_GAP + POSITION_GAP / 2)]);
    }

    #[test]
    fn a_move_to_where_it_stands_writes_nothing() {
        let places = queue_of(&[1, 2, 3]);
        let moved = [places[1].id.clone()];
        let order = reordered(&places, &moved, Some(&places[2].id)).unwrap();
        assert!(repositioned(&order, &moved).is_empty());
    }

    #[test]
    fn the_same_gap_takes_many_moves() {
        let mut places = queue_of(&(1..=200).map(|nth| nth * POSITION_GAP).collect::<Vec<_>>());
        let mut written = 0;
        for _ in 0..500 {
            let moved = [places[150].id.clone()];
            let before = places[1].id.clone();
            let order = reordered(&places, &moved, Some(&before)).unwrap();
            let expected: Vec<BidId> = order.iter().map(|place| place.id.clone()).collect();
            let changes = repositioned(&order, &moved);
            written += changes.len();
            places = applied(&places, &changes);
            assert_eq!(places.iter().map(|place| place.id.clone()).collect::<Vec<_>>(), expected);
        }
        assert!(written < 2_500, "{written} versions for 500 moves");
    }

    proptest! {
        #[test]
        fn a_moved_queue_stands_as_asked(
            positions in prop::collection::vec(0_u64..6, 1..12),
            moved in prop::collection::btree_set(0_usize..12, 1..5),
            before in 0_usize..14,
        ) {
            let places = queue_of(&positions);
            let moved: Vec<BidId> =
                moved.into_iter().rev().filter_map(|nth| places.get(nth)).map(|place| place.id.clone()).collect();
            let before = places.get(before).map(|place| place.id.clone()).filter(|id| !moved.contains(id));
            let order = reordered(&places, &moved, before.as_ref()).unwrap();
            let expected: Vec<BidId> = order.iter().map(|place| place.id.clone()).collect();
            let after = applied(&places, &repositioned(&order, &moved));
            prop_assert_eq!(after.into_iter().map(|place| place.id).collect::<Vec<_>>(), expected);
        }
    }
}
