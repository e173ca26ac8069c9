//! The errors of the file store.

use std::error::Error as _;
use std::io;

use super::fault::BucketFault;

/// Why a file could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Deleted, or never stored.
    #[error("no such file")]
    NotFound,
    /// The file is larger than the caller allows.
    #[error("the file has {0} bytes, which is too large")]
    TooLarge(u64),
    /// The folder failed.
    #[error("media storage")]
    Store(#[source] object_store::Error),
    /// The bucket failed.
    #[error("object storage: {fault}")]
    Bucket {
        fault: BucketFault,
        #[source]
        source: object_store::Error,
    },
    /// Another process moves the files.
    #[error("another process is moving the files")]
    Busy,
    /// There is no bucket in the configuration.
    #[error("no bucket is configured: set the keys of the section s3")]
    NoBucket,
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound,
            other => Self::Store(other),
        }
    }
}

impl Error {
    /// The error in one sentence for an admin, with the cause where the fault has no name.
    pub fn explain(&self) -> String {
        match self {
            Self::Store(source) | Self::Bucket { fault: BucketFault::Other, source } => {
                let causes = std::iter::successors(source.source(), |cause| (**cause).source());
                let cause = causes.last().map_or_else(|| source.to_string(), ToString::to_string);
                format!("{self}: {cause}")
            }
            _ => self.to_string(),
        }
    }

    /// The error of a request to a bucket. A missing bucket is not a missing file.
    pub(super) fn of_bucket(error: object_store::Error) -> Self {
        match (BucketFault::of(&error), error) {
            (BucketFault::Other, object_store::Error::NotFound { .. }) => Self::NotFound,
            (fault, source) => Self::Bucket { fault, source },
        }
    }
}

/// The error of a failure of the disk.
pub(super) fn disk_error(error: io::Error) -> Error {
    Error::Store(object_store::Error::Generic { store: "local", source: error.into() })
}
