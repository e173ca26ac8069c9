//! Hashtags featured on profiles, with the number of their author's public statuses that use them.
//!
//! Reached from `service::featured_tag`, and from [`tag`](crate::tag) when the hashtags of a status change.

use crate::tag::{FoundTag, is_public};
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, RowId, StatusId, TagId, Time, boxed};

/// Number of an account's newest statuses from which hashtags are suggested (contract: routes).
const SUGGESTED_FROM: i64 = 1_000;
/// Most suggested hashtags.
const SUGGESTIONS: i64 = 10;

/// A hashtag featured on a profile.
#[derive(Debug, model::Row)]
pub struct FeaturedTag {
    pub id: RowId,
    pub name: String,
    pub display_name: String,
    pub statuses_count: i64,
    pub last_status_at: Option<Time>,
}

/// The hashtags that `account` features, most used first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId) -> Result<Vec<FeaturedTag>> {
    db.query(sql!(
        "SELECT f.id, t.name, t.display_name, f.statuses_count, f.last_status_at
         FROM featured_tags f
         JOIN tags t ON t.id = f.tag_id
         WHERE f.account_id = $1
         ORDER BY f.statuses_count DESC, f.id"
    ))
    .bind(account)
    .all()
    .await
}

/// A hashtag to feature.
#[derive(Clone, Copy, Debug)]
pub struct NewFeaturedTag {
    pub id: RowId,
    pub account: AccountId,
    pub tag: TagId,
    pub now: Time,
}

/// Features a hashtag, counting the account's public statuses that use it. Reads all statuses of the account, by an
/// index, since a hashtag may have many more.
#[boxed]
pub async fn insert(tx: &mut Tx, new: NewFeaturedTag) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO featured_tags (id, account_id, tag_id, statuses_count, last_status_at, created_at)
         SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), COUNT(*), MAX(s.created_at), $4
         FROM statuses s
         WHERE s.account_id = $2 AND " is_public!() "
           AND EXISTS (SELECT 1 FROM status_tags st WHERE st.tag_id = $3 AND st.status_id = s.id)"
    ))
    .bind(new.id)
    .bind(new.account)
    .bind(new.tag)
    .bind(new.now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a featured hashtag of `account`; false when no such row exists.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: RowId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM featured_tags WHERE id = $1 AND account_id = $2"))
        .bind(id)
        .bind(account)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// Stops featuring this hashtag; false when `account` does not feature it.
#[boxed]
pub async fn delete_by_tag(tx: &mut Tx, account: AccountId, tag: TagId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM featured_tags WHERE account_id = $1 AND tag_id = $2"))
        .bind(account)
        .bind(tag)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// The hashtags of the newest public statuses of `account`, most used first, without featured ones.
#[boxed]
pub async fn list_suggestions(db: Conn<'_>, account: AccountId) -> Result<Vec<FoundTag>> {
    db.query(sql!(
        "SELECT t.id, t.name, t.display_name, coalesce(t.listable, FALSE) AS reviewed,
                EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = $1 AND f.tag_id = t.id) AS following,
                FALSE AS featuring
         FROM (SELECT st.tag_id, COUNT(*) AS uses
               FROM (SELECT s.id, (" is_public!() ") AS is_public FROM statuses s
                     WHERE s.account_id = $1 ORDER BY s.id DESC LIMIT $2) newest
               JOIN status_tags st ON st.status_id = newest.id
               WHERE newest.is_public
               GROUP BY st.tag_id) used
         JOIN tags t ON t.id = used.tag_id
         WHERE NOT EXISTS (SELECT 1 FROM featured_tags o WHERE o.account_id = $1 AND o.tag_id = used.tag_id)
         ORDER BY used.uses DESC, t.name
         LIMIT $3"
    ))
    .bind(account)
    .bind(SUGGESTED_FROM)
    .bind(SUGGESTIONS)
    .all()
    .await
}

/// Counts a public status for the hashtags in `tags` that its author features.
pub(crate) async fn count(tx: &mut Tx, status: StatusId, author: AccountId, tags: &[TagId]) -> Result<()> {
    tx.query(sql!(
        "UPDATE featured_tags
         SET statuses_count = statuses_count + 1,
             last_status_at = (SELECT CASE WHEN featured_tags.last_status_at > s.created_at THEN featured_tags.last_status_at
                                           ELSE s.created_at END
                               FROM statuses s WHERE s.id = $3)
         WHERE account_id = $2 AND EXISTS (SELECT 1 FROM statuses s WHERE s.id = $3 AND " is_public!() ")
           AND tag_id" in("$1")
    ))
    .bind(Ids::of(tags.iter().copied()))
    .bind(author)
    .bind(status)
    .execute()
    .await?;
    Ok(())
}

/// Subtracts a status from the featured hashtags of its author, before its hashtags are removed. The last status of
/// each is then the one before it, which is searched among the author's statuses from the newest on.
pub(crate) async fn uncount(tx: &mut Tx, status: StatusId, author: AccountId) -> Result<()> {
    tx.query(sql!(
        "UPDATE featured_tags
         SET statuses_count = CASE WHEN statuses_count > 0 THEN statuses_count - 1 ELSE 0 END,
             last_status_at = (SELECT s.created_at FROM statuses s
                               WHERE s.account_id = $2 AND s.id <> $1 AND " is_public!() "
                                 AND EXISTS (SELECT 1 FROM status_tags st
                                             WHERE st.tag_id = featured_tags.tag_id AND st.status_id = s.id)
                               ORDER BY s.id DESC LIMIT 1)
         WHERE account_id = $2 AND tag_id IN (SELECT st.tag_id FROM status_tags st WHERE st.status_id = $1)
           AND EXISTS (SELECT 1 FROM statuses s WHERE s.id = $1 AND " is_public!() ")"
    ))
    .bind(status)
    .bind(author)
    .execute()
    .await?;
    Ok(())
}
