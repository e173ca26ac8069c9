//! Client of the admin socket of the server that runs here.
//!
//! Every command that changes something ends with [`refresh()`]; the commands of `rookery plugin` are requests themselves.
//! Without a server nothing is sent: the socket is missing, or the socket of a killed server refuses the connection.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

use context::Cx;
use rookery_server::{refresh, socket};
use terminal::{Failure, Output};

/// How long a command waits until its change holds in the server. It takes milliseconds, unless the server hangs.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

/// Lets the server on this machine, if one runs, apply the committed change, and waits for it.
///
/// A missing confirmation is not an error, since the change is committed: it is reported on standard error.
pub(super) async fn refresh(cx: &Cx, output: Output) {
    let late = |_| Err(Failure::new("it did not answer in time"));
    let refreshed = timeout(REFRESH_TIMEOUT, send(cx, "POST", refresh::PATH, None)).await.unwrap_or_else(late);
    if let Err(failure) = refreshed {
        let why = failure.text();
        output.warn(&format!("the server did not confirm the change, and notices it within a second by itself: {why}"));
    }
}

/// The server's answer; `None` when no server runs here.
#[cfg(feature = "plugins")]
pub(super) async fn get(cx: &Cx, path: &str) -> Result<Option<Value>, Failure> {
    send(cx, "GET", path, None).await
}

/// Like [`get`], with a body.
#[cfg(feature = "plugins")]
pub(super) async fn post(cx: &Cx, path: &str, body: &Value) -> Result<Option<Value>, Failure> {
    send(cx, "POST", path, Some(body)).await
}

async fn send(cx: &Cx, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>, Failure> {
    let mut stream = match UnixStream::connect(socket::path(cx)).await {
        Err(error) if is_absent(&error) => return Ok(None),
        stream => stream.map_err(|error| Failure::new(format!("the server's socket: {error}")))?,
    };
    let body = body.map(ToString::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = Vec::new();
    let spoken = async {
        stream.write_all(head.as_bytes()).await?;
        stream.read_to_end(&mut answer).await
    };
    spoken.await.map_err(|error| Failure::new(format!("the server's socket: {error}")))?;
    read(&answer).map(Some)
}

/// True when no server listens. `InvalidInput` means a path that is too long for a socket, which no server created.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, InvalidInput, NotFound};
    matches!(error.kind(), NotFound | ConnectionRefused | InvalidInput)
}

/// Parses a response. Does not support chunked encoding, which the admin routes never use.
fn read(answer: &[u8]) -> Result<Value, Failure> {
    let broken = || Failure::new("the server's answer makes no sense: is it of another version?");
    let text = std::str::from_utf8(answer).map_err(|_| broken())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    let body: Value = serde_json::from_str(body).map_err(|_| broken())?;
    if status == 200 {
        return Ok(body);
    }
    let error = body.get("error").and_then(Value::as_str).unwrap_or("the server failed");
    Err(Failure::new(error))
}
