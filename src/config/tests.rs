//! Loading a configuration: valid input, and the message of each fault.

use std::{collections::BTreeSet, fs};

use super::*;

/// The configuration from a file's text and some variables, or the faults, one text each.
///
/// The folder of the file is removed from the faults.
fn load(file: &str, variables: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rookery.toml");
    fs::write(&path, file).expect("written");
    let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let without_folder = |fault: &Fault| fault.to_string().replace(&format!("{}/", folder.path().display()), "");
    Config::load(Some(&path), environment).map_err(|faults| faults.0.iter().map(without_folder).collect())
}

fn faults(file: &str, variables: &[(&str, &str)]) -> Vec<String> {
    load(file, variables).expect_err("a refusal")
}

#[test]
fn defaults_are_complete() {
    let config = Config::load(None, std::iter::empty()).expect("the defaults");
    assert_eq!(config.base_url(), "http://localhost:3000");
    let data = std::path::absolute("data").expect("a working directory");
    assert_eq!(config.database.url.expose(), format!("sqlite://{}/rookery.db", data.display()));
    assert_eq!(config.storage.media_dir, data.join("media"));
    assert_eq!(config.mail.directory, data.join("mail"));
    assert_eq!(config.mail.from.as_str(), "rookery@localhost");
    assert_eq!(config.metrics.listen, None);
    assert!(config.rate_limits.enabled);
    assert!(config.secrets.key.is_none());
    assert_eq!(config.warnings(), Vec::<String>::new());
}

#[test]
fn defaults_derive_from_other_keys() {
    let config =
        load("server.local_domain = \"Example.org\"\nstorage.data_dir = \"/srv/rookery\"", &[]).expect("valid");
    assert_eq!(config.base_url(), "https://example.org");
    assert_eq!(config.mail.from.as_str(), "rookery@example.org");
    assert_eq!(config.database.url.expose(), "sqlite:///srv/rookery/rookery.db");
    assert_eq!(config.storage.media_dir, Path::new("/srv/rookery/media"));
    assert!(config.is_local_domain("EXAMPLE.org"));
    assert!(!config.is_local_domain("example.com"));
}

#[test]
fn relative_paths_are_below_the_file_that_names_them() {
    let file = "storage.data_dir = \"d\"\nmedia.ffmpeg = \"bin/ffmpeg\"\ndatabase.url = \"sqlite://a b.db?x=y\"";
    let config = load(file, &[("ROOKERY_MAIL_DIRECTORY", "mail")]).expect("valid");
    let folder = config.storage.data_dir.parent().expect("a folder").to_owned();
    assert!(folder.is_absolute() && config.storage.data_dir.ends_with("d"));
    assert_eq!(config.storage.media_dir, folder.join("d/media"));
    assert_eq!(config.media.ffmpeg.0, folder.join("bin/ffmpeg"));
    assert_eq!(config.media.ffprobe.0, Path::new("ffprobe"), "a name is looked up in PATH");
    assert_eq!(config.database.url.expose(), format!("sqlite://{}/a b.db?x=y", folder.display()));
    assert_eq!(config.mail.directory, std::path::absolute("mail").expect("a working directory"));
}

#[test]
fn environment_goes_before_file() {
    let file = "[server]\nrequest_timeout_seconds = 7\nshutdown_grace_seconds = 3\n[jobs]\nworkers = 1_0";
    let config = load(file, &[("ROOKERY_SERVER_REQUEST_TIMEOUT_SECONDS", "9"), ("PATH", "/bin")]).expect("valid");
    assert_eq!(config.server.request_timeout_seconds, 9);
    assert_eq!(config.server.shutdown_grace_seconds, 3);
    assert_eq!(config.jobs.workers, 10);
}

#[test]
fn every_key_can_be_set_by_its_variable() {
    let defaults = Config::default();
    for effective in &defaults.effective {
        let key = load::keys().find(|key| key.path() == effective.path).expect("a key");
        let text = match &effective.value {
            value::Value::Text(text) => text.clone(),
            value::Value::List(items) => items.iter().filter_map(value::Value::as_text).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        };
        let config = load("", &[(&key.variable(), &text)]).unwrap_or_else(|faults| panic!("{faults:?}"));
        let read = config.effective.iter().find(|read| read.path == effective.path).expect("read");
        assert_eq!(read.value, effective.value, "{}", key.variable());
        assert_eq!(read.origin, Origin::Variable(key.variable()));
    }
}

