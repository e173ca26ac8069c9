//! Serves connections: accepts them up to the caps of [`admission`](crate::admission), by the clock of
//! [`connection`](crate::connection), until the server stops.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Service;

use crate::admission::{Admission, Place};
use crate::connection::{Activity, Drain, Open, ResponseBody, Timed, Timeouts, Unread};
use config::Config;
use rookery_http::router::Server;

/// The largest head of a request, and the buffer for an unread body; in bytes, per connection.
const BUFFER_BYTES: usize = 64 * 1024;
/// The delay before accepting again, when the machine is out of file descriptors.
const EXHAUSTED: Duration = Duration::from_secs(1);

/// The status of a response after which a connection is no longer HTTP.
const SWITCHING_PROTOCOLS: u16 = 101;

/// Answers connections to `listener` by `server` until `stopped` is true, and then until requests that have begun are
/// answered.
pub async fn serve(server: Server, config: &Config, listener: TcpListener, stopped: watch::Receiver<bool>) {
    Listener::new(server, config).serve(listener, stopped).await;
}

/// The service and limits of a listener.
#[derive(Clone, Debug)]
pub(crate) struct Listener<S> {
    pub(crate) service: S,
    pub(crate) timeouts: Timeouts,
    pub(crate) admission: Arc<Admission>,
}

impl<S> Listener<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + Unpin + 'static,
{
    /// As `config` says.
    pub(crate) fn new(service: S, config: &Config) -> Self {
        let seconds = Duration::from_secs;
        let keys = &config.connections;
        let timeouts = Timeouts {
            head: seconds(keys.head_timeout_seconds),
            idle: seconds(keys.idle_timeout_seconds),
            stall: seconds(keys.stall_timeout_seconds),
        };
        Self { service, timeouts, admission: Admission::new(config) }
    }

    /// Serves until `stopped` is true, and then until requests that have begun are answered.
    pub(crate) async fn serve(self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        let open = GracefulShutdown::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.wait_for(|stop| *stop) => break,
            };
            match accepted {
                Ok((stream, peer)) => self.accept(stream, peer, &open),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "cannot accept connections");
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
        drop(listener);
        open.shutdown().await;
    }

    fn accept(&self, stream: TcpStream, peer: SocketAddr, open: &GracefulShutdown) {
        let Some(place) = self.admission.admit(peer.ip()) else { return };
        // Responses are small and written immediately: Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        self.connect(stream, peer, place, open);
    }

    /// Serves an admitted connection in a new task.
    fn connect<C>(&self, stream: C, peer: SocketAddr, place: Place, open: &GracefulShutdown)
    where
        C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let activity = Activity::new(self.timeouts);
        let stream = TokioIo::new(Timed::new(stream, Arc::clone(&activity)));
        let service = Connected { service: self.service.clone(), peer, activity };
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().max_buf_size(BUFFER_BYTES);
        // HTTP/2 carries many requests: a client that is gone is known by the pings that it does not answer.
        let mut http2 = builder.http2();
        http2.enable_connect_protocol().timer(TokioTimer::new());
        http2.keep_alive_interval(self.timeouts.stall).keep_alive_timeout(self.timeouts.stall);
        let connection = builder.serve_connection_with_upgrades(stream, service).into_owned();
        tokio::spawn(answer(open.watch(connection), place));
    }
}

/// Answers the requests of one connection. Its errors are ignored: most mean that the client is gone.
async fn answer<E>(connection: impl Future<Output = Result<(), E>>, place: Place) {
    let _ = connection.await;
    drop(place);
}

/// True for an error of the connection that was to be accepted, not of the listener.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The service for one connection.
struct Connected<S> {
    service: S,
    peer: SocketAddr,
    activity: Arc<Activity>,
}

impl<S> hyper::service::Service<hyper::Request<Incoming>> for Connected<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone,
    S::Future: Unpin,
{
    type Response = axum::http::Response<ResponseBody>;
    type Error = Infallible;
    type Future = Answering<S::Future>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let open = self.activity.begin();
        let is_http1 = request.version() <= Version::HTTP_11;
        let (head, body) = request.into_parts();
        let (body, unread) = self.activity.body(body, head.headers.contains_key(header::EXPECT));
        let mut request = Request::from_parts(head, body);
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let answer = self.service.clone().call(request);
        Answering { answer, open: Some(open), unread, draining: None, is_http1, activity: Arc::clone(&self.activity) }
    }
}

