//! `rookery plugin keygen` and `sign`, and the signature that `pack` writes: an author's key identifies the author.
//!
//! The files have the format of minisign, so its own tool can create the keys and the signatures as well. The comment
//! of each signature contains the public key, from which a server learns it on first use.

#![expect(
    clippy::disallowed_methods,
    reason = "an author's environment says which key is theirs, and the clock on the wall when they signed"
)]

use std::env;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use config::{SIGNING_KEY_VARIABLE, SIGNING_PASSWORD_VARIABLE};
use crypto::Secret;
use crypto::signing::{self, SigningError};
use plugin_package::package::{Origin, read_bounded, unpack};
use plugins::install::fetch::beside;
use terminal::{Failure, Output};

/// Makes a key pair: `NAME.key`, which only its owner may read, and `NAME.pub`.
pub(crate) fn generate(name: &Path, output: Output) -> Result<(), Failure> {
    let [secret, public] = ["key", "pub"].map(|ending| with_ending(name, ending));
    let keys = signing::generate().map_err(Failure::new)?;
    create(&secret, keys.secret.expose(), 0o600)?;
    create(&public, &keys.public, 0o644)?;
    let key = crypto::signature::PublicKey::parse(&keys.public).map_err(Failure::new)?;
    let answer = json!({ "secret": secret, "public": public, "key": key.as_str(), "key_id": key.id() });
    output.respond(&answer, || {
        let (secret, public) = (secret.display(), public.display());
        format!(
            "{secret} is the secret key: keep a private copy, since it allows publishing in your name.\n{public} is the public one, {}: publish it where admins can compare it.\n\
             `rookery plugin pack --key {secret}` signs with it.\n",
            key.as_str()
        )
    })
}

fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut name = name.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// A new file: another key is never overwritten.
fn create(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Signs packages that were packed before.
pub(crate) fn run(files: &[PathBuf], key: Option<&Path>, output: Output) -> Result<(), Failure> {
    let key = key_file(key)
        .ok_or_else(|| Failure::usage(format!("name the secret key by --key, or by {SIGNING_KEY_VARIABLE}")))?;
    let mut signed = Vec::new();
    for file in files {
        let bytes = read_bounded(file).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        unpack(&bytes, Origin::File(file.clone())).map_err(Failure::new)?;
        signed.push(sign(file, &bytes, &key)?);
    }
    output.respond(&signed, || signed.iter().map(words).collect::<Vec<_>>().join("\n"))
}

/// The file of the secret key: the named one, else the file in the environment.
pub(crate) fn key_file(named: Option<&Path>) -> Option<PathBuf> {
    let variable = || env::var_os(SIGNING_KEY_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.map(Path::to_owned).or_else(variable)
}

/// Writes the signature of the package at `path`, which is `bytes`, beside it; says by which key.
pub(crate) fn sign(path: &Path, bytes: &[u8], key: &Path) -> Result<Value, Failure> {
    let failed = |error: SigningError| Failure::new(format!("{}: {error}", key.display()));
    let secret = std::fs::read_to_string(key).map_err(|error| Failure::new(format!("{}: {error}", key.display())))?;
    let (secret, name) = (Secret::from(secret), path.file_name().unwrap_or_default().to_string_lossy());
    // As minisign's own tool writes it.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Failure::new)?.as_secs();
    let comment = format!("timestamp:{now}\tfile:{name}");
    let password = env::var(SIGNING_PASSWORD_VARIABLE).ok().map(Secret::from);
    let signed = signing::sign(&secret, password.as_ref(), bytes, &comment);
    if signed.as_ref().is_err_and(|error| *error == SigningError::NoPassword) {
        let key = key.display();
        return Err(Failure::usage(format!(
            "{key} is encrypted: {SIGNING_PASSWORD_VARIABLE} may hold its password, or minisign sign"
        )));
    }
    let (signature, public) = signed.map_err(failed)?;
    let target = beside(path);
    let partial = target.with_file_name(format!(".{name}.signature"));
    std::fs::write(&partial, signature.as_str())
        .and_then(|()| std::fs::rename(&partial, &target))
        .map_err(Failure::new)?;
    Ok(json!({ "signature": shown(&target), "key": public.as_str(), "key_id": public.id() }))
}

/// A path for messages: relative to the working directory.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

pub(crate) fn words(signed: &Value) -> String {
    let text = |key: &str| signed[key].as_str().unwrap_or_default().to_owned();
    format!("{}: signed with the key {}", text("signature"), text("key_id"))
}
