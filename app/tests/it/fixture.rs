//! A market that never changes: the services behind the pages under test.

use crate::fixture_bids as bids;
use app::backend::Backend;
use async_trait::async_trait;
use common::api::*;
use common::chips::Chips;
use common::ids::{BidId, ChipTypeId, PoolId, TeamId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use common::problem::Problem;

/// What the market holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fixture {
    /// Three chip types (one without trade), two pools, three teams.
    Full,
    /// The same, but the last cycles failed.
    Stale,
    /// Nothing yet.
    Empty,
    /// No answer.
    Broken,
}

pub(crate) const CYCLE: u64 = 48_211;

pub(crate) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn cleared_at() -> Instant {
    at("2026-11-30T14:03:00Z")
}

pub(crate) fn chip(text: &str) -> ChipTypeId {
    ChipTypeId::new(text).unwrap()
}

fn pools() -> Vec<PoolName> {
    [("language", "Language"), ("vision", "Vision")]
        .map(|(id, name)| PoolName { id: PoolId::new(id).unwrap(), name: name.to_owned() })
        .into()
}

pub(crate) fn teams() -> Vec<TeamName> {
    [
        ("lm-pretrain", "LM pre-training", "language"),
        ("rl", "RL <fine-tuning>", "language"),
        ("vit", "ViT", "vision"),
    ]
    .map(|(id, name, pool)| TeamName {
        id: TeamId::new(id).unwrap(),
        name: name.to_owned(),
        pool: PoolId::new(pool).unwrap(),
    })
    .into()
}

fn viewer() -> ViewerView {
    ViewerView {
        user: common::ids::UserId::new("mira").unwrap(),
        name: "Mira".to_owned(),
        roles: Vec::new(),
        teams: teams()
            .into_iter()
            .take(2)
            .map(|team| ViewerTeam { id: team.id, name: team.name, pool: team.pool, leads: false })
            .collect(),
        pools: Vec::new(),
    }
}

fn occupancy(supply: u64, paid: u64, opportunistic: u64) -> Occupancy {
    Occupancy {
        supply: Chips(supply),
        paid: Chips(paid),
        opportunistic: Chips(opportunistic),
        idle: Chips(supply - paid - opportunistic),
    }
}

/// A price that wanders up and down by the same steps each time; absent now and then.
fn wander(start: u64, index: u64) -> Price {
    let wave = [0, 3, 7, 9, 6, 2, -3, -6, -8, -5, -1, 4];
    let factor = 100 + wave[usize::try_from(index % 12).unwrap()] + i64::try_from(index / 16).unwrap();
    Price(start * u64::try_from(factor).unwrap() / 100)
}

fn row(id: &str, price: Option<u64>, before: (u64, u64), use_of: Occupancy, asked: u64) -> ChipTypeRow {
    ChipTypeRow {
        chip_type: chip(id),
        name: id.replace('-', " "),
        reference_price: price.map(Price),
        local_price: None,
        reference_price_1h_ago: price.map(|_| Price(before.0)),
        reference_price_24h_ago: price.map(|_| Price(before.1)),
        last_24h: (0..48).map(|index| price.map(|price| wander(price, index))).collect(),
        occupancy: use_of,
        asked: Chips(asked),
        retired: false,
    }
}

fn rows() -> Vec<ChipTypeRow> {
    vec![
        row("A100-80", Some(731_004), (750_513, 731_004), occupancy(6_144, 5_100, 737), 5_922),
        row("B200", None, (0, 0), occupancy(0, 0, 0), 0),
        row("H100", Some(1_842_137), (1_769_584, 1_902_000), occupancy(4_096, 3_604, 369), 5_310),
    ]
}

fn pool_demand() -> Vec<PoolDemand> {
    let demand = |pool: PoolName, owned, bought, asked, granted, price, local_price| PoolDemand {
        pool,
        owned: Chips(owned),
        lent: Chips(0),
        bought: Chips(bought),
        asked: Chips(asked),
        granted: Chips(granted),
        price: Some(Price(price)),
        local_price: Some(Price(local_price)),
    };
    let [language, vision] = pools().try_into().unwrap();
    vec![
        demand(language, 1_024, 1_900, 3_710, 2_924, 1_197_000, 2_394_001),
        demand(vision, 0, 680, 1_600, 680, 1_842_137, 1_842_137),
    ]
}

