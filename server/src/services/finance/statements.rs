//! Statements: what a team's account began a period with, what came and went, and what it ended with.
//!
//! All amounts are sums of entries of the ledger. A closed month's statements have numbers, and a hash over what they say,
//! so that one that is made again is known to say the same.

use std::collections::BTreeMap;

use common::api::{StatementLine, StatementRow, StatementView, StatementsView};
use common::ids::TeamId;
use common::money::MicroCredits;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Count;
use super::largest_remainder::round_to_sum;
use super::range::Range;
use super::spend::totals;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::services::Services;
use crate::services::budget::team_of;
use crate::services::periods::PeriodKind;
use crate::store::Tx;
use crate::store::finance::rates::rounded;
use crate::store::finance::statements::{self, Sum};
use crate::store::ledger::TransferKind;

/// Micro-credits in the unit of a rounded amount, a hundredth of a credit.
const ROUNDED_MICROS: i128 = 10_000;

/// Chip-seconds in a chip-hour.
const HOUR: i128 = 3_600;

/// The order of the lines.
const ORDER: [TransferKind; 6] = [
    TransferKind::Mint,
    TransferKind::Income,
    TransferKind::Charge,
    TransferKind::Correction,
    TransferKind::Rebase,
    TransferKind::Lapse,
];

impl Services {
    /// A team's statement of a period.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not know of its money. `Invalid`: there is no such period.
    pub async fn statement(
        &self,
        viewer: &Viewer,
        team: &TeamId,
        period: Option<&str>,
    ) -> Result<StatementView, AppError> {
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let team = team_of(&mut tx, &latest, team).await?;
        viewer.may(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool })?;
        let organisation = &latest.setup.organisation;
        let count = Count::load(&mut tx, &organisation.time_zone, (clock.cycle, clock.cleared_at)).await?;
        let range = count.range(period)?;
        let opening = statements::balances_before(&mut tx, range.starts_at).await?;
        let opening = opening.get(&team.id).copied().unwrap_or(MicroCredits::ZERO);
        let sums = statements::sums_of(&mut tx, &team.id, range.starts_at, range.ends_at).await?;
        let (lines, closing) = stated(opening, &sums)?;
        let sha256 = hash(&range, &count.time_zone, &team.id, opening, &lines, closing)?;
        let stored = if range.is(PeriodKind::Month) {
            statements::numbered(&mut tx, range.starts_at).await?
        } else {
            Vec::new()
        };
        let stored = stored.into_iter().find(|stored| stored.team == team.id);
        Ok(StatementView {
            number: stored.as_ref().map(|stored| stored.number),
            holds: stored.map(|stored| stored.sha256 == sha256),
            organisation: organisation.name.clone(),
            period: count.view(&range)?,
            team: team.id,
            name: team.name,
            pool: team.pool,
            opening,
            change: MicroCredits(closing.0.saturating_sub(opening.0)),
            lines,
            closing,
            sha256: hex::encode(sha256),
        })
    }

    /// The statements of a month that the viewer may read.
    ///
    /// # Errors
    /// `Invalid`: the period is no month.
    pub async fn statements(
        &self,
        viewer: &Viewer,
        period: Option<&str>,
    ) -> Result<StatementsView, AppError> {
        let latest = self.market().latest().await?;
        let clock = self.market().clock();
        let mut tx = self.store.read().await?;
        let zone = &latest.setup.organisation.time_zone;
        let count = Count::load(&mut tx, zone, (clock.cycle, clock.cleared_at)).await?;
        let month = count.month(period)?;
        let stored = statements::numbered(&mut tx, month.starts_at).await?;
        let opening = statements::balances_before(&mut tx, month.starts_at).await?;
        let closing = statements::balances_before(&mut tx, month.ends_at).await?;
        let mut charges: BTreeMap<TeamId, i64> = BTreeMap::new();
        for ((team, _), spend) in totals(&mut tx, &count, &month).await? {
            let sum = charges.entry(team).or_default();
            *sum = sum.saturating_sub(spend.cost);
        }
        let mut rows = Vec::new();
        for team in &latest.setup.teams {
            if !viewer.can(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool }) {
                continue;
            }
            let stored = stored.iter().find(|stored| stored.team == team.id);
            rows.push(StatementRow {
                number: stored.map(|stored| stored.number),
                team: team.id.clone(),
                name: team.name.clone(),
                pool: team.pool.clone(),
                opening: opening.get(&team.id).copied().unwrap_or_default(),
                charges: MicroCredits(charges.get(&team.id).copied().unwrap_or(0)),
                closing: closing.get(&team.id).copied().unwrap_or_default(),
            });
        }
        rows.sort_by(|one, other| {
            (&one.pool, &one.name, &one.team).cmp(&(&other.pool, &other.name, &other.team))
        });
        Ok(StatementsView { period: count.view(&month)?, statements: rows })
    }
}

