//! A bucket of stored files, at a service with the API of S3.
//!
//! An object has the key of its file as its name, after the prefix of the bucket. The name of a
//! withheld file contains a secret, so that its key does not lead to it where the objects of the bucket are public.
//!
//! The admin configures the service, so the rules of requests to other servers do not apply: it may have a private
//! address.
//!
//! Spec: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html>

use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::signer::{Method, Signer as _};
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, MultipartUpload, ObjectStore as _, PutMultipartOptions,
    PutOptions, RetryConfig, path,
};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::entry::{CACHE_CONTROL, Entry};
use super::error::{Error, disk_error};
use super::key::{Key, WITHHELD};

/// The size of a part of an upload, and of the largest file that is sent in one.
pub(super) const PART_BYTES: u64 = 8 << 20;

/// Most files sent at the same time, each with one part in memory.
const UPLOADS: usize = 4;

/// Most attempts at a request, within [`BucketOptions::retry`].
const RETRIES: usize = 6;

/// Encryption at rest by the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// As the bucket is configured.
    Bucket,
    /// SSE-S3.
    Aes256,
    /// SSE-KMS, with the id of a key or the default one.
    Kms(Option<String>),
}

/// How a bucket is reached.
#[derive(Clone)]
pub struct BucketOptions {
    /// The URL of the service without the bucket; `None` for Amazon S3.
    pub endpoint: Option<String>,
    pub region: String,
    pub bucket: String,
    /// The beginning of every name, without slashes at its ends; empty for none.
    pub prefix: String,
    /// The bucket is in the path, not in the host name.
    pub path_style: bool,
    pub access_key_id: String,
    pub secret_access_key: String,
    pub encryption: Encryption,
    pub connect_timeout: Duration,
    /// How long the service may pause, and how long it may take to accept a part.
    pub timeout: Duration,
    /// How long a failed request is repeated.
    pub retry: Duration,
    /// How long a presigned URL is valid; `None`: files are not served by presigned URLs.
    pub presigned: Option<Duration>,
    /// A secret in the names of withheld files, of letters and digits, hyphens and underscores; the same for every
    /// process with this bucket.
    pub withheld: String,
}

/// Leaves out the keys.
impl fmt::Debug for BucketOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketOptions")
            .field("endpoint", &self.endpoint)
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// An open bucket.
pub(super) struct Bucket {
    pub(super) objects: AmazonS3,
    prefix: String,
    withheld: String,
    pub(super) presigned: Option<Duration>,
    uploads: Semaphore,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bucket").field(&self.objects).finish()
    }
}

impl Bucket {
    /// Prepares requests to a bucket; sends none.
    pub(super) fn open(options: &BucketOptions) -> Result<Self, Error> {
        let client = ClientOptions::new()
            .with_allow_http(true)
            // A client may take long to read a film; pauses are limited instead.
            .with_timeout_disabled()
            .with_read_timeout(options.timeout)
            .with_connect_timeout(options.connect_timeout);
        let backoff = BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            ..BackoffConfig::default()
        };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&options.bucket)
            .with_region(&options.region)
            .with_access_key_id(&options.access_key_id)
            .with_secret_access_key(&options.secret_access_key)
            .with_virtual_hosted_style_request(!options.path_style)
            // Not every service deletes many objects with one request.
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig { backoff, max_retries: RETRIES, retry_timeout: options.retry })
            .with_client_options(client);
        if let Some(endpoint) = &options.endpoint {
            builder = builder.with_endpoint(endpoint_of(endpoint, &options.bucket, options.path_style));
        }
        builder = match &options.encryption {
            Encryption::Bucket => builder,
            Encryption::Aes256 => {
                builder.with_config("aws_server_side_encryption".parse::<AmazonS3ConfigKey>()?, "AES256")
            }
            Encryption::Kms(Some(key)) => builder.with_sse_kms_encryption(key),
            Encryption::Kms(None) => {
                builder.with_config("aws_server_side_encryption".parse::<AmazonS3ConfigKey>()?, "aws:kms")
            }
        };
        Ok(Self {
            objects: builder.build()?,
            prefix: options.prefix.clone(),
            withheld: options.withheld.clone(),
            presigned: options.presigned,
            uploads: Semaphore::new(UPLOADS),
        })
    }

    /// The name of a file's object.
    pub(super) fn path(&self, key: &Key, withheld: bool) -> path::Path {
        path::Path::from(format!("{}/{key}", self.root(withheld)))
    }

    /// The beginning of the names of objects.
    fn root(&self, withheld: bool) -> String {
        let Self { prefix, withheld: secret, .. } = self;
        if withheld { format!("{prefix}/{WITHHELD}/{secret}") } else { prefix.clone() }
    }

    /// The name of an object that is no file.
    pub(super) fn probe(&self, name: &str) -> path::Path {
        path::Path::from(format!("{}/probe/{name}", self.prefix))
    }

    /// A URL by which everyone can read the file for `life`.
    pub(super) async fn presigned(&self, key: &Key, life: Duration) -> Result<String, Error> {
        let url = self.objects.signed_url(Method::GET, &self.path(key, false), life).await;
        Ok(url.map_err(Error::of_bucket)?.to_string())
    }

    /// Writes an object: readers see all of it or nothing.
    pub(super) async fn put(&self, key: &Key, withheld: bool, bytes: Bytes) -> Result<(), Error> {
        let options = PutOptions { attributes: attributes(key), ..PutOptions::default() };
        let put = self.objects.put_opts(&self.path(key, withheld), bytes.into(), options).await;
        put.map(drop).map_err(Error::of_bucket)
    }

    /// Copies the file at `from` into the bucket, a large one in parts, of which one is in memory.
    ///
    /// After an error or when it is dropped there is no object; a request deletes the parts.
    pub(super) async fn send(&self, key: &Key, withheld: bool, from: &Path) -> Result<(), Error> {
        let _permit = self.uploads.acquire().await;
        let mut file = File::open(from).await.map_err(disk_error)?;
        let mut left = file.metadata().await.map_err(disk_error)?.len();
        let mut part = read_part(&mut file, &mut left).await?;
        if (part.len() as u64) < PART_BYTES {
            return self.put(key, withheld, part).await;
        }
        let options = PutMultipartOptions { attributes: attributes(key), ..PutMultipartOptions::default() };
        let begun = self.objects.put_multipart_opts(&self.path(key, withheld), options).await;
        let mut upload = Upload(Some(begun.map_err(Error::of_bucket)?));
        while !part.is_empty() {
            upload.put(part).await?;
            part = read_part(&mut file, &mut left).await?;
        }
        upload.complete().await
    }

    /// Every stored file of `folder`, withheld ones included. Objects without a key are left out.
    pub(super) fn entries(&self, folder: &'static str) -> BoxStream<'_, Result<Entry, Error>> {
        let of = move |withheld: bool| {
            let root = path::Path::from(self.root(withheld));
            let listed = self.objects.list(Some(&path::Path::from(format!("{root}/{folder}"))));
            listed.map_err(Error::of_bucket).try_filter_map(move |object| {
                let key: Option<Key> = object
                    .location
                    .as_ref()
                    .strip_prefix(root.as_ref())
                    .and_then(|name| name.strip_prefix('/').unwrap_or(name).parse().ok());
                let entry = key.map(|key| Entry {
                    key,
                    withheld,
                    bytes: object.size,
                    modified: SystemTime::from(object.last_modified),
                    md5: object.e_tag.as_deref().and_then(md5_of_tag),
                });
                std::future::ready(Ok(entry))
            })
        };
        of(false).chain(of(true)).boxed()
    }
}

