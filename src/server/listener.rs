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
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Service;

use crate::admission::{Admission, Place};
use crate::connection::{Activity, Answer, Open, Timed, Timeouts};
use config::Config;
use http::router::Server;

/// The largest head of a request, and what is kept of a body that nobody reads; in bytes, per connection.
const BUFFER_BYTES: usize = 64 * 1024;
/// Before accepting again, when the machine has no more file descriptors.
const EXHAUSTED: Duration = Duration::from_secs(1);

/// The status of a response after which a connection is no longer HTTP.
const SWITCHING_PROTOCOLS: u16 = 101;

/// Answers connections to `listener` by `server` until `stopped` is true, and then until requests that have begun are
/// answered.
pub async fn serve(server: Server, config: &Config, listener: TcpListener, stopped: watch::Receiver<bool>) {
    Listener::new(server, config).serve(listener, stopped).await;
}

/// What is served, and how.
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
        // Responses are small and written at once: Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
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

/// Answers the requests of one connection. How it ends is the client's business: most errors are that it went away.
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
    type Response = axum::http::Response<Answer>;
    type Error = Infallible;
    type Future = Answering<S::Future>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let open = self.activity.begin();
        let mut request: Request = request.map(|body| self.activity.body(body));
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let answer = self.service.clone().call(request);
        Answering { answer, open: Some(open), activity: Arc::clone(&self.activity) }
    }
}

/// A request that is being answered.
struct Answering<F> {
    answer: F,
    /// `None` once there is a response.
    open: Option<Open>,
    activity: Arc<Activity>,
}

impl<F: Future<Output = Result<Response, Infallible>> + Unpin> Future for Answering<F> {
    type Output = Result<axum::http::Response<Answer>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Ok(response) = ready!(Pin::new(&mut this.answer).poll(cx));
        if response.status().as_u16() == SWITCHING_PROTOCOLS {
            this.activity.upgrade();
        }
        let open = this.open.take().unwrap_or_else(|| this.activity.begin());
        Poll::Ready(Ok(response.map(|body: Body| Answer::new(body, open))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::{Instant, sleep, timeout};

    const HEAD: Duration = Duration::from_millis(300);
    const IDLE: Duration = Duration::from_millis(900);
    const STALL: Duration = Duration::from_millis(400);
    /// More than any of them, for a busy machine.
    const PATIENCE: Duration = Duration::from_secs(20);

    struct World {
        address: SocketAddr,
        admission: Arc<Admission>,
        stop: watch::Sender<bool>,
        served: tokio::task::JoinHandle<()>,
    }

    async fn world() -> World {
        let slow = async || {
            sleep(Duration::from_millis(1_500)).await;
            "slow"
        };
        let service = Router::new()
            .route("/", get(async || "hello").post(async |body: String| body))
            .route("/slow", get(slow))
            .route("/large", get(async || vec![0_u8; 64 << 20]));
        let config =
            Config::load(None, [("ROOKERY_CONNECTIONS_MAX_PER_ADDRESS".to_owned(), "8".to_owned())].into_iter());
        let mut listener = Listener::new(service, &config.unwrap());
        listener.timeouts = Timeouts { head: HEAD, idle: IDLE, stall: STALL };
        let admission = Arc::clone(&listener.admission);
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let (stop, stopped) = watch::channel(false);
        World { address, admission, stop, served: tokio::spawn(listener.serve(socket, stopped)) }
    }

    impl World {
        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.unwrap()
        }

        /// Waits until no connection is open; how long that took.
        async fn emptied(&self) -> Duration {
            let begun = Instant::now();
            while self.admission.open() > 0 {
                assert!(begun.elapsed() < PATIENCE, "{} connections are still open", self.admission.open());
                sleep(Duration::from_millis(10)).await;
            }
            begun.elapsed()
        }
    }

    async fn send(stream: &mut TcpStream, text: &str) {
        stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// What the server says until it closes the connection.
    async fn rest(stream: &mut TcpStream) -> String {
        let mut said = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut said)).await.expect("the server closes the connection");
        String::from_utf8(said).unwrap()
    }

    async fn answer_of(stream: &mut TcpStream, path: &str) -> String {
        send(stream, &format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let mut buffer = vec![0; 4096];
        let length = timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    #[tokio::test]
    async fn half_a_head_is_not_waited_for() {
        let world = world().await;
        let mut silent = world.connect().await;
        let mut dripping = world.connect().await;
        for byte in ["G", "E", "T", " "] {
            send(&mut dripping, byte).await;
            sleep(HEAD / 5).await;
        }
        assert_eq!(rest(&mut silent).await, "");
        assert_eq!(rest(&mut dripping).await, "");

        let mut second = world.connect().await;
        answer_of(&mut second, "/").await;
        sleep(HEAD / 2).await;
        let begun = Instant::now();
        send(&mut second, "GET / HT").await;
        assert_eq!(rest(&mut second).await, "");
        assert!(begun.elapsed() >= HEAD / 2 && begun.elapsed() < IDLE, "{:?}", begun.elapsed());
        world.emptied().await;
    }

    #[tokio::test]
    async fn idle_connection_is_closed_and_one_in_use_is_not() {
        let world = world().await;
        let mut stream = world.connect().await;
        for _ in 0..5 {
            // Together longer than the time limit for idleness, apart longer than that for a head.
            assert!(answer_of(&mut stream, "/").await.ends_with("hello"));
            sleep(HEAD + Duration::from_millis(50)).await;
        }
        assert!(answer_of(&mut stream, "/slow").await.ends_with("slow"), "a handler has time limits of its own");
        let begun = Instant::now();
        assert_eq!(rest(&mut stream).await, "");
        assert!(begun.elapsed() >= IDLE / 2, "{:?}", begun.elapsed());
        world.emptied().await;
    }

    #[tokio::test]
    async fn stalled_body_is_not_waited_for() {
        let world = world().await;
        let mut stream = world.connect().await;
        send(&mut stream, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n").await;
        for byte in ["a", "b", "c"] {
            sleep(STALL / 2).await;
            send(&mut stream, byte).await;
        }
        let said = rest(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 4"), "{said}");
        world.emptied().await;
    }

    #[tokio::test]
    async fn answer_that_nobody_takes_is_given_up() {
        let world = world().await;
        let mut stream = world.connect().await;
        send(&mut stream, "GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await;
        sleep(Duration::from_millis(50)).await;
        assert!(world.emptied().await >= STALL / 2);
        drop(stream);
    }

    #[tokio::test]
    async fn connections_beyond_the_cap_are_closed_unheard() {
        let world = world().await;
        let mut open = Vec::new();
        for _ in 0..8 {
            let mut stream = world.connect().await;
            assert!(answer_of(&mut stream, "/").await.ends_with("hello"));
            open.push(stream);
        }
        let mut ninth = world.connect().await;
        assert_eq!(rest(&mut ninth).await, "");
        drop(open);
        world.emptied().await;
        assert!(answer_of(&mut world.connect().await, "/").await.ends_with("hello"));
    }

    #[tokio::test]
    async fn stopping_server_answers_what_has_begun() {
        let world = world().await;
        let (mut idle, mut busy) = (world.connect().await, world.connect().await);
        answer_of(&mut idle, "/").await;
        let answer = tokio::spawn(async move { answer_of(&mut busy, "/slow").await });
        sleep(HEAD / 2).await;
        world.stop.send(true).unwrap();
        assert_eq!(rest(&mut idle).await, "");
        assert!(answer.await.unwrap().ends_with("slow"));
        timeout(PATIENCE, world.served).await.unwrap().unwrap();
    }
}