#[test]
fn no_two_keys_share_a_variable() {
    let variables: BTreeSet<_> = load::keys().map(Key::variable).collect();
    assert_eq!(variables.len(), load::keys().count());
    assert!(!variables.contains(PATH_VARIABLE));
}

#[test]
fn quantities_have_a_range() {
    for key in load::keys() {
        let expected = key.expected();
        let open = ["a number", "a whole number"].contains(&expected.as_str());
        assert!(!open, "{} takes {expected}", key.path());
    }
}

#[test]
fn variable_rookery_config_names_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.toml");
    fs::write(&path, "jobs.workers = 2").expect("written");
    let environment = [(PATH_VARIABLE.to_owned(), path.display().to_string())];
    let config = Config::load(None, environment.into_iter()).expect("valid");
    assert_eq!(config.jobs.workers, 2);
}

#[test]
fn missing_file_is_an_error() {
    let faults = Config::load(Some(Path::new("/nowhere/rookery.toml")), std::iter::empty()).expect_err("missing");
    assert_eq!(
        faults.to_string(),
        "the configuration has a fault:\n  cannot read /nowhere/rookery.toml: No such file or directory (os error 2)"
    );
}

#[test]
fn all_faults_are_reported_together() {
    let file = "[server]\nlisten = \"localhost\"\nlocal_domain = \"https://example.org\"\n[jobs]\nworkers = 1000";
    assert_eq!(
        faults(file, &[("ROOKERY_MEDIA_MAX_CONCURRENT_DECODES", "0"), ("ROOKERY_LOG_LEVEL", "inof")]),
        [
            "server.local_domain: \"https://example.org\" is not a domain such as example.org or localhost:3000 \
             (no scheme, no path, international names as xn--…) (rookery.toml:3)",
            "server.listen: \"localhost\" is not an IP address and port such as 127.0.0.1:3000 or [::1]:3000 (rookery.toml:2)",
            "log.level: \"inof\" is not off, error, warn, info, debug or trace, or such levels for modules \
             (info,rookery_http=debug) (ROOKERY_LOG_LEVEL)",
            "media.max_concurrent_decodes: \"0\" is not a whole number from 1 to 64 (ROOKERY_MEDIA_MAX_CONCURRENT_DECODES)",
            "jobs.workers: 1000 is not a whole number from 0 to 256 (rookery.toml:5)",
        ]
    );
}

#[test]
fn several_faults_are_counted() {
    let faults =
        Config::load(None, [("ROOKERY_A", "1"), ("ROOKERY_B", "2")].map(|(n, v)| (n.into(), v.into())).into_iter());
    let text = faults.expect_err("two faults").to_string();
    assert!(text.starts_with("the configuration has 2 faults:\n  ROOKERY_A: unknown environment variable; "), "{text}");
}

