//! The figures of a run: the table with the best marked, the pictures, and a team's share under each policy.

use common::api::{LabResult, LabRun, LabState};
use common::words::counted;
use leptos::prelude::*;

use super::plot::{Line, Point, lines, plot};
use super::{is_unfinished, request_words, state_words};
use crate::components::time::date_time;
use crate::plain::organisation::{Cell, Listing, table};
use crate::plain::parts::fact;

/// A column of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Its name.
    pub title: &'static str,
    /// Its unit; empty for a share of 1.
    pub unit: &'static str,
    /// What it tells.
    pub explanation: &'static str,
}

/// A policy in the comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number in the plot.
    pub number: usize,
    /// What it stands for.
    pub title: String,
    /// The text of each column, and whether it is the best of it.
    pub cells: Vec<(String, bool)>,
    /// Why there are no figures.
    pub refusal: Option<String>,
}

/// Policies side by side.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Its columns.
    pub heads: Vec<Head>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Its points.
    pub points: Vec<Point>,
}

/// One team under each policy.
#[derive(Clone, Debug)]
pub struct Drill {
    /// Which team of the result.
    pub team: usize,
}

/// What the page of a run shows.
#[derive(Clone, Debug)]
pub struct LabRunPage {
    /// The run.
    pub run: LabRun,
    /// Its figures, where it is done.
    pub result: Option<(LabResult, Comparison)>,
    /// The team that is looked at closely.
    pub drill: Option<Drill>,
}

/// The main part of the page of a run.
pub fn run(page: LabRunPage) -> AnyView {
    let LabRunPage { run, result, drill } = page;
    let result = result.map(|(result, comparison)| figures(&run, &result, &comparison, drill.as_ref()));
    view! {
        <p>
            <a href="/lab">"All runs"</a>
        </p>
        <div class="sections">{head(&run)} {result}</div>
    }
    .into_any()
}

/// Runs side by side.
pub fn compare(titles: &[String], comparison: &Comparison) -> AnyView {
    let said = titles.iter().map(|title| view! { <li>{title.clone()}</li> }).collect_view();
    view! {
        <p>
            <a href="/lab">"All runs"</a>
        </p>
        <div class="sections">
            <section class="panel" aria-label="Runs">
                <div class="body">
                    <ul class="plain">{said}</ul>
                </div>
            </section>
            {comparison_panel(comparison)}
        </div>
    }
    .into_any()
}

fn head(run: &LabRun) -> AnyView {
    let progress = is_unfinished(run).then(|| {
        view! {
            <progress class="lab-progress" max=run.all.max(1) value=run.done aria-label="Progress"></progress>
            <form method="post" action=format!("/lab/runs/{}/cancel", run.id)>
                <button class="button" type="submit">
                    "Cancel"
                </button>
            </form>
            <p class="quiet">"You can leave this page: the run goes on, also over a restart."</p>
        }
    });
    let problem = run.problem.clone().map(|problem| view! { <p class="banner" role="alert">{problem}</p> });
    let export = (run.state == LabState::Done).then(|| {
        let json = format!("/api/v1/lab/runs/{}", run.id);
        view! {
            <a class="button" href=format!("{json}?format=csv") download="">
                "CSV"
            </a>
            <a class="button" href=json download=format!("lab-{}.json", run.id)>
                "JSON"
            </a>
        }
    });
    view! {
        <section class="panel" aria-labelledby="run">
            <header>
                <h2 id="run">{run.request.trace.clone()}</h2>
                <div class="right">{export}</div>
            </header>
            <div class="body">
                <dl class="figures">
                    {fact("State", "", state_words(run).into_any())}
                    {fact("Of", "", request_words(run).into_any())}
                    {fact("Started", "", date_time(run.created_at).into_any())}
                    {fact("By", "", run.created_by_name.clone().into_any())}
                </dl>
                {progress} {problem}
            </div>
        </section>
    }
    .into_any()
}

