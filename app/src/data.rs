//! The data of each page: one server function per page, answered by the services behind [`Backend`].
//!
//! [`Backend`]: crate::backend::Backend

use common::api::{
    AllocationsQuery, AllocationsView, BookView, CycleSummary, CycleView, MarketView, Page, PriceHistory,
    ShellView, Span,
};
use common::ids::{ChipTypeId, PoolId, TeamId};
use common::money::Price;
use common::problem::Problem;
use leptos::prelude::*;
use leptos::server_fn::codec::{GetUrl, JsonEncoding};
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::backend::Backend;

/// Why a page has no data, as a problem document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageError(pub(crate) Problem);

impl PageError {
    /// The HTTP status of the problem.
    pub(crate) fn status(&self) -> u16 {
        self.0.status
    }
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl FromServerFnError for PageError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let (kind, title, status, detail) = match error {
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Response(_) => (
                "unreachable",
                "The server cannot be reached",
                503,
                "The page asked the server and got no answer. What you see may be old; try again in a moment."
                    .to_owned(),
            ),
            other => ("unexpected_answer", "The page could not be read", 500, other.to_string()),
        };
        Self(Problem {
            kind: kind.into(),
            title: title.into(),
            status,
            detail,
            errors: Vec::new(),
            newest: None,
        })
    }
}

/// The Market page: all rows, and what is behind the opened one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MarketPage {
    /// The rows.
    pub(crate) market: MarketView,
    /// The opened chip type; absent when there are no chip types.
    pub(crate) opened: Option<Result<OpenedChipType, PageError>>,
    /// The viewer is in a team, and so can bid.
    pub(crate) bids: bool,
}

impl MarketPage {
    /// The opened chip type, unless there was a problem with it.
    pub(crate) fn opened_chip_type(&self) -> Option<ChipTypeId> {
        self.opened.as_ref()?.as_ref().ok().map(|opened| opened.history.chip_type.clone())
    }
}

/// What opening a row shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenedChipType {
    /// Its price over time.
    pub(crate) history: PriceHistory,
    /// Who asks at which price, without the rows that the page has already.
    pub(crate) book: BookView,
    /// Limits of the viewer's own bids in the pool's local credits, highest first.
    pub(crate) limits: Vec<OwnLimit>,
}

/// The limit of a bid of the viewer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OwnLimit {
    /// The pool of its team.
    pub(crate) pool: PoolId,
    /// Its name.
    pub(crate) name: String,
    /// Per chip-hour.
    pub(crate) limit: Price,
}

/// The Bid book, and what in it is the viewer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BookPage {
    /// The book.
    pub(crate) book: BookView,
    /// Limits of the viewer's own bids in global credits, highest first.
    pub(crate) own: Vec<OwnLimit>,
    /// The viewer is in a team, and so can bid.
    pub(crate) bids: bool,
    /// The viewer may open single bids of all teams.
    pub(crate) reads_sealed: bool,
}

/// The services put into the extensions of each request.
#[cfg(feature = "ssr")]
pub(crate) fn backend() -> Result<std::sync::Arc<dyn Backend>, PageError> {
    use_context::<axum::http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<std::sync::Arc<dyn Backend>>().cloned())
        .ok_or_else(without_services)
}

fn without_services() -> PageError {
    PageError(Problem {
        kind: "internal".into(),
        title: "Something went wrong on the server".into(),
        status: 500,
        detail: "The page was rendered without its services.".into(),
        errors: Vec::new(),
        newest: None,
    })
}

/// What the shell shows, read before the page is rendered and sent along with it.
///
/// It is no resource: several parts of the shell show it, and parts that wait for one resource each can miss that it
/// is there, so that a page would now and then never end.
pub(crate) fn shell() -> Result<ShellView, PageError> {
    SharedValue::new(|| {
        #[cfg(feature = "ssr")]
        if let Some(shell) = use_context::<axum::http::request::Parts>()
            .and_then(|parts| parts.extensions.get::<ReadShell>().cloned())
        {
            return shell.0;
        }
        Err(without_services())
    })
    .into_inner()
}

/// The shell's data on its way from the request to the page.
#[cfg(feature = "ssr")]
#[derive(Clone)]
pub(crate) struct ReadShell(Result<ShellView, PageError>);

#[cfg(feature = "ssr")]
impl ReadShell {
    /// Reads it.
    pub(crate) async fn of(backend: &dyn Backend) -> Self {
        Self(backend.shell().await.map_err(PageError))
    }
}

