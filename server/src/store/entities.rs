//! The versioned inputs of the market other than bids: organisation, chip types, pools, owned supply, teams.

use common::chips::Chips;
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::Lending;
use serde::Serialize;

use super::db::{Row, Tx, Value, values};
use crate::error::AppError;

/// The organisation and the settings of its market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Organisation {
    /// Display name.
    pub name: String,
    /// Where the numbers come from, when that must be said.
    pub data_note: Option<String>,
    /// The IANA time zone in which its days and periods are counted.
    pub time_zone: String,
    /// Seconds between two clearings; 1 to 3,600.
    pub cycle_seconds: u32,
    /// Seconds between two accounting steps; a multiple of `cycle_seconds`, at most 3,600.
    pub accounting_seconds: u32,
    /// Minutes for which a team must be able to sustain what it bids.
    pub sustain_minutes: u32,
    /// Balances of a pool keep their global value when its teams' total income changes.
    pub rebase_balances: bool,
    /// Days after which per-cycle rows go, once they are rolled up.
    pub raw_retention_days: u32,
    /// Hours of its income that a team's balance may hold, 1 to 100,000; what exceeds them lapses at an accounting step.
    /// None: balances have no cap.
    pub balance_cap_hours: Option<u32>,
    /// Hours that a bid of a person may be for at most, 1 to 100,000. None: any time.
    pub most_bid_hours: Option<u32>,
}

impl Default for Organisation {
    fn default() -> Self {
        Self {
            name: "Organisation".to_owned(),
            data_note: None,
            time_zone: "UTC".to_owned(),
            cycle_seconds: 60,
            accounting_seconds: 300,
            sustain_minutes: 120,
            rebase_balances: true,
            raw_retention_days: 90,
            balance_cap_hours: None,
            most_bid_hours: None,
        }
    }
}

/// A chip type and its shared supply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChipType {
    /// The chip type.
    pub id: ChipTypeId,
    /// Display name.
    pub name: String,
    /// Shared chips, before pools lend theirs.
    pub shared: Chips,
    /// Floor of the reference price in global credits per chip-hour.
    pub reserve_price: Price,
    /// What a chip-hour costs outside the market, in global credits; above 0. None: nobody said.
    pub list_price: Option<Price>,
    /// It takes no new bids and is on the market only as long as a live bid names it.
    pub retired: bool,
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pool {
    /// The pool.
    pub id: PoolId,
    /// Display name.
    pub name: String,
    /// Its purchasing power in global credits per hour.
    pub weight: MicroCredits,
    /// What it lends when idle.
    pub lending: Lending,
    /// It has no teams in use and takes none; it stays for its history.
    pub archived: bool,
}

/// Chips of one type that a pool owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedSupply {
    /// The pool.
    pub pool: PoolId,
    /// The chip type.
    pub chip_type: ChipTypeId,
    /// How many.
    pub chips: Chips,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Team {
    /// The team.
    pub id: TeamId,
    /// Its pool, for good.
    pub pool: PoolId,
    /// Display name.
    pub name: String,
    /// Local credits per hour.
    pub income: MicroCredits,
    /// Income leverage in thousandths.
    pub leverage_thousandths: u32,
    /// It has no members and takes no bids; it stays for its history.
    pub archived: bool,
}

/// An entity kept as version rows. The statements are made by [`versioned!`] from the table's columns.
pub(crate) trait Versioned: Sized + Send {
    /// The versions that hold in cycle `$1`, in order of their keys.
    const IN_CYCLE: &'static str;
    /// The newest versions, in effect or waiting for the next cycle, in order of their keys.
    const NEWEST: &'static str;
    /// The versions that wait for the next cycle, in the order they were written.
    const PENDING: &'static str;
    /// The versions that took effect in cycles `$1` to `$2`, in the order they were written, with their cycle last.
    const STAMPED: &'static str;
    /// Marks what waiting versions replace as superseded by cycle `$1`.
    const SUPERSEDE: &'static str;
    /// Puts the waiting versions into effect with cycle `$1`.
    const STAMP: &'static str;
    /// Adds a version; the time of writing comes last.
    const INSERT: &'static str;

    /// Reads the columns of the statements above.
    fn from_row(row: &mut Row) -> Result<Self, AppError>;
    /// The values of [`Versioned::INSERT`] but the last.
    fn to_values(&self) -> Vec<Value>;
}

