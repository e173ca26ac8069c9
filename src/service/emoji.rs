//! This server's own emojis: taking them in, and away.
//!
//! Reached from `rookery emoji`, later from the admin API. Files are decoded in the sandbox and stored before the
//! row is written; a running server shows the emoji within a second.
//!
//! Spec: contract rules, section 25.

use super::media::{new_key, process, put_all};
use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::hooks::{self, Change};
use media::Purpose;
use media::storage::{Key, Kind};
use model::Json;
use store::emoji::NewEmoji;

/// An emoji to take in.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Import {
    pub shortcode: String,
    pub category: Option<String>,
    pub image: Vec<u8>,
    /// Replace one of the same shortcode; otherwise it stays.
    pub overwrite: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is one more.
    Added,
    /// One of the same shortcode has another picture now.
    Replaced,
    /// One of the same shortcode was there and stays.
    Kept,
}

/// Takes one emoji in.
///
/// # Errors
/// [`Error::Invalid`] when the shortcode or the image is at fault.
pub async fn import(app: &App, new: Import) -> Result<Outcome> {
    check_shortcode(&new.shortcode)?;
    let previous = store::emoji::find_local(&app.db, &new.shortcode).await?;
    if previous.is_some() && !new.overwrite {
        return Ok(Outcome::Kept);
    }
    let processed = process(app, "image", &new.image, Purpose::Emoji).await?;
    let (width, height) = (processed.original.width, processed.original.height);
    let file = new_key(Kind::Emoji, &processed.original);
    let still = processed.static_version.as_ref().map(|still| new_key(Kind::Emoji, still));
    let row = NewEmoji {
        id: app.ids.next(),
        shortcode: new.shortcode,
        category: new.category,
        file: file.to_string(),
        static_file: still.as_ref().map(Key::to_string),
        aliases: Json(Vec::new()),
        width: i64::from(width),
        height: i64::from(height),
        now: app.clock.now(),
    };
    put_all(app, [(Some(file), Some(processed.original)), (still, processed.static_version)]).await?;
    let mut tx = app.db.begin().await?;
    store::emoji::upsert_local(&mut tx, row).await?;
    store::settings::touch(&mut tx, app.clock.now()).await?;
    tx.commit().await?;
    let Some(previous) = previous else { return Ok(Outcome::Added) };
    forget(app, [previous.file, previous.static_file]).await;
    Ok(Outcome::Replaced)
}

/// Takes one emoji away. Texts keep its shortcode, which is shown as it is written from then on.
///
/// # Errors
/// [`Error::Invalid`] when there is none of this shortcode.
pub async fn remove(app: &App, shortcode: &str) -> Result<()> {
    let found = store::emoji::find_local(&app.db, shortcode).await?;
    let emoji = found.ok_or_else(|| Error::invalid(format!("there is no emoji {shortcode:?} on this server")))?;
    let mut tx = app.db.begin().await?;
    store::emoji::delete(&mut tx, emoji.id).await?;
    hooks::record(app, &mut tx, Change::emoji_deleted(emoji.id, &emoji.shortcode)?).await?;
    store::settings::touch(&mut tx, app.clock.now()).await?;
    tx.commit().await?;
    forget(app, [emoji.file, emoji.static_file]).await;
    Ok(())
}

/// Two letters, digits or underscores at least.
fn check_shortcode(shortcode: &str) -> Result<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if shortcode.len() >= 2 && shortcode.len() <= 128 && shortcode.bytes().all(fits) {
        return Ok(());
    }
    Err(Error::invalid("a shortcode has at least two letters, digits or underscores"))
}

/// Removes files that nothing names any more. One that cannot be removed takes room and does no harm.
async fn forget(app: &App, files: [Option<String>; 2]) {
    for key in files.into_iter().flatten().filter_map(|key| key.parse::<Key>().ok()) {
        if let Err(error) = app.storage.delete(&key).await {
            tracing::warn!(%error, file = %key, "could not remove an old file");
        }
    }
}