/// The chip type that is shortest: most asked for per chip of supply, among those with a price above 0; else the first.
#[cfg(feature = "ssr")]
fn shortest(rows: &[common::api::ChipTypeRow]) -> Option<ChipTypeId> {
    let priced = rows.iter().filter(|row| row.reference_price.is_some_and(|price| price.0 > 0));
    // a / b > c / d is a · d > c · b.
    let by_shortage = |row: &&common::api::ChipTypeRow, other: &&common::api::ChipTypeRow| {
        let times = |asked: u64, supply: u64| u128::from(asked) * u128::from(supply);
        times(row.asked.0, other.occupancy.supply.0).cmp(&times(other.asked.0, row.occupancy.supply.0))
    };
    priced.max_by(by_shortage).or_else(|| rows.first()).map(|row| row.chip_type.clone())
}

/// The Market page with one chip type opened; without one, the shortest.
#[server(name = ReadMarket, prefix = "/pages", endpoint = "market", input = GetUrl)]
pub(crate) async fn read_market(
    pool: Option<PoolId>,
    chip_type: Option<ChipTypeId>,
    span: Span,
) -> Result<MarketPage, PageError> {
    let backend = backend()?;
    let viewer = backend.shell().await?.viewer;
    let bids = crate::own::is_in_a_team(viewer.as_ref());
    let pool = crate::own::pool_of(pool, viewer.as_ref());
    let market = backend.market(pool.clone()).await?;
    let Some(chip_type) = chip_type.or_else(|| shortest(&market.rows)) else {
        return Ok(MarketPage { market, opened: None, bids });
    };
    let opened = async {
        let history = backend.price_history(chip_type.clone(), pool.clone(), span).await?;
        let mut limits = crate::own::own_limits(&*backend, viewer.as_ref(), &chip_type).await;
        // The chart shows one pool's credits.
        limits.retain(|own| pool.as_ref() == Some(&own.pool));
        let mut book = backend.book(Some(chip_type)).await?;
        book.chip_types.clear();
        book.pools.clear();
        Ok(OpenedChipType { history, book, limits })
    };
    Ok(MarketPage { opened: Some(opened.await), market, bids })
}

/// The Bid book of one chip type; without one, of the first.
#[server(name = ReadBook, prefix = "/pages", endpoint = "book", input = GetUrl)]
pub(crate) async fn read_book(chip_type: Option<ChipTypeId>) -> Result<BookPage, PageError> {
    let backend = backend()?;
    let viewer = backend.shell().await?.viewer;
    let book = backend.book(chip_type).await?;
    let own = crate::own::own_limits(&*backend, viewer.as_ref(), &book.chip_type).await;
    let own = crate::own::in_global_credits(own, &book.by_pool);
    let viewer = viewer.as_ref();
    let bids = crate::own::is_in_a_team(viewer);
    Ok(BookPage { book, own, bids, reads_sealed: crate::own::reads_sealed_bids(viewer) })
}

/// Chips over time.
#[server(name = ReadAllocations, prefix = "/pages", endpoint = "allocations", input = GetUrl)]
pub(crate) async fn read_allocations(query: AllocationsQuery) -> Result<AllocationsView, PageError> {
    Ok(backend()?.allocations(query).await?)
}

/// Cycles in one page of the list.
pub(crate) const CYCLES_PER_PAGE: u32 = 50;

/// One page of cycles, newest first.
#[server(name = ReadCycles, prefix = "/pages", endpoint = "cycles", input = GetUrl)]
pub(crate) async fn read_cycles(cursor: Option<String>) -> Result<Page<CycleSummary>, PageError> {
    Ok(backend()?.cycles(cursor, CYCLES_PER_PAGE).await?)
}

/// One cycle, computed again.
#[server(name = ReadCycle, prefix = "/pages", endpoint = "cycle", input = GetUrl)]
pub(crate) async fn read_cycle(cycle: u64, team: Option<TeamId>) -> Result<CycleView, PageError> {
    Ok(backend()?.cycle(cycle, team).await?)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use common::api::{ChipTypeRow, Occupancy};
    use common::chips::Chips;

    use super::*;

    fn row(id: &str, price: Option<u64>, asked: u64, supply: u64) -> ChipTypeRow {
        ChipTypeRow {
            chip_type: ChipTypeId::new(id).expect("an id"),
            name: id.to_owned(),
            reference_price: price.map(Price),
            local_price: None,
            reference_price_1h_ago: None,
            reference_price_24h_ago: None,
            last_24h: Vec::new(),
            occupancy: Occupancy { supply: Chips(supply), ..Occupancy::default() },
            asked: Chips(asked),
            retired: false,
        }
    }

    #[test]
    fn the_shortest_chip_type_is_opened() {
        let opened = |rows: &[ChipTypeRow]| shortest(rows).map(|id| id.to_string());
        assert_eq!(opened(&[]), None);
        assert_eq!(opened(&[row("a", None, 9, 1), row("b", Some(0), 9, 1)]).as_deref(), Some("a"));
        let rows = [
            row("a", Some(0), 90, 1),
            row("b", Some(5), 3, 2),
            row("c", Some(1), 5, 3),
            row("d", Some(9), 1, 1),
        ];
        assert_eq!(opened(&rows).as_deref(), Some("c"));
    }
}
