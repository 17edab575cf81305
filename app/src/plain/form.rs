//! Forms of plain pages: fields that keep what was typed and carry their refusal beside them.

use common::problem::{FieldProblem, Problem};
use leptos::prelude::*;

use crate::fields::text_of_area;
use crate::local_time::{PLAIN_ZONE, fits_field, in_field};

/// What a form shows: values, and what was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormState {
    values: Vec<(String, String)>,
    faults: Vec<FieldProblem>,
    refusal: Option<String>,
}

impl FormState {
    /// A form filled with values, before anything was sent.
    #[must_use]
    pub fn filled(values: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { values: values.iter().map(owned).collect(), ..Self::default() }
    }

    /// What was sent, and why it was refused. Faults of fields stand beside them; what is the fault of no field stands
    /// above the form.
    #[must_use]
    pub fn refused(values: Vec<(String, String)>, problem: &Problem) -> Self {
        let refusal = problem.errors.is_empty().then(|| as_sentence(&problem.detail));
        Self { values, faults: problem.errors.clone(), refusal }
    }

    /// Why it was refused, where that is the fault of no field.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// The first value of a field; empty without one.
    #[must_use]
    pub fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Whether a field of several values has this one among them.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.values.iter().any(|(known, chosen)| known == name && chosen == value)
    }

    /// What is wrong with a field.
    #[must_use]
    pub fn fault(&self, name: &str) -> Option<&str> {
        self.faults.iter().find(|fault| fault.field == name).map(|fault| fault.detail.as_str())
    }
}

/// A field of one line.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in the form.
    pub name: &'static str,
    /// Its label.
    pub label: &'static str,
    /// The `type` of the input: `text`, `password`, `number`…
    pub kind: &'static str,
    /// What it takes, in words; empty without.
    pub hint: &'static str,
    /// What a browser may fill in, such as `username`; empty without.
    pub autocomplete: &'static str,
    /// It must be filled in.
    pub required: bool,
}

impl Field {
    /// A line of text that must be filled in.
    #[must_use]
    pub const fn text(name: &'static str, label: &'static str) -> Self {
        Self { name, label, kind: "text", hint: "", autocomplete: "off", required: true }
    }

    /// A password that is known already (`current-password`) or is chosen (`new-password`).
    #[must_use]
    pub const fn password(name: &'static str, label: &'static str, autocomplete: &'static str) -> Self {
        Self { kind: "password", autocomplete, ..Self::text(name, label) }
    }

    /// A date and a time in the zone of the form: [`zone_of_times`] stands in it as well and names it.
    #[must_use]
    pub const fn time(name: &'static str, label: &'static str) -> Self {
        Self { kind: "datetime-local", ..Self::text(name, label) }
    }

    /// Whether it takes a date and a time.
    pub(super) fn is_time(&self) -> bool {
        self.kind == "datetime-local"
    }

    /// The field with a hint.
    #[must_use]
    pub const fn with_hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}

/// The ids of a field's parts: input, hint, error.
fn ids(name: &str) -> (String, String, String) {
    (format!("f-{name}"), format!("f-{name}-hint"), format!("f-{name}-error"))
}

/// What describes a field to those who do not see it.
fn described_by(form: &FormState, name: &str, hint: &str) -> Option<String> {
    let (_, hint_id, error_id) = ids(name);
    let parts = [(form.fault(name).is_some(), error_id), (!hint.is_empty(), hint_id)];
    let parts: Vec<String> = parts.into_iter().filter(|(is, _)| *is).map(|(_, id)| id).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// A label, the input between, hint and refusal.
fn around(form: &FormState, name: &str, label: &'static str, hint: &'static str, input: AnyView) -> AnyView {
    let (id, hint_id, error_id) = ids(name);
    let fault = form.fault(name).map(|fault| sentence(label, fault));
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {input}
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
            {fault.map(|fault| view! { <p class="error" id=error_id>{fault}</p> })}
        </div>
    }
    .into_any()
}

/// A fault as a sentence: those of services go on from the field's name ("is empty; …").
fn sentence(label: &str, fault: &str) -> String {
    let goes_on =
        ["is ", "has ", "must ", "may ", "names ", "lies "].iter().any(|word| fault.starts_with(word));
    if goes_on { format!("{label} {fault}.") } else { format!("{fault}.") }
}

/// A message of the server, which stands after other words elsewhere, as a sentence of its own.
pub(super) fn as_sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// A field of one line. What was typed is kept, except a password.
pub fn field(form: &FormState, field: &Field) -> AnyView {
    let Field { name, label, kind, hint, autocomplete, required } = field.clone();
    let is_time = field.is_time();
    let value = match kind {
        "password" => String::new(),
        _ if is_time => in_field(form.value(name)).to_owned(),
        _ => form.value(name).to_owned(),
    };
    // What a field for times would drop is kept in a line of text.
    let is_time = is_time && (value.is_empty() || fits_field(&value));
    let kind = if kind == "datetime-local" && !is_time { "text" } else { kind };
    let input = view! {
        <input
            id=ids(name).0
            type=kind
            name=name
            value=value
            autocomplete=autocomplete
            required=required
            aria-invalid=form.fault(name).map(|_| "true")
            aria-describedby=described_by(form, name, hint)
            data-local-time=is_time.then_some("")
        />
    };
    around(form, name, label, hint, input.into_any())
}

