//! Requests of clients to the plugin under test.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use toml::Table;

use super::calls::context;
use super::native::Native;
use super::{Fake, render};
use crate::contract::routes::{Body, Cursor, Output, Request, Response};
use crate::contract::types::{Failure, Page};

/// A request under construction.
#[derive(Debug)]
pub struct TestRequest<'a> {
    pub(super) fake: &'a Fake,
    method: String,
    path: String,
    query: Vec<(String, String)>,
    body: Body,
    headers: Vec<(String, String)>,
    pub(super) account: Option<i64>,
    token: Option<i64>,
    scopes: Option<Vec<String>>,
    role: u8,
}

/// The response to a request.
#[derive(Clone, Debug)]
pub struct TestResponse {
    /// The HTTP status.
    pub status: u16,
    /// The body: statuses and accounts as objects with little more than their ids.
    pub json: Value,
    /// The output of the plugin; none when it failed or was not called.
    pub output: Option<Output>,
    /// The cursors of the neighbouring pages.
    pub cursor: Option<Cursor>,
    /// The headers that the plugin set.
    pub headers: Vec<(String, String)>,
}

macro_rules! methods {
    ($($name:ident $method:literal),*) => {
        impl Fake {
            $(#[doc = concat!("Begins a `", $method, "`.")]
            #[must_use]
            pub fn $name(&self, path: &str) -> TestRequest<'_> {
                TestRequest::new(self, $method, path)
            })*
        }
    };
}
methods!(get "GET", post "POST", put "PUT", patch "PATCH", delete "DELETE");

