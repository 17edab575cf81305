//! Passwords: hashed with argon2id, off the threads that answer requests, a few at a time.

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _};
use tokio::sync::{OnceCell, Semaphore};

use super::secret;
use crate::error::AppError;

/// Fewest characters of a password.
const LEAST_CHARACTERS: usize = 10;

/// Longest password in bytes.
const MOST_BYTES: usize = 1_000;

/// Hashes computed at a time. Each takes 19 MiB and a core, so a flood of sign-ins must not have them all.
const AT_A_TIME: usize = 2;

/// Hashes and checks passwords.
pub struct Passwords {
    permits: Semaphore,
    /// A hash that no password has, checked where there is no account: the answer takes as long.
    decoy: OnceCell<String>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { permits: Semaphore::new(AT_A_TIME), decoy: OnceCell::new() }
    }
}

impl Passwords {
    /// The hash of a new password, as a PHC string.
    ///
    /// # Errors
    /// `Invalid`: it is too short or too long; the field is `password`.
    pub async fn hash(&self, password: &str) -> Result<String, AppError> {
        check(password)?;
        self.hash_any(password.to_owned()).await
    }

    async fn hash_any(&self, password: String) -> Result<String, AppError> {
        let work = move || {
            let salt = secret::random();
            let hash: PasswordHash =
                Argon2::default().hash_password_with_salt(password.as_bytes(), &salt[..16])?;
            Ok::<_, argon2::password_hash::Error>(hash.to_string())
        };
        self.off_thread(work).await?.map_err(AppError::internal)
    }

    /// Whether a password is the one of a hash. Without a hash it is not, and finding that out takes as long.
    ///
    /// # Errors
    /// `Internal`: the hash can't be read.
    pub async fn verify(&self, password: &str, hash: Option<String>) -> Result<bool, AppError> {
        let there = hash.is_some();
        let hash = match hash {
            Some(hash) => hash,
            None => self.decoy.get_or_try_init(|| self.hash_any(secret::text())).await?.clone(),
        };
        // What is longer can't have been set; hashing it would only take time.
        let password = if password.len() > MOST_BYTES { String::new() } else { password.to_owned() };
        let work = move || {
            let hash = PasswordHash::new(&hash)?;
            match Argon2::default().verify_password(password.as_bytes(), &hash) {
                Ok(()) => Ok(true),
                Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
                Err(error) => Err(error.into()),
            }
        };
        let right = self.off_thread(work).await?;
        Ok(right.map_err(|error: Box<dyn std::error::Error + Send + Sync>| AppError::internal(error))?
            && there)
    }

    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let _permit = self.permits.acquire().await.map_err(AppError::internal)?;
        tokio::task::spawn_blocking(work).await.map_err(AppError::internal)
    }
}

/// Whether a text may be a password.
fn check(password: &str) -> Result<(), AppError> {
    let characters = password.chars().count();
    if characters < LEAST_CHARACTERS {
        return Err(AppError::invalid(
            "password",
            format!(
                "has {characters} characters; it needs {LEAST_CHARACTERS}. A few words with spaces are fine"
            ),
        ));
    }
    if password.len() > MOST_BYTES {
        return Err(AppError::invalid("password", format!("is longer than {MOST_BYTES} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_only() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse battery").await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(passwords.verify("correct horse battery", Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify("correct horse", Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify("correct horse battery", None).await.unwrap());
        assert_ne!(hash, passwords.hash("correct horse battery").await.unwrap(), "each has its own salt");
    }

    #[tokio::test]
    async fn what_is_too_short_or_too_long_is_refused() {
        let passwords = Passwords::default();
        for password in ["", "123456789", &"x".repeat(1_001)] {
            let error = passwords.hash(password).await.unwrap_err();
            assert_eq!(error.fields()[0].field, "password");
        }
    }
}
