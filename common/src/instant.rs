//! Instants: microseconds since 1970 in UTC, written as RFC 3339 with a `Z`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Microseconds in one second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// An instant in UTC, in microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub i64);

/// A text that is not an instant with an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a time with an offset; write it like 2026-11-30T14:03:00Z")]
pub struct ParseInstantError;

impl Instant {
    /// The instant `seconds` later (earlier where negative); stays at the ends of the 64-bit range.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(MICROS_PER_SECOND)))
    }

    /// The whole second that it lies in.
    #[must_use]
    pub const fn whole_second(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(MICROS_PER_SECOND)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok());
        // Years before 0 or after 9999 have no RFC 3339 form.
        f.write_str(text.as_deref().unwrap_or("out of range"))
    }
}

impl FromStr for Instant {
    type Err = ParseInstantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| ParseInstantError)?;
        i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000)).map(Self).map_err(|_| ParseInstantError)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|error| serde::de::Error::custom(format!("{text:?} {error}")))
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Instant {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::DateTime)))
            .into()
    }
}
#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Instant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_with_z_and_offsets_read() {
        let at: Instant = "2026-11-30T15:03:00+01:00".parse().unwrap();
        assert_eq!(at.to_string(), "2026-11-30T14:03:00Z");
    }

    #[test]
    fn t127_a_time_without_an_offset_is_refused_never_1970() {
        assert_eq!("2026-03-29T02:30:00".parse::<Instant>(), Err(ParseInstantError));
    }
}
