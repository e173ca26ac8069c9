//! Object storage for tests: an S3 server in this process, with its objects in a folder.
//!
//! It runs on a thread of its own, since the runtime of a test ends with it, and child processes reach it by its port.

use std::net::TcpListener;
use std::path::Path;

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
        Self { endpoint, _stop: stop }
    }
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
