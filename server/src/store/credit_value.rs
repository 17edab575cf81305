//! What a credit is worth in an ISO currency, from which month on. Like all history, only added to.

use common::instant::Instant;
use common::money::MicroCredits;

use super::db::{Row, Tx, values};
use crate::error::AppError;

/// A value of a credit.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CreditValue {
    /// ISO 4217 code of the currency.
    pub currency: String,
    /// What a credit is worth in it, in millionths of its unit.
    pub value: MicroCredits,
    /// The start of the first month that it holds in.
    pub holds_from: Instant,
}

impl CreditValue {
    /// All values, in the order in which they were set.
    ///
    /// # Errors
    /// The database can't be read.
    pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<Self>, AppError> {
        const SQL: &str = "SELECT currency, value_micros, holds_from FROM credit_value ORDER BY number";
        let value = |row: &mut Row| {
            Ok(Self {
                currency: row.text()?,
                value: MicroCredits(row.int()?),
                holds_from: Instant(row.int()?),
            })
        };
        tx.rows(SQL, []).await?.iter_mut().map(value).collect()
    }

    /// Adds a value; its number is chosen here, which is safe because there is one writer.
    pub(crate) async fn insert(&self, tx: &mut Tx, now: Instant) -> Result<(), AppError> {
        const SQL: &str = "INSERT INTO credit_value (currency, value_micros, holds_from, written_at, number) \
            SELECT $1, $2, $3, $4, COALESCE(MAX(number), 0) + 1 FROM credit_value";
        let values = values![self.currency.as_str(), self.value.0, self.holds_from.0, now.0];
        tx.execute(SQL, values).await.map(drop)
    }
}