#[test]
fn types_are_checked() {
    let file = "[server]\ndevelopment = \"yes\"\nrequest_timeout_seconds = \"30\"\nalternate_domains = \"a.example\"\n\
                scheme = \"ftp\"\nlocale = 2026-01-01\n[accounts]\nmax_follows_ratio = -0.5\n[log.level]\nx = 1\n\
                [server.trusted_proxies]\n";
    assert_eq!(
        faults(file, &[]),
        [
            "log.level: is a key, not a section (rookery.toml:9)",
            "server.locale: is not a date (rookery.toml:6)",
            "server.trusted_proxies: is a key, not a section (rookery.toml:11)",
            "server.alternate_domains: \"a.example\" is not a list in which each item is a domain such as example.org or \
             localhost:3000 (no scheme, no path, international names as xn--…) (rookery.toml:4)",
            "server.scheme: \"ftp\" is not one of https, http (rookery.toml:5)",
            "server.request_timeout_seconds: \"30\" is not a whole number from 1 to 600 (rookery.toml:3)",
            "server.development: \"yes\" is not true or false (rookery.toml:2)",
            "accounts.max_follows_ratio: -0.5 is not a number from 0.0 to 1000.0 (rookery.toml:8)",
        ]
    );
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_name() {
    let file = "port = 3\n[sever]\nlisten = \"\"\n[server]\nlisen = \"\"\nmax_connections = 3\nweather_endpoint = \"\"\n\
                [secrets]\nkey_fil = \"\"\nunheard_of_thing = 1\n[weather]\n";
    assert_eq!(
        faults(file, &[]),
        [
            "port: unknown section; the sections are server, connections, streaming, metrics, telemetry, log, storage, s3, database, \
             secrets, mail, rate_limits, access, federation, translation, media, previews, jobs, plugins, timelines, \
             notifications, web, accounts (rookery.toml:1)",
            "secrets.key_fil: unknown key; did you mean secrets.key_file? (rookery.toml:9)",
            "secrets.unheard_of_thing: unknown key; the keys of [secrets] are key (rookery.toml:10)",
            "server.lisen: unknown key; did you mean server.listen? (rookery.toml:5)",
            "server.max_connections: unknown key; did you mean streaming.max_connections? (rookery.toml:6)",
            "server.weather_endpoint: unknown key; the keys of [server] are local_domain, web_domain, alternate_domains, \
             scheme, listen, trusted_proxies, shutdown_grace_seconds, request_timeout_seconds, body_limit_bytes, locale, \
             source_url, development (rookery.toml:7)",
            "sever: unknown section; did you mean [server]? (rookery.toml:2)",
            "weather: unknown section; the sections are server, connections, streaming, metrics, telemetry, log, storage, s3, database, \
             secrets, mail, rate_limits, access, federation, translation, media, previews, jobs, plugins, timelines, \
             notifications, web, accounts (rookery.toml:11)",
        ]
    );
}

#[test]
fn unknown_variables_are_refused_with_the_nearest_known_name() {
    let variables = [
        ("ROOKERY_DATABASE_ULR", "secret"),
        ("ROOKERY_SECRETS_KEY_FIEL", "secret"),
        ("ROOKERY_SERVER_LISTEN_FILE", "/x"),
        ("ROOKERY_WEATHER_ENDPOINT", "secret"),
        ("OTHER_DATABASE_ULR", "x"),
        // Variables of plugin authors' commands, which a shell profile may set.
        ("ROOKERY_PLUGIN_KEY", "author.key"),
        ("ROOKERY_PLUGIN_KEY_PASSWORD", "secret"),
    ];
    assert_eq!(
        faults("", &variables),
        [
            "ROOKERY_DATABASE_ULR: unknown environment variable; did you mean ROOKERY_DATABASE_URL?",
            "ROOKERY_SECRETS_KEY_FIEL: unknown environment variable; did you mean ROOKERY_SECRETS_KEY_FILE?",
            "ROOKERY_SERVER_LISTEN_FILE: unknown environment variable; did you mean ROOKERY_SERVER_LISTEN?",
            "ROOKERY_WEATHER_ENDPOINT: unknown environment variable; `rookery config print` lists them all",
        ]
    );
}

#[test]
fn section_is_not_a_value() {
    assert_eq!(faults("server = 3", &[]), ["server: is a section: write [server] and its keys below (rookery.toml:1)"]);
}

#[test]
fn broken_toml_is_located_and_not_shown() {
    let found = faults("[mail]\nsmtp_password = \"hunter2\n", &[]);
    assert!(found.iter().all(|fault| fault.contains("(rookery.toml:2)")), "{found:?}");
    assert!(!found.join("").contains("hunter2"), "{found:?}");
    let found = faults("[jobs]\nworkers = 1\nworkers = 2", &[]);
    assert_eq!(found, ["duplicate key (rookery.toml:3)"]);
}

#[test]
fn secrets_may_stand_in_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    fs::write(&path, "0123456789abcdef0123456789abcdef\r\n").expect("written");
    let path = path.display().to_string();

    let by_variable = load("", &[("ROOKERY_SECRETS_KEY_FILE", &path)]).expect("valid");
    let by_file = load(&format!("[secrets]\nkey_file = \"{path}\""), &[]).expect("valid");

    for config in [by_variable, by_file] {
        assert_eq!(config.secrets.key.expect("a key").expose(), "0123456789abcdef0123456789abcdef");
    }
}

