//! The lab's pages: start a comparison, watch it, read its figures, put runs side by side.

use app::plain::form::FormState;
use app::plain::lab::{
    Comparison, Drill, Frontier, FrontierPoint, Head, LabPage, LabRunPage, Point, PolicyWords, Row,
    ShadowPanel, compare, lab, run,
};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, RawQuery};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use axum::routing::{get, post};
use common::api::{LabPolicy, LabRequest, LabResult, LabState, LabValues};
use policies::catalogue::{Choice, POLICIES, all, find};
use policies::columns::{COLUMNS, Column};
use policies::sequential::learned::{AGENTS, ENVY_WEIGHT, Figure, Kind, MOST_ENVY_WEIGHT, points, shipped};

use super::fields::Fields;
use super::{AppState, Plain, Posted};
use crate::error::AppError;
use crate::lab::best;
use crate::lab::csv_trace::MAX_BYTES;
use crate::lab::shadow::can_run;
use crate::policy::Viewer;
use crate::services::lab::Upload;

/// Runs that can stand side by side.
const MOST_COMPARED: usize = 6;

/// What a form may hold beside a file.
const FORM_BYTES: usize = 64 << 10;

/// The routes.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route("/lab", get(page).post(start))
        .route("/lab/traces", post(upload).layer(DefaultBodyLimit::max(MAX_BYTES + FORM_BYTES)))
        .route("/lab/runs/{id}", get(run_page))
        .route("/lab/runs/{id}/cancel", post(cancel))
        .route("/lab/compare", get(compare_page))
        .route("/lab/shadow", post(choose_shadow))
}

/// The forms of the first page, where one was sent and refused.
#[derive(Default)]
struct Forms {
    start: Option<FormState>,
    upload: Option<FormState>,
    shadow: Option<FormState>,
    /// The weight of envy that is marked on the frontier.
    envy_weight: Option<f64>,
}

/// A weight of envy that the learned policies take.
fn weight_of(text: &str) -> Option<f64> {
    text.parse().ok().filter(|weight| (0.0..=MOST_ENVY_WEIGHT).contains(weight))
}

/// The learned allocator's figures, as its weights tell them.
fn frontier(envy_weight: f64) -> Option<Frontier> {
    let (_, provenance) = shipped().ok()?;
    let of = |kind| {
        let point = |figure: &Figure| FrontierPoint {
            title: figure.title.clone(),
            envy_weight: figure.envy_weight,
            utility: figure.utility,
            envy: figure.envy,
            sharing_loss: figure.sharing_loss * AGENTS as f64,
        };
        points(&provenance.figures, kind).map(point).collect()
    };
    Some(Frontier {
        baselines: of(Kind::Baseline),
        told: of(Kind::Told),
        fixed: of(Kind::Fixed),
        elastic: of(Kind::Elastic),
        envy_weight,
        source: format!(
            "Means over {} made-up instances that training never saw: ten agents, three resources, log-normal demand. \
             Trained by {} at commit {}; docs/POLICIES.md has intervals over fresh seeds.",
            provenance.held_out, provenance.command, provenance.commit
        ),
    })
}

/// Puts the slider's weight of envy behind the names of the policies that have one. Where nothing is marked and the weight
/// is not the usual one, all policies are named.
fn with_weight(names: &[String], envy_weight: f64) -> Vec<String> {
    let named = |choice: Choice| {
        let envy_weight = choice.envy_weight.map(|_| envy_weight);
        Choice { envy_weight, ..choice }.name()
    };
    if names.is_empty() && envy_weight != ENVY_WEIGHT {
        return all().map(named).collect();
    }
    let known = |name: &String| match find(name) {
        Some(choice) if choice.entry.name == name => named(choice),
        _ => name.clone(),
    };
    names.iter().map(known).collect()
}

