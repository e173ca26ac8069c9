//! Calls the plugin for one request: converts the request, calls, commits its changes and renders its answer.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, header};
use axum::response::Response;
use rookery_plugin_host::exports::routes::{Body, Request, Response as GuestResponse};
use rookery_plugin_host::imports::types::{CallContext, Caller as CallerRecord, Failure};
use rookery_plugin_host::{CallError, CallErrorKind, Part};

use super::output::{self, Checked};
use super::paging::PageRequest;
use super::table::{Found, Mounted};
use super::{failure, headers};
use crate::Cx;
use crate::call::logs::Level;
use crate::call::{Call, Caller, Mode, json};
use crate::error::is_own_mistake;
use context::error::{Error, Result};
use rookery_http::extract::params::{RawBody, RawParams};

/// A request that passed the gate.
pub(super) struct RouteRequest {
    pub(super) found: Found,
    pub(super) parts: Parts,
    pub(super) caller: Caller,
    pub(super) sent: RawParams,
    pub(super) page: Option<PageRequest>,
}

/// Calls the plugin; returns the response, and whether it is a success.
pub(super) async fn answer(cx: &Cx, asked: RouteRequest) -> (Response, bool) {
    let mounted = Arc::clone(&asked.found.mounted);
    let (caller, page) = (asked.caller.clone(), asked.page);
    let request = match request(&mounted, &asked.found.params, &asked.parts, &caller, asked.sent, page.as_ref()) {
        Ok(request) => request,
        Err(error) => return (output::refused(error), false),
    };
    let viewer = caller.actor.clone();
    let call = Call::new(cx, &mounted.plugin, Part::Routes, caller, mode(&asked.parts.method));
    let answer = match mounted.plugin.component.route(Arc::clone(&call) as _, request).await {
        Ok(answer) => answer,
        Err(cause) => {
            let cause = cx.plugins.pauses.as_busy_if_paused(&mounted.plugin, cause);
            report(cx, &mounted, &cause);
            return (failure::answer(&mounted, &cause), false);
        }
    };
    let links = page.as_ref().zip(answer.cursor).and_then(|(page, ends)| page.links(ends));
    let checked = match check(&mounted, answer) {
        Ok(checked) => checked,
        Err(why) => {
            let ended = CallErrorKind::Trap;
            report(
                cx,
                &mounted,
                &CallError {
                    kind: ended,
                    message: why,
                    failure: None,
                    backtrace: Vec::new(),
                    person: call.on_behalf_of().map(i64::from),
                },
            );
            return (failure::invalid_answer(&mounted), false);
        }
    };
    let succeeded = checked.succeeded();
    match finish(cx, viewer.as_deref(), &call, checked, links).await {
        Ok(response) => (response, succeeded),
        Err(error) => (output::refused(error), false),
    }
}

/// Commits the changes of the call, then renders the answer.
async fn finish(
    cx: &Cx,
    viewer: Option<&model::Actor>,
    call: &Call,
    checked: Checked,
    links: Option<HeaderValue>,
) -> Result<Response> {
    if checked.succeeded() {
        call.commit().await?;
    }
    if !checked.refused.is_empty() {
        let line = format!("dropped headers that a plugin may not set, or not so: {}", checked.refused.join(", "));
        call.log_of_host(Level::Warn, line);
    }
    let mut response = checked.render(cx, viewer).await?;
    if let Some(links) = links {
        response.headers_mut().insert(header::LINK, links);
    }
    Ok(response)
}

fn check(mounted: &Mounted, answer: GuestResponse) -> Result<Checked, String> {
    Checked::of(answer.status, &answer.headers, answer.output, mounted.route().unmarks)
}

/// Records a failed call for the admin; an error that the plugin returns deliberately is no failure.
fn report(cx: &Cx, mounted: &Mounted, cause: &CallError) {
    let is_for_client = |failure: &Failure| (400..500).contains(&failure.status) && !is_own_mistake(failure);
    if !cause.failure.as_ref().is_some_and(is_for_client) {
        cx.plugins.report(&mounted.plugin, "route", &mounted.route().id, cause);
    }
}

/// One transaction for methods that change something.
fn mode(method: &Method) -> Mode {
    let changes = *method != Method::GET && *method != Method::HEAD;
    if changes { Mode::Ambient } else { Mode::Read }
}

fn request(
    mounted: &Mounted,
    params: &[(String, String)],
    parts: &Parts,
    caller: &Caller,
    sent: RawParams,
    page: Option<&PageRequest>,
) -> Result<Request> {
    let route = mounted.route();
    Ok(Request {
        ctx: CallContext {
            request_id: caller.request_id.clone(),
            caller: CallerRecord {
                account: caller.actor.as_ref().map(|actor| actor.id.into()),
                token: caller.actor.as_ref().and_then(|actor| actor.token).map(i64::from),
                scopes: caller.scopes.clone(),
                role: caller.role,
                locale: caller.locale.clone(),
                app: caller.app.clone(),
            },
            budget_ms: budget_ms(mounted),
        },
        route: route.id.clone(),
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        params: params.to_vec(),
        query: sent.query,
        headers: headers::shown(&parts.headers, &route.headers),
        body: body(sent.body)?,
        page: page.map(PageRequest::page),
    })
}

/// The wall-clock limit of a route, in milliseconds.
fn budget_ms(mounted: &Mounted) -> u32 {
    u32::try_from(mounted.plugin.component.limits().route_wall.as_millis()).unwrap_or(u32::MAX)
}

fn body(sent: RawBody) -> Result<Body> {
    Ok(match sent {
        RawBody::None => Body::None,
        RawBody::Form(pairs) => Body::Form(pairs),
        RawBody::Bytes(bytes) => Body::Bytes(bytes.into()),
        RawBody::Json(object) => {
            let text = serde_json::Value::Object(object).to_string();
            json::check(&text).map_err(Error::bad_request)?;
            Body::Json(text)
        }
    })
}
