//! Hashtags: their rows, follows of hashtags, the hashtags of a status, search by prefix and daily usage.
//!
//! Names are in normal form (`text::hashtag::normalise`), which the caller produces. Timelines of hashtags are in
//! [`timeline`](crate::timeline), their entries in home feeds in [`tag_feed`](crate::tag_feed).

use database::sql::{Ids, Texts};
use database::{Conn, Error, Result, Tx, paged, sql};
use model::{AccountId, Cursor, Json, RowId, StatusId, TagId, Time, boxed};

/// A counted use of a hashtag: status `s` is public, that is, visible to everyone, and not only on this server.
macro_rules! is_public {
    () => {
        "s.visibility IN ('public', 'unlisted', 'public_unlisted') AND NOT s.local_only"
    };
}
pub(crate) use is_public;

/// SQL expression: the account `$viewer` features the hashtag `t`.
macro_rules! is_featuring {
    ($viewer:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM featured_tags o WHERE o.account_id = ",
            $viewer,
            " AND o.tag_id = t.id) AS featuring"
        )
    };
}
pub(crate) use is_featuring;

/// The hashtags among `names` (normal form) that exist, as (id, name), in no particular order.
#[boxed]
pub async fn list_by_names(db: Conn<'_>, names: &[String]) -> Result<Vec<(TagId, String)>> {
    db.query(sql!("SELECT t.id, t.name FROM tags t WHERE t.name" in("$1")))
        .bind(Texts::of(names.iter().cloned()))
        .all()
        .await
}

/// The hashtags among `names` (normal form) that exist, as (id, name, whether a public status used it), in no
/// particular order.
#[boxed]
pub async fn list_for_status(tx: &mut Tx, names: &[String]) -> Result<Vec<(TagId, String, bool)>> {
    tx.query(sql!("SELECT t.id, t.name, t.used_publicly FROM tags t WHERE t.name" in("$1")))
        .bind(Texts::of(names.iter().cloned()))
        .all()
        .await
}

/// Makes `tags`, as (name, display name), visible to [`search`], with this spelling: the spelling of the first public
/// status.
#[boxed]
pub async fn publish(tx: &mut Tx, tags: Vec<(&str, &str)>) -> Result<()> {
    tx.query(sql!(
        "UPDATE tags SET used_publicly = TRUE, display_name = v.display_name
         FROM (SELECT value ->> 0 AS name, value ->> 1 AS display_name FROM" rows("$1") ") v
         WHERE tags.name = v.name AND NOT tags.used_publicly"
    ))
    .bind(Json(serde_json::to_value(tags).map_err(|error| Error::Sql(sqlx::Error::Encode(error.into())))?))
    .execute()
    .await?;
    Ok(())
}

/// Inserts hashtags, as (id, name, display name), in one statement. Existing ones are not changed. `public`: the
/// status that uses them is public.
#[boxed]
pub async fn insert(tx: &mut Tx, tags: Vec<(TagId, &str, &str)>, public: bool, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO tags (id, name, display_name, usable, last_status_at, created_at, used_publicly)
         SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, value ->> 2, TRUE, $2, $2, $3
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (name) DO NOTHING"
    ))
    .bind(Json(serde_json::to_value(tags).map_err(|error| Error::Sql(sqlx::Error::Encode(error.into())))?))
    .bind(now)
    .bind(public)
    .execute()
    .await?;
    Ok(())
}

/// Assigns hashtags to a status that has none, and counts the status for featured hashtags of its author if it is
/// public.
#[boxed]
pub async fn insert_for_status(tx: &mut Tx, status: StatusId, author: AccountId, tags: &[TagId]) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO status_tags (tag_id, status_id) SELECT t.id, $2 FROM tags t WHERE t.id" in("$1")
    ))
    .bind(Ids::of(tags.iter().copied()))
    .bind(status)
    .execute()
    .await?;
    crate::featured_tag::count(tx, status, author, tags).await
}

/// Removes all hashtags from a status, and subtracts it from the counts of featured ones.
#[boxed]
pub async fn clear_for_status(tx: &mut Tx, status: StatusId, author: AccountId) -> Result<()> {
    crate::featured_tag::uncount(tx, status, author).await?;
    tx.query(sql!("DELETE FROM status_tags WHERE status_id = $1")).bind(status).execute().await?;
    Ok(())
}

/// A hashtag, and whether a public status used it.
#[derive(Clone, Debug, model::Row)]
pub struct KnownTag {
    #[row(flatten)]
    pub tag: FoundTag,
    /// A public status used it.
    pub used_publicly: bool,
}

