//! What a bid would do if it were placed now, in words: the preview beside the form.

use common::api::{BidPreview, BidTerms, PreviewBid};
use common::problem::{FieldProblem, Problem};
use common::words::counted;

use super::act::team_of;
use super::read::Address;
use super::reply::{Line, Look};
use super::terms::terms;
use super::words::{chip_hours, chips_now, dearer_than_list, lasts, price_to_win, sentence};
use crate::backend::Backend;
use crate::fields::Fields;
use crate::format;

/// Previews the bid that the form at an address describes. A form that can't be read yet has no figures, and names the
/// fields at fault; those that are only empty still are named once the form was sent in vain (`tried`).
///
/// # Errors
/// As the services.
pub(crate) async fn look(backend: &dyn Backend, at: &str, mut fields: Fields) -> Result<Look, Problem> {
    let nameless = fields.get("name").trim().is_empty();
    let tried = fields.get("tried") == "yes";
    if nameless {
        fields.set("name", "New bid");
    }
    let mut faults = Vec::new();
    if nameless && tried {
        faults.push(FieldProblem {
            field: "name".to_owned(),
            detail: "is empty; give the bid a name".to_owned(),
        });
    }
    let terms = match terms(&fields) {
        Ok(terms) => terms,
        Err(errors) => {
            faults.extend(errors.into_iter().filter(|error| {
                let (name, row) = error.field.split_once('.').unwrap_or((&error.field, "0"));
                tried || !fields.nth(name, row.parse().unwrap_or_default()).trim().is_empty()
            }));
            return Ok(Look { errors: faults, ..Look::default() });
        }
    };
    let (team, replaces) = match Address::parse(at)? {
        Address::List(query) => (team_of(backend, query.team).await?, None),
        Address::New { team, .. } => (team_of(backend, team).await?, None),
        Address::Bid { id, .. } => (backend.bid(id.clone(), None).await?.team.id, Some(id)),
    };
    match backend.preview_bid(PreviewBid { team, replaces, terms: terms.clone() }).await {
        Ok(preview) => Ok(Look { cycle: preview.cycle, lines: lines(&preview, &terms), errors: faults }),
        Err(problem) => {
            let refused = super::act::refusal(problem)?;
            if refused.errors.is_empty() {
                faults.push(FieldProblem { field: "form".to_owned(), detail: refused.detail });
            }
            faults.extend(refused.errors);
            Ok(Look { errors: faults, ..Look::default() })
        }
    }
}

fn lines(preview: &BidPreview, terms: &BidTerms) -> Vec<Line> {
    let line = |label: &str, value: String, note: String| Line { label: label.to_owned(), value, note };
    let now = &preview.now;
    let chip_type = now.chip_type.as_ref().map(|id| id.as_str());
    let free = now.opportunistic_chips;
    let free = (free.0 > 0).then(|| format!("and {} idle ones for free", format::chips(free)));
    let price = now.local_price.map_or_else(|| "no trade".to_owned(), |price| price.to_string());
    let mut lines = vec![
        line("Chips it would get now", chips_now(now, terms).1, free.unwrap_or_default()),
        line("Why", sentence(&now.explanation), String::new()),
        line("Your price then", price, "credits per chip-hour".to_owned()),
        line("It costs", format::amount(preview.cost_per_hour), "credits per hour".to_owned()),
    ];
    if let Some(work) = terms.work_chip_seconds {
        let cost = preview.cost_of_work.map_or_else(|| format::NONE.to_owned(), format::amount);
        let pace = match now.chips.0 {
            0 => String::new(),
            chips => {
                let seconds = i64::try_from(work.div_ceil(chips)).unwrap_or(i64::MAX);
                format!(", {} on {}", format::duration(seconds), counted(chips, "chip"))
            }
        };
        lines.push(line("All its work costs", cost, format!("credits for {}{pace}", chip_hours(work))));
    }
    if let Some(list) = dearer_than_list(now.local_price, preview.list_price) {
        let note = "credits per chip-hour outside the market, less than the price here: look there before you place it";
        lines.push(line("List price", list.to_string(), note.to_owned()));
    }
    let burn = format!("at {} credits per hour in all", format::amount(preview.funds.burn_per_hour));
    lines.push(line("Balance lasts", lasts(&preview.funds), burn));
    lines.push(line("Loses chips to it", losers(preview), String::new()));
    lines.push(line("To win", price_to_win(&preview.price_to_win, terms, chip_type), String::new()));
    lines
}

/// The team's bids that would lose chips: "ablation sweep −16, eval −8".
fn losers(preview: &BidPreview) -> String {
    if preview.losers.is_empty() {
        return "none of your bids".to_owned();
    }
    let losers: Vec<_> = preview
        .losers
        .iter()
        .map(|loser| {
            let lost = loser.before.0.saturating_sub(loser.after.0);
            format!("{} \u{2212}{}", loser.name, format::thousands(lost))
        })
        .collect();
    losers.join(", ")
}
