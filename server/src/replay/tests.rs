use super::*;
use std::sync::LazyLock;

use clap::Parser;
use common::money::MicroCredits;

static PHILLY: LazyLock<Trace> = LazyLock::new(|| crate::trace::philly::load().0);

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ReplayArgs,
}

fn args(line: &str) -> Result<ReplayArgs, clap::Error> {
    Command::try_parse_from(std::iter::once("replay").chain(line.split_whitespace()))
        .map(|command| command.args)
}

fn run(line: &str) -> Report {
    replay(&PHILLY, &args(line).unwrap(), |_| ()).unwrap()
}

#[test]
fn a_week_replays_alike_to_the_last_byte() {
    let line = "--from 2017-10-02 --to 2017-10-09 --cycle 10m";
    let (one, two) = (run(line), run(line));
    assert_eq!(one.json(), two.json());
    assert_eq!(one.to_string(), two.to_string());
    assert_eq!(one.cycles, 7 * 24 * 6);
    assert!(one.market.service.completed > 9_000, "{one}");
}

#[test]
fn chips_jobs_and_money_add_up() {
    let report = run("--from 2017-10-09 --to 2017-10-09T08:00:00Z --chips 200");
    assert_eq!(report.cycles, 480);
    let market = &report.market;
    let whole = report.chips * u64::from(report.cycles);
    let used = market.paid.total() + market.opportunistic.total();
    assert!(used > 0 && used <= whole, "{used} of {whole}");
    for figures in &market.chip_types {
        assert!(
            figures.paid + figures.opportunistic <= figures.supply * u64::from(report.cycles),
            "{figures:?}"
        );
    }
    let by_type =
        |of: fn(&market_figures::ChipTypeFigures) -> u64| market.chip_types.iter().map(of).sum::<u64>();
    assert_eq!(by_type(|figures| figures.paid), market.paid.total());
    assert_eq!(by_type(|figures| figures.opportunistic), market.opportunistic.total());

    let submitted = PHILLY.submitted_between(report.from, report.to).len() as u64;
    for service in
        std::iter::once(&market.service).chain(report.static_pools.iter().map(|pools| &pools.service))
    {
        assert_eq!(service.submitted, submitted);
        assert_eq!(service.completed + service.still_running + service.still_waiting, submitted);
    }

    // Scarce chips were paid for, and each account holds what came in less what went out.
    assert!(market.teams.iter().any(|team| team.charges > MicroCredits::ZERO), "{report}");
    let organisation = Organisation::of(&PHILLY, 200);
    for (team, plan) in market.teams.iter().zip(&organisation.teams) {
        assert_eq!(team.income.checked_sub(team.charges), Some(team.balance));
        assert_eq!(team.income.0, plan.income.0 * 8, "eight hours of income, to the micro-credit");
    }
    // In global credits, what all paid is what the average price says.
    let paid_cycles = u128::from(market.paid.total());
    let by_price = u128::from(market.mean_price_paid.0) * paid_cycles / 60;
    let spent: u128 = market
        .teams
        .iter()
        .zip(0..)
        .map(|(team, nth)| {
            let weight = u128::from(organisation.global_income(nth));
            u128::from(team.charges.0.unsigned_abs()) * weight
                / u128::from(organisation.teams[nth].income.0.unsigned_abs())
        })
        .sum();
    // Local prices are rounded up to a tick, incomes are not exact shares: within a thousandth.
    assert!(spent.abs_diff(by_price) * 1_000 < by_price, "{spent} and {by_price}");
}

#[test]
fn unbooked_minutes_at_the_end_are_booked() {
    // 7 cycles of a minute: a step of five and a rest of two.
    let report = run("--from 2017-10-09 --to 2017-10-09T00:07:00Z");
    let organisation = Organisation::of(&PHILLY, report.chips);
    for (team, plan) in report.market.teams.iter().zip(&organisation.teams) {
        assert_eq!(team.income.0, plan.income.0 * 7 / 60);
    }
}

#[test]
fn arguments_are_checked_in_words() {
    assert_eq!(args("--cycle 10m").unwrap().cycle, 600);
    assert_eq!(args("--cycle 90").unwrap().cycle, 90);
    for (line, words) in [
        ("--cycle 2h", "is 7200 seconds; a cycle lasts 1 second to 1 hour"),
        ("--cycle 0s", "is 0 seconds"),
        ("--cycle soon", "is not a duration"),
        ("--from yesterday", "is not a time; write it like 2017-10-01"),
        ("--chips 3", "20..=1000000"),
        ("--speed 3", "unexpected argument"),
    ] {
        let error = args(line).unwrap_err().to_string();
        assert!(error.contains(words), "{line}: {error}");
    }
    let backwards = args("--from 2017-10-02 --to 2017-10-01").unwrap();
    let error = replay(&PHILLY, &backwards, |_| ()).unwrap_err();
    assert!(error.to_string().contains("the trace goes from 2017-09-04T10:30:41Z"), "{error}");
}
