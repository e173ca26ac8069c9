//! Services of a context as the configuration describes them.

use std::path::Path;
use std::time::Duration;

use config::{BucketEncryption, Config, ObjectPrefix, Scheme, Secret, StorageBackend};
use crypto::Keys;
use media::storage::{self, Backend, BucketOptions, Encryption, Storage};
use media::{Converter, Programs, Sandbox};
use model::remote_file::RemoteTags;
use model::urls::Urls;

/// The database options of `config`.
#[must_use]
pub fn db_options(config: &Config) -> database::Options {
    database::Options {
        url: config.database.url.expose().to_owned(),
        max_connections: config.database.max_connections,
        acquire_timeout: Duration::from_secs(config.database.acquire_timeout_seconds),
        plugin_connections: config.plugins.database_connections,
    }
}

/// Decodes images in processes of `executable`.
pub(crate) fn sandbox(config: &Config, executable: &Path) -> Sandbox {
    let timeout = Duration::from_secs(config.media.decode_timeout_seconds);
    Sandbox::new(executable).with_limits(config.media.max_concurrent_decodes, timeout)
}

/// The converter of video and audio of `config`; `executable` as for [`Cx::open`](crate::Cx::open).
#[must_use]
pub fn converter(config: &Config, executable: &Path) -> Converter {
    let media = &config.media;
    let found = config::program(&media.ffmpeg.0).zip(config::program(&media.ffprobe.0));
    let programs = found.and_then(|(ffmpeg, ffprobe)| Programs::at(&ffmpeg, &ffprobe));
    let time_limit = Duration::from_secs(media.conversion_timeout_seconds);
    // Re-encoding may make a file larger.
    let max_bytes = media.video_size_limit_bytes.saturating_mul(2);
    Converter::new(
        executable,
        programs,
        media.max_concurrent_conversions,
        time_limit,
        max_bytes,
        media.duration_limit_seconds,
    )
}

/// The file store of `config`, whose media folder must exist. `keys` name the files of suspended accounts in a bucket.
///
/// # Errors
/// When the folder cannot be opened, or requests to the bucket cannot be prepared. The bucket is not contacted.
pub fn storage(config: &Config, keys: &Keys) -> Result<Storage, storage::Error> {
    let storage = Storage::open(&config.storage.media_dir)?;
    let Some(options) = bucket(config, keys) else { return Ok(storage) };
    let backend = match config.storage.backend {
        StorageBackend::Local => Backend::Local,
        StorageBackend::S3 => Backend::Bucket,
    };
    storage.with_bucket(&options, backend)
}

/// How the bucket of `config` is reached, if there is one; `keys` as for [`storage()`].
#[must_use]
pub fn bucket(config: &Config, keys: &Keys) -> Option<BucketOptions> {
    let s3 = &config.s3;
    let text = |secret: &Option<Secret>| secret.as_ref().map_or_else(String::new, |secret| secret.expose().to_owned());
    Some(BucketOptions {
        endpoint: s3.endpoint.as_ref().map(|url| url.as_str().to_owned()),
        region: s3.region.clone(),
        bucket: s3.bucket.as_ref()?.as_str().to_owned(),
        prefix: s3.prefix.as_ref().map_or("", ObjectPrefix::as_str).to_owned(),
        path_style: s3.path_style,
        access_key_id: text(&s3.access_key_id),
        secret_access_key: text(&s3.secret_access_key),
        encryption: match s3.encryption {
            BucketEncryption::None => Encryption::Bucket,
            BucketEncryption::Aes256 => Encryption::Aes256,
            BucketEncryption::Kms => Encryption::Kms(s3.kms_key_id.clone()),
        },
        connect_timeout: Duration::from_secs(s3.connect_timeout_seconds),
        timeout: Duration::from_secs(s3.timeout_seconds),
        retry: Duration::from_secs(s3.retry_seconds),
        presigned: s3.presigned.then(|| Duration::from_secs(s3.presigned_seconds)),
        withheld: keys.derive("withheld files", "").expose().to_owned(),
    })
}

/// The hosts of the storage that clients load files from, each after a space.
fn file_hosts(config: &Config, keys: &Keys) -> String {
    let public = config.storage.public_url.as_ref().map(|url| url.as_str().to_owned());
    let presigned = bucket(config, keys).filter(|bucket| bucket.presigned.is_some()).map(|bucket| bucket.url());
    let origin = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        Some(format!(" {scheme}://{}", rest.split('/').next()?))
    };
    [public, presigned].iter().flatten().filter_map(|url| origin(url)).collect()
}

/// The addresses of this server.
pub(crate) fn urls(config: &Config, keys: &Keys) -> Urls {
    let scheme = match config.server.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let origin = format!("{scheme}://{}", config.server.web_domain);
    let public = config.storage.public_url.as_ref().map(|url| url.as_str().trim_end_matches('/').to_owned());
    Urls {
        file_hosts: file_hosts(config, keys),
        files: public.unwrap_or_else(|| format!("{origin}/media")),
        origin,
        local_domain: config.server.local_domain.as_str().to_owned(),
        web_domain: config.server.web_domain.as_str().to_owned(),
        remote_tags: RemoteTags::new(keys),
    }
}
