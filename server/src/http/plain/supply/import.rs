//! Importing an inventory: a file is chosen or pasted, shown with what it would change and what that does, and imported
//! when it is confirmed.

use app::plain::form::FormState;
use app::plain::supply::{ImportPage, import as import_view};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use common::api::{Comparison, Inventory, InventoryView, ModelMeaning};
use common::problem::Problem;

use super::super::{AppState, Plain, Posted};
use super::{doer, pool_in};
use crate::error::{AppError, ErrorKind};
use crate::policy::{Action, Object, Viewer};
use crate::services::audit::Origin;
use crate::services::supply::import::edits;

const TITLE: &str = "Import an inventory";

/// Before the name of a model in the field that says which chip type it is.
const MODEL: &str = "model-";

/// What stands in such a field where the model's chips are left out.
const LEFT_OUT: &str = "-";

pub(super) fn routes() -> Router<AppState> {
    Router::new().route("/supply/import", get(form_page).post(post))
}

async fn form_page(plain: Plain, viewer: Viewer) -> Response {
    match page(&plain, &viewer, FormState::default(), None).await {
        Ok(page) => plain.ok(TITLE, || import_view(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn page(
    plain: &Plain,
    viewer: &Viewer,
    state: FormState,
    read: Option<(InventoryView, Option<Comparison>)>,
) -> Result<ImportPage, AppError> {
    viewer.may(Action::SetSupply, Object::Organisation)?;
    let view = plain.state().services().supply(viewer).await?;
    Ok(ImportPage {
        chip_types: view.chip_types.iter().map(|row| (row.chip_type.to_string(), row.name.clone())).collect(),
        pools: view.pools.iter().map(|row| (row.pool.to_string(), row.name.clone())).collect(),
        next_cycle: view.next_cycle,
        state,
        read,
    })
}

/// The file and how it is read, from a form. A chosen file counts before what was pasted.
fn inventory(posted: &Posted) -> Result<Inventory, AppError> {
    let file = posted.get("file");
    let csv = if file.is_empty() { posted.get("csv") } else { file };
    let said =
        posted.fields().iter().filter_map(|(name, value)| Some((name.strip_prefix(MODEL)?, value.as_str())));
    let models = said.filter(|(_, value)| !value.is_empty()).map(|(model, value)| {
        let chip_type = match value {
            LEFT_OUT => None,
            id => Some(id.parse().map_err(|_| AppError::not_found("chip type", id))?),
        };
        Ok(ModelMeaning { model: model.to_owned(), chip_type })
    });
    let models = models.collect::<Result<_, AppError>>()?;
    Ok(Inventory { csv: csv.to_owned(), pool: pool_in(posted.fields())?, models })
}

async fn post(plain: Plain, viewer: Viewer, origin: Origin, posted: Posted) -> Response {
    match import_or_ask(&plain, &viewer, &origin, &posted).await {
        Ok(Reply::Imported(changes)) => plain
            .done("/supply", &format!("Imported: {changes} numbers of chips change with the next cycle.")),
        Ok(Reply::Ask(page)) if page.has_faults() => {
            let error = AppError::new(ErrorKind::Invalid, "nothing is imported while the file has faults");
            plain.refused(&error, TITLE, || import_view(&page))
        }
        Ok(Reply::Ask(page)) => plain.ok(TITLE, || import_view(&page)),
        Err(error) => match page_of_refusal(&plain, &viewer, posted, &error).await {
            Some(page) => plain.refused(&error, TITLE, || import_view(&page)),
            None => plain.problem(&error),
        },
    }
}

/// The form again, with what was typed and why it was refused; none where typing can't mend it.
async fn page_of_refusal(
    plain: &Plain,
    viewer: &Viewer,
    posted: Posted,
    error: &AppError,
) -> Option<ImportPage> {
    let by_typing = matches!(error.kind(), ErrorKind::Invalid | ErrorKind::PreconditionFailed);
    let inventory = inventory(&posted).ok().filter(|_| by_typing)?;
    let view = plain.state().services().read_inventory(viewer, &inventory).await.ok()?;
    let state = FormState::refused(with_text(posted, &inventory), &Problem::from(error));
    page(plain, viewer, state, Some((view, None))).await.ok()
}

/// The fields of a form with the text of the file among them: a browser does not send a chosen file twice.
fn with_text(posted: Posted, inventory: &Inventory) -> Vec<(String, String)> {
    let mut fields = posted.into_fields();
    fields.retain(|(name, _)| name != "csv" && name != "file");
    fields.push(("csv".to_owned(), inventory.csv.clone()));
    fields
}

/// What becomes of a posted form.
enum Reply {
    /// It is imported, and so many numbers of chips change.
    Imported(usize),
    /// What the file says and would do.
    Ask(Box<ImportPage>),
}

async fn import_or_ask(
    plain: &Plain,
    viewer: &Viewer,
    origin: &Origin,
    posted: &Posted,
) -> Result<Reply, AppError> {
    let (services, inventory) = (plain.state().services(), inventory(posted)?);
    if posted.get("do") == "import" {
        let known = Some(posted.get("version")).filter(|version| !version.is_empty());
        let doer = doer(viewer, origin, posted);
        let view = services.import_inventory(doer, &inventory, known).await?;
        return Ok(Reply::Imported(view.changes.len()));
    }
    let view = services.read_inventory(viewer, &inventory).await?;
    let effect = if view.faults.is_empty() && !view.changes.is_empty() {
        // Before the first cycle there is no book to show the effect on.
        let effect = services.supply_effect(viewer, origin, &edits(&view.changes)).await;
        match effect {
            Err(error) if error.kind() == ErrorKind::Conflict => None,
            other => Some(other?),
        }
    } else {
        None
    };
    let fields = with_text(posted.clone(), &inventory);
    let pairs: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let page = page(plain, viewer, FormState::filled(&pairs), Some((view, effect))).await?;
    Ok(Reply::Ask(Box::new(page)))
}
