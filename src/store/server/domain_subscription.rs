//! Subscribed lists of domains: their entries and drafts, the blocks that they made, and the domains that no list may
//! block.
//!
//! Reached from `service::domain_subscription` and `service::domain_list`. The blocks themselves are in
//! [`domain_policy`](crate::domain_policy) and [`domain_list`](crate::domain_list).
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use serde_json::{Value, json};

use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::domain_list::{DraftChange, ListFormat, ListMode};
use model::instance::Severity;
use model::{Json, RowId, Time, boxed};

/// A subscribed list.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "domain_lists", alias = "d")]
pub struct DomainList {
    pub id: RowId,
    pub url: String,
    /// `None`: it is detected.
    pub format: Option<ListFormat>,
    /// The list with the highest decides about a domain; of equal ones, the older.
    pub priority: i64,
    pub mode: ListMode,
    /// The severity of all its entries, whatever the list has for them.
    pub severity: Option<Severity>,
    pub etag: Option<String>,
    pub due_at: Time,
    /// The last success.
    pub fetched_at: Option<Time>,
    /// Failures since then.
    pub failures: i64,
    pub error: Option<String>,
    /// How many lines were not taken.
    pub faults: i64,
    pub created_at: Time,
}

/// A domain that a list names, with the parameters of its block as JSON.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct ListedDomain {
    pub domain: String,
    pub block: String,
}

/// The decision of the lists about a domain.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct Decided {
    pub domain: String,
    pub block: String,
    pub list_id: RowId,
}

/// A change that a list proposes.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct Draft {
    pub list_id: RowId,
    pub domain: String,
    pub change: DraftChange,
    /// `None` for a removal.
    pub block: Option<String>,
    pub dismissed: bool,
}

/// All lists, by priority.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<DomainList>> {
    db.query(sql!("SELECT " domain_list_columns!() " FROM domain_lists d ORDER BY d.priority DESC, d.id")).all().await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<DomainList>> {
    db.query(sql!("SELECT " domain_list_columns!() " FROM domain_lists d WHERE d.id = $1")).bind(id).optional().await
}

/// The list with this address.
#[boxed]
pub async fn find_by_url(db: Conn<'_>, url: &str) -> Result<Option<DomainList>> {
    db.query(sql!("SELECT " domain_list_columns!() " FROM domain_lists d WHERE d.url = $1"))
        .bind(url.to_owned())
        .optional()
        .await
}

/// Locks all lists, so that only one transaction at a time changes blocks for them.
#[boxed]
pub async fn lock(tx: &mut Tx) -> Result<Vec<DomainList>> {
    macro_rules! all {
        () => {
            concat!("SELECT ", domain_list_columns!(), " FROM domain_lists d ORDER BY d.id")
        };
    }
    tx.query(sql!(sqlite: all!(); postgres: all!() " FOR UPDATE")).all().await
}

/// Inserts a list; false when its address is subscribed to.
#[boxed]
pub async fn insert(tx: &mut Tx, list: &DomainList) -> Result<bool> {
    let inserted =
        tx.query(sql!(domain_list_insert!() " ON CONFLICT (url) DO NOTHING")).bind_row(list).execute().await?;
    Ok(inserted > 0)
}

