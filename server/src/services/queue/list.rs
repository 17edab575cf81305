//! The Bids page: a team's queue, or its bids that are over.

use common::api::{BidChipType, BidCounts, BidFilter, BidsQuery, BidsView, TeamFunds};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::Preview;
use market::snapshot;

use super::super::Services;
use super::super::audit::{Deed, Origin};
use super::super::paging::no_cursor;
use super::super::read::latest::Latest;
use super::view::Views;
use crate::error::AppError;
use crate::policy::{Action, Object, Viewer};
use crate::store::Tx;
use crate::store::queue::{self, ListedBid, QueuePlace};

/// Bids in one page of a list.
const PAGE: u32 = 200;

impl Services {
    /// A team's bids, open or over, and what is needed to place one. A look at another team's is noted in the audit log.
    ///
    /// # Errors
    /// `NotFound`: there is no such team, or the viewer may not read its bids, or is in no team where none is named.
    /// `Invalid`: the cursor is none of this list. `Unavailable`: the database does not answer.
    pub async fn bids(
        &self,
        viewer: &Viewer,
        origin: &Origin,
        query: BidsQuery,
    ) -> Result<BidsView, AppError> {
        let latest = self.latest().await?;
        let first = || viewer.teams.keys().next().cloned();
        let team = query.team.clone().or_else(first).ok_or_else(in_no_team)?;
        let team = Self::team_for(&latest, viewer, Action::ReadBids, &team)?;
        self.note_team_look(viewer, origin, &team.id, || Deed::new("bids.read", "team", &team.id)).await?;
        let previewer = latest.previewer().await?;
        let now_queue = previewer.as_ref().and_then(|previewer| previewer.queue(&team.id));
        // The cycle in force comes from elsewhere, so that one state of the database for the rest would be of no use.
        let page = Page::read(&mut self.store.look().await?, &team.id, &query).await?;
        let views = Views::new(&latest, now_queue.as_ref(), page.next_cycle, self.now());
        let places = page.first_place..;
        let view = |(bid, place): (ListedBid, u64)| {
            let place = (query.show == BidFilter::Open).then_some(place);
            views.view(bid, place)
        };
        Ok(BidsView {
            clock: self.market().clock(),
            may_bid: viewer.can(Action::ChangeBids, Object::Team { team: &team.id, pool: &team.pool }),
            funds: funds(&latest, &team.id, now_queue.as_ref()),
            chip_types: chip_types(&latest, &team.pool),
            counts: page.counts,
            next_cursor: page.next_cursor,
            bids: page.bids.into_iter().zip(places).map(view).collect(),
            team,
        })
    }

    /// Names and limits of the live bids of a team of the viewer's that name a chip type and have a limit, in local credits
    /// per chip-hour.
    ///
    /// # Errors
    /// `NotFound`: the viewer is in no such team. `Unavailable`: the database does not answer.
    pub async fn limits(
        &self,
        viewer: &Viewer,
        team: &TeamId,
        chip_type: &ChipTypeId,
    ) -> Result<Vec<(String, Price)>, AppError> {
        // Another team's would have to be noted as a look.
        if !viewer.teams.contains_key(team) {
            return Err(AppError::not_found("team", team));
        }
        queue::limits(&mut self.store.look().await?, team, chip_type, PAGE).await
    }
}

fn in_no_team() -> AppError {
    AppError::new(
        crate::error::ErrorKind::NotFound,
        "you are in no team, so there are no bids of yours; a team lead or an admin can add you to one",
    )
}

/// A page of stored bids.
struct Page {
    bids: Vec<ListedBid>,
    /// The place of the first one in an open queue.
    first_place: u64,
    counts: BidCounts,
    /// The cycle that is cleared next.
    next_cycle: u64,
    next_cursor: Option<String>,
}

