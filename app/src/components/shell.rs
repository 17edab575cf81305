//! The frame of every page: navigation, the market's clock with its live state, notes.

use common::api::{MarketClock, Role, ShellView, ViewerView};
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};

use super::chooser::{Choosable, Chooser, chooser};
use super::icon::{Icon, icon};
use super::time::{date_time, time_of_day};
use crate::data::{PageError, shell};
use crate::format;
use crate::live::{Connection, Live};
use crate::words::address;

/// A page in the navigation.
struct Section {
    path: &'static str,
    name: &'static str,
    icon: Icon,
    /// Its prices depend on whose prices "your price" means.
    has_pool_choice: bool,
    /// How its pages come to the browser.
    kind: Kind,
    /// Who gets the link to it. The pages behind it ask the policy themselves.
    shown_to: fn(&ViewerView) -> bool,
}

/// How pages come to the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Rendered on the server and taken over in the browser.
    Live,
    /// Rendered on the server only: a link to one is a full load, and so is each link on it.
    Plain,
}

const SECTIONS: &[Section] = &[
    Section {
        path: "/",
        name: "Market",
        icon: Icon::Market,
        has_pool_choice: true,
        kind: Kind::Live,
        shown_to: everybody,
    },
    Section {
        path: "/bids",
        name: "Bids",
        icon: Icon::Bids,
        has_pool_choice: false,
        kind: Kind::Live,
        shown_to: has_bids,
    },
    Section {
        path: "/book",
        name: "Bid book",
        icon: Icon::Book,
        has_pool_choice: false,
        kind: Kind::Live,
        shown_to: everybody,
    },
    Section {
        path: "/allocations",
        name: "Allocations",
        icon: Icon::Allocations,
        has_pool_choice: false,
        kind: Kind::Live,
        shown_to: everybody,
    },
    Section {
        path: "/cycles",
        name: "Cycles",
        icon: Icon::Cycles,
        has_pool_choice: false,
        kind: Kind::Live,
        shown_to: everybody,
    },
    Section {
        path: "/planner",
        name: "Planner",
        icon: Icon::Planner,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: everybody,
    },
    Section {
        path: "/budget",
        name: "Budget",
        icon: Icon::Budget,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: everybody,
    },
    Section {
        path: "/finance",
        name: "Finance",
        icon: Icon::Finance,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: reads_money,
    },
    Section {
        path: "/supply",
        name: "Supply",
        icon: Icon::Supply,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: reads_supply,
    },
    Section {
        path: "/lab",
        name: "Lab",
        icon: Icon::Lab,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: reads_lab,
    },
    Section {
        path: "/organisation",
        name: "Organisation",
        icon: Icon::Organisation,
        has_pool_choice: false,
        kind: Kind::Plain,
        shown_to: everybody,
    },
];

fn everybody(_: &ViewerView) -> bool {
    true
}

fn reads_supply(viewer: &ViewerView) -> bool {
    viewer.roles.iter().any(|role| matches!(role, Role::Admin | Role::Auditor))
}

fn reads_money(viewer: &ViewerView) -> bool {
    viewer.roles.iter().any(|role| matches!(role, Role::Finance | Role::Admin | Role::Auditor))
}

fn reads_lab(viewer: &ViewerView) -> bool {
    viewer.roles.iter().any(|role| matches!(role, Role::Admin | Role::Auditor))
}

fn has_bids(viewer: &ViewerView) -> bool {
    !viewer.teams.is_empty()
}

/// The section that a path belongs to.
fn section_of(path: &str) -> Option<&'static Section> {
    // What-ifs are about the supply, though people know them by an address of their own.
    let path = if path == "/what-if" || path.starts_with("/what-if/") { "/supply/what-if" } else { path };
    SECTIONS.iter().find(|section| {
        path == section.path || (section.path != "/" && path.starts_with(&format!("{}/", section.path)))
    })
}

