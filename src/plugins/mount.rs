//! What plugins add to the router: the routes of whoever administrates them, the page of their settings, and every path that
//! no route of the core has.

use axum::routing::{get, post};
use http::router::{Mounted, Routes};

use crate::{Cx, admin, routes, settings};

/// The routes of this crate, for the server's router.
#[must_use]
pub fn mounted() -> Mounted {
    Mounted {
        api: administration(),
        pages: Routes::new()
            .route("/settings/extensions", get(settings::page::show))
            .route("/settings/extensions/{plugin}", post(settings::page::update)),
        beyond: Some(|cx, request| {
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
        .route("/api/admin/plugins", get(plugins::index))
        .route("/api/admin/plugins/{name}", get(plugins::show))
        .route("/api/admin/plugins/{name}/enable", post(plugins::enable))
        .route("/api/admin/plugins/{name}/disable", post(plugins::disable))
        .route("/api/admin/plugins/{name}/reload", post(plugins::reload))
        .route("/api/admin/plugins/{name}/rollback", post(plugins::rollback))
        .route("/api/admin/plugins/{name}/grant", post(plugins::grant))
        .route("/api/admin/plugins/{name}/limits", post(plugins::limits))
        .route("/api/admin/plugins/{name}/config", post(plugins::config))
        .route("/api/admin/plugins/{name}/retry", post(plugins::retry))
        .route("/api/admin/plugins/{name}/secrets", post(plugins::secrets))
        .route("/api/admin/plugins/{name}/run", post(plugins::run))
        .route("/api/admin/plugins/{name}/uninstall", post(plugins::uninstall))
        .route("/api/admin/plugins/{name}/logs", get(plugins::logs))
        .route("/api/admin/plugin_order/{hook}", get(plugins::order))
}
