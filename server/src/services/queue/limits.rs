//! What an organisation and a team's allowance refuse before it is a bid: one that is for longer than the organisation
//! takes, and one whose work costs more than is left of a hard allowance.

use std::sync::Arc;

use common::api::{self, Carry};
use common::ids::{BidId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};

use super::super::allowances::newest_allowance;
use super::super::bids::TERMS;
use super::super::checks::Checks;
use super::super::periods::Calendar;
use super::super::read::latest::Latest;
use super::super::usable::{Rule, Usable};
use crate::error::AppError;
use crate::store::allowances::{Allowance, Owner, rules};
use crate::store::bids::BidTerms;
use crate::store::entities::Organisation;
use crate::store::history::seconds_between;
use crate::store::results::last_cycle;
use crate::store::{Tx, budget, queue};

/// Refuses terms that are for longer than the organisation's policy allows: by their window, or by their work on the chips
/// that they ask for, whichever is over first.
pub(super) fn check_hours(
    checks: &mut Checks,
    organisation: &Organisation,
    now: Instant,
    terms: &api::BidTerms,
) {
    let Some(most) = organisation.most_bid_hours else { return };
    let policy = format!("the organisation's policy \"most hours per bid\" allows {most} h");
    let window =
        terms.not_after.map(|end| seconds_between(terms.not_before.map_or(now, |from| from.max(now)), end));
    let window = window.map(|seconds| (u64::try_from(seconds).unwrap_or(0), "not_after"));
    // With the fewest chips that it asks for the work takes longest.
    let chips = terms.alternatives.iter().map(|alternative| alternative.chips.0).min().unwrap_or(0);
    let work = terms.work_chip_seconds.and_then(|work| Some((work.checked_div(chips)?, "work_chip_seconds")));
    match window.into_iter().chain(work).min() {
        None => checks.refuse(
            &format!("{TERMS}work_chip_seconds"),
            format!("is missing, and so is an end; {policy}, so say how much work it is or when it ends"),
        ),
        Some((seconds, field)) if seconds > u64::from(most) * 3_600 => {
            checks.refuse(&format!("{TERMS}{field}"), format!("is for {}; {policy}", in_hours(seconds)))
        }
        Some(_) => {}
    }
}

/// Seconds as hours and minutes, rounded up to a minute: what is too long is never shown as the most that is allowed.
fn in_hours(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60);
    match minutes % 60 {
        0 => format!("{} h", minutes / 60),
        rest => format!("{} h {rest} min", minutes / 60),
    }
}

/// A bid that is to be placed or changed, with the prices that its work is reckoned with.
pub(super) struct Estimate {
    latest: Arc<Latest>,
    pub(super) team: TeamId,
    pool: PoolId,
    pub(super) bid: BidId,
    pub(super) now: Instant,
}

/// What stands against what a bid needs.
struct Left {
    amount: MicroCredits,
    spent: MicroCredits,
    held: MicroCredits,
    until: String,
}

impl Estimate {
    pub(super) fn new(latest: Arc<Latest>, team: &api::TeamName, bid: BidId, now: Instant) -> Self {
        Self { latest, team: team.id.clone(), pool: team.pool.clone(), bid, now }
    }

    /// Refuses terms whose work costs more than is left of the team's hard allowance, where it has one. In the transaction
    /// that writes the bid: writers come one after the other, so two bids never share what is left.
    pub(super) async fn check(
        &self,
        tx: &mut Tx,
        checks: &mut Checks,
        terms: &BidTerms,
    ) -> Result<(), AppError> {
        let Some(work) = terms.work_chip_seconds else { return Ok(()) };
        let allowance = newest_allowance(tx, &self.team).await?;
        let (Some(amount), true) = (allowance.amount, allowance.hard) else { return Ok(()) };
        let Some(needs) = self.cost(terms, work) else { return Ok(()) };
        let cycle = last_cycle(tx).await?.map_or(0, |cycle| cycle.number);
        let booked_at = budget::last_step(tx, cycle).await?.map_or(self.now, |(_, at)| at);
        let (mut held, mut present) = (MicroCredits::ZERO, MicroCredits::ZERO);
        for other in queue::estimated(tx, &self.team).await? {
            let terms = &other.version.terms;
            let work =
                terms.work_chip_seconds.unwrap_or(0).saturating_sub(other.done_chip_seconds(booked_at));
            let cost = self.cost(terms, work).unwrap_or_default();
            if other.version.id == self.bid {
                present = cost;
            } else {
                held.0 = held.0.saturating_add(cost.0);
            }
        }
        let calendar = Calendar::new(&self.latest.setup.organisation.time_zone)?;
        let since = self.since(tx, &allowance, cycle).await?;
        let (period, carry) = (allowance.period, allowance.carry);
        let rule = Rule { amount, hard: true, period, carry, since };
        let owner = Owner::Team(self.team.clone());
        let usable = Usable::load(tx, &calendar, (&owner, rule), self.now, cycle).await?;
        let until = calendar.day_and_time(usable.period.ends_at)?;
        // A bid that asks for no more than before may stay, whatever the prices have become.
        if needs > present {
            refuse_beyond(checks, needs, &Left { amount: usable.limit(), spent: usable.spent, held, until });
        }
        Ok(())
    }