/// What stands in the top bar as the heading of a page.
fn heading(path: &str) -> String {
    if path == "/bids/new" {
        return "New bid".to_owned();
    }
    match section_of(path) {
        Some(section) if section.path == "/bids" && path != section.path => "Bid".to_owned(),
        Some(section) => match path.strip_prefix("/cycles/").and_then(|number| number.parse().ok()) {
            Some(cycle) => format!("Cycle {}", format::thousands(cycle)),
            None => section.name.to_owned(),
        },
        None => "Not found".to_owned(),
    }
}

/// The frame around a page.
#[component]
pub fn Shell(children: Children) -> impl IntoView {
    let shell = shell();
    let path = use_location().pathname;
    let viewer = shell.as_ref().ok().and_then(|shell| shell.viewer.clone());
    view! {
        <a class="skip" href="#main" rel="external">
            "Skip to content"
        </a>
        <div class="shell">
            {rail(path.into(), viewer.as_ref(), Kind::Live).into_any()}
            <div class="page">
                <header class="top">
                    <h1>{move || heading(&path.get())}</h1>
                    {top(&shell, path).into_any()}
                </header>
                {stale_notice()}
                <main id="main" tabindex="-1">
                    {children()}
                </main>
                <footer class="foot">
                    <p>"Times in "<span data-zone>"UTC"</span>"; exports in UTC."</p>
                    {data_note(shell).into_any()}
                </footer>
            </div>
        </div>
        {keys().into_any()}
    }
}

/// The frame around a page that is rendered on the server only. `title` is its heading, `path` its address.
#[cfg(feature = "ssr")]
pub(crate) fn plain_shell(
    shell: Option<&ShellView>,
    path: &str,
    title: String,
    notice: Option<String>,
    main: AnyView,
) -> AnyView {
    let viewer = shell.and_then(|shell| shell.viewer.as_ref());
    let note = |shell: &ShellView| {
        let data_note = shell.data_note.as_ref().map(|note| format!(" · {note}"));
        view! { <p>{shell.organisation.clone()}{data_note}</p> }
    };
    view! {
        <a class="skip" href="#main">
            "Skip to content"
        </a>
        <div class="shell">
            {rail(Signal::stored(path.to_owned()), viewer, Kind::Plain).into_any()}
            <div class="page">
                <header class="top">
                    <h1>{title}</h1>
                </header>
                {notice
                    .map(|notice| {
                        view! {
                            <p class="banner done" role="status">
                                {notice}
                            </p>
                        }
                    })}
                <main id="main" tabindex="-1">
                    {main}
                </main>
                <footer class="foot">
                    <p>"Times in "<span data-zone>"UTC"</span>"; exports in UTC."</p>
                    {shell.map(note)}
                </footer>
            </div>
        </div>
        {keys().into_any()}
    }
    .into_any()
}

/// Navigation and what belongs to the viewer, on a page of a kind.
fn rail(path: Signal<String>, viewer: Option<&ViewerView>, on: Kind) -> impl IntoView {
    let shown = SECTIONS.iter().filter(|section| viewer.map_or(on == Kind::Live, section.shown_to));
    let links = shown
        .map(|section| {
            let current = move || {
                let path = path.get();
                let here = section_of(&path).is_some_and(|found| found.path == section.path);
                here.then_some(if path == section.path { "page" } else { "true" })
            };
            let full_load = (on == Kind::Live && section.kind == Kind::Plain).then_some("external");
            view! {
                <a href=section.path rel=full_load aria-current=current>
                    {icon(section.icon)}
                    <span>{section.name}</span>
                </a>
            }
        })
        .collect_view();
    view! {
        <nav class="rail" aria-label="Main">
            <p class="brand">
                <svg class="mark" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
                    <path class="mark-a" d="M3 0h13L0 16V3a3 3 0 0 1 3-3z" />
                    <path class="mark-b" d="M16 0v13a3 3 0 0 1-3 3H0z" />
                </svg>
                <span>"Quota Marketplace"</span>
            </p>
            {links}
            <div class="rail-end">
                {viewer.map(|viewer| signed_in(path, viewer).into_any())}
                <div class="themes" role="group" aria-label="Theme">
                    {theme_button("auto", "As the system", Icon::Auto)}
                    {theme_button("light", "Light", Icon::Light)}
                    {theme_button("dark", "Dark", Icon::Dark)}
                </div>
                <button class="quiet-button" type="button" data-opens="keys">
                    {icon(Icon::Keyboard)}
                    <span>"Keys"</span>
                    <kbd>"?"</kbd>
                </button>
            </div>
        </nav>
    }
}

