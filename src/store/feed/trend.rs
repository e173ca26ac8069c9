//! Trends: hashtags, statuses and links with high current usage, with their scores and reviews.
//!
//! Reached from `service::trend`. A kind has a few hundred rows at most, so that a page reads all rows of its kind by
//! the primary key. The usage behind the scores is read by [`trend_use`](crate::trend_use).

use serde::Serialize;

use crate::tag::{FoundTag, is_featuring};
use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::status::Visibility;
use model::trend::TrendKind;
use model::{AccountId, Json, StatusId, TagId, Time, boxed};

/// A row of the table trends.
#[derive(Clone, Debug, model::Row)]
pub struct Trend {
    pub subject_id: i64,
    pub language: Option<String>,
    pub allowed: Option<bool>,
    pub score: f64,
    pub peak: Option<f64>,
    pub peak_at: Time,
}

/// All trends of a kind, the highest score first, trends without a score last.
#[boxed]
pub async fn list(db: Conn<'_>, kind: TrendKind) -> Result<Vec<Trend>> {
    db.query(sql!(
        "SELECT r.subject_id, r.language, r.allowed, r.score, r.peak, r.peak_at
         FROM trends r WHERE r.kind = $1
         ORDER BY r.score DESC, r.subject_id DESC"
    ))
    .bind(kind.as_str().to_owned())
    .all()
    .await
}

/// A page of trends.
#[derive(Clone, Debug, Default)]
pub struct TrendPage {
    /// Trends in one of these languages come first.
    pub languages: Vec<String>,
    /// Whether unreviewed trends are included.
    pub unreviewed: bool,
    /// Whether rejected trends are included.
    pub rejected: bool,
    pub limit: i64,
    /// Number of trends to skip.
    pub offset: i64,
}

/// The ids of a page of trends, the highest score first.
#[boxed]
pub async fn page(db: Conn<'_>, kind: TrendKind, page: &TrendPage) -> Result<Vec<i64>> {
    db.query(sql!(
        "SELECT r.subject_id FROM trends r
         WHERE r.kind = $1 AND r.score > 0 AND (coalesce(r.allowed, $2) OR $6)
         ORDER BY CASE WHEN r.language" in("$3") "THEN 0 ELSE 1 END, r.score DESC, r.subject_id DESC
         LIMIT $4 OFFSET $5"
    ))
    .bind(kind.as_str().to_owned())
    .bind(page.unreviewed)
    .bind(Texts::of(page.languages.iter().cloned()))
    .bind(page.limit)
    .bind(page.offset)
    .bind(page.rejected)
    .scalars()
    .await
}

/// A measured trend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewTrend {
    /// The hashtag, status or preview card.
    pub subject_id: i64,
    /// For a status or link.
    pub language: Option<String>,
    /// The result of a review.
    pub allowed: Option<bool>,
    /// 0: stored only for its peak.
    pub score: f64,
    /// A newly reached peak; `None` keeps the previous one.
    pub peak: Option<f64>,
}

/// Replaces all trends of a kind by `trends`.
#[boxed]
pub async fn replace(tx: &mut Tx, kind: TrendKind, trends: &[NewTrend], now: Time) -> Result<()> {
    tx.query(sql!("DELETE FROM trends WHERE kind = $1 AND NOT (subject_id" in("$2") ")"))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(trends.iter().map(|trend| trend.subject_id)))
        .execute()
        .await?;
    tx.query(sql!(
        "INSERT INTO trends (kind, subject_id, language, allowed, score, peak, peak_at)
         SELECT CAST($1 AS TEXT), CAST(value ->> 'subject_id' AS BIGINT), value ->> 'language',
                CAST(value ->> 'allowed' AS BOOLEAN), CAST(value ->> 'score' AS DOUBLE PRECISION),
                CAST(value ->> 'peak' AS DOUBLE PRECISION), $3
         FROM" rows("$2") "WHERE TRUE
         ON CONFLICT (kind, subject_id) DO UPDATE
         SET language = excluded.language, allowed = excluded.allowed, score = excluded.score,
             peak = coalesce(excluded.peak, trends.peak),
             peak_at = CASE WHEN excluded.peak IS NULL THEN trends.peak_at ELSE excluded.peak_at END"
    ))
    .bind(kind.as_str().to_owned())
    .bind(Json(trends.to_vec()))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The hashtags among `ids`, in no particular order, as `viewer` sees them.
