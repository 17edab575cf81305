//! The page of exports.

use app::plain::exports::{
    ChosenExport, ExportsPage, ShownValue, credit_value as value_view, exports as exports_view,
};
use app::plain::form::FormState;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::{get, post};
use common::api::CreditValueView;

use super::fields::{Fields, filters_of};
use super::{AppState, Plain, Posted};
use crate::error::{AppError, ErrorKind};
use crate::http::extract::Segment;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Doer, Origin};
use crate::services::exports::{ExportName, ExportRequest, FileFormat};
use crate::services::periods::{Calendar, PeriodKind};
use crate::store::audit::AuditFilter;

const PAGE: &str = "/finance/exports";

const VALUE_TITLE: &str = "Value of a credit";

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/finance/exports", get(page).post(begin))
        .route("/finance/exports/jobs/{job}/cancel", post(cancel))
        .route("/finance/exports/credit-value", get(value_page).post(set_value))
}

async fn page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let fields: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    answer(plain, &viewer, fields, None).await
}

/// The page with the form as it was sent, and why it was refused.
async fn answer(
    plain: Plain,
    viewer: &Viewer,
    fields: Vec<(String, String)>,
    refused: Option<AppError>,
) -> Response {
    match read_page(plain.state(), viewer, fields, refused).await {
        Ok((page, None)) => plain.ok("Exports", || exports_view(page)),
        Ok((page, Some(error))) => plain.refused(&error, "Exports", || exports_view(page)),
        Err(error) => plain.problem(&error),
    }
}

async fn read_page(
    state: &AppState,
    viewer: &Viewer,
    mut fields: Vec<(String, String)>,
    refused: Option<AppError>,
) -> Result<(ExportsPage, Option<AppError>), AppError> {
    let services = state.services();
    let exports = services.exports(viewer);
    let time_zone = services.setup(viewer).await?.0.organisation.time_zone;
    // Opened without a word it is about the ledger of this month.
    if fields.is_empty() {
        let month = Calendar::new(&time_zone)?.period(PeriodKind::Month, services.now())?;
        fields.push(("name".to_owned(), ExportName::Ledger.as_str().to_owned()));
        fields.push(("period".to_owned(), month.first_day.strftime("%Y-%m").to_string()));
    }
    let request = read_request(&fields);
    let stretch = request.as_ref().map(|request| (request.from, request.to)).unwrap_or_default();
    let chosen = async {
        let request = request?;
        let export = services.export(viewer, &request).await?;
        let view = exports.iter().find(|view| view.name == request.name.as_str());
        Ok::<_, AppError>(view.cloned().map(|view| ChosenExport {
            view,
            file_name: export.file_name(),
            expected_rows: export.expected_rows(),
        }))
    };
    let (chosen, refused) = match (chosen.await, refused) {
        (_, Some(refused)) => (None, Some(refused)),
        (Ok(chosen), None) => (chosen, None),
        (Err(error), None) if error.kind() == ErrorKind::Invalid => (None, Some(error)),
        // The page says what is missing, and who may set it.
        (Err(error), None) if error.kind() == ErrorKind::Conflict => (None, None),
        (Err(error), None) => return Err(error),
    };
    let form = filters_of(fields, stretch, refused.as_ref());
    let jobs = services.export_jobs(viewer).await?;
    let credit_value = if form.value("name") == ExportName::Focus.as_str() {
        let value = present_value(state, viewer).await?;
        Some(ShownValue { value, may_set: viewer.can(Action::BookMoney, Object::Organisation) })
    } else {
        None
    };
    let in_finance = viewer.can(Action::ReadMoney, Object::Organisation);
    Ok((ExportsPage { exports, form, chosen, jobs, time_zone, in_finance, credit_value }, refused))
}

