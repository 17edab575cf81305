//! Does what the form at an address of bids says, for the browser part and for a browser without scripts alike.

use common::api::{AmendBid, BidChange, BidTerms, BidView, BidsQuery, ChangeBids, MoveBids, PlaceBid};
use common::ids::{BidId, TeamId};
use common::problem::{FieldProblem, Problem};

use super::alter::{BUTTON, alter};
use super::read::{Address, present_fields};
use super::reply::{Conflict, Done, Refused, Reply};
use super::said;
use super::terms::terms;
use super::wanted::{Wanted, wanted, wanted_first};
use crate::backend::Backend;
use crate::fields::Fields;
use crate::words::address;

/// Does what a form says. The answer is what became of it, with its fields as they are afterwards; nothing, where a button
/// only changed its fields.
///
/// # Errors
/// What the form can't help: nobody is signed in, the bid is not known, a service fails.
pub(crate) async fn act_on(
    backend: &dyn Backend,
    at: &str,
    mut fields: Fields,
) -> Result<(Fields, Option<Reply>), Problem> {
    let button = fields.get(BUTTON).to_owned();
    fields.remove(&[BUTTON]);
    if button == "look" {
        let look = super::look::look(backend, at, fields.clone()).await?;
        return Ok((fields, Some(Reply::Looked(look))));
    }
    if alter(&mut fields, &button) {
        return Ok((fields, None));
    }
    act(backend, at, fields).await.map(|(fields, reply)| (fields, Some(reply)))
}

async fn act(backend: &dyn Backend, at: &str, fields: Fields) -> Result<(Fields, Reply), Problem> {
    match Address::parse(at)? {
        Address::List(query) => change_queue(backend, query.team, fields).await,
        Address::New { team, .. } => place(backend, team, fields).await,
        Address::Bid { id, edit: true, .. } => amend(backend, id, fields).await,
        Address::Bid { id, .. } => {
            let team = backend.bid(id, None).await?.team.id;
            change_queue(backend, Some(team), fields).await
        }
    }
}

/// The team of a form: named by its address, or the viewer's first.
pub(crate) async fn team_of(backend: &dyn Backend, team: Option<TeamId>) -> Result<TeamId, Problem> {
    match team {
        Some(team) => Ok(team),
        None => Ok(backend.bids(BidsQuery::default()).await?.team.id),
    }
}

fn list_of(team: &TeamId) -> String {
    address("/bids", &[("team", Some(team.as_str()))])
}

async fn place(
    backend: &dyn Backend,
    team: Option<TeamId>,
    fields: Fields,
) -> Result<(Fields, Reply), Problem> {
    let (terms, id) = match (terms(&fields), fields.get("id").parse::<BidId>()) {
        (Ok(terms), Ok(id)) => (terms, id),
        (Err(errors), _) => return Ok((fields, Reply::Refused(refused(errors)))),
        (Ok(_), Err(_)) => return Ok((fields, Reply::Refused(without_id()))),
    };
    let team = team_of(backend, team).await?;
    match backend.place_bid(PlaceBid { id, team: team.clone(), terms }).await {
        Ok(bid) => {
            let to = format!("{}#bid-{}", list_of(&team), bid.id);
            Ok((fields, Reply::Done(Done { to, said: said::placed(&bid) })))
        }
        Err(problem) => Ok((fields, Reply::Refused(refusal(problem)?))),
    }
}

async fn amend(backend: &dyn Backend, id: BidId, mut fields: Fields) -> Result<(Fields, Reply), Problem> {
    let terms = match terms(&fields) {
        Ok(terms) => terms,
        Err(errors) => return Ok((fields, Reply::Refused(refused(errors)))),
    };
    let Ok(version) = fields.get("version").parse() else {
        return Ok((fields, Reply::Refused(without_id())));
    };
    match backend.amend_bid(id.clone(), AmendBid { version, terms }).await {
        Ok(bid) => {
            let to = format!("/bids/{}", bid.id);
            Ok((fields, Reply::Done(Done { to, said: said::amended(&bid) })))
        }
        Err(problem) if problem.status == 409 || problem.status == 412 => {
            let newest = match &problem.newest {
                Some(newest) => (**newest).clone(),
                None => backend.bid(id, None).await?.bid,
            };
            let refused = conflict(problem, &newest, fields.get("original"));
            if let Some(conflict) = &refused.conflict {
                // Sent once more, it replaces what is there now: that was seen.
                fields.set("version", conflict.version.to_string());
                fields.set("original", &*conflict.original);
            }
            Ok((fields, Reply::Refused(refused)))
        }
        Err(problem) => Ok((fields, Reply::Refused(refusal(problem)?))),
    }
}

