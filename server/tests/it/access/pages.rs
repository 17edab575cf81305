//! Who gets which page and may send which form. Pages and forms are found as people find them, by following links from
//! the front page; the tables must know every one that is found.

use std::collections::{BTreeMap, BTreeSet};

use super::app_and_people;
use super::table::WHO;
use crate::app::TestApp;
use crate::client::Client;

/// A page or a form: its address with variable parts in braces, the address that is asked for, and what each of [`WHO`]
/// gets. Forms are sent with what stands after `#` and without a reason: they get as far as the question who may.
struct Line(&'static str, &'static str, [u16; 6]);

/// Everybody who is signed in.
const ALL: [u16; 6] = [200; 6];

/// Those who may read the bids of speech.
const BIDS: [u16; 6] = [200, 404, 404, 404, 200, 200];

/// Leads of the team, the pool's administrator and admins see the form.
const LEADING: [u16; 6] = [200, 403, 200, 403, 403, 200];

/// The pool's administrator and admins see the form.
const INCOME: [u16; 6] = [403, 403, 200, 403, 403, 200];

/// Admins see the form.
const ADMINS: [u16; 6] = [403, 403, 403, 403, 403, 200];

/// Admins and auditors.
const SEALED: [u16; 6] = [404, 404, 404, 404, 200, 200];

/// Admins; nobody else knows of it.
const ACCOUNTS: [u16; 6] = [404, 404, 404, 404, 404, 200];

/// Those who may read the money of speech.
const MONEY: [u16; 6] = [200, 404, 200, 200, 200, 200];

/// Finance, auditors and admins read all money.
const ALL_MONEY: [u16; 6] = [404, 404, 404, 200, 200, 200];

/// Finance sees the form.
const BOOKING: [u16; 6] = [403, 403, 403, 200, 403, 403];

/// Finance alone books.
const BOOKS: [u16; 6] = [403, 403, 403, 422, 403, 403];

/// Admins alone change the supply.
const SETS: [u16; 6] = [403, 403, 403, 403, 403, 422];

