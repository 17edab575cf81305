//! The people of the demo. Everybody knows their passwords, so a demo listens on its own machine only.

use std::collections::BTreeSet;

use common::api::Role;
use common::ids::UserId;
use common::instant::Instant;

use crate::auth::Passwords;
use crate::error::AppError;
use crate::http::DemoAccount;
use crate::store::accounts::{self, NewAccount};
use crate::store::entities::Setup;
use crate::store::{Store, Tx};

/// Name, password, who it is.
pub const ACCOUNTS: [DemoAccount; 3] = [
    ("engineer", "engineer-demo", "Leads one team and is a member of another: places bids"),
    ("finance", "finance-demo", "Reads all money"),
    ("admin", "admin-demo", "Changes supply, weights, users and settings"),
];

/// Makes the accounts in a database that has none: an engineer in the first two teams, finance and an admin.
pub(super) async fn set_up(store: &Store, now: Instant) -> Result<(), AppError> {
    if accounts::any(&mut store.read().await?).await? {
        return Ok(());
    }
    let passwords = Passwords::default();
    let mut hashed = Vec::new();
    for (login, password, _) in ACCOUNTS {
        hashed.push((login, passwords.hash(password).await?));
    }
    let mut tx = store.write().await?;
    for (login, hash) in hashed {
        add(&mut tx, now, login, hash).await?;
    }
    tx.commit().await
}

async fn add(tx: &mut Tx, now: Instant, login: &str, hash: String) -> Result<(), AppError> {
    let id = UserId::new(login).map_err(AppError::internal)?;
    let name = format!("Demo {login}");
    let account = NewAccount {
        id: id.clone(),
        login: Some(login.to_owned()),
        name,
        password_hash: Some(hash),
        provider: None,
    };
    accounts::insert(tx, now, &account).await?;
    if let Ok(role) = login.parse::<Role>() {
        return accounts::set_roles(tx, &id, &BTreeSet::from([role])).await;
    }
    let teams = Setup::newest(tx).await?.map(|setup| setup.teams).unwrap_or_default();
    for (place, team) in teams.iter().take(2).enumerate() {
        accounts::put_member(tx, &id, &team.id, place == 0).await?;
    }
    Ok(())
}