fn levels() -> Vec<DepthLevel> {
    let mut cumulative = 0;
    (1..=24_u64)
        .map(|step| {
            let chips = 90 + step * 13 % 170;
            cumulative += chips;
            DepthLevel {
                price: Price(5_000_000 - step * 200_000),
                chips: Chips(chips),
                cumulative: Chips(cumulative),
            }
        })
        .collect()
}

fn summary(cycle: u64) -> CycleSummary {
    let starts_at = cleared_at().plus_seconds((i64::try_from(cycle).unwrap() - 48_211) * 60);
    CycleSummary {
        cycle,
        starts_at,
        ends_at: (cycle < CYCLE).then(|| starts_at.plus_seconds(60)),
        clear_micros: 1_830 + cycle % 7 * 211,
        bids: 1_204,
        occupancy: occupancy(10_240, 8_704, 1_106),
    }
}

fn cycle_teams() -> Vec<CycleTeam> {
    teams()
        .into_iter()
        .zip([1_284_500_000, 40_250_137, 0])
        .map(|(team, balance)| CycleTeam {
            team: team.id,
            name: team.name,
            balance: MicroCredits(balance),
            income: MicroCredits(96_000_000),
            cap: MicroCredits(131_200_000),
            shows_bids: true,
            quotas: if balance == 0 {
                Vec::new()
            } else {
                vec![TeamQuota {
                    chip_type: chip("H100"),
                    asked: Chips(1_104),
                    quota: Chips(720),
                    used: Chips(704),
                }]
            },
        })
        .collect()
}

fn cycle_bids() -> Vec<CycleBid> {
    let bid =
        |place: u64, name: &str, asked, chips, limit: Option<u64>, reason, explanation: &str| CycleBid {
            bid: BidId::new(format!("0193-{place}")).unwrap(),
            name: name.to_owned(),
            team: teams()[0].id.clone(),
            place,
            chip_type: Some(chip("H100")),
            asked: Chips(asked),
            min_chips: Chips(asked / 2),
            chips: Chips(chips),
            limit: limit.map(Price),
            local_price: Some(Price(2_394_001)),
            reason,
            explanation: explanation.to_owned(),
        };
    vec![
        bid(1, "llm-70b run 4", 512, 512, None, Reason::Filled, "It has all 512 chips it asked for."),
        bid(
            2,
            "ablation",
            256,
            192,
            Some(2_500_000),
            Reason::PartlyFilled,
            "192 of 256 chips: the cap buys no more.",
        ),
        bid(
            3,
            "grid",
            64,
            0,
            Some(1_500_000),
            Reason::PriceAboveLimit,
            "Price 2.394001 is above your limit 1.50.",
        ),
    ]
}

impl Fixture {
    fn answer<T>(self, full: impl FnOnce() -> T, empty: impl FnOnce() -> T) -> Result<T, Problem> {
        match self {
            Self::Full | Self::Stale => Ok(full()),
            Self::Empty => Ok(empty()),
            Self::Broken => {
                Err(problem(503, "The database does not answer", "The page asked it for 5 s. Try again."))
            }
        }
    }

    fn clock(self) -> MarketClock {
        MarketClock {
            cycle: if self == Self::Empty { 0 } else { CYCLE },
            cleared_at: cleared_at(),
            next_at: cleared_at().plus_seconds(60),
            cycle_seconds: 60,
            stale: (self == Self::Stale).then(|| Stale {
                since: cleared_at().plus_seconds(60),
                reason: "the database does not answer.".to_owned(),
            }),
        }
    }
}

pub(crate) fn problem(status: u16, title: &str, detail: &str) -> Problem {
    Problem {
        kind: if status == 404 { "not_found" } else { "unavailable" }.into(),
        title: title.into(),
        status,
        detail: detail.into(),
        errors: Vec::new(),
        newest: None,
    }
}

#[async_trait]
impl Backend for Fixture {
    async fn shell(&self) -> Result<ShellView, Problem> {
        let shell = |pools| ShellView {
            organisation: "Example organisation".into(),
            data_note: Some("Demand: a public trace, CC-BY-4.0.".into()),
            clock: self.clock(),
            pools,
            viewer: Some(viewer()),
        };
        self.answer(|| shell(pools()), || shell(Vec::new()))
    }

