//! Allowances: what a team, or the teams of a pool together, may spend in a month or a quarter.

use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::{AllowancePeriod, Carry};
use common::ids::{PoolId, TeamId};
use common::money::MicroCredits;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::teams::{at, opened};
use super::{doer, effective, known, link, refuse, show};
use crate::error::AppError;
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::version::version_of;
use crate::store::allowances::{Allowance, PoolAllowance};

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/teams/{id}/allowance", get(of_team).post(set_of_team))
        .route("/organisation/pools/{id}/allowance", get(of_pool).post(set_of_pool))
}

/// What an allowance says, in words.
pub(super) fn words(
    amount: Option<MicroCredits>,
    hard: bool,
    period: AllowancePeriod,
    carry: Carry,
) -> String {
    let Some(amount) = amount else { return "none".to_owned() };
    let kind = if hard { "hard: bids get only what is free at 100 %" } else { "soft: alert only" };
    let carry = match carry {
        Carry::None => "nothing is carried over".to_owned(),
        Carry::Capped(most) => format!("at most {most} of what is left is carried over"),
        Carry::Full => "all that is left is carried over".to_owned(),
    };
    format!("{amount} credits per {}, {kind}; {carry}", period.as_str())
}

/// The values of a form for an allowance.
fn filled(
    amount: Option<MicroCredits>,
    hard: bool,
    period: AllowancePeriod,
    carry: Carry,
) -> [(&'static str, String); 5] {
    let kind = match (amount, hard) {
        (None, _) => "none",
        (Some(_), true) => "hard",
        (Some(_), false) => "soft",
    };
    let (carry, cap) = match carry {
        Carry::None => ("none", String::new()),
        Carry::Capped(most) => ("capped", most.to_string()),
        Carry::Full => ("full", String::new()),
    };
    [
        ("kind", kind.to_owned()),
        ("amount", amount.map_or_else(String::new, |amount| amount.to_string())),
        ("period", period.as_str().to_owned()),
        ("carry", carry.to_owned()),
        ("carry_cap", cap),
    ]
}

fn state(values: &[(&'static str, String)]) -> FormState {
    FormState::filled(&values.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
}

fn choice(name: &'static str, label: &'static str, hint: &'static str, options: &[(&str, &str)]) -> Input {
    let options = options.iter().map(|(value, text)| ((*value).to_owned(), (*text).to_owned())).collect();
    Input::Choice { name, label, hint, options }
}

fn inputs() -> Vec<Input> {
    let optional = |name, label| Field { required: false, ..Field::text(name, label) };
    vec![
        choice(
            "kind",
            "Kind",
            "",
            &[
                ("none", "No allowance"),
                ("soft", "Soft: alert only"),
                ("hard", "Hard: at 100 % bids get only what is free"),
            ],
        ),
        Input::Line(optional("amount", "Credits per period").with_hint(
            "Local credits of the pool, with a point before the decimals; empty without an allowance",
        )),
        choice("period", "Period", "", &[("month", "Month"), ("quarter", "Quarter")]),
        choice(
            "carry",
            "Carry-over",
            "What becomes of what is left at the end of a period",
            &[
                ("none", "None: it is gone"),
                ("capped", "Capped: at most an amount of it adds to the next period"),
                ("full", "Full: all of it adds to the next period"),
            ],
        ),
        Input::Line(
            optional("carry_cap", "Most that is carried over")
                .with_hint("Local credits; only where it is capped"),
        ),
    ]
}

/// What every allowance does.
fn effects(cycle: u64) -> Vec<String> {
    vec![
        effective(cycle),
        "It holds for each period from this one on. A change of it begins anew: nothing is carried into its first period."
            .to_owned(),
        "At 100 % of a hard one the bids under it get only chips that cost nothing, until the period is over. It can't be set \
         below what is used."
            .to_owned(),
        "At 50, 75, 90 and 100 % it is told once in a period.".to_owned(),
        "What a team may spend is the least of its own allowance and its pool's; the budget page says which of them binds."
            .to_owned(),
    ]
}

/// What a form says.
struct Typed {
    amount: Option<MicroCredits>,
    hard: bool,
    period: AllowancePeriod,
    carry: Carry,
}

fn read(posted: &Posted) -> Result<Typed, AppError> {
    let mut fields = Fields::new(posted.fields());
    let kind = fields.text("kind");
    let amount = if kind == "none" { None } else { fields.value("amount") };
    let carry = match fields.text("carry") {
        "capped" => Carry::Capped(fields.value("carry_cap").unwrap_or_default()),
        "full" => Carry::Full,
        _ => Carry::None,
    };
    let period =
        if fields.text("period") == "quarter" { AllowancePeriod::Quarter } else { AllowancePeriod::Month };
    let hard = kind == "hard";
    fields.finish()?;
    Ok(Typed { amount, hard, period, carry })
}

async fn of_team(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = team_form(&plain, &viewer, &id).await;
    show(plain, "Allowance", page)
}

async fn team_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, cycle) = opened(plain, viewer, id, Action::SetIncome).await?;
    let services = plain.state().services();
    let allowance = services.allowance(id).await?;
    let above = services.pool_allowance(&team.pool).await?;
    let Allowance { amount, hard, period, carry, .. } = allowance.clone();
    Ok(ChangePage {
        heading: "Set the allowance of the team",
        action: at(id, "/allowance"),
        state: state(&filled(amount, hard, period, carry)),
        version: version_of(&allowance)?,
        inputs: inputs(),
        button: "Set the allowance",
        now: vec![
            ("Allowance", words(amount, hard, period, carry)),
            ("Of its pool", words(above.amount, above.hard, above.period, above.carry)),
        ],
        effects: effects(cycle),
        listing: None,
        back: link(at(id, ""), team.name),
    })
}

async fn set_of_team(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    let set = async {
        let Typed { amount, hard, period, carry } = read(&posted)?;
        let allowance = Allowance { team: id.clone(), amount, hard, period, carry };
        let doer = doer(&viewer, &origin, &posted);
        plain.state().services().set_allowance(doer, &allowance, known(&posted)).await
    };
    match set.await {
        Ok(()) => plain.done(&at(&id, ""), "The allowance is set from the next cycle on."),
        Err(error) => {
            let page = team_form(&plain, &viewer, &id).await;
            refuse(plain, "Allowance", posted, &error, page)
        }
    }
}

fn pool_at(id: &PoolId, rest: &str) -> String {
    format!("/organisation/pools/{id}{rest}")
}

async fn of_pool(plain: Plain, viewer: Viewer, Segment(id): Segment<PoolId>) -> Response {
    let page = pool_form(&plain, &viewer, &id).await;
    show(plain, "Allowance of the pool", page)
}

async fn pool_form(plain: &Plain, viewer: &Viewer, id: &PoolId) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetOrganisation, Object::Organisation)?;
    let services = plain.state().services();
    let (setup, cycle) = services.setup(viewer).await?;
    let pool = crate::services::changes::pool_in(&setup, id)?;
    let allowance = services.pool_allowance(id).await?;
    let PoolAllowance { amount, hard, period, carry, overcommit, .. } = allowance.clone();
    let mut values = filled(amount, hard, period, carry).to_vec();
    values.push(("overcommit", if overcommit { "yes" } else { "no" }.to_owned()));
    let mut inputs = inputs();
    inputs.push(choice(
        "overcommit",
        "Overcommitted",
        "Whether the allowances of its teams may sum to more than it",
        &[("no", "No: they fit into it"), ("yes", "Yes: whoever spends first has it")],
    ));
    let mut effects = effects(cycle);
    effects.push("It counts the charges of all teams of the pool together.".to_owned());
    Ok(ChangePage {
        heading: "Set the allowance of the pool",
        action: pool_at(id, "/allowance"),
        state: state(&values),
        version: version_of(&allowance)?,
        inputs,
        button: "Set the allowance",
        now: vec![("Allowance", words(amount, hard, period, carry))],
        effects,
        listing: None,
        back: link(pool_at(id, ""), pool.name),
    })
}

async fn set_of_pool(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<PoolId>,
    posted: Posted,
) -> Response {
    let set = async {
        let Typed { amount, hard, period, carry } = read(&posted)?;
        let overcommit = posted.get("overcommit") == "yes";
        let allowance = PoolAllowance { pool: id.clone(), amount, hard, period, carry, overcommit };
        let doer = doer(&viewer, &origin, &posted);
        plain.state().services().set_pool_allowance(doer, &allowance, known(&posted)).await
    };
    match set.await {
        Ok(()) => plain.done(&pool_at(&id, ""), "The allowance is set from the next cycle on."),
        Err(error) => {
            let page = pool_form(&plain, &viewer, &id).await;
            refuse(plain, "Allowance of the pool", posted, &error, page)
        }
    }
}