/// Who is signed in, with the ways to the account and out. Both work without scripts.
fn signed_in(path: Signal<String>, viewer: &ViewerView) -> impl IntoView + use<> {
    let current = move || (path.get() == "/account").then_some("page");
    view! {
        <div class="viewer">
            <a href="/account" rel="external" aria-current=current title="Account">
                {icon(Icon::Person)}
                <span>{viewer.name.clone()}</span>
            </a>
            <form method="post" action="/sign-out">
                <button type="submit" title="Sign out">
                    {icon(Icon::Leave)}
                    <span class="hidden">"Sign out"</span>
                </button>
            </form>
        </div>
    }
}

/// A choice of theme; the script of the page sets and keeps it.
fn theme_button(theme: &'static str, name: &'static str, picture: Icon) -> impl IntoView {
    view! {
        <button type="button" data-theme-choice=theme aria-pressed=(theme == "auto").to_string() title=name>
            {icon(picture)}
            <span class="hidden">{name}</span>
        </button>
    }
}

/// The live part of the top bar.
fn top(shell: &Result<ShellView, PageError>, path: Memo<String>) -> impl IntoView + use<> {
    let live = Live::from_context();
    let pools = shell.as_ref().map(|shell| shell.pools.clone()).unwrap_or_default();
    if let Ok(shell) = shell {
        live.start_from(&shell.clock);
    }
    let viewer = shell.as_ref().ok().and_then(|shell| shell.viewer.as_ref());
    let in_a_team = viewer.is_some_and(|viewer| !viewer.teams.is_empty());
    let query = use_query_map();
    let pool_choice = move || {
        let path = path.get();
        let shown = section_of(&path).is_some_and(|section| section.has_pool_choice) && !pools.is_empty();
        shown.then(|| {
            let query = query.get();
            let kept = ["chip", "span", "change"];
            chooser(Chooser {
                label: "Your pool",
                name: "pool",
                none: if in_a_team { "My team's" } else { "None: market prices" },
                values: pools
                    .iter()
                    .map(|pool| Choosable { value: pool.id.to_string(), text: pool.name.clone() })
                    .chain(in_a_team.then(|| Choosable {
                        value: "none".to_owned(),
                        text: "None: market prices".to_owned(),
                    }))
                    .collect(),
                chosen: query.get("pool"),
                path,
                keep: kept
                    .into_iter()
                    .filter_map(|name| query.get(name).map(|value| (name, value)))
                    .collect(),
            })
        })
    };
    view! {
        {pool_choice}
        <div class="clock">
            {move || live_state(live)}
            {move || live.clock().map(|clock| cycle_of(&clock))}
            {move || live.clock().map(|clock| next(&clock, live.now_seconds()))}
        </div>
    }
}

/// Whether the page is live, in a word.
fn live_state(live: Live) -> impl IntoView {
    let stale = live.clock().and_then(|clock| clock.stale);
    let (state, text) = match (live.connection(), stale) {
        (Connection::Connecting, _) => ("connecting", "Connecting…".to_owned()),
        (Connection::Reconnecting, _) => ("reconnecting", "Reconnecting…".to_owned()),
        (Connection::Live, None) => ("live", "Live".to_owned()),
        (Connection::Live, Some(stale)) => ("stale", {
            let since = common::instant::MICROS_PER_SECOND;
            let age = live.now_seconds().map(|now| format::duration(now - stale.since.0.div_euclid(since)));
            age.map_or_else(|| "Stale".to_owned(), |age| format!("Stale for {age}"))
        }),
    };
    view! {
        <span class="live" data-state=state>
            {text}
        </span>
    }
}

