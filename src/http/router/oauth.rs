//! OAuth for programs, and the applications that use it.

use crate::api::apps;
use crate::oauth;
use crate::operation::methods::{any, get, post};
use crate::policy::{API, Closed, PROGRAM, Per, Policy, WELL_KNOWN, WriteMethod};
use crate::table::Routes;
use service::rate_limits as limits;

/// Registering an application, which comes before any sign-in.
const REGISTER_APP: Policy = API
    .closed(Closed::Open(WriteMethod::Post))
    .limit(Some(WriteMethod::Post), &limits::APPS, Per::Address)
    .body_limit(REGISTRATION_BYTES);
/// The largest registration that is read, in bytes: a request with too many addresses fits and gets a clear error.
const REGISTRATION_BYTES: usize = 128 * 1024;
/// What takes the credentials of applications.
const CREDENTIALS: Policy = PROGRAM.small_body().limit(Some(WriteMethod::Post), &limits::OAUTH, Per::Address);
/// Who the owner of a token is: for other sites that people sign in to with their account.
const USER_INFO: Policy = PROGRAM.small_body().cors("GET, POST");

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/oauth/token", CREDENTIALS.cors("POST"), post(oauth::token::create))
        .route("/oauth/token/info", PROGRAM, get(oauth::token::info))
        .route("/oauth/userinfo", USER_INFO, get(oauth::userinfo).post(oauth::userinfo))
        .route("/oauth/revoke", CREDENTIALS.cors("POST"), post(oauth::token::revoke))
        .route("/oauth/introspect", CREDENTIALS, post(oauth::token::introspect))
        .route("/oauth/applications", PROGRAM, any(oauth::forbidden))
        .route("/oauth/applications/{*rest}", PROGRAM, any(oauth::forbidden))
        .route("/.well-known/oauth-authorization-server", WELL_KNOWN, get(oauth::metadata))
        .route("/api/v1/apps", REGISTER_APP, post(apps::create))
        .route("/api/v1/apps/verify_credentials", API, get(apps::verify_credentials))
}
