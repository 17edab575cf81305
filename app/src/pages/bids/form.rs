//! The form that places or changes a bid, with the preview beside it.

use common::chips::Chips;
use common::money::Price;
use common::problem::FieldProblem;
use common::words::counted;
use leptos::prelude::*;

use super::alter;
use super::field::{Input, Marks, fault, input, labelled, marks};
use super::funds::funds_strip;
use super::outcome::outcome;
use super::reply::{Form, Look, Reply};
use super::words::dearer_than_list;
use crate::components::icon::{Icon, icon};
use crate::components::problem::empty;
use crate::components::time::time_of_day;
use crate::fields::{Fields, text_of_area};
use crate::format;
use crate::words::address;

/// The page of a new bid.
pub(super) fn new_bid(form: &Form) -> AnyView {
    let list = address("/bids", &[("team", Some(form.team.id.as_str()))]);
    let back = format!("Bids of {}", form.team.name);
    let funds = funds_strip(&form.funds).into_any();
    let body = if form.may_bid {
        panels(form, "New bid")
    } else {
        let text =
            "You may read this team's bids, but not place any. A lead of the team can make you a member.";
        view! { <section class="panel">{empty("You are not a member of this team.", text)}</section> }
            .into_any()
    };
    view! {
        <nav class="pages" aria-label="Bid">
            <a class="button" href=list>{icon(Icon::Previous)}{back}</a>
        </nav>
        {funds}
        {body}
    }
    .into_any()
}

/// The form on the page of the bid it changes.
pub(super) fn edit(form: &Form) -> AnyView {
    panels(form, "Edit this bid")
}

fn panels(form: &Form, title: &'static str) -> AnyView {
    let (errors, look) = match &form.reply {
        Some(Reply::Refused(refused)) => (&refused.errors[..], None),
        Some(Reply::Looked(look)) => (&look.errors[..], Some(look)),
        _ => (&[][..], None),
    };
    let next_at = form.next_at;
    let (button, text) =
        if form.changes.is_some() { ("save", "Save the change") } else { ("place", "Place bid") };
    let away = match &form.changes {
        Some(bid) => format!("/bids/{bid}"),
        None => address("/bids", &[("team", Some(form.team.id.as_str()))]),
    };
    let hidden = ["id", "version", "original", "zone"].map(|name| {
        let value = form.fields.get(name).to_owned();
        view! { <input type="hidden" name=name value=value data-zone-field=(name == "zone").then_some("") /> }
    });
    view! {
        <div class="columns bid-form">
            <form
                class="panel"
                method="post"
                action=form.action.clone()
                aria-labelledby="form-title"
                data-sent
                data-draft
            >
                // Return in a field presses the first button: it must be the one that sends.
                <button class="hidden" type="submit" name="do" value=button tabindex="-1" aria-hidden="true">{text}</button>
                {hidden.into_iter().collect_view()}
                <header>
                    <h2 id="form-title">{title}</h2>
                    <span class="quiet">{form.team.name.clone()}</span>
                </header>
                <div class="body form wide">
                    {outcome(form.reply.as_ref())}
                    {fault(errors, "form", "This bid")}
                    {input(errors, Input::text("name", "Name", form.fields.get("name")))}
                    {alternatives(errors, form)}
                    {limit(errors, form)}
                    {work(errors, &form.fields)}
                    {window(errors, &form.fields)}
                    {note(errors, &form.fields)}
                    <div class="actions">
                        <button class="button primary" type="submit" name="do" value=button>
                            {text}
                        </button>
                        <a class="button" href=away>"Leave it"</a>
                        <span class="quiet">"takes effect in the next cycle ("{time_of_day(next_at)}")"</span>
                        <noscript>
                            <button class="button" type="submit" name="do" value="look">"Show what it would do"</button>
                        </noscript>
                    </div>
                </div>
            </form>
            {preview(look)}
        </div>
    }
    .into_any()
}

/// The ways to fill the bid, in order of preference.
fn alternatives(errors: &[FieldProblem], form: &Form) -> AnyView {
    let count = alter::alternatives(&form.fields);
    let rows = (0..count).map(|row| alternative(errors, form, row, count)).collect_view();
    view! {
        <fieldset>
            <legend>"Chips"</legend>
            {rows}
            <p class="actions">
                <button class="button" type="submit" name="do" value="add">"Or another chip type"</button>
                <span class="hint">"Chips are counted in all, over all nodes. Each cycle takes the first of these it can get, at most one."</span>
            </p>
        </fieldset>
    }
    .into_any()
}

