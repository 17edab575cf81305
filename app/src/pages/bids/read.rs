//! Reads what a page of bids shows, by its address.

use common::api::{BidFilter, BidView, BidsQuery, BidsView, TeamName};
use common::ids::{BidId, ChipTypeId, TeamId};
use common::problem::Problem;
use leptos::prelude::{IntoAny, RenderHtml, use_context};

use super::act::act_on;
use super::reply::{Form, List, Opened, Reply, Shown};
use super::sent::Sent;
use super::terms::fields_of;
use crate::backend::Backend;
use crate::fields::Fields;

/// What an address of bids means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A team's bids.
    List(BidsQuery),
    /// A new bid, perhaps with the terms of another.
    New {
        /// The team; without one, the viewer's first.
        team: Option<TeamId>,
        /// The bid whose terms are taken over.
        from: Option<BidId>,
        /// The chip type that is chosen at first, where no bid is taken over.
        chip: Option<ChipTypeId>,
    },
    /// One bid.
    Bid {
        /// The bid.
        id: BidId,
        /// Where the page before ended.
        cursor: Option<String>,
        /// The form that changes it is open.
        edit: bool,
    },
}

impl Address {
    /// Reads it. A parameter that says nothing sensible is as if it were not there.
    ///
    /// # Errors
    /// There is no such page.
    pub(crate) fn parse(address: &str) -> Result<Self, Problem> {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let query = Fields::parse(query);
        let given = |name: &str| Some(query.get(name).to_owned()).filter(|text| !text.is_empty());
        match path.trim_end_matches('/') {
            "/bids" => Ok(Self::List(BidsQuery {
                team: query.get("team").parse().ok(),
                show: if query.get("show") == "ended" { BidFilter::Ended } else { BidFilter::Open },
                cursor: given("cursor"),
            })),
            "/bids/new" => Ok(Self::New {
                team: query.get("team").parse().ok(),
                from: query.get("from").parse().ok(),
                chip: query.get("chip").parse().ok(),
            }),
            path => {
                let id =
                    path.strip_prefix("/bids/").and_then(|id| id.parse().ok()).ok_or_else(no_such_page)?;
                Ok(Self::Bid { id, cursor: given("cursor"), edit: given("edit").is_some() })
            }
        }
    }
}

fn no_such_page() -> Problem {
    Problem {
        kind: "not_found".to_owned(),
        title: "Not found".to_owned(),
        status: 404,
        detail: "There is no bid at this address.".to_owned(),
        errors: Vec::new(),
        newest: None,
    }
}

/// A form that was posted without scripts, and what became of it: in the extensions of the request whose page shows it.
#[derive(Clone, Debug)]
pub(crate) struct Posted {
    /// What its fields hold now.
    pub(crate) fields: Fields,
    /// What became of it; absent where a button only changed the fields.
    pub(crate) reply: Option<Reply>,
}

impl Posted {
    /// The form posted by the request that is being answered, if one was; sets the status of the page that shows it.
    pub(crate) fn from_request() -> Option<Self> {
        let posted = use_context::<axum::http::request::Parts>()?.extensions.get::<Self>().cloned();
        if let Some(Self { reply: Some(Reply::Refused(refused)), .. }) = &posted {
            crate::response::set_status(refused.status);
        }
        posted
    }
}

/// The page at an address.
///
/// # Errors
/// As the services behind it.
pub(crate) async fn page(
    backend: &dyn Backend,
    address: &str,
    posted: Option<Posted>,
) -> Result<Shown, Problem> {
    match Address::parse(address)? {
        Address::List(query) => {
            let (show, cursor) = (query.show, query.cursor.clone());
            let view = backend.bids(query).await?;
            let teams = teams(backend, &view.team).await?;
            let reply = posted.and_then(|posted| posted.reply);
            Ok(Shown::List(Box::new(List { teams, show, cursor, view, reply })))
        }
        Address::New { team, from, chip } => {
            let copied = match from {
                Some(from) => Some(backend.bid(from, None).await?),
                None => None,
            };
            let team = team.or_else(|| copied.as_ref().map(|copied| copied.team.id.clone()));
            let view = backend.bids(BidsQuery { team, ..BidsQuery::default() }).await?;
            let mut fields = copied.map_or_else(|| empty_fields(chip), |copied| fields_of(&copied.bid.terms));
            fields.push("id", backend.new_id());
            Ok(Shown::Form(Box::new(form(address, view, None, fields, posted))))
        }
        Address::Bid { id, cursor, edit } => {
            let detail = backend.bid(id, cursor.clone()).await?;
            let form = if edit && detail.may_bid && detail.bid.place.is_some() {
                let team = Some(detail.team.id.clone());
                let view = backend.bids(BidsQuery { team, ..BidsQuery::default() }).await?;
                Some(form(address, view, Some(&detail.bid), Fields::default(), posted.clone()))
            } else {
                None
            };
            let reply = posted.and_then(|posted| posted.reply);
            Ok(Shown::Opened(Box::new(Opened { detail, cursor, form, reply })))
        }
    }
}

