//! Extractors for authentication and scope: a handler's argument list states who may call it.
//!
//! They read the [`Authentication`] that the `auth` stage found. Checks run in the order of
//! docs/contract/rules.md#2-authentication: token valid, scope, user present, account usable.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::auth::Authentication;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Caller, Describe, Operation, Security};
use model::actor::Unusable;
use model::{Actor, Grant, Permissions, Staff};

/// A signed-in user with a usable account, whose token has one of the scopes of `S`.
#[derive(Debug)]
pub struct Auth<S>(pub Arc<Actor>, pub PhantomData<S>);

/// An optional user: `None` without a token or with an application's own token. A token that is sent must be valid.
#[derive(Debug)]
pub struct MaybeAuth<S>(pub Option<Arc<Actor>>, pub PhantomData<S>);

/// A member of staff whose role has one of the permissions of `P` and whose token has one of the scopes of `S`; an
/// operator for a request over the admin socket.
#[derive(Debug)]
pub struct StaffAuth<S, P>(pub Staff, pub PhantomData<(S, P)>);

/// As [`StaffAuth`] for routes that anyone may use and that show more to staff: `None` without the permission.
#[derive(Debug)]
pub struct MaybeStaff<S, P> {
    /// The member of staff.
    pub staff: Option<Staff>,
    /// The user of the token, with the permission or without it.
    pub actor: Option<Arc<Actor>>,
    marker: PhantomData<(S, P)>,
}

/// Marks a request that came over the admin socket, in its extensions.
#[derive(Clone, Copy, Debug)]
pub struct ViaAdminSocket;

/// Any valid token with one of the scopes of `S`, including an application's own (client credentials).
#[derive(Debug)]
pub struct AppAuth<S>(pub Arc<Grant>, pub PhantomData<S>);

/// Like [`Auth`], but the account may still be unconfirmed or await approval: for the routes that confirm it.
#[derive(Debug)]
pub struct AnyStateAuth<S>(pub Arc<Actor>, pub PhantomData<S>);

/// Like [`AppAuth`], but the account, if any, may still be unconfirmed or await approval.
#[derive(Debug)]
pub struct AnyStateAppAuth<S>(pub Arc<Grant>, pub PhantomData<S>);

/// The scopes a route accepts.
pub trait RequiredScopes: Send + Sync + 'static {
    /// One of these is sufficient; when empty, every token is.
    const SCOPES: &'static [&'static str];
}

macro_rules! needs {
    ($($name:ident = [$($scope:literal),*]),+ $(,)?) => {$(
        #[doc = concat!("Needs one of: ", stringify!($($scope),*))]
        #[derive(Debug)]
        pub struct $name;
        impl RequiredScopes for $name {
            const SCOPES: &'static [&'static str] = &[$($scope),*];
        }
    )+};
}

/// The permissions of staff that a route accepts.
pub trait RequiredPermission: Send + Sync + 'static {
    /// One of these bits is sufficient.
    const ANY: i64;
    /// The permission that documents name.
    const NAME: &'static str;
}

macro_rules! permissions {
    ($($name:ident = $text:literal [$($bit:ident),+]),+ $(,)?) => {$(
        #[doc = concat!("Needs the permission ", $text, ".")]
        #[derive(Debug)]
        pub struct $name;
        impl RequiredPermission for $name {
            const ANY: i64 = $(Permissions::$bit)|+;
            const NAME: &'static str = $text;
        }
    )+};
}

permissions! {
    DeleteUserData = "delete_user_data" [DELETE_USER_DATA],
    ManageAppeals = "manage_appeals" [MANAGE_APPEALS],
    ManageBlocks = "manage_blocks" [MANAGE_BLOCKS],
    ManageFederation = "manage_federation" [MANAGE_FEDERATION],
    ManagePlugins = "manage_plugins" [MANAGE_PLUGINS],
    ManageReports = "manage_reports" [MANAGE_REPORTS],
    ManageRoles = "manage_roles" [MANAGE_ROLES],
    ManageRules = "manage_rules" [MANAGE_RULES],
    ManageTaxonomies = "manage_taxonomies" [MANAGE_TAXONOMIES],
    ManageUsers = "manage_users" [MANAGE_USERS],
    ViewAuditLog = "view_audit_log" [VIEW_AUDIT_LOG],
    ViewDashboard = "view_dashboard" [VIEW_DASHBOARD],
}