/// The zone in which the times of a form are typed, in words: UTC without scripts, which turn them into the viewer's.
pub fn zone_of_times(form: &FormState) -> AnyView {
    let zone = Some(form.value("zone")).filter(|zone| !zone.is_empty()).unwrap_or(PLAIN_ZONE).to_owned();
    view! {
        <input type="hidden" name="zone" value=zone.clone() data-zone-field="" />
        <p class="hint">"Times in " <span data-zone-of-form="">{zone}</span></p>
    }
    .into_any()
}

/// Two fields that choose a stretch of time in a list: from an instant on, and before another.
pub fn stretch(form: &FormState, from: &'static str) -> AnyView {
    let time = |name, label| Field { required: false, ..Field::time(name, label) };
    view! {
        {field(form, &time("from", from))}
        {field(form, &time("to", "Before"))}
    }
    .into_any()
}

/// A field of several lines, such as a reason.
pub fn text_area(form: &FormState, name: &'static str, label: &'static str, hint: &'static str) -> AnyView {
    let input = view! {
        <textarea
            id=ids(name).0
            name=name
            required
            aria-invalid=form.fault(name).map(|_| "true")
            aria-describedby=described_by(form, name, hint)
            inner_html=text_of_area(form.value(name))
        ></textarea>
    };
    around(form, name, label, hint, input.into_any())
}

/// A choice of one among `options` (value, text).
pub fn select(
    form: &FormState,
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    options: Vec<(String, String)>,
) -> AnyView {
    let options = options
        .into_iter()
        .map(|(value, text)| {
            let selected = form.value(name) == value;
            view! {
                <option value=value selected=selected>
                    {text}
                </option>
            }
        })
        .collect_view();
    let input = view! {
        <select
            id=ids(name).0
            name=name
            aria-invalid=form.fault(name).map(|_| "true")
            aria-describedby=described_by(form, name, hint)
        >
            {options}
        </select>
    };
    around(form, name, label, hint, input.into_any())
}

/// A choice of any number among `options` (value, text): boxes of one name.
pub fn boxes(
    form: &FormState,
    name: &'static str,
    legend: &'static str,
    options: Vec<(String, String)>,
) -> AnyView {
    let boxes = options
        .into_iter()
        .map(|(value, text)| {
            let checked = form.has(name, &value);
            view! {
                <label class="choice">
                    <input type="checkbox" name=name value=value checked=checked />
                    <span>{text}</span>
                </label>
            }
        })
        .collect_view();
    let fault = form.fault(name).map(|fault| sentence(legend, fault));
    view! {
        <fieldset class="field">
            <legend>{legend}</legend>
            {boxes}
            {fault.map(|fault| view! { <p class="error">{fault}</p> })}
        </fieldset>
    }
    .into_any()
}

/// A form that is posted to `action`: its refusal, its fields, and the button that sends it.
pub fn form(state: &FormState, action: &str, fields: Vec<AnyView>, button: &'static str) -> AnyView {
    let refusal = state.refusal.clone();
    view! {
        <form class="form" method="post" action=action.to_owned()>
            {refusal
                .map(|refusal| {
                    view! {
                        <p class="refusal" role="alert">
                            {refusal}
                        </p>
                    }
                })}
            {fields}
            <div class="actions">
                <button class="button primary" type="submit">
                    {button}
                </button>
            </div>
        </form>
    }
    .into_any()
}

/// A value that the form carries along unseen.
pub fn hidden(name: &'static str, value: &str) -> AnyView {
    view! { <input type="hidden" name=name value=value.to_owned() /> }.into_any()
}

/// A panel of a page with its heading; `id` names it.
pub fn panel(id: &'static str, heading: &'static str, body: AnyView) -> AnyView {
    view! {
        <section class="panel" aria-labelledby=id>
            <header>
                <h2 id=id>{heading}</h2>
            </header>
            <div class="body">{body}</div>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(view: impl FnOnce() -> AnyView) -> String {
        Owner::new_root(None).with(|| view().to_html())
    }

    #[test]
    fn what_was_typed_is_kept_and_escaped_and_the_fault_stands_beside_it() {
        let errors = vec![FieldProblem { field: "name".into(), detail: "is empty; give it a name".into() }];
        let problem = Problem {
            kind: "invalid".into(),
            title: String::new(),
            status: 422,
            detail: "no".into(),
            errors,
            newest: None,
        };
        let values = vec![
            ("name".to_owned(), "\"><script>".to_owned()),
            ("note".to_owned(), "</textarea><b>".to_owned()),
            ("password".to_owned(), "secret".to_owned()),
        ];
        let state = FormState::refused(values, &problem);
        let name = html(|| field(&state, &Field::text("name", "Name")));
        assert!(name.contains("Name is empty; give it a name."), "{name}");
        assert!(name.contains("aria-invalid=\"true\"") && name.contains("aria-describedby=\"f-name-error\""));
        assert!(!name.contains("<script>"), "{name}");
        let note = html(|| text_area(&state, "note", "Note", ""));
        assert!(note.contains("\n&lt;/textarea&gt;&lt;b&gt;</textarea>"), "{note}");
        let password = html(|| field(&state, &Field::password("password", "Password", "current-password")));
        assert!(!password.contains("secret"), "a password is not sent back");
    }
}
