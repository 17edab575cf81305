//! Changes of supply by people: now, at a time to come, and windows of maintenance. The clearing loop applies what is
//! due in the transaction of its cycle.

use common::api::{Comparison, NewMaintenance, PlanState, PlannedChange, SupplyChanged, SupplyEdit};
use common::chips::{Chips, MAX_CHIPS};
use common::instant::Instant;
use serde::Serialize;

use super::super::Services;
use super::super::audit::{Deed, Doer, Origin, check_reason, record};
use super::super::changes::next_cycle;
use super::super::checks::Checks;
use super::super::organisation::newest_setup;
use super::super::version::check_version;
use super::edit::{Supply, object_of, value_of};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::store::Tx;
use crate::store::audit::{self, AuditFilter};
use crate::store::supply::{self as stored, NewPlan};

/// How far ahead a change may be planned, in seconds: five years.
const FARTHEST_SECONDS: i64 = 5 * 366 * 86_400;

/// Longest id that a client gives a plan, in characters.
const MAX_ID: usize = 64;

/// What the audit log says of a window of maintenance.
#[derive(Serialize)]
struct Window<'a> {
    edit: &'a SupplyEdit,
    from: Instant,
    to: Instant,
}

/// What the audit log says of a change at a time to come.
#[derive(Serialize)]
struct Scheduled<'a> {
    edit: &'a SupplyEdit,
    at: Instant,
}

impl Services {
    /// Sets supply from the next cycle on, or plans it for a time to come. `id` is made by the client, so that a plan that
    /// is sent twice is there once.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: a field is out of its range or names what does not exist, or there is
    /// no reason. `PreconditionFailed`: it was changed since `known`. `Conflict`: the id is taken by another plan.
    pub async fn change_supply(
        &self,
        doer: Doer<'_>,
        edit: &SupplyEdit,
        (at, id): (Option<Instant>, &str),
        known: Option<&str>,
    ) -> Result<SupplyChanged, AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        let Some(at) = at else {
            let present = supply.present(edit)?;
            check_known(&mut tx, known, &present).await?;
            supply.write(&mut tx, now, edit).await?;
            let deed = Deed::new("supply.changed", "supply", &object_of(edit));
            record(&mut tx, now, doer, deed.before(&present)?.after(edit)?).await?;
            let cycle = next_cycle(&mut tx).await?;
            tx.commit().await?;
            return Ok(SupplyChanged { cycle: Some(cycle), planned: None });
        };
        if let Some(planned) = repeated(&mut tx, id, edit, (at, None)).await? {
            return Ok(planned);
        }
        let present = supply.present(edit)?;
        check_known(&mut tx, known, &present).await?;
        supply.check(edit)?;
        let mut checks = Checks::default();
        check_ahead(&mut checks, "at", now, at);
        check_id(&mut checks, id);
        checks.finish()?;
        let plan = new_plan(id, edit, (at, None), doer);
        let number = stored::insert_plan(&mut tx, now, &plan).await?;
        let deed = Deed::new("supply.scheduled", "supply", &object_of(edit));
        record(&mut tx, now, doer, deed.before(&present)?.after(&Scheduled { edit, at })?).await?;
        tx.commit().await?;
        Ok(SupplyChanged { cycle: None, planned: Some(number) })
    }

    /// Plans a window of maintenance: chips that are down from the first cycle at or after its start until the first at or
    /// after its end.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `Invalid`: a field is out of its range or names what does not exist, or there is
    /// no reason. `Conflict`: the id is taken by another plan.
    pub async fn plan_maintenance(
        &self,
        doer: Doer<'_>,
        window: &NewMaintenance,
        id: &str,
    ) -> Result<SupplyChanged, AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (edit, NewMaintenance { from, to, .. }) = (down_of(window), window);
        let (now, mut tx) = (self.now(), self.store.write().await?);
        if let Some(planned) = repeated(&mut tx, id, &edit, (*from, Some(*to))).await? {
            return Ok(planned);
        }
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        check_window(&supply, now, window, id)?;
        let plan = new_plan(id, &edit, (*from, Some(*to)), doer);
        let number = stored::insert_plan(&mut tx, now, &plan).await?;
        let deed = Deed::new("supply.maintenance_planned", "supply", &object_of(&edit));
        record(&mut tx, now, doer, deed.after(&Window { edit: &edit, from: *from, to: *to })?).await?;
        tx.commit().await?;
        Ok(SupplyChanged { cycle: None, planned: Some(number) })
    }

    /// What the chips that a window takes down would do to the cycle in force, were they down in it. Changes nothing.
    ///
    /// # Errors
    /// As [`Services::plan_maintenance`] and [`Services::supply_effect`].
    pub async fn maintenance_effect(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        window: &NewMaintenance,
        id: &str,
    ) -> Result<Comparison, AppError> {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(&window.reason)?;
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let supply = Supply::load(&mut tx, setup).await?;
        drop(tx);
        let exist = check_window(&supply, self.now(), window, id)?;
        let NewMaintenance { chip_type, pool, chips, .. } = window;
        // Fewer than are down already there can't be: the window takes what is left.
        let left = (exist.0 - chips.0).max(supply.down(chip_type, pool.as_ref()).0);
        let edit = SupplyEdit::Chips { chip_type: chip_type.clone(), pool: pool.clone(), chips: Chips(left) };
        self.supply_effect(viewer, origin, &[edit]).await
    }

    /// Refuses a time for a change that is over or too far ahead.
    ///
    /// # Errors
    /// `Invalid`, at the field `at`.
    pub fn check_time_to_come(&self, at: Instant) -> Result<(), AppError> {
        let mut checks = Checks::default();
        check_ahead(&mut checks, "at", self.now(), at);
        checks.finish()
    }

    /// Takes back a plan that waits, or ends maintenance that runs: its chips are back with the next cycle.
    ///
    /// # Errors
    /// `Forbidden`: the doer is no admin. `NotFound`: there is no such plan. `Conflict`: it is over. `Invalid`: there is no
    /// reason.
    pub async fn cancel_plan(&self, doer: Doer<'_>, number: u64) -> Result<(), AppError> {
        doer.viewer.may(Action::SetSupply, Object::Organisation)?;
        check_reason(doer.reason)?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let plan = stored::plan(&mut tx, number).await?;
        let plan = plan.ok_or_else(|| AppError::not_found("planned change", number))?;
        match plan.state {
            PlanState::Waiting => {}
            PlanState::Running => give_back(&mut tx, now, &plan).await?,
            PlanState::Done | PlanState::Cancelled | PlanState::Refused => {
                return Err(AppError::conflict(format!(
                    "planned change {number} is over, so it can't be taken back; make a new change instead"
                )));
            }
        }
        let note = format!("{}: {}", doer.viewer.name, doer.reason.trim());
        stored::end_plan(&mut tx, number, now, PlanState::Cancelled, Some(&note)).await?;
        let deed = Deed::new("supply.plan_cancelled", "supply", &object_of(&plan.edit)).before(&plan)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await
    }
}

