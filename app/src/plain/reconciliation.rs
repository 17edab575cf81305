//! Reconciliation as a page: whether the money adds up, check by check, with the figure of each and the first row that does
//! not match.

use common::api::{FigureView, ReconciliationView};
use leptos::prelude::*;

use super::finance::subnav;
use super::form::{Field, FormState, field, form, panel};
use super::parts::{warning, work_progress};
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::format;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct ReconciliationPage {
    /// What is asked for: `period`.
    pub form: FormState,
    /// The newest reconciliations, newest first.
    pub runs: Vec<ReconciliationView>,
    /// The viewer's account: whose jobs the viewer can cancel, by their ids.
    pub own: Vec<String>,
    /// The organisation's zone.
    pub time_zone: String,
}

/// What the checks are called, and what each means.
const CHECKS: [(&str, &str, &str, &str); 6] = [
    ("sums", "Entries of a transfer sum to zero", "transfers", "turnover"),
    ("balances", "Balances are the sums of their entries", "entries", "all accounts"),
    ("chain", "Transfers follow one another and their hashes chain", "transfers", ""),
    ("occupancy", "Charges are chips used × price × time", "charges", "charged"),
    ("supply", "What teams use and what is idle make supply × price", "markets", "supply at its price"),
    ("roll-ups", "Hours and days are the sums of their parts", "rows", ""),
];

/// The main part of the page.
pub fn reconciliation(page: ReconciliationPage) -> AnyView {
    let ReconciliationPage { form: state, runs, own, time_zone } = page;
    let goes_on = runs.iter().any(|run| run.job.state.is_open());
    let newest = runs.iter().find(|run| run.figures.is_some()).map(result);
    let empty = newest.is_none().then(|| {
        view! { <p class="empty">"Nothing was reconciled yet. Start a reconciliation: it runs in the background."</p> }
    });
    let body = view! {
        <p>
            "Each check compares what is stored with what follows from it. The ledger is always checked as a whole; charges, \
             supply and roll-ups in the period, as long as the rows of single cycles are kept."
        </p>
        {form(
            &state,
            "/finance/reconciliation",
            vec![
                field(
                    &state,
                    &Field { required: false, ..Field::text("period", "Period") }
                        .with_hint("2026, 2026-Q4, 2026-11 or 2026-11-30; nothing is everything"),
                ),
            ],
            "Reconcile",
        )}
        <p class="quiet">"Periods are those of the organisation's zone, " {time_zone} "."</p>
    };
    view! {
        {subnav("/finance/reconciliation")}
        <div class="sections">
            {panel("start", "Start a reconciliation", body.into_any())}
            <div class="sections" id="runs" data-goes-on=goes_on.then_some("")>
                {newest}
                {empty}
                {list(&runs, &own)}
            </div>
        </div>
    }
    .into_any()
}

/// The figures of a finished run.
fn result(run: &ReconciliationView) -> AnyView {
    let figures = run.figures.as_deref().unwrap_or_default();
    let off: u64 = figures.iter().map(|figure| figure.off).sum();
    let verdict = if off == 0 {
        view! { <p class="banner done" role="status">"Everything adds up: the difference of each check is 0."</p> }.into_any()
    } else {
        warning(
            "Something does not add up. The first row of each check that does not match is named below."
                .to_owned(),
        )
    };
    let rows = figures.iter().map(row).collect_view();
    let what = run.period.clone().unwrap_or_else(|| "everything".to_owned());
    view! {
        <section class="panel" aria-labelledby="newest">
            <header>
                <h2 id="newest">"Result of " {what}</h2>
            </header>
            <div class="body">
                {verdict}
                <p class="quiet">
                    "Cycles " {format::thousands(run.from_cycle)} " to " {format::thousands(run.to_cycle)} ", asked for by "
                    {run.job.user_name.clone()} ", finished " {run.job.ended_at.map(date_time)} "."
                </p>
                <div class="scroll" tabindex="0" role="region" aria-label="Checks and their figures">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">"Check"</th>
                                <th scope="col" class="num">"Compared"</th>
                                <th scope="col" class="num">"Sum" <small>"credits"</small></th>
                                <th scope="col" class="num">"Do not match"</th>
                                <th scope="col" class="num">"Difference" <small>"credits"</small></th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
                <p class="quiet">
                    "The same checks, and all cycles cleared again, run with "
                    <code>"quota-marketplace verify"</code> "."
                </p>
            </div>
        </section>
    }
    .into_any()
}

fn row(figure: &FigureView) -> AnyView {
    let known = CHECKS.iter().find(|(name, ..)| *name == figure.check);
    let (title, unit, sum) =
        known.map_or((figure.check.as_str(), "rows", ""), |(_, title, unit, sum)| (*title, *unit, *sum));
    let total = figure.total.map(|total| {
        view! {
            {format::amount(total)}
            " "
            <small>{sum.to_owned()}</small>
        }
    });
    let offender = figure.offender.clone().map(|detail| {
        let transfer =
            figure.offending_transfer.zip(figure.offending_team.as_ref()).map(|(transfer, team)| {
                let href = format!("/budget/ledger/{transfer}?team={team}");
                view! {
                    <a href=href>"transfer " {format::thousands(transfer)}</a>
                    " "
                }
            });
        let cycle = figure.offending_cycle.map(|cycle| {
            view! { <a href=format!("/cycles/{cycle}")>"cycle " {format::thousands(cycle)}</a> }
        });
        view! {
            <tr>
                <td colspan="5" class="up">
                    "First: " {detail} " " {transfer} {cycle}
                </td>
            </tr>
        }
    });
    view! {
        <tr>
            <th scope="row">{title.to_owned()}</th>
            <td class="num">{format::thousands(figure.compared)} " " <small>{unit.to_owned()}</small></td>
            <td class="num">{total}</td>
            <td class="num">{format::thousands(figure.off)}</td>
            <td class="num">{figure.difference.map(format::amount)}</td>
        </tr>
        {offender}
    }
    .into_any()
}

/// All runs that are kept.
fn list(runs: &[ReconciliationView], own: &[String]) -> AnyView {
    if runs.is_empty() {
        return ().into_any();
    }
    let rows = runs.iter().map(|run| -> Vec<Content> {
        let job = &run.job;
        let found =
            run.figures.as_ref().map(|figures| match figures.iter().map(|figure| figure.off).sum::<u64>() {
                0 => "all adds up".to_owned(),
                off => format!("{} do not match", format::thousands(off)),
            });
        let cancel = (job.state.is_open() && own.contains(&job.id)).then(|| {
            view! {
                <form method="post" action=format!("/finance/reconciliation/{}/cancel", job.id)>
                    <button class="button danger" type="submit">
                        "Cancel"
                    </button>
                </form>
            }
        });
        vec![
            job.title.clone().into(),
            job.user_name.clone().into(),
            date_time(job.made_at).into(),
            work_progress(job).into(),
            view! { <span>{found} {cancel}</span> }.into(),
        ]
    });
    let columns = [
        ("Of", "", false),
        ("Asked for by", "", false),
        ("At", "", false),
        ("State", "", false),
        ("Found", "", false),
    ];
    let table = Table::new("Reconciliations", &columns, rows.collect()).view();
    panel("all-runs", "All reconciliations", table)
}
