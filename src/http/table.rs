//! The table of routes: finds the handlers and the policy of a path in one look-up.
//!
//! Built once by [`router`](crate::router) from [`Routes`]. The [`stages`](crate::stages) answer unknown paths.

use axum::http::{HeaderValue, Method};

use super::deprecation;
use super::extract::Segments;
use super::operation::Operation;
use super::operation::methods::{Declare, Endpoint, Methods};
use super::policy::Policy;

/// A part of the router that can list its routes.
#[derive(Debug, Default)]
pub struct Routes(Vec<Route>);

/// A path with its policy and handlers.
#[derive(Debug)]
pub(crate) struct Route {
    /// As declared, `/api/v1/statuses/{id}`.
    pub path: &'static str,
    pub policy: Policy,
    /// True when the handlers read and set cookies.
    pub cookies: bool,
    /// The value of the header `Deprecation`, for a deprecated route.
    pub deprecated: Option<HeaderValue>,
    methods: Methods,
}

/// All routes of a server, by path.
#[derive(Debug)]
pub(crate) struct Table(matchit::Router<Route>);

impl Routes {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a route.
    #[must_use]
    pub fn route(mut self, path: &'static str, policy: Policy, methods: Methods) -> Self {
        self.0.push(Route { path, policy, cookies: false, deprecated: deprecation::since(path), methods });
        self
    }

    /// These and `others`.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The same routes, whose handlers read and set [`Cookies`](crate::web::Cookies).
    #[must_use]
    pub(crate) fn with_cookies(mut self) -> Self {
        self.0.iter_mut().for_each(|route| route.cookies = true);
        self
    }

    /// Every method of these routes, as its handler declares it.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        self.declared().map(|(operation, _)| operation)
    }

    /// The same, each with the policy of its route.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (Operation, Policy)> {
        self.0.iter().flat_map(|route| {
            route.methods.declared().map(|(method, declare)| (route.operation(method, declare), route.policy))
        })
    }

    pub(crate) fn policies(&self) -> impl Iterator<Item = (&'static str, Policy)> {
        self.0.iter().map(|route| (route.path, route.policy))
    }
}

impl Route {
    /// What answers `method`; `None` when nothing does.
    pub(crate) fn endpoint(&self, method: &Method) -> Option<&Endpoint> {
        self.methods.endpoint(method)
    }

    /// True when `method` serves accounts that are still unconfirmed or await approval. Reads the whole declaration, so
    /// it is for requests that are seldom.
    pub(crate) fn serves_any_state(&self, method: &Method) -> bool {
        let declare = self.methods.declare(method);
        declare.is_some_and(|declare| self.operation(method, declare).security.any_state)
    }

    fn operation(&self, method: &Method, declare: Declare) -> Operation {
        let mut operation = Operation::new(method.clone(), self.path);
        declare(&mut operation);
        operation
    }
}

impl Table {
    /// The table of `parts`. No two routes may have the same path, which is a bug that the first start shows.
    pub(crate) fn new(parts: impl IntoIterator<Item = Routes>) -> Self {
        let mut router = matchit::Router::new();
        for route in parts.into_iter().flat_map(|Routes(routes)| routes) {
            router.insert(route.path, route).expect("no two routes have the same path");
        }
        Self(router)
    }

    /// The route of `path`, with the values of its parameters, if it has any.
    pub(crate) fn find(&self, path: &str) -> (Option<&Route>, Option<Segments>) {
        match self.0.at(path) {
            Ok(found) => (Some(found.value), Segments::of(&found.params)),
            Err(_) => (None, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::methods::{any, get};
    use crate::policy::{API, PROGRAM};

    async fn nothing() {}

    fn table() -> Table {
        let one = Routes::new().route("/api/{id}", API, get(nothing)).route("/api/all", PROGRAM, any(nothing));
        Table::new([one, Routes::new().route("/", PROGRAM, get(nothing).post(nothing)).with_cookies()])
    }

    #[test]
    fn path_finds_the_route_with_its_policy() {
        let table = table();
        let find = |path| table.find(path).0.map(|route| (route.path, route.policy.cors.is_some(), route.cookies));
        assert_eq!(find("/api/3"), Some(("/api/{id}", true, false)));
        assert_eq!(find("/api/all"), Some(("/api/all", false, false)));
        assert_eq!(find("/"), Some(("/", false, true)));
        assert_eq!(find("/api"), None);
        assert_eq!(find("/api/3/"), None);
    }

    #[test]
    fn head_is_answered_as_get_and_other_methods_by_nothing() {
        let table = table();
        let answers = |path, method| table.find(path).0.expect("a route").endpoint(&method).is_some();
        assert!(answers("/api/3", Method::HEAD) && answers("/", Method::POST));
        assert!(!answers("/api/3", Method::POST) && !answers("/", Method::OPTIONS));
        assert!(answers("/api/all", Method::OPTIONS) && answers("/api/all", Method::HEAD));
    }
}
