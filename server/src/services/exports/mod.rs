//! Exports: the ledger, allocations, prices, charges as FOCUS and the audit log as files, for a period or any stretch of time.
//!
//! A file is made a piece at a time from rows that are read a batch at a time, so it takes the same memory whatever its
//! length. The same file comes from the REST API as it is made, and from a job that makes it in the background.

mod allocations;
mod audit;
mod encode;
mod focus;
mod ledger;
mod parquet_file;
mod prices;
mod range;
mod scope;
mod source;
mod table;

use common::api::{ExportColumn, ExportView};
use common::instant::Instant;
use serde::{Deserialize, Serialize};

use self::encode::Encoder;
pub(super) use self::range::Range;
pub use self::scope::Scope;
pub use self::source::Progress;
use self::source::{Context, Source};
use self::table::Column;
use super::Services;
use super::organisation::newest_setup;
use super::periods::Calendar;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::audit::AuditFilter;
use crate::store::{Store, Tx};

/// What can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportName {
    /// Entries of the ledger.
    Ledger,
    /// What teams were granted and used.
    Allocations,
    /// Prices and supply by the hour.
    Prices,
    /// Charges, corrections and idle quota in the form of FOCUS 1.2.
    Focus,
    /// The audit log.
    Audit,
}

impl ExportName {
    /// All exports.
    pub const ALL: [Self; 5] = [Self::Ledger, Self::Allocations, Self::Prices, Self::Focus, Self::Audit];

    /// The name as it stands in an address and in the name of a file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Allocations => "allocations",
            Self::Prices => "prices",
            Self::Focus => "focus",
            Self::Audit => "audit",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ledger => "Ledger entries",
            Self::Allocations => "Allocations",
            Self::Prices => "Prices",
            Self::Focus => "FOCUS 1.2",
            Self::Audit => "Audit log",
        }
    }

    /// What a row of it is, and whose rows a reader gets.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ledger => {
                "An entry a row, in the order in which they were booked: of the teams whose money you may see, and of the \
                 pools for those who may see all money."
            }
            Self::Allocations => {
                "An hour, team and chip type a row, where anything was granted or used. Everybody may see what teams were \
                 granted and used; what it cost stands in the rows of teams whose money you may see."
            }
            Self::Prices => {
                "An hour and chip type a row since the market's first cycle, also where there was no price: a gap is a row \
                 with empty cells."
            }
            Self::Focus => {
                "Cost and usage in the columns of FOCUS 1.2: an hour, team and chip type a row of what was used, one of what \
                 was granted and idle, and one per correction. Of the teams whose money you may see."
            }
            Self::Audit => {
                "Something that was done by somebody with power over others a row, oldest first. For admins, finance and \
                 auditors."
            }
        }
    }

    const fn columns(self) -> &'static [Column] {
        match self {
            Self::Ledger => ledger::COLUMNS,
            Self::Allocations => allocations::COLUMNS,
            Self::Prices => prices::COLUMNS,
            Self::Focus => focus::COLUMNS,
            Self::Audit => audit::COLUMNS,
        }
    }

    /// Columns that can be added to the others.
    const fn extra_columns(self) -> &'static [Column] {
        match self {
            Self::Focus => focus::EXTRA_COLUMNS,
            Self::Ledger | Self::Allocations | Self::Prices | Self::Audit => &[],
        }
    }

    /// What its reader must be allowed; whose rows are in it is another matter.
    const fn action(self) -> Action {
        match self {
            Self::Ledger | Self::Allocations | Self::Prices | Self::Focus => Action::ReadMarket,
            Self::Audit => Action::ReadAudit,
        }
    }
}

impl std::str::FromStr for ExportName {
    type Err = AppError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| AppError::not_found("export", text))
    }
}

/// Form of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// CSV (RFC 4180) with a header.
    #[default]
    Csv,
    /// Apache Parquet, compressed with Snappy.
    Parquet,
}

impl FileFormat {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Csv, Self::Parquet];

    /// The format as it stands in an address, and the ending of a file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportRequest {
    /// Which export.
    pub name: ExportName,
    /// As which file.
    pub format: FileFormat,
    /// A year, quarter, month or day of the organisation's calendar, such as `2026-11`.
    pub period: Option<String>,
    /// Instead of a period: at or after this instant.
    pub from: Option<Instant>,
    /// Instead of a period: before this instant.
    pub to: Option<Instant>,
    /// Columns to be added to the export's own, by their names.
    pub columns: Vec<String>,
    /// Of the audit log only.
    pub filter: AuditFilter,
}

/// What a file says about itself beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// Which export it is.
    pub export: &'static str,
    /// The organisation's name.
    pub organisation: String,
    /// Its zone, in which its periods are counted.
    pub time_zone: String,
    /// The period, or what stands for it.
    pub period: String,
    /// When it was made.
    pub made_at: Instant,
}

impl Stated {
    fn pairs(&self) -> [(&'static str, String); 5] {
        [
            ("export", self.export.to_owned()),
            ("organisation", self.organisation.clone()),
            ("time_zone", self.time_zone.clone()),
            ("period", self.period.clone()),
            ("made_at", self.made_at.to_string()),
        ]
    }
}

/// A file that is being made.
pub struct Export {
    store: Store,
    source: Box<dyn Source>,
    columns: Vec<Column>,
    /// None once the file is finished.
    encoder: Option<Encoder>,
    stated: Stated,
    format: FileFormat,
    rows: u64,
}

impl Export {
    /// The next piece of the file, perhaps an empty one; none at its end.
    ///
    /// # Errors
    /// The database can't be read. The file is not whole then.
    pub async fn next_piece(&mut self) -> Result<Option<Vec<u8>>, AppError> {
        let Some(encoder) = &mut self.encoder else { return Ok(None) };
        let mut tx = self.store.read().await?;
        if let Some(batch) = self.source.next(&mut tx).await? {
            self.rows += batch.rows as u64;
            return encoder.write(batch, &self.columns).map(Some);
        }
        self.encoder.take().map(Encoder::finish).transpose()
    }

