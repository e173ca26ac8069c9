//! Parameters with files, from a multipart body.
//!
//! What is not a file is parsed as in [`params`](super::params). A file is kept in memory: at most the largest that is
//! permitted, which is known before the body is read. Where videos are taken, files go to the disk as they arrive.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::Extensions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde_json::Value;

use super::params::{parse, read};
use crate::Cx;
use crate::error::{Error, ErrorResponse, Result};
use crate::operation::{Describe, Operation, Place};
use media::storage::Scratch;

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

/// As [`Uploads`] with files on the disk, for routes whose policy [takes large files](crate::policy::Policy::large_files).
///
/// The fields of `F` are `Option<StoredUpload>`. What is not moved away is deleted with `spool`.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct LargeUploads<T, F> {
    pub params: T,
    pub files: F,
    pub spool: Spool,
}

/// In the extensions of requests whose route takes files as large as a video.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LargeFiles;

/// The folder with the files of one request, until that has been answered.
#[derive(Debug)]
pub struct Spool(Scratch);

impl Spool {
    fn open(cx: &Cx) -> Result<Self> {
        Ok(Self(cx.storage.scratch().map_err(|error| {
            tracing::error!(%error, "could not make a folder for an upload");
            Error::Unavailable("The file could not be stored, try again".into())
        })?))
    }

    /// Where the file with this `number` goes.
    pub(super) fn path(&self, number: usize) -> PathBuf {
        self.0.path().join(number.to_string())
    }
}

/// Size of the largest permitted file, in bytes.
fn file_limit_bytes(cx: &Cx, extensions: &Extensions) -> usize {
    let media = &cx.config.media;
    let takes_video = extensions.get::<LargeFiles>().is_some() && cx.converter.is_available();
    let video = if takes_video { media.video_size_limit_bytes } else { 0 };
    usize::try_from(video.max(media.image_size_limit_bytes)).unwrap_or(usize::MAX / 4)
}

/// Size of the largest body with files: where a video is taken, with its picture.
pub(crate) fn body_limit_bytes(cx: &Cx, extensions: &Extensions) -> usize {
    let picture = match extensions.get::<LargeFiles>() {
        Some(LargeFiles) => usize::try_from(cx.config.media.image_size_limit_bytes).unwrap_or(usize::MAX / 4),
        None => 0,
    };
    file_limit_bytes(cx, extensions) + picture + MULTIPART_OVERHEAD_BYTES
}

/// A file beyond the limit is 422 (contract rules, section 3), wherever that is noticed.
pub(crate) fn too_large(cx: &Cx, extensions: &Extensions) -> Error {
    Error::invalid(format!("file is larger than {} bytes", file_limit_bytes(cx, extensions)))
}

/// An uploaded file of a multipart body.
#[derive(Clone)]
pub struct Upload {
    /// The content. Its type must be detected from the content: the declared one is not kept.
    pub bytes: Bytes,
}

/// An uploaded file on the disk, of which nothing but the content is known either.
#[derive(Clone, Debug)]
pub struct StoredUpload {
    /// In the [`Spool`] of its request.
    pub path: PathBuf,
}

/// A file of a multipart body, where it was read to.
#[derive(Debug)]
pub(super) enum Sent {
    Bytes(Bytes),
    File { path: PathBuf, length: u64 },
}

impl Sent {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::File { length, .. } => *length == 0,
        }
    }

    /// Opens the file at `path`, to be written while it arrives.
    pub(super) async fn create(path: &Path) -> Result<tokio::fs::File> {
        Ok(tokio::fs::File::create_new(path).await.map_err(Error::internal)?)
    }
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
        let (tree, files) = read_files(&cx, request, None).await?;
        Ok(Self { params: parse(tree)?, files: parse_files(files)? })
    }
}

impl<T: DeserializeOwned, F: DeserializeOwned> FromRequest<()> for LargeUploads<T, F> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, _: &()) -> Result<Self> {
        let cx = Cx::of(request.extensions())?;
        let spool = Spool::open(&cx)?;
        let (tree, files) = read_files(&cx, request, Some(&spool)).await?;
        Ok(Self { params: parse(tree)?, files: parse_files(files)?, spool })
    }
}

/// Reads the parameters and files of a request, these into `spool` if there is one.
async fn read_files(cx: &Cx, request: Request, spool: Option<&Spool>) -> Result<(Value, Vec<(String, Sent)>)> {
    let limit = body_limit_bytes(cx, request.extensions());
    let refused = too_large(cx, request.extensions());
    Ok(read(request, limit, spool).await.map_err(|ErrorResponse(error)| match error {
        Error::TooLarge(_) => refused,
        other => other,
    })?)
}

impl<T: JsonSchema, F: JsonSchema> Describe for LargeUploads<T, F> {
    fn describe(operation: &mut Operation) {
        Uploads::<T, F>::describe(operation);
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

/// Read from [`UploadDeserializer`] alone.
impl<'de> Deserialize<'de> for StoredUpload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Place;
        impl Visitor<'_> for Place {
            type Value = StoredUpload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file on the disk")
            }
            fn visit_str<E>(self, path: &str) -> Result<StoredUpload, E> {
                Ok(StoredUpload { path: path.into() })
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

impl JsonSchema for StoredUpload {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        Upload::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Upload::json_schema(generator)
    }
}

/// A file as a field of a struct.
struct UploadDeserializer(Sent);

impl<'de> Deserializer<'de> for UploadDeserializer {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Sent::Bytes(bytes) => visitor.visit_byte_buf(bytes.into()),
            // The folder of media is configured as text, and what is below it is ours.
            Sent::File { path, .. } => visitor.visit_str(&path.to_string_lossy()),
        }
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
            |name: &str, text: &'static str| (name.to_owned(), Sent::Bytes(Bytes::from_static(text.as_bytes())));
        let sent = [("file", ""), ("file", "a"), ("file", "b"), ("thumbnail", ""), ("other", "c")];
        let files: Files = parse_files(sent.map(|(name, text)| upload(name, text)).into()).expect("files");
        assert_eq!(files.file.expect("a file").bytes, "a");
        assert!(files.thumbnail.is_none());
    }
}
