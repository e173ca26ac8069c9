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
    bucket::{BucketEncryption, BucketName, ObjectPrefix, StorageBackend},
    kinds::{
        DatabaseUrl, Domain, Locale, LogFilter, LogFormat, MailTransport, Mailbox, Program, Scheme, Secret, SmtpTls,
        TranslationBackend, WebUrl,
    },
    load::Reader,
    table::{Fallback, Key, Section, config, derived},
    value::{Bounds, Setting, Text, Value},
};

const MIB: i64 = 1024 * 1024;
const GIB: i64 = 1024 * MIB;

config! {
    /// The names of this server and its listener.
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
        /// How long a stopping server waits for running requests.
        shutdown_grace_seconds: u64 = 20, 0..=600;
        /// How long a request may take; streams and uploads have separate limits.
        request_timeout_seconds: u64 = 30, 1..=600;
        /// The largest JSON or form body. Uploads: see the section media.
        body_limit_bytes: usize = MIB, 16 * 1024..=64 * MIB;
        /// The language of pages and mail when no preference is known.
        locale: Locale = "en";
        /// The URL of this server's source code, for its users and for apps. Empty: the page /about.
        source_url: Option<WebUrl> = "";
        /// Conveniences for development: sign-in links and codes are printed, not only mailed.
        /// Never enable it on a public server.
        development: bool = false;
    }

    /// Connections of clients, or of the proxies before this server.
    connections: Connections {
        /// Most open connections. Each takes some 13 kB, and up to 64 kB more while it sends the head of a request.
        max: usize = 4096, 16..=1_000_000;
        /// Most open connections from one address (IPv6: one /64 network) that is not among `server.trusted_proxies`.
        max_per_address: usize = 256, 1..=1_000_000;
        /// How long a client may take to send the head of a request, from the first byte; for the first request, from
        /// the beginning of the connection.
        head_timeout_seconds: u64 = 10, 1..=600;
        /// How long a client may pause while sending a body or receiving a response.
        stall_timeout_seconds: u64 = 20, 1..=600;
        /// How long a connection stays open between requests. Longer than the idle timeout of the proxies before this
        /// server.
        idle_timeout_seconds: u64 = 130, 1..=3600;
        /// Memory for the bodies of all requests; one person or address has an eighth.
        body_memory_bytes: usize = 64 * MIB, 16 * MIB..=64 * 1024 * MIB;
        /// Disk space for uploads in progress; one person or address has an eighth, and at least twice the largest
        /// upload.
        upload_disk_bytes: usize = 4 * 1024 * MIB, 64 * MIB..=1024 * 1024 * MIB;
    }

    /// Streams of events to clients, by WebSocket and server-sent events.
    streaming: Streaming {
        /// The address for streams in API responses, if it is another name of this server (or of a node that only
        /// serves streams). Empty: this server's own address.
        url: Option<WebUrl> = "";
        /// Most open streaming connections, in addition to `connections.max`. An idle one takes some 20 kB.
        max_connections: usize = 10_000, 16..=1_000_000;
        /// Most open streaming connections of one person.
        max_per_person: usize = 64, 1..=10_000;
        /// Most open streaming connections from one address (IPv6: one /64 network) that is not among
        /// `server.trusted_proxies`.
        max_per_address: usize = 256, 1..=1_000_000;
        /// Most subscriptions of a connection.
        max_subscriptions: usize = 64, 1..=10_000;
        /// Most queued messages for a slow client; with more it is disconnected.
        queue: usize = 256, 16..=65_536;
        /// Over how long connections are closed when the server stops, so that clients do not all reconnect at the
        /// same time.
        restart_seconds: u64 = 5, 0..=60;
    }

    /// Metrics for Prometheus, on a separate listener.
    metrics: Metrics {
        /// The address and port to listen on. Empty: no metrics.
        listen: Option<SocketAddr> = "";
    }

    /// Traces: spans of requests, use cases and SQL statements, sent to a collector by OTLP over HTTP. They contain
    /// no text, address or bound value. Further settings are the environment variables of OpenTelemetry, such as
    /// OTEL_EXPORTER_OTLP_HEADERS.
    telemetry: Telemetry {
        /// The URL of the collector, such as `http://localhost:4318`; `/v1/traces` is added. Empty: no spans are
        /// created.
        otlp_endpoint: Option<WebUrl> = "";
        /// The fraction of traces to send, from 0 to 1.
        sampling_ratio: f64 = 1.0, 0.0..=1.0;
        /// The service name of this server in traces.
        service_name: String = "rookery";
    }

    /// Logging, to standard error.
    log: Log {
        /// The minimum level that is logged, for everything or by module (`info,rookery_http=debug`).
        level: LogFilter = "info";
        /// The format of log lines. `auto`: pretty on a terminal, JSON otherwise.
        format: LogFormat = "auto";
    }

    /// File storage.
    storage: Storage {
        /// The folder for all data of this server, unless another key overrides it.
        data_dir: PathBuf = "data";
        /// The folder of uploaded and cached media.
        media_dir: PathBuf = derived("media in storage.data_dir", |known| in_data_dir(known, "media"));
        /// Where media is stored: `local`, in `storage.media_dir`, or `s3`, in the bucket of the section s3. Several
        /// nodes need `s3`. `rookery media move` moves existing files.
        backend: StorageBackend = "local";
        /// The address that URLs of media begin with, such as a CDN or the public address of the bucket (with
        /// `s3.prefix`); their keys are added. Empty: this server serves media under /media.
        public_url: Option<WebUrl> = "";
    }

    /// The bucket for media, at a service with the API of S3. It is also read while `storage.backend` is `local`, if
    /// `s3.bucket` is set, so that files can be moved while the server runs.
    s3: S3 {
        /// The bucket, which must exist. Empty: none.
        bucket: Option<BucketName> = "";
        /// The URL of the service, without the bucket. Empty: Amazon S3 in `s3.region`.
        endpoint: Option<WebUrl> = "";
        /// The region; many services accept any, Cloudflare R2 `auto`.
        region: String = "us-east-1";
        /// Put before every key, for a bucket that is used by others too.
        prefix: Option<ObjectPrefix> = "";
        /// The bucket is a part of the path and not of the host name.
        path_style: bool = derived("true with s3.endpoint, false without", has_endpoint);
        /// The id of the access key.
        access_key_id: Option<Secret> = "", 1..=1024;
        /// The secret access key.
        secret_access_key: Option<Secret> = "", 1..=1024;
        /// Encryption at rest by the service: `none` (the default of the bucket), `AES256` or `aws:kms`.
        encryption: BucketEncryption = "none";
        /// The id of the key for `aws:kms`. Empty: the default key of the service.
        kms_key_id: Option<String> = "";
        /// Whether requests for media are redirected to presigned URLs of the bucket, instead of streamed through
        /// this server. Without effect on `storage.public_url`.
        presigned: bool = false;
        /// How long a presigned URL is valid.
        presigned_seconds: u64 = 900, 60..=604_800;
        /// How long a connection to the service may take.
        connect_timeout_seconds: u64 = 5, 1..=60;
        /// How long the service may pause while it sends a response, and how long it may take to accept a part of a
        /// file, of at most 8 MiB.
        timeout_seconds: u64 = 60, 1..=600;
        /// How long a failed request is retried, with back-off.
        retry_seconds: u64 = 20, 0..=120;
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
        /// Signs sessions, links in mail and cached code. Empty: generated on the first start and stored in
        /// secret.key in `storage.data_dir`. All nodes of one server need the same key.
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
        /// Whether rate limits apply. Disable them only for load tests.
        enabled: bool = true;
    }

    /// Who may read and join this server.
    access: Access {
        /// The API answers only signed-in clients.
        disallow_unauthenticated_api: bool = false;
        /// Federates only with servers that an admin has allowed; implies `disallow_unauthenticated_api`.
        limited_federation: bool = false;
        /// Other servers are served documents of accounts and statuses only for requests that one of their accounts
        /// signed ("authorized fetch", "secure mode"). Implied by `limited_federation`.
        authorized_fetch: bool = false;
        /// Single-user mode: the front page is the profile of the one account, and sign-ups are closed.
        single_user: bool = false;
    }

    /// Requests to other servers.
    federation: Federation {
        /// Lists of followers are compared with other servers when a status for followers is delivered (FEP-8fcf), so
        /// that both sides agree who follows whom.
        followers_synchronization: bool = true;
        /// Private networks that outgoing requests may reach anyway, for development and tests.
        allow_private_addresses: Vec<IpNet> = [];
    }

    /// Translation of statuses by a service that receives their texts.
    translation: Translation {
        /// `libretranslate`, `deepl`, or `none`: statuses are not translated.
        backend: TranslationBackend = "none";
        /// The URL of the service. Empty: its public address.
        url: Option<WebUrl> = "";
        /// The API key for the service.
        api_key: Option<Secret> = "", 1..=1024;
        /// How many translations one person may request in an hour. Texts translated within the last day do not
        /// count.
        per_person_per_hour: u32 = 60, 1..=100_000;
        /// How many characters this server sends to the service in a day (UTC), for all users together. 0: no limit.
        characters_per_day: u64 = 500_000, 0..=1_000_000_000_000;
    }

    /// Uploads, and their processing.
    media: Media {
        /// The largest image; the worker that decodes it accepts at most the default.
        image_size_limit_bytes: u64 = 16 * MIB, MIB..=16 * MIB;
        /// The largest video or audio file.
        video_size_limit_bytes: u64 = 99 * MIB, MIB..=4 * GIB;
        /// The longest video or audio file.
        duration_limit_seconds: u64 = 2 * 60 * 60, 1..=24 * 60 * 60;
        /// Most images processed at the same time; each may take a gigabyte of memory.
        max_concurrent_decodes: usize = 2, 1..=64;
        /// How long the processing of one image may take.
        decode_timeout_seconds: u64 = 30, 1..=600;
        /// Disk space for pictures of other sites, such as link previews. The least recently used are removed first;
        /// they are fetched again when they are used. 0: no limit.
        cache_limit_bytes: u64 = 4 * GIB, 0..=1024 * 1024 * GIB;
        /// Disk space for copies of files of other servers. The least recently used are removed first; they are fetched
        /// again when they are requested. A host has a quarter of it. 0: no limit.
        remote_limit_bytes: u64 = 10 * GIB, 0..=1024 * 1024 * GIB;
        /// The program `ffmpeg`, which converts video and audio: a path, or a name that is looked up in PATH. Without
        /// it, video and audio are rejected.
        ffmpeg: Program = "ffmpeg";
        /// The program `ffprobe`, which is part of ffmpeg.
        ffprobe: Program = "ffprobe";
        /// Most videos and audio files converted at the same time; each may take two CPU cores and three gigabytes of
        /// memory.
        max_concurrent_conversions: usize = 2, 1..=64;
        /// How long one conversion may take.
        conversion_timeout_seconds: u64 = 300, 1..=3600;
    }

    /// Previews of the links in statuses.
    previews: Previews {
        /// Whether pages are fetched for previews.
        enabled: bool = true;
        /// How much of a page is read.
        page_limit_bytes: usize = MIB, 64 * 1024..=8 * MIB;
        /// The largest picture taken from a page; the worker that decodes it accepts at most the default.
        image_limit_bytes: usize = 8 * MIB, 64 * 1024..=8 * MIB;
        /// How long the fetch of a page, and of each resource it refers to, may take; also of a page whose link to a
        /// profile is verified.
        timeout_seconds: u64 = 10, 1..=60;
    }

    /// Background jobs: deliveries, fan-out, mail.
    jobs: Jobs {
        /// Most jobs running at the same time. 0: this node runs none, and notifies the others of the jobs it queues.
        workers: usize = 4, 0..=256;
        /// How often to poll for jobs that another node queued or an earlier run left.
        poll_interval_ms: u64 = 1000, 10..=60_000;
        /// How many attempts a job gets before it becomes a dead letter for an admin.
        max_attempts: u32 = 16, 1..=100;
        /// How long the jobs of a crashed node stay leased before they are retried. A running node renews its leases.
        lease_seconds: u64 = 300, 5..=3600;
    }

    /// Plugins.
    plugins: Plugins {
        /// Whether there is a plugin platform. Without it no plugin is loaded, plugins have no routes, and changes that
        /// happen meanwhile are not delivered to them later.
        enabled: bool = true;
        /// Whether the plugins that come with the server are enabled from its first start.
        embedded: bool = true;
        /// The folder of further plugins: folders with a `plugin.toml`, and `.plugin` files.
        dir: PathBuf = derived("plugins in storage.data_dir", |known| in_data_dir(known, "plugins"));
        /// The folder of compiled plugins, and of copies of earlier versions.
        cache_dir: PathBuf = derived("plugin-cache in storage.data_dir", |known| in_data_dir(known, "plugin-cache"));
        /// Whether a plugin is reloaded soon after its files change. Without `server.development`, a package that the
        /// admin did not accept waits for `rookery plugin reload`.
        watch: bool = derived("the value of server.development", |known| known.get("server.development"));
        /// How long the download of one file by `rookery plugin install` or `upgrade` may take.
        download_timeout_seconds: u64 = 120, 1..=3600;
        /// Checksums (SHA-256) of components and packages that must not be loaded.
        denied: Vec<String> = [];
        /// Most instances of all plugins together at the same time.
        instances: u32 = 64, 4..=4096;
        /// The memory limit of one instance.
        memory_limit_bytes: usize = 64 * MIB, 4 * MIB..=GIB;
        /// How many connections to the database each plugin that reads gets, in addition to
        /// `database.max_connections`; hooks that decide about changes use one more.
        database_connections: u32 = 2, 1..=100;
        /// How long a plugin may keep a transaction open before it is rolled back. On SQLite all other writers wait.
        transaction_timeout_ms: u64 = 1000, 50..=60_000;
        /// The same limit on SQLite while others wait for the transaction.
        contended_transaction_ms: u64 = 60, 10..=60_000;
        /// How long a migration may block other writers on SQLite before it is interrupted. It is tried six times
        /// within some seconds before it fails; a migration in batches lets other writers continue in between.
        contended_migration_ms: u64 = 60, 10..=3_600_000;
        /// How long the migrations, statements and self-test of a plugin may take together when it is loaded. On SQLite
        /// all other writers wait.
        migration_timeout_seconds: u64 = 60, 1..=3600;
    }

    /// Contents of timelines.
    timelines: Timelines {
        /// Public timelines exclude languages that the viewer has not chosen.
        filter_by_locale: bool = true;
        /// Most statuses in a home timeline.
        home_limit: u32 = 1000, 100..=100_000;
    }

    /// Notifications.
    notifications: Notifications {
        /// After how many days they are deleted. 0: never.
        retention_days: u32 = 180, 0..=36_500;
    }

    /// Pages in browsers.
    web: Web {
        /// The folder with the built files of another web client, such as Phanpy or Elk, which is served at /client. Its
        /// scripts run on the origin of this server: trust them as the server itself. Empty: none.
        client_folder: Option<PathBuf> = "";
    }

    /// Limits and rules for accounts.
    accounts: Accounts {
        /// How many accounts every account may follow.
        max_follows_threshold: u64 = 7500, 0..=10_000_000;
        /// Above that threshold, the most follows of an account as a multiple of its follower count.
        max_follows_ratio: f64 = 1.1, 0.0..=1000.0;
        /// Usernames that cannot be registered.
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

fn has_endpoint(known: &Reader) -> Option<Value> {
    let endpoint = known.get("s3.endpoint")?;
    Some(Value::Flag(endpoint.as_text().is_some_and(|url| !url.is_empty())))
}

fn default_database(known: &Reader) -> Option<Value> {
    let file = in_data_dir(known, "rookery.db")?;
    Some(DatabaseUrl::sqlite_file(Path::new(file.as_text()?)).write())
}

fn default_sender(known: &Reader) -> Option<Value> {
    Some(Value::Text(format!("rookery@{}", domain(known)?.host())))
}
