//! The storage in a folder and in a bucket, by the same tests; faults of a bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

#[expect(unreachable_pub, reason = "tests of the whole server use it too")]
#[path = "../../../../tests/bucket/mod.rs"]
mod server;

mod moving;

use server::{BUCKET, BucketServer, KEY, fetch};

const SECRET: &str = "0123456789abcdef";

/// A storage with a folder and an S3 server of its own.
struct Bench {
    storage: Storage,
    folder: TempDir,
    _objects: TempDir,
    server: BucketServer,
}

fn options(endpoint: &str) -> BucketOptions {
    BucketOptions {
        endpoint: Some(endpoint.to_owned()),
        region: "us-east-1".to_owned(),
        bucket: BUCKET.to_owned(),
        prefix: "one/server".to_owned(),
        path_style: true,
        access_key_id: KEY.0.to_owned(),
        secret_access_key: KEY.1.to_owned(),
        encryption: Encryption::Bucket,
        connect_timeout: Duration::from_secs(2),
        timeout: Duration::from_secs(20),
        retry: Duration::from_millis(500),
        presigned: None,
        withheld: SECRET.to_owned(),
    }
}

impl Bench {
    fn new(backend: Backend) -> Self {
        Self::with(backend, |options| options)
    }

    fn with(backend: Backend, change: impl FnOnce(BucketOptions) -> BucketOptions) -> Self {
        let (folder, objects) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let server = BucketServer::start(objects.path());
        let storage = Storage::open(folder.path()).unwrap();
        let storage = storage.with_bucket(&change(options(&server.endpoint)), backend).unwrap();
        Self { storage, folder, _objects: objects, server }
    }

    /// The same files, for a server that writes to `backend`.
    fn switched(&self, backend: Backend) -> Storage {
        Storage::open(self.folder.path()).unwrap().with_bucket(&options(&self.server.endpoint), backend).unwrap()
    }

    /// How many files each place has.
    async fn count(&self) -> (u64, u64) {
        let count = async |backend| {
            let usage = self.switched(backend).usage().await.unwrap();
            usage.iter().map(|stored| stored.files).sum()
        };
        (count(Backend::Local).await, count(Backend::Bucket).await)
    }
}

/// Both places.
fn both() -> [Bench; 2] {
    [Backend::Local, Backend::Bucket].map(Bench::new)
}

fn key(number: u8) -> Key {
    Storage::key(FileKind::Media, Format::Webp, [number; 16])
}

/// Bytes that differ everywhere.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

#[tokio::test]
async fn file_is_stored_read_in_part_and_deleted() {
    for bench in both() {
        let (storage, key) = (&bench.storage, key(1));
        assert!(!storage.exists(&key).await.unwrap());
        assert!(matches!(storage.get(&key).await, Err(Error::NotFound)));
        assert!(matches!(storage.get_range(&key, 0..1).await, Err(Error::NotFound)));
        storage.put(&key, b"hello".to_vec()).await.unwrap();
        assert_eq!(storage.length(&key).await.unwrap(), 5);

        let object = storage.get(&key).await.unwrap();
        assert_eq!(object.length(), 5);
        assert_eq!(&object.bytes().await.unwrap()[..], b"hello");
        assert_eq!(&storage.get_range(&key, 1..99).await.unwrap()[..], b"ello");
        assert_eq!(&storage.get_range(&key, 1..3).await.unwrap()[..], b"el");

        storage.delete(&key).await.unwrap();
        storage.delete(&key).await.unwrap();
        assert!(matches!(storage.get(&key).await, Err(Error::NotFound)));
        assert_eq!(bench.count().await, (0, 0));
    }
}

