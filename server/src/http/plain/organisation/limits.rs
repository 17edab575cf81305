//! What limits a team's bids: its leverage, and the allowance of a month.

use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::ids::TeamId;
use common::money::MicroCredits;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::teams::{allowance_words, at, opened};
use super::{doer, effective, factor, known, link, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Viewer};
use crate::services::audit::Origin;
use crate::services::version::version_of;
use crate::store::allowances::Allowance;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/teams/{id}/leverage", get(leverage_page).post(set_leverage))
        .route("/organisation/teams/{id}/allowance", get(allowance_page).post(set_allowance))
}

pub(super) const LEVERAGE_HINT: &str =
    "A factor from 0 to 1000 with at most three decimals, such as 2 or 1.5";

/// A factor as thousandths.
pub(super) fn leverage(fields: &mut Fields<'_>) -> Option<u32> {
    let text = fields.text("leverage");
    let micros = text.parse::<MicroCredits>().ok().map(|factor| factor.0);
    let thousandths = micros.filter(|micros| micros % 1_000 == 0).map(|micros| micros / 1_000);
    let found =
        thousandths.and_then(|number| u32::try_from(number).ok()).filter(|number| *number <= 1_000_000);
    if found.is_none() {
        fields.refuse(
            "leverage",
            format!("is {text:?}; it must be a factor from 0 to 1000 with at most three decimals"),
        );
    }
    found
}

async fn leverage_page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = leverage_form(&plain, &viewer, &id).await;
    show(plain, "Leverage", page)
}

async fn leverage_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, cycle) = opened(plain, viewer, id, Action::SetLeverage).await?;
    let present = factor(team.leverage_thousandths);
    Ok(ChangePage {
        heading: "Set the leverage",
        action: at(id, "/leverage"),
        state: FormState::filled(&[("leverage", &present)]),
        version: version_of(&team)?,
        inputs: vec![Input::Line(Field::text("leverage", "Leverage").with_hint(LEVERAGE_HINT))],
        button: "Set the leverage",
        now: vec![("Leverage", present), ("Income", format!("{} local credits per hour", team.income))],
        effects: vec![
            effective(cycle),
            "The team's bids together may cost at most leverage times income per hour, and no more than it can sustain \
             from its balance. At 0 its bids get only what is free."
                .to_owned(),
            "Chips in use that are above a lower cap are handed back in that cycle.".to_owned(),
        ],
        listing: None,
        back: link(at(id, ""), team.name),
    })
}

async fn set_leverage(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    let set = async {
        let mut fields = Fields::new(posted.fields());
        let thousandths = leverage(&mut fields);
        fields.finish()?;
        let doer = doer(&viewer, &origin, &posted);
        let services = plain.state().services();
        services.set_leverage(doer, &id, thousandths.unwrap_or_default(), known(&posted)).await
    };
    match set.await {
        Ok(()) => plain.done(&at(&id, ""), "The leverage is set from the next cycle on."),
        Err(error) => {
            let page = leverage_form(&plain, &viewer, &id).await;
            refuse(plain, "Leverage", posted, &error, page)
        }
    }
}

async fn allowance_page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = allowance_form(&plain, &viewer, &id).await;
    show(plain, "Allowance", page)
}

async fn allowance_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, cycle) = opened(plain, viewer, id, Action::SetIncome).await?;
    let allowance = plain.state().services().allowance(id).await?;
    let kind = match (allowance.amount, allowance.hard) {
        (None, _) => "none",
        (Some(_), true) => "hard",
        (Some(_), false) => "soft",
    };
    let amount = allowance.amount.map_or_else(String::new, |amount| amount.to_string());
    let kinds = [
        ("none", "No allowance"),
        ("soft", "Soft: alert only"),
        ("hard", "Hard: at 100 % bids get only what is free"),
    ];
    Ok(ChangePage {
        heading: "Set the monthly allowance",
        action: at(id, "/allowance"),
        state: FormState::filled(&[("kind", kind), ("amount", &amount)]),
        version: version_of(&allowance)?,
        inputs: vec![
            Input::Choice {
                name: "kind",
                label: "Kind",
                hint: "",
                options: kinds.map(|(value, text)| (value.to_owned(), text.to_owned())).into(),
            },
            Input::Line(
                Field { required: false, ..Field::text("amount", "Credits per month") }
                    .with_hint("Local credits of the pool, with a point before the decimals; empty without an allowance"),
            ),
        ],
        button: "Set the allowance",
        now: vec![("Allowance", allowance_words(&allowance))],
        effects: vec![
            effective(cycle),
            "It holds for each month from this one on; nothing is carried over. At 50, 75, 90 and 100 % it is told once."
                .to_owned(),
            "At 100 % of a hard one the team's bids get only chips that cost nothing, until the month is over. It can't be set below what is used."
                .to_owned(),
        ],
        listing: None,
        back: link(at(id, ""), team.name),
    })
}

async fn set_allowance(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    let set = async {
        let mut fields = Fields::new(posted.fields());
        let kind = fields.text("kind");
        let amount = if kind == "none" { None } else { fields.value("amount") };
        fields.finish()?;
        let allowance = Allowance { team: id.clone(), amount, hard: kind == "hard" };
        let doer = doer(&viewer, &origin, &posted);
        plain.state().services().set_allowance(doer, &allowance, known(&posted)).await
    };
    match set.await {
        Ok(()) => plain.done(&at(&id, ""), "The allowance is set from the next cycle on."),
        Err(error) => {
            let page = allowance_form(&plain, &viewer, &id).await;
            refuse(plain, "Allowance", posted, &error, page)
        }
    }
}