/// What a form asks for.
fn read_request(fields: &[(String, String)]) -> Result<ExportRequest, AppError> {
    let columns =
        fields.iter().filter(|(name, _)| name == "columns").map(|(_, value)| value.clone()).collect();
    let mut fields = Fields::new(fields);
    let name = fields.text("name").parse::<ExportName>()?;
    let format = match fields.text("format") {
        "" => FileFormat::default(),
        text => FileFormat::ALL.into_iter().find(|format| format.as_str() == text).unwrap_or_else(|| {
            fields.refuse("format", format!("{text:?} is no kind of file; choose one of the list"));
            FileFormat::default()
        }),
    };
    let period = Some(fields.text("period").to_owned()).filter(|period| !period.is_empty());
    let (from, to) = (fields.optional_instant("from"), fields.optional_end("to"));
    fields.finish()?;
    Ok(ExportRequest { name, format, period, from, to, columns, filter: AuditFilter::default() })
}

async fn begin(plain: Plain, viewer: Viewer, posted: Result<Posted, AppError>) -> Response {
    let begun = async {
        let posted = posted?;
        let request = read_request(posted.fields());
        let begun = match request {
            Ok(request) => plain.state().services().begin_export_job(&viewer, &request).await,
            Err(error) => Err(error),
        };
        Ok::<_, AppError>((posted, begun))
    };
    match begun.await {
        Ok((_, Ok(job))) => plain.done(&format!("{PAGE}#jobs"), &format!("{} is being made.", job.title)),
        Ok((posted, Err(error))) if error.kind() == ErrorKind::Invalid => {
            answer(plain, &viewer, posted.into_fields(), Some(error)).await
        }
        Ok((_, Err(error))) | Err(error) => plain.problem(&error),
    }
}

async fn present_value(state: &AppState, viewer: &Viewer) -> Result<Option<CreditValueView>, AppError> {
    let value = state.services().credit_value(viewer).await?;
    Ok(value.map(|value| CreditValueView {
        currency: value.currency,
        value: value.value,
        holds_from: value.holds_from,
    }))
}

async fn value_page(plain: Plain, viewer: Viewer) -> Response {
    let read = async {
        viewer.may(Action::BookMoney, Object::Organisation)?;
        present_value(plain.state(), &viewer).await
    };
    match read.await {
        Ok(value) => {
            let (currency, amount) = value
                .as_ref()
                .map(|value| (value.currency.clone(), value.value.to_string()))
                .unwrap_or_default();
            let state = FormState::filled(&[("currency", &currency), ("value", &amount)]);
            plain.ok(VALUE_TITLE, || value_view(&state, value))
        }
        Err(error) => plain.problem(&error),
    }
}

async fn set_value(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    posted: Result<Posted, AppError>,
) -> Response {
    let set = async {
        let posted = posted?;
        viewer.may(Action::BookMoney, Object::Organisation)?;
        let present = present_value(plain.state(), &viewer).await?;
        let mut fields = Fields::new(posted.fields());
        let (currency, value) = (fields.text("currency").to_uppercase(), fields.value("value"));
        let set = match fields.finish() {
            Ok(()) => {
                let doer = Doer { viewer: &viewer, origin: &origin, reason: posted.get("reason") };
                plain.state().services().set_credit_value(doer, &currency, value.unwrap_or_default()).await
            }
            Err(error) => Err(error),
        };
        Ok::<_, AppError>((posted, present, set))
    };
    match set.await {
        Ok((_, _, Ok(value))) => {
            let notice = format!("A credit is worth {} {} from this month on.", value.value, value.currency);
            plain.done(&format!("{PAGE}?name=focus"), &notice)
        }
        Ok((posted, present, Err(error))) if error.kind() == ErrorKind::Invalid => {
            let state = posted.refused(&error);
            plain.refused(&error, VALUE_TITLE, || value_view(&state, present))
        }
        Ok((_, _, Err(error))) | Err(error) => plain.problem(&error),
    }
}

async fn cancel(plain: Plain, viewer: Viewer, Segment(job): Segment<String>) -> Response {
    match plain.state().services().cancel_job(&viewer, &job).await {
        Ok(job) => plain.done(&format!("{PAGE}#jobs"), &format!("{}: {}.", job.title, job.state.as_str())),
        Err(error) => plain.problem(&error),
    }
}
