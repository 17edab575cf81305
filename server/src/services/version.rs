//! Two people who change the same thing at once: a change names the version that it was made from, and is refused when
//! there is a newer one.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{AppError, ErrorKind};

/// The version of what somebody is shown: a hash of all that it says.
///
/// # Errors
/// `Internal`: it has no JSON form.
pub fn version_of(object: &impl Serialize) -> Result<String, AppError> {
    let json = serde_json::to_vec(object).map_err(AppError::internal)?;
    Ok(hex::encode(&Sha256::digest(json)[..16]))
}

/// Refuses a change that was made from another version than the `present` one. Who names none changes whatever is there.
///
/// # Errors
/// `PreconditionFailed`: it was changed since.
pub(super) fn check_version(known: Option<&str>, present: &impl Serialize) -> Result<(), AppError> {
    match known {
        Some(known) if known != version_of(present)? => Err(AppError::new(
            ErrorKind::PreconditionFailed,
            "somebody changed this since you opened it; what is in force now is shown beside what you typed",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_from_an_old_version_is_refused() {
        let version = version_of(&("team", 30)).unwrap();
        assert!(check_version(Some(&version), &("team", 30)).is_ok());
        assert!(check_version(None, &("team", 31)).is_ok());
        let refused = check_version(Some(&version), &("team", 31)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::PreconditionFailed);
    }
}
