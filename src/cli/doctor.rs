//! `rookery doctor`: checks everything that a server needs, and prints each fault and its remedy.
//!
//! Works while the server runs, and changes nothing but short-lived test files in the data and media folders.

#[cfg(feature = "plugins")]
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde::Serialize;

use config::{Config, MailTransport, StorageBackend, secrets};
use context::cx::db_options;
use context::node;
use crypto::Keys;
use database::Db;
use model::clock::{Clock, Ids};
use service::signing_key;
use terminal::{Failure, Output};

/// Free disk space below which a server is about to stop working.
const ROOM_BYTES: u64 = 1024 * 1024 * 1024;

/// The number of accounts whose signing keys are checked, oldest first: keys from before a change of the secret key are
/// the oldest.
const LOOKED_AT: i64 = 500;

/// Unix time at which this was written: a clock that is earlier is wrong.
const WRITTEN: i64 = 1_795_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    says: String,
}

impl Check {
    fn good(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, state: State::Good, says: says.into() }
    }
    fn warning(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, state: State::Warning, says: says.into() }
    }
    fn bad(name: &'static str, says: impl Into<String>) -> Self {
        Self { name, state: State::Bad, says: says.into() }
    }
}

/// Runs every check; fails when one is bad.
pub(super) async fn run(config: &Config, output: Output) -> Result<(), Failure> {
    let mut checks = vec![configuration(config)];
    checks.push(folder("data folder", &config.storage.data_dir));
    checks.push(folder("media folder", &config.storage.media_dir));
    checks.push(room(&config.storage.data_dir));
    checks.push(secret_key(config));
    checks.extend(object_storage(config).await);
    checks.extend(client_folder(config));
    checks.push(clock());
    checks.push(mail(config));
    checks.push(video(config).await);
    checks.extend(database(config).await);
    output.respond(&checks, || checks.iter().fold(String::new(), line))?;
    let bad = checks.iter().filter(|check| check.state == State::Bad).count();
    if bad == 0 { Ok(()) } else { Err(Failure::new(format!("{bad} checks failed"))) }
}

fn line(mut text: String, check: &Check) -> String {
    let mark = match check.state {
        State::Good => "good   ",
        State::Warning => "warning",
        State::Bad => "BAD    ",
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{mark}  {:<14} {}", check.name, check.says);
    text
}

/// Errors were reported when the configuration was read, so only warnings are left.
fn configuration(config: &Config) -> Check {
    match config.warnings() {
        warnings if warnings.is_empty() => Check::good("configuration", config.base_url()),
        warnings => Check::warning("configuration", warnings.join("; ")),
    }
}

fn folder(name: &'static str, path: &Path) -> Check {
    let shown = path.display();
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::warning(name, format!("{shown} is not there; the first start makes it"))
        }
        Err(error) => Check::bad(name, format!("{shown}: {error}")),
        Ok(found) if !found.is_dir() => Check::bad(name, format!("{shown} is no folder")),
        Ok(_) => match tempfile(path) {
            Ok(()) => Check::good(name, shown.to_string()),
            Err(error) => Check::bad(name, format!("{shown} cannot be written to: {error}")),
        },
    }
}

/// Writes a file and removes it: permissions alone do not tell whether the disk is writable.
fn tempfile(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".doctor-{}", crypto::random_text(9)));
    fs::write(&file, b"x")?;
    fs::remove_file(&file)
}

fn room(folder: &Path) -> Check {
    let existing = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    match rustix::fs::statvfs(existing) {
        Err(error) => Check::warning("disk", format!("unknown: {error}")),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let says = format!("{} MiB free", free / (1024 * 1024));
            if free < ROOM_BYTES { Check::bad("disk", says) } else { Check::good("disk", says) }
        }
    }
}

fn secret_key(config: &Config) -> Check {
    let name = "secret key";
    if config.secrets.key.is_some() {
        return Check::good(name, "from the configuration");
    }
    let path = config.storage.data_dir.join("secret.key");
    if !path.exists() {
        return Check::warning(name, "not made yet; the first start makes it, unless the database has data");
    }
    match secrets::load_or_create(config) {
        Err(error) => Check::bad(name, error.to_string()),
        Ok(_) => match fs::metadata(&path).map(|found| found.permissions().mode() & 0o777) {
            Ok(mode) if mode & 0o077 != 0 => {
                Check::warning(name, format!("others may read {} (mode {mode:o})", path.display()))
            }
            _ => Check::good(name, "keep a copy of it with the backups"),
        },
    }
}

