//! Policies in shadow: what each would have given the teams over the last day, beside what the market granted.

use common::api::{ShadowPolicy, ShadowView};
use common::ids::TeamId;
use leptos::prelude::*;

use super::frontier::slider_of;
use crate::plain::form::{FormState, boxes, form, panel};
use crate::plain::organisation::{Cell, Listing, table};

/// What the panel shows.
#[derive(Clone, Debug)]
pub struct ShadowPanel {
    /// What would have been.
    pub view: ShadowView,
    /// The teams' names by their ids.
    pub names: Vec<(TeamId, String)>,
    /// The policies that can run: name, and name for people.
    pub choices: Vec<(String, String)>,
    /// The form that chooses them.
    pub form: FormState,
}

pub(super) fn shadow(panel_of: &ShadowPanel) -> AnyView {
    let ShadowPanel { view, names, choices, form: state } = panel_of;
    let choose = form(
        state,
        "/lab/shadow",
        vec![
            boxes(state, "shadow", "Run in shadow beside the market, at most eight", choices.clone()),
            slider_of(state, "shadow-weight"),
        ],
        "Run these",
    );
    let tables = view.policies.iter().map(|policy| one(policy, names)).collect_view();
    let empty = view.policies.is_empty().then(|| {
        view! {
            <p class="empty">
                "Nothing was computed in the last day. Mark policies below: from the next accounting step on you see here what they would have given."
            </p>
        }
    });
    let body = view! {
        <p class="quiet">
            "Each accounting step they share out the same chips among the same demand. What they give is stored and never in force."
        </p>
        {empty} {tables}
        <details>
            <summary>"Choose the policies"</summary>
            {choose}
        </details>
    };
    panel("shadow", "In shadow beside the market", body.into_any())
}

fn one(policy: &ShadowPolicy, names: &[(TeamId, String)]) -> AnyView {
    let rows = policy.teams.iter().map(|team| {
        let name = names
            .iter()
            .find(|(id, _)| *id == team.team)
            .map_or_else(|| team.team.to_string(), |(_, name)| name.clone());
        vec![
            Cell::Text(name),
            Cell::Number(chips(team.asked_milli)),
            Cell::Number(chips(team.granted_milli)),
            Cell::Number(chips(team.given_milli)),
            Cell::Number(difference(team.given_milli, team.granted_milli)),
        ]
    });
    table(Listing {
        caption: format!(
            "{}: means of {} steps up to cycle {}",
            policy.title, policy.steps, policy.last_cycle
        ),
        columns: vec![
            ("Team", "", false),
            ("Asked for", "chips", true),
            ("Market", "chips", true),
            ("Policy", "chips", true),
            ("Difference", "chips", true),
        ],
        rows: rows.collect(),
        empty: "No team asked for chips.",
    })
}

/// Thousandths of a chip with one decimal.
fn chips(milli: u64) -> String {
    let tenths = (milli + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn difference(a: u64, b: u64) -> String {
    let sign = if a < b {
        "−"
    } else if a > b {
        "+"
    } else {
        ""
    };
    format!("{sign}{}", chips(a.abs_diff(b)))
}
