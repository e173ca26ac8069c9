//! Rookery's own types of configuration values: domains, the database URL, secrets and enumerations.
//!
//! Each is validated when it is parsed, so that code that uses the value need not check it again.

use std::{
    fmt::{self, Write as _},
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use super::value::{Bounds, Setting, Text, Value, absolute};

/// A host name with an optional port, in lower case: `example.org`, `localhost:3000`.
///
/// International names are in Punycode (`xn--…`), as in every protocol message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain(String);

impl Domain {
    /// Host and port, as written in URLs and account addresses.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host without the port.
    pub fn host(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(host, _)| host)
    }

    /// Whether the name always refers to this machine (loopback).
    pub fn is_local(&self) -> bool {
        let host = self.host();
        host == "localhost" || host.ends_with(".localhost") || host.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback())
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Text for Domain {
    const EXPECTED: &'static str =
        "a domain such as example.org or localhost:3000 (no scheme, no path, international names as xn--…)";

    fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        };
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let host_fits = host.len() <= 253 && host.split('.').all(label);
        let port_fits = port.is_none_or(|port| {
            port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse().is_ok_and(|port: u16| port > 0)
        });
        (host_fits && port_fits).then(|| Self(text.to_ascii_lowercase()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// Which database engine a [`DatabaseUrl`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file on this machine.
    Sqlite,
    /// A database server, perhaps shared with other nodes.
    Postgres,
}

/// The URL of the database. `Display` and `Debug` leave the password out; [`expose`](Self::expose) does not.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    const SQLITE: &'static str = "sqlite:";
    const POSTGRES: [&'static str; 2] = ["postgres://", "postgresql://"];

    /// The URL of an `SQLite` database file, with the path percent-encoded where a URL needs it.
    pub fn sqlite_file(path: &Path) -> Self {
        let mut url = String::from("sqlite://");
        for character in path.to_string_lossy().chars() {
            match character {
                '%' | '?' | '#' | ' ' => {
                    // Writing to a String cannot fail.
                    let _ = write!(url, "%{:02X}", u32::from(character));
                }
                _ => url.push(character),
            }
        }
        Self(url)
    }

    /// The whole URL, password included: for opening the database, never for display.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The engine, from the URL's scheme.
    pub fn engine(&self) -> Engine {
        if self.0.starts_with(Self::SQLITE) { Engine::Sqlite } else { Engine::Postgres }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.engine() == Engine::Sqlite {
            return f.write_str(&self.0);
        }
        // The query may contain a password too, so it is left out.
        let url = self.0.split_once('?').map_or(self.0.as_str(), |(url, _)| url);
        let Some((scheme, rest)) = url.split_once("://") else {
            return f.write_str(REDACTED);
        };
        match rest.rsplit_once('@') {
            Some((credentials, place)) => {
                let name = credentials.split_once(':').map_or(credentials, |(name, _)| name);
                write!(f, "{scheme}://{name}:{REDACTED}@{place}")
            }
            None => write!(f, "{scheme}://{rest}"),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

impl Setting for DatabaseUrl {
    const SECRET: bool = true;

    fn expected(_: Bounds) -> String {
        "a URL such as sqlite://data/rookery.db or postgres://name:password@host/database".to_owned()
    }

    fn read(value: &Value, _: Bounds) -> Option<Self> {
        let text = value.as_text()?;
        let rest = [Self::SQLITE].into_iter().chain(Self::POSTGRES).find_map(|scheme| text.strip_prefix(scheme))?;
        let fits = !rest.trim_start_matches('/').is_empty() && !text.contains(char::is_control);
        fits.then(|| Self(text.to_owned()))
    }

    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }

    fn redacted(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn located(self, folder: &Path) -> Self {
        let Some(file) = self.0.strip_prefix(Self::SQLITE) else { return self };
        let file = file.strip_prefix("//").unwrap_or(file);
        if file.starts_with(['/', ':']) {
            return self;
        }
        // The file is percent-encoded already, and may have a query.
        let Self(folder) = Self::sqlite_file(&absolute(folder, Path::new("")));
        Self(format!("{}/{file}", folder.trim_end_matches('/')))
    }
}

/// A program: a path, or a name that is looked up in `PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program(pub PathBuf);

impl Text for Program {
    const EXPECTED: &'static str = PathBuf::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        PathBuf::parse(text).map(Self)
    }

    fn text(&self) -> String {
        self.0.text()
    }

    fn located(self, folder: &Path) -> Self {
        if self.0.components().count() > 1 { Self(absolute(folder, &self.0)) } else { self }
    }
}

const REDACTED: &str = "[redacted]";

/// A secret text: neither `Debug` nor a fault prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text` as a secret.
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself: only for the place that uses it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Setting for Secret {
    const SECRET: bool = true;

    fn expected(bounds: Bounds) -> String {
        match bounds {
            Bounds::Whole(min, max) => format!("a text of {min} to {max} bytes"),
            Bounds::Decimal(..) | Bounds::None => "a text".to_owned(),
        }
    }

    fn read(value: &Value, bounds: Bounds) -> Option<Self> {
        let text = value.as_text()?;
        let length = i64::try_from(text.len()).ok()?;
        let fits = match bounds {
            Bounds::Whole(min, max) => (min..=max).contains(&length),
            Bounds::Decimal(..) | Bounds::None => true,
        };
        fits.then(|| Self(text.to_owned()))
    }

    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }

    fn redacted(&self) -> Value {
        Value::from(REDACTED)
    }
}

/// The sender of mail: an address, or a name with the address in angle brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox(String);

impl Mailbox {
    /// As written in the `From` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for Mailbox {
    const EXPECTED: &'static str = "an address such as rookery@example.org or \"Rookery <rookery@example.org>\"";

    fn parse(text: &str) -> Option<Self> {
        let address = match text.split_once('<') {
            Some((_, rest)) => rest.strip_suffix('>')?,
            None => text,
        };
        let (name, host) = address.split_once('@')?;
        let name_fits = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "<>,;".contains(c));
        let fits = name_fits && Domain::parse(host).is_some_and(|domain| domain.host() == domain.as_str());
        (fits && !text.contains(char::is_control)).then(|| Self(text.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// An address of the web: `https://example.org/source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebUrl(String);

impl WebUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for WebUrl {
    const EXPECTED: &'static str = "a URL that begins with https:// or http://";

    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let host = rest.split(['/', '?', '#']).next().and_then(Domain::parse);
        let fits =
            host.is_some() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"\\^`{|}".contains(&byte));
        fits.then(|| Self(text.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// A log filter: a level, or a level for each module, in the syntax of `tracing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter(String);

impl LogFilter {
    const LEVELS: [&'static str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

    /// The directives for `tracing_subscriber::EnvFilter`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for LogFilter {
    const EXPECTED: &'static str =
        "off, error, warn, info, debug or trace, or such levels for modules (info,rookery_http=debug)";

    /// Stricter than `tracing`, which treats a misspelt level as the name of a module to log at every level.
    fn parse(text: &str) -> Option<Self> {
        let directive = |directive: &str| {
            let level = directive.rsplit_once('=').map_or(directive, |(_, level)| level);
            Self::LEVELS.contains(&level.trim().to_ascii_lowercase().as_str())
        };
        text.split(',').all(directive).then(|| Self(text.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// A language tag: `en`, `pt-BR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locale(String);

impl Locale {
    /// As in the header `Content-Language`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Text for Locale {
    const EXPECTED: &'static str = "a language tag such as en or pt-BR";

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let language = parts.next()?;
        let language_fits = (2..=3).contains(&language.len()) && language.bytes().all(|b| b.is_ascii_lowercase());
        let rest_fits =
            parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric()));
        (language_fits && rest_fits).then(|| Self(text.to_owned()))
    }

    fn text(&self) -> String {
        self.0.clone()
    }
}

/// Declares an enum with one configuration word for each variant.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident {
        $(#[$first_meta:meta])* $first:ident = $first_word:literal,
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[$first_meta])* $first,
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// The word in the configuration.
            pub fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl Text for $name {
            const EXPECTED: &'static str = concat!("one of ", $first_word, $(", ", $word),+);

            fn parse(text: &str) -> Option<Self> {
                [Self::$first, $(Self::$variant),+].into_iter().find(|choice| choice.as_str() == text)
            }

            fn text(&self) -> String {
                self.as_str().to_owned()
            }
        }
    };
}

pub(super) use choice;

choice! {
    /// The URL scheme by which clients reach this server, in front of any proxy.
    Scheme {
        /// With TLS, which a proxy terminates.
        Https = "https",
        /// Unencrypted, for trying the server out locally.
        Http = "http",
    }
}

choice! {
    /// The format of log lines.
    LogFormat {
        /// Pretty on a terminal, JSON otherwise.
        Auto = "auto",
        /// Text for people to read.
        Pretty = "pretty",
        /// One JSON object for each line.
        Json = "json",
    }
}

choice! {
    /// How mail is delivered.
    MailTransport {
        /// Sent through a mail server.
        Smtp = "smtp",
        /// One file per message, for development.
        Directory = "directory",
        /// Discarded.
        None = "none",
    }
}

choice! {
    /// The translation service for statuses.
    TranslationBackend {
        /// No service: statuses are not translated.
        None = "none",
        /// LibreTranslate, on this machine or elsewhere.
        LibreTranslate = "libretranslate",
        DeepL = "deepl",
    }
}

choice! {
    /// How the connection to the mail server is protected.
    SmtpTls {
        /// TLS from the first byte (port 465).
        Implicit = "implicit",
        /// STARTTLS, which is required (port 587).
        Starttls = "starttls",
        /// Unencrypted, for a mail server on this machine.
        None = "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts<T: Setting>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(T::read(&Value::from(*text), Bounds::None).is_some(), "{text:?} is refused");
        }
        for text in bad {
            assert!(T::read(&Value::from(*text), Bounds::None).is_none(), "{text:?} is accepted");
        }
    }

    #[test]
    fn domains() {
        accepts::<Domain>(
            &["example.org", "localhost", "localhost:3000", "xn--bcher-kva.example", "127.0.0.1:3000"],
            &[
                "",
                "https://example.org",
                "example.org/",
                "bücher.example",
                "a..b",
                "-a.b",
                "x:0",
                "x:",
                "x:+1",
                "x:99999",
            ],
        );
        let domain = Domain::parse("Example.ORG:81").expect("a domain");
        assert_eq!((domain.as_str(), domain.host(), domain.is_local()), ("example.org:81", "example.org", false));
        let is_local = |text: &str| Domain::parse(text).is_some_and(|domain| domain.is_local());
        assert!(["a.localhost:3", "127.0.0.1:3000", "127.1.2.3"].into_iter().all(is_local));
        assert!(!["127.example.org", "128.0.0.1"].into_iter().any(is_local));
    }

    #[test]
    fn database_urls() {
        accepts::<DatabaseUrl>(
            &[
                "sqlite://data/rookery.db",
                "sqlite::memory:",
                "sqlite:///var/x.db",
                "postgres:///db?host=/run/x",
                "postgresql://h/d",
            ],
            &["", "sqlite://", "mysql://h/d", "data/rookery.db", "postgres://"],
        );
        let shown = |url: &str| DatabaseUrl(url.to_owned()).to_string();
        assert_eq!(shown("postgres://me:pa@ss@host:5432/db?password=x"), "postgres://me:[redacted]@host:5432/db");
        assert_eq!(shown("postgres:///db?host=/run/x"), "postgres:///db");
        assert_eq!(shown("sqlite://data/rookery.db"), "sqlite://data/rookery.db");
        let file = DatabaseUrl::sqlite_file(Path::new("/my data/50%.db"));
        assert_eq!(file.expose(), "sqlite:///my%20data/50%25.db");
    }

    #[test]
    fn web_urls() {
        accepts::<WebUrl>(
            &["https://example.org", "https://example.org/source?a=1", "http://localhost:3000/x"],
            &[
                "",
                "example.org",
                "ftp://example.org",
                "https://",
                "https:///x",
                "https://example.org/a b",
                "javascript:x",
            ],
        );
    }

    #[test]
    fn mailboxes() {
        accepts::<Mailbox>(
            &["a@example.org", "Rookery <a.b@example.org>", "a@localhost"],
            &["", "a", "a@", "@b", "a b@c", "R <a@b", "R <a@b> x", "a@b:3", "a@b\nBcc: c@d"],
        );
    }

    #[test]
    fn log_filters() {
        accepts::<LogFilter>(
            &["info", "WARN", "info,rookery_http=debug"],
            &["", "inof", "rookery", "rookery=loud", "info,"],
        );
    }

    #[test]
    fn locales() {
        accepts::<Locale>(&["en", "pt-BR", "zh-Hant-TW"], &["", "english", "EN", "pt_BR", "pt-"]);
    }

    #[test]
    fn secrets_do_not_show() {
        assert_eq!(format!("{:?}", Secret::new("hush".to_owned())), "[redacted]");
    }
}