/// Whether the bucket can be used. `None` when there is none in the configuration.
async fn object_storage(config: &Config) -> Option<Check> {
    let name = "object storage";
    // The names of withheld files depend on the secret key; the probe does not.
    let options = context::cx::bucket(config, &Keys::new(b""))?;
    let bucket = &options.bucket;
    Some(match media::storage::probe(&options, &crypto::random_text(9)).await {
        Ok(()) if config.storage.backend == StorageBackend::Local => {
            Check::good(name, format!("{bucket}; new files are in the media folder (storage.backend)"))
        }
        Ok(()) => Check::good(name, bucket),
        Err(error) => Check::bad(name, format!("{bucket}: {}", error.explain())),
    })
}

/// Whether the folder of another web client has one. `None` without the key.
fn client_folder(config: &Config) -> Option<Check> {
    let (name, folder) = ("client folder", config.web.client_folder.as_ref()?);
    Some(match config.client_folder_fault() {
        Some(fault) => Check::bad(name, fault.to_string()),
        None => Check::good(name, folder.display().to_string()),
    })
}

fn clock() -> Check {
    let now = Clock::system().now();
    if now.timestamp() < WRITTEN {
        return Check::bad("clock", format!("{} is in the past", now.to_api_seconds()));
    }
    Check::good("clock", now.to_api_seconds())
}

fn mail(config: &Config) -> Check {
    let mail = &config.mail;
    match mail.transport {
        MailTransport::None => Check::warning("mail", "discarded: users cannot confirm their addresses"),
        MailTransport::Directory => Check::warning("mail", format!("written to {}", mail.directory.display())),
        MailTransport::Smtp => {
            let host = mail.smtp_host.as_deref().unwrap_or_default();
            Check::good("mail", format!("{host}:{} ({})", mail.smtp_port, mail.smtp_tls.as_str()))
        }
    }
}

async fn video(config: &Config) -> Check {
    let name = "video";
    let executable = match config::executable() {
        Ok(executable) => executable,
        Err(error) => return Check::bad(name, format!("this program's own path is unknown: {error}")),
    };
    match context::cx::converter(config, &executable).report().await {
        Ok(programs) if programs.iter().any(|line| line.contains("lacks")) => Check::bad(name, programs.join("; ")),
        Ok(programs) => Check::good(name, programs.join("; ")),
        Err(media::Error::NoConverter) => Check::warning(
            name,
            "video and audio are refused: install ffmpeg, or name it in media.ffmpeg and media.ffprobe",
        ),
        Err(error) => Check::bad(name, format!("ffmpeg or ffprobe cannot be run: {error:?}")),
    }
}

async fn database(config: &Config) -> Vec<Check> {
    if let Some(file) = database::missing_file(config.database.url.expose()) {
        return vec![Check::warning("database", format!("none yet at {}; the first start makes it", file.display()))];
    }
    let db = match Db::open(&db_options(config)).await {
        Ok(db) => db,
        Err(error) => return vec![Check::bad("database", format!("{}: {error}", config.database.url))],
    };
    let mut checks = vec![Check::good("database", config.database.url.to_string())];
    match database::migrate::pending(&db).await {
        Err(error @ database::Error::Unreleased) => checks.push(Check::bad("schema", error.to_string())),
        Err(_) => checks.push(Check::warning("schema", "none yet; the first start makes it")),
        Ok(pending) if !pending.is_empty() => {
            checks.push(Check::warning(
                "schema",
                format!("{} migrations have not run; the next start does it", pending.len()),
            ));
        }
        Ok(_) => {
            checks.push(Check::good("schema", "up to date"));
            checks.push(owner(&db).await);
            checks.push(jobs(&db).await);
            checks.extend(nodes(config, &db).await);
            checks.extend(newest(&db).await);
            #[cfg(feature = "plugins")]
            checks.extend(plugins(config, &db).await);
            checks.extend(signing_keys(config, &db).await);
        }
    }
    db.close().await;
    checks
}