#[rustfmt::skip]
const PAGES: &[Line] = &[
    Line("/", "/", ALL),
    Line("/account", "/account", ALL),
    Line("/allocations", "/allocations", ALL),
    Line("/bids", "/bids?team=speech", BIDS),
    Line("/bids/new", "/bids/new?team=speech", BIDS),
    Line("/bids/{bid}", "/bids/a", BIDS),
    Line("/book", "/book", ALL),
    Line("/budget", "/budget?team=speech", [200, 404, 200, 200, 200, 200]),
    Line("/budget/ledger", "/budget/ledger?team=speech", [200, 404, 200, 200, 200, 200]),
    Line("/budget/ledger/{transfer}", "/budget/ledger/1?team=speech", [200, 404, 200, 200, 200, 200]),
    Line("/cycles", "/cycles", ALL),
    Line("/cycles/{cycle}", "/cycles/1", ALL),
    Line("/finance", "/finance", ALL_MONEY),
    Line("/finance/bookings", "/finance/bookings", ALL_MONEY),
    Line("/finance/bookings/new", "/finance/bookings/new", BOOKING),
    Line("/finance/budgets", "/finance/budgets", ALL_MONEY),
    Line("/finance/exports", "/finance/exports", ALL),
    Line("/finance/months", "/finance/months", ALL_MONEY),
    Line("/finance/months/{period}", "/finance/months/2026-11", ALL_MONEY),
    Line("/finance/reconciliation", "/finance/reconciliation", ALL_MONEY),
    Line("/finance/statements", "/finance/statements", ALL),
    Line("/finance/statements/of", "/finance/statements/of?team=speech", MONEY),
    Line("/lab", "/lab", SEALED),
    Line("/organisation", "/organisation", ALL),
    Line("/organisation/audit", "/organisation/audit", [404, 404, 404, 200, 200, 200]),
    Line("/organisation/chip-types/{id}/retire", "/organisation/chip-types/A100/retire", ADMINS),
    Line("/organisation/people", "/organisation/people", ACCOUNTS),
    Line("/organisation/people/new", "/organisation/people/new", ACCOUNTS),
    Line("/organisation/people/{id}", "/organisation/people/engineer", ACCOUNTS),
    Line("/organisation/people/{id}/{act}", "/organisation/people/engineer/roles", ACCOUNTS),
    Line("/organisation/pools/new", "/organisation/pools/new", ADMINS),
    Line("/organisation/pools/{id}", "/organisation/pools/research", ALL),
    Line("/organisation/pools/{id}/admins", "/organisation/pools/research/admins", ADMINS),
    Line("/organisation/pools/{id}/allowance", "/organisation/pools/research/allowance", ADMINS),
    Line("/organisation/pools/{id}/archive", "/organisation/pools/research/archive", ADMINS),
    Line("/organisation/pools/{id}/change", "/organisation/pools/research/change", ADMINS),
    Line("/organisation/settings", "/organisation/settings", ALL),
    Line("/organisation/settings/change", "/organisation/settings/change", ADMINS),
    Line("/organisation/shares", "/organisation/shares?days=7", ALL),
    Line("/organisation/teams/new", "/organisation/teams/new", INCOME),
    Line("/organisation/teams/{id}", "/organisation/teams/speech", ALL),
    Line("/organisation/teams/{id}/allowance", "/organisation/teams/speech/allowance", INCOME),
    Line("/organisation/teams/{id}/archive", "/organisation/teams/speech/archive", INCOME),
    Line("/organisation/teams/{id}/change", "/organisation/teams/speech/change", INCOME),
    Line("/organisation/teams/{id}/leverage", "/organisation/teams/speech/leverage", LEADING),
    Line("/organisation/teams/{id}/members", "/organisation/teams/speech/members", LEADING),
    Line("/organisation/teams/{id}/members/{user}", "/organisation/teams/speech/members/engineer", LEADING),
    Line("/organisation/watch", "/organisation/watch", SEALED),
    Line("/planner", "/planner", ALL),
    Line("/supply", "/supply", SEALED),
    Line("/supply/chips", "/supply/chips?chip_type=A100", ADMINS),
    Line("/supply/cuts", "/supply/cuts", SEALED),
    Line("/supply/cuts/policy", "/supply/cuts/policy", ADMINS),
    Line("/supply/import", "/supply/import", ADMINS),
    Line("/supply/lending", "/supply/lending?pool=research", ADMINS),
    Line("/supply/maintenance", "/supply/maintenance?chip_type=A100", ADMINS),
    Line("/supply/reserve", "/supply/reserve?chip_type=A100", ADMINS),
    Line("/supply/list-price", "/supply/list-price?chip_type=A100", ADMINS),
    Line("/what-if", "/what-if", SEALED),
];

