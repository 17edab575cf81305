//! Other teams' bids are sealed: whoever may read them all the same is noted in the audit log with each look. A page that
//! stays open is read again with each cycle: that is one look an hour, of a session at an object.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use common::api::CycleView;
use common::ids::{TeamId, UserId};
use common::instant::Instant;

use super::super::Services;
use super::super::audit::{Deed, Doer, Origin, record};
use crate::error::AppError;
use crate::policy::{Via, Viewer};

/// What the log says of a look that nobody has to give a reason for.
const REASON: &str = "looked at sealed bids";

impl Services {
    /// One cycle, computed again from its stored inputs; with a team, only that team's bids. Bids of a team are shown to
    /// those who may read them, its means to those who may read its budget; nothing tells of the others.
    ///
    /// # Errors
    /// `NotFound`: there is no such cycle, or no such team in it, or not for the viewer. `Unavailable`: the database does
    /// not answer.
    pub async fn cycle(
        &self,
        viewer: Option<&Viewer>,
        origin: &Origin,
        number: u64,
        team: Option<TeamId>,
    ) -> Result<CycleView, AppError> {
        let view = self.market().cycle(viewer, number, team).await?;
        if let Some(viewer) = viewer
            && view.bids.iter().any(|bid| !viewer.teams.contains_key(&bid.team))
        {
            self.note_look(viewer, origin, Deed::new("bids.read", "cycle", &number)).await?;
        }
        Ok(view)
    }

    /// Notes a look at a team's bids by somebody who is no member of it.
    pub(in crate::services) async fn note_team_look(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        team: &TeamId,
        deed: impl FnOnce() -> Deed,
    ) -> Result<(), AppError> {
        if viewer.teams.contains_key(team) { Ok(()) } else { self.note_look(viewer, origin, deed()).await }
    }

    /// Waits for the entry: nothing is shown that is not in the log.
    pub(in crate::services) async fn note_look(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        deed: Deed,
    ) -> Result<(), AppError> {
        let (viewer, origin, now) = (viewer.clone(), origin.clone(), self.now());
        let look = Look { user: viewer.user.clone(), via: via_of(&viewer), at: deed.object() };
        if self.looks.is_noted(&look, now) {
            return Ok(());
        }
        self.writes
            .run(move |tx| {
                Box::pin(async move {
                    let doer = Doer { viewer: &viewer, origin: &origin, reason: REASON };
                    record(tx, now, doer, deed).await
                })
            })
            .await?;
        self.looks.note(look, now);
        Ok(())
    }
}

/// For how long a look counts as the same one.
const LOOK_SECONDS: i64 = 3_600;

/// Who looks, by which session or token, and at what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Look {
    user: UserId,
    via: String,
    at: (&'static str, &'static str, String),
}

fn via_of(viewer: &Viewer) -> String {
    match &viewer.via {
        Via::Session(session) => format!("session {session}"),
        Via::Token { id, .. } => format!("token {id}"),
    }
}

/// The looks that stand in the audit log already, each with when it was noted. Another process, or this one after a
/// restart, notes them once more.
#[derive(Debug, Default)]
pub(in crate::services) struct Looks(Mutex<HashMap<Look, Instant>>);

impl Looks {
    fn is_noted(&self, look: &Look, now: Instant) -> bool {
        let looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.get(look).is_some_and(|at| now < at.plus_seconds(LOOK_SECONDS))
    }

    fn note(&self, look: Look, now: Instant) {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looks.retain(|_, at| now < at.plus_seconds(LOOK_SECONDS));
        looks.insert(look, now);
    }
}
