//! What on the pages of the whole market is the viewer's own: the pool of "your price", and the limits of the viewer's
//! teams.

use common::api::{PoolDemand, Role, ViewerView};
use common::ids::{ChipTypeId, PoolId};
use common::money::Price;

use crate::backend::Backend;
use crate::data::OwnLimit;

/// In an address in place of a pool: market prices only, whatever team one is in.
const NO_POOL: &str = "none";

/// Teams of one viewer that are looked at; who is in more sees the first ones marked.
const MOST_TEAMS: usize = 4;

/// The pool of "your price": the one asked for, else that of the viewer's first team.
pub(crate) fn pool_of(asked: Option<PoolId>, viewer: Option<&ViewerView>) -> Option<PoolId> {
    match asked {
        Some(pool) if pool.as_str() == NO_POOL => None,
        Some(pool) => Some(pool),
        None => viewer.and_then(|viewer| viewer.teams.first()).map(|team| team.pool.clone()),
    }
}

/// Whether the viewer is in a team, and so can bid.
pub(crate) fn is_in_a_team(viewer: Option<&ViewerView>) -> bool {
    viewer.is_some_and(|viewer| !viewer.teams.is_empty())
}

/// Whether the viewer may open single bids of all teams.
pub(crate) fn reads_sealed_bids(viewer: Option<&ViewerView>) -> bool {
    viewer.is_some_and(|viewer| viewer.roles.iter().any(|role| matches!(role, Role::Admin | Role::Auditor)))
}

/// Limits of live bids of the viewer's teams for a chip type, in local credits, highest first. A team that can't be read
/// is left out: the page is about the market.
pub(crate) async fn own_limits(
    backend: &dyn Backend,
    viewer: Option<&ViewerView>,
    chip_type: &ChipTypeId,
) -> Vec<OwnLimit> {
    let mut limits = Vec::new();
    for team in viewer.into_iter().flat_map(|viewer| &viewer.teams).take(MOST_TEAMS) {
        let Ok(found) = backend.limits(team.id.clone(), chip_type.clone()).await else { continue };
        let own = |(name, limit)| OwnLimit { pool: team.pool.clone(), name, limit };
        limits.extend(found.into_iter().map(own));
    }
    limits.sort_by(|a, b| b.limit.cmp(&a.limit).then_with(|| a.name.cmp(&b.name)));
    limits
}

/// Own limits in global credits, as the book counts them, by what the pool's price is in both. A pool whose price is 0 has
/// no such rate.
pub(crate) fn in_global_credits(limits: Vec<OwnLimit>, by_pool: &[PoolDemand]) -> Vec<OwnLimit> {
    let rate = |pool: &PoolId| {
        let demand = by_pool.iter().find(|demand| demand.pool.id == *pool)?;
        Some((demand.price?, demand.local_price.filter(|price| price.0 > 0)?))
    };
    limits
        .into_iter()
        .filter_map(|own| {
            let (global, local) = rate(&own.pool)?;
            // Rounded up, so that a bid is found at the level that it makes itself.
            let limit = (u128::from(own.limit.0) * u128::from(global.0)).div_ceil(u128::from(local.0));
            Some(OwnLimit { limit: Price(u64::try_from(limit).ok()?), ..own })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use common::api::{PoolName, ViewerTeam};
    use common::chips::Chips;
    use common::ids::{TeamId, UserId};

    use super::*;

    fn pool(id: &str) -> PoolId {
        PoolId::new(id).expect("an id")
    }

    #[test]
    fn your_price_is_that_of_the_viewers_team_unless_another_is_asked_for() {
        let team = ViewerTeam {
            id: TeamId::new("vit").expect("an id"),
            name: "ViT".to_owned(),
            pool: pool("vision"),
            leads: false,
        };
        let viewer = ViewerView {
            user: UserId::new("u").expect("an id"),
            name: "U".to_owned(),
            roles: Vec::new(),
            teams: vec![team],
            pools: Vec::new(),
        };
        assert_eq!(pool_of(None, Some(&viewer)), Some(pool("vision")));
        assert_eq!(pool_of(Some(pool("language")), Some(&viewer)), Some(pool("language")));
        assert_eq!(pool_of(Some(pool("none")), Some(&viewer)), None);
        assert_eq!(pool_of(None, None), None);
        assert!(!reads_sealed_bids(Some(&viewer)));
        assert!(reads_sealed_bids(Some(&ViewerView { roles: vec![Role::Auditor], ..viewer })));
    }

    #[test]
    fn own_limits_stand_in_the_book_in_global_credits() {
        let demand = |id: &str, price: u64, local: u64| PoolDemand {
            pool: PoolName { id: pool(id), name: id.to_owned() },
            owned: Chips(0),
            lent: Chips(0),
            bought: Chips(0),
            asked: Chips(0),
            granted: Chips(0),
            price: Some(Price(price)),
            local_price: Some(Price(local)),
        };
        let own = |id: &str, limit| OwnLimit { pool: pool(id), name: "a".to_owned(), limit: Price(limit) };
        let limits = vec![own("a", 3_000), own("b", 3_000), own("c", 3_000)];
        let by_pool = [demand("a", 1_000, 2_000), demand("b", 0, 0)];
        assert_eq!(in_global_credits(limits, &by_pool), [own("a", 1_500)]);
    }
}