/// Implements [`Versioned`]: the table, how two versions (`newer` and `row`) are of the same entity, its columns with
/// the keys first, and their parameters.
macro_rules! versioned {
    ($type:ty, $table:literal, same: $same:literal, key: $key:literal, columns: $columns:literal, parameters: $parameters:literal, at: $at:literal) => {
        const IN_CYCLE: &'static str = concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE effective_cycle <= $1 AND (superseded_cycle IS NULL OR superseded_cycle > $1) ORDER BY ",
            $key
        );
        const NEWEST: &'static str = concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " AS old WHERE superseded_cycle IS NULL AND NOT EXISTS (SELECT 1 FROM ",
            $table,
            " AS newer WHERE ",
            $same,
            " AND newer.version > old.version) ORDER BY ",
            $key
        );
        const PENDING: &'static str =
            concat!("SELECT ", $columns, " FROM ", $table, " WHERE effective_cycle IS NULL ORDER BY version");
        const STAMPED: &'static str = concat!(
            "SELECT ",
            $columns,
            ", effective_cycle FROM ",
            $table,
            " WHERE effective_cycle BETWEEN $1 AND $2 ORDER BY effective_cycle, version"
        );
        const SUPERSEDE: &'static str = concat!(
            "UPDATE ",
            $table,
            " AS old SET superseded_cycle = $1 WHERE superseded_cycle IS NULL AND EXISTS (SELECT 1 FROM ",
            $table,
            " AS newer WHERE ",
            $same,
            " AND newer.version > old.version)"
        );
        const STAMP: &'static str =
            concat!("UPDATE ", $table, " SET effective_cycle = $1 WHERE effective_cycle IS NULL");
        const INSERT: &'static str = concat!(
            "INSERT INTO ",
            $table,
            " (",
            $columns,
            ", written_at, version) SELECT ",
            $parameters,
            ", ",
            $at,
            ", COALESCE(MAX(version), 0) + 1 FROM ",
            $table
        );
    };
}

pub(super) use versioned;

impl Versioned for Organisation {
    versioned!(
        Organisation, "organisation_version", same: "TRUE", key: "version",
        columns: "name, data_note, time_zone, cycle_seconds, accounting_seconds, sustain_minutes, rebase_balances, raw_retention_days, balance_cap_hours, most_bid_hours",
        parameters: "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10", at: "$11"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            name: row.text()?,
            data_note: row.optional_text()?,
            time_zone: row.text()?,
            cycle_seconds: row.small()?,
            accounting_seconds: row.small()?,
            sustain_minutes: row.small()?,
            rebase_balances: row.int()? != 0,
            raw_retention_days: row.small()?,
            balance_cap_hours: row.optional_small()?,
            most_bid_hours: row.optional_small()?,
        })
    }

    fn to_values(&self) -> Vec<Value> {
        values![
            self.name.as_str(),
            self.data_note.as_deref(),
            self.time_zone.as_str(),
            self.cycle_seconds,
            self.accounting_seconds,
            self.sustain_minutes,
            self.rebase_balances,
            self.raw_retention_days,
            self.balance_cap_hours,
            self.most_bid_hours,
        ]
        .into()
    }
}

impl Versioned for ChipType {
    versioned!(
        ChipType, "chip_type_version", same: "newer.id = old.id", key: "id",
        columns: "id, name, shared, reserve_price, list_price, retired", parameters: "$1, $2, $3, $4, $5, $6", at: "$7"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            shared: Chips(row.unsigned()?),
            reserve_price: Price(row.unsigned()?),
            list_price: row.optional_unsigned()?.map(Price),
            retired: row.flag()?,
        })
    }

    fn to_values(&self) -> Vec<Value> {
        values![
            self.id.as_str(),
            self.name.as_str(),
            self.shared.0,
            self.reserve_price.0,
            self.list_price.map(|price| price.0),
            self.retired,
        ]
        .into()
    }
}

impl Versioned for Pool {
    versioned!(
        Pool, "pool_version", same: "newer.id = old.id", key: "id",
        columns: "id, name, weight, lends_at_most, archived", parameters: "$1, $2, $3, $4, $5", at: "$6"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            id: row.id()?,
            name: row.text()?,
            weight: MicroCredits(row.int()?),
            lending: match row.optional_unsigned()? {
                None => Lending::All,
                Some(0) => Lending::None,
                Some(chips) => Lending::AtMost(Chips(chips)),
            },
            archived: row.flag()?,
        })
    }

    fn to_values(&self) -> Vec<Value> {
        let lends_at_most = match self.lending {
            Lending::All => None,
            Lending::None => Some(0),
            Lending::AtMost(chips) => Some(chips.0),
        };
        values![self.id.as_str(), self.name.as_str(), self.weight.0, lends_at_most, self.archived].into()
    }
}

