//! What a sign-in by an identity provider keeps, on both stores. The sign-in itself is tested in the browser, with a real
//! provider.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use common::ids::{SessionId, UserId};
use common::instant::Instant;
use server::error::ErrorKind;
use server::store::accounts::{self, NewAccount};
use server::store::sessions::{self, Session};
use server::store::single_sign_on as stored;

use crate::fixture;

const NOW: Instant = Instant(1_764_500_000);
const LATER: Instant = Instant(NOW.0 + 600);
const ISSUER: &str = "https://id.example.org";

fn account(id: &str, provider: Option<(&str, &str)>) -> NewAccount {
    NewAccount {
        id: id.parse().unwrap(),
        login: None,
        name: id.to_owned(),
        password_hash: None,
        provider: provider.map(|(issuer, subject)| (issuer.to_owned(), subject.to_owned())),
    }
}

#[tokio::test]
async fn an_answer_of_the_provider_is_used_once_and_a_kept_form_comes_back_once() {
    for test in fixture::both().await {
        let mut tx = test.store.write().await.unwrap();
        assert!(stored::spend(&mut tx, [1; 32], LATER, NOW).await.unwrap(), "{}", test.name);
        assert!(!stored::spend(&mut tx, [1; 32], LATER, NOW).await.unwrap(), "it was used");
        assert!(stored::spend(&mut tx, [2; 32], LATER, NOW).await.unwrap(), "another one was not");
        assert!(stored::spend(&mut tx, [1; 32], LATER, LATER).await.unwrap(), "what is over is forgotten");

        stored::keep_form(&mut tx, [3; 32], LATER, NOW, "chips=8").await.unwrap();
        assert_eq!(stored::take_form(&mut tx, [4; 32]).await.unwrap(), None);
        assert_eq!(stored::take_form(&mut tx, [3; 32]).await.unwrap().as_deref(), Some("chips=8"));
        assert_eq!(stored::take_form(&mut tx, [3; 32]).await.unwrap(), None);
        stored::keep_form(&mut tx, [5; 32], LATER, NOW, "old").await.unwrap();
        stored::keep_form(&mut tx, [6; 32], Instant(LATER.0 + 600), LATER, "new").await.unwrap();
        assert_eq!(stored::take_form(&mut tx, [5; 32]).await.unwrap(), None, "it was over");
        tx.commit().await.unwrap();
    }
}

#[tokio::test]
async fn a_person_at_the_provider_has_one_account_and_the_session_keeps_how_it_began() {
    for test in fixture::both().await {
        fixture::create(&test.store).await;
        let (ida, otto): (UserId, UserId) = ("ida".parse().unwrap(), "otto".parse().unwrap());
        let mut tx = test.store.write().await.unwrap();
        accounts::insert(&mut tx, NOW, &account("ida", Some((ISSUER, "s-1")))).await.unwrap();
        accounts::insert(&mut tx, NOW, &account("otto", None)).await.unwrap();
        let session = Session {
            id: "session-1".parse::<SessionId>().unwrap(),
            user: ida.clone(),
            made_at: NOW,
            last_used_at: NOW,
            ends_at: LATER,
            ended_at: None,
            user_agent: String::new(),
            address: "127.0.0.1".to_owned(),
        };
        sessions::insert(&mut tx, &session).await.unwrap();
        assert_eq!(stored::id_token(&mut tx, &session.id).await.unwrap(), None);
        stored::keep_id_token(&mut tx, &session.id, "header.claims.signature").await.unwrap();
        assert_eq!(
            stored::id_token(&mut tx, &session.id).await.unwrap().as_deref(),
            Some("header.claims.signature")
        );
        assert!(stored::has_team(&mut tx, &"speech".parse().unwrap()).await.unwrap(), "{}", test.name);
        assert!(!stored::has_team(&mut tx, &"nobody".parse().unwrap()).await.unwrap());
        assert!(stored::has_pool(&mut tx, &"research".parse().unwrap()).await.unwrap());
        assert!(!stored::has_pool(&mut tx, &"nowhere".parse().unwrap()).await.unwrap());
        tx.commit().await.unwrap();

        let of = async |subject: &str| {
            let mut tx = test.store.read().await.unwrap();
            accounts::find_at_provider(&mut tx, ISSUER, subject).await.unwrap().map(|account| account.id)
        };
        assert_eq!((of("s-1").await, of("s-2").await), (Some(ida.clone()), None));
        let mut tx = test.store.write().await.unwrap();
        let taken = stored::set_provider(&mut tx, &otto, Some((ISSUER, "s-1"))).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::Conflict, "{}: {taken}", test.name);
        drop(tx);
        let mut tx = test.store.write().await.unwrap();
        stored::set_provider(&mut tx, &ida, None).await.unwrap();
        stored::set_provider(&mut tx, &otto, Some((ISSUER, "s-1"))).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(of("s-1").await, Some(otto));
    }
}
