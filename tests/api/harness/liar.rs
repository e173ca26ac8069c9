//! A peer that lies: a server on a port of this machine, of which a test chooses every answer, header and silence.
//!
//! [`Liar::person`] adds a well-formed actor with its WebFinger; a test replaces the part that it is about. Requests of
//! a person are in [`letter`](super::letter). HTTP/1.1 is written by hand here, since a library would refuse to lie.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use crypto::rsa::SigningKey;
use crypto::{Secret, key_pair};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::TestApp;

/// Content type of the documents of actors and notes.
pub const ACTIVITY: &str = "application/activity+json";
/// The collection that means everyone.
pub const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";
const CONTEXT: [&str; 2] = ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"];

/// A key pair of a liar.
pub struct Key {
    /// PEM.
    pub public: String,
    pub signing: SigningKey,
}

impl Key {
    fn generate() -> Self {
        let (public, private): (String, Secret) = key_pair::generate().unwrap();
        Self { public, signing: SigningKey::parse(&private).unwrap() }
    }
}

/// The key of all people of liars, and another one: generating them is slow.
pub static KEY: LazyLock<Key> = LazyLock::new(Key::generate);
pub static OTHER_KEY: LazyLock<Key> = LazyLock::new(Key::generate);

/// An answer to a request.
#[derive(Clone)]
pub enum Reply {
    Whole {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// The request is read, and nothing is answered.
    Silence,
    /// The request is read, and the connection closed.
    Hangup,
    /// A head that promises a body, of which only the beginning comes.
    SlowBody,
    /// A body that never ends, as fast as it is read.
    EndlessBody,
    /// A video of so many bytes, as fast as it is read.
    LongVideo(usize),
}

impl Reply {
    /// An ActivityStreams document.
    pub fn document(json: &Value) -> Self {
        Self::of(ACTIVITY, json.to_string())
    }

    /// A body of any content type.
    pub fn of(kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body).header("content-type", kind)
    }

    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Whole { status, headers: Vec::new(), body: body.into() }
    }

    pub fn redirect(to: &str) -> Self {
        Self::status(302, "").header("location", to)
    }

    /// With a further header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

#[derive(Default)]
struct State {
    /// By path, with or without its query: the answers to come, of which the last one stays.
    replies: HashMap<String, VecDeque<Reply>>,
    /// Paths and queries of the requests.
    asked: Vec<String>,
    /// What was posted.
    received: Vec<Value>,
}

/// A server that runs as long as the test. Cheap to clone.
#[derive(Clone)]
pub struct Liar {
    /// Host and port.
    pub domain: String,
    state: Arc<Mutex<State>>,
}

impl Liar {
    /// Configuration keys of a server that may connect to liars.
    pub const KEYS: [(&'static str, &'static str); 1] =
        [("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32")];

    /// A server that has nothing.
    pub async fn start() -> Self {
        Self::at("127.0.0.1").await
    }

    /// As [`Liar::start`], at another address of this machine.
    pub async fn at(address: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let liar = Self { domain: listener.local_addr().unwrap().to_string(), state: Arc::default() };
        let serving = liar.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                // A client that goes away early is not an error.
                tokio::spawn(async move { drop(serving.answer(stream).await) });
            }
        });
        liar
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.domain)
    }

    /// Answers every request for `path`; returns its URL.
    pub fn put(&self, path: &str, reply: Reply) -> String {
        self.script(path, [reply])
    }

    /// Answers requests for `path` one after the other; the last answer stays.
    pub fn script(&self, path: &str, replies: impl IntoIterator<Item = Reply>) -> String {
        self.state.lock().unwrap().replies.insert(path.to_owned(), replies.into_iter().collect());
        self.url(path)
    }

    /// Serves an ActivityStreams document; returns its URL.
    pub fn document(&self, path: &str, json: &Value) -> String {
        self.put(path, Reply::document(json))
    }

    /// Number of requests for `path`, its query apart.
    pub fn asked(&self, path: &str) -> usize {
        let fits = |asked: &&String| asked.split('?').next() == Some(path);
        self.state.lock().unwrap().asked.iter().filter(fits).count()
    }

    /// Waits until `path` is requested.
    pub async fn is_asked(&self, path: &str) {
        while self.asked(path) == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Number of all requests.
    pub fn requests(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// The activities that were posted here.
    pub fn received(&self) -> Vec<Value> {
        self.state.lock().unwrap().received.clone()
    }

    /// Adds a person: an actor and its WebFinger.
    pub fn person(&self, name: &str) -> Person {
        let uri = self.url(&format!("/users/{name}"));
        let person = Person { liar: self.clone(), name: name.to_owned(), key_id: format!("{uri}#main-key"), uri };
        person.set_actor(&person.actor());
        person.set_webfinger(name, &person.webfinger());
        self.put(&format!("/users/{name}/inbox"), Reply::status(202, ""));
        person
    }

    fn reply(&self, path: &str) -> Reply {
        let mut state = self.state.lock().unwrap();
        state.asked.push(path.to_owned());
        let bare = path.split('?').next().unwrap_or_default();
        let key = if state.replies.contains_key(path) { path } else { bare };
        let Some(replies) = state.replies.get_mut(key) else { return Reply::status(404, "") };
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }.expect("an answer")
    }

    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (head, posted) = request(&mut stream).await?;
        if let Ok(json) = serde_json::from_slice(&posted) {
            self.state.lock().unwrap().received.push(json);
        }
        let path = head.split(' ').nth(1).unwrap_or_default();
        match self.reply(path) {
            Reply::Whole { status, headers, body } => {
                let mut head =
                    format!("HTTP/1.1 {status} Lie\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
                head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
                stream.write_all(format!("{head}\r\n").as_bytes()).await?;
                stream.write_all(&body).await?;
            }
            Reply::Hangup => {}
            // Until the client goes away.
            Reply::Silence => _ = stream.read(&mut [0]).await?,
            Reply::SlowBody => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {ACTIVITY}\r\ncontent-length: 99\r\n\r\n{{");
                stream.write_all(head.as_bytes()).await?;
                _ = stream.read(&mut [0]).await?;
            }
            Reply::EndlessBody => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {ACTIVITY}\r\n\r\n");
                stream.write_all(head.as_bytes()).await?;
                while stream.write_all(&[b' '; 16 * 1024]).await.is_ok() {}
            }
            Reply::LongVideo(bytes) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: {bytes}\r\n\r\n");
                stream.write_all(head.as_bytes()).await?;
                let (piece, mut left) = (vec![7; 64 * 1024], bytes);
                while left > 0 {
                    let next = left.min(piece.len());
                    stream.write_all(&piece[..next]).await?;
                    left -= next;
                }
            }
        }
        stream.shutdown().await
    }
}

