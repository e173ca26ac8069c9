//! Moving all stored files from the media folder to the bucket, or back.
//!
//! Reached from `rookery media move`. Servers continue meanwhile: they know both places (`media::storage`).

use config::StorageBackend;
use context::Cx;
use context::error::{Error, Result};
use media::storage::{self, Backend, Transferred};

/// Copies every file to `to` unless it is there, and calls `progress` after each. With `delete` the files of the source
/// are deleted once their copies were verified.
///
/// # Errors
/// [`Error::Invalid`] without a bucket, and for `delete` before servers write to `to`; [`Error::Unavailable`] when the
/// folder or the bucket fails, or another process moves files. Another run continues where this one ended.
#[model::use_case]
pub async fn relocate(
    cx: &Cx,
    to: StorageBackend,
    delete: bool,
    progress: &(dyn Fn(Transferred) + Sync),
) -> Result<Transferred> {
    if delete && cx.config.storage.backend != to {
        return Err(Error::invalid(format!(
            "files are deleted only after servers write to the destination: set storage.backend = \"{}\", restart them, \
             and repeat the command",
            to.as_str()
        )));
    }
    let backend = match to {
        StorageBackend::Local => Backend::Local,
        StorageBackend::S3 => Backend::Bucket,
    };
    cx.storage.transfer(backend, delete, progress).await.map_err(|error| match error {
        storage::Error::NoBucket => Error::invalid(error.to_string()),
        other => Error::Unavailable(other.explain().into()),
    })
}
