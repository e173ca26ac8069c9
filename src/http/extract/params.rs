//! Request parameters from the query and the form, multipart or JSON body, merged and deserialised into one struct.
//!
//! The type of a field says how its value is read ([`model::params`]). A value that does not parse is an error that names
//! the parameter. No parameter is required here; the service checks that, and [`required`](model::params::required) says it
//! in documents.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{Method, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rookery_params::{Refused, Tree};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use text::json_shape;
use tokio::io::AsyncWriteExt as _;

use super::uploads::Sent;
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::in_flight::{InFlight, body_error, causes, exceeded};
use crate::language;
use crate::operation::{Describe, Operation};
use crate::request_limits::BodyLimit;
use crate::state::TOKEN_NAMES;
use crate::state::is_token_name;

/// Most files of one multipart body, empty ones included.
const MAX_FILES: usize = 32;

/// Parameters without files.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned> FromRequest<()> for Params<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let limit = BodyLimit::of(&cx, request.extensions());
        let (tree, _) = read(&cx, request, limit, false).await?;
        Ok(Self(parse(tree)?))
    }
}

impl<T: JsonSchema> Describe for Params<T> {
    fn describe(operation: &mut Operation) {
        operation.take::<T>(operation.form_place());
    }
}

/// Parameters of a change of one thing that belongs to the caller. Where that is missing the response is 404, whatever is
/// wrong with the parameters: strangers learn nothing about what others have.
#[derive(Debug)]
pub struct ParamsOfOwn<P>(Result<P>);

impl<P> ParamsOfOwn<P> {
    /// The parameters; where they are refused, `found` says whether there is such a thing at all.
    ///
    /// # Errors
    /// Errors of `found`, which is awaited first, then errors of the parameters.
    pub async fn or_missing<T>(self, found: impl Future<Output = context::error::Result<T>>) -> Result<P> {
        match self.0 {
            Ok(params) => Ok(params),
            Err(refused) => {
                found.await?;
                Err(refused)
            }
        }
    }
}

impl<P: FromRequest<(), Rejection = ErrorResponse>> FromRequest<()> for ParamsOfOwn<P> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, state: &()) -> Result<Self> {
        Ok(Self(P::from_request(request, state).await))
    }
}

impl<P: Describe> Describe for ParamsOfOwn<P> {
    fn describe(operation: &mut Operation) {
        P::describe(operation);
    }
}

/// The unparsed parameters of a request, for routes that parse them themselves, such as plugin routes.
///
/// Access tokens are removed; the rest is checked as for every other route.
#[derive(Debug)]
pub struct RawParams {
    pub query: Vec<(String, String)>,
    pub body: RawBody,
}

/// An unparsed body, by content type.
#[derive(Debug)]
pub enum RawBody {
    None,
    /// A form or multipart body; names are verbatim, as in `account_ids[]`.
    Form(Vec<(String, String)>),
    Json(serde_json::Map<String, Value>),
    /// Any other content type.
    Bytes(Bytes),
}

impl RawParams {
    /// Reads a request with a body of at most `limit` bytes.
    ///
    /// # Errors
    /// As for [`Params`]; a file is [`Error::Invalid`].
    pub async fn read(parts: &Parts, body: Body, limit: usize) -> Result<Self> {
        let mut tree = Tree::default();
        let query = pairs(parts.uri.query().unwrap_or_default().as_bytes(), &mut tree)?;
        let body = if parts.method == Method::GET || parts.method == Method::HEAD {
            RawBody::None
        } else {
            RawBody::read(content_type(parts), body, limit, &mut tree).await?
        };
        tree.finish()?;
        Ok(Self { query, body })
    }
}

