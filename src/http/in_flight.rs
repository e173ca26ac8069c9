//! The bodies of requests in flight: how much memory and disk they take, in all and for each caller.
//!
//! [`InFlight`] counts the body of one request while it is read and until the request is answered; what all of them hold
//! is in the [`Budget`]. The files of a multipart body are written to a folder of the request as they arrive and count as
//! disk. How large a single body may be is in [`request_limits`](crate::request_limits).

use std::collections::HashMap;
use std::hash::Hash;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Extensions;
use http_body::{Frame, SizeHint};

use crate::Cx;
use crate::error::{Error, Result};
use config::Config;
use context::limits::Key;
use media::storage::Scratch;
use service::media::not_stored;

/// The share of one caller: an eighth, and at least two of the largest bodies.
const SHARES: usize = 8;

/// The largest part of a body that is passed on in one piece, in bytes.
const PART_BYTES: usize = 64 * 1024;

/// The memory and disk space for the bodies of all requests in flight.
#[derive(Debug)]
pub(crate) struct Budget {
    memory: Pool<Key>,
    disk: Pool<Key>,
}

/// Bytes of one resource.
#[derive(Debug)]
struct Pool<K> {
    max: usize,
    max_each: usize,
    used: Mutex<Used<K>>,
}

#[derive(Debug)]
struct Used<K> {
    all: usize,
    each: HashMap<K, usize>,
}

/// Why a body is not read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exceeded {
    /// All bodies take too much.
    #[error("the bodies of all requests take too much")]
    All,
    /// The bodies of this caller do.
    #[error("the bodies of one caller take too much")]
    Each,
}

impl From<Exceeded> for Error {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::All => Self::Unavailable("The server is receiving too much data, try again in a moment".into()),
            Exceeded::Each => Self::RateLimited,
        }
    }
}

impl Budget {
    pub(crate) fn new(config: &Config) -> Arc<Self> {
        let (memory, disk) = (config.connections.body_memory_bytes, config.connections.upload_disk_bytes);
        let largest = crate::request_limits::largest_body_bytes(config);
        Arc::new(Self {
            memory: Pool::new(memory, 2 * config.server.body_limit_bytes),
            disk: Pool::new(disk, 2 * largest),
        })
    }
}

impl<K: Clone + Eq + Hash> Pool<K> {
    fn new(max: usize, least_each: usize) -> Self {
        let used = Mutex::new(Used { all: 0, each: HashMap::new() });
        Self { max, max_each: (max / SHARES).max(least_each), used }
    }

    fn take(&self, caller: &K, bytes: usize) -> Result<(), Exceeded> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let own = used.each.get(caller).copied().unwrap_or_default() + bytes;
        if own > self.max_each {
            return Err(Exceeded::Each);
        }
        if used.all + bytes > self.max {
            return Err(Exceeded::All);
        }
        used.all += bytes;
        used.each.insert(caller.clone(), own);
        Ok(())
    }

    fn give(&self, caller: &K, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.all -= bytes;
        if let Some(own) = used.each.get_mut(caller) {
            *own -= bytes;
            if *own == 0 {
                used.each.remove(caller);
            }
        }
    }

    /// Counts `bytes` for another caller. They are in use already, so no limit applies.
    fn pass(&self, from: &K, to: &K, bytes: usize) {
        self.give(from, bytes);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.all += bytes;
        *used.each.entry(to.clone()).or_default() += bytes;
    }
}

/// The body of one request, for as long as it is not answered.
#[derive(Debug)]
pub(crate) struct InFlight {
    budget: Arc<Budget>,
    taken: Mutex<Taken>,
    /// The folder of its files.
    spool: OnceLock<Scratch>,
}

#[derive(Debug)]
struct Taken {
    caller: Key,
    memory: usize,
    disk: usize,
}

impl InFlight {
    /// `body`, counted while it is read as `caller`'s; `None` when there is none, which costs nothing.
    pub(crate) fn count(budget: &Arc<Budget>, caller: impl FnOnce() -> Key, body: Body) -> (Option<Arc<Self>>, Body) {
        if body.is_end_stream() {
            return (None, body);
        }
        let taken = Mutex::new(Taken { caller: caller(), memory: 0, disk: 0 });
        let in_flight = Arc::new(Self { budget: Arc::clone(budget), taken, spool: OnceLock::new() });
        let body = Body::new(Counted { body, in_flight: Arc::clone(&in_flight), rest: Bytes::new(), ready_bytes: 0 });
        (Some(in_flight), body)
    }

