//! A team's money at a glance.

use common::api::TeamFunds;
use leptos::prelude::*;

use super::words::lasts;
use crate::format;

/// Balance, income, cap and burn rate, each with its unit, and how long the balance lasts.
pub(crate) fn funds_strip(funds: &TeamFunds) -> impl IntoView + use<> {
    let per_hour = "credits per hour";
    let facts = [
        ("Balance", format::amount(funds.balance), "credits"),
        ("Income", format::amount(funds.income_per_hour), per_hour),
        ("Spending cap", format::amount(funds.cap_per_hour), "credits per hour, all bids together"),
        ("Burn rate", format::amount(funds.burn_per_hour), "credits per hour now"),
        ("Balance lasts", lasts(funds), "at this burn rate, income counted"),
    ]
    .map(|(label, value, unit)| {
        view! {
            <div>
                <dt>{label}</dt>
                <dd>{value}<small>{unit}</small></dd>
            </div>
        }
    });
    view! { <dl class="facts funds">{facts.into_iter().collect_view()}</dl> }
}
