//! Parameters with files, from a multipart body.
//!
//! What is not a file is parsed as in [`params`](super::params). A file is kept in memory: at most the largest that is
//! permitted, which is known before the body is read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};

use super::params::{parse, read};
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Describe, Operation, Place};

/// Allowance for a multipart body beyond its files.
const MULTIPART_OVERHEAD_BYTES: usize = 64 * 1024;

/// Parameters with files: the body may be as large as the largest permitted file.
///
/// `F` is a struct whose fields are `Option<Upload>`. An empty file counts as none, and of several with one name the
/// first is taken.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Uploads<T, F> {
    pub params: T,
    pub files: F,
}

/// Size of the largest permitted file, in bytes.
fn file_limit_bytes(cx: &Cx) -> usize {
    usize::try_from(cx.config.media.image_size_limit_bytes).unwrap_or(usize::MAX / 2)
}

/// Size of the largest body with a file.
pub(crate) fn body_limit_bytes(cx: &Cx) -> usize {
    file_limit_bytes(cx) + MULTIPART_OVERHEAD_BYTES
}

/// A file beyond the limit is 422 (contract rules, section 3), wherever that is noticed.
pub(crate) fn too_large(cx: &Cx) -> Error {
    Error::invalid(format!("file is larger than {} bytes", file_limit_bytes(cx)))
}

/// An uploaded file of a multipart body.
#[derive(Clone)]
pub struct Upload {
    /// The content. Its type must be detected from the content: the declared one is not kept.
    pub bytes: Bytes,
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({} bytes)", self.bytes.len())
    }
}

impl<T: DeserializeOwned, F: DeserializeOwned> FromRequest<()> for Uploads<T, F> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let (tree, files) = read(request, body_limit_bytes(&cx)).await.map_err(|ErrorResponse(error)| match error {
            Error::TooLarge(_) => too_large(&cx),
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
        struct Content;
        impl Visitor<'_> for Content {
            type Value = Upload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file")
            }
            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Upload, E> {
                Ok(Upload { bytes: bytes.into() })
            }
        }
        deserializer.deserialize_byte_buf(Content)
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
struct UploadDeserializer(Upload);

impl<'de> Deserializer<'de> for UploadDeserializer {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_byte_buf(self.0.bytes.into())
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

fn parse_files<F: DeserializeOwned>(files: Vec<(String, Upload)>) -> Result<F> {
    let mut first = BTreeMap::new();
    for (name, file) in files.into_iter().filter(|(_, file)| !file.bytes.is_empty()) {
        first.entry(name).or_insert(UploadDeserializer(file));
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
        let upload =
            |name: &str, text: &'static str| (name.to_owned(), Upload { bytes: Bytes::from_static(text.as_bytes()) });
        let sent = [("file", ""), ("file", "a"), ("file", "b"), ("thumbnail", ""), ("other", "c")];
        let files: Files = parse_files(sent.map(|(name, text)| upload(name, text)).into()).expect("files");
        assert_eq!(files.file.expect("a file").bytes, "a");
        assert!(files.thumbnail.is_none());
    }
}
