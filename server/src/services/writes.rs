//! Writes of many people at once: those that wait for the database share a transaction, and so one flush of the disk.
//!
//! Each write runs behind a mark of its own, so that one that is refused leaves the others as they are. It is answered
//! after the commit: what is acknowledged is lasting.

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
        let (answer, answered) = oneshot::channel();
        let write = Write { work: Some(work), result: None, answer };
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
    /// Runs it; whether it is to be kept.
    async fn run(&mut self, tx: &mut Tx) -> bool;
    /// Answers whoever asked; with a fault where its transaction was not committed.
    fn settle(self: Box<Self>, lost: Option<&AppError>);
}

struct Write<F, T> {
    work: Option<F>,
    result: Option<Result<T, AppError>>,
    answer: oneshot::Sender<Result<T, AppError>>,
}

#[async_trait]
impl<F, T> Waiting for Write<F, T>
where
    T: Send + 'static,
    F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, AppError>> + Send + 'static,
{
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
    tx.mark().await?;
    for write in batch {
        if write.run(&mut tx).await {
            tx.keep_and_mark().await?;
        } else {
            tx.undo().await?;
            tx.mark().await?;
        }
    }
    tx.commit().await
}
