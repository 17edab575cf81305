//! The traces that the lab knows by name, as rounds or as jobs.

use common::api::{LabRequest, LabValues};
use policies::jobs::{Job, JobTrace};
use policies::synthetic::{self, Plan};
use policies::trace::{Demand, Hold, Trace, held_per_round, normalised, rounds_of};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::AppError;
use crate::trace::philly;

/// The traces of the program, with what each is in a few words.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("philly", "Philly, hours: 60 days of 11 virtual clusters, demand as it was"),
    ("philly-normalised", "Philly, hours: the same with each cluster scaled to a mean demand of 100 chips"),
    ("philly-jobs", "Philly, jobs: two weeks of jobs that wait until they are served"),
    ("chronus", "Chronus, jobs: two weeks of jobs, two in three with a deadline"),
    ("synthetic", "Synthetic: bursts and heavy-tailed values by the seed"),
];

/// Of the organisation's own market; needs the database.
pub const HISTORY: &str = "history";

const HOUR: u64 = 3_600;

/// Hours of the Philly comparison, from 2017-10-01 on: 60 days.
const PHILLY_HOURS: usize = 1_440;

/// Micros of 2017-10-01T00:00:00Z.
const PHILLY_FROM: i64 = 1_506_816_000_000_000;

/// Virtual clusters with less work than so many chip-hours over the whole trace are left out: four of 15.
const LEAST_CHIP_HOURS: u64 = 1_000;

/// Fair share of a cluster in the comparison on raw demand, and on normalised demand, in chips.
const RAW_SHARE: u64 = 30;
const NORMALISED_SHARE: u64 = 100;

/// Seconds of a round where jobs wait.
const JOB_ROUND: u64 = 600;

/// Rounds in which jobs arrive where they wait: two weeks.
const JOB_ROUNDS: usize = 2_016;

/// Rounds after those, in which what arrived late can still be served: a day.
const LAST_ROUNDS: usize = 144;

const UNIFORM: &str = "None in the trace: every chip-hour is worth 1 credit";

static CHRONUS: &[u8] = include_bytes!("../../../data/chronus/trace_job_Philly_MIX1.csv.zst");

/// The built-in trace that a request names.
///
/// # Errors
/// `NotFound`: there is none of that name. `Internal`: the file built into the program is damaged.
pub fn built_in(request: &LabRequest) -> Result<Trace, AppError> {
    let trace = match request.trace.as_str() {
        "philly" => philly_hours(request, false),
        "philly-normalised" => philly_hours(request, true),
        "philly-jobs" => philly_jobs(request),
        "chronus" => chronus(request)?,
        "synthetic" => synthetic::trace(Plan { agents: 10, chip_types: 1, rounds: 336, seed: request.seed }),
        other => return Err(AppError::not_found("trace", format!("{other:?}"))),
    };
    Ok(shortened(trace, request))
}

/// The trace with the rounds and the supply that a request asks for.
#[must_use]
pub fn shortened(mut trace: Trace, request: &LabRequest) -> Trace {
    let most = if request.rounds == 0 { usize::MAX } else { request.rounds as usize };
    match &mut trace.demand {
        Demand::Fixed(rounds) => {
            rounds.truncate(most);
            if let Some(chips) = request.supply {
                rounds.iter_mut().for_each(|round| round.supply.fill(chips));
            }
        }
        Demand::Jobs(jobs) => {
            jobs.rounds = jobs.rounds.min(most);
            let rounds = jobs.rounds;
            jobs.jobs.retain(|job| job.arrives < rounds);
            if let Some(chips) = request.supply {
                jobs.supply.fill(chips);
            }
        }
    }
    trace
}

/// What a chip-hour is worth, by round and team, in credits.
pub type Worth = Box<dyn FnMut(usize, usize) -> f64 + Send>;

/// What a chip-hour is worth to a team in a round, and where that comes from.
pub fn values(request: &LabRequest) -> (Worth, String) {
    match request.values {
        LabValues::Uniform => (Box::new(|_, _| 1.0), UNIFORM.to_owned()),
        LabValues::HeavyTailed => {
            let mut random = ChaCha8Rng::seed_from_u64(request.seed);
            let said = format!(
                "None in the trace: drawn for each team and round, Pareto-distributed with tail 2 and mean 1, seed {}",
                request.seed
            );
            (Box::new(move |_, _| synthetic::pareto(&mut random)), said)
        }
    }
}

