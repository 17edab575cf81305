//! The table form of each answer: what a spreadsheet opens. Times are UTC, prices the same decimal strings as
//! everywhere; an absent price is an empty cell, never 0.

use common::api::{
    AllocationsView, BidDetail, BidStatus, BidsView, BookView, CycleSummary, CycleView, MarketView,
    Occupancy, Page, PriceHistory,
};

use super::answer::{Table, cell};

/// The cells of an occupancy, in the order of [`OCCUPANCY_COLUMNS`].
fn occupancy_cells(occupancy: &Occupancy) -> [String; 4] {
    [occupancy.supply, occupancy.paid, occupancy.opportunistic, occupancy.idle].map(|chips| chips.to_string())
}

const OCCUPANCY_COLUMNS: [&str; 4] = ["supply_chips", "paid_chips", "opportunistic_chips", "idle_chips"];

impl Table for MarketView {
    fn file_name(&self) -> String {
        format!("market-{}", self.clock.cycle)
    }

    fn columns(&self) -> Vec<&'static str> {
        let mut columns = vec![
            "cycle",
            "cleared_at",
            "chip_type",
            "name",
            "reference_price_credits_per_chip_hour",
            "pool",
            "local_price_credits_per_chip_hour",
            "reference_price_1h_ago_credits_per_chip_hour",
            "reference_price_24h_ago_credits_per_chip_hour",
            "asked_chips",
        ];
        columns.extend(OCCUPANCY_COLUMNS);
        columns
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &common::api::ChipTypeRow| {
            let mut cells = vec![
                self.clock.cycle.to_string(),
                self.clock.cleared_at.to_string(),
                row.chip_type.to_string(),
                row.name.clone(),
                cell(row.reference_price),
                cell(self.pool.as_ref()),
                cell(row.local_price),
                cell(row.reference_price_1h_ago),
                cell(row.reference_price_24h_ago),
                row.asked.to_string(),
            ];
            cells.extend(occupancy_cells(&row.occupancy));
            cells
        };
        self.rows.iter().map(row).collect()
    }
}

impl Table for PriceHistory {
    fn file_name(&self) -> String {
        format!("prices-{}-{}", self.chip_type, self.span.as_str())
    }

    fn columns(&self) -> Vec<&'static str> {
        let mut columns = vec![
            "at",
            "step_seconds",
            "cycle",
            "chip_type",
            "reference_price_credits_per_chip_hour",
            "low_credits_per_chip_hour",
            "high_credits_per_chip_hour",
            "pool",
            "local_price_credits_per_chip_hour",
            "asked_chips",
        ];
        columns.extend(OCCUPANCY_COLUMNS);
        columns
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |point: &common::api::PricePoint| {
            let mut cells = vec![
                point.at.to_string(),
                self.step_seconds.to_string(),
                point.cycle.to_string(),
                self.chip_type.to_string(),
                cell(point.reference_price),
                cell(point.low),
                cell(point.high),
                cell(self.pool.as_ref()),
                cell(point.local_price),
                point.asked.to_string(),
            ];
            cells.extend(occupancy_cells(&point.occupancy));
            cells
        };
        self.points.iter().map(row).collect()
    }
}

