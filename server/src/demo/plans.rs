//! The demo's plans: two training jobs of the engineer's teams, made through the services as anybody's are, so that the
//! planner has something to show.

use common::api::{NewPlan, PlanTerms, PostedLosses, ReportedLoss};
use common::chips::Chips;
use common::ids::{ChipTypeId, SessionId, TeamId};
use common::instant::Instant;

use crate::error::{AppError, ErrorKind};
use crate::policy::{Via, Viewer};
use crate::services::Services;
use crate::services::audit::Origin;
use crate::store::history::step_start;
use crate::store::viewers;

/// A made-up job: its loss is `floor + height · (chip-hours / 10)^−fall`, with some noise.
struct Job {
    id: &'static str,
    name: &'static str,
    floor: f64,
    height: f64,
    fall: f64,
    /// Chip-hours used so far, in so many losses.
    used: f64,
    losses: u64,
    target: f64,
    days: i64,
    most_chips: u64,
}

/// One that can finish, and one whose deadline is too near.
const JOBS: [Job; 2] = [
    Job {
        id: "demo-encoder",
        name: "Speech encoder, third run",
        floor: 1.6,
        height: 4.2,
        fall: 0.48,
        used: 210.0,
        losses: 120,
        target: 2.2,
        days: 3,
        most_chips: 32,
    },
    Job {
        id: "demo-ranker",
        name: "Ranking model with a close deadline",
        floor: 0.31,
        height: 0.9,
        fall: 0.35,
        used: 90.0,
        losses: 80,
        target: 0.345,
        days: 1,
        most_chips: 8,
    },
];

/// Part of the losses that a plan is made from; the job reports the others afterwards.
const FIRST_PART: f64 = 0.7;

impl Job {
    fn loss(&self, nth: u64) -> ReportedLoss {
        let chip_hours = self.used * nth as f64 / self.losses as f64;
        let noise = 1.0 + 0.02 * (noise(nth + self.losses) - 0.5);
        let loss = self.floor + self.height * (1.0 + chip_hours / 10.0).powf(-self.fall) * noise;
        let rounded = |value: f64| (value * 1e5).round() / 1e5;
        ReportedLoss { step: nth * 250, chip_hours: Some(rounded(chip_hours)), loss: rounded(loss) }
    }

    fn terms(&self, chip_type: ChipTypeId, now: Instant) -> PlanTerms {
        PlanTerms {
            name: self.name.to_owned(),
            chip_type,
            most_chips: Chips(self.most_chips),
            least_chips: Chips(1),
            target_loss: self.target,
            deadline: step_start(now, 3_600).plus_seconds(self.days * 86_400),
            chip_hours_per_step: None,
        }
    }
}

/// A number between 0 and 1 that is always the same.
fn noise(nth: u64) -> f64 {
    let mixed = (nth + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 1_000) as f64 / 1_000.0
}

/// Makes the plans of the engineer's teams, where they are not there yet.
pub(super) async fn make(services: &Services) -> Result<(), AppError> {
    let engineer = super::ACCOUNTS[0].0.parse().map_err(AppError::internal)?;
    let via = Via::Session(SessionId::new("demo").map_err(AppError::internal)?);
    let mut tx = services.store.read().await?;
    let viewer = viewers::viewer(&mut tx, &engineer, via).await?;
    drop(tx);
    // Somebody may have locked the account.
    let Some(viewer) = viewer else { return Ok(()) };
    let teams: Vec<TeamId> = viewer.teams.keys().cloned().collect();
    for (job, team) in JOBS.iter().zip(teams) {
        make_one(services, &viewer, &team, job).await?;
    }
    Ok(())
}

async fn make_one(services: &Services, viewer: &Viewer, team: &TeamId, job: &Job) -> Result<(), AppError> {
    let id = job.id.parse().map_err(AppError::internal)?;
    let origin = Origin::default();
    match services.plan(viewer, &origin, team, &id).await {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        found => return found.map(drop),
    }
    // The type that its pool can have most of.
    let query = common::api::BidsQuery { team: Some(team.clone()), ..Default::default() };
    let chip_types = services.bids(viewer, &origin, query).await?.chip_types;
    let open = chip_types.into_iter().filter(|one| !one.retired && one.most_chips.0 >= job.most_chips);
    let Some(chip_type) = open.max_by_key(|one| (one.local_price.is_some(), one.most_chips)) else {
        return Ok(());
    };
    let first = (job.losses as f64 * FIRST_PART) as u64;
    let new = NewPlan {
        id: id.clone(),
        terms: job.terms(chip_type.chip_type, services.now()),
        log: String::new(),
        losses: (1..=first).map(|nth| job.loss(nth)).collect(),
    };
    services.make_plan(viewer, &origin, team, new).await?;
    // The rest comes as a job reports it, in two steps.
    let middle = (first + job.losses) / 2;
    for (report, steps) in [("run-1", first + 1..=middle), ("run-2", middle + 1..=job.losses)] {
        let losses = steps.map(|nth| job.loss(nth)).collect();
        let posted = PostedLosses { id: report.to_owned(), log: String::new(), losses };
        services.report_losses(viewer, (team, &id), posted).await?;
    }
    Ok(())
}
