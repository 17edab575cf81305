//! Books what people book: grants and corrections, each with a reason.

use common::ids::TeamId;
use common::instant::Instant;
use common::money::{MAX_MICROS, MicroCredits};

use super::checks::{Checks, MAX_TEXT};
use super::organisation::newest_setup;
use crate::error::AppError;
use crate::store::Tx;
use crate::store::entities::Setup;
use crate::store::ledger::{AccountKind, Book, Line, NewTransfer, TransferKind};
use crate::store::results;

/// Credits for a team, or with a negative amount from it, booked once under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The team.
    pub team: TeamId,
    /// Local credits of its pool.
    pub amount: MicroCredits,
    /// Why; shown in the ledger.
    pub reason: String,
    /// Made by the client, so that a repeated request is recognised.
    pub key: String,
}

/// Grants newly minted credits, such as a starting balance.
///
/// # Errors
/// `Conflict`: the key is booked already. `Invalid`: the team is unknown, the amount zero or too large, or no reason
/// given.
pub async fn grant_all(tx: &mut Tx, now: Instant, grants: &[Grant]) -> Result<(), AppError> {
    book_all(tx, now, grants, TransferKind::Mint).await
}

/// Corrects a balance.
///
/// # Errors
/// As [`grant_all`].
pub async fn correct(tx: &mut Tx, now: Instant, correction: &Grant) -> Result<(), AppError> {
    book_all(tx, now, std::slice::from_ref(correction), TransferKind::Correction).await
}

async fn book_all(tx: &mut Tx, now: Instant, grants: &[Grant], kind: TransferKind) -> Result<(), AppError> {
    if grants.is_empty() {
        return Ok(());
    }
    let setup = newest_setup(tx).await?;
    let mut checks = Checks::default();
    for (index, grant) in grants.iter().enumerate() {
        let at = if grants.len() == 1 { String::new() } else { format!("grants[{index}].") };
        check(&mut checks, &at, grant, &setup);
    }
    checks.finish()?;
    let cycle = results::last_cycle(tx).await?.map_or(1, |last| last.number + 1);
    let mut book = Book::load(tx, cycle).await?;
    for grant in grants {
        let Some(team) = setup.teams.iter().find(|team| team.id == grant.team) else { continue };
        let issuance = book.account(AccountKind::Issuance, &team.pool, team.pool.as_str());
        let account = book.account(AccountKind::Team, &team.pool, team.id.as_str());
        book.post(
            NewTransfer {
                kind,
                cycle,
                step: None,
                pool: team.pool.clone(),
                reason: grant.reason.clone(),
                key: format!("{}:{}", kind.as_str(), grant.key),
                written_at: now,
            },
            vec![Line::plain(issuance, -grant.amount.0), Line::plain(account, grant.amount.0)],
        )?;
    }
    book.flush(tx).await
}

fn check(checks: &mut Checks, at: &str, grant: &Grant, setup: &Setup) {
    if !setup.teams.iter().any(|team| team.id == grant.team) {
        checks.refuse(&format!("{at}team"), format!("there is no team {}", grant.team));
    }
    if grant.amount.0 == 0 || grant.amount.0.abs() > MAX_MICROS {
        let most = MicroCredits(MAX_MICROS);
        checks.refuse(
            &format!("{at}amount"),
            format!("is {}; it must not be 0 nor beyond {most}", grant.amount),
        );
    }
    if grant.reason.trim().is_empty() {
        checks.refuse(&format!("{at}reason"), "is empty; say why, the ledger shows it");
    }
    checks.length(&format!("{at}reason"), &grant.reason, MAX_TEXT);
    checks.name(&format!("{at}key"), &grant.key);
}