#[tokio::test]
async fn written_files_are_adopted_small_and_large() {
    for bench in both() {
        let storage = &bench.storage;
        for (number, length) in [(1, 0), (2, 70_000), (3, (8 << 20) - 1), (4, 8 << 20), (5, (20 << 20) + 3)] {
            let (scratch, expected) = (storage.scratch().unwrap(), bytes(length));
            let path = scratch.path().join("film");
            std::fs::write(&path, &expected).unwrap();
            storage.adopt(&key(number), &path).await.unwrap();
            assert!(!path.exists());
            let read = storage.get(&key(number)).await.unwrap().bytes().await.unwrap();
            assert!(read == expected, "{length} bytes");
        }
        let films = storage.usage().await.unwrap()[0];
        assert_eq!((films.folder, films.files), ("media", 5));
    }
}

#[tokio::test]
async fn withheld_file_is_out_of_reach_and_comes_back() {
    for bench in both() {
        let storage = &bench.storage;
        storage.put(&key(1), b"hello".to_vec()).await.unwrap();
        for _ in 0..2 {
            storage.place(&key(1), true).await.unwrap();
            assert!(matches!(storage.get(&key(1)).await, Err(Error::NotFound)));
            assert!(!storage.exists(&key(1)).await.unwrap());
        }
        let file = storage.local_file(&key(1), 100).await.unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), b"hello", "its owner may have it");
        assert_eq!(storage.usage().await.unwrap()[0].files, 1);
        for _ in 0..2 {
            storage.place(&key(1), false).await.unwrap();
            assert_eq!(&storage.get(&key(1)).await.unwrap().bytes().await.unwrap()[..], b"hello");
        }
        storage.place(&key(1), true).await.unwrap();
        storage.place(&key(2), true).await.unwrap();
        storage.delete(&key(1)).await.unwrap();
        assert_eq!(bench.count().await, (0, 0));
    }
}

#[tokio::test]
async fn name_of_withheld_object_does_not_follow_from_its_key() {
    let bench = Bench::new(Backend::Bucket);
    bench.storage.put(&key(1), b"hello".to_vec()).await.unwrap();
    bench.storage.place(&key(1), true).await.unwrap();
    let object = |name: String| bench.server.folder("one/server").join(name);
    assert!(!object(key(1).to_string()).exists() && !object(format!("withheld/{}", key(1))).exists());
    assert!(object(format!("withheld/{SECRET}/{}", key(1))).exists());
}

#[tokio::test]
async fn bucket_without_prefix_is_listed() {
    let bench = Bench::with(Backend::Bucket, |options| BucketOptions { prefix: String::new(), ..options });
    for number in [1, 2] {
        bench.storage.put(&key(number), b"hello".to_vec()).await.unwrap();
    }
    bench.storage.place(&key(1), true).await.unwrap();
    assert!(bench.server.folder(key(2).as_str()).is_file());
    assert_eq!(bench.storage.usage().await.unwrap()[0], Stored { folder: "media", files: 2, bytes: 10 });
}

#[tokio::test]
async fn objects_are_encrypted_as_configured() {
    let kms = |id: Option<&str>| Encryption::Kms(id.map(str::to_owned));
    for (encryption, expected) in [
        (Encryption::Bucket, None),
        (Encryption::Aes256, Some("x-amz-server-side-encryption: AES256")),
        (kms(None), Some("x-amz-server-side-encryption: aws:kms")),
        (kms(Some("k1")), Some("x-amz-server-side-encryption-aws-kms-key-id: k1")),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let request = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.unwrap();
            let (mut head, mut buffer) = (String::new(), [0; 4096]);
            while !head.contains("\r\n\r\n") {
                let read = client.read(&mut buffer).await.unwrap();
                head.push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
            client.write_all(b"HTTP/1.1 200 OK\r\netag: \"x\"\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            head
        });
        let folder = tempfile::tempdir().unwrap();
        let options = BucketOptions { encryption, ..options(&endpoint) };
        let storage = Storage::open(folder.path()).unwrap().with_bucket(&options, Backend::Bucket).unwrap();
        storage.put(&key(1), b"hello".to_vec()).await.unwrap();
        let head = request.await.unwrap();
        match expected {
            Some(expected) => assert!(head.contains(expected), "{head}"),
            None => assert!(!head.contains("encryption"), "{head}"),
        }
        assert!(head.contains("content-type: image/webp"), "{head}");
    }
}

