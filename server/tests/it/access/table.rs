//! What each operation answers to whom: the one table that the program is held against.

use super::Operation;

/// The people of the table: a lead of the team speech, a member of another team, an administrator of speech's pool, and
/// the roles of the organisation.
pub(super) const WHO: [&str; 6] = ["engineer", "outsider", "keeper", "finance", "auditor", "admin"];

/// What an operation answers to each of [`WHO`].
pub(super) struct Line {
    pub(super) method: &'static str,
    pub(super) route: &'static str,
    pub(super) statuses: [u16; 6],
    /// A body that can be read and is refused, so that nothing changes: its reason is empty, or its list.
    pub(super) body: &'static str,
}

impl Line {
    pub(super) fn is_of(&self, operation: &Operation) -> bool {
        (self.method, self.route) == (&operation.method, &operation.route)
    }
}

/// The line of an operation.
pub(super) fn line(operation: &Operation) -> Option<&'static Line> {
    OPERATIONS.iter().find(|line| line.is_of(operation))
}

const fn get(route: &'static str, statuses: [u16; 6]) -> Line {
    Line { method: "GET", route, statuses, body: "" }
}

const fn op(method: &'static str, route: &'static str, statuses: [u16; 6], body: &'static str) -> Line {
    Line { method, route, statuses, body }
}

/// Anybody who is signed in.
const ALL: [u16; 6] = [200; 6];

/// Those who may read the bids of speech.
const BIDS: [u16; 6] = [200, 404, 404, 404, 200, 200];

/// Those who may read the money of speech.
const MONEY: [u16; 6] = [200, 404, 200, 200, 200, 200];

/// Finance, auditors and admins read all money.
const ALL_MONEY: [u16; 6] = [404, 404, 404, 200, 200, 200];

/// Finance alone books.
const BOOKING: [u16; 6] = [403, 403, 403, 422, 403, 403];

/// A member bids; who reads all bids is told that reading is all; the others know of none.
const BIDDING: [u16; 6] = [422, 404, 404, 404, 403, 403];

/// Leads, the pool's administrator and admins.
const LEADING: [u16; 6] = [422, 403, 422, 403, 403, 422];

/// The pool's administrator and admins.
const INCOME: [u16; 6] = [403, 403, 422, 403, 403, 422];

/// Admins; everybody may know of it.
const ADMINS: [u16; 6] = [403, 403, 403, 403, 403, 422];

/// Admins and auditors.
const SEALED: [u16; 6] = [404, 404, 404, 404, 200, 200];

/// Admins; nobody else knows of it.
const ACCOUNTS: [u16; 6] = [404, 404, 404, 404, 404, 422];

const NO_TERMS: &str = r#"{"id":"x","terms":{"name":"","alternatives":[],"limit":"none"}}"#;

const NO_PLAN: &str = r#"{"id":"x","terms":{"name":"","chip_type":"A100","most_chips":0,"target_loss":0,"deadline":"2026-11-01T00:00:00Z"}}"#;

