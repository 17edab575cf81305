//! The report of a replay: one structure, as a table for people and as JSON for programs.

use std::fmt::{self, Write as _};

use common::instant::Instant;
use common::money::Price;
use serde::Serialize;

use super::demand::Grid;
use super::figures::{ChipCycles, Months, Service};
use super::market_figures::MarketResult;
use super::static_pools::StaticResult;
use crate::trace::organisation::Organisation;
use crate::trace::{Trace, mean_demand_milli};

/// All figures of a replay. Chips × cycles are whole numbers, prices decimal strings in global credits per chip-hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The trace.
    pub trace: String,
    /// What is derived and what is invented.
    pub data_note: String,
    /// Start of the first cycle.
    pub from: Instant,
    /// End of the last cycle.
    pub to: Instant,
    /// Seconds from one cycle to the next.
    pub cycle_seconds: u32,
    /// Cycles cleared.
    pub cycles: u32,
    /// Chips of all types.
    pub chips: u64,
    /// Calendar months (UTC) touched; lists "by month" are in this order.
    pub months: Vec<Month>,
    /// The market.
    pub market: MarketResult,
    /// The same demand on static pools of the same supply.
    pub static_pools: Vec<StaticResult>,
}

/// A month, or the part of it that lies in the replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Month {
    /// Its name, such as `2017-10`.
    pub name: String,
    /// Cycles that begin in it.
    pub cycles: u64,
    /// Chips that the replayed jobs would hold on average if each ran from its submission on, in thousandths.
    pub demand_milli: u64,
}

impl Report {
    pub(super) fn new(
        trace: &Trace,
        organisation: &Organisation,
        grid: Grid,
        market: MarketResult,
        static_pools: Vec<StaticResult>,
    ) -> Self {
        let months = Months::of(grid);
        let jobs = trace.submitted_between(grid.from, grid.starts_at(grid.cycles));
        let mut first = 0_u32;
        let month = |(name, cycles): (String, u64)| {
            let end = first.saturating_add(u32::try_from(cycles).unwrap_or(u32::MAX));
            let demand_milli = mean_demand_milli(jobs, grid.starts_at(first), grid.starts_at(end));
            first = end;
            Month { name, cycles, demand_milli }
        };
        Self {
            trace: trace.name.clone(),
            data_note: organisation.data_note(),
            from: grid.from,
            to: grid.starts_at(grid.cycles),
            cycle_seconds: grid.cycle_seconds,
            cycles: grid.cycles,
            chips: organisation.chip_types.iter().map(|plan| organisation.supply(&plan.id)).sum(),
            months: months.names.iter().cloned().zip(months.cycles()).map(month).collect(),
            market,
            static_pools,
        }
    }

