//! The ledger behind a team's numbers: its entries, and each transfer with both of its sides.

use common::api::{LedgerEntry, Page, TransferEntry, TransferView};
use common::ids::TeamId;
use common::money::MicroCredits;

use super::Services;
use super::budget::team_of;
use super::paging::{check_limit, no_cursor, page};
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::budget::{self, EntryFilter, EntryPlace};
use crate::store::finance::bookings;
use crate::store::ledger::AccountKind;

/// Before it lie all entries.
const END: EntryPlace = (u64::MAX >> 1, u64::MAX >> 1, u64::MAX >> 1);

impl Services {
    /// One page of a team's entries, newest first.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not know of its money. `Invalid`: the cursor is none of this
    /// list, or the limit is out of its range.
    pub async fn ledger_entries(
        &self,
        viewer: &Viewer,
        team: &TeamId,
        filter: &EntryFilter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<LedgerEntry>, AppError> {
        check_limit(limit)?;
        let before = cursor.map_or(Ok(END), read_cursor)?;
        let latest = self.market().latest().await?;
        let mut tx = self.store.read().await?;
        let team = team_of(&mut tx, &latest, team).await?;
        viewer.may(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool })?;
        let entries = budget::entries(&mut tx, &team.id, filter, before, limit + 1).await?;
        let cursor = |((cycle, transfer, place), _): &(EntryPlace, LedgerEntry)| {
            format!("before-{cycle}-{transfer}-{place}")
        };
        let Page { items, next_cursor } = page(entries, limit, cursor);
        Ok(Page { items: items.into_iter().map(|(_, entry)| entry).collect(), next_cursor })
    }

    /// A transfer that a team's account is part of, with all its entries. Who may not read the other teams' money sees
    /// their entries as one sum.
    ///
    /// # Errors
    /// `NotFound`: there is no such team or transfer, the viewer may not know of the team's money, or the transfer has no
    /// entry of it.
    pub async fn transfer(
        &self,
        viewer: &Viewer,
        team: &TeamId,
        number: u64,
    ) -> Result<TransferView, AppError> {
        let latest = self.market().latest().await?;
        let mut tx = self.store.read().await?;
        let team = team_of(&mut tx, &latest, team).await?;
        viewer.may(Action::ReadBudget, Object::Team { team: &team.id, pool: &team.pool })?;
        let missing = || AppError::not_found("transfer", number);
        let head = budget::transfer(&mut tx, number).await?.ok_or_else(missing)?;
        let entries = budget::transfer_entries(&mut tx, number).await?;
        if !entries.iter().any(|entry| is_of(entry, &team.id)) {
            return Err(missing());
        }
        let all = viewer.can(Action::ReadMoney, Object::Organisation);
        let only = Some(&team.id).filter(|_| !all);
        let (corrected_by, corrects) = bookings::links_of(&mut tx, number, only).await?;
        let entries = if all { entries } else { without_others(entries, &team.id) };
        let first_cycle = match head.step {
            None => None,
            Some(_) => {
                let before = budget::last_step(&mut tx, head.cycle.saturating_sub(1)).await?;
                Some(before.map_or(1, |(cycle, _)| cycle)).filter(|first| *first < head.cycle)
            }
        };
        Ok(TransferView {
            number,
            at: head.at,
            kind: head.kind,
            cycle: head.cycle,
            first_cycle,
            pool: head.pool,
            reason: head.reason,
            sha256: hex::encode(head.sha256),
            corrects,
            corrected_by,
            entries,
        })
    }
}

fn is_of(entry: &TransferEntry, team: &TeamId) -> bool {
    entry.account == AccountKind::Team.as_str() && entry.owner.as_deref() == Some(team.as_str())
}

/// The entries with those of other teams joined into their sum.
fn without_others(entries: Vec<TransferEntry>, team: &TeamId) -> Vec<TransferEntry> {
    let is_other = |entry: &TransferEntry| entry.account == AccountKind::Team.as_str() && !is_of(entry, team);
    let (others, mut shown): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_other);
    if !others.is_empty() {
        let amount = others.iter().fold(0_i64, |sum, entry| sum.saturating_add(entry.amount.0));
        shown.push(TransferEntry {
            account: "other_teams".to_owned(),
            owner: None,
            amount: MicroCredits(amount),
            chip_type: None,
            chip_seconds: None,
        });
    }
    shown
}

fn read_cursor(cursor: &str) -> Result<EntryPlace, AppError> {
    let numbers = cursor.strip_prefix("before-").map(|rest| rest.split('-').map(str::parse::<u64>));
    let numbers: Option<Vec<u64>> = numbers.and_then(|numbers| numbers.collect::<Result<_, _>>().ok());
    match numbers.as_deref() {
        Some(&[cycle, transfer, place]) if [cycle, transfer, place].iter().all(|number| *number <= END.0) => {
            Ok((cycle, transfer, place))
        }
        _ => Err(no_cursor(cursor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_teams_entries_become_one_sum() {
        let entry = |account: &str, owner: &str, amount| TransferEntry {
            account: account.to_owned(),
            owner: Some(owner.to_owned()),
            amount: MicroCredits(amount),
            chip_type: None,
            chip_seconds: None,
        };
        let entries = vec![
            entry("treasury", "p", -60),
            entry("team", "a", 10),
            entry("team", "b", 20),
            entry("team", "c", 30),
        ];
        let shown = without_others(entries, &"b".parse().unwrap());
        let shown: Vec<_> = shown.iter().map(|entry| (entry.account.as_str(), entry.amount.0)).collect();
        assert_eq!(shown, [("treasury", -60), ("team", 20), ("other_teams", 40)]);
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        assert_eq!(read_cursor("before-3-2-1").unwrap(), (3, 2, 1));
        for text in ["before-3", "before-3-2-x", "3-2-1", "before-1-2-3-4", "before-9223372036854775808-1-1"]
        {
            assert!(read_cursor(text).is_err(), "{text}");
        }
    }
}