fn new_plan<'a>(
    id: &'a str,
    edit: &'a SupplyEdit,
    (from, to): (Instant, Option<Instant>),
    doer: Doer<'a>,
) -> NewPlan<'a> {
    let Doer { viewer, reason, .. } = doer;
    NewPlan { id, edit, from, to, user: &viewer.user, user_name: &viewer.name, reason: reason.trim() }
}

/// The chips of a window, as an edit names them.
fn down_of(window: &NewMaintenance) -> SupplyEdit {
    let NewMaintenance { chip_type, pool, chips, .. } = window;
    SupplyEdit::Chips { chip_type: chip_type.clone(), pool: pool.clone(), chips: *chips }
}

/// Refuses a window that can't be planned; the answer is how many chips exist.
fn check_window(supply: &Supply, now: Instant, window: &NewMaintenance, id: &str) -> Result<Chips, AppError> {
    let NewMaintenance { chips, from, to, .. } = window;
    let SupplyEdit::Chips { chips: present, .. } = supply.present(&down_of(window))? else {
        return Err(AppError::internal("chips are set by an edit of chips"));
    };
    let mut checks = Checks::default();
    check_id(&mut checks, id);
    if chips.0 == 0 || *chips > present {
        let detail = format!("is {chips}; there are {present}, so it must be from 1 to {present}");
        checks.refuse("chips", detail);
    }
    if to <= from {
        checks.refuse("to", format!("is {to}; it must be after the start, {from}"));
    }
    check_ahead(&mut checks, "to", now, *to);
    checks.finish()?;
    Ok(present)
}

/// The answer to a request that was sent before.
async fn repeated(
    tx: &mut Tx,
    id: &str,
    edit: &SupplyEdit,
    window: (Instant, Option<Instant>),
) -> Result<Option<SupplyChanged>, AppError> {
    let Some(plan) = stored::plan_by_id(tx, id).await? else { return Ok(None) };
    if (&plan.edit, plan.from, plan.to) == (edit, window.0, window.1) {
        return Ok(Some(SupplyChanged { cycle: None, planned: Some(plan.number) }));
    }
    Err(AppError::conflict(format!(
        "the id {id} is that of planned change {}, which is another one; make a new id",
        plan.number
    )))
}

