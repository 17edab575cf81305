//! Small snapshots written by hand.

use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Bid, ChipType, Lending, OwnedChips, Pool, Snapshot, Team};

pub(crate) fn credits(text: &str) -> MicroCredits {
    text.parse().unwrap()
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

/// A market without anything in it.
pub(crate) fn empty(cycle: u64) -> Snapshot {
    Snapshot {
        cycle,
        time: "2026-11-30T14:03:00Z".parse().unwrap(),
        sustain_minutes: 120,
        chip_types: Vec::new(),
        pools: Vec::new(),
        teams: Vec::new(),
        bids: Vec::new(),
    }
}

pub(crate) fn chip_type(id: &str, shared: u64) -> ChipType {
    ChipType { id: ChipTypeId::new(id).unwrap(), shared: Chips(shared), reserve_price: Price(0) }
}

/// A pool whose weight is `weight` credits per hour.
pub(crate) fn pool(id: &str, weight: &str, owned: &[(&str, u64)]) -> Pool {
    let owned = owned
        .iter()
        .map(|(id, chips)| OwnedChips { chip_type: ChipTypeId::new(id).unwrap(), chips: Chips(*chips) })
        .collect();
    Pool {
        id: PoolId::new(id).unwrap(),
        weight: credits(weight),
        lending: Lending::All,
        owned,
        last_prices: Vec::new(),
    }
}

/// A team with an income, no balance and leverage 1: its cap is its income.
pub(crate) fn team(id: &str, pool: &str, income: &str) -> Team {
    Team {
        id: TeamId::new(id).unwrap(),
        pool: PoolId::new(pool).unwrap(),
        income: credits(income),
        balance: MicroCredits::ZERO,
        leverage_thousandths: 1_000,
    }
}

pub(crate) fn any(chip_type: &str, chips: u64, min_chips: u64) -> Alternative {
    Alternative {
        chip_type: ChipTypeId::new(chip_type).unwrap(),
        chips: Chips(chips),
        min_chips: Chips(min_chips),
    }
}

/// A bid for one chip type; its position is 0, so that a team's bids go by their ids.
pub(crate) fn bid(id: &str, team: &str, alternative: Alternative, limit: Option<&str>) -> Bid {
    Bid {
        id: BidId::new(id).unwrap(),
        team: TeamId::new(team).unwrap(),
        position: 0,
        alternatives: vec![alternative],
        limit: limit.map(price),
        not_before: None,
        not_after: None,
        held: None,
    }
}

/// Two pools that want 8 chips each of 8 shared ones.
pub(crate) fn contest() -> Snapshot {
    let mut snapshot = empty(3);
    snapshot.chip_types.push(chip_type("H100", 8));
    snapshot.pools.push(pool("a", "40.00", &[]));
    snapshot.pools.push(pool("b", "24.00", &[]));
    snapshot.teams.push(team("a", "a", "40.00"));
    snapshot.teams.push(team("b", "b", "24.00"));
    snapshot.bids.push(bid("a1", "a", any("H100", 9, 1), Some("3.20")));
    snapshot.bids.push(bid("b1", "b", any("H100", 8, 8), Some("3.00")));
    snapshot
}