/// The hashtag `name` (normal form), as `viewer` sees it.
#[boxed]
pub async fn find(db: Conn<'_>, name: &str, viewer: Option<AccountId>) -> Result<Option<KnownTag>> {
    db.query(sql!(
        "SELECT t.id, t.name, t.display_name, coalesce(t.listable, FALSE) AS reviewed, t.used_publicly,
                EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = $2 AND f.tag_id = t.id) AS following,
                " is_featuring!("$2") "
         FROM tags t
         WHERE t.name = $1"
    ))
    .bind(name.to_owned())
    .bind(viewer.map_or(0, i64::from))
    .optional()
    .await
}

/// Inserts a follow of a hashtag; false when it exists already.
#[boxed]
pub async fn insert_follow(tx: &mut Tx, id: RowId, account: AccountId, tag: TagId, now: Time) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO tag_follows (id, account_id, tag_id, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, tag_id) DO NOTHING"
        ))
        .bind(id)
        .bind(account)
        .bind(tag)
        .bind(now)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// Deletes a follow of a hashtag; false when there is none.
#[boxed]
pub async fn delete_follow(tx: &mut Tx, account: AccountId, tag: TagId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM tag_follows WHERE account_id = $1 AND tag_id = $2"))
        .bind(account)
        .bind(tag)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// A followed hashtag.
#[derive(Clone, Debug, model::Row)]
pub struct FollowedTag {
    /// The id of the follow: the cursor for keyset pagination.
    pub row_id: RowId,
    #[row(flatten)]
    pub tag: FoundTag,
}

/// A page of the hashtags that `account` follows, the last followed one first. A hashtag without public uses is
/// spelled in normal form.
#[boxed]
pub async fn list_followed(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<FollowedTag>> {
    let sql = paged!(
        cursor,
        "SELECT f.id AS row_id, t.id, t.name, CASE WHEN t.used_publicly THEN t.display_name ELSE t.name END AS display_name,
                coalesce(t.listable, FALSE) AS reviewed, TRUE AS following, " is_featuring!("$1") "
         FROM tag_follows f
         JOIN tags t ON t.id = f.tag_id
         WHERE f.account_id = $1 AND f.id < $2 AND f.id > $3",
        by "f.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// A hashtag found by [`search`].
#[derive(Clone, Debug, model::Row)]
pub struct FoundTag {
    pub id: TagId,
    /// Its normal form.
    pub name: String,
    /// The spelling of its first use in a public status.
    pub display_name: String,
    /// Approved by staff for listing.
    pub reviewed: bool,
    /// The viewer follows it.
    pub following: bool,
    /// The viewer features it on their profile.
    pub featuring: bool,
}

/// Up to `limit` hashtags whose name begins with `prefix` (normal form), that staff did not hide and that a public
/// status uses, by name: one range of the index `tags_used_publicly`.
#[boxed]
pub async fn search(db: Conn<'_>, prefix: &str, viewer: Option<AccountId>, limit: i64) -> Result<Vec<FoundTag>> {
    db.query(sql!(
        "SELECT t.id, t.name, t.display_name, coalesce(t.listable, FALSE) AS reviewed,
                EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = $3 AND f.tag_id = t.id) AS following,
                " is_featuring!("$3") "
         FROM tags t
         WHERE t.name >= $1 AND t.name < $2 AND t.used_publicly AND coalesce(t.listable, TRUE)
           AND EXISTS (
               SELECT 1 FROM status_tags st JOIN statuses s ON s.id = st.status_id
               WHERE st.tag_id = t.id AND " is_public!() "
           )
         ORDER BY t.name LIMIT $4"
    ))
    .bind(prefix.to_owned())
    .bind(format!("{prefix}\u{10FFFF}"))
    .bind(viewer.map_or(0, i64::from))
    .bind(limit)
    .all()
    .await
}

/// The usage of each of `tags` by public statuses on each day since the status id `since`, as (hashtag, days since
/// the epoch, uses, accounts).
///
/// The day is computed from the status id, whose upper bits are milliseconds since the epoch, so the statuses are one
/// range of the primary key of `status_tags`.
#[boxed]
pub async fn history(db: Conn<'_>, tags: &[TagId], since: StatusId) -> Result<Vec<(TagId, i64, i64, i64)>> {
    db.query(sql!(
        "SELECT st.tag_id, (st.status_id >> 16) / 86400000 AS day, COUNT(*) AS uses, COUNT(DISTINCT s.account_id) AS accounts
         FROM status_tags st
         JOIN statuses s ON s.id = st.status_id
         WHERE st.tag_id" in("$1") "AND st.status_id >= $2 AND " is_public!() "
         GROUP BY st.tag_id, (st.status_id >> 16) / 86400000"
    ))
    .bind(Ids::of(tags.iter().copied()))
    .bind(since)
    .all()
    .await
}
