//! Charges in the form of FOCUS 1.2, the open specification of cost and usage data: all its mandatory columns, those of its
//! conditional ones that this market has something to say in, and columns of our own that can be chosen.
//!
//! What a team paid is taken from the ledger, hour by hour, so the sums are the ledger's. What it was granted and did not
//! use stands beside it, as an unused capacity reservation that costs nothing.

use async_trait::async_trait;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;

use super::super::credit_value::{CreditValue, in_force};
use super::super::periods::{Period, PeriodKind};
use super::allocations::{STEP_SECONDS, sampled};
use super::source::{Context, HOUR, Hours, Progress, Source, hour_from};
use super::table::{Batch, Cell, Column, Kind, column};
use crate::error::{AppError, ErrorKind};
use crate::store::exports::{self, ExportedEntry};
use crate::store::history::step_start;
use crate::store::{Tx, budget, usage};

/// Hours read at once.
const HOURS_AT_ONCE: i64 = 4;

/// The columns of the specification, in its order.
pub(super) const COLUMNS: &[Column] = &[
    column(
        "BilledCost",
        Kind::Picos,
        "What is charged, in the billing currency: credits times the value of a credit, without rounding.",
    ),
    column("BillingAccountId", Kind::Text, "The pool, which has a currency of its own."),
    column("BillingAccountName", Kind::Text, "The pool's name."),
    column("BillingAccountType", Kind::Text, "Pool."),
    column(
        "BillingCurrency",
        Kind::Text,
        "The ISO currency in which the organisation counts a credit's value.",
    ),
    column("BillingPeriodEnd", Kind::Time, "The end of the month, in the organisation's zone."),
    column("BillingPeriodStart", Kind::Time, "The start of the month, in the organisation's zone."),
    column("CapacityReservationId", Kind::Text, "The team's quota of the chip type."),
    column(
        "CapacityReservationStatus",
        Kind::Text,
        "Used: chips of the quota that bids used. Unused: granted and idle.",
    ),
    column("ChargeCategory", Kind::Text, "Usage, or Adjustment for a correction."),
    column(
        "ChargeClass",
        Kind::Text,
        "Correction for what a person booked to put something right; else empty.",
    ),
    column("ChargeDescription", Kind::Text, "What is charged for, in words."),
    column("ChargeFrequency", Kind::Text, "Usage-Based, or One-Time for a correction."),
    column("ChargePeriodEnd", Kind::Time, "The end of the hour."),
    column("ChargePeriodStart", Kind::Time, "The start of the hour."),
    column("ConsumedQuantity", Kind::Micros, "Chip-hours used, to the millionth; 0 of what was idle."),
    column("ConsumedUnit", Kind::Text, "Chip-Hours."),
    column("ContractedCost", Kind::Picos, "The same as BilledCost: there are no discounts."),
    column("EffectiveCost", Kind::Picos, "The same as BilledCost: nothing is paid in advance."),
    column("InvoiceIssuerName", Kind::Text, "The organisation."),
    column("ListCost", Kind::Picos, "The same as BilledCost: the price of the market is the list price."),
    column("PricingCategory", Kind::Text, "Dynamic: the price is cleared anew in each cycle."),
    column("PricingCurrency", Kind::Text, "The pool's credits."),
    column(
        "PricingCurrencyEffectiveCost",
        Kind::Micros,
        "What was charged in credits, exactly as in the ledger.",
    ),
    column(
        "PricingQuantity",
        Kind::Micros,
        "Chip-hours priced, to the millionth: those used, or those idle.",
    ),
    column("PricingUnit", Kind::Text, "Chip-Hours."),
    column("ProviderName", Kind::Text, "The organisation."),
    column("PublisherName", Kind::Text, "The organisation."),
    column("ResourceId", Kind::Text, "The chip type."),
    column("ResourceName", Kind::Text, "The chip type's name."),
    column("ResourceType", Kind::Text, "Chip type."),
    column("ServiceCategory", Kind::Text, "AI and Machine Learning."),
    column("ServiceName", Kind::Text, "Quota Marketplace."),
    column("SubAccountId", Kind::Text, "The team."),
    column("SubAccountName", Kind::Text, "The team's name."),
    column("SubAccountType", Kind::Text, "Team."),
];

/// Columns of our own, of which any may be chosen.
pub(super) const EXTRA_COLUMNS: &[Column] = &[
    column(
        "x_ChargePeriodStartLocal",
        Kind::Text,
        "Start of the hour in the organisation's zone, with its offset.",
    ),
    column("x_ChipSeconds", Kind::Whole, "The priced quantity exactly: chips times seconds."),
    column("x_CreditValue", Kind::Micros, "What a credit was worth in the billing currency."),
    column("x_LedgerTransfer", Kind::Whole, "Of a correction: the transfer in the ledger."),
    column("x_Reason", Kind::Text, "Of a correction: why it was booked."),
    column("x_TimeZone", Kind::Text, "The organisation's zone, in which billing periods are counted."),
];

