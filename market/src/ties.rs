//! The tie rule (market.md 4.4): who gets the last chips when several would pay just the price.

use sha2::{Digest, Sha256};

/// What competes in a tie. The name is part of the hashed text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    /// Pools for shared chips.
    Pool,
    /// Teams of one pool for its chips.
    Team,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Team => "team",
        }
    }
}

/// One who competes: an id, and how many more chips it would take at the price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) id: &'a str,
    pub(crate) chips: u64,
}

/// Divides `left` chips over the claims in proportion, rounded down; what rounding leaves goes one each to those
/// who still claim, in ascending order of a hash of cycle, chip type, level and id. `left` is at most the sum.
///
/// The hash depends on ids and the cycle alone: never on the order of the input, and nobody wins for ever.
pub(crate) fn divide(cycle: u64, chip_type: &str, level: Level, claims: &[Claim<'_>], left: u64) -> Vec<u64> {
    let sum: u64 = claims.iter().map(|claim| claim.chips).sum();
    debug_assert!(left <= sum, "more chips than claims");
    if left >= sum {
        return claims.iter().map(|claim| claim.chips).collect();
    }
    let mut shares: Vec<u64> = claims
        .iter()
        .map(|claim| {
            let share = u128::from(left) * u128::from(claim.chips) / u128::from(sum);
            // At most `left`, because a claim is at most the sum.
            u64::try_from(share).unwrap_or(left)
        })
        .collect();
    let rest = left - shares.iter().sum::<u64>();
    if rest > 0 {
        let mut order: Vec<([u8; 32], usize)> = claims
            .iter()
            .enumerate()
            .filter(|(i, claim)| shares[*i] < claim.chips)
            .map(|(i, claim)| (hash(&format!("{cycle}|{chip_type}|{}|{}", level.as_str(), claim.id)), i))
            .collect();
        order.sort_unstable();
        for (_, i) in order.iter().take(usize::try_from(rest).unwrap_or(usize::MAX)) {
            shares[*i] += 1;
        }
    }
    shares
}

/// Whether a flexible bid may leave the chip type it holds in this cycle: one in eight may (market.md 3.2).
pub(crate) fn may_move(cycle: u64, bid: &str) -> bool {
    hash(&format!("{cycle}|move|{bid}"))[31].is_multiple_of(8)
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
