//! Clearing and accounting on a real store.
#![expect(clippy::unwrap_used, reason = "helpers of tests: what fails here fails the test")]

use common::api::Reason;
use common::money::Price;
use server::cycle::verify::verify;
use server::cycle::{Clearing, rebuild};
use server::services::{bids, organisation, supply};
use server::store::bids::BidState;
use server::store::entities::Organisation;
use server::store::{Tx, history, results, rollup, usage};

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
        assert_eq!(quotas.iter().map(|quota| quota.used.0).sum::<u64>(), 56, "what is granted is used");
    }
}

/// Sets the reserve price of A100 to whole credits: with fewer chips asked for than there are, it is the price.
async fn set_reserve(tx: &mut Tx, credits: u64) {
    let mut chip_type = fixture::setup().chip_types.swap_remove(0);
    chip_type.reserve_price = Price(credits * 1_000_000);
    supply::put_chip_type(tx, START, &chip_type).await.unwrap();
}

/// An organisation whose one bid asks for less than there is.
async fn idle_market(test: &fixture::TestStore) -> Tx {
    create(&test.store).await;
    let mut tx = test.store.write().await.unwrap();
    bids::place(&mut tx, START, bid("a", "ads", "A100", 2)).await.unwrap();
    tx
}

#[tokio::test]
async fn t121_averages_over_a_change_of_the_cycle_length_are_time_weighted() {
    for test in fixture::both().await {
        let mut tx = idle_market(&test).await;
        let mut clearing = Clearing::new();
        for (minute, reserve) in [(0, 1), (60, 1), (120, 2), (135, 4), (150, 4), (165, 4), (180, 4)] {
            set_reserve(&mut tx, reserve).await;
            if minute == 120 {
                let settings = Organisation {
                    cycle_seconds: 900,
                    accounting_seconds: 900,
                    ..fixture::setup().organisation
                };
                organisation::change_settings(&mut tx, START, &settings).await.unwrap();
            }
            clearing.clear(&mut tx, START.plus_seconds(60 * minute)).await.unwrap();
        }
        let (a100, end) = ("A100".parse().unwrap(), START.plus_seconds(180 * 60));
        // Worth half a global credit: 40 an hour over an income of 80.
        let products = "products".parse().unwrap();
        for rolled_up in [false, true] {
            let hours =
                history::price_points(&mut tx, &a100, Some(&products), START, end, 3_600).await.unwrap();
            let local: Vec<u64> = hours.iter().map(|point| point.local_price.unwrap().0).collect();
            assert_eq!(local, [2_000_000, 2_000_000, 7_000_000], "{} rolled up: {rolled_up}", test.name);
            let prices: Vec<u64> = hours.iter().map(|point| point.reference_price.unwrap().0).collect();
            assert_eq!(prices, [1_000_000, 1_000_000, 3_500_000], "{} rolled up: {rolled_up}", test.name);
            assert_eq!((hours[2].low, hours[2].high), (Some(Price(2_000_000)), Some(Price(4_000_000))));
            while rollup::roll_up_next_hour(&mut tx).await.unwrap() {}
        }
        let cycles = history::price_points(&mut tx, &a100, None, START, end, 0).await.unwrap();
        assert_eq!(cycles.len(), 6, "both lengths are kept");
    }
}

#[tokio::test]
async fn t119_t122_a_leap_year_has_8784_hours_each_beginning_on_the_hour_of_utc() {
    for test in fixture::both().await {
        let mut tx = idle_market(&test).await;
        let (year, next_year) =
            ("2028-01-01T00:00:00Z".parse().unwrap(), "2029-01-01T00:00:00Z".parse().unwrap());
        let mut clearing = Clearing::new();
        clearing.clear(&mut tx, year).await.unwrap();
        clearing.clear(&mut tx, next_year).await.unwrap();
        let hours = history::price_points(&mut tx, &"A100".parse().unwrap(), None, year, next_year, 3_600)
            .await
            .unwrap();
        assert_eq!(hours.len(), 8_784, "{}", test.name);
        assert!(hours.iter().all(|point| point.at.to_string().ends_with(":00:00Z")));
        let used = usage::usage(&mut tx, year, next_year, 86_400).await.unwrap();
        assert_eq!(used.iter().map(|row| row.used_chip_seconds).sum::<u64>(), 2 * 8_784 * 3_600);
    }
}

#[tokio::test]
async fn t128_a_paused_bid_still_ends_when_its_window_is_over() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut tx = test.store.write().await.unwrap();
        let mut new = bid("a", "ads", "A100", 2);
        new.terms.not_after = Some(START.plus_seconds(90));
        bids::place(&mut tx, START, new).await.unwrap();
        bids::set_paused(&mut tx, START, &"a".parse().unwrap(), true).await.unwrap();
        let mut clearing = Clearing::new();
        clearing.clear(&mut tx, START).await.unwrap();
        let resumed = bids::set_paused(&mut tx, START, &"a".parse().unwrap(), true).await.unwrap();
        assert_eq!((resumed.state, resumed.version), (BidState::Paused, 2), "pausing again changes nothing");
        clearing.clear(&mut tx, START.plus_seconds(120)).await.unwrap();
        let ended = bids::set_paused(&mut tx, START, &"a".parse().unwrap(), false).await.unwrap_err();
        assert!(ended.message().contains("is expired"), "{}: {ended}", test.name);
    }
}