fn check_id(checks: &mut Checks, id: &str) {
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        checks.refuse(
            "id",
            format!("is {id:?}; it must be 1 to {MAX_ID} visible ASCII characters, such as a UUID"),
        );
    }
}

/// Refuses a time that is over, and one that is too far ahead.
fn check_ahead(checks: &mut Checks, field: &str, now: Instant, at: Instant) {
    if at <= now {
        checks.refuse(field, format!("is {at}, which is over; it is {} now", now.whole_second()));
    }
    if at > now.plus_seconds(FARTHEST_SECONDS) {
        checks.refuse(field, format!("is {at}; plan at most five years ahead"));
    }
}

/// Refuses a change that was made from another state than the present one, and says what somebody else did.
async fn check_known(tx: &mut Tx, known: Option<&str>, present: &SupplyEdit) -> Result<(), AppError> {
    if check_version(known, present).is_ok() {
        return Ok(());
    }
    let filter = AuditFilter {
        object_kind: Some("supply".to_owned()),
        object: Some(object_of(present)),
        action: Some("supply.changed".to_owned()),
        ..AuditFilter::default()
    };
    let last = audit::entries(tx, &filter, u64::MAX >> 1, 1).await?.pop();
    let what = value_of(present);
    let message = match last {
        Some(entry) => format!(
            "{} changed this at {} ({}): it is {what} now. What you typed is kept; send it again to set it all the same",
            entry.user_name, entry.at, entry.reason
        ),
        None => format!(
            "this changed since you opened it: it is {what} now. What you typed is kept; send it again to set it all the \
             same"
        ),
    };
    Err(AppError::new(ErrorKind::PreconditionFailed, message))
}

/// Does what is due in `cycle`, which begins at `at`: writes the versions that take effect with it.
///
/// # Errors
/// The database can't be read or written. A plan that can't be applied is no error: it says so itself.
pub(crate) async fn apply_due(tx: &mut Tx, cycle: u64, at: Instant) -> Result<(), AppError> {
    for plan in stored::due_plans(tx, at).await? {
        match apply(tx, (cycle, at), &plan).await {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::NotFound) => {
                stored::end_plan(tx, plan.number, at, PlanState::Refused, Some(error.message())).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Does what is due of a plan. Refused before anything of it is written.
async fn apply(tx: &mut Tx, (cycle, at): (u64, Instant), plan: &PlannedChange) -> Result<(), AppError> {
    let setup = newest_setup(tx).await?;
    let supply = Supply::load(tx, setup).await?;
    match plan.to {
        Some(_) if plan.state == PlanState::Running => {
            give_back(tx, at, plan).await?;
            stored::end_plan(tx, plan.number, at, PlanState::Done, None).await
        }
        Some(to) if to <= at => {
            let note = "no cycle cleared while it lasted";
            stored::end_plan(tx, plan.number, at, PlanState::Refused, Some(note)).await
        }
        Some(_) => take_down(tx, (cycle, at), &supply, plan).await,
        None => {
            supply.write(tx, at, &plan.edit).await?;
            stored::begin_plan(tx, plan.number, cycle, None).await?;
            stored::end_plan(tx, plan.number, at, PlanState::Done, None).await
        }
    }
}

/// Begins maintenance: takes its chips, or as many as there are.
async fn take_down(
    tx: &mut Tx,
    (cycle, at): (u64, Instant),
    supply: &Supply,
    plan: &PlannedChange,
) -> Result<(), AppError> {
    let SupplyEdit::Chips { chip_type, pool, chips } = &plan.edit else {
        return Err(AppError::internal("maintenance is of chips"));
    };
    let in_force = supply.in_force(chip_type, pool.as_ref());
    let taken = Chips(chips.0.min(in_force.0));
    let left = Chips(in_force.0 - taken.0);
    supply.write_in_force(tx, at, chip_type, pool.as_ref(), left).await?;
    stored::begin_plan(tx, plan.number, cycle, Some(taken)).await
}

/// Gives the chips of maintenance back.
async fn give_back(tx: &mut Tx, now: Instant, plan: &PlannedChange) -> Result<(), AppError> {
    let SupplyEdit::Chips { chip_type, pool, .. } = &plan.edit else {
        return Err(AppError::internal("maintenance is of chips"));
    };
    let setup = newest_setup(tx).await?;
    let supply = Supply::load(tx, setup).await?;
    let back = supply.in_force(chip_type, pool.as_ref()).0 + plan.taken.unwrap_or_default().0;
    supply.write_in_force(tx, now, chip_type, pool.as_ref(), Chips(back.min(MAX_CHIPS))).await
}
