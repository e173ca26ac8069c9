//! Maps an [`Error`] to the response that a client sees: a status and the documented `{"error": …}` body.
//!
//! Handlers return [`ErrorResponse`]; for 5xx, the request id is added to the body. Internal causes are logged here, once,
//! and never shown. [`web`](crate::web) turns errors into pages for browsers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;

pub use context::Error;
use context::cx::RequestId;
use context::error::{NoAnswer, Refusal, Validation};

/// The usual number of headers of a complete response: the capacity that is reserved.
pub(crate) const USUAL_HEADERS: usize = 16;

/// An [`Error`] as a response.
#[derive(Debug)]
pub struct ErrorResponse(pub Error);

/// The result of handlers and extractors.
pub type Result<T, E = ErrorResponse> = std::result::Result<T, E>;

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<database::Error> for ErrorResponse {
    fn from(error: database::Error) -> Self {
        Self(error.into())
    }
}

impl From<ErrorResponse> for Error {
    fn from(ErrorResponse(error): ErrorResponse) -> Self {
        error
    }
}

impl std::fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The message of an error, in the extensions of its response, from which `web` renders an error page.
#[derive(Clone, Debug)]
pub struct Failure(pub String);

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
}

/// Body of the error when a plugin failed to answer.
#[derive(Serialize)]
struct PluginBody<'a> {
    error: &'a str,
    error_code: &'a str,
    plugin: &'a str,
}

/// Body of the error when a plugin rejected the request.
#[derive(Serialize)]
struct RefusalBody<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    error_code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct ValidationBody<'a> {
    error: String,
    details: std::collections::BTreeMap<&'a str, Vec<Detail<'a>>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    error: &'a str,
    description: &'a str,
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = status(&error);
        let text = error.to_string();
        let expected =
            matches!(error, Error::Unavailable(_) | Error::Machine(_) | Error::Plugin(_) | Error::Refused(_));
        if status.is_server_error() && !expected {
            tracing::error!(%error, "request failed");
            return failure(status, "Something went wrong on our side");
        }
        let mut response = match &error {
            Error::Validation(faults) => json(status, &validation(faults)),
            Error::UnexpectedMentions(accounts) => json(
                status,
                &serde_json::json!({
                    "error": &text,
                    "unexpected_accounts": accounts,
                }),
            ),
            Error::Plugin(NoAnswer { plugin, code, .. }) => {
                fault(status, &PluginBody { error: &text, error_code: code, plugin })
            }
            Error::Refused(refusal) => json(status, &refused(refusal)),
            _ => failure(status, &text),
        };
        response.extensions_mut().insert(Failure(text));
        if matches!(error, Error::InvalidToken | Error::Unauthorized(_)) {
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"Rookery\", error=\"invalid_token\", error_description=\"The access token is invalid\""),
            );
        }
        response
    }
}

/// In the extensions of a 5xx response: its JSON body without the closing brace, to which [`add_request_id`] appends the
/// request id.
#[derive(Clone, Debug)]
struct OpenErrorBody(String);

/// Adds the request id to the body of a 5xx response. Must come before compression.
pub(crate) fn add_request_id(response: &mut Response, id: RequestId) {
    if let Some(OpenErrorBody(open)) = response.extensions_mut().remove::<OpenErrorBody>() {
        *response.body_mut() = format!("{open},\"request_id\":\"{}\"}}", id.as_str()).into();
    }
}

/// Unknown paths, and unknown methods of known paths (docs/contract/rules.md#1-transport).
pub fn not_found() -> Response {
    failure(StatusCode::NOT_FOUND, "Record not found")
}

/// A panic, which the panic hook has logged on standard error.
pub(crate) fn panicked() -> Response {
    tracing::error!("a request panicked");
    failure(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side")
}

/// An error response of `status` with `text` as its message.
pub fn failure(status: StatusCode, text: &str) -> Response {
    let mut response = fault(status, &ErrorBody { error: text });
    response.extensions_mut().insert(Failure(text.to_owned()));
    response
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Plugin(NoAnswer { status, .. }) | Error::Refused(Refusal { status, .. }) => error_status(*status),
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::Gone => StatusCode::GONE,
        Error::Invalid(_) | Error::Validation(_) | Error::UnexpectedMentions(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Error::BadRequest(_) => StatusCode::BAD_REQUEST,
        Error::Unauthorized(_) | Error::InvalidToken => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::Conflict(_) => StatusCode::CONFLICT,
        Error::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Error::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Error::Machine(database::Fault::Full) => StatusCode::INSUFFICIENT_STORAGE,
        Error::Unavailable(_) | Error::Machine(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(_) | Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// `status` when it is 4xx or 5xx, otherwise 500.
fn error_status(status: u16) -> StatusCode {
    let known = StatusCode::from_u16(status).ok();
    let known = known.filter(|status| status.is_client_error() || status.is_server_error());
    known.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn refused(refusal: &Refusal) -> RefusalBody<'_> {
    let detail = refusal.detail.as_deref();
    RefusalBody {
        error: &refusal.message,
        error_code: &refusal.code,
        detail: detail.and_then(|detail| serde_json::from_str(detail).ok()),
    }
}

fn validation(faults: &Validation) -> ValidationBody<'_> {
    let details = faults
        .iter()
        .map(|(attribute, faults)| {
            (
                attribute,
                faults.iter().map(|fault| Detail { error: fault.code, description: &fault.description }).collect(),
            )
        })
        .collect();
    ValidationBody { error: faults.to_string(), details }
}

/// `body` as JSON, prepared for the request id when `status` is 5xx.
fn fault<T: Serialize>(status: StatusCode, body: &T) -> Response {
    let mut response = json(status, body);
    if status.is_server_error()
        && let Ok(mut text) = serde_json::to_string(body)
    {
        text.pop();
        response.extensions_mut().insert(OpenErrorBody(text));
    }
    response
}

/// `body` as JSON, with the content type that API clients expect.
pub fn json<T: Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => raw_json(status, bytes.into()),
        Err(error) => {
            tracing::error!(%error, "an answer did not serialise");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// A body that is already JSON.
pub fn raw_json(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = HeaderMap::with_capacity(USUAL_HEADERS);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}
