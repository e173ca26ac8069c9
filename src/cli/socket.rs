//! Client of the admin socket of the server that runs here.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use rookery_core::Cx;
use rookery_server::socket;
use terminal::Failure;

/// The server's answer; `None` when no server runs here.
pub(super) async fn get(cx: &Cx, path: &str) -> Result<Option<Value>, Failure> {
    ask(cx, "GET", path, None).await
}

/// Like [`get`], with a body.
pub(super) async fn post(cx: &Cx, path: &str, body: &Value) -> Result<Option<Value>, Failure> {
    ask(cx, "POST", path, Some(body)).await
}

async fn ask(cx: &Cx, method: &str, path: &str, body: Option<&Value>) -> Result<Option<Value>, Failure> {
    let mut stream = match UnixStream::connect(socket::path(cx)).await {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
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