needs! {
    AnyScope = [],
    AdminRead = ["admin:read"],
    AdminReadAccounts = ["admin:read:accounts"],
    AdminReadCanonicalEmailBlocks = ["admin:read:canonical_email_blocks"],
    AdminReadDomainAllows = ["admin:read:domain_allows"],
    AdminReadDomainBlocks = ["admin:read:domain_blocks"],
    AdminReadEmailDomainBlocks = ["admin:read:email_domain_blocks"],
    AdminReadIpBlocks = ["admin:read:ip_blocks"],
    AdminReadReports = ["admin:read:reports"],
    AdminWrite = ["admin:write"],
    AdminWriteAccounts = ["admin:write:accounts"],
    AdminWriteCanonicalEmailBlocks = ["admin:write:canonical_email_blocks"],
    AdminWriteDomainAllows = ["admin:write:domain_allows"],
    AdminWriteDomainBlocks = ["admin:write:domain_blocks"],
    AdminWriteEmailDomainBlocks = ["admin:write:email_domain_blocks"],
    AdminWriteIpBlocks = ["admin:write:ip_blocks"],
    AdminWriteReports = ["admin:write:reports"],
    OpenProfile = ["profile"],
    Profile = ["profile", "read:accounts"],
    Push = ["push"],
    Read = ["read"],
    ReadAccounts = ["read:accounts"],
    ReadBlocks = ["follow", "read:blocks"],
    ReadBookmarks = ["read:bookmarks"],
    ReadFavourites = ["read:favourites"],
    ReadFilters = ["read:filters"],
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
    WriteConversations = ["write:conversations"],
    WriteFavourites = ["write:favourites"],
    WriteFilters = ["write:filters"],
    WriteFollows = ["follow", "write:follows"],
    WriteLists = ["write:lists"],
    WriteMedia = ["write:media"],
    WriteAccountMutes = ["follow", "write:mutes"],
    WriteMutes = ["write:mutes"],
    WriteNotifications = ["write:notifications"],
    WriteReports = ["write:reports"],
    WriteStatuses = ["write:statuses"],
}

macro_rules! describe {
    ($($extractor:ident = $caller:ident, any_state: $any_state:literal);+ $(;)?) => {$(
        impl<S: RequiredScopes> Describe for $extractor<S> {
            fn describe(operation: &mut Operation) {
                operation.security =
                    Security { caller: Caller::$caller, scopes: S::SCOPES, any_state: $any_state };
            }
        }
    )+};
}

describe! {
    Auth = User, any_state: false;
    MaybeAuth = Optional, any_state: false;
    AppAuth = Application, any_state: false;
    AnyStateAuth = User, any_state: true;
    AnyStateAppAuth = Application, any_state: true;
}

impl<S: RequiredScopes, P: RequiredPermission> Describe for StaffAuth<S, P> {
    fn describe(operation: &mut Operation) {
        operation.security = Security { caller: Caller::Staff(P::NAME), scopes: S::SCOPES, any_state: false };
    }
}

impl<S: RequiredScopes, P> Describe for MaybeStaff<S, P> {
    fn describe(operation: &mut Operation) {
        operation.security = Security { caller: Caller::Optional, scopes: S::SCOPES, any_state: false };
    }
}

/// Public: see the extractor.
impl<S> Describe for Option<AppAuth<S>> {}

impl<S: RequiredScopes> FromRequestParts<()> for AppAuth<S> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        token(&parts.extensions, S::SCOPES).map(|grant| Self(grant, PhantomData))
    }
}

impl<S: RequiredScopes, P: RequiredPermission> FromRequestParts<()> for StaffAuth<S, P> {
    type Rejection = ErrorResponse;

    /// Responds 403, not 401, without a token (docs/contract/extensions.md#13-admin-api).
    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        if parts.extensions.get::<ViaAdminSocket>().is_some() {
            return Ok(Self(Staff::operator(), PhantomData));
        }
        let grant = match granted(&parts.extensions, S::SCOPES)? {
            Some(_) => token(&parts.extensions, S::SCOPES)?,
            None => return Err(not_allowed().into()),
        };
        let actor = grant.actor.as_deref().filter(|actor| actor.permissions.has_any(P::ANY));
        Ok(Self(Staff::from(actor.ok_or_else(not_allowed)?), PhantomData))
    }
}

impl<S: RequiredScopes, P: RequiredPermission> FromRequestParts<()> for MaybeStaff<S, P> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        let actor = optional_actor(&parts.extensions, S::SCOPES)?;
        let staff = actor.as_deref().filter(|actor| actor.permissions.has_any(P::ANY)).map(Staff::from);
        Ok(Self { staff, actor, marker: PhantomData })
    }
}

fn not_allowed() -> Error {
    Error::forbidden("This action is not allowed")
}