    async fn market(&self, pool: Option<PoolId>) -> Result<MarketView, Problem> {
        let market = |rows: Vec<ChipTypeRow>| MarketView {
            organisation: "Example organisation".into(),
            data_note: None,
            clock: self.clock(),
            pools: pools(),
            pool: pool.clone(),
            rows,
        };
        let with_pool = |mut row: ChipTypeRow| {
            row.local_price = pool.as_ref().and(row.reference_price).map(|price| Price(price.0 * 13 / 10));
            row
        };
        self.answer(|| market(rows().into_iter().map(with_pool).collect()), || market(Vec::new()))
    }

    async fn price_history(
        &self,
        chip_type: ChipTypeId,
        pool: Option<PoolId>,
        span: Span,
    ) -> Result<PriceHistory, Problem> {
        if !rows().iter().any(|row| row.chip_type == chip_type) {
            return Err(problem(404, "No such chip type", &format!("There is no chip type {chip_type}.")));
        }
        let steps = 96;
        let step_seconds = span.seconds() / steps;
        let point = |index: i64| {
            let price = wander(1_700_000, index.unsigned_abs());
            let traded = (index != 20).then_some(price);
            PricePoint {
                at: cleared_at().plus_seconds((index - steps) * step_seconds),
                cycle: CYCLE - (steps - index).unsigned_abs(),
                reference_price: traded,
                low: traded.map(|price| Price(price.0 * 97 / 100)),
                high: traded.map(|price| Price(price.0 * 104 / 100)),
                local_price: pool.as_ref().and(traded).map(|price| Price(price.0 * 13 / 10)),
                asked: Chips(5_310),
                occupancy: occupancy(4_096, 3_604, 369),
            }
        };
        let change = SupplyChange {
            at: cleared_at().plus_seconds(-40 * step_seconds),
            before: Chips(3_584),
            after: Chips(4_096),
        };
        Ok(PriceHistory {
            step_seconds: if span == Span::Hour { 0 } else { u32::try_from(step_seconds).unwrap() },
            points: if chip_type.as_str() == "B200" { Vec::new() } else { (0..steps).map(point).collect() },
            supply_changes: vec![change],
            chip_type,
            pool,
            span,
        })
    }

    async fn book(&self, chip_type: Option<ChipTypeId>) -> Result<BookView, Problem> {
        let chip_type = chip_type.unwrap_or_else(|| chip("H100"));
        if *self == Self::Empty {
            return Err(problem(404, "No chip types yet", "An admin adds chip types and their supply."));
        }
        let traded = chip_type.as_str() != "B200";
        self.answer(
            || BookView {
                clock: self.clock(),
                chip_types: rows(),
                pools: pools(),
                chip_type: chip_type.clone(),
                supply: Chips(if traded { 4_096 } else { 0 }),
                reference_price: traded.then_some(Price(1_842_137)),
                reserve_price: Price(100_000),
                levels: if traded { levels() } else { Vec::new() },
                by_pool: if traded { pool_demand() } else { Vec::new() },
            },
            || unreachable!("answered above"),
        )
    }

    async fn allocations(&self, query: AllocationsQuery) -> Result<AllocationsView, Problem> {
        let steps = 48_i64;
        let series = |index: u64, id: String, name: String| AllocationSeries {
            id,
            name,
            granted_milli: (0..48).map(|step| (2_000_000 + wander(900_000, step).0) / (index + 1)).collect(),
            used_milli: (0..48).map(|step| (1_900_000 + wander(800_000, step).0) / (index + 1)).collect(),
            granted_milli_chip_hours: 69_120_000 / (index + 1),
            used_milli_chip_hours: 64_801_250 / (index + 1),
            cost: (query.group_by != GroupBy::ChipType).then_some(MicroCredits(123_456_789_012)),
            now: Chips(2_900 / (index + 1)),
        };
        let names: Vec<(String, String)> = match query.group_by {
            GroupBy::Pool => pools().into_iter().map(|pool| (pool.id.to_string(), pool.name)).collect(),
            GroupBy::Team => (1..=11).map(|n| (format!("team-{n}"), format!("Team {n}"))).collect(),
            GroupBy::ChipType => {
                rows().into_iter().map(|row| (row.chip_type.to_string(), row.name)).collect()
            }
        };
        let view = |series| AllocationsView {
            clock: self.clock(),
            query: query.clone(),
            chip_types: rows().into_iter().map(|row| row.chip_type).collect(),
            pools: pools(),
            teams: teams(),
            step_seconds: 1_800,
            steps: (0..steps).map(|step| cleared_at().plus_seconds((step - steps) * 1_800)).collect(),
            series,
            joined: 0,
            supply_milli: vec![10_240_000; 48],
        };
        self.answer(
            || view((0..).zip(names).map(|(index, (id, name))| series(index, id, name)).collect()),
            || view(Vec::new()),
        )
    }

