//! Fields of a bid's form: a label above, help below, and what is wrong beside what it is about.

use common::problem::FieldProblem;
use leptos::prelude::*;

use crate::fields::problem_of;

/// A field of one line.
pub(super) struct Input<'a> {
    /// Its key: the name, with the row behind a dot where it stands in one.
    pub(super) key: String,
    /// What it is called.
    pub(super) label: &'static str,
    /// What it holds.
    pub(super) value: &'a str,
    /// Its `type`.
    pub(super) kind: &'static str,
    /// Which keys a small screen offers.
    pub(super) mode: &'static str,
    /// Shown while it is empty.
    pub(super) placeholder: &'static str,
}

impl<'a> Input<'a> {
    /// A line of text.
    pub(super) fn text(key: impl Into<String>, label: &'static str, value: &'a str) -> Self {
        Self { key: key.into(), label, value, kind: "text", mode: "text", placeholder: "" }
    }

    /// A number, typed as text: a browser's own field for numbers hides what it can't read.
    pub(super) fn number(key: impl Into<String>, label: &'static str, value: &'a str) -> Self {
        Self { mode: "decimal", ..Self::text(key, label, value) }
    }
}

/// A field with its label and fault.
pub(super) fn input(errors: &[FieldProblem], field: Input<'_>) -> AnyView {
    let Input { key, label, value, kind, mode, placeholder } = field;
    let name = key.split('.').next().unwrap_or_default().to_owned();
    let Marks { id, invalid, describes } = marks(errors, &key);
    let control = view! {
        <input
            id=id
            name=name
            type=kind
            inputmode=mode
            value=value.to_owned()
            placeholder=placeholder
            autocomplete="off"
            aria-invalid=invalid
            aria-describedby=describes
            data-local-time=(kind == "datetime-local").then_some("")
        />
    };
    labelled(errors, &key, label, control.into_any())
}

/// What ties a control to its label and its fault.
pub(super) struct Marks {
    /// Id of the control.
    pub(super) id: String,
    /// `aria-invalid`.
    pub(super) invalid: Option<&'static str>,
    /// Id of the element that says what is wrong.
    pub(super) describes: String,
}

/// The marks of the control of a field.
pub(super) fn marks(errors: &[FieldProblem], key: &str) -> Marks {
    Marks {
        id: format!("field-{key}"),
        invalid: problem_of(errors, key).map(|_| "true"),
        describes: format!("fault-{key}"),
    }
}

/// A control with its label and fault.
pub(super) fn labelled(errors: &[FieldProblem], key: &str, label: &'static str, control: AnyView) -> AnyView {
    view! {
        <div class="field">
            <label for=format!("field-{key}")>{label}</label>
            {control}
            {fault(errors, key, label)}
        </div>
    }
    .into_any()
}

/// What is wrong with a field, in a sentence that begins with its label. Empty where nothing is: the script of the pages
/// writes the faults of a preview into it.
pub(super) fn fault(errors: &[FieldProblem], key: &str, label: &'static str) -> AnyView {
    let text = problem_of(errors, key).map(|fault| format!("{label} {fault}."));
    view! { <p class="error" id=format!("fault-{key}") data-label=label>{text}</p> }.into_any()
}
