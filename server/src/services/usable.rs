//! What is left of an allowance: its period, what was carried into it, what was spent of it.
//!
//! Both the clearing and the pages ask here. What is carried over follows from the ledger alone: from the period on in which
//! the present version of an allowance took effect, each period leaves to the next what its rule says. So a change of an
//! allowance begins with nothing carried over.

use common::api::{AllowancePeriod, AllowanceView, Carry};
use common::instant::Instant;
use common::money::MicroCredits;

use super::periods::{Calendar, Period, PeriodKind};
use crate::error::AppError;
use crate::store::Tx;
use crate::store::allowances::{Owner, charged, charged_in_pool};

/// What an allowance says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Local credits per period.
    pub(crate) amount: MicroCredits,
    /// Used up, it stops bids.
    pub(crate) hard: bool,
    /// How long its period is.
    pub(crate) period: AllowancePeriod,
    /// What is carried over.
    pub(crate) carry: Carry,
    /// When this version of it took effect.
    pub(crate) since: Instant,
}

impl Rule {
    /// The kind of its periods.
    pub(crate) const fn kind(&self) -> PeriodKind {
        match self.period {
            AllowancePeriod::Month => PeriodKind::Month,
            AllowancePeriod::Quarter => PeriodKind::Quarter,
        }
    }

    /// What a period leaves to the next one; nothing where the rule did not hold in it.
    fn left_by(&self, period: &Period, carried: MicroCredits, spent: MicroCredits) -> MicroCredits {
        if self.since >= period.ends_at {
            return MicroCredits::ZERO;
        }
        let limit = self.amount.0.saturating_add(carried.0);
        self.carry.of(MicroCredits(limit.saturating_sub(spent.0)))
    }
}

/// An allowance in one of its periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Usable {
    pub(crate) rule: Rule,
    /// The period that is counted.
    pub(crate) period: Period,
    /// What the period before left to it.
    pub(crate) carried: MicroCredits,
    /// What is spent in it.
    pub(crate) spent: MicroCredits,
}

impl Usable {
    /// An allowance in the period that contains `at`, with what was spent up to the end of cycle `cycle`.
    pub(crate) async fn load(
        tx: &mut Tx,
        calendar: &Calendar,
        (owner, rule): (&Owner, Rule),
        at: Instant,
        cycle: u64,
    ) -> Result<Self, AppError> {
        let period = calendar.period(rule.kind(), at)?;
        let spent = spent_in(tx, owner, &period, cycle).await?;
        let carried = Self::carried_into(tx, calendar, (owner, rule), &period, cycle).await?;
        Ok(Self { rule, period, carried, spent })
    }

    /// What the periods before one left to it.
    pub(crate) async fn carried_into(
        tx: &mut Tx,
        calendar: &Calendar,
        (owner, rule): (&Owner, Rule),
        current: &Period,
        cycle: u64,
    ) -> Result<MicroCredits, AppError> {
        let mut carried = MicroCredits::ZERO;
        if rule.carry == Carry::None {
            return Ok(carried);
        }
        let mut period = calendar.period(rule.kind(), rule.since)?;
        while period.starts_at < current.starts_at {
            let spent = spent_in(tx, owner, &period, cycle).await?;
            carried = rule.left_by(&period, carried, spent);
            period = calendar.next(rule.kind(), &period)?;
        }
        Ok(carried)
    }

    /// What may be spent in the period.
    pub(crate) fn limit(&self) -> MicroCredits {
        MicroCredits(self.rule.amount.0.saturating_add(self.carried.0))
    }

    /// Nothing more may be bid in the period.
    pub(crate) fn is_over(&self) -> bool {
        self.rule.hard && self.spent >= self.limit()
    }

    /// Goes on to the period that contains `at`; the answer is whether it is another one.
    pub(crate) fn turn_to(&mut self, calendar: &Calendar, at: Instant) -> Result<bool, AppError> {
        let before = self.period.starts_at;
        while self.period.ends_at <= at {
            self.carried = self.rule.left_by(&self.period, self.carried, self.spent);
            self.spent = MicroCredits::ZERO;
            self.period = calendar.next(self.rule.kind(), &self.period)?;
        }
        Ok(self.period.starts_at != before)
    }

