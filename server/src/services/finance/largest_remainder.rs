//! Rounding a list so that it adds up: the sum is rounded once, and the parts are rounded to sum to it.
//!
//! Each part is first rounded down; the units that the rounded sum has more go to the parts with the largest remainders,
//! the first of them where remainders are alike (the method of largest remainders, Hamilton 1792).

/// The parts in whole units, which sum to the parts' sum in whole units, rounded half up.
pub(super) fn round_to_sum(parts: &[i128], unit: i128) -> Vec<i128> {
    let total = (parts.iter().sum::<i128>() * 2 + unit).div_euclid(unit * 2);
    let mut rounded: Vec<i128> = parts.iter().map(|part| part.div_euclid(unit)).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|place| (std::cmp::Reverse(parts[*place].rem_euclid(unit)), *place));
    let left = usize::try_from(total - rounded.iter().sum::<i128>()).unwrap_or(0);
    for place in order.into_iter().take(left) {
        rounded[place] += 1;
    }
    rounded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn t007_two_lines_of_3_685_are_7_37_together() {
        assert_eq!(round_to_sum(&[3_685_000, 3_685_000], 10_000), [369, 368]);
        assert_eq!(round_to_sum(&[], 10_000), [0_i128; 0]);
        assert_eq!(round_to_sum(&[-3_685_000, -3_685_000], 10_000), [-368, -369]);
    }

    #[test]
    fn t008_seven_cycles_at_a_price_without_an_end_sum_to_their_total() {
        let rounded = round_to_sum(&[333_333; 7], 10_000);
        assert_eq!(rounded.iter().sum::<i128>(), 233);
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_rounded_total_and_none_is_off_by_a_unit(
            parts in prop::collection::vec(-(1_i128 << 60)..1 << 60, 0..40), unit in 1_i128..1 << 40,
        ) {
            let rounded = round_to_sum(&parts, unit);
            let total = parts.iter().sum::<i128>();
            prop_assert_eq!(rounded.iter().sum::<i128>(), (total * 2 + unit).div_euclid(unit * 2));
            for (part, rounded) in parts.iter().zip(rounded) {
                prop_assert!((part - rounded * unit).abs() < unit);
            }
        }
    }
}