impl Page {
    async fn read(tx: &mut Tx, team: &TeamId, query: &BidsQuery) -> Result<Self, AppError> {
        let cursor = query.cursor.as_deref();
        let mut first_place = 1;
        let mut bids = match query.show {
            BidFilter::Open => {
                let after = cursor.map(read_open_cursor).transpose()?;
                if let Some(after) = &after {
                    // The bid at the cursor may have gone meanwhile; what still stands up to there counts.
                    first_place = queue::count_up_to(tx, team, after).await? + 1;
                }
                queue::open(tx, team, after.as_ref(), PAGE + 1).await?
            }
            BidFilter::Ended => {
                let before = cursor.map_or(Ok((Instant(i64::MAX), u64::MAX >> 1)), read_ended_cursor)?;
                queue::ended(tx, team, before, PAGE + 1).await?
            }
        };
        let more = bids.len() > PAGE as usize;
        bids.truncate(PAGE as usize);
        let next_cursor = bids.last().filter(|_| more).map(|last| match query.show {
            BidFilter::Open => open_cursor(&last.place()),
            BidFilter::Ended => format!("ended-{}-{}", last.written_at.0, last.version.number),
        });
        let (counts, next_cycle) = queue::counts_and_next_cycle(tx, team).await?;
        Ok(Self { bids, first_place, counts, next_cycle, next_cursor })
    }
}

fn open_cursor(place: &QueuePlace) -> String {
    format!("open-{}-{}", place.position, place.id)
}

fn read_open_cursor(cursor: &str) -> Result<QueuePlace, AppError> {
    let parts = cursor.strip_prefix("open-").and_then(|rest| rest.split_once('-'));
    let place = parts.and_then(|(position, id)| {
        let position = position.parse().ok().filter(|position| *position <= u64::MAX >> 1)?;
        Some(QueuePlace { position, id: id.parse().ok()? })
    });
    place.ok_or_else(|| no_cursor(cursor))
}

fn read_ended_cursor(cursor: &str) -> Result<(Instant, u64), AppError> {
    let parts = cursor.strip_prefix("ended-").and_then(|rest| rest.rsplit_once('-'));
    let end = parts.and_then(|(at, number)| Some((Instant(at.parse().ok()?), number.parse().ok()?)));
    end.filter(|(_, number)| *number <= u64::MAX >> 1).ok_or_else(|| no_cursor(cursor))
}

/// A team's money in the cycle in force.
pub(in crate::services) fn funds(latest: &Latest, team: &TeamId, queue: Option<&Preview>) -> TeamFunds {
    let snapshot = latest.cleared.as_ref().map(|cleared| &cleared.snapshot);
    let row = snapshot.and_then(|snapshot| {
        let at = snapshot.teams.binary_search_by(|row| row.id.cmp(team)).ok()?;
        Some((&snapshot.teams[at], snapshot.sustain_minutes))
    });
    let Some((row, sustain_minutes)) = row else {
        let income_per_hour = latest.team(team).map_or(MicroCredits::ZERO, |team| team.income);
        return TeamFunds { income_per_hour, ..TeamFunds::default() };
    };
    TeamFunds {
        balance: row.balance,
        income_per_hour: row.income,
        cap_per_hour: cap_per_hour(row, sustain_minutes),
        burn_per_hour: queue.map_or(MicroCredits::ZERO, |queue| queue.burn_per_hour),
        lasts_seconds: queue.and_then(|queue| queue.balance_lasts_seconds),
    }
}

/// The most a team may bid per hour in local credits: the less of its leverage times its income and what it can sustain
/// (market.md 3.1), rounded down.
fn cap_per_hour(team: &snapshot::Team, sustain_minutes: u32) -> MicroCredits {
    let (income, sustain) = (i128::from(team.income.0), i128::from(sustain_minutes.max(1)));
    let by_income = income * i128::from(team.leverage_thousandths) / 1_000;
    let by_balance = (income * sustain + i128::from(team.balance.0) * 60).div_euclid(sustain);
    MicroCredits(i64::try_from(by_income.min(by_balance).max(0)).unwrap_or(i64::MAX))
}

fn chip_types(latest: &Latest, pool: &PoolId) -> Vec<BidChipType> {
    let rows = latest.rows(Some(pool)).into_iter();
    let chip_type = |row: common::api::ChipTypeRow| BidChipType {
        most_chips: latest.most_chips(pool, &row.chip_type).map(|reach| reach.most()).unwrap_or_default(),
        local_price: row.local_price,
        list_price: latest.list_price(pool, &row.chip_type),
        supply: row.occupancy.supply,
        idle: row.occupancy.idle,
        chip_type: row.chip_type,
        name: row.name,
        retired: row.retired,
    };
    rows.map(chip_type).collect()
}
