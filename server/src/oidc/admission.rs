//! From what the provider says of a person to what becomes of the sign-in: a table, without a database.

use common::ids::UserId;
use serde_json::{Map, Value};

use super::fault::Fault;
use super::groups::{Grants, GroupMap};
use super::id_token::Person;

/// Most characters of a name that is taken over.
const MAX_NAME: usize = 100;

/// Who may sign in by the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Members of mapped groups; the groups decide roles, teams and pools at each sign-in.
    Mapped {
        /// The claim that holds the groups.
        claim: String,
        /// What the groups are here.
        map: GroupMap,
    },
    /// Everybody whom the provider knows.
    Everyone,
    /// Those whose account its owner has linked.
    LinkedOnly,
}

/// An account that is linked to the person already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The account.
    pub user: UserId,
    /// It is closed.
    pub disabled: bool,
}

/// What becomes of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// An account is made for the person, and signed in.
    Create(Option<Grants>),
    /// The account is signed in.
    SignIn(UserId, Option<Grants>),
    /// The person is in no mapped group any more: what the groups gave is taken from the account.
    Withdraw(UserId),
    /// The person is refused.
    Refuse(Fault),
}

/// What the person's groups give here; none where groups mean nothing.
///
/// # Errors
/// `NoGroups`: the provider did not say them.
pub fn grants(admission: &Admission, person: &Person) -> Result<Option<Grants>, Fault> {
    match admission {
        Admission::Mapped { claim, map } => Ok(Some(map.grants(&groups(&person.claims, claim)?))),
        Admission::Everyone | Admission::LinkedOnly => Ok(None),
    }
}

/// Decides. Grants replace what the account has; without them it keeps what it has.
#[must_use]
pub fn decide(admission: &Admission, grants: Option<Grants>, known: Option<Known>) -> Decision {
    if known.as_ref().is_some_and(|known| known.disabled) {
        return Decision::Refuse(Fault::Disabled);
    }
    match (known.map(|known| known.user), grants) {
        (Some(user), Some(grants)) if grants.is_empty() => Decision::Withdraw(user),
        (None, Some(grants)) if grants.is_empty() => Decision::Refuse(Fault::NoMappedGroup),
        (Some(user), grants) => Decision::SignIn(user, grants),
        (None, None) if *admission == Admission::LinkedOnly => Decision::Refuse(Fault::NoAccount),
        (None, grants) => Decision::Create(grants),
    }
}

/// The groups of a claim: a list of texts, or one text.
fn groups(claims: &Map<String, Value>, claim: &str) -> Result<Vec<String>, Fault> {
    let found = find(claims, claim);
    match found {
        Some(Value::String(one)) => Some(vec![one.clone()]),
        Some(Value::Array(many)) => {
            many.iter().map(|group| group.as_str().map(str::to_owned)).collect::<Option<_>>()
        }
        _ => None,
    }
    .ok_or_else(|| {
        let kind =
            if found.is_some_and(|value| !value.is_null()) { "is no list of texts" } else { "is not there" };
        Fault::NoGroups(format!("the claim {claim:?} {kind}"))
    })
}

/// A claim by its name; or by a path of names, where no claim has the whole as its name.
#[must_use]
pub fn find<'a>(claims: &'a Map<String, Value>, claim: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(claim) {
        return Some(value);
    }
    let (first, rest) = claim.split_once('.')?;
    find(claims.get(first)?.as_object()?, rest)
}

