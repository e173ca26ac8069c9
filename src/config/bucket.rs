//! Types of configuration values for object storage.

use super::{kinds::choice, value::Text};

choice! {
    /// Where media is stored.
    StorageBackend {
        /// A folder of this machine.
        Local = "local",
        /// A bucket of a service with the API of S3.
        S3 = "s3",
    }
}

choice! {
    /// How the service encrypts objects at rest.
    BucketEncryption {
        /// As the bucket is configured.
        None = "none",
        /// With keys of the service (SSE-S3).
        Aes256 = "AES256",
        /// With keys of its key management (SSE-KMS).
        Kms = "aws:kms",
    }
}

/// The name of a bucket: <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketName(String);

impl BucketName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for BucketName {
    const EXPECTED: &'static str = "the name of a bucket: 3 to 63 letters, digits, dots, hyphens and underscores";

    /// Upper-case letters and underscores are in names of old buckets.
    fn parse(text: &str) -> Option<Self> {
        let fits = (3..=63).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
            && !text.starts_with(['.', '-'])
            && !text.contains("..");
        fits.then(|| Self(text.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// The beginning of every key in a bucket: `rookery`, `servers/one`; without slashes at its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPrefix(String);

impl ObjectPrefix {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for ObjectPrefix {
    const EXPECTED: &'static str =
        "a path of at most 512 letters, digits, dots, hyphens and underscores between slashes, such as rookery/media";

    fn parse(text: &str) -> Option<Self> {
        let part = |part: &str| {
            ![".", "..", ""].contains(&part)
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        };
        let path = text.trim_end_matches('/');
        (path.len() <= 512 && path.split('/').all(part)).then(|| Self(path.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prefixes() {
        for good in ["media", "my.bucket-1", "Old_Bucket"] {
            assert!(BucketName::parse(good).is_some(), "{good}");
        }
        for bad in ["", "ab", "a/b/c", "-abc", "a..b", "a b c", &"x".repeat(64)] {
            assert_eq!(BucketName::parse(bad), None, "{bad}");
        }
        for (good, path) in [("a", "a"), ("a/b-1/c_2.d/", "a/b-1/c_2.d")] {
            assert_eq!(ObjectPrefix::parse(good).map(|prefix| prefix.text()), Some(path.to_owned()));
        }
        for bad in ["", "/", "/a", "a//b", "a/../b", "a b", "é"] {
            assert_eq!(ObjectPrefix::parse(bad), None, "{bad}");
        }
    }
}
