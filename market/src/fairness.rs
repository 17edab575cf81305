//! Fairness and steadiness of a stretch of cycles (market.md 8), as exact ratios.

use common::ids::TeamId;

/// A ratio of whole numbers, in lowest terms. The denominator is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// Above the line.
    pub numerator: u128,
    /// Below the line.
    pub denominator: u128,
}

/// What a team used and paid over the stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamUse {
    /// The team.
    pub team: TeamId,
    /// Chip-seconds that it paid for, of all chip types.
    pub chip_seconds: u64,
    /// What it paid for them, in global micro-credits.
    pub paid: u64,
    /// Its income over the stretch, in global micro-credits.
    pub income: u64,
}

/// How a team fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamFairness {
    /// The team.
    pub team: TeamId,
    /// `f_i`: the average price it paid over the market's average price; absent where it used nothing, or where nobody
    /// paid.
    pub price_ratio: Option<Ratio>,
    /// Its part of all chip-seconds; absent where nobody used any.
    pub chip_share: Option<Ratio>,
    /// Its part of all incomes; absent where there are none.
    pub income_share: Option<Ratio>,
}

/// How a stretch of cycles treated its teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// In the order given.
    pub teams: Vec<TeamFairness>,
    /// `min_i 1/f_i` over the teams that paid: with budgets as weights the market is so far fair (Theorem 4: with all
    /// budgets spent, a team's chips are `1/f_i` of its budget's share). Absent where nobody paid.
    pub guarantee: Option<Ratio>,
}

