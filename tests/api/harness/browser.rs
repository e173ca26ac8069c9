//! A browser: stores cookies, and submits the forms of the pages it loads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::http::{Method, header};

use super::{Answer, Client, RequestBuilder, TestApp};

/// Clones share their cookies.
#[derive(Clone)]
pub struct Browser {
    client: Client,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
    /// Value of `Accept-Language`.
    languages: Option<&'static str>,
}

impl Browser {
    pub fn new(server: &TestApp) -> Self {
        Self { client: server.anonymous(), cookies: Arc::default(), languages: None }
    }

    /// A browser with this value of `Accept-Language`.
    pub fn preferring(server: &TestApp, languages: &'static str) -> Self {
        Self { languages: Some(languages), ..Self::new(server) }
    }

    /// A browser signed in as `name`, whose password is set to [`PASSWORD`].
    pub async fn signed_in(server: &TestApp, name: &str) -> Self {
        server.set_password(name, PASSWORD).await;
        let browser = Self::new(server);
        let answer = browser.sign_in(name, PASSWORD).await;
        assert_eq!(answer.status, 302, "{}", answer.text());
        browser
    }

    /// Opens the sign-in page and sends its form.
    pub async fn sign_in(&self, name: &str, password: &str) -> Answer {
        let page = self.get("/auth/sign_in").await;
        self.submit(&page, "/auth/sign_in", &[("email", name), ("password", password)]).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(Method::POST, path, Some(fields)).await
    }

    pub async fn delete(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(Method::DELETE, path, Some(fields)).await
    }

    /// Submits the first form of `page` that posts to `action`, with its hidden fields and `fields`.
    pub async fn submit(&self, page: &Answer, action: &str, fields: &[(&str, &str)]) -> Answer {
        let hidden = form_fields(&page.text(), action);
        let mut all: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend_from_slice(fields);
        self.post(action, &all).await
    }

    /// Like [`Browser::submit`], with files: field, name and content.
    pub async fn upload(
        &self,
        page: &Answer,
        action: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &str, &[u8])],
    ) -> Answer {
        let hidden = form_fields(&page.text(), action);
        let mut all: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend_from_slice(fields);
        let answer = self.request(Method::POST, action).multipart(&all, files).send().await;
        self.keep(&answer);
        answer
    }

    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    async fn send(&self, method: Method, path: &str, form: Option<&[(&str, &str)]>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(form) = form {
            request = request.form(form);
        }
        let answer = request.send().await;
        self.keep(&answer);
        answer
    }

    /// Sends any request with the cookies of this browser.
    pub async fn carry(&self, mut request: axum::http::Request<axum::body::Body>) -> Answer {
        if let Ok(value) = self.cookie_line().parse() {
            request.headers_mut().insert(header::COOKIE, value);
        }
        let answer = self.client.server.send(request).await;
        self.keep(&answer);
        answer
    }

    fn cookie_line(&self) -> String {
        let jar = self.cookies.lock().unwrap();
        jar.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// A request with the cookies of this browser.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let line = self.cookie_line();
        let mut request = self.client.request(method, path).header("accept", "text/html");
        if let Some(languages) = self.languages {
            request = request.header("accept-language", languages);
        }
        if line.is_empty() { request } else { request.header("cookie", &line) }
    }

    fn keep(&self, answer: &Answer) {
        let mut jar = self.cookies.lock().unwrap();
        for line in answer.headers.get_all(header::SET_COOKIE) {
            let line = line.to_str().unwrap();
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            if line.contains("Max-Age=0") {
                jar.remove(name);
            } else {
                jar.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

/// Password of [`Browser::signed_in`].
pub const PASSWORD: &str = "correct horse battery";

/// The hidden fields of the first form in `html` that posts to `action`.
pub fn form_fields(html: &str, action: &str) -> Vec<(String, String)> {
    let start =
        html.find(&format!("action=\"{action}\"")).unwrap_or_else(|| panic!("no form posts to {action}: {html}"));
    let form = &html[start..start + html[start..].find("</form>").unwrap()];
    let inputs = form.split("<input type=\"hidden\"").skip(1);
    inputs.map(|input| (attribute(input, "name"), attribute(input, "value"))).collect()
}

fn attribute(tag: &str, name: &str) -> String {
    let rest = &tag[tag.find(&format!("{name}=\"")).unwrap() + name.len() + 2..];
    let value = &rest[..rest.find('"').unwrap()];
    let entities = [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    entities.iter().fold(value.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}