/// The clusters of Philly that count, and all jobs of theirs on the grid of the comparison.
fn philly_holds() -> (Vec<String>, Vec<Hold>) {
    let (trace, _) = philly::load();
    let mut work = vec![0_u64; trace.clusters.len()];
    for job in &trace.jobs {
        work[usize::from(job.cluster)] += job.chip_seconds();
    }
    let kept: Vec<usize> =
        (0..work.len()).filter(|cluster| work[*cluster] >= LEAST_CHIP_HOURS * HOUR).collect();
    let holds = trace.jobs.iter().filter_map(|job| {
        let agent = kept.iter().position(|cluster| *cluster == usize::from(job.cluster))?;
        Some(Hold {
            agent,
            from: (job.submitted_at.0 - PHILLY_FROM).div_euclid(1_000_000),
            seconds: u64::from(job.seconds),
            chips: u64::from(job.chips),
        })
    });
    let holds = holds.collect();
    (kept.into_iter().map(|cluster| trace.clusters[cluster].clone()).collect(), holds)
}

fn philly_hours(request: &LabRequest, scaled: bool) -> Trace {
    let (agents, holds) = philly_holds();
    let mut demand = held_per_round(&holds, agents.len(), PHILLY_HOURS, HOUR);
    let mut share = RAW_SHARE;
    if scaled {
        demand = normalised(&demand, NORMALISED_SHARE);
        share = NORMALISED_SHARE;
    }
    let (value, value_source) = values(request);
    let rounds = rounds_of(&demand, share * agents.len() as u64, 1.0, value);
    Trace {
        name: request.trace.clone(),
        source: format!(
            "{}. Hours from 2017-10-01, each job holding its chips from its submission on{}",
            philly::ATTRIBUTION,
            if scaled { "; each cluster scaled to a mean demand of 100 chips" } else { "" }
        ),
        value_source,
        agents,
        chip_types: vec!["GPU".to_owned()],
        demand: Demand::Fixed(rounds),
    }
}

/// Chips that let a trace of jobs be served on average: what they would hold if none had to wait.
fn fitting(jobs: &[Job], rounds: usize) -> u64 {
    let work: u64 = jobs.iter().map(Job::chip_rounds).sum();
    let largest = jobs.iter().map(|job| job.chips).max().unwrap_or(1);
    (work / rounds.max(1) as u64).max(largest)
}

fn philly_jobs(request: &LabRequest) -> Trace {
    let (agents, mut holds) = philly_holds();
    let length = JOB_ROUND as i64;
    holds.retain(|hold| hold.from >= 0 && hold.from < length * JOB_ROUNDS as i64);
    holds.sort_by_key(|hold| hold.from);
    let (mut value, value_source) = values(request);
    let job = |hold: &Hold| {
        let rounds = hold.seconds.div_ceil(JOB_ROUND).max(1);
        let arrives = usize::try_from(hold.from / length + 1).unwrap_or(0);
        let hours = (hold.chips * rounds) as f64 * JOB_ROUND as f64 / HOUR as f64;
        let (agent, chips) = (hold.agent, hold.chips);
        Job {
            agent,
            chip_type: 0,
            arrives,
            chips,
            rounds,
            deadline: None,
            value: value(arrives, agent) * hours,
        }
    };
    let jobs: Vec<Job> = holds.iter().map(job).collect();
    Trace {
        name: request.trace.clone(),
        source: format!(
            "{}. Jobs submitted in the two weeks from 2017-10-01, in rounds of ten minutes; they wait until they are \
             served",
            philly::ATTRIBUTION
        ),
        value_source,
        demand: Demand::Jobs(job_trace(jobs, agents.len())),
        agents,
        chip_types: vec!["GPU".to_owned()],
    }
}

fn job_trace(jobs: Vec<Job>, agents: usize) -> JobTrace {
    JobTrace {
        supply: vec![fitting(&jobs, JOB_ROUNDS)],
        weights: vec![1.0; agents],
        hours: JOB_ROUND as f64 / HOUR as f64,
        rounds: JOB_ROUNDS + LAST_ROUNDS,
        jobs,
    }
}

/// A line of the Chronus trace; its times are minutes.
#[derive(Debug, serde::Deserialize)]
struct ChronusLine {
    user: String,
    num_gpu: u64,
    submit_time: u64,
    duration: u64,
    expect_time_list: u64,
    expect_value_list: f64,
    best_effort: u8,
}

