//! Routes of plugins: what the server checks before a plugin hears of a request, and makes of its answer.
//!
//! Reached from the router's fallback, so a core route always wins. A request carries one registry from the outermost
//! layer on ([`pin`]). The gate answers exactly as core routes do; the plugin is told who asks but never holds a token,
//! names entities by id, and they are rendered by the code that renders them everywhere. Routes that the manifest
//! declares `native` never call the plugin at all.
//!
//! Follows `PLUGINS.md` sections 1.3, 1.8, 2.3 and 2.6.

mod claim;
mod failure;
mod gate;
mod headers;
mod holes;
mod invoke;
mod native;
mod output;
mod paging;
mod table;
mod template;

pub(in crate::plugins) use gate::rank;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use self::invoke::Asked;
use self::paging::Wanted;
pub use self::table::Table;
use self::table::{Found, Mounted};
use crate::app::App;
use crate::error::Result;
use crate::http::error::raw_json;
use crate::http::extract::params::Sent;
use crate::http::{cache, observe};
use crate::plugins::call::Caller;

/// Which generation of which plugin answered: in development.
const PLUGIN: HeaderName = HeaderName::from_static("x-plugin");

/// Gives the request the plugins of now, whatever is swapped while it is answered. The outermost layer.
pub async fn pin(State(app): State<App>, request: Request, next: Next) -> Response {
    app.plugins.pinned(next.run(request)).await
}

/// Answers a request that is no core route's; `None` when it is no plugin's either.
pub async fn serve(app: App, request: Request) -> Option<Response> {
    let registry = app.plugins.current();
    if registry.plugins.is_empty() {
        return None;
    }
    let found = registry.routes.find(request.method(), request.uri().path())?;
    let mounted = Arc::clone(&found.mounted);
    if app.plugins.pauses.stops(&mounted.plugin) {
        return Box::pin(after_pause(app, &mounted, request)).await;
    }
    let head = request.method() == Method::HEAD;
    let mut response = match Box::pin(handle(&app, found, request)).await {
        Ok(response) => response,
        Err(error) => output::refused(error),
    };
    mark(&app, &mounted, &mut response);
    if head {
        *response.body_mut() = Body::empty();
    }
    Some(response)
}

/// The plugin's tables are changed: the request goes to the generation that comes then.
async fn after_pause(app: App, mounted: &Mounted, request: Request) -> Option<Response> {
    if app.plugins.pauses.ended(mounted.plugin.name()).await {
        return app.clone().plugins.pinned_anew(serve(app, request)).await;
    }
    Some(failure::pausing(mounted))
}

async fn handle(app: &App, found: Found, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let mounted = Arc::clone(&found.mounted);
    let caller = gate::caller(app, &mounted, &parts).await?;
    gate::check_params(&found)?;
    let page = mounted.route().page.as_ref().map(|rule| Wanted::read(app, &parts.uri, rule)).transpose()?;
    let limit = mounted.rules.body_limit.min(app.config.server.body_limit_bytes);
    let sent = Sent::read(&parts, body, limit).await?;
    gate::check_subjects(app, caller.actor.as_deref(), &found).await?;
    let spent = gate::spend(app, &mounted, &gate::key(app, &caller, &parts))?;
    let keeps = is_kept(&mounted, &caller);
    // It may have begun while the request was read.
    if app.plugins.pauses.stops(&mounted.plugin) {
        return Ok(failure::pausing(&mounted));
    }
    let (mut response, succeeded) = match &mounted.route().native {
        Some(rule) => (native::answer(app, &found, rule, &caller, page).await?, true),
        None if page.as_ref().is_some_and(Wanted::is_empty) => (raw_json(StatusCode::OK, "[]".into()), true),
        None => invoke::answer(app, Asked { found, parts, caller, sent, page }).await,
    };
    if let Some(spent) = spent.filter(|_| succeeded) {
        spent.keep();
    }
    if keeps && response.status() == StatusCode::OK {
        response.headers_mut().entry(header::CACHE_CONTROL).or_insert(cache::WHILE_ANONYMOUS);
    }
    Ok(response)
}

/// True when others may keep the answer for a moment: the manifest says so, it is for nobody in particular, and depends on
/// nothing that the cache does not know of.
fn is_kept(mounted: &Mounted, caller: &Caller) -> bool {
    let route = mounted.route();
    route.cache && caller.actor.is_none() && route.headers.is_empty()
}

/// Says for the measurements which route it was, and in development which generation answered.
fn mark(app: &App, mounted: &Mounted, response: &mut Response) {
    response.extensions_mut().insert(observe::Template(Arc::clone(&mounted.path)));
    if app.plugins.shows_generations.load(Ordering::Relaxed) {
        let plugin = &mounted.plugin;
        let sha = plugin.sha256.get(..8).unwrap_or_default();
        let text = format!("{}@{}({sha})", plugin.name(), plugin.generation);
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(PLUGIN, value);
        }
    }
}
