//! How the files of a host are served: as the setting `remote_media` has it, or as staff decided for its domain.

use context::Cx;
use context::error::{Error, Result};
use model::Staff;
use model::remote_file::RemoteMediaMode;
use serde_json::json;
use store::remote_media_mode::{self, DomainMode};

use crate::audit::{self, Entry, Target};
use crate::domain_decision;

/// Most domains with a mode of their own.
const MOST: usize = 10_000;

/// How the files of `host` are served.
#[must_use]
pub fn of(cx: &Cx, host: &str) -> RemoteMediaMode {
    cx.domain_policy().media_mode(host).unwrap_or(cx.settings().remote_media)
}

/// The domains whose files are served in their own way, by name.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<DomainMode>> {
    Ok(remote_media_mode::list(&cx.db).await?)
}

/// Sets how the files of `domain` and its subdomains are served; `None`: as those of others. Returns the domain as it is
/// stored.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no domain, a domain of this server, and beyond 10,000 domains.
#[model::use_case]
pub async fn set(cx: &Cx, staff: &Staff, domain: &str, mode: Option<RemoteMediaMode>) -> Result<String> {
    let domain = domain_decision::parse(cx, domain)?;
    let mut tx = cx.db.begin().await?;
    let changed = match mode {
        Some(mode) => {
            if remote_media_mode::list(&mut tx).await?.len() >= MOST {
                return Err(Error::invalid(format!("There can be at most {MOST} domains with a mode of their own")));
            }
            remote_media_mode::set(&mut tx, &domain, mode, cx.clock.now()).await?;
            true
        }
        None => remote_media_mode::delete(&mut tx, &domain).await?,
    };
    if !changed {
        return Ok(domain);
    }
    let entry = Entry::new("remote_media.update", Target::new("domain", 0, domain.clone()));
    audit::record(cx, &mut tx, staff, entry.with(json!({ "mode": mode.map(RemoteMediaMode::as_str) }))).await?;
    domain_decision::publish(cx, tx).await?;
    Ok(domain)
}
