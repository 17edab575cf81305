//! What-ifs as pages: the form that asks, the ones that were asked, and one with its answer.

use common::api::{Comparison, WhatIfChange, WhatIfQuestion, WhatIfState, WhatIfView};
use common::words::counted;
use leptos::prelude::*;

use super::super::form::{Field, FormState, field, select};
use super::super::names;
use super::super::organisation::{Cell, Link, Listing, listed};
use super::{compare, subnav};
use crate::components::time::date_time;
use crate::format;
use crate::words::address;

/// The page that asks.
#[derive(Clone, Debug)]
pub struct AskPage {
    /// Chip types: id and name.
    pub chip_types: Vec<(String, String)>,
    /// Pools: id and name.
    pub pools: Vec<(String, String)>,
    /// Teams: id and name.
    pub teams: Vec<(String, String)>,
    /// The form as it was sent, or empty.
    pub state: FormState,
    /// Those that were asked, newest first.
    pub asked: Vec<WhatIfView>,
    /// The viewer may ask.
    pub may_ask: bool,
}

/// How the teams of an answer are sorted: its name in an address, and what it is in words.
pub const SORTS: [(&str, &str); 4] = [
    ("loss", "largest loss of chips first"),
    ("gain", "largest gain first"),
    ("spend", "largest spend first"),
    ("name", "by name"),
];

/// The page that asks, and what was asked.
#[must_use]
pub fn ask(page: &AskPage) -> AnyView {
    let asked = listed(asked(&page.asked));
    let form = page.may_ask.then(|| form(page));
    view! {
        {subnav("/what-if")}
        <div class="sections">{form} {asked}</div>
    }
    .into_any()
}

fn with_none(options: &[(String, String)], none: &str) -> Vec<(String, String)> {
    let mut all = vec![(String::new(), none.to_owned())];
    all.extend(options.iter().cloned());
    all
}

fn line(name: &'static str, label: &'static str) -> Field {
    Field { required: false, ..Field::text(name, label) }
}

/// A group of fields, each group one thing that may be other.
fn group(legend: &'static str, fields: Vec<AnyView>) -> AnyView {
    view! {
        <fieldset class="group">
            <legend>{legend}</legend>
            <div class="filters">{fields}</div>
        </fieldset>
    }
    .into_any()
}

fn form(page: &AskPage) -> AnyView {
    let AskPage { chip_types, pools, teams, state, .. } = page;
    let types = with_none(chip_types, "none");
    let shared = with_none(pools, "shared");
    let pools = with_none(pools, "none");
    let teams = with_none(teams, "none");
    let refusal = state.refusal().map(|text| view! { <p class="refusal" role="alert">{text.to_owned()}</p> });
    let groups = vec![
        group(
            "More or fewer chips",
            vec![
                select(state, "chips_type", "Chip type", "", types.clone()),
                select(state, "chips_pool", "Whose", "", shared),
                field(state, &line("chips_by", "By").with_hint("Like 64, or -64 for fewer")),
            ],
        ),
        group(
            "Another reserve price",
            vec![
                select(state, "reserve_type", "Chip type of the reserve", "", types.clone()),
                field(
                    state,
                    &line("reserve_price", "Reserve price").with_hint("Global credits per chip-hour"),
                ),
            ],
        ),
        group(
            "Another weight",
            vec![
                select(state, "weight_pool", "Pool of the weight", "", pools.clone()),
                field(state, &line("weight", "Weight").with_hint("Global credits per hour")),
            ],
        ),
        group(
            "Another income",
            vec![
                select(state, "income_team", "Team of the income", "", teams.clone()),
                field(state, &line("income", "Income").with_hint("Local credits per hour")),
            ],
        ),
        group("A team less", vec![select(state, "without_team", "Team that is gone", "", teams)]),
        group(
            "A team more, with one bid",
            vec![
                select(state, "new_pool", "Its pool", "", pools),
                field(state, &line("new_income", "Its income").with_hint("Local credits per hour")),
                select(state, "new_type", "It bids for", "", types),
                field(state, &line("new_chips", "Chips that it wants")),
                field(
                    state,
                    &line("new_limit", "Its limit").with_hint("Local credits per chip-hour; empty is none"),
                ),
            ],
        ),
    ];
    let day = line("day", "On the cycles of a past day")
        .with_hint("Like 2026-11-29, in the organisation's zone; left empty: the cycle in force");
    view! {
        <section class="panel" aria-labelledby="ask">
            <header>
                <h2 id="ask">"Ask what would be if"</h2>
            </header>
            <div class="body">
                <p class="quiet">
                    "Fill in what is other; the rest stays as it is. Nothing is set. All bids stay as they were, also where a price would have made somebody bid otherwise."
                </p>
                <form class="form wide" method="post" action="/what-if">
                    {refusal}
                    {field(state, &Field::text("title", "Title").with_hint("1 to 200 characters, as it stands in the list"))}
                    {groups} {field(state, &day)}
                    <div class="actions">
                        <button class="button primary" type="submit">
                            "Compare"
                        </button>
                    </div>
                </form>
            </div>
        </section>
    }
    .into_any()
}

/// The book that a question is asked on.
fn book(question: &WhatIfQuestion) -> String {
    question.day.as_ref().map_or("the cycle in force".to_owned(), |day| format!("the cycles of {day}"))
}

