//! Services of a context as the configuration describes them.

use std::path::Path;
use std::time::Duration;

use config::{Config, Scheme};
use crypto::Keys;
use media::{Converter, Programs, Sandbox};
use model::remote_file::RemoteTags;
use model::urls::Urls;

/// The database options of `config`.
#[must_use]
pub fn db_options(config: &Config) -> database::Options {
    database::Options {
        url: config.database.url.expose().to_owned(),
        max_connections: config.database.max_connections,
        acquire_timeout: Duration::from_secs(config.database.acquire_timeout_seconds),
        plugin_connections: config.plugins.database_connections,
    }
}

/// Decodes images in processes of `executable`.
pub(crate) fn sandbox(config: &Config, executable: &Path) -> Sandbox {
    let timeout = Duration::from_secs(config.media.decode_timeout_seconds);
    Sandbox::new(executable).with_limits(config.media.max_concurrent_decodes, timeout)
}

/// The converter of video and audio of `config`; `executable` as for [`Cx::open`](crate::Cx::open).
#[must_use]
pub fn converter(config: &Config, executable: &Path) -> Converter {
    let media = &config.media;
    let found = config::program(&media.ffmpeg.0).zip(config::program(&media.ffprobe.0));
    let programs = found.and_then(|(ffmpeg, ffprobe)| Programs::at(&ffmpeg, &ffprobe));
    let time_limit = Duration::from_secs(media.conversion_timeout_seconds);
    // Re-encoding may make a file larger.
    let max_bytes = media.video_size_limit_bytes.saturating_mul(2);
    Converter::new(
        executable,
        programs,
        media.max_concurrent_conversions,
        time_limit,
        max_bytes,
        media.duration_limit_seconds,
    )
}

/// The addresses of this server.
pub(crate) fn urls(config: &Config, keys: &Keys) -> Urls {
    let scheme = match config.server.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    Urls {
        origin: format!("{scheme}://{}", config.server.web_domain),
        local_domain: config.server.local_domain.as_str().to_owned(),
        web_domain: config.server.web_domain.as_str().to_owned(),
        remote_tags: RemoteTags::new(keys),
    }
}