impl RawBody {
    async fn read(content_type: &str, body: Body, limit: usize, tree: &mut Tree) -> Result<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "multipart/form-data" {
            let mut parts = Multipart::new(limit);
            let sent = parts.read(Limited::new(body, limit), boundary(content_type)?, None).await?;
            if parts.files.iter().any(|(_, file)| !file.is_empty()) {
                return Err(Error::invalid("this route does not accept files").into());
            }
            parts.tree.finish()?;
            return Ok(Self::Form(without_tokens(sent)));
        }
        let bytes = collect(body, limit).await?;
        match kind.as_str() {
            _ if bytes.is_empty() => Ok(Self::None),
            "application/json" => {
                let mut object = json_object(&bytes)?;
                TOKEN_NAMES.iter().for_each(|name| drop(object.remove(*name)));
                let mut checked = Tree::default();
                checked.merge(object.clone());
                checked.finish()?;
                Ok(Self::Json(object))
            }
            "application/x-www-form-urlencoded" => pairs(&bytes, tree).map(Self::Form),
            "" => Err(unreadable("").into()),
            _ => Ok(Self::Bytes(bytes)),
        }
    }
}

fn pairs(text: &[u8], tree: &mut Tree) -> Result<Vec<(String, String)>> {
    add_form(tree, text)?;
    let sent = url::form_urlencoded::parse(text);
    Ok(without_tokens(sent.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
}

fn without_tokens(mut pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    pairs.retain(|(name, _)| !is_token_name(name));
    pairs
}

/// Adds every pair of a query string or form body.
fn add_form(tree: &mut Tree, text: &[u8]) -> Result<()> {
    for (name, value) in url::form_urlencoded::parse(text) {
        tree.add(&name, Value::String(value.into_owned()))?;
    }
    Ok(())
}

impl From<Refused> for ErrorResponse {
    fn from(refused: Refused) -> Self {
        Self(match refused {
            Refused::Nul(_) => Error::invalid(refused.to_string()),
            Refused::TooMany | Refused::TooDeep | Refused::TwoThings(_) => Error::bad_request(refused.to_string()),
        })
    }
}

/// Deserialises a tree of parameters into `T`.
///
/// # Errors
/// [`Error::Invalid`] that names the parameter.
pub fn parse<T: DeserializeOwned>(tree: Value) -> Result<T> {
    Ok(serde_path_to_error::deserialize(tree).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        Error::invalid(if path == "." { message } else { format!("{path}: {message}") })
    })?)
}

/// The parameters and files of a request with a multipart body of at most `limit` bytes, or another body of at most the
/// general limit. Without `takes_files` files are dropped.
pub(super) async fn read(
    cx: &Cx,
    request: Request,
    limit: usize,
    takes_files: bool,
) -> Result<(Value, Vec<(String, Sent)>)> {
    let (parts, body) = request.into_parts();
    let general = limit.min(BodyLimit::of(cx, &parts.extensions));
    let mut multipart = Multipart::new(general);
    let tree = &mut multipart.tree;
    add_form(tree, parts.uri.query().unwrap_or_default().as_bytes())?;
    let content_type = content_type(&parts);
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // Some clients send the parameters of a GET as JSON, and the reference reads them.
    let has_body = parts.method != Method::GET && parts.method != Method::HEAD;
    if has_body || kind == "application/json" {
        match kind.as_str() {
            "multipart/form-data" => {
                // An empty body is not counted, and has no files.
                let in_flight = InFlight::of(&parts.extensions).filter(|_| takes_files);
                let spool = in_flight.as_deref().map(|in_flight| (cx, in_flight));
                multipart.read(Limited::new(body, limit), boundary(content_type)?, spool).await?;
            }
            "application/json" => {
                let bytes = collect(body, general).await?;
                if !bytes.is_empty() {
                    tree.merge(json_object(&bytes)?);
                }
            }
            "application/x-www-form-urlencoded" => add_form(tree, &collect(body, general).await?)?,
            other => {
                // A client without a body often sends no content type, or the one it sends everywhere.
                if !collect(body, general).await?.is_empty() {
                    return Err(unreadable(other).into());
                }
            }
        }
    }
    let tree = multipart.tree.finish()?;
    language::of_params(cx, &parts.extensions, &tree);
    Ok((tree, multipart.files))
}

