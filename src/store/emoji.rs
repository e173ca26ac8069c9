//! Custom emojis, this server's own and those of other servers. Changes of its own call
//! [`settings::bump_generation`](super::settings::bump_generation).

use super::sql::Texts;
use super::{Executor, Result, Tx};
use crate::sql;
use model::{Emoji, Json, RowId, Time};

/// The columns of [`Emoji`], of a table with the alias `e`.
#[macro_export]
macro_rules! emoji_columns {
    () => {
        "e.id, e.shortcode, e.domain, e.category, e.file, e.static_file, e.remote_url, e.visible_in_picker, e.disabled, \
         e.sensitive, e.aliases, e.license, e.width, e.height"
    };
}

/// This server's own emojis that are not disabled, by shortcode.
pub async fn list_local_enabled(db: impl Executor) -> Result<Vec<Emoji>> {
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
pub async fn list_remote(db: impl Executor, shortcodes: &[String], domains: &[String]) -> Result<Vec<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e
         WHERE e.shortcode" in("$1") "AND coalesce(e.domain, '')" in("$2") "AND e.domain IS NOT NULL AND NOT e.disabled"
    ))
    .bind(Texts::of(shortcodes.iter().cloned()))
    .bind(Texts::of(domains.iter().cloned()))
    .all()
    .await
}

/// This server's own emoji with this shortcode, disabled or not.
pub async fn find_local(db: impl Executor, shortcode: &str) -> Result<Option<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e WHERE e.shortcode = $1 AND coalesce(e.domain, '') = ''"
    ))
    .bind(shortcode.to_owned())
    .optional()
    .await
}

/// A new emoji of this server.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table custom_emojis")]
pub struct NewEmoji {
    pub id: RowId,
    pub shortcode: String,
    pub category: Option<String>,
    pub file: String,
    pub static_file: Option<String>,
    pub aliases: Json<Vec<String>>,
    pub width: i64,
    pub height: i64,
    pub now: Time,
}

/// Inserts an emoji of this server, or replaces the files of the one with the same shortcode, and its category if given
/// (upsert).
pub async fn upsert_local(tx: &mut Tx, new: NewEmoji) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO custom_emojis (id, shortcode, domain, category, file, static_file, visible_in_picker, disabled,
                                    sensitive, aliases, width, height, created_at, updated_at)
         VALUES ($1, $2, NULL, $3, $4, $5, TRUE, FALSE, FALSE, $6, $7, $8, $9, $9)
         ON CONFLICT (shortcode, coalesce(domain, '')) DO UPDATE
         SET category = coalesce(excluded.category, custom_emojis.category), file = excluded.file,
             static_file = excluded.static_file, width = excluded.width, height = excluded.height,
             updated_at = excluded.updated_at"
    ))
    .bind(new.id)
    .bind(new.shortcode)
    .bind(new.category)
    .bind(new.file)
    .bind(new.static_file)
    .bind(new.aliases)
    .bind(new.width)
    .bind(new.height)
    .bind(new.now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes an emoji.
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM custom_emojis WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}