/// What a row is about.
enum Charge {
    /// Chips of a quota that bids used.
    Used,
    /// Chips of a quota that nobody used.
    Unused,
    /// What a person booked: the transfer and why.
    Correction(u64, String),
}

/// A row before it is written.
struct Charged {
    at: Instant,
    team: TeamId,
    pool: PoolId,
    chip_type: Option<ChipTypeId>,
    charge: Charge,
    /// What the team pays, in micro-credits; below zero what it gets back.
    amount: i64,
    chip_seconds: u64,
}

pub(super) struct Focus {
    context: Context,
    hours: Hours,
    values: Vec<CreditValue>,
    month: Option<Period>,
    extra: Vec<Column>,
    expected: u64,
}

impl Focus {
    pub(super) async fn open(tx: &mut Tx, context: Context, extra: Vec<Column>) -> Result<Self, AppError> {
        let values = CreditValue::all(tx).await?;
        if values.is_empty() {
            return Err(AppError::new(
                ErrorKind::Conflict,
                "FOCUS needs to know what a credit is worth; finance sets it at /finance/exports/credit-value",
            ));
        }
        let hours = context.stretches(budget::first_cycle_at(tx).await?);
        let rows = |usage: &usage::Usage| {
            u64::from(usage.used_chip_seconds > 0)
                + u64::from(usage.granted_chip_seconds > usage.used_chip_seconds)
        };
        let expected = sampled(tx, hours, rows).await?;
        Ok(Self { context, hours, values, month: None, extra, expected })
    }

    /// What is charged between two instants of one month.
    async fn read(&self, tx: &mut Tx, from: Instant, to: Instant) -> Result<Vec<Charged>, AppError> {
        let mut charged = Vec::new();
        for charge in exports::hourly_charges(tx, from, to).await? {
            charged.push(Charged {
                at: charge.hour.max(from),
                team: charge.team,
                pool: charge.pool,
                chip_type: Some(charge.chip_type),
                charge: Charge::Used,
                amount: charge.amount.0,
                chip_seconds: charge.chip_seconds,
            });
        }
        let (first, end) = (hour_from(from), hour_from(to).min(self.context.now));
        if first < end {
            for usage in usage::usage(tx, first, end, STEP_SECONDS).await? {
                let idle = usage.granted_chip_seconds.saturating_sub(usage.used_chip_seconds);
                let Some(team) = self.context.teams.get(&usage.team).filter(|_| idle > 0) else { continue };
                charged.push(Charged {
                    at: usage.starts_at,
                    pool: team.pool.clone(),
                    team: usage.team,
                    chip_type: Some(usage.chip_type),
                    charge: Charge::Unused,
                    amount: 0,
                    chip_seconds: idle,
                });
            }
        }
        charged.extend(exports::corrections(tx, from, to).await?.into_iter().map(correction));
        charged.retain(|row| self.context.scope.has(&row.team));
        charged.sort_by(|one, other| {
            (one.at, &one.team, &one.chip_type).cmp(&(other.at, &other.team, &other.chip_type))
        });
        Ok(charged)
    }

    /// The month that an instant lies in.
    fn month(&mut self, at: Instant) -> Result<Period, AppError> {
        match self.month {
            Some(month) if month.contains(at) => Ok(month),
            _ => {
                let month = self.context.calendar.period(PeriodKind::Month, at)?;
                self.month = Some(month);
                Ok(month)
            }
        }
    }