#[test]
fn secrets_are_not_in_faults() {
    let file =
        "[secrets]\nkey = \"hunter2\"\n[database]\nurl = \"mysql://me:hunter2@host/db\"\n[mail]\nsmtp_password = 22222";
    assert_eq!(
        faults(file, &[]),
        [
            "database.url: the value (26 bytes, not shown) is not a URL such as sqlite://data/rookery.db or \
             postgres://name:password@host/database (rookery.toml:4)",
            "secrets.key: the value (7 bytes, not shown) is not a text of 32 to 1024 bytes, or empty (rookery.toml:2)",
            "mail.smtp_password: the value (not shown) is not a text of 1 to 1024 bytes, or empty (rookery.toml:6)",
        ]
    );
}

#[test]
fn secret_is_given_once() {
    let variables = [("ROOKERY_SECRETS_KEY", "x"), ("ROOKERY_SECRETS_KEY_FILE", "/x")];
    assert_eq!(
        faults("", &variables)[0],
        "secrets.key: is given twice: also at ROOKERY_SECRETS_KEY (ROOKERY_SECRETS_KEY_FILE)"
    );
}

#[test]
fn missing_secret_file_is_an_error() {
    assert_eq!(
        faults("", &[("ROOKERY_SECRETS_KEY_FILE", "/nowhere/key")]),
        ["secrets.key: cannot read /nowhere/key: No such file or directory (os error 2) (ROOKERY_SECRETS_KEY_FILE)"]
    );
    assert_eq!(faults("[secrets]\nkey_file = 3", &[]), ["secrets.key: is not the path of a file (rookery.toml:2)"]);
}

#[test]
fn keys_that_belong_together_are_checked_together() {
    let file = "[mail]\ntransport = \"smtp\"\nsmtp_username = \"me\"\n[metrics]\nlisten = \"127.0.0.1:3000\"";
    assert_eq!(
        faults(file, &[]),
        [
            "mail.smtp_host: is empty, and mail.transport is smtp (default)",
            "mail.smtp_password: is empty, and mail.smtp_username is set (default)",
            "metrics.listen: is the address of server.listen (rookery.toml:5)",
        ]
    );
}

#[test]
fn suspicious_configuration_is_warned_of() {
    let file = "[server]\nlocal_domain = \"example.org\"\nscheme = \"http\"\ndevelopment = true";
    let warnings = load(file, &[]).expect("valid").warnings();
    assert_eq!(
        warnings,
        [
            "server.scheme is http: passwords travel in the clear, and apps will refuse to connect",
            "server.development is on: sign-in links and codes are printed",
            "mail.transport is directory: mail is not sent, so addresses cannot be confirmed",
        ]
    );
}

#[test]
fn print_says_meaning_default_and_origin() {
    let file = "[server]\nrequest_timeout_seconds = 7";
    let config = load(file, &[("ROOKERY_ACCESS_SINGLE_USER", "true")]).expect("valid");
    let printed = config.to_toml_with_comments(true);
    assert!(
        printed.contains(
            "\n# How long a stopping server waits for running requests.\n\
             # Takes a whole number from 0 to 600.\n\
             # Default: 20. Variable: ROOKERY_SERVER_SHUTDOWN_GRACE_SECONDS.\n\
             # shutdown_grace_seconds = 20\n"
        ),
        "{printed}"
    );
    assert!(printed.contains("rookery.toml:2.\nrequest_timeout_seconds = 7\n"), "{printed}");
    assert!(printed.contains("# Set by ROOKERY_ACCESS_SINGLE_USER.\nsingle_user = true\n"), "{printed}");
}

