//! The admin socket: a Unix socket in the data folder, over which commands of `rookery` reach the server of this
//! machine.
//!
//! Serves the admin routes of plugins, for `rookery plugin`, and [`refresh`], for every command that changes something.
//! Only the user that runs the server and root may connect; there are no tokens.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use axum::routing::post;
use axum::serve::Listener;
use axum::{Extension, Router};
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use crate::{platform, refresh};
use context::Cx;
use rookery_http::extract::auth::ViaAdminSocket;
use rookery_http::router::standalone;

/// Path of the socket for this configuration.
#[must_use]
pub fn path(cx: &Cx) -> PathBuf {
    cx.config.storage.data_dir.join("admin.sock")
}

/// Serves the socket until the server stops.
///
/// # Errors
/// When the socket cannot be created.
pub fn serve(cx: &Cx, mut stopped: watch::Receiver<bool>) -> io::Result<()> {
    let path = path(cx);
    let listener = Own(bind(&path)?);
    let refresh = Router::new().route(refresh::PATH, post(refresh::apply)).with_state(cx.clone());
    let administration = standalone(cx.clone(), platform::administration(cx));
    let router = refresh.merge(administration).layer(Extension(ViaAdminSocket));
    tokio::spawn(async move {
        let stop = async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stop).await {
            tracing::error!(%error, "the admin socket ended");
        }
        let _ = std::fs::remove_file(path);
    });
    Ok(())
}

/// Binds the socket, replacing one that a killed server left behind.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Accepts connections only from the user that runs the server, and root: also before the file mode is set.
struct Own(UnixListener);

impl Listener for Own {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (UnixStream, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.0).await;
            let own = rustix::process::geteuid().as_raw();
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own || peer.uid() == 0 => return (stream, address),
                Ok(_) | Err(_) => tracing::warn!("another user tried to speak to the admin socket"),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
