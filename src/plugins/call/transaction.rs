//! The transaction that spans a call: begun by the first change, rolled back when it stays open for too long.
//!
//! Used by the functions of the contract that change something. On SQLite it is the single writer, so its time is
//! limited: after `plugins.transaction_timeout_ms`, or sooner while others wait for it
//! (`plugins.contended_transaction_ms`), it is rolled back, whatever the plugin or one of its calls is doing. A change that
//! fails half-way rolls back the whole transaction.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rookery_plugin_host::imports::types::Failure;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::database_time::Turn;
use super::{Call, Mode};
use crate::error::refused;
use crate::failure::{OrFailure as _, failure, from_error, transaction_time};
use context::change::Change;
use context::error::{Error, Result};
use database::{Db, Engine, Tx};

/// Added to the engine's statement timeout, so that the call is ended first and reports the reason.
const GRACE: Duration = Duration::from_millis(50);
/// The same while others wait.
const CONTENDED_GRACE: Duration = Duration::from_millis(15);
/// How often it is looked whether others wait for a transaction that has had its time.
const LOOK: Duration = Duration::from_millis(5);

/// How long a transaction may stay open.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimits {
    pub(super) at_most: Duration,
    /// While others wait for it.
    pub(super) contended: Duration,
}

impl TimeLimits {
    fn bound(self, tx: &mut Tx) {
        tx.bound(self.at_most + GRACE, Some(self.contended + CONTENDED_GRACE));
    }

    /// Resolves when a transaction that begins now has had its time.
    async fn over(self, db: Db) {
        let at_most = tokio::time::sleep(self.at_most);
        if db.engine() == Engine::Postgres {
            return at_most.await;
        }
        let most = self.contended;
        let contended = async {
            tokio::time::sleep(most).await;
            while db.writer_held_while_others_wait().is_none_or(|held| held < most) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = at_most => {}
            () = contended => {}
        }
    }
}

/// The state of a transaction.
#[derive(Debug, Default)]
pub(super) enum Slot {
    /// No change was made yet.
    #[default]
    Unused,
    Open(Box<Open>),
    /// It is finished; no other will be begun.
    Ended(EndReason),
}

/// EndReason the transaction is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndReason {
    /// It timed out.
    TimedOut,
    /// A change failed half-way.
    Failed,
    /// The call ended.
    CallEnded,
}

#[derive(Debug)]
pub(super) struct Open {
    tx: Tx,
    /// Enforces the time limit between host calls.
    watch: Option<Watch>,
    /// Enforces it during a host call.
    until: Until,
    /// Dropped after the transaction; `None` in a rehearsal.
    turn: Option<Turn>,
}

/// When the open transaction of a call times out; none while none is open.
pub(super) type Deadline = Arc<watch::Sender<Option<Instant>>>;

/// Sets the deadline of a call until dropped.
#[derive(Debug)]
struct Until(Deadline);

impl Until {
    fn after(deadline: &Deadline, left: Duration) -> Self {
        deadline.send_replace(Some(Instant::now() + left));
        Self(Arc::clone(deadline))
    }
}

impl Drop for Until {
    fn drop(&mut self) {
        self.0.send_replace(None);
    }
}

/// Resolves when the open transaction times out.
pub(super) async fn late(deadline: &Deadline) {
    let mut deadline = deadline.subscribe();
    loop {
        let until = *deadline.borrow_and_update();
        let Some(until) = until else {
            // The sender lives as long as the call, so this cannot fail.
            let _ = deadline.changed().await;
            continue;
        };
        tokio::select! {
            () = tokio::time::sleep_until(until) => return,
            _ = deadline.changed() => {}
        }
    }
}

/// A task that ends the transaction on timeout; dropping this cancels it.
#[derive(Debug)]
struct Watch(AbortHandle);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    fn over(slot: &Arc<Mutex<Slot>>, deadline: &Deadline, time: TimeLimits, db: Db) -> Self {
        let slot: Weak<Mutex<Slot>> = Arc::downgrade(slot);
        let deadline = Arc::clone(deadline);
        let watching = tokio::spawn(async move {
            time.over(db).await;
            // Ends the host call that has the slot, if one does.
            deadline.send_replace(Some(Instant::now()));
            if let Some(slot) = slot.upgrade() {
                let mut slot = slot.lock().await;
                if let Slot::Open(open) = &mut *slot {
                    // Dropping the watch would abort this task half-way.
                    open.watch = None;
                    *slot = Slot::Ended(EndReason::TimedOut);
                }
            }
        });
        Self(watching.abort_handle())
    }
}

impl Slot {
    /// Open for as long as `time` says: host calls that take longer are ended; between host calls nothing enforces it.
    pub(super) fn bounded(mut tx: Tx, deadline: &Deadline, time: TimeLimits, turn: Option<Turn>) -> Self {
        time.bound(&mut tx);
        Self::Open(Box::new(Open { tx, watch: None, until: Until::after(deadline, time.at_most), turn }))
    }

    /// Takes the state, and leaves it finished.
    pub(super) fn end(&mut self) -> Self {
        let next = match self {
            Self::Ended(why) => Self::Ended(*why),
            Self::Unused | Self::Open(_) => Self::Ended(EndReason::CallEnded),
        };
        std::mem::replace(self, next)
    }

    pub(super) async fn commit(self) -> Result<()> {
        match self {
            Self::Unused => Ok(()),
            Self::Open(open) => {
                drop(open.until);
                drop(open.turn);
                Ok(open.tx.commit().await?)
            }
            Self::Ended(why) => Err(Stopped::Ended(why).into()),
        }
    }

