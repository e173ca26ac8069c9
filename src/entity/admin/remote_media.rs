//! Copies of files of other servers. An addition of this server.

use serde::Serialize;

use context::Cx;
use model::remote_file::{RemoteFileKind, RemoteMediaMode};
use service::remote::files::stock::{Overview, Total};

/// Copies of files of other servers, their budget, and how files are served.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoteMedia {
    /// How files are served, unless their domain has its own mode.
    pub mode: RemoteMediaMode,
    /// The budget in bytes; 0: no limit.
    pub limit_bytes: u64,
    /// Days since their last use until copies are removed; 0: no limit.
    pub days: i64,
    pub files: i64,
    pub bytes: i64,
    pub failed: i64,
    pub kinds: Vec<OfKind>,
    /// Those with the most bytes, at most 100.
    pub hosts: Vec<OfHost>,
    pub domains: Vec<OfDomain>,
}

/// Copies of one kind of file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfKind {
    pub kind: RemoteFileKind,
    pub files: i64,
    pub bytes: i64,
    pub failed: i64,
}

/// Copies of files of one host.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfHost {
    pub host: String,
    pub mode: RemoteMediaMode,
    pub files: i64,
    pub bytes: i64,
    pub failed: i64,
}

/// A domain whose files are served in their own way.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfDomain {
    pub domain: String,
    pub mode: RemoteMediaMode,
}

impl RemoteMedia {
    #[must_use]
    pub fn new(cx: &Cx, overview: Overview) -> Self {
        let Overview { total, kinds, hosts, domains } = overview;
        let kinds =
            kinds.into_iter().map(|(kind, Total { files, bytes, failed })| OfKind { kind, files, bytes, failed });
        let hosts = hosts.into_iter().map(|(host, mode, total)| OfHost {
            host,
            mode,
            files: total.files,
            bytes: total.bytes,
            failed: total.failed,
        });
        let domains = domains.into_iter().map(|row| OfDomain { domain: row.domain, mode: row.mode });
        Self {
            mode: cx.settings().remote_media,
            limit_bytes: cx.config.media.remote_limit_bytes,
            days: cx.settings().remote_media_days,
            files: total.files,
            bytes: total.bytes,
            failed: total.failed,
            kinds: kinds.collect(),
            hosts: hosts.collect(),
            domains: domains.collect(),
        }
    }
}
