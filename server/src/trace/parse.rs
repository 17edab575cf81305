//! The reader of trace files: strict, because a wrong line would silently become wrong demand.
//!
//! A file is UTF-8 text, one job a line under a header, five columns in any order: `timestamp` (`YYYY-MM-DD
//! HH:MM:SS`), `duration` (seconds), `num_gpus`, `gpu_time` (seconds × GPUs), `cluster`. No quotes are needed and none
//! are understood. A trace is taken whole or not at all; every refused line is named with its number and reason.

use std::collections::BTreeMap;
use std::fmt;

use common::instant::Instant;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Job, Trace};

/// Largest file, in bytes (about a million and a half jobs).
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// Longest duration of a job, in seconds (366 days): beyond it a column was probably mistaken for another.
pub const MAX_JOB_SECONDS: u32 = 366 * 86_400;
/// Most GPUs of one job.
pub const MAX_JOB_CHIPS: u32 = 65_536;
/// Most clusters.
pub const MAX_CLUSTERS: usize = 1_000;
/// Faults that an error shows; it counts the rest.
pub const FAULTS_SHOWN: usize = 10;

const COLUMNS: [&str; 5] = ["timestamp", "duration", "num_gpus", "gpu_time", "cluster"];

/// What to do with a line that lacks its cluster or its GPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Incomplete {
    /// Refuse the file: whose demand it was cannot be known, and dropping it must be a decision.
    #[default]
    Refuse,
    /// Leave the line out and say so in the [`Report`].
    Skip,
}

/// What a line has wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number in the file, from 1.
    pub line: u32,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// Why a file is not a trace. Nothing of it is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// Too large to be meant.
    #[error("the file has {0} bytes; the most is {MAX_FILE_BYTES}")]
    TooLarge(usize),
    /// The header is not the five columns.
    #[error("line 1: {0}")]
    Header(String),
    /// Lines at fault, the first [`FAULTS_SHOWN`] of them.
    #[error("{}", faults_in_words(.shown, *.total))]
    Lines {
        /// The first faults.
        shown: Vec<Fault>,
        /// How many there are.
        total: usize,
    },
    /// No jobs.
    #[error("there is no job in the file: it has a header and nothing under it")]
    Empty,
}

fn faults_in_words(shown: &[Fault], total: usize) -> String {
    let mut text: Vec<String> = shown.iter().map(ToString::to_string).collect();
    if total > shown.len() {
        text.push(format!("and {} more lines at fault", total - shown.len()));
    }
    text.push("nothing was imported".into());
    text.join("\n")
}

/// What a reader should know about a trace that was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Jobs taken.
    pub jobs: usize,
    /// Lines without any text; they hold no job.
    pub empty_lines: Vec<u32>,
    /// Lines left out because they lack a cluster or a GPU time, with what they lack.
    pub skipped: Vec<Fault>,
    /// Jobs that equal an earlier job in every column. They are kept: submitting a job twice is ordinary.
    pub repeated: usize,
    /// Jobs on a line before one that was submitted earlier; they are sorted by time.
    pub out_of_order: usize,
}

/// Reads a trace called `name`. `progress` is told how many bytes are done.
///
/// # Errors
/// [`TraceError`], naming each line at fault.
pub fn read(
    name: &str,
    bytes: &[u8],
    incomplete: Incomplete,
    mut progress: impl FnMut(u64),
) -> Result<(Trace, Report), TraceError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(TraceError::TooLarge(bytes.len()));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let columns = Columns::from_header(lines.next().unwrap_or_default())?;

    let mut reading = Reading { columns, incomplete, ..Reading::default() };
    let mut done = 0;
    for (number, line) in (2_u32..).zip(lines) {
        reading.line(number, line);
        done += line.len() as u64 + 1;
        if number % 4_096 == 0 {
            progress(done);
        }
    }
    // What follows the last line feed is no line.
    if bytes.ends_with(b"\n") {
        reading.report.empty_lines.pop();
    }
    progress(bytes.len() as u64);
    reading.finish(name)
}

/// Where each column stands in a line.
#[derive(Clone, Copy, Debug, Default)]
struct Columns([usize; COLUMNS.len()]);

