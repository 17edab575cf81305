//! One error for the whole server.
//!
//! An [`AppError`] has a kind, a public message that says what was asked, what the limit is and what to do, and a
//! private context that goes to the log and never to a client. The kind alone decides the HTTP status, the name of
//! the problem document (RFC 9457) and the exit code of a command: one table, [`ErrorKind::row`].

use std::error::Error as StdError;
use std::fmt;

use common::api::BidView;
use common::problem::{FieldProblem, Problem};

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A command line or configuration that can't be used.
    Config,
    /// Input that can't be read: malformed JSON, a broken trace line.
    MalformedInput,
    /// A request that is understood and refused for what one of its fields says.
    Invalid,
    /// Nobody is signed in, or the sign-in is over.
    Unauthenticated,
    /// The viewer may not do this.
    Forbidden,
    /// Too many attempts in a short time.
    TooManyRequests,
    /// The state was changed since the client read it.
    PreconditionFailed,
    /// The thing asked for does not exist, or the viewer may not know that it does.
    NotFound,
    /// The method does not exist for this address.
    MethodNotAllowed,
    /// The state of the market forbids it: the id is taken, the version is old.
    Conflict,
    /// The body is larger than the limit.
    TooLarge,
    /// It took longer than the limit.
    TimedOut,
    /// The database or a port can't be had; trying again later may help.
    Unavailable,
    /// The database is of a version that this program can't use.
    WrongVersion,
    /// Stored data contradicts itself: a hash, a sum or a chain does not match.
    Inconsistent,
    /// A file or stream can't be read or written.
    Io,
    /// A fault of this program.
    Internal,
}

/// What a kind means on each way out of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// Name of the kind in problem documents; stable.
    pub name: &'static str,
    /// The kind in a few words.
    pub title: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Exit code of a command, from `sysexits.h` where it has one.
    pub exit_code: u8,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 17] = [
        Self::Config,
        Self::MalformedInput,
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::TooManyRequests,
        Self::PreconditionFailed,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::TooLarge,
        Self::TimedOut,
        Self::Unavailable,
        Self::WrongVersion,
        Self::Inconsistent,
        Self::Io,
        Self::Internal,
    ];

    /// Name, title, HTTP status and exit code of the kind.
    #[must_use]
    pub const fn row(self) -> KindRow {
        let (name, title, status, exit_code) = match self {
            Self::Config => ("config", "Configuration can't be used", 500, 78),
            Self::MalformedInput => ("malformed_input", "Input can't be read", 400, 65),
            Self::Invalid => ("invalid", "Request refused", 422, 65),
            Self::Unauthenticated => ("unauthenticated", "Sign in first", 401, 77),
            Self::Forbidden => ("forbidden", "Not allowed", 403, 77),
            Self::TooManyRequests => ("too_many_requests", "Too many attempts", 429, 75),
            Self::PreconditionFailed => ("precondition_failed", "Changed since", 412, 65),
            Self::NotFound => ("not_found", "Not found", 404, 66),
            Self::MethodNotAllowed => ("method_not_allowed", "Method not allowed", 405, 64),
            Self::Conflict => ("conflict", "Conflict", 409, 65),
            Self::TooLarge => ("too_large", "Too large", 413, 65),
            Self::TimedOut => ("timed_out", "Took too long", 503, 75),
            Self::Unavailable => ("unavailable", "Unavailable", 503, 69),
            Self::WrongVersion => ("wrong_version", "Database of another version", 503, 76),
            Self::Inconsistent => ("inconsistent", "Stored data does not match", 500, 1),
            Self::Io => ("io", "Input or output failed", 500, 74),
            Self::Internal => ("internal", "Fault of this program", 500, 70),
        };
        KindRow { name, title, status, exit_code }
    }
}

/// A fault with a message for whoever asked and a context for whoever runs the server.
pub struct AppError {
    kind: ErrorKind,
    message: String,
    fields: Vec<FieldProblem>,
    newest: Option<Box<BidView>>,
    context: Option<Box<dyn StdError + Send + Sync>>,
}

