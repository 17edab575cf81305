//! Arithmetic of incomes, charges and rebases: rates over time in whole micro-credits, remainders carried, none lost.
//!
//! A rate is micro-credits per hour, time is whole seconds, so what is owed is a whole number of 1/3600 micro-credits.

use common::money::MicroCredits;

/// Parts into which a meter divides a micro-credit: the seconds of an hour.
pub const PARTS_PER_MICRO: u128 = 3_600;

/// An amount that does not fit 64 bits of micro-credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an amount leaves the range of a balance")]
pub struct OutOfRange;

/// Adds up rates over time, exactly.
///
/// What is booked is whole micro-credits; what is left, less than one, stays in the meter and enters the next booking.
/// So the bookings of any stretch of time sum to what the stretch owes as a whole, rounded down once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    parts: u128,
}

impl Meter {
    /// A meter that begins with the remainder of another, in 1/3600 of a micro-credit.
    #[must_use]
    pub fn carrying(carry: u64) -> Self {
        Self { parts: u128::from(carry) }
    }

    /// Adds `rate` micro-credits per hour for `seconds`; with chip-seconds, a price per chip-hour.
    pub fn run(&mut self, rate: u64, seconds: u64) {
        self.parts = self.parts.saturating_add(u128::from(rate) * u128::from(seconds));
    }

    /// Takes the whole micro-credits out.
    ///
    /// # Errors
    /// They don't fit a balance; the meter is left as it is.
    pub fn book(&mut self) -> Result<MicroCredits, OutOfRange> {
        let whole = i64::try_from(self.parts / PARTS_PER_MICRO).map_err(|_| OutOfRange)?;
        self.parts %= PARTS_PER_MICRO;
        Ok(MicroCredits(whole))
    }

    /// What is left in the meter, in 1/3600 of a micro-credit; below 3,600 right after a booking.
    #[must_use]
    pub fn carry(&self) -> u64 {
        u64::try_from(self.parts).unwrap_or(u64::MAX)
    }
}

/// The balance that has the same global value after a pool's total income went from `old_total` to `new_total`, rounded
/// down to a micro-credit: `balance · new_total / old_total`. It stays as it is where one of them is 0: then local
/// credits have no global value.
///
/// # Errors
/// The new balance does not fit 64 bits.
pub fn rebased(
    balance: MicroCredits,
    old_total: MicroCredits,
    new_total: MicroCredits,
) -> Result<MicroCredits, OutOfRange> {
    if old_total.0 <= 0 || new_total.0 <= 0 {
        return Ok(balance);
    }
    let exact = i128::from(balance.0) * i128::from(new_total.0);
    let rounded = exact.div_euclid(i128::from(old_total.0));
    i64::try_from(rounded).map(MicroCredits).map_err(|_| OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Books each of `steps` steps of `seconds` at `rate`.
    fn booked(rate: u64, seconds: u64, steps: usize) -> Vec<i64> {
        let mut meter = Meter::default();
        let step = |_| {
            meter.run(rate, seconds);
            meter.book().unwrap().0
        };
        (0..steps).map(step).collect()
    }

    #[test]
    fn t002_small_steps_lose_nothing() {
        // 1 chip at 0.05 credits per chip-hour for 3 h in steps of 1 minute.
        assert_eq!(booked(50_000, 60, 180).iter().sum::<i64>(), 150_000);
    }

    #[test]
    fn t004_a_charge_below_a_cent_is_charged() {
        assert_eq!(booked(4_000, 3_600, 1), [4_000]);
    }

    #[test]
    fn t008_rows_sum_to_the_total() {
        let rows = booked(333_333, 60, 7);
        let mut whole = Meter::default();
        whole.run(333_333, 7 * 60);
        assert_eq!(rows.iter().sum::<i64>(), whole.book().unwrap().0);
    }

    #[test]
    fn t001_a_change_in_mid_window_charges_each_part_at_its_own_size() {
        // A quarter of an hour: 5 minutes with 1 chip, 10 minutes with 2, at 2.50 per chip-hour.
        let mut meter = Meter::default();
        meter.run(2_500_000, 300);
        meter.run(2_500_000, 2 * 600);
        assert_eq!(meter.book(), Ok(MicroCredits(1_041_666)));
        // Ten rows of 0.1 chip-hour at 2.50 are 2.50 exactly.
        assert_eq!(booked(2_500_000, 360, 10).iter().sum::<i64>(), 2_500_000);
    }

    #[test]
    fn a_hoard_keeps_its_global_value_when_minting_is_cut() {
        // Ten hours of income at 100 per hour; minting cut to a tenth: the hoard shrinks with it.
        let rebased =
            rebased(MicroCredits(1_000_000_000), MicroCredits(100_000_000), MicroCredits(10_000_000));
        assert_eq!(rebased, Ok(MicroCredits(100_000_000)));
    }

    proptest! {
        #[test]
        fn bookings_sum_to_the_whole(stretches in prop::collection::vec((0..1_u64 << 53, 0..10_000_u64), 1..200)) {
            let (mut steps, mut whole, mut sum) = (Meter::default(), Meter::default(), 0);
            for (rate, seconds) in stretches {
                steps.run(rate, seconds);
                whole.run(rate, seconds);
                sum += steps.book().unwrap().0;
                prop_assert!(steps.carry() < 3_600);
            }
            prop_assert_eq!(sum, whole.book().unwrap().0);
            prop_assert_eq!(steps.carry(), whole.carry());
        }

        #[test]
        fn rebasing_keeps_the_global_value(balance in -(1_i64 << 53)..1 << 53, old in 1..1_i64 << 40, new in 1..1_i64 << 40) {
            let after = i128::from(rebased(MicroCredits(balance), MicroCredits(old), MicroCredits(new)).map_or(0, |b| b.0));
            let exact = i128::from(balance) * i128::from(new);
            if i64::try_from(exact / i128::from(old)).is_ok() {
                // after ≤ exact / old < after + 1
                prop_assert!(after * i128::from(old) <= exact && exact < (after + 1) * i128::from(old));
            }
        }
    }
}
