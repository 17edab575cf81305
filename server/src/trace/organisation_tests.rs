use super::*;
use std::sync::LazyLock;

static PHILLY: LazyLock<Trace> = LazyLock::new(|| philly::load().0);

#[test]
fn largest_remainder_gives_out_exactly_the_total() {
    assert_eq!(largest_remainder(10, &[1, 1, 1]), [4, 3, 3]);
    assert_eq!(largest_remainder(7, &[0, 5, 2]), [0, 5, 2]);
    assert_eq!(largest_remainder(7, &[0, 0]), [0, 0]);
    assert_eq!(largest_remainder(1, &[1, 2, 1]).iter().sum::<u64>(), 1);
}

#[test]
fn supply_weights_and_incomes_add_up() {
    let organisation = Organisation::of(&PHILLY, 640);
    let supply: u64 = organisation.chip_types.iter().map(|plan| organisation.supply(&plan.id)).sum();
    assert_eq!(supply, 640);
    let owned: u64 = organisation.pools.iter().flat_map(|pool| &pool.owned).map(|owned| owned.chips.0).sum();
    assert!((380..=384).contains(&owned), "{owned}");
    assert!(organisation.chip_types.iter().all(|plan| plan.shared.0 > 0));
    // One global credit per chip and hour.
    let weights: i64 = organisation.pools.iter().map(|pool| pool.weight.0).sum();
    assert_eq!(weights, 640 * MICROS_PER_CREDIT);
    for (pool, (plan, percent)) in organisation.pools.iter().zip(MINT_PERCENT).enumerate() {
        let aimed = u128::from(plan.weight.0.unsigned_abs()) * u128::from(percent) / 100;
        let minted = organisation.minted(pool);
        assert!(minted.abs_diff(aimed) * 20 < aimed, "pool {pool} mints {minted}, aimed at {aimed}");
    }
}

#[test]
fn every_cluster_is_a_team_of_a_balanced_pool() {
    let organisation = Organisation::of(&PHILLY, 640);
    assert_eq!(organisation.teams.len(), PHILLY.clusters.len());
    assert_eq!(organisation.pools.len(), 4);
    for pool in &organisation.pools {
        let percent = pool.weight.0 * 100 / (640 * MICROS_PER_CREDIT);
        assert!((20..=30).contains(&percent), "{} has {percent} %", pool.id);
    }
    let whole: u64 = (0..organisation.teams.len()).map(|team| organisation.global_income(team)).sum();
    assert!(whole.abs_diff(640_000_000) < 100, "{whole}");
}

#[test]
fn every_job_has_a_bid_that_can_be_served() {
    let organisation = Organisation::of(&PHILLY, 640);
    let (mut work, mut unlimited, mut elastic) = (0, 0_usize, 0);
    for job in &PHILLY.jobs {
        let bid = organisation.bid(job);
        assert_eq!(bid.team, usize::from(job.cluster));
        work += bid.chip_seconds;
        unlimited += usize::from(bid.limit.is_none());
        assert!(!bid.alternatives.is_empty());
        for alternative in &bid.alternatives {
            assert_eq!(alternative.chips.0, u64::from(job.chips));
            assert!(organisation.supply(&alternative.chip_type) >= 2 * alternative.chips.0, "{bid:?}");
            assert!(alternative.min_chips <= alternative.chips && alternative.min_chips.0 > 0);
        }
        elastic += usize::from(bid.alternatives[0].min_chips < bid.alternatives[0].chips);
    }
    assert_eq!(work, PHILLY.jobs.iter().map(Job::chip_seconds).sum::<u64>());
    let quarter = PHILLY.jobs.len() / 4;
    assert!(unlimited.abs_diff(quarter) < 500, "{unlimited}");
    assert!(elastic > 500, "{elastic}");
}

#[test]
fn draws_depend_on_the_trace_and_the_job_alone() {
    let job = &PHILLY.jobs[1_000];
    let other = Organisation::of(&Trace { name: "other".into(), ..PHILLY.clone() }, 640);
    let organisation = Organisation::of(&PHILLY, 640);
    assert_eq!(organisation.bid(job), Organisation::of(&PHILLY, 640).bid(job));
    let differs = |job: &Job| organisation.bid(job) != other.bid(job);
    assert!(PHILLY.jobs[..100].iter().any(differs));
}

#[test]
fn a_trace_of_one_cluster_makes_one_pool() {
    let job = Job { line: 2, cluster: 0, chips: 1, seconds: 60, submitted_at: common::instant::Instant(0) };
    let trace = Trace { name: "small".into(), clusters: vec!["only".into()], jobs: vec![job] };
    let organisation = Organisation::of(&trace, 16);
    assert_eq!((organisation.pools.len(), organisation.teams.len()), (1, 1));
    assert_eq!(organisation.pools[0].weight, MicroCredits(16 * MICROS_PER_CREDIT));
    assert!(organisation.data_note().contains("imported trace \"small\""));
}

#[test]
fn the_supply_fits_the_busiest_weeks() {
    assert_eq!(fitting_chips(&PHILLY), 640);
    // 25 chips on average over the only day.
    let job =
        Job { line: 2, cluster: 0, chips: 50, seconds: 43_200, submitted_at: common::instant::Instant(0) };
    let trace = Trace { name: "small".into(), clusters: vec!["only".into()], jobs: vec![job] };
    assert_eq!(fitting_chips(&trace), 40);
}