impl AppError {
    /// A fault of `kind` with a public message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), fields: Vec::new(), newest: None, context: None }
    }

    /// A configuration fault.
    pub fn config(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// Input that can't be read.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::MalformedInput, message)
    }

    /// A request refused because of one field.
    pub fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let (field, detail) = (field.into(), detail.into());
        Self::new(ErrorKind::Invalid, format!("{field}: {detail}")).with_field(field, detail)
    }

    /// Nothing of that kind has that id.
    pub fn not_found(what: &str, id: impl fmt::Display) -> Self {
        Self::new(ErrorKind::NotFound, format!("there is no {what} {id}"))
    }

    /// There is nothing at the address, or nothing that the viewer may know of.
    pub fn no_such_page() -> Self {
        Self::new(ErrorKind::NotFound, "there is nothing at this address")
    }

    /// Nobody is signed in.
    pub fn unauthenticated() -> Self {
        Self::new(
            ErrorKind::Unauthenticated,
            "nobody is signed in; sign in at /sign-in, or send a token as `Authorization: Bearer …`",
        )
    }

    /// The viewer may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, message)
    }

    /// The state of the market forbids it.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Something outside this program can't be had now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// A fault of this program; the source says which.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(
            ErrorKind::Internal,
            "the server failed; its log says why, under the request id of this answer",
        )
        .with_context(source)
    }

    /// Names a field at fault.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>, detail: impl Into<String>) -> Self {
        self.fields.push(FieldProblem { field: field.into(), detail: detail.into() });
        self
    }

    /// Adds what the bid is now that was changed since the client read it.
    #[must_use]
    pub fn with_newest(mut self, newest: BidView) -> Self {
        self.newest = Some(Box::new(newest));
        self
    }

    /// Adds the private cause.
    #[must_use]
    pub fn with_context(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.context = Some(source.into());
        self
    }

    /// What kind of fault it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message for whoever asked.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The fields at fault, where there are any.
    #[must_use]
    pub fn fields(&self) -> &[FieldProblem] {
        &self.fields
    }

    /// The private causes, outermost first, joined for one log line; empty without any.
    #[must_use]
    pub fn private_context(&self) -> String {
        let mut causes: Vec<String> = Vec::new();
        let mut next = StdError::source(self);
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes.join(": ")
    }

    /// Exit code of a command that ends with this fault.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.kind.row().exit_code
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?}; {})", self.message, self.kind, self.private_context())
    }
}