/// Stores the options and the state of a list; its address stays.
#[boxed]
pub async fn update(tx: &mut Tx, list: &DomainList) -> Result<()> {
    tx.query(sql!(
        "UPDATE domain_lists
         SET format = $2, priority = $3, mode = $4, severity = $5, etag = $6, due_at = $7, fetched_at = $8,
             failures = $9, error = $10, faults = $11
         WHERE id = $1"
    ))
    .bind(list.id)
    .bind(list.format)
    .bind(list.priority)
    .bind(list.mode)
    .bind(list.severity)
    .bind(list.etag.clone())
    .bind(list.due_at)
    .bind(list.fetched_at)
    .bind(list.failures)
    .bind(list.error.clone())
    .bind(list.faults)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a list with its entries, its drafts and the links to the blocks that it made.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_lists WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// The entries of a list, by domain.
#[boxed]
pub async fn list_entries(db: Conn<'_>, list: RowId) -> Result<Vec<ListedDomain>> {
    db.query(sql!("SELECT e.domain, e.block FROM domain_list_entries e WHERE e.list_id = $1 ORDER BY e.domain"))
        .bind(list)
        .all()
        .await
}

/// The number of entries of each list, and of its drafts that are not dismissed.
#[boxed]
pub async fn counts(db: Conn<'_>) -> Result<Vec<(RowId, i64, i64)>> {
    db.query(sql!(
        "SELECT d.id, (SELECT COUNT(*) FROM domain_list_entries e WHERE e.list_id = d.id) AS entries,
                (SELECT COUNT(*) FROM domain_list_drafts r WHERE r.list_id = d.id AND NOT r.dismissed) AS drafts
         FROM domain_lists d"
    ))
    .all()
    .await
}

/// Stores entries of a list, in place of earlier ones for the same domains.
#[boxed]
pub async fn put_entries(tx: &mut Tx, list: RowId, entries: &[ListedDomain]) -> Result<()> {
    let rows: Vec<Value> = entries.iter().map(|entry| json!([entry.domain, entry.block])).collect();
    tx.query(sql!(
        "INSERT INTO domain_list_entries (list_id, domain, block)
         SELECT $2, value ->> 0, value ->> 1 FROM " rows("$1")
        " WHERE TRUE ON CONFLICT (list_id, domain) DO UPDATE SET block = excluded.block"
    ))
    .bind(Json(rows))
    .bind(list)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the entries of a list for these domains.
#[boxed]
pub async fn delete_entries(tx: &mut Tx, list: RowId, domains: &[&str]) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_list_entries WHERE list_id = $2 AND domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .bind(list)
        .execute()
        .await?;
    Ok(())
}

/// Deletes all entries of a list.
#[boxed]
pub async fn delete_all_entries(tx: &mut Tx, list: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_list_entries WHERE list_id = $1")).bind(list).execute().await?;
    Ok(())
}

/// The decision of all lists about each domain that any names: the entry of the list with the highest priority.
#[boxed]
pub async fn decisions(db: Conn<'_>) -> Result<Vec<Decided>> {
    db.query(sql!(
        "SELECT r.domain, r.block, r.list_id
         FROM (SELECT e.domain, e.block, e.list_id,
                      ROW_NUMBER() OVER (PARTITION BY e.domain ORDER BY d.priority DESC, d.id) AS place
               FROM domain_list_entries e JOIN domain_lists d ON d.id = e.list_id) r
         WHERE r.place = 1"
    ))
    .all()
    .await
}

/// The drafts of a list, by domain.
#[boxed]
pub async fn list_drafts(db: Conn<'_>, list: RowId) -> Result<Vec<Draft>> {
    db.query(sql!(
        "SELECT r.list_id, r.domain, r.change, r.block, r.dismissed FROM domain_list_drafts r
         WHERE r.list_id = $1 ORDER BY r.domain"
    ))
    .bind(list)
    .all()
    .await
}

/// A page of the drafts of a list that are not dismissed, by domain: those after `after`.
#[boxed]
pub async fn list_open_drafts(db: Conn<'_>, list: RowId, after: &str, limit: i64) -> Result<Vec<Draft>> {
    db.query(sql!(
        "SELECT r.list_id, r.domain, r.change, r.block, r.dismissed FROM domain_list_drafts r
         WHERE r.list_id = $1 AND r.domain > $2 AND NOT r.dismissed ORDER BY r.domain LIMIT $3"
    ))
    .bind(list)
    .bind(after.to_owned())
    .bind(limit)
    .all()
    .await
}

/// Stores drafts of a list, in place of earlier ones for the same domains.
#[boxed]
pub async fn put_drafts(tx: &mut Tx, list: RowId, drafts: &[Draft]) -> Result<()> {
    let bit = |dismissed: bool| if dismissed { "1" } else { "0" };
    let row = |draft: &Draft| json!([draft.domain, draft.change, draft.block, bit(draft.dismissed)]);
    let rows: Vec<Value> = drafts.iter().map(row).collect();
    tx.query(sql!(
        "INSERT INTO domain_list_drafts (list_id, domain, change, block, dismissed)
         SELECT $2, value ->> 0, value ->> 1, value ->> 2, value ->> 3 = '1' FROM " rows("$1")
        " WHERE TRUE ON CONFLICT (list_id, domain) DO UPDATE
         SET change = excluded.change, block = excluded.block, dismissed = excluded.dismissed"
    ))
    .bind(Json(rows))
    .bind(list)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the drafts of a list for these domains.
#[boxed]
pub async fn delete_drafts(tx: &mut Tx, list: RowId, domains: &[&str]) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_list_drafts WHERE list_id = $2 AND domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .bind(list)
        .execute()
        .await?;
    Ok(())
}

/// The domains whose blocks lists made, each with its list.
#[boxed]
pub async fn list_made(db: Conn<'_>) -> Result<Vec<(String, RowId)>> {
    db.query(sql!("SELECT m.domain, m.list_id FROM domain_list_blocks m")).all().await
}

/// Stores that lists made the blocks of these domains.
#[boxed]
pub async fn put_made(tx: &mut Tx, made: &[(&str, RowId)]) -> Result<()> {
    let rows: Vec<Value> = made.iter().map(|(domain, list)| json!([domain, i64::from(*list)])).collect();
    tx.query(sql!(
        "INSERT INTO domain_list_blocks (domain, list_id)
         SELECT value ->> 0, CAST(value ->> 1 AS BIGINT) FROM " rows("$1")
        " WHERE TRUE ON CONFLICT (domain) DO UPDATE SET list_id = excluded.list_id"
    ))
    .bind(Json(rows))
    .execute()
    .await?;
    Ok(())
}

/// Stores that no list made the blocks of these domains: they are the decisions of people.
#[boxed]
pub async fn release(tx: &mut Tx, domains: &[&str]) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_list_blocks WHERE domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// Deletes the blocks of these domains.
#[boxed]
pub async fn delete_blocks(tx: &mut Tx, domains: &[&str]) -> Result<()> {
    tx.query(sql!("DELETE FROM domain_blocks WHERE domain" in("$1")))
        .bind(Texts::of(domains.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The domains that no list may block, in order.
#[boxed]
pub async fn list_exclusions(db: Conn<'_>) -> Result<Vec<String>> {
    db.query(sql!("SELECT x.domain FROM domain_exclusions x ORDER BY x.domain")).scalars().await
}

/// Excludes a domain from lists; false when it was excluded already.
#[boxed]
pub async fn insert_exclusion(tx: &mut Tx, domain: &str, now: Time) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO domain_exclusions (domain, created_at) VALUES ($1, $2) ON CONFLICT (domain) DO NOTHING"
        ))
        .bind(domain.to_owned())
        .bind(now)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Ends an exclusion; false when there is none.
#[boxed]
pub async fn delete_exclusion(tx: &mut Tx, domain: &str) -> Result<bool> {
    let deleted =
        tx.query(sql!("DELETE FROM domain_exclusions WHERE domain = $1")).bind(domain.to_owned()).execute().await?;
    Ok(deleted > 0)
}
