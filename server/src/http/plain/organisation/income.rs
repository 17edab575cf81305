//! A team's name and income. Another income changes what all balances of the pool are measured in: that is shown before it
//! is confirmed.

use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing, change};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::ids::TeamId;
use common::money::MicroCredits;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::teams::{INCOME_HINT, at, opened};
use super::{doer, effective, known, link, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Viewer};
use crate::services::audit::{Origin, check_reason};
use crate::services::version::version_of;
use crate::store::entities::Team;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/organisation/teams/{id}/change", get(change_page).post(set))
}

async fn change_page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = change_form(&plain, &viewer, &id).await;
    show(plain, "Change a team", page)
}

async fn change_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, cycle) = opened(plain, viewer, id, Action::SetIncome).await?;
    Ok(ChangePage {
        heading: "Change name and income",
        action: at(id, "/change"),
        state: FormState::filled(&[("name", &team.name), ("income", &team.income.to_string())]),
        version: version_of(&team)?,
        inputs: vec![
            Input::Line(Field::text("name", "Name").with_hint("1 to 200 characters")),
            Input::Line(Field::text("income", "Income").with_hint(INCOME_HINT)),
        ],
        button: "Go on",
        now: vec![("Name", team.name.clone()), ("Income", format!("{} local credits per hour", team.income))],
        effects: vec![
            effective(cycle),
            "Another income changes the total of the pool. What that does to balances is shown before you confirm it."
                .to_owned(),
        ],
        listing: None,
        back: link(at(id, ""), team.name),
    })
}

/// Sets name and income. Where another income moves money it is first shown what it does.
async fn set(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    match set_or_ask(&plain, &viewer, &origin, &id, &posted).await {
        Ok(None) => plain.done(&at(&id, ""), "The team is changed from the next cycle on."),
        Ok(Some(page)) => plain.ok("Confirm the income", || change(*page)),
        Err(error) => {
            let page = change_form(&plain, &viewer, &id).await;
            refuse(plain, "Change a team", posted, &error, page)
        }
    }
}

async fn set_or_ask(
    plain: &Plain,
    viewer: &Viewer,
    origin: &Origin,
    id: &TeamId,
    posted: &Posted,
) -> Result<Option<Box<ChangePage>>, AppError> {
    let (team, _) = opened(plain, viewer, id, Action::SetIncome).await?;
    let mut fields = Fields::new(posted.fields());
    let (name, income) = (fields.text("name").to_owned(), fields.value::<MicroCredits>("income"));
    if income.is_some_and(|income| income.0 < 0) {
        fields.refuse("income", "is below 0; the least is 0.00");
    }
    fields.finish()?;
    let income = income.unwrap_or(team.income);
    if income != team.income && posted.get("confirmed") != "yes" {
        check_reason(posted.get("reason"))?;
        return Ok(Some(Box::new(confirm(plain, viewer, &team, (&name, income), posted).await?)));
    }
    let doer = doer(viewer, origin, posted);
    plain.state().services().set_team(doer, id, (&name, income), known(posted)).await?;
    Ok(None)
}

/// What another income does, before it is set.
async fn confirm(
    plain: &Plain,
    viewer: &Viewer,
    team: &Team,
    (name, income): (&str, MicroCredits),
    posted: &Posted,
) -> Result<ChangePage, AppError> {
    let effect = plain.state().services().income_effect(viewer, &team.id, income).await?;
    let (before, after) = (effect.total_before, effect.total_after);
    let rebase = if effect.rebases {
        format!(
            "In cycle {} all balances of the pool follow from {before} to {after} credits per hour, so that their global \
             value stays: each is multiplied by {after} ÷ {before}. It stands in the ledger as a rebase.",
            effect.cycle
        )
    } else {
        "No balance changes.".to_owned()
    };
    let rows = effect.balances.into_iter().map(|(team, before, after)| {
        vec![Cell::Text(team.to_string()), Cell::Number(before.to_string()), Cell::Number(after.to_string())]
    });
    let rows: Vec<_> = rows.collect();
    Ok(ChangePage {
        heading: "Confirm the income",
        action: at(&team.id, "/change"),
        state: FormState::filled(&[("reason", posted.get("reason"))]),
        version: posted.get("version").to_owned(),
        inputs: vec![
            Input::Hidden("name", name.to_owned()),
            Input::Hidden("income", income.to_string()),
            Input::Hidden("confirmed", "yes".to_owned()),
        ],
        button: "Set the income",
        now: vec![("Income", format!("{} local credits per hour", team.income))],
        effects: vec![
            format!("The income of {} becomes {income} local credits per hour.", team.name),
            rebase,
            effective(effect.cycle),
        ],
        listing: (!rows.is_empty()).then(|| Listing {
            caption: "Balances, as they are now".to_owned(),
            columns: vec![
                ("Team", "", false),
                ("Balance", "credits", true),
                ("After the change", "credits", true),
            ],
            rows,
            empty: "",
        }),
        back: link(at(&team.id, "/change"), "Type another income"),
    })
}