impl Versioned for OwnedSupply {
    versioned!(
        OwnedSupply, "owned_supply_version", same: "newer.pool = old.pool AND newer.chip_type = old.chip_type",
        key: "pool, chip_type", columns: "pool, chip_type, chips", parameters: "$1, $2, $3", at: "$4"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self { pool: row.id()?, chip_type: row.id()?, chips: Chips(row.unsigned()?) })
    }

    fn to_values(&self) -> Vec<Value> {
        values![self.pool.as_str(), self.chip_type.as_str(), self.chips.0].into()
    }
}

impl Versioned for Team {
    versioned!(
        Team, "team_version", same: "newer.id = old.id", key: "id",
        columns: "id, pool, name, income, leverage_thousandths, archived", parameters: "$1, $2, $3, $4, $5, $6", at: "$7"
    );

    fn from_row(row: &mut Row) -> Result<Self, AppError> {
        Ok(Self {
            id: row.id()?,
            pool: row.id()?,
            name: row.text()?,
            income: MicroCredits(row.int()?),
            leverage_thousandths: row.small()?,
            archived: row.flag()?,
        })
    }

    fn to_values(&self) -> Vec<Value> {
        values![
            self.id.as_str(),
            self.pool.as_str(),
            self.name.as_str(),
            self.income.0,
            self.leverage_thousandths,
            self.archived
        ]
        .into()
    }
}

/// The versions that hold in `cycle`, in order of their keys.
pub(crate) async fn in_cycle<T: Versioned>(tx: &mut Tx, cycle: u64) -> Result<Vec<T>, AppError> {
    tx.rows(T::IN_CYCLE, values![cycle]).await?.iter_mut().map(T::from_row).collect()
}

/// The newest versions, in effect or waiting for the next cycle, in order of their keys.
pub(crate) async fn newest<T: Versioned>(tx: &mut Tx) -> Result<Vec<T>, AppError> {
    tx.rows(T::NEWEST, []).await?.iter_mut().map(T::from_row).collect()
}

/// Adds a version that takes effect in the next cycle.
pub(crate) async fn write<T: Versioned + Sync>(
    tx: &mut Tx,
    now: Instant,
    entity: &T,
) -> Result<(), AppError> {
    let mut values = entity.to_values();
    values.push(Value::from(now.0));
    tx.execute(T::INSERT, values).await?;
    Ok(())
}

/// Puts all waiting versions into effect with `cycle`; the answer is what they say, the last one of each entity last.
pub(crate) async fn put_into_effect<T: Versioned>(tx: &mut Tx, cycle: u64) -> Result<Vec<T>, AppError> {
    let pending: Vec<T> =
        tx.rows(T::PENDING, []).await?.iter_mut().map(T::from_row).collect::<Result<_, _>>()?;
    if !pending.is_empty() {
        tx.execute(T::SUPERSEDE, values![cycle]).await?;
        tx.execute(T::STAMP, values![cycle]).await?;
    }
    Ok(pending)
}

/// The versions that took effect in cycles `from` to `to`, each with its cycle, in the order they were written.
pub(crate) async fn stamped<T: Versioned>(
    tx: &mut Tx,
    from: u64,
    to: u64,
) -> Result<Vec<(u64, T)>, AppError> {
    let mut rows = tx.rows(T::STAMPED, values![from, to]).await?;
    let stamped = rows.iter_mut().map(|row| {
        let version = T::from_row(row)?;
        Ok((row.unsigned()?, version))
    });
    stamped.collect()
}

/// Everything the market knows about the organisation but its bids and money, in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The organisation and the market's settings.
    pub organisation: Organisation,
    /// Chip types, in order of their ids.
    pub chip_types: Vec<ChipType>,
    /// Pools, in order of their ids.
    pub pools: Vec<Pool>,
    /// What pools own, in order of pool and chip type.
    pub owned: Vec<OwnedSupply>,
    /// Teams, in order of their ids.
    pub teams: Vec<Team>,
}

impl Setup {
    /// The setup in force in `cycle`; none when there was no organisation yet.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn in_cycle(tx: &mut Tx, cycle: u64) -> Result<Option<Self>, AppError> {
        let Some(organisation) = in_cycle(tx, cycle).await?.pop() else { return Ok(None) };
        Ok(Some(Self {
            organisation,
            chip_types: in_cycle(tx, cycle).await?,
            pools: in_cycle(tx, cycle).await?,
            owned: in_cycle(tx, cycle).await?,
            teams: in_cycle(tx, cycle).await?,
        }))
    }

    /// The newest setup, what waits for the next cycle included; none when there is no organisation yet.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn newest(tx: &mut Tx) -> Result<Option<Self>, AppError> {
        let Some(organisation) = newest(tx).await?.pop() else { return Ok(None) };
        Ok(Some(Self {
            organisation,
            chip_types: newest(tx).await?,
            pools: newest(tx).await?,
            owned: newest(tx).await?,
            teams: newest(tx).await?,
        }))
    }
}
