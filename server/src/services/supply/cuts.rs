//! The policy on a cut, the jobs over quota, and those that were stopped.

use common::api::{CutPolicyKind, CutsView, OverQuotaView, ReclaimView};
use common::chips::{Chips, MAX_CHIPS};

use super::super::Services;
use super::super::audit::{Deed, Doer, check_reason, record};
use super::super::changes::next_cycle;
use super::super::checks::Checks;
use super::super::version::{check_version, version_of};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::cuts::{self, CutPolicy};
use crate::store::{Tx, entities};

/// Stopped jobs in the list.
const LISTED: u32 = 200;

/// The policy as it is set, what waits for the next cycle included.
async fn policy(tx: &mut Tx) -> Result<CutPolicy, AppError> {
    Ok(entities::newest(tx).await?.pop().unwrap_or_default())
}

impl Services {
    /// The policy on a cut, the jobs over quota now, and the last ones that were stopped.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see it.
    pub async fn cuts(&self, viewer: &Viewer) -> Result<CutsView, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let policy = policy(&mut tx).await?;
        let reclaims = cuts::last_reclaims(&mut tx, LISTED).await?.into_iter().map(|(row, at, bid, name)| {
            let cuts::Reclaim { cycle, team, chip_type, chips, why, price_then, price_now, .. } = row;
            ReclaimView { cycle, at, bid, name, team, chip_type, chips, why, price_then, price_now }
        });
        let over_quota = cuts::over_quota(&mut tx).await?.into_iter().map(|(bid, name, team, over)| {
            OverQuotaView { bid, name, team, chip_type: over.chip_type, chips: over.chips, price: over.price }
        });
        let since = self.now().plus_seconds(-3_600);
        Ok(CutsView {
            version: version_of(&policy)?,
            policy: policy.kind,
            churn_chips: policy.churn_chips,
            next_cycle: next_cycle(&mut tx).await?,
            over_quota: over_quota.collect(),
            reclaims: reclaims.collect(),
            reclaimed_last_hour: Chips(cuts::reclaimed_since(&mut tx, since).await?),
        })
    }

    /// Sets what becomes of jobs that a cut leaves without quota, from the next cycle on.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: the limit is out of its range or is none of this policy, or there is no
    /// reason. `PreconditionFailed`: it was changed since `known`.
    pub async fn set_cut_policy(
        &self,
        doer: Doer<'_>,
        policy_set: CutPolicy,
        known: Option<&str>,
    ) -> Result<(), AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let mut checks = Checks::default();
        if let Some(most) = policy_set.churn_chips {
            checks.range("churn_chips", most.0, 1, MAX_CHIPS);
            if policy_set.kind != CutPolicyKind::Reclaim {
                checks.refuse("churn_chips", "is a limit of reclaiming; leave it empty with another policy");
            }
        }
        checks.finish()?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let present = policy(&mut tx).await?;
        check_version(known, &present)?;
        entities::write(&mut tx, now, &policy_set).await?;
        let deed = Deed::new("supply.cut_policy_set", "supply", "cut policy");
        record(&mut tx, now, doer, deed.before(&present)?.after(&policy_set)?).await?;
        tx.commit().await
    }
}
