//! OAuth error responses (RFC 6749, section 5.2).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::{Error, ErrorResponse, json};
use model::oauth::ErrorCode;
use service::oauth::Fault;

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    error_description: &'a str,
}

/// Error code and description. Internal causes are logged here and not shown.
pub(super) fn words(fault: &Fault) -> (ErrorCode, String) {
    match fault {
        Fault::Refused { code, description } => (*code, description.to_string()),
        Fault::Other(Error::Unavailable(text)) => (ErrorCode::TemporarilyUnavailable, text.to_string()),
        Fault::Other(error @ Error::Machine(_)) => (ErrorCode::TemporarilyUnavailable, error.to_string()),
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

/// A [`Fault`] as a response to an application.
#[derive(Debug)]
pub struct FaultResponse(pub Fault);

impl From<Fault> for FaultResponse {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl From<Error> for FaultResponse {
    fn from(error: Error) -> Self {
        Self(error.into())
    }
}

impl From<ErrorResponse> for FaultResponse {
    fn from(ErrorResponse(error): ErrorResponse) -> Self {
        error.into()
    }
}

impl IntoResponse for FaultResponse {
    fn into_response(self) -> Response {
        let Self(fault) = self;
        if let Fault::Other(error @ Error::TooLarge(_)) = fault {
            return ErrorResponse(error).into_response();
        }
        let (code, description) = words(&fault);
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
