//! Streams that are open, by the session or token that they were opened with: they end when it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::policy::Via;

type Open = Arc<Mutex<HashMap<String, (CancellationToken, usize)>>>;

/// The open streams of this process.
#[derive(Clone, Debug, Default)]
pub struct Streams(Open);

/// A stream while it is open.
#[derive(Debug)]
pub struct OpenStream {
    streams: Streams,
    key: String,
    ended: CancellationToken,
}

impl Streams {
    /// Notes a stream. It should end when [`OpenStream::ended`] is cancelled.
    #[must_use]
    pub fn open(&self, via: &Via) -> OpenStream {
        let key = match via {
            Via::Session(session) => session.to_string(),
            Via::Token { id, .. } => id.to_string(),
        };
        let mut open = self.lock();
        let (ended, count) = open.entry(key.clone()).or_default();
        *count += 1;
        OpenStream { streams: self.clone(), ended: ended.clone(), key: key.clone() }
    }

    /// Ends the streams of a session or token, by its id.
    pub fn end(&self, id: &str) {
        if let Some((ended, _)) = self.lock().remove(id) {
            ended.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (CancellationToken, usize)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenStream {
    /// Cancelled when the session or token ends.
    #[must_use]
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        // After an end the key may stand for streams that were opened since.
        if self.ended.is_cancelled() {
            return;
        }
        if let Some((_, count)) = open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_end_with_their_session_and_only_with_theirs() {
        let streams = Streams::default();
        let via = |id: &str| Via::Session(common::ids::SessionId::new(id).unwrap());
        let (one, same, other) = (streams.open(&via("a")), streams.open(&via("a")), streams.open(&via("b")));
        drop(one);
        streams.end("a");
        assert!(same.ended().is_cancelled() && !other.ended().is_cancelled());
        drop(same);
        drop(other);
        assert!(streams.lock().is_empty());
    }
}
