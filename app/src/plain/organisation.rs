//! The organisation's pages: what is set, forms that change it, and what each change does.
//!
//! A page has one form, so that each field has one name on it. A form says what is in force now beside what is typed,
//! what the change does, and asks for a reason.

use common::instant::Instant;
use leptos::prelude::*;

use super::form::{Field, FormState, boxes, field, form, hidden, select, text_area, zone_of_times};
use super::parts::fact;
use super::table::{Column, Content, Table};
use crate::components::time::date_time;

/// A link with its text.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub text: String,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number or an amount, right-aligned.
    Number(String),
    /// Links, one after the other.
    Links(Vec<Link>),
    /// An instant; empty without one.
    Time(Option<Instant>),
}

/// A table with its caption.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// What it lists.
    pub caption: String,
    /// Names of the columns, the unit after a line break; whether they hold numbers.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// What is said when there is no row.
    pub empty: &'static str,
}

/// A page of facts, tables and links to forms.
#[derive(Clone, Debug, Default)]
pub struct OverviewPage {
    /// The page's address: marks the place in the navigation of the organisation's pages.
    pub path: String,
    /// The viewer sees the pages of people, of the log and of the watch list.
    pub shows: Shows,
    /// Facts: name, unit, value.
    pub facts: Vec<(&'static str, &'static str, String)>,
    /// Things that can be done here.
    pub actions: Vec<Link>,
    /// Tables.
    pub listings: Vec<Listing>,
    /// Remarks under them.
    pub notes: Vec<String>,
    /// The rest of a table that is too long for one page.
    pub next: Option<Link>,
    /// The search in such a table.
    pub search: Option<Search>,
}

/// A search in a list that is too long for one page.
#[derive(Clone, Debug)]
pub struct Search {
    /// Its label.
    pub label: &'static str,
    /// The name of the words in the address.
    pub name: &'static str,
    /// The words searched for.
    pub words: String,
}

/// What the navigation of the organisation's pages shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// Accounts.
    pub people: bool,
    /// The audit log.
    pub audit: bool,
    /// Teams over grant, starved and idle.
    pub watch: bool,
}

