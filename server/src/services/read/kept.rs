//! Answers that are the same for everybody until the next cycle: each is made once, however many ask for it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use common::api::MarketClock;
use common::instant::{Instant, MICROS_PER_SECOND};
use tokio::sync::OnceCell;

use super::driven;
use crate::error::AppError;

/// Answers kept at a time; what is asked for beyond them is made each time.
const MOST: usize = 256;

/// The cycle in force and how many times its length has passed since it cleared: a cycle that stays in force for long does
/// not hold its answers back.
type Age = (u64, i64);

/// Answers by what was asked, those of the cycle in force only.
pub(super) struct Kept<K, V>(Mutex<Answers<K, V>>);

struct Answers<K, V> {
    age: Age,
    of: HashMap<K, Arc<OnceCell<Arc<V>>>>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Answers { age: (0, 0), of: HashMap::new() }))
    }
}

impl<K: Hash + Eq + Send, V: Send + Sync + 'static> Kept<K, V> {
    /// The answer to `asked`, which `make` gives where nobody asked for it before. A failure is not kept.
    ///
    /// # Errors
    /// What `make` ends with.
    pub(super) async fn get(
        &self,
        clock: &MarketClock,
        now: Instant,
        asked: K,
        make: impl Future<Output = Result<V, AppError>> + Send + 'static,
    ) -> Result<Arc<V>, AppError> {
        let cell = self.cell(age(clock, now), asked);
        if let Some(made) = cell.get() {
            return Ok(Arc::clone(made));
        }
        driven(async move { cell.get_or_try_init(|| async { make.await.map(Arc::new) }).await.cloned() })
            .await
    }

    fn cell(&self, age: Age, asked: K) -> Arc<OnceCell<Arc<V>>> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.age != age {
            *answers = Answers { age, of: HashMap::new() };
        }
        if answers.of.len() >= MOST && !answers.of.contains_key(&asked) {
            return Arc::default();
        }
        Arc::clone(answers.of.entry(asked).or_default())
    }
}

fn age(clock: &MarketClock, now: Instant) -> Age {
    let length = i64::from(clock.cycle_seconds.max(1)) * MICROS_PER_SECOND;
    (clock.cycle, (now.0 - clock.cleared_at.0).div_euclid(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(cycle: u64) -> MarketClock {
        MarketClock { cycle, cleared_at: Instant(0), next_at: Instant(0), cycle_seconds: 60, stale: None }
    }

    #[tokio::test]
    async fn an_answer_is_made_once_until_the_next_cycle_or_a_cycle_s_length() {
        let kept: Kept<&str, u32> = Kept::default();
        let at = |seconds| Instant(0).plus_seconds(seconds);
        let get = |cycle, seconds, value| {
            let (kept, clock) = (&kept, clock(cycle));
            async move { *kept.get(&clock, at(seconds), "a", async move { Ok(value) }).await.unwrap() }
        };
        assert_eq!(get(1, 0, 10).await, 10);
        assert_eq!(get(1, 59, 11).await, 10);
        assert_eq!(get(1, 60, 12).await, 12, "a cycle's length has passed");
        assert_eq!(get(2, 60, 13).await, 13, "another cycle");
    }

    #[tokio::test]
    async fn a_failure_is_not_kept() {
        let kept: Kept<u8, u32> = Kept::default();
        let failed = kept.get(&clock(1), Instant(0), 0, async { Err(AppError::no_such_page()) }).await;
        assert!(failed.is_err());
        assert_eq!(*kept.get(&clock(1), Instant(0), 0, async { Ok(1) }).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn more_than_are_kept_are_answered_all_the_same() {
        let kept: Kept<usize, usize> = Kept::default();
        for asked in 0..MOST * 2 {
            assert_eq!(
                *kept.get(&clock(1), Instant(0), asked, async move { Ok(asked) }).await.unwrap(),
                asked
            );
        }
        assert_eq!(kept.0.lock().unwrap().of.len(), MOST);
    }
}
