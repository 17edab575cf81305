//! A list to choose one value from, kept in the address. Without the browser part it is a plain form with a button.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::words::address;

/// One value to choose.
#[derive(Clone, Debug)]
pub(crate) struct Choosable {
    /// Its value in the address.
    pub(crate) value: String,
    /// What it says.
    pub(crate) text: String,
}

/// A choice of one value, or of none.
pub(crate) struct Chooser {
    /// What is chosen.
    pub(crate) label: &'static str,
    /// Its parameter in the address.
    pub(crate) name: &'static str,
    /// Text of the choice of no value.
    pub(crate) none: &'static str,
    /// The values.
    pub(crate) values: Vec<Choosable>,
    /// The present value.
    pub(crate) chosen: Option<String>,
    /// The path of the page.
    pub(crate) path: String,
    /// Parameters of the address that stay as they are.
    pub(crate) keep: Vec<(&'static str, String)>,
}

/// The choice as a select box; choosing leads to the new address.
pub(crate) fn chooser(chooser: Chooser) -> impl IntoView {
    let Chooser { label, name, none, values, chosen, path, keep } = chooser;
    let hidden = keep
        .iter()
        .map(|(name, value)| view! { <input type="hidden" name=*name value=value.clone() /> })
        .collect_view();
    let options = values
        .into_iter()
        .map(|one| {
            let selected = chosen.as_deref() == Some(one.value.as_str());
            view! {
                <option value=one.value selected=selected prop:selected=selected>
                    {one.text}
                </option>
            }
        })
        .collect_view();
    let navigate = use_navigate();
    let action = path.clone();
    let choose = move |event| {
        let value = event_target_value(&event);
        let mut parameters: Vec<_> = keep.iter().map(|(name, value)| (*name, Some(value.as_str()))).collect();
        parameters.push((name, Some(value.as_str()).filter(|value| !value.is_empty())));
        let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
        navigate(&address(&path, &parameters), options);
    };
    view! {
        <form class="chooser" method="get" action=action autocomplete="off">
            {hidden}
            <label>
                <span>{label}</span>
                <select name=name on:change=choose>
                    <option value="" selected=chosen.is_none() prop:selected=chosen.is_none()>
                        {none}
                    </option>
                    {options}
                </select>
            </label>
            <noscript>
                <button class="button" type="submit">
                    "Show"
                </button>
            </noscript>
        </form>
    }
}
