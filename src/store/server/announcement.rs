//! Announcements by the staff, their dismissals, and reactions with their counts.
//!
//! Reached from `service::announcement`. The count of a reaction is changed in the transaction that adds or removes one,
//! with the announcement locked.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, RowId, StatusId, Time, boxed};

#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "announcements", alias = "a")]
pub struct Announcement {
    pub id: RowId,
    pub text: String,
    pub content: String,
    pub mentions: Json<Vec<AccountId>>,
    pub tags: Json<Vec<String>>,
    pub statuses: Json<Vec<StatusId>>,
    pub starts_at: Option<Time>,
    pub ends_at: Option<Time>,
    pub all_day: bool,
    pub scheduled_at: Option<Time>,
    pub published_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// An announcement as seen by a reader.
#[derive(Clone, Debug, model::Row)]
pub struct ListedAnnouncement {
    #[row(flatten)]
    pub announcement: Announcement,
    /// The reader dismissed it.
    pub read: bool,
}

/// SQL condition: the announcement `a` is published and has not ended by `$now`.
macro_rules! shown {
    ($now:literal) => {
        concat!("a.published_at IS NOT NULL AND (a.ends_at IS NULL OR a.ends_at > ", $now, ")")
    };
}

/// SQL order: by the time of the event, or of publication.
macro_rules! chronological {
    () => {
        " ORDER BY coalesce(a.starts_at, a.scheduled_at, a.published_at, a.created_at), a.id"
    };
}

/// The announcements that are shown at the time `now`, oldest first.
#[boxed]
pub async fn list_shown(db: Conn<'_>, viewer: AccountId, now: Time) -> Result<Vec<ListedAnnouncement>> {
    db.query(sql!(
        "SELECT " announcement_columns!() ",
                EXISTS (SELECT 1 FROM announcement_dismissals d
                        WHERE d.account_id = $1 AND d.announcement_id = a.id) AS read
         FROM announcements a WHERE " shown!("$2") chronological!()
    ))
    .bind(viewer)
    .bind(now)
    .all()
    .await
}

/// Every announcement, including drafts and ended ones, oldest first.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<Announcement>> {
    db.query(sql!("SELECT " announcement_columns!() " FROM announcements a" chronological!())).all().await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Announcement>> {
    db.query(sql!("SELECT " announcement_columns!() " FROM announcements a WHERE a.id = $1")).bind(id).optional().await
}

/// The announcement, locked until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: RowId) -> Result<Option<Announcement>> {
    tx.query(sql!(
        sqlite: "SELECT " announcement_columns!() " FROM announcements a WHERE a.id = $1";
        postgres: "SELECT " announcement_columns!() " FROM announcements a WHERE a.id = $1 FOR NO KEY UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// Inserts an announcement, or replaces it (upsert).
#[boxed]
pub async fn upsert(tx: &mut Tx, announcement: &Announcement) -> Result<()> {
    tx.query(sql!(
        announcement_insert!()
        " ON CONFLICT (id) DO UPDATE
          SET text = excluded.text, content = excluded.content, mentions = excluded.mentions, tags = excluded.tags,
              statuses = excluded.statuses, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
              all_day = excluded.all_day, scheduled_at = excluded.scheduled_at, published_at = excluded.published_at,
              updated_at = excluded.updated_at"
    ))
    .bind_row(announcement)
    .execute()
    .await?;
    Ok(())
}

/// Deletes an announcement with its reactions; false when there is none.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM announcements WHERE id = $1")).bind(id).execute().await? > 0)
}

/// Records that `account` dismissed an announcement; a repetition is not an error.
#[boxed]
pub async fn dismiss(tx: &mut Tx, account: AccountId, id: RowId) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO announcement_dismissals (account_id, announcement_id) VALUES ($1, $2)
         ON CONFLICT (account_id, announcement_id) DO NOTHING"
    ))
    .bind(account)
    .bind(id)
    .execute()
    .await?;
    Ok(())
}

/// The number of reactions to an announcement with one name.
#[derive(Clone, Debug, model::Row)]
pub struct ReactionCount {
    pub announcement_id: RowId,
    pub name: String,
    pub count: i64,
    pub me: bool,
}

