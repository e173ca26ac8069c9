//! The cookies of a request, and those that its answer sets.
//!
//! All are `HttpOnly`, `SameSite=Lax`, for every path, and over HTTPS `Secure` with the `__Host-` prefix, so that no
//! neighbouring subdomain can plant one (RFC 6265bis, section 4.1.3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;

use crate::app::App;
use config::Scheme;

/// What a cookie is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// The session of someone signed in.
    Session,
    /// A random text that ties forms to a browser before anyone is signed in.
    Visit,
    /// One message for the next page.
    Flash,
}

/// One message, shown on the next page only.
#[derive(Clone, Debug, Serialize)]
pub struct Flash {
    /// `notice` or `error`.
    pub kind: String,
    /// For people.
    pub text: String,
}

/// Shared by the layer, the extractors and the handler of one request.
#[derive(Clone, Debug)]
pub struct Cookies {
    secure: bool,
    sent: Arc<BTreeMap<Name, String>>,
    set: Arc<Mutex<BTreeMap<Name, HeaderValue>>>,
}

impl Name {
    fn word(self) -> &'static str {
        match self {
            Self::Session => "rookery_session",
            Self::Visit => "rookery_visit",
            Self::Flash => "rookery_flash",
        }
    }

    fn text(self, secure: bool) -> String {
        if secure { format!("__Host-{}", self.word()) } else { self.word().to_owned() }
    }
}

impl Cookies {
    /// Those of `headers`.
    #[must_use]
    pub fn read(app: &App, headers: &HeaderMap) -> Self {
        let secure = app.config.server.scheme == Scheme::Https;
        let mut sent = BTreeMap::new();
        for line in headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            for (name, value) in line.split(';').filter_map(|pair| pair.trim().split_once('=')) {
                let known =
                    [Name::Session, Name::Visit, Name::Flash].into_iter().find(|known| known.text(secure) == name);
                if let Some(known) = known {
                    sent.insert(known, value.to_owned());
                }
            }
        }
        Self { secure, sent: Arc::new(sent), set: Arc::default() }
    }

    /// The value that the browser sent.
    #[must_use]
    pub fn get(&self, name: Name) -> Option<&str> {
        self.sent.get(&name).map(String::as_str)
    }

    /// Sets a cookie: for `max_age_seconds`, or until the browser closes. The value must be base64url or percent-encoded.
    pub fn set(&self, name: Name, value: &str, max_age_seconds: Option<i64>) {
        let age = max_age_seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}", name.text(self.secure));
        if let Ok(header) = HeaderValue::from_str(&text) {
            self.set.lock().unwrap_or_else(PoisonError::into_inner).insert(name, header);
        }
    }

    /// Has the browser forget a cookie.
    pub fn remove(&self, name: Name) {
        self.set(name, "", Some(0));
    }

    /// Leaves a notice for the next page.
    pub fn notice(&self, text: &str) {
        self.set(Name::Flash, &utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(), Some(60));
    }

    /// The notice left for this page, once.
    #[must_use]
    pub fn take_flash(&self) -> Option<Flash> {
        let text = percent_decode_str(self.get(Name::Flash)?).decode_utf8().ok()?.into_owned();
        self.remove(Name::Flash);
        (!text.is_empty()).then(|| Flash { kind: "notice".to_owned(), text })
    }

    /// Writes what was set.
    pub(super) fn write(&self, headers: &mut HeaderMap) {
        for value in self.set.lock().unwrap_or_else(PoisonError::into_inner).values() {
            headers.append(header::SET_COOKIE, value.clone());
        }
    }
}

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Cookies {
    type Rejection = crate::error::Error;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, Self::Rejection> {
        let missing = || crate::error::Error::internal("a browser route outside the layer of the web pages");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}