impl<'a> TestRequest<'a> {
    fn new(fake: &'a Fake, method: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        Self {
            fake,
            method: method.into(),
            path: path.into(),
            query: query.collect(),
            body: Body::None,
            headers: Vec::new(),
            account: None,
            token: None,
            scopes: None,
            role: 1,
        }
    }

    /// With the token of this account, whose id is the account's.
    #[must_use]
    pub fn as_account(mut self, account: impl Into<i64>) -> Self {
        self.account = Some(account.into());
        self.token = self.account;
        self
    }

    /// With another token of [`Fake::token`], and as the account that it belongs to.
    ///
    /// # Panics
    /// When there is no such token.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test's own mistake")]
    pub fn with_token(mut self, token: impl Into<i64>) -> Self {
        let token = token.into();
        let account = self.fake.state(|state| state.tokens.get(&token).copied());
        self.account = Some(account.expect("add the token first"));
        self.token = Some(token);
        self
    }

    /// As a moderator (2) or admin (3).
    #[must_use]
    pub fn with_role(mut self, role: u8) -> Self {
        self.role = role;
        self
    }

    /// With a token of these scopes; by default, of the scopes that the route requires.
    #[must_use]
    pub fn with_scopes(mut self, scopes: &[&str]) -> Self {
        self.scopes = Some(scopes.iter().map(|scope| (*scope).to_owned()).collect());
        self
    }

    /// With a JSON body.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "so that a test may write json!(…)")]
    pub fn json(mut self, body: Value) -> Self {
        self.body = Body::Json(body.to_string());
        self
    }

    /// With a form: `[("title", "x"), ("account_ids[]", "1")]`.
    #[must_use]
    pub fn form(mut self, pairs: &[(&str, &str)]) -> Self {
        self.body = Body::Form(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect());
        self
    }

    /// With a body of any other content type.
    #[must_use]
    pub fn bytes(mut self, body: &[u8]) -> Self {
        self.body = Body::Bytes(body.to_vec());
        self
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Applies the checks that the manifest asks for, then calls the plugin's function, or answers a native route.
    #[must_use]
    pub fn send(self) -> TestResponse {
        let manifest: Table = self.fake.package.manifest.parse().unwrap_or_default();
        let routes = manifest.get("route").and_then(toml::Value::as_array).into_iter().flatten();
        let found = routes.filter_map(toml::Value::as_table).find_map(|route| Some((route, self.matches(route)?)));
        match found {
            None => refused(404, "Record not found"),
            Some((route, params)) => match self.refusal(route, &params) {
                Some(refusal) => refusal,
                None => self.call(route, params),
            },
        }
    }

    fn matches(&self, route: &Table) -> Option<Vec<(String, String)>> {
        if !texts(route.get("method")).contains(&self.method) {
            return None;
        }
        let template: Vec<&str> = route.get("path")?.as_str()?.trim_matches('/').split('/').collect();
        let path: Vec<&str> = self.path.trim_matches('/').split('/').collect();
        let mut params = Vec::new();
        for (wanted, sent) in template.iter().zip(&path) {
            match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => params.push((name.to_owned(), decoded(sent))),
                None if wanted == sent => {}
                None => return None,
            }
        }
        (template.len() == path.len()).then_some(params)
    }

    /// The response with which the server would refuse before it calls the plugin.
    fn refusal(&self, route: &Table, params: &[(String, String)]) -> Option<TestResponse> {
        let wanted = texts(route.get("scopes"));
        if route.get("auth").and_then(toml::Value::as_str) == Some("user") {
            if self.account.is_none() {
                return Some(refused(401, "The access token is invalid"));
            }
            let has = |scope: &String| {
                let parent = scope.split(':').next().unwrap_or_default();
                self.scopes.as_ref().is_none_or(|own| own.iter().any(|own| own == scope || own == parent))
            };
            if !wanted.is_empty() && !wanted.iter().any(has) {
                return Some(refused(403, "This action is outside the authorized scopes"));
            }
        }
        let least = match route.get("role").and_then(toml::Value::as_str) {
            None => 0,
            Some("moderator") => 2,
            Some(_) => 3,
        };
        if self.role < least {
            return Some(refused(403, "This action is not allowed"));
        }
        let kinds = route.get("params").and_then(toml::Value::as_table);
        let is_id = |name: &str| kinds.and_then(|kinds| kinds.get(name)).and_then(toml::Value::as_str) == Some("id");
        if params.iter().any(|(name, value)| is_id(name) && value.parse::<i64>().is_err()) {
            return Some(refused(404, "Record not found"));
        }
        let shown = route.get("status-visible").and_then(toml::Value::as_str)?;
        let id = params.iter().find(|(name, _)| name == shown).and_then(|(_, id)| id.parse().ok())?;
        let visible = self.fake.state(|state| render::visible(state, self.account, id));
        (!visible).then(|| refused(404, "Record not found"))
    }

    fn call(self, route: &Table, params: Vec<(String, String)>) -> TestResponse {
        let wanted = texts(route.get("scopes"));
        let mut ctx = context(
            self.account,
            self.scopes.as_deref().unwrap_or(&wanted),
            if self.account.is_some() { self.role } else { 0 },
        );
        ctx.caller.token = self.token;
        let caller = ctx.caller.clone();
        let page = route.get("page").and_then(toml::Value::as_table).map(|rule| self.page(rule));
        if let Some(rule) = route.get("native").and_then(toml::Value::as_table) {
            let all = route.get("page").and_then(|page| page.get("all")).and_then(toml::Value::as_bool) == Some(true);
            return Native { asked: &self, params: &params, page, all }.answer(rule);
        }
        let request = Request {
            ctx,
            route: route.get("id").and_then(toml::Value::as_str).unwrap_or_default().into(),
            method: self.method.clone(),
            path: self.path.clone(),
            params,
            query: self.query.clone(),
            headers: self.headers_listed(route),
            body: self.body.clone(),
            page,
        };
        let handle = self.fake.calls.route;
        let work = || handle(request).map(crate::Output::into_response);
        let keep = |result: &crate::Result<Response>| result.as_ref().is_ok_and(|response| response.status < 400);
        match self.fake.transaction(Some(caller), keep, work) {
            Ok(response) => self.answer(response, route.get("unmarks").is_some()),
            Err(error) => {
                let failure = Failure::from(error);
                refused(failure.status, &failure.message)
            }
        }
    }

    /// The headers that the manifest lists.
    fn headers_listed(&self, route: &Table) -> Vec<(String, String)> {
        let listed = texts(route.get("headers"));
        let is_listed = |name: &str| listed.iter().any(|known| known.eq_ignore_ascii_case(name));
        self.headers.iter().filter(|(name, _)| is_listed(name)).cloned().collect()
    }

    fn page(&self, rule: &Table) -> Page {
        let sent =
            |name: &str| self.query.iter().find(|(sent, _)| sent == name).and_then(|(_, value)| value.parse().ok());
        let limit = |name: &str| rule.get(name).and_then(toml::Value::as_integer).unwrap_or(20);
        let wanted = sent("limit").unwrap_or_else(|| limit("default")).abs().min(limit("max"));
        Page {
            max_id: sent("max_id"),
            since_id: sent("since_id"),
            min_id: sent("min_id"),
            limit: u16::try_from(wanted).unwrap_or(u16::MAX),
        }
    }

    fn answer(&self, response: Response, unmarks: bool) -> TestResponse {
        let shown = |viewer| self.fake.state(|state| render::output(state, viewer, &response.output));
        let json = shown(self.account);
        match if unmarks { json.or_else(|| shown(None)).or_else(|| Some(json!({}))) } else { json } {
            None => refused(404, "Record not found"),
            Some(json) => {
                let Response { status, headers, output, cursor } = response;
                TestResponse { status, json, output: Some(output), cursor, headers }
            }
        }
    }
}

pub(super) fn refused(status: u16, text: &str) -> TestResponse {
    TestResponse { status, json: json!({ "error": text }), output: None, cursor: None, headers: Vec::new() }
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn texts(value: Option<&toml::Value>) -> Vec<String> {
    match value {
        Some(toml::Value::String(one)) => vec![one.clone()],
        Some(toml::Value::Array(many)) => many.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

impl TestResponse {
    /// The body of a successful response.
    ///
    /// # Panics
    /// When the status is 400 or more.
    pub fn ok(self) -> Value {
        assert!(self.status < 400, "answered {} {}", self.status, self.json);
        self.json
    }

    /// The text of a failed response, after checking its status.
    ///
    /// # Panics
    /// When the status differs.
    pub fn error(self, status: u16) -> String {
        assert_eq!(self.status, status, "answered {}", self.json);
        self.json["error"].as_str().unwrap_or_default().to_owned()
    }
}