impl Columns {
    fn from_header(line: &[u8]) -> Result<Self, TraceError> {
        let text = std::str::from_utf8(line).map_err(|_| TraceError::Header("is not UTF-8 text".into()))?;
        let expected = COLUMNS.join(",");
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(name)) {
            let reason = format!("unknown column {unknown:?}; the header must be {expected}");
            return Err(TraceError::Header(reason));
        }
        let mut places = [0; COLUMNS.len()];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            let mut found = names.iter().enumerate().filter(|(_, name)| **name == column).map(|(at, _)| at);
            *place = found.next().ok_or_else(|| {
                TraceError::Header(format!("column {column:?} is missing; the header must be {expected}"))
            })?;
            if found.next().is_some() {
                return Err(TraceError::Header(format!("column {column:?} stands twice")));
            }
        }
        Ok(Self(places))
    }
}

/// A job whose cluster has not been numbered yet, or why the line is none.
enum Line<'a> {
    Job { job: Job, cluster: &'a str },
    Lacks(String),
    Fault(String),
}

#[derive(Default)]
struct Reading<'a> {
    columns: Columns,
    incomplete: Incomplete,
    jobs: Vec<Job>,
    clusters: BTreeMap<&'a str, u16>,
    faults: Vec<Fault>,
    faults_total: usize,
    report: Report,
}

impl<'a> Reading<'a> {
    fn line(&mut self, number: u32, line: &'a [u8]) {
        if line.trim_ascii().is_empty() {
            self.report.empty_lines.push(number);
            return;
        }
        let read = match std::str::from_utf8(line) {
            Ok(text) => parse_line(self.columns, number, text).unwrap_or_else(Line::Fault),
            Err(_) => Line::Fault("is not UTF-8 text".into()),
        };
        match read {
            Line::Job { mut job, cluster } => {
                let next = u16::try_from(self.clusters.len()).unwrap_or(u16::MAX);
                job.cluster = *self.clusters.entry(cluster).or_insert(next);
                if self.clusters.len() > MAX_CLUSTERS {
                    self.fault(
                        number,
                        format!("cluster {cluster:?} is one more than the {MAX_CLUSTERS} a trace may have"),
                    );
                    self.clusters.remove(cluster);
                }
                self.jobs.push(job);
            }
            Line::Lacks(reason) if self.incomplete == Incomplete::Skip => {
                self.report.skipped.push(Fault { line: number, reason });
            }
            Line::Lacks(reason) => {
                self.fault(
                    number,
                    format!("{reason}; to leave such lines out, ask for it with --skip-incomplete"),
                );
            }
            Line::Fault(reason) => self.fault(number, reason),
        }
    }

    fn fault(&mut self, line: u32, reason: String) {
        self.faults_total += 1;
        if self.faults.len() < FAULTS_SHOWN {
            self.faults.push(Fault { line, reason });
        }
    }

    fn finish(mut self, name: &str) -> Result<(Trace, Report), TraceError> {
        if self.faults_total > 0 {
            return Err(TraceError::Lines { shown: self.faults, total: self.faults_total });
        }
        if self.jobs.is_empty() {
            return Err(TraceError::Empty);
        }
        // Clusters were numbered as they came; number them in order of their names.
        let mut renumbered = vec![0_u16; self.clusters.len()];
        for (new, old) in (0_u16..).zip(self.clusters.values()) {
            renumbered[usize::from(*old)] = new;
        }
        for job in &mut self.jobs {
            job.cluster = renumbered[usize::from(job.cluster)];
        }
        self.report.out_of_order =
            self.jobs.windows(2).filter(|pair| pair[1].submitted_at < pair[0].submitted_at).count();
        self.jobs.sort_by_key(|job| (job.submitted_at, job.line));
        self.report.repeated = repeated(&self.jobs);
        self.report.jobs = self.jobs.len();
        let clusters = self.clusters.into_keys().map(str::to_owned).collect();
        Ok((Trace { name: name.to_owned(), clusters, jobs: self.jobs }, self.report))
    }
}

