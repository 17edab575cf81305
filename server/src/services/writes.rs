//! Writes of many people at once: those that wait for the database share a transaction, and so one flush of the disk.
//!
//! A write that is refused leaves the others as they are: each runs behind a mark of its own, or says that it writes nothing
//! before it knows that it will not be refused. It is answered after the commit: what is acknowledged is lasting.

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::error::AppError;
use crate::store::{Store, Tx};

/// Writes that wait at most, before those who ask wait as well.
const WAITING: usize = 1_024;

/// Writes in one transaction at most: it must not keep the clearing from the database for long.
const TOGETHER: usize = 64;

/// The way to write for those who do not mind whose writes theirs are committed with.
#[derive(Clone, Debug)]
pub(crate) struct Writes(mpsc::Sender<Box<dyn Waiting>>);

impl Writes {
    /// Begins to write to a store; ends when the last clone of this is dropped.
    pub(crate) fn new(store: Store) -> Self {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            let mut waiting: Vec<Box<dyn Waiting>> = Vec::new();
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
        self.send(work, true).await
    }

    /// As [`Writes::run`] for work that refuses before it writes, and so needs no mark. Should it fail after it wrote, none of
    /// the writes of its transaction are made.
    ///
    /// # Errors
    /// As [`Writes::run`].
    pub(crate) async fn run_checked<T, F>(&self, work: F) -> Result<T, AppError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
    {
        self.send(work, false).await
    }

    async fn send<T, F>(&self, work: F, marked: bool) -> Result<T, AppError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let write = Write { work: Some(work), marked, result: None, answer };
        self.0.send(Box::new(write)).await.map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

fn ended() -> AppError {
    AppError::internal("the task that writes has ended")
}

/// A write that waits for its turn.
#[async_trait]
trait Waiting: Send {
    /// Whether it may be refused after it wrote something.
    fn is_marked(&self) -> bool;
    /// Runs it; whether it is to be kept.
    async fn run(&mut self, tx: &mut Tx) -> bool;
    /// Answers whoever asked; with a fault where its transaction was not committed.
    fn settle(self: Box<Self>, lost: Option<&AppError>);
}

struct Write<F, T> {
    work: Option<F>,
    marked: bool,
    result: Option<Result<T, AppError>>,
    answer: oneshot::Sender<Result<T, AppError>>,
}

#[async_trait]
impl<F, T> Waiting for Write<F, T>
where
    T: Send + 'static,
    F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
{
    fn is_marked(&self) -> bool {
        self.marked
    }

    async fn run(&mut self, tx: &mut Tx) -> bool {
        if let Some(work) = self.work.take() {
            self.result = Some(work(tx).await);
        }
        matches!(self.result, Some(Ok(_)))
    }

    fn settle(self: Box<Self>, lost: Option<&AppError>) {
        let result = match (self.result, lost) {
            (Some(Err(refused)), _) => Err(refused),
            (_, Some(lost)) => {
                Err(AppError::new(lost.kind(), lost.message()).with_context(lost.private_context()))
            }
            (Some(done), None) => done,
            (None, None) => Err(ended()),
        };
        // Whoever asked may have gone; what was written stays.
        drop(self.answer.send(result));
    }
}

async fn write_together(store: Store, mut batch: Vec<Box<dyn Waiting>>) {
    let lost = run_all(&store, &mut batch).await.err();
    for write in batch {
        write.settle(lost.as_ref());
    }
}

async fn run_all(store: &Store, batch: &mut [Box<dyn Waiting>]) -> Result<(), AppError> {
    let mut tx = store.write().await?;
    if let [only] = batch {
        return if only.run(&mut tx).await { tx.commit().await } else { Ok(()) };
    }
    for write in batch {
        if write.is_marked() {
            tx.mark().await?;
            if write.run(&mut tx).await { tx.keep().await? } else { tx.undo().await? }
        } else {
            let before = tx.writes();
            if !write.run(&mut tx).await && tx.writes() > before {
                return Err(AppError::internal("a write that should have been checked failed in the middle"));
            }
        }
    }
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Place;
    use crate::store::db::values;

    type Answer = oneshot::Receiver<Result<(), AppError>>;

    /// Tells the compiler that a closure takes a transaction of any lifetime.
    fn for_any_tx<F>(work: F) -> F
    where
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<(), AppError>>,
    {
        work
    }

    /// A write of one row, which may be refused before it or fail after it. One in two answers with its row.
    fn write(mark: u8, marked: bool, [refused, failed]: [bool; 2]) -> (Box<dyn Waiting>, Answer) {
        const SQL: &str = "INSERT INTO spent_sign_in (mark, ends_at) VALUES ($1, 0)";
        const ANSWERING: &str = "INSERT INTO spent_sign_in (mark, ends_at) VALUES ($1, 0) RETURNING ends_at";
        let (answer, answered) = oneshot::channel();
        let work = for_any_tx(move |tx| {
            Box::pin(async move {
                if refused {
                    return Err(AppError::conflict("it was refused"));
                }
                if mark.is_multiple_of(2) {
                    tx.row(ANSWERING, values![[mark; 32]]).await?;
                } else {
                    tx.execute(SQL, values![[mark; 32]]).await?;
                }
                if failed { Err(AppError::conflict("it failed")) } else { Ok(()) }
            })
        });
        (Box::new(Write { work: Some(work), marked, result: None, answer }), answered)
    }

    /// Which of some writes were acknowledged, and how many rows there are then.
    async fn outcome(writes: Vec<(Box<dyn Waiting>, Answer)>) -> (Vec<bool>, i64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writes.sqlite");
        let store = Store::open(&Place::Sqlite { path, durable: false }).await.unwrap();
        let (batch, answers): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
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
    async fn a_refused_write_leaves_those_beside_it_marked_or_not() {
        let (well, refused, failed) = ([false, false], [true, false], [false, true]);
        let marked =
            vec![write(1, true, well), write(2, true, failed), write(3, true, refused), write(4, true, well)];
        assert_eq!(outcome(marked).await, (vec![true, false, false, true], 2));
        let mixed = vec![
            write(1, false, well),
            write(2, false, refused),
            write(3, true, failed),
            write(4, false, well),
        ];
        assert_eq!(outcome(mixed).await, (vec![true, false, false, true], 2));
    }

    #[tokio::test]
    async fn a_checked_write_that_fails_in_the_middle_takes_its_transaction_with_it() {
        let (well, failed) = ([false, false], [false, true]);
        for mark in [2, 3] {
            let writes = vec![write(1, true, well), write(mark, false, failed), write(5, true, well)];
            assert_eq!(outcome(writes).await, (vec![false, false, false], 0), "write {mark}");
            assert_eq!(outcome(vec![write(mark, false, failed)]).await, (vec![false], 0), "{mark} alone");
        }
    }
}
