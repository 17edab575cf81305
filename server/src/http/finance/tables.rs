//! The tables of finance: exactly the rows that the pages show, with all their figures.

use common::api::{
    BookingView, BookingsView, BudgetRow, BudgetsView, MonthView, MonthsView, PeriodTotal, SpendRow,
    SpendView, StatementLine, StatementRow, StatementView, StatementsView,
};

use super::super::answer::{Table, cell};

impl Table for SpendView {
    fn file_name(&self) -> String {
        format!("spend-{}-by-{}", self.period.period, self.group.as_str())
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "period",
            "starts_at",
            "ends_at",
            "grouped_by",
            "id",
            "name",
            "pool",
            "cost_local_credits",
            "cost_global_credits",
            "compared_with",
            "cost_before_global_credits",
            "change_global_credits",
            "price_effect_global_credits",
            "quantity_effect_global_credits",
            "unusual",
            "granted_chip_seconds",
            "used_chip_seconds",
            "opportunistic_chip_seconds",
            "idle_chip_seconds",
            "over_use_chip_seconds",
            "charged_chip_seconds",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &SpendRow| {
            vec![
                self.period.period.clone(),
                self.period.starts_at.to_string(),
                self.period.ends_at.to_string(),
                self.group.as_str().to_owned(),
                row.id.clone(),
                row.name.clone(),
                cell(row.pool.as_ref()),
                cell(row.cost),
                row.global_cost.to_string(),
                self.compared.period.clone(),
                row.global_cost_before.to_string(),
                row.change.to_string(),
                row.price_effect.to_string(),
                row.quantity_effect.to_string(),
                row.unusual.to_string(),
                row.usage.granted_chip_seconds.to_string(),
                row.usage.used_chip_seconds.to_string(),
                row.usage.opportunistic_chip_seconds.to_string(),
                row.usage.idle_chip_seconds.to_string(),
                row.usage.over_chip_seconds.to_string(),
                row.usage.charged_chip_seconds.to_string(),
            ]
        };
        self.rows.iter().map(row).collect()
    }
}

impl Table for BudgetsView {
    fn file_name(&self) -> String {
        format!("budgets-{}", self.period.period)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "period",
            "team",
            "name",
            "pool",
            "allowance_credits",
            "hard",
            "spent_credits",
            "used_percent",
            "forecast_credits",
            "forecast_over_credits",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &BudgetRow| {
            vec![
                self.period.period.clone(),
                row.team.to_string(),
                row.name.clone(),
                row.pool.to_string(),
                cell(row.allowance),
                row.hard.to_string(),
                row.spent.to_string(),
                cell(row.used_percent),
                row.forecast.to_string(),
                cell(row.forecast_over),
            ]
        };
        self.rows.iter().map(row).collect()
    }
}

impl Table for MonthsView {
    fn file_name(&self) -> String {
        "months".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["period", "starts_at", "ends_at", "time_zone", "closed_at", "closed_by", "reason", "sha256"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |month: &MonthView| {
            let close = month.close.as_ref();
            vec![
                month.period.period.clone(),
                month.period.starts_at.to_string(),
                month.period.ends_at.to_string(),
                month.period.time_zone.clone(),
                cell(close.map(|close| close.closed_at)),
                cell(close.map(|close| &close.closed_by)),
                cell(close.map(|close| &close.reason)),
                cell(close.map(|close| &close.sha256)),
            ]
        };
        self.months.iter().map(row).collect()
    }
}

impl Table for MonthView {
    fn file_name(&self) -> String {
        format!("month-{}", self.period.period)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec!["period", "pool", "kind", "amount_credits"]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |total: &PeriodTotal| {
            vec![
                self.period.period.clone(),
                total.pool.to_string(),
                total.kind.clone(),
                total.amount.to_string(),
            ]
        };
        self.totals.iter().map(row).collect()
    }
}

impl Table for BookingsView {
    fn file_name(&self) -> String {
        "bookings".to_owned()
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "number",
            "kind",
            "team",
            "to_team",
            "amount_credits",
            "corrects_transfer",
            "state",
            "transfers",
            "made_at",
            "maker",
            "reason",
            "decided_at",
            "decided_by",
            "decision_reason",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |booking: &BookingView| {
            let decision = booking.decision.as_ref();
            let transfers: Vec<String> = booking.transfers.iter().map(u64::to_string).collect();
            vec![
                booking.number.to_string(),
                booking.kind.as_str().to_owned(),
                booking.team.to_string(),
                cell(booking.to_team.as_ref()),
                booking.amount.to_string(),
                cell(booking.corrects),
                booking.state.as_str().to_owned(),
                transfers.join(" "),
                booking.made_at.to_string(),
                booking.maker.clone(),
                booking.reason.clone(),
                cell(decision.map(|decision| decision.at)),
                cell(decision.map(|decision| &decision.by)),
                cell(decision.map(|decision| &decision.reason)),
            ]
        };
        self.bookings.iter().map(row).collect()
    }
}

impl Table for StatementsView {
    fn file_name(&self) -> String {
        format!("statements-{}", self.period.period)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "statement",
            "period",
            "team",
            "name",
            "pool",
            "opening_credits",
            "charges_credits",
            "closing_credits",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |row: &StatementRow| {
            vec![
                cell(row.number),
                self.period.period.clone(),
                row.team.to_string(),
                row.name.clone(),
                row.pool.to_string(),
                row.opening.to_string(),
                row.charges.to_string(),
                row.closing.to_string(),
            ]
        };
        self.statements.iter().map(row).collect()
    }
}

impl Table for StatementView {
    fn file_name(&self) -> String {
        format!("statement-{}-{}", self.team, self.period.period)
    }

    fn columns(&self) -> Vec<&'static str> {
        vec![
            "statement",
            "period",
            "team",
            "pool",
            "line",
            "chip_type",
            "chip_seconds",
            "chip_hours_milli",
            "average_price_credits_per_chip_hour",
            "amount_credits",
            "rounded_credits",
            "entries",
        ]
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let head = || {
            vec![cell(self.number), self.period.period.clone(), self.team.to_string(), self.pool.to_string()]
        };
        let balance = |line: &str, amount: String| {
            let mut row = head();
            row.push(line.to_owned());
            row.extend([const { String::new() }; 4]);
            row.push(amount);
            row.extend([const { String::new() }; 2]);
            row
        };
        let line = |line: &StatementLine| {
            let mut row = head();
            row.extend([
                line.kind.clone(),
                cell(line.chip_type.as_ref()),
                cell(line.chip_seconds),
                cell(line.chip_hours_milli),
                cell(line.average_price),
                line.amount.to_string(),
                line.rounded.to_string(),
                line.entries.to_string(),
            ]);
            row
        };
        let mut rows = vec![balance("opening balance", self.opening.to_string())];
        rows.extend(self.lines.iter().map(line));
        rows.push(balance("closing balance", self.closing.to_string()));
        rows
    }
}
