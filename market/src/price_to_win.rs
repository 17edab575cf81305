//! What it would have taken to fill a bid (market.md 7), others' bids fixed.

use common::money::{MAX_MICROS, MicroCredits, Price};

/// What fills a bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceToWin {
    /// The lowest limit at which it has all its chips, in local credits per chip-hour: one tick less does not fill it. A
    /// bid that is filled may have a higher one.
    Limit(Price),
    /// No limit is enough: the team would need so much more spending power, in local credits per hour, with no limit
    /// on the bid and each bid keeping the chip type it then chooses.
    MoreCredits(MicroCredits),
    /// Not for any amount of credits in this cycle: its window, its pool or the supply stands against it.
    OutOfReach,
}

/// The lowest limit that fills a bid, where it is filled without a limit at `price`; `filled_at` tells the price at which
/// it is filled with a limit.
///
/// A limit of the price is enough, unless the bid chooses another chip type with it: then the search starts higher.
/// Mostly one tick less is not, so the search first goes down in small steps.
pub(crate) fn lowest_limit(price: u64, mut filled_at: impl FnMut(u64) -> Option<u64>) -> Option<Price> {
    if filled_at(0).is_some() {
        return Some(Price(0));
    }
    let most = MAX_MICROS.unsigned_abs();
    let (mut below, mut enough) = (0, price.max(1));
    while filled_at(enough).is_none() {
        if enough == most {
            return None;
        }
        (below, enough) = (enough, enough.saturating_mul(2).min(most));
    }
    let mut step = 1;
    while enough - below > 1 {
        let limit = (enough - step.min(enough - below - 1)).max(below + 1);
        match filled_at(limit) {
            Some(_) => (enough, step) = (limit, step.saturating_mul(4)),
            None => (below, step) = (limit, (enough - limit) / 2),
        }
        step = step.max(1);
    }
    Some(Price(enough))
}

/// What a look at a larger cap says of a bid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Funded {
    /// It is filled.
    pub(crate) fills: bool,
    /// By how many ticks per hour the team's rate falls short of what the bid and those before it cost; not above 0 where
    /// they are paid for. A tie can fill a bid that is a few ticks short.
    pub(crate) short: i128,
}

/// The least that a team's cap must grow for a bid to be filled, which it is not as it stands; absent where no amount up
/// to `most` is enough. `short` is by how much its rate falls short without any growth.
///
/// What is short is mostly what it takes, or a known part of it: from where that leads a few looks find the tick, where a
/// bisection of all that a cap could grow by takes thirty.
pub(crate) fn least_credits(most: u64, short: i128, mut look: impl FnMut(u64) -> Funded) -> Option<u64> {
    if most == 0 || !look(most).fills {
        return None;
    }
    let mut search = Search { below: 0, enough: most, ends: [None, Some((0, short))], step: 1 };
    let (mut at, mut looks, mut width) = (u64::try_from(short).unwrap_or(most), 0, most);
    while search.enough - search.below > 1 {
        let inside = at.clamp(search.below + 1, search.enough - 1);
        let next = search.take(inside, look(inside));
        looks += 1;
        // An estimate that keeps misleading costs no more than a bisection with some looks in between.
        let is_slow = looks % 3 == 0 && search.enough < most && search.width() > width / 2;
        at = if is_slow { search.middle() } else { next };
        if looks % 3 == 0 {
            width = search.width();
        }
    }
    Some(search.enough)
}

/// Growths of a cap between which the least that fills a bid lies.
struct Search {
    /// Not enough.
    below: u64,
    /// Enough.
    enough: u64,
    /// The last two looks whose shortfall agrees with whether the bid is filled, each with it.
    ends: [Option<(u64, i128)>; 2],
    /// How far from an end the next look is that no estimate leads to.
    step: u64,
}

impl Search {
    /// Takes a look in; the answer is where to look next.
    fn take(&mut self, at: u64, Funded { fills, short }: Funded) -> u64 {
        if fills {
            self.enough = at;
        } else {
            self.below = at;
        }
        if (short <= 0) == fills {
            self.ends = [self.ends[1], Some((at, short))];
        }
        if let Some(root) = self.root().filter(|root| (self.below + 1..self.enough).contains(root)) {
            return root;
        }
        if self.width() <= self.step.saturating_mul(2) {
            return self.middle();
        }
        let step = self.step;
        self.step = step.saturating_mul(8);
        if fills { self.enough.saturating_sub(step) } else { self.below.saturating_add(step) }
    }

    /// Where the line through the last two looks has nothing short, rounded up.
    fn root(&self) -> Option<u64> {
        let [Some((one, one_short)), Some((other, other_short))] = self.ends else { return None };
        let way = other_short.checked_mul(i128::from(other) - i128::from(one))?;
        let slope = one_short - other_short;
        // Rounded towards more: up for a quotient above 0, to 0 for one below.
        let quotient = way.checked_div(slope)?;
        let rest = i128::from(way % slope != 0 && (way < 0) == (slope < 0));
        u64::try_from(i128::from(other) + quotient + rest).ok()
    }

    const fn width(&self) -> u64 {
        self.enough - self.below
    }

    const fn middle(&self) -> u64 {
        self.below + self.width() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_lowest_limit_fills_and_a_tick_less_does_not(least in 1_u64..1 << 40, price in 0_u64..1 << 41) {
            let mut looks = 0;
            let filled_at = |limit: u64| {
                looks += 1;
                (limit >= least).then_some(price)
            };
            prop_assert_eq!(lowest_limit(price, filled_at), Some(Price(least)));
            prop_assert!(looks < 150);
        }

        #[test]
        fn the_least_credits_fill(
            least in 1_u64..1 << 40,
            most in 0_u64..1 << 42,
            guess in 1_u64..1 << 41,
            share in 1_u64..=8,
            tie in -300_i128..300,
            misleads: bool,
        ) {
            let mut looks = 0;
            let look = |more: u64| {
                looks += 1;
                let short = (i128::from(least) + tie - i128::from(more)).div_euclid(i128::from(share));
                Funded { fills: more >= least, short: if misleads { 1 } else { short } }
            };
            prop_assert_eq!(least_credits(most, i128::from(guess), look), (least <= most).then_some(least));
            prop_assert!(looks < 150, "{} looks", looks);
        }
    }

    #[test]
    fn credits_that_follow_from_what_is_short_need_few_looks() {
        for (share, tie, most_looks) in
            [(1_u64, 0_i128, 4), (3, 0, 9), (7, 0, 11), (1, 100, 16), (3, 100, 24)]
        {
            let (least, mut looks) = (27_500_001_u64, 0);
            let look = |more: u64| {
                looks += 1;
                let short = (i128::from(least) + tie - i128::from(more)).div_euclid(i128::from(share));
                Funded { fills: more >= least, short }
            };
            let short = i128::from(least / share);
            assert_eq!(least_credits(1 << 53, short, look), Some(least));
            assert!(looks <= most_looks, "{looks} looks at a share of 1/{share} and {tie} ticks off");
        }
    }

    #[test]
    fn a_limit_at_the_price_needs_few_looks() {
        let mut looks = 0;
        let filled_at = |limit: u64| {
            looks += 1;
            (limit >= 3_200_001).then_some(3_200_001)
        };
        assert_eq!(lowest_limit(3_200_001, filled_at), Some(Price(3_200_001)));
        assert_eq!(looks, 3);
    }
}
