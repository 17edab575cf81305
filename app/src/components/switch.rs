//! Choices that are links: the address holds the state of a page, so a link reproduces the view.

use leptos::prelude::*;

/// One choice of a switch.
pub(crate) struct Choice {
    /// What it says.
    pub(crate) text: String,
    /// Where it leads.
    pub(crate) href: String,
    /// It is the present one.
    pub(crate) chosen: bool,
}

/// A row of choices of which one is present.
pub(crate) fn switch(label: &'static str, choices: Vec<Choice>) -> impl IntoView {
    let links = choices
        .into_iter()
        .map(|choice| {
            view! {
                <a href=choice.href data-noscroll aria-current=choice.chosen.then_some("true")>
                    {choice.text}
                </a>
            }
        })
        .collect_view();
    view! { <div class="switch" role="group" aria-label=label>{links}</div> }
}

/// A link to the same rows as a CSV file.
pub(crate) fn csv(href: String, what: &str) -> impl IntoView + use<> {
    view! {
        <a class="csv" href=href rel="external" download aria-label=format!("{what} as CSV")>
            {super::icon::icon(super::icon::Icon::Download)}
            "CSV"
        </a>
    }
}
