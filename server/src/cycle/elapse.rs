//! Time passes in a cycle: jobs work, incomes and charges run up.

use std::collections::BTreeMap;

use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::placement::occupied_seconds;

use super::state::{InUse, MarketState};
use crate::error::AppError;
use crate::store::history::{seconds_between, step_start};
use crate::store::usage::Usage;

/// A bid at work over a stretch of time.
struct Job {
    number: u64,
    team: TeamId,
    chip_type: ChipTypeId,
    chips: u64,
    /// What a chip costs in an hour.
    price: Price,
    kind: Kind,
    /// Seconds from the start of the stretch in which it occupies its chips.
    seconds: u64,
}

/// How a job uses its chips.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Paid,
    Over,
    Free,
}

/// A team's use of one chip type in one piece, in chip-seconds.
#[derive(Clone, Default)]
struct Used {
    granted: u64,
    paid: u64,
    free: u64,
    /// Over quota, each with its price.
    over: Vec<(Price, u64)>,
}

impl MarketState {
    /// Lets the time from the last cycle's start to `to` pass with its quotas and prices in force.
    pub(super) fn elapse(&mut self, to: Instant) -> Result<(), AppError> {
        if self.cycle == 0 {
            return Ok(());
        }
        let from = self.starts_at;
        let jobs = self.jobs(seconds_between(from, to).unsigned_abs());
        let mut at = from;
        while at < to {
            let end = self.piece_end(at).min(to);
            self.elapse_piece(&jobs, from, at, end)?;
            at = end;
        }
        for job in jobs {
            if let Some(standing) = self.bids.get_mut(&job.number) {
                standing.done_chip_seconds =
                    standing.done_chip_seconds.saturating_add(job.chips * job.seconds);
            }
        }
        Ok(())
    }

    /// Pieces end where an accounting interval or an hour ends, so that roll-ups never have to cut them.
    fn piece_end(&self, at: Instant) -> Instant {
        let step = i64::from(self.organisation.accounting_seconds.max(1));
        step_start(at, step).plus_seconds(step).min(step_start(at, 3_600).plus_seconds(3_600))
    }

    /// The start of the piece that contains an instant: not before the last booking, so that no two bookings write the
    /// same piece.
    fn piece_start(&self, at: Instant) -> Instant {
        let step = i64::from(self.organisation.accounting_seconds.max(1));
        step_start(at, step).max(step_start(at, 3_600)).max(self.accounting.booked_at)
    }

    fn jobs(&self, stretch_seconds: u64) -> Vec<Job> {
        let cycle_seconds = u64::from(self.organisation.cycle_seconds);
        let jobs = self.bids.iter().filter_map(|(number, standing)| {
            let in_use = standing.in_use()?;
            let (chips, team) = (in_use.chips(), &standing.version.team);
            let (chip_type, kind, price) = match in_use {
                InUse::Paid(chip_type, _) => (chip_type, Kind::Paid, self.local_price(team, chip_type)),
                InUse::Over(over) => (&over.chip_type, Kind::Over, over.price),
                InUse::Free(chip_type, _) => (chip_type, Kind::Free, Price::default()),
            };
            Some(Job {
                number: *number,
                team: team.clone(),
                chip_type: chip_type.clone(),
                chips: chips.0,
                price,
                kind,
                seconds: occupied_seconds(stretch_seconds, cycle_seconds, standing.work_left(), chips),
            })
        });
        jobs.collect()
    }

    /// One piece from `at` to `end` of the stretch that began at `from`.
    fn elapse_piece(
        &mut self,
        jobs: &[Job],
        from: Instant,
        at: Instant,
        end: Instant,
    ) -> Result<(), AppError> {
        let seconds = seconds_between(at, end).unsigned_abs();
        let offset = seconds_between(from, at).unsigned_abs();
        for state in self.teams.values_mut() {
            state.income.run(state.team.income.0.unsigned_abs(), seconds);
        }
        let mut used: BTreeMap<(TeamId, ChipTypeId), Used> = BTreeMap::new();
        for (key, quota) in self.quotas.iter().filter(|(_, quota)| quota.quota.0 > 0) {
            used.entry(key.clone()).or_default().granted = quota.quota.0 * seconds;
        }
        for job in jobs {
            let chip_seconds = job.chips * job.seconds.saturating_sub(offset).min(seconds);
            let used = used.entry((job.team.clone(), job.chip_type.clone())).or_default();
            match job.kind {
                Kind::Paid => used.paid += chip_seconds,
                Kind::Over => used.over.push((job.price, chip_seconds)),
                Kind::Free => used.free += chip_seconds,
            }
            if job.price.0 > 0 && chip_seconds > 0 {
                let cost = u128::from(job.price.0) * u128::from(chip_seconds);
                *self.accounting.costs.entry(job.number).or_default() += cost;
            }
        }
        for ((team, chip_type), used) in used {
            self.run_up(team, chip_type, used, at)?;
        }
        Ok(())
    }

    /// Adds a team's use of a chip type to its charges and to the usage.
    fn run_up(
        &mut self,
        team: TeamId,
        chip_type: ChipTypeId,
        used: Used,
        at: Instant,
    ) -> Result<(), AppError> {
        let price = self.local_price(&team, &chip_type);
        let starts_at = self.piece_start(at);
        let Some(state) = self.teams.get_mut(&team) else { return Ok(()) };
        let charge = state.charges.entry(chip_type.clone()).or_default();
        let mut paid = 0;
        for (price, chip_seconds) in used.over.into_iter().chain([(price, used.paid)]) {
            charge.meter.run(price.0, chip_seconds);
            charge.is_owed |= price.0 > 0 && chip_seconds > 0;
            paid += chip_seconds;
        }
        charge.chip_seconds += paid;
        let cost = charge.meter.book().map_err(AppError::internal)?;
        let amount = charge.amount.checked_add(cost.0);
        charge.amount = amount.ok_or_else(|| {
            AppError::internal(format!("the charge of team {team} leaves the range of a balance"))
        })?;
        let piece = self.accounting.pieces.entry((starts_at, team.clone(), chip_type.clone()));
        let piece = piece.or_insert_with(|| Usage {
            starts_at,
            team,
            chip_type,
            granted_chip_seconds: 0,
            used_chip_seconds: 0,
            opportunistic_chip_seconds: 0,
            cost: MicroCredits::ZERO,
        });
        piece.granted_chip_seconds += used.granted;
        piece.used_chip_seconds += paid;
        piece.opportunistic_chip_seconds += used.free;
        piece.cost = MicroCredits(piece.cost.0.saturating_add(cost.0));
        Ok(())
    }
}
