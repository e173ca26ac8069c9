//! The clock of one connection: how long a client may take over the head of a request, stall in its middle, and stay idle.
//!
//! [`Timed`] is the connection's stream, [`Steady`] the body of a request, [`Answer`] that of its response; they share an
//! [`Activity`]. A time limit costs a timer only while something is waited for. What a handler may take is the business
//! of `http::guard`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::task::AtomicWaker;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// How HTTP/2 begins (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI ";

/// How long a client may take, see the keys of the section `connections`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    pub(crate) head: Duration,
    pub(crate) idle: Duration,
    pub(crate) stall: Duration,
}

/// What a connection is doing.
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
    /// It is no longer HTTP, and has time limits of its own.
    upgraded: AtomicBool,
}

/// A request whose response is not complete; complete when dropped.
#[derive(Debug)]
pub(crate) struct Open(Arc<Activity>);

/// Waits until a deadline that moves; later deadlines cost nothing until the timer fires.
#[derive(Debug, Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

/// The stream of a connection, which fails when the client takes too long.
#[derive(Debug)]
pub(crate) struct Timed {
    stream: TcpStream,
    activity: Arc<Activity>,
    /// When the first byte of a head was read; obsolete when it is earlier than the last response.
    head_since: Option<Instant>,
    /// Since when the client takes nothing of a response.
    full_since: Option<Instant>,
    read_timer: Timer,
    write_timer: Timer,
}

/// The body of a request, which fails when the client sends nothing for too long.
#[derive(Debug)]
pub(crate) struct Steady {
    body: Incoming,
    stall: Duration,
    waiting_since: Option<Instant>,
    timer: Timer,
}

/// The body of a response, which notes when it is complete.
#[derive(Debug)]
pub(crate) struct Answer {
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
        })
    }

    pub(crate) fn begin(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Ordering::AcqRel);
        Open(Arc::clone(self))
    }

    pub(crate) fn upgrade(&self) {
        self.upgraded.store(true, Ordering::Release);
    }

    /// The body of a request; one that has none costs nothing.
    pub(crate) fn body(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            return Body::empty();
        }
        Body::new(Steady { body, stall: self.timeouts.stall, waiting_since: None, timer: Timer::default() })
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

impl Timed {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        let (read_timer, write_timer) = Default::default();
        Self { stream, activity, head_since: None, full_since: None, read_timer, write_timer }
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

    /// What a write came to: an error when the client has taken nothing for too long.
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

impl AsyncRead for Timed {
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

impl AsyncWrite for Timed {
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
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl HttpBody for Steady {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            this.waiting_since = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let since = *this.waiting_since.get_or_insert_with(Instant::now);
        ready!(this.timer.poll(cx, since + this.stall));
        Poll::Ready(Some(Err(timed_out("body").into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Answer {
    pub(crate) fn new(body: Body, open: Open) -> Self {
        Self { body, _open: open }
    }
}

impl HttpBody for Answer {
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
