//! Preview cards, and their assignment to statuses.
//!
//! Reached from `service::card` and the entity of statuses. A transaction that changes a card locks its row first and rows of
//! statuses afterwards.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::trend::TrendKind;
use model::{PreviewCard, RowId, StatusId, Time, boxed, preview_card_columns, preview_card_insert};

/// The card of `url`, which a status uses at the time `now`; inserted with the id `new` when there is none.
#[boxed]
pub async fn upsert_used(tx: &mut Tx, new: RowId, url: &str, now: Time) -> Result<UsedCard> {
    let row = tx
        .query(sql!(
            "INSERT INTO preview_cards (id, url, state, kind, page_url, due_at, used_at, created_at)
             VALUES ($1, $2, 'waiting', 'link', $2, $3, $3, $3)
             ON CONFLICT (url) DO UPDATE SET used_at = excluded.used_at
             RETURNING id, due_at"
        ))
        .bind(new)
        .bind(url.to_owned())
        .bind(now)
        .one()
        .await?;
    Ok(row)
}

/// A card that a status uses.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct UsedCard {
    pub id: RowId,
    pub due_at: Time,
}

/// The card, locked until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: RowId) -> Result<Option<PreviewCard>> {
    tx.query(sql!(
        sqlite: "SELECT " preview_card_columns!() " FROM preview_cards c WHERE c.id = $1";
        postgres: "SELECT " preview_card_columns!() " FROM preview_cards c WHERE c.id = $1 FOR NO KEY UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<PreviewCard>> {
    db.query(sql!("SELECT " preview_card_columns!() " FROM preview_cards c WHERE c.id = $1")).bind(id).optional().await
}

/// Postpones a card that is due at the time `now` to `until`; false when it is not due (any longer).
#[boxed]
pub async fn claim(tx: &mut Tx, id: RowId, now: Time, until: Time) -> Result<bool> {
    let claimed = tx
        .query(sql!("UPDATE preview_cards SET due_at = $3 WHERE id = $1 AND due_at <= $2"))
        .bind(id)
        .bind(now)
        .bind(until)
        .execute()
        .await?;
    Ok(claimed > 0)
}

/// Replaces a card that this transaction locked (upsert); its last use is not changed.
#[boxed]
pub async fn save(tx: &mut Tx, card: &PreviewCard) -> Result<()> {
    tx.query(sql!(
        preview_card_insert!()
        " ON CONFLICT (id) DO UPDATE
          SET state = excluded.state, kind = excluded.kind, page_url = excluded.page_url, title = excluded.title,
              description = excluded.description, language = excluded.language, author_name = excluded.author_name,
              author_url = excluded.author_url,
              creator_account_id = excluded.creator_account_id, provider_name = excluded.provider_name,
              provider_url = excluded.provider_url, html = excluded.html, width = excluded.width,
              height = excluded.height, image = excluded.image, image_bytes = excluded.image_bytes, image_description = excluded.image_description,
              embed_url = excluded.embed_url, blurhash = excluded.blurhash, published_at = excluded.published_at,
              failures = excluded.failures, due_at = excluded.due_at"
    ))
    .bind_row(card)
    .execute()
    .await?;
    Ok(())
}

/// Assigns a card to a status, replacing its current card; false when it already has this card.
#[boxed]
pub async fn attach(tx: &mut Tx, status: StatusId, card: RowId) -> Result<bool> {
    let attached = tx
        .query(sql!(
            "INSERT INTO status_cards (status_id, card_id) VALUES ($1, $2)
             ON CONFLICT (status_id) DO UPDATE SET card_id = excluded.card_id
             WHERE status_cards.card_id <> excluded.card_id"
        ))
        .bind(status)
        .bind(card)
        .execute()
        .await?;
    Ok(attached > 0)
}

/// Removes the card of a status; false when it has none.
#[boxed]
pub async fn detach(tx: &mut Tx, status: StatusId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM status_cards WHERE status_id = $1")).bind(status).execute().await? > 0)
}

/// The card of a status.
#[derive(Clone, Debug, model::Row)]
pub struct StatusCard {
    pub status_id: StatusId,
    #[row(flatten)]
    pub card: PreviewCard,
}

/// The cards of `statuses` that have content to show.
#[boxed]
pub async fn list_for_statuses(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<StatusCard>> {
    db.query(sql!(
        "SELECT x.status_id, " preview_card_columns!() "
         FROM status_cards x
         JOIN preview_cards c ON c.id = x.card_id
         WHERE x.status_id" in("$1") "AND c.state = 'found'"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .all()
    .await
}

/// The statuses of `statuses` whose card has a player.
#[boxed]
pub async fn list_with_players(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<StatusId>> {
    db.query(sql!(
        "SELECT x.status_id FROM status_cards x
         JOIN preview_cards c ON c.id = x.card_id
         WHERE x.status_id" in("$1") "AND c.state = 'found' AND c.kind = 'video'"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .scalars()
    .await
}

/// Most cards with the same address.
const SAME_PAGE: i64 = 8;

/// A card with its review by staff.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "c")]
pub struct ReviewedCard {
    pub id: RowId,
    pub page_url: String,
    pub title: String,
    /// `None`: not reviewed.
    pub trendable: Option<bool>,
    pub reviewed_at: Option<Time>,
}

/// The newest `limit` cards that have content to show.
#[boxed]
pub async fn list_found(db: Conn<'_>, limit: i64) -> Result<Vec<ReviewedCard>> {
    db.query(sql!(
        "SELECT " reviewed_card_columns!() " FROM preview_cards c
         WHERE c.id < $1 AND c.state = 'found'
         ORDER BY c.id DESC LIMIT $2"
    ))
    .bind(i64::MAX)
    .bind(limit)
    .all()
    .await
}

/// The cards that show the address `url`, or were created for it, if they have content to show.
#[boxed]
pub async fn list_by_url(db: Conn<'_>, url: &str) -> Result<Vec<ReviewedCard>> {
    db.query(sql!(
        "SELECT " reviewed_card_columns!() " FROM preview_cards c WHERE c.url = $1 AND c.state = 'found'
         UNION
         SELECT " reviewed_card_columns!() " FROM preview_cards c WHERE c.page_url = $1 AND c.state = 'found'
         LIMIT $2"
    ))
    .bind(url.to_owned())
    .bind(SAME_PAGE)
    .all()
    .await
}

/// The cards of `ids` that have content to show, in no particular order.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[RowId]) -> Result<Vec<PreviewCard>> {
    db.query(sql!(
        "SELECT " preview_card_columns!() " FROM preview_cards c WHERE c.id" in("$1") "AND c.state = 'found'"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The usage of each of `cards`, by statuses visible to everyone, on each day since the status id `since`, as (card,
/// days since the epoch, uses, accounts).
#[boxed]
pub async fn history(db: Conn<'_>, cards: &[RowId], since: StatusId) -> Result<Vec<(RowId, i64, i64, i64)>> {
    db.query(sql!(
        "SELECT x.card_id, (x.status_id >> 16) / 86400000 AS day, COUNT(*) AS uses, COUNT(DISTINCT s.account_id) AS accounts
         FROM status_cards x
         JOIN statuses s ON s.id = x.status_id
         WHERE x.card_id" in("$1") "AND x.status_id >= $2 AND s.visibility IN ('public', 'public_unlisted')
           AND NOT s.local_only
         GROUP BY x.card_id, (x.status_id >> 16) / 86400000"
    ))
    .bind(Ids::of(cards.iter().copied()))
    .bind(since)
    .all()
    .await
}

/// Stores the review of cards by staff; it takes effect with the next page of trends.
#[boxed]
pub async fn set_trendable(tx: &mut Tx, ids: &[RowId], trendable: bool, now: Time) -> Result<()> {
    tx.query(sql!("UPDATE preview_cards SET trendable = $2, reviewed_at = $3 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .bind(trendable)
        .bind(now)
        .execute()
        .await?;
    crate::trend::set_allowed(tx, TrendKind::Link, ids, trendable).await
}

/// Makes cards due immediately.
#[boxed]
pub async fn set_due(tx: &mut Tx, ids: &[RowId]) -> Result<()> {
    tx.query(sql!("UPDATE preview_cards SET due_at = used_at WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The newest `limit` statuses before `before` that have this card.
#[boxed]
pub async fn list_statuses(db: Conn<'_>, id: RowId, before: StatusId, limit: i64) -> Result<Vec<StatusId>> {
    db.query(sql!(
        "SELECT x.status_id FROM status_cards x
         WHERE x.card_id = $1 AND x.status_id < $2
         ORDER BY x.status_id DESC LIMIT $3"
    ))
    .bind(id)
    .bind(before)
    .bind(limit)
    .scalars()
    .await
}

/// The first `limit` cards after `after`, by id.
#[boxed]
pub async fn list_ids(db: Conn<'_>, after: RowId, limit: i64) -> Result<Vec<RowId>> {
    db.query(sql!("SELECT c.id FROM preview_cards c WHERE c.id > $1 ORDER BY c.id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// The total size of the pictures of all cards, in bytes.
#[boxed]
pub async fn sum_images(db: Conn<'_>) -> Result<i64> {
    db.query(sql!(
        "SELECT CAST(coalesce(SUM(c.image_bytes), 0) AS BIGINT) FROM preview_cards c WHERE c.image IS NOT NULL"
    ))
    .scalar()
    .await
}

/// A card's picture.
#[derive(Clone, Debug, model::Row)]
pub struct CardImage {
    pub id: RowId,
    pub image: String,
    pub image_bytes: i64,
}

/// The pictures of the `limit` least recently used cards with a picture.
#[boxed]
pub async fn list_oldest_images(db: Conn<'_>, limit: i64) -> Result<Vec<CardImage>> {
    db.query(sql!(
        "SELECT c.id, c.image, c.image_bytes FROM preview_cards c
         WHERE c.image IS NOT NULL ORDER BY c.used_at, c.id LIMIT $1"
    ))
    .bind(limit)
    .all()
    .await
}

/// Removes the pictures of cards, which are fetched again when their links are used; returns the cards that still had
/// one. The size of a link card is the size of its picture, so it is reset too.
#[boxed]
pub async fn drop_images(tx: &mut Tx, ids: &[RowId]) -> Result<Vec<RowId>> {
    tx.query(sql!(
        "UPDATE preview_cards
         SET image = NULL, image_bytes = 0, due_at = used_at,
             width = CASE kind WHEN 'link' THEN 0 ELSE width END, height = CASE kind WHEN 'link' THEN 0 ELSE height END
         WHERE id" in("$1") "AND image IS NOT NULL
         RETURNING id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .scalars()
    .await
}

/// Deletes the cards of `ids` that no status has, and that none used since `since`; returns them with their images,
/// which the caller deletes. A status that uses one concurrently has changed its row, so that PostgreSQL checks it
/// again before it deletes.
#[boxed]
pub async fn delete_unused(tx: &mut Tx, ids: &[RowId], since: Time) -> Result<Vec<(RowId, Option<String>)>> {
    tx.query(sql!(
        "DELETE FROM preview_cards
         WHERE id" in("$1") "AND used_at < $2
           AND NOT EXISTS (SELECT 1 FROM status_cards x WHERE x.card_id = preview_cards.id)
         RETURNING id, image"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(since)
    .all()
    .await
}
