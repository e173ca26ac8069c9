//! What a client sees of an [`Error`]: a status, the documented `{"error": …}` and, for a fault of ours, the id of
//! the request to ask about. Causes are logged here, once, and never shown.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;

use super::observe::request_id;
use crate::error::{Error, NoAnswer, Refusal, Validation};

/// The text of an error, in the extensions of its answer: browser routes show it as a page.
#[derive(Clone, Debug)]
pub struct Failure(pub String);

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    /// Of a fault of ours: what to name when asking about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

/// What clients are told when a plugin gave no answer.
#[derive(Serialize)]
struct PluginBody<'a> {
    error: &'a str,
    error_code: &'a str,
    plugin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

/// What clients are told when a plugin said no.
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

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = status(&self);
        let text = self.to_string();
        let expected = matches!(self, Self::Unavailable(_) | Self::Plugin(_) | Self::Refused(_));
        if status.is_server_error() && !expected {
            tracing::error!(error = %self, "request failed");
            return failure(status, "Something went wrong on our side");
        }
        let mut response = match &self {
            Self::Validation(faults) => json(status, &validation(faults)),
            Self::UnexpectedMentions(accounts) => json(
                status,
                &serde_json::json!({
                    "error": self.to_string(),
                    "unexpected_accounts": accounts,
                }),
            ),
            Self::Plugin(NoAnswer { plugin, code, .. }) => {
                json(status, &PluginBody { error: &text, error_code: code, plugin, request_id: request_id() })
            }
            Self::Refused(refusal) => json(status, &refused(refusal)),
            other => failure(status, &other.to_string()),
        };
        response.extensions_mut().insert(Failure(self.to_string()));
        if matches!(self, Self::InvalidToken | Self::Unauthorized(_)) {
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"Rookery\", error=\"invalid_token\", error_description=\"The access token is invalid\""),
            );
        }
        response
    }
}

/// An answer of `status` with `text` as its error.
pub fn failure(status: StatusCode, text: &str) -> Response {
    let request_id = if status.is_server_error() { super::observe::request_id() } else { None };
    let mut response = json(status, &ErrorBody { error: text, request_id });
    response.extensions_mut().insert(Failure(text.to_owned()));
    response
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Plugin(NoAnswer { status, .. }) | Error::Refused(Refusal { status, .. }) => failing(*status),
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::Gone => StatusCode::GONE,
        Error::Invalid(_) | Error::Validation(_) | Error::UnexpectedMentions(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Error::BadRequest(_) => StatusCode::BAD_REQUEST,
        Error::Unauthorized(_) | Error::InvalidToken => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::Conflict(_) => StatusCode::CONFLICT,
        Error::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Error::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Error::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(_) | Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// `status`, when it is one of an error.
fn failing(status: u16) -> StatusCode {
    let known = StatusCode::from_u16(status).ok();
    let known = known.filter(|status| status.is_client_error() || status.is_server_error());
    known.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn refused(refusal: &Refusal) -> RefusalBody<'_> {
    // What is no JSON is left out: it is a plugin's.
    let detail = refusal.detail.as_deref().filter(|detail| crate::plugins::hooks::is_value(detail));
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

/// `body` as JSON, with the content type that clients of this API expect.
pub fn json<T: Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => raw_json(status, bytes.into()),
        Err(error) => {
            tracing::error!(%error, "an answer did not serialise");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Bytes that are JSON already.
pub fn raw_json(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response
}
