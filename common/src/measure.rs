//! Measurements and probabilities as texts. They are no money: what is measured may be rounded.
#![expect(clippy::float_arithmetic, reason = "measurements are no money, and only their texts are made here")]

/// Chip-hours with as many digits as they deserve: "1,234", "12.3", "0.123".
#[must_use]
pub fn chip_hours(hours: f64) -> String {
    if hours >= 1_000.0 {
        let whole = format!("{hours:.0}");
        let (head, tail) = whole.split_at(whole.len() - 3);
        return match head.len() {
            0..=3 => format!("{head},{tail}"),
            _ => format!("{},{},{tail}", &head[..head.len() - 3], &head[head.len() - 3..]),
        };
    }
    match hours {
        hours if hours >= 100.0 => format!("{hours:.0}"),
        hours if hours >= 1.0 => format!("{hours:.1}"),
        hours => format!("{hours:.3}"),
    }
}

/// A probability from 0 to 1 in percent; never "100 %" where it is not sure, nor "0 %" where it is not impossible.
#[must_use]
pub fn percent(part: f64) -> String {
    match part {
        part if part <= 0.0 => "0 %".to_owned(),
        part if part < 0.01 => "below 1 %".to_owned(),
        part if part >= 1.0 => "100 %".to_owned(),
        part if part > 0.99 => "above 99 %".to_owned(),
        part => format!("{:.0} %", part * 100.0),
    }
}

/// A loss with four digits that count.
#[must_use]
pub fn loss(loss: f64) -> String {
    let magnitude = loss.abs().log10().floor().clamp(-6.0, 3.0) as i32;
    let digits = usize::try_from(3 - magnitude).unwrap_or(0);
    format!("{loss:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_digits_that_count() {
        for (hours, text) in [
            (0.0421, "0.042"),
            (7.25, "7.2"),
            (512.4, "512"),
            (12_345.0, "12,345"),
            (9_876_543.2, "9,876,543"),
        ] {
            assert_eq!(chip_hours(hours), text);
        }
        for (part, text) in
            [(0.0, "0 %"), (0.004, "below 1 %"), (0.814, "81 %"), (0.996, "above 99 %"), (1.0, "100 %")]
        {
            assert_eq!(percent(part), text);
        }
        for (value, text) in [(2.34567, "2.346"), (0.012345, "0.01235"), (1_234.5, "1234"), (12.0, "12.00")] {
            assert_eq!(loss(value), text);
        }
    }
}
