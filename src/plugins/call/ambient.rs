//! The transaction that spans a call: begun by the first change, undone when it stays open for too long.
//!
//! On SQLite it is the one that may write, so it is never left to a plugin's leisure: after `plugins.transaction_timeout_ms` it
//! is rolled back, whatever the plugin or one of its calls is doing. A change that fails half-way undoes the whole of it: all
//! or nothing.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rookery_plugin_host::imports::types::Failure;
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, OwnedSemaphorePermit, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::failure::{OrFailure as _, failure, from_error};
use super::{Call, Mode};
use crate::app::App;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::service::notification::Notified;
use crate::service::status::Published;
use store::Tx;

/// The engine ends what runs a little later than the call is ended, which says why.
const GRACE: Duration = Duration::from_millis(50);

/// Where a transaction is, or was.
#[derive(Debug, Default)]
pub(super) enum Slot {
    /// Nothing was changed.
    #[default]
    Unused,
    Open(Open),
    /// There will be none any more.
    Ended(Why),
}

/// Why there will be no transaction any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It was open for too long.
    Time,
    /// A change failed when half of it was done.
    Failed,
    /// The call is over.
    Over,
}

#[derive(Debug)]
pub(super) struct Open {
    tx: Tx,
    /// Between the plugin's calls.
    watch: Option<Watch>,
    /// Inside of them.
    until: Until,
    _place: Option<OwnedSemaphorePermit>,
}

/// Until when the transaction of a call may be open; of none it says nothing.
pub(super) type Deadline = Arc<watch::Sender<Option<Instant>>>;

/// Sets a call's deadline, until dropped.
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

/// Resolves when the time of the transaction that is open is up.
async fn late(deadline: &Deadline) {
    let mut deadline = deadline.subscribe();
    loop {
        let until = *deadline.borrow_and_update();
        let Some(until) = until else {
            // The sender lives as long as the call.
            let _ = deadline.changed().await;
            continue;
        };
        tokio::select! {
            () = tokio::time::sleep_until(until) => return,
            _ = deadline.changed() => {}
        }
    }
}

/// Ends a transaction when its time is up; stops watching when dropped.
#[derive(Debug)]
struct Watch(AbortHandle);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    fn over(slot: &Arc<Mutex<Slot>>, limit: Duration) -> Self {
        let slot: Weak<Mutex<Slot>> = Arc::downgrade(slot);
        let watching = tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            if let Some(slot) = slot.upgrade() {
                let mut slot = slot.lock().await;
                if let Slot::Open(open) = &mut *slot {
                    // This task must not stop itself half-way.
                    open.watch = None;
                    *slot = Slot::Ended(Why::Time);
                }
            }
        });
        Self(watching.abort_handle())
    }
}

impl Slot {
    /// Open, for `left` at the most: calls that take longer are ended, and between calls nobody watches.
    pub(super) fn bounded(mut tx: Tx, deadline: &Deadline, left: Duration) -> Self {
        tx.bound(left + GRACE);
        Self::Open(Open { tx, watch: None, until: Until::after(deadline, left), _place: None })
    }

    /// What it was; from now on there is none.
    pub(super) fn end(&mut self) -> Self {
        let next = match self {
            Self::Ended(why) => Self::Ended(*why),
            Self::Unused | Self::Open(_) => Self::Ended(Why::Over),
        };
        std::mem::replace(self, next)
    }

    pub(super) async fn commit(self) -> Result<()> {
        match self {
            Self::Unused => Ok(()),
            Self::Open(open) => {
                drop(open.until);
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

/// Why there is no transaction to work in.
#[derive(Debug)]
pub(super) enum Stopped {
    Ended(Why),
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
            Stopped::Ended(Why::Time) => {
                Self::Unavailable("The transaction was open for too long and is undone".into())
            }
            Stopped::Ended(Why::Failed) => Self::Conflict("A change failed, so the transaction is undone".into()),
            Stopped::Ended(Why::Over) => Self::internal("a change after the end of the call"),
        }
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Ended(Why::Time) => {
                failure(429, "limit.transaction-time", "The transaction was open for too long and is undone")
            }
            Stopped::Ended(Why::Failed) => failure(409, "sql.undone", "A change failed, so the transaction is undone"),
            Stopped::Ended(Why::Over) | Stopped::Error(_) => from_error(stopped.into()),
        }
    }
}

/// Something that is told after a commit.
#[derive(Debug)]
pub(super) enum Effect {
    Event(Event),
    Notified(Notified),
    Published(Box<Published>),
}

impl Effect {
    pub(super) fn tell(self, app: &App) {
        match self {
            Self::Event(event) => app.events.publish(event),
            Self::Notified(notified) => notified.publish(app),
            Self::Published(published) => published.tell(app),
        }
    }
}

/// A change under way: in the transaction of the call, or in one of its own. Dropped before [`Work::done`], it never
/// happened, and neither did what the call changed before it.
pub(super) struct Work<'a> {
    call: &'a Call,
    place: Place<'a>,
    effects: Vec<Effect>,
    /// There is a mark in the call's transaction that it can go back to.
    marked: bool,
}

enum Place<'a> {
    Shared(MutexGuard<'a, Slot>),
    Own(Slot),
    Gone,
}

