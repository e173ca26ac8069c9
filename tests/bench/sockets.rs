//! Clients of streams by WebSocket (RFC 6455).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

use crate::data::DOMAIN;

/// A frame of the server.
#[derive(Debug)]
pub enum Frame {
    Text(Vec<u8>),
    /// Code and reason.
    Close(u16, String),
    Ping,
    Other,
}

/// The response to a ping without payload, masked like all frames of clients.
pub const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

/// Opens a WebSocket that counts text frames in `received`.
pub async fn connect(address: SocketAddr, token: &str, received: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let stream = shake_hands(stream, token).await.expect("the server lets everybody in");
    let received = Arc::clone(received);
    tokio::spawn(async move {
        let mut stream = BufReader::with_capacity(4096, stream);
        while let Ok(text) = skip(&mut stream).await {
            received.fetch_add(usize::from(text), Ordering::AcqRel);
        }
    })
}

/// Opens a WebSocket with small buffers for unread data, as on the way to a telephone: the local network would buffer
/// megabytes.
pub async fn connect_narrowly(address: SocketAddr, token: &str) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.set_tcp_mss(1_400).expect("a TCP option");
    socket.set_recv_buffer_size(4_096).expect("a TCP option");
    socket.set_nonblocking(true).expect("a TCP option");
    let stream = TcpSocket::from_std_stream(socket.into()).connect(address).await.expect("the server listens");
    shake_hands(stream, token).await.expect("the server lets everybody in")
}

/// Switches to WebSocket, subscribed to `user`; the error is the head of the response if the server does not switch.
pub async fn shake_hands(mut stream: TcpStream, token: &str) -> std::io::Result<TcpStream> {
    let request = format!(
        "GET /api/v1/streaming?stream=user HTTP/1.1\r\nHost: {DOMAIN}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    if head.starts_with(b"HTTP/1.1 101") {
        return Ok(stream);
    }
    Err(std::io::Error::other(String::from_utf8_lossy(&head).into_owned()))
}

/// Reads and discards an unmasked frame of the server; true for text.
async fn skip(stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let (kind, length) = head(stream).await?;
    let mut payload = stream.take(length);
    tokio::io::copy(&mut payload, &mut tokio::io::sink()).await?;
    Ok(kind == 1)
}

/// Reads a frame of the server.
pub async fn frame(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Frame> {
    let (kind, length) = head(stream).await?;
    let mut payload = vec![0; usize::try_from(length).expect("a length")];
    stream.read_exact(&mut payload).await?;
    Ok(match (kind, &payload[..]) {
        (1, _) => Frame::Text(payload),
        (8, [first, second, reason @ ..]) => {
            Frame::Close(u16::from_be_bytes([*first, *second]), String::from_utf8_lossy(reason).into_owned())
        }
        (9, _) => Frame::Ping,
        _ => Frame::Other,
    })
}

/// The kind of a frame, and the length of its payload.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(u8, u64)> {
    let first = stream.read_u8().await?;
    let length = match stream.read_u8().await? & 0x7f {
        126 => u64::from(stream.read_u16().await?),
        127 => stream.read_u64().await?,
        short => u64::from(short),
    };
    Ok((first & 0x0f, length))
}
