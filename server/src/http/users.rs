//! Accounts of the REST API: who there is, and what each may do. Links to a password and the end of sessions are for an
//! admin at a browser: a token that could make such links would be worth every account.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use common::api::{ChangeLock, ChangeRoles, NewPerson, Page, PersonView};
use common::ids::UserId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::AppState;
use super::answer::{Table, answer, cell};
use super::api::{ChangedSince, Problems};
use super::etag::{seen_version, with_version};
use super::extract::{Body, ListQuery, Query, Segment};
use crate::error::AppError;
use crate::policy::Viewer;
use crate::services::audit::{Doer, Origin};
use crate::services::directory::Opened;

/// The routes, under `/api/v1`.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(users, add_user))
        .routes(routes!(user))
        .routes(routes!(set_roles))
        .routes(routes!(set_lock))
}

/// The account as it is now, with its version.
async fn opened(state: &AppState, viewer: &Viewer, id: &UserId) -> Result<Response, AppError> {
    let Opened { view, version } = state.services().opened_person(viewer, id).await?;
    with_version(&version, &view)
}

/// The accounts, in order of their names: for admins.
#[utoipa::path(
    get, path = "/users", tag = "organisation", params(ListQuery),
    responses(
        (status = 200, description = "One page of accounts",
         content((Page<PersonView> = "application/json"), (String = "text/csv"))),
        Problems,
    )
)]
async fn users(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Response, AppError> {
    let page = state.services().person_list(&viewer, query.cursor.as_deref(), query.limit).await?;
    answer(&headers, query.format, &page)
}

/// Makes an account without a password: for admins. The link with which its owner chooses one is made at a browser.
#[utoipa::path(
    post, path = "/users", tag = "organisation", request_body = NewPerson,
    responses((status = 201, description = "The account; `ETag` is its version", body = PersonView), Problems)
)]
async fn add_user(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Body(new): Body<NewPerson>,
) -> Result<Response, AppError> {
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &new.reason };
    let roles = new.roles.iter().copied().collect();
    let id = state.services().add_person(doer, &new.login, &new.name, &roles).await?;
    let location = HeaderValue::try_from(format!("/api/v1/users/{id}")).map_err(AppError::internal)?;
    let body = opened(&state, &viewer, &id).await?;
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], body).into_response())
}

/// One account: for admins.
#[utoipa::path(
    get, path = "/users/{user}", tag = "organisation",
    params(("user" = UserId, Path, description = "The account")),
    responses((status = 200, description = "The account; `ETag` is its version", body = PersonView), Problems)
)]
async fn user(
    State(state): State<AppState>,
    viewer: Viewer,
    Segment(id): Segment<UserId>,
) -> Result<Response, AppError> {
    opened(&state, &viewer, &id).await
}

/// Sets a person's roles in the organisation, from the next request on: for admins. One open account stays an admin.
#[utoipa::path(
    put, path = "/users/{user}/roles", tag = "organisation",
    params(
        ("user" = UserId, Path, description = "The account"),
        ("If-Match" = String, Header, description = "`ETag` of the account as it was read, or `*`"),
    ),
    request_body = ChangeRoles,
    responses(
        (status = 200, description = "The account; `ETag` is its version", body = PersonView),
        ChangedSince, Problems,
    )
)]
async fn set_roles(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    headers: HeaderMap,
    Body(change): Body<ChangeRoles>,
) -> Result<Response, AppError> {
    let seen = seen_version(&headers)?;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    let roles = change.roles.iter().copied().collect();
    state.services().set_roles(doer, &id, &roles, seen.as_deref()).await?;
    opened(&state, &viewer, &id).await
}

/// Locks an account, which ends its sessions and tokens, or opens it again: for admins.
#[utoipa::path(
    put, path = "/users/{user}/lock", tag = "organisation",
    params(
        ("user" = UserId, Path, description = "The account"),
        ("If-Match" = String, Header, description = "`ETag` of the account as it was read, or `*`"),
    ),
    request_body = ChangeLock,
    responses(
        (status = 200, description = "The account; `ETag` is its version", body = PersonView),
        ChangedSince, Problems,
    )
)]
async fn set_lock(
    State(state): State<AppState>,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<UserId>,
    headers: HeaderMap,
    Body(change): Body<ChangeLock>,
) -> Result<Response, AppError> {
    let seen = seen_version(&headers)?;
    let doer = Doer { viewer: &viewer, origin: &origin, reason: &change.reason };
    state.auth().set_locked(doer, &id, change.locked, seen.as_deref()).await?;
    opened(&state, &viewer, &id).await
}

impl Table for Page<PersonView> {
    fn file_name(&self) -> String {
        "users".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["user", "name", "login", "roles", "teams", "leads", "pools", "linked", "made_at", "locked_at"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |person: &PersonView| {
            let roles: Vec<&str> = person.roles.iter().map(|role| role.as_str()).collect();
            let pools: Vec<&str> = person.pools.iter().map(common::ids::PoolId::as_str).collect();
            let teams = |leads: bool| {
                let teams = person.teams.iter().filter(|team| !leads || team.leads);
                teams.map(|team| team.id.as_str()).collect::<Vec<_>>().join(" ")
            };
            vec![
                person.user.to_string(),
                person.name.clone(),
                cell(person.login.as_ref()),
                roles.join(" "),
                teams(false),
                teams(true),
                pools.join(" "),
                person.linked.to_string(),
                person.made_at.to_string(),
                cell(person.locked_at),
            ]
        };
        self.items.iter().map(row).collect()
    }
}
