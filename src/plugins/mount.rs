//! The routes that plugins add to the router: their administration, the page of their settings, and every path that is
//! not a core route.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use context::Error;
use rookery_http::ErrorResponse;
use rookery_http::mount::ExtraRoutes;
use rookery_http::operation::methods::{get, post};
use rookery_http::policy::{API, FORM};
use rookery_http::router::Routes;

use crate::{Cx, routes};

/// The routes of this crate, for the server's router.
#[must_use]
pub fn extra_routes() -> ExtraRoutes {
    ExtraRoutes {
        api: administration(),
        pages: Routes::new().route("/settings/extensions", FORM, get(routes::pages::settings::show)).route(
            "/settings/extensions/{plugin}",
            FORM,
            post(routes::pages::settings::update),
        ),
        documents: Routes::new(),
        fallback: Some(|cx, request| {
            Box::pin(async move {
                let cx = Cx::of(&cx).ok()?;
                match routes::serve(cx.clone(), request).await {
                    // The path may be one of a plugin that is not loaded yet.
                    None if cx.starting.progress().is_some() => Some(starting()),
                    answer => answer,
                }
            })
        }),
    }
}

/// How long a client waits for plugins to be loaded before it asks again, in seconds.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

fn starting() -> Response {
    let error = Error::Unavailable("The plugins of this server are being loaded: try again in a few seconds".into());
    let mut response = ErrorResponse(error).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    response
}

/// What admins do over the API; also on the server's own socket.
#[must_use]
pub fn administration() -> Routes {
    use crate::administration as plugins;
    Routes::new()
        .route("/api/admin/plugins", API, get(plugins::index))
        .route("/api/admin/plugins/{name}", API, get(plugins::show))
        .route("/api/admin/plugins/{name}/enable", API, post(plugins::enable))
        .route("/api/admin/plugins/{name}/review", API, post(plugins::review))
        .route("/api/admin/plugins/{name}/install", API, post(plugins::install))
        .route("/api/admin/plugins/{name}/verify", API, get(plugins::verify))
        .route("/api/admin/plugins/{name}/disable", API, post(plugins::disable))
        .route("/api/admin/plugins/{name}/reload", API, post(plugins::reload))
        .route("/api/admin/plugins/{name}/rollback", API, post(plugins::rollback))
        .route("/api/admin/plugins/{name}/grant", API, post(plugins::grant))
        .route("/api/admin/plugins/{name}/revoke", API, post(plugins::revoke))
        .route("/api/admin/plugins/{name}/limits", API, post(plugins::limits))
        .route("/api/admin/plugins/{name}/config", API, post(plugins::config))
        .route("/api/admin/plugins/{name}/retry", API, post(plugins::retry))
        .route("/api/admin/plugins/{name}/secrets", API, post(plugins::secrets))
        .route("/api/admin/plugins/{name}/run", API, post(plugins::run))
        .route("/api/admin/plugins/{name}/uninstall", API, post(plugins::uninstall))
        .route("/api/admin/plugins/{name}/logs", API, get(plugins::logs))
        .route("/api/admin/plugin_order/{hook}", API, get(plugins::order))
}
