//! From a plan to its bids: one act makes the team's bids what the plan says, by the ordinary way of bids, all or none.

use common::api::{
    BidAlternative, BidLimit, BidStatus, BidTerms, PlaceBidsOfPlan, PlanBid, PlanBidsPlaced, PlanFit,
    PlanForecast, PlanTerms, PlanVerdict, PlanWindow, TeamName,
};
use common::ids::{BidId, PlanId, TeamId};
use common::instant::Instant;
use common::measure::chip_hours;

use super::super::Services;
use super::super::audit::{Deed, Doer, Origin, record};
use super::super::bids;
use super::super::changes::next_cycle;
use super::super::checks::Checks;
use super::super::queue::{Asked, status_of};
use super::super::read::latest::Latest;
use super::hours::HOUR;
use super::{checks, plan_of, words};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Viewer};
use crate::store::Tx;
use crate::store::history::seconds_between;
use crate::store::planner::{self as stored, Writer};
use crate::store::queue::{self, ListedBid};

/// Longest id of a placement: the number of a bid is added to it.
const MAX_ID: usize = 60;

/// The bids may give so much less than the plan wants before they no longer fit.
const TOO_LITTLE: f64 = 0.9;

/// Or so much more.
const TOO_MUCH: f64 = 1.25;

/// A bid to write, with what it is called in a refusal.
struct Step {
    bid: BidId,
    what: String,
    asked: Asked,
}

/// What is to be done for the bids to be what the plan says.
#[derive(Default)]
struct Work {
    cancel: Vec<BidId>,
    change: Vec<Step>,
    place: Vec<Step>,
}

impl Services {
    /// Makes the bids of a plan what the plan says now: places, changes and cancels, all or none, with the checks that any
    /// bid has. The same request again changes nothing and answers the same.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`: not for the viewer. `PreconditionFailed`: the plan has another version, or
    /// places more or dearer bids than were seen. `Conflict`: the plan
    /// is closed, or there is nothing to bid for. `Invalid`: a bid is refused, with the reason that it would have alone.
    pub async fn place_bids_of_plan(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        (team, id): (&TeamId, &PlanId),
        request: PlaceBidsOfPlan,
    ) -> Result<PlanBidsPlaced, AppError> {
        let latest = self.latest().await?;
        let team = Self::team_for(&latest, viewer, Action::ChangeBids, team)?;
        check_id(&request.id)?;
        let mut tx = self.store.read().await?;
        let plan = plan_of(&mut tx, &team.id, id).await?;
        if let Some(done) = stored::placement(&mut tx, plan.number, &request.id).await? {
            return Ok(done);
        }
        checks::version(&plan, request.version)?;
        if plan.newest.closed {
            return Err(AppError::conflict("the plan is closed and places no bids; open it again first"));
        }
        let losses = stored::losses(&mut tx, plan.number).await?;
        let before = listed(&mut tx, plan.number).await?;
        drop(tx);
        let terms = plan.newest.terms.clone();
        let forecast = self.foresee(&latest, &team, &terms, losses).await?;
        checks::seen(&forecast, request.seen)?;
        let open: Vec<ListedBid> = before.iter().filter(|bid| !bid.version.state.is_end()).cloned().collect();
        if open.is_empty() && forecast.windows.is_empty() {
            return Err(AppError::conflict(format!(
                "there is nothing to bid for. {}",
                forecast.verdict_words
            )));
        }
        let work = work(&latest, &team, (&terms, &forecast), (open, before.len()), &request.id)?;
        let by = Writer { user: viewer.user.clone(), name: viewer.name.clone(), now: self.now() };
        let (viewer, origin, id) = (viewer.clone(), origin.clone(), id.clone());
        self.writes
            .run(move |tx| {
                Box::pin(async move {
                    let plan = plan_of(tx, &team.id, &id).await?;
                    if let Some(done) = stored::placement(tx, plan.number, &request.id).await? {
                        return Ok(done);
                    }
                    checks::version(&plan, request.version)?;
                    let done = write(tx, &by, work).await?;
                    stored::insert_placement(tx, &by, plan.number, (&request.id, request.version), &done)
                        .await?;
                    let doer = Doer { viewer: &viewer, origin: &origin, reason: "placed the bids of a plan" };
                    record(tx, by.now, doer, Deed::new("plan.bids_placed", "plan", &id).after(&done)?)
                        .await?;
                    Ok(done)
                })
            })
            .await
    }

