//! Corrections, grants and transfers: the list, what waits for a second person, and the forms.

use common::api::{BookingKind, BookingState, BookingView, BookingsView};
use leptos::prelude::*;

use super::super::table::Table;
use super::{linked, panel_with_csv, subnav};
use crate::components::time::date_time;
use crate::format;
use crate::plain::form::{Field, FormState, field, form, hidden, panel, select, text_area};
use crate::plain::names;
use crate::words::address;

/// What the list shows.
#[derive(Clone, Debug)]
pub struct BookingsPage {
    /// The bookings.
    pub bookings: BookingsView,
    /// Only those that wait are listed.
    pub pending: bool,
    /// The viewer may book.
    pub may_book: bool,
    /// The viewer may set above what amount a second person decides.
    pub may_set_limit: bool,
}

/// Above what amount a second person decides, in words.
fn limit_words(bookings: &BookingsView) -> String {
    match bookings.approval_above {
        None => "Each booking needs a second person.".to_owned(),
        Some(limit) => format!(
            "A booking worth more than {} global credits needs a second person; others are booked at once.",
            format::amount(limit)
        ),
    }
}

/// The main part of the list.
pub fn bookings(page: &BookingsPage) -> AnyView {
    let BookingsPage { bookings, pending, may_book, may_set_limit } = page;
    let shows =
        [("/finance/bookings", "All", !pending), ("/finance/bookings?pending=true", "Waiting", *pending)]
            .map(|(href, text, current)| {
                let current = current.then_some("true");
                view! {
                    <a href=href aria-current=current>
                        {text}
                    </a>
                }
            })
            .collect_view();
    let book = may_book.then(|| {
        view! {
            <a class="button primary" href="/finance/bookings/new">
                "New booking"
            </a>
        }
    });
    let set = may_set_limit.then(|| {
        view! {
            <a class="button" href="/finance/bookings/limit">
                "Set the limit"
            </a>
        }
    });
    let only = pending.then_some("true");
    let csv = address("/api/v1/finance/bookings", &[("pending", only), ("format", Some("csv"))]);
    let columns = [
        ("Booking", "", false),
        ("Kind", "", false),
        ("Team", "", false),
        ("Amount", "local credits", true),
        ("State", "", false),
        ("Asked for by", "", false),
        ("At", "", false),
        ("Reason", "", false),
    ];
    let rows = bookings.bookings.iter().map(row).collect();
    let empty =
        if *pending { "Nothing waits for a second person." } else { "Nothing was booked by people yet." };
    let body = view! {
        <div class="filters">
            <nav class="switch" aria-label="Which bookings">
                {shows}
            </nav>
            {book}
            {set}
        </div>
        {Table::new("Corrections, grants and transfers, newest first", &columns, rows).captioned().view_or(empty)}
        <p class="quiet">{limit_words(bookings)} " Whoever asked does not approve. What nobody decided in seven days expires."</p>
    };
    view! {
        {subnav("/finance/bookings")}
        {panel_with_csv("bookings", "Bookings".to_owned(), csv, body.into_any())}
    }
    .into_any()
}

const fn kind_words(kind: BookingKind) -> &'static str {
    match kind {
        BookingKind::Correction => "Correction",
        BookingKind::Grant => "Grant",
        BookingKind::Transfer => "Transfer",
    }
}

const fn state_words(state: BookingState) -> &'static str {
    match state {
        BookingState::Pending => "waits for a second person",
        BookingState::Booked => "booked",
        BookingState::Refused => "refused",
        BookingState::Expired => "expired",
    }
}

fn row(booking: &BookingView) -> Vec<AnyView> {
    let teams = match &booking.to_team {
        Some(to) => format!("{} to {}", names::team(&booking.team), names::team(to)),
        None => names::team(&booking.team),
    };
    vec![
        linked(format!("/finance/bookings/{}", booking.number), format::thousands(booking.number)),
        kind_words(booking.kind).into_any(),
        teams.into_any(),
        format::amount(booking.amount).into_any(),
        state_words(booking.state).into_any(),
        booking.maker.clone().into_any(),
        date_time(booking.made_at).into_any(),
        booking.reason.clone().into_any(),
    ]
}

