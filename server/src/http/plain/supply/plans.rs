//! Windows of maintenance, and taking back what is planned.

use app::format::{thousands, utc};
use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input};
use app::plain::supply::confirmation;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::api::{Comparison, NewMaintenance, PlanState};
use common::chips::{Chips, MAX_CHIPS};
use common::words::counted;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::change::chips_of;
use super::{back, chip_type_in, doer, fields_of, pool_in, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;

const TITLE: &str = "Plan maintenance";
const PATH: &str = "/supply/maintenance";
const TAKE_BACK: &str = "Take back a plan";

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(PATH, get(form_page).post(plan))
        .route("/supply/planned/{number}/cancel", get(cancel_page).post(cancel))
}

async fn form_page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let page = form(&plain, &viewer, &fields_of(query)).await;
    show(plain, TITLE, page)
}

async fn form(plain: &Plain, viewer: &Viewer, fields: &[(String, String)]) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let view = plain.state().services().supply(viewer).await?;
    let (chip_type, pool) = (chip_type_in(fields)?, pool_in(fields)?);
    let chips = chips_of(&view, &chip_type, pool.as_ref())?;
    let whose = plain.names().whose(pool.as_ref());
    let mut inputs = vec![Input::Hidden("chip_type", chip_type.to_string())];
    inputs.extend(pool.map(|pool| Input::Hidden("pool", pool.to_string())));
    inputs.extend([
        Input::Line(
            Field { kind: "number", ..Field::text("chips", "Chips that are down") }
                .with_hint("At least 1, at most as many as there are"),
        ),
        Input::Line(Field::time("from", "From")),
        Input::Line(Field::time("to", "To")),
        Input::Hidden("id", plain.state().new_request_id()),
    ]);
    Ok(ChangePage {
        heading: TITLE,
        action: PATH.to_owned(),
        state: FormState::default(),
        version: String::new(),
        inputs,
        button: "Show the effect",
        now: vec![
            ("Chip type", plain.names().chip_type(&chip_type)),
            ("Whose", whose),
            ("Exist", counted(chips.0, "chip")),
        ],
        effects: vec![
            "The chips leave the market with the first cycle at or after the start, and are back with the first at or after \
             the end."
                .to_owned(),
            "It can be taken back until it begins, and ended early while it runs.".to_owned(),
            "The next page shows what it does to prices, teams and bids, and asks once more.".to_owned(),
        ],
        listing: None,
        back: back(),
    })
}

fn parse(posted: &Posted) -> Result<NewMaintenance, AppError> {
    let mut fields = Fields::new(posted.fields());
    let chips = fields.number("chips", 1, u32::try_from(MAX_CHIPS).unwrap_or(u32::MAX));
    let (from, to) = (fields.instant("from"), fields.instant("to"));
    fields.finish()?;
    Ok(NewMaintenance {
        chip_type: chip_type_in(posted.fields())?,
        pool: pool_in(posted.fields())?,
        chips: Chips(chips.unwrap_or_default().into()),
        from: from.unwrap_or_default(),
        to: to.unwrap_or_default(),
        reason: posted.get("reason").to_owned(),
    })
}

async fn plan(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    match plan_or_ask(&plain, &viewer, &origin, &posted).await {
        Ok(None) => plain.done("/supply", "The maintenance is planned."),
        Ok(Some((page, effect))) => plain.ok("Confirm the maintenance", || confirmation(page, &effect)),
        Err(error) => {
            let page = form(&plain, &viewer, posted.fields()).await;
            refuse(plain, TITLE, posted, &error, page)
        }
    }
}

/// Plans a window; before it is confirmed, what its chips would do and the form that confirms it.
async fn plan_or_ask(
    plain: &Plain,
    viewer: &Viewer,
    origin: &Origin,
    posted: &Posted,
) -> Result<Option<(ChangePage, Comparison)>, AppError> {
    let (window, services) = (parse(posted)?, plain.state().services());
    if posted.get("confirmed") == "yes" {
        services.plan_maintenance(doer(viewer, origin, posted), &window, posted.get("id")).await?;
        return Ok(None);
    }
    let effect = services.maintenance_effect(viewer, origin, &window, posted.get("id")).await?;
    let carried = ["chip_type", "pool", "chips", "id"];
    let mut inputs: Vec<Input> =
        carried.into_iter().map(|name| Input::Hidden(name, posted.get(name).to_owned())).collect();
    // As instants: the zone in which they were typed is not carried along.
    inputs.extend(
        [("from", window.from), ("to", window.to)].map(|(name, at)| Input::Hidden(name, at.to_string())),
    );
    inputs.push(Input::Hidden("confirmed", "yes".to_owned()));
    let NewMaintenance { chip_type, pool, chips, from, to, reason } = window;
    let whose = plain.names().whose(pool.as_ref());
    let page = ChangePage {
        heading: "Confirm the maintenance",
        action: PATH.to_owned(),
        state: FormState::filled(&[("reason", &reason)]),
        version: String::new(),
        inputs,
        button: "Plan it",
        now: vec![("Chip type", plain.names().chip_type(&chip_type)), ("Whose", whose)],
        effects: vec![
            format!(
                "{} {} down from the first cycle at or after {} until the first at or after {}.",
                counted(chips.0, "chip"),
                if chips.0 == 1 { "is" } else { "are" },
                utc(from),
                utc(to)
            ),
            "Below is what it would do to the book in force, were they down in it.".to_owned(),
        ],
        listing: None,
        back: back(),
    };
    Ok(Some((page, effect)))
}

async fn cancel_page(plain: Plain, viewer: Viewer, Segment(number): Segment<u64>) -> Response {
    let page = cancel_form(&plain, &viewer, number).await;
    show(plain, TAKE_BACK, page)
}

async fn cancel_form(plain: &Plain, viewer: &Viewer, number: u64) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let view = plain.state().services().supply(viewer).await?;
    let plan = view.planned.into_iter().find(|plan| plan.number == number);
    let plan = plan.ok_or_else(|| AppError::not_found("planned change", number))?;
    let runs = plan.state == PlanState::Running;
    let effect = if runs {
        format!("Its chips are back with cycle {}, the next one.", thousands(view.next_cycle))
    } else {
        "It does not happen. It stays in the list as taken back.".to_owned()
    };
    Ok(ChangePage {
        heading: if runs { "End the maintenance now" } else { TAKE_BACK },
        action: format!("/supply/planned/{number}/cancel"),
        state: FormState::default(),
        version: String::new(),
        inputs: Vec::new(),
        button: if runs { "End it now" } else { "Take it back" },
        now: vec![
            ("Plan", number.to_string()),
            ("From", utc(plan.from)),
            ("To", plan.to.map_or_else(|| "for good".to_owned(), utc)),
            ("Why", plan.reason),
        ],
        effects: vec![effect],
        listing: None,
        back: back(),
    })
}

async fn cancel(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(number): Segment<u64>,
    posted: Posted,
) -> Response {
    match plain.state().services().cancel_plan(doer(&viewer, &origin, &posted), number).await {
        Ok(()) => plain.done("/supply", "The plan is taken back."),
        Err(error) => {
            let page = cancel_form(&plain, &viewer, number).await;
            refuse(plain, TAKE_BACK, posted, &error, page)
        }
    }
}
