//! The table of all configuration keys: name, type, default, range and documentation of each.
//!
//! Each row generates the field of [`Config`], the key in the file, the environment variable, the checks, and the
//! output of `rookery config print`. The unit of a quantity is in its name.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use ipnet::IpNet;

use super::{
    kinds::{
        DatabaseUrl, Domain, Locale, LogFilter, LogFormat, MailTransport, Mailbox, Scheme, Secret, SmtpTls,
        TranslationBackend, WebUrl,
    },
    load::Reader,
    table::{Fallback, Key, Section, config, derived},
    value::{Bounds, Setting, Text, Value},
};

const MIB: i64 = 1024 * 1024;
const GIB: i64 = 1024 * MIB;

config! {
    /// The names of this server and how it listens.
    server: Server {
        /// The domain in account addresses (`@alice@example.org`).
        /// Other servers remember it: it cannot change once the first account exists.
        local_domain: Domain = "localhost:3000";
        /// The domain in URLs, if it is not the one in account addresses.
        web_domain: Domain = derived("the value of server.local_domain", |known| known.get("server.local_domain"));
        /// Further domains under which this server answers and whose account addresses it treats as local.
        alternate_domains: Vec<Domain> = [];
        /// Whether clients reach this server by https (through a proxy that terminates TLS) or http.
        scheme: Scheme = derived("\"http\" on localhost, \"https\" elsewhere", default_scheme);
        /// The address and port to listen on.
        listen: SocketAddr = "127.0.0.1:3000";
        /// The networks of the proxies whose `X-Forwarded-For` is trusted.
        trusted_proxies: Vec<IpNet> = [];
        /// How long a stopping server waits for requests that have begun.
        shutdown_grace_seconds: u64 = 20, 0..=600;
        /// How long a request may take; streams and uploads have limits of their own.
        request_timeout_seconds: u64 = 30, 1..=600;
        /// The largest JSON or form body. Uploads: see the section media.
        body_limit_bytes: usize = MIB, 16 * 1024..=64 * MIB;
        /// The language of pages and mail when no preference is known.
        locale: Locale = "en";
        /// Where the source code of this server can be had, for its people and for apps. Empty: the page /about.
        source_url: Option<WebUrl> = "";
        /// Conveniences for development: sign-in links and codes are printed, not only mailed.
        /// Never enable it on a public server.
        development: bool = false;
    }

    /// Connections of clients, or of the proxies before this server.
    connections: Connections {
        /// How many may be open at once. Each takes some 13 kB, and up to 64 kB more while it sends the head of a request.
        max: usize = 4096, 16..=1_000_000;
        /// How many may be open at once from one address (IPv6: one /64 network) that is not among `server.trusted_proxies`.
        max_per_address: usize = 256, 1..=1_000_000;
        /// How long a client may take to send the head of a request, from the first byte; at the first request, from the
        /// beginning of the connection.
        head_timeout_seconds: u64 = 10, 1..=600;
        /// How long a client may send nothing of a body, or take nothing of an answer.
        stall_timeout_seconds: u64 = 20, 1..=600;
        /// How long a connection stays open between requests. More than the proxies before this server keep an idle one.
        idle_timeout_seconds: u64 = 130, 1..=3600;
        /// How much memory the bodies of all requests may take; one person or address has an eighth.
        body_memory_bytes: usize = 64 * MIB, 16 * MIB..=64 * 1024 * MIB;
        /// How much of the disk uploads may take while they arrive; one person or address has an eighth, and at least two of
        /// the largest.
        upload_disk_bytes: usize = 4 * 1024 * MIB, 64 * MIB..=1024 * 1024 * MIB;
    }

    /// Streams of events to clients, by WebSocket and server-sent events.
    streaming: Streaming {
        /// The address that clients are told for streams, where it is another name of this server (or of a node that serves
        /// streams alone). Empty: this server's own address.
        url: Option<WebUrl> = "";
        /// How many connections may be open at once, besides `connections.max`. An idle one takes some 20 kB.
        max_connections: usize = 10_000, 16..=1_000_000;
        /// How many one person may have open at once.
        max_per_person: usize = 64, 1..=10_000;
        /// How many may be open at once from one address (IPv6: one /64 network) that is not among `server.trusted_proxies`.
        max_per_address: usize = 256, 1..=1_000_000;
        /// How many channels a connection may be subscribed to.
        max_subscriptions: usize = 64, 1..=10_000;
        /// How many messages may wait for a client that takes them slowly; it is cut off when there are more.
        queue: usize = 256, 16..=65_536;
        /// Over how long connections are closed when the server stops, so that clients do not all come back at once.
        restart_seconds: u64 = 5, 0..=60;
    }

    /// Metrics for Prometheus, on a separate listener.
    metrics: Metrics {
        /// The address and port to listen on. Empty: no metrics.
        listen: Option<SocketAddr> = "";
    }

    /// Traces: spans of requests, use cases and SQL statements, sent to a collector by OTLP over HTTP. No text, address or
    /// bound value is in them. What has no key here is set by the variables of OpenTelemetry, such as
    /// OTEL_EXPORTER_OTLP_HEADERS.
    telemetry: Telemetry {
        /// Where the collector is, such as `http://localhost:4318`; `/v1/traces` is added. Empty: no span is made.
        otlp_endpoint: Option<WebUrl> = "";
        /// The part of traces that is sent, from 0 to 1.
        sampling_ratio: f64 = 1.0, 0.0..=1.0;
        /// What this server is called in traces.
        service_name: String = "rookery";
    }

    /// Logging, to standard error.
    log: Log {
        /// The minimum level that is logged, for everything or by module (`info,rookery_http=debug`).
        level: LogFilter = "info";
        /// The format of log lines. `auto`: pretty on a terminal, JSON otherwise.
        format: LogFormat = "auto";
    }

    /// Where files are kept.
    storage: Storage {
        /// The folder of everything this server writes, unless another key says otherwise.
        data_dir: PathBuf = "data";
        /// The folder of uploaded and cached media.
        media_dir: PathBuf = derived("media in storage.data_dir", |known| in_data_dir(known, "media"));
    }

    /// The database.
    database: Database {
        /// `sqlite://path` for a file, or `postgres://name:password@host/database`.
        url: DatabaseUrl = derived("sqlite://, rookery.db in storage.data_dir", default_database);
        /// The size of the connection pool; on SQLite, of the pool for reading.
        max_connections: u32 = 4, 1..=1000;
        /// How long a request waits for a free connection.
        acquire_timeout_seconds: u64 = 5, 1..=300;
    }

    /// Secret keys, which must never change.
    secrets: Secrets {
        /// Signs sessions, links in mail and cached code. Empty: generated on the first start and kept in secret.key in
        /// `storage.data_dir`. All nodes of one server need the same key.
        key: Option<Secret> = "", 32..=1024;
    }

    /// Outgoing mail.
    mail: Mail {
        /// `smtp` sends, `directory` writes files (for development), `none` discards.
        transport: MailTransport = "directory";
        /// The folder for the transport `directory`.
        directory: PathBuf = derived("mail in storage.data_dir", |known| in_data_dir(known, "mail"));
        /// The sender of mail.
        from: Mailbox = derived("rookery@ and the host of server.local_domain", default_sender);
        /// The mail server, for the transport `smtp`.
        smtp_host: Option<String> = "";
        /// Its port: 587 for starttls, 465 for implicit.
        smtp_port: u16 = 587, 1..=65535;
        /// The user name at the mail server. Empty: no authentication.
        smtp_username: Option<String> = "";
        /// The password at the mail server.
        smtp_password: Option<Secret> = "", 1..=1024;
        /// How the connection is protected: `implicit`, `starttls` or `none`.
        smtp_tls: SmtpTls = "starttls";
    }

    /// Rate limits on requests.
    rate_limits: RateLimits {
        /// Whether they apply. Turn them off only for load tests.
        enabled: bool = true;
    }

    /// Who may read and join this server.
    access: Access {
        /// The API answers only signed-in clients.
        disallow_unauthenticated_api: bool = false;
        /// Federates only with servers that an admin has allowed; implies `disallow_unauthenticated_api`.
        limited_federation: bool = false;
        /// Single-user mode: the front page is the profile of the one account, and nobody can sign up.
        single_user: bool = false;
    }

    /// Requests to other servers.
    federation: Federation {
        /// Private networks that outgoing requests may reach all the same, for development and tests.
        allow_private_addresses: Vec<IpNet> = [];
    }

    /// Translating statuses, by a service that gets their texts.
    translation: Translation {
        /// `libretranslate`, `deepl`, or `none`: statuses are not translated.
        backend: TranslationBackend = "none";
        /// Where the service is. Empty: its public address.
        url: Option<WebUrl> = "";
        /// The key by which the service knows this server.
        api_key: Option<Secret> = "", 1..=1024;
        /// How many translations one person may have made in an hour. What was translated in the last day costs nothing.
        per_person_per_hour: u32 = 60, 1..=100_000;
        /// How many characters this server sends to the service in a day (UTC), for everyone together. 0: any number.
        characters_per_day: u64 = 500_000, 0..=1_000_000_000_000;
    }

    /// Uploads, and their processing.
    media: Media {
        /// The largest image; the worker that decodes it accepts no more than the default.
        image_size_limit_bytes: u64 = 16 * MIB, MIB..=16 * MIB;
        /// The largest video or audio file.
        video_size_limit_bytes: u64 = 99 * MIB, MIB..=4 * GIB;
        /// How long a video or a sound may be.
        duration_limit_seconds: u64 = 2 * 60 * 60, 1..=24 * 60 * 60;
        /// How many images are processed at once; each may take a gigabyte of memory.
        max_concurrent_decodes: usize = 2, 1..=64;
        /// How long the processing of one image may take.
        decode_timeout_seconds: u64 = 30, 1..=600;
        /// How much pictures of other sites may take up, such as those of links. The ones used longest ago go first; they are
        /// fetched again when they are used. 0: any amount.
        cache_limit_bytes: u64 = 4 * GIB, 0..=1024 * 1024 * GIB;
        /// The program `ffmpeg`, which converts video and audio: a path, or a name that is looked for in PATH.
        /// Where it is not, video and audio are refused.
        ffmpeg: PathBuf = "ffmpeg";
        /// The program `ffprobe`, which comes with it.
        ffprobe: PathBuf = "ffprobe";
        /// How many videos and sounds are converted at once; each may take two CPU cores and three gigabytes of memory.
        max_concurrent_conversions: usize = 2, 1..=64;
        /// How long the conversion of one may take.
        conversion_timeout_seconds: u64 = 300, 1..=3600;
    }

    /// Previews of the links in statuses.
    previews: Previews {
        /// Whether pages are fetched to make them.
        enabled: bool = true;
        /// How much of a page is read.
        page_limit_bytes: usize = MIB, 64 * 1024..=8 * MIB;
        /// The largest picture that is taken from a page; the worker that decodes it accepts no more than the default.
        image_limit_bytes: usize = 8 * MIB, 64 * 1024..=8 * MIB;
        /// How long a page, and each thing that it refers to, may take; also a page whose link to a profile is verified.
        timeout_seconds: u64 = 10, 1..=60;
    }

    /// Background jobs: deliveries, fan-out, mail.
    jobs: Jobs {
        /// How many jobs run at once. 0: this node runs none, and tells the others what it queues.
        workers: usize = 4, 0..=256;
        /// How often to poll for jobs that another node queued or an earlier run left.
        poll_interval_ms: u64 = 1000, 10..=60_000;
        /// How many attempts a job gets before it becomes a dead letter for an admin.
        max_attempts: u32 = 16, 1..=100;
        /// How long a node that died keeps its jobs before they are tried again. A node that lives renews its leases.
        lease_seconds: u64 = 300, 5..=3600;
    }

    /// Plugins.
    plugins: Plugins {
        /// Whether the plugins that come with the server are enabled from its first start.
        embedded: bool = true;
        /// The folder of further plugins: folders with a `plugin.toml`, and `.plugin` files.
        dir: PathBuf = derived("plugins in storage.data_dir", |known| in_data_dir(known, "plugins"));
        /// The folder of compiled plugins, and of copies of earlier versions.
        cache_dir: PathBuf = derived("plugin-cache in storage.data_dir", |known| in_data_dir(known, "plugin-cache"));
        /// Whether a plugin is reloaded soon after its files change. Without `server.development` a package that the
        /// admin did not accept waits for `rookery plugin reload`.
        watch: bool = derived("the value of server.development", |known| known.get("server.development"));
        /// How long one file may take that `rookery plugin install` or `upgrade` fetches.
        download_timeout_seconds: u64 = 120, 1..=3600;
        /// Checksums (SHA-256) of components and packages that are never loaded.
        denied: Vec<String> = [];
        /// How many instances of all plugins together may exist at once.
        instances: u32 = 64, 4..=4096;
        /// The largest memory that one instance may be given.
        memory_limit_bytes: usize = 64 * MIB, 4 * MIB..=GIB;
        /// How many connections to the database each plugin that reads gets, besides `database.max_connections`; its hooks that
        /// decide about changes read on one more.
        database_connections: u32 = 2, 1..=100;
        /// How long a plugin may keep a transaction open before it is rolled back. On SQLite all other writers wait.
        transaction_timeout_ms: u64 = 1000, 50..=60_000;
        /// The same on SQLite while others wait for the transaction.
        contended_transaction_ms: u64 = 60, 10..=60_000;
        /// How long a migration may keep others who write waiting on SQLite before it is broken off. It is tried six times within
        /// some seconds before it fails; one in batches lets them write.
        contended_migration_ms: u64 = 60, 10..=3_600_000;
        /// How long the migrations, statements and self-test of a plugin may take together when it is loaded. On SQLite
        /// all other writers wait.
        migration_timeout_seconds: u64 = 60, 1..=3600;
    }

    /// Contents of timelines.
    timelines: Timelines {
        /// Public timelines leave out languages that the viewer has not chosen.
        filter_by_locale: bool = true;
        /// How many statuses a home timeline keeps.
        home_limit: u32 = 1000, 100..=100_000;
    }

    /// Notifications.
    notifications: Notifications {
        /// After how many days they are deleted. 0: never.
        retention_days: u32 = 180, 0..=36_500;
    }

    /// Limits and rules for accounts.
    accounts: Accounts {
        /// How many accounts everyone may follow.
        max_follows_threshold: u64 = 7500, 0..=10_000_000;
        /// Above that threshold, the most follows of an account as a multiple of its own followers.
        max_follows_ratio: f64 = 1.1, 0.0..=1000.0;
        /// Names that nobody can sign up with.
        reserved_usernames: Vec<String> =
            ["admin", "support", "help", "root", "webmaster", "administrator", "mod", "moderator"];
    }
}

fn domain(known: &Reader) -> Option<Domain> {
    Domain::parse(known.get("server.local_domain")?.as_text()?)
}

fn default_scheme(known: &Reader) -> Option<Value> {
    let web_domain = Domain::parse(known.get("server.web_domain")?.as_text()?)?;
    let scheme = if web_domain.is_local() { Scheme::Http } else { Scheme::Https };
    Some(scheme.write())
}

fn in_data_dir(known: &Reader, name: &str) -> Option<Value> {
    let data_dir = known.get("storage.data_dir")?;
    Some(Path::new(data_dir.as_text()?).join(name).write())
}

fn default_database(known: &Reader) -> Option<Value> {
    let file = in_data_dir(known, "rookery.db")?;
    Some(DatabaseUrl::sqlite_file(Path::new(file.as_text()?)).write())
}

fn default_sender(known: &Reader) -> Option<Value> {
    Some(Value::Text(format!("rookery@{}", domain(known)?.host())))
}
