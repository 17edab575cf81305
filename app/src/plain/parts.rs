//! Small parts that several plain pages share.

use common::api::{JobState, JobView};
use common::ids::TeamId;
use common::money::MicroCredits;
use leptos::prelude::*;

use crate::format;

/// A figure with what it is and its unit, in a list of figures.
pub(crate) fn fact(name: &'static str, unit: &'static str, value: AnyView) -> AnyView {
    view! {
        <div>
            <dt>{name} <small>{unit}</small></dt>
            <dd>{value}</dd>
        </div>
    }
    .into_any()
}

/// An amount with its unit.
pub(crate) fn amount(amount: MicroCredits, unit: &str) -> String {
    format!("{} {unit}", format::amount(amount))
}

/// Something that needs attention.
pub(crate) fn warning(text: String) -> AnyView {
    view! { <p class="banner" role="status">{text}</p> }.into_any()
}

/// A choice of team that works without scripts; nothing where there is only one.
pub(crate) fn team_chooser(action: &'static str, teams: &[(TeamId, String)], chosen: &TeamId) -> AnyView {
    if teams.len() < 2 {
        return ().into_any();
    }
    let options = teams
        .iter()
        .map(|(id, name)| {
            let selected = id == chosen;
            view! {
                <option value=id.to_string() selected=selected>
                    {name.clone()}
                </option>
            }
        })
        .collect_view();
    view! {
        <form class="filters" method="get" action=action>
            <label>
                "Team"
                <select name="team">{options}</select>
            </label>
            <button class="button" type="submit">
                "Show"
            </button>
        </form>
    }
    .into_any()
}

/// The link to the next page of a list; nothing on the last one.
pub(crate) fn next_page(href: Option<String>) -> AnyView {
    let link = href.map(|href| {
        view! {
            <a class="button" href=href rel="next">
                "Older"
            </a>
        }
    });
    view! { <p class="pager">{link}</p> }.into_any()
}

/// How far long work is, in words and as a bar while it is under way.
pub(crate) fn work_progress(job: &JobView) -> AnyView {
    match job.state {
        JobState::Waiting => "waiting for its turn".into_any(),
        JobState::Running => view! {
            <span class="plain">
                <progress max="100" value=job.percent.to_string() aria-label="Done"></progress>
                {format!(" {} %", job.percent)}
            </span>
        }
        .into_any(),
        JobState::Done => "done".into_any(),
        JobState::Cancelled => "cancelled".into_any(),
        JobState::Failed => {
            let why = job.error.clone().unwrap_or_default();
            view! { <span class="up">"failed: " {why}</span> }.into_any()
        }
    }
}
