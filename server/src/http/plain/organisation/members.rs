//! Who is in a team: the forms that put somebody in and take somebody out.

use app::plain::form::{Field, FormState};
use app::plain::organisation::{Cell, ChangePage, Input, Listing};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::ids::{TeamId, UserId};

use super::super::{AppState, Plain, Posted};
use super::teams::{at, opened};
use super::{doer, link, refuse, show};
use crate::error::AppError;
use crate::http::extract::{Segment, Segments};
use crate::policy::{Action, Viewer};
use crate::services::audit::Origin;

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/organisation/teams/{id}/members", get(members_page).post(put_member))
        .route("/organisation/teams/{id}/members/{user}", get(removal_page).post(remove_member))
}

async fn members_page(plain: Plain, viewer: Viewer, Segment(id): Segment<TeamId>) -> Response {
    let page = members_form(&plain, &viewer, &id).await;
    show(plain, "Members", page)
}

async fn members_form(plain: &Plain, viewer: &Viewer, id: &TeamId) -> Result<ChangePage, AppError> {
    let (team, _) = opened(plain, viewer, id, Action::SetMembers).await?;
    let places = [("member", "Member: places bids"), ("lead", "Lead: sets leverage and members as well")];
    Ok(ChangePage {
        heading: "Add a member, or change a role",
        action: at(id, "/members"),
        state: FormState::filled(&[("place", "member")]),
        version: String::new(),
        inputs: vec![
            Input::Line(
                Field::text("login", "Login").with_hint("The name or e-mail that the person signs in with"),
            ),
            Input::Choice {
                name: "place",
                label: "Role in the team",
                hint: "",
                options: places.map(|(value, text)| (value.to_owned(), text.to_owned())).into(),
            },
        ],
        button: "Set the member",
        now: Vec::new(),
        effects: vec![
            "A member sees the team's queue and money, and places bids for it.".to_owned(),
            "It holds from the person's next request on.".to_owned(),
        ],
        listing: None,
        back: link(at(id, ""), team.name),
    })
}

async fn put_member(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segment(id): Segment<TeamId>,
    posted: Posted,
) -> Response {
    let services = plain.state().services().clone();
    let doer = doer(&viewer, &origin, &posted);
    match services.put_member(doer, &id, posted.get("login"), posted.get("place") == "lead").await {
        Ok(()) => plain.done(&at(&id, ""), "The member is set."),
        Err(error) => {
            let page = members_form(&plain, &viewer, &id).await;
            refuse(plain, "Members", posted, &error, page)
        }
    }
}

async fn removal_page(
    plain: Plain,
    viewer: Viewer,
    Segments(id, user): Segments<TeamId, UserId>,
) -> Response {
    let page = removal_form(&plain, &viewer, &id, &user).await;
    show(plain, "Take a member out", page)
}

async fn removal_form(
    plain: &Plain,
    viewer: &Viewer,
    id: &TeamId,
    user: &UserId,
) -> Result<ChangePage, AppError> {
    let (team, _) = opened(plain, viewer, id, Action::SetMembers).await?;
    let members = plain.state().services().members(viewer, id).await?;
    let member = members.into_iter().find(|member| member.user == *user);
    let member = member.ok_or_else(|| AppError::not_found("member", user))?;
    let bids = plain.state().services().bids_of_member(viewer, id, user).await?;
    let rows: Vec<_> =
        bids.into_iter().map(|(bid, name)| vec![Cell::Text(name), Cell::Text(bid.to_string())]).collect();
    let ended = if rows.is_empty() {
        format!("{} has no open bid for the team.", member.name)
    } else {
        "The open bids that this member placed for the team end with the next cycle; those of others stay."
            .to_owned()
    };
    Ok(ChangePage {
        heading: "Take a member out",
        action: at(id, &format!("/members/{user}")),
        state: FormState::default(),
        version: String::new(),
        inputs: Vec::new(),
        button: "Take the member out",
        now: vec![("Member", member.name.clone())],
        effects: vec![
            format!("{} sees and changes nothing of the team from the next request on.", member.name),
            ended,
        ],
        listing: (!rows.is_empty()).then(|| Listing {
            caption: "Bids that end".to_owned(),
            columns: vec![("Bid", "", false), ("Id", "", false)],
            rows,
            empty: "",
        }),
        back: link(at(id, ""), team.name),
    })
}

async fn remove_member(
    plain: Plain,
    viewer: Viewer,
    origin: Origin,
    Segments(id, user): Segments<TeamId, UserId>,
    posted: Posted,
) -> Response {
    let services = plain.state().services().clone();
    match services.remove_member(doer(&viewer, &origin, &posted), &id, &user).await {
        Ok(()) => plain.done(&at(&id, ""), "The member is out of the team."),
        Err(error) => {
            let page = removal_form(&plain, &viewer, &id, &user).await;
            refuse(plain, "Take a member out", posted, &error, page)
        }
    }
}