    /// As it is shown.
    pub(crate) fn view(&self) -> AllowanceView {
        let (limit, spent) = (self.limit(), self.spent);
        let percent = match limit.0 {
            0 => 100,
            limit => i128::from(spent.0.max(0)) * 100 / i128::from(limit),
        };
        AllowanceView {
            amount: self.rule.amount,
            period: self.rule.period,
            carry: self.rule.carry,
            carried: self.carried,
            limit,
            spent,
            hard: self.rule.hard,
            used_percent: u64::try_from(percent).unwrap_or(u64::MAX),
            left: MicroCredits(limit.0.saturating_sub(spent.0).max(0)),
            over: MicroCredits(spent.0.saturating_sub(limit.0).max(0)),
        }
    }
}

async fn spent_in(tx: &mut Tx, owner: &Owner, period: &Period, cycle: u64) -> Result<MicroCredits, AppError> {
    let bounds = (period.starts_at, period.ends_at);
    match owner {
        Owner::Team(team) => charged(tx, team, bounds, cycle).await,
        Owner::Pool(pool) => charged_in_pool(tx, pool, bounds, cycle).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(credits: i64) -> MicroCredits {
        MicroCredits(credits * 1_000_000)
    }

    fn usable(carry: Carry, spent: i64) -> (Calendar, Usable) {
        let calendar = Calendar::new("UTC").unwrap();
        let at: Instant = "2026-11-21T00:00:00Z".parse().unwrap();
        let rule = Rule { amount: whole(100), hard: true, period: AllowancePeriod::Month, carry, since: at };
        let period = calendar.period(PeriodKind::Month, at).unwrap();
        (calendar, Usable { rule, period, carried: MicroCredits::ZERO, spent: whole(spent) })
    }

    #[test]
    fn t070_what_is_spent_stays_spent_until_the_period_ends() {
        let (calendar, mut usable) = usable(Carry::None, 100);
        let last = Instant(usable.period.ends_at.0 - 1);
        assert!(!usable.turn_to(&calendar, last).unwrap() && usable.is_over());
        assert!(usable.turn_to(&calendar, Instant(last.0 + 1)).unwrap() && !usable.is_over());
        assert_eq!((usable.carried, usable.limit()), (whole(0), whole(100)));
    }

    #[test]
    fn what_is_left_is_carried_over_as_the_rule_says() {
        for (carry, spent, expected) in [
            (Carry::None, 40, 0),
            (Carry::Capped(whole(25)), 40, 25),
            (Carry::Capped(whole(80)), 40, 60),
            (Carry::Full, 40, 60),
            (Carry::Full, 130, 0),
        ] {
            let (calendar, mut usable) = usable(carry, spent);
            let next = usable.period.ends_at;
            usable.turn_to(&calendar, next).unwrap();
            assert_eq!((usable.carried, usable.spent), (whole(expected), whole(0)), "{carry:?} {spent}");
        }
        // A month in which nothing is spent adds to what is carried on.
        let (calendar, mut usable) = usable(Carry::Full, 40);
        usable.turn_to(&calendar, "2027-01-15T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(usable.carried, whole(160));
    }

    #[test]
    fn a_rule_that_begins_with_a_period_carries_nothing_into_it() {
        let (calendar, mut usable) = usable(Carry::Full, 40);
        usable.rule.since = usable.period.ends_at;
        let next = usable.period.ends_at;
        usable.turn_to(&calendar, next).unwrap();
        assert_eq!(usable.carried, whole(0));
    }

    #[test]
    fn t071_an_allowance_says_what_is_left_and_what_is_over_never_less_than_nothing() {
        let (_, over) = usable(Carry::None, 101);
        let view = over.view();
        assert_eq!((view.used_percent, view.left, view.over), (101, whole(0), whole(1)));
        let (_, under) = usable(Carry::None, 99);
        let view = under.view();
        assert_eq!((view.used_percent, view.left, view.over), (99, whole(1), whole(0)));
    }
}
