//! One thin face over the two databases, so that each statement is written once.
//!
//! sqlx's own `Any` driver maps fewer types and gives up typed connect options; here a statement takes [`Value`]s and
//! gives [`Row`]s of the three kinds that both databases share: 64-bit integers, text and bytes.

use sqlx::pool::PoolConnection;
use sqlx::{
    Arguments as _, AssertSqlSafe, Database, Postgres, Row as _, SqlSafeStr as _, SqlStr, Sqlite, Transaction,
};

use crate::error::AppError;

/// A value bound to a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// BIGINT.
    Int(Option<i64>),
    /// TEXT.
    Text(Option<String>),
    /// BLOB or BYTEA.
    Bytes(Vec<u8>),
}

macro_rules! value_from {
    ($($type:ty: $name:ident => $value:expr;)*) => {$(
        impl From<$type> for Value {
            fn from($name: $type) -> Self {
                $value
            }
        }
    )*};
}
value_from! {
    i64: int => Self::Int(Some(int));
    u32: int => Self::Int(Some(i64::from(int)));
    bool: flag => Self::Int(Some(i64::from(flag)));
    Option<i64>: int => Self::Int(int);
    u64: int => Self::Int(Some(int.cast_signed()));
    Option<u32>: int => Self::Int(int.map(i64::from));
    Option<u64>: int => Self::Int(int.map(u64::cast_signed));
    &str: text => Self::Text(Some(text.to_owned()));
    String: text => Self::Text(Some(text));
    Option<&str>: text => Self::Text(text.map(str::to_owned));
    [u8; 32]: bytes => Self::Bytes(bytes.to_vec());
    Vec<u8>: bytes => Self::Bytes(bytes);
}

/// The values of a statement, each converted.
macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::store::db::Value::from($value)),*] };
}
pub(crate) use values;

/// A row of an answer; its columns are read from left to right.
pub(crate) enum Row {
    /// From SQLite.
    Sqlite(sqlx::sqlite::SqliteRow, usize),
    /// From PostgreSQL.
    Postgres(sqlx::postgres::PgRow, usize),
}

macro_rules! next_column {
    ($self:ident) => {
        match $self {
            Row::Sqlite(row, column) => {
                *column += 1;
                row.try_get(*column - 1)
            }
            Row::Postgres(row, column) => {
                *column += 1;
                row.try_get(*column - 1)
            }
        }
    };
}

impl Row {
    /// The next column, an integer.
    pub(crate) fn int(&mut self) -> Result<i64, AppError> {
        Ok(next_column!(self)?)
    }

    /// The next column, an integer that is not negative.
    pub(crate) fn unsigned(&mut self) -> Result<u64, AppError> {
        Ok(self.int()?.cast_unsigned())
    }

    /// The next column, an integer that fits 32 bits.
    pub(crate) fn small(&mut self) -> Result<u32, AppError> {
        u32::try_from(self.int()?).map_err(AppError::internal)
    }

    /// The next column, an integer that fits 32 bits, or null.
    pub(crate) fn optional_small(&mut self) -> Result<Option<u32>, AppError> {
        self.optional_int()?.map(|int| u32::try_from(int).map_err(AppError::internal)).transpose()
    }

    /// The next column, a truth value stored as 0 or 1.
    pub(crate) fn flag(&mut self) -> Result<bool, AppError> {
        Ok(self.int()? != 0)
    }

    /// The next column, an integer or null.
    pub(crate) fn optional_int(&mut self) -> Result<Option<i64>, AppError> {
        Ok(next_column!(self)?)
    }

    /// The next column, an integer that is not negative, or null.
    pub(crate) fn optional_unsigned(&mut self) -> Result<Option<u64>, AppError> {
        Ok(self.optional_int()?.map(i64::cast_unsigned))
    }

    /// The next column, a text.
    pub(crate) fn text(&mut self) -> Result<String, AppError> {
        Ok(next_column!(self)?)
    }

