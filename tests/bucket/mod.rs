//! Object storage for tests: an S3 server in this process, with its objects in a folder.
//!
//! It runs on a thread of its own, since the runtime of a test ends with it, and child processes reach it by its port.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{S3Result, s3_error};
use tokio::sync::oneshot;

/// The access key of the server, and its secret.
pub const KEY: (&str, &str) = ("test", "the secret of tests");

/// The bucket that exists.
pub const BUCKET: &str = "media";

/// Who may do what, checked before the operation.
struct Access;

#[async_trait::async_trait]
impl S3Access for Access {
    /// Everyone may read objects, as behind a CDN; the holder of the key may do everything. The storage of the server
    /// would create a missing bucket.
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        if cx.credentials().is_none() && cx.s3_op().name() != "GetObject" {
            return Err(s3_error!(AccessDenied));
        }
        if cx.s3_path().get_bucket_name() == Some(BUCKET) { Ok(()) } else { Err(s3_error!(NoSuchBucket)) }
    }
}

/// A running S3 server; it stops when it is dropped.
#[derive(Debug)]
pub struct BucketServer {
    /// Its URL.
    pub endpoint: String,
    /// Where the objects of [`BUCKET`] are, under their names.
    folder: PathBuf,
    _stop: oneshot::Sender<()>,
}

impl BucketServer {
    /// Starts a server with an empty [`BUCKET`] in the folder at `path`, which is created.
    pub fn start(path: &Path) -> Self {
        std::fs::create_dir_all(path.join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(s3s_fs::FileSystem::new(path).unwrap());
        service.set_auth(SimpleAuth::from_single(KEY.0, KEY.1));
        service.set_access(Access);
        let service = service.build();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, service) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { endpoint, folder: path.join(BUCKET), _stop: stop }
    }

    /// Where the objects are whose names begin with `prefix`.
    pub fn folder(&self, prefix: &str) -> PathBuf {
        self.folder.join(prefix)
    }

    /// How many objects there are.
    pub fn objects(&self) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        count(&self.folder)
    }
}

/// The response to `GET url`: its head, and its body.
pub fn fetch(url: &str) -> (String, Vec<u8>) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let body = response.split_off(end + 4);
    (String::from_utf8(response).unwrap(), body)
}

async fn serve(listener: TcpListener, service: S3Service) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let service = service.clone();
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