fn asked(asked: &[WhatIfView]) -> Listing {
    let rows = asked.iter().map(|view| {
        let state = match &view.progress {
            WhatIfState::Running { done, total } => format!("{done} of {}", counted(*total, "cycle")),
            WhatIfState::Done { .. } => "done".to_owned(),
            WhatIfState::Ended { note } => note.clone(),
        };
        vec![
            Cell::Links(vec![Link {
                href: format!("/what-if/{}", view.id),
                text: view.question.title.clone(),
            }]),
            Cell::Text(book(&view.question)),
            Cell::Text(state),
            Cell::Text(view.by.clone()),
            Cell::Time(Some(view.asked_at)),
        ]
    });
    Listing {
        caption: "What was asked".to_owned(),
        columns: vec![
            ("Title", "", false),
            ("On", "", false),
            ("State", "", false),
            ("By", "", false),
            ("At", "", false),
        ],
        rows: rows.collect(),
        empty: "Nothing was asked yet.",
    }
}

/// A change of a question in words.
fn change_words(change: &WhatIfChange) -> String {
    match change {
        WhatIfChange::Chips { chip_type, pool, by } => {
            let than = if *by < 0 { "fewer" } else { "more" };
            let chips = counted(by.unsigned_abs(), &format!("{than} chip"));
            format!("{chips} of {}, {}", names::chip_type(chip_type), names::whose(pool.as_ref()))
        }
        WhatIfChange::Reserve { chip_type, reserve_price } => {
            let chip_type = names::chip_type(chip_type);
            format!("the reserve price of {chip_type} is {reserve_price} global credits per chip-hour")
        }
        WhatIfChange::Weight { pool, weight } => {
            format!(
                "the weight of {} is {} global credits per hour",
                names::pool(pool),
                format::amount(*weight)
            )
        }
        WhatIfChange::Income { team, income } => {
            format!(
                "the income of {} is {} local credits per hour",
                names::team(team),
                format::amount(*income)
            )
        }
        WhatIfChange::WithoutTeam { team } => format!("{} and its bids are gone", names::team(team)),
        WhatIfChange::NewTeam { pool, income, chip_type, chips, limit } => {
            let limit =
                limit.map_or("without a limit".to_owned(), |limit| format!("for at most {limit} each"));
            format!(
                "a new team of {} with an income of {} local credits per hour bids for {} of {}, {limit}",
                names::pool(pool),
                format::amount(*income),
                counted(chips.0, "chip"),
                names::chip_type(chip_type)
            )
        }
    }
}

/// One what-if; `sort` is one of [`SORTS`].
#[must_use]
pub fn answered(view: &WhatIfView, sort: &str, may_ask: bool) -> AnyView {
    let changes =
        view.question.changes.iter().map(|change| view! { <li>{change_words(change)}</li> }).collect_view();
    let body = match &view.progress {
        WhatIfState::Running { done, total } => running(&view.id, (*done, *total), may_ask),
        WhatIfState::Ended { note } => {
            view! { <p class="refusal">{format!("There is no answer: {note}.")}</p> }.into_any()
        }
        WhatIfState::Done { .. } => ().into_any(),
    };
    let answer = match &view.progress {
        WhatIfState::Done { comparison } => Some(sorted(view, comparison, sort)),
        WhatIfState::Running { .. } | WhatIfState::Ended { .. } => None,
    };
    view! {
        {subnav("/what-if")}
        <div class="sections">
            <section class="panel" aria-labelledby="asked">
                <header>
                    <h2 id="asked">{view.question.title.clone()}</h2>
                </header>
                <div class="body">
                    <ul class="plain">{changes}</ul>
                    <p class="quiet">
                        {format!("Asked by {} at ", view.by)} {date_time(view.asked_at)} {format!(", on {}.", book(&view.question))}
                        " Whoever may see the supply sees the same at this address."
                    </p>
                    {body}
                </div>
            </section>
            {answer}
        </div>
    }
    .into_any()
}

fn running(id: &str, (done, total): (u64, u64), may_ask: bool) -> AnyView {
    let cancel = may_ask.then(|| {
        view! {
            <form method="post" action=format!("/what-if/{id}/cancel")>
                <button class="button" type="submit">
                    "Cancel it"
                </button>
            </form>
        }
    });
    let text = format!("{} of {} cleared again.", format::thousands(done), counted(total, "cycle"));
    view! {
        <p role="status">{text}</p>
        <progress max=total.to_string() value=done.to_string() aria-label="Cycles cleared again"></progress>
        <p class="quiet">"The page reads itself again every two seconds; it can be left and found in the list."</p>
        {cancel}
    }
    .into_any()
}

fn sorted(view: &WhatIfView, comparison: &Comparison, sort: &str) -> AnyView {
    let path = format!("/what-if/{}", view.id);
    let links = SORTS
        .into_iter()
        .map(|(name, words)| {
            let current = (name == sort).then_some("true");
            view! {
                <a href=address(&path, &[("sort", Some(name))]) aria-current=current>
                    {words}
                </a>
            }
        })
        .collect_view();
    let csv = format!("/api/v1{path}?format=csv");
    let mut comparison = comparison.clone();
    let lost = |team: &common::api::ComparedTeam| {
        i128::from(team.chips_milli.after) - i128::from(team.chips_milli.before)
    };
    match sort {
        "gain" => comparison.teams.sort_by_key(|team| std::cmp::Reverse(lost(team))),
        "spend" => comparison.teams.sort_by_key(|team| std::cmp::Reverse(team.spend.after)),
        "name" => comparison.teams.sort_by(|one, other| one.name.cmp(&other.name)),
        _ => comparison.teams.sort_by_key(lost),
    }
    view! {
        <div class="toolbar">
            <nav class="switch" aria-label="Order of the teams">
                {links}
            </nav>
            <a class="button" href=csv download="">
                "CSV"
            </a>
        </div>
        {compare::in_this_order(&comparison)}
    }
    .into_any()
}
