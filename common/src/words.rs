//! Numbers with what they count, in words.

/// A whole number with commas between thousands: "1,234".
#[must_use]
pub fn thousands(number: u64) -> String {
    grouped(&number.to_string())
}

/// Digits with commas between thousands.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How many there are of something, named in the singular: "1 chip", "1,200 chips", "0 entries".
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 {
        return format!("1 {one}");
    }
    match one.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{} {stem}ies", thousands(number)),
        _ => format!("{} {one}s", thousands(number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_has_its_number() {
        for (number, one, text) in [
            (0, "chip", "0 chips"),
            (1, "chip", "1 chip"),
            (12_000, "chip", "12,000 chips"),
            (1, "entry", "1 entry"),
            (2, "entry", "2 entries"),
            (2, "day", "2 days"),
            (1, "chip-hour", "1 chip-hour"),
        ] {
            assert_eq!(counted(number, one), text);
        }
    }
}
