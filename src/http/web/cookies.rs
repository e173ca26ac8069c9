//! Reads the cookies of a request, and collects the cookies that the response sets.
//!
//! All are `HttpOnly`, `SameSite=Lax` and for every path; over HTTPS they are `Secure` with the `__Host-` prefix, so
//! that another subdomain cannot set them (RFC 6265bis, section 4.1.3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;

use crate::Cx;
use crate::error::{Error, ErrorResponse};
use crate::operation::Describe;
use config::Scheme;

/// The purpose of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// The session of a signed-in user.
    Session,
    /// A random value that CSRF tokens are bound to before sign-in.
    Anonymous,
    /// A flash message for the next page.
    Flash,
}

/// A message that is shown once, on the next page.
#[derive(Clone, Debug, Serialize)]
pub struct Flash {
    /// `notice` or `error`.
    pub kind: String,
    /// The message itself.
    pub text: String,
}

/// The cookie jar of one request, shared by its extractors, its handler and the [`stages`](crate::stages).
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
            Self::Anonymous => "rookery_visit",
            Self::Flash => "rookery_flash",
        }
    }

    /// Its name in the header.
    pub(crate) fn text(self, secure: bool) -> String {
        if secure { format!("__Host-{}", self.word()) } else { self.word().to_owned() }
    }
}

impl Cookies {
    /// Parses the cookies in `headers`.
    #[must_use]
    pub fn read(cx: &Cx, headers: &HeaderMap) -> Self {
        let secure = cx.config.server.scheme == Scheme::Https;
        let mut sent = BTreeMap::new();
        for line in headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            for (name, value) in line.split(';').filter_map(|pair| pair.trim().split_once('=')) {
                let known =
                    [Name::Session, Name::Anonymous, Name::Flash].into_iter().find(|known| known.text(secure) == name);
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

    /// Sets a cookie for `max_age_seconds`, or until the browser closes. `value` must be base64url or percent-encoded.
    pub fn set(&self, name: Name, value: &str, max_age_seconds: Option<i64>) {
        let age = max_age_seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}", name.text(self.secure));
        if let Ok(header) = HeaderValue::from_str(&text) {
            self.set.lock().unwrap_or_else(PoisonError::into_inner).insert(name, header);
        }
    }

    /// Deletes a cookie.
    pub fn remove(&self, name: Name) {
        self.set(name, "", Some(0));
    }

    /// Sets a flash message for the next page, with the kind `notice`.
    pub fn notice(&self, text: &str) {
        self.set(Name::Flash, &utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(), Some(60));
    }

    /// Takes the flash message for this page, and deletes its cookie.
    #[must_use]
    pub fn take_flash(&self) -> Option<Flash> {
        let text = percent_decode_str(self.get(Name::Flash)?).decode_utf8().ok()?.into_owned();
        self.remove(Name::Flash);
        (!text.is_empty()).then(|| Flash { kind: "notice".to_owned(), text })
    }

    /// Adds a `Set-Cookie` header for each cookie that was set.
    pub fn write(&self, headers: &mut HeaderMap) {
        for value in self.set.lock().unwrap_or_else(PoisonError::into_inner).values() {
            headers.append(header::SET_COOKIE, value.clone());
        }
    }
}

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Cookies {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, Self::Rejection> {
        let missing = || Error::internal("cookies on a route that has none").into();
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

impl Describe for Cookies {}