impl<S: RequiredScopes> FromRequestParts<()> for Auth<S> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self> {
        if S::SCOPES.is_empty() && granted(&parts.extensions, S::SCOPES)?.is_none() {
            return Err(user_needed().into());
        }
        let AppAuth(grant, _) = <AppAuth<S> as FromRequestParts<()>>::from_request_parts(parts, state).await?;
        Ok(Self(require_actor(&grant)?, PhantomData))
    }
}

impl<S: RequiredScopes> FromRequestParts<()> for AnyStateAppAuth<S> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        let grant = granted(&parts.extensions, S::SCOPES)?.ok_or_else(sign_in_needed)?;
        match grant.person() {
            Ok(_) | Err(Unusable::Unconfirmed | Unusable::Pending) => Ok(Self(grant, PhantomData)),
            Err(why) => Err(unusable(why).into()),
        }
    }
}

impl<S: RequiredScopes> FromRequestParts<()> for AnyStateAuth<S> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Self> {
        let AnyStateAppAuth(grant, _) =
            <AnyStateAppAuth<S> as FromRequestParts<()>>::from_request_parts(parts, state).await?;
        Ok(Self(require_actor(&grant)?, PhantomData))
    }
}

impl<S: RequiredScopes> FromRequestParts<()> for MaybeAuth<S> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _: &()) -> Result<Self> {
        optional_actor(&parts.extensions, S::SCOPES).map(|actor| Self(actor, PhantomData))
    }
}

impl<S: RequiredScopes> OptionalFromRequestParts<()> for AppAuth<S> {
    type Rejection = ErrorResponse;

    /// For public routes that show more to signed-in users: an invalid token counts as none.
    async fn from_request_parts(parts: &mut Parts, state: &()) -> Result<Option<Self>> {
        Ok(<Self as FromRequestParts<()>>::from_request_parts(parts, state).await.ok())
    }
}

/// The token of a request, checked like [`AppAuth`]: valid, with one of `scopes`, its account usable.
///
/// # Errors
/// 401 without a valid token, 403 for a missing scope or an unusable account.
pub fn token(extensions: &Extensions, scopes: &[&str]) -> Result<Arc<Grant>> {
    let grant = granted(extensions, scopes)?.ok_or_else(sign_in_needed)?;
    grant.person().map_err(unusable)?;
    Ok(grant)
}

/// The user of a request, if any, checked like [`MaybeAuth`].
///
/// # Errors
/// 401 for an invalid token, 403 for a missing scope or a suspended account.
pub fn optional_actor(extensions: &Extensions, scopes: &[&str]) -> Result<Option<Arc<Actor>>> {
    let Some(grant) = granted(extensions, scopes)? else { return Ok(None) };
    match grant.person() {
        Err(Unusable::Suspended) => Err(unusable(Unusable::Suspended).into()),
        // A user whose account is not usable yet sees the public view.
        Err(_) => Ok(None),
        Ok(actor) => Ok(actor.cloned()),
    }
}

fn granted(extensions: &Extensions, scopes: &[&str]) -> Result<Option<Arc<Grant>>> {
    let authentication = extensions.get::<Authentication>().unwrap_or(&Authentication::Missing);
    let Some(grant) = authentication.grant()? else { return Ok(None) };
    if grant.scopes.allows(scopes) {
        return Ok(Some(Arc::clone(grant)));
    }
    Err(Error::forbidden(format!("This action needs the scope {}", scopes.join(" or "))).into())
}

/// The 401 for a request without a token (docs/contract/rules.md#3-errors).
fn sign_in_needed() -> Error {
    Error::Unauthorized("This method requires an authenticated user".into())
}

/// The user of a token.
///
/// # Errors
/// 422 for an application's own token.
pub fn require_actor(grant: &Grant) -> Result<Arc<Actor>> {
    Ok(grant.actor.clone().ok_or_else(user_needed)?)
}

/// The 422 for a request without a user: with an application's own token, or with none where no scope is asked for
/// (docs/contract/rules.md#2-authentication).
fn user_needed() -> Error {
    Error::invalid("This method requires an authenticated user")
}

/// The 403 for an account that cannot be used.
pub(crate) fn unusable(why: Unusable) -> Error {
    Error::forbidden(match why {
        Unusable::Suspended => "Your login is currently suspended",
        Unusable::Disabled => "Your login is currently disabled",
        Unusable::Unconfirmed => "Your login is missing a confirmed e-mail address",
        Unusable::Pending => "Your login is currently pending approval",
        Unusable::Memorial => "This account is in memoriam",
        Unusable::Moved => "This account has moved",
    })
}
