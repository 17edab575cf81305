//! The market of a load test: teams in pools, bids of all of them, one cleared cycle, and members with tokens.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use common::api::MarketClock;
use common::chips::Chips;
use common::ids::{BidId, UserId};
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Lending};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use server::auth::{Auth, NewToken, Passwords};
use server::clock::{Clock, IdSource, SystemClock};
use server::config::AuthConfig;
use server::policy::Scope;
use server::services::Services;
use server::services::bids::{self, NewBid};
use server::services::live::Live;
use server::services::organisation::{self, NewOrganisation};
use server::services::read::MarketReader;
use server::store::accounts::{self, NewAccount};
use server::store::bids::BidTerms;
use server::store::entities::{ChipType, Organisation, OwnedSupply, Pool, Setup, Team};
use server::store::{Place, Store};

use crate::Fault;

const POOLS: usize = 50;
const CHIP_TYPES: usize = 20;

/// Teams that have a member with a token.
const MEMBERS: usize = 1_000;

/// The password of every member: nobody but this machine reaches the server under load.
pub(crate) const PASSWORD: &str = "for the load test only";

/// The login of a member, who is in the team of the same number.
pub(crate) fn login_of(nth: usize) -> String {
    format!("member-{nth:05}")
}

/// Bids in one transaction.
const TOGETHER: usize = 10_000;

/// Fills an empty database.
pub(crate) async fn fill(database: &str, teams: usize, bids: usize, tokens: &Path) -> Result<(), Fault> {
    let store = Store::open(&Place::parse(database)).await?;
    let now = SystemClock.now();
    let mut tx = store.write().await?;
    let new = NewOrganisation { setup: setup(teams, bids), grants: Vec::new() };
    organisation::create(&mut tx, now, &new).await?;
    tx.commit().await?;
    let (mut random, ids) = (ChaCha12Rng::seed_from_u64(1), IdSource::seeded(1));
    for first in (0..bids).step_by(TOGETHER) {
        let last = bids.min(first + TOGETHER);
        let new =
            (first..last).map(|nth| bid(&mut random, &ids, now, nth % teams)).collect::<Result<_, _>>()?;
        let mut tx = store.write().await?;
        bids::place_many(&mut tx, now, new).await?;
        tx.commit().await?;
    }
    members(&store, teams, tokens).await?;
    store.close().await;
    println!("{teams} teams, {bids} bids");
    Ok(())
}

/// Half of what is wanted is there: each bid wants 17 chips or so.
fn setup(teams: usize, bids: usize) -> Setup {
    let chips = Chips((bids as u64 * 17 / 2 / CHIP_TYPES as u64).max(64));
    let chip_type = |nth| ChipType {
        id: format!("type-{nth}").parse().expect("an id"),
        name: format!("Type {nth}"),
        shared: chips,
        reserve_price: Price(0),
        list_price: None,
        retired: false,
    };
    let pool = |nth| Pool {
        id: format!("pool-{nth:02}").parse().expect("an id"),
        name: format!("Pool {nth}"),
        weight: MicroCredits(1_000_000_000 * (1 + nth as i64 % 5)),
        lending: Lending::All,
        archived: false,
    };
    let owned = |nth| OwnedSupply {
        pool: format!("pool-{nth:02}").parse().expect("an id"),
        chip_type: format!("type-{}", nth % CHIP_TYPES).parse().expect("an id"),
        chips: Chips(100),
    };
    let team = |nth| Team {
        id: format!("team-{nth:05}").parse().expect("an id"),
        pool: format!("pool-{:02}", nth % POOLS).parse().expect("an id"),
        name: format!("Team {nth}"),
        income: MicroCredits(10_000_001 * (1 + nth as i64 % 7)),
        leverage_thousandths: 2_000,
        archived: false,
    };
    Setup {
        organisation: Organisation { name: "Load test".to_owned(), ..Organisation::default() },
        chip_types: (0..CHIP_TYPES).map(chip_type).collect(),
        pools: (0..POOLS).map(pool).collect(),
        owned: (0..POOLS).step_by(2).map(owned).collect(),
        teams: (0..teams).map(team).collect(),
    }
}

fn bid(random: &mut ChaCha12Rng, ids: &IdSource, now: Instant, team: usize) -> Result<NewBid, Fault> {
    let chips = random.random_range(1..=32_u64);
    let alternative = |nth: usize| Alternative {
        chip_type: format!("type-{nth}").parse().expect("an id"),
        chips: Chips(chips),
        min_chips: Chips(1),
    };
    let first = random.random_range(0..CHIP_TYPES);
    let mut alternatives = vec![alternative(first)];
    if random.random_range(0..10) == 0 {
        alternatives.push(alternative((first + 1) % CHIP_TYPES));
    }
    let limit = (random.random_range(0..2) == 0).then(|| Price(random.random_range(100_000..3_000_000)));
    Ok(NewBid {
        id: BidId::new(ids.new_id(now))?,
        team: format!("team-{team:05}").parse()?,
        terms: BidTerms {
            name: format!("job of team {team}"),
            note: String::new(),
            position: 0,
            alternatives,
            limit,
            not_before: None,
            not_after: None,
            work_chip_seconds: None,
        },
    })
}

/// A member for each of the first teams, with a token that lives a week. One hash of the password does for all.
async fn members(store: &Store, teams: usize, tokens: &Path) -> Result<(), Fault> {
    let mut file = std::fs::File::create(tokens)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let now = clock.now();
    let password_hash = Some(Passwords::default().hash(PASSWORD).await?);
    let mut tx = store.write().await?;
    for nth in 0..teams.min(MEMBERS) {
        let id: UserId = login_of(nth).parse()?;
        let name = format!("Member {nth}");
        let account = NewAccount {
            id: id.clone(),
            login: Some(id.to_string()),
            name,
            password_hash: password_hash.clone(),
            provider: None,
        };
        accounts::insert(&mut tx, now, &account).await?;
        accounts::put_member(&mut tx, &id, &format!("team-{nth:05}").parse()?, false).await?;
    }
    tx.commit().await?;
    let idle = MarketClock { cycle: 0, cleared_at: now, next_at: now, cycle_seconds: 60, stale: None };
    let live = Live::new(idle, None);
    let market = Arc::new(MarketReader::new(store.clone(), Arc::clone(&clock), live.subscribe()));
    let services = Arc::new(Services::new(store.clone(), clock, IdSource::random(), market));
    let auth = Auth::open(services, &AuthConfig::default(), None).await?;
    for nth in 0..teams.min(MEMBERS) {
        let new = NewToken { name: "load".to_owned(), scopes: [Scope::Read, Scope::Bids].into(), days: 7 };
        let (_, text) = auth.make_token(&login_of(nth).parse()?, new).await?;
        writeln!(file, "team-{nth:05} {text}")?;
    }
    Ok(())
}