fn figures(run: &LabRun, result: &LabResult, comparison: &Comparison, drill: Option<&Drill>) -> AnyView {
    let said = [
        format!("Demand: {}.", result.source),
        format!("Values: {}.", result.value_source),
        format!(
            "{} of {} h, {}; chips: {}.",
            counted(result.rounds, "round"),
            hours(result.round_hours),
            counted(result.teams.len() as u64, "team"),
            result.supply.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
    ];
    let said = said.into_iter().map(|text| view! { <li>{text}</li> }).collect_view();
    view! {
        <section class="panel" aria-label="Where the numbers come from">
            <div class="body">
                <ul class="plain">{said}</ul>
            </div>
        </section>
        {comparison_panel(comparison)} {over_time(result)} {teams(run, result, drill)}
    }
    .into_any()
}

fn hours(hours: f64) -> String {
    let text = format!("{hours:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn comparison_panel(comparison: &Comparison) -> AnyView {
    let heads = comparison
        .heads
        .iter()
        .map(|head| {
            view! {
                <th scope="col" class="num" title=head.explanation>
                    {head.title}
                    {(!head.unit.is_empty()).then(|| view! { <small>{head.unit}</small> })}
                </th>
            }
        })
        .collect_view();
    let rows = comparison.rows.iter().map(|row| comparison_row(comparison, row)).collect_view();
    let meanings = comparison
        .heads
        .iter()
        .map(|head| view! { <li><strong>{head.title}</strong>": " {head.explanation}</li> })
        .collect_view();
    view! {
        <section class="panel" aria-labelledby="comparison">
            <header>
                <h2 id="comparison">"Policies side by side"</h2>
            </header>
            <div class="scroll" tabindex="0" role="region" aria-label="Policies side by side">
                <table class="cards">
                    <caption>"The best value of a column is marked with a star."</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Policy"</th>
                            {heads}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <div class="body">
                <details>
                    <summary>"What the columns tell"</summary>
                    <ul class="plain">{meanings}</ul>
                </details>
                <h3>"Welfare and fairness"</h3>
                {plot(&comparison.points)}
            </div>
        </section>
    }
    .into_any()
}

fn comparison_row(comparison: &Comparison, row: &Row) -> AnyView {
    let title = format!("{} {}", row.number, row.title);
    if let Some(refusal) = &row.refusal {
        return view! {
            <tr>
                <th scope="row">{title}</th>
                <td class="quiet" colspan=comparison.heads.len()>{refusal.clone()}</td>
            </tr>
        }
        .into_any();
    }
    let cells = row
        .cells
        .iter()
        .zip(&comparison.heads)
        .map(|((text, best), head)| {
            let star = best
                .then(|| view! { <span aria-hidden="true">" ★"</span><span class="hidden">" best"</span> });
            view! {
                <td class=if *best { "num best" } else { "num" } data-label=head.title>
                    <span>{text.clone()} {star}</span>
                </td>
            }
        })
        .collect_view();
    view! {
        <tr>
            <th scope="row">{title}</th>
            {cells}
        </tr>
    }
    .into_any()
}

/// Lines that a picture can hold and still be read.
const MOST_LINES: usize = 8;

fn over_time(result: &LabResult) -> AnyView {
    let shown: Vec<Line> = result
        .policies
        .iter()
        .filter(|policy| !policy.utilisation.is_empty())
        .take(MOST_LINES)
        .map(|policy| Line { title: policy.title.clone(), values: policy.utilisation.clone() })
        .collect();
    let more = result.policies.len() > shown.len();
    let more =
        more.then(|| view! { <p class="quiet">"The first eight policies; the JSON has them all."</p> });
    view! {
        <section class="panel" aria-labelledby="time">
            <header>
                <h2 id="time">"Chips used over time"</h2>
            </header>
            <div class="body">{lines(&shown, "Part of the chips used", 2)} {more}</div>
            {series_table(&shown, "Part of the chips used", 3)}
        </section>
    }
    .into_any()
}

/// The numbers of a picture, a row per stretch, folded away.
fn series_table(shown: &[Line], what: &'static str, digits: usize) -> AnyView {
    let heads = shown
        .iter()
        .map(|line| view! { <th scope="col" class="num">{line.title.clone()}</th> })
        .collect_view();
    let length = shown.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let rows = (0..length)
        .map(|at| {
            let cells = shown
                .iter()
                .map(|line| {
                    let text =
                        line.values.get(at).map_or_else(String::new, |value| format!("{value:.digits$}"));
                    view! { <td class="num">{text}</td> }
                })
                .collect_view();
            view! {
                <tr>
                    <th scope="row">{at + 1}</th>
                    {cells}
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="body">
            <details>
                <summary>"As a table"</summary>
                <div class="scroll" tabindex="0" role="region" aria-label=what>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"Stretch"</th>
                                {heads}
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </details>
        </div>
    }
    .into_any()
}

fn teams(run: &LabRun, result: &LabResult, drill: Option<&Drill>) -> AnyView {
    let links = result
        .teams
        .iter()
        .enumerate()
        .map(|(nth, team)| {
            let here = drill.is_some_and(|drill| drill.team == nth);
            view! {
                <a href=format!("/lab/runs/{}?team={nth}#team", run.id) aria-current=here.then_some("true")>
                    {team.clone()}
                </a>
            }
        })
        .collect_view();
    let chosen = drill.map(|drill| drilled(result, drill.team));
    view! {
        <section class="panel" aria-labelledby="team">
            <header>
                <h2 id="team">"Team by team"</h2>
            </header>
            <div class="body">
                <nav class="subnav" aria-label="Teams">{links}</nav>
                {chosen.is_none().then(|| view! { <p class="quiet">"Choose a team to see what each policy would have given it."</p> })}
            </div>
            {chosen}
        </section>
    }
    .into_any()
}

fn drilled(result: &LabResult, team: usize) -> AnyView {
    let number = |value: f64| Cell::Number(format!("{value:.1}"));
    let share = |value: Option<f64>| {
        Cell::Number(value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}")))
    };
    let with_figures = result.policies.iter().filter(|policy| policy.teams.len() > team);
    let rows = with_figures.clone().map(|policy| {
        let of = &policy.teams[team];
        let alone = of.static_got.filter(|alone| *alone > 0.0).map(|alone| of.got / alone);
        vec![
            Cell::Text(policy.title.clone()),
            number(of.used),
            number(of.asked),
            share(Some(of.welfare)),
            share(alone),
            Cell::Text(of.envies.clone().unwrap_or_else(|| "nobody".to_owned())),
            share(of.envy),
            share(of.regret),
            share(of.price_ratio),
        ]
    });
    let listing = Listing {
        caption: format!("{} under each policy", result.teams[team]),
        columns: vec![
            ("Policy", "", false),
            ("Used", "chip-hours", true),
            ("Asked for", "chip-hours", true),
            ("Welfare", "got / asked for", true),
            ("Against a static share", "times", true),
            ("Envies", "", false),
            ("Envy", "", true),
            ("Regret", "", true),
            ("Price", "times the mean", true),
        ],
        rows: rows.collect(),
        empty: "No policy has figures.",
    };
    let shown: Vec<Line> = with_figures
        .filter(|policy| policy.used.len() > team)
        .take(MOST_LINES)
        .map(|policy| Line { title: policy.title.clone(), values: policy.used[team].clone() })
        .collect();
    view! {
        {table(listing)}
        <div class="body">{lines(&shown, "Chips used", 0)}</div>
        {series_table(&shown, "Chips used by the team", 1)}
    }
    .into_any()
}
