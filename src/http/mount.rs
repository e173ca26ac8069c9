//! Routes of a crate above this one, served through the same stages as the core's routes.

use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;

use crate::Cx;
use crate::table::Routes;

/// Routes that are served beside the core's.
#[derive(Debug, Default)]
pub struct ExtraRoutes {
    /// Routes of the API and others for programs.
    pub api: Routes,
    /// Pages for browsers.
    pub pages: Routes,
    /// Documents for other servers. They may have the paths of pages: a request gets the document if it accepts one.
    pub documents: Routes,
    /// Asked about every path that is no route's; without an answer, or without this, that is 404.
    pub fallback: Option<Fallback>,
}

/// Answers a request whose path is no route's, or does not.
pub type Fallback = fn(Cx, Request) -> BoxFuture<'static, Option<Response>>;