#[boxed]
pub async fn tags(db: Conn<'_>, ids: &[TagId], viewer: Option<AccountId>) -> Result<Vec<FoundTag>> {
    db.query(sql!(
        "SELECT t.id, t.name, t.display_name, coalesce(t.listable, FALSE) AS reviewed,
                EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = $2 AND f.tag_id = t.id) AS following,
                " is_featuring!("$2") "
         FROM tags t
         WHERE t.id" in("$1") "AND t.usable AND coalesce(t.listable, TRUE)"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(viewer.map_or(0, i64::from))
    .all()
    .await
}

/// A status among the trends, as staff reviews it.
#[derive(Clone, Debug, model::Row)]
pub struct StatusReview {
    pub id: StatusId,
    pub visibility: Visibility,
    /// Neither the status nor its author was reviewed.
    pub requires_review: bool,
}

/// The reviews of statuses, in no particular order.
#[boxed]
pub async fn list_status_reviews(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<StatusReview>> {
    db.query(sql!(
        "SELECT s.id, s.visibility, s.trendable IS NULL AND a.reviewed_at IS NULL AS requires_review
         FROM statuses s JOIN accounts a ON a.id = s.account_id
         WHERE s.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// A trend with its name, for staff.
#[derive(Clone, Debug, model::Row)]
pub struct NamedTrend {
    /// The hashtag or status.
    pub subject_id: i64,
    /// The spelling of the hashtag; for a status its author's user name; for a link its address.
    pub name: String,
    /// For a status the domain of its author; `None` on this server.
    pub domain: Option<String>,
    pub score: f64,
    /// The result of a review.
    pub allowed: Option<bool>,
    /// When a review of the hashtag or of the author was requested. Not stored for links.
    pub requested_review_at: Option<Time>,
}

/// The trends of a kind with their names, the highest score first.
#[boxed]
pub async fn list_named(db: Conn<'_>, kind: TrendKind) -> Result<Vec<NamedTrend>> {
    let query = match kind {
        TrendKind::Tag => db.query(sql!(
            "SELECT r.subject_id, t.display_name AS name, CAST(NULL AS TEXT) AS domain, r.score, r.allowed,
                    t.requested_review_at
             FROM trends r JOIN tags t ON t.id = r.subject_id
             WHERE r.kind = $1 AND r.score > 0
             ORDER BY r.score DESC, r.subject_id DESC"
        )),
        TrendKind::Status => db.query(sql!(
            "SELECT r.subject_id, a.username AS name, a.domain, r.score, r.allowed, a.requested_review_at
             FROM trends r JOIN statuses s ON s.id = r.subject_id JOIN accounts a ON a.id = s.account_id
             WHERE r.kind = $1 AND r.score > 0
             ORDER BY r.score DESC, r.subject_id DESC"
        )),
        TrendKind::Link => db.query(sql!(
            "SELECT r.subject_id, c.page_url AS name, CAST(NULL AS TEXT) AS domain, r.score, r.allowed,
                    CASE WHEN FALSE THEN c.used_at END AS requested_review_at
             FROM trends r JOIN preview_cards c ON c.id = r.subject_id
             WHERE r.kind = $1 AND r.score > 0
             ORDER BY r.score DESC, r.subject_id DESC"
        )),
    };
    query.bind(kind.as_str().to_owned()).all().await
}

/// Records a review request for hashtags, unless a review was requested or made before.
#[boxed]
pub async fn request_tag_reviews(tx: &mut Tx, ids: &[i64], now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE tags SET requested_review_at = $2
         WHERE requested_review_at IS NULL AND reviewed_at IS NULL AND id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Records a review request for the authors of statuses, unless a review was requested or made before.
#[boxed]
pub async fn request_author_reviews(tx: &mut Tx, statuses: &[i64], now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE accounts SET requested_review_at = $2
         WHERE requested_review_at IS NULL AND reviewed_at IS NULL
           AND id IN (SELECT s.account_id FROM statuses s WHERE s.id" in("$1") ")"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The subject of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Tag(TagId),
    Status(StatusId),
    /// All statuses of an account without a separate review.
    Author(AccountId),
}

/// Stores the result of a review; it takes effect with the next page.
#[boxed]
pub async fn review(tx: &mut Tx, subject: Subject, allowed: bool, now: Time) -> Result<()> {
    match subject {
        Subject::Tag(id) => {
            let row = tx.query(sql!("UPDATE tags SET trendable = $2, reviewed_at = $3 WHERE id = $1"));
            row.bind(id).bind(allowed).bind(now).execute().await?;
            set_allowed(tx, TrendKind::Tag, &[id], allowed).await
        }
        Subject::Status(id) => {
            let row = tx.query(sql!("UPDATE statuses SET trendable = $2 WHERE id = $1"));
            row.bind(id).bind(allowed).execute().await?;
            set_allowed(tx, TrendKind::Status, &[id], allowed).await
        }
        Subject::Author(id) => {
            let row = tx.query(sql!("UPDATE accounts SET trendable = $2, reviewed_at = $3 WHERE id = $1"));
            row.bind(id).bind(allowed).bind(now).execute().await?;
            set_allowed_of(tx, id, allowed).await
        }
    }
}

/// Stores the result of a review in the trends of a kind.
pub async fn set_allowed<T: Into<i64> + Copy>(
    tx: &mut Tx,
    kind: TrendKind,
    subjects: &[T],
    allowed: bool,
) -> Result<()> {
    tx.query(sql!("UPDATE trends SET allowed = $3 WHERE kind = $1 AND subject_id" in("$2")))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(subjects.iter().copied()))
        .bind(allowed)
        .execute()
        .await?;
    Ok(())
}

async fn set_allowed_of(tx: &mut Tx, author: AccountId, allowed: bool) -> Result<()> {
    tx.query(sql!(
        "UPDATE trends SET allowed = $3
         WHERE kind = $1 AND subject_id IN (
             SELECT r.subject_id FROM trends r CROSS JOIN statuses s
             WHERE r.kind = $1 AND s.id = r.subject_id AND s.account_id = $2 AND s.trendable IS NULL
         )"
    ))
    .bind(TrendKind::Status.as_str().to_owned())
    .bind(author)
    .bind(allowed)
    .execute()
    .await?;
    Ok(())
}