impl BucketOptions {
    /// The address of the bucket, or of the service if the bucket is in the path.
    #[must_use]
    pub fn url(&self) -> String {
        let amazon = || format!("https://s3.{}.amazonaws.com", self.region);
        endpoint_of(&self.endpoint.clone().unwrap_or_else(amazon), &self.bucket, self.path_style)
    }
}

/// The address of a bucket at `endpoint`.
fn endpoint_of(endpoint: &str, bucket: &str, path_style: bool) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    match endpoint.split_once("://") {
        Some((scheme, host)) if !path_style => format!("{scheme}://{bucket}.{host}"),
        _ => endpoint.to_owned(),
    }
}

/// The headers by which the bucket serves a file.
fn attributes(key: &Key) -> Attributes {
    let cache = if key.is_public() { CACHE_CONTROL } else { "private, no-store" };
    Attributes::from_iter([(Attribute::ContentType, key.mime()), (Attribute::CacheControl, cache)])
}

/// The MD5 of an object, from its entity tag, which is one unless the object was sent in parts or encrypted.
pub(super) fn md5_of_tag(tag: &str) -> Option<[u8; 16]> {
    let digits = tag.trim_matches('"');
    let is_md5 = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16).ok().filter(|_| is_md5).map(u128::to_be_bytes)
}

/// The next [`PART_BYTES`] of a file of which `left` bytes are expected; less at its end.
async fn read_part(file: &mut File, left: &mut u64) -> Result<Bytes, Error> {
    let expected = usize::try_from(PART_BYTES.min(*left)).unwrap_or_default();
    let mut part = Vec::with_capacity(expected);
    file.take(PART_BYTES).read_to_end(&mut part).await.map_err(disk_error)?;
    *left = left.saturating_sub(part.len() as u64);
    Ok(part.into())
}

/// An upload in parts, which is aborted when it is dropped before it is complete.
struct Upload(Option<Box<dyn MultipartUpload>>);

impl Upload {
    async fn put(&mut self, part: Bytes) -> Result<(), Error> {
        let Some(upload) = &mut self.0 else { return Ok(()) };
        upload.put_part(part.into()).await.map_err(Error::of_bucket)
    }

    async fn complete(mut self) -> Result<(), Error> {
        let Some(upload) = &mut self.0 else { return Ok(()) };
        upload.complete().await.map_err(Error::of_bucket)?;
        self.0 = None;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let (Some(mut upload), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            // Parts that stay because the service is away are deleted by the rules of the bucket (docs/running.md#7-object-storage).
            runtime.spawn(async move { upload.abort().await.ok() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_is_in_the_path_or_in_the_host() {
        assert_eq!(endpoint_of("http://localhost:9000/", "media", true), "http://localhost:9000");
        assert_eq!(endpoint_of("https://r2.example", "media", false), "https://media.r2.example");
    }

    #[test]
    fn entity_tag_is_an_md5_or_not() {
        assert_eq!(md5_of_tag("\"00000000000000000000000000000001\""), Some(1u128.to_be_bytes()));
        for other in ["", "\"x\"", "00000000000000000000000000000001-2", "+0000000000000000000000000000001"] {
            assert_eq!(md5_of_tag(other), None, "{other}");
        }
    }
}