fn content_type(parts: &Parts) -> &str {
    parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn boundary(content_type: &str) -> Result<String> {
    Ok(multer::parse_boundary(content_type).map_err(|_| Error::bad_request("multipart body without a boundary"))?)
}

fn unreadable(kind: &str) -> Error {
    Error::bad_request(format!("cannot read a body of type {:?}: send JSON, a form or multipart", clip(kind)))
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// [`Error::TooLarge`] beyond the limit, [`Error::BadRequest`] when the body ends early.
pub async fn collect(body: Body, limit: usize) -> Result<Bytes> {
    match Limited::new(body, limit).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit).into()),
        Err(error) => Err(body_error(&*error).into()),
    }
}

fn too_large(limit: usize) -> Error {
    Error::TooLarge(format!("the body is larger than {limit} bytes").into())
}

fn json_object(bytes: &[u8]) -> Result<serde_json::Map<String, Value>> {
    json_shape::check(bytes).map_err(|shape| Error::bad_request(format!("the JSON body {shape}")))?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::bad_request("the JSON body must be an object").into()),
        Err(error) => Err(Error::bad_request(format!("the JSON body is broken: {error}")).into()),
    }
}

/// The parts of a multipart body.
struct Multipart {
    tree: Tree,
    files: Vec<(String, Sent)>,
    /// How many bytes the parts without a file may still have.
    text_left: usize,
}

impl Multipart {
    fn new(text_limit: usize) -> Self {
        Self { tree: Tree::default(), files: Vec::new(), text_left: text_limit }
    }

    /// Reads a body: files into the folder of the request, or nowhere without `spool`. Returns the other parts, by name.
    async fn read(
        &mut self,
        body: Limited<Body>,
        boundary: String,
        spool: Option<(&Cx, &InFlight)>,
    ) -> Result<Vec<(String, String)>> {
        let mut fields = Vec::new();
        let mut parts = multer::Multipart::new(body.into_data_stream(), boundary);
        while let Some(field) = parts.next_field().await.map_err(multipart_error)? {
            let name = field.name().unwrap_or_default().to_owned();
            if field.file_name().is_some() {
                let file = self.read_file(field, spool).await?;
                self.files.push((name, file));
            } else {
                let text = self.read_text(&name, field).await?;
                self.tree.add(&name, Value::String(text.clone()))?;
                fields.push((name, text));
            }
        }
        Ok(fields)
    }

    async fn read_text(&mut self, name: &str, mut field: multer::Field<'_>) -> Result<String> {
        let mut bytes = Vec::new();
        while let Some(chunk) = field.chunk().await.map_err(multipart_error)? {
            let left = self.text_left.checked_sub(chunk.len());
            self.text_left =
                left.ok_or_else(|| Error::invalid("the parameters are larger than the limit of bodies without files"))?;
            bytes.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(bytes).map_err(|_| Error::bad_request(format!("{} is not UTF-8", clip(name))))?)
    }

    /// Writes a file as it arrives.
    async fn read_file(&self, mut field: multer::Field<'_>, spool: Option<(&Cx, &InFlight)>) -> Result<Sent> {
        if self.files.len() == MAX_FILES {
            return Err(Error::bad_request(format!("more than {MAX_FILES} files")).into());
        }
        let mut length = 0;
        let Some((cx, in_flight)) = spool else {
            while let Some(chunk) = field.chunk().await.map_err(multipart_error)? {
                length += chunk.len();
            }
            return Ok(Sent { path: None, length });
        };
        let path = in_flight.file(cx, self.files.len())?;
        let mut file = tokio::fs::File::create_new(&path).await.map_err(|error| Error::of_file(&error))?;
        while let Some(chunk) = field.chunk().await.map_err(multipart_error)? {
            in_flight.move_to_disk(chunk.len())?;
            file.write_all(&chunk).await.map_err(|error| Error::of_file(&error))?;
            length += chunk.len();
        }
        file.flush().await.map_err(|error| Error::of_file(&error))?;
        Ok(Sent { path: Some(path), length })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn multipart_error(error: multer::Error) -> Error {
    if causes(&error).any(<dyn std::error::Error>::is::<LengthLimitError>) {
        return Error::TooLarge("the body is larger than the limit".into());
    }
    exceeded(&error).unwrap_or_else(|| Error::bad_request(format!("the multipart body is broken: {error}")))
}
