//! Policies in shadow for those who ask: which run, and what each would have given over the last day.

use std::collections::BTreeMap;

use common::api::{ShadowPolicy, ShadowTeamView, ShadowView};
use common::ids::TeamId;
use policies::catalogue::find;

use super::Services;
use crate::error::AppError;
use crate::lab::compare::no_policy;
use crate::lab::shadow::can_run;
use crate::policy::{Action, Object, Viewer};
use crate::store::shadow::{self, ShadowStep};

/// Policies that may run in shadow at a time.
const MOST_RUNNING: usize = 8;

/// Seconds that the means are of.
const DAY: i64 = 86_400;

impl Services {
    /// What the policies in shadow would have given over the last day.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see the lab.
    pub async fn shadow(&self, viewer: &Viewer) -> Result<ShadowView, AppError> {
        viewer.may(Action::ReadLab, Object::Organisation)?;
        let since = self.now().plus_seconds(-DAY);
        let mut tx = self.store.read().await?;
        let running = shadow::chosen(&mut tx).await?;
        let steps = shadow::steps_since(&mut tx, since).await?;
        let mut policies: Vec<ShadowPolicy> = Vec::new();
        for one in steps.chunk_by(|a, b| a.policy == b.policy) {
            policies.push(means(one));
        }
        Ok(ShadowView { since, running, policies })
    }

    /// Lets exactly these policies run in shadow, from the next accounting step on.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see the lab. `Invalid`: a policy is not known, can't run in shadow, or is too many.
    pub async fn choose_shadow(&self, viewer: &Viewer, policies: &[String]) -> Result<(), AppError> {
        viewer.may(Action::RunLab, Object::Organisation)?;
        let mut names = Vec::with_capacity(policies.len());
        for name in policies {
            let reason = match find(name) {
                Some(choice) if can_run(name) => {
                    names.push(choice.name());
                    continue;
                }
                Some(_) => {
                    format!("{name:?} can't run in shadow: it needs whole jobs or all rounds beforehand")
                }
                None => no_policy(name),
            };
            return Err(AppError::invalid("shadow", reason));
        }
        names.sort_unstable();
        names.dedup();
        if names.len() > MOST_RUNNING {
            let reason = format!("has {} policies; the most is {MOST_RUNNING} at a time", names.len());
            return Err(AppError::invalid("shadow", reason));
        }
        let mut tx = self.store.write().await?;
        shadow::choose(&mut tx, &names, viewer.user.as_str(), self.now()).await?;
        tx.commit().await
    }
}

/// Means over the steps of one policy.
fn means(steps: &[ShadowStep]) -> ShadowPolicy {
    let mut sums: BTreeMap<&TeamId, [u64; 3]> = BTreeMap::new();
    for team in steps.iter().flat_map(|step| &step.teams) {
        let sum = sums.entry(&team.team).or_default();
        for (sum, chips) in sum.iter_mut().zip([team.asked, team.granted, team.given]) {
            *sum += chips;
        }
    }
    let count = steps.len().max(1) as u64;
    let mean = |sum: u64| (sum * 1_000 + count / 2) / count;
    let teams = sums.into_iter().map(|(team, [asked, granted, given])| ShadowTeamView {
        team: team.clone(),
        asked_milli: mean(asked),
        granted_milli: mean(granted),
        given_milli: mean(given),
    });
    let policy = steps.first().map(|step| step.policy.clone()).unwrap_or_default();
    ShadowPolicy {
        title: find(&policy).map_or_else(|| policy.clone(), |choice| choice.title()),
        steps: steps.len() as u64,
        last_cycle: steps.last().map_or(0, |step| step.cycle),
        teams: teams.collect(),
        policy,
    }
}
