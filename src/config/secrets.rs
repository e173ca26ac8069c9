//! The server's secret key: from the configuration, otherwise generated once and stored in a file.
//!
//! Reached when the server or a signing command starts. Several processes may start at the same time on an empty
//! folder, and any of them may be killed: all surviving processes use the key in the file.

use std::{
    ffi::OsStr,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::folder::{self, TrustedFolder};
use super::{Config, kinds::Secret};

/// The name of the file in `storage.data_dir`.
const FILE_NAME: &str = "secret.key";

/// The minimum length of a key, in bytes of text.
const MIN_BYTES: usize = 32;

/// Why the secret key could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file, or its folder, cannot be read or written.
    #[error("the secret key in {} cannot be read or made: {}", .0.display(), .1)]
    File(PathBuf, #[source] io::Error),
    /// The file is damaged: shorter than any key of this server.
    #[error("the secret key in {} has less than {MIN_BYTES} bytes; restore it from a backup", .0.display())]
    TooShort(PathBuf),
    /// The file is accessible to every user of the machine.
    #[error("the secret key in {} can be read by everyone; run: chmod 600 {}", .0.display(), .0.display())]
    Exposed(PathBuf),
    /// The operating system returned no random bytes.
    #[error("random bytes for a secret key: {0}")]
    Random(getrandom::Error),
}

/// `secrets.key`, otherwise the key in `secret.key` in `storage.data_dir`, which is created when missing.
///
/// # Errors
/// When the file cannot be created or read, is too short, or is accessible to everyone.
pub fn load_or_create(config: &Config) -> Result<Secret, Error> {
    if let Some(key) = &config.secrets.key {
        return Ok(key.clone());
    }
    in_folder(&config.storage.data_dir)
}

/// Where the file of the secret key is missing; `None` when there is a key.
#[must_use]
pub fn missing(config: &Config) -> Option<PathBuf> {
    let path = config.storage.data_dir.join(FILE_NAME);
    (config.secrets.key.is_none() && !path.exists()).then_some(path)
}

/// The key in `secret.key` in `folder`, which is created when missing.
///
/// # Errors
/// When the file cannot be created or read, is too short, or is accessible to everyone.
pub fn in_folder(folder: &Path) -> Result<Secret, Error> {
    let path = folder.join(FILE_NAME);
    let failed = |error| Error::File(path.clone(), error);
    match read(folder) {
        Ok(text) => checked(&path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = random_text()?;
            let unfinished = path.with_extension(format!("key.{}", &random_text()?[..16]));
            create(&path, &unfinished, &text).map_err(failed)?;
            // Read back, since another process may have created it first.
            checked(&path, &read(folder).map_err(failed)?)
        }
        Err(error) => Err(failed(error)),
    }
}

fn read(folder: &Path) -> io::Result<String> {
    let bytes = TrustedFolder::open(folder)?.read(OsStr::new(FILE_NAME))?;
    let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

fn checked(path: &Path, text: &str) -> Result<Secret, Error> {
    let mode = fs::metadata(path).map_err(|error| Error::File(path.to_owned(), error))?.permissions().mode();
    if mode & 0o007 != 0 {
        return Err(Error::Exposed(path.to_owned()));
    }
    let key = text.trim_end();
    if key.len() < MIN_BYTES {
        return Err(Error::TooShort(path.to_owned()));
    }
    Ok(Secret::new(key.to_owned()))
}

/// 32 random bytes in hexadecimal.
fn random_text() -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
}

/// Creates the file atomically, unless it exists: writes it as `unfinished`, a unique name, then links it to `path`.
fn create(path: &Path, unfinished: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        folder::make_private(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(unfinished)?;
    file.write_all(format!("{text}\n").as_bytes())?;
    file.sync_all()?;
    // A link, unlike a rename, does not replace the key that another process has created meanwhile.
    let linked = fs::hard_link(unfinished, path);
    fs::remove_file(unfinished)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_in(folder: &Path) -> Config {
        let mut config = Config::default();
        config.storage.data_dir = folder.join("data");
        config
    }

    #[test]
    fn key_is_made_once_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = config_in(folder.path());

        let made = load_or_create(&config).expect("a key");
        let again = load_or_create(&config).expect("the key");

        assert_eq!(made, again);
        assert_eq!(made.expose().len(), 64);
        let folder = fs::read_dir(&config.storage.data_dir).expect("the folder");
        let modes: Vec<_> =
            folder.flatten().map(|file| file.metadata().expect("metadata").permissions().mode()).collect();
        assert_eq!(modes, [0o100_600], "one file, for its owner alone");
    }

    #[test]
    fn configured_key_goes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = config_in(folder.path());
        config.secrets.key = Some(Secret::new("0123456789abcdef0123456789abcdef".to_owned()));

        let key = load_or_create(&config).expect("the key");

        assert_eq!(key.expose(), "0123456789abcdef0123456789abcdef");
        assert!(!config.storage.data_dir.exists());
    }

    #[test]
    fn key_made_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE_NAME);
        create(&path, &folder.path().join("a"), "first").expect("created");
        create(&path, &folder.path().join("b"), "second").expect("left alone");
        assert_eq!(fs::read_to_string(&path).expect("text"), "first\n");
    }

    #[test]
    fn damaged_or_exposed_key_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = config_in(folder.path());
        let path = config.storage.data_dir.join(FILE_NAME);

        create(&path, &folder.path().join("a"), "short").expect("created");
        let error = load_or_create(&config).expect_err("too short").to_string();
        assert!(error.ends_with("has less than 32 bytes; restore it from a backup"), "{error}");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("permissions");
        let error = load_or_create(&config).expect_err("exposed").to_string();
        assert!(error.contains("can be read by everyone; run: chmod 600 "), "{error}");
    }
}