/// The slider of a form that was sent.
fn posted_weight(posted: &Posted) -> Result<f64, AppError> {
    match posted.get("envy_weight") {
        "" => Ok(ENVY_WEIGHT),
        text => weight_of(text).ok_or_else(|| {
            AppError::invalid("envy_weight", format!("is {text:?}; it must be 0 to {MOST_ENVY_WEIGHT}"))
        }),
    }
}

/// What the form that starts a run holds at first.
fn start_form() -> FormState {
    let envy_weight = ENVY_WEIGHT.to_string();
    FormState::filled(&[
        ("trace", "history"),
        ("values", "uniform"),
        ("seed", "1"),
        ("envy_weight", envy_weight.as_str()),
    ])
}

fn upload_form() -> FormState {
    FormState::filled(&[("round_seconds", "3600")])
}

async fn page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let weight = values_of(query.as_deref(), "envy_weight").next().and_then(|text| weight_of(&text));
    let forms = Forms { envy_weight: weight, ..Forms::default() };
    match first_page(&plain, &viewer, forms).await {
        Ok(page) => plain.ok("Lab", || lab(&page)),
        Err(error) => plain.problem(&error),
    }
}

async fn first_page(plain: &Plain, viewer: &Viewer, forms: Forms) -> Result<LabPage, AppError> {
    let services = plain.state().services();
    let words = POLICIES.iter().map(|entry| PolicyWords {
        name: entry.name,
        title: entry.title,
        explanation: entry.explanation,
        source: entry.source,
    });
    let traces = services.lab_traces(viewer).await?.into_iter().map(|choice| (choice.name, choice.about));
    Ok(LabPage {
        traces: traces.collect(),
        policies: words.collect(),
        runs: services.lab_runs(viewer).await?,
        frontier: frontier(forms.envy_weight.unwrap_or(ENVY_WEIGHT)),
        shadow: shadow_panel(plain, viewer, forms.shadow).await?,
        start: forms.start.unwrap_or_else(start_form),
        upload: forms.upload.unwrap_or_else(upload_form),
    })
}

async fn shadow_panel(
    plain: &Plain,
    viewer: &Viewer,
    form: Option<FormState>,
) -> Result<ShadowPanel, AppError> {
    let services = plain.state().services();
    let view = services.shadow(viewer).await?;
    let running: Vec<Choice> = view.running.iter().filter_map(|name| find(name)).collect();
    let weight = running.iter().find_map(|choice| choice.envy_weight).unwrap_or(ENVY_WEIGHT);
    let weight_text = weight.to_string();
    // Those with the slider's weight are marked by their short names; others, which programs choose, keep their own.
    let own: Vec<Choice> =
        running.iter().copied().filter(|choice| choice.envy_weight.is_some_and(|by| by != weight)).collect();
    let own_names: Vec<String> = own.iter().map(Choice::name).collect();
    let short = running.iter().filter(|choice| choice.envy_weight.is_none_or(|by| by == weight));
    let mut values = vec![("envy_weight", weight_text.as_str())];
    values.extend(short.map(|choice| ("shadow", choice.entry.name)));
    values.extend(own_names.iter().map(|name| ("shadow", name.as_str())));
    let form = form.unwrap_or_else(|| FormState::filled(&values));
    let (setup, _) = services.setup(viewer).await?;
    let able = POLICIES.iter().filter(|entry| can_run(entry.name));
    Ok(ShadowPanel {
        names: setup.teams.into_iter().map(|team| (team.id, team.name)).collect(),
        choices: able
            .map(|entry| (entry.name.to_owned(), entry.title.to_owned()))
            .chain(own.iter().map(|choice| (choice.name(), choice.title())))
            .collect(),
        form,
        view,
    })
}

