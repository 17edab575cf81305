//! The signed texts that browsers carry: who signed in, and on which devices somebody signed in before.

use common::ids::{SessionId, UserId};
use common::instant::{Instant, MICROS_PER_SECOND};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use super::sessions::DEVICE_SECONDS;
use crate::error::AppError;

/// Seconds for which an access token is good. Its session is looked up with each request, so this bounds only how long
/// a browser goes without renewing it.
pub const ACCESS_SECONDS: i64 = 15 * 60;

/// What a signed text is for; one for one purpose is never taken for another.
const ACCESS: &str = "access";
const DEVICE: &str = "device";

/// Signs and reads.
pub(super) struct Keys {
    sign: EncodingKey,
    read: DecodingKey,
}

#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    /// What it is for.
    aud: String,
    /// The account.
    sub: UserId,
    /// The session; a device has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sid: Option<SessionId>,
    /// When it was made and until when it is good, in seconds since 1970.
    iat: i64,
    exp: i64,
}

fn seconds(at: Instant) -> i64 {
    at.0.div_euclid(MICROS_PER_SECOND)
}

impl Keys {
    /// Keys from a secret.
    ///
    /// # Errors
    /// `Config`: the secret is shorter than 32 bytes.
    pub(super) fn new(secret: &[u8]) -> Result<Self, AppError> {
        if secret.len() < 32 {
            return Err(AppError::config(format!(
                "auth.secret has {} bytes; it needs 32, such as the output of: openssl rand -hex 32",
                secret.len()
            )));
        }
        let sign = EncodingKey::from_secret(secret).map_err(AppError::internal)?;
        Ok(Self { sign, read: DecodingKey::from_secret(secret).map_err(AppError::internal)? })
    }

    /// An access token for a session.
    pub(super) fn access(
        &self,
        user: &UserId,
        session: &SessionId,
        now: Instant,
    ) -> Result<String, AppError> {
        let iat = seconds(now);
        self.signed(&Claims {
            aud: ACCESS.to_owned(),
            sub: user.clone(),
            sid: Some(session.clone()),
            iat,
            exp: iat + ACCESS_SECONDS,
        })
    }

    /// The mark of a device on which somebody signed in.
    pub(super) fn device(&self, user: &UserId, now: Instant) -> Result<String, AppError> {
        let iat = seconds(now);
        self.signed(&Claims {
            aud: DEVICE.to_owned(),
            sub: user.clone(),
            sid: None,
            iat,
            exp: iat + DEVICE_SECONDS,
        })
    }

    fn signed(&self, claims: &Claims) -> Result<String, AppError> {
        encode(&Header::new(Algorithm::HS256), claims, &self.sign).map_err(AppError::internal)
    }

    /// The account and session of an access token that is good.
    pub(super) fn read_access(&self, token: &str, now: Instant) -> Option<(UserId, SessionId)> {
        let claims = self.claims(token, ACCESS, now)?;
        Some((claims.sub, claims.sid?))
    }

    /// Whether a mark says that somebody signed in on this device before.
    pub(super) fn is_device_of(&self, mark: &str, user: &UserId, now: Instant) -> bool {
        self.claims(mark, DEVICE, now).is_some_and(|claims| claims.sub == *user)
    }

    fn claims(&self, token: &str, purpose: &str, now: Instant) -> Option<Claims> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.set_audience(&[purpose]);
        // Time comes from the server's clock, not from the library's.
        rules.validate_exp = false;
        let claims = decode::<Claims>(token, &self.read, &rules).ok()?.claims;
        (seconds(now) < claims.exp).then_some(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_795_996_800_000_000);

    #[test]
    fn a_token_is_good_for_its_time_its_purpose_and_its_key() {
        let keys = Keys::new(&[1; 32]).unwrap();
        let (user, session) = (UserId::new("u").unwrap(), SessionId::new("s").unwrap());
        let token = keys.access(&user, &session, NOW).unwrap();
        assert_eq!(keys.read_access(&token, NOW), Some((user.clone(), session)));
        assert_eq!(keys.read_access(&token, NOW.plus_seconds(ACCESS_SECONDS)), None);
        assert!(!keys.is_device_of(&token, &user, NOW));
        assert_eq!(Keys::new(&[2; 32]).unwrap().read_access(&token, NOW), None);
        let device = keys.device(&user, NOW).unwrap();
        assert!(keys.is_device_of(&device, &user, NOW.plus_seconds(86_400)));
        assert!(!keys.is_device_of(&device, &UserId::new("v").unwrap(), NOW));
        assert_eq!(keys.read_access(&device, NOW), None);
    }

    #[test]
    fn a_token_that_signs_itself_is_refused() {
        let keys = Keys::new(&[1; 32]).unwrap();
        // {"alg":"none"} with the claims of an access token and no signature.
        let forged = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhdWQiOiJhY2Nlc3MiLCJzdWIiOiJ1Iiwic2lkIjoicyIsImlhdCI6MSwiZXhwIjo5OTk5OTk5OTk5fQ.";
        assert_eq!(keys.read_access(forged, NOW), None);
    }

    #[test]
    fn a_short_secret_is_refused() {
        assert!(Keys::new(&[1; 31]).is_err());
    }
}
