//! Spreads work over the cores. Results come back in the order of the work, so the number of cores changes nothing
//! but the time.

use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Work below this many bids is done at once: a thread costs more.
const LEAST_BIDS: usize = 16_384;

/// How many threads are worth their cost for so many bids.
pub(crate) fn threads(bids: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    if bids < 2 * LEAST_BIDS {
        return 1;
    }
    let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get));
    cores.min(bids / LEAST_BIDS)
}

/// `0 .. count` in so many parts of about equal weight, where `weight_before` sums the weights before an index.
pub(crate) fn parts(count: usize, parts: usize, weight_before: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let total = weight_before(count);
    let mut ranges = Vec::with_capacity(parts);
    let mut first = 0;
    for part in 1..=parts {
        let goal = total * part / parts;
        let mut end = if part == parts { count } else { first };
        while end < count && weight_before(end) < goal {
            end += 1;
        }
        ranges.push(first..end);
        first = end;
    }
    ranges
}

/// Runs `work` on each item, each item on one of so many threads, and returns the results in order.
pub(crate) fn run<I: Sync, T: Send>(items: &[I], threads: usize, work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    if threads <= 1 || items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(nth) else { return done };
            done.push((nth, work(item)));
        }
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    results.sort_unstable_by_key(|(nth, _)| *nth);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_the_order_of_the_work() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [1, 2, 7] {
            let squares = run(&items, threads, |item| item * item);
            assert!(squares.iter().enumerate().all(|(nth, square)| *square == nth * nth));
        }
    }

    #[test]
    #[should_panic(expected = "work failed")]
    fn a_panic_of_the_work_is_a_panic_of_the_whole() {
        let items: Vec<usize> = (0..100).collect();
        run(&items, 3, |item| assert!(*item != 50, "work failed"));
    }

    #[test]
    fn parts_cover_everything_once() {
        for count in [0, 1, 5, 100] {
            for wanted in [1, 2, 3, 8] {
                // Heavy items first, and some without weight.
                let parts = parts(count, wanted, |nth| nth.min(count / 2) * 10);
                assert_eq!(parts.len(), wanted);
                let covered: Vec<usize> = parts.into_iter().flatten().collect();
                assert_eq!(covered, (0..count).collect::<Vec<_>>());
            }
        }
    }
}
