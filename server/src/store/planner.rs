//! Plans of training jobs: their versions with what they said, the losses that were reported, the bids that they placed.
//!
//! Rows are only added, but for what a plan says now: it is kept whole, so that lists and sums over all plans read no losses,
//! and replaced with each version. A version keeps a few figures of it.

use common::api::{ChipHoursBand, PlanBidsPlaced, PlanForecast, PlanLoss, PlanTerms, PlanVerdict};
use common::ids::{BidId, PlanId, TeamId, UserId};
use common::instant::Instant;
use common::money::MicroCredits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A plan with its newest version.
#[derive(Clone, Debug)]
pub(crate) struct StoredPlan {
    pub(crate) number: u64,
    pub(crate) id: PlanId,
    pub(crate) team: TeamId,
    pub(crate) made_at: Instant,
    pub(crate) made_by: String,
    pub(crate) newest: PlanVersion,
    /// What the newest version says.
    pub(crate) forecast: PlanForecast,
}

/// A version of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanVersion {
    pub(crate) version: u64,
    pub(crate) terms: PlanTerms,
    pub(crate) closed: bool,
    pub(crate) said: Said,
    pub(crate) written_at: Instant,
    /// Display name of who wrote it.
    pub(crate) written_by: String,
}

/// What stays of a forecast once there is a newer one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Said {
    pub(crate) losses: u64,
    pub(crate) verdict: PlanVerdict,
    pub(crate) remaining: ChipHoursBand,
    pub(crate) spend_p50: MicroCredits,
}

impl From<&PlanForecast> for Said {
    fn from(forecast: &PlanForecast) -> Self {
        let PlanForecast { losses, verdict, remaining, spend_p50, .. } = *forecast;
        Self { losses, verdict, remaining, spend_p50 }
    }
}

/// Who writes, and when.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) user: UserId,
    pub(crate) name: String,
    pub(crate) now: Instant,
}

macro_rules! version_columns {
    () => {
        "v.version, v.terms, v.closed, v.forecast, v.written_at, v.written_by_name"
    };
}

macro_rules! plan_columns {
    () => {
        concat!("p.number, p.id, p.team, p.made_at, p.made_by_name, ", version_columns!(), ", f.forecast")
    };
}

/// A plan beside its newest version.
macro_rules! newest_of_plans {
    ($where:literal) => {
        concat!(
            "SELECT ",
            plan_columns!(),
            " FROM plan p JOIN plan_version v ON v.plan = p.number AND v.version = \
             (SELECT MAX(m.version) FROM plan_version m WHERE m.plan = p.number) \
             JOIN plan_forecast f ON f.plan = p.number ",
            $where
        )
    };
}

