//! Blocked e-mail addresses: domains with their subdomains, and single addresses by the hash of their canonical form.
//!
//! Reached from `service::email_block`, which decides what a block means. Spec: docs/contract/admin.csv.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, paged, sql};
use model::{Cursor, RowId, Time, boxed};

/// A domain whose e-mail addresses cannot be used to sign up.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "email_domain_blocks", alias = "b")]
pub struct EmailDomainBlock {
    pub id: RowId,
    pub domain: String,
    /// A moderator decides about each sign-up instead.
    pub allow_with_approval: bool,
    pub created_at: Time,
}

/// A blocked e-mail address.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "canonical_email_blocks", alias = "b")]
pub struct CanonicalEmailBlock {
    pub id: RowId,
    /// In hexadecimal.
    pub canonical_email_hash: String,
    pub created_at: Time,
}

/// A page of the blocked domains, newest first.
#[boxed]
pub async fn list_domains(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<EmailDomainBlock>> {
    let sql = paged!(
        cursor,
        "SELECT " email_domain_block_columns!() " FROM email_domain_blocks b WHERE b.id < $1 AND b.id > $2",
        by "b.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find_domain(db: Conn<'_>, id: RowId) -> Result<Option<EmailDomainBlock>> {
    db.query(sql!("SELECT " email_domain_block_columns!() " FROM email_domain_blocks b WHERE b.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// The blocks of exactly these domains, in no order.
#[boxed]
pub async fn list_of_domains(db: Conn<'_>, domains: &[&str]) -> Result<Vec<EmailDomainBlock>> {
    db.query(sql!("SELECT " email_domain_block_columns!() " FROM email_domain_blocks b WHERE b.domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .all()
        .await
}

/// Inserts a block of a domain.
///
/// # Errors
/// A violation of `email_domain_blocks_domain` when the domain is blocked already.
#[boxed]
pub async fn insert_domain(tx: &mut Tx, block: &EmailDomainBlock) -> Result<()> {
    tx.query(sql!(email_domain_block_insert!())).bind_row(block).execute().await?;
    Ok(())
}

/// Deletes the block of a domain, with its attempts; false when it is missing.
#[boxed]
pub async fn delete_domain(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM email_domain_blocks WHERE id = $1")).bind(id).execute().await? > 0)
}

/// Counts an attempt to use the address with this hash, on `day`, against each of these blocks.
#[boxed]
pub async fn count_attempt(tx: &mut Tx, blocks: &[RowId], day: i64, email_hash: &str) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO email_domain_attempts (email_domain_block_id, day, email_hash, uses)
         SELECT b.id, $2, $3, 1 FROM email_domain_blocks b WHERE b.id" in("$1") "
         ON CONFLICT (email_domain_block_id, day, email_hash) DO UPDATE SET uses = email_domain_attempts.uses + 1"
    ))
    .bind(Ids::of(blocks.iter().copied()))
    .bind(day)
    .bind(email_hash.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// The attempts against these blocks since the day `since`: block, day, all attempts, and the number of different
/// addresses. Days without any are left out.
#[boxed]
pub async fn attempts(db: Conn<'_>, blocks: &[RowId], since: i64) -> Result<Vec<(RowId, i64, i64, i64)>> {
    db.query(sql!(
        "SELECT t.email_domain_block_id, t.day, CAST(SUM(t.uses) AS BIGINT), COUNT(*)
         FROM email_domain_attempts t
         WHERE t.email_domain_block_id" in("$1") "AND t.day >= $2
         GROUP BY t.email_domain_block_id, t.day"
    ))
    .bind(Ids::of(blocks.iter().copied()))
    .bind(since)
    .all()
    .await
}

/// Deletes the attempts before `day`; returns how many rows.
#[boxed]
pub async fn delete_old_attempts(tx: &mut Tx, day: i64) -> Result<u64> {
    tx.query(sql!("DELETE FROM email_domain_attempts WHERE day < $1")).bind(day).execute().await
}

/// A page of the blocked addresses, newest first.
#[boxed]
pub async fn list_addresses(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<CanonicalEmailBlock>> {
    let sql = paged!(
        cursor,
        "SELECT " canonical_email_block_columns!() " FROM canonical_email_blocks b WHERE b.id < $1 AND b.id > $2",
        by "b.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find_address(db: Conn<'_>, id: RowId) -> Result<Option<CanonicalEmailBlock>> {
    db.query(sql!("SELECT " canonical_email_block_columns!() " FROM canonical_email_blocks b WHERE b.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// The block of the address with this hash.
#[boxed]
pub async fn find_by_hash(db: Conn<'_>, hash: &str) -> Result<Option<CanonicalEmailBlock>> {
    db.query(sql!(
        "SELECT " canonical_email_block_columns!() " FROM canonical_email_blocks b WHERE b.canonical_email_hash = $1"
    ))
    .bind(hash.to_owned())
    .optional()
    .await
}

/// Inserts a block of an address.
///
/// # Errors
/// A violation of `canonical_email_blocks_hash` when the address is blocked already.
#[boxed]
pub async fn insert_address(tx: &mut Tx, block: &CanonicalEmailBlock) -> Result<()> {
    tx.query(sql!(canonical_email_block_insert!())).bind_row(block).execute().await?;
    Ok(())
}

/// Inserts a block of an address, unless it is blocked already.
#[boxed]
pub async fn insert_new_address(tx: &mut Tx, block: &CanonicalEmailBlock) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO canonical_email_blocks (id, canonical_email_hash, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (canonical_email_hash) DO NOTHING"
    ))
    .bind(block.id)
    .bind(block.canonical_email_hash.clone())
    .bind(block.created_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the block of an address; false when it is missing.
#[boxed]
pub async fn delete_address(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM canonical_email_blocks WHERE id = $1")).bind(id).execute().await? > 0)
}
