//! Routes of plugins: the checks before a plugin is called, and the conversion of its output to a response.
//!
//! Reached from the router's fallback ([`crate::extra_routes`]), so a core route always wins. A request uses one
//! registry from its beginning ([`Cx::registry`]). The gate responds exactly like core routes; the plugin receives the
//! caller but never a token, and refers to entities by id, which the server renders. Routes that the manifest declares
//! `native` never call the plugin at all.
//!
//! Follows docs/plugins.md#13-manifest, docs/plugins.md#18-native-routes, docs/plugins.md#23-swap-and-drain and
//! docs/plugins.md#26-limits.

mod claim;
mod failure;
mod gate;
mod headers;
mod invoke;
mod native;
mod native_check;
pub mod openapi;
mod output;
pub mod pages;
mod paging;
mod placeholders;
mod recent;
mod sign_up;
mod table;
mod template;

pub(crate) use gate::rank;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use tokio::time::Instant;

use self::invoke::RouteRequest;
use self::paging::PageRequest;
pub use self::recent::{RecentRequest, RecentRequests};
pub use self::table::Table;
use self::table::{Found, Mounted};
use crate::Cx;
use crate::call::Caller;
use context::error::Result;
use rookery_http::error::raw_json;
use rookery_http::extract::params::RawParams;
use rookery_http::{cache, observe};

/// Names the plugin and generation that answered; sent in development.
const PLUGIN: HeaderName = HeaderName::from_static("x-plugin");

/// Answers a request that no core route matches; `None` when no plugin route does either.
pub async fn serve(cx: Cx, request: Request) -> Option<Response> {
    let registry = cx.registry();
    if registry.plugins.is_empty() {
        return None;
    }
    let Some(found) = registry.routes.find(request.method(), request.uri().path()) else {
        return Box::pin(pages::serve(cx, &registry, request)).await;
    };
    let mounted = Arc::clone(&found.mounted);
    if cx.plugins.pauses.stops(&mounted.plugin) {
        return Box::pin(after_pause(cx, &mounted, request)).await;
    }
    let head = request.method() == Method::HEAD;
    let asked = cx.plugins.shows_generations.load(Ordering::Relaxed).then(|| asked(&cx, &mounted, &request));
    let began = Instant::now();
    let mut response = match Box::pin(handle(&cx, found, request)).await {
        Ok(response) => response,
        Err(error) => output::refused(error),
    };
    mark(&cx, &mounted, &mut response);
    if let Some(asked) = asked {
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        cx.plugins.requests.push(RecentRequest { status: response.status().as_u16(), took_us, ..asked });
    }
    if head {
        *response.body_mut() = Body::empty();
    }
    Some(response)
}

/// The record of a request that is not answered yet.
fn asked(cx: &Cx, mounted: &Mounted, request: &Request) -> RecentRequest {
    let path = request.uri().path_and_query().map_or(request.uri().path(), |path| path.as_str());
    RecentRequest {
        number: 0,
        at: cx.clock.now().timestamp_millis(),
        plugin: mounted.plugin.name().to_owned(),
        method: request.method().to_string(),
        path: path.chars().take(500).collect(),
        status: 0,
        took_us: 0,
    }
}

/// Waits for the plugin's pause to end, and hands the request to the generation that is active then.
async fn after_pause(cx: Cx, mounted: &Mounted, request: Request) -> Option<Response> {
    if cx.plugins.pauses.ended(mounted.plugin.name()).await {
        return serve(cx.renewed(), request).await;
    }
    Some(failure::paused(mounted))
}

async fn handle(cx: &Cx, found: Found, request: Request) -> Result<Response> {
    let mounted = Arc::clone(&found.mounted);
    if sign_up::is_asked_for(&mounted, &request) {
        return sign_up::page(cx, found, request.headers()).await;
    }
    let (parts, body) = request.into_parts();
    let caller = gate::caller(cx, &mounted, &parts).await?;
    gate::admit(cx, &mounted, &caller, &parts).await?;
    gate::check_params(&found)?;
    let page = mounted.route().page.as_ref().map(|rule| PageRequest::read(cx, &parts.uri, rule)).transpose()?;
    let limit = mounted.rules.body_limit.min(cx.config.server.body_limit_bytes);
    let sent = RawParams::read(&parts, body, limit).await?;
    gate::check_subjects(cx, caller.actor.as_deref(), &found).await?;
    let spent = gate::spend(cx, &mounted, &gate::key(cx, &caller, &parts))?;
    let keeps = is_cacheable(&mounted, &caller);
    // A pause may have begun while the request body was read.
    if cx.plugins.pauses.stops(&mounted.plugin) {
        return Ok(failure::paused(&mounted));
    }
    let (mut response, succeeded) = match &mounted.route().native {
        Some(rule) => (native::answer(cx, &found, rule, &caller, page).await?, true),
        None if page.as_ref().is_some_and(PageRequest::is_empty) => (raw_json(StatusCode::OK, "[]".into()), true),
        None => invoke::answer(cx, RouteRequest { found, parts, caller, sent, page }).await,
    };
    if mounted.route().html.is_some() {
        sign_up::beside(cx, &mut response)?;
    }
    if let Some(spent) = spent.filter(|_| succeeded) {
        spent.keep();
    }
    if keeps && response.status() == StatusCode::OK {
        response.headers_mut().entry(header::CACHE_CONTROL).or_insert(cache::WHILE_ANONYMOUS);
    }
    Ok(response)
}

/// True when the response may be cached briefly: the manifest says so, and the caller is anonymous.
fn is_cacheable(mounted: &Mounted, caller: &Caller) -> bool {
    mounted.route().cache && caller.actor.is_none()
}

/// Names the route for the metrics and, in development, the generation that answered.
fn mark(cx: &Cx, mounted: &Mounted, response: &mut Response) {
    response.extensions_mut().insert(observe::RouteTemplate(Arc::clone(&mounted.path)));
    if cx.plugins.shows_generations.load(Ordering::Relaxed) {
        let plugin = &mounted.plugin;
        let sha = plugin.sha256.get(..8).unwrap_or_default();
        let text = format!("{}@{}({sha})", plugin.name(), plugin.generation);
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(PLUGIN, value);
        }
    }
}
