//! Clearing and accounting on a real store.

use common::chips::Chips;
use server::cycle::{Clearing, rebuild};
use server::services::bids;
use server::store::{results, rollup, usage};

use crate::fixture::{self, START, bid, create};

#[tokio::test]
async fn cycles_clear_are_stored_and_can_be_computed_again() {
    for test in fixture::both().await {
        let store = &test.store;
        create(store).await;
        let mut tx = store.write().await.unwrap();
        let new =
            vec![bid("a", "speech", "A100", 30), bid("b", "vision", "A100", 30), bid("c", "ads", "A100", 20)];
        assert_eq!(bids::place_many(&mut tx, START, new).await.unwrap(), 3, "{}", test.name);
        let mut clearing = Clearing::new();
        for minute in 1..=130 {
            let cleared = clearing.clear(&mut tx, START.plus_seconds(60 * minute)).await.unwrap();
            assert_eq!(cleared.clock.cycle, minute.unsigned_abs());
        }
        tx.commit().await.unwrap();

        let mut tx = store.read().await.unwrap();
        let last = results::last_cycle(&mut tx).await.unwrap().unwrap();
        assert_eq!((last.number, last.bids), (130, 3));
        let quotas = results::quotas_in(&mut tx, 130).await.unwrap();
        assert_eq!(quotas.iter().map(|quota| quota.quota.0).sum::<u64>(), 56);
        for number in [1, 2, 77, 130] {
            let rebuilt = rebuild(&mut tx, number).await.unwrap();
            assert!(rebuilt.snapshot_matches && rebuilt.outcome_matches, "{} cycle {number}", test.name);
        }
        drop(tx);

        let mut tx = store.write().await.unwrap();
        assert!(rollup::roll_up_next_hour(&mut tx).await.unwrap());
        assert!(rollup::roll_up_next_hour(&mut tx).await.unwrap());
        assert!(!rollup::roll_up_next_hour(&mut tx).await.unwrap());
        let end = START.plus_seconds(130 * 60);
        let hours = usage::usage(&mut tx, START, end, 3_600).await.unwrap();
        let minutes = usage::usage(&mut tx, START, end, 60).await.unwrap();
        let sum = |rows: &[usage::Usage]| rows.iter().map(|row| row.granted_chip_seconds).sum::<u64>();
        assert_eq!(sum(&hours), sum(&minutes));
        assert_eq!(sum(&minutes), 56 * 129 * 60);
        assert_eq!(Chips(56), Chips(quotas.iter().map(|quota| quota.used.0).sum()));
    }
}
