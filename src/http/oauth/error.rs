//! Faults as programs read them (RFC 6749, section 5.2).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::Error;
use crate::http::error::json;
use crate::service::oauth::Fault;
use model::oauth::ErrorCode;

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    error_description: &'a str,
}

/// Code and words of a fault; the cause of one of ours is logged here and not shown.
pub(super) fn words(fault: &Fault) -> (ErrorCode, String) {
    match fault {
        Fault::Refused { code, description } => (*code, description.to_string()),
        Fault::Other(Error::Unavailable(text)) => (ErrorCode::TemporarilyUnavailable, text.to_string()),
        Fault::Other(error @ Error::InvalidToken) => (ErrorCode::InvalidToken, error.to_string()),
        Fault::Other(error @ (Error::Store(_) | Error::Internal(_))) => {
            tracing::error!(%error, "request failed");
            (ErrorCode::ServerError, "Something went wrong on our side".to_owned())
        }
        Fault::Other(error) => (ErrorCode::InvalidRequest, error.to_string()),
    }
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidClient | ErrorCode::InvalidToken => StatusCode::UNAUTHORIZED,
        ErrorCode::UnauthorizedClient => StatusCode::FORBIDDEN,
        ErrorCode::ServerError => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::InvalidRequest
        | ErrorCode::InvalidGrant
        | ErrorCode::InvalidScope
        | ErrorCode::UnsupportedGrantType
        | ErrorCode::UnsupportedResponseType
        | ErrorCode::AccessDenied
        | ErrorCode::InvalidCodeChallengeMethod => StatusCode::BAD_REQUEST,
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        if let Self::Other(error @ Error::TooLarge(_)) = self {
            return error.into_response();
        }
        let (code, description) = words(&self);
        let mut response = json(status(code), &Body { error: code.as_str(), error_description: &description });
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let challenge = match code {
            ErrorCode::InvalidClient => Some("Basic realm=\"Rookery\", error=\"invalid_client\""),
            ErrorCode::InvalidToken => Some("Bearer realm=\"Rookery\", error=\"invalid_token\""),
            _ => None,
        };
        if let Some(challenge) = challenge {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}