    /// The next column, a text or null.
    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, AppError> {
        Ok(next_column!(self)?)
    }

    /// The next column, an id.
    pub(crate) fn id<T: std::str::FromStr<Err = common::ids::IdError>>(&mut self) -> Result<T, AppError> {
        self.text()?.parse().map_err(AppError::internal)
    }

    /// The next column, an id or null.
    pub(crate) fn optional_id<T: std::str::FromStr<Err = common::ids::IdError>>(
        &mut self,
    ) -> Result<Option<T>, AppError> {
        self.optional_text()?.map(|text| text.parse().map_err(AppError::internal)).transpose()
    }

    /// The next column, bytes.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, AppError> {
        Ok(next_column!(self)?)
    }

    /// The next column, a SHA-256 or null.
    pub(crate) fn optional_sha256(&mut self) -> Result<Option<[u8; 32]>, AppError> {
        let bytes: Option<Vec<u8>> = next_column!(self)?;
        bytes.map(sha256).transpose()
    }

    /// The next column, a SHA-256.
    pub(crate) fn sha256(&mut self) -> Result<[u8; 32], AppError> {
        sha256(self.bytes()?)
    }
}

fn sha256(bytes: Vec<u8>) -> Result<[u8; 32], AppError> {
    bytes.try_into().map_err(|_| AppError::internal("a stored hash does not have 32 bytes"))
}

/// A transaction: all reads in it see one state, all writes in it happen together or not at all. The one of
/// [`super::Store::look`] is none: each of its statements sees the state of its own moment.
///
/// Dropped without [`Tx::commit`] it rolls back.
pub struct Tx {
    inner: Inner,
    /// Calls that may have written something.
    writes: u64,
}

enum Inner {
    Sqlite(Held<Sqlite>),
    Postgres(Held<Postgres>),
}

/// A connection, within a transaction or without one.
enum Held<DB: Database> {
    Transaction(Transaction<'static, DB>),
    Connection(PoolConnection<DB>),
}

impl<DB: Database> Held<DB> {
    fn connection(&mut self) -> &mut DB::Connection {
        match self {
            Self::Transaction(transaction) => transaction,
            Self::Connection(connection) => connection,
        }
    }

    async fn commit(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Transaction(transaction) => transaction.commit().await,
            Self::Connection(_) => Ok(()),
        }
    }
}

macro_rules! tx_from {
    ($($held:ident<$($life:lifetime,)? $database:ident> as $name:ident;)*) => {$(
        impl From<$held<$($life,)? $database>> for Tx {
            fn from(held: $held<$($life,)? $database>) -> Self {
                Self { inner: Inner::$database(Held::$name(held)), writes: 0 }
            }
        }
    )*};
}
tx_from! {
    Transaction<'static, Sqlite> as Transaction;
    Transaction<'static, Postgres> as Transaction;
    PoolConnection<Sqlite> as Connection;
    PoolConnection<Postgres> as Connection;
}

/// Binds values to a statement of one database and runs it.
macro_rules! run {
    ($held:expr, $arguments:ty, $sql:expr, $values:expr, $method:ident) => {{
        let mut arguments = <$arguments>::default();
        for value in $values {
            match value {
                Value::Int(int) => arguments.add(int),
                Value::Text(text) => arguments.add(text),
                Value::Bytes(bytes) => arguments.add(bytes),
            }
            .map_err(sqlx::Error::Encode)?;
        }
        sqlx::query_with($sql, arguments).$method($held.connection()).await?
    }};
}

