//! The gate of plugin routes: everything that a manifest demands of a request, checked before the plugin is called,
//! with the same errors as core routes.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{Extensions, header};

use super::table::{self, Found, Mounted};
use crate::Cx;
use crate::call::Caller;
use context::error::{Error, Result};
use context::limits::Key;
use model::{AccountId, Actor, AppId, Permissions, Scopes, StatusId};
use plugin_package::manifest::{Auth, ParamKind};
use rookery_http::auth::Authentication;
use rookery_http::extract::auth;
use rookery_http::policy::{self, Policy, RouteKind};
use rookery_http::{client_address, closed_server};
use service::rate_limits::{self, Spent};
use service::visibility;
use text::language;

/// Authenticates the caller, and checks that the route admits them.
///
/// # Errors
/// 401, 403 or 422, as core routes answer.
pub(super) async fn caller(cx: &Cx, mounted: &Mounted, parts: &Parts) -> Result<Caller> {
    let route = mounted.route();
    let scopes: Vec<&str> = route.scopes.iter().map(String::as_str).collect();
    let (actor, held, application) = match route.auth {
        Auth::User => {
            let grant = auth::token(&parts.extensions, &scopes)?;
            (Some(auth::require_actor(&grant)?), names(&grant.scopes), grant.app)
        }
        Auth::Optional => known(&parts.extensions, &scopes)?,
        Auth::None => (None, Vec::new(), None),
    };
    let role = rank(actor.as_deref());
    if role < needed(route.role.as_deref()) {
        return Err(Error::forbidden("This action is not allowed"));
    }
    Ok(Caller {
        locale: locale(cx, actor.as_deref(), parts),
        actor,
        scopes: held,
        role,
        app: application_name(cx, application).await?,
        request_id: cx.request_id().unwrap_or_default().to_owned(),
        author: None,
    })
}

type Known = (Option<Arc<Actor>>, Vec<String>, Option<AppId>);

/// The authenticated person, if any, and the scopes of their token.
fn known(extensions: &Extensions, scopes: &[&str]) -> Result<Known> {
    let Some(actor) = auth::optional_actor(extensions, scopes)? else { return Ok((None, Vec::new(), None)) };
    let (held, application) = (names(&actor.scopes), actor.app);
    Ok((Some(actor), held, application))
}

fn names(scopes: &Scopes) -> Vec<String> {
    scopes.iter().map(str::to_owned).collect()
}

/// 0 anonymous, 1 user, 2 moderator, 3 admin.
pub(crate) fn rank(actor: Option<&Actor>) -> u8 {
    match actor.map(|actor| actor.permissions) {
        None => 0,
        Some(permissions) if permissions.has(Permissions::ADMINISTRATOR) => 3,
        Some(permissions) if permissions.moderates() => 2,
        Some(_) => 1,
    }
}

/// The least rank for a role in a manifest. An unknown role admits no user.
fn needed(role: Option<&str>) -> u8 {
    match role {
        None => 0,
        Some("moderator") => 2,
        Some("admin") => 3,
        Some(_) => u8::MAX,
    }
}

/// The locale: from the account's settings, else the request, else the server.
fn locale(cx: &Cx, actor: Option<&Actor>, parts: &Parts) -> String {
    let accepted = || parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let found = actor
        .and_then(|actor| actor.locale.as_deref())
        .and_then(language::resolve)
        .or_else(|| accepted().and_then(language::from_accept_language));
    found.unwrap_or(cx.config.server.locale.as_str()).to_owned()
}

async fn application_name(cx: &Cx, id: Option<AppId>) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    if let Some(name) = cx.caches.applications.get(&id) {
        return Ok(Some(name.to_string()));
    }
    let found = store::application::find(&cx.db, id).await?;
    if let Some(found) = &found {
        cx.caches.applications.insert(id, found.name.as_str().into());
    }
    Ok(found.map(|application| application.name))
}

/// Checks the types of path parameters.
///
/// # Errors
/// [`Error::NotFound`] for an id that is not a number.
pub(super) fn check_params(found: &Found) -> Result<()> {
    let route = found.mounted.route();
    for (name, value) in &found.params {
        match table::kind(route, name) {
            ParamKind::Id => {
                id(value)?;
            }
            ParamKind::Segment => {}
        }
    }
    Ok(())
}

/// Checks that the status and account in the path exist and `viewer` may see them.
///
/// # Errors
/// [`Error::NotFound`] when one is missing or hidden.
pub(super) async fn check_subjects(cx: &Cx, viewer: Option<&Actor>, found: &Found) -> Result<()> {
    let route = found.mounted.route();
    if let Some(name) = &route.status_visible {
        visibility::status(cx, viewer, StatusId::from(id(param(found, name)?)?)).await?;
    }
    if let Some(name) = &route.account_exists {
        service::account::find_visible(cx, AccountId::from(id(param(found, name)?)?)).await?;
    }
    Ok(())
}

/// The value of a path parameter.
///
/// # Errors
/// [`Error::NotFound`] when the path has no parameter of that name.
pub(super) fn param<'a>(found: &'a Found, name: &str) -> Result<&'a str> {
    let value = found.params.iter().find(|(param, _)| param == name);
    value.map(|(_, value)| value.as_str()).ok_or(Error::NotFound)
}

/// Parses an id: decimal digits, as core routes do.
///
/// # Errors
/// [`Error::NotFound`] for anything else.
pub(super) fn id(text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::NotFound)
}

/// The checks for a path outside `/api/` that the server has done earlier for other paths: a closed server serves
/// signed-in users only, and every request counts against the general limit. Sign-up is open on a closed server, like
/// the server's own form.
///
/// # Errors
/// [`Error::Unauthorized`] on a closed server, [`Error::RateLimited`] when the limit is exhausted.
pub(super) async fn admit(cx: &Cx, mounted: &Mounted, caller: &Caller, parts: &Parts) -> Result<()> {
    let path = parts.uri.path();
    if Policy::fallback(path).kind == RouteKind::Api {
        return Ok(());
    }
    let core = rookery_http::Cx(context::Cx::clone(cx));
    let is_public = mounted.route().html.is_some() || path.starts_with("/.well-known/");
    if !is_public && closed_server::is_closed(&core, &policy::API, &parts.method) {
        let authentication = parts.extensions.get().cloned().unwrap_or(Authentication::Missing);
        if !closed_server::is_person(&core, &authentication, &parts.headers).await.map_err(|error| error.0)? {
            return Err(Error::Unauthorized("This method requires an authenticated user".into()));
        }
    }
    let limit = if caller.actor.is_some() { &rate_limits::API_PERSON } else { &rate_limits::API_ADDRESS };
    match rate_limits::spend(cx, limit, &key(cx, caller, parts)) {
        Some(standing) if standing.exceeded => Err(Error::RateLimited),
        Some(_) | None => Ok(()),
    }
}

/// The key of the rate limits of this caller.
pub(super) fn key(cx: &Cx, caller: &Caller, parts: &Parts) -> Key {
    match &caller.actor {
        Some(actor) => Key::Person(actor.id),
        None => Key::address(client_address::of(&parts.extensions, &parts.headers, &cx.config.server.trusted_proxies)),
    }
}

/// Takes one from the route's own rate limit.
///
/// # Errors
/// [`Error::RateLimited`] when it is exhausted.
pub(super) fn spend(cx: &Cx, mounted: &Mounted, key: &Key) -> Result<Option<Spent>> {
    mounted.rules.rate.as_ref().map(|limit| rate_limits::take(cx, limit, key)).transpose()
}
