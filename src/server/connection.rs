//! The clock of one connection: how long a client may take over the head of a request, stall in its middle, and stay idle.
//!
//! [`Timed`] is the connection's stream, [`Steady`] the body of a request, [`ResponseBody`] the body of its response; they share an
//! [`Activity`]. A time limit costs a timer only while something is waited for. The time limit of handlers is in
//! `rookery_http::stages`.
//!
//! A request's body that its handler did not read would end the connection without a warning, so the rest of a small one
//! is read before the response is sent ([`Drain`]); after another the response says `Connection: close`, and the
//! connection lingers until the client has read it (RFC 9112, section 9.6).

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::task::AtomicWaker;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// How HTTP/2 begins (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI ";

/// The most that is read of a body that its handler did not read, in bytes.
const DRAIN_BYTES: usize = 64 * 1024;
/// How long the client may take to send it.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// How long a connection lingers after its last response in all, and without a byte from the client.
const LINGER_TIME: Duration = Duration::from_secs(30);
const LINGER_PAUSE: Duration = Duration::from_secs(5);

/// How long a client may take, see the keys of the section `connections`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) head: Duration,
    pub(crate) idle: Duration,
    pub(crate) stall: Duration,
}

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Activity {
    timeouts: Timeouts,
    begun: Instant,
    /// Requests whose response is not complete.
    open: AtomicUsize,
    /// When the last response was complete, in microseconds since `begun`; 0 before the first.
    answered: AtomicU64,
    http2: AtomicBool,
    /// Of the task of the connection, when it waits for the client while a request is open: hyper reads again only when
    /// it is woken, and a time limit begins when the response is complete.
    reader: AtomicWaker,
    /// Upgraded from HTTP, with separate time limits.
    upgraded: AtomicBool,
    /// The client may still be sending a body when the connection is closed.
    lingers: AtomicBool,
}

/// A request whose response is not complete; complete when dropped.
#[derive(Debug)]
pub(crate) struct Open(Arc<Activity>);

/// Waits until a deadline that moves; later deadlines cost nothing until the timer fires.
#[derive(Debug, Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

/// The stream of a connection, which fails when the client takes too long.
#[derive(Debug)]
pub(crate) struct Timed<S> {
    stream: S,
    activity: Arc<Activity>,
    /// When the first byte of a head was read; obsolete when it is earlier than the last response.
    head_since: Option<Instant>,
    /// Since when the client takes nothing of a response.
    full_since: Option<Instant>,
    read_timer: Timer,
    write_timer: Timer,
    /// Since when the connection lingers, and when the client last sent something.
    lingering: Option<(Instant, Instant)>,
}

/// The body of a request, which fails when the client sends nothing for too long.
#[derive(Debug)]
pub(crate) struct Steady {
    body: Incoming,
    stall: Duration,
    waiting_since: Option<Instant>,
    timer: Timer,
    /// The client waits for `100 Continue`, which is sent when the body is first read.
    unasked: bool,
    /// All of it was read.
    ended: bool,
    /// The client sent nothing for too long while its handler read.
    stalled: bool,
}

/// The body of a request as its handler has it; the rest is left to its [`Unread`].
#[derive(Debug)]
struct Lent {
    body: Option<Steady>,
    unread: Arc<Mutex<Option<Steady>>>,
}

/// The part of a request's body that its handler did not read, once the handler has dropped it.
#[derive(Debug)]
pub(crate) struct Unread(Arc<Mutex<Option<Steady>>>);

/// Reads the rest of a body, and drops it.
#[derive(Debug)]
pub(crate) struct Drain {
    body: Steady,
    left_bytes: usize,
    timer: Timer,
    until: Instant,
}

/// The body of a response, which notes when it is complete.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    body: Body,
    _open: Open,
}

impl Activity {
    pub(crate) fn new(timeouts: Timeouts) -> Arc<Self> {
        Arc::new(Self {
            timeouts,
            begun: Instant::now(),
            open: AtomicUsize::default(),
            answered: AtomicU64::default(),
            http2: AtomicBool::default(),
            reader: AtomicWaker::new(),
            upgraded: AtomicBool::default(),
            lingers: AtomicBool::default(),
        })
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Ordering::AcqRel);
        Open(Arc::clone(self))
    }

    pub(crate) fn upgrade(&self) {
        self.upgraded.store(true, Ordering::Release);
    }

    /// The body of a request, and the part of it that its handler will not have read; a request without a body costs
    /// nothing. With `expects_continue` the client sends it only when it is asked to.
    pub(crate) fn body(&self, body: Incoming, expects_continue: bool) -> (Body, Option<Unread>) {
        if body.is_end_stream() {
            return (Body::empty(), None);
        }
        let (stall, timer) = (self.timeouts.stall, Timer::default());
        let unasked = expects_continue;
        let body = Steady { body, stall, waiting_since: None, timer, unasked, ended: false, stalled: false };
        let unread = Arc::new(Mutex::new(None));
        (Body::new(Lent { body: Some(body), unread: Arc::clone(&unread) }), Some(Unread(unread)))
    }

    /// The connection lingers after the response that is now sent, which is the last one.
    pub(crate) fn linger(&self) {
        self.lingers.store(true, Ordering::Release);
    }

    fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    /// When the last response was complete.
    fn answered(&self) -> Option<Instant> {
        let answered = self.answered.load(Ordering::Acquire);
        (answered > 0).then(|| self.begun + Duration::from_micros(answered))
    }

    /// When the client must have sent something; none while it waits for a response. `head_since` as in [`Timed`].
    fn deadline(&self, head_since: Option<Instant>) -> Option<Instant> {
        if self.is_open() || self.upgraded.load(Ordering::Acquire) {
            return None;
        }
        let Some(answered) = self.answered() else { return Some(self.begun + self.timeouts.head) };
        // Between requests HTTP/2 has frames that belong to none.
        let head = head_since.filter(|since| *since > answered && !self.http2.load(Ordering::Acquire));
        Some(head.map_or(answered + self.timeouts.idle, |since| since + self.timeouts.head))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0.answered.store(now.max(1), Ordering::Release);
        self.0.open.fetch_sub(1, Ordering::AcqRel);
        self.0.reader.wake();
    }
}

