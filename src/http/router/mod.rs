//! Every core route with its policy ([`Policy`]): a page for each part of the server.
//!
//! A route is its path, what it allows, and its handlers. Authentication, scope, parameters and the schema of the
//! response are in the handlers' signatures, from which [`operations`] reads them. [`stages`](crate::stages) surround a
//! handler.

mod accounts;
mod admin;
mod browser;
mod feeds;
mod filters;
mod notifications;
mod oauth;
pub mod openapi;
mod openapi_page;
mod server;
mod statuses;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Request;

use crate::Cx;
use crate::error::not_found;
use crate::mount::ExtraRoutes;
use crate::operation::Operation;
use crate::policy::Policy;
use crate::stages::Pipeline;
pub use crate::table::Routes;
use crate::table::Table;

/// The whole server.
pub type Server = Pipeline;

/// The server in the context `cx`, with `extra` beside its own routes.
pub fn router(cx: context::Cx, extra: ExtraRoutes) -> Server {
    let ExtraRoutes { api, pages, documents, fallback } = extra;
    let routes = Table::new(core().into_iter().chain([api, pages.with_cookies()]));
    Pipeline::new(cx, routes, Table::new([documents]), fallback)
}

/// Only `routes`, for a separate listener: in the context `cx`, without the stages of [`stages`](crate::stages).
pub fn standalone(cx: context::Cx, routes: Routes) -> Router {
    let routes = Arc::new(Table::new([routes]));
    Router::new().fallback(async move |mut request: Request| {
        let (route, segments) = routes.find(request.uri().path());
        let Some(endpoint) = route.and_then(|route| route.endpoint(request.method())) else { return not_found() };
        request.extensions_mut().insert(Cx(cx.begin(None)));
        if let Some(segments) = segments {
            request.extensions_mut().insert(segments);
        }
        endpoint.call(request).await
    })
}

/// The core's routes.
pub(crate) fn core() -> [Routes; 10] {
    [
        accounts::routes(),
        statuses::routes(),
        notifications::routes(),
        feeds::routes(),
        filters::routes(),
        server::routes(),
        admin::routes(),
        oauth::routes(),
        browser::routes().with_cookies(),
        browser::files(),
    ]
}

/// Every core route with its policy, as written here: what documents and tests of the API read.
#[must_use]
pub fn policies() -> Vec<(&'static str, Policy)> {
    core().iter().flat_map(Routes::policies).collect()
}

/// Every operation of the core with the policy of its route: what documents and tests of the API read.
#[must_use]
pub fn declared() -> Vec<(Operation, Policy)> {
    core().iter().flat_map(Routes::declared).collect()
}

/// Every operation of the core, as its handler declares it: what documents and tests of the API read.
#[must_use]
pub fn operations() -> Vec<Operation> {
    core().iter().flat_map(Routes::operations).collect()
}

/// The path of every core route, as written here: what no plugin may claim.
pub fn templates() -> &'static [&'static str] {
    static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(|| policies().into_iter().map(|(path, _)| path).collect());
    &ALL
}