#[tokio::test]
async fn program_gets_a_file_within_its_bound() {
    for bench in both() {
        let storage = &bench.storage;
        storage.put(&key(1), bytes(1000)).await.unwrap();
        let file = storage.local_file(&key(1), 1000).await.unwrap();
        let path = file.path().to_owned();
        assert!(std::fs::read(&path).unwrap() == bytes(1000));
        drop(file);
        assert_eq!(path.exists(), bench.storage.backend == Backend::Local, "a copy is deleted");
        assert!(matches!(storage.local_file(&key(2), 1000).await, Err(Error::NotFound)));
    }
    let bench = Bench::new(Backend::Bucket);
    bench.storage.put(&key(1), bytes(1001)).await.unwrap();
    assert!(matches!(bench.storage.local_file(&key(1), 1000).await, Err(Error::TooLarge(1001))));
}

#[tokio::test]
async fn stray_is_an_old_file_that_nothing_knows() {
    let (past, future) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(9_999_999_999));
    for bench in both() {
        let storage = &bench.storage;
        let other = Storage::incoming_key([9; 16]);
        storage.put(&key(1), b"hello".to_vec()).await.unwrap();
        storage.put(&other, b"12".to_vec()).await.unwrap();
        let usage = storage.usage().await.unwrap();
        assert_eq!((usage[0], usage[7].files), (Stored { folder: "media", files: 1, bytes: 5 }, 1));
        let known = HashSet::from([key(1).number()]);
        assert_eq!(storage.strays(known.clone(), past).await.unwrap(), []);
        assert_eq!(storage.strays(known, future).await.unwrap(), [(other, 2)]);
    }
}

#[tokio::test]
async fn listing_has_more_than_a_page() {
    let bench = Bench::new(Backend::Bucket);
    let folder = bench.server.folder("one/server/media/00/00");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..2100 {
        std::fs::write(folder.join(format!("{number:032x}.png")), "x").unwrap();
    }
    std::fs::write(folder.join("something else"), "x").unwrap();
    assert_eq!(bench.storage.usage().await.unwrap()[0].files, 2100);
}

#[tokio::test]
async fn presigned_url_serves_file_with_type_and_caching() {
    let life = Duration::from_secs(600);
    let bench = Bench::with(Backend::Bucket, |options| BucketOptions { presigned: Some(life), ..options });
    let storage = &bench.storage;
    assert!(matches!(storage.presigned(&key(1)).await, Err(Error::NotFound)));
    storage.put(&key(1), b"hello".to_vec()).await.unwrap();
    let url = storage.presigned(&key(1)).await.unwrap().unwrap().url;
    let (head, body) = fetch(&url);
    assert!(head.starts_with("HTTP/1.1 200") && body == b"hello", "{head}");
    assert!(head.contains("content-type: image/webp") && head.contains(CACHE_CONTROL), "{head}");
    assert!(url.contains("X-Amz-Expires=600"), "{url}");
    let (altered, _) = fetch(&url.replace("X-Amz-Expires=600", "X-Amz-Expires=601"));
    assert!(altered.starts_with("HTTP/1.1 403"), "{altered}");

    storage.place(&key(1), true).await.unwrap();
    assert!(matches!(storage.presigned(&key(1)).await, Err(Error::NotFound)));
    assert!(fetch(&url).0.starts_with("HTTP/1.1 404"), "an earlier URL is of no use");
    assert!(Bench::new(Backend::Bucket).storage.presigned(&key(1)).await.unwrap().is_none());
}

fn fault<T: std::fmt::Debug>(result: Result<T, Error>) -> BucketFault {
    match result {
        Err(Error::Bucket { fault, .. }) => fault,
        other => panic!("no fault of a bucket: {other:?}"),
    }
}

