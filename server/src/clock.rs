//! The one source of time and the one source of ids, both with a fake that tests can set.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use common::instant::{Instant, MICROS_PER_SECOND};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

/// Tells the time. Everything that needs the present takes a clock, so that a test or the demo can set it.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Instant;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine for the time")]
    fn now(&self) -> Instant {
        let since_1970 =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Instant(i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is set; clones share the time.
#[derive(Clone, Debug, Default)]
pub struct SettableClock(Arc<AtomicI64>);

impl SettableClock {
    /// A clock that shows `at`.
    #[must_use]
    pub fn new(at: Instant) -> Self {
        Self(Arc::new(AtomicI64::new(at.0)))
    }

    /// Sets the time.
    pub fn set(&self, at: Instant) {
        self.0.store(at.0, Ordering::SeqCst);
    }

    /// Moves the time forward by whole seconds.
    pub fn advance_seconds(&self, seconds: i64) {
        self.0.fetch_add(seconds * MICROS_PER_SECOND, Ordering::SeqCst);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
}

/// Makes ids: UUIDs of version 7 as text, which sort by the time they were made.
#[derive(Debug)]
pub struct IdSource(Mutex<ChaCha12Rng>);

impl IdSource {
    /// Ids that nobody can guess.
    #[must_use]
    pub fn random() -> Self {
        Self(Mutex::new(rand::make_rng()))
    }

    /// The same ids on each run, for tests and replays.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(ChaCha12Rng::seed_from_u64(seed)))
    }

    /// A new id that carries the instant `at`.
    #[must_use]
    pub fn new_id(&self, at: Instant) -> String {
        let mut random = [0; 10];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(&mut random);
        let millis = u64::try_from(at.0.div_euclid(1_000)).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_ids_repeat_and_sort_by_time() {
        let (one, two) = (IdSource::seeded(7), IdSource::seeded(7));
        let (early, late) = (Instant(1_000_000_000_000), Instant(2_000_000_000_000));
        let id = one.new_id(early);
        assert_eq!(id, two.new_id(early));
        assert!(id < one.new_id(late));
    }

    #[test]
    fn a_settable_clock_shares_its_time() {
        let clock = SettableClock::new(Instant(5));
        let other = clock.clone();
        clock.advance_seconds(2);
        assert_eq!(other.now(), Instant(2_000_005));
    }
}