impl Table for BookView {
    fn file_name(&self) -> String {
        format!("book-{}-{}", self.chip_type, self.clock.cycle)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["cycle", "cleared_at", "chip_type", "price_credits_per_chip_hour", "chips", "cumulative_chips"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |level: &common::api::DepthLevel| {
            vec![
                self.clock.cycle.to_string(),
                self.clock.cleared_at.to_string(),
                self.chip_type.to_string(),
                level.price.to_string(),
                level.chips.to_string(),
                level.cumulative.to_string(),
            ]
        };
        self.levels.iter().map(row).collect()
    }
}

impl Table for AllocationsView {
    fn file_name(&self) -> String {
        format!("allocations-{}-{}", self.query.group_by.as_str(), self.query.span.as_str())
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["at", "step_seconds", "group_by", "id", "name", "granted_chips", "used_chips", "supply_chips"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for (step, at) in self.steps.iter().enumerate() {
            for series in &self.series {
                rows.push(vec![
                    at.to_string(),
                    self.step_seconds.to_string(),
                    self.query.group_by.as_str().to_owned(),
                    series.id.clone(),
                    series.name.clone(),
                    cell(series.granted_milli.get(step).copied().map(thousandths)),
                    cell(series.used_milli.get(step).copied().map(thousandths)),
                    cell(self.supply_milli.get(step).copied().map(thousandths)),
                ]);
            }
        }
        rows
    }
}

/// Thousandths as a decimal number with three decimals.
pub(super) fn thousandths(milli: u64) -> String {
    format!("{}.{:03}", milli / 1_000, milli % 1_000)
}

impl Table for Page<CycleSummary> {
    fn file_name(&self) -> String {
        "cycles".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        let mut columns = vec!["cycle", "starts_at", "ends_at", "clear_microseconds", "bids"];
        columns.extend(OCCUPANCY_COLUMNS);
        columns
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |cycle: &CycleSummary| {
            let mut cells = vec![
                cycle.cycle.to_string(),
                cycle.starts_at.to_string(),
                cell(cycle.ends_at),
                cycle.clear_micros.to_string(),
                cycle.bids.to_string(),
            ];
            cells.extend(occupancy_cells(&cycle.occupancy));
            cells
        };
        self.items.iter().map(row).collect()
    }
}

impl Table for CycleView {
    fn file_name(&self) -> String {
        format!("cycle-{}-bids", self.summary.cycle)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "cycle",
            "starts_at",
            "team",
            "place",
            "bid",
            "name",
            "chip_type",
            "asked_chips",
            "min_chips",
            "chips",
            "limit_credits_per_chip_hour",
            "local_price_credits_per_chip_hour",
            "reason",
            "explanation",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |bid: &common::api::CycleBid| {
            vec![
                self.summary.cycle.to_string(),
                self.summary.starts_at.to_string(),
                bid.team.to_string(),
                bid.place.to_string(),
                bid.bid.to_string(),
                bid.name.clone(),
                cell(bid.chip_type.as_ref()),
                bid.asked.to_string(),
                bid.min_chips.to_string(),
                bid.chips.to_string(),
                cell(bid.limit),
                cell(bid.local_price),
                bid.reason.as_str().to_owned(),
                bid.explanation.clone(),
            ]
        };
        self.bids.iter().map(row).collect()
    }
}

impl Table for BidsView {
    fn file_name(&self) -> String {
        format!("bids-{}-{}", self.team.id, self.clock.cycle)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "team",
            "place",
            "bid",
            "version",
            "name",
            "note",
            "status",
            "alternatives",
            "limit_credits_per_chip_hour",
            "not_before",
            "not_after",
            "work_chip_seconds",
            "chip_type",
            "chips",
            "opportunistic_chips",
            "local_price_credits_per_chip_hour",
            "reason",
            "explanation",
            "cost_credits",
            "done_chip_seconds",
            "left_seconds",
            "placed_at",
            "placed_by",
            "ended_at",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.bids.iter().map(|bid| bid_cells(&self.team.id, bid)).collect()
    }
}

fn bid_cells(team: &common::ids::TeamId, bid: &common::api::BidView) -> Vec<String> {
    let (terms, now) = (&bid.terms, bid.now.as_ref());
    let alternative = |alternative: &common::api::BidAlternative| {
        format!("{} {} (min {})", alternative.chips, alternative.chip_type, alternative.min_chips)
    };
    let alternatives: Vec<String> = terms.alternatives.iter().map(alternative).collect();
    vec![
        team.to_string(),
        cell(bid.place),
        bid.id.to_string(),
        bid.version.to_string(),
        terms.name.clone(),
        terms.note.clone(),
        status_name(bid.status).to_owned(),
        alternatives.join(" or "),
        // Whoever reads "none" knows that a limit was not forgotten.
        terms.limit.price().map_or_else(|| "none".to_owned(), |limit| limit.to_string()),
        cell(terms.not_before),
        cell(terms.not_after),
        cell(terms.work_chip_seconds),
        cell(now.and_then(|now| now.chip_type.as_ref())),
        cell(now.map(|now| now.chips)),
        cell(now.map(|now| now.opportunistic_chips)),
        cell(now.and_then(|now| now.local_price)),
        cell(now.map(|now| now.reason.as_str())),
        cell(now.map(|now| &now.explanation)),
        bid.cost.to_string(),
        bid.done_chip_seconds.to_string(),
        cell(bid.left_seconds),
        bid.placed_at.to_string(),
        cell(bid.placed_by.as_ref()),
        cell(bid.ended_at),
    ]
}

const fn status_name(status: BidStatus) -> &'static str {
    match status {
        BidStatus::Live => "live",
        BidStatus::Paused => "paused",
        BidStatus::Cancelled => "cancelled",
        BidStatus::Served => "served",
        BidStatus::Expired => "expired",
    }
}

impl Table for BidDetail {
    fn file_name(&self) -> String {
        format!("bid-{}", self.bid.id)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "bid",
            "first_cycle",
            "starts_at",
            "ends_at",
            "chip_type",
            "chips",
            "opportunistic_chips",
            "local_price_credits_per_chip_hour",
            "reason",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |stretch: &common::api::BidStretch| {
            vec![
                self.bid.id.to_string(),
                stretch.first_cycle.to_string(),
                stretch.starts_at.to_string(),
                cell(stretch.ends_at),
                cell(stretch.chip_type.as_ref()),
                stretch.chips.to_string(),
                stretch.opportunistic_chips.to_string(),
                cell(stretch.local_price),
                stretch.reason.as_str().to_owned(),
            ]
        };
        self.history.iter().map(row).collect()
    }
}