fn alternative(errors: &[FieldProblem], form: &Form, row: usize, count: usize) -> AnyView {
    let (fields, chip_types) = (&form.fields, &form.chip_types);
    let key = format!("chip_type.{row}");
    let chosen = fields.nth("chip_type", row);
    // A bid that names a retired type keeps it; nobody else is offered it.
    let options = chip_types
        .iter()
        .filter(|one| !one.retired || one.chip_type.as_str() == chosen)
        .map(|one| {
            let id = one.chip_type.to_string();
            let selected = id == chosen;
            let price = one.local_price.map_or_else(|| "no trade".to_owned(), |price| price.to_string());
            let retired = if one.retired { " · retired" } else { "" };
            let dearer = dearer_than_list(one.local_price, one.list_price)
                .map_or_else(String::new, |list| format!(" · above its list price {list}"));
            let text = format!("{} · {price}{dearer} · {} idle{retired}", one.name, format::chips(one.idle));
            view! { <option value=id selected=selected>{text}</option> }
        })
        .collect_view();
    // What was chosen is never replaced unseen, also when it has left the market since.
    let is_known = chosen.is_empty() || chip_types.iter().any(|one| one.chip_type.as_str() == chosen);
    let left = (!is_known).then(|| {
        view! { <option value=chosen.to_owned() selected=true>{format!("{chosen} · not on the market")}</option> }
    });
    let Marks { id, invalid, describes } = marks(errors, &key);
    let select = view! {
        <select id=id name="chip_type" aria-invalid=invalid aria-describedby=describes>
            <option value="" selected=chosen.is_empty()>"Choose…"</option>
            {left}
            {options}
        </select>
    };
    let label = if row == 0 { "Chip type" } else { "Or else" };
    let chips = Input::number(format!("chips.{row}"), "Chips", fields.nth("chips", row));
    let least = Input {
        placeholder: "all of them",
        ..Input::number(format!("min_chips.{row}"), "Needs at least", fields.nth("min_chips", row))
    };
    let up = (row > 0).then(|| tool("up", "Prefer", row, Icon::Up));
    let remove = (count > 1).then(|| tool("remove", "Remove", row, Icon::End));
    view! {
        <div class="alternative" role="group" aria-label=format!("Choice {}", row + 1)>
            {labelled(errors, &key, label, select.into_any())}
            {input(errors, chips)}
            {input(errors, least)}
            <span class="buttons">{up}{remove}</span>
        </div>
    }
    .into_any()
}

fn tool(what: &'static str, text: &'static str, row: usize, picture: Icon) -> AnyView {
    view! {
        <button
            class="tool"
            type="submit"
            name="do"
            value=format!("{what}:{row}")
            title=text
            aria-label=format!("{text} choice {}", row + 1)
        >
            {icon(picture)}
        </button>
    }
    .into_any()
}

/// The most it pays: a price, or in so many words no limit.
fn limit(errors: &[FieldProblem], form: &Form) -> AnyView {
    // The script of the pages shows those of the chip type that is chosen first.
    let first = form.fields.get("chip_type");
    let quick = form
        .chip_types
        .iter()
        // A limit of 0 pays for nothing.
        .filter_map(|one| Some((one, one.local_price.filter(|price| price.0 > 0)?)))
        .map(|(one, price)| {
            let choices = [("market", price), ("+10 %", a_tenth_more(price))].map(|(text, price)| {
                view! {
                    <button class="button" type="submit" name="do" value=format!("limit:{price}")>
                        {format!("{text} {price}")}
                    </button>
                }
            });
            let id = one.chip_type.to_string();
            view! {
                <span class="buttons" data-quick=id hidden=one.chip_type.as_str() != first>
                    {choices.into_iter().collect_view()}
                </span>
            }
        })
        .collect_view();
    let kind = form.fields.get("limit_kind").to_owned();
    let radio = |value: &'static str| {
        view! { <input type="radio" name="limit_kind" value=value id=format!("limit-{value}") checked=kind == value /> }
    };
    let Marks { id, invalid, describes } = marks(errors, "limit");
    let cap = format::amount(form.funds.cap_per_hour);
    view! {
        <fieldset class="limit" aria-describedby="fault-limit">
            <legend>"Limit"</legend>
            <span class="choice">
                {radio("at")}
                <label for="limit-at">"At most"</label>
                <input
                    id=id
                    name="limit"
                    inputmode="decimal"
                    autocomplete="off"
                    size="12"
                    aria-label="Limit in local credits per chip-hour"
                    aria-invalid=invalid
                    aria-describedby=describes
                    value=form.fields.get("limit").to_owned()
                />
                <span class="quiet">"local credits per chip-hour"</span>
                {quick}
            </span>
            <span class="choice">
                {radio("none")}
                <label for="limit-none">"No limit"</label>
                <span class="quiet">
                    {format!("it pays whatever the price is, as long as the team's cap of {cap} credits per hour allows")}
                </span>
            </span>
            <p class="hint">{worked_example(Chips(8), 3, Price(3_200_000))}</p>
            {fault(errors, "limit", "Limit")}
        </fieldset>
    }
    .into_any()
}