impl Tx {
    /// Runs a statement; the answer is the number of rows it changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        values: impl IntoIterator<Item = Value> + Send,
    ) -> Result<u64, AppError> {
        self.execute_text(sql.into_sql_str(), values).await
    }

    async fn execute_text(
        &mut self,
        sql: SqlStr,
        values: impl IntoIterator<Item = Value> + Send,
    ) -> Result<u64, AppError> {
        self.writes += 1;
        Ok(match &mut self.inner {
            Inner::Sqlite(held) => {
                run!(held, sqlx::sqlite::SqliteArguments, sql, values, execute).rows_affected()
            }
            Inner::Postgres(held) => {
                run!(held, sqlx::postgres::PgArguments, sql, values, execute).rows_affected()
            }
        })
    }

    /// All rows of an answer.
    pub(crate) async fn rows(
        &mut self,
        sql: &'static str,
        values: impl IntoIterator<Item = Value> + Send,
    ) -> Result<Vec<Row>, AppError> {
        self.rows_text(sql.into_sql_str(), values).await
    }

    async fn rows_text(
        &mut self,
        sql: SqlStr,
        values: impl IntoIterator<Item = Value> + Send,
    ) -> Result<Vec<Row>, AppError> {
        // A write answers with rows only by this word.
        self.writes += u64::from(sql.as_str().contains("RETURNING"));
        Ok(match &mut self.inner {
            Inner::Sqlite(held) => {
                let rows = run!(held, sqlx::sqlite::SqliteArguments, sql, values, fetch_all);
                rows.into_iter().map(|row| Row::Sqlite(row, 0)).collect()
            }
            Inner::Postgres(held) => {
                let rows = run!(held, sqlx::postgres::PgArguments, sql, values, fetch_all);
                rows.into_iter().map(|row| Row::Postgres(row, 0)).collect()
            }
        })
    }

    /// The first row of an answer, where it has one.
    pub(crate) async fn row(
        &mut self,
        sql: &'static str,
        values: impl IntoIterator<Item = Value> + Send,
    ) -> Result<Option<Row>, AppError> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// All rows whose key is among `keys`, many per statement. `head` is the statement up to `IN`.
    pub(crate) async fn rows_among(
        &mut self,
        head: &'static str,
        keys: &[Value],
    ) -> Result<Vec<Row>, AppError> {
        let mut rows = Vec::new();
        for (sql, values) in among(head, &[], keys) {
            rows.extend(self.rows_text(sql, values).await?);
        }
        Ok(rows)
    }

    /// Runs a statement for the rows whose key is among `keys`, many at a time. `head` is the statement up to `IN`; `values`
    /// are those of its own parameters, which come first.
    pub(crate) async fn execute_among(
        &mut self,
        head: &'static str,
        values: &[Value],
        keys: &[Value],
    ) -> Result<(), AppError> {
        for (sql, values) in among(head, values, keys) {
            self.execute_text(sql, values).await?;
        }
        Ok(())
    }

    /// Inserts rows of `columns` values each, many per statement. `head` is the statement up to `VALUES`.
    pub(crate) async fn insert<const COLUMNS: usize>(
        &mut self,
        head: &'static str,
        rows: Vec<[Value; COLUMNS]>,
    ) -> Result<(), AppError> {
        self.insert_or(head, "", rows).await
    }

    /// As [`Tx::insert`], with a `tail` after the rows: what to do with one that is there.
    pub(crate) async fn insert_or<const COLUMNS: usize>(
        &mut self,
        head: &'static str,
        tail: &'static str,
        rows: Vec<[Value; COLUMNS]>,
    ) -> Result<(), AppError> {
        for (sql, values) in self.inserts(head, tail, rows) {
            self.execute_text(AssertSqlSafe(sql).into_sql_str(), values).await?;
        }
        Ok(())
    }

    /// Inserts rows into one table and then rows into another, each with the head of its statement. SQLite takes a row for each
    /// in one call: its connections are threads, and each call wakes one up.
    pub(crate) async fn insert_both<const FIRST: usize, const SECOND: usize>(
        &mut self,
        (first, first_rows): (&'static str, Vec<[Value; FIRST]>),
        (second, second_rows): (&'static str, Vec<[Value; SECOND]>),
    ) -> Result<(), AppError> {
        let mut statements = self.inserts(first, "", first_rows);
        statements.extend(self.inserts(second, "", second_rows));
        if matches!(self.inner, Inner::Sqlite(_)) && statements.len() == 2 {
            let (texts, values): (Vec<String>, Vec<Vec<Value>>) = statements.into_iter().unzip();
            let both = AssertSqlSafe(texts.join("; ")).into_sql_str();
            return self.execute_text(both, values.concat()).await.map(drop);
        }
        for (sql, values) in statements {
            self.execute_text(AssertSqlSafe(sql).into_sql_str(), values).await?;
        }
        Ok(())
    }

    /// The statements that insert rows, each with its values.
    fn inserts<const COLUMNS: usize>(
        &self,
        head: &'static str,
        tail: &'static str,
        rows: Vec<[Value; COLUMNS]>,
    ) -> Vec<(String, Vec<Value>)> {
        // SQLite keeps a list of parameters that have a name or a number, and sqlx asks for each one's: with some thousands
        // of them in a statement, looking them up took most of the time of a clearing. Those without have no list.
        let numbered = matches!(self.inner, Inner::Postgres(_));
        let mut statements = Vec::new();
        let mut left = rows.len();
        let mut rows = rows.into_iter();
        while left > 0 {
            let count = together(left);
            left -= count;
            let mut sql = String::from(head);
            for row in 0..count {
                sql.push_str(if row == 0 { " VALUES (" } else { ", (" });
                for column in 0..COLUMNS {
                    sql.push_str(if column == 0 { "" } else { ", " });
                    if numbered {
                        sql.push_str(&format!("${}", row * COLUMNS + column + 1));
                    } else {
                        sql.push('?');
                    }
                }
                sql.push(')');
            }
            sql.push_str(tail);
            statements.push((sql, rows.by_ref().take(count).flatten().collect()));
        }
        statements
    }

    /// How many calls so far may have written something.
    pub(crate) const fn writes(&self) -> u64 {
        self.writes
    }

    /// Marks a point to which [`Tx::undo`] can go back.
    pub(crate) async fn mark(&mut self) -> Result<(), AppError> {
        self.execute("SAVEPOINT mark", []).await.map(drop)
    }

    /// Forgets the last mark; what was written since stays a part of the transaction.
    pub(crate) async fn keep(&mut self) -> Result<(), AppError> {
        self.execute("RELEASE SAVEPOINT mark", []).await.map(drop)
    }

    /// Takes back what was written since the last mark, and forgets the mark.
    pub(crate) async fn undo(&mut self) -> Result<(), AppError> {
        self.execute("ROLLBACK TO SAVEPOINT mark", []).await?;
        self.keep().await
    }

    /// Makes all writes of the transaction lasting.
    ///
    /// # Errors
    /// The database can't write them; then none of them happened.
    pub async fn commit(self) -> Result<(), AppError> {
        match self.inner {
            Inner::Sqlite(held) => held.commit().await?,
            Inner::Postgres(held) => held.commit().await?,
        }
        Ok(())
    }
}

/// How many of those left a statement carries: a power of two, so that only a few texts have to be prepared.
const fn together(left: usize) -> usize {
    const MOST: usize = 256;
    let count = 1 << left.ilog2();
    if count < MOST { count } else { MOST }
}

/// The statements that name all `keys` behind `IN`, each with its values.
fn among(head: &str, first: &[Value], keys: &[Value]) -> Vec<(SqlStr, Vec<Value>)> {
    let mut statements = Vec::new();
    let mut left = keys;
    while !left.is_empty() {
        let (these, rest) = left.split_at(together(left.len()));
        let numbers: Vec<String> = (0..these.len()).map(|at| format!("${}", first.len() + at + 1)).collect();
        let sql = format!("{head} IN ({})", numbers.join(", "));
        statements.push((AssertSqlSafe(sql).into_sql_str(), [first, these].concat()));
        left = rest;
    }
    statements
}
