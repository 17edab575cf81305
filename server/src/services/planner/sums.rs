//! Sums over all open plans, from their newest stored forecasts: spend by day and team for finance, demand by day and chip
//! type for admins.

use std::collections::BTreeMap;

use common::api::{PlannedDemand, PlannedSpend};
use common::chips::Chips;
use common::ids::{ChipTypeId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};

use super::super::Services;
use super::super::periods::{Calendar, PeriodKind};
use super::hours::cost;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::history::seconds_between;
use crate::store::planner::{self as stored, StoredPlan};

/// A part of a window that lies within one day.
struct Piece<'a> {
    plan: &'a StoredPlan,
    day: String,
    day_seconds: u64,
    from: Instant,
    to: Instant,
    chips: u64,
    price: Price,
    limit: Price,
}

impl Piece<'_> {
    fn chip_seconds(&self) -> u64 {
        self.chips * seconds_between(self.from, self.to).unsigned_abs()
    }
}

/// The hours of all open plans from now on, cut at midnight.
fn pieces<'a>(
    plans: &'a [StoredPlan],
    calendar: &Calendar,
    now: Instant,
) -> Result<Vec<Piece<'a>>, AppError> {
    let mut pieces = Vec::new();
    for plan in plans {
        for window in &plan.forecast.windows {
            let mut from = window.from.max(now);
            while from < window.to {
                let day = calendar.period(PeriodKind::Day, from)?;
                let to = window.to.min(day.ends_at);
                pieces.push(Piece {
                    plan,
                    day: day.first_day.to_string(),
                    day_seconds: seconds_between(day.starts_at, day.ends_at).unsigned_abs(),
                    from,
                    to,
                    chips: window.chips.0,
                    price: window.price,
                    limit: window.limit,
                });
                from = to;
            }
        }
    }
    Ok(pieces)
}

/// How many plans are among the pieces.
fn plans_in(pieces: &[&Piece<'_>]) -> u64 {
    let mut numbers: Vec<u64> = pieces.iter().map(|piece| piece.plan.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}

/// Pieces by a key, in its order.
fn grouped<'a, 'b, K: Ord>(
    pieces: &'b [Piece<'a>],
    key: impl Fn(&Piece<'a>) -> K,
) -> BTreeMap<K, Vec<&'b Piece<'a>>> {
    let mut groups: BTreeMap<K, Vec<&'b Piece<'a>>> = BTreeMap::new();
    for piece in pieces {
        groups.entry(key(piece)).or_default().push(piece);
    }
    groups
}

impl Services {
    /// What open plans would spend, by day and team.
    ///
    /// # Errors
    /// `NotFound`: the viewer does not read all money. `Unavailable`: the database does not answer.
    pub async fn planned_spend(&self, viewer: &Viewer) -> Result<Vec<PlannedSpend>, AppError> {
        viewer.may(Action::ReadMoney, Object::Organisation)?;
        let latest = self.latest().await?;
        let calendar = Calendar::new(&latest.setup.organisation.time_zone)?;
        let plans = stored::open(&mut self.store.read().await?).await?;
        let pieces = pieces(&plans, &calendar, self.now())?;
        let groups = grouped(&pieces, |piece| (piece.day.clone(), piece.plan.team.clone()));
        let row = |((day, team), pieces): ((String, TeamId), Vec<&Piece<'_>>)| {
            let sum = |of: fn(&Piece<'_>) -> MicroCredits| {
                MicroCredits(pieces.iter().map(|piece| of(piece).0).fold(0, i64::saturating_add))
            };
            PlannedSpend {
                day,
                team_name: latest.team_name(&team),
                team,
                plans: plans_in(&pieces),
                spend: sum(|piece| cost(piece.price, piece.chip_seconds())),
                at_most: sum(|piece| cost(piece.limit, piece.chip_seconds())),
            }
        };
        Ok(groups.into_iter().map(row).collect())
    }

    /// What open plans would ask of each chip type, by day, beside what there is in the cycle in force.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not see the supply. `Unavailable`: the database does not answer.
    pub async fn planned_demand(&self, viewer: &Viewer) -> Result<Vec<PlannedDemand>, AppError> {
        viewer.may(Action::ReadSupply, Object::Organisation)?;
        let latest = self.latest().await?;
        let calendar = Calendar::new(&latest.setup.organisation.time_zone)?;
        let plans = stored::open(&mut self.store.read().await?).await?;
        let pieces = pieces(&plans, &calendar, self.now())?;
        let groups = grouped(&pieces, |piece| (piece.day.clone(), piece.plan.newest.terms.chip_type.clone()));
        let supply_of = |chip_type: &ChipTypeId| {
            let shared =
                latest.setup.chip_types.iter().filter(|row| row.id == *chip_type).map(|row| row.shared.0);
            let owned =
                latest.setup.owned.iter().filter(|row| row.chip_type == *chip_type).map(|row| row.chips.0);
            shared.chain(owned).sum::<u64>()
        };
        let row = |((day, chip_type), pieces): ((String, ChipTypeId), Vec<&Piece<'_>>)| {
            let supply = supply_of(&chip_type);
            PlannedDemand {
                day,
                plans: plans_in(&pieces),
                chip_seconds: pieces.iter().map(|piece| piece.chip_seconds()).sum(),
                supply_chip_seconds: supply * pieces.first().map_or(0, |piece| piece.day_seconds),
                peak_chips: Chips(peak(&pieces)),
                supply: Chips(supply),
                chip_type,
            }
        };
        Ok(groups.into_iter().map(row).collect())
    }
}

/// Most chips asked for at one time; they are most when something begins.
fn peak(pieces: &[&Piece<'_>]) -> u64 {
    let at = |instant: Instant| {
        let running = pieces.iter().filter(|piece| piece.from <= instant && instant < piece.to);
        running.map(|piece| piece.chips).sum::<u64>()
    };
    pieces.iter().map(|piece| at(piece.from)).max().unwrap_or(0)
}