    async fn cycles(&self, cursor: Option<String>, limit: u32) -> Result<Page<CycleSummary>, Problem> {
        let newest = cursor.map_or(Ok(CYCLE), |text| text.parse()).map_err(|_| {
            problem(422, "The cursor is not one", "Hand back next_cursor of the page before.")
        })?;
        let least = newest.saturating_sub(u64::from(limit.min(5)));
        self.answer(
            || Page {
                items: (least + 1..=newest).rev().map(summary).collect(),
                next_cursor: (least > 0).then(|| least.to_string()),
            },
            || Page { items: Vec::new(), next_cursor: None },
        )
    }

    async fn cycle(&self, cycle: u64, team: Option<TeamId>) -> Result<CycleView, Problem> {
        if cycle == 0 || cycle > CYCLE {
            return Err(problem(404, "No such cycle", &format!("Cycles 1 to {CYCLE} have cleared.")));
        }
        let market = CycleChipType {
            chip_type: chip("H100"),
            reference_price: Some(Price(1_842_137)),
            reserve_price: Price(0),
            shared: Chips(3_072),
            asked: Chips(5_310),
            occupancy: occupancy(4_096, 3_604, 369),
            pools: pool_demand(),
        };
        Ok(CycleView {
            summary: summary(cycle),
            proof: CycleProof {
                snapshot_sha256: "a1".repeat(32),
                outcome_sha256: "b2".repeat(32),
                snapshot_matches: true,
                outcome_matches: cycle != 7,
            },
            chip_types: vec![market],
            teams: cycle_teams(),
            bids: cycle_bids()
                .into_iter()
                .filter(|bid| team.as_ref().is_none_or(|team| *team == bid.team))
                .collect(),
            bids_left_out: if team.is_none() { 1_201 } else { 0 },
        })
    }

    async fn bids(&self, query: BidsQuery) -> Result<BidsView, Problem> {
        self.answer(|| (), || ())?;
        bids::view(*self, self.clock(), query)
    }

    async fn limits(&self, team: TeamId, chip_type: ChipTypeId) -> Result<Vec<(String, Price)>, Problem> {
        let view = self.bids(BidsQuery { team: Some(team), ..BidsQuery::default() }).await?;
        let named = |bid: &BidView| bid.terms.alternatives.iter().any(|one| one.chip_type == chip_type);
        let live = view.bids.into_iter().filter(|bid| bid.status == BidStatus::Live && named(bid));
        Ok(live.filter_map(|bid| Some((bid.terms.name, bid.terms.limit.price()?))).collect())
    }

    async fn bid(&self, bid: BidId, _cursor: Option<String>) -> Result<BidDetail, Problem> {
        bids::detail(self.clock(), &bid)
    }

    async fn preview_bid(&self, bid: PreviewBid) -> Result<BidPreview, Problem> {
        bids::checked(&bid.terms)?;
        Ok(bids::preview(&bid))
    }

    fn new_id(&self) -> String {
        "0193-new".to_owned()
    }

    async fn place_bid(&self, bid: PlaceBid) -> Result<BidView, Problem> {
        bids::checked(&bid.terms)?;
        Ok(BidView { id: bid.id, terms: bid.terms, pending: true, ..bids::queue().remove(0) })
    }

    async fn amend_bid(&self, bid: BidId, change: AmendBid) -> Result<BidView, Problem> {
        bids::checked(&change.terms)?;
        let present = bids::detail(self.clock(), &bid)?.bid;
        if present.version != change.version {
            return Err(problem(412, "The bid was changed", "Read it again and repeat the change."));
        }
        Ok(BidView { terms: change.terms, version: present.version + 1, pending: true, ..present })
    }

    async fn move_bids(&self, change: MoveBids) -> Result<(), Problem> {
        change.bids.iter().try_for_each(|bid| bids::detail(self.clock(), bid).map(drop))
    }

    async fn change_bids(&self, change: ChangeBids) -> Result<(), Problem> {
        change.bids.iter().try_for_each(|bid| bids::detail(self.clock(), bid).map(drop))
    }
}