fn json<T: Serialize>(value: &T) -> Result<String, AppError> {
    serde_json::to_string(value).map_err(AppError::internal)
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, AppError> {
    serde_json::from_str(text).map_err(AppError::internal)
}

fn version_from_row(row: &mut Row) -> Result<PlanVersion, AppError> {
    Ok(PlanVersion {
        version: row.unsigned()?,
        terms: from_json(&row.text()?)?,
        closed: row.flag()?,
        said: from_json(&row.text()?)?,
        written_at: Instant(row.int()?),
        written_by: row.text()?,
    })
}

fn plan_from_row(mut row: Row) -> Result<StoredPlan, AppError> {
    Ok(StoredPlan {
        number: row.unsigned()?,
        id: row.id()?,
        team: row.id()?,
        made_at: Instant(row.int()?),
        made_by: row.text()?,
        newest: version_from_row(&mut row)?,
        forecast: from_json(&row.text()?)?,
    })
}

/// The plan of an id, with its newest version.
pub(crate) async fn by_id(tx: &mut Tx, id: &PlanId) -> Result<Option<StoredPlan>, AppError> {
    const SQL: &str = newest_of_plans!("WHERE p.id = $1");
    tx.row(SQL, values![id.as_str()]).await?.map(plan_from_row).transpose()
}

/// A team's plans, open ones first, then newest first.
pub(crate) async fn of_team(tx: &mut Tx, team: &TeamId, limit: u32) -> Result<Vec<StoredPlan>, AppError> {
    const SQL: &str = newest_of_plans!("WHERE p.team = $1 ORDER BY v.closed, p.number DESC LIMIT $2");
    tx.rows(SQL, values![team.as_str(), limit]).await?.into_iter().map(plan_from_row).collect()
}

/// All plans that are not closed.
pub(crate) async fn open(tx: &mut Tx) -> Result<Vec<StoredPlan>, AppError> {
    const SQL: &str = newest_of_plans!("WHERE v.closed = 0 ORDER BY p.number");
    tx.rows(SQL, []).await?.into_iter().map(plan_from_row).collect()
}

/// The hash of the request that made a plan.
pub(crate) async fn request_sha256(tx: &mut Tx, id: &PlanId) -> Result<Option<[u8; 32]>, AppError> {
    const SQL: &str = "SELECT request_sha256 FROM plan WHERE id = $1";
    tx.row(SQL, values![id.as_str()]).await?.map(|mut row| row.sha256()).transpose()
}

/// Adds a plan; answers its number, which is safe to choose here because there is one writer.
pub(crate) async fn insert(
    tx: &mut Tx,
    by: &Writer,
    id: &PlanId,
    team: &TeamId,
    request_sha256: [u8; 32],
) -> Result<u64, AppError> {
    const SQL: &str = "INSERT INTO plan (id, team, request_sha256, made_at, made_by, made_by_name, number) \
        SELECT $1, $2, $3, $4, $5, $6, COALESCE(MAX(number), 0) + 1 FROM plan RETURNING number";
    let values = values![id.as_str(), team.as_str(), request_sha256, by.now.0, by.user.as_str(), &*by.name];
    let row = tx.row(SQL, values).await?;
    row.ok_or_else(|| AppError::internal("an inserted plan has no number"))?.unsigned()
}

/// Adds a version of a plan; its forecast is what the plan says from now on.
pub(crate) async fn insert_version(
    tx: &mut Tx,
    by: &Writer,
    plan: u64,
    version: u64,
    (terms, closed, forecast): (&PlanTerms, bool, &PlanForecast),
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO plan_version (plan, version, terms, closed, forecast, written_at, written_by_name) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const SAYS: &str = "INSERT INTO plan_forecast (plan, forecast) VALUES ($1, $2) \
        ON CONFLICT (plan) DO UPDATE SET forecast = excluded.forecast";
    let (terms, said) = (json(terms)?, json(&Said::from(forecast))?);
    tx.execute(SQL, values![plan, version, terms, closed, said, by.now.0, &*by.name]).await?;
    tx.execute(SAYS, values![plan, json(forecast)?]).await.map(drop)
}

/// The last versions of a plan, newest first.
pub(crate) async fn versions(tx: &mut Tx, plan: u64, limit: u32) -> Result<Vec<PlanVersion>, AppError> {
    const SQL: &str = concat!(
        "SELECT ",
        version_columns!(),
        " FROM plan_version v WHERE v.plan = $1 ORDER BY v.version DESC LIMIT $2"
    );
    let mut rows = tx.rows(SQL, values![plan, limit]).await?;
    rows.iter_mut().map(version_from_row).collect()
}

/// The hash of a report of losses.
pub(crate) async fn report_sha256(tx: &mut Tx, plan: u64, id: &str) -> Result<Option<[u8; 32]>, AppError> {
    const SQL: &str = "SELECT request_sha256 FROM plan_losses WHERE plan = $1 AND id = $2";
    tx.row(SQL, values![plan, id]).await?.map(|mut row| row.sha256()).transpose()
}

/// Adds a report of losses.
pub(crate) async fn insert_report(
    tx: &mut Tx,
    by: &Writer,
    plan: u64,
    (id, request_sha256): (&str, [u8; 32]),
    losses: &[PlanLoss],
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO plan_losses (plan, id, request_sha256, losses, posted_at, posted_by, report) \
        SELECT $1, $2, $3, $4, $5, $6, COALESCE(MAX(report), 0) + 1 FROM plan_losses WHERE plan = $1";
    let losses = json(&losses)?;
    tx.execute(SQL, values![plan, id, request_sha256, losses, by.now.0, by.user.as_str()]).await.map(drop)
}

/// All losses of a plan, oldest first.
pub(crate) async fn losses(tx: &mut Tx, plan: u64) -> Result<Vec<PlanLoss>, AppError> {
    const SQL: &str = "SELECT losses FROM plan_losses WHERE plan = $1 ORDER BY report";
    let mut losses = Vec::new();
    for mut row in tx.rows(SQL, values![plan]).await? {
        losses.extend(from_json::<Vec<PlanLoss>>(&row.text()?)?);
    }
    Ok(losses)
}

/// What a placement of an id did.
pub(crate) async fn placement(tx: &mut Tx, plan: u64, id: &str) -> Result<Option<PlanBidsPlaced>, AppError> {
    const SQL: &str = "SELECT done FROM plan_placement WHERE plan = $1 AND id = $2";
    tx.row(SQL, values![plan, id]).await?.map(|mut row| from_json(&row.text()?)).transpose()
}

/// Notes that bids were made what a version says, and which bids are new.
pub(crate) async fn insert_placement(
    tx: &mut Tx,
    by: &Writer,
    plan: u64,
    (id, version): (&str, u64),
    done: &PlanBidsPlaced,
) -> Result<(), AppError> {
    const SQL: &str = "INSERT INTO plan_placement (plan, id, version, done, placed_at, placed_by, number) \
        SELECT $1, $2, $3, $4, $5, $6, COALESCE(MAX(number), 0) + 1 FROM plan_placement WHERE plan = $1";
    let text = json(done)?;
    tx.execute(SQL, values![plan, id, version, text, by.now.0, by.user.as_str()]).await?;
    let rows = done.placed.iter().map(|bid| values![plan, bid.as_str()]).collect();
    tx.insert("INSERT INTO plan_bid (plan, bid)", rows).await
}

/// The bids that a plan placed.
pub(crate) async fn bids(tx: &mut Tx, plan: u64) -> Result<Vec<BidId>, AppError> {
    const SQL: &str = "SELECT bid FROM plan_bid WHERE plan = $1 ORDER BY bid";
    tx.rows(SQL, values![plan]).await?.into_iter().map(|mut row| row.id()).collect()
}