impl StdError for AppError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.context {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl From<&AppError> for Problem {
    fn from(error: &AppError) -> Self {
        let row = error.kind.row();
        Self {
            kind: row.name.to_owned(),
            title: row.title.to_owned(),
            status: row.status,
            detail: error.message.clone(),
            errors: error.fields.clone(),
            newest: error.newest.clone(),
        }
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        Self::from(&error)
    }
}

/// What a violated constraint of the database means to whoever caused it, by the constraint's name.
///
/// SQLite reports a unique index by its columns and a check by its name, PostgreSQL both by their name; so a row
/// has the name and the columns.
const CONSTRAINTS: &[(&str, &str, ErrorKind, &str)] = &[
    (
        "bid_version_key",
        "bid_version.bid, bid_version.version",
        ErrorKind::Conflict,
        "a bid of this id was changed at the same moment; read it again and repeat the change",
    ),
    (
        "ledger_transfer_key",
        "ledger_transfer.unique_key",
        ErrorKind::Conflict,
        "this amount is booked already under the same key; nothing was booked twice",
    ),
    (
        "user_account_login",
        "user_account.login",
        ErrorKind::Conflict,
        "another account signs in with this name already; choose another one",
    ),
    (
        "user_account_subject",
        "user_account.issuer, user_account.subject",
        ErrorKind::Conflict,
        "this person of the provider has an account already",
    ),
    ("cycle_number", "cycle.number", ErrorKind::Conflict, "another process cleared this cycle"),
];

impl From<sqlx::Error> for AppError {
    fn from(error: sqlx::Error) -> Self {
        let found = match &error {
            sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::WorkerCrashed => {
                Self::unavailable("the database does not answer; try again shortly")
            }
            sqlx::Error::Database(fault) => database_fault(fault.as_ref()),
            _ => return Self::internal(error),
        };
        found.with_context(error)
    }
}

/// The meaning of a fault that the database reported.
fn database_fault(fault: &dyn sqlx::error::DatabaseError) -> AppError {
    let text = fault.message();
    let constraint = fault.constraint();
    let known = CONSTRAINTS.iter().find(|(name, columns, ..)| {
        constraint == Some(*name) || text.contains(name) || text.contains(columns)
    });
    if let Some((_, _, kind, message)) = known {
        return AppError::new(*kind, *message);
    }
    let code = fault.code().unwrap_or_default();
    if fault.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() {
        sqlite_fault(code.parse().unwrap_or_default())
    } else {
        postgres_fault(code.get(..2).unwrap_or_default())
    }
}

/// The meaning of a result code of SQLite; the low byte is the primary code.
fn sqlite_fault(code: u32) -> AppError {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const READ_ONLY: u32 = 8;
    const IO: u32 = 10;
    const FULL: u32 = 13;
    const CORRUPT: u32 = 11;
    const CANT_OPEN: u32 = 14;
    const NOT_A_DATABASE: u32 = 26;
    match code & 0xff {
        READ_ONLY => AppError::unavailable("the database is read-only; make its file and folder writable"),
        FULL => AppError::unavailable("the disk of the database is full; free some space"),
        BUSY | LOCKED => AppError::unavailable("the database is busy with another write; try again shortly"),
        IO | CANT_OPEN => AppError::unavailable("the database file can't be opened, read or written"),
        NOT_A_DATABASE => AppError::unavailable("the file is not a SQLite database; name another one"),
        CORRUPT => AppError::new(ErrorKind::Inconsistent, "the database file is damaged; restore a backup"),
        _ => statement_refused(),
    }
}

/// The meaning of a class of PostgreSQL's error codes, their first two characters.
fn postgres_fault(class: &str) -> AppError {
    match class {
        "25" => AppError::unavailable("the database is read-only; connect to one that takes writes"),
        "53" => AppError::unavailable("the database is out of disk, memory or connections"),
        "08" | "40" | "55" | "57" => {
            AppError::unavailable("the database does not answer as it should; try again shortly")
        }
        "28" | "3D" => AppError::unavailable("the database refuses this login or has no such database"),
        _ => statement_refused(),
    }
}

fn statement_refused() -> AppError {
    AppError::new(ErrorKind::Internal, "the database refused a statement; the server's log says which")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_statuses_are_errors() {
        let mut names: Vec<_> = ErrorKind::ALL.iter().map(|kind| kind.row().name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorKind::ALL.len());
        assert!(ErrorKind::ALL.iter().all(|kind| (400..600).contains(&kind.row().status)));
        assert!(ErrorKind::ALL.iter().all(|kind| kind.row().exit_code != 0));
    }

    #[test]
    fn the_private_context_stays_out_of_the_problem() {
        let error = AppError::internal("password=secret");
        let problem = Problem::from(&error);
        assert!(!problem.detail.contains("secret"));
        assert_eq!(error.private_context(), "password=secret");
        assert_eq!((problem.status, problem.kind.as_str()), (500, "internal"));
    }

    #[test]
    fn a_refused_field_is_named() {
        let problem =
            Problem::from(AppError::invalid("span", "\"2h\" is not a span; use 1h, 24h, 7d or 90d"));
        assert_eq!(problem.status, 422);
        assert_eq!(problem.errors[0].field, "span");
    }
}
