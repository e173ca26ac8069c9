//! Publishers: the sites of links in trends, with the decisions of staff about them.
//!
//! A decision covers the links of the site and of its subdomains that have no review of their own; the most specific
//! site decides (`service::trend::publisher`).

use database::sql::{Ids, Texts};
use database::{Conn, Error, Result, Tx, paged, sql};
use model::{Cursor, Json, RowId, Time, boxed};

/// A site whose links were close to becoming trends.
#[derive(Clone, Debug, model::Row)]
#[row(table = "link_publishers", alias = "p")]
pub struct Publisher {
    pub id: RowId,
    /// In lower case, without a port.
    pub domain: String,
    /// The result of a review.
    pub trendable: Option<bool>,
    pub reviewed_at: Option<Time>,
    pub requested_review_at: Option<Time>,
}

/// A page of publishers, the last recorded one first.
#[boxed]
pub async fn list(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<Publisher>> {
    let sql = paged!(
        cursor,
        "SELECT " publisher_columns!() " FROM link_publishers p WHERE p.id < $1 AND p.id > $2",
        by "p.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Publisher>> {
    db.query(sql!("SELECT " publisher_columns!() " FROM link_publishers p WHERE p.id = $1")).bind(id).optional().await
}

/// The publishers among `domains`, in no particular order.
#[boxed]
pub async fn list_by_domains(db: Conn<'_>, domains: &[String]) -> Result<Vec<Publisher>> {
    db.query(sql!("SELECT " publisher_columns!() " FROM link_publishers p WHERE p.domain" in("$1")))
        .bind(Texts::of(domains.iter().cloned()))
        .all()
        .await
}

/// Records a review request for sites, as (id of a new row, domain), unless a review was requested or made before.
#[boxed]
pub async fn request_reviews(tx: &mut Tx, sites: Vec<(RowId, &str)>, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO link_publishers (id, domain, requested_review_at, created_at)
         SELECT CAST(value ->> 0 AS BIGINT), value ->> 1, $2, $2 FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (domain) DO UPDATE SET requested_review_at = excluded.requested_review_at
         WHERE link_publishers.requested_review_at IS NULL AND link_publishers.reviewed_at IS NULL"
    ))
    .bind(Json(serde_json::to_value(sites).map_err(|error| Error::Sql(sqlx::Error::Encode(error.into())))?))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// The publisher with this domain, inserted with the id `new` when there is none.
#[boxed]
pub async fn get_or_insert(tx: &mut Tx, new: RowId, domain: &str, now: Time) -> Result<RowId> {
    tx.query(sql!(
        "INSERT INTO link_publishers (id, domain, created_at) VALUES ($1, $2, $3)
         ON CONFLICT (domain) DO UPDATE SET domain = excluded.domain RETURNING id"
    ))
    .bind(new)
    .bind(domain.to_owned())
    .bind(now)
    .scalar()
    .await
}

/// Stores the result of a review; false when there is no such publisher.
#[boxed]
pub async fn review(tx: &mut Tx, id: RowId, trendable: bool, now: Time) -> Result<bool> {
    let row = tx.query(sql!("UPDATE link_publishers SET trendable = $2, reviewed_at = $3 WHERE id = $1"));
    Ok(row.bind(id).bind(trendable).bind(now).execute().await? > 0)
}

/// A link, with what its own review says.
#[derive(Clone, Debug, model::Row)]
pub struct LinkReview {
    /// The preview card.
    pub id: RowId,
    pub page_url: String,
    /// The result of a review of this link.
    pub trendable: Option<bool>,
}

/// The reviews of `cards`, in no particular order.
#[boxed]
pub async fn list_reviews(db: Conn<'_>, cards: &[RowId]) -> Result<Vec<LinkReview>> {
    db.query(sql!("SELECT c.id, c.page_url, c.trendable FROM preview_cards c WHERE c.id" in("$1")))
        .bind(Ids::of(cards.iter().copied()))
        .all()
        .await
}
