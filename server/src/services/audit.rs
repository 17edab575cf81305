//! The audit log: who did what to what, why and from where. Written in the transaction of the change, so that there is
//! no change without its entry and no entry without its change.

use common::api::{AuditEntry, Page};
use common::instant::Instant;
use serde::Serialize;

use super::Services;
use super::checks::Checks;
use super::paging::{self, check_limit};
use crate::error::AppError;
use crate::policy::{Action, Object, Via, Viewer};
use crate::store::Tx;
use crate::store::audit::{self, AuditFilter};

/// Longest reason, in characters.
pub const MAX_REASON: usize = 500;

/// Where a request came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The client's network address, where it is known.
    pub address: Option<String>,
    /// `X-Request-Id` of the request.
    pub request_id: Option<String>,
}

/// Who does something, from where and why: what every change by somebody with power comes with.
#[derive(Clone, Copy, Debug)]
pub struct Doer<'a> {
    /// Who.
    pub viewer: &'a Viewer,
    /// From where.
    pub origin: &'a Origin,
    /// Why; 1 to [`MAX_REASON`] characters.
    pub reason: &'a str,
}

/// What was done, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// `noun.verb` in the past tense, such as `team.changed` or `bid.read`.
    action: &'static str,
    object_kind: &'static str,
    object: String,
    before: Option<serde_json::Value>,
    after: Option<serde_json::Value>,
}

impl Deed {
    /// Something that was done to an object, as yet without what it was and became: a look, or an end of sessions.
    pub fn new(action: &'static str, object_kind: &'static str, object: &(impl ToString + ?Sized)) -> Self {
        Self { action, object_kind, object: object.to_string(), before: None, after: None }
    }

    /// What was done, to an object of which kind, and to which.
    #[must_use]
    pub fn object(&self) -> (&'static str, &'static str, String) {
        (self.action, self.object_kind, self.object.clone())
    }

    /// Adds the object as it was.
    ///
    /// # Errors
    /// `Internal`: it has no JSON form.
    pub fn before(mut self, object: &impl Serialize) -> Result<Self, AppError> {
        self.before = Some(serde_json::to_value(object).map_err(AppError::internal)?);
        Ok(self)
    }

    /// Adds the object as it is now.
    ///
    /// # Errors
    /// `Internal`: it has no JSON form.
    pub fn after(mut self, object: &impl Serialize) -> Result<Self, AppError> {
        self.after = Some(serde_json::to_value(object).map_err(AppError::internal)?);
        Ok(self)
    }
}

/// Writes an entry in the transaction of what was done.
///
/// # Errors
/// `Invalid`: the reason is empty or too long. Nothing may be committed then.
pub async fn record(tx: &mut Tx, now: Instant, doer: Doer<'_>, deed: Deed) -> Result<(), AppError> {
    let reason = doer.reason.trim();
    check_reason(reason)?;
    let Doer { viewer, origin, .. } = doer;
    let token = match &viewer.via {
        Via::Token { id, .. } => Some(id.clone()),
        Via::Session(_) => None,
    };
    let entry = AuditEntry {
        number: 0,
        at: now,
        user: viewer.user.clone(),
        user_name: viewer.name.clone(),
        token,
        action: deed.action.to_owned(),
        object_kind: deed.object_kind.to_owned(),
        object: deed.object,
        before: deed.before,
        after: deed.after,
        reason: reason.to_owned(),
        address: origin.address.clone(),
        request_id: origin.request_id.clone(),
    };
    audit::insert(tx, &entry).await
}

/// Refuses an empty reason and one that is too long, before anything is done.
///
/// # Errors
/// `Invalid`, at the field `reason`.
pub fn check_reason(reason: &str) -> Result<(), AppError> {
    let mut checks = Checks::default();
    reason_into(&mut checks, reason);
    checks.finish()
}

/// Notes what is wrong with a reason among a form's other faults.
pub(super) fn reason_into(checks: &mut Checks, reason: &str) {
    if reason.trim().is_empty() {
        checks.refuse("reason", "is empty; say why in a few words, the audit log keeps it");
    }
    checks.length("reason", reason, MAX_REASON);
}

impl Services {
    /// One page of the audit log, newest first.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read it. `Invalid`: the cursor is none of this list, or the limit is out of its
    /// range.
    pub async fn audit_log(
        &self,
        viewer: &Viewer,
        filter: &AuditFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<AuditEntry>, AppError> {
        viewer.may(Action::ReadAudit, Object::Organisation)?;
        check_limit(limit)?;
        let before = paging::read_before(cursor)?;
        let entries = audit::entries(&mut self.store.read().await?, filter, before, limit + 1).await?;
        Ok(paging::page(entries, limit, |entry| paging::before(entry.number)))
    }

    /// The actions that the log knows so far, in order.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read the log.
    pub async fn audited_actions(&self, viewer: &Viewer) -> Result<Vec<String>, AppError> {
        viewer.may(Action::ReadAudit, Object::Organisation)?;
        audit::actions(&mut self.store.read().await?).await
    }
}
