//! The schema: its migrations for both databases, under the same numbers and names.

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use crate::error::{AppError, ErrorKind};

macro_rules! migrations {
    ($folder:literal, $($number:literal $digits:literal $name:literal),* $(,)?) => {
        vec![$(
            Migration::new(
                $number,
                $name.into(),
                MigrationType::Simple,
                include_str!(concat!("../../../migrations/", $folder, "/", $digits, "_", $name, ".sql")).into_sql_str(),
                false,
            )
        ),*]
    };
}

/// The steps of the schema: number, the same in four digits, name. Each has a file of this name for either database.
macro_rules! steps {
    ($folder:literal) => {
        migrations!(
            $folder,
            1 "0001" "market",
            2 "0002" "append_only",
            3 "0003" "trace",
            4 "0004" "accounts",
            5 "0005" "audit_allowances",
            6 "0006" "bids",
            7 "0007" "caps_and_pauses",
            8 "0008" "single_sign_on",
            9 "0009" "retirement",
            10 "0010" "finance",
            11 "0011" "exports",
            12 "0012" "supply",
            13 "0013" "bid_hours_warnings",
            14 "0014" "lab",
            20 "0020" "allowances",
            22 "0022" "what_if",
            24 "0024" "shadow",
            32 "0032" "cuts",
            40 "0040" "planner",
            50 "0050" "list_price",
            51 "0051" "pool_alerts",
            52 "0052" "what_if_jobs",
            53 "0053" "plan_forecast",
        )
    };
}

/// The migrations for SQLite.
pub(super) fn sqlite() -> Migrator {
    Migrator::with_migrations(steps!("sqlite"))
}

/// The migrations for PostgreSQL.
pub(super) fn postgres() -> Migrator {
    Migrator::with_migrations(steps!("postgres"))
}

/// What a failed migration means.
pub(super) fn failure(error: MigrateError, place: &str) -> AppError {
    let wrong = |message: String| AppError::new(ErrorKind::WrongVersion, message);
    match error {
        MigrateError::VersionMissing(number) => wrong(format!(
            "the database {place} was written by a newer version of this program (its schema has step {number}, which \
             this version does not know); run that version, or open another database"
        )),
        MigrateError::VersionMismatch(number) | MigrateError::Dirty(number) => wrong(format!(
            "step {number} of the schema of the database {place} is not the one of this program; restore a backup, or \
             open another database"
        )),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        other => AppError::internal(other),
    }
}