impl Work<'_> {
    /// The transaction.
    pub(super) fn tx(&mut self) -> Result<&mut Tx, Failure> {
        let tx = match &mut self.place {
            Place::Shared(slot) => slot.tx(),
            Place::Own(slot) => slot.tx(),
            Place::Gone => None,
        };
        tx.ok_or_else(|| Stopped::Ended(Why::Over).into())
    }

    /// Tells this once it is committed.
    pub(super) fn then(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// The change is complete: it happens now, or with the rest of the call.
    pub(super) async fn done(mut self) -> Result<(), Failure> {
        let effects = std::mem::take(&mut self.effects);
        if self.marked {
            self.tx()?.forget_mark().await.or_failure()?;
        }
        match std::mem::replace(&mut self.place, Place::Gone) {
            Place::Shared(_) => self.call.later(effects),
            Place::Own(slot) => {
                slot.commit().await.or_failure()?;
                effects.into_iter().for_each(|effect| effect.tell(&self.call.app));
            }
            Place::Gone => {}
        }
        Ok(())
    }

    /// The change did not happen, and the rest of the call stands: after a failure that changed nothing, or one that the
    /// mark takes back.
    pub(super) async fn undo(mut self) -> Result<(), Failure> {
        if self.marked {
            self.tx()?.back_to_mark().await.or_failure()?;
        }
        self.place = Place::Gone;
        Ok(())
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        // Cut off: nobody knows how much of it is done.
        if let Place::Shared(slot) = &mut self.place {
            **slot = Slot::Ended(Why::Failed);
        }
    }
}

impl Call {
    pub(super) async fn opened(&self) -> Result<MappedMutexGuard<'_, Tx>, Stopped> {
        let guard = self.open(&self.slot).await?;
        MutexGuard::try_map(guard, Slot::tx).map_err(|_| Stopped::Ended(Why::Over))
    }

    /// How long a transaction may be open.
    fn time(&self) -> Duration {
        Duration::from_millis(self.app.config.plugins.transaction_timeout_ms)
    }

    /// Opens the transaction of `slot`, unless it is open.
    pub(super) async fn open<'a>(&self, slot: &'a Arc<Mutex<Slot>>) -> Result<MutexGuard<'a, Slot>, Stopped> {
        let mut guard = slot.lock().await;
        match &*guard {
            Slot::Open(_) => {}
            Slot::Ended(why) => return Err(Stopped::Ended(*why)),
            Slot::Unused => {
                let wait = Duration::from_secs(self.app.config.database.acquire_timeout_seconds);
                let place = self.app.plugins.calls.changing(&self.app).acquire_owned();
                let place = tokio::time::timeout(wait, place).await.ok().and_then(|place| place.ok());
                let place = place.ok_or_else(|| Error::Unavailable("The database is busy, try again".into()))?;
                let mut tx = self.app.db.begin().await.map_err(Error::from)?;
                let left = self.time();
                tx.bound(left + GRACE);
                let (watch, until) = (Some(Watch::over(slot, left)), Until::after(&self.deadline, left));
                *guard = Slot::Open(Open { tx, watch, until, _place: Some(place) });
            }
        }
        Ok(guard)
    }

    /// Does `work` for as long as the transaction may be open that it finds or opens: cut off, it undoes that.
    pub(super) async fn in_time<T>(&self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let mut work = Box::pin(work);
        let done = tokio::select! {
            biased;
            () = late(&self.deadline) => None,
            done = &mut work => Some(done),
        };
        let Some(done) = done else {
            drop(work);
            for slot in [&self.slot, &self.explicit.slot] {
                let mut slot = slot.lock().await;
                if !matches!(&*slot, Slot::Unused) {
                    *slot = Slot::Ended(Why::Time);
                }
            }
            return Err(Stopped::Ended(Why::Time).into());
        };
        done
    }

    /// Begins a change. Check what can be checked before: a change that fails undoes the call's transaction.
    pub(super) async fn change(&self) -> Result<Work<'_>, Failure> {
        // While nobody waits for it.
        self.active.quota.ready().await.or_failure()?;
        let place = match self.mode {
            Mode::Ambient => Place::Shared(self.open(&self.slot).await?),
            Mode::Read => {
                if self.explicit.slot.lock().await.is_open() {
                    return Err(failure(409, "sql.transaction-open", "A transaction is open: commit it first"));
                }
                Place::Own(Slot::bounded(self.app.db.begin().await.or_failure()?, &self.deadline, self.time()))
            }
        };
        Ok(Work { call: self, place, effects: Vec::new(), marked: false })
    }

    /// Begins a change of several steps, any of which may fail: [`Work::undo`] takes back those before.
    pub(super) async fn guarded(&self) -> Result<Work<'_>, Failure> {
        let mut work = self.change().await?;
        if self.mode == Mode::Ambient {
            work.tx()?.mark().await.or_failure()?;
            work.marked = true;
        }
        Ok(work)
    }

    /// Tells these after the commit.
    pub(super) fn later(&self, effects: Vec<Effect>) {
        self.effects.lock().unwrap_or_else(PoisonError::into_inner).extend(effects);
    }
}
