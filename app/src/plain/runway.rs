//! The warnings that a team's balance was about to be used up, on the page of its budget.

use common::api::RunwayWarning;
use leptos::prelude::*;

use super::form::panel;
use crate::components::time::date_time;
use crate::format;

/// The warnings that were told, with what each followed from; nothing where there is none.
pub(super) fn told(warnings: &[RunwayWarning]) -> AnyView {
    if warnings.is_empty() {
        return ().into_any();
    }
    let rows = warnings
        .iter()
        .rev()
        .map(|warning| {
            view! {
                <tr>
                    <th scope="row">{date_time(warning.at)}</th>
                    <td data-label="Would last">
                        {if warning.hours == 1 { "an hour at most" } else { "a day at most" }}
                    </td>
                    <td class="num" data-label="Balance" data-unit="credits">{format::amount(warning.balance)}</td>
                    <td class="num" data-label="Spent" data-unit="credits per hour">{format::amount(warning.burn)}</td>
                    <td class="num" data-label="Earned" data-unit="credits per hour">{format::amount(warning.income)}</td>
                    <td class="num" data-label="Cycle">
                        <a href=format!("/cycles/{}", warning.cycle)>{format::thousands(warning.cycle)}</a>
                    </td>
                </tr>
            }
        })
        .collect_view();
    let table = view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Warnings of the last seven days">
            <table class="cards">
                <thead>
                    <tr>
                        <th scope="col">"Told"</th>
                        <th scope="col">"Would last"</th>
                        <th scope="col" class="num">"Balance"<small>"credits"</small></th>
                        <th scope="col" class="num">"Spent"<small>"credits per hour"</small></th>
                        <th scope="col" class="num">"Earned"<small>"credits per hour"</small></th>
                        <th scope="col" class="num">"Cycle"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <p class="quiet">
            "A balance that would be used up within a day, and within an hour, is told once a day each."
        </p>
    };
    panel("warnings", "Warnings of the last seven days", table.into_any())
}