/// The head and the body of a request.
async fn request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut read).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = read.split_off(end + 4);
    while body.len() < length.unwrap_or(0) {
        if stream.read_buf(&mut body).await? == 0 {
            break;
        }
    }
    Ok((head, body))
}

/// A person of a liar. Cheap to clone.
#[derive(Clone)]
pub struct Person {
    pub liar: Liar,
    pub name: String,
    /// The id of the actor.
    pub uri: String,
    pub key_id: String,
}

impl Person {
    /// Name and domain.
    pub fn address(&self) -> String {
        format!("{}@{}", self.name, self.liar.domain)
    }

    /// Where the actor is served.
    pub fn path(&self) -> String {
        format!("/users/{}", self.name)
    }

    pub fn followers(&self) -> String {
        format!("{}/followers", self.uri)
    }

    /// A well-formed actor document.
    pub fn actor(&self) -> Value {
        json!({
            "@context": CONTEXT, "id": self.uri, "type": "Person", "preferredUsername": self.name,
            "inbox": format!("{}/inbox", self.uri), "outbox": format!("{}/outbox", self.uri),
            "followers": self.followers(), "following": format!("{}/following", self.uri),
            "name": self.name, "summary": "<p>hello</p>", "url": self.liar.url(&format!("/@{}", self.name)),
            "publicKey": { "id": self.key_id, "owner": self.uri, "publicKeyPem": KEY.public },
        })
    }

    pub fn set_actor(&self, actor: &Value) {
        self.liar.document(&self.path(), actor);
    }

    /// Serves the actor with other members.
    pub fn change_actor(&self, members: &Value) {
        self.set_actor(&with(self.actor(), members));
    }

    /// A well-formed answer of WebFinger.
    pub fn webfinger(&self) -> Value {
        let link = json!({ "rel": "self", "type": ACTIVITY, "href": self.uri });
        json!({ "subject": format!("acct:{}", self.address()), "links": [link] })
    }

    /// Answers WebFinger about `name` of this domain.
    pub fn set_webfinger(&self, name: &str, answer: &Value) {
        let resource = format!("acct:{name}@{}", self.liar.domain);
        let resource: String = url::form_urlencoded::byte_serialize(resource.as_bytes()).collect();
        let reply = Reply::of("application/jrd+json", answer.to_string());
        self.liar.put(&format!("/.well-known/webfinger?resource={resource}"), reply);
    }

    /// A well-formed public note, which is not served.
    pub fn note(&self, name: &str) -> Value {
        json!({
            "@context": CONTEXT, "id": format!("{}/notes/{name}", self.uri), "type": "Note",
            "attributedTo": self.uri, "content": format!("<p>{name}</p>"), "published": "2026-01-15T12:00:00Z",
            "to": [PUBLIC], "cc": [self.followers()],
        })
    }

    /// An activity with an id of its own.
    pub fn activity(&self, kind: &str, object: impl Into<Value>) -> Value {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        json!({
            "@context": CONTEXT, "id": format!("{}#{kind}/{number}", self.uri), "type": kind, "actor": self.uri,
            "object": object.into(), "to": [PUBLIC], "cc": [self.followers()],
        })
    }

    /// Makes this person a follower of Alice, who is on a server named `localhost:3000`.
    pub async fn follow_alice(&self, app: &TestApp) {
        let follow = self.activity("Follow", "http://localhost:3000/users/alice");
        assert_eq!(self.letter(app, &follow).send(app).await.status, 202);
        app.run_jobs().await;
    }
}

/// `document` with other members; `null` removes one.
pub fn with(mut document: Value, members: &Value) -> Value {
    let object = document.as_object_mut().expect("an object");
    for (name, value) in members.as_object().expect("members") {
        match value {
            Value::Null => drop(object.remove(name)),
            value => drop(object.insert(name.clone(), value.clone())),
        }
    }
    document
}
