//! The figures of a comparison as columns: one list for tables, files and the mark of the best.

use crate::measure::Measures;

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The more the better.
    More,
    /// The less the better.
    Less,
    /// Neither: it tells how things are.
    Neither,
}

/// A column of a comparison.
#[derive(Clone, Copy)]
pub struct Column {
    /// Its name in JSON and CSV.
    pub key: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its unit; empty for a share of 1.
    pub unit: &'static str,
    /// What it tells.
    pub explanation: &'static str,
    /// Which way it is better.
    pub better: Better,
    /// Its value.
    pub of: fn(&Measures) -> Option<f64>,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("key", &self.key).finish_non_exhaustive()
    }
}

const fn column(
    key: &'static str,
    title: &'static str,
    better: Better,
    of: fn(&Measures) -> Option<f64>,
    explanation: &'static str,
) -> Column {
    Column { key, title, unit: "", explanation, better, of }
}

/// All figures of a comparison, in the order in which they are shown.
pub const COLUMNS: &[Column] = &[
    column(
        "utilisation",
        "Utilisation",
        Better::More,
        |of| Some(of.utilisation),
        "Chip-hours used over chip-hours there were.",
    ),
    column(
        "welfare_share",
        "Welfare",
        Better::More,
        |of| Some(of.welfare_share),
        "Value of what was used over the most that the trace allows.",
    ),
    column(
        "least_welfare",
        "Least welfare",
        Better::More,
        |of| Some(of.least_welfare),
        "Value got over value asked for, of the team that fares worst.",
    ),
    column(
        "mean_welfare",
        "Mean welfare",
        Better::More,
        |of| Some(of.mean_welfare),
        "The same, mean over teams.",
    ),
    column(
        "fairness",
        "Fairness",
        Better::More,
        |of| Some(of.fairness),
        "Least over most chip-hours per weight among teams.",
    ),
    column(
        "jain",
        "Jain's index",
        Better::More,
        |of| Some(of.jain),
        "Evenness of chip-hours per weight: 1 is even, 1/n is all to one.",
    ),
    column(
        "envy",
        "Worst envy",
        Better::Less,
        |of| of.envy,
        "By how much of the value it asked for a team would rather have another's chips.",
    ),
    column(
        "sharing_shortfall",
        "Shortfall",
        Better::Less,
        |of| of.sharing_shortfall,
        "By how much of its value in a static share a team is worse off than there.",
    ),
    column(
        "regret",
        "Regret",
        Better::Less,
        |of| of.regret,
        "The most that a team was found to gain by misreporting, over the value it asked for.",
    ),
    column(
        "pareto_gap",
        "Pareto gap",
        Better::Less,
        |of| of.pareto_gap,
        "What another allocation would give in all at nobody's cost, over what there is.",
    ),
    column(
        "ended_in_time",
        "Jobs in time",
        Better::More,
        |of| of.ended_in_time,
        "Jobs that ended in time over jobs that arrived.",
    ),
    column(
        "quota_churn",
        "Quota churn",
        Better::Less,
        |of| Some(of.quota_churn),
        "Chips that changed hands from round to round over chips held.",
    ),
    column(
        "price_churn",
        "Price churn",
        Better::Less,
        |of| of.price_churn,
        "Change of the price from round to round over the price.",
    ),
    column(
        "guarantee",
        "Guarantee",
        Better::Neither,
        |of| of.guarantee,
        "Theorem 4: min 1/f, with f a team's mean price over the market's.",
    ),
    column(
        "reached",
        "Reached",
        Better::Neither,
        |of| of.reached,
        "Least over teams of its part of all chip-hours over its part of all incomes.",
    ),
    Column {
        key: "microseconds_per_round",
        title: "Time",
        unit: "µs per round",
        explanation: "Time that the policy took, on the machine that ran it.",
        better: Better::Less,
        of: |of| Some(of.microseconds_per_round),
    },
];
