//! Why a bucket cannot be used, in words for the admin.
//!
//! Spec: <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>

use std::error::Error as StdError;
use std::fmt;

use object_store::client::{HttpError, HttpErrorKind};

/// The fault of a bucket, as far as its service reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketFault {
    /// There is no such bucket.
    Missing,
    /// The service does not know the access key, or the signature of the secret does not match.
    WrongKey,
    /// The key may not do this.
    Forbidden,
    /// The clocks of this machine and of the service differ.
    Clock,
    /// The bucket is in another region, or at another address.
    Region,
    /// No connection is possible.
    Unreachable,
    /// A connection is possible, but not by TLS.
    Tls,
    /// The service does not respond in time, or a connection broke.
    Interrupted,
    /// Any other failure; the source has the details.
    Other,
}

/// The codes of S3, and some of its sentences where a service has another code.
const CODES: [(&str, BucketFault); 9] = [
    ("NoSuchBucket", BucketFault::Missing),
    ("RequestTimeTooSkewed", BucketFault::Clock),
    ("InvalidAccessKeyId", BucketFault::WrongKey),
    ("SignatureDoesNotMatch", BucketFault::WrongKey),
    ("AuthorizationHeaderMalformed", BucketFault::Region),
    ("PermanentRedirect", BucketFault::Region),
    ("redirect without LOCATION", BucketFault::Region),
    ("IllegalLocationConstraint", BucketFault::Region),
    ("AccessDenied", BucketFault::Forbidden),
];

/// Words of rustls in its errors.
const TLS: [&str; 4] = ["certificate", "TLS", "HandshakeFailure", "corrupt message"];

impl BucketFault {
    pub(super) fn of(error: &object_store::Error) -> Self {
        let chain = || causes(error);
        let text: String = chain().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        if let Some((_, fault)) = CODES.into_iter().find(|(code, _)| text.contains(code)) {
            return fault;
        }
        match error {
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                return Self::Forbidden;
            }
            _ => {}
        }
        match chain().find_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind) {
            Some(_) if TLS.iter().any(|word| text.contains(word)) => Self::Tls,
            Some(HttpErrorKind::Connect) => Self::Unreachable,
            Some(HttpErrorKind::Timeout | HttpErrorKind::Interrupted | HttpErrorKind::Request) => Self::Interrupted,
            _ => Self::Other,
        }
    }
}

/// The error and its causes.
fn causes(error: &object_store::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |error| (**error).source())
}

impl fmt::Display for BucketFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "there is no such bucket: create it, or correct s3.bucket",
            Self::WrongKey => "the key is refused: correct s3.access_key_id and s3.secret_access_key",
            Self::Forbidden => "access is denied: the key needs permission to read, write, delete and list",
            Self::Clock => "the clocks of this machine and of the service differ: set the clock right",
            Self::Region => "the bucket is in another region: correct s3.region or s3.endpoint",
            Self::Unreachable => "the service cannot be reached: check s3.endpoint, DNS and the firewall",
            Self::Tls => "no secure connection is possible: check the certificate of the service, and whether s3.endpoint begins with https",
            Self::Interrupted => "the service does not respond, or the connection broke",
            Self::Other => "the service failed",
        })
    }
}