impl Timer {
    fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if deadline < sleep.deadline() {
            sleep.as_mut().reset(deadline);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }
}

impl<S> Timed<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Self {
        let (read_timer, write_timer) = Default::default();
        Self { stream, activity, head_since: None, full_since: None, read_timer, write_timer, lingering: None }
    }

    fn has_read(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.activity.is_open() {
            return;
        }
        let answered = self.activity.answered();
        if self.head_since.is_none() && bytes.starts_with(HTTP2_PREFACE) {
            self.activity.http2.store(true, Ordering::Release);
        }
        if self.head_since.is_none_or(|since| answered.is_some_and(|answered| since <= answered)) {
            self.head_since = Some(Instant::now());
        }
    }

    /// The result of a write: an error when the client has accepted nothing for too long.
    fn written<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.full_since = None;
            return result;
        }
        let since = *self.full_since.get_or_insert_with(Instant::now);
        ready!(self.write_timer.poll(cx, since + self.activity.timeouts.stall));
        Poll::Ready(Err(timed_out("answer")))
    }
}

/// The error of a client that took too long over this part, counted in the metrics.
fn timed_out(part: &'static str) -> io::Error {
    metrics::counter!("rookery_connections_timed_out_total", "waiting_for" => part).increment(1);
    io::Error::new(io::ErrorKind::TimedOut, "the client took too long")
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let result = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if result.is_ready() {
            this.has_read(&buffer.filled()[before..]);
            return result;
        }
        let deadline = this.activity.deadline(this.head_since).or_else(|| {
            this.activity.reader.register(cx.waker());
            this.activity.deadline(this.head_since)
        });
        let Some(deadline) = deadline else { return Poll::Pending };
        ready!(this.read_timer.poll(cx, deadline));
        Poll::Ready(Err(timed_out("request")))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.written(cx, result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let result = Pin::new(&mut this.stream).poll_write_vectored(cx, buffers);
        this.written(cx, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingering.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if !this.activity.lingers.load(Ordering::Acquire) {
                return Poll::Ready(Ok(()));
            }
            this.lingering = Some((Instant::now(), Instant::now()));
        }
        this.poll_linger(cx).map(Ok)
    }
}

impl<S: AsyncRead + Unpin> Timed<S> {
    /// Reads and drops until the client closes the connection: with bytes unread the system would reset it, and the
    /// client might lose the response.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            let (since, last) = *self.lingering.get_or_insert_with(|| (Instant::now(), Instant::now()));
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() && since.elapsed() < LINGER_TIME => {
                    self.lingering = Some((since, Instant::now()));
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.read_timer.poll(cx, (since + LINGER_TIME).min(last + LINGER_PAUSE)),
            }
        }
    }
}

impl HttpBody for Steady {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        this.unasked = false;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waiting_since = None;
            this.ended = frame.is_none();
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let since = *this.waiting_since.get_or_insert_with(Instant::now);
        ready!(this.timer.poll(cx, since + this.stall));
        this.stalled = true;
        Poll::Ready(Some(Err(timed_out("body").into())))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.get_mut().body.as_mut().map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        *self.unread.lock().unwrap_or_else(PoisonError::into_inner) = rest;
    }
}

impl Unread {
    /// What reads the rest of the body; `None` when nothing is left, or its handler still has it.
    pub(crate) fn drain(&self) -> Option<Drain> {
        let body = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Drain { body, left_bytes: DRAIN_BYTES, timer: Timer::default(), until: Instant::now() + DRAIN_TIME })
    }
}

impl Drain {
    /// True once the body was read to its end; false when it is too large or too slow, is not valid, or is only sent on
    /// request.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if self.body.unasked || self.body.stalled || self.body.size_hint().lower() > self.left_bytes as u64 {
            return Poll::Ready(false);
        }
        while !self.body.is_end_stream() {
            // Of the body itself: the only time limit here is the one of the drain, whatever a handler may wait for.
            match Pin::new(&mut self.body.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, Bytes::len);
                    let Some(left) = self.left_bytes.checked_sub(length) else { return Poll::Ready(false) };
                    self.left_bytes = left;
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(false),
                Poll::Ready(None) => return Poll::Ready(true),
                Poll::Pending => return self.timer.poll(cx, self.until).map(|()| false),
            }
        }
        Poll::Ready(true)
    }
}

impl ResponseBody {
    pub(crate) fn new(body: Body, open: Open) -> Self {
        Self { body, _open: open }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
