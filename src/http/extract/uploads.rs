//! Parameters with files, from a multipart body.
//!
//! Parameters that are not files are parsed as in [`params`](super::params). Files go to the disk as they arrive, into a
//! folder that is deleted when the request has been answered ([`InFlight`](crate::in_flight::InFlight)).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use axum::extract::{FromRequest, Request};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use super::params::{parse, read};
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Describe, Operation, Place};
use crate::request_limits::{body_limit_bytes, file_too_large};

/// Parameters with files: the body may be as large as the largest permitted file. For routes whose policy
/// [takes files](crate::policy::Policy::files).
///
/// `F` is a struct whose fields are `Option<Upload>`. An empty file counts as none, and of several with one name the
/// first is taken.
#[derive(Debug)]
pub struct Uploads<T, F> {
    pub params: T,
    pub files: F,
}

/// An uploaded file, on the disk until the request has been answered. Its type must be detected from the content: the
/// declared one is not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    /// The file may be moved away.
    pub path: PathBuf,
}

/// A file of a multipart body.
#[derive(Debug)]
pub(super) struct Sent {
    /// `None` where no files are taken: it was dropped.
    pub(super) path: Option<PathBuf>,
    pub(super) length: usize,
}

impl Sent {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<T: DeserializeOwned, F: DeserializeOwned> FromRequest<()> for Uploads<T, F> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let limit = body_limit_bytes(&cx, request.extensions());
        let limit =
            limit.ok_or_else(|| Error::internal("the policy of this route does not say that it takes files"))?;
        let refused = file_too_large(&cx, request.extensions());
        let read = read(&cx, request, limit, true).await;
        let (tree, files) = read.map_err(|ErrorResponse(error)| match error {
            Error::TooLarge(_) => refused,
            other => other,
        })?;
        Ok(Self { params: parse(tree)?, files: parse_files(files)? })
    }
}

impl<T: JsonSchema, F: JsonSchema> Describe for Uploads<T, F> {
    fn describe(operation: &mut Operation) {
        operation.take::<T>(operation.form_place());
        operation.take::<F>(Place::File);
    }
}

/// Read from [`UploadDeserializer`] alone.
impl<'de> Deserialize<'de> for Upload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Place;
        impl Visitor<'_> for Place {
            type Value = Upload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file")
            }
            fn visit_str<E>(self, path: &str) -> Result<Upload, E> {
                Ok(Upload { path: path.into() })
            }
        }
        deserializer.deserialize_str(Place)
    }
}

impl JsonSchema for Upload {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Upload".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentMediaType": "application/octet-stream" })
    }
}

/// A file as a field of a struct.
struct UploadDeserializer(PathBuf);

impl<'de> Deserializer<'de> for UploadDeserializer {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        // The folder of media is configured as text, and all paths below it are created by this server.
        visitor.visit_str(&self.0.to_string_lossy())
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }
    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de> for UploadDeserializer {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

fn parse_files<F: DeserializeOwned>(files: Vec<(String, Sent)>) -> Result<F> {
    let mut first = BTreeMap::new();
    for (name, file) in files.into_iter().filter(|(_, file)| !file.is_empty()) {
        let Some(path) = file.path else { continue };
        first.entry(name).or_insert(UploadDeserializer(path));
    }
    Ok(F::deserialize(MapDeserializer::new(first.into_iter())).map_err(Error::internal)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Files {
        file: Option<Upload>,
        thumbnail: Option<Upload>,
    }

    #[test]
    fn first_file_that_is_not_empty_is_taken() {
        let upload = |name: &str, path: &str, length| {
            (name.to_owned(), Sent { path: (!path.is_empty()).then(|| path.into()), length })
        };
        let sent = [("file", "0", 0), ("file", "1", 1), ("file", "2", 1), ("thumbnail", "3", 0), ("other", "4", 1)];
        let files: Files =
            parse_files(sent.map(|(name, path, length)| upload(name, path, length)).into()).expect("files");
        assert_eq!(files.file.expect("a file").path, PathBuf::from("1"));
        assert!(files.thumbnail.is_none());
    }
}
