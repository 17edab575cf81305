//! Money as integer micro-credits, and its one decimal form.
//!
//! One credit is 1,000,000 micro-credits; one micro-credit is the tick. The same string is shown on a page, in an
//! export and in the ledger: full precision, trailing zeros dropped down to two decimals ("0.004", "7.37", "5.00").

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Micro-credits in one credit.
pub const MICROS_PER_CREDIT: i64 = 1_000_000;

/// Largest amount or price accepted anywhere, in micro-credits (2^53 − 1, about nine thousand million credits). It
/// keeps every product of the pricing engine inside 128 bits and every number exact in a browser.
pub const MAX_MICROS: i64 = (1 << 53) - 1;

/// A signed amount of money in micro-credits of one currency: a pool's local credits or global credits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroCredits(pub i64);

/// A price in micro-credits per chip-hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(pub u64);

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseMoneyError {
    /// Not digits with an optional sign and an optional decimal point.
    #[error("is not a decimal number; write digits with a point before the decimals, like 1.25")]
    NotADecimal,
    /// More than six decimals: finer than one micro-credit.
    #[error("has more than 6 decimals; the smallest step is 0.000001 credits")]
    TooFine,
    /// Beyond [`MAX_MICROS`].
    #[error("is too large; the most is 9007199254.740991 credits")]
    TooLarge,
    /// A price below zero.
    #[error("is negative; the least is 0")]
    Negative,
}

impl MicroCredits {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Sum, or `None` beyond 64 bits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Difference, or `None` beyond 64 bits.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for MicroCredits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        write_decimal(f, self.0.unsigned_abs())
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0)
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, micros: u64) -> fmt::Result {
    let unit = MICROS_PER_CREDIT.unsigned_abs();
    let (whole, mut fraction) = (micros / unit, micros % unit);
    let mut decimals = 6;
    while decimals > 2 && fraction.is_multiple_of(10) {
        fraction /= 10;
        decimals -= 1;
    }
    write!(f, "{whole}.{fraction:0decimals$}")
}

impl FromStr for MicroCredits {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let micros = parse_unsigned(digits)?;
        Ok(Self(if negative { -micros } else { micros }))
    }
}

impl FromStr for Price {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with('-') {
            return Err(ParseMoneyError::Negative);
        }
        parse_unsigned(text).map(|micros| Self(micros.unsigned_abs()))
    }
}

/// Digits with an optional point, as micro-credits from 0 to [`MAX_MICROS`].
fn parse_unsigned(text: &str) -> Result<i64, ParseMoneyError> {
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return Err(ParseMoneyError::NotADecimal),
        Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
        None => (text, ""),
    };
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return Err(ParseMoneyError::NotADecimal);
    }
    if fraction.len() > 6 {
        return Err(ParseMoneyError::TooFine);
    }
    // Eleven digits of credits are beyond the limit already; the check keeps the parse below from overflowing.
    let whole = whole.trim_start_matches('0');
    if whole.len() > 11 {
        return Err(ParseMoneyError::TooLarge);
    }
    let digits = format!("{whole}{fraction:0<6}");
    let micros: i64 = digits.parse().map_err(|_| ParseMoneyError::TooLarge)?;
    if micros > MAX_MICROS { Err(ParseMoneyError::TooLarge) } else { Ok(micros) }
}

macro_rules! decimal_string_serde {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(|error| serde::de::Error::custom(format!("{text:?} {error}")))
            }
        }
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .description(Some("Credits as a decimal string with two to six decimals"))
                    .pattern(Some(r"^-?\d+\.\d{2,6}$"))
                    .examples(["1.842137"])
                    .into()
            }
        }
        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $type {}
    )*};
}
decimal_string_serde!(MicroCredits, Price);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shows_full_precision_and_at_least_two_decimals() {
        for (micros, text) in
            [(4_000, "0.004"), (7_370_000, "7.37"), (5_000_000, "5.00"), (-1, "-0.000001"), (0, "0.00")]
        {
            assert_eq!(MicroCredits(micros).to_string(), text);
        }
    }

    #[test]
    fn t005_decimals_add_exactly() {
        let parse = |text: &str| text.parse::<MicroCredits>().unwrap();
        let spent = parse("0.10").checked_add(parse("0.20")).unwrap();
        assert_eq!(parse("100.10").checked_sub(spent).unwrap().to_string(), "99.80");
    }

    #[test]
    fn refuses_what_is_not_an_amount() {
        use ParseMoneyError::{Negative, NotADecimal, TooFine, TooLarge};
        for (text, error) in [
            ("", NotADecimal),
            ("1.", NotADecimal),
            (".5", NotADecimal),
            ("1,000", NotADecimal),
            ("NaN", NotADecimal),
            ("1e309", NotADecimal),
            ("+1", NotADecimal),
            ("0.0000001", TooFine),
            ("9007199254.740992", TooLarge),
            ("1000000000000000000", TooLarge),
        ] {
            assert_eq!(text.parse::<MicroCredits>(), Err(error), "{text}");
        }
        assert_eq!("-5".parse::<Price>(), Err(Negative));
        assert_eq!("9007199254.740991".parse::<Price>(), Ok(Price(MAX_MICROS.unsigned_abs())));
    }

    proptest! {
        #[test]
        fn text_round_trips(micros in -MAX_MICROS..=MAX_MICROS) {
            prop_assert_eq!(MicroCredits(micros).to_string().parse(), Ok(MicroCredits(micros)));
        }
    }
}