#[tokio::test]
async fn a_job_with_an_estimate_ends_when_it_is_served_and_pays_for_no_more_than_it_used() {
    for test in fixture::both().await {
        let mut tx = idle_market(&test).await;
        set_reserve(&mut tx, 3).await;
        // 2 chips for 150 s: three cycles of a minute; the clearing after them comes an hour late.
        let mut job = bid("job", "ads", "A100", 2);
        job.terms.work_chip_seconds = Some(300);
        bids::place(&mut tx, START, job).await.unwrap();
        let mut clearing = Clearing::new();
        for minute in [0, 1, 61, 66] {
            clearing.clear(&mut tx, START.plus_seconds(60 * minute)).await.unwrap();
        }
        let used = usage::usage(&mut tx, START, START.plus_seconds(66 * 60), 3_600).await.unwrap();
        let used: u64 = used.iter().map(|row| row.used_chip_seconds).sum();
        assert_eq!(
            used,
            2 * 66 * 60 + 2 * 180,
            "{}: the other bid all the time, the job three minutes",
            test.name
        );
        let again = bids::cancel(&mut tx, START, &"job".parse().unwrap()).await.unwrap_err();
        assert!(again.message().contains("is served"), "{again}");
    }
}

#[tokio::test]
async fn what_exceeds_the_cap_on_balances_lapses_at_an_accounting_step() {
    for test in fixture::both().await {
        create(&test.store).await;
        let mut clearing = Clearing::new();
        // 100 each to begin with; incomes of 80, 30 and 31 an hour; nobody uses anything.
        let mut balances = Vec::new();
        for (minute, balance_cap_hours) in [(0, Some(3)), (60, Some(1)), (61, Some(1)), (120, None)] {
            let mut tx = test.store.write().await.unwrap();
            let settings = Organisation { balance_cap_hours, ..fixture::setup().organisation };
            organisation::change_settings(&mut tx, START, &settings).await.unwrap();
            let cleared = clearing.clear(&mut tx, START.plus_seconds(60 * minute)).await.unwrap();
            tx.commit().await.unwrap();
            let teams = cleared.cleared.snapshot.teams;
            balances.push(teams.iter().map(|team| team.balance).collect::<Vec<_>>());
        }
        let expected = [
            // Three hours of income: 240 of ads are not reached.
            ["100", "90", "93"],
            // One hour, income included.
            ["80", "30", "31"],
            // No step was due: what comes in meanwhile is not booked yet.
            ["80", "30", "31"],
            // Without a cap the income of the hour stays.
            ["160", "60", "62"],
        ];
        let expected = expected.map(|row| row.map(|text| text.parse().unwrap()).to_vec());
        assert_eq!(balances, expected, "{}", test.name);
        let report = verify(&test.store, None, None, |_, _| {}).await.unwrap();
        assert!(report.is_clean(), "{}: {report}", test.name);
        // Mint and income of two steps in each pool, the grants, and what lapsed: twice in research, once in products.
        assert_eq!(report.transfers, 2 * 2 * 2 + 3 + 3, "{}", test.name);

        let mut tx = test.store.write().await.unwrap();
        let settings = Organisation { balance_cap_hours: Some(0), ..fixture::setup().organisation };
        let refused = organisation::change_settings(&mut tx, START, &settings).await.unwrap_err();
        assert!(refused.message().contains("balance_cap_hours"), "{}: {refused}", test.name);
    }
}

#[tokio::test]
async fn a_paused_bid_says_that_it_is_paused_until_it_is_resumed() {
    for test in fixture::both().await {
        let mut tx = idle_market(&test).await;
        let id = "a".parse().unwrap();
        let mut clearing = Clearing::new();
        let mut said = Vec::new();
        for (minute, paused) in [(0, false), (1, true), (2, true), (3, false)] {
            bids::set_paused(&mut tx, START, &id, paused).await.unwrap();
            let cycle = clearing.clear(&mut tx, START.plus_seconds(60 * minute)).await.unwrap().clock.cycle;
            let results = results::bid_results_in(&mut tx, cycle).await.unwrap();
            said.push((results[0].0.reason, results[0].0.chips.0));
        }
        let (filled, paused) = ((Reason::Filled, 2), (Reason::Paused, 0));
        assert_eq!(said, [filled, paused, paused, filled], "{}", test.name);
        tx.commit().await.unwrap();
        assert!(verify(&test.store, None, None, |_, _| {}).await.unwrap().is_clean(), "{}", test.name);
    }
}
