//! The terms of service, in all their versions, and the recipients of mails about a new one.
//!
//! Reached from `service::terms`. The setting `terms_of_service_dates` has the dates of all versions.

use database::{Conn, Result, Tx, sql};
use model::instance::TermsOfService;
use model::{AccountId, RowId, boxed};

/// The version that applies from the day `date`.
#[boxed]
pub async fn find(db: Conn<'_>, date: &str) -> Result<Option<TermsOfService>> {
    db.query(sql!(
        "SELECT t.id, t.effective_date, t.text, t.created_at FROM terms_of_service t WHERE t.effective_date = $1"
    ))
    .bind(date.to_owned())
    .optional()
    .await
}

/// The version `id`.
#[boxed]
pub async fn find_by_id(db: Conn<'_>, id: RowId) -> Result<Option<TermsOfService>> {
    db.query(sql!("SELECT t.id, t.effective_date, t.text, t.created_at FROM terms_of_service t WHERE t.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// Inserts a version; false when there is one of the same date.
#[boxed]
pub async fn insert(tx: &mut Tx, terms: &TermsOfService) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO terms_of_service (id, effective_date, text, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (effective_date) DO NOTHING"
        ))
        .bind(terms.id)
        .bind(terms.effective_date.clone())
        .bind(terms.text.clone())
        .bind(terms.created_at)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Deletes the version of the day `date`; false when there is none.
#[boxed]
pub async fn delete(tx: &mut Tx, date: &str) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM terms_of_service WHERE effective_date = $1"))
        .bind(date.to_owned())
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// At most `limit` people after `after`, in the order of their ids, whose address is confirmed and who may use their
/// account.
#[boxed]
pub async fn recipients(db: Conn<'_>, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT u.account_id
         FROM users u
         JOIN accounts a ON a.id = u.account_id
         WHERE u.account_id > $1 AND u.confirmed_at IS NOT NULL AND u.approved AND NOT u.disabled
           AND a.suspended_at IS NULL
         ORDER BY u.account_id
         LIMIT $2"
    ))
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}
