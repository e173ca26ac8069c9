//! A request's parameters, wherever they stand: query, form, multipart or JSON body, as one struct.
//!
//! Fields say how they read a value: [`flag`], [`int`], [`text`], [`list`]. What does not fit is an error that names the
//! parameter. Nothing is required here; the service knows what it needs.

use std::fmt;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{Method, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;

use super::tree::Tree;
use crate::app::App;
use crate::error::{Error, Result};

/// Beyond files, what a multipart body may weigh.
const MULTIPART_OVERHEAD_BYTES: usize = 64 * 1024;

/// Parameters without files.
#[derive(Debug)]
pub struct Params<T>(pub T);

/// Parameters with files: the body may be as large as the largest file allowed.
#[derive(Debug)]
pub struct Uploads<T> {
    /// Everything that is not a file.
    pub params: T,
    files: Vec<(String, Upload)>,
}

/// A file of a multipart body.
#[derive(Clone)]
pub struct Upload {
    /// The content. What it is, only a look inside can tell.
    pub bytes: Bytes,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({} bytes)", self.bytes.len())
    }
}

impl<T> Uploads<T> {
    /// The file sent under `name`; an empty one counts as none.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&Upload> {
        self.files.iter().find(|(sent, file)| sent == name && !file.bytes.is_empty()).map(|(_, file)| file)
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Params<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (tree, _) = read(request, app.config.server.body_limit_bytes).await?;
        Ok(Self(parse(tree)?))
    }
}

impl<T: DeserializeOwned> FromRequest<App> for Uploads<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let largest = usize::try_from(app.config.media.image_size_limit_bytes).unwrap_or(usize::MAX / 2);
        let (tree, files) = read(request, largest + MULTIPART_OVERHEAD_BYTES).await.map_err(|error| match error {
            // The contract has 422 for a file beyond the limit (rules, section 3), wherever that is noticed.
            Error::TooLarge(_) => Error::invalid(format!("file is larger than {largest} bytes")),
            other => other,
        })?;
        Ok(Self { params: parse(tree)?, files })
    }
}

/// Reads a tree of parameters into `T`; the error names the parameter.
///
/// # Errors
/// [`Error::Invalid`] with its words.
pub fn parse<T: DeserializeOwned>(tree: Value) -> Result<T> {
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        Error::invalid(if path == "." { message } else { format!("{path}: {message}") })
    })
}

async fn read(request: Request, limit: usize) -> Result<(Value, Vec<(String, Upload)>)> {
    let (parts, body) = request.into_parts();
    let mut tree = Tree::default();
    let mut files = Vec::new();
    tree.add_form(parts.uri.query().unwrap_or_default().as_bytes())?;
    if parts.method != Method::GET && parts.method != Method::HEAD {
        let content_type =
            parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "multipart/form-data" => {
                let boundary = multer::parse_boundary(content_type)
                    .map_err(|_| Error::bad_request("multipart body without a boundary"))?;
                read_multipart(Limited::new(body, limit), boundary, &mut tree, &mut files).await?;
            }
            "application/json" => {
                let bytes = collect(body, limit).await?;
                if !bytes.is_empty() {
                    tree.merge(json_object(&bytes)?);
                }
            }
            "application/x-www-form-urlencoded" => tree.add_form(&collect(body, limit).await?)?,
            other => {
                // A client that has nothing to say often sends no type, or one it always sends.
                if !collect(body, limit).await?.is_empty() {
                    return Err(Error::bad_request(format!(
                        "cannot read a body of type {:?}: send JSON, a form or multipart",
                        clip(other)
                    )));
                }
            }
        }
    }
    Ok((tree.finish()?, files))
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

/// A whole body of at most `limit` bytes.
///
/// # Errors
/// [`Error::TooLarge`] beyond the limit, [`Error::BadRequest`] when it breaks off.
pub async fn collect(body: Body, limit: usize) -> Result<Bytes> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(_) => Err(Error::bad_request("the body broke off")),
    }
}

fn too_large(limit: usize) -> Error {
    Error::TooLarge(format!("the body is larger than {limit} bytes").into())
}

fn json_object(bytes: &[u8]) -> Result<serde_json::Map<String, Value>> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::bad_request("the JSON body must be an object")),
        Err(error) => Err(Error::bad_request(format!("the JSON body is broken: {error}"))),
    }
}

async fn read_multipart(
    body: Limited<Body>,
    boundary: String,
    tree: &mut Tree,
    files: &mut Vec<(String, Upload)>,
) -> Result<()> {
    let mut multipart = multer::Multipart::new(body.into_data_stream(), boundary);
    while let Some(field) = multipart.next_field().await.map_err(multipart_error)? {
        let name = field.name().unwrap_or_default().to_owned();
        let is_file = field.file_name().is_some();
        let bytes = field.bytes().await.map_err(multipart_error)?;
        if is_file {
            files.push((name, Upload { bytes }));
        } else {
            let text = String::from_utf8(bytes.into())
                .map_err(|_| Error::bad_request(format!("{} is not UTF-8", clip(&name))))?;
            tree.add(&name, Value::String(text))?;
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn multipart_error(error: multer::Error) -> Error {
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(inner) = cause {
        if inner.is::<LengthLimitError>() {
            return Error::TooLarge("the body is larger than the limit".into());
        }
        cause = inner.source();
    }
    Error::bad_request(format!("the multipart body is broken: {error}"))
}

/// A boolean as the contract reads it (rules, section 1): absent, null and "" are `None`.
///
/// # Errors
/// When it is a list or an object.
pub fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(value)),
        Value::Number(number) => Ok(Some(number.as_f64() != Some(0.0))),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => Ok(Some(!matches!(text.as_str(), "false" | "f" | "F" | "FALSE" | "0" | "off" | "OFF"))),
        Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be true or false")),
    }
}

/// A whole number, as a number or as digits; absent, null and "" are `None`.
///
/// # Errors
/// When it is anything else, or beyond 64 bits.
pub fn int<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|_| D::Error::custom("must be a whole number")),
        Value::Number(number) => number.as_i64().map(Some).ok_or_else(|| D::Error::custom("must be a whole number")),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be a whole number")),
    }
}

/// A text; numbers and booleans are taken as their words. Absent and null are `None`, "" is a text.
///
/// # Errors
/// When it is a list or an object.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(value) => Ok(Some(value.to_string())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Array(_) | Value::Object(_) => Err(D::Error::custom("must be a text")),
    }
}

/// A value that parses from a word (an id, an enum); absent, null and "" are `None`.
///
/// # Errors
/// When the word does not parse.
pub fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        value => serde_json::from_value(value).map(Some).map_err(D::Error::custom),
    }
}

/// A list: an array, an object keyed by index, or one value alone. Absent and null are `None`; blank elements are dropped.
///
/// # Errors
/// When an element does not fit.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::Array(values) => values,
        Value::Object(map) => map.into_iter().map(|(_, value)| value).collect(),
        value => vec![value],
    };
    let wanted = values.into_iter().filter(|value| !matches!(value, Value::Null) && value.as_str() != Some(""));
    wanted.map(|value| serde_json::from_value(value).map_err(D::Error::custom)).collect::<Result<_, _>>().map(Some)
}