/// A name to show for the person: of the claim that holds it, or else the next best.
#[must_use]
pub fn name(person: &Person, claim: &str) -> String {
    let clean = |text: &str| {
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        words.chars().take(MAX_NAME).collect::<String>()
    };
    [claim, "preferred_username"]
        .into_iter()
        .filter_map(|claim| find(&person.claims, claim).and_then(Value::as_str).map(clean))
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| clean(&person.subject))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn person(claims: &Value) -> Person {
        Person { subject: "u-1".to_owned(), claims: claims.as_object().cloned().expect("an object") }
    }

    fn known(disabled: bool) -> Option<Known> {
        Some(Known { user: user(), disabled })
    }

    fn user() -> UserId {
        UserId::new("a-1").expect("an id")
    }

    fn mapped() -> Admission {
        let map: GroupMap = "admins -> role:admin; ml -> team:vision".parse().expect("rules");
        Admission::Mapped { claim: "groups".to_owned(), map }
    }

    fn grants(groups: &[&str]) -> Grants {
        let Admission::Mapped { map, .. } = mapped() else { unreachable!("made above") };
        map.grants(&groups.iter().map(|group| (*group).to_owned()).collect::<Vec<_>>())
    }

    /// The whole way from claims to the decision.
    fn decide_on(admission: &Admission, claims: &Value, known: Option<Known>) -> Decision {
        match super::grants(admission, &person(claims)) {
            Ok(grants) => decide(admission, grants, known),
            Err(fault) => Decision::Refuse(fault),
        }
    }

    #[test]
    fn mapped_groups_decide() {
        let decide = |claims: Value, known| decide_on(&mapped(), &claims, known);
        let both = json!({"groups": ["ml", "admins", "other"]});
        assert_eq!(decide(both.clone(), None), Decision::Create(Some(grants(&["ml", "admins"]))));
        assert_eq!(decide(both, known(false)), Decision::SignIn(user(), Some(grants(&["ml", "admins"]))));
        assert_eq!(decide(json!({"groups": "ml"}), None), Decision::Create(Some(grants(&["ml"]))));
    }

    #[test]
    fn without_a_mapped_group_nobody_comes_in_and_what_the_groups_gave_is_withdrawn() {
        for none in [json!({"groups": []}), json!({"groups": ["other"]}), json!({"groups": "ADMINS"})] {
            assert_eq!(decide_on(&mapped(), &none, None), Decision::Refuse(Fault::NoMappedGroup), "{none}");
            assert_eq!(decide_on(&mapped(), &none, known(false)), Decision::Withdraw(user()), "{none}");
        }
    }

    #[test]
    fn a_provider_that_says_no_groups_lets_nobody_in_and_takes_nothing_away() {
        for none in [
            json!({}),
            json!({"groups": null}),
            json!({"groups": {"ml": true}}),
            json!({"groups": ["ml", 1]}),
        ] {
            for account in [None, known(false)] {
                let decision = decide_on(&mapped(), &none, account);
                assert!(matches!(decision, Decision::Refuse(Fault::NoGroups(_))), "{none}: {decision:?}");
            }
        }
    }

    #[test]
    fn a_closed_account_stays_closed_whatever_the_groups_say() {
        for admission in [mapped(), Admission::Everyone, Admission::LinkedOnly] {
            let claims = json!({"groups": ["admins"]});
            assert_eq!(decide_on(&admission, &claims, known(true)), Decision::Refuse(Fault::Disabled));
        }
    }

    #[test]
    fn without_rules_the_account_keeps_what_it_has() {
        let claims = json!({"groups": ["admins"], "email": "admin@example.com"});
        let known = || known(false);
        assert_eq!(decide_on(&Admission::Everyone, &claims, None), Decision::Create(None));
        assert_eq!(decide_on(&Admission::Everyone, &claims, known()), Decision::SignIn(user(), None));
        assert_eq!(decide_on(&Admission::LinkedOnly, &claims, None), Decision::Refuse(Fault::NoAccount));
        assert_eq!(decide_on(&Admission::LinkedOnly, &claims, known()), Decision::SignIn(user(), None));
    }

    #[test]
    fn a_claim_is_found_by_its_name_or_by_a_path() {
        let claims = json!({"https://id.example/groups": ["a"], "realm_access": {"roles": ["b"]}});
        let claims = claims.as_object().expect("an object");
        assert_eq!(find(claims, "https://id.example/groups"), Some(&json!(["a"])));
        assert_eq!(find(claims, "realm_access.roles"), Some(&json!(["b"])));
        assert_eq!(find(claims, "realm_access.groups"), None);
        assert_eq!(find(claims, "roles"), None);
    }

    #[test]
    fn a_name_is_one_line_of_bounded_length() {
        let named = |claims: Value| name(&person(&claims), "name");
        assert_eq!(named(json!({"name": " Ada \u{7}\n Lovelace "})), "Ada Lovelace");
        assert_eq!(named(json!({"name": "x".repeat(500)})).len(), MAX_NAME);
        assert_eq!(named(json!({"name": "\n", "preferred_username": "ada"})), "ada");
        assert_eq!(named(json!({"email": "ada@example.com"})), "u-1", "never by the e-mail address");
    }
}
