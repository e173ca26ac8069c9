//! Object storage of servers under test: an S3 server for each, in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{TestApp, database};
use crate::bucket::{BUCKET, BucketServer, KEY};

/// What the names of objects begin with.
const PREFIX: &str = "test/server";

impl TestApp {
    /// As [`TestApp::with`], with files in a bucket unless `keys` say otherwise.
    pub async fn with_bucket(keys: &[(&str, &str)]) -> Self {
        let folder = database::folder();
        let bucket = start(folder.path());
        Self::fresh(folder, Some(bucket), keys).await
    }

    /// As [`TestApp::with_bucket`], with URLs of media that lead to the bucket.
    pub async fn with_public_bucket() -> Self {
        let folder = database::folder();
        let bucket = start(folder.path());
        let url = format!("{}/{BUCKET}/{PREFIX}", bucket.endpoint);
        Self::fresh(folder, Some(bucket), &[("ROOKERY_STORAGE_PUBLIC_URL", &url)]).await
    }

    /// The number of stored files, temporary ones included.
    pub fn stored_files(&self) -> usize {
        fn count(folder: &Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        count(&self.app.config.storage.media_dir) + self.objects()
    }

    /// How many objects the bucket has; 0 without a bucket.
    pub fn objects(&self) -> usize {
        self.bucket.as_ref().map_or(0, |bucket| bucket.objects())
    }

    /// The folder with the files of this server under their keys.
    pub fn file_folder(&self) -> PathBuf {
        match &self.bucket {
            Some(bucket) => bucket.folder(PREFIX),
            None => self.app.config.storage.media_dir.clone(),
        }
    }
}

/// The bucket of a server whose test does not say where its files are.
#[expect(clippy::disallowed_methods, reason = "a test's environment says which storage to use")]
pub(super) fn by_environment(folder: &Path) -> Option<Arc<BucketServer>> {
    match std::env::var("TEST_STORAGE").as_deref() {
        Ok("s3") => Some(start(folder)),
        Ok(other) if other != "local" => panic!("TEST_STORAGE is {other}, neither local nor s3"),
        Ok(_) | Err(_) => None,
    }
}

fn start(folder: &Path) -> Arc<BucketServer> {
    Arc::new(BucketServer::start(&folder.join("objects")))
}

/// The configuration keys of a server with this bucket.
pub(super) fn keys(bucket: &BucketServer) -> [(&'static str, &str); 6] {
    [
        ("ROOKERY_STORAGE_BACKEND", "s3"),
        ("ROOKERY_S3_BUCKET", BUCKET),
        ("ROOKERY_S3_ENDPOINT", &bucket.endpoint),
        ("ROOKERY_S3_PREFIX", PREFIX),
        ("ROOKERY_S3_ACCESS_KEY_ID", KEY.0),
        ("ROOKERY_S3_SECRET_ACCESS_KEY", KEY.1),
    ]
}
