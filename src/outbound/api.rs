//! Calls of JSON APIs with a method, headers and body derived from the call.

use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, body};

use super::client::{Client, Request};
use super::error::Error;
use super::target::Target;

/// A call of a JSON API.
#[derive(Clone, Debug)]
pub struct ApiCall {
    pub target: Target,
    pub user_agent: String,
    pub authorization: Option<String>,
    /// JSON to post; `None` sends a GET.
    pub json: Option<Vec<u8>>,
    /// Covers the whole exchange.
    pub timeout: Duration,
    /// The maximum size of the response, in bytes.
    pub limit: usize,
}

/// The response of an API.
#[derive(Clone, Debug)]
pub struct ApiAnswer {
    pub status: u16,
    pub body: body::Bytes,
}

impl Client {
    /// Calls an API; a response with any status is a success.
    pub async fn call(&self, call: ApiCall) -> Result<ApiAnswer, Error> {
        let request = Request {
            method: if call.json.is_some() { Method::POST } else { Method::GET },
            headers: headers(&call)?,
            body: call.json.map(Bytes::from).unwrap_or_default(),
            target: call.target,
            timeout: call.timeout,
            limit: call.limit,
        };
        let response = self.send(request).await?;
        Ok(ApiAnswer { status: response.status.as_u16(), body: response.body })
    }
}

fn headers(call: &ApiCall) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: &str| {
        let value = HeaderValue::from_str(value).map_err(|error| Error::Other(error.to_string()))?;
        headers.insert(name, value);
        Ok(())
    };
    put(ACCEPT, "application/json")?;
    put(USER_AGENT, &call.user_agent)?;
    if let Some(authorization) = &call.authorization {
        put(AUTHORIZATION, authorization)?;
    }
    if call.json.is_some() {
        put(CONTENT_TYPE, "application/json")?;
    }
    Ok(headers)
}
