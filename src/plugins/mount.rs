//! The routes that plugins add to the router: their administration, the page of their settings, and every path that is
//! not a core route.

use rookery_http::mount::ExtraRoutes;
use rookery_http::operation::methods::{get, post};
use rookery_http::policy::{API, FORM};
use rookery_http::router::Routes;

use crate::{Cx, admin, routes, settings};

/// The routes of this crate, for the server's router.
#[must_use]
pub fn extra_routes() -> ExtraRoutes {
    ExtraRoutes {
        api: administration(),
        pages: Routes::new().route("/settings/extensions", FORM, get(settings::page::show)).route(
            "/settings/extensions/{plugin}",
            FORM,
            post(settings::page::update),
        ),
        documents: Routes::new(),
        fallback: Some(|cx, request| {
            Box::pin(async move {
                let cx = Cx::of(&cx).ok()?;
                routes::serve(cx, request).await
            })
        }),
    }
}

/// What admins do over the API; also on the server's own socket.
#[must_use]
pub fn administration() -> Routes {
    use admin::routes as plugins;
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
