//! Another site, on a port of this machine: serves the pages that a test adds, and records the requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Response, StatusCode, header};
use tokio::net::TcpListener;

/// Status, content type, body, and an additional header.
type Page = (u16, String, Vec<u8>, Option<(String, String)>);

/// A site that runs as long as the test. Cheap to clone.
#[derive(Clone)]
pub struct Site {
    /// Scheme, host and port.
    pub origin: String,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Configuration keys of a server that shows previews and may connect to the site.
    pub const KEYS: [(&'static str, &'static str); 2] =
        [("ROOKERY_PREVIEWS_ENABLED", "true"), ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32")];

    /// A site without pages.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Self { origin, pages: Arc::default(), asked: Arc::default() };
        let served = site.clone();
        let router = Router::new().fallback(move |request: Request| {
            let answer = served.answer(&request);
            async move { answer }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        site
    }

    fn answer(&self, request: &Request) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let page = self.pages.lock().unwrap().get(&path).cloned();
        self.asked.lock().unwrap().push(path);
        let (status, kind, body, more) = page.unwrap_or((404, "text/plain".to_owned(), Vec::new(), None));
        let mut answer =
            Response::builder().status(StatusCode::from_u16(status).unwrap()).header(header::CONTENT_TYPE, kind);
        if let Some((name, value)) = more {
            let unchanged =
                name == "etag" && request.headers().get(header::IF_NONE_MATCH).is_some_and(|it| *it == value);
            if unchanged {
                return Response::builder().status(StatusCode::NOT_MODIFIED).body(Body::empty()).unwrap();
            }
            answer = answer.header(name, value);
        }
        answer.body(Body::from(body)).unwrap()
    }

    fn insert(&self, path: &str, page: Page) -> String {
        self.pages.lock().unwrap().insert(path.to_owned(), page);
        format!("{}{path}", self.origin)
    }

    /// Adds a page; returns its URL.
    pub fn html(&self, path: &str, html: &str) -> String {
        self.put(path, 200, "text/html; charset=utf-8", html.as_bytes())
    }

    /// As [`Site::html`], with any status and content type.
    pub fn put(&self, path: &str, status: u16, kind: &str, body: &[u8]) -> String {
        self.insert(path, (status, kind.to_owned(), body.to_vec(), None))
    }

    /// As [`Site::html`], with an additional header.
    pub fn with_header(&self, path: &str, status: u16, name: &str, value: &str) -> String {
        let more = Some((name.to_owned(), value.to_owned()));
        self.insert(path, (status, "text/html".to_owned(), b"<title>t</title>".to_vec(), more))
    }

    /// As [`Site::put`], with a validator, which a conditional request may name.
    pub fn tagged(&self, path: &str, kind: &str, body: &[u8], etag: &str) -> String {
        self.insert(path, (200, kind.to_owned(), body.to_vec(), Some(("etag".to_owned(), etag.to_owned()))))
    }

    /// Number of requests for `path`.
    pub fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}
