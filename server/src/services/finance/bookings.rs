//! Corrections, grants and transfers: asked for by one person, decided by a second one where they are large.
//!
//! Whatever is booked is a transfer of the ledger like any other: it sums to zero, has a reason, counts from the next cycle
//! and can only be put right by another one. What is refused says which parts it is made of and what would be possible.

use common::api::{BookingKind, BookingState, BookingView, BookingsView, DecisionView};
use common::ids::TeamId;
use common::instant::Instant;
use common::money::{MAX_MICROS, MicroCredits};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::range::Range;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::audit::{Deed, Doer, reason_into, record};
use crate::services::budget::{burns, usable_of};
use crate::services::changes::next_cycle;
use crate::services::checks::Checks;
use crate::services::organisation::newest_setup;
use crate::services::periods::Calendar;
use crate::services::read::Latest;
use crate::store::entities::Team;
use crate::store::finance::bookings::{self as stored, Booking, Decision};
use crate::store::ledger::{AccountKind, Book, Line, NewTransfer, TransferKind};
use crate::store::{Tx, budget};

/// Seconds in which a second person may decide.
const OPEN_SECONDS: i64 = 7 * 86_400;

/// Bookings in the list at most.
const LISTED: u32 = 200;

/// A correction, grant or transfer that somebody asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBooking {
    /// Made by the client, such as a UUID, so that a repeated request is recognised.
    #[serde(skip)]
    pub id: String,
    /// What it is.
    pub kind: BookingKind,
    /// The team; of a transfer, the one that gives.
    pub team: TeamId,
    /// The team that gets a transfer.
    pub to_team: Option<TeamId>,
    /// Local credits of the team's pool. Only a correction may be negative.
    pub amount: MicroCredits,
    /// The transfer that a correction puts right.
    pub corrects: Option<u64>,
}

impl NewBooking {
    /// What it takes from its team.
    fn takes(&self) -> MicroCredits {
        match self.kind {
            BookingKind::Correction => MicroCredits(self.amount.0.min(0).saturating_neg()),
            BookingKind::Grant => MicroCredits::ZERO,
            BookingKind::Transfer => self.amount,
        }
    }

    fn of(booking: &Booking) -> Self {
        Self {
            id: booking.id.clone(),
            kind: booking.kind,
            team: booking.team.clone(),
            to_team: booking.to_team.clone(),
            amount: booking.amount,
            corrects: booking.corrects,
        }
    }

    fn sha256(&self, doer: Doer<'_>) -> Result<[u8; 32], AppError> {
        let said = (self, doer.reason.trim(), &doer.viewer.user);
        Ok(Sha256::digest(serde_json::to_vec(&said).map_err(AppError::internal)?).into())
    }
}