/// Pauses, resumes, ends or moves bids of a team.
async fn change_queue(
    backend: &dyn Backend,
    team: Option<TeamId>,
    fields: Fields,
) -> Result<(Fields, Reply), Problem> {
    let team = team_of(backend, team).await?;
    let to = list_of(&team);
    let moved: Vec<BidId> = fields.all("move").filter_map(|id| id.parse().ok()).collect();
    if !moved.is_empty() {
        let before = fields.get("before").parse().ok();
        let moved = MoveBids { team, bids: moved, before };
        return Ok((fields, move_bids(backend, moved).await?));
    }
    if let Some(bids) = wanted_first(&fields) {
        if bids.is_empty() {
            return Ok((fields, Reply::Refused(nothing_to_do("Choose bids first."))));
        }
        let queue = backend.bids(BidsQuery { team: Some(team.clone()), ..BidsQuery::default() }).await?.bids;
        let before = queue.into_iter().map(|bid| bid.id).find(|id| !bids.contains(id));
        return Ok((fields, move_bids(backend, MoveBids { team, bids, before }).await?));
    }
    let Some(Wanted { change, bids, sure }) = wanted(&fields) else {
        return Ok((fields, Reply::Refused(nothing_to_do("No button says what to do."))));
    };
    if bids.is_empty() {
        return Ok((fields, Reply::Refused(nothing_to_do("Choose bids first."))));
    }
    if change == BidChange::Cancel && !sure {
        return Ok((fields, Reply::Asked(bids)));
    }
    let done = Done { to, said: said::changed(change, bids.len()) };
    let answer = backend.change_bids(ChangeBids { team, bids, change }).await;
    Ok((fields, reply(answer, done)?))
}

async fn move_bids(backend: &dyn Backend, moved: MoveBids) -> Result<Reply, Problem> {
    let done = Done { to: list_of(&moved.team), said: said::MOVED.to_owned() };
    reply(backend.move_bids(moved).await, done)
}

fn reply<T>(answer: Result<T, Problem>, done: Done) -> Result<Reply, Problem> {
    match answer {
        Ok(_) => Ok(Reply::Done(done)),
        Err(problem) => Ok(Reply::Refused(refusal(problem)?)),
    }
}

/// Faults that were found before a service was asked.
fn refused(errors: Vec<FieldProblem>) -> Refused {
    Refused {
        status: 422,
        title: "Some fields need another look".to_owned(),
        detail: "Nothing was sent to the market. What is wrong stands beside each field.".to_owned(),
        errors,
        conflict: None,
    }
}

fn nothing_to_do(detail: &str) -> Refused {
    Refused {
        status: 422,
        title: "Nothing was changed".to_owned(),
        detail: detail.to_owned(),
        ..Refused::default()
    }
}

fn without_id() -> Refused {
    nothing_to_do("The form has lost the name of its bid. Open it again; copy what you typed first.")
}

/// What a service refused, with the fields by their names in the form. A sign-in that ended is no refusal: what was sent
/// may be sent again afterwards.
pub(crate) fn refusal(problem: Problem) -> Result<Refused, Problem> {
    if problem.status == 401 || problem.status >= 500 {
        return Err(problem);
    }
    let errors = problem
        .errors
        .into_iter()
        .map(|error| FieldProblem { field: field_of(&error.field), detail: error.detail })
        .collect();
    let (status, title, detail) = (problem.status, problem.title, problem.detail);
    Ok(Refused { status, title, detail, errors, conflict: None })
}

/// The name in the form of a field of a request: `terms.alternatives[1].chips` is `chips.1`.
fn field_of(path: &str) -> String {
    let path = path.strip_prefix("terms.").unwrap_or(path);
    if let Some((row, field)) =
        path.strip_prefix("alternatives[").and_then(|rest| rest.split_once("].").or(rest.split_once(']')))
    {
        let field = if field.is_empty() { "chip_type" } else { field };
        return format!("{field}.{row}");
    }
    match path {
        "alternatives" => "chip_type.0".to_owned(),
        "work_chip_seconds" => "work".to_owned(),
        other => other.to_owned(),
    }
}

/// What somebody else changed since the form was opened, and how to go on.
fn conflict(problem: Problem, newest: &BidView, original: &str) -> Refused {
    let refused = Refused {
        status: problem.status,
        title: problem.title,
        detail: problem.detail,
        ..Refused::default()
    };
    if newest.place.is_none() {
        return Refused {
            title: "This bid is over".to_owned(),
            detail: format!("{} What you typed is kept here: place it as a new bid.", said::ended(newest)),
            ..refused
        };
    }
    let before: Option<BidTerms> = terms(&Fields::parse(original)).ok();
    let changes = before.map(|before| said::changes(&before, &newest.terms)).unwrap_or_default();
    let detail = if changes.is_empty() {
        "Its place or state changed, not what it asks for. Save again to keep what you typed."
    } else {
        "Compare it with what you typed. Save again to put yours in its place, or take what is there now."
    };
    Refused {
        title: "Somebody changed this bid while you typed".to_owned(),
        detail: detail.to_owned(),
        conflict: Some(Conflict {
            version: newest.version,
            original: present_fields(newest).get("original").to_owned(),
            changes,
        }),
        ..refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_request_are_found_in_the_form() {
        for (path, field) in [
            ("terms.alternatives[1].chips", "chips.1"),
            ("alternatives[0].min_chips", "min_chips.0"),
            ("alternatives[2]", "chip_type.2"),
            ("terms.alternatives", "chip_type.0"),
            ("terms.work_chip_seconds", "work"),
            ("terms.limit", "limit"),
            ("name", "name"),
        ] {
            assert_eq!(field_of(path), field);
        }
    }
}