/// The page as text, for an element that takes it whole.
pub(crate) fn html(shown: Shown) -> String {
    // Nothing in these views is reactive, so they need no owner.
    match shown {
        Shown::List(list) => super::list::list(*list).into_any(),
        Shown::Opened(opened) => super::opened::opened(*opened).into_any(),
        Shown::Form(form) => super::form::new_bid(&form),
    }
    .to_html()
    // Marks that only hydration needs; a text never holds one, as its `<` is escaped.
    .replace("<!>", "")
}

/// Does what a form says and answers a script: where to go on, or the page again.
///
/// # Errors
/// As the services behind it, where the form can't help it.
pub(crate) async fn sent(backend: &dyn Backend, address: &str, body: &str) -> Result<Sent, Problem> {
    let (fields, reply) = act_on(backend, address, Fields::parse(body)).await?;
    match reply {
        Some(Reply::Done(done)) => Ok(Sent { to: Some(done.to), said: Some(done.said), ..Sent::default() }),
        Some(Reply::Looked(look)) => {
            let errors = look.errors.clone();
            let preview = super::form::figures(Some(&look)).to_html();
            Ok(Sent { preview: Some(preview), errors, ..Sent::default() })
        }
        reply => {
            let shown = page(backend, address, Some(Posted { fields, reply })).await?;
            Ok(Sent { html: Some(html(shown)), ..Sent::default() })
        }
    }
}

/// The viewer's teams and the one that is shown, which somebody who reads all bids need not be in.
async fn teams(backend: &dyn Backend, shown: &TeamName) -> Result<Vec<TeamName>, Problem> {
    let viewer = backend.shell().await?.viewer;
    let mut teams: Vec<_> = viewer
        .into_iter()
        .flat_map(|viewer| viewer.teams)
        .map(|team| TeamName { id: team.id, name: team.name, pool: team.pool })
        .collect();
    if !teams.iter().any(|team| team.id == shown.id) {
        teams.push(shown.clone());
    }
    Ok(teams)
}

/// A form in which nothing but perhaps the chip type is chosen: one alternative to fill in, no limit of either kind.
fn empty_fields(chip: Option<ChipTypeId>) -> Fields {
    let mut fields = Fields::parse(
        "name=&note=&chip_type=&chips=&min_chips=&limit=&zone=UTC&not_before=&not_after=&work=&work_unit=hours",
    );
    fields.set("chip_type", chip.map_or_else(String::new, |chip| chip.to_string()));
    fields
}

/// The fields of a bid as it is, with the version they are of.
pub(crate) fn present_fields(bid: &BidView) -> Fields {
    let mut fields = fields_of(&bid.terms);
    let original = fields.encode();
    fields.push("version", bid.version.to_string());
    fields.push("original", original);
    fields
}

fn form(address: &str, view: BidsView, bid: Option<&BidView>, new: Fields, posted: Option<Posted>) -> Form {
    let (fields, reply) = match (posted, bid) {
        (Some(posted), _) => (posted.fields, posted.reply),
        (None, Some(bid)) => (present_fields(bid), None),
        (None, None) => (new, None),
    };
    Form {
        action: address.to_owned(),
        team: view.team,
        may_bid: view.may_bid,
        changes: bid.map(|bid| bid.id.clone()),
        funds: view.funds,
        chip_types: view.chip_types,
        next_at: view.clock.next_at,
        fields,
        reply,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_is_shown() {
        let team = Some(TeamId::new("rl").expect("an id"));
        let list = |address: &str| match Address::parse(address) {
            Ok(Address::List(query)) => query,
            other => panic!("{address}: {other:?}"),
        };
        assert_eq!(list("/bids"), BidsQuery::default());
        assert_eq!(list("/bids?team=rl").team, team);
        assert_eq!(list("/bids?show=ended&cursor=a%2Bb").cursor.as_deref(), Some("a+b"));
        assert_eq!(list("/bids?show=ended").show, BidFilter::Ended);
        assert_eq!(list("/bids?team=a%20b").team, None, "no id");
        assert_eq!(Address::parse("/bids/new?team=rl"), Ok(Address::New { team, from: None, chip: None }));
        let chip = Some(ChipTypeId::new("H100").expect("an id"));
        assert_eq!(Address::parse("/bids/new?chip=H100"), Ok(Address::New { team: None, from: None, chip }));
        let id = BidId::new("0193-1").expect("an id");
        assert_eq!(
            Address::parse("/bids/0193-1?edit=yes"),
            Ok(Address::Bid { id, cursor: None, edit: true })
        );
        assert_eq!(Address::parse("/bids/a/b").expect_err("no page").status, 404);
    }
}
