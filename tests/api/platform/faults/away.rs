//! PostgreSQL that is unreachable for a while.

use std::path::PathBuf;

use database::Engine;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

use super::{published, until_ready};
use crate::harness::TestApp;

const AWAY: &str = "The database cannot be reached: try again later";

/// A proxy between a server and PostgreSQL that can cut all connections.
struct Proxy {
    url: String,
    open: watch::Sender<bool>,
}

/// Where PostgreSQL listens.
#[derive(Clone)]
enum Place {
    Socket(PathBuf),
    Address(String),
}

impl Proxy {
    async fn before(url: &str) -> Self {
        let mut url = url::Url::parse(url).unwrap();
        let folder = url.query_pairs().find(|(name, _)| name == "host").map(|(_, folder)| folder.into_owned());
        let port = url.port().unwrap_or(5432);
        let place = match folder {
            Some(folder) => Place::Socket(PathBuf::from(folder).join(format!(".s.PGSQL.{port}"))),
            None => Place::Address(format!("{}:{port}", url.host_str().unwrap_or("localhost"))),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        url.set_query(None);
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let (open, opened) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass_on(client, place.clone(), opened.clone()));
            }
        });
        Self { url: url.into(), open }
    }

    fn set(&self, open: bool) {
        self.open.send(open).unwrap();
    }
}

/// Forwards the bytes of `client` until connections are cut.
async fn pass_on(mut client: TcpStream, place: Place, mut open: watch::Receiver<bool>) {
    if !*open.borrow() {
        return;
    }
    let passing = async {
        match place {
            Place::Socket(path) => copy_bidirectional(&mut client, &mut UnixStream::connect(path).await?).await,
            Place::Address(address) => copy_bidirectional(&mut client, &mut TcpStream::connect(address).await?).await,
        }
    };
    tokio::select! {
        _ = passing => {}
        _ = open.wait_for(|open| !open) => {}
    }
}

#[tokio::test]
async fn postgres_is_used_again_after_outage_without_errors() {
    let direct = TestApp::new().await;
    if direct.db().engine() == Engine::Sqlite {
        return;
    }
    let proxy = Proxy::before(direct.app.config.database.url.expose()).await;
    let app =
        direct.beside(&[("ROOKERY_DATABASE_URL", &proxy.url), ("ROOKERY_DATABASE_ACQUIRE_TIMEOUT_SECONDS", "2")]).await;
    let alice = app.account("alice").await;
    app.known(&alice).await;
    alice.publish("before").await;
    // Several connections are open and idle.
    let home = || alice.get("/api/v1/timelines/home").send();
    tokio::join!(home(), home(), home(), home());

    proxy.set(false);
    for _ in 0..3 {
        assert_eq!(app.anonymous().get("/api/v1/timelines/public").fails(503).await, AWAY);
        alice.post("/api/v1/statuses").form(&[("status", "no")]).fails(503).await;
    }
    let ready = app.anonymous().get("/readyz").send().await;
    assert_eq!((ready.status.as_u16(), ready.text().as_str()), (503, AWAY));

    proxy.set(true);
    alice.publish("after").await;
    for answer in [home().await, home().await, home().await, home().await, home().await] {
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(published(&alice).await, ["<p>after</p>", "<p>before</p>"]);
    until_ready(&app).await;
}