/// Whether the secret key is the one that the signing keys of accounts are encrypted with. `None` while there is none.
async fn signing_keys(config: &Config, db: &Db) -> Option<Check> {
    let name = "signing keys";
    let made = config.secrets.key.is_some() || config.storage.data_dir.join("secret.key").exists();
    let secret = made.then(|| secrets::load_or_create(config).ok()).flatten()?;
    let keys = Keys::new(secret.expose().as_bytes());
    Some(match signing_key::count_lost(db, &keys, LOOKED_AT).await {
        Err(error) => Check::bad(name, error.to_string()),
        Ok(0) => Check::good(name, "of this secret key"),
        Ok(lost) => Check::bad(
            name,
            format!(
                "the keys of {lost} among the {LOOKED_AT} oldest accounts were encrypted with another secret key: restore it; \
                 if it is lost, `rookery user renew-keys` and `rookery push reset` generate new keys"
            ),
        ),
    })
}

/// Whether several servers with this database have a folder of media each. `None` when they do not.
async fn nodes(config: &Config, db: &Db) -> Option<Check> {
    let name = "nodes";
    if config.storage.backend == StorageBackend::S3 {
        return None;
    }
    match context::node::count_processes(db, Clock::system().now()).await {
        Err(error) => Some(Check::bad(name, error.to_string())),
        Ok(0 | 1) => None,
        Ok(nodes) => Some(Check::warning(
            name,
            format!(
                "{nodes} processes (servers, or commands that run) use this database, and files are in a local folder: each server has only the media \
                 that it stored itself, unless storage.media_dir is one shared folder. Use object storage: \
                 storage.backend = \"s3\""
            ),
        )),
    }
}

/// Whether the clock was set back: `None` when it was not.
async fn newest(db: &Db) -> Option<Check> {
    let name = "clock";
    match store::node::highest_id(db).await {
        Err(error) => Some(Check::bad(name, error.to_string())),
        Ok(newest) => node::set_back(Ids::new(Clock::system(), 0, newest).ahead()).map(|says| Check::bad(name, says)),
    }
}

/// Whether there is a package of every enabled plugin. `None` when the platform is off.
#[cfg(feature = "plugins")]
async fn plugins(config: &Config, db: &Db) -> Option<Check> {
    use plugin_package::package;
    let name = "plugins";
    if !config.plugins.enabled {
        return None;
    }
    let wanted = match store::plugin::list(db).await {
        Err(error) => return Some(Check::bad(name, error.to_string())),
        Ok(installed) => installed.into_iter().filter(|plugin| plugin.enabled),
    };
    let folder = package::find(&config.plugins.dir).unwrap_or_default();
    let read = folder.iter().filter_map(|found| package::read(&found.path).ok());
    let mut there: HashSet<String> = read.map(|package| package.name().to_owned()).collect();
    there.extend(package::embedded().into_iter().map(|(name, _)| name.to_owned()));
    let copies = config.plugins.cache_dir.join("packages");
    let is_kept = |plugin: &store::plugin::Plugin| {
        plugin.sha256.as_ref().is_some_and(|digest| package::kept_digests(&copies, &plugin.name).contains(digest))
    };
    let wanted: Vec<_> = wanted.collect();
    let missing = wanted.iter().filter(|plugin| !there.contains(&plugin.name) && !is_kept(plugin));
    let missing: Vec<&str> = missing.map(|plugin| plugin.name.as_str()).collect();
    Some(match missing.as_slice() {
        [] => Check::good(name, format!("{} enabled, each with its package", wanted.len())),
        missing => Check::bad(
            name,
            format!(
                "there is no package of {}: restore the folder {}, or install or disable them",
                missing.join(", "),
                config.plugins.dir.display()
            ),
        ),
    })
}

async fn owner(db: &Db) -> Check {
    let name = "owner";
    match service::ownership::exists(db).await {
        Err(error) => Check::bad(name, error.to_string()),
        Ok(true) => Check::good(name, "can sign in"),
        Ok(false) => Check::warning(
            name,
            "none who can sign in: open the link that the server prints when it starts, or run `rookery user set-role NAME Owner`",
        ),
    }
}

async fn jobs(db: &Db) -> Check {
    match store::job::counts(db).await {
        Err(error) => Check::bad("jobs", error.to_string()),
        Ok(counts) => {
            let of = |wanted: &str| {
                counts.iter().filter(|(_, state, _)| state == wanted).map(|(.., jobs)| jobs).sum::<i64>()
            };
            let says = format!("{} wait, {} run, {} were given up", of("ready"), of("running"), of("dead"));
            if of("dead") == 0 { Check::good("jobs", says) } else { Check::warning("jobs", says) }
        }
    }
}
