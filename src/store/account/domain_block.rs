//! Domains that a person blocks, and the related accounts of such a domain.
//!
//! Reached from `service::domain_block`. Changes of a block raise the relations version of its account
//! ([`relation_set`]). The server's own domain blocks are in [`instance`](crate::instance). Spec:
//! docs/contract/rules.md#20-blocks-and-requests.

use crate::relation_set;
use database::{Conn, Result, Tx, paged, sql};
use model::{AccountId, Cursor, RowId, Time, boxed};

/// Inserts a block of `domain`; false when it exists already.
#[boxed]
pub async fn insert(tx: &mut Tx, id: RowId, account: AccountId, domain: &str, now: Time) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO account_domain_blocks (id, account_id, domain, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, domain) DO NOTHING"
        ))
        .bind(id)
        .bind(account)
        .bind(domain.to_owned())
        .bind(now)
        .execute()
        .await?;
    if inserted > 0 {
        relation_set::raise(tx, &[account]).await?;
    }
    Ok(inserted > 0)
}

/// Deletes the block of `domain`; false when there was none.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, domain: &str) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM account_domain_blocks WHERE account_id = $1 AND domain = $2"))
        .bind(account)
        .bind(domain.to_owned())
        .execute()
        .await?;
    if deleted > 0 {
        relation_set::raise(tx, &[account]).await?;
    }
    Ok(deleted > 0)
}

/// Deletes up to `limit` blocks of an account that is being removed; returns how many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM account_domain_blocks
         WHERE id IN (SELECT d.id FROM account_domain_blocks d WHERE d.account_id = $1 LIMIT $2)"
    ))
    .bind(account)
    .bind(limit)
    .execute()
    .await
}

/// True when `account` blocks `domain`.
#[boxed]
pub async fn exists(db: Conn<'_>, account: AccountId, domain: &str) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM account_domain_blocks WHERE account_id = $1 AND domain = $2"))
        .bind(account)
        .bind(domain.to_owned())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// A page of the blocks of `account`, newest first: the key of each, and the domain.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<(RowId, String)>> {
    let sql = paged!(
        cursor,
        "SELECT d.id, d.domain FROM account_domain_blocks d WHERE d.account_id = $1 AND d.id < $2 AND d.id > $3",
        by "d.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// Follows between an account and a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, model::Row)]
pub struct FollowCounts {
    /// Follows from the account to the domain.
    pub following: i64,
    /// Follows from the domain to the account.
    pub followers: i64,
}

/// Counts the follows between `account` and `domain` in both directions. Reads all follows of the account, by `CROSS
/// JOIN`, instead of the accounts of the domain, of which there may be more.
#[boxed]
pub async fn count_follows(db: Conn<'_>, account: AccountId, domain: &str) -> Result<FollowCounts> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM follows f CROSS JOIN accounts a
                 WHERE f.account_id = $1 AND a.id = f.target_account_id AND a.domain = $2) AS following,
                (SELECT COUNT(*) FROM follows f CROSS JOIN accounts a
                 WHERE f.target_account_id = $1 AND a.id = f.account_id AND a.domain = $2) AS followers"
    ))
    .bind(account)
    .bind(domain.to_owned())
    .one()
    .await
}

/// Up to `limit` accounts of `domain` with ids above `after` that have a follow or follow request from or to
/// `account`, by id, without duplicates. Each part continues from `after` in an index of the relation, except for
/// requests to `account`, which have no index by sender.
#[boxed]
pub async fn list_related(
    db: Conn<'_>,
    account: AccountId,
    domain: &str,
    after: AccountId,
    limit: i64,
) -> Result<Vec<AccountId>> {
    macro_rules! part {
        ($table:literal, $own:literal, $other:literal) => {
            concat!(
                "SELECT x.other FROM (SELECT f.",
                $other,
                " AS other FROM ",
                $table,
                " f CROSS JOIN accounts a
                 WHERE f.",
                $own,
                " = $1 AND f.",
                $other,
                " > $3 AND a.id = f.",
                $other,
                " AND a.domain = $2
                 ORDER BY f.",
                $other,
                " LIMIT $4) x"
            )
        };
    }
    db.query(sql!(
        part!("follows", "account_id", "target_account_id") "
         UNION " part!("follows", "target_account_id", "account_id") "
         UNION " part!("follow_requests", "account_id", "target_account_id") "
         UNION " part!("follow_requests", "target_account_id", "account_id") "
         ORDER BY 1 LIMIT $4"
    ))
    .bind(account)
    .bind(domain.to_owned())
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}
