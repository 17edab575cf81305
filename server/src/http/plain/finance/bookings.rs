//! The pages of bookings: the list, one booking with its decision, the forms.

use app::plain::finance::bookings::{
    BookingPage, BookingsPage, NewBookingPage, booking as booking_view, bookings as bookings_view,
    limit as limit_view, new_booking as new_view,
};
use app::plain::form::FormState;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use common::api::{BookingKind, BookingState};
use common::ids::TeamId;
use serde::Deserialize;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::http::extract::{Query, Segment};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::services::finance::NewBooking;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/finance/bookings", get(bookings).post(book))
        .route("/finance/bookings/new", get(new))
        .route("/finance/bookings/limit", get(limit).post(set_limit))
        .route("/finance/bookings/{number}", get(booking))
        .route("/finance/bookings/{number}/decide", post(decide))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BookingsQuery {
    #[serde(default)]
    pending: bool,
}

async fn bookings(plain: Plain, viewer: Viewer, query: Result<Query<BookingsQuery>, AppError>) -> Response {
    let read = async {
        let Query(BookingsQuery { pending }) = query?;
        let bookings = plain.state().services().bookings(&viewer, pending).await?;
        let can = |action| viewer.can(action, Object::Organisation);
        let (may_book, may_set_limit) = (can(Action::BookMoney), can(Action::SetOrganisation));
        Ok(BookingsPage { bookings, pending, may_book, may_set_limit })
    };
    match read.await {
        Ok(page) => plain.ok("Bookings", || bookings_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read(
    plain: &Plain,
    viewer: &Viewer,
    number: u64,
    state: FormState,
) -> Result<BookingPage, AppError> {
    let booking = plain.state().services().booking(viewer, number).await?;
    Ok(BookingPage {
        may_decide: viewer.can(Action::ApproveMoney, Object::Organisation),
        is_maker: booking.maker_id == viewer.user,
        booking,
        state,
    })
}

fn title(number: u64) -> String {
    format!("Booking {number}")
}

async fn booking(plain: Plain, viewer: Viewer, Segment(number): Segment<u64>) -> Response {
    match read(&plain, &viewer, number, FormState::default()).await {
        Ok(page) => plain.ok(&title(number), || booking_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn decide(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(number): Segment<u64>,
    posted: Posted,
) -> Response {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: posted.get("reason") };
    let services = plain.state().services();
    let decided = match posted.get("verdict") {
        "approve" => services.approve_booking(doer, number).await,
        "refuse" => services.refuse_booking(doer, number).await,
        _ => Err(AppError::invalid("verdict", "is empty; choose to approve or to refuse")),
    };
    match decided {
        Ok(booking) => {
            let notice = match booking.state {
                BookingState::Booked => "It is booked and counts from the next cycle on.",
                _ => "It is refused; nothing was booked.",
            };
            plain.done(&format!("/finance/bookings/{number}"), notice)
        }
        Err(error) if error.kind() == ErrorKind::Invalid => {
            match read(&plain, &viewer, number, posted.refused(&error)).await {
                Ok(page) => plain.refused(&error, &title(number), || booking_view(&page)),
                Err(_) => plain.problem(&error),
            }
        }
        Err(error) => plain.problem(&error),
    }
}

/// What the form may be filled with beforehand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewQuery {
    team: Option<TeamId>,
    corrects: Option<u64>,
}

async fn new(plain: Plain, viewer: Viewer, query: Result<Query<NewQuery>, AppError>) -> Response {
    let read = async {
        let Query(NewQuery { team, corrects }) = query?;
        // The form's id: sent twice it books once.
        let services = plain.state().services();
        let id = services.ids.new_id(services.now());
        let team = team.map(|team| team.to_string()).unwrap_or_default();
        let corrects = corrects.map(|number| number.to_string()).unwrap_or_default();
        let state = FormState::filled(&[("id", &id), ("team", &team), ("corrects", &corrects)]);
        form(&plain, &viewer, state).await
    };
    match read.await {
        Ok(page) => plain.ok("New booking", || new_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn form(plain: &Plain, viewer: &Viewer, state: FormState) -> Result<NewBookingPage, AppError> {
    viewer.may(Action::BookMoney, Object::Organisation)?;
    let services = plain.state().services();
    let teams = services.budget_teams(viewer).await?;
    let teams = teams.into_iter().map(|(id, name)| (id.to_string(), name)).collect();
    Ok(NewBookingPage { teams, bookings: services.bookings(viewer, true).await?, state })
}

fn read_booking(posted: &Posted) -> Result<NewBooking, AppError> {
    let mut fields = Fields::new(posted.fields());
    let kind = BookingKind::ALL.into_iter().find(|kind| kind.as_str() == fields.text("kind"));
    if kind.is_none() {
        fields.refuse("kind", "is none of correction, grant and transfer");
    }
    let team = match fields.text("team") {
        "" => {
            fields.refuse("team", "is empty; choose a team");
            None
        }
        _ => fields.value::<TeamId>("team"),
    };
    let (to_team, amount) = (fields.optional::<TeamId>("to_team"), fields.value("amount"));
    let corrects = match fields.text("corrects") {
        "" => None,
        text => {
            let number = text.parse::<u64>().ok();
            if number.is_none() {
                fields.refuse("corrects", format!("is {text:?}; it must be the number of a transfer"));
            }
            number
        }
    };
    fields.finish()?;
    match (kind, team, amount) {
        (Some(kind), Some(team), Some(amount)) => {
            Ok(NewBooking { id: posted.get("id").to_owned(), kind, team, to_team, amount, corrects })
        }
        _ => Err(AppError::internal("a field without a value was not refused")),
    }
}

async fn book(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let booked = async {
        let new = read_booking(&posted)?;
        let doer = Doer { viewer: &viewer, origin: &origin, reason: posted.get("reason") };
        plain.state().services().book(doer, &new).await
    };
    match booked.await {
        Ok(booking) => {
            let notice = match booking.state {
                BookingState::Pending => "It waits for a second person, who has seven days to decide.",
                _ => "It is booked and counts from the next cycle on.",
            };
            plain.done(&format!("/finance/bookings/{}", booking.number), notice)
        }
        Err(error) if error.kind() == ErrorKind::Invalid => {
            match form(&plain, &viewer, posted.refused(&error)).await {
                Ok(page) => plain.refused(&error, "New booking", || new_view(&page)),
                Err(_) => plain.problem(&error),
            }
        }
        Err(error) => plain.problem(&error),
    }
}

async fn limit(plain: Plain, viewer: Viewer) -> Response {
    let read = async {
        viewer.may(Action::SetOrganisation, Object::Organisation)?;
        plain.state().services().bookings(&viewer, true).await
    };
    match read.await {
        Ok(bookings) => {
            let above = bookings.approval_above.map(|amount| amount.to_string()).unwrap_or_default();
            let state = FormState::filled(&[("approval_above", &above)]);
            plain.ok("Limit of bookings", || limit_view(&bookings, &state))
        }
        Err(error) => plain.problem(&error),
    }
}

async fn set_limit(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    let services = plain.state().services();
    let set = async {
        let mut fields = Fields::new(posted.fields());
        let amount = fields.optional("approval_above");
        fields.finish()?;
        let doer = Doer { viewer: &viewer, origin: &origin, reason: posted.get("reason") };
        services.set_approval_above(doer, amount).await
    };
    match set.await {
        Ok(()) => plain.done("/finance/bookings", "The limit is set."),
        Err(error) if error.kind() == ErrorKind::Invalid => match services.bookings(&viewer, true).await {
            Ok(bookings) => {
                let state = posted.refused(&error);
                plain.refused(&error, "Limit of bookings", || limit_view(&bookings, &state))
            }
            Err(_) => plain.problem(&error),
        },
        Err(error) => plain.problem(&error),
    }
}
