//! HTTP clients of a server under test, and the responses they receive.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use model::AccountId;
use serde_json::Value;

use super::TestApp;

/// An account with a token, or an anonymous client.
#[derive(Clone)]
pub struct Client {
    pub server: TestApp,
    id: Option<AccountId>,
    pub name: String,
    pub token: Option<String>,
}

impl Client {
    pub fn new(server: TestApp, id: Option<AccountId>, name: &str, token: Option<String>) -> Self {
        Self { server, id, name: name.to_owned(), token }
    }

    /// The same client on another server with the same database.
    pub fn at(&self, server: &TestApp) -> Self {
        Self { server: server.clone(), ..self.clone() }
    }

    /// Id of the account. Panics for a client without one.
    pub fn id(&self) -> AccountId {
        self.id.expect("a person")
    }

    /// The same account with a token of other scopes.
    pub async fn with_scopes(&self, scopes: &str) -> Self {
        Self { token: Some(self.server.token(self.id, scopes).await), ..self.clone() }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }
    pub fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path)
    }
    pub fn put(&self, path: &str) -> RequestBuilder {
        self.request(Method::PUT, path)
    }
    pub fn patch(&self, path: &str) -> RequestBuilder {
        self.request(Method::PATCH, path)
    }
    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.request(Method::DELETE, path)
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut headers = HeaderMap::new();
        if let Some(token) = &self.token {
            headers.insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        }
        RequestBuilder { server: self.server.clone(), method, path: path.to_owned(), headers, body: Vec::new() }
    }
}

/// A request, sent by [`RequestBuilder::send`] or one of its shorthands.
pub struct RequestBuilder {
    server: TestApp,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl RequestBuilder {
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string().into_bytes())
    }

    /// Pairs as a form: `[("media_ids[]", "1")]`.
    pub fn form(self, pairs: &[(&str, &str)]) -> Self {
        let text = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        self.body("application/x-www-form-urlencoded", text.into_bytes())
    }

    /// A multipart body of fields and files (name, file name, content).
    pub fn multipart(self, fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> Self {
        let mut body = Vec::new();
        for (name, value) in fields {
            body.extend(
                format!("--xxBOUNDxx\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes(),
            );
        }
        for (name, file, content) in files {
            let head = format!(
                "--xxBOUNDxx\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            );
            body.extend(head.bytes());
            body.extend_from_slice(content);
            body.extend(b"\r\n");
        }
        body.extend(b"--xxBOUNDxx--\r\n");
        self.body("multipart/form-data; boundary=xxBOUNDxx", body)
    }

    pub fn body(mut self, content_type: &str, body: Vec<u8>) -> Self {
        self.headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        self.body = body;
        self
    }

    pub async fn send(self) -> Answer {
        let mut request = Request::builder().method(self.method).uri(&self.path).body(Body::from(self.body)).unwrap();
        *request.headers_mut() = self.headers;
        request.headers_mut().entry(header::HOST).or_insert_with(|| "example.test".parse().unwrap());
        self.server.send(request).await
    }

    /// Sends, expects 200 and returns the JSON.
    pub async fn ok(self) -> Value {
        self.expect(StatusCode::OK).await
    }

    /// Sends, expects `status` and returns the JSON.
    pub async fn expect(self, status: StatusCode) -> Value {
        let line = format!("{} {}", self.method, self.path);
        let answer = self.send().await;
        assert_eq!(answer.status, status, "{line}: {}", answer.text());
        answer.json()
    }

    /// Sends, expects an error of `status` with a documented error body, and returns its text.
    pub async fn fails(self, status: u16) -> String {
        let json = self.expect(StatusCode::from_u16(status).unwrap()).await;
        json["error"].as_str().expect("an error has a text").to_owned()
    }
}

/// A response with its whole body.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub async fn read(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Self { status: parts.status, headers: parts.headers, body }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }

    /// The text of a documented error body.
    pub fn error(&self) -> Option<String> {
        let json: Value = serde_json::from_slice(&self.body).ok()?;
        json["error"].as_str().map(str::to_owned)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
