//! Time in charts and exports: steps in UTC, whole days with 23 or 25 hours, leap years, cycles of mixed length.

use common::api::PricePoint;
use common::instant::Instant;
use common::money::Price;
use server::cycle::Clearing;
use server::services::{bids, organisation};
use server::store::entities::Organisation;
use server::store::{Store, history};

use crate::fixture::{self, START, bid, create, setup};

fn at(text: &str) -> Instant {
    text.parse().expect("an instant")
}

/// A market with a price that stands still from the first instant on; the last cycle begins at the last instant.
async fn standing(store: &Store, instants: &[Instant]) {
    create(store).await;
    let mut tx = store.write().await.expect("a transaction");
    let new = vec![bid("a", "speech", "H100", 6), bid("b", "ads", "H100", 6)];
    bids::place_many(&mut tx, START, new).await.expect("placed");
    let mut clearing = Clearing::new();
    for instant in instants {
        clearing.clear(&mut tx, *instant).await.expect("cleared");
    }
    tx.commit().await.expect("a commit");
}

async fn hours(store: &Store, from: Instant, to: Instant) -> Vec<PricePoint> {
    let mut tx = store.read().await.expect("a transaction");
    let id = "H100".parse().expect("an id");
    history::price_points(&mut tx, &id, None, from, to, 3_600).await.expect("points")
}

/// The local hour and its offset from UTC in Berlin.
fn in_berlin(at: Instant) -> (i8, i32) {
    let berlin = jiff::tz::TimeZone::get("Europe/Berlin").expect("a zone");
    let zoned = jiff::Timestamp::from_microsecond(at.0).expect("a time").to_zoned_datetime(berlin);
    (zoned.hour(), zoned.offset().seconds() / 3_600)
}

#[tokio::test]
async fn t116_the_day_that_ends_summer_time_has_25_hours_and_none_is_lost() {
    let test = fixture::sqlite().await;
    // From midnight to midnight in Berlin.
    let (from, to) = (at("2026-10-25T00:00:00+02:00"), at("2026-10-26T00:00:00+01:00"));
    standing(&test.store, &[from, to]).await;
    let points = hours(&test.store, from, to).await;
    assert_eq!(points.len(), 25);
    let twice: Vec<(i8, i32)> =
        points.iter().map(|point| in_berlin(point.at)).filter(|(hour, _)| *hour == 2).collect();
    assert_eq!(twice, [(2, 2), (2, 1)], "02:00 comes twice, told apart by its offset");
    assert!(points.windows(2).all(|pair| pair[0].at.plus_seconds(3_600) == pair[1].at));
}

#[tokio::test]
async fn t118_the_day_that_begins_summer_time_has_23_hours() {
    let test = fixture::sqlite().await;
    let (from, to) = (at("2026-03-29T00:00:00+01:00"), at("2026-03-30T00:00:00+02:00"));
    standing(&test.store, &[from, to]).await;
    let points = hours(&test.store, from, to).await;
    assert_eq!(points.len(), 23);
    assert!(points.iter().all(|point| in_berlin(point.at).0 != 2), "02:00 does not exist");
}

#[tokio::test]
async fn t119_a_leap_year_has_8784_hours() {
    let test = fixture::sqlite().await;
    let (from, to) = (at("2028-01-01T00:00:00Z"), at("2029-01-01T00:00:00Z"));
    standing(&test.store, &[from, to]).await;
    let points = hours(&test.store, from, to).await;
    assert_eq!(points.len(), 8_784);
    assert!(points.iter().all(|point| point.reference_price == points[0].reference_price));
}

#[tokio::test]
async fn t121_cycles_of_mixed_length_are_both_kept_and_weighted_by_time() {
    let test = fixture::sqlite().await;
    create(&test.store).await;
    let mut tx = test.store.write().await.unwrap();
    let mut new = vec![bid("a", "speech", "H100", 6), bid("b", "ads", "H100", 6)];
    new[1].terms.not_before = Some(at("2026-12-01T00:45:00Z"));
    bids::place_many(&mut tx, START, new).await.unwrap();
    let mut clearing = Clearing::new();
    // A cycle of 45 minutes in which one bid finds room, then three of five minutes with two that compete.
    clearing.clear(&mut tx, at("2026-12-01T00:00:00Z")).await.unwrap();
    let shorter = Organisation { cycle_seconds: 300, ..setup().organisation };
    organisation::change_settings(&mut tx, START, &shorter).await.unwrap();
    for minute in [45, 50, 55] {
        clearing.clear(&mut tx, at(&format!("2026-12-01T00:{minute}:00Z"))).await.unwrap();
    }
    tx.commit().await.unwrap();

    let (from, to) = (at("2026-12-01T00:00:00Z"), at("2026-12-01T01:00:00Z"));
    let mut tx = test.store.read().await.unwrap();
    let id = "H100".parse().unwrap();
    let cycles = history::price_points(&mut tx, &id, None, from, to, 0).await.unwrap();
    drop(tx);
    let starts: Vec<String> = cycles.iter().map(|point| point.at.to_string()).collect();
    assert_eq!(
        starts,
        ["2026-12-01T00:00:00Z", "2026-12-01T00:45:00Z", "2026-12-01T00:50:00Z", "2026-12-01T00:55:00Z"]
    );
    let prices: Vec<u64> = cycles.iter().map(|point| point.reference_price.unwrap().0).collect();
    assert!(prices[0] == 0 && prices[1] > 0, "{prices:?}");
    let weighted = (prices[0] * 2_700 + (prices[1] + prices[2] + prices[3]) * 300 + 1_800) / 3_600;
    let hour = hours(&test.store, from, to).await;
    assert_eq!(hour.len(), 1);
    assert_eq!(hour[0].reference_price, Some(Price(weighted)));
    assert_ne!(weighted, prices.iter().sum::<u64>() / 4, "not each cycle alike");
}

#[tokio::test]
async fn t122_steps_begin_at_the_same_instants_for_every_viewer() {
    let test = fixture::sqlite().await;
    let (from, to) = (at("2026-12-01T10:20:30Z"), at("2026-12-01T14:00:00Z"));
    standing(&test.store, &[from, to]).await;
    let points = hours(&test.store, from, to).await;
    let starts: Vec<String> = points.iter().map(|point| point.at.to_string()).collect();
    assert_eq!(
        starts,
        ["2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z", "2026-12-01T12:00:00Z", "2026-12-01T13:00:00Z"]
    );
}