#[tokio::test]
async fn faults_of_a_bucket_are_named() {
    let bench = Bench::new(Backend::Bucket);
    let right = options(&bench.server.endpoint);
    probe(&right, "a").await.unwrap();
    assert_eq!(bench.server.objects(), 0);
    let with = |options: &BucketOptions| {
        Storage::open(bench.folder.path()).unwrap().with_bucket(options, Backend::Bucket).unwrap()
    };

    let missing = BucketOptions { bucket: "elsewhere".to_owned(), ..right.clone() };
    let shown = probe(&missing, "a").await.unwrap_err().explain();
    assert_eq!(shown, "object storage: there is no such bucket: create it, or correct s3.bucket");
    let storage = with(&missing);
    assert_eq!(fault(storage.put(&key(1), bytes(1)).await), BucketFault::Missing);
    assert_eq!(fault(storage.get(&key(1)).await), BucketFault::Missing);
    assert_eq!(fault(storage.delete(&key(1)).await), BucketFault::Missing);
    assert_eq!(fault(storage.usage().await), BucketFault::Missing);

    let wrong = BucketOptions { secret_access_key: "wrong".to_owned(), ..right.clone() };
    assert_eq!(fault(probe(&wrong, "a").await), BucketFault::WrongKey);
    let storage = with(&wrong);
    assert_eq!(fault(storage.put(&key(1), bytes(1)).await), BucketFault::WrongKey);
    assert_eq!(fault(storage.exists(&key(1)).await), BucketFault::Forbidden, "HEAD has no details");

    let away = BucketOptions { endpoint: Some("http://127.0.0.1:1".to_owned()), ..right.clone() };
    assert_eq!(fault(probe(&away, "a").await), BucketFault::Unreachable);
    let secure = options(&right.endpoint.unwrap().replace("http:", "https:"));
    assert_eq!(fault(probe(&secure, "a").await), BucketFault::Tls);
    assert_eq!(bench.server.objects(), 0);
}

/// A connection to `endpoint` that breaks after `most` bytes of requests, for ever.
async fn breaking(endpoint: &str, most: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, endpoint) = (listener.local_addr().unwrap(), endpoint.strip_prefix("http://").unwrap().to_owned());
    let (passed, broken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    tokio::spawn(async move {
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let (passed, broken, endpoint) = (Arc::clone(&passed), Arc::clone(&broken), endpoint.clone());
            tokio::spawn(async move {
                if broken.load(Ordering::Relaxed) {
                    return;
                }
                let server = TcpStream::connect(endpoint).await.unwrap();
                let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                let responses = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
                    if passed.fetch_add(read, Ordering::Relaxed) + read > most {
                        broken.store(true, Ordering::Relaxed);
                        break;
                    }
                    if to_server.write_all(&buffer[..read]).await.is_err() {
                        break;
                    }
                }
                responses.abort();
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn broken_connection_leaves_nothing_half_stored() {
    let bench = Bench::new(Backend::Bucket);
    for (length, most) in [(1 << 20, 500_000), (20 << 20, 12 << 20)] {
        let endpoint = breaking(&bench.server.endpoint, most).await;
        let storage = Storage::open(bench.folder.path()).unwrap();
        let storage = storage.with_bucket(&options(&endpoint), Backend::Bucket).unwrap();
        let scratch = storage.scratch().unwrap();
        let path = scratch.path().join("film");
        std::fs::write(&path, bytes(length)).unwrap();
        let found = fault(storage.adopt(&key(1), &path).await);
        assert!([BucketFault::Interrupted, BucketFault::Unreachable].contains(&found), "{found:?}");
        assert!(path.exists(), "the file can be stored again");
        assert_eq!((bench.server.objects(), bench.count().await), (0, (0, 0)));

        bench.storage.adopt(&key(1), &path).await.unwrap();
        assert_eq!(bench.storage.length(&key(1)).await.unwrap(), length as u64);
        bench.storage.delete(&key(1)).await.unwrap();
    }
}