impl Services {
    /// The bookings, newest first, with those that wait; only the latter where `pending`.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read all money.
    pub async fn bookings(&self, viewer: &Viewer, pending: bool) -> Result<BookingsView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let (now, mut tx) = (self.now(), self.store.read().await?);
        let bookings = stored::newest(&mut tx, pending.then_some(now), LISTED).await?;
        Ok(BookingsView {
            approval_above: stored::approval_above(&mut tx).await?,
            bookings: bookings.into_iter().map(|booking| view(booking, now)).collect(),
        })
    }

    /// One booking.
    ///
    /// # Errors
    /// `NotFound`: there is none of this number, or the viewer may not read all money.
    pub async fn booking(&self, viewer: &Viewer, number: u64) -> Result<BookingView, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let booking = stored::by_number(&mut tx, number).await?;
        booking.map(|booking| view(booking, self.now())).ok_or_else(|| AppError::not_found("booking", number))
    }

    /// Books a correction, grant or transfer, or has it wait for a second person where it is large. The same request again
    /// answers the same and books nothing.
    ///
    /// # Errors
    /// `Forbidden`: the doer may not book money. `Invalid`: a field is wrong, there is no reason, or what it takes is not
    /// there; the message names the parts. `Conflict`: the id is that of another booking.
    pub async fn book(&self, doer: Doer<'_>, new: &NewBooking) -> Result<BookingView, AppError> {
        doer.viewer.may(Action::BookMoney, Object::Organisation)?;
        let (now, latest) = (self.now(), self.market().latest().await?);
        let mut tx = self.store.write().await?;
        let request_sha256 = new.sha256(doer)?;
        if let Some(known) = stored::by_id(&mut tx, &new.id).await? {
            if known.request_sha256 == request_sha256 {
                return Ok(view(known, now));
            }
            return Err(AppError::conflict(format!(
                "{} is the id of another booking already; take a new one",
                new.id
            )));
        }
        let mut checks = Checks::default();
        reason_into(&mut checks, doer.reason);
        check(&mut tx, &mut checks, &latest, new, now).await?;
        checks.finish()?;
        let needs_approval = needs_approval(&mut tx, &latest, new).await?;
        let mut booking = Booking {
            number: 0,
            id: new.id.clone(),
            request_sha256,
            kind: new.kind,
            team: new.team.clone(),
            to_team: new.to_team.clone(),
            amount: new.amount,
            corrects: new.corrects,
            reason: doer.reason.trim().to_owned(),
            maker: doer.viewer.user.clone(),
            maker_name: doer.viewer.name.clone(),
            made_at: now,
            expires_at: now.plus_seconds(OPEN_SECONDS),
            needs_approval,
            decision: None,
        };
        booking.number = stored::insert(&mut tx, &booking).await?;
        if !needs_approval {
            let decision = perform(&mut tx, &latest, &booking, doer, now).await?;
            booking.decision = Some(decision);
        }
        let action = if needs_approval { "booking.asked" } else { "booking.booked" };
        let view = view(booking, now);
        record(&mut tx, now, doer, Deed::new(action, "booking", &view.number).after(&view)?).await?;
        tx.commit().await?;
        Ok(view)
    }

    /// Books what waits for a second person.
    ///
    /// # Errors
    /// `Forbidden`: the doer may not approve, or is who asked. `NotFound`: there is no such booking. `Conflict`: it is decided
    /// or expired. `Invalid`: there is no reason, or what it takes is not there any more.
    pub async fn approve_booking(&self, doer: Doer<'_>, number: u64) -> Result<BookingView, AppError> {
        self.decide(doer, number, true).await
    }

    /// Refuses what waits for a second person; whoever asked may take it back this way.
    ///
    /// # Errors
    /// As [`Services::approve_booking`].
    pub async fn refuse_booking(&self, doer: Doer<'_>, number: u64) -> Result<BookingView, AppError> {
        self.decide(doer, number, false).await
    }

    async fn decide(&self, doer: Doer<'_>, number: u64, approves: bool) -> Result<BookingView, AppError> {
        doer.viewer.may(Action::ApproveMoney, Object::Organisation)?;
        let (now, latest) = (self.now(), self.market().latest().await?);
        let mut tx = self.store.write().await?;
        let booking = stored::by_number(&mut tx, number).await?;
        let mut booking = booking.ok_or_else(|| AppError::not_found("booking", number))?;
        check_decidable(&booking, doer, approves, now)?;
        let mut checks = Checks::default();
        reason_into(&mut checks, doer.reason);
        if approves {
            check(&mut tx, &mut checks, &latest, &NewBooking::of(&booking), now).await?;
        }
        checks.finish()?;
        let before = view(booking.clone(), now);
        let decision = if approves {
            perform(&mut tx, &latest, &booking, doer, now).await?
        } else {
            let decision = decision(doer, now, false, Vec::new());
            stored::decide(&mut tx, number, &decision).await?;
            decision
        };
        booking.decision = Some(decision);
        let view = view(booking, now);
        let action = if approves { "booking.approved" } else { "booking.refused" };
        let deed = Deed::new(action, "booking", &number).before(&before)?.after(&view)?;
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await?;
        Ok(view)
    }
}

fn check_decidable(booking: &Booking, doer: Doer<'_>, approves: bool, now: Instant) -> Result<(), AppError> {
    let number = booking.number;
    match state(booking, now) {
        BookingState::Pending => {}
        BookingState::Expired => {
            return Err(AppError::conflict(format!(
                "booking {number} expired at {}; ask for it anew",
                booking.expires_at
            )));
        }
        decided @ (BookingState::Booked | BookingState::Refused) => {
            return Err(AppError::conflict(format!("booking {number} is {} already", decided.as_str())));
        }
    }
    if approves && booking.maker == doer.viewer.user {
        return Err(AppError::forbidden("you asked for this booking; another person has to approve it"));
    }
    Ok(())
}

fn decision(doer: Doer<'_>, at: Instant, is_booked: bool, transfers: Vec<u64>) -> Decision {
    Decision {
        is_booked,
        by: doer.viewer.user.clone(),
        by_name: doer.viewer.name.clone(),
        at,
        reason: doer.reason.trim().to_owned(),
        transfers,
    }
}

