//! Hashtags as staff reviews them: all of them, with the decisions about their use, listing and trends.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, paged, sql};
use model::{AccountId, Cursor, TagId, Time, boxed};

use crate::tag::{FoundTag, is_featuring};

/// A hashtag with its review.
#[derive(Clone, Debug, model::Row)]
pub struct ReviewedTag {
    #[row(flatten)]
    pub tag: FoundTag,
    /// May be shown as a trend; `None`: not reviewed.
    pub trendable: Option<bool>,
    /// Local statuses may have it.
    pub usable: bool,
    /// May be found by a search; `None`: not reviewed.
    pub listable: Option<bool>,
    pub reviewed_at: Option<Time>,
}

/// The columns of [`ReviewedTag`] for the hashtag `t`, as the account `$1` sees it. A hashtag without public uses is
/// spelled in normal form.
macro_rules! reviewed_tag {
    () => {
        concat!(
            "t.id, t.name, CASE WHEN t.used_publicly THEN t.display_name ELSE t.name END AS display_name,
             coalesce(t.listable, FALSE) AS reviewed,
             EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = $1 AND f.tag_id = t.id) AS following,
             ",
            is_featuring!("$1"),
            ", t.trendable, t.usable, t.listable, t.reviewed_at"
        )
    };
}

/// A page of all hashtags, the last recorded one first.
#[boxed]
pub async fn list(db: Conn<'_>, viewer: Option<AccountId>, cursor: &Cursor) -> Result<Vec<ReviewedTag>> {
    let sql = paged!(
        cursor,
        "SELECT " reviewed_tag!() " FROM tags t WHERE t.id < $2 AND t.id > $3",
        by "t.id", limit "$4"
    );
    let query = db.query(sql).bind(viewer.map_or(0, i64::from));
    let query = query.bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The hashtags of `ids`, in no particular order.
#[boxed]
pub async fn list_by_ids(db: Conn<'_>, viewer: Option<AccountId>, ids: &[TagId]) -> Result<Vec<ReviewedTag>> {
    db.query(sql!("SELECT " reviewed_tag!() " FROM tags t WHERE t.id" in("$2")))
        .bind(viewer.map_or(0, i64::from))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The hashtags among `names` (normal form) that local statuses must not have.
#[boxed]
pub async fn list_unusable(db: Conn<'_>, names: &[String]) -> Result<Vec<String>> {
    db.query(sql!("SELECT t.name FROM tags t WHERE t.name" in("$1") "AND NOT t.usable"))
        .bind(Texts::of(names.iter().cloned()))
        .scalars()
        .await
}

/// A decision about a hashtag; `None` keeps the previous one.
#[derive(Clone, Debug, Default)]
pub struct TagDecision {
    /// Its spelling, which a later use no longer changes.
    pub display_name: Option<String>,
    pub trendable: Option<bool>,
    pub usable: Option<bool>,
    pub listable: Option<bool>,
}

/// Stores a decision and marks the hashtag as reviewed. The first public use sets the spelling of a hashtag that is
/// not marked as used, so that a spelling by staff marks it too; [`search`](crate::tag::search) looks for a use anyway.
#[boxed]
pub async fn update(tx: &mut Tx, id: TagId, decision: &TagDecision, now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE tags
         SET display_name = coalesce($2, display_name), used_publicly = used_publicly OR $3,
             trendable = coalesce($4, trendable), usable = coalesce($5, usable), listable = coalesce($6, listable),
             reviewed_at = $7
         WHERE id = $1"
    ))
    .bind(id)
    .bind(decision.display_name.clone())
    .bind(decision.display_name.is_some())
    .bind(decision.trendable)
    .bind(decision.usable)
    .bind(decision.listable)
    .bind(now)
    .execute()
    .await?;
    match decision.trendable {
        Some(trendable) => crate::trend::set_allowed(tx, model::trend::TrendKind::Tag, &[id], trendable).await,
        None => Ok(()),
    }
}