async fn choose_shadow(plain: Plain, viewer: Viewer, posted: Posted) -> Response {
    let names: Vec<String> = posted.all("shadow").map(str::to_owned).collect();
    let chosen = async {
        let names = with_weight(&names, posted_weight(&posted)?);
        plain.state().services().choose_shadow(&viewer, &names).await
    };
    match chosen.await {
        Ok(()) => plain.done("/lab", "From the next accounting step on these policies run in shadow."),
        Err(error) => {
            let forms = Forms { shadow: Some(posted.refused(&error)), ..Forms::default() };
            refuse(plain, &viewer, &error, forms).await
        }
    }
}

/// The first page again, with a form that was refused.
async fn refuse(plain: Plain, viewer: &Viewer, error: &AppError, forms: Forms) -> Response {
    match first_page(&plain, viewer, forms).await {
        Ok(page) => plain.refused(error, "Lab", || lab(&page)),
        Err(error) => plain.problem(&error),
    }
}

/// A request from the form.
fn request(posted: &Posted) -> Result<LabRequest, AppError> {
    let mut fields = Fields::new(posted.fields());
    let or_zero = |fields: &mut Fields<'_>, name: &str| match fields.text(name) {
        "" => Some(0),
        _ => fields.number(name, 1, 1_000_000),
    };
    let seed = fields.number("seed", 0, u32::MAX);
    let supply = match fields.text("supply") {
        "" => Some(None),
        _ => fields.number("supply", 1, 1_000_000_000).map(|chips| Some(u64::from(chips))),
    };
    let (rounds, regret_rounds) = (or_zero(&mut fields, "rounds"), or_zero(&mut fields, "regret_rounds"));
    let values =
        if fields.text("values") == "heavy-tailed" { LabValues::HeavyTailed } else { LabValues::Uniform };
    let trace = fields.text("trace").to_owned();
    fields.finish()?;
    let policies: Vec<String> = posted.all("policies").map(str::to_owned).collect();
    let policies = with_weight(&policies, posted_weight(posted)?);
    Ok(LabRequest {
        trace,
        policies,
        seed: seed.unwrap_or_default().into(),
        values,
        supply: supply.unwrap_or_default(),
        regret_rounds: regret_rounds.unwrap_or_default(),
        rounds: rounds.unwrap_or_default(),
    })
}

async fn start(plain: Plain, viewer: Viewer, posted: Posted) -> Response {
    let started = async {
        let request = request(&posted)?;
        plain.state().services().start_lab_run(&viewer, request).await
    };
    match started.await {
        Ok(run) => plain.to(&format!("/lab/runs/{}", run.id)),
        Err(error) => {
            let forms = Forms { start: Some(posted.refused(&error)), ..Forms::default() };
            refuse(plain, &viewer, &error, forms).await
        }
    }
}

async fn upload(plain: Plain, viewer: Viewer, posted: Posted) -> Response {
    let uploaded = async {
        let mut fields = Fields::new(posted.fields());
        let supply = match fields.text("chips") {
            "" => None,
            _ => fields.number("chips", 1, 1_000_000_000).map(u64::from),
        };
        let round_seconds = fields.number("round_seconds", 1, 31_622_400);
        let name = fields.text("name");
        fields.finish()?;
        // A chosen file counts before what was pasted.
        let csv = if posted.get("file").is_empty() { posted.get("csv") } else { posted.get("file") };
        let upload = Upload { name, supply, round_seconds: round_seconds.unwrap_or_default(), csv };
        let (rounds, teams) = plain.state().services().upload_lab_trace(&viewer, upload).await?;
        Ok::<String, AppError>(format!(
            "Uploaded {name}: {rounds} rounds of {teams} teams. It can be chosen as a trace now."
        ))
    };
    match uploaded.await {
        Ok(notice) => plain.done("/lab", &notice),
        Err(error) => {
            let forms = Forms { upload: Some(posted.refused(&error)), ..Forms::default() };
            refuse(plain, &viewer, &error, forms).await
        }
    }
}

