//! The configuration that an admin sets before the server starts: a TOML file, environment variables, and defaults.
//!
//! Loaded once, when the program starts: [`from_process`] is the only function that reads the environment. The table
//! of all keys is in [`keys`]; a new key only needs a row there. Settings that change while the server runs are in
//! the database, not here.

mod bucket;
mod fault;
pub mod folder;
mod keys;
mod kinds;
mod load;
mod print;
pub mod secrets;
mod table;
mod value;

use std::{env, path::Path};

pub use bucket::{BucketEncryption, BucketName, ObjectPrefix, StorageBackend};
pub use fault::nearest;
pub use fault::{Fault, Faults, Origin};
pub use keys::*;
pub use kinds::{
    DatabaseUrl, Domain, Engine, Locale, LogFilter, LogFormat, MailTransport, Mailbox, Scheme, Secret, SmtpTls,
    TranslationBackend, WebUrl,
};
use load::Reader;
pub use table::{Key, Section};

/// The prefix of all environment variables that are read.
const PREFIX: &str = "ROOKERY_";

/// The environment variable that names the configuration file.
const PATH_VARIABLE: &str = "ROOKERY_CONFIG";

/// The variable with the path of the secret key file that authors of plugins sign with.
pub const SIGNING_KEY_VARIABLE: &str = "ROOKERY_PLUGIN_KEY";

/// The variable with the password of that key.
pub const SIGNING_PASSWORD_VARIABLE: &str = "ROOKERY_PLUGIN_KEY_PASSWORD";

/// Variables with the same prefix that are not configuration keys.
const OTHER_VARIABLES: [&str; 3] = [PATH_VARIABLE, SIGNING_KEY_VARIABLE, SIGNING_PASSWORD_VARIABLE];

/// The configuration file that is read by default, if it exists.
const DEFAULT_PATH: &str = "rookery.toml";

/// The configuration of this process: from `path`, otherwise from the file in `ROOKERY_CONFIG`, otherwise from
/// `rookery.toml` in the current folder, if it exists; environment variables override the file.
///
/// # Errors
/// All faults, as [`Config::load`].
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn from_process(path: Option<&Path>) -> Result<Config, Faults> {
    let mut environment = Vec::new();
    let mut faults = Vec::new();
    for (name, value) in env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        match value.into_string() {
            Ok(value) => environment.push((name.to_owned(), value)),
            Err(_) => faults.push(Fault { key: name.to_owned(), problem: "is not UTF-8".to_owned(), origin: None }),
        }
    }
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    let named = path.is_some() || environment.iter().any(|(name, _)| name == PATH_VARIABLE);
    let default = Path::new(DEFAULT_PATH);
    let path = if !named && default.exists() { Some(default) } else { path };
    Config::load(path, environment.into_iter())
}

/// The path of this executable, for starting child processes of the same program.
pub fn executable() -> std::io::Result<std::path::PathBuf> {
    env::current_exe()
}

/// The path of a program: a path is used as it is, a name is looked up in PATH. `None` when there is no such file.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn program(named: &Path) -> Option<std::path::PathBuf> {
    if named.components().count() > 1 {
        return named.is_file().then(|| named.to_owned());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(named)).find(|program| program.is_file())
}

impl Config {
    /// Reads the file at `path` (otherwise the file in `ROOKERY_CONFIG` of `environment`, otherwise none), and
    /// overrides it with the variables in `environment` that begin with `ROOKERY_`.
    ///
    /// # Errors
    /// All faults together: a file that cannot be read, unknown keys, values out of range or in conflict.
    pub fn load(path: Option<&Path>, environment: impl Iterator<Item = (String, String)>) -> Result<Self, Faults> {
        let environment: Vec<_> = environment.collect();
        let named = environment.iter().find(|(name, _)| name == PATH_VARIABLE).map(|(_, path)| Path::new(path));
        let mut reader = Reader::default();
        if let Some(path) = path.or(named) {
            reader.add_file(path);
        }
        reader.add_environment(environment.iter().cloned());
        let config = Self::read(&mut reader);
        if let Some(config) = &config {
            config.check_together(&mut reader);
        }
        match (config, reader.into_faults()) {
            (Some(config), faults) if faults.is_empty() => Ok(config),
            (_, faults) => Err(Faults(faults)),
        }
    }

