//! Times of many requests, and what they come to.

use std::collections::BTreeMap;
use std::time::Duration;

/// Times and statuses of requests.
#[derive(Debug, Default)]
pub(crate) struct Times {
    taken: Vec<Duration>,
    statuses: BTreeMap<u16, u64>,
}

impl Times {
    /// Adds a request.
    pub(crate) fn add(&mut self, status: u16, taken: Duration) {
        self.taken.push(taken);
        *self.statuses.entry(status).or_default() += 1;
    }

    /// Adds what another worker measured.
    pub(crate) fn join(&mut self, other: Self) {
        self.taken.extend(other.taken);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
    }

    /// A line for people: how many a second, half and 99 of 100 within, the longest, and the statuses.
    pub(crate) fn line(&mut self, what: &str, all: Duration) -> String {
        self.taken.sort_unstable();
        let of_100 = |hundredth: usize| {
            let last = self.taken.len().saturating_sub(1);
            self.taken.get(last * hundredth / 100).copied().unwrap_or_default().as_micros()
        };
        let a_second = self.taken.len() as u128 * 1_000 / all.as_millis().max(1);
        let statuses: Vec<String> =
            self.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
        format!(
            "{what}: {a_second}/s, p50 {} µs, p99 {} µs, longest {} µs; {}",
            of_100(50),
            of_100(99),
            of_100(100),
            statuses.join(", ")
        )
    }
}
