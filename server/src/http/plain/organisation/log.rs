//! The audit log, and the list of teams to look after.

use app::format::{amount, thousands};
use app::plain::audit::{AuditPage, audit as audit_view};
use app::plain::organisation::{Cell, Listing, OverviewPage, overview};
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::api::{WatchListView, WatchedTeam};

use super::super::fields::{Fields, filters_of};
use super::super::{AppState, Plain};
use super::{link, shows};
use crate::error::{AppError, ErrorKind};
use crate::policy::Viewer;
use crate::store::audit::AuditFilter;

/// Entries in one page.
const ENTRIES: u32 = 100;

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/organisation/audit", get(audit)).route("/organisation/watch", get(watch))
}

async fn audit(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let fields: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    match read_audit(plain.state(), &viewer, fields).await {
        Ok((page, None)) => plain.ok("Audit log", || audit_view(page)),
        Ok((page, Some(error))) => plain.refused(&error, "Audit log", || audit_view(page)),
        Err(error) => plain.problem(&error),
    }
}

/// The page, and why a filter of it is refused.
async fn read_audit(
    state: &AppState,
    viewer: &Viewer,
    fields: Vec<(String, String)>,
) -> Result<(AuditPage, Option<AppError>), AppError> {
    let services = state.services();
    let actions = services.audited_actions(viewer).await?;
    let cursor = fields.iter().find(|(name, _)| name == "cursor").map(|(_, value)| value.as_str());
    let filter = read_filter(&fields);
    let stretch = filter.as_ref().map(|filter| (filter.from, filter.to)).unwrap_or_default();
    let read = async { services.audit_log(viewer, &filter?, cursor, ENTRIES).await };
    let (entries, refused) = match read.await {
        Ok(entries) => (Some(entries), None),
        Err(error) if error.kind() == ErrorKind::Invalid => (None, Some(error)),
        Err(error) => return Err(error),
    };
    let filters = filters_of(fields, stretch, refused.as_ref());
    Ok((AuditPage { shows: shows(viewer), actions, filters, entries }, refused))
}

fn read_filter(fields: &[(String, String)]) -> Result<AuditFilter, AppError> {
    let mut fields = Fields::new(fields);
    let text = |fields: &Fields<'_>, name| Some(fields.text(name).to_owned()).filter(|text| !text.is_empty());
    let (user, action, object) = (text(&fields, "user"), text(&fields, "action"), text(&fields, "object"));
    let (from, to) = (fields.optional_instant("from"), fields.optional_end("to"));
    fields.finish()?;
    Ok(AuditFilter { user, action, object, from, to, object_kind: None })
}

async fn watch(plain: Plain, viewer: Viewer) -> Response {
    match plain.state().services().watch_list(&viewer).await {
        Ok(list) => {
            let page = watch_page(&viewer, &list);
            plain.ok("Watch list", || overview(page))
        }
        Err(error) => plain.problem(&error),
    }
}

fn watch_page(viewer: &Viewer, list: &WatchListView) -> OverviewPage {
    let team = |watched: &WatchedTeam| {
        Cell::Links(vec![link(format!("/organisation/teams/{}", watched.team), watched.name.clone())])
    };
    let over = list.over_grant.iter().map(|watched| {
        vec![team(watched), Cell::Number(thousands(watched.granted)), Cell::Number(thousands(watched.in_use))]
    });
    let starved = list.starved.iter().map(|watched| {
        let cycles = watched.starved_cycles.unwrap_or_default();
        vec![team(watched), Cell::Number(thousands(watched.asked)), Cell::Number(thousands(cycles))]
    });
    let idle = list.idle.iter().map(|watched| vec![team(watched), Cell::Number(amount(watched.income))]);
    OverviewPage {
        path: "/organisation/watch".to_owned(),
        shows: shows(viewer),
        listings: vec![
            Listing {
                caption: "Over grant: use more chips than they are granted".to_owned(),
                columns: vec![("Team", "", false), ("Granted", "chips", true), ("In use", "chips", true)],
                rows: over.collect(),
                empty: "No team uses more than it is granted.",
            },
            Listing {
                caption: "Starved: bid and are granted nothing".to_owned(),
                columns: vec![("Team", "", false), ("Asked for", "chips", true), ("For", "cycles", true)],
                rows: starved.collect(),
                empty: "No team that bids goes without chips.",
            },
            Listing {
                caption: "Idle: have an income and bid for nothing".to_owned(),
                columns: vec![("Team", "", false), ("Income", "local credits per hour", true)],
                rows: idle.collect(),
                empty: "Every team with an income bids.",
            },
        ],
        actions: vec![link("/api/v1/organisation/watch-list?format=csv", "CSV")],
        notes: vec![format!(
            "As of cycle {}. What is used beyond a grant is used for free, as long as nobody bids for it.",
            thousands(list.cycle)
        )],
        ..OverviewPage::default()
    }
}
