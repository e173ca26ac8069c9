//! One-time links, which confirm an e-mail address, reset a password or create the owner: looked up by the hash of
//! their token.

use database::{Conn, Result, Tx, sql};
use model::link::{Link, LinkKind};
use model::{AccountId, RowId, Time, boxed, link_columns, link_insert};

/// Inserts a link with `token_hash`.
#[boxed]
pub async fn insert(tx: &mut Tx, link: &Link, token_hash: String, now: Time) -> Result<()> {
    tx.query(sql!(link_insert!("token_hash", "created_at")))
        .bind(token_hash)
        .bind(now)
        .bind_row(link)
        .execute()
        .await?;
    Ok(())
}

/// The link of `kind` with this token hash, unless it was used or expired by `now`.
#[boxed]
pub async fn find_by_hash(db: Conn<'_>, kind: LinkKind, token_hash: &str, now: Time) -> Result<Option<Link>> {
    db.query(sql!(
        "SELECT " link_columns!() " FROM one_time_links l WHERE l.token_hash = $1 AND l.kind = $2 AND l.expires_at > $3"
    ))
    .bind(token_hash.to_owned())
    .bind(kind)
    .bind(now)
    .optional()
    .await
}

/// The link with this id, unless it was used or expired by `now`.
#[boxed]
pub async fn find(db: Conn<'_>, id: RowId, now: Time) -> Result<Option<Link>> {
    db.query(sql!("SELECT " link_columns!() " FROM one_time_links l WHERE l.id = $1 AND l.expires_at > $2"))
        .bind(id)
        .bind(now)
        .optional()
        .await
}

/// Deletes a used link; false when it was already used, also by a concurrent request.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<bool> {
    let gone = tx.query(sql!("DELETE FROM one_time_links WHERE id = $1")).bind(id).execute().await?;
    Ok(gone > 0)
}

/// Deletes the links of `kind` for `account`; with `None`, the links without an account.
#[boxed]
pub async fn delete_all(tx: &mut Tx, kind: LinkKind, account: Option<AccountId>) -> Result<()> {
    match account {
        Some(account) => {
            tx.query(sql!("DELETE FROM one_time_links WHERE account_id = $1 AND kind = $2"))
                .bind(account)
                .bind(kind)
                .execute()
                .await?
        }
        None => {
            tx.query(sql!("DELETE FROM one_time_links WHERE account_id IS NULL AND kind = $1"))
                .bind(kind)
                .execute()
                .await?
        }
    };
    Ok(())
}

/// Deletes the links that expired by `now`; returns how many.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM one_time_links WHERE expires_at <= $1")).bind(now).execute().await
}
