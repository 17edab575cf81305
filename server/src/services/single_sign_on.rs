//! Accounts of people whom an identity provider knows: made, found, linked, and given what their groups give.

use std::collections::{BTreeMap, BTreeSet};

use common::api::Role;
use common::ids::{PoolId, SessionId, TeamId, UserId};
use serde::Serialize;

use super::Services;
use super::accounts::end_all;
use super::audit::{self, Deed, Doer, Origin};
use super::people::leave_team;
use crate::error::AppError;
use crate::oidc::admission::{self, Decision, Known};
use crate::oidc::fault::Fault;
use crate::oidc::id_token::Person;
use crate::oidc::{Grants, Registration};
use crate::policy::{Via, Viewer};
use crate::store::accounts::{self as stored, NewAccount, Standing};
use crate::store::{Tx, single_sign_on, viewers};

/// What the audit log gives as the reasons of what a sign-in changed.
const GROUPS: &str = "groups of the identity provider, at sign-in";
const FIRST: &str = "first sign-in by the identity provider";

/// Somebody who came from the provider.
pub(crate) struct Arrived<'a> {
    pub(crate) registration: &'a Registration,
    pub(crate) person: &'a Person,
    pub(crate) origin: &'a Origin,
}

/// What became of it. In either case the transaction is to be committed: a refusal may have taken rights away.
pub(crate) enum Outcome {
    /// The account may be signed in.
    Admitted(UserId),
    /// It may not; these sessions and tokens were ended.
    Refused(Fault, Vec<String>),
}

/// Finds or makes the person's account, and gives it what the groups give.
///
/// # Errors
/// `Unavailable`: the database does not answer.
pub(crate) async fn admit(
    tx: &mut Tx,
    services: &Services,
    arrived: &Arrived<'_>,
) -> Result<Outcome, AppError> {
    let Arrived { registration, person, .. } = arrived;
    let grants = match admission::grants(&registration.admission, person) {
        Ok(Some(grants)) => Some(existing(tx, grants).await?),
        Ok(None) => None,
        Err(fault) => return Ok(Outcome::Refused(fault, Vec::new())),
    };
    let known = stored::find_at_provider(tx, &registration.issuer, &person.subject).await?;
    let known = known.map(|account| Known { user: account.id, disabled: account.disabled_at.is_some() });
    let name = admission::name(person, &registration.name_claim);
    match admission::decide(&registration.admission, grants, known) {
        Decision::Refuse(fault) => Ok(Outcome::Refused(fault, Vec::new())),
        Decision::Withdraw(user) => {
            give(tx, services, arrived, &user, &Grants::default()).await?;
            Ok(Outcome::Refused(Fault::NoMappedGroup, end_all(tx, &user, services.now()).await?))
        }
        Decision::SignIn(user, grants) => {
            stored::set_name(tx, &user, &name).await?;
            if let Some(grants) = grants {
                give(tx, services, arrived, &user, &grants).await?;
            }
            Ok(Outcome::Admitted(user))
        }
        Decision::Create(grants) => {
            let user = create(tx, services, arrived, name).await?;
            if let Some(grants) = grants {
                give(tx, services, arrived, &user, &grants).await?;
            }
            Ok(Outcome::Admitted(user))
        }
    }
}

async fn create(
    tx: &mut Tx,
    services: &Services,
    arrived: &Arrived<'_>,
    name: String,
) -> Result<UserId, AppError> {
    let now = services.now();
    let id = UserId::new(services.ids.new_id(now)).map_err(AppError::internal)?;
    let provider = Some((arrived.registration.issuer.clone(), arrived.person.subject.clone()));
    let account = NewAccount { id: id.clone(), login: None, name, password_hash: None, provider };
    stored::insert(tx, now, &account).await?;
    let deed = Deed::new("user.added", "user", &id).after(&(&account.name, &account.provider))?;
    note(tx, services, arrived, &id, deed, FIRST).await?;
    Ok(id)
}

/// Links the account of its signed-in owner to the person at the provider.
///
/// # Errors
/// `Conflict`, in words for the owner, where the person is linked to another account.
pub(crate) async fn link(
    tx: &mut Tx,
    services: &Services,
    arrived: &Arrived<'_>,
    owner: &Viewer,
) -> Result<(), AppError> {
    let Registration { name, issuer, .. } = arrived.registration;
    let subject = arrived.person.subject.as_str();
    let other = stored::find_at_provider(tx, issuer, subject).await?;
    if other.is_some_and(|account| account.id != owner.user) {
        return Err(Fault::LinkedElsewhere.into_error(name));
    }
    single_sign_on::set_provider(tx, &owner.user, Some((issuer, subject))).await?;
    let deed = Deed::new("user.linked", "user", &owner.user).after(&(issuer, subject))?;
    let doer = Doer { viewer: owner, origin: arrived.origin, reason: "linked by its owner" };
    audit::record(tx, services.now(), doer, deed).await
}

