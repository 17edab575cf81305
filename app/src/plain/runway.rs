//! The warnings that a team's balance was about to be used up, on the page of its budget.

use common::api::RunwayWarning;
use leptos::prelude::*;

use super::form::panel;
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::format;

/// The warnings that were told, with what each followed from; nothing where there is none.
pub(super) fn told(warnings: &[RunwayWarning]) -> AnyView {
    if warnings.is_empty() {
        return ().into_any();
    }
    let rows = warnings.iter().rev().map(|warning| -> Vec<Content> {
        let lasts = if warning.hours == 1 { "an hour at most" } else { "a day at most" };
        vec![
            date_time(warning.at).into(),
            lasts.into(),
            format::amount(warning.balance).into(),
            format::amount(warning.burn).into(),
            format::amount(warning.income).into(),
            view! { <a href=format!("/cycles/{}", warning.cycle)>{format::thousands(warning.cycle)}</a> }
                .into(),
        ]
    });
    let columns = [
        ("Told", "", false),
        ("Would last", "", false),
        ("Balance", "credits", true),
        ("Spent", "credits per hour", true),
        ("Earned", "credits per hour", true),
        ("Cycle", "", true),
    ];
    let table = view! {
        {Table::new("Warnings of the last seven days", &columns, rows.collect()).view()}
        <p class="quiet">
            "A balance that would be used up within a day, and within an hour, is told once a day each."
        </p>
    };
    panel("warnings", "Warnings of the last seven days", table.into_any())
}
