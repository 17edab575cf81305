//! Cuts as a page: the policy, the jobs over quota until they are drained, and those that were stopped.

use common::api::{CutPolicyKind, CutsView, OverQuotaView, ReclaimView, ReclaimWhy};
use common::chips::Chips;
use common::words::counted;
use leptos::prelude::*;

use super::super::names;
use super::super::organisation::{Cell, Listing, listed};
use super::super::parts::fact;
use super::subnav;
use crate::format;

/// The page.
#[must_use]
pub fn cuts(view: &CutsView, may_change: bool) -> AnyView {
    let cycle = view.next_cycle.to_string();
    let change = may_change.then(|| {
        view! {
            <p>
                <a class="button" href="/supply/cuts/policy">
                    "Change the policy"
                </a>
            </p>
        }
    });
    view! {
        {subnav("/supply/cuts")}
        <div class="sections" data-each-cycle=cycle>
            <section class="panel" aria-labelledby="policy">
                <header>
                    <h2 id="policy">"What becomes of jobs that a cut leaves without quota"</h2>
                    <div class="right">
                        <a class="button" href="/api/v1/supply/cuts?format=csv" download="">
                            "CSV"
                        </a>
                    </div>
                </header>
                <div class="body">
                    <p>{policy_words(view.policy, view.churn_chips)}</p>
                    <dl class="figures">
                        {fact("Reclaimed", "chips within the last hour", format::chips(view.reclaimed_last_hour).into_any())}
                    </dl>
                    {change}
                </div>
            </section>
            {listed(over_quota(&view.over_quota))}
            {listed(reclaims(&view.reclaims))}
        </div>
    }
    .into_any()
}

/// A policy in words.
#[must_use]
pub fn policy_words(policy: CutPolicyKind, churn: Option<Chips>) -> String {
    match policy {
        CutPolicyKind::AtOnce => "They stop with the cycle of the cut.".to_owned(),
        CutPolicyKind::Keep => {
            "They run on over quota until they are done, at the price in force but never above their limit, as long as \
             nobody else won their chips."
                .to_owned()
        }
        CutPolicyKind::Reclaim => {
            let most = churn.map_or(String::new(), |chips| {
                let chips = counted(chips.0, "chip");
                format!(", at most {chips} in a cycle but for the rest of the last gang")
            });
            format!("They run on over quota and are stopped lowest price first until the chips that were cut are free{most}.")
        }
    }
}

fn over_quota(jobs: &[OverQuotaView]) -> Listing {
    let rows = jobs.iter().map(|job| {
        vec![
            Cell::Text(job.name.clone()),
            Cell::Text(names::team(&job.team)),
            Cell::Text(names::chip_type(&job.chip_type)),
            Cell::Number(format::chips(job.chips)),
            Cell::Number(job.price.to_string()),
        ]
    });
    Listing {
        caption: "Over quota until drained".to_owned(),
        columns: vec![
            ("Bid", "", false),
            ("Team", "", false),
            ("Chip type", "", false),
            ("Chips", "over quota", true),
            ("Price", "local credits per chip-hour", true),
        ],
        rows: rows.collect(),
        empty: "No job is over quota.",
    }
}

const fn why_words(why: ReclaimWhy) -> &'static str {
    match why {
        ReclaimWhy::AtOnce => "stopped with the cut",
        ReclaimWhy::Room => "others won its chips",
        ReclaimWhy::Policy => "reclaimed, lowest price first",
    }
}

fn reclaims(rows: &[ReclaimView]) -> Listing {
    let rows = rows.iter().map(|row| {
        vec![
            Cell::Text(row.name.clone()),
            Cell::Text(names::team(&row.team)),
            Cell::Time(Some(row.at)),
            Cell::Number(format::thousands(row.cycle)),
            Cell::Text(names::chip_type(&row.chip_type)),
            Cell::Number(format::chips(row.chips)),
            Cell::Text(why_words(row.why).to_owned()),
            Cell::Number(format::price(row.price_then)),
            Cell::Number(format::price(row.price_now)),
        ]
    });
    Listing {
        caption: "Jobs that cuts stopped, newest first".to_owned(),
        columns: vec![
            ("Bid", "", false),
            ("Team", "", false),
            ("At", "", false),
            ("Cycle", "", true),
            ("Chip type", "", false),
            ("Chips", "", true),
            ("Why", "", false),
            ("Price then", "local credits per chip-hour", true),
            ("Price now", "local credits per chip-hour", true),
        ],
        rows: rows.collect(),
        empty: "No job was stopped by a cut.",
    }
}