    /// Scheme and host of this server's URLs, without a trailing slash: `https://example.org`.
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.server.scheme.as_str(), self.server.web_domain)
    }

    /// Whether `domain` is one of this server's domains; case-insensitive.
    pub fn is_local_domain(&self, domain: &str) -> bool {
        let server = &self.server;
        [&server.local_domain, &server.web_domain]
            .into_iter()
            .chain(&server.alternate_domains)
            .any(|own| own.as_str().eq_ignore_ascii_case(domain))
    }

    /// True when documents of accounts and statuses are served only for signed requests.
    #[must_use]
    pub fn requires_signed_fetches(&self) -> bool {
        self.access.authorized_fetch || self.access.limited_federation
    }

    /// Warnings about values that are valid but probably a mistake; for `rookery config check` and the log at start.
    pub fn warnings(&self) -> Vec<String> {
        let server = &self.server;
        let mut warnings = Vec::new();
        if server.web_domain.is_local() {
            return warnings;
        }
        if server.scheme == Scheme::Http {
            warnings.push(
                "server.scheme is http: passwords travel in the clear, and apps will refuse to connect".to_owned(),
            );
        }
        if server.scheme == Scheme::Https && server.trusted_proxies.is_empty() {
            warnings.push(
                "server.trusted_proxies is empty: behind a proxy, all clients count as one for rate limits and bans"
                    .to_owned(),
            );
        }
        if server.development {
            warnings.push("server.development is on: sign-in links and codes are printed".to_owned());
        }
        if self.mail.transport != MailTransport::Smtp {
            let transport = self.mail.transport.as_str();
            warnings.push(format!("mail.transport is {transport}: mail is not sent, so addresses cannot be confirmed"));
        }
        if self.mail.smtp_username.is_some() && self.mail.smtp_tls == SmtpTls::None {
            warnings.push("mail.smtp_tls is none: the mail password travels in the clear".to_owned());
        }
        if self.access.limited_federation && self.storage.public_url.is_some() {
            warnings.push(
                "storage.public_url is set: everyone who has the URL of a file may read it, also with \
                 access.limited_federation"
                    .to_owned(),
            );
        }
        warnings
    }

    /// The fault of `web.client_folder`: it is not a folder with an `index.html`. `None` when it is, and without the key.
    ///
    /// Not part of [`Config::load`], since only a server needs the folder.
    pub fn client_folder_fault(&self) -> Option<Fault> {
        let folder = self.web.client_folder.as_deref()?;
        let problem = match std::fs::File::open(folder.join("index.html")).and_then(|file| file.metadata()) {
            Ok(found) if found.is_file() => return None,
            Ok(_) => "index.html in it is not a file".to_owned(),
            Err(_) if !folder.exists() => "the folder does not exist".to_owned(),
            Err(_) if !folder.is_dir() => "it is not a folder".to_owned(),
            Err(error) => format!("it has no index.html that can be read: {error}"),
        };
        let key = "web.client_folder";
        let set = self.effective.iter().find(|effective| effective.path == key);
        Some(Fault {
            key: key.to_owned(),
            problem: format!("{}: {problem}", folder.display()),
            origin: set.map(|set| set.origin.clone()),
        })
    }

    /// Checks rules between keys whose values are valid individually.
    fn check_together(&self, reader: &mut Reader) {
        let mut fault = |key: &str, problem: &str| {
            let set = self.effective.iter().find(|effective| effective.path == key);
            reader.fault(key, problem, set.map(|set| set.origin.clone()));
        };
        let mail = &self.mail;
        if mail.transport == MailTransport::Smtp && mail.smtp_host.is_none() {
            fault("mail.smtp_host", "is empty, and mail.transport is smtp");
        }
        match (&mail.smtp_username, &mail.smtp_password) {
            (Some(_), None) => fault("mail.smtp_password", "is empty, and mail.smtp_username is set"),
            (None, Some(_)) => fault("mail.smtp_username", "is empty, and mail.smtp_password is set"),
            (Some(_), Some(_)) | (None, None) => {}
        }
        if self.translation.backend == TranslationBackend::DeepL && self.translation.api_key.is_none() {
            fault("translation.api_key", "is empty, and translation.backend is deepl");
        }
        if self.metrics.listen.is_some_and(|listen| listen == self.server.listen && listen.port() != 0) {
            fault("metrics.listen", "is the address of server.listen");
        }
        let s3 = &self.s3;
        if self.storage.backend == StorageBackend::S3 && s3.bucket.is_none() {
            fault("s3.bucket", "is empty, and storage.backend is s3");
        }
        if s3.bucket.is_some() {
            if s3.access_key_id.is_none() {
                fault("s3.access_key_id", "is empty, and s3.bucket is set");
            }
            if s3.secret_access_key.is_none() {
                fault("s3.secret_access_key", "is empty, and s3.bucket is set");
            }
        }
        if s3.kms_key_id.is_some() && s3.encryption != BucketEncryption::Kms {
            fault("s3.kms_key_id", "is set, and s3.encryption is not aws:kms");
        }
        for (key, url) in [("s3.endpoint", &s3.endpoint), ("storage.public_url", &self.storage.public_url)] {
            if url.as_ref().is_some_and(|url| url.as_str().contains(['?', '#'])) {
                fault(key, "has a query or a fragment");
            }
        }
    }
}

/// The configuration with all defaults.
impl Default for Config {
    fn default() -> Self {
        Self::load(None, std::iter::empty()).expect("every default is within its bounds")
    }
}

#[cfg(test)]
mod tests;