    /// Rows in the pieces so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// About how many rows it will have.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.source.expected_rows()
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.source.progress()
    }

    /// What it says about itself.
    #[must_use]
    pub const fn stated(&self) -> &Stated {
        &self.stated
    }

    /// Its media type.
    #[must_use]
    pub const fn media_type(&self) -> &'static str {
        self.format.media_type()
    }

    /// A name for the file: what it is, of which period, counted in which zone.
    #[must_use]
    pub fn file_name(&self) -> String {
        let Stated { export, period, time_zone, .. } = &self.stated;
        format!("{export}-{period}-{}.{}", time_zone.replace(['/', '+'], "_"), self.format.as_str())
    }
}

impl Services {
    /// Begins a file with the rows that the viewer may see.
    ///
    /// # Errors
    /// `NotFound`: the viewer may not read this export, or there is no organisation. `Invalid`: the period is none, or a
    /// filter is given that the export does not have.
    pub async fn export(&self, viewer: &Viewer, request: &ExportRequest) -> Result<Export, AppError> {
        let scope = self.export_scope(viewer, request).await?;
        self.begin_export(request, scope, self.now()).await
    }

    /// Whose rows a viewer gets, after the check that the viewer may have the export at all.
    pub(super) async fn export_scope(
        &self,
        viewer: &Viewer,
        request: &ExportRequest,
    ) -> Result<Scope, AppError> {
        viewer.may(request.name.action(), Object::Organisation)?;
        if request.name != ExportName::Audit && request.filter != AuditFilter::default() {
            return Err(AppError::invalid("action", "filters are for the export of the audit log only"));
        }
        let mut tx = self.store.read().await?;
        Ok(Scope::of(viewer, &newest_setup(&mut tx).await?.teams))
    }

    /// Begins a file with the rows of a scope up to an instant.
    pub(super) async fn begin_export(
        &self,
        request: &ExportRequest,
        scope: Scope,
        now: Instant,
    ) -> Result<Export, AppError> {
        let mut tx = self.store.read().await?;
        let setup = newest_setup(&mut tx).await?;
        let organisation = &setup.organisation;
        let calendar = Calendar::new(&organisation.time_zone)?;
        let mut range = Range::read(&calendar, request.period.as_deref(), request.from, request.to)?;
        range.to = range.to.min(Instant(now.0 + 1));
        let stated = Stated {
            export: request.name.as_str(),
            organisation: organisation.name.clone(),
            time_zone: organisation.time_zone.clone(),
            period: range.label.clone(),
            made_at: now,
        };
        let extra = chosen_columns(request)?;
        let columns: Vec<Column> = request.name.columns().iter().chain(&extra).copied().collect();
        let context = Context::new(setup, calendar, range, now, scope);
        let source = open(&mut tx, context, request, extra).await?;
        Ok(Export {
            store: self.store.clone(),
            source,
            encoder: Some(Encoder::begin(request.format, &columns, &stated)?),
            columns,
            stated,
            format: request.format,
            rows: 0,
        })
    }

    /// The exports that a viewer may have, each with what its columns mean.
    #[must_use]
    pub fn exports(&self, viewer: &Viewer) -> Vec<ExportView> {
        let may = |name: &ExportName| viewer.can(name.action(), Object::Organisation);
        ExportName::ALL.into_iter().filter(may).map(described).collect()
    }
}

async fn open(
    tx: &mut Tx,
    context: Context,
    request: &ExportRequest,
    extra: Vec<Column>,
) -> Result<Box<dyn Source>, AppError> {
    Ok(match request.name {
        ExportName::Ledger => Box::new(ledger::Ledger::open(tx, context).await?),
        ExportName::Allocations => Box::new(allocations::Allocations::open(tx, context).await?),
        ExportName::Prices => Box::new(prices::Prices::open(tx, context).await?),
        ExportName::Focus => Box::new(focus::Focus::open(tx, context, extra).await?),
        ExportName::Audit => Box::new(audit::Audit::open(tx, context, &request.filter).await?),
    })
}

/// The columns that are to be added, in the order of their list.
fn chosen_columns(request: &ExportRequest) -> Result<Vec<Column>, AppError> {
    let known = request.name.extra_columns();
    if let Some(unknown) =
        request.columns.iter().find(|name| !known.iter().any(|column| column.name == **name))
    {
        let names: Vec<&str> = known.iter().map(|column| column.name).collect();
        let detail = if names.is_empty() {
            "the columns of this export are fixed".to_owned()
        } else {
            format!("{unknown:?} can't be added; choose among {}", names.join(", "))
        };
        return Err(AppError::invalid("columns", detail));
    }
    let chosen = known.iter().filter(|column| request.columns.iter().any(|name| name == column.name));
    Ok(chosen.copied().collect())
}

fn described(name: ExportName) -> ExportView {
    let column = |column: &Column| ExportColumn {
        name: column.name.to_owned(),
        kind: column.kind.as_str().to_owned(),
        meaning: column.meaning.to_owned(),
    };
    ExportView {
        name: name.as_str().to_owned(),
        title: name.title().to_owned(),
        meaning: name.meaning().to_owned(),
        columns: name.columns().iter().map(column).collect(),
        extra_columns: name.extra_columns().iter().map(column).collect(),
    }
}
