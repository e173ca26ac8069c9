//! What a handler is given: parameters of the path by their names, and these.
//!
//! Values are read as the server reads its own: flags and numbers may be texts, lists may be `name[]=`, indexed or one
//! value alone, and an empty text is no flag or number. What does not fit is a 422 that names the parameter.

mod lenient;

use rookery_params::{Refused, Tree};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::routes::{Body, Request};
use crate::contract::types::Page;
use crate::{Error, Id, Result};

/// Parameters wherever they stand, in query, form or JSON body, as one struct. Give it `#[serde(default)]` or options:
/// nothing need be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<T>(pub T);

/// Parameters of the query alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query<T>(pub T);

/// The JSON body as it is, any value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What can be made of a request.
pub trait FromRequest: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// What the client is answered.
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

/// What a parameter of the path can be read as.
pub trait FromParam: Sized {
    /// Reads it; `None` answers 404.
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

/// The parameter of the path called `name`.
///
/// # Errors
/// [`Error::NotFound`] when it is not what the handler wants.
pub fn param<T: FromParam>(request: &Request, name: &str) -> Result<T> {
    let value = request.params.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str());
    value.and_then(T::from_param).ok_or(Error::NotFound)
}

/// Reads one value as clients write it.
pub(crate) fn read_member<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T> {
    lenient::read_named(name, value)
}

/// The arguments of a command: JSON, read as clients write it.
///
/// # Errors
/// [`Error::Invalid`] that names what does not fit.
pub fn args<T: DeserializeOwned>(text: &str) -> Result<T> {
    let tree = if text.trim().is_empty() { Value::Object(serde_json::Map::new()) } else { serde_json::from_str(text)? };
    lenient::read(tree)
}
