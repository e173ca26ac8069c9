//! Custom emojis.

use super::sql::Texts;
use super::{Executor, Result};
use crate::model::Emoji;
use crate::sql;

/// The columns of [`Emoji`], of a table called `e`.
#[macro_export]
macro_rules! emoji_columns {
    () => {
        "e.id, e.shortcode, e.domain, e.category, e.file, e.static_file, e.remote_url, e.visible_in_picker, e.disabled, \
         e.sensitive, e.aliases, e.license, e.width, e.height"
    };
}

/// This server's own emojis that are not disabled, by shortcode.
///
/// # Errors
/// When the database does.
pub async fn list_local_enabled(db: impl Executor) -> Result<Vec<Emoji>> {
    db.query(sql!(
        "SELECT " emoji_columns!() " FROM custom_emojis e
         WHERE e.domain IS NULL AND NOT e.disabled
         ORDER BY e.shortcode"
    ))
    .all()
    .await
}

/// Emojis of other servers: those whose shortcode is among `shortcodes` and whose domain among `domains`.
///
/// # Errors
/// When the database does.
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