/// Takes the link between an account and the person at the provider away, for its owner at a browser.
///
/// # Errors
/// `Conflict`: the account is not linked, or nobody could sign in to it any more.
pub(crate) async fn unlink(
    tx: &mut Tx,
    services: &Services,
    owner: &Viewer,
    origin: &Origin,
) -> Result<(), AppError> {
    let account = stored::find(tx, &owner.user).await?;
    let account = account.ok_or_else(|| AppError::not_found("account", &owner.user))?;
    let Some(provider) = account.provider else {
        return Err(AppError::conflict("this account is not linked; there is nothing to take away"));
    };
    if !account.has_password {
        return Err(AppError::conflict(
            "this account has no password, so nobody could sign in to it without the link; an admin of the organisation \
             can make a link that lets you choose a password first",
        ));
    }
    single_sign_on::set_provider(tx, &owner.user, None).await?;
    let deed = Deed::new("user.unlinked", "user", &owner.user).before(&provider)?;
    audit::record(tx, services.now(), Doer { viewer: owner, origin, reason: "unlinked by its owner" }, deed)
        .await
}

/// The grants without teams and pools that are not there; each is a rule of the configuration to be mended.
async fn existing(tx: &mut Tx, grants: Grants) -> Result<Grants, AppError> {
    let mut found = Grants { roles: grants.roles, ..Grants::default() };
    for (team, leads) in grants.teams {
        if single_sign_on::has_team(tx, &team).await? {
            found.teams.insert(team, leads);
        } else {
            tracing::warn!(%team, "oidc.groups names a team that does not exist");
        }
    }
    for pool in grants.pools {
        if single_sign_on::has_pool(tx, &pool).await? {
            found.pools.insert(pool);
        } else {
            tracing::warn!(%pool, "oidc.groups names a pool that does not exist");
        }
    }
    Ok(found)
}

/// Sets roles, teams and pools to exactly what is granted; the audit log tells what that changed.
async fn give(
    tx: &mut Tx,
    services: &Services,
    arrived: &Arrived<'_>,
    user: &UserId,
    grants: &Grants,
) -> Result<(), AppError> {
    let before = viewers::standing(tx, user).await?;
    stored::set_roles(tx, user, &grants.roles).await?;
    stored::set_pools(tx, user, &grants.pools).await?;
    for team in before.teams.keys().filter(|team| !grants.teams.contains_key(*team)) {
        leave_team(tx, services.now(), team, user).await?;
    }
    for (team, leads) in &grants.teams {
        stored::put_member(tx, user, team, *leads).await?;
    }
    let after = viewers::standing(tx, user).await?;
    if before == after {
        return Ok(());
    }
    let deed = Deed::new("user.mapped", "user", user).before(&Seen::of(&before))?.after(&Seen::of(&after))?;
    note(tx, services, arrived, user, deed, GROUPS).await
}

/// Writes what a sign-in changed into the audit log, as done by the person.
async fn note(
    tx: &mut Tx,
    services: &Services,
    arrived: &Arrived<'_>,
    user: &UserId,
    deed: Deed,
    reason: &str,
) -> Result<(), AppError> {
    let now = services.now();
    // The sign-in is not a session yet, and becomes none where it is refused.
    let via = Via::Session(SessionId::new(services.ids.new_id(now)).map_err(AppError::internal)?);
    let person = viewers::viewer(tx, user, via).await?;
    let person = person.ok_or_else(|| AppError::internal("the account is gone"))?;
    audit::record(tx, now, Doer { viewer: &person, origin: arrived.origin, reason }, deed).await
}

/// What a person is, as the audit log keeps it.
#[derive(Serialize)]
struct Seen<'a> {
    roles: BTreeSet<Role>,
    /// Whether the person leads them.
    teams: BTreeMap<&'a TeamId, bool>,
    pools: &'a BTreeSet<PoolId>,
}

impl<'a> Seen<'a> {
    fn of(standing: &'a Standing) -> Self {
        Self {
            roles: standing.roles.clone(),
            teams: standing.teams.iter().map(|(team, membership)| (team, membership.leads)).collect(),
            pools: &standing.pools,
        }
    }
}