/// The page of one booking.
#[derive(Clone, Debug)]
pub struct BookingPage {
    /// The booking.
    pub booking: BookingView,
    /// The viewer may approve or refuse it.
    pub may_decide: bool,
    /// The viewer asked for it: another person has to approve.
    pub is_maker: bool,
    /// The form that decides.
    pub state: FormState,
}

/// The main part of the page of one booking.
pub fn booking(page: &BookingPage) -> AnyView {
    let booking = &page.booking;
    let transfer = |team: &str, number: u64| {
        let href = format!("/budget/ledger/{number}?team={team}");
        view! { <a href=href>{format!("transfer {}", format::thousands(number))}</a> }
    };
    let last = booking.to_team.as_ref().unwrap_or(&booking.team);
    let transfers = booking
        .transfers
        .iter()
        .enumerate()
        .map(|(place, number)| {
            let team = if place == 0 { &booking.team } else { last };
            view! { <li>{transfer(team.as_str(), *number)}</li> }
        })
        .collect_view();
    let corrects = booking.corrects.map(|number| {
        view! { <p>"It corrects " {transfer(booking.team.as_str(), number)} "."</p> }
    });
    let decision = booking.decision.as_ref().map(|decision| {
        view! {
            <p>
                {state_words(booking.state)} " by " {decision.by.clone()} " at " {date_time(decision.at)} ": "
                {decision.reason.clone()}
            </p>
        }
    });
    let to = booking.to_team.as_ref().map(|to| format!(" to {}", names::team(to)));
    let facts = view! {
        <p>
            {format!("{} of {} local credits: {}", kind_words(booking.kind), format::amount(booking.amount), names::team(&booking.team))}
            {to}
            "."
        </p>
        <p>{booking.reason.clone()}</p>
        <p class="quiet">
            "Asked for by " {booking.maker.clone()} " at " {date_time(booking.made_at)} "; state: " {state_words(booking.state)} "."
        </p>
        {corrects}
        {decision}
        <ul class="plain">{transfers}</ul>
    };
    let decide = (booking.state == BookingState::Pending).then(|| panel("decide", "Decide", decide(page)));
    view! {
        {subnav("/finance/bookings")}
        <p>
            <a href="/finance/bookings">"All bookings"</a>
        </p>
        <div class="sections">
            <section class="panel" aria-labelledby="booking">
                <header>
                    <h2 id="booking">{format!("Booking {}", booking.number)}</h2>
                </header>
                <div class="body">{facts}</div>
            </section>
            {decide}
        </div>
    }
    .into_any()
}

fn decide(page: &BookingPage) -> AnyView {
    let booking = &page.booking;
    let until = view! {
        <p class="quiet">"It can be decided until " {date_time(booking.expires_at)} "; then it expires."</p>
    };
    if !page.may_decide {
        return view! { <p>"It waits for somebody of finance or an admin."</p> {until} }.into_any();
    }
    let verdicts = [("approve", "Approve: book it"), ("refuse", "Refuse: book nothing")];
    let verdicts = verdicts.into_iter().filter(|(verdict, _)| !(page.is_maker && *verdict == "approve"));
    let verdicts = verdicts.map(|(value, text)| (value.to_owned(), text.to_owned())).collect();
    let fields = vec![
        select(&page.state, "verdict", "Decision", "", verdicts),
        text_area(
            &page.state,
            "reason",
            "Reason",
            "Why, in a few words: at most 500 characters. The audit log keeps it.",
        ),
    ];
    let own = page
        .is_maker
        .then(|| view! { <p>"You asked for it: another person has to approve. You can take it back by refusing it."</p> });
    let action = format!("/finance/bookings/{}/decide", booking.number);
    view! { {own} {form(&page.state, &action, fields, "Decide")} {until} }.into_any()
}