/// A price and a tenth, rounded up.
fn a_tenth_more(price: Price) -> Price {
    Price(price.0.saturating_add(price.0.div_ceil(10)))
}

/// What a limit means, computed for an example.
fn worked_example(chips: Chips, hours: u64, limit: Price) -> String {
    let micros = u128::from(limit.0) * u128::from(chips.0) * u128::from(hours);
    let most = Price(u64::try_from(micros).unwrap_or(u64::MAX));
    format!(
        "For example: at most {limit} on {} for {hours} h is {} and costs {most} credits at most. \
         You pay the price of each cycle, never more than your limit.",
        counted(chips.0, "chip"),
        counted(chips.0.saturating_mul(hours), "chip-hour")
    )
}

fn work(errors: &[FieldProblem], fields: &Fields) -> AnyView {
    let unit = fields.get("work_unit");
    let options = [
        ("hours", "chip-hours in all"),
        ("days", "chip-days in all"),
        ("each", "hours on all chips of the first choice"),
    ]
    .map(|(value, text)| view! { <option value=value selected=unit == value>{text}</option> });
    let Marks { id, invalid, describes } = marks(errors, "work");
    view! {
        <div class="field">
            <label for=id.clone()>"Work"</label>
            <span class="pair">
                <input
                    id=id
                    name="work"
                    inputmode="decimal"
                    autocomplete="off"
                    aria-invalid=invalid
                    aria-describedby=describes
                    value=fields.get("work").to_owned()
                />
                <select name="work_unit" aria-label="Unit of the work">{options.into_iter().collect_view()}</select>
            </span>
            <p class="hint">"The bid ends when so much is done. Empty: it runs until you cancel it. 3 hours on 8 chips are 24 chip-hours, on however many nodes."</p>
            {fault(errors, "work", "Work")}
        </div>
    }
    .into_any()
}

fn window(errors: &[FieldProblem], fields: &Fields) -> AnyView {
    let end = |key: &'static str, label: &'static str| {
        let field = Input { kind: "datetime-local", ..Input::text(key, label, fields.get(key)) };
        input(errors, field)
    };
    view! {
        <fieldset>
            <legend>"Window"</legend>
            <div class="pair">{end("not_before", "Not before")}{end("not_after", "Not after")}</div>
            <p class="hint">"Times in "<span data-zone>"UTC"</span>". Empty: from the next cycle on, without an end."</p>
        </fieldset>
    }
    .into_any()
}

fn note(errors: &[FieldProblem], fields: &Fields) -> AnyView {
    let Marks { id, invalid, describes } = marks(errors, "note");
    let area = view! {
        <textarea
            id=id
            name="note"
            rows="2"
            aria-invalid=invalid
            aria-describedby=describes
            inner_html=text_of_area(fields.get("note"))
        ></textarea>
    };
    labelled(errors, "note", "Note for the team", area.into_any())
}

/// What the bid would do, as typed.
fn preview(look: Option<&Look>) -> AnyView {
    view! {
        <section class="panel preview" aria-labelledby="preview-title">
            <header><h2 id="preview-title">"Preview"</h2></header>
            <div class="body" data-preview data-own aria-live="polite">{figures(look)}</div>
        </section>
    }
    .into_any()
}

/// The figures of a preview, or what is missing for one.
pub(super) fn figures(look: Option<&Look>) -> AnyView {
    let Some(look) = look.filter(|look| !look.lines.is_empty()) else {
        return view! {
            <p class="quiet">
                "Choose a chip type, the number of chips and a limit: here you see what the bid would get now, what it costs, how long the balance lasts, and which of your bids would lose chips to it."
            </p>
        }
        .into_any();
    };
    let lines = look
        .lines
        .iter()
        .map(|line| {
            view! {
                <dt>{line.label.clone()}</dt>
                <dd>{line.value.clone()}" "<small class="quiet">{line.note.clone()}</small></dd>
            }
        })
        .collect_view();
    view! {
        <dl class="look">{lines}</dl>
        <p class="quiet">{format!("If it had been there in cycle {}, all else equal.", format::thousands(look.cycle))}</p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t100_the_example_beside_the_limit_is_computed() {
        let text = worked_example(Chips(8), 3, Price(3_200_000));
        assert!(
            text.contains("at most 3.20 on 8 chips for 3 h is 24 chip-hours and costs 76.80 credits"),
            "{text}"
        );
    }

    #[test]
    fn a_tenth_more_is_rounded_up() {
        assert_eq!(a_tenth_more(Price(1_842_137)), Price(2_026_351));
        assert_eq!(a_tenth_more(Price(0)), Price(0));
    }
}
