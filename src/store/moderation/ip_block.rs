//! Blocked networks.
//!
//! Reached from `context::Cx`, which keeps them in memory, and from `service::ip_block`. Every change ends with
//! [`settings::bump_generation`](crate::settings::bump_generation). Spec: docs/contract/admin.csv.

use database::{Conn, Result, Tx, paged, sql};
use model::address::parse_network;
use model::ip_block::{IpBlocks, IpRule, IpSeverity};
use model::{Cursor, RowId, Time, boxed};

/// A blocked network.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "ip_blocks", alias = "b")]
pub struct IpBlock {
    pub id: RowId,
    /// In CIDR notation, as [`parse_network`] returns it.
    pub ip: String,
    pub severity: IpSeverity,
    pub comment: String,
    pub expires_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// All blocks, for the comparison with requests.
#[boxed]
pub async fn load(db: Conn<'_>) -> Result<IpBlocks> {
    let blocks: Vec<(String, IpSeverity, Option<Time>)> =
        db.query(sql!("SELECT b.ip, b.severity, b.expires_at FROM ip_blocks b ORDER BY b.ip")).all().await?;
    let rule =
        |(ip, severity, expires_at): (String, _, _)| Some((parse_network(&ip)?, IpRule { severity, expires_at }));
    Ok(IpBlocks::new(blocks.into_iter().filter_map(rule)))
}

/// A page of the blocks, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<IpBlock>> {
    let sql = paged!(
        cursor,
        "SELECT " ip_block_columns!() " FROM ip_blocks b WHERE b.id < $1 AND b.id > $2",
        by "b.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<IpBlock>> {
    db.query(sql!("SELECT " ip_block_columns!() " FROM ip_blocks b WHERE b.id = $1")).bind(id).optional().await
}

/// The block of exactly this network.
#[boxed]
pub async fn find_by_ip(db: Conn<'_>, ip: &str) -> Result<Option<IpBlock>> {
    db.query(sql!("SELECT " ip_block_columns!() " FROM ip_blocks b WHERE b.ip = $1"))
        .bind(ip.to_owned())
        .optional()
        .await
}

/// Inserts a block.
///
/// # Errors
/// A violation of `ip_blocks_ip` when the network is blocked already.
#[boxed]
pub async fn insert(tx: &mut Tx, block: &IpBlock) -> Result<()> {
    tx.query(sql!(ip_block_insert!())).bind_row(block).execute().await?;
    Ok(())
}

/// Replaces all columns but the time of creation; false when the block is missing.
///
/// # Errors
/// As [`insert`].
#[boxed]
pub async fn update(tx: &mut Tx, block: &IpBlock) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE ip_blocks SET ip = $2, severity = $3, comment = $4, expires_at = $5, updated_at = $6 WHERE id = $1"
        ))
        .bind(block.id)
        .bind(block.ip.clone())
        .bind(block.severity)
        .bind(block.comment.clone())
        .bind(block.expires_at)
        .bind(block.updated_at)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Deletes a block; returns it, or `None` when it is missing.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<Option<IpBlock>> {
    tx.query(sql!(
        "DELETE FROM ip_blocks WHERE id = $1
         RETURNING id, ip, severity, comment, expires_at, created_at, updated_at"
    ))
    .bind(id)
    .optional()
    .await
}

/// Deletes the blocks that expired by `now`, which have no effect any more; returns how many.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM ip_blocks WHERE expires_at <= $1")).bind(now).execute().await
}

/// Deletes the block of this network if it expired by `now`.
#[boxed]
pub async fn delete_if_expired(tx: &mut Tx, ip: &str, now: Time) -> Result<()> {
    tx.query(sql!("DELETE FROM ip_blocks WHERE ip = $1 AND expires_at <= $2"))
        .bind(ip.to_owned())
        .bind(now)
        .execute()
        .await?;
    Ok(())
}
