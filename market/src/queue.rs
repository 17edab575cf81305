//! One team's queue, and changes to it that are tried out before anybody makes them.

use common::ids::BidId;
use common::instant::Instant;
use common::money::Price;

use crate::builder::{AlternativeInput, ChipTypeIndex, is_in_window};
use crate::checks::{check_alternatives, check_different, check_price};
use crate::curve::NO_LIMIT;
use crate::error::SnapshotError;
use crate::market::{AlternativeRow, BidName, BidRow, Market, NO_ALTERNATIVE, global_limit};
use crate::snapshot::Alternative;

/// A bid as it would be placed or amended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The bid: one of the team's queue, or any new id.
    pub id: BidId,
    /// What it would take, in order of preference; at least one, each chip type once.
    pub alternatives: Vec<Alternative>,
    /// Most it pays in local credits per chip-hour; absent is no limit.
    pub limit: Option<Price>,
    /// Not before this instant.
    pub not_before: Option<Instant>,
    /// Not at or after this instant.
    pub not_after: Option<Instant>,
}

/// One change to a team's queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new bid at the end of the queue; or, where the queue has one of its id, that bid amended. It keeps its place,
    /// and the chip type that it held in the last cycle if that is still among its alternatives.
    Put(Draft),
    /// A bid is gone: cancelled, or paused.
    Remove(BidId),
    /// These bids stand first, in this order; the others follow as they were.
    Order(Vec<BidId>),
}

/// A team's bids in the order of its queue, apart from the market that they are a part of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) bids: Vec<QueuedBid>,
}

/// A bid with its alternatives; the row's own index of them is of no account here.
#[derive(Clone, Debug)]
pub(crate) struct QueuedBid {
    pub(crate) name: BidName,
    pub(crate) row: BidRow,
    pub(crate) alternatives: Vec<AlternativeRow>,
}

impl Queue {
    /// The queue of a team as it is.
    pub(crate) fn of(market: &Market, team: usize) -> Self {
        let queued = |bid: usize| QueuedBid {
            name: market.names[bid].clone(),
            row: market.bids[bid],
            alternatives: market.alternatives_of(bid).to_vec(),
        };
        Self { bids: market.bids_of(team).map(queued).collect() }
    }

    pub(crate) fn position(&self, id: &BidId) -> Option<usize> {
        self.bids.iter().position(|bid| bid.name.id == *id)
    }

    /// Makes the changes, in their order.
    pub(crate) fn change(
        &mut self,
        market: &Market,
        team: usize,
        changes: &[Change],
    ) -> Result<(), SnapshotError> {
        for (nth, change) in changes.iter().enumerate() {
            match change {
                Change::Put(draft) => self.put(market, team, draft, &format!("changes[{nth}]"))?,
                Change::Remove(id) => {
                    let place = self.find(id, || format!("changes[{nth}].bid"))?;
                    self.bids.remove(place);
                }
                Change::Order(ids) => self.order(ids, &format!("changes[{nth}].order"))?,
            }
        }
        Ok(())
    }

    fn find(&self, id: &BidId, path: impl FnOnce() -> String) -> Result<usize, SnapshotError> {
        self.position(id).ok_or_else(|| {
            SnapshotError::new(path(), format!("is {:?}, but the queue has no such bid", id.as_str()))
        })
    }

    fn order(&mut self, ids: &[BidId], path: &str) -> Result<(), SnapshotError> {
        // Those already moved stand at the front.
        for (nth, id) in ids.iter().enumerate() {
            let place = self.find(id, || format!("{path}[{nth}]"))?;
            if place < nth {
                return Err(SnapshotError::twice(format!("{path}[{nth}]"), id));
            }
            self.bids[nth..=place].rotate_right(1);
        }
        Ok(())
    }

    fn put(&mut self, market: &Market, team: usize, draft: &Draft, path: &str) -> Result<(), SnapshotError> {
        if let Some(limit) = draft.limit {
            check_price(limit, || format!("{path}.limit"))?;
        }
        check_different(|| path.to_owned(), &draft.alternatives)?;
        let inputs: Vec<AlternativeInput> =
            draft.alternatives.iter().map(|alternative| known(market, alternative)).collect();
        check_alternatives(|| path.to_owned(), &inputs)?;
        let alternatives: Vec<AlternativeRow> = inputs.iter().map(AlternativeRow::from).collect();
        let place = self.position(&draft.id);
        let held = place.and_then(|place| {
            let old = &self.bids[place];
            let held = old.alternatives.get(usize::from(old.row.held))?.chip_type;
            alternatives.iter().position(|alternative| alternative.chip_type == held)
        });
        let local_limit = draft.limit.map_or(NO_LIMIT, |limit| limit.0);
        let pool = &market.pools[market.teams[team].pool as usize];
        let row = BidRow {
            limit: global_limit(local_limit, pool.weight, pool.incomes),
            first_alternative: 0,
            alternatives: u8::try_from(alternatives.len()).unwrap_or(NO_ALTERNATIVE),
            held: held.and_then(|held| u8::try_from(held).ok()).unwrap_or(NO_ALTERNATIVE),
            in_window: is_in_window(market.time, draft.not_before, draft.not_after),
        };
        let name = BidName { id: draft.id.clone(), local_limit, nth: u32::MAX };
        let bid = QueuedBid { name, row, alternatives };
        match place {
            Some(place) => self.bids[place] = bid,
            None => self.bids.push(bid),
        }
        Ok(())
    }
}

