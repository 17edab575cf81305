//! How often somebody may try to sign in.
//!
//! Three buckets, each filled again at its own pace: per address, per account and address, and per account. The last
//! one stops a guess spread over many addresses, but would let anybody lock an account by failing on purpose. So it
//! does not count browsers that signed in to the account before: they carry a signed mark, and their owner gets in
//! whatever strangers do.

use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::clock::Clock;
use crate::error::{AppError, ErrorKind};

/// The server's clock as the rate limiter reads it.
#[derive(Clone)]
struct Ticks(Arc<dyn Clock>);

impl governor::clock::Clock for Ticks {
    type Instant = Duration;

    fn now(&self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.now().0).unwrap_or_default())
    }
}

/// Keys kept before those with a full bucket are forgotten.
const MOST_KEYS: usize = 10_000;

/// A bucket for each key.
struct Buckets<K: Hash + Eq + Clone>(RateLimiter<K, DashMapStateStore<K>, Ticks, NoOpMiddleware<Duration>>);

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// Buckets of `burst` tries that get one back every `seconds`.
    fn new(burst: NonZeroU32, seconds: u64, clock: &Arc<dyn Clock>) -> Self {
        let quota = Quota::with_period(Duration::from_secs(seconds)).unwrap_or(Quota::per_minute(burst));
        Self(RateLimiter::new(
            quota.allow_burst(burst),
            DashMapStateStore::default(),
            Ticks(Arc::clone(clock)),
        ))
    }

    /// Takes a try from the key's bucket.
    fn take(&self, key: &K) -> Result<(), AppError> {
        if self.0.len() > MOST_KEYS {
            self.0.retain_recent();
        }
        self.0.check_key(key).map_err(|until| {
            let wait = until.wait_time_from(self.0.clock().now()).as_secs() + 1;
            AppError::new(
                ErrorKind::TooManyRequests,
                format!("too many attempts to sign in; try again in {wait} seconds"),
            )
        })
    }
}

/// The tries that are left.
pub(super) struct Limits {
    by_address: Buckets<IpAddr>,
    by_account_and_address: Buckets<(String, IpAddr, bool)>,
    by_account: Buckets<String>,
}

impl Limits {
    /// All buckets full.
    pub(super) fn new(clock: &Arc<dyn Clock>) -> Self {
        const fn tries(count: u32) -> NonZeroU32 {
            NonZeroU32::MIN.saturating_add(count - 1)
        }
        Self {
            by_address: Buckets::new(tries(60), 2, clock),
            by_account_and_address: Buckets::new(tries(10), 30, clock),
            by_account: Buckets::new(tries(100), 30, clock),
        }
    }

    /// Takes a try of an address, before anything is looked up.
    ///
    /// # Errors
    /// `TooManyRequests`: it has none left.
    pub(super) fn address(&self, address: IpAddr) -> Result<(), AppError> {
        self.by_address.take(&network(address))
    }

    /// Takes a try at an account from an address; `known` where the browser signed in to it before.
    ///
    /// # Errors
    /// `TooManyRequests`: there is none left.
    pub(super) fn account(&self, login: &str, address: IpAddr, known: bool) -> Result<(), AppError> {
        // A stranger behind the same address has a bucket of their own.
        self.by_account_and_address.take(&(login.to_owned(), network(address), known))?;
        if known { Ok(()) } else { self.by_account.take(&login.to_owned()) }
    }
}

/// Who has one address of a network of IPv6 has all of its last 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or_else(
            || std::net::Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX)).into(),
            IpAddr::V4,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SettableClock;

    #[test]
    fn a_stranger_can_not_lock_the_owner_out() {
        let clock = SettableClock::default();
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let limits = Limits::new(&shared);
        // From a hundred addresses, ten tries each: more than the account's bucket holds.
        let tries =
            (0..1_000_u32).map(|n| limits.account("ann", IpAddr::from((n / 10).to_be_bytes()), false));
        assert!(tries.filter(Result::is_err).count() >= 900);
        let home = IpAddr::from([10, 1, 1, 1]);
        assert!(limits.account("ann", home, false).is_err(), "a browser that is not known waits");
        assert!(limits.account("ann", home, true).is_ok(), "one that is known does not");
        assert!(limits.account("bob", home, false).is_ok(), "nor does another account");
        clock.advance_seconds(31);
        assert!(limits.account("ann", home, false).is_ok(), "a try comes back");
    }

    #[test]
    fn tries_from_one_network_share_a_bucket() {
        let clock: Arc<dyn Clock> = Arc::new(SettableClock::default());
        let limits = Limits::new(&clock);
        let tries =
            (0..100_u128).map(|n| limits.address(std::net::Ipv6Addr::from_bits((1 << 100) + n).into()));
        assert_eq!(tries.filter(Result::is_ok).count(), 60);
        assert!(limits.address(std::net::Ipv6Addr::from_bits(1 << 101).into()).is_ok());
    }
}