/// An input of a form.
#[derive(Clone, Debug)]
pub enum Input {
    /// A line.
    Line(Field),
    /// One of several values.
    Choice {
        /// Its name in the form.
        name: &'static str,
        /// Its label.
        label: &'static str,
        /// What it means, in words.
        hint: &'static str,
        /// Value and text of each.
        options: Vec<(String, String)>,
    },
    /// Any of several values.
    Boxes {
        /// Its name in the form.
        name: &'static str,
        /// What they are.
        legend: &'static str,
        /// Value and text of each.
        options: Vec<(String, String)>,
    },
    /// A value that is carried along.
    Hidden(&'static str, String),
}

/// A page with a form that changes something.
#[derive(Clone, Debug)]
pub struct ChangePage {
    /// The heading of the form.
    pub heading: &'static str,
    /// Where the form is posted.
    pub action: String,
    /// What was typed, or what is in force.
    pub state: FormState,
    /// The version that the change is made from.
    pub version: String,
    /// The inputs; a reason follows them.
    pub inputs: Vec<Input>,
    /// What the button says.
    pub button: &'static str,
    /// What is in force now.
    pub now: Vec<(&'static str, String)>,
    /// What the change does, and when.
    pub effects: Vec<String>,
    /// What it does to each of several things.
    pub listing: Option<Listing>,
    /// The way back.
    pub back: Link,
}

/// The navigation of the organisation's pages.
pub(super) fn subnav(path: &str, shows: Shows) -> AnyView {
    let all = [
        ("/organisation", "Pools and teams", true),
        ("/organisation/settings", "Settings", true),
        ("/organisation/shares", "Shares", true),
        ("/organisation/people", "People", shows.people),
        ("/organisation/watch", "Watch list", shows.watch),
        ("/organisation/audit", "Audit log", shows.audit),
    ];
    // A page of one team belongs to all of them, as it stands below none of the others.
    let below =
        |href: &str| path.strip_prefix(href).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let place = all.iter().map(|(href, ..)| *href).filter(|href| below(href)).max_by_key(|href| href.len());
    let links = all
        .into_iter()
        .filter(|(_, _, shown)| *shown)
        .map(|(href, text, _)| {
            let current = (place == Some(href)).then_some(if path == href { "page" } else { "true" });
            view! {
                <a href=href aria-current=current>
                    {text}
                </a>
            }
        })
        .collect_view();
    view! {
        <nav class="subnav" aria-label="Organisation">
            {links}
        </nav>
    }
    .into_any()
}

/// A page of facts, tables and links.
pub fn overview(page: OverviewPage) -> AnyView {
    let OverviewPage { path, shows, facts, actions, listings, notes, next, search } = page;
    let facts = (!facts.is_empty()).then(|| {
        let facts =
            facts.into_iter().map(|(name, unit, value)| fact(name, unit, value.into_any())).collect_view();
        view! { <section class="panel" aria-label="In force"><div class="body"><dl class="figures">{facts}</dl></div></section> }
    });
    let actions = (!actions.is_empty()).then(|| {
        let links = actions
            .into_iter()
            .map(|link| view! { <a class="button" href=link.href>{link.text}</a> })
            .collect_view();
        view! { <p class="filters">{links}</p> }
    });
    let search = search.map(|search| {
        view! {
            <form class="filters" method="get" action=path.clone() role="search">
                <label>
                    {search.label}
                    <input type="search" name=search.name value=search.words autocomplete="off" />
                </label>
                <button class="button" type="submit">
                    "Find"
                </button>
            </form>
        }
    });
    let listings = listings.into_iter().map(listed).collect_view();
    let notes = notes.into_iter().map(|note| view! { <p class="quiet">{note}</p> }).collect_view();
    let next = next.map(|link| {
        view! {
            <p class="pager">
                <a class="button" href=link.href rel="next">
                    {link.text}
                </a>
            </p>
        }
    });
    view! {
        {subnav(&path, shows)}
        <div class="sections">{facts} {actions} {search} {listings} {next} {notes}</div>
    }
    .into_any()
}

/// A panel with a table.
pub(crate) fn listed(listing: Listing) -> AnyView {
    let name = listing.caption.clone();
    view! {
        <section class="panel" aria-label=name>
            {table(listing)}
        </section>
    }
    .into_any()
}

/// A table that becomes cards where there is little room.
pub fn table(listing: Listing) -> AnyView {
    let Listing { caption, columns, rows, empty } = listing;
    if rows.is_empty() {
        return view! { <div class="body"><h2>{caption}</h2><p class="empty">{empty}</p></div> }.into_any();
    }
    let list = list_name(&caption);
    let rows = rows.into_iter().map(|cells| cells.into_iter().map(content).collect()).collect();
    Table::new(caption, &columns, rows).captioned().sortable(list).view()
}

/// The name of a list in the address: what stands before a colon of its caption, in small letters.
fn list_name(caption: &str) -> String {
    let name = caption.split(':').next().unwrap_or_default();
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

fn content(cell: Cell) -> Content {
    match cell {
        // A cell without words is left out of a card.
        Cell::Text(text) | Cell::Number(text) => (!text.is_empty()).then_some(text).into(),
        Cell::Links(links) => {
            let links =
                links.into_iter().map(|link| view! { <a href=link.href>{link.text}</a> " " }).collect_view();
            view! { <span class="links">{links}</span> }.into()
        }
        Cell::Time(at) => at.map(date_time).into(),
    }
}

/// A page with a form.
pub fn change(page: ChangePage) -> AnyView {
    let ChangePage { heading, action, state, version, inputs, button, now, effects, listing, back } = page;
    let mut fields: Vec<AnyView> = inputs.iter().map(|input| input_view(&state, input)).collect();
    if inputs.iter().any(|input| matches!(input, Input::Line(line) if line.is_time())) {
        fields.push(zone_of_times(&state));
    }
    fields.push(text_area(
        &state,
        "reason",
        "Reason",
        "Why, in a few words: at most 500 characters. The audit log keeps it.",
    ));
    fields.push(hidden("version", &version));
    let form = form(&state, &action, fields, button);
    let now = (!now.is_empty()).then(|| {
        let rows = now.into_iter().map(|(name, value)| fact(name, "", value.into_any())).collect_view();
        view! {
            <h3>"In force now"</h3>
            <dl class="figures">{rows}</dl>
        }
    });
    let effects = effects.into_iter().map(|effect| view! { <li>{effect}</li> }).collect_view();
    view! {
        <p>
            <a href=back.href>{back.text}</a>
        </p>
        <section class="panel" aria-labelledby="change">
            <header>
                <h2 id="change">{heading}</h2>
            </header>
            <div class="body two">
                <div>{form}</div>
                <div>
                    {now} <h3>"What the change does"</h3> <ul class="plain">{effects}</ul>
                </div>
            </div>
        </section>
        {listing.map(listed)}
    }
    .into_any()
}

fn input_view(state: &FormState, input: &Input) -> AnyView {
    match input {
        Input::Line(line) => field(state, line),
        Input::Choice { name, label, hint, options } => select(state, name, label, hint, options.clone()),
        Input::Boxes { name, legend, options } => boxes(state, name, legend, options.clone()),
        Input::Hidden(name, value) => hidden(name, value),
    }
}

/// A secret that is shown once.
pub fn shown_once(text: &str, what: String, back: Link) -> AnyView {
    view! {
        <section class="panel" aria-label="Shown once">
            <div class="body">
                <p>{what}</p>
                <p class="once">{text.to_owned()}</p>
                <p class="quiet">"It is not shown again: copy it now."</p>
                <p>
                    <a href=back.href>{back.text}</a>
                </p>
            </div>
        </section>
    }
    .into_any()
}
