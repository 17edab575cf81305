//! The policy on a cut, jobs over quota, and those that were stopped, as pages.

use app::format::thousands;
use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input, Link};
use app::plain::supply::{cuts as cuts_view, policy_words};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::CutPolicyKind;
use common::chips::{Chips, MAX_CHIPS};

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::{doer, refuse, show};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::store::cuts::CutPolicy;

const TITLE: &str = "Policy on a cut";
const FORM: &str = "/supply/cuts/policy";

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/supply/cuts", get(page)).route(FORM, get(form_page).post(set))
}

async fn page(plain: Plain, viewer: Viewer) -> Response {
    let may_change = viewer.can(Action::SetSupply, Object::Organisation);
    match plain.state().services().cuts(&viewer).await {
        Ok(view) => plain.ok("Cuts", || cuts_view(&view, may_change)),
        Err(error) => plain.problem(&error),
    }
}

async fn form_page(plain: Plain, viewer: Viewer) -> Response {
    let page = form(&plain, &viewer).await;
    show(plain, TITLE, page)
}

async fn form(plain: &Plain, viewer: &Viewer) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let view = plain.state().services().cuts(viewer).await?;
    let churn = view.churn_chips.map_or_else(String::new, |chips| chips.to_string());
    let options = [
        (CutPolicyKind::AtOnce, "They stop at once"),
        (CutPolicyKind::Keep, "They are kept until done"),
        (CutPolicyKind::Reclaim, "They are reclaimed, lowest price first"),
    ];
    Ok(ChangePage {
        heading: TITLE,
        action: FORM.to_owned(),
        state: FormState::filled(&[("policy", view.policy.as_str()), ("churn_chips", &churn)]),
        version: view.version,
        inputs: vec![
            Input::Choice {
                name: "policy",
                label: "Jobs that a cut leaves without quota",
                hint: "Quota itself follows a cut at once, whatever is chosen here",
                options: options.map(|(kind, text)| (kind.as_str().to_owned(), text.to_owned())).into(),
            },
            Input::Line(
                Field {
                    required: false,
                    kind: "number",
                    ..Field::text("churn_chips", "Chips in a cycle at most")
                }
                .with_hint("Only of reclaiming; the last job's gang may exceed it; left empty: no limit"),
            ),
        ],
        button: "Set the policy",
        now: vec![("Now", policy_words(view.policy, view.churn_chips))],
        effects: vec![
            format!(
                "It takes effect in cycle {}, the next one, also for jobs that are over quota by then.",
                thousands(view.next_cycle)
            ),
            "Who runs on pays the price in force, but never more than the bid's limit.".to_owned(),
        ],
        listing: None,
        back: Link { href: "/supply/cuts".to_owned(), text: "Cuts".to_owned() },
    })
}

fn parse(posted: &Posted) -> Result<CutPolicy, AppError> {
    let mut fields = Fields::new(posted.fields());
    let kind = CutPolicyKind::ALL.into_iter().find(|kind| kind.as_str() == fields.text("policy"));
    if kind.is_none() {
        fields.refuse("policy", "is none of those in the list");
    }
    let churn_chips = match fields.text("churn_chips") {
        "" => None,
        _ => fields.number("churn_chips", 1, u32::try_from(MAX_CHIPS).unwrap_or(u32::MAX)),
    };
    fields.finish()?;
    Ok(CutPolicy {
        kind: kind.unwrap_or_default(),
        churn_chips: churn_chips.map(|chips| Chips(chips.into())),
    })
}

async fn set(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let known = Some(posted.get("version")).filter(|version| !version.is_empty());
    let set = async {
        let policy = parse(&posted)?;
        plain.state().services().set_cut_policy(doer(&viewer, &origin, &posted), policy, known).await
    };
    match set.await {
        Ok(()) => plain.done("/supply/cuts", "The policy is set from the next cycle on."),
        Err(error) => {
            let page = form(&plain, &viewer).await;
            refuse(plain, TITLE, posted, &error, page)
        }
    }
}