    /// The body of a request with these `extensions`; `None` when it is empty.
    pub(crate) fn of(extensions: &Extensions) -> Option<Arc<Self>> {
        extensions.get().cloned()
    }

    /// The request is of this `caller`, as is known now.
    pub(crate) fn belongs_to(&self, caller: Key) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.memory.pass(&taken.caller, &caller, taken.memory);
        self.budget.disk.pass(&taken.caller, &caller, taken.disk);
        taken.caller = caller;
    }

    fn take_memory(&self, bytes: usize) -> Result<(), Exceeded> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.memory.take(&taken.caller, bytes)?;
        taken.memory += bytes;
        Ok(())
    }

    /// So much of the body is written to the disk, and is no longer in memory.
    pub(crate) fn move_to_disk(&self, bytes: usize) -> Result<(), Error> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        self.budget.disk.take(&taken.caller, bytes)?;
        taken.disk += bytes;
        self.give_memory(&mut taken, bytes);
        Ok(())
    }

    fn give_memory(&self, taken: &mut Taken, bytes: usize) {
        let bytes = bytes.min(taken.memory);
        self.budget.memory.give(&taken.caller, bytes);
        taken.memory -= bytes;
    }

    /// Where the file with this `number` goes; it is deleted when the request has been answered.
    pub(crate) fn file(&self, cx: &Cx, number: usize) -> Result<PathBuf, Error> {
        if self.spool.get().is_none() {
            let folder = cx.storage.scratch().map_err(|error| not_stored(cx, &error))?;
            // One request reads its files one after another.
            let _ = self.spool.set(folder);
        }
        let folder = self.spool.get().ok_or_else(|| Error::internal("a folder that was just made is missing"))?;
        Ok(folder.path().join(number.to_string()))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let taken = self.taken.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.budget.memory.give(&taken.caller, taken.memory);
        self.budget.disk.give(&taken.caller, taken.disk);
    }
}

/// A body that is counted while it is read, and fails when the budget is exhausted.
struct Counted {
    body: Body,
    in_flight: Arc<InFlight>,
    /// The rest of a large frame.
    rest: Bytes,
    /// Bytes that were handed on since the reader was last made to wait: a reader of multipart bodies takes all that is
    /// ready into memory before it hands any of it on.
    ready_bytes: usize,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if this.ready_bytes >= PART_BYTES {
            this.ready_bytes = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                other => return Poll::Ready(other.map(|frame| frame.map_err(Into::into))),
            };
            match frame.into_data() {
                Ok(data) => this.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let part = this.rest.split_to(this.rest.len().min(PART_BYTES));
        this.ready_bytes += part.len();
        let counted = this.in_flight.take_memory(part.len());
        Poll::Ready(Some(counted.map(|()| Frame::data(part)).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

/// The error for a body that cannot be read.
pub(crate) fn body_error(error: &(dyn std::error::Error + 'static)) -> Error {
    exceeded(error).unwrap_or_else(|| Error::bad_request("the body ended early"))
}

/// The error for a body that was not read further because bodies take too much.
pub(crate) fn exceeded(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    causes(error).find_map(|cause| cause.downcast_ref::<Exceeded>()).map(|exceeded| (*exceeded).into())
}

/// An error, and what caused it.
pub(crate) fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_leaves_room_for_others_within_total_limit() {
        let pool = Pool::new(80, 0);
        assert_eq!(pool.take(&1, 10), Ok(()));
        assert_eq!(pool.take(&1, 1), Err(Exceeded::Each));
        for caller in 2..=8 {
            assert_eq!(pool.take(&caller, 10), Ok(()));
        }
        assert_eq!(pool.take(&9, 1), Err(Exceeded::All));
        pool.give(&3, 10);
        assert_eq!(pool.take(&9, 1), Ok(()));
        pool.pass(&9, &1, 1);
        for caller in [1, 2, 4, 5, 6, 7, 8] {
            pool.give(&caller, 10);
        }
        pool.give(&1, 1);
        let used = pool.used.lock().unwrap();
        assert!(used.all == 0 && used.each.is_empty(), "{used:?}");
    }
}