#[test]
fn printed_configuration_is_read_again() {
    let variables = [
        ("ROOKERY_DATABASE_URL", "postgres://me:hunter2@host/db"),
        ("ROOKERY_SECRETS_KEY", "0123456789abcdef0123456789abcdef"),
        ("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.1,fd00::/8"),
        ("ROOKERY_ACCOUNTS_MAX_FOLLOWS_RATIO", "2"),
    ];
    let config = load("", &variables).expect("valid");

    let again = load(&config.to_toml_with_comments(false), &[]).expect("valid");

    for (before, after) in config.effective.iter().zip(&again.effective) {
        assert_eq!((&before.path, &before.value), (&after.path, &after.value));
        assert_eq!(before.origin == Origin::Default, after.origin == Origin::Default);
    }
    // The commented lines are valid as well.
    let uncommented = config
        .to_toml_with_comments(false)
        .replace("\n# ", "\n#")
        .lines()
        .map(|line| {
            let key = line.strip_prefix('#').filter(|rest| {
                rest.split_once(" = ").is_some_and(|(name, _)| load::keys().any(|key| key.name == name))
            });
            format!("{}\n", key.unwrap_or(line))
        })
        .collect::<String>();
    let again = load(&uncommented, &[]).expect("valid");
    assert!(again.effective.iter().all(|effective| effective.origin != Origin::Default));
}

#[test]
fn redacted_print_and_debug_hold_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    fs::write(&path, "hunter2hunter2hunter2hunter2hunter2").expect("written");
    let path = path.display().to_string();
    let variables = [
        ("ROOKERY_DATABASE_URL", "postgres://me:hunter2@host/db"),
        ("ROOKERY_SECRETS_KEY_FILE", path.as_str()),
        ("ROOKERY_MAIL_SMTP_USERNAME", "me"),
        ("ROOKERY_MAIL_SMTP_PASSWORD", "hunter2"),
    ];
    let config = load("", &variables).expect("valid");

    let printed = config.to_toml_with_comments(true);

    assert!(!printed.contains("hunter2"), "{printed}");
    assert!(printed.contains("\nurl = \"postgres://me:[redacted]@host/db\"\n"), "{printed}");
    assert!(printed.contains(&format!("\nkey_file = \"{path}\"\n")), "{printed}");
    assert!(printed.contains("\nsmtp_password = \"[redacted]\"\n"), "{printed}");
    assert!(!format!("{config:?}").contains("hunter2"));
}

/// The keys of a bucket, complete.
const BUCKET: &str = "[s3]\nbucket = \"media\"\naccess_key_id = \"id\"\nsecret_access_key = \"hush\"\n";

#[test]
fn bucket_needs_keys_and_backend_needs_a_bucket() {
    let config = load(&format!("storage.backend = \"s3\"\n{BUCKET}"), &[]).expect("valid");
    assert!(!config.s3.path_style, "Amazon has buckets in host names");
    let config = load(&format!("{BUCKET}endpoint = \"http://localhost:9000\""), &[]).expect("valid");
    assert!(config.s3.path_style && config.storage.backend == StorageBackend::Local);

    let found = faults("storage.backend = \"s3\"", &[]);
    assert!(found[0].starts_with("s3.bucket: is empty, and storage.backend is s3"), "{found:?}");
    let file = "[s3]\nbucket = \"media\"\nkms_key_id = \"k\"\nendpoint = \"https://s3.example?x\"";
    let found = faults(file, &[]);
    for key in ["s3.access_key_id", "s3.secret_access_key", "s3.kms_key_id", "s3.endpoint"] {
        assert!(found.iter().any(|fault| fault.starts_with(key)), "{key}: {found:?}");
    }
}

#[test]
fn keys_of_a_bucket_may_stand_in_files_and_do_not_show() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    fs::write(&path, "hush\n").expect("written");
    let file = format!("[s3]\nbucket = \"media\"\naccess_key_id = \"id\"\nsecret_access_key_file = {path:?}");
    let config = load(&file, &[]).expect("valid");
    assert_eq!(config.s3.secret_access_key.as_ref().map(Secret::expose), Some("hush"));
    assert!(!format!("{config:?}").contains("hush"));
}