    /// The report as JSON, ending with a line feed.
    ///
    /// # Panics
    /// Never: its maps have text keys and no part of it fails to serialise.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report always serialises");
        text.push('\n');
        text
    }

    /// Chips × cycles in use as percent of all, per month and in all.
    fn occupancy(&self, used: &ChipCycles) -> Vec<String> {
        let of =
            |used: u64, cycles: u64| percent(u128::from(used), u128::from(cycles) * u128::from(self.chips));
        let by_month = self.months.iter().zip(&used.by_month).map(|(month, used)| of(*used, month.cycles));
        by_month.chain([of(used.total(), u64::from(self.cycles))]).collect()
    }

    fn write_occupancy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head: Vec<&str> = self.months.iter().map(|month| month.name.as_str()).collect();
        head.push("all");
        row(f, "Occupancy, % of supply", &head)?;
        let demand = self
            .months
            .iter()
            .map(|month| percent(u128::from(month.demand_milli), u128::from(self.chips) * 1_000));
        let all: u128 =
            self.months.iter().map(|month| u128::from(month.demand_milli) * u128::from(month.cycles)).sum();
        let all = percent(all, u128::from(self.cycles) * u128::from(self.chips) * 1_000);
        row(f, "demand, if nothing ever waited", &demand.chain([all]).collect::<Vec<_>>())?;
        let market = &self.market;
        let sum = |a: &ChipCycles, b: &ChipCycles| ChipCycles {
            by_month: a.by_month.iter().zip(&b.by_month).map(|(a, b)| a + b).collect(),
        };
        row(f, "market", &self.occupancy(&sum(&market.paid, &market.opportunistic)))?;
        row(f, "  of that paid", &self.occupancy(&market.paid))?;
        row(f, "  of that opportunistic", &self.occupancy(&market.opportunistic))?;
        for pools in &self.static_pools {
            row(f, pools.variant.name(), &self.occupancy(&pools.used))?;
        }
        writeln!(f)
    }

    fn write_jobs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(
            f,
            "Jobs",
            &[
                "served",
                "running",
                "waiting",
                "wait p50",
                "wait p90",
                "wait mean",
                "took p50",
                "took p90",
                "took mean",
            ],
        )?;
        write_service(f, "market", &self.market.service)?;
        for pools in &self.static_pools {
            write_service(f, pools.variant.name(), &pools.service)?;
        }
        for pools in &self.static_pools {
            writeln!(
                f,
                "{}: {} jobs of {} chip-hours are larger than any share they could use and never run.",
                pools.variant.name(),
                pools.stranded_jobs,
                pools.stranded_chip_hours
            )?;
        }
        writeln!(f)
    }

    fn write_prices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(
            f,
            "Reference price, credits per chip-hour",
            &["chips", "paid", "free use", "mean", "p50", "p90", "max", "price 0", "no trade", "churn %"],
        )?;
        for figures in &self.market.chip_types {
            let whole = u128::from(figures.supply) * u128::from(self.cycles);
            let cycles = |cycles: u64| percent(cycles.into(), self.cycles.into());
            let price = &figures.price;
            row(
                f,
                figures.chip_type.as_str(),
                &[
                    figures.supply.to_string(),
                    percent(figures.paid.into(), whole),
                    percent(figures.opportunistic.into(), whole),
                    short(price.mean),
                    short(price.p50),
                    short(price.p90),
                    short(price.max),
                    cycles(price.free_cycles),
                    cycles(price.no_trade_cycles),
                    price
                        .churn_thousandths
                        .map_or_else(|| "-".to_owned(), |churn| percent(churn.into(), 1_000)),
                ],
            )?;
        }
        writeln!(f)
    }

    fn write_teams(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        row(
            f,
            "Team",
            &["pool", "power %", "paid %", "chip-hours", "price ratio", "income", "spent", "balance"],
        )?;
        for team in &self.market.teams {
            row(
                f,
                team.team.as_str(),
                &[
                    team.pool.to_string(),
                    percent(team.power_thousandths.into(), 1_000),
                    percent(team.paid_thousandths.into(), 1_000),
                    team.paid_chip_hours.to_string(),
                    team.price_ratio_thousandths.map_or_else(|| "-".to_owned(), thousandths),
                    whole(team.income.0),
                    whole(team.charges.0),
                    whole(team.balance.0),
                ],
            )?;
        }
        writeln!(f)
    }

    fn write_churn(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let market = &self.market;
        let per_cycle = |chips: u64| thousandths(chips.saturating_mul(1_000) / u64::from(self.cycles.max(1)));
        writeln!(
            f,
            "Quota churn: {} chips change hands in a cycle on average, {} % of supply.",
            per_cycle(market.quota_moves),
            percent(market.quota_moves.into(), u128::from(self.chips) * u128::from(self.cycles))
        )?;
        writeln!(
            f,
            "Stops: {} times a running job lost all its chips and went on later ({} per day). The market takes this as \
             free;\nif each cost its chips five minutes, that would be {} % of the chip-hours used.",
            market.stops,
            u64::from(market.stops > 0) * market.stops * 86_400
                / (u64::from(self.cycles) * u64::from(self.cycle_seconds)).max(1),
            percent(
                u128::from(market.stopped_chips) * 300,
                u128::from(market.paid.total() + market.opportunistic.total())
                    * u128::from(self.cycle_seconds)
            )
        )?;
        writeln!(
            f,
            "Fairness: average price paid {} credits per chip-hour; the dearest team's ratio f gives min 1/f = {}.",
            short(market.mean_price_paid),
            market.fairness_thousandths.map_or_else(|| "none, as nobody paid".to_owned(), thousandths)
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Replay of {} from {} to {}", self.trace, self.from, self.to)?;
        writeln!(
            f,
            "{} cycles of {} s, {} chips. {}\n",
            self.cycles, self.cycle_seconds, self.chips, self.data_note
        )?;
        self.write_occupancy(f)?;
        self.write_jobs(f)?;
        self.write_prices(f)?;
        self.write_teams(f)?;
        self.write_churn(f)
    }
}

fn write_service(f: &mut fmt::Formatter<'_>, name: &str, service: &Service) -> fmt::Result {
    let (wait, took) = (&service.wait_seconds, &service.completion_seconds);
    row(
        f,
        name,
        &[
            service.completed.to_string(),
            service.still_running.to_string(),
            service.still_waiting.to_string(),
            duration(wait.p50.into()),
            duration(wait.p90.into()),
            duration(wait.mean),
            duration(took.p50.into()),
            duration(took.p90.into()),
            duration(took.mean),
        ],
    )
}

/// A name on the left, cells right-aligned.
fn row(f: &mut fmt::Formatter<'_>, name: &str, cells: &[impl AsRef<str>]) -> fmt::Result {
    let mut line = format!("{name:<38}");
    for cell in cells {
        write!(line, " {:>10}", cell.as_ref())?;
    }
    writeln!(f, "{}", line.trim_end())
}

/// `part / whole` in percent with one decimal, rounded half up.
fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let tenths = (part * 1_000 + whole / 2) / whole;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Thousandths with two decimals, rounded down.
fn thousandths(value: u64) -> String {
    format!("{}.{:02}", value / 1_000, value % 1_000 / 10)
}

/// A price with three decimals, rounded half up: for reading; the JSON has it in full.
fn short(price: Price) -> String {
    let thousandths = (price.0 + 500) / 1_000;
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// Whole credits, rounded towards zero.
fn whole(micros: i64) -> String {
    (micros / 1_000_000).to_string()
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{}.{} h", seconds / 3_600, seconds % 3_600 / 360),
        _ => format!("{}.{} d", seconds / 86_400, seconds % 86_400 / 8_640),
    }
}
