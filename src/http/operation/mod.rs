//! Operations (one method of a route): parameters, response and authentication, read from the signature of the handler.
//!
//! Every extractor declares its requirements by [`Describe`], and every response its schema by [`Respond`]; [`methods`]
//! store the declaration beside the handler, and [`router::operations`](crate::router::operations) lists it for every
//! route. Declarations are evaluated lazily, for a document or a test, so that they do not delay the start. The
//! [`Policy`](crate::policy::Policy) of a route has everything else.

pub mod entities;
pub mod methods;
pub(crate) mod openapi;
mod schema;

use std::borrow::Cow;

use axum::extract::RawQuery;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use schemars::JsonSchema;
use serde_json::Value;

use model::params::REQUIRED;
pub(crate) use schema::schema_of;

/// A method of a route, as its handler declares it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The method.
    pub method: Method,
    /// The path as in the router, `/api/v1/statuses/{id}`.
    pub path: Cow<'static, str>,
    /// Authentication and scopes.
    pub security: Security,
    /// Its parameters; path parameters first, in their order.
    pub parameters: Vec<Parameter>,
    /// The schema of its response as [`Schema::name`](entity::Schema::name) writes it; empty when it has none.
    pub response: String,
}

/// The authentication that an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security {
    /// The token that it needs.
    pub caller: Caller,
    /// One of these is sufficient; when empty, every token is.
    pub scopes: &'static [&'static str],
    /// The account may still be unconfirmed or await approval.
    pub any_state: bool,
}

/// The token that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// None. A token changes at most the content of the response, and an invalid token is ignored.
    Public,
    /// None, but a token that is sent must be valid.
    Optional,
    /// Of a user or of an application.
    Application,
    /// Of a user.
    User,
    /// Of a user whose role has this permission.
    Staff(&'static str),
    /// A browser's session, which is a cookie.
    Session,
}

/// Something that a request carries.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The outermost name, without brackets: `poll` of `poll[options][]`.
    pub name: String,
    /// Where it is sent.
    pub place: Place,
    /// True when the request fails without it.
    pub required: bool,
    /// Its JSON Schema (2020-12), whole and without references; the description is for users of the API.
    pub schema: Value,
}

/// Where a parameter is sent. Parameters of [`Place::Body`] are read from the query as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Path,
    Query,
    Header,
    Body,
    /// A file of a multipart body.
    File,
}

/// Declares the requirements of an extractor on a request.
pub trait Describe {
    /// Adds it to `operation`; nothing unless implemented.
    fn describe(_operation: &mut Operation) {}
}

/// Declares the schema of a response.
pub trait Respond {
    /// The schema as [`Schema::name`](entity::Schema::name) writes it; empty, for none, unless implemented.
    #[must_use]
    fn schema() -> String {
        String::new()
    }
}

impl Security {
    /// For everybody.
    pub const PUBLIC: Self = Self { caller: Caller::Public, scopes: &[], any_state: false };
}

impl Parameter {
    /// One that may be left out.
    pub(crate) fn optional(name: &str, place: Place, schema: Value) -> Self {
        Self { name: name.to_owned(), place, required: false, schema }
    }

    /// One without which the request fails.
    pub(crate) fn required(name: &str, place: Place, schema: Value) -> Self {
        Self { name: name.to_owned(), place, required: true, schema }
    }
}

impl Operation {
    /// A public operation with the parameters of its path.
    #[must_use]
    pub fn new(method: Method, path: impl Into<Cow<'static, str>>) -> Self {
        let path = path.into();
        let names = path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let parameter =
            |name: &str| Parameter::required(name.trim_start_matches('*'), Place::Path, schema_of::<String>());
        let parameters = names.map(parameter).collect();
        Self { method, path, security: Security::PUBLIC, parameters, response: String::new() }
    }

    /// Adds the fields of `T`, with their marks as [`required`](model::params::required).
    pub(crate) fn take<T: JsonSchema>(&mut self, place: Place) {
        let Value::Object(fields) = schema_of::<T>()["properties"].take() else { return };
        let creates = self.method == Method::POST;
        self.parameters.extend(fields.into_iter().map(|(name, mut schema)| {
            let mark = schema.as_object_mut().and_then(|schema| schema.remove(REQUIRED));
            let required = mark.is_some_and(|mark| creates || mark == true);
            Parameter { name, place, required, schema }
        }));
    }

    /// Where its form is sent. DELETE takes it from a body too, which documents do not say (RFC 9110, section 9.3.5).
    pub(crate) fn form_place(&self) -> Place {
        if matches!(self.method, Method::GET | Method::HEAD | Method::DELETE) { Place::Query } else { Place::Body }
    }

    /// Sets the schemas of the path parameters, in their order.
    pub(crate) fn path_is<T: JsonSchema>(&mut self) {
        let schema = schema_of::<T>();
        let schemas = match schema.get("prefixItems") {
            Some(Value::Array(schemas)) => schemas.clone(),
            _ => vec![schema],
        };
        for (parameter, schema) in self.parameters.iter_mut().zip(schemas) {
            parameter.schema = schema;
        }
    }
}

impl Describe for HeaderMap {}
impl Describe for Method {}
impl Describe for Uri {}
impl Describe for RawQuery {}

impl Respond for () {}
impl Respond for &str {}
impl Respond for Response {}
impl Respond for StatusCode {}

impl<T: Respond, E> Respond for Result<T, E> {
    fn schema() -> String {
        T::schema()
    }
}
