//! A small load generator: keep-alive HTTP/1.1 over plain TCP, one request in flight per connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Maximum number of requests, and of time.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub requests: usize,
    pub time: Duration,
}

/// Measurements of a run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub requests: usize,
    pub elapsed: Duration,
    pub p50: Duration,
    pub p99: Duration,
}

impl Run {
    pub fn per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Makes the bytes of the request with this number.
pub type Requests = Arc<dyn Fn(usize) -> Vec<u8> + Send + Sync>;

/// Keeps `concurrency` requests in flight until `amount` is used up. Panics at an unsuccessful response.
pub async fn run(
    address: SocketAddr,
    concurrency: usize,
    amount: Amount,
    requests: &Requests,
    next: &Arc<AtomicUsize>,
) -> Run {
    let left = Arc::new(AtomicUsize::new(amount.requests));
    let start = Instant::now();
    let tasks: Vec<_> = (0..concurrency)
        .map(|_| {
            let (requests, next, left) = (Arc::clone(requests), Arc::clone(next), Arc::clone(&left));
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                let mut latencies = Vec::new();
                while start.elapsed() < amount.time && take(&left) {
                    let request = requests(next.fetch_add(1, Ordering::Relaxed));
                    let sent = Instant::now();
                    connection.ask(&request).await;
                    latencies.push(sent.elapsed());
                }
                latencies
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await.expect("a connection failed"));
    }
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    let at = |share: f64| latencies.get((latencies.len() as f64 * share) as usize).copied().unwrap_or_default();
    Run { requests: latencies.len(), elapsed, p50: at(0.5), p99: at(0.99) }
}

fn take(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// A connection that stays open.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Head of the last response, in lower case.
    head: String,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("a TCP option");
        Self { stream, buffer: Vec::with_capacity(64 * 1024), head: String::new() }
    }

    /// A connection, if the address accepts it.
    pub async fn try_open(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).expect("a TCP option");
        Some(Self { stream, buffer: Vec::with_capacity(64 * 1024), head: String::new() })
    }

    /// As [`Connection::try_ask`]; `None` if the connection ends before the response.
    pub async fn attempt(&mut self, request: &[u8]) -> Option<Result<Vec<u8>, String>> {
        self.stream.write_all(request).await.ok()?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.read_some().await?;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        let length: usize = field(&text, "content-length")?.parse().ok()?;
        while self.buffer.len() < head + length {
            self.read_some().await?;
        }
        let body = self.buffer[head..head + length].to_vec();
        match text.split(' ').nth(1) {
            Some(status) if status.starts_with('2') => Some(Ok(body)),
            _ => Some(Err(text)),
        }
    }

    async fn read_some(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.buffer).await.ok()?;
        (read > 0).then_some(())
    }

    /// Sends a request and returns the body of the response, which must be a success.
    pub async fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        self.try_ask(request).await.unwrap_or_else(|answer| panic!("{}: {answer}", String::from_utf8_lossy(request)))
    }

    /// As [`Connection::ask`]; an unsuccessful response is the error.
    pub async fn try_ask(&mut self, request: &[u8]) -> Result<Vec<u8>, String> {
        self.stream.write_all(request).await.expect("a request is sent");
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.read().await;
        };
        let text = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        let body = match field(&text, "content-length") {
            Some(length) => self.whole(head, length.parse().expect("a number")).await,
            None if field(&text, "transfer-encoding") == Some("chunked") => self.chunks(head).await,
            None => panic!("an answer without a length: {text}"),
        };
        self.head.clone_from(&text);
        match text.split(' ').nth(1) {
            Some(status) if status.starts_with('2') => Ok(body),
            _ => Err(format!("{text}{}", String::from_utf8_lossy(&body))),
        }
    }

    /// A header of the last response.
    pub fn header(&self, name: &str) -> Option<String> {
        field(&self.head, name).map(str::to_owned)
    }

    /// `length` bytes of the buffer from `start` on.
    async fn whole(&mut self, start: usize, length: usize) -> Vec<u8> {
        while self.buffer.len() < start + length {
            self.read().await;
        }
        self.buffer[start..start + length].to_vec()
    }

    /// A chunked body that starts at `start`, as other servers send: RFC 9112, section 7.1.
    async fn chunks(&mut self, mut start: usize) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let Some(end) = find(&self.buffer[start..], b"\r\n") else {
                self.read().await;
                continue;
            };
            let size = String::from_utf8_lossy(&self.buffer[start..start + end]).into_owned();
            let size =
                usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).expect("the size of a chunk");
            let data = start + end + 2;
            let chunk = self.whole(data, size + 2).await;
            if size == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..size]);
            start = data + size + 2;
        }
    }

    async fn read(&mut self) {
        let read = tokio::time::timeout(Duration::from_secs(20), self.stream.read_buf(&mut self.buffer)).await;
        let read = read.expect("an answer within 20 seconds").expect("an answer arrives");
        assert!(read > 0, "the server closed the connection");
    }
}

/// A header of a response whose head is in lower case.
fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| *key == name).map(|(_, value)| value.trim())
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// The bytes of a request. `body` is JSON.
pub fn request(method: &str, path: &str, host: &str, token: Option<&str>, body: Option<&str>) -> Vec<u8> {
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let length = body
        .map_or(String::new(), |body| format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{token}{length}\r\n{}", body.unwrap_or_default()).into_bytes()
}
