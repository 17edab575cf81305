//! Setting chips, a reserve price, a list price or lending: typed, shown with its effect on the book in force, then confirmed.

use app::format::{thousands, utc};
use app::plain::form::{Field, FormState};
use app::plain::organisation::{ChangePage, Input};
use app::plain::supply::confirmation;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use common::api::{Comparison, SuppliedType, SupplyEdit, SupplyView};
use common::chips::{Chips, MAX_CHIPS};
use common::ids::{ChipTypeId, PoolId};
use common::instant::Instant;
use common::names::Names;

use super::super::fields::Fields;
use super::super::{AppState, Plain, Posted};
use super::{back, chip_type_in, doer, fields_of, pool_in, refuse, show};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::{Origin, check_reason};
use crate::services::supply::value_of;
use crate::services::version::version_of;

/// What a time to come is typed like.
const AT_HINT: &str = "With the first cycle at or after it. Left empty: with the next cycle";

/// Which thing about supply a form sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Chips,
    Reserve,
    ListPrice,
    Lending,
}

impl Kind {
    const fn path(self) -> &'static str {
        match self {
            Self::Chips => "/supply/chips",
            Self::Reserve => "/supply/reserve",
            Self::ListPrice => "/supply/list-price",
            Self::Lending => "/supply/lending",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Chips => "Set chips",
            Self::Reserve => "Set a reserve price",
            Self::ListPrice => "Set a list price",
            Self::Lending => "Set what a pool lends",
        }
    }

    /// The field that is typed into.
    const fn field(self) -> &'static str {
        match self {
            Self::Chips => "chips",
            Self::Reserve => "reserve_price",
            Self::ListPrice => "list_price",
            Self::Lending => "lends_at_most",
        }
    }
}

pub(super) fn routes() -> Router<AppState> {
    let mut routes = Router::new();
    for kind in [Kind::Chips, Kind::Reserve, Kind::ListPrice, Kind::Lending] {
        let page = move |plain, viewer, query| form_page(kind, plain, viewer, query);
        let post = move |plain, viewer, origin, posted| set(kind, plain, viewer, origin, posted);
        routes = routes.route(kind.path(), get(page).post(post));
    }
    routes
}

async fn form_page(kind: Kind, plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let page = form(kind, &plain, &viewer, &fields_of(query)).await;
    show(plain, kind.title(), page)
}

/// What is set now, by the names in a form or an address.
fn present(kind: Kind, view: &SupplyView, fields: &[(String, String)]) -> Result<SupplyEdit, AppError> {
    match kind {
        Kind::Chips => {
            let (chip_type, pool) = (chip_type_in(fields)?, pool_in(fields)?);
            let chips = chips_of(view, &chip_type, pool.as_ref())?;
            Ok(SupplyEdit::Chips { chip_type, pool, chips })
        }
        Kind::Reserve => {
            let row = row_of(view, &chip_type_in(fields)?)?;
            Ok(SupplyEdit::Reserve { chip_type: row.chip_type.clone(), reserve_price: row.reserve_price })
        }
        Kind::ListPrice => {
            let row = row_of(view, &chip_type_in(fields)?)?;
            Ok(SupplyEdit::ListPrice { chip_type: row.chip_type.clone(), list_price: row.list_price })
        }
        Kind::Lending => {
            let pool = pool_in(fields)?.ok_or_else(|| AppError::not_found("pool", "without an id"))?;
            let row = view.pools.iter().find(|row| row.pool == pool);
            let row = row.ok_or_else(|| AppError::not_found("pool", &pool))?;
            Ok(SupplyEdit::Lending { lends_at_most: row.lends_at_most, pool })
        }
    }
}

fn row_of<'a>(view: &'a SupplyView, chip_type: &ChipTypeId) -> Result<&'a SuppliedType, AppError> {
    let row = view.chip_types.iter().find(|row| row.chip_type == *chip_type);
    row.ok_or_else(|| AppError::not_found("chip type", chip_type))
}

/// Chips of a hand that exist.
pub(super) fn chips_of(
    view: &SupplyView,
    chip_type: &ChipTypeId,
    pool: Option<&PoolId>,
) -> Result<Chips, AppError> {
    let row = row_of(view, chip_type)?;
    if let Some(pool) = pool.filter(|pool| view.pools.iter().all(|row| row.pool != **pool)) {
        return Err(AppError::not_found("pool", pool));
    }
    let mut holdings = row.holdings.iter();
    Ok(holdings
        .find(|holding| holding.pool.as_ref() == pool)
        .map(|holding| holding.chips)
        .unwrap_or_default())
}