/// The page with the form for a new booking.
#[derive(Clone, Debug)]
pub struct NewBookingPage {
    /// Teams to choose from: id and name.
    pub teams: Vec<(String, String)>,
    /// Above what amount a second person decides.
    pub bookings: BookingsView,
    /// What was typed: `id`, `kind`, `team`, `to_team`, `amount`, `corrects`, `reason`.
    pub state: FormState,
}

/// The main part of that page.
pub fn new_booking(page: &NewBookingPage) -> AnyView {
    let NewBookingPage { teams, bookings, state } = page;
    let kinds = [
        (BookingKind::Correction, "Correction: puts a balance right, up or down"),
        (BookingKind::Grant, "Grant: new credits"),
        (BookingKind::Transfer, "Transfer: from one team to another"),
    ];
    let kinds = kinds.map(|(kind, text)| (kind.as_str().to_owned(), text.to_owned())).into();
    let of_teams = |first: &str| {
        let mut options = vec![(String::new(), first.to_owned())];
        options.extend(teams.iter().map(|(id, name)| (id.clone(), format!("{name} ({id})"))));
        options
    };
    let optional = |name, label| Field { required: false, ..Field::text(name, label) };
    let fields = vec![
        select(state, "kind", "Kind", "", kinds),
        select(state, "team", "Team", "Of a transfer, the one that gives", of_teams("Choose a team")),
        select(state, "to_team", "To team", "Only for a transfer", of_teams("None")),
        field(
            state,
            &Field::text("amount", "Amount")
                .with_hint("Local credits of the team's pool, like 12.50; a correction takes them with a minus, like -12.50"),
        ),
        field(
            state,
            &optional("corrects", "Corrects transfer")
                .with_hint("The number of the transfer in the ledger that a correction puts right; empty without one"),
        ),
        text_area(state, "reason", "Reason", "Why, in a few words: at most 500 characters. The ledger shows it."),
        hidden("id", state.value("id")),
    ];
    view! {
        {subnav("/finance/bookings")}
        <p>
            <a href="/finance/bookings">"All bookings"</a>
        </p>
        <section class="panel" aria-labelledby="new">
            <header>
                <h2 id="new">"New booking"</h2>
            </header>
            <div class="body two">
                <div>{form(state, "/finance/bookings", fields, "Book")}</div>
                <div>
                    <h3>"What a booking does"</h3>
                    <ul class="plain">
                        <li>{limit_words(bookings)}</li>
                        <li>"It counts from the next cycle on, in the open month, whatever month it corrects."</li>
                        <li>"It stands in the ledger for good; another booking can put it right."</li>
                        <li>
                            "A transfer takes no more than the balance less what is held for chips in use. Nothing is taken beyond a \
                             hard allowance."
                        </li>
                        <li>
                            "Between pools the credits go out of one currency and come into the other at their worth in global \
                             credits, to the nearest micro-credit."
                        </li>
                    </ul>
                </div>
            </div>
        </section>
    }
    .into_any()
}

/// The page that sets above what amount a second person decides.
pub fn limit(bookings: &BookingsView, state: &FormState) -> AnyView {
    let fields = vec![
        field(
            state,
            &Field { required: false, ..Field::text("approval_above", "Above") }
                .with_hint("Global credits; empty: each booking needs a second person"),
        ),
        text_area(
            state,
            "reason",
            "Reason",
            "Why, in a few words: at most 500 characters. The audit log keeps it.",
        ),
    ];
    let body = view! {
        <div class="two">
            <div>{form(state, "/finance/bookings/limit", fields, "Set the limit")}</div>
            <div>
                <p>{limit_words(bookings)}</p>
                <p class="quiet">"It takes effect at once, for bookings that are asked for from now on."</p>
            </div>
        </div>
    };
    view! {
        {subnav("/finance/bookings")}
        <p>
            <a href="/finance/bookings">"All bookings"</a>
        </p>
        {panel("limit", "Above what amount a second person decides", body.into_any())}
    }
    .into_any()
}
