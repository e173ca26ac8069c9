//! Who may pass: everything that a manifest asks of a request, checked before the plugin hears of it, with the answers
//! that core routes give.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{Extensions, header};

use super::table::{self, Found, Mounted};
use crate::app::App;
use crate::error::{Error, Result};
use crate::http::extract::auth;
use crate::http::{client_address, observe};
use crate::plugins::call::Caller;
use crate::plugins::manifest::{Auth, ParamKind};
use crate::service::limits::{self, Key, Spent};
use crate::service::{self, visibility};
use model::{AccountId, Actor, AppId, Permissions, StatusId};
use text::language;

/// Who asks, when the route is for them.
///
/// # Errors
/// 401, 403 or 422 as core routes answer.
pub(super) async fn caller(app: &App, mounted: &Mounted, parts: &Parts) -> Result<Caller> {
    let route = mounted.route();
    let scopes: Vec<&str> = route.scopes.iter().map(String::as_str).collect();
    let (actor, held, application) = match route.auth {
        Auth::User => {
            let grant = auth::token(&parts.extensions, &scopes)?;
            (Some(auth::person(&grant)?), grant.scopes.iter().collect(), grant.app)
        }
        Auth::App => {
            let grant = auth::token(&parts.extensions, &scopes)?;
            (grant.actor.clone(), grant.scopes.iter().collect(), grant.app)
        }
        Auth::Optional => known(&parts.extensions, &scopes)?,
        Auth::None => (None, Vec::new(), None),
    };
    let role = rank(actor.as_deref());
    if role < needed(route.role.as_deref()) {
        return Err(Error::forbidden("This action is not allowed"));
    }
    Ok(Caller {
        locale: locale(app, actor.as_deref(), parts),
        actor,
        scopes: held.into_iter().map(str::to_owned).collect(),
        role,
        app: application_name(app, application).await?,
        request_id: observe::request_id().unwrap_or_default(),
    })
}

type Known = (Option<Arc<Actor>>, Vec<&'static str>, Option<AppId>);

/// Perhaps a person, and what their token allows.
fn known(extensions: &Extensions, scopes: &[&str]) -> Result<Known> {
    let Some(actor) = auth::perhaps(extensions, scopes)? else { return Ok((None, Vec::new(), None)) };
    let (held, application) = (actor.scopes.iter().collect(), actor.app);
    Ok((Some(actor), held, application))
}

/// 0 anonymous, 1 user, 2 moderator, 3 admin.
pub(in crate::plugins) fn rank(actor: Option<&Actor>) -> u8 {
    match actor.map(|actor| actor.permissions) {
        None => 0,
        Some(permissions) if permissions.has(Permissions::ADMINISTRATOR) => 3,
        Some(permissions) if permissions.moderates() => 2,
        Some(_) => 1,
    }
}

/// The least rank for a role that a manifest names. One that does not exist lets nobody in.
fn needed(role: Option<&str>) -> u8 {
    match role {
        None => 0,
        Some("moderator") => 2,
        Some("admin") => 3,
        Some(_) => u8::MAX,
    }
}

/// What the person set, what the request says, what the server speaks.
fn locale(app: &App, actor: Option<&Actor>, parts: &Parts) -> String {
    let accepted = || parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    let found = actor
        .and_then(|actor| actor.locale.as_deref())
        .and_then(language::resolve)
        .or_else(|| accepted().and_then(language::from_accept_language));
    found.unwrap_or(app.config.server.locale.as_str()).to_owned()
}

async fn application_name(app: &App, id: Option<AppId>) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    if let Some(name) = app.cache.applications.get(&id) {
        return Ok(Some(name.to_string()));
    }
    let found = store::application::find(&app.db, id).await?;
    if let Some(found) = &found {
        app.cache.applications.insert(id, found.name.as_str().into());
    }
    Ok(found.map(|application| application.name))
}

/// Checks that parameters are what they must be.
///
/// # Errors
/// [`Error::NotFound`] for an id that is none.
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

/// Checks that what the path is about is there for `viewer`.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden.
pub(super) async fn check_subjects(app: &App, viewer: Option<&Actor>, found: &Found) -> Result<()> {
    let route = found.mounted.route();
    if let Some(name) = &route.status_visible {
        visibility::status(app, viewer, StatusId::from(id(param(found, name)?)?)).await?;
    }
    if let Some(name) = &route.account_exists {
        service::account::find_visible(app, AccountId::from(id(param(found, name)?)?)).await?;
    }
    Ok(())
}

/// The value of a parameter of the path.
///
/// # Errors
/// [`Error::NotFound`] when the path has none of that name.
pub(super) fn param<'a>(found: &'a Found, name: &str) -> Result<&'a str> {
    let value = found.params.iter().find(|(param, _)| param == name);
    value.map(|(_, value)| value.as_str()).ok_or(Error::NotFound)
}

/// A parameter that is an id: decimal digits, as core routes read them.
///
/// # Errors
/// [`Error::NotFound`] for what is none.
pub(super) fn id(text: &str) -> Result<i64> {
    text.parse().map_err(|_| Error::NotFound)
}

/// Whose limits are spent.
pub(super) fn key(app: &App, caller: &Caller, parts: &Parts) -> Key {
    match &caller.actor {
        Some(actor) => Key::Person(actor.id),
        None => Key::address(client_address::of(&parts.extensions, &parts.headers, &app.config.server.trusted_proxies)),
    }
}

/// Spends one of the route's own limit.
///
/// # Errors
/// [`Error::RateLimited`] when it is used up.
pub(super) fn spend(app: &App, mounted: &Mounted, key: &Key) -> Result<Option<Spent>> {
    mounted.rules.rate.as_ref().map(|limit| limits::take(app, limit, key)).transpose()
}
