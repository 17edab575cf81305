//! From the wire form of a snapshot to a checked market, and from indices back to ids in the outcome.

use std::collections::HashMap;

use crate::builder::{AlternativeInput, BidInput, ChipTypeIndex, MarketBuilder, PoolIndex, TeamIndex};
use crate::checks::check_different;
use crate::error::SnapshotError;
use crate::market::Market;
use crate::snapshot::{Bid, Pool, Snapshot};

impl Market {
    /// Checks a snapshot and brings it into the form that is cleared.
    ///
    /// A bid may name a chip type that the snapshot does not have (a retired one): it cannot be had. So may a last
    /// price. A pool that owns chips of an unknown type, or a team of an unknown pool, is an error.
    ///
    /// # Errors
    /// The first field that is outside its limits, with its path, what was given and the limit.
    pub fn build(snapshot: &Snapshot) -> Result<Self, SnapshotError> {
        let mut builder = MarketBuilder::new(snapshot.cycle, snapshot.time, snapshot.sustain_minutes)?;
        let mut chip_types = HashMap::with_capacity(snapshot.chip_types.len());
        for row in &snapshot.chip_types {
            let index = builder.chip_type(row.id.clone(), row.shared, row.reserve_price)?;
            chip_types.insert(row.id.as_str(), index);
        }
        let mut pools = HashMap::with_capacity(snapshot.pools.len());
        for (nth, row) in snapshot.pools.iter().enumerate() {
            pools.insert(row.id.as_str(), add_pool(&mut builder, &chip_types, nth, row)?);
        }
        let mut teams = HashMap::with_capacity(snapshot.teams.len());
        for (nth, row) in snapshot.teams.iter().enumerate() {
            let pool = *pools
                .get(row.pool.as_str())
                .ok_or_else(|| SnapshotError::unknown(format!("teams[{nth}].pool"), &row.pool, "pool"))?;
            let team =
                builder.team(row.id.clone(), pool, row.income, row.balance, row.leverage_thousandths)?;
            teams.insert(row.id.as_str(), team);
        }
        let mut alternatives = Vec::new();
        for (nth, row) in snapshot.bids.iter().enumerate() {
            let team = *teams
                .get(row.team.as_str())
                .ok_or_else(|| SnapshotError::unknown(format!("bids[{nth}].team"), &row.team, "team"))?;
            add_bid(&mut builder, &chip_types, &mut alternatives, team, nth, row)?;
        }
        builder.build()
    }
}

fn add_pool(
    builder: &mut MarketBuilder,
    chip_types: &HashMap<&str, ChipTypeIndex>,
    nth: usize,
    row: &Pool,
) -> Result<PoolIndex, SnapshotError> {
    let pool = builder.pool(row.id.clone(), row.weight, row.lending)?;
    for (i, owned) in row.owned.iter().enumerate() {
        let path = || format!("pools[{nth}].owned[{i}].chip_type");
        let chip_type = *chip_types
            .get(owned.chip_type.as_str())
            .ok_or_else(|| SnapshotError::unknown(path(), &owned.chip_type, "chip type"))?;
        if row.owned[..i].iter().any(|other| other.chip_type == owned.chip_type) {
            return Err(SnapshotError::twice(path(), &owned.chip_type));
        }
        builder.owned(pool, chip_type, owned.chips)?;
    }
    for (i, last) in row.last_prices.iter().enumerate() {
        if row.last_prices[..i].iter().any(|other| other.chip_type == last.chip_type) {
            let path = format!("pools[{nth}].last_prices[{i}].chip_type");
            return Err(SnapshotError::twice(path, &last.chip_type));
        }
        if let Some(chip_type) = chip_types.get(last.chip_type.as_str()) {
            builder.last_price(pool, *chip_type, last.price)?;
        }
    }
    Ok(pool)
}

fn add_bid(
    builder: &mut MarketBuilder,
    chip_types: &HashMap<&str, ChipTypeIndex>,
    alternatives: &mut Vec<AlternativeInput>,
    team: TeamIndex,
    nth: usize,
    row: &Bid,
) -> Result<(), SnapshotError> {
    check_different(|| format!("bids[{nth}]"), &row.alternatives)?;
    alternatives.clear();
    alternatives.extend(row.alternatives.iter().map(|alternative| AlternativeInput {
        chip_type: chip_types.get(alternative.chip_type.as_str()).copied(),
        chips: alternative.chips,
        min_chips: alternative.min_chips,
    }));
    let held = row
        .held
        .as_ref()
        .and_then(|held| row.alternatives.iter().position(|alternative| alternative.chip_type == *held));
    let bid = BidInput {
        id: row.id.clone(),
        team,
        position: row.position,
        limit: row.limit,
        not_before: row.not_before,
        not_after: row.not_after,
        held,
    };
    builder.bid(bid, alternatives)
}