    /// Since when an allowance holds, where that matters: what is left is carried over from then on. One that waits for the
    /// next cycle begins now.
    async fn since(&self, tx: &mut Tx, allowance: &Allowance, cycle: u64) -> Result<Instant, AppError> {
        if allowance.carry == Carry::None {
            return Ok(self.now);
        }
        let is_it = |owner: &Owner, rule: &Rule| {
            let says = (Some(rule.amount), rule.period, rule.carry);
            matches!(owner, Owner::Team(id) if *id == self.team)
                && says == (allowance.amount, allowance.period, allowance.carry)
        };
        let rules = rules(tx, cycle, self.now).await?;
        let held = rules.into_iter().find(|(owner, rule)| is_it(owner, rule));
        Ok(held.map_or(self.now, |(_, rule)| rule.since))
    }

    /// What work costs with the cheapest alternative: at the price in force, at most the limit; at the limit where there is
    /// no price. None where there is neither.
    fn cost(&self, terms: &BidTerms, work_chip_seconds: u64) -> Option<MicroCredits> {
        let price = |chip_type| {
            let price = self.latest.pool_price(&self.pool, chip_type).and_then(|price| price.local_price);
            match (price, terms.limit) {
                (Some(price), Some(limit)) => Some(price.min(limit)),
                (price, limit) => price.or(limit),
            }
        };
        let Price(price) = terms.alternatives.iter().filter_map(|one| price(&one.chip_type)).min()?;
        let cost = (u128::from(price) * u128::from(work_chip_seconds)).div_ceil(3_600);
        Some(MicroCredits(i64::try_from(cost).unwrap_or(i64::MAX)))
    }
}

fn refuse_beyond(checks: &mut Checks, needs: MicroCredits, left: &Left) {
    let Left { amount, spent, held, until } = left;
    let rest = amount.0.saturating_sub(spent.0).saturating_sub(held.0).max(0);
    if needs.0 > rest {
        checks.refuse(
            &format!("{TERMS}work_chip_seconds"),
            format!(
                "needs {needs}, {} left until {until}: of the hard allowance of {amount} credits {spent} are spent and \
                 {held} held by other bids; ask for less work, set a lower limit, or have the allowance raised",
                MicroCredits(rest)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(credits: i64) -> MicroCredits {
        MicroCredits(credits * 1_000_000)
    }

    fn refusal(amount: i64, spent: i64, held: i64, needs: i64) -> Option<String> {
        let mut checks = Checks::default();
        let until = "1 Dec 00:00 (UTC)".to_owned();
        let left = Left { amount: whole(amount), spent: whole(spent), held: whole(held), until };
        refuse_beyond(&mut checks, whole(needs), &left);
        checks.finish().err().map(|error| error.fields()[0].detail.clone())
    }

    #[test]
    fn t053_t055_what_a_bid_needs_counts_with_what_is_spent_and_held() {
        let words = refusal(1_000, 990, 0, 16).unwrap();
        assert!(words.starts_with(
            "needs 16.00, 10.00 left until 1 Dec 00:00 (UTC): of the hard allowance of 1000.00"
        ));
        assert_eq!(refusal(1_000, 990, 0, 8), None);
        assert_eq!(refusal(10, 9, 0, 1), None);
        assert!(refusal(10, 9, 0, 10).unwrap().starts_with("needs 10.00, 1.00 left"));
        assert!(refusal(10, 2, 8, 1).unwrap().contains("needs 1.00, 0.00 left"), "what is held is not left");
        assert!(refusal(10, 12, 0, 1).unwrap().contains("0.00 left"), "never less than nothing");
    }

    fn hours(most: Option<u32>, end: Option<&str>, work_hours: Option<u64>) -> Option<String> {
        let organisation = Organisation { most_bid_hours: most, ..Organisation::default() };
        let terms: api::BidTerms = serde_json::from_value(serde_json::json!({
            "name": "n", "limit": "none", "not_after": end, "work_chip_seconds": work_hours.map(|hours| hours * 3_600),
            "alternatives": [{ "chip_type": "A", "chips": 8, "min_chips": 1 }, { "chip_type": "B", "chips": 4, "min_chips": 1 }],
        }))
        .unwrap();
        let mut checks = Checks::default();
        check_hours(&mut checks, &organisation, "2026-11-30T00:00:00Z".parse().unwrap(), &terms);
        checks
            .finish()
            .err()
            .map(|error| format!("{}: {}", error.fields()[0].field, error.fields()[0].detail))
    }

    #[test]
    fn t056_a_policy_of_most_hours_refuses_a_longer_bid_and_is_named() {
        let policy = "the organisation's policy \"most hours per bid\" allows 24 h";
        let refused = hours(Some(24), Some("2026-12-01T01:00:00Z"), None);
        assert_eq!(refused, Some(format!("terms.not_after: is for 25 h; {policy}")));
        assert_eq!(hours(Some(24), Some("2026-12-01T00:00:00Z"), None), None);
        // 100 chip-hours on 4 chips take 25 hours.
        assert_eq!(
            hours(Some(24), None, Some(100)),
            Some(format!("terms.work_chip_seconds: is for 25 h; {policy}"))
        );
        assert_eq!(hours(Some(24), Some("2026-12-24T00:00:00Z"), Some(96)), None, "the work is over first");
        assert!(hours(Some(24), None, None).unwrap().contains("say how much work it is or when it ends"));
        assert!(hours(Some(24), Some("2026-12-01T00:00:01Z"), None).unwrap().contains("is for 24 h 1 min"));
        assert_eq!(hours(None, None, None), None, "without a policy any time will do");
    }
}