/// What an edit is about, as facts.
fn about(edit: &SupplyEdit, names: &Names) -> Vec<(&'static str, String)> {
    let mut facts = match edit {
        SupplyEdit::Chips { chip_type, pool, .. } => {
            vec![("Chip type", names.chip_type(chip_type)), ("Whose", names.whose(pool.as_ref()))]
        }
        SupplyEdit::Reserve { chip_type, .. } | SupplyEdit::ListPrice { chip_type, .. } => {
            vec![("Chip type", names.chip_type(chip_type))]
        }
        SupplyEdit::Lending { pool, .. } => vec![("Pool", names.pool(pool))],
    };
    facts.push(("Set to", value_of(edit)));
    facts
}

/// The value of an edit as it is typed.
fn typed(edit: &SupplyEdit) -> String {
    match edit {
        SupplyEdit::Chips { chips, .. } => chips.to_string(),
        SupplyEdit::Reserve { reserve_price, .. } => reserve_price.to_string(),
        SupplyEdit::ListPrice { list_price, .. } => {
            list_price.map_or_else(String::new, |price| price.to_string())
        }
        SupplyEdit::Lending { lends_at_most, .. } => {
            lends_at_most.map_or_else(String::new, |chips| chips.to_string())
        }
    }
}

/// The names of an edit, carried along by its form.
fn names(edit: &SupplyEdit) -> Vec<Input> {
    let (chip_type, pool) = match edit {
        SupplyEdit::Chips { chip_type, pool, .. } => (Some(chip_type), pool.as_ref()),
        SupplyEdit::Reserve { chip_type, .. } | SupplyEdit::ListPrice { chip_type, .. } => {
            (Some(chip_type), None)
        }
        SupplyEdit::Lending { pool, .. } => (None, Some(pool)),
    };
    let chip_type = chip_type.map(|id| Input::Hidden("chip_type", id.to_string()));
    let pool = pool.map(|id| Input::Hidden("pool", id.to_string()));
    chip_type.into_iter().chain(pool).collect()
}

async fn form(
    kind: Kind,
    plain: &Plain,
    viewer: &Viewer,
    fields: &[(String, String)],
) -> Result<ChangePage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let view = plain.state().services().supply(viewer).await?;
    let present = present(kind, &view, fields)?;
    let value = match kind {
        Kind::Chips => Field { kind: "number", ..Field::text("chips", "Chips") }
            .with_hint("All that exist, those under maintenance included; 0 to 4,294,967,295"),
        Kind::Reserve => Field::text("reserve_price", "Reserve price")
            .with_hint("Global credits per chip-hour, with a point before the decimals; 0 is none"),
        Kind::ListPrice => Field { required: false, ..Field::text("list_price", "List price") }.with_hint(
            "What a chip-hour costs outside the market, in global credits; left empty it is not known. Forms for bids say \
             when the market is dearer",
        ),
        Kind::Lending => {
            Field { required: false, kind: "number", ..Field::text("lends_at_most", "Lends at most") }
                .with_hint("Idle chips of each chip type; 0 is none, left empty is all of them")
        }
    };
    let mut inputs = names(&present);
    inputs.push(Input::Line(value));
    inputs.push(Input::Line(Field { required: false, ..Field::time("at", "When") }.with_hint(AT_HINT)));
    inputs.push(Input::Hidden("id", plain.state().new_request_id()));
    Ok(ChangePage {
        heading: kind.title(),
        action: kind.path().to_owned(),
        state: FormState::filled(&[(kind.field(), &typed(&present))]),
        version: version_of(&present)?,
        inputs,
        button: "Show the effect",
        now: about(&present, plain.names()),
        effects: vec![
            "Nothing yet: the next page shows what it does to prices, teams and bids, and asks once more."
                .to_owned(),
            format!("Without a time it takes effect in cycle {}, the next one.", thousands(view.next_cycle)),
            "No balance changes.".to_owned(),
        ],
        listing: None,
        back: back(),
    })
}

