//! Requests of other servers to inboxes and for documents, signed by hand: every header can be a lie.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::liar::{ACTIVITY, KEY, Key, Person};
use super::{Answer, TestApp};

/// The components that a well-formed `POST` signs, and a `GET`.
const SIGNED: [&str; 5] = ["(request-target)", "host", "date", "digest", "content-type"];
const SIGNED_READ: [&str; 4] = ["(request-target)", "host", "date", "accept"];

/// A `POST` of an activity, or a `GET` of a document. Cheap to clone, and to send again.
#[derive(Clone)]
pub struct Letter {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Letter {
    /// A request without a signature: its date is now.
    pub fn new(app: &TestApp, path: &str, body: impl Into<Vec<u8>>) -> Self {
        let (method, headers) = (Method::POST, HeaderMap::new());
        let letter = Self { method, path: path.to_owned(), headers, body: body.into() };
        let host = app.app.config.server.web_domain.to_string();
        letter.header("host", &host).header("content-type", ACTIVITY).digested().dated(*app.app.clock.now())
    }

    /// A request for a document, without a signature: its date is now.
    pub fn read(app: &TestApp, path: &str) -> Self {
        let (method, headers) = (Method::GET, HeaderMap::new());
        let letter = Self { method, path: path.to_owned(), headers, body: Vec::new() };
        let host = app.app.config.server.web_domain.to_string();
        letter.header("host", &host).header("accept", ACTIVITY).dated(*app.app.clock.now())
    }

    /// With another header.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    /// With another date.
    pub fn dated(self, date: DateTime<Utc>) -> Self {
        self.header("date", &date.format("%a, %d %b %Y %H:%M:%S GMT").to_string())
    }

    /// With the digest of the body.
    pub fn digested(self) -> Self {
        let digest = format!("SHA-256={}", STANDARD.encode(crypto::digest_sha256(&self.body)));
        self.header("digest", &digest)
    }

    /// With the usual signature.
    pub fn signed(self, key_id: &str, key: &Key) -> Self {
        let components: &[&str] = if self.method == Method::GET { &SIGNED_READ } else { &SIGNED };
        self.signs(key_id, key, components)
    }

    /// With a signature of these components.
    pub fn signs(self, key_id: &str, key: &Key, components: &[&str]) -> Self {
        let line = |name: &&str| match *name {
            "(request-target)" => {
                format!("(request-target): {} {}", self.method.as_str().to_ascii_lowercase(), self.path)
            }
            name => format!("{name}: {}", self.headers[name].to_str().unwrap()),
        };
        let text = components.iter().map(line).collect::<Vec<_>>().join("\n");
        let signature = STANDARD.encode(key.signing.sign(text.as_bytes()).unwrap());
        let names = components.join(" ");
        let value = format!(r#"keyId="{key_id}",algorithm="rsa-sha256",headers="{names}",signature="{signature}""#);
        self.header("signature", &value)
    }

    /// Sends it through the router.
    pub async fn send(&self, app: &TestApp) -> Answer {
        let mut request =
            Request::builder().method(self.method.clone()).uri(&self.path).body(Body::from(self.body.clone())).unwrap();
        *request.headers_mut() = self.headers.clone();
        app.send(request).await
    }
}

impl Person {
    /// A well-formed request of this person for a document.
    pub fn reads(&self, app: &TestApp, path: &str) -> Letter {
        Letter::read(app, path).signed(&self.key_id, &KEY)
    }

    /// A well-formed request of this person to the shared inbox.
    pub fn letter(&self, app: &TestApp, activity: &Value) -> Letter {
        self.letter_to(app, "/inbox", activity)
    }

    /// As [`Person::letter`], to any inbox.
    pub fn letter_to(&self, app: &TestApp, path: &str, activity: &Value) -> Letter {
        Letter::new(app, path, activity.to_string()).signed(&self.key_id, &KEY)
    }
}