    /// The bids that a plan placed, in order of time.
    pub(super) async fn bids_of_plan(&self, tx: &mut Tx, plan: u64) -> Result<Vec<PlanBid>, AppError> {
        let now = self.now();
        let bids = listed(tx, plan).await?;
        Ok(bids.into_iter().map(|bid| shown(bid, now)).collect())
    }
}

fn check_id(id: &str) -> Result<(), AppError> {
    let mut checks = Checks::default();
    if id.len() > MAX_ID || BidId::new(id).is_err() {
        checks.refuse("id", "names the placement: 1 to 60 letters, digits and - _ . :, another one for each");
    }
    checks.finish()
}

/// A plan's bids as they are stored, in order of time.
async fn listed(tx: &mut Tx, plan: u64) -> Result<Vec<ListedBid>, AppError> {
    let mut bids = Vec::new();
    for id in stored::bids(tx, plan).await? {
        bids.extend(queue::bid(tx, &id).await?);
    }
    bids.sort_by_key(|bid| (bid.version.terms.not_before, bid.version.terms.not_after));
    Ok(bids)
}

fn shown(bid: ListedBid, now: Instant) -> PlanBid {
    let done_chip_seconds = bid.done_chip_seconds(now);
    let terms = bid.version.terms;
    PlanBid {
        bid: bid.version.id,
        status: status_of(bid.version.state),
        chips: terms.alternatives.first().map(|one| one.chips).unwrap_or_default(),
        from: terms.not_before,
        to: terms.not_after,
        limit: terms.limit,
        done_chip_seconds,
    }
}

/// The open bids are changed to the windows in order of time; what is left of either is ended or placed.
fn work(
    latest: &std::sync::Arc<Latest>,
    team: &TeamName,
    (terms, forecast): (&PlanTerms, &PlanForecast),
    (open, placed_before): (Vec<ListedBid>, usize),
    id: &str,
) -> Result<Work, AppError> {
    let mut work = Work::default();
    let now = forecast.at;
    let mut open = open.into_iter();
    for (nth, window) in forecast.windows.iter().enumerate() {
        let (from, to) = (words::day_and_time(window.from), words::day_and_time(window.to));
        let what = format!("the bid from {from} to {to}");
        match open.next() {
            Some(bid) => {
                let asked = changed(&bid, terms, window, now);
                let asked = Asked::new(latest, team, bid.version.id.clone(), now, asked);
                work.change.push(Step { bid: bid.version.id, what, asked });
            }
            None => {
                let bid = BidId::new(format!("{id}-{nth}")).map_err(AppError::internal)?;
                let name = format!("{} ({})", terms.name, placed_before + work.place.len() + 1);
                let asked = Asked::new(latest, team, bid.clone(), now, asked(name, terms, window, now));
                work.place.push(Step { bid, what, asked });
            }
        }
    }
    work.cancel = open.map(|bid| bid.version.id).collect();
    Ok(work)
}

/// The terms of a bid for a window.
fn asked(name: String, terms: &PlanTerms, window: &PlanWindow, now: Instant) -> BidTerms {
    BidTerms {
        name,
        note: format!("Placed by the plan \"{}\"", terms.name),
        alternatives: vec![BidAlternative {
            chip_type: terms.chip_type.clone(),
            chips: window.chips,
            min_chips: terms.least_chips.min(window.chips),
        }],
        limit: BidLimit::At(window.limit),
        not_before: (window.from > now).then_some(window.from),
        not_after: Some(window.to),
        work_chip_seconds: Some(window.chip_seconds),
    }
}

/// The terms of a bid that is there already: its name stays, and what it did counts in its work.
fn changed(bid: &ListedBid, terms: &PlanTerms, window: &PlanWindow, now: Instant) -> BidTerms {
    let before = &bid.version.terms;
    let mut asked = asked(before.name.clone(), terms, window, now);
    if asked.not_before.is_none() {
        // One that has begun keeps when it did.
        asked.not_before = before.not_before.filter(|from| *from <= now);
    }
    asked.work_chip_seconds = Some(window.chip_seconds + bid.done_chip_seconds(now));
    asked
}

