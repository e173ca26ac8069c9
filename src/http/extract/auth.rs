//! Who asks, and whether their token reaches so far: authentication and scope stand in a handler's argument list.
//!
//! Order of checks (contract rules, section 2): token valid, scope, user present, account usable.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::{Error, Result};
use crate::http::auth::Authentication;
use crate::service::auth::Grant;
use model::actor::Unusable;
use model::{Actor, Permissions};

/// A person who is signed in, whose token has one of the scopes of `S` and whose account is usable.
#[derive(Debug)]
pub struct Auth<S>(pub Arc<Actor>, pub PhantomData<S>);

/// Perhaps a person: nobody without a token, nobody with an application's token; a token that is sent must be good.
#[derive(Debug)]
pub struct MaybeAuth<S>(pub Option<Arc<Actor>>, pub PhantomData<S>);

/// Someone who may change the settings of the server, whose token has one of the scopes of `S`; or whoever speaks to the
/// server's own socket.
#[derive(Debug)]
pub struct Admin<S>(pub Option<Arc<Actor>>, pub PhantomData<S>);

/// Marks a request that came over the server's own socket.
#[derive(Clone, Copy, Debug)]
pub struct Local;

/// Any good token with one of the scopes of `S`, an application's own too.
#[derive(Debug)]
pub struct AppAuth<S>(pub Arc<Grant>, pub PhantomData<S>);

/// A person as in [`Auth`], whose account need not be usable yet: for the routes that make it so.
#[derive(Debug)]
pub struct AnyStateAuth<S>(pub Arc<Actor>, pub PhantomData<S>);

/// Any good token as in [`AppAuth`]; the account behind it, if any, need not be usable yet.
#[derive(Debug)]
pub struct AnyStateAppAuth<S>(pub Arc<Grant>, pub PhantomData<S>);

/// The scopes of which one suffices; none: every token does.
pub trait Need: Send + Sync + 'static {
    /// The alternatives.
    const SCOPES: &'static [&'static str];
}

macro_rules! needs {
    ($($name:ident = [$($scope:literal),*]),+ $(,)?) => {$(
        #[doc = concat!("Needs one of: ", stringify!($($scope),*))]
        #[derive(Debug)]
        pub struct $name;
        impl Need for $name {
            const SCOPES: &'static [&'static str] = &[$($scope),*];
        }
    )+};
}

needs! {
    AnyScope = [],
    AdminRead = ["admin:read"],
    AdminWrite = ["admin:write"],
    Profile = ["profile", "read:accounts"],
    ReadAccounts = ["read:accounts"],
    ReadBlocks = ["follow", "read:blocks"],
    ReadBookmarks = ["read:bookmarks"],
    ReadFavourites = ["read:favourites"],
    ReadFollows = ["read:follows"],
    ReadFollowRequests = ["follow", "read:follows"],
    ReadLists = ["read:lists"],
    ReadMutes = ["follow", "read:mutes"],
    ReadNotifications = ["read:notifications"],
    ReadSearch = ["read:search"],
    ReadStatuses = ["read:statuses"],
    WriteAccounts = ["write:accounts"],
    WriteBlocks = ["follow", "write:blocks"],
    WriteBookmarks = ["write:bookmarks"],
    WriteFavourites = ["write:favourites"],
    WriteFollows = ["follow", "write:follows"],
    WriteMedia = ["write:media"],
    WriteAccountMutes = ["follow", "write:mutes"],
    WriteMutes = ["write:mutes"],
    WriteNotifications = ["write:notifications"],
    WriteStatuses = ["write:statuses"],
}

impl<S: Need> FromRequestParts<App> for AppAuth<S> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        token(&parts.extensions, S::SCOPES).map(|grant| Self(grant, PhantomData))
    }
}

impl<S: Need> FromRequestParts<App> for Admin<S> {
    type Rejection = Error;

    /// Without a token 403, not 401 (contract extensions, section 13).
    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        if parts.extensions.get::<Local>().is_some() {
            return Ok(Self(None, PhantomData));
        }
        let grant = match granted(&parts.extensions, S::SCOPES)? {
            Some(_) => token(&parts.extensions, S::SCOPES)?,
            None => return Err(not_allowed()),
        };
        let actor = grant.actor.clone().filter(|actor| actor.permissions.has(Permissions::MANAGE_SETTINGS));
        Ok(Self(Some(actor.ok_or_else(not_allowed)?), PhantomData))
    }
}