fn chronus(request: &LabRequest) -> Result<Trace, AppError> {
    const MINUTES: u64 = JOB_ROUND / 60;
    let text = zstd::decode_all(CHRONUS).map_err(AppError::internal)?;
    let mut lines = Vec::new();
    for line in csv::Reader::from_reader(text.as_slice()).deserialize() {
        let line: ChronusLine = line.map_err(AppError::internal)?;
        lines.push(line);
    }
    let mut agents: Vec<String> = lines.iter().map(|line| line.user.clone()).collect();
    agents.sort();
    agents.dedup();
    let all = lines.len();
    // A job on no chip can't be placed.
    lines.retain(|line| line.num_gpu > 0);
    lines.sort_by_key(|line| line.submit_time);
    let job = |line: &ChronusLine| Job {
        agent: agents.iter().position(|agent| *agent == line.user).unwrap_or(0),
        chip_type: 0,
        arrives: line.submit_time.div_ceil(MINUTES) as usize,
        chips: line.num_gpu,
        rounds: line.duration.div_ceil(MINUTES).max(1),
        // Its time is counted from the submission.
        deadline: (line.best_effort == 0)
            .then_some(((line.submit_time + line.expect_time_list) / MINUTES) as usize),
        value: line.expect_value_list,
    };
    let jobs: Vec<Job> = lines.iter().map(job).collect();
    Ok(Trace {
        name: request.trace.clone(),
        source: format!(
            "Chronus trace Philly_MIX1 (Gao et al., SoCC 2021, MIT licence), in rounds of ten minutes; {} of {all} jobs \
             ask for no GPU and are left out. Its teams are re-sampled and its deadlines follow the shape of a survey: \
             real shapes, synthetic for each job",
            all - lines.len()
        ),
        value_source: "The trace: 10 credits for each job that ends, in time where it has a deadline"
            .to_owned(),
        demand: Demand::Jobs(job_trace(jobs, agents.len())),
        agents,
        chip_types: vec!["GPU".to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(trace: &str) -> LabRequest {
        LabRequest {
            trace: trace.to_owned(),
            policies: Vec::new(),
            seed: 1,
            values: LabValues::Uniform,
            supply: None,
            regret_rounds: 0,
            rounds: 0,
        }
    }

    #[test]
    fn the_hours_of_philly_are_those_that_others_compared_on() {
        let trace = built_in(&request("philly")).unwrap();
        assert_eq!(trace.size().rounds, PHILLY_HOURS);
        assert_eq!(trace.agents.len(), 11);
        let Demand::Fixed(rounds) = &trace.demand else { unreachable!("hours are rounds") };
        let first: Vec<u64> = rounds[0].agents.iter().map(|agent| agent.demand[0]).collect();
        assert_eq!(first, [12, 19, 7, 48, 43, 46, 176, 212, 10, 1, 142]);
        let all: u64 = rounds.iter().flat_map(|round| &round.agents).map(|agent| agent.demand[0]).sum();
        assert_eq!((all, rounds[0].supply[0]), (733_195, 330));
    }

    #[test]
    fn chronus_is_whole_and_says_what_it_leaves_out() {
        let trace = built_in(&request("chronus")).unwrap();
        let Demand::Jobs(jobs) = &trace.demand else { unreachable!("Chronus tells jobs") };
        assert_eq!((jobs.jobs.len(), trace.agents.len()), (30_940 - 184, 11));
        assert!(trace.source.contains("184 of 30940 jobs ask for no GPU"), "{}", trace.source);
        let in_time = jobs.jobs.iter().filter(|job| job.deadline.is_some()).count();
        assert!((20_000..22_000).contains(&in_time), "{in_time}");
        let can = jobs
            .jobs
            .iter()
            .filter(|job| job.deadline.is_none_or(|end| job.arrives as u64 + job.rounds <= end as u64));
        assert!(
            can.count() * 100 > jobs.jobs.len() * 95,
            "rounds of ten minutes leave most deadlines reachable"
        );
    }

    #[test]
    fn a_request_shortens_a_trace_and_sets_its_supply() {
        let few = LabRequest { rounds: 24, supply: Some(7), ..request("philly-jobs") };
        let trace = built_in(&few).unwrap();
        let Demand::Jobs(jobs) = &trace.demand else { unreachable!("jobs") };
        assert_eq!((jobs.rounds, jobs.supply.as_slice()), (24, [7].as_slice()));
        assert!(jobs.jobs.iter().all(|job| job.arrives < 24));
        assert!(built_in(&request("nowhere")).is_err());
    }
}