fn state(booking: &Booking, now: Instant) -> BookingState {
    match &booking.decision {
        Some(decision) if decision.is_booked => BookingState::Booked,
        Some(_) => BookingState::Refused,
        None if now >= booking.expires_at => BookingState::Expired,
        None => BookingState::Pending,
    }
}

fn view(booking: Booking, now: Instant) -> BookingView {
    let state = state(&booking, now);
    let transfers = booking.decision.as_ref().map(|decision| decision.transfers.clone());
    let decision = booking.decision.filter(|_| booking.needs_approval);
    BookingView {
        number: booking.number,
        id: booking.id,
        kind: booking.kind,
        team: booking.team,
        to_team: booking.to_team,
        amount: booking.amount,
        corrects: booking.corrects,
        reason: booking.reason,
        maker_id: booking.maker,
        maker: booking.maker_name,
        made_at: booking.made_at,
        expires_at: booking.expires_at,
        state,
        decision: decision.map(|decision| DecisionView {
            by: decision.by_name,
            at: decision.at,
            reason: decision.reason,
        }),
        transfers: transfers.unwrap_or_default(),
    }
}

async fn needs_approval(tx: &mut Tx, latest: &Latest, new: &NewBooking) -> Result<bool, AppError> {
    let Some(limit) = stored::approval_above(tx).await? else { return Ok(true) };
    let team = super::super::budget::team_of(tx, latest, &new.team).await?;
    let rate = latest.rate_of(&team.pool);
    Ok(!rate.is_defined() || rate.to_global(new.amount.0.saturating_abs()) > limit.0)
}

/// Notes everything that is wrong with a booking, as it would be booked now.
async fn check(
    tx: &mut Tx,
    checks: &mut Checks,
    latest: &Latest,
    new: &NewBooking,
    now: Instant,
) -> Result<(), AppError> {
    checks.name("id", &new.id);
    let setup = newest_setup(tx).await?;
    let find = |id: &TeamId| setup.teams.iter().find(|team| team.id == *id);
    let team = find(&new.team);
    if team.is_none() {
        checks.refuse("team", format!("there is no team {}", new.team));
    }
    let least = if new.kind == BookingKind::Correction { -MAX_MICROS } else { 1 };
    if new.amount.0 == 0 || !(least..=MAX_MICROS).contains(&new.amount.0) {
        let rule = if least < 0 { "not 0 and at most" } else { "above 0 and at most" };
        checks.refuse("amount", format!("is {}; it must be {rule} {}", new.amount, MicroCredits(MAX_MICROS)));
    }
    let to = new.to_team.as_ref().map(|id| (id, find(id)));
    match (new.kind, to) {
        (BookingKind::Transfer, None) => checks.refuse("to_team", "is missing; say who gets the credits"),
        (BookingKind::Transfer, Some((id, _))) if *id == new.team => {
            checks.refuse("to_team", format!("is {id}, which gives the credits; choose another team"));
        }
        (BookingKind::Transfer, Some((id, None))) => {
            checks.refuse("to_team", format!("there is no team {id}"));
        }
        (BookingKind::Transfer, Some((_, Some(to)))) => {
            check_worth(checks, latest, team, to);
        }
        (_, Some(_)) => checks.refuse("to_team", "is only for a transfer; leave it out"),
        (_, None) => {}
    }
    match new.corrects {
        Some(_) if new.kind != BookingKind::Correction => {
            checks.refuse("corrects", "is only for a correction; leave it out");
        }
        Some(transfer) if !stored::concerns(tx, transfer, &new.team).await? => {
            checks.refuse("corrects", format!("is {transfer}; the team has no entry of such a transfer"));
        }
        _ => {}
    }
    match team {
        Some(team) if new.takes().0 > 0 => check_taken(tx, checks, latest, (team, new), now).await,
        _ => Ok(()),
    }
}

/// A transfer to another pool needs credits with a worth on both sides.
fn check_worth(checks: &mut Checks, latest: &Latest, from: Option<&Team>, to: &Team) {
    let Some(from) = from.filter(|from| from.pool != to.pool) else { return };
    for (field, team) in [("team", from), ("to_team", to)] {
        if !latest.rate_of(&team.pool).is_defined() {
            checks.refuse(
                field,
                format!(
                    "is of pool {}, whose credits have no worth: its weight or its income is 0",
                    team.pool
                ),
            );
        }
    }
}