impl Ratio {
    /// The ratio in lowest terms; absent for a denominator of 0.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator, denominator);
        (denominator > 0).then(|| Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The inverse; absent for 0.
    #[must_use]
    pub fn inverse(self) -> Option<Self> {
        Self::new(self.denominator, self.numerator)
    }

    /// In thousandths, rounded down.
    #[must_use]
    pub fn thousandths(self) -> u128 {
        let (whole, rest) = (self.numerator / self.denominator, self.numerator % self.denominator);
        let part = match rest.checked_mul(1_000) {
            Some(rest) => rest / self.denominator,
            // Beyond 2^118 a thousandth of the denominator is whole enough.
            None => (rest / (self.denominator / 1_000)).min(999),
        };
        whole.saturating_mul(1_000).saturating_add(part)
    }

    /// Whether this ratio is the lower one. Both are of numbers below 2^64 multiplied in pairs, so the products of the
    /// comparison are split by whole parts and remainders, as in Euclid's algorithm.
    #[must_use]
    pub fn is_below(self, other: Self) -> bool {
        let (mut a, mut b) = (self, other);
        let mut swapped = false;
        loop {
            let (whole_a, whole_b) = (a.numerator / a.denominator, b.numerator / b.denominator);
            if whole_a != whole_b {
                return (whole_a < whole_b) != swapped;
            }
            let (rest_a, rest_b) = (a.numerator % a.denominator, b.numerator % b.denominator);
            if rest_a == 0 || rest_b == 0 {
                return if swapped { rest_b == 0 && rest_a > 0 } else { rest_a == 0 && rest_b > 0 };
            }
            a = Self { numerator: a.denominator, denominator: rest_a };
            b = Self { numerator: b.denominator, denominator: rest_b };
            swapped = !swapped;
        }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Compares what each team paid and used with all teams together.
#[must_use]
pub fn fairness(teams: &[TeamUse]) -> Fairness {
    let sum = |of: fn(&TeamUse) -> u64| teams.iter().map(|team| u128::from(of(team))).sum::<u128>();
    let (chips, paid, income) =
        (sum(|team| team.chip_seconds), sum(|team| team.paid), sum(|team| team.income));
    let teams: Vec<TeamFairness> = teams
        .iter()
        .map(|team| TeamFairness {
            team: team.team.clone(),
            price_ratio: price_ratio(team, chips, paid),
            chip_share: Ratio::new(team.chip_seconds.into(), chips),
            income_share: Ratio::new(team.income.into(), income),
        })
        .collect();
    let ratios = teams.iter().filter_map(|team| team.price_ratio);
    let dearest = ratios.reduce(|dearest, ratio| if dearest.is_below(ratio) { ratio } else { dearest });
    Fairness { teams, guarantee: dearest.and_then(Ratio::inverse) }
}

/// `(paid_i / chips_i) / (paid / chips)`; absent as well in the unheard-of case that it needs more than 128 bits.
fn price_ratio(team: &TeamUse, chips: u128, paid: u128) -> Option<Ratio> {
    let price = Ratio::new(team.paid.into(), team.chip_seconds.into())?;
    let market = Ratio::new(chips, paid)?;
    let left = Ratio::new(price.numerator, market.denominator)?;
    let right = Ratio::new(market.numerator, price.denominator)?;
    Ratio::new(left.numerator.checked_mul(right.numerator)?, left.denominator.checked_mul(right.denominator)?)
}

/// How much a series moves: the sum of its changes over the sum of its values before them, so 0 is steady. Absent
/// where all values but the last are 0.
#[must_use]
pub fn churn(series: &[u64]) -> Option<Ratio> {
    let pairs = series.windows(2);
    let moved: u128 = pairs.clone().map(|pair| u128::from(pair[0].abs_diff(pair[1]))).sum();
    Ratio::new(moved, pairs.map(|pair| u128::from(pair[0])).sum())
}

/// The value below or at which at least `percent` per cent of the values lie (nearest rank); absent for no values.
#[must_use]
pub fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent.min(100)).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(id: &str, chip_seconds: u64, paid: u64, income: u64) -> TeamUse {
        TeamUse { team: TeamId::new(id).unwrap(), chip_seconds, paid, income }
    }

    fn ratio(numerator: u128, denominator: u128) -> Option<Ratio> {
        Ratio::new(numerator, denominator)
    }

    #[test]
    fn the_dearest_team_sets_the_guarantee() {
        // Equal budgets all spent: one team bought 300 at 1, the other 100 at 3; the market's average is 600/400.
        let said =
            fairness(&[team("cheap", 300, 300, 300), team("dear", 100, 300, 300), team("idle", 0, 0, 0)]);
        assert_eq!(said.teams[0].price_ratio, ratio(2, 3));
        assert_eq!(said.teams[1].price_ratio, ratio(2, 1));
        assert_eq!(said.teams[2].price_ratio, None);
        assert_eq!(said.teams[0].chip_share, ratio(3, 4));
        assert_eq!(said.teams[1].income_share, ratio(1, 2));
        assert_eq!(said.guarantee, ratio(1, 2));
    }

    #[test]
    fn theorem_4_holds_with_all_budgets_spent() {
        let teams = [team("a", 700, 500, 500), team("b", 200, 300, 300), team("c", 100, 200, 200)];
        for (team, fared) in teams.iter().zip(fairness(&teams).teams) {
            // chips_i = (1/f_i) · (B_i / Σ B) · Σ supply, with Σ B = Σ supply = 1,000.
            let f = fared.price_ratio.unwrap();
            assert_eq!(u128::from(team.chip_seconds) * f.numerator, u128::from(team.paid) * f.denominator);
        }
    }

    #[test]
    fn nothing_used_is_no_ratio_and_no_panic() {
        let said = fairness(&[team("a", 0, 0, 0)]);
        assert_eq!((said.guarantee, said.teams[0].chip_share), (None, None));
        assert_eq!(fairness(&[]).guarantee, None);
        let free = fairness(&[team("a", 5, 0, 1)]);
        assert_eq!(free.teams[0].price_ratio, None);
    }

    #[test]
    fn ratios_compare_without_overflow() {
        let near = Ratio { numerator: u128::MAX - 2, denominator: u128::MAX - 1 };
        let nearer = Ratio { numerator: u128::MAX - 1, denominator: u128::MAX };
        assert!(near.is_below(nearer) && !nearer.is_below(near) && !near.is_below(near));
        assert_eq!(nearer.thousandths(), 999);
        assert!(ratio(1, 3).unwrap().is_below(ratio(1, 2).unwrap()));
        assert!(!ratio(2, 1).unwrap().is_below(ratio(1, 2).unwrap()));
    }

    #[test]
    fn churn_and_percentiles() {
        assert_eq!(churn(&[10, 10, 10]), ratio(0, 1));
        assert_eq!(churn(&[10, 20, 10]), ratio(20, 30));
        assert_eq!(churn(&[0, 5]), None);
        assert_eq!(percentile(&[5, 1, 3, 4, 2], 50), Some(3));
        assert_eq!(percentile(&[5, 1, 3, 4, 2], 99), Some(5));
        assert_eq!(percentile(&[], 50), None);
    }
}
