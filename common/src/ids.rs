//! Names of things. An id is a short text chosen once and never reused; a display name may change.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// Longest id, in bytes.
pub const MAX_ID_BYTES: usize = 64;

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Empty.
    #[error("is empty; an id has 1 to 64 characters")]
    Empty,
    /// Longer than [`MAX_ID_BYTES`].
    #[error("is longer than 64 characters")]
    TooLong,
    /// A character outside letters, digits, `-`, `_`, `.` and `:`.
    #[error("has a character that an id may not have; use letters, digits and - _ . :")]
    Character,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        /// Cheap to clone; ordered by its bytes.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the form: 1 to 64 ASCII letters, digits, `-`, `_`, `.` or `:`.
            ///
            /// # Errors
            /// What is wrong with the text.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                let text = text.as_ref();
                if text.is_empty() {
                    Err(IdError::Empty)
                } else if text.len() > MAX_ID_BYTES {
                    Err(IdError::TooLong)
                } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b)) {
                    Err(IdError::Character)
                } else {
                    Ok(Self(text.into()))
                }
            }

            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::new(&text).map_err(|error| serde::de::Error::custom(format!("{text:?} {error}")))
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .pattern(Some("^[A-Za-z0-9._:-]{1,64}$"))
                    .into()
            }
        }
        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}
    )*};
}

ids! {
    /// A chip type: what has a price. An id, never matched by its text: "A100-40" is not "A100-80".
    ChipTypeId,
    /// A pool: a business unit with a weight.
    PoolId,
    /// A team: it has an income, a balance and a queue of bids.
    TeamId,
    /// A bid: made by the client, so that a repeated request is recognised.
    BidId,
    /// A plan of a training job: made by the client, so that a repeated request is recognised.
    PlanId,
    /// A person's account.
    UserId,
    /// A sign-in that lasts: on one device, until it is ended.
    SessionId,
    /// A token for programs. The id names it; the secret is another text.
    TokenId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_is_checked() {
        assert!(ChipTypeId::new("TPU-v5p").is_ok());
        assert_eq!(TeamId::new(""), Err(IdError::Empty));
        assert_eq!(TeamId::new("x".repeat(65)), Err(IdError::TooLong));
        assert_eq!(TeamId::new("a|b"), Err(IdError::Character));
        assert_eq!(TeamId::new("=HYPERLINK(\"x\")"), Err(IdError::Character));
    }
}
