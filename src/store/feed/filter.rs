//! Filters, their keywords, and the statuses added to them.
//!
//! Reached from `service::filter`, which locks the account first (`account::lock`) to enforce limits, and raises the
//! version ([`raise_version`]) with every change. Spec: docs/contract/rules.md#15-filters.

use database::{Conn, Result, Tx, sql};
use model::filter::{FilterAction, FilterContext};
use model::{AccountId, FilterId, Json, RowId, StatusId, Time, boxed};

#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "filters", alias = "f")]
pub struct FilterRow {
    pub id: FilterId,
    pub account_id: AccountId,
    pub title: String,
    pub context: Json<Vec<FilterContext>>,
    pub action: FilterAction,
    pub expires_at: Option<Time>,
    pub exclude_follows: bool,
    pub exclude_local_users: bool,
    pub with_quote: bool,
    pub with_profile: bool,
}

/// A keyword of a filter.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "filter_keywords", alias = "k")]
pub struct FilterKeywordRow {
    pub id: RowId,
    pub filter_id: FilterId,
    pub keyword: String,
    pub whole_word: bool,
}

/// A status that was added to a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, model::Row)]
#[row(table = "filter_statuses", alias = "s")]
pub struct FilterStatusRow {
    pub id: RowId,
    pub filter_id: FilterId,
    pub status_id: StatusId,
}

/// An account's usage of the limited resources.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Usage {
    /// Filters, including expired ones.
    pub filters: i64,
    /// Keywords of all its filters.
    pub keywords: i64,
    /// The characters of all its keywords.
    pub characters: i64,
    /// Statuses in all its filters.
    pub statuses: i64,
}

/// The filters of `account`, oldest first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId) -> Result<Vec<FilterRow>> {
    db.query(sql!("SELECT " filter_columns!() " FROM filters f WHERE f.account_id = $1 ORDER BY f.id"))
        .bind(account)
        .all()
        .await
}

/// The filter `id` of `account`.
#[boxed]
pub async fn find(db: Conn<'_>, account: AccountId, id: FilterId) -> Result<Option<FilterRow>> {
    db.query(sql!("SELECT " filter_columns!() " FROM filters f WHERE f.id = $2 AND f.account_id = $1"))
        .bind(account)
        .bind(id)
        .optional()
        .await
}

/// The keywords of all filters of `account`, oldest first. `CROSS JOIN` fixes this order on SQLite.
#[boxed]
pub async fn list_keywords(db: Conn<'_>, account: AccountId) -> Result<Vec<FilterKeywordRow>> {
    let mut rows: Vec<FilterKeywordRow> = db
        .query(sql!(
            "SELECT " filter_keyword_columns!() "
             FROM filters f CROSS JOIN filter_keywords k
             WHERE f.account_id = $1 AND k.filter_id = f.id"
        ))
        .bind(account)
        .all()
        .await?;
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows)
}

/// The statuses in all filters of `account`, in the order in which they were added.
#[boxed]
pub async fn list_statuses(db: Conn<'_>, account: AccountId) -> Result<Vec<FilterStatusRow>> {
    let mut rows: Vec<FilterStatusRow> = db
        .query(sql!(
            "SELECT " filter_status_columns!() "
             FROM filters f CROSS JOIN filter_statuses s
             WHERE f.account_id = $1 AND s.filter_id = f.id"
        ))
        .bind(account)
        .all()
        .await?;
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows)
}

/// The keywords of one filter, oldest first.
#[boxed]
pub async fn list_keywords_of(db: Conn<'_>, filter: FilterId) -> Result<Vec<FilterKeywordRow>> {
    db.query(sql!("SELECT " filter_keyword_columns!() " FROM filter_keywords k WHERE k.filter_id = $1 ORDER BY k.id"))
        .bind(filter)
        .all()
        .await
}

/// The statuses in one filter, in the order in which they were added.
#[boxed]
pub async fn list_statuses_of(db: Conn<'_>, filter: FilterId) -> Result<Vec<FilterStatusRow>> {
    let mut rows: Vec<FilterStatusRow> = db
        .query(sql!("SELECT " filter_status_columns!() " FROM filter_statuses s WHERE s.filter_id = $1"))
        .bind(filter)
        .all()
        .await?;
    rows.sort_unstable_by_key(|row| row.id);
    Ok(rows)
}

