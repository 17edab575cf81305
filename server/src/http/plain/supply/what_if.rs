//! What-ifs as pages.

use app::plain::form::FormState;
use app::plain::supply::{AskPage, SORTS, answered, ask as ask_view};
use axum::Router;
use axum::extract::RawQuery;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use axum::routing::{get, post};
use common::api::{WhatIfChange, WhatIfQuestion, WhatIfState};
use common::chips::{Chips, MAX_CHIPS};
use common::problem::Problem;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::fields_of;
use crate::error::{AppError, ErrorKind};
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};

const TITLE: &str = "What if";

/// Tells a browser to read the page again: while a what-if is computed.
const REFRESH: HeaderName = HeaderName::from_static("refresh");

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/what-if", get(form_page).post(ask))
        .route("/what-if/{id}", get(open))
        .route("/what-if/{id}/cancel", post(cancel))
}

async fn form_page(plain: Plain, viewer: Viewer) -> Response {
    match page(&plain, &viewer, FormState::default()).await {
        Ok(page) => plain.ok(TITLE, || ask_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn page(plain: &Plain, viewer: &Viewer, state: FormState) -> Result<AskPage, AppError> {
    let services = plain.state().services();
    let asked = services.what_ifs(viewer).await?;
    let (setup, _) = services.setup(viewer).await?;
    Ok(AskPage {
        chip_types: setup.chip_types.into_iter().map(|row| (row.id.to_string(), row.name)).collect(),
        pools: setup.pools.into_iter().map(|row| (row.id.to_string(), row.name)).collect(),
        teams: setup.teams.into_iter().map(|row| (row.id.to_string(), row.name)).collect(),
        state,
        asked,
        may_ask: viewer.can(Action::SetSupply, Object::Organisation),
    })
}

/// The question of a form: each group of fields of which one is filled in is a change.
fn parse(posted: &Posted) -> Result<WhatIfQuestion, AppError> {
    let mut fields = Fields::new(posted.fields());
    let mut changes = Vec::new();
    let filled = |name: &str| !Fields::new(posted.fields()).text(name).is_empty();
    let most = u32::try_from(MAX_CHIPS).unwrap_or(u32::MAX);
    if filled("chips_type") || filled("chips_by") {
        let (chip_type, by) = (fields.chosen("chips_type"), fields.value::<i64>("chips_by"));
        let pool = fields.optional("chips_pool");
        changes.extend(chip_type.zip(by).map(|(chip_type, by)| WhatIfChange::Chips { chip_type, pool, by }));
    }
    if filled("reserve_type") || filled("reserve_price") {
        let (chip_type, price) = (fields.chosen("reserve_type"), fields.value("reserve_price"));
        let pair = chip_type.zip(price);
        changes.extend(
            pair.map(|(chip_type, reserve_price)| WhatIfChange::Reserve { chip_type, reserve_price }),
        );
    }
    if filled("weight_pool") || filled("weight") {
        let (pool, weight) = (fields.chosen("weight_pool"), fields.value("weight"));
        changes.extend(pool.zip(weight).map(|(pool, weight)| WhatIfChange::Weight { pool, weight }));
    }
    if filled("income_team") || filled("income") {
        let (team, income) = (fields.chosen("income_team"), fields.value("income"));
        changes.extend(team.zip(income).map(|(team, income)| WhatIfChange::Income { team, income }));
    }
    if filled("without_team") {
        changes.extend(fields.chosen("without_team").map(|team| WhatIfChange::WithoutTeam { team }));
    }
    if ["new_pool", "new_income", "new_type", "new_chips"].into_iter().any(filled) {
        let (pool, income) = (fields.chosen("new_pool"), fields.value("new_income"));
        let (chip_type, chips) = (fields.chosen("new_type"), fields.number("new_chips", 1, most));
        let limit = fields.optional("new_limit");
        if let (Some((pool, income)), Some((chip_type, chips))) = (pool.zip(income), chip_type.zip(chips)) {
            let chips = Chips(chips.into());
            changes.push(WhatIfChange::NewTeam { pool, income, chip_type, chips, limit });
        }
    }
    let (title, day) = (fields.text("title").to_owned(), fields.text("day"));
    let day = (!day.is_empty()).then(|| day.to_owned());
    fields.finish()?;
    if changes.is_empty() {
        return Err(AppError::new(
            ErrorKind::Invalid,
            "nothing is other; fill in at least one of the groups below",
        ));
    }
    Ok(WhatIfQuestion { title, changes, day })
}

async fn ask(plain: Plain, viewer: Viewer, posted: Posted) -> Response {
    let asked = async {
        viewer.may(Action::SetSupply, Object::Organisation)?;
        plain.state().services().ask_what_if(&viewer, parse(&posted)?).await
    };
    match asked.await {
        Ok(view) => plain.to(&format!("/what-if/{}", view.id)),
        Err(error) => {
            let by_typing = matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict);
            let state = FormState::refused(posted.into_fields(), &above(&error));
            match page(&plain, &viewer, state).await {
                Ok(page) if by_typing => plain.refused(&error, TITLE, || ask_view(&page)),
                _ => plain.problem(&error),
            }
        }
    }
}

/// A refusal as the form shows it: what is said of a change by its place stands above the form, where its fields have
/// other names.
fn above(error: &AppError) -> Problem {
    let mut problem = Problem::from(error);
    problem.errors.retain(|fault| !fault.field.starts_with("changes"));
    problem
}

async fn open(
    plain: Plain,
    viewer: Viewer,
    Segment(id): Segment<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let view = match plain.state().services().what_if(&viewer, &id).await {
        Ok(view) => view,
        Err(error) => return plain.problem(&error),
    };
    let fields = fields_of(query);
    let asked = Fields::new(&fields).text("sort");
    let sort = SORTS.into_iter().map(|(name, _)| name).find(|name| *name == asked).unwrap_or("loss");
    let may_ask = viewer.can(Action::SetSupply, Object::Organisation);
    let mut response = plain.ok(TITLE, || answered(&view, sort, may_ask));
    if matches!(view.progress, WhatIfState::Running { .. }) {
        response.headers_mut().insert(REFRESH, HeaderValue::from_static("2"));
    }
    response
}

async fn cancel(plain: Plain, viewer: Viewer, Segment(id): Segment<String>) -> Response {
    match plain.state().services().cancel_what_if(&viewer, &id).await {
        Ok(()) => plain.done(&format!("/what-if/{id}"), "It is cancelled."),
        Err(error) => plain.problem(&error),
    }
}