#[rustfmt::skip]
const FORMS: &[Line] = &[
    Line("/account/password", "/account/password", [422; 6]),
    Line("/account/sessions/end-others", "/account/sessions/end-others", [303; 6]),
    Line("/account/sessions/{id}/end", "/account/sessions/nothing/end", [404; 6]),
    Line("/account/tokens", "/account/tokens", [422; 6]),
    Line("/account/tokens/{id}/revoke", "/account/tokens/nothing/revoke", [404; 6]),
    Line("/bids", "/bids?team=speech", [422, 404, 404, 404, 422, 422]),
    Line("/bids/new", "/bids/new?team=speech", [422, 404, 404, 404, 422, 422]),
    Line("/bids/{bid}", "/bids/a", [422, 404, 404, 404, 422, 422]),
    Line("/finance/bookings", "/finance/bookings#kind=grant&team=speech&amount=1", BOOKS),
    Line("/finance/exports", "/finance/exports#name=ledger&format=csv&period=2026-11", [303; 6]),
    Line("/finance/exports/credit-value", "/finance/exports/credit-value#currency=EUR&value=1", BOOKS),
    Line("/finance/reconciliation", "/finance/reconciliation", [404, 404, 404, 303, 303, 303]),
    Line("/lab", "/lab", [404, 404, 404, 404, 422, 422]),
    Line("/lab/shadow", "/lab/shadow", [404, 404, 404, 404, 303, 303]),
    Line("/lab/traces", "/lab/traces", [404, 404, 404, 404, 422, 422]),
    Line("/organisation/chip-types/{id}/retire", "/organisation/chip-types/A100/retire", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/pools/{id}/archive", "/organisation/pools/research/archive", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/teams/{id}/archive", "/organisation/teams/speech/archive", [403, 403, 422, 403, 403, 422]),
    Line("/planner", "/planner", [404; 6]),
    Line("/organisation/people/new", "/organisation/people/new", [404, 404, 404, 404, 404, 422]),
    Line("/organisation/people/{id}/{act}", "/organisation/people/engineer/lock", [404, 404, 404, 404, 404, 422]),
    Line("/organisation/pools/new", "/organisation/pools/new", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/pools/{id}/allowance", "/organisation/pools/research/allowance", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/pools/{id}/admins", "/organisation/pools/research/admins", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/pools/{id}/change", "/organisation/pools/research/change", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/settings/change", "/organisation/settings/change", [403, 403, 403, 403, 403, 422]),
    Line("/organisation/teams/new", "/organisation/teams/new", [403, 403, 422, 403, 403, 422]),
    Line("/organisation/teams/{id}/allowance", "/organisation/teams/speech/allowance", [403, 403, 422, 403, 403, 422]),
    Line("/organisation/teams/{id}/change", "/organisation/teams/speech/change", [403, 403, 422, 403, 403, 422]),
    Line("/organisation/teams/{id}/leverage", "/organisation/teams/speech/leverage", [422, 403, 422, 403, 403, 422]),
    Line("/organisation/teams/{id}/members", "/organisation/teams/speech/members", [422, 403, 422, 403, 403, 422]),
    Line("/organisation/teams/{id}/members/{user}", "/organisation/teams/speech/members/engineer", [422, 403, 422, 403, 403, 422]),
    Line("/sign-out", "/sign-out", [303; 6]),
    Line("/supply/chips", "/supply/chips#chip_type=A100&chips=1", SETS),
    Line("/supply/cuts/policy", "/supply/cuts/policy#policy=keep", SETS),
    Line("/supply/import", "/supply/import", SETS),
    Line("/supply/lending", "/supply/lending#pool=research&lends_at_most=1", SETS),
    Line("/supply/maintenance", "/supply/maintenance#chip_type=A100&chips=1&from=2026-12-01T00:00:00Z&to=2026-12-02T00:00:00Z", SETS),
    Line("/supply/reserve", "/supply/reserve#chip_type=A100&reserve_price=1", SETS),
    Line("/supply/list-price", "/supply/list-price#chip_type=A100&list_price=1", SETS),
    Line("/what-if", "/what-if", SETS),
];

/// Whether an address is one of a pattern's. Patterns with fewer variable parts stand first in the tables.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    let is_part = |(pattern, part): (&&str, &&str)| pattern == part || pattern.starts_with('{');
    pattern.len() == path.len() && pattern.iter().zip(&path).all(is_part)
}

fn pattern_of(lines: &[Line], address: &str) -> Option<&'static str> {
    let path = address.split('?').next().unwrap_or_default();
    lines.iter().map(|line| line.0).find(|pattern| matches(pattern, path))
}

/// What somebody finds: pages and forms by their patterns, and those that the tables do not know.
#[derive(Default)]
struct Found {
    pages: BTreeMap<&'static str, u32>,
    forms: BTreeSet<&'static str>,
    unknown: BTreeSet<String>,
}