/// The keyword `id`, if it belongs to a filter of `account`.
#[boxed]
pub async fn find_keyword(db: Conn<'_>, account: AccountId, id: RowId) -> Result<Option<FilterKeywordRow>> {
    db.query(sql!(
        "SELECT " filter_keyword_columns!() "
         FROM filter_keywords k
         JOIN filters f ON f.id = k.filter_id
         WHERE k.id = $2 AND f.account_id = $1"
    ))
    .bind(account)
    .bind(id)
    .optional()
    .await
}

/// The entry `id` of a status, if it belongs to a filter of `account`.
#[boxed]
pub async fn find_status(db: Conn<'_>, account: AccountId, id: RowId) -> Result<Option<FilterStatusRow>> {
    db.query(sql!(
        "SELECT " filter_status_columns!() "
         FROM filter_statuses s
         JOIN filters f ON f.id = s.filter_id
         WHERE s.id = $2 AND f.account_id = $1"
    ))
    .bind(account)
    .bind(id)
    .optional()
    .await
}

/// The usage of the limited resources by `account`.
#[boxed]
pub async fn usage(db: Conn<'_>, account: AccountId) -> Result<Usage> {
    db.query(sql!(
        "SELECT
             (SELECT COUNT(*) FROM filters f WHERE f.account_id = $1) AS filters,
             (SELECT COUNT(*) FROM filters f CROSS JOIN filter_keywords k
              WHERE f.account_id = $1 AND k.filter_id = f.id) AS keywords,
             (SELECT CAST(coalesce(SUM(length(k.keyword)), 0) AS BIGINT) FROM filters f CROSS JOIN filter_keywords k
              WHERE f.account_id = $1 AND k.filter_id = f.id) AS characters,
             (SELECT COUNT(*) FROM filters f CROSS JOIN filter_statuses s
              WHERE f.account_id = $1 AND s.filter_id = f.id) AS statuses"
    ))
    .bind(account)
    .one()
    .await
}

#[boxed]
pub async fn insert(tx: &mut Tx, row: &FilterRow) -> Result<()> {
    tx.query(sql!(filter_insert!())).bind_row(row).execute().await?;
    Ok(())
}

/// Overwrites a filter of `row.account_id`.
#[boxed]
pub async fn update(tx: &mut Tx, row: &FilterRow) -> Result<()> {
    tx.query(sql!(
        "UPDATE filters
         SET title = $3, context = $4, action = $5, expires_at = $6, exclude_follows = $7, exclude_local_users = $8,
             with_quote = $9, with_profile = $10
         WHERE id = $1 AND account_id = $2"
    ))
    .bind_row(row)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the filter `id` of `account` with its keywords and statuses; false when there is none.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: FilterId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM filters WHERE id = $2 AND account_id = $1"))
        .bind(account)
        .bind(id)
        .execute()
        .await?;
    Ok(deleted > 0)
}

#[boxed]
pub async fn insert_keyword(tx: &mut Tx, row: &FilterKeywordRow) -> Result<()> {
    tx.query(sql!(filter_keyword_insert!())).bind_row(row).execute().await?;
    Ok(())
}

/// Overwrites a keyword.
#[boxed]
pub async fn update_keyword(tx: &mut Tx, row: &FilterKeywordRow) -> Result<()> {
    tx.query(sql!("UPDATE filter_keywords SET keyword = $3, whole_word = $4 WHERE id = $1 AND filter_id = $2"))
        .bind_row(row)
        .execute()
        .await?;
    Ok(())
}

#[boxed]
pub async fn delete_keyword(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM filter_keywords WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Adds a status to a filter; false when it is already in the filter.
#[boxed]
pub async fn insert_status(tx: &mut Tx, row: &FilterStatusRow) -> Result<bool> {
    let inserted = tx
        .query(sql!(filter_status_insert!() " ON CONFLICT (filter_id, status_id) DO NOTHING"))
        .bind_row(row)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Removes a status from its filter.
#[boxed]
pub async fn delete_status(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM filter_statuses WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Raises the version of the filters of `account`, which `tx` changes: servers then read them again.
#[boxed]
pub async fn raise_version(tx: &mut Tx, account: AccountId) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts
         SET filters_version = CASE WHEN EXISTS (SELECT 1 FROM filters f WHERE f.account_id = $1)
                                    THEN abs(filters_version) + 1 ELSE -abs(filters_version) - 1 END
         WHERE id = $1"
    ))
    .bind(account)
    .execute()
    .await?;
    Ok(())
}