async fn write(tx: &mut Tx, by: &Writer, work: Work) -> Result<PlanBidsPlaced, AppError> {
    let mut done = PlanBidsPlaced {
        placed: Vec::new(),
        changed: Vec::new(),
        cancelled: Vec::new(),
        effective_cycle: next_cycle(tx).await?,
    };
    // What is given up first makes room for what is asked for.
    for bid in work.cancel {
        bids::cancel(tx, by.now, &bid).await?;
        done.cancelled.push(bid);
    }
    for Step { bid, what, asked } in work.change {
        asked.amend(tx, None).await.map_err(|error| named(&error, &what))?;
        done.changed.push(bid);
    }
    for Step { bid, what, asked } in work.place {
        asked.place(tx, &by.user).await.map_err(|error| named(&error, &what))?;
        done.placed.push(bid);
    }
    Ok(done)
}

/// A refusal of one bid among several: which one, and why.
fn named(error: &AppError, what: &str) -> AppError {
    let why = error.fields().first().map_or_else(|| error.message().to_owned(), |fault| fault.detail.clone());
    let kind = error.kind();
    if matches!(kind, ErrorKind::Invalid | ErrorKind::Conflict) {
        return AppError::new(kind, format!("{what} is refused, so nothing was changed: {why}"));
    }
    AppError::new(kind, error.message()).with_context(error.private_context())
}

/// Whether the open bids are still what the plan wants.
pub(super) fn fit(terms: &PlanTerms, forecast: &PlanForecast, bids: &[PlanBid]) -> PlanFit {
    let open: Vec<&PlanBid> = bids.iter().filter(|bid| is_open(bid)).collect();
    let mut changes = Vec::new();
    match forecast.verdict {
        PlanVerdict::Reached => changes.push("The target was met: end the bids that are open.".to_owned()),
        PlanVerdict::Overdue => {
            changes.push("The deadline has passed: end the bids that are open.".to_owned())
        }
        PlanVerdict::CannotFinish => {
            changes.push("The job cannot finish any more: end its bids, or give it more time.".to_owned());
        }
        PlanVerdict::Uncertain | PlanVerdict::CanFinish => {
            changes.extend(amount(terms, forecast, &open));
            changes.extend(limits(forecast, &open));
        }
    }
    let late = open.iter().filter(|bid| bid.to.is_none_or(|to| to > terms.deadline)).count();
    if late > 0 && forecast.verdict != PlanVerdict::Overdue {
        changes.push(format!("{late} of the bids go on after the deadline."));
    }
    let paused = open.iter().filter(|bid| bid.status == BidStatus::Paused).count();
    if paused > 0 {
        changes.push(format!("{paused} of the bids are paused: resume them on the page of bids."));
    }
    PlanFit { fits: changes.is_empty(), changes }
}

const fn is_open(bid: &PlanBid) -> bool {
    matches!(bid.status, BidStatus::Live | BidStatus::Paused)
}

/// Whether the bids give what the plan wants to cover.
fn amount(terms: &PlanTerms, forecast: &PlanForecast, open: &[&PlanBid]) -> Option<String> {
    let seconds = |bid: &&PlanBid| {
        let from = bid.from.map_or(forecast.at, |from| from.max(forecast.at));
        let to = bid.to.map_or(terms.deadline, |to| to.min(terms.deadline));
        bid.chips.0 * seconds_between(from, to).unsigned_abs()
    };
    let given = open.iter().map(seconds).sum::<u64>() as f64 / HOUR as f64;
    let wanted = forecast.covered_chip_hours;
    let (says_given, says_wanted) = (chip_hours(given), chip_hours(wanted));
    if given < wanted * TOO_LITTLE {
        return Some(format!(
            "The bids give {says_given} more chip-hours and {says_wanted} are to be covered: bid for more hours."
        ));
    }
    // An hour of all chips is the least that can be taken away.
    (given > wanted * TOO_MUCH + terms.most_chips.0 as f64).then(|| {
        format!(
            "The bids give {says_given} more chip-hours and {says_wanted} are enough: give some hours back."
        )
    })
}

/// Whether foreseen prices are still below the limits.
fn limits(forecast: &PlanForecast, open: &[&PlanBid]) -> Option<String> {
    let is_dear = |bid: &&&PlanBid| {
        let overlaps = |window: &&PlanWindow| {
            bid.from.is_none_or(|from| from < window.to) && bid.to.is_none_or(|to| to > window.from)
        };
        let limit = bid.limit;
        forecast.windows.iter().filter(overlaps).any(|window| limit.is_some_and(|limit| window.price > limit))
    };
    let dear = open.iter().filter(is_dear).count();
    (dear > 0)
        .then(|| format!("The foreseen price is above the limit of {dear} of the bids: raise the limits."))
}
