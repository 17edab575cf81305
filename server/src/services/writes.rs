//! Writes of many people at once: those that wait for the database share a transaction, and so one flush of the disk.
//!
//! A write that is refused leaves the others as they are: each runs behind a mark of its own. New bids, of which there are
//! most, are placed together instead. Each is answered after the commit: what is acknowledged is lasting.

use async_trait::async_trait;
use common::ids::UserId;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::queue::{Asked, Placed, place_together};
use crate::error::AppError;
use crate::store::{Store, Tx};

/// Writes that wait at most, before those who ask wait as well.
const WAITING: usize = 1_024;

/// Writes in one transaction at most: it must not keep the clearing from the database for long.
const TOGETHER: usize = 64;

/// The way to write for those who do not mind whose writes theirs are committed with.
#[derive(Clone, Debug)]
pub(crate) struct Writes(mpsc::Sender<Waiting>);

impl Writes {
    /// Begins to write to a store; ends when the last clone of this is dropped.
    pub(crate) fn new(store: Store) -> Self {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            let mut waiting: Vec<Waiting> = Vec::new();
            while receiver.recv_many(&mut waiting, TOGETHER).await > 0 {
                let batch = write_together(store.clone(), std::mem::take(&mut waiting));
                // On a task of its own: a write that panics ends its batch, not all writing.
                if let Err(error) = tokio::spawn(batch).await {
                    tracing::error!(%error, "a write ended early");
                }
            }
        });
        Self(sender)
    }

    /// Runs `work` in a transaction and answers once it is committed.
    ///
    /// # Errors
    /// What `work` ends with; nothing of it is written then. `Unavailable`: the database does not take the write.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, AppError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let write = Write { work: Some(work), answer: Answer { result: None, to: answer } };
        self.0.send(Waiting::Work(Box::new(write))).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }

    /// Places a bid and answers once it is committed; none where the same request placed it before.
    ///
    /// # Errors
    /// As of [`Asked::place`]. `Unavailable`: the database does not take the write.
    pub(super) async fn place(&self, asked: Asked, by: UserId) -> Result<Option<Placed>, AppError> {
        let (answer, answered) = oneshot::channel();
        let bid = NewBid { asked: Some((asked, by)), answer: Answer { result: None, to: answer } };
        self.0.send(Waiting::Bid(Box::new(bid))).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

fn ended() -> AppError {
    AppError::internal("the task that writes has ended")
}

/// A write that waits for its turn.
enum Waiting {
    Work(Box<dyn Work>),
    Bid(Box<NewBid>),
}

/// What a write ended with, and who waits for it.
struct Answer<T> {
    result: Option<Result<T, AppError>>,
    to: oneshot::Sender<Result<T, AppError>>,
}

impl<T> Answer<T> {
    /// Answers whoever asked; with a fault where its transaction was not committed.
    fn settle(self, lost: Option<&AppError>) {
        let result = match (self.result, lost) {
            (Some(Err(refused)), _) => Err(refused),
            (_, Some(lost)) => {
                Err(AppError::new(lost.kind(), lost.message()).with_context(lost.private_context()))
            }
            (Some(done), None) => done,
            (None, None) => Err(ended()),
        };
        // Whoever asked may have gone; what was written stays.
        drop(self.to.send(result));
    }
}

/// A bid to place.
struct NewBid {
    asked: Option<(Asked, UserId)>,
    answer: Answer<Option<Placed>>,
}

/// Any other write.
#[async_trait]
trait Work: Send {
    /// Runs it; whether it is to be kept.
    async fn run(&mut self, tx: &mut Tx) -> bool;
    /// As [`Answer::settle`].
    fn settle(self: Box<Self>, lost: Option<&AppError>);
}

struct Write<F, T> {
    work: Option<F>,
    answer: Answer<T>,
}

#[async_trait]
impl<F, T> Work for Write<F, T>
where
    T: Send + 'static,
    F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
{
    async fn run(&mut self, tx: &mut Tx) -> bool {
        if let Some(work) = self.work.take() {
            self.answer.result = Some(work(tx).await);
        }
        matches!(self.answer.result, Some(Ok(_)))
    }

    fn settle(self: Box<Self>, lost: Option<&AppError>) {
        self.answer.settle(lost);
    }
}

async fn write_together(store: Store, mut batch: Vec<Waiting>) {
    let lost = run_all(&store, &mut batch).await.err();
    for write in batch {
        match write {
            Waiting::Work(work) => work.settle(lost.as_ref()),
            Waiting::Bid(bid) => bid.answer.settle(lost.as_ref()),
        }
    }
}

async fn run_all(store: &Store, batch: &mut [Waiting]) -> Result<(), AppError> {
    let mut tx = store.write().await?;
    if let [Waiting::Work(only)] = batch {
        return if only.run(&mut tx).await { tx.commit().await } else { Ok(()) };
    }
    let mut bids = Vec::new();
    for write in batch {
        match write {
            Waiting::Bid(bid) => bids.push(bid),
            Waiting::Work(work) => {
                tx.mark().await?;
                if work.run(&mut tx).await { tx.keep().await? } else { tx.undo().await? }
            }
        }
    }
    let asked = bids.iter_mut().filter_map(|bid| bid.asked.take()).collect();
    let results = place_together(&mut tx, asked).await?;
    for (bid, result) in bids.into_iter().zip(results) {
        bid.answer.result = Some(result);
    }
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Place;
    use crate::store::db::values;

    /// Tells the compiler that a closure takes a transaction of any lifetime.
    fn for_any_tx<F>(work: F) -> F
    where
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<(), AppError>>,
    {
        work
    }

    /// A write of one row, which may be refused before it or fail after it.
    fn write(mark: u8, [refused, failed]: [bool; 2]) -> (Waiting, oneshot::Receiver<Result<(), AppError>>) {
        const SQL: &str = "INSERT INTO spent_sign_in (mark, ends_at) VALUES ($1, 0)";
        let (to, answered) = oneshot::channel();
        let work = for_any_tx(move |tx| {
            Box::pin(async move {
                if refused {
                    return Err(AppError::conflict("it was refused"));
                }
                tx.execute(SQL, values![[mark; 32]]).await?;
                if failed { Err(AppError::conflict("it failed")) } else { Ok(()) }
            })
        });
        let write = Write { work: Some(work), answer: Answer { result: None, to } };
        (Waiting::Work(Box::new(write)), answered)
    }

    /// Which of some writes were acknowledged, and how many rows there are then.
    async fn outcome(writes: &[[bool; 2]]) -> (Vec<bool>, i64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writes.sqlite");
        let store = Store::open(&Place::Sqlite { path, durable: false }).await.unwrap();
        let (batch, answers): (Vec<_>, Vec<_>) =
            (1..).zip(writes).map(|(mark, how)| write(mark, *how)).unzip();
        write_together(store.clone(), batch).await;
        let mut done = Vec::new();
        for answer in answers {
            done.push(answer.await.unwrap().is_ok());
        }
        let mut tx = store.look().await.unwrap();
        let row = tx.row("SELECT COUNT(*) FROM spent_sign_in", []).await.unwrap();
        (done, row.unwrap().int().unwrap())
    }

    #[tokio::test]
    async fn a_refused_write_leaves_those_beside_it() {
        let (well, refused, failed) = ([false, false], [true, false], [false, true]);
        assert_eq!(outcome(&[well, failed, refused, well]).await, (vec![true, false, false, true], 2));
        assert_eq!(outcome(&[failed]).await, (vec![false], 0), "alone as well");
    }
}