/// What a booking takes must be there: of a transfer in the balance, and always within a hard allowance.
async fn check_taken(
    tx: &mut Tx,
    checks: &mut Checks,
    latest: &Latest,
    (team, new): (&Team, &NewBooking),
    now: Instant,
) -> Result<(), AppError> {
    let settings = &latest.setup.organisation;
    let cycle = next_cycle(tx).await?;
    let burns = burns(tx, latest, team).await?;
    let burn = burns.iter().fold(0_i128, |sum, burn| sum + i128::from(burn.cost.0));
    let held = i64::try_from(burn * i128::from(settings.accounting_seconds) / 3_600).unwrap_or(i64::MAX);
    let (held, takes) = (MicroCredits(held), new.takes());
    if new.kind == BookingKind::Transfer {
        let balance = budget::balance(tx, &team.id, cycle).await?;
        let most = MicroCredits(balance.0.saturating_sub(held.0).max(0));
        if takes > most {
            checks.refuse(
                "amount",
                format!(
                    "is {takes}; the balance is {balance}, held for chips in use until they are booked {held}: at most \
                     {most} can be taken"
                ),
            );
        }
    }
    let calendar = Calendar::new(&settings.time_zone)?;
    let (own, _) = usable_of(tx, &calendar, team, (cycle.saturating_sub(1), now)).await?;
    let Some(own) = own.filter(|own| own.rule.hard) else { return Ok(()) };
    let (limit, spent) = (own.limit(), own.spent);
    let taken = stored::taken_since(tx, &team.id, own.period.starts_at).await?;
    let used = spent.0.saturating_add(held.0).saturating_add(taken.0);
    let most = MicroCredits(limit.0.saturating_sub(used).max(0));
    if takes > most {
        checks.refuse(
            "amount",
            format!(
                "is {takes}; of the hard allowance {limit} of {} are used {spent}, held for chips in use {held}, taken by \
                 corrections and transfers {taken}: at most {most} can be taken. Make the allowance soft to go beyond",
                Range::of(&calendar, own.rule.kind(), &own.period)?.title()
            ),
        );
    }
    Ok(())
}

/// Posts the transfers of a booking and stores that it is done.
async fn perform(
    tx: &mut Tx,
    latest: &Latest,
    booking: &Booking,
    doer: Doer<'_>,
    now: Instant,
) -> Result<Decision, AppError> {
    let cycle = next_cycle(tx).await?;
    let setup = newest_setup(tx).await?;
    let team_of = |id: &TeamId| {
        let found = setup.teams.iter().find(|team| team.id == *id);
        found.ok_or_else(|| AppError::not_found("team", id))
    };
    let from = team_of(&booking.team)?;
    let mut book = Book::load(tx, cycle).await?;
    let mut transfers = Vec::new();
    let mut post = |book: &mut Book, kind, pool: &common::ids::PoolId, lines| {
        transfers.push(book.next_transfer());
        let key = format!("booking:{}:{}", booking.number, transfers.len());
        let (pool, reason) = (pool.clone(), booking.reason.clone());
        book.post(NewTransfer { kind, cycle, step: None, pool, reason, key, written_at: now }, lines)
    };
    let account = book.account(AccountKind::Team, &from.pool, from.id.as_str());
    let issuance = book.account(AccountKind::Issuance, &from.pool, from.pool.as_str());
    let amount = booking.amount.0;
    match &booking.to_team {
        None => {
            let kind = match booking.kind {
                BookingKind::Grant => TransferKind::Mint,
                BookingKind::Correction | BookingKind::Transfer => TransferKind::Correction,
            };
            post(
                &mut book,
                kind,
                &from.pool,
                vec![Line::plain(issuance, -amount), Line::plain(account, amount)],
            )?;
        }
        Some(to) => {
            let to = team_of(to)?;
            let target = book.account(AccountKind::Team, &to.pool, to.id.as_str());
            let kind = TransferKind::Correction;
            if to.pool == from.pool {
                let lines = vec![Line::plain(account, -amount), Line::plain(target, amount)];
                post(&mut book, kind, &from.pool, lines)?;
            } else {
                // No transfer crosses pools: the credits go out of one currency and come into the other at their worth.
                let worth = latest.rate_of(&from.pool).to_global(amount);
                let there = latest.rate_of(&to.pool).to_local(worth);
                let minted = book.account(AccountKind::Issuance, &to.pool, to.pool.as_str());
                let out = vec![Line::plain(account, -amount), Line::plain(issuance, amount)];
                post(&mut book, kind, &from.pool, out)?;
                let lines = vec![Line::plain(minted, -there), Line::plain(target, there)];
                post(&mut book, kind, &to.pool, lines)?;
            }
        }
    }
    book.flush(tx).await?;
    let decision = decision(doer, now, true, transfers);
    stored::decide(tx, booking.number, &decision).await?;
    Ok(decision)
}