/// An alternative with the number of its chip type in the market; a type that the market does not have cannot be
/// had, as in a snapshot.
fn known(market: &Market, alternative: &Alternative) -> AlternativeInput {
    let place = market.chip_types.binary_search_by(|row| row.id.cmp(&alternative.chip_type));
    let chip_type = place.ok().and_then(|place| u32::try_from(place).ok()).map(ChipTypeIndex);
    AlternativeInput { chip_type, chips: alternative.chips, min_chips: alternative.min_chips }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    fn market() -> Market {
        let alternative = r#""alternatives": [{"chip_type": "A100", "chips": 2, "min_chips": 1}]"#;
        let bid =
            |id| format!(r#"{{"id": "{id}", "team": "t", "position": 0, {alternative}, "held": "A100"}}"#);
        let json = format!(
            r#"{{"cycle": 1, "time": "2026-11-30T00:00:00Z",
            "chip_types": [{{"id": "A100", "shared": 8}}],
            "pools": [{{"id": "p", "weight": "10.00"}}],
            "teams": [{{"id": "t", "pool": "p", "income": "10.00", "balance": "0.00"}}],
            "bids": [{}, {}, {}]}}"#,
            bid("a"),
            bid("b"),
            bid("c")
        );
        let snapshot: Snapshot = serde_json::from_str(&json).unwrap();
        Market::build(&snapshot).unwrap()
    }

    fn id(text: &str) -> BidId {
        BidId::new(text).unwrap()
    }

    fn draft(text: &str, chip_type: &str, chips: u64) -> Draft {
        let alternative = format!(r#"{{"chip_type": "{chip_type}", "chips": {chips}, "min_chips": 1}}"#);
        Draft {
            id: id(text),
            alternatives: vec![serde_json::from_str(&alternative).unwrap()],
            limit: None,
            not_before: None,
            not_after: None,
        }
    }

    fn changed(changes: &[Change]) -> Result<Vec<String>, String> {
        let market = market();
        let mut queue = Queue::of(&market, 0);
        queue.change(&market, 0, changes).map_err(|error| error.to_string())?;
        Ok(queue.bids.iter().map(|bid| bid.name.id.to_string()).collect())
    }

    #[test]
    fn bids_come_go_and_move() {
        assert_eq!(changed(&[Change::Order(vec![id("c"), id("a")])]).unwrap(), ["c", "a", "b"]);
        assert_eq!(changed(&[Change::Remove(id("b"))]).unwrap(), ["a", "c"]);
        assert_eq!(changed(&[Change::Put(draft("b", "A100", 1))]).unwrap(), ["a", "b", "c"]);
        let new = Change::Put(draft("0", "A100", 1));
        assert_eq!(changed(&[new, Change::Order(vec![id("b"), id("0")])]).unwrap(), ["b", "0", "a", "c"]);
    }

    #[test]
    fn an_amended_bid_keeps_what_it_held() {
        let market = market();
        let mut queue = Queue::of(&market, 0);
        let changes = [Change::Put(draft("b", "A100", 5)), Change::Put(draft("d", "A100", 5))];
        queue.change(&market, 0, &changes).unwrap();
        assert_eq!((queue.bids[1].row.held, queue.bids[3].row.held), (0, NO_ALTERNATIVE));
        queue.change(&market, 0, &[Change::Put(draft("b", "retired", 5))]).unwrap();
        assert_eq!(queue.bids[1].row.held, NO_ALTERNATIVE);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |changes: &[Change]| changed(changes).unwrap_err();
        let remove = Change::Remove(id("x"));
        assert_eq!(refused(&[remove]), "changes[0].bid is \"x\", but the queue has no such bid");
        let order = Change::Order(vec![id("c"), id("c")]);
        assert_eq!(refused(&[order]), "changes[0].order[1] is \"c\", which is given twice");
        let none = Change::Put(draft("d", "A100", 0));
        assert_eq!(
            refused(&[Change::Remove(id("a")), none]),
            "changes[1].alternatives[0].chips is 0; the least is 1"
        );
        let mut twice = draft("d", "retired", 1);
        twice.alternatives.push(twice.alternatives[0].clone());
        assert_eq!(
            refused(&[Change::Put(twice)]),
            "changes[0].alternatives[1].chip_type is \"retired\", which is given twice"
        );
    }
}