    fn push(&mut self, batch: &mut Batch, row: &Charged) -> Result<(), AppError> {
        let month = self.month(row.at)?;
        let Some(value) = in_force(&self.values, month.starts_at) else {
            return Err(AppError::internal("a credit has no value"));
        };
        let hour = step_start(row.at, HOUR);
        let (starts_at, ends_at) = (hour.max(month.starts_at), hour.plus_seconds(HOUR).min(month.ends_at));
        let cost = i128::from(row.amount) * i128::from(value.value.0);
        let team = self.context.teams.get(&row.team);
        let organisation = || Cell::Text(self.context.organisation.clone());
        let quantity = Cell::Micros(chip_hours(row.chip_seconds));
        let is_correction = matches!(row.charge, Charge::Correction(..));
        // What a correction does not have, and all other rows do.
        let priced = |cell: Cell| if is_correction { Cell::Absent } else { cell };
        let reservation = row.chip_type.as_ref().map(|chip_type| format!("{}/{chip_type}", row.team));
        let cells = [
            Cell::Picos(cost),
            Cell::text(&row.pool),
            Cell::Text(self.context.pool_name(&row.pool)),
            Cell::text("Pool"),
            Cell::Text(value.currency.clone()),
            Cell::Time(month.ends_at),
            Cell::Time(month.starts_at),
            Cell::or_absent(reservation, Cell::Text),
            priced(Cell::text(if matches!(row.charge, Charge::Unused) { "Unused" } else { "Used" })),
            Cell::text(if is_correction { "Adjustment" } else { "Usage" }),
            if is_correction { Cell::text("Correction") } else { Cell::Absent },
            Cell::Text(description(row)),
            Cell::text(if is_correction { "One-Time" } else { "Usage-Based" }),
            Cell::Time(ends_at),
            Cell::Time(starts_at),
            priced(if matches!(row.charge, Charge::Unused) { Cell::Micros(0) } else { quantity.clone() }),
            priced(Cell::text("Chip-Hours")),
            Cell::Picos(cost),
            Cell::Picos(cost),
            organisation(),
            Cell::Picos(cost),
            priced(Cell::text("Dynamic")),
            Cell::Text(format!("{} credits", row.pool)),
            Cell::Micros(row.amount),
            priced(quantity),
            priced(Cell::text("Chip-Hours")),
            organisation(),
            organisation(),
            Cell::or_absent(row.chip_type.as_ref(), Cell::text),
            Cell::or_absent(row.chip_type.as_ref(), |id| Cell::Text(self.context.chip_type_name(id))),
            priced(Cell::text("Chip type")),
            Cell::text("AI and Machine Learning"),
            Cell::text("Quota Marketplace"),
            Cell::text(&row.team),
            Cell::or_absent(team, |team| Cell::text(&team.name)),
            Cell::text("Team"),
        ];
        let extra = self.extra.iter().map(|column| self.extra_cell(column.name, row, starts_at, value));
        let extra = extra.collect::<Result<Vec<_>, _>>()?;
        batch.push(cells.into_iter().chain(extra));
        Ok(())
    }

    fn extra_cell(
        &self,
        name: &str,
        row: &Charged,
        starts_at: Instant,
        value: &CreditValue,
    ) -> Result<Cell, AppError> {
        let correction = match &row.charge {
            Charge::Correction(transfer, reason) => Some((*transfer, reason)),
            Charge::Used | Charge::Unused => None,
        };
        Ok(match name {
            "x_ChargePeriodStartLocal" => Cell::Text(self.context.calendar.local_text(starts_at)?),
            "x_ChipSeconds" if correction.is_none() => Cell::count(row.chip_seconds),
            "x_CreditValue" => Cell::Micros(value.value.0),
            "x_LedgerTransfer" => Cell::or_absent(correction, |(transfer, _)| Cell::count(transfer)),
            "x_Reason" => Cell::or_absent(correction, |(_, reason)| Cell::text(reason)),
            "x_TimeZone" => Cell::Text(self.context.time_zone.clone()),
            _ => Cell::Absent,
        })
    }
}

/// Chip-seconds as millionths of a chip-hour, rounded half up.
fn chip_hours(chip_seconds: u64) -> i64 {
    let millionths = (u128::from(chip_seconds) * 1_000_000 + 1_800) / 3_600;
    i64::try_from(millionths).unwrap_or(i64::MAX)
}

/// A correction of a team's account.
fn correction((team, entry): (TeamId, ExportedEntry)) -> Charged {
    Charged {
        at: entry.counts_at(),
        team,
        pool: entry.pool,
        chip_type: None,
        charge: Charge::Correction(entry.transfer, entry.reason),
        amount: -entry.amount.0,
        chip_seconds: 0,
    }
}

fn description(row: &Charged) -> String {
    let chip_type = row.chip_type.as_ref().map(ToString::to_string).unwrap_or_default();
    match &row.charge {
        Charge::Used => format!("{chip_type} chips used at the market's price"),
        Charge::Unused => format!("{chip_type} chips granted and not used"),
        Charge::Correction(transfer, _) => format!("Correction booked as transfer {transfer}"),
    }
}

#[async_trait]
impl Source for Focus {
    async fn next(&mut self, tx: &mut Tx) -> Result<Option<Batch>, AppError> {
        let Some((from, to)) = self.hours.take(HOURS_AT_ONCE) else { return Ok(None) };
        let mut batch = Batch::default();
        // A stretch never crosses the end of a month, so that an hour cut by it becomes two rows.
        let mut start = from;
        while start < to {
            let end = self.month(start)?.ends_at.min(to);
            for row in self.read(tx, start, end).await? {
                self.push(&mut batch, &row)?;
            }
            start = end;
        }
        Ok(Some(batch))
    }

    fn expected_rows(&self) -> u64 {
        self.expected
    }

    fn progress(&self) -> Progress {
        self.hours.progress()
    }
}
