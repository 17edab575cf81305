//! Above what amount a booking needs a second person: set by an admin, so that who books does not set it.

use common::money::MicroCredits;
use serde::Serialize;

use crate::error::AppError;
use crate::policy::{Action, Object};
use crate::services::Services;
use crate::services::audit::{Deed, Doer, reason_into, record};
use crate::services::checks::Checks;
use crate::store::finance::bookings as stored;

/// What the audit log keeps.
#[derive(Serialize)]
struct Limit {
    /// Global credits; none where each booking needs a second person.
    approval_above: Option<MicroCredits>,
}

impl Services {
    /// Sets the global credits above which a booking needs a second person, at once; none means that each one does.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: the amount is out of its range, or there is no reason.
    pub async fn set_approval_above(
        &self,
        doer: Doer<'_>,
        amount: Option<MicroCredits>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetOrganisation, Object::Organisation)?;
        let mut checks = Checks::default();
        reason_into(&mut checks, doer.reason);
        if let Some(amount) = amount {
            checks.amount("approval_above", amount);
        }
        checks.finish()?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let before = Limit { approval_above: stored::approval_above(&mut tx).await? };
        stored::set_approval_above(&mut tx, amount, now, &doer.viewer.user).await?;
        let deed = Deed::new("finance.approval_set", "organisation", "organisation");
        let deed = deed.before(&before)?.after(&Limit { approval_above: amount })?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }
}
