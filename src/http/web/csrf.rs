//! CSRF protection of forms.
//!
//! Every form carries a token derived from the server's secret and a cookie of the browser: the session, or before
//! sign-in the visit cookie that the page of the form set. [`Form`] checks it, so a handler cannot forget to; a failed
//! check is a 403 page.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::cookies::{Cookies, Name};
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::extract::Uploads;
use crate::extract::params::{Params, parse};
use crate::in_flight::InFlight;
use crate::operation::{Describe, Operation, Parameter, Place, schema_of};
use crate::request_limits::is_multipart;
use context::limits::Key;
use model::AccountId;
use service::rate_limits::{self, Spent};

/// Key derivation label of CSRF tokens.
const PURPOSE: &str = "csrf";

/// The token for the forms of a page. Extracting it sets the visit cookie when the browser has none.
#[derive(Clone, Debug)]
pub struct Csrf(pub String);

/// The fields of a form whose CSRF token was checked.
#[derive(Debug)]
pub struct Form<T>(pub T);

/// The fields of a form without a CSRF token, on a page that is the same for everyone. Nothing is done in anyone's name;
/// the browser says that the form came from a page of this server, by `Sec-Fetch-Site` or `Origin`. A client that sends
/// neither is no browser that others could use.
#[derive(Debug)]
pub struct FormWithoutToken<T>(pub T);

/// The fields and files of a form whose CSRF token was checked; `F` is as in [`Uploads`].
#[derive(Debug)]
pub struct FormWithFiles<T, F> {
    pub fields: T,
    pub files: F,
}

/// In the extensions of a request whose page belongs to the person who is signed in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageOwner(pub(crate) AccountId);

/// The fields of a form that has only a token.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NoFields {}

impl FromRequestParts<()> for Csrf {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self> {
        let cookies = Cookies::from_request_parts(parts, state).await?;
        Ok(Self::of(&Cx::of(&parts.extensions)?, &cookies))
    }
}

impl Csrf {
    /// The token for the browser with these cookies.
    #[must_use]
    pub fn of(cx: &Cx, cookies: &Cookies) -> Self {
        let token = |base: &str| Self(cx.keys.derive(PURPOSE, base).expose().to_owned());
        base(cookies).map_or_else(
            || {
                let visit = crypto::random_text(16);
                cookies.set(Name::Anonymous, &visit, None);
                token(&visit)
            },
            token,
        )
    }
}

/// The value of the cookie that the token is bound to.
fn base(cookies: &Cookies) -> Option<&str> {
    cookies.get(Name::Session).or_else(|| cookies.get(Name::Anonymous)).filter(|value| !value.is_empty())
}

impl<T: DeserializeOwned> FromRequest<()> for Form<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let (mut parts, body) = request.into_parts();
        let cookies = Cookies::from_request_parts(&mut parts, state).await?;
        let Params(tree) = Params::<Value>::from_request(Request::from_parts(parts, body), state).await?;
        Ok(Self(checked(&cx, &cookies, tree)?))
    }
}

impl<T: DeserializeOwned> FromRequest<()> for FormWithoutToken<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        if !is_from_here(&cx, request.headers()) {
            return Err(foreign().into());
        }
        let Params(fields) = Params::<T>::from_request(request, state).await?;
        Ok(Self(fields))
    }
}

/// True unless a browser says that the request came from a page of another site.
fn is_from_here(cx: &Cx, headers: &HeaderMap) -> bool {
    match (headers.get("sec-fetch-site"), headers.get(header::ORIGIN)) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => origin == cx.urls.origin.as_str(),
        (None, None) => true,
    }
}

impl<T: DeserializeOwned, F: DeserializeOwned + Default + PartialEq> FromRequest<()> for FormWithFiles<T, F> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let (mut parts, body) = request.into_parts();
        let cookies = Cookies::from_request_parts(&mut parts, state).await?;
        let mut request = Request::from_parts(parts, body);
        let counted = count_upload(&cx, &mut request)?;
        let uploads = Uploads::<Value, F>::from_request(request, state).await;
        if !uploads.as_ref().is_ok_and(|uploads| uploads.files == F::default()) {
            counted.into_iter().for_each(Spent::keep);
        }
        let Uploads { params: tree, files } = uploads?;
        Ok(Self { fields: checked(&cx, &cookies, tree)?, files })
    }
}

/// Counts a multipart form against the upload limit of the signed-in person, before its body is read. The caller gives the
/// count back when the form has no files.
fn count_upload(cx: &Cx, request: &mut Request) -> Result<Option<Spent>> {
    let Some(PageOwner(person)) = request.extensions().get().copied() else {
        return Err(Error::internal("a form with files is of a page whose person is known").into());
    };
    if let Some(in_flight) = InFlight::of(request.extensions()) {
        in_flight.belongs_to(Key::Person(person));
    }
    if !is_multipart(request) {
        return Ok(None);
    }
    Ok(Some(rate_limits::take(cx, &rate_limits::MEDIA, &Key::Person(person))?))
}

/// The fields of a form from `tree`, if its token is the one for the browser with `cookies`.
fn checked<T: DeserializeOwned>(cx: &Cx, cookies: &Cookies, tree: Value) -> Result<T> {
    let sent = tree.get("csrf").and_then(Value::as_str).unwrap_or_default();
    if !base(cookies).is_some_and(|base| cx.keys.verify(PURPOSE, base, sent)) {
        return Err(foreign().into());
    }
    parse(tree)
}

fn foreign() -> Error {
    Error::forbidden("This form is too old, or did not come from our own page. Go back, reload the page and try again")
}

impl Describe for Csrf {}

impl<T: JsonSchema> Describe for Form<T> {
    fn describe(operation: &mut Operation) {
        operation.take::<T>(Place::Body);
        operation.parameters.push(token());
    }
}

impl<T: JsonSchema> Describe for FormWithoutToken<T> {
    fn describe(operation: &mut Operation) {
        operation.take::<T>(Place::Body);
    }
}

impl<T: JsonSchema, F: JsonSchema> Describe for FormWithFiles<T, F> {
    fn describe(operation: &mut Operation) {
        Uploads::<T, F>::describe(operation);
        operation.parameters.push(token());
    }
}

/// The field with the token.
fn token() -> Parameter {
    Parameter::required("csrf", Place::Body, schema_of::<String>())
}
