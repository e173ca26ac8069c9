//! How the files of domains are served.
//!
//! Read with the policy about other servers ([`domain_policy`](crate::domain_policy)). A change calls
//! [`settings::bump_generation`](crate::settings::bump_generation).
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

use database::{Conn, Result, Tx, sql};
use model::remote_file::RemoteMediaMode;
use model::{Time, boxed};

/// How the files of a domain and its subdomains are served.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct DomainMode {
    pub domain: String,
    pub mode: RemoteMediaMode,
}

/// The domains whose files are served in their own way, by name.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<DomainMode>> {
    db.query(sql!("SELECT m.domain, m.mode FROM remote_media_modes m ORDER BY m.domain")).all().await
}

/// Sets how the files of a domain are served.
#[boxed]
pub async fn set(tx: &mut Tx, domain: &str, mode: RemoteMediaMode, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO remote_media_modes (domain, mode, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (domain) DO UPDATE SET mode = excluded.mode"
    ))
    .bind(domain.to_owned())
    .bind(mode)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Lets the files of a domain be served as those of others; false when they were.
#[boxed]
pub async fn delete(tx: &mut Tx, domain: &str) -> Result<bool> {
    let deleted =
        tx.query(sql!("DELETE FROM remote_media_modes WHERE domain = $1")).bind(domain.to_owned()).execute().await?;
    Ok(deleted > 0)
}