async fn run_page(
    plain: Plain,
    viewer: Viewer,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let view = match plain.state().services().lab_run(&viewer, &id).await {
        Ok(view) => view,
        Err(error) => return plain.problem(&error),
    };
    let unfinished = matches!(view.run.state, LabState::Queued | LabState::Running);
    let team = values_of(query.as_deref(), "team").next().and_then(|text| text.parse::<usize>().ok());
    let drill = team
        .filter(|team| view.result.as_ref().is_some_and(|result| *team < result.teams.len()))
        .map(|team| Drill { team });
    let result = view.result.map(|result| {
        let comparison = side_by_side(&[(String::new(), &result)]);
        (result, comparison)
    });
    let page = LabRunPage { run: view.run, result, drill };
    let mut response = plain.ok("Lab run", || run(page));
    if unfinished {
        // The page looks again by itself, also without scripts.
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static("2"));
    }
    response
}

async fn cancel(plain: Plain, viewer: Viewer, Path(id): Path<String>) -> Response {
    match plain.state().services().cancel_lab_run(&viewer, &id).await {
        Ok(()) => plain.done(&format!("/lab/runs/{id}"), "The run is being cancelled."),
        Err(error) => plain.problem(&error),
    }
}

async fn compare_page(plain: Plain, viewer: Viewer, RawQuery(query): RawQuery) -> Response {
    let mut runs = Vec::new();
    for id in values_of(query.as_deref(), "run").take(MOST_COMPARED) {
        match plain.state().services().lab_run(&viewer, &id).await {
            Ok(view) => runs.push(view),
            Err(error) => return plain.problem(&error),
        }
    }
    let done: Vec<(String, &LabResult)> = runs
        .iter()
        .enumerate()
        .filter_map(|(nth, view)| Some((format!("run {}: ", nth + 1), view.result.as_ref()?)))
        .collect();
    if done.is_empty() {
        let error = AppError::invalid("run", "mark at least one run that is done, and compare again");
        return plain.problem(&error);
    }
    let titles: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(nth, view)| format!("run {}: {}, {}", nth + 1, view.run.request.trace, view.run.created_at))
        .collect();
    let comparison = side_by_side(&done);
    plain.ok("Lab: runs side by side", || compare(&titles, &comparison))
}

/// All values of a field of a query.
fn values_of(query: Option<&str>, name: &str) -> impl Iterator<Item = String> {
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    let name = name.to_owned();
    pairs.into_iter().filter(move |(known, _)| *known == name).map(|(_, value)| value)
}

/// The policies of some results as one table; each result's title stands before its policies. The best of a column is
/// marked within its result.
fn side_by_side(results: &[(String, &LabResult)]) -> Comparison {
    let policies = results.iter().flat_map(|(_, result)| &result.policies);
    let is_known = |column: &&Column| policies.clone().any(|policy| policy.measures.contains_key(column.key));
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_known).collect();
    let heads = columns.iter().map(|column| Head {
        title: column.title,
        unit: column.unit,
        explanation: column.explanation,
    });
    let mut comparison = Comparison { heads: heads.collect(), rows: Vec::new(), points: Vec::new() };
    for (title, result) in results {
        for policy in &result.policies {
            let number = comparison.rows.len() + 1;
            let title = format!("{title}{}", policy.title);
            let cells = columns.iter().map(|column| cell(result, policy, column)).collect();
            let of = |key: &str| policy.measures.get(key).copied();
            if let Some((fairness, welfare)) = of("fairness").zip(of("welfare_share")) {
                comparison.points.push(Point { number, title: title.clone(), fairness, welfare });
            }
            comparison.rows.push(Row { number, title, cells, refusal: policy.refusal.clone() });
        }
    }
    comparison
}

fn cell(result: &LabResult, policy: &LabPolicy, column: &Column) -> (String, bool) {
    match policy.measures.get(column.key) {
        None => ("–".to_owned(), false),
        Some(value) if column.unit.is_empty() => (format!("{value:.4}"), best(result, column, *value)),
        Some(value) => (format!("{value:.1}"), best(result, column, *value)),
    }
}