/// Every operation of the OpenAPI document that needs a sign-in.
#[rustfmt::skip]
pub(super) const OPERATIONS: &[Line] = &[
    get("/api/v1/allocations", ALL),
    get("/api/v1/audit", [404, 404, 404, 200, 200, 200]),
    get("/api/v1/bids/{id}", BIDS),
    op("PUT", "/api/v1/bids/{id}", BIDDING, r#"{"version":1,"terms":{"name":"","alternatives":[],"limit":"none"}}"#),
    get("/api/v1/chip-types", ALL),
    get("/api/v1/chip-types/{id}/book", ALL),
    get("/api/v1/chip-types/{id}/prices", ALL),
    get("/api/v1/credit-value", ALL),
    op("PUT", "/api/v1/credit-value", BOOKING, r#"{"currency":"EUR","value":"1","reason":""}"#),
    get("/api/v1/cycles", ALL),
    get("/api/v1/cycles/{number}", BIDS),
    get("/api/v1/events", ALL),
    get("/api/v1/exports", ALL),
    get("/api/v1/exports/{name}", [404; 6]),
    op("POST", "/api/v1/exports/{name}", [404; 6], "{}"),
    op("PUT", "/api/v1/finance/approval", ADMINS, r#"{"approval_above":null,"reason":""}"#),
    get("/api/v1/finance/bookings", ALL_MONEY),
    op("POST", "/api/v1/finance/bookings", BOOKING, r#"{"kind":"grant","team":"speech","amount":"1","reason":""}"#),
    get("/api/v1/finance/bookings/{booking}", [404; 6]),
    op("POST", "/api/v1/finance/bookings/{booking}/approve", [404; 6], r#"{"reason":""}"#),
    op("POST", "/api/v1/finance/bookings/{booking}/refuse", [404; 6], r#"{"reason":""}"#),
    get("/api/v1/finance/budgets", ALL_MONEY),
    get("/api/v1/finance/months", ALL_MONEY),
    get("/api/v1/finance/months/{period}", ALL_MONEY),
    op("POST", "/api/v1/finance/months/{period}/close", BOOKING, r#"{"reason":""}"#),
    get("/api/v1/finance/spend", ALL_MONEY),
    get("/api/v1/finance/statements", ALL),
    get("/api/v1/jobs", ALL),
    get("/api/v1/jobs/{job}", [404; 6]),
    op("DELETE", "/api/v1/jobs/{job}", [404; 6], ""),
    get("/api/v1/jobs/{job}/file", [404; 6]),
    get("/api/v1/market", ALL),
    get("/api/v1/organisation", ALL),
    op("PUT", "/api/v1/organisation", ADMINS, r#"{"name":"N","time_zone":"UTC","cycle_seconds":60,"accounting_seconds":300,"sustain_minutes":120,"rebase_balances":true,"raw_retention_days":90,"reason":""}"#),
    get("/api/v1/organisation/watch-list", SEALED),
    get("/api/v1/pools", ALL),
    op("POST", "/api/v1/pools", ADMINS, r#"{"id":"new","name":"N","weight":"1","reason":""}"#),
    get("/api/v1/pools/{pool}", ALL),
    op("PUT", "/api/v1/pools/{pool}", ADMINS, r#"{"name":"N","weight":"1","reason":""}"#),
    op("PUT", "/api/v1/pools/{pool}/allowance", ADMINS, r#"{"amount":"1","hard":false,"reason":""}"#),
    op("PUT", "/api/v1/pools/{pool}/admins", ADMINS, r#"{"login":"engineer","administers":true,"reason":""}"#),
    get("/api/v1/reconciliations", ALL_MONEY),
    op("POST", "/api/v1/reconciliations", [404, 404, 404, 202, 202, 202], "{}"),
    get("/api/v1/session", ALL),
    get("/api/v1/sessions", ALL),
    op("DELETE", "/api/v1/sessions/{id}", [404; 6], ""),
    get("/api/v1/shares", ALL),
    get("/api/v1/supply", SEALED),
    op("POST", "/api/v1/supply/changes", ADMINS, r#"{"edit":{"set":"chips","chip_type":"A100","chips":1},"reason":""}"#),
    get("/api/v1/supply/cuts", SEALED),
    op("PUT", "/api/v1/supply/cuts/policy", ADMINS, r#"{"policy":"keep","reason":""}"#),
    op("POST", "/api/v1/supply/import", ADMINS, r#"{"inventory":{"csv":""},"reason":""}"#),
    op("POST", "/api/v1/supply/import/preview", [403, 403, 403, 403, 403, 200], r#"{"csv":""}"#),
    op("POST", "/api/v1/supply/maintenance", ADMINS, r#"{"chip_type":"A100","chips":1,"from":"2026-12-01T00:00:00Z","to":"2026-12-02T00:00:00Z","reason":""}"#),
    op("POST", "/api/v1/supply/planned/{plan}/cancel", ADMINS, r#"{"reason":""}"#),
    op("POST", "/api/v1/supply/preview", SEALED, r#"{"edits":[]}"#),
    get("/api/v1/supply/{chip_type}/history", SEALED),
    get("/api/v1/teams", ALL),
    op("POST", "/api/v1/teams", INCOME, r#"{"id":"new","pool":"research","name":"N","income":"1","leverage_thousandths":2000,"reason":""}"#),
    get("/api/v1/teams/{team}", ALL),
    op("PUT", "/api/v1/teams/{team}", INCOME, r#"{"name":"N","income":"1","reason":""}"#),
    op("PUT", "/api/v1/teams/{team}/allowance", INCOME, r#"{"amount":"1","hard":false,"reason":""}"#),
    get("/api/v1/teams/{team}/bids", BIDS),
    op("POST", "/api/v1/teams/{team}/bids", BIDDING, NO_TERMS),
    op("POST", "/api/v1/teams/{team}/bids/changes", BIDDING, r#"{"bids":[],"change":"pause"}"#),
    op("POST", "/api/v1/teams/{team}/bids/moves", BIDDING, r#"{"bids":[]}"#),
    op("POST", "/api/v1/teams/{team}/bids/preview", BIDDING, r#"{"terms":{"name":"","alternatives":[],"limit":"none"}}"#),
    get("/api/v1/teams/{team}/budget", MONEY),
    get("/api/v1/teams/{team}/income-effect", [403, 403, 200, 403, 403, 200]),
    get("/api/v1/teams/{team}/ledger", MONEY),
    get("/api/v1/teams/{team}/ledger/{transfer}", MONEY),
    op("PUT", "/api/v1/teams/{team}/leverage", LEADING, r#"{"leverage_thousandths":1000,"reason":""}"#),
    get("/api/v1/teams/{team}/members", MONEY),
    op("POST", "/api/v1/teams/{team}/members", LEADING, r#"{"login":"outsider","leads":false,"reason":""}"#),
    op("POST", "/api/v1/teams/{team}/members/removals", LEADING, r#"{"user":"engineer","reason":""}"#),
    get("/api/v1/teams/{team}/statement", MONEY),
    get("/api/v1/tokens", ALL),
    op("POST", "/api/v1/tokens", [422; 6], r#"{"name":"","scopes":[],"days":0}"#),
    op("DELETE", "/api/v1/tokens/{id}", [404; 6], ""),
    get("/api/v1/users", [404, 404, 404, 404, 404, 200]),
    op("POST", "/api/v1/users", ACCOUNTS, r#"{"login":"new","name":"N","roles":[],"reason":""}"#),
    get("/api/v1/users/{user}", [404, 404, 404, 404, 404, 200]),
    op("PUT", "/api/v1/users/{user}/lock", ACCOUNTS, r#"{"locked":true,"reason":""}"#),
    op("PUT", "/api/v1/users/{user}/roles", ACCOUNTS, r#"{"roles":[],"reason":""}"#),
    get("/api/v1/lab/runs", SEALED),
    op("POST", "/api/v1/lab/runs", [404, 404, 404, 404, 422, 422], r#"{"trace":"nowhere"}"#),
    get("/api/v1/lab/runs/{id}", [404; 6]),
    op("POST", "/api/v1/lab/runs/{id}/cancel", [404; 6], ""),
    get("/api/v1/lab/shadow", SEALED),
    op("PUT", "/api/v1/lab/shadow", [404, 404, 404, 404, 422, 422], r#"{"policies":["none"]}"#),
    get("/api/v1/lab/traces", SEALED),
    op("POST", "/api/v1/lab/traces", [404, 404, 404, 404, 422, 422], "{}"),
    get("/api/v1/planner/demand", SEALED),
    get("/api/v1/planner/spend", ALL_MONEY),
    get("/api/v1/teams/{team}/plans", BIDS),
    op("POST", "/api/v1/teams/{team}/plans", BIDDING, NO_PLAN),
    get("/api/v1/teams/{team}/plans/{plan}", [404; 6]),
    op("PUT", "/api/v1/teams/{team}/plans/{plan}", [404, 404, 404, 404, 403, 403], r#"{"version":1,"terms":{"name":"","chip_type":"A100","most_chips":0,"target_loss":0,"deadline":"2026-11-01T00:00:00Z"}}"#),
    op("POST", "/api/v1/teams/{team}/plans/{plan}/bids", BIDDING, r#"{"id":"","version":1}"#),
    get("/api/v1/teams/{team}/plans/{plan}/losses", [404; 6]),
    op("POST", "/api/v1/teams/{team}/plans/{plan}/losses", BIDDING, r#"{"id":""}"#),
    get("/api/v1/what-if", SEALED),
    op("POST", "/api/v1/what-if", ADMINS, r#"{"title":"","changes":[]}"#),
    get("/api/v1/what-if/{what_if}", [404; 6]),
    op("POST", "/api/v1/what-if/{what_if}/cancel", [403, 403, 403, 403, 403, 404], ""),
];
