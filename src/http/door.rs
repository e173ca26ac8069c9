//! The service of a listener whose server may not be open yet.
//!
//! Before that, `/livez` and `/health` answer 200, and everything else 503 with `Retry-After`.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::BoxFuture;
use tower::Service;

use crate::router::Server;

/// How long a client waits before it asks again, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("2");

/// Hands requests to the server once it is open. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Door(Arc<OnceLock<Server>>);

impl Door {
    /// Requests go to `server` from now on; without effect the second time.
    pub fn open(&self, server: Server) {
        let _ = self.0.set(server);
    }
}

impl Service<Request> for Door {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match self.0.get() {
            Some(server) => server.clone().call(request),
            None => Box::pin(std::future::ready(Ok(closed(request.uri().path())))),
        }
    }
}

fn closed(path: &str) -> Response {
    match path {
        "/livez" | "/health" => "OK".into_response(),
        "/readyz" => (StatusCode::SERVICE_UNAVAILABLE, "starting").into_response(),
        _ => {
            let body = r#"{"error":"The server is starting: try again in a few seconds"}"#;
            let headers = [
                (header::RETRY_AFTER, RETRY_AFTER),
                (header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8")),
                (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
            ];
            (StatusCode::SERVICE_UNAVAILABLE, headers, body).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn closed_door_answers_probes_and_asks_others_to_wait() {
        let mut door = Door::default();
        let mut ask = async |path: &str| {
            let request = Request::builder().uri(path).body(axum::body::Body::empty()).unwrap();
            door.call(request).await.unwrap()
        };
        assert_eq!(ask("/livez").await.status(), 200);
        assert_eq!(ask("/readyz").await.status(), 503);
        let other = ask("/api/v1/instance").await;
        assert_eq!((other.status().as_u16(), &other.headers()[header::RETRY_AFTER]), (503, &RETRY_AFTER));
    }
}