fn not_allowed() -> Error {
    Error::forbidden("This action is not allowed")
}

impl<S: Need> FromRequestParts<App> for Auth<S> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let AppAuth(grant, _) = <AppAuth<S> as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        Ok(Self(person(&grant)?, PhantomData))
    }
}

impl<S: Need> FromRequestParts<App> for AnyStateAppAuth<S> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        let grant = granted(&parts.extensions, S::SCOPES)?.ok_or_else(sign_in_needed)?;
        match grant.unusable {
            None | Some(Unusable::Unconfirmed | Unusable::Pending) => Ok(Self(grant, PhantomData)),
            Some(why) => Err(unusable(why)),
        }
    }
}

impl<S: Need> FromRequestParts<App> for AnyStateAuth<S> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let AnyStateAppAuth(grant, _) =
            <AnyStateAppAuth<S> as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        Ok(Self(person(&grant)?, PhantomData))
    }
}

impl<S: Need> FromRequestParts<App> for MaybeAuth<S> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        perhaps(&parts.extensions, S::SCOPES).map(|actor| Self(actor, PhantomData))
    }
}

impl<S: Need> OptionalFromRequestParts<App> for AppAuth<S> {
    type Rejection = Error;

    /// For public routes that show more to whoever is signed in: a bad token counts as none.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>> {
        Ok(<Self as FromRequestParts<App>>::from_request_parts(parts, app).await.ok())
    }
}

/// The token of a request, as [`AppAuth`] has it: good, with one of `scopes`, its account usable.
///
/// # Errors
/// 401 without a token, 403 for the scope or the account, each with its words.
pub fn token(extensions: &Extensions, scopes: &[&str]) -> Result<Arc<Grant>> {
    let grant = granted(extensions, scopes)?.ok_or_else(sign_in_needed)?;
    match grant.unusable {
        Some(why) => Err(unusable(why)),
        None => Ok(grant),
    }
}

/// Perhaps a person, as [`MaybeAuth`] has them.
///
/// # Errors
/// 401 for a token that is not ours, 403 for the scope or a suspended account.
pub fn perhaps(extensions: &Extensions, scopes: &[&str]) -> Result<Option<Arc<Actor>>> {
    let Some(grant) = granted(extensions, scopes)? else { return Ok(None) };
    match grant.unusable {
        Some(Unusable::Suspended) => Err(unusable(Unusable::Suspended)),
        // Whoever cannot use their account yet sees what everyone sees.
        Some(_) => Ok(None),
        None => Ok(grant.actor.clone()),
    }
}

fn granted(extensions: &Extensions, scopes: &[&str]) -> Result<Option<Arc<Grant>>> {
    let authentication = extensions.get::<Authentication>().unwrap_or(&Authentication::Missing);
    let Some(grant) = authentication.grant()? else { return Ok(None) };
    if grant.scopes.allows(scopes) {
        return Ok(Some(Arc::clone(grant)));
    }
    Err(Error::forbidden(format!("This action needs the scope {}", scopes.join(" or "))))
}

/// Without a token: 401 (contract rules, section 3).
fn sign_in_needed() -> Error {
    Error::Unauthorized("This method requires an authenticated user".into())
}

/// The person behind a token.
///
/// # Errors
/// 422 for an application's own token.
pub fn person(grant: &Grant) -> Result<Arc<Actor>> {
    grant.actor.clone().ok_or_else(|| Error::invalid("This method requires an authenticated user"))
}

fn unusable(why: Unusable) -> Error {
    Error::forbidden(match why {
        Unusable::Suspended => "Your login is currently suspended",
        Unusable::Disabled => "Your login is currently disabled",
        Unusable::Unconfirmed => "Your login is missing a confirmed e-mail address",
        Unusable::Pending => "Your login is currently pending approval",
        Unusable::Memorial => "This account is in memoriam",
        Unusable::Moved => "This account has moved",
    })
}
