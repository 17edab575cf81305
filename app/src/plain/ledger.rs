//! The ledger of a team: its entries with filters, and one transfer with both of its sides.

use common::api::{LedgerEntry, Page, TransferEntry, TransferView};
use common::ids::{ChipTypeId, TeamId};
use leptos::prelude::*;

use super::form::{FormState, select, stretch, zone_of_times};
use super::names;
use super::parts::next_page;
use super::table::{Content, Table};
use crate::components::time::date_time;
use crate::format;
use crate::words::address;

/// What the list shows.
#[derive(Clone, Debug)]
pub struct LedgerPage {
    /// The team.
    pub team: TeamId,
    /// Its display name.
    pub name: String,
    /// The chip types that a filter can name.
    pub chip_types: Vec<ChipTypeId>,
    /// The filters as they stand in the address: `kind`, `chip_type`, `from`, `to`.
    pub filters: FormState,
    /// The entries; none where a filter is refused.
    pub entries: Option<Page<LedgerEntry>>,
}

/// The kinds of transfers, with their names.
const KINDS: [(&str, &str); 7] = [
    ("", "All"),
    ("income", "Income"),
    ("charge", "Charge"),
    ("mint", "Grant"),
    ("correction", "Correction"),
    ("rebase", "Rebase"),
    ("lapse", "Lapse"),
];

pub(crate) fn kind_name(kind: &str) -> String {
    let known = KINDS.iter().find(|(value, _)| *value == kind);
    known.map_or_else(|| kind.to_owned(), |(_, name)| (*name).to_owned())
}

/// The main part of the list.
pub fn ledger(page: LedgerPage) -> AnyView {
    let LedgerPage { team, name, chip_types, filters, entries } = page;
    let kinds = KINDS.iter().map(|(value, name)| ((*value).to_owned(), (*name).to_owned())).collect();
    let mut types = vec![(String::new(), "All".to_owned())];
    types.extend(chip_types.iter().map(|id| (id.to_string(), names::chip_type(id))));
    let form = view! {
        <form class="filters" method="get" action="/budget/ledger">
            <input type="hidden" name="team" value=team.to_string() />
            {select(&filters, "kind", "Kind", "", kinds)}
            {select(&filters, "chip_type", "Chip type", "", types)}
            {stretch(&filters, "From")}
            <button class="button" type="submit">
                "Filter"
            </button>
            {zone_of_times(&filters)}
        </form>
    };
    let chosen = |name: &'static str| Some(filters.value(name).to_owned()).filter(|value| !value.is_empty());
    let link = |path: &str, more: [(&str, Option<&str>); 2]| {
        let (kind, chip_type, from, to) = (chosen("kind"), chosen("chip_type"), chosen("from"), chosen("to"));
        let [first, second] = more;
        address(
            path,
            &[
                first,
                ("kind", kind.as_deref()),
                ("chip_type", chip_type.as_deref()),
                ("from", from.as_deref()),
                ("to", to.as_deref()),
                second,
            ],
        )
    };
    let csv =
        link(&format!("/api/v1/teams/{team}/ledger"), [("limit", Some("500")), ("format", Some("csv"))]);
    let older = entries
        .as_ref()
        .and_then(|page| page.next_cursor.as_deref())
        .map(|cursor| link("/budget/ledger", [("team", Some(team.as_str())), ("cursor", Some(cursor))]));
    let back = address("/budget", &[("team", Some(team.as_str()))]);
    view! {
        <p>
            <a href=back>"Budget of "{name}</a>
        </p>
        <section class="panel" aria-labelledby="entries">
            <header>
                <h2 id="entries">"Entries, newest first"</h2>
                <div class="right">
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                    <a class="button" href="/finance/exports?name=ledger">
                        "All as a file"
                    </a>
                </div>
            </header>
            <div class="body">
                {form}
                {entries.map(|page| table(&team, &page))}
                {next_page(older)}
            </div>
        </section>
    }
    .into_any()
}

fn table(team: &TeamId, page: &Page<LedgerEntry>) -> AnyView {
    let rows = page.items.iter().map(|entry| -> Vec<Content> {
        let href = format!("/budget/ledger/{}?team={team}", entry.transfer);
        vec![
            view! { <a href=href>{format::thousands(entry.transfer)}</a> }.into(),
            date_time(entry.at).into(),
            kind_name(&entry.kind).into(),
            entry.chip_type.as_ref().map(names::chip_type).into(),
            format::amount(entry.amount).into(),
            format::amount(entry.balance_after).into(),
            entry.reason.clone().into(),
        ]
    });
    let columns = [
        ("Transfer", "", false),
        ("Booked at", "", false),
        ("Kind", "", false),
        ("Chip type", "", false),
        ("Amount", "credits", true),
        ("Balance after it", "credits", true),
        ("Reason", "", false),
    ];
    Table::new("Entries of the ledger", &columns, rows.collect())
        .view_or("No entry is like this. Take a filter away, or choose a longer time.")
}