fn cycle_of(clock: &MarketClock) -> impl IntoView + use<> {
    if clock.cycle == 0 {
        return view! { <span class="quiet">"No cycle yet"</span> }.into_any();
    }
    view! {
        <a class="cycle" href=address(&format!("/cycles/{}", clock.cycle), &[])>
            "Cycle "
            {format::thousands(clock.cycle)}
            <span class="quiet optional">" cleared " {time_of_day(clock.cleared_at)}</span>
        </a>
    }
    .into_any()
}

/// When the next cycle comes: a countdown in the browser, the time itself before that.
fn next(clock: &MarketClock, now_seconds: Option<i64>) -> impl IntoView + use<> {
    let text = match now_seconds.map(|now| format::seconds_between(now, clock.next_at)) {
        None => view! { "next at " {time_of_day(clock.next_at)} }.into_any(),
        Some(0) => "next is due".into_any(),
        Some(left) => {
            // A browser whose clock is wrong must not promise more than one cycle.
            let left = left.min(i64::from(clock.cycle_seconds));
            view! { "next in " <b>{format::countdown(left)}</b> }.into_any()
        }
    };
    view! { <span class="next optional">{text}</span> }
}

/// Says in full what the word "Stale" in the top bar means.
fn stale_notice() -> impl IntoView {
    let live = Live::from_context();
    move || {
        live.clock().and_then(|clock| clock.stale).map(|stale| {
            view! {
                <p class="banner" role="status">
                    "No new cycle since "
                    {date_time(stale.since)}
                    ": "
                    {stale.reason}
                    " The last quotas and prices stay in force until the next cycle clears."
                </p>
            }
        })
    }
}

fn data_note(shell: Result<ShellView, PageError>) -> impl IntoView {
    shell.ok().map(|shell| {
        view! {
            <p>{shell.organisation}{shell.data_note.map(|note| format!(" · {note}"))}</p>
        }
    })
}

/// The list of keys; the script of the page opens it.
fn keys() -> impl IntoView {
    let rows = [
        ("?", "this list"),
        ("g m · g q · g b · g a · g c", "go to Market, Bids (queue), Bid book, Allocations, Cycles"),
        ("g p · g u · g f", "go to Planner, Budget, Finance"),
        ("g s · g l · g o", "go to Supply, Lab, Organisation"),
        ("↑ ↓", "previous, next row of a table"),
        ("Home End", "first, last row"),
        ("Enter", "open the row"),
        ("n", "on the Bids page: new bid"),
        ("↑ ↓ Home End", "on a handle: move the bid in its queue"),
        ("← →", "in a chart: previous, next point"),
        ("+ − 0", "in a chart: zoom in, out, all"),
        ("Esc", "close this list"),
    ]
    .map(|(keys, meaning)| view! { <dt><kbd>{keys}</kbd></dt> <dd>{meaning}</dd> })
    .collect_view();
    view! {
        <dialog id="keys" aria-labelledby="keys-title">
            <h2 id="keys-title">"Keys"</h2>
            <dl>{rows}</dl>
            <form method="dialog">
                <button class="button" type="submit">"Close"</button>
            </form>
        </dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_its_section() {
        assert_eq!(section_of("/").map(|section| section.name), Some("Market"));
        assert_eq!(section_of("/cycles/12").map(|section| section.name), Some("Cycles"));
        assert!(section_of("/cyclesx").is_none());
        assert_eq!(heading("/cycles/48211"), "Cycle 48,211");
        assert_eq!(heading("/cycles"), "Cycles");
        assert_eq!(
            [heading("/bids"), heading("/bids/new"), heading("/bids/0193-1")],
            ["Bids", "New bid", "Bid"]
        );
        assert_eq!(heading("/nowhere"), "Not found");
    }
}
