//! The audit log as a page: filters in the address, one entry a row, what was before and after when it is opened.

use common::api::{AuditEntry, Page};
use leptos::prelude::*;

use super::form::{Field, FormState, field, select, stretch, zone_of_times};
use super::organisation::{Shows, subnav};
use super::parts::next_page;
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::format;
use crate::words::address;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// What the navigation of the organisation's pages shows.
    pub shows: Shows,
    /// The actions that a filter can name.
    pub actions: Vec<String>,
    /// The filters as they stand in the address: `user`, `action`, `object`, `from`, `to`.
    pub filters: FormState,
    /// The entries; none where a filter is refused.
    pub entries: Option<Page<AuditEntry>>,
}

/// The filters that are carried from page to page.
const FILTERS: [&str; 5] = ["user", "action", "object", "from", "to"];

/// The main part of the page.
pub fn audit(page: AuditPage) -> AnyView {
    let AuditPage { shows, actions, filters, entries } = page;
    let mut options = vec![(String::new(), "All".to_owned())];
    options.extend(actions.into_iter().map(|action| (action.clone(), action)));
    let line = |name, label| Field { required: false, ..Field::text(name, label) };
    let form = view! {
        <form class="filters" method="get" action="/organisation/audit">
            {select(&filters, "action", "Action", "", options)} {field(&filters, &line("user", "Account id"))}
            {field(&filters, &line("object", "Object id"))}
            {stretch(&filters, "From")}
            <button class="button" type="submit">
                "Filter"
            </button>
            {zone_of_times(&filters)}
        </form>
    };
    let link = |path: &str, more: &[(&'static str, &str)]| {
        let mut parameters: Vec<(&str, Option<&str>)> = FILTERS
            .iter()
            .map(|name| (*name, Some(filters.value(name)).filter(|value| !value.is_empty())))
            .collect();
        parameters.extend(more.iter().map(|(name, value)| (*name, Some(*value))));
        address(path, &parameters)
    };
    let csv = link("/api/v1/exports/audit", &[]);
    let older = entries
        .as_ref()
        .and_then(|page| page.next_cursor.as_deref())
        .map(|cursor| link("/organisation/audit", &[("cursor", cursor)]));
    view! {
        {subnav("/organisation/audit", shows)}
        <section class="panel" aria-labelledby="log">
            <header>
                <h2 id="log">"What was done, newest first"</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                </div>
            </header>
            <div class="body">{form} {entries.map(|page| table(&page))} {next_page(older)}</div>
        </section>
    }
    .into_any()
}

fn table(page: &Page<AuditEntry>) -> AnyView {
    let columns = [
        ("Number", "", true),
        ("At", "", false),
        ("Who", "", false),
        ("Action", "", false),
        ("Object", "", false),
        ("Reason", "", false),
        ("Details", "", false),
    ];
    Table::new("Entries of the audit log", &columns, page.items.iter().map(row).collect())
        .view_or("Nothing was done that is like this. Take a filter away.")
}

fn row(entry: &AuditEntry) -> Vec<Content> {
    let side = |name: &'static str, value: &Option<serde_json::Value>| {
        value.as_ref().map(|value| {
            let text = serde_json::to_string_pretty(value).unwrap_or_default();
            view! {
                <p class="quiet">{name}</p>
                <pre class="json">{text}</pre>
            }
        })
    };
    let from = entry.address.as_ref().map(|address| format!("from {address}"));
    let request = entry.request_id.as_ref().map(|id| format!("request {id}"));
    let token = entry.token.as_ref().map(|id| format!("token {id}"));
    let where_from: Vec<String> = [token, from, request].into_iter().flatten().collect();
    let who = view! {
        <span class="plain">
            {entry.user_name.clone()} <span class="id">{entry.user.to_string()}</span>
        </span>
    };
    let details = view! {
        <details>
            <summary>"Before and after"</summary>
            {side("Before", &entry.before)}
            {side("After", &entry.after)}
            <p class="quiet">{where_from.join(" · ")}</p>
        </details>
    };
    vec![
        format::thousands(entry.number).into(),
        date_time(entry.at).into(),
        who.into(),
        entry.action.clone().into(),
        format!("{} {}", entry.object_kind, entry.object).into(),
        entry.reason.clone().into(),
        details.into(),
    ]
}