/// A request that is being answered.
struct Answering<F> {
    answer: F,
    /// `None` once there is a response.
    open: Option<Open>,
    /// `None` for a request without a body.
    unread: Option<Unread>,
    /// The response, and the rest of the body that is read before it is sent.
    draining: Option<Box<(Response, Drain)>>,
    is_http1: bool,
    activity: Arc<Activity>,
}

impl<F> Answering<F> {
    /// Sends `response`.
    fn answer(&mut self, response: Response) -> axum::http::Response<ResponseBody> {
        if response.status().as_u16() == SWITCHING_PROTOCOLS {
            self.activity.upgrade();
        }
        let open = self.open.take().unwrap_or_else(|| self.activity.begin());
        response.map(|body: Body| ResponseBody::new(body, open))
    }

    /// Sends the response after which the connection is closed: the next request could not be distinguished from the
    /// rest of this one's body. HTTP/2 ends the stream alone.
    fn answer_last(&mut self, mut response: Response) -> axum::http::Response<ResponseBody> {
        if self.is_http1 {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            self.activity.linger();
        }
        self.answer(response)
    }
}

impl<F: Future<Output = Result<Response, Infallible>> + Unpin> Future for Answering<F> {
    type Output = Result<axum::http::Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let (response, mut drain) = match this.draining.take() {
            Some(draining) => *draining,
            None => {
                let Ok(response) = ready!(Pin::new(&mut this.answer).poll(cx));
                match this.unread.as_ref().and_then(Unread::drain) {
                    Some(drain) => (response, drain),
                    None => return Poll::Ready(Ok(this.answer(response))),
                }
            }
        };
        match drain.poll(cx) {
            Poll::Ready(true) => Poll::Ready(Ok(this.answer(response))),
            Poll::Ready(false) => Poll::Ready(Ok(this.answer_last(response))),
            Poll::Pending => {
                this.draining = Some(Box::new((response, drain)));
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
    use tokio::time::{Instant, sleep, timeout};

    const HEAD: Duration = Duration::from_millis(300);
    const IDLE: Duration = Duration::from_millis(900);
    const STALL: Duration = Duration::from_millis(400);
    const SLOW: Duration = Duration::from_millis(1_500);
    /// How far a timer may be rounded up.
    const TICK: Duration = Duration::from_millis(2);
    /// Capacity of a connection in each direction.
    const CAPACITY: usize = 16 * 1024;

    /// A listener whose connections are in memory: the clock is paused, and advances when every task waits for it.
    struct World {
        listener: Listener<Router>,
        open: GracefulShutdown,
    }

    fn world() -> World {
        let slow = async || {
            sleep(SLOW).await;
            "slow"
        };
        let service = Router::new()
            .route("/", get(async || "hello").post(async |body: String| body))
            .route("/unread", get(async || "unread").post(async || (StatusCode::FORBIDDEN, "unread")))
            .route("/slow", get(slow))
            .route("/large", get(async || vec![0_u8; 1 << 20]));
        let config =
            Config::load(None, [("ROOKERY_CONNECTIONS_MAX_PER_ADDRESS".to_owned(), "8".to_owned())].into_iter());
        let mut listener = Listener::new(service, &config.unwrap());
        listener.timeouts = Timeouts { head: HEAD, idle: IDLE, stall: STALL };
        World { listener, open: GracefulShutdown::new() }
    }

    impl World {
        /// A connection from one address; `None` beyond the cap.
        fn connect(&self) -> Option<DuplexStream> {
            let (client, server) = tokio::io::duplex(CAPACITY);
            let peer: SocketAddr = ([192, 0, 2, 1], 1).into();
            let place = self.listener.admission.admit(peer.ip())?;
            self.listener.connect(server, peer, place, &self.open);
            Some(client)
        }

        /// Waits until no connection is open; how long that took.
        async fn emptied(&self) -> Duration {
            let begun = Instant::now();
            while self.listener.admission.open() > 0 {
                sleep(Duration::from_millis(1)).await;
            }
            begun.elapsed()
        }
    }

    fn is_about(time: Duration, expected: Duration) -> bool {
        time >= expected && time <= expected + TICK
    }

    async fn send(stream: &mut DuplexStream, text: &str) {
        stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// All that the server sends until it closes the connection.
    async fn rest(stream: &mut DuplexStream) -> String {
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        String::from_utf8(response).unwrap()
    }

    /// The next response of the connection, which has a content length.
    async fn response(stream: &mut DuplexStream) -> String {
        let mut response = Vec::new();
        loop {
            response.push(stream.read_u8().await.unwrap());
            let text = String::from_utf8_lossy(&response);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.split_once("content-length: ").unwrap().1;
            if body.len() == length.split("\r\n").next().unwrap().parse::<usize>().unwrap() {
                return text.into_owned();
            }
        }
    }

    async fn answer_of(stream: &mut DuplexStream, path: &str) -> String {
        send(stream, &format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        response(stream).await
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_head_is_not_waited_for() {
        let world = world();
        let mut silent = world.connect().unwrap();
        let mut dripping = world.connect().unwrap();
        let begun = Instant::now();
        for byte in ["G", "E", "T", " "] {
            send(&mut dripping, byte).await;
            sleep(HEAD / 5).await;
        }
        assert_eq!(rest(&mut silent).await, "");
        assert_eq!(rest(&mut dripping).await, "");
        assert!(is_about(begun.elapsed(), HEAD), "{:?}", begun.elapsed());

        let mut second = world.connect().unwrap();
        answer_of(&mut second, "/").await;
        sleep(HEAD / 2).await;
        let begun = Instant::now();
        send(&mut second, "GET / HT").await;
        assert_eq!(rest(&mut second).await, "");
        assert!(is_about(begun.elapsed(), HEAD), "{:?}", begun.elapsed());
        world.emptied().await;
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_is_closed_and_one_in_use_is_not() {
        let world = world();
        let mut stream = world.connect().unwrap();
        for _ in 0..5 {
            // Together longer than the time limit for idleness, apart longer than the one for a head.
            assert!(answer_of(&mut stream, "/").await.ends_with("hello"));
            sleep(HEAD + Duration::from_millis(50)).await;
        }
        assert!(answer_of(&mut stream, "/slow").await.ends_with("slow"), "a handler has time limits of its own");
        let begun = Instant::now();
        assert_eq!(rest(&mut stream).await, "");
        assert!(is_about(begun.elapsed(), IDLE), "{:?}", begun.elapsed());
        world.emptied().await;
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_body_is_not_waited_for() {
        let world = world();
        let mut stream = world.connect().unwrap();
        send(&mut stream, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n").await;
        for byte in ["a", "b", "c"] {
            sleep(STALL / 2).await;
            send(&mut stream, byte).await;
        }
        let begun = Instant::now();
        let response = response(&mut stream).await;
        assert!(is_about(begun.elapsed(), STALL), "{:?}", begun.elapsed());
        assert!(response.starts_with("HTTP/1.1 4") && response.contains("connection: close\r\n"), "{response}");
        drop(stream);
        world.emptied().await;
    }

    /// Two requests whose bodies their handler does not read, each sent after its head: the connection stays.
    #[tokio::test(start_paused = true)]
    async fn unread_body_leaves_the_connection_to_the_next_request() {
        let world = world();
        let mut stream = world.connect().unwrap();
        let chunked = ("transfer-encoding: chunked", "5\r\nhello\r\n0\r\n\r\n".to_owned());
        let sized = |length: usize| (format!("content-length: {length}"), "x".repeat(length));
        let bodies = [(chunked.0.to_owned(), chunked.1), sized(1), sized(64 * 1024)];
        for (length, body) in bodies.iter().chain(&bodies) {
            for method in ["POST", "GET"] {
                send(&mut stream, &format!("{method} /unread HTTP/1.1\r\nhost: a\r\n{length}\r\n\r\n")).await;
                sleep(Duration::from_millis(900)).await;
                send(&mut stream, body).await;
                let response = response(&mut stream).await;
                assert!(
                    response.ends_with("unread") && !response.contains("connection: close"),
                    "{length}: {response}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connection_that_ends_after_an_unread_body_says_so_and_lingers() {
        let world = world();
        let large = format!("content-length: {}\r\n", 64 * 1024 + 1);
        let heads = [
            (large.as_str(), Duration::ZERO),
            ("expect: 100-continue\r\ncontent-length: 5\r\n", Duration::ZERO),
            ("content-length: 5\r\n", Duration::from_secs(1)),
            ("transfer-encoding: chunked\r\n", Duration::from_secs(1)),
        ];
        for (head, waited) in heads {
            let mut stream = world.connect().unwrap();
            let begun = Instant::now();
            send(&mut stream, &format!("POST /unread HTTP/1.1\r\nhost: a\r\n{head}\r\n")).await;
            let response = response(&mut stream).await;
            assert!(
                response.starts_with("HTTP/1.1 403") && response.contains("connection: close\r\n"),
                "{head}: {response}"
            );
            assert!(is_about(begun.elapsed(), waited), "{head}: {:?}", begun.elapsed());
            // The rest is taken, so that the client gets to read the response.
            for _ in 0..8 {
                sleep(Duration::from_secs(3)).await;
                send(&mut stream, &"x".repeat(CAPACITY)).await;
            }
            assert_eq!(rest(&mut stream).await, "");
            drop(stream);
            assert!(world.emptied().await < Duration::from_millis(5));
        }
        let mut stream = world.connect().unwrap();
        send(&mut stream, &format!("POST /unread HTTP/1.1\r\nhost: a\r\n{large}\r\n")).await;
        response(&mut stream).await;
        assert!(is_about(world.emptied().await, Duration::from_secs(5)), "a silent client is not waited for");
        let mut stream = world.connect().unwrap();
        send(&mut stream, &format!("POST /unread HTTP/1.1\r\nhost: a\r\n{large}\r\n")).await;
        let begun = Instant::now();
        while stream.write_all(b"x").await.is_ok() {
            sleep(Duration::from_secs(1)).await;
        }
        assert!(is_about(begun.elapsed(), Duration::from_secs(31)), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn response_that_the_client_does_not_read_is_dropped() {
        let world = world();
        let mut stream = world.connect().unwrap();
        send(&mut stream, "GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let time = world.emptied().await;
        assert!(is_about(time, STALL), "{time:?}");
        drop(stream);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_beyond_the_cap_are_refused() {
        let world = world();
        let mut open = Vec::new();
        for _ in 0..8 {
            let mut stream = world.connect().unwrap();
            assert!(answer_of(&mut stream, "/").await.ends_with("hello"));
            open.push(stream);
        }
        assert!(world.connect().is_none());
        drop(open);
        world.emptied().await;
        assert!(answer_of(&mut world.connect().unwrap(), "/").await.ends_with("hello"));
    }

    #[tokio::test(start_paused = true)]
    async fn stopping_server_answers_requests_that_have_begun() {
        let world = world();
        let (mut idle, mut busy) = (world.connect().unwrap(), world.connect().unwrap());
        answer_of(&mut idle, "/").await;
        let answer = tokio::spawn(async move { answer_of(&mut busy, "/slow").await });
        sleep(HEAD / 2).await;
        let begun = Instant::now();
        world.open.shutdown().await;
        assert!(is_about(begun.elapsed(), SLOW - HEAD / 2), "{:?}", begun.elapsed());
        assert_eq!(rest(&mut idle).await, "");
        assert!(answer.await.unwrap().ends_with("slow"));
    }

    #[tokio::test]
    async fn listener_stops_on_shutdown() {
        let (world, socket) = (world(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = socket.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        let served = tokio::spawn(world.listener.serve(socket, stopped));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.ends_with("hello"), "{response}");
        stop.send(true).unwrap();
        timeout(Duration::from_secs(60), served).await.expect("it stops").unwrap();
    }
}
