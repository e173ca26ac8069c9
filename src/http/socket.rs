//! The socket by which the command line speaks with a running server: the admin's routes, for the user that runs it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use axum::Extension;
use axum::serve::Listener;
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::extract::auth::Local;
use super::router;
use crate::app::App;

/// Where the socket of the server with this configuration is.
#[must_use]
pub fn path(app: &App) -> PathBuf {
    app.config.storage.data_dir.join("admin.sock")
}

/// Listens until the server stops.
///
/// # Errors
/// When the socket cannot be made.
pub fn serve(app: App, mut stopped: watch::Receiver<bool>) -> io::Result<()> {
    let path = path(&app);
    let listener = Own(bind(&path)?);
    let router = router::admin().layer(Extension(Local)).with_state(app);
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

/// In the place of one that a server left which was killed.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Accepts only the user that runs the server, and root: also in the moment before the permissions are set.
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