/// The statements of a month that is to be closed, numbered from `first` on in order of the teams' ids: of each team that
/// has an account and something on it.
pub(super) async fn number_all(
    tx: &mut Tx,
    count: &Count,
    month: &Range,
    first: u64,
) -> Result<Vec<statements::Numbered>, AppError> {
    let opening = statements::balances_before(tx, month.starts_at).await?;
    let sums = statements::sums(tx, month.starts_at, month.ends_at).await?;
    let mut numbered = Vec::new();
    for (team, opening) in opening {
        let sums = sums.get(&team).map_or(&[][..], Vec::as_slice);
        if opening == MicroCredits::ZERO && sums.is_empty() {
            continue;
        }
        let (lines, closing) = stated(opening, sums)?;
        let sha256 = hash(month, &count.time_zone, &team, opening, &lines, closing)?;
        let number = first + numbered.len() as u64;
        numbered.push(statements::Numbered { number, team, opening, closing, sha256 });
    }
    Ok(numbered)
}

/// The lines of a statement and the balance that they lead to.
fn stated(opening: MicroCredits, sums: &[Sum]) -> Result<(Vec<StatementLine>, MicroCredits), AppError> {
    let mut sums: Vec<&Sum> = sums.iter().collect();
    sums.sort_by_key(|sum| (ORDER.iter().position(|kind| *kind == sum.kind), &sum.chip_type));
    let amounts: Vec<i128> = sums.iter().map(|sum| i128::from(sum.amount.0)).collect();
    let seconds: Vec<i128> = sums.iter().map(|sum| i128::from(sum.chip_seconds) * 1_000).collect();
    let (round, hours) = (round_to_sum(&amounts, ROUNDED_MICROS), round_to_sum(&seconds, HOUR));
    let closing = i128::from(opening.0) + amounts.iter().sum::<i128>();
    let closing = i64::try_from(closing).map_err(AppError::internal)?;
    let mut lines = Vec::with_capacity(sums.len());
    for ((sum, rounded), hours) in sums.into_iter().zip(round).zip(hours) {
        let is_charge = sum.chip_type.is_some();
        lines.push(StatementLine {
            kind: sum.kind.as_str().to_owned(),
            chip_type: sum.chip_type.clone(),
            chip_seconds: is_charge.then_some(sum.chip_seconds),
            chip_hours_milli: is_charge.then(|| u64::try_from(hours).unwrap_or(0)),
            average_price: average_price(sum),
            amount: sum.amount,
            rounded: MicroCredits(i64::try_from(rounded * ROUNDED_MICROS).map_err(AppError::internal)?),
            entries: sum.entries,
        });
    }
    Ok((lines, MicroCredits(closing)))
}

/// Credits per chip-hour, rounded half up; none where there is nothing to average.
fn average_price(sum: &Sum) -> Option<MicroCredits> {
    let is_charge = sum.chip_type.is_some() && sum.chip_seconds > 0;
    is_charge.then(|| MicroCredits(rounded(-i128::from(sum.amount.0) * HOUR, i128::from(sum.chip_seconds))))
}

/// Over what a statement says, names left out: they may change.
fn hash(
    range: &Range,
    time_zone: &str,
    team: &TeamId,
    opening: MicroCredits,
    lines: &[StatementLine],
    closing: MicroCredits,
) -> Result<[u8; 32], AppError> {
    #[derive(Serialize)]
    struct Said<'a> {
        period: String,
        time_zone: &'a str,
        team: &'a TeamId,
        opening: MicroCredits,
        lines: &'a [StatementLine],
        closing: MicroCredits,
    }
    let said = Said { period: range.name(), time_zone, team, opening, lines, closing };
    let text = serde_json::to_vec(&said).map_err(AppError::internal)?;
    Ok(Sha256::digest(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(chip_type: &str, amount: i64, chip_seconds: u64) -> Sum {
        Sum {
            kind: TransferKind::Charge,
            chip_type: Some(chip_type.parse().unwrap()),
            amount: MicroCredits(-amount),
            chip_seconds,
            entries: 1,
        }
    }

    #[test]
    fn t007_t008_lines_sum_to_the_change_exactly_and_when_rounded() {
        let sums = [
            charge("H100", 3_685_000, 3_600),
            charge("A100", 3_685_000, 1_800),
            Sum {
                kind: TransferKind::Income,
                chip_type: None,
                chip_seconds: 0,
                ..charge("A100", -9_000_001, 0)
            },
        ];
        let (lines, closing) = stated(MicroCredits(1_000_000), &sums).unwrap();
        let shown: Vec<_> = lines
            .iter()
            .map(|line| (line.kind.as_str(), line.amount.to_string(), line.rounded.to_string()))
            .collect();
        let text = |kind, amount: &str, rounded: &str| (kind, amount.to_owned(), rounded.to_owned());
        assert_eq!(
            shown,
            [
                text("income", "9.000001", "9.00"),
                text("charge", "-3.685", "-3.68"),
                text("charge", "-3.685", "-3.69")
            ]
        );
        assert_eq!(closing, MicroCredits(2_630_001));
        assert_eq!(lines.iter().map(|line| line.amount.0).sum::<i64>(), 1_630_001);
        assert_eq!(lines.iter().map(|line| line.rounded.0).sum::<i64>(), 1_630_000);
        assert_eq!(lines[1].average_price, Some(MicroCredits(7_370_000)));
        assert_eq!((lines[1].chip_hours_milli, lines[2].chip_hours_milli), (Some(500), Some(1_000)));
    }

    #[test]
    fn t155_a_line_without_chips_costs_nothing_and_has_no_average() {
        let (lines, closing) = stated(MicroCredits::ZERO, &[charge("A100", 0, 0)]).unwrap();
        assert_eq!((lines[0].amount, lines[0].average_price, closing), Default::default());
    }
}
