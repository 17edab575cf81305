//! What limits a team's bids by the hour: its leverage.

use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::ids::TeamId;
use common::money::MicroCredits;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::teams::{at, opened};
use super::{doer, effective, factor, known, link, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Viewer};
use crate::services::audit::Origin;
use crate::services::version::version_of;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/organisation/teams/{id}/leverage", get(leverage_page).post(set_leverage))
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
