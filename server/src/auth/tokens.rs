//! Tokens for programs: shown once, kept as a hash, never worth more than their owner is at the moment.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use common::ids::{TokenId, UserId};
use common::instant::Instant;

use super::{Auth, secret};
use crate::error::AppError;
use crate::policy::{Scope, Via, Viewer};
use crate::services::checks::Checks;
use crate::store::sessions::{self, Token};
use crate::store::viewers;

/// What every token begins with, so that one left in a file is recognised.
pub const TOKEN_PREFIX: &str = "qm_";

/// Longest life of a token in days.
pub const MOST_DAYS: u32 = 366;

/// Tokens of a person at most.
const MOST_TOKENS: usize = 50;

/// Seconds after which a use of a token is noted again.
const NOTED_EVERY_SECONDS: i64 = 300;

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// What it may do, where its owner may.
    pub scopes: BTreeSet<Scope>,
    /// Days until it ends by itself, 1 to [`MOST_DAYS`].
    pub days: u32,
}

impl Auth {
    /// Makes a token; the text is the secret, which is not kept.
    ///
    /// # Errors
    /// `Invalid`: a field is out of its range. `Conflict`: the person has too many tokens.
    pub async fn make_token(&self, user: &UserId, new: NewToken) -> Result<(Token, String), AppError> {
        let mut checks = Checks::default();
        checks.name("name", &new.name);
        checks.range("days", new.days.into(), 1, MOST_DAYS.into());
        if new.scopes.is_empty() {
            checks.refuse("scopes", "names nothing that the token may do; choose at least one");
        }
        checks.finish()?;
        let now = self.now();
        let token = Token {
            id: TokenId::new(self.services.ids.new_id(now)).map_err(AppError::internal)?,
            user: user.clone(),
            name: new.name,
            scopes: new.scopes,
            made_at: now,
            ends_at: now.plus_seconds(i64::from(new.days) * 86_400),
            last_used_at: None,
            revoked_at: None,
        };
        let text = format!("{TOKEN_PREFIX}{}", secret::text());
        let mut tx = self.services.store.write().await?;
        if sessions::tokens_of_user(&mut tx, user, now).await?.len() >= MOST_TOKENS {
            return Err(AppError::conflict(format!(
                "you have {MOST_TOKENS} tokens, the most that one person may have; revoke one that is not used"
            )));
        }
        sessions::insert_token(&mut tx, secret::hash(&text), &token).await?;
        tx.commit().await?;
        Ok((token, text))
    }

    /// The tokens of a person that hold, the newest first.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn tokens(&self, user: &UserId) -> Result<Vec<Token>, AppError> {
        sessions::tokens_of_user(&mut self.services.store.read().await?, user, self.now()).await
    }

    /// Revokes a token of a person.
    ///
    /// # Errors
    /// `NotFound`: the person has no such token, or it is revoked.
    pub async fn revoke_token(&self, user: &UserId, id: &TokenId) -> Result<(), AppError> {
        let mut tx = self.services.store.write().await?;
        if !sessions::revoke_token(&mut tx, user, id, self.now()).await? {
            return Err(AppError::not_found("token", id));
        }
        tx.commit().await?;
        self.streams.end(id.as_str());
        Ok(())
    }

    /// The viewer who made a token, with the token's scopes; none where it is not known or over.
    ///
    /// # Errors
    /// `Unavailable`: the database does not answer.
    pub async fn viewer_of_token(&self, text: &str) -> Result<Option<Viewer>, AppError> {
        if !text.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        let now = self.now();
        let mut tx = self.services.store.look().await?;
        let found = viewers::viewer_of_token(&mut tx, secret::hash(text), now).await?;
        let Some((viewer, last_used_at)) = found else { return Ok(None) };
        let noted = last_used_at.is_some_and(|at| now < at.plus_seconds(NOTED_EVERY_SECONDS));
        if let (Via::Token { id, .. }, false) = (&viewer.via, noted) {
            self.note_use(id.clone(), now);
        }
        Ok(Some(viewer))
    }

    /// Notes that a token was used, in the background: who only reads must not wait for the writer of the database.
    fn note_use(&self, id: TokenId, now: Instant) {
        let mut last = self.token_uses.lock().unwrap_or_else(PoisonError::into_inner);
        if last.get(&id).is_some_and(|at| now < at.plus_seconds(NOTED_EVERY_SECONDS)) {
            return;
        }
        last.insert(id.clone(), now);
        drop(last);
        let store = self.services.store.clone();
        tokio::spawn(async move {
            let noted = async {
                let mut tx = store.write().await?;
                sessions::note_token_used(&mut tx, &id, now).await?;
                tx.commit().await
            };
            if let Err(error) = noted.await {
                tracing::warn!(token = %id, cause = %error.private_context(), "its use was not noted: {error}");
            }
        });
    }
}