    pub(super) fn into_tx(self) -> Option<Tx> {
        match self {
            Self::Open(open) => Some(open.tx),
            Self::Unused | Self::Ended(_) => None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    pub(super) fn tx(&mut self) -> Option<&mut Tx> {
        match self {
            Self::Open(open) => Some(&mut open.tx),
            Self::Unused | Self::Ended(_) => None,
        }
    }
}

/// EndReason no transaction is available.
#[derive(Debug)]
pub(super) enum Stopped {
    Ended(EndReason),
    Error(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Error(error) => error,
            Stopped::Ended(EndReason::TimedOut) => refused(transaction_time()),
            Stopped::Ended(EndReason::Failed) => {
                Self::Conflict("A change failed, so the transaction is rolled back".into())
            }
            Stopped::Ended(EndReason::CallEnded) => Self::internal("a change after the end of the call"),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Ended(EndReason::TimedOut) => transaction_time(),
            Stopped::Ended(EndReason::Failed) => {
                failure(409, "sql.undone", "A change failed, so the transaction is rolled back")
            }
            Stopped::Ended(EndReason::CallEnded) | Stopped::Error(_) => from_error(stopped.into()),
        }
    }
}

/// A change in progress, in the transaction of the call or in a separate one. Dropped before [`Work::done`], it is
/// rolled back, together with the earlier changes of the call.
pub(super) struct Work<'a> {
    target: Target<'a>,
    /// There is a savepoint in the call's transaction.
    marked: bool,
}

enum Target<'a> {
    Shared(MutexGuard<'a, Slot>),
    Own(Slot),
    Finished,
}

impl Work<'_> {
    pub(super) fn tx(&mut self) -> Result<&mut Tx, Failure> {
        let tx = match &mut self.target {
            Target::Shared(slot) => slot.tx(),
            Target::Own(slot) => slot.tx(),
            Target::Finished => None,
        };
        tx.ok_or_else(|| Stopped::Ended(EndReason::CallEnded).into())
    }

    /// Completes the change: it is committed now, or with the rest of the call.
    pub(super) async fn done(mut self) -> Result<(), Failure> {
        if self.marked {
            self.tx()?.release_savepoint().await.or_failure()?;
        }
        match std::mem::replace(&mut self.target, Target::Finished) {
            Target::Own(slot) => slot.commit().await.or_failure()?,
            Target::Shared(_) | Target::Finished => {}
        }
        Ok(())
    }

    /// Abandons the change and keeps the rest of the call: after a failure that changed nothing, or by rolling back to
    /// the savepoint.
    pub(super) async fn undo(mut self) -> Result<(), Failure> {
        if self.marked {
            self.tx()?.rollback_to_savepoint().await.or_failure()?;
        }
        self.target = Target::Finished;
        Ok(())
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        // Cancelled: how much was done is unknown.
        if let Target::Shared(slot) = &mut self.target {
            **slot = Slot::Ended(EndReason::Failed);
        }
    }
}

impl Call {
    pub(super) async fn opened(&self) -> Result<MappedMutexGuard<'_, Tx>, Stopped> {
        let guard = self.open().await?;
        MutexGuard::try_map(guard, Slot::tx).map_err(|_| Stopped::Ended(EndReason::CallEnded))
    }

    /// How long a transaction may stay open.
    fn time(&self) -> TimeLimits {
        let keys = &self.cx.config.plugins;
        TimeLimits {
            at_most: Duration::from_millis(keys.transaction_timeout_ms),
            contended: Duration::from_millis(keys.contended_transaction_ms),
        }
    }

    /// Opens the transaction of this call, unless it is open.
    async fn open(&self) -> Result<MutexGuard<'_, Slot>, Stopped> {
        let mut guard = self.slot.lock().await;
        match &*guard {
            Slot::Open(_) => {}
            Slot::Ended(why) => return Err(Stopped::Ended(*why)),
            Slot::Unused => {
                let turn = Some(self.turn().await?);
                let mut tx = self.cx.db.begin().await.map_err(Error::from)?;
                let time = self.time();
                time.bound(&mut tx);
                let watch = Some(Watch::over(&self.slot, &self.deadline, time, self.cx.db.clone()));
                let until = Until::after(&self.deadline, time.at_most);
                *guard = Slot::Open(Box::new(Open { tx, watch, until, turn }));
            }
        }
        Ok(guard)
    }

    /// Ends a transaction that has had its time: it is rolled back.
    pub(super) async fn end_late_transaction(&self) -> Failure {
        let mut slot = self.slot.lock().await;
        if !matches!(&*slot, Slot::Unused) {
            *slot = Slot::Ended(EndReason::TimedOut);
        }
        transaction_time()
    }

    /// Begins a change. Validate before: a change that fails rolls back the call's transaction.
    pub(super) async fn change(&self) -> Result<Work<'_>, Failure> {
        // Before a transaction is open, so that no other writer waits for it.
        self.active.quotas.storage.ready().await.or_failure()?;
        let target = match self.mode {
            Mode::Ambient => Target::Shared(self.open().await?),
            Mode::Read => {
                let turn = Some(self.turn().await.or_failure()?);
                let tx = self.cx.db.begin().await.or_failure()?;
                Target::Own(Slot::bounded(tx, &self.deadline, self.time(), turn))
            }
        };
        Ok(Work { target, marked: false })
    }

    /// Begins a change of several steps that may fail: a savepoint lets [`Work::undo`] roll back those before.
    pub(super) async fn guarded(&self) -> Result<Work<'_>, Failure> {
        let mut work = self.change().await?;
        if self.mode == Mode::Ambient {
            work.tx()?.savepoint().await.or_failure()?;
            work.marked = true;
        }
        Ok(work)
    }

    /// Publishes these messages when the call is committed.
    pub(super) fn later(&self, messages: Vec<Change>) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).extend(messages);
    }
}