/// Reads what is to be set, and when.
fn parse(kind: Kind, posted: &Posted) -> Result<(SupplyEdit, Option<Instant>), AppError> {
    let mut fields = Fields::new(posted.fields());
    let at = fields.optional_instant("at");
    let most = u32::try_from(MAX_CHIPS).unwrap_or(u32::MAX);
    let edit = match kind {
        Kind::Chips => {
            let chips = fields.number("chips", 0, most);
            let (chip_type, pool) = (chip_type_in(posted.fields())?, pool_in(posted.fields())?);
            SupplyEdit::Chips { chip_type, pool, chips: Chips(chips.unwrap_or_default().into()) }
        }
        Kind::Reserve => {
            let reserve_price = fields.value("reserve_price").unwrap_or_default();
            SupplyEdit::Reserve { chip_type: chip_type_in(posted.fields())?, reserve_price }
        }
        Kind::ListPrice => {
            let list_price = match fields.text("list_price") {
                "" => None,
                _ => fields.value("list_price"),
            };
            SupplyEdit::ListPrice { chip_type: chip_type_in(posted.fields())?, list_price }
        }
        Kind::Lending => {
            let pool = pool_in(posted.fields())?;
            let pool = pool.ok_or_else(|| AppError::not_found("pool", "without an id"))?;
            let lends_at_most = match fields.text("lends_at_most") {
                "" => None,
                _ => fields.number("lends_at_most", 0, most).map(|chips| Chips(chips.into())),
            };
            SupplyEdit::Lending { pool, lends_at_most }
        }
    };
    fields.finish()?;
    Ok((edit, at))
}

async fn set(kind: Kind, plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    match set_or_ask(kind, &plain, &viewer, &origin, &posted).await {
        Ok(Reply::Set(notice)) => plain.done("/supply", &notice),
        Ok(Reply::Ask(page, effect)) => plain.ok("Confirm the change", || confirmation(*page, &effect)),
        Err(error) => {
            let page = form(kind, &plain, &viewer, posted.fields()).await;
            refuse(plain, kind.title(), posted, &error, page)
        }
    }
}

/// What becomes of a posted form.
enum Reply {
    /// It is set, or planned.
    Set(String),
    /// Its effect, and the form that confirms it.
    Ask(Box<ChangePage>, Box<Comparison>),
}

async fn set_or_ask(
    kind: Kind,
    plain: &Plain,
    viewer: &Viewer,
    origin: &Origin,
    posted: &Posted,
) -> Result<Reply, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let (edit, at) = parse(kind, posted)?;
    check_reason(posted.get("reason"))?;
    let services = plain.state().services();
    if let Some(at) = at {
        services.check_time_to_come(at)?;
    }
    if posted.get("confirmed") != "yes" {
        let effect = services.supply_effect(viewer, origin, std::slice::from_ref(&edit)).await?;
        let page = confirm(kind, plain, viewer, (&edit, at), posted).await?;
        return Ok(Reply::Ask(Box::new(page), Box::new(effect)));
    }
    let known = Some(posted.get("version")).filter(|version| !version.is_empty());
    let doer = doer(viewer, origin, posted);
    let changed = services.change_supply(doer, &edit, (at, posted.get("id")), known).await?;
    Ok(Reply::Set(match (changed.cycle, at) {
        (None, Some(at)) => format!("Planned: it takes effect with the first cycle at or after {at}."),
        (cycle, _) => format!("Set: it takes effect in cycle {}.", thousands(cycle.unwrap_or_default())),
    }))
}

async fn confirm(
    kind: Kind,
    plain: &Plain,
    viewer: &Viewer,
    (edit, at): (&SupplyEdit, Option<Instant>),
    posted: &Posted,
) -> Result<ChangePage, AppError> {
    let view = plain.state().services().supply(viewer).await?;
    let present = present(kind, &view, posted.fields())?;
    let mut inputs = names(edit);
    inputs.extend([
        Input::Hidden(kind.field(), typed(edit)),
        Input::Hidden("at", at.map_or_else(String::new, |at| at.to_string())),
        Input::Hidden("id", posted.get("id").to_owned()),
        Input::Hidden("confirmed", "yes".to_owned()),
    ]);
    let when = match at {
        Some(at) => format!("With the first cycle at or after {}; until then it can be taken back.", utc(at)),
        None => format!("In cycle {}, the next one.", thousands(view.next_cycle)),
    };
    Ok(ChangePage {
        heading: "Confirm the change",
        action: kind.path().to_owned(),
        state: FormState::filled(&[("reason", posted.get("reason"))]),
        version: posted.get("version").to_owned(),
        inputs,
        button: if at.is_some() { "Plan it" } else { "Set it" },
        now: about(&present, plain.names()),
        effects: vec![
            format!("It becomes {}.", value_of(edit)),
            when,
            "Below is what it would do to the book in force. No balance changes.".to_owned(),
        ],
        listing: None,
        back: back(),
    })
}