/// The reactions to `ids`, in the order in which each was first used; `me` refers to `viewer`.
#[boxed]
pub async fn reactions(db: Conn<'_>, viewer: AccountId, ids: &[RowId]) -> Result<Vec<ReactionCount>> {
    db.query(sql!(
        "SELECT c.announcement_id, c.name, c.count,
                EXISTS (SELECT 1 FROM announcement_reactions r
                        WHERE r.announcement_id = c.announcement_id AND r.name = c.name AND r.account_id = $1) AS me
         FROM announcement_reaction_counts c
         WHERE c.announcement_id" in("$2")
        "ORDER BY c.id"
    ))
    .bind(viewer)
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// Adds a reaction to a locked announcement and counts it; false when `account` already added this reaction. `first`
/// is the id of its count, if it is the first with its name.
#[boxed]
pub async fn insert_reaction(tx: &mut Tx, id: RowId, account: AccountId, name: &str, first: RowId) -> Result<bool> {
    let inserted = tx
        .query(sql!(
            "INSERT INTO announcement_reactions (announcement_id, name, account_id) VALUES ($1, $2, $3)
             ON CONFLICT (announcement_id, name, account_id) DO NOTHING"
        ))
        .bind(id)
        .bind(name.to_owned())
        .bind(account)
        .execute()
        .await?;
    if inserted == 0 {
        return Ok(false);
    }
    tx.query(sql!(
        "INSERT INTO announcement_reaction_counts (id, announcement_id, name, count) VALUES ($1, $2, $3, 1)
         ON CONFLICT (announcement_id, name) DO UPDATE SET count = announcement_reaction_counts.count + 1"
    ))
    .bind(first)
    .bind(id)
    .bind(name.to_owned())
    .execute()
    .await?;
    Ok(true)
}

/// The number of different reactions to an announcement.
#[boxed]
pub async fn count_names(db: Conn<'_>, id: RowId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM announcement_reaction_counts c WHERE c.announcement_id = $1"))
        .bind(id)
        .scalar()
        .await
}

/// Removes a reaction from a locked announcement and from its count; false when there is none.
#[boxed]
pub async fn delete_reaction(tx: &mut Tx, id: RowId, account: AccountId, name: &str) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM announcement_reactions WHERE announcement_id = $1 AND name = $2 AND account_id = $3"))
        .bind(id)
        .bind(name.to_owned())
        .bind(account)
        .execute()
        .await?;
    if deleted > 0 {
        subtract(tx, id, name).await?;
    }
    Ok(deleted > 0)
}

async fn subtract(tx: &mut Tx, id: RowId, name: &str) -> Result<()> {
    for part in [
        sql!("UPDATE announcement_reaction_counts SET count = count - 1 WHERE announcement_id = $1 AND name = $2"),
        sql!("DELETE FROM announcement_reaction_counts WHERE announcement_id = $1 AND name = $2 AND count <= 0"),
    ] {
        tx.query(part).bind(id).bind(name.to_owned()).execute().await?;
    }
    Ok(())
}

/// Deletes every reaction with a deleted custom emoji.
#[boxed]
pub async fn delete_reactions_named(tx: &mut Tx, name: &str) -> Result<()> {
    for part in [
        sql!(
            "DELETE FROM announcement_reactions
             WHERE name = $1 AND announcement_id IN (SELECT a.id FROM announcements a)"
        ),
        sql!(
            "DELETE FROM announcement_reaction_counts
             WHERE name = $1 AND announcement_id IN (SELECT a.id FROM announcements a)"
        ),
    ] {
        tx.query(part).bind(name.to_owned()).execute().await?;
    }
    Ok(())
}

/// Deletes up to `limit` reactions of an account, which are subtracted from their counts, and as many of its
/// dismissals; returns the total.
#[boxed]
pub async fn delete_some(tx: &mut Tx, account: AccountId, limit: i64) -> Result<u64> {
    let reactions: Vec<(RowId, String)> = tx
        .query(sql!(
            "SELECT r.announcement_id, r.name FROM announcement_reactions r
             WHERE r.account_id = $1 ORDER BY r.announcement_id LIMIT $2"
        ))
        .bind(account)
        .bind(limit)
        .all()
        .await?;
    for (id, name) in &reactions {
        lock(tx, *id).await?;
        delete_reaction(tx, *id, account, name).await?;
    }
    let dismissals = tx
        .query(sql!(
            "DELETE FROM announcement_dismissals
             WHERE account_id = $1 AND announcement_id IN (
                 SELECT d.announcement_id FROM announcement_dismissals d WHERE d.account_id = $1 LIMIT $2)"
        ))
        .bind(account)
        .bind(limit)
        .execute()
        .await?;
    Ok(reactions.len() as u64 + dismissals)
}
