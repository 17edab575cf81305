//! A small organisation, a store of either kind, and bids to play with.

use std::collections::BTreeSet;

use common::api::Role;
use common::chips::Chips;
use common::ids::BidId;
use common::instant::Instant;
use common::money::{MicroCredits, Price};
use market::snapshot::{Alternative, Lending};
use server::policy::{Membership, Via, Viewer};
use server::services::bids::NewBid;
use server::services::ledger::Grant;
use server::services::organisation::{self, NewOrganisation};
use server::store::accounts::{self, NewAccount};
use server::store::bids::BidTerms;
use server::store::entities::{ChipType, Organisation, OwnedSupply, Pool, Setup, Team};
use server::store::{Place, Store};

/// 2026-11-30T00:00:00Z.
pub(crate) const START: Instant = Instant(1_795_996_800_000_000);

/// A store and the folder it lives in.
pub(crate) struct TestStore {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) store: Store,
    _folder: tempfile::TempDir,
}

/// A new, empty SQLite file.
pub(crate) async fn sqlite() -> TestStore {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::Sqlite { path: folder.path().join("market.sqlite"), durable: false };
    open("sqlite", place, folder).await
}

/// A copy of a SQLite file as it is now.
pub(crate) async fn copy_of(test: &TestStore) -> TestStore {
    let Place::Sqlite { path, .. } = &test.place else { panic!("only a file is copied here") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("market.sqlite");
    let pool =
        sqlx::SqlitePool::connect(&format!("sqlite:{}", path.display())).await.expect("the file opens");
    let copied = sqlx::query("VACUUM INTO $1").bind(copy.display().to_string()).execute(&pool).await;
    copied.expect("a copy is written");
    pool.close().await;
    open("sqlite", Place::Sqlite { path: copy, durable: false }, folder).await
}

/// A new, empty PostgreSQL database; none where it is left out on purpose.
pub(crate) async fn postgres() -> Option<TestStore> {
    let url = crate::postgres::new_database().await?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    Some(open("postgres", Place::Postgres { url, connections: 5 }, folder).await)
}

/// Both kinds, as far as they are there.
pub(crate) async fn both() -> Vec<TestStore> {
    let mut stores = vec![sqlite().await];
    stores.extend(postgres().await);
    stores
}

async fn open(name: &'static str, place: Place, folder: tempfile::TempDir) -> TestStore {
    let store = Store::open(&place).await.expect("the store opens");
    TestStore { name, place, store, _folder: folder }
}

/// A whole number of credits.
pub(crate) fn credits(credits: i64) -> MicroCredits {
    MicroCredits(credits * 1_000_000)
}

/// Two chip types, two pools, three teams; 40 A100 shared and 16 owned, 8 H100 shared.
pub(crate) fn setup() -> Setup {
    let chip_type = |name: &str, shared| ChipType {
        id: name.parse().expect("an id"),
        name: name.to_owned(),
        shared: Chips(shared),
        reserve_price: Price(0),
        list_price: None,
        retired: false,
    };
    let pool = |name: &str, weight| Pool {
        id: name.parse().expect("an id"),
        name: name.to_owned(),
        weight: credits(weight),
        lending: Lending::All,
        archived: false,
    };
    let team = |name: &str, pool: &str, income| Team {
        id: name.parse().expect("an id"),
        pool: pool.parse().expect("an id"),
        name: name.to_owned(),
        income: credits(income),
        leverage_thousandths: 2_000,
        archived: false,
    };
    Setup {
        organisation: Organisation { name: "Test".to_owned(), ..Organisation::default() },
        chip_types: vec![chip_type("A100", 40), chip_type("H100", 8)],
        pools: vec![pool("research", 60), pool("products", 40)],
        owned: vec![OwnedSupply {
            pool: "research".parse().expect("an id"),
            chip_type: "A100".parse().expect("an id"),
            chips: Chips(16),
        }],
        teams: vec![
            team("speech", "research", 30),
            team("vision", "research", 31),
            team("ads", "products", 80),
        ],
    }
}

/// Writes the organisation, with a starting balance for each team.
pub(crate) async fn create(store: &Store) {
    let setup = setup();
    let grant = |team: &Team| Grant {
        team: team.id.clone(),
        amount: credits(100),
        reason: "starting balance".to_owned(),
        key: format!("start-{}", team.id),
    };
    let grants = setup.teams.iter().map(grant).collect();
    let mut tx = store.write().await.expect("a transaction");
    organisation::create(&mut tx, START, &NewOrganisation { setup, grants }).await.expect("an organisation");
    tx.commit().await.expect("a commit");
}

/// Accounts of every test: name, role in the organisation, teams (with `*` where the person leads).
pub(crate) const PEOPLE: [(&str, Option<Role>, &[&str]); 5] = [
    ("admin", Some(Role::Admin), &[]),
    ("finance", Some(Role::Finance), &[]),
    ("auditor", Some(Role::Auditor), &[]),
    ("engineer", None, &["*speech", "vision"]),
    ("outsider", None, &["ads"]),
];

/// Adds the people, where they are not there yet. They have no passwords.
pub(crate) async fn add_people(store: &Store) {
    for (user, role, teams) in PEOPLE {
        let member = |team: &&str| {
            let id = team.trim_start_matches('*').parse().expect("an id");
            let pool = "research".parse().expect("an id");
            (id, Membership { pool, leads: team.starts_with('*') })
        };
        let viewer = Viewer {
            user: user.parse().expect("an id"),
            name: user.to_owned(),
            roles: role.into_iter().collect(),
            teams: teams.iter().map(member).collect(),
            pools: BTreeSet::new(),
            via: Via::Session("s".parse().expect("an id")),
        };
        add_person(store, &viewer).await;
    }
}

/// Adds an account, where it is not there yet, and makes it what a viewer is.
pub(crate) async fn add_person(store: &Store, viewer: &Viewer) {
    let mut tx = store.write().await.expect("a transaction");
    if accounts::find(&mut tx, &viewer.user).await.expect("an answer").is_none() {
        let account = NewAccount {
            id: viewer.user.clone(),
            login: Some(viewer.user.to_string()),
            name: viewer.name.clone(),
            password_hash: None,
            provider: None,
        };
        accounts::insert(&mut tx, START, &account).await.expect("an account");
    }
    accounts::set_roles(&mut tx, &viewer.user, &viewer.roles).await.expect("roles");
    accounts::set_pools(&mut tx, &viewer.user, &viewer.pools).await.expect("pools");
    for (team, membership) in &viewer.teams {
        accounts::put_member(&mut tx, &viewer.user, team, membership.leads).await.expect("a member");
    }
    tx.commit().await.expect("a commit");
}

/// A bid for `chips` of a chip type, without a limit or an estimate.
pub(crate) fn bid(id: &str, team: &str, chip_type: &str, chips: u64) -> NewBid {
    NewBid {
        id: BidId::new(id).expect("an id"),
        team: team.parse().expect("an id"),
        terms: BidTerms {
            name: format!("job {id}"),
            note: String::new(),
            position: 0,
            alternatives: vec![Alternative {
                chip_type: chip_type.parse().expect("an id"),
                chips: Chips(chips),
                min_chips: Chips(1),
            }],
            limit: None,
            not_before: None,
            not_after: None,
            work_chip_seconds: None,
        },
    }
}