/// The main part of the page of one transfer, as it is seen from a team. Who books money gets the way to correct it.
pub fn transfer(team: &TeamId, transfer: &TransferView, may_correct: bool) -> AnyView {
    let covers = transfer.first_cycle.map(|first| {
        let last = transfer.cycle - 1;
        let what = match transfer.kind.as_str() {
            "charge" => ": chips used in each at the price that was in force.",
            _ => ": each for as long as it lasted.",
        };
        view! {
            <p>
                "It covers the cycles " <a href=format!("/cycles/{first}")>{format::thousands(first)}</a> " to "
                <a href=format!("/cycles/{last}")>{format::thousands(last)}</a>
                {what}
            </p>
        }
    });
    let to = |number: u64| {
        let href = format!("/budget/ledger/{number}?team={team}");
        view! { <a href=href>{format!("transfer {}", format::thousands(number))}</a> " " }
    };
    let corrects = transfer.corrects.map(|number| view! { <p>"It corrects " {to(number)}</p> });
    let corrected = (!transfer.corrected_by.is_empty()).then(|| {
        let by = transfer.corrected_by.iter().map(|number| to(*number)).collect_view();
        view! { <p>"It is corrected by " {by}</p> }
    });
    let number = transfer.number.to_string();
    let correct = may_correct.then(|| {
        let href =
            address("/finance/bookings/new", &[("team", Some(team.as_str())), ("corrects", Some(&number))]);
        view! {
            <a class="button" href=href>
                "Correct it"
            </a>
        }
    });
    let rows = transfer.entries.iter().map(side).collect();
    let columns = [
        ("Account", "", false),
        ("Chip type", "", false),
        ("Used", "chip-hours", true),
        ("Amount", "credits", true),
    ];
    let back = address("/budget/ledger", &[("team", Some(team.as_str()))]);
    let csv = format!("/api/v1/teams/{team}/ledger/{}?format=csv", transfer.number);
    view! {
        <p>
            <a href=back>"All entries"</a>
        </p>
        <section class="panel" aria-labelledby="sides">
            <header>
                <h2 id="sides">{kind_name(&transfer.kind)}" · transfer "{format::thousands(transfer.number)}</h2>
                <div class="right">
                    {correct}
                    <a class="button" href=csv download="">
                        "CSV"
                    </a>
                </div>
            </header>
            <div class="body">
                <p>{transfer.reason.clone()}</p>
                <p class="quiet">
                    "Booked at " {date_time(transfer.at)} ", counts from cycle "
                    <a href=format!("/cycles/{}", transfer.cycle)>{format::thousands(transfer.cycle)}</a> " on, in credits of "
                    {names::pool(&transfer.pool)} "."
                </p>
                {covers}
                {corrects}
                {corrected}
                {Table::new("Entries of the transfer", &columns, rows).sortable("sides").view()}
                <p class="quiet">"The entries of a transfer sum to zero. Its hash, chained to the transfer before it:"</p>
                <p class="id">{transfer.sha256.clone()}</p>
            </div>
        </section>
    }
    .into_any()
}

fn side(entry: &TransferEntry) -> Vec<Content> {
    let account = match (entry.account.as_str(), &entry.owner) {
        ("team", Some(owner)) => owner.parse().map_or_else(|_| owner.clone(), |team| names::team(&team)),
        ("issuance", _) => "issuance of the pool".to_owned(),
        ("treasury", _) => "treasury of the pool".to_owned(),
        ("revenue", _) => "revenue of the pool".to_owned(),
        _ => "other teams of the pool, together".to_owned(),
    };
    // Thousandths of a chip-hour, rounded down; the exact chip-seconds are in the CSV file.
    let used = entry
        .chip_seconds
        .map(|seconds| format::milli(u64::try_from(u128::from(seconds) * 1_000 / 3_600).unwrap_or(u64::MAX)));
    vec![
        account.into(),
        entry.chip_type.as_ref().map(names::chip_type).into(),
        used.into(),
        format::amount(entry.amount).into(),
    ]
}
