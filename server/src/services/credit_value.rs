//! What a credit is worth in an ISO currency: what finance sets, so that charges in credits can stand beside other bills.
//!
//! A value holds for whole months, from one on until the next value. Months that are over keep theirs, so that a file made
//! again says the same.

use common::instant::Instant;
use common::money::{MAX_MICROS, MicroCredits};

use super::Services;
use super::audit::{Deed, Doer, reason_into, record};
use super::checks::Checks;
use super::organisation::newest_setup;
use super::periods::{Calendar, PeriodKind};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
pub use crate::store::credit_value::CreditValue;

/// The currencies of ISO 4217 that are in use.
const CURRENCIES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD \
    CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD \
    HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL \
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD \
    RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU \
    UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG";

/// The value in force in the month that begins at an instant: the last one set that holds from then or earlier, else the
/// first one that was ever set; none where none was.
#[must_use]
pub(super) fn in_force(values: &[CreditValue], month_starts_at: Instant) -> Option<&CreditValue> {
    values.iter().rev().find(|value| value.holds_from <= month_starts_at).or_else(|| values.first())
}

impl Services {
    /// What a credit is worth this month; none before it was ever said.
    ///
    /// # Errors
    /// `NotFound`: there is no organisation.
    pub async fn credit_value(&self, viewer: &Viewer) -> Result<Option<CreditValue>, AppError> {
        viewer.may(Action::ReadMarket, Object::Organisation)?;
        let mut tx = self.store.read().await?;
        let zone = newest_setup(&mut tx).await?.organisation.time_zone;
        let month = Calendar::new(&zone)?.period(PeriodKind::Month, self.now())?;
        Ok(in_force(&CreditValue::all(&mut tx).await?, month.starts_at).cloned())
    }

    /// Sets what a credit is worth, from this month on; the answer is the value as it holds now.
    ///
    /// # Errors
    /// `Forbidden`: the doer may not book money. `Invalid`: the currency is none, the value is not above zero, or there is
    /// no reason.
    pub async fn set_credit_value(
        &self,
        doer: Doer<'_>,
        currency: &str,
        value: MicroCredits,
    ) -> Result<CreditValue, AppError> {
        doer.viewer.may(Action::BookMoney, Object::Organisation)?;
        let mut checks = Checks::default();
        if currency.len() != 3 || !CURRENCIES.split(' ').any(|known| known == currency) {
            checks.refuse(
                "currency",
                format!("is {currency:?}; it must be a code of ISO 4217, such as EUR or USD"),
            );
        }
        if !(1..=MAX_MICROS).contains(&value.0) {
            let most = MicroCredits(MAX_MICROS);
            checks.refuse("value", format!("is {value}; it must be above 0 and at most {most}"));
        }
        reason_into(&mut checks, doer.reason);
        checks.finish()?;
        let (now, mut tx) = (self.now(), self.store.write().await?);
        let zone = newest_setup(&mut tx).await?.organisation.time_zone;
        let month = Calendar::new(&zone)?.period(PeriodKind::Month, now)?;
        let before = in_force(&CreditValue::all(&mut tx).await?, month.starts_at).cloned();
        let after = CreditValue { currency: currency.to_owned(), value, holds_from: month.starts_at };
        after.insert(&mut tx, now).await?;
        let deed = Deed::new("credit_value.set", "organisation", "organisation").after(&after)?;
        let deed = match &before {
            Some(before) => deed.before(before)?,
            None => deed,
        };
        record(&mut tx, now, doer, deed).await?;
        tx.commit().await?;
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_keeps_its_value_and_the_first_one_holds_for_all_before_it() {
        let value = |micros, holds_from| CreditValue {
            currency: "EUR".to_owned(),
            value: MicroCredits(micros),
            holds_from: Instant(holds_from),
        };
        let values = [value(1, 100), value(2, 200), value(3, 200), value(4, 300)];
        let of = |month| in_force(&values, Instant(month)).map(|value| value.value.0);
        assert_eq!(
            [of(0), of(100), of(199), of(200), of(300)],
            [Some(1), Some(1), Some(1), Some(3), Some(4)]
        );
        assert_eq!(in_force(&[], Instant(0)), None);
    }

    #[test]
    fn currencies_are_codes_of_three_letters_each_once() {
        let mut codes: Vec<&str> = CURRENCIES.split(' ').collect();
        assert!(
            codes.iter().all(|code| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase()))
        );
        let count = codes.len();
        codes.dedup();
        assert_eq!((codes.len(), codes.is_sorted()), (count, true));
    }
}