/// The values of an attribute in a document, without the part after `#`.
fn attributes<'a>(html: &'a str, attribute: &'a str) -> impl Iterator<Item = String> + 'a {
    html.split(attribute).skip(1).filter_map(|rest| {
        let value = rest.split('"').next()?.replace("&amp;", "&");
        Some(value.split('#').next()?.to_owned()).filter(|value| value.starts_with('/'))
    })
}

impl Found {
    /// Follows links from the front page; two addresses of each pattern are enough.
    async fn follow(&mut self, client: &Client) {
        let mut queue = vec!["/".to_owned(), "/account".to_owned()];
        let mut seen: BTreeSet<String> = queue.iter().cloned().collect();
        while let Some(address) = queue.pop() {
            let is_page = !address.starts_with("/pkg/") && !address.starts_with("/api/");
            let pattern = pattern_of(PAGES, &address);
            match pattern {
                None if is_page => {
                    self.unknown.insert(format!("page {address}"));
                }
                None => continue,
                Some(pattern) => {
                    let count = self.pages.entry(pattern).or_default();
                    *count += 1;
                    if *count > 2 * WHO.len() as u32 {
                        continue;
                    }
                }
            }
            let html = client.open(&address).await.body;
            for form in html.split("<form").skip(1) {
                let form = form.split('>').next().unwrap_or_default();
                let Some(action) = attributes(form, "action=\"").next() else { continue };
                match (form.contains("method=\"post\""), pattern_of(FORMS, &action)) {
                    (true, Some(pattern)) => {
                        self.forms.insert(pattern);
                    }
                    (true, None) => {
                        self.unknown.insert(format!("form {action}"));
                    }
                    (false, _) => {}
                }
            }
            queue.extend(attributes(&html, "href=\"").filter(|link| seen.insert(link.clone())));
        }
    }
}

async fn check(
    app: &TestApp,
    people: &[(&str, Client)],
    line: &Line,
    is_form: bool,
    wrong: &mut Vec<String>,
) {
    let Line(pattern, address, expected) = line;
    let mut statuses = [0; 6];
    for ((user, client), status) in people.iter().zip(&mut statuses) {
        // A form may end the session it is sent with, so each is sent with one of its own.
        let answer = match is_form {
            true => {
                let (path, typed) = address.split_once('#').unwrap_or((address, ""));
                let fields: Vec<(&str, &str)> =
                    typed.split('&').filter_map(|field| field.split_once('=')).collect();
                app.client(user).await.post(path, &fields).await
            }
            false => client.open(address).await,
        };
        *status = answer.status.as_u16();
    }
    if statuses != *expected {
        wrong.push(format!("{pattern}: {statuses:?}, not {expected:?}"));
    }
}

#[tokio::test]
async fn t137_each_role_gets_what_the_tables_say_of_pages_and_forms() {
    let (app, people) = app_and_people().await;
    let mut wrong = Vec::new();
    for line in PAGES {
        check(&app, &people, line, false, &mut wrong).await;
    }
    for line in FORMS {
        check(&app, &people, line, true, &mut wrong).await;
    }
    assert!(wrong.is_empty(), "what {WHO:?} get:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_page_and_form_that_a_link_leads_to_is_in_the_tables() {
    let (_app, people) = app_and_people().await;
    let mut found = Found::default();
    for (_, client) in &people {
        found.follow(client).await;
    }
    let unknown: Vec<String> = found.unknown.into_iter().collect();
    assert!(unknown.is_empty(), "give them a line in access/pages.rs:\n{}", unknown.join("\n"));
    let missed: Vec<&str> =
        PAGES.iter().map(|line| line.0).filter(|pattern| !found.pages.contains_key(pattern)).collect();
    assert!(missed.is_empty(), "no link leads to {missed:?}");
}
