//! Custom emojis, local and of other servers. Changes of local emojis call
//! [`settings::bump_generation`](crate::settings::bump_generation).

use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::{Emoji, Json, RowId, Time, boxed, emoji_columns, emoji_insert};
use serde::Serialize;

/// The enabled local emojis, by shortcode.
#[boxed]
pub async fn list_local_enabled(db: Conn<'_>) -> Result<Vec<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e
         WHERE e.domain IS NULL AND NOT e.disabled
         ORDER BY e.shortcode"
    ))
    .all()
    .await
}

/// Enabled emojis of other servers whose shortcode is among `shortcodes` and whose domain among `domains`. `coalesce`
/// is the expression of the index `custom_emojis_shortcode`.
#[boxed]
pub async fn list_remote(db: Conn<'_>, shortcodes: &[String], domains: &[String]) -> Result<Vec<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e
         WHERE e.shortcode" in("$1") "AND coalesce(e.domain, '')" in("$2") "AND e.domain IS NOT NULL AND NOT e.disabled"
    ))
    .bind(Texts::of(shortcodes.iter().cloned()))
    .bind(Texts::of(domains.iter().cloned()))
    .all()
    .await
}

/// The number of emojis of `domain`, at most `most`.
#[boxed]
pub async fn count_remote(db: Conn<'_>, domain: &str, most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(*) FROM (SELECT e.id FROM custom_emojis e WHERE e.domain = $1 AND e.domain IS NOT NULL LIMIT $2) n"
    ))
    .bind(domain.to_owned())
    .bind(most)
    .scalar()
    .await
}

/// The local emoji with this shortcode, disabled or not.
#[boxed]
pub async fn find_local(db: Conn<'_>, shortcode: &str) -> Result<Option<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e WHERE e.shortcode = $1 AND coalesce(e.domain, '') = ''"
    ))
    .bind(shortcode.to_owned())
    .optional()
    .await
}

/// Inserts a local emoji, created `now`, or replaces the files of the existing one with this shortcode, and its category
/// if given (upsert).
#[boxed]
pub async fn upsert_local(tx: &mut Tx, new: &Emoji, now: Time) -> Result<()> {
    tx.query(sql!(
        emoji_insert!("created_at")
        " ON CONFLICT (shortcode, coalesce(domain, '')) DO UPDATE
         SET category = coalesce(excluded.category, custom_emojis.category), file = excluded.file,
             static_file = excluded.static_file, width = excluded.width, height = excluded.height,
             updated_at = excluded.updated_at"
    ))
    .bind(now)
    .bind_row(new)
    .execute()
    .await?;
    Ok(())
}

/// An emoji of another server, as it is stored.
#[derive(Clone, Debug, Serialize)]
pub struct RemoteEmojiRow {
    pub id: RowId,
    pub shortcode: String,
    pub uri: Option<String>,
    pub url: String,
    /// 1 if it is.
    pub sensitive: u8,
    pub aliases: Vec<String>,
    pub license: Option<String>,
    /// Microseconds since the epoch.
    pub updated_at: i64,
}

/// Stores `emojis` of `domain` in one statement, and replaces existing ones that were not updated later (upsert). Each
/// shortcode is there once. The texts differ in reading times from JSON.
#[boxed]
pub async fn upsert_remote(tx: &mut Tx, domain: &str, emojis: &[RemoteEmojiRow], now: Time) -> Result<()> {
    macro_rules! insert {
        ($updated:literal) => {
            concat!(
                "INSERT INTO custom_emojis
                 (id, shortcode, domain, uri, remote_url, visible_in_picker, disabled, sensitive, aliases, license,
                  created_at, updated_at)
                 SELECT CAST(value ->> 'id' AS BIGINT), value ->> 'shortcode', $2, value ->> 'uri', value ->> 'url', FALSE,
                        FALSE, CAST(value ->> 'sensitive' AS INTEGER) = 1, value -> 'aliases', value ->> 'license', $3, ",
                $updated, " FROM "
            )
        };
    }
    macro_rules! update {
        () => {
            " WHERE TRUE
             ON CONFLICT (shortcode, coalesce(domain, '')) DO UPDATE
             SET uri = excluded.uri, remote_url = excluded.remote_url, sensitive = excluded.sensitive,
                 aliases = excluded.aliases, license = excluded.license, updated_at = excluded.updated_at
             WHERE custom_emojis.updated_at <= excluded.updated_at"
        };
    }
    tx.query(sql!(
        sqlite: insert!("CAST(value ->> 'updated_at' AS BIGINT)") rows("$1") update!();
        postgres: insert!("TIMESTAMPTZ 'epoch' + CAST(value ->> 'updated_at' AS BIGINT) * INTERVAL '1 microsecond'")
                  rows("$1") update!()
    ))
    .bind(Json(emojis.to_vec()))
    .bind(domain.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM custom_emojis WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}
