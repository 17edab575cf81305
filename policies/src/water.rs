//! Water levels: the level at which capped shares add up to what there is, and its whole-chip form.
//!
//! Max-min, DRF and Karma are all water-filling; they differ in what is filled.

/// The level `L` with `Σ min(cap_i, weight_i · L) = min(total, Σ cap_i)`; infinite where everybody reaches the cap.
/// O(n log n). Weights are above 0.
#[must_use]
pub fn level(total: f64, weights: &[f64], caps: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..caps.len()).collect();
    order.sort_by(|a, b| (caps[*a] / weights[*a]).total_cmp(&(caps[*b] / weights[*b])));
    let mut left = total;
    let mut weight: f64 = weights.iter().sum();
    for agent in order {
        if caps[agent] / weights[agent] * weight >= left {
            return (left / weight).max(0.0);
        }
        left -= caps[agent];
        weight -= weights[agent];
    }
    f64::INFINITY
}

/// Weighted max-min of whole chips: each agent gets its level rounded down, and the chips that rounding leaves over go
/// one each to those with most of a chip rounded away; equal ones in turns that begin with agent `first`.
#[must_use]
pub fn whole(total: u64, weights: &[f64], caps: &[u64], first: usize) -> Vec<u64> {
    let real: Vec<f64> = caps.iter().map(|cap| *cap as f64).collect();
    let level = level(total as f64, weights, &real);
    let shares: Vec<f64> =
        weights.iter().zip(&real).map(|(weight, cap)| (weight * level).min(*cap)).collect();
    round_down(total, &shares, caps, first)
}

/// Whole chips from real shares: rounded down, then one each by what was rounded away, within caps and the total.
#[must_use]
pub fn round_down(total: u64, shares: &[f64], caps: &[u64], first: usize) -> Vec<u64> {
    // A share that arithmetic left just below a whole number is that number.
    let floor = |share: f64| (share + 1e-9 * share.max(1.0)).floor();
    let mut chips: Vec<u64> =
        shares.iter().zip(caps).map(|(share, cap)| (floor(*share) as u64).min(*cap)).collect();
    let mut left = total.saturating_sub(chips.iter().sum());
    let agents = shares.len();
    let mut order: Vec<usize> = (0..agents).filter(|agent| chips[*agent] < caps[*agent]).collect();
    let lost = |agent: usize| shares[agent] - floor(shares[agent]);
    let turn = |agent: usize| (agent + agents - first % agents.max(1)) % agents.max(1);
    order.sort_by(|a, b| {
        // Differences of rounding are no differences.
        let (x, y) = ((lost(*a) * 1e9).round(), (lost(*b) * 1e9).round());
        y.total_cmp(&x).then_with(|| turn(*a).cmp(&turn(*b)))
    });
    for agent in order {
        if left == 0 {
            break;
        }
        chips[agent] += 1;
        left -= 1;
    }
    chips
}

/// Takes `total` units one by one from whoever has most, at most `caps[i]` from each; equal ones lowest index first.
/// Answers how many were taken from each. O(n log n): the level falls from one breakpoint to the next.
///
/// Fewer are taken where the caps do not reach.
#[must_use]
pub fn take_from_richest(total: u64, have: &[i64], caps: &[u64]) -> Vec<u64> {
    let cap_sum: u128 = caps.iter().map(|cap| u128::from(*cap)).sum();
    if cap_sum <= u128::from(total) {
        return caps.to_vec();
    }
    // Above `level` everything that caps allow is taken; `active` agents stand exactly at it.
    let bottom = |agent: usize| have[agent].saturating_sub(i64::try_from(caps[agent]).unwrap_or(i64::MAX));
    let mut events: Vec<(i64, i64)> = Vec::with_capacity(2 * have.len());
    for agent in (0..have.len()).filter(|agent| caps[*agent] > 0) {
        events.push((have[agent], 1));
        events.push((bottom(agent), -1));
    }
    events.sort_unstable_by(|a, b| b.cmp(a));
    let (mut level, mut active, mut left) =
        (events.first().map_or(0, |event| event.0), 0_i128, i128::from(total));
    for (at, change) in events {
        let step = i128::from(level) - i128::from(at);
        if active * step > left {
            break;
        }
        left -= active * step;
        level = at;
        active += i128::from(change);
    }
    let (mut rest, lowered) = if active > 0 { (left % active, left / active) } else { (0, 0) };
    level -= i64::try_from(lowered).unwrap_or(0);
    let mut taken = Vec::with_capacity(have.len());
    for (agent, cap) in caps.iter().enumerate() {
        let above = u64::try_from((i128::from(have[agent]) - i128::from(level)).max(0)).unwrap_or(u64::MAX);
        let mut took = above.min(*cap);
        if rest > 0 && took < *cap && have[agent] >= level {
            took += 1;
            rest -= 1;
        }
        taken.push(took);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_uses_up_what_there_is() {
        let (weights, caps) = ([1.0, 2.0, 1.0], [10.0, 4.0, 1.0]);
        let level = level(9.0, &weights, &caps);
        // One gets its cap 1; of the 8 left the second is capped at 4 and the first takes 4.
        assert!((level - 4.0).abs() < 1e-12, "{level}");
        assert_eq!(super::level(15.0, &weights, &caps), 10.0);
        assert!(super::level(16.0, &weights, &caps).is_infinite());
        assert_eq!(super::level(0.0, &weights, &caps), 0.0);
        assert!(super::level(5.0, &[], &[]).is_infinite());
    }

    #[test]
    fn what_rounding_leaves_over_goes_round() {
        assert_eq!(whole(5, &[1.0; 3], &[9, 9, 9], 0), [2, 2, 1]);
        assert_eq!(whole(5, &[1.0; 3], &[9, 9, 9], 2), [2, 1, 2]);
        assert_eq!(whole(5, &[1.0; 3], &[9, 0, 9], 1), [2, 0, 3]);
        assert_eq!(whole(7, &[1.0, 3.0], &[9, 9], 0), [2, 5]);
        assert_eq!(whole(7, &[], &[], 0), Vec::<u64>::new());
    }

    #[test]
    fn units_are_taken_as_one_by_one() {
        let one_by_one = |total: u64, have: &[i64], caps: &[u64]| {
            let (mut have, mut taken) = (have.to_vec(), vec![0; caps.len()]);
            for _ in 0..total {
                let open = (0..have.len()).filter(|at| taken[*at] < caps[*at]);
                let Some(richest) = open.max_by_key(|at| (have[*at], std::cmp::Reverse(*at))) else { break };
                have[richest] -= 1;
                taken[richest] += 1;
            }
            taken
        };
        for (total, have, caps) in [
            (7, vec![5, 9, 2], vec![9, 3, 9]),
            (1, vec![5, 5, 5], vec![1, 1, 1]),
            (2, vec![5, 5, 5], vec![0, 9, 9]),
            (100, vec![5, 5], vec![3, 9]),
            (6, vec![-4, 3, 3], vec![9, 1, 9]),
            (0, vec![1], vec![1]),
        ] {
            assert_eq!(
                take_from_richest(total, &have, &caps),
                one_by_one(total, &have, &caps),
                "{have:?} {caps:?}"
            );
        }
    }
}
