//! Cryptography for tokens, passwords and keys: the only crate that generates, derives, hashes, encrypts and compares
//! secrets.
//!
//! Random bytes, digests and ciphers come from aws-lc, password hashing (argon2id, RFC 9106) from RustCrypto. Nothing
//! here is ever logged; [`Secret`]s print as stars.

pub mod key_pair;
pub mod multikey;
pub mod push;
pub mod rsa;
pub mod signature;
#[cfg(feature = "signing")]
pub mod signing;

use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Argon2, PasswordHash};
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::sync::Semaphore;

/// A failure of a cipher, a password hash or the thread that computes it: a bug, or a fault of the machine.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    fn internal(cause: impl fmt::Display) -> Self {
        Self(cause.to_string())
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A token, code or password in plain text; `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `bytes` random bytes as base64url text.
#[must_use]
pub fn random_text(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    fill_random(&mut buffer);
    URL_SAFE_NO_PAD.encode(buffer)
}

/// Random bytes of an id: 96 bits do not collide during the lifetime of a log.
const ID_BYTES: usize = 12;
/// Random bytes drawn in one batch: 64 ids.
const POOL_BYTES: usize = 64 * ID_BYTES;

/// Unpredictable ids, cheap because their random bytes are drawn in batches.
///
/// Not for secrets, since the random bytes stay in memory until they are used.
pub struct RandomIds(Mutex<Pool>);

struct Pool {
    bytes: [u8; POOL_BYTES],
    used: usize,
}

impl RandomIds {
    /// The next id: 12 random bytes as 16 characters of base64url.
    #[must_use]
    pub fn draw(&self) -> [u8; 16] {
        let Pool { bytes, used } = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *used == POOL_BYTES {
            fill_random(bytes);
            *used = 0;
        }
        let mut id = [0; 16];
        let encoded = URL_SAFE_NO_PAD.encode_slice(&bytes[*used..*used + ID_BYTES], &mut id);
        encoded.expect("12 bytes are 16 letters of base64");
        *used += ID_BYTES;
        id
    }
}

impl Default for RandomIds {
    fn default() -> Self {
        Self(Mutex::new(Pool { bytes: [0; POOL_BYTES], used: POOL_BYTES }))
    }
}

impl fmt::Debug for RandomIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomIds(***)")
    }
}

/// Fills `buffer` with random bytes of the operating system. The generator of `aws-lc` is not used: it measures the
/// jitter of the processor before its first byte, which took a seventh of the server's start time.
pub fn fill_random(buffer: &mut [u8]) {
    getrandom::fill(buffer).expect("the operating system gives random bytes");
}

/// The hash under which a random secret is stored: SHA-256, base64url. For passwords see [`hash_password`].
#[must_use]
pub fn hash(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, secret.as_bytes()))
}

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// SHA-256 of `bytes`.
#[must_use]
pub fn digest_sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    out
}

/// SHA-512 of `bytes`.
#[must_use]
pub fn digest_sha512(bytes: &[u8]) -> [u8; 64] {
    let mut out = [0; 64];
    out.copy_from_slice(digest::digest(&digest::SHA512, bytes).as_ref());
    out
}

/// `bytes` in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
}

/// Tags texts for one purpose with HMAC-SHA256, truncated to 128 bits: they cannot be guessed without the secret.
#[derive(Clone)]
pub struct Tags(hmac::Key);

impl fmt::Debug for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tags(***)")
    }
}

impl Tags {
    /// The tag of `parts`, which have no zero bytes: 22 characters of base64url; always the same for the same secret.
    #[must_use]
    pub fn of(&self, parts: &[&str]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(part.as_bytes());
            context.update(&[0]);
        }
        URL_SAFE_NO_PAD.encode(&context.sign().as_ref()[..16])
    }
}

/// Derives keys and tokens from the server's secret, with HMAC-SHA256.
pub struct Keys {
    key: hmac::Key,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(***)")
    }
}

impl Keys {
    #[must_use]
    pub fn new(secret: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// A token derived from `purpose` and `input`, base64url; always the same for the same secret.
    #[must_use]
    pub fn derive(&self, purpose: &str, input: &str) -> Secret {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(purpose.as_bytes());
        context.update(&[0]);
        context.update(input.as_bytes());
        Secret(URL_SAFE_NO_PAD.encode(context.sign()))
    }

    /// A 32-byte key derived from `purpose`; always the same for the same secret.
    #[must_use]
    pub fn bytes(&self, purpose: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hmac::sign(&self.key, purpose.as_bytes()).as_ref());
        bytes
    }

    /// Makes tags for `purpose`.
    #[must_use]
    pub fn tags(&self, purpose: &str) -> Tags {
        Tags(hmac::Key::new(hmac::HMAC_SHA256, &self.bytes(purpose)))
    }

    /// Encrypts `secret` with AES-256-GCM (RFC 5116): a random nonce and the ciphertext, base64url.
    ///
    /// `purpose` selects the key; `place` is the associated data, so that a value sealed for one place cannot be opened
    /// at another.
    pub fn seal(&self, purpose: &str, place: &str, secret: &Secret) -> Result<String> {
        let mut text = secret.expose().as_bytes().to_vec();
        let key = RandomizedNonceKey::new(&AES_256_GCM, &self.bytes(purpose)).map_err(Error::internal)?;
        let nonce = key.seal_in_place_append_tag(Aad::from(place), &mut text).map_err(Error::internal)?;
        Ok(URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &text].concat()))
    }

    /// Decrypts a value from [`Keys::seal`]; `None` when the key, `purpose`, `place` or the value does not match.
    #[must_use]
    pub fn open(&self, purpose: &str, place: &str, sealed: &str) -> Option<Secret> {
        let mut sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let key = RandomizedNonceKey::new(&AES_256_GCM, &self.bytes(purpose)).ok()?;
        let text = key.open_in_place(nonce, Aad::from(place), text).ok()?;
        String::from_utf8(text.to_vec()).ok().map(Secret)
    }

    /// True when `text` equals the result of [`Keys::derive`], compared in constant time.
    #[must_use]
    pub fn verify(&self, purpose: &str, input: &str, text: &str) -> bool {
        let expected = self.derive(purpose, input);
        aws_lc_rs::constant_time::verify_slices_are_equal(expected.expose().as_bytes(), text.as_bytes()).is_ok()
    }
}

/// True when both are equal, compared in constant time.
#[must_use]
pub fn same(a: &str, b: &str) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(a.as_bytes(), b.as_bytes()).is_ok()
}

/// The argon2id hash of a password, with the parameters recommended by OWASP (19 MiB, 2 passes). Takes some 30 ms of
/// CPU time, on a blocking thread; concurrent computations are limited to the number of cores.
pub async fn hash_password(password: Secret) -> Result<String> {
    let hash = move || {
        let mut salt = [0; 16];
        fill_random(&mut salt);
        let salt = SaltString::encode_b64(&salt).map_err(Error::internal)?;
        Argon2::default()
            .hash_password(password.expose().as_bytes(), &salt)
            .map(|hash| hash.to_string())
            .map_err(Error::internal)
    };
    PASSWORD_SLOTS.run(hash).await?
}

/// True when `password` has this `hash`. Without a hash it takes the same time, so that the duration does not reveal
/// which accounts exist (user enumeration).
pub async fn verify_password(password: Secret, hash: Option<String>) -> Result<bool> {
    /// A dummy hash without a known password.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$8oX9iO1hv7cQyZ9qVJQv0Ryk4wEUvZsHwgMyPAlf3Yw";
    let verify = move || {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| NOBODY.to_owned());
        let Ok(parsed) = PasswordHash::new(&hash) else { return false };
        Argon2::default().verify_password(password.expose().as_bytes(), &parsed).is_ok() && known
    };
    PASSWORD_SLOTS.run(verify).await
}

/// Concurrent password hashes: one for each core of this machine, regardless of the number of requests.
static PASSWORD_SLOTS: LazyLock<Slots> =
    LazyLock::new(|| Slots::new(std::thread::available_parallelism().map_or(1, usize::from)));

/// Limits concurrent computations; further ones wait in order.
struct Slots(Arc<Semaphore>);

impl Slots {
    fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count)))
    }

    /// Runs `work` on a blocking thread. Its slot is held until it ends, even if the caller is dropped.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let place = Arc::clone(&self.0).acquire_owned().await.map_err(Error::internal)?;
        let work = move || {
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_ids_differ_beyond_one_pool() {
        let pool = RandomIds::default();
        let ids: std::collections::HashSet<_> = (0..200).map(|_| pool.draw()).collect();
        assert_eq!(ids.len(), 200);
        assert!(ids.iter().flatten().all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(letter)));
    }

    #[tokio::test]
    async fn password_is_verified_by_its_hash() {
        let hash = hash_password(Secret("correct horse".to_owned())).await.expect("hashes");
        assert!(hash.starts_with("$argon2id$"));
        assert!(verify_password(Secret("correct horse".to_owned()), Some(hash.clone())).await.expect("runs"));
        assert!(!verify_password(Secret("wrong".to_owned()), Some(hash)).await.expect("runs"));
        assert!(!verify_password(Secret("x".to_owned()), None).await.expect("runs"));
    }

    #[tokio::test]
    async fn concurrent_computations_are_limited_to_the_slots() {
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        use std::time::Duration;

        let (slots, running, most) = (Slots::new(2), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let work = || {
            let (running, most, gate) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&gate));
            slots.run(move || {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                // Blocks until released.
                gate.lock().unwrap().recv().unwrap();
                running.fetch_sub(1, SeqCst);
            })
        };
        // A computation whose caller was dropped keeps its slot until it ends.
        assert!(tokio::time::timeout(Duration::from_millis(1), work()).await.is_err());
        let works = async { tokio::join!(work(), work(), work(), work()) };
        let through = async {
            while running.load(SeqCst) < 2 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            (0..5).for_each(|_| open.send(()).unwrap());
        };
        let ((a, b, c, d), ()) = tokio::join!(works, through);
        assert!([a, b, c, d].iter().all(Result::is_ok));
        assert_eq!(most.load(SeqCst), 2);
    }

    #[test]
    fn sealed_text_opens_only_with_its_key_and_place() {
        let (keys, secret) = (Keys::new(b"one"), Secret("canary".to_owned()));
        let sealed = keys.seal("plugins", "notes API_KEY", &secret).unwrap();
        assert_ne!(sealed, keys.seal("plugins", "notes API_KEY", &secret).unwrap(), "the same looks like another");
        assert_eq!(keys.open("plugins", "notes API_KEY", &sealed), Some(secret));
        assert_eq!(keys.open("plugins", "other API_KEY", &sealed), None);
        assert_eq!(keys.open("others", "notes API_KEY", &sealed), None);
        assert_eq!(Keys::new(b"two").open("plugins", "notes API_KEY", &sealed), None);
        let mut cut = sealed.clone();
        cut.truncate(20);
        for broken in [cut.as_str(), "", "canary", "####"] {
            assert_eq!(keys.open("plugins", "notes API_KEY", broken), None, "{broken:?}");
        }
    }

    #[test]
    fn derived_texts_depend_on_secret_purpose_and_input() {
        let keys = Keys::new(b"one");
        let text = keys.derive("token", "1");
        assert!(keys.verify("token", "1", text.expose()));
        assert!(!keys.verify("csrf", "1", text.expose()));
        assert!(!Keys::new(b"two").verify("token", "1", text.expose()));
    }
}
