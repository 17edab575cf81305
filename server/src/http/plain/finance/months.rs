//! The pages of months, and the form that closes one.

use app::plain::finance::months::{MonthPage, month as month_view, months as months_view};
use app::plain::form::FormState;
use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};

use super::super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/finance/months", get(months))
        .route("/finance/months/{period}", get(month))
        .route("/finance/months/{period}/close", post(close))
}

async fn months(plain: Plain, viewer: Viewer) -> Response {
    match plain.state().services().months(&viewer).await {
        Ok(view) => plain.ok("Months", || months_view(&view)),
        Err(error) => plain.problem(&error),
    }
}

async fn read(plain: &Plain, viewer: &Viewer, period: &str, state: FormState) -> Result<MonthPage, AppError> {
    let month = plain.state().services().month(viewer, period).await?;
    let may_close = viewer.can(Action::BookMoney, Object::Organisation);
    Ok(MonthPage { month, may_close, state })
}

async fn month(plain: Plain, viewer: Viewer, Segment(period): Segment<String>) -> Response {
    match read(&plain, &viewer, &period, FormState::default()).await {
        Ok(page) => plain.ok(&title(&page), || month_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

fn title(page: &MonthPage) -> String {
    format!("Month: {}", page.month.period.title)
}

async fn close(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(period): Segment<String>,
    posted: Posted,
) -> Response {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: posted.get("reason") };
    let closed = plain.state().services().close_month(doer, &period).await;
    match closed {
        Ok(()) => plain
            .done(&format!("/finance/months/{period}"), "The month is closed; its statements have numbers."),
        Err(error) if error.kind() == ErrorKind::Invalid => {
            match read(&plain, &viewer, &period, posted.refused(&error)).await {
                Ok(page) => plain.refused(&error, &title(&page), || month_view(&page)),
                Err(_) => plain.problem(&error),
            }
        }
        Err(error) => plain.problem(&error),
    }
}
