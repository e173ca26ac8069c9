//! Extractors: the arguments that a route's handler may take besides path parameters, which are passed by name.
//!
//! Values are parsed as leniently as in the server's own routes: booleans and numbers may be strings, lists may be
//! `name[]=`, indexed or a single value, and an empty string counts as not sent where a boolean or number is expected.
//! What cannot be parsed is a 422 that names the parameter.

mod lenient;

use rookery_params::{Refused, Tree};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::routes::{Body, Request};
use crate::contract::types::Page;
use crate::{Error, Id, Result};

/// Parameters of the query string, form and JSON body together, as one struct. A missing field is an error unless it is
/// an `Option` or has `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<T>(pub T);

/// Parameters of the query string alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query<T>(pub T);

/// The JSON body, deserialised strictly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A type that a request can be parsed into.
pub trait FromRequest: Sized {
    /// Parses the request; an error is the response to the client.
    fn from_request(request: &Request) -> Result<Self>;
}

fn add_pairs(tree: &mut Tree, pairs: &[(String, String)]) -> Result<()> {
    for (name, value) in pairs {
        tree.add(name, Value::String(value.clone()))?;
    }
    Ok(())
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Nul(_) => Self::invalid(refused.to_string()),
            Refused::TooMany | Refused::TooDeep | Refused::TwoThings(_) => Self::bad_request(refused.to_string()),
        }
    }
}

impl<T: DeserializeOwned> FromRequest for Params<T> {
    fn from_request(request: &Request) -> Result<Self> {
        let mut tree = Tree::default();
        add_pairs(&mut tree, &request.query)?;
        match &request.body {
            Body::None => {}
            Body::Form(pairs) => add_pairs(&mut tree, pairs)?,
            Body::Json(text) => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => tree.merge(object),
                Ok(_) => return Err(Error::bad_request("the JSON body must be an object")),
                Err(error) => return Err(Error::bad_request(format!("the JSON body is broken: {error}"))),
            },
            Body::Bytes(_) => return Err(Error::bad_request("send JSON or a form")),
        }
        lenient::read(tree.finish()?).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest for Query<T> {
    fn from_request(request: &Request) -> Result<Self> {
        let mut tree = Tree::default();
        add_pairs(&mut tree, &request.query)?;
        lenient::read(tree.finish()?).map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest for Json<T> {
    fn from_request(request: &Request) -> Result<Self> {
        let Body::Json(text) = &request.body else { return Err(Error::bad_request("send a JSON body")) };
        serde_json::from_str(text).map(Self).map_err(|error| Error::invalid(error.to_string()))
    }
}

impl FromRequest for Page {
    fn from_request(request: &Request) -> Result<Self> {
        request.page.ok_or_else(|| Error::internal("the manifest gives this route no page"))
    }
}

/// A type that a path parameter can be parsed into.
pub trait FromParam: Sized {
    /// Parses it; `None` becomes a 404.
    fn from_param(value: &str) -> Option<Self>;
}

impl FromParam for Id {
    fn from_param(value: &str) -> Option<Self> {
        value.parse().ok()
    }
}

impl FromParam for String {
    fn from_param(value: &str) -> Option<Self> {
        Some(value.to_owned())
    }
}

macro_rules! from_param {
    ($($number:ty),*) => {
        $(impl FromParam for $number {
            fn from_param(value: &str) -> Option<Self> {
                value.parse().ok()
            }
        })*
    };
}
from_param!(i64, u64, i32, u32, u16, u8, bool);

/// The path parameter called `name`.
///
/// # Errors
/// [`Error::NotFound`] when it cannot be parsed as `T`.
pub fn param<T: FromParam>(request: &Request, name: &str) -> Result<T> {
    let value = request.params.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
    value.and_then(T::from_param).ok_or(Error::NotFound)
}

/// Parses one value leniently.
pub(crate) fn read_member<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T> {
    lenient::read_named(name, value)
}

/// The arguments of a command, JSON that is parsed leniently.
///
/// # Errors
/// [`Error::Invalid`] that names the argument that cannot be parsed.
pub fn args<T: DeserializeOwned>(text: &str) -> Result<T> {
    let tree = if text.trim().is_empty() { Value::Object(serde_json::Map::new()) } else { serde_json::from_str(text)? };
    lenient::read(tree)
}
