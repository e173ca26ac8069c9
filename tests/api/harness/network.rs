//! Servers that reach one another: each listens on a port of this machine, which is part of its domain.

use std::ops::Deref;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{Client, TestApp};

/// How many rounds of jobs it takes at most until nothing more is sent.
const ROUNDS: usize = 6;

/// A server that others reach.
pub struct Peer {
    app: TestApp,
    /// Host and port.
    pub domain: String,
    _stop: watch::Sender<bool>,
}

impl Deref for Peer {
    type Target = TestApp;
    fn deref(&self) -> &TestApp {
        &self.app
    }
}

impl TestApp {
    /// Where the file of another server is that clients load from the address `address` here.
    pub async fn origin(&self, address: &Value) -> String {
        let address = address.as_str().expect("an address");
        let path = address.split_once("/media/remote/").unwrap_or_else(|| panic!("{address} is no file")).1;
        let [kind, id, ..] = path.split('/').collect::<Vec<_>>()[..] else { panic!("{address}") };
        let named = store::remote_file::find_named(self.db(), kind.parse().unwrap(), id.parse().unwrap()).await;
        named.unwrap().unwrap_or_else(|| panic!("nothing names {address}")).url
    }
}

impl Peer {
    pub async fn start() -> Self {
        Self::with(false, &[]).await
    }

    /// As [`Peer::start`], with further configuration keys; `in_file`: on SQLite in any case.
    pub async fn with(in_file: bool, keys: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let domain = listener.local_addr().unwrap().to_string();
        let mut all = vec![("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8")];
        all.extend_from_slice(keys);
        let app = TestApp::with_domain(&domain, in_file, &all).await;
        let (stop, stopped) = watch::channel(false);
        let (service, config) = (app.served(), app.app.config.clone());
        tokio::spawn(async move { rookery_server::serve_connections(service, &config, listener, stopped).await });
        Self { app, domain, _stop: stop }
    }

    /// Two servers, on both engines where PostgreSQL is there.
    pub async fn pair() -> [Self; 2] {
        [Self::start().await, Self::with(true, &[]).await]
    }

    /// The address of `person`, one of this server's.
    pub fn address(&self, person: &Client) -> String {
        format!("{}@{}", person.name, self.domain)
    }

    /// `person`, of another server, as an account here: found by `viewer` as apps find accounts.
    pub async fn find(&self, viewer: &Client, address: &str) -> Value {
        let path = format!("/api/v2/search?q=@{address}&resolve=true&type=accounts");
        let found = viewer.get(&path).ok().await;
        found["accounts"].get(0).cloned().unwrap_or_else(|| panic!("{address} was not found: {found}"))
    }
}

/// Runs the jobs of all servers until nothing is on its way between them.
pub async fn settle(peers: &[Peer]) {
    for _ in 0..ROUNDS {
        for peer in peers {
            peer.run_jobs().await;
        }
    }
}