/// Jobs that equal an earlier one in every column.
fn repeated(jobs: &[Job]) -> usize {
    let mut contents: Vec<_> =
        jobs.iter().map(|job| (job.submitted_at, job.cluster, job.chips, job.seconds)).collect();
    contents.sort_unstable();
    contents.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

fn parse_line(columns: Columns, number: u32, text: &str) -> Result<Line<'_>, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != COLUMNS.len() {
        return Err(format!("has {} columns; the header names {}", fields.len(), COLUMNS.len()));
    }
    let [timestamp, duration, num_gpus, gpu_time, cluster] = columns.0.map(|at| fields[at]);
    let submitted_at = parse_timestamp(timestamp)?;
    let duration = parse_seconds("duration", duration)?;
    let chips = parse_chips(num_gpus)?;
    for (name, value) in [("cluster", cluster), ("gpu_time", gpu_time)] {
        if value.is_empty() {
            return Ok(Line::Lacks(format!("{name} is missing")));
        }
    }
    check_cluster(cluster)?;
    let seconds = whole_seconds(duration)?;
    let gpu_time = parse_seconds("gpu_time", gpu_time)?;
    let product = duration * u128::from(chips);
    // Both may have been rounded to whole seconds.
    if gpu_time.abs_diff(product) > u128::from(chips) * SECOND {
        return Err(format!(
            "gpu_time is {} s but duration × num_gpus is {} s; one of the three is wrong",
            gpu_time / SECOND,
            product / SECOND
        ));
    }
    // The cluster is numbered by the caller, who sees all lines.
    Ok(Line::Job { job: Job { line: number, cluster: 0, chips, seconds, submitted_at }, cluster })
}

/// One second in the microseconds that durations are read in.
const SECOND: u128 = 1_000_000;

fn parse_timestamp(text: &str) -> Result<Instant, String> {
    let wrong = || format!("timestamp {text:?} is not a time; write it like 2017-10-09 07:01:55");
    if text.is_empty() {
        return Err("timestamp is missing".into());
    }
    if text.len() != "2017-10-09 07:01:55".len() {
        return Err(wrong());
    }
    let at: DateTime = text.parse().map_err(|_| wrong())?;
    if !(2000..2100).contains(&at.year()) {
        return Err(format!("timestamp {text:?} is not between the years 2000 and 2099"));
    }
    let at = TimeZone::UTC.to_timestamp(at).map_err(|_| wrong())?;
    Ok(Instant(at.as_microsecond()))
}

/// Decimal seconds as microseconds.
fn parse_seconds(column: &str, text: &str) -> Result<u128, String> {
    if text.is_empty() {
        return Err(format!("{column} is missing"));
    }
    if text.starts_with('-') {
        return Err(format!("{column} {text} is negative"));
    }
    let wrong = || format!("{column} {text:?} is not a number of seconds; write it like 2951.0");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    if whole.len() > 15 {
        return Err(format!("{column} {text} is absurdly large"));
    }
    let fraction = &fraction[..fraction.len().min(6)];
    let micros: u128 = format!("{fraction:0<6}").parse().map_err(|_| wrong())?;
    Ok(whole.parse::<u128>().map_err(|_| wrong())? * SECOND + micros)
}

/// A job's duration in whole seconds, a started second counted in full.
fn whole_seconds(micros: u128) -> Result<u32, String> {
    if micros == 0 {
        return Err("duration is 0; a job holds its chips for some time".into());
    }
    let seconds = u32::try_from(micros.div_ceil(SECOND)).unwrap_or(u32::MAX);
    if seconds > MAX_JOB_SECONDS {
        return Err(format!("duration is {seconds} s; the most is {MAX_JOB_SECONDS} (366 days)"));
    }
    Ok(seconds)
}

fn parse_chips(text: &str) -> Result<u32, String> {
    if text.is_empty() {
        return Err("num_gpus is missing".into());
    }
    if text.starts_with('-') {
        return Err(format!("num_gpus {text} is negative"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("num_gpus {text:?} is not a whole number"));
    }
    match text.parse::<u32>() {
        Ok(0) => Err("num_gpus is 0; a job asks for at least 1".into()),
        Ok(chips) if chips <= MAX_JOB_CHIPS => Ok(chips),
        _ => Err(format!("num_gpus {text} is absurdly large; the most is {MAX_JOB_CHIPS}")),
    }
}

fn check_cluster(name: &str) -> Result<(), String> {
    let fits =
        name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if fits {
        Ok(())
    } else {
        Err(format!("cluster {name:?} is not a name; use up to 40 letters, digits and - _ ."))
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
