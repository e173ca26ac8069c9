//! Custom emojis of this server: import, copies of those of other servers, and removal.
//!
//! Reached from `rookery emoji`. Files are decoded in the media sandbox and stored before the
//! row is written; running servers show the emoji after [`Cx::invalidate`].
//!
//! Spec: docs/contract/rules.md#25-announcements-emojis-preferences.

use crate::audit::{self, Entry};
use crate::media::{new_key, process, put_all};
use crate::web_page;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use media::Purpose;
use media::storage::{FileKind, Key};
use model::instance::Severity;
use model::{Emoji, Json, Staff};
use outbound::Target;

/// An emoji to import.
#[derive(Debug)]
pub struct Import {
    pub shortcode: String,
    pub category: Option<String>,
    pub image: Vec<u8>,
    /// Replaces an emoji of the same shortcode; otherwise the existing one stays.
    pub overwrite: bool,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    /// The emoji was added.
    Added,
    /// The image of the existing emoji was replaced.
    Replaced,
    /// An emoji of that shortcode exists and was left unchanged.
    Skipped,
}

/// Imports one emoji.
///
/// # Errors
/// [`Error::Invalid`] when the shortcode or the image is invalid.
#[model::use_case]
pub async fn import(cx: &Cx, staff: &Staff, new: Import) -> Result<ImportOutcome> {
    check_shortcode(&new.shortcode)?;
    let previous = store::emoji::find_local(&cx.db, &new.shortcode).await?;
    if previous.is_some() && !new.overwrite {
        return Ok(ImportOutcome::Skipped);
    }
    let processed = process(cx, None, "image", &new.image, Purpose::Emoji).await?;
    let (width, height) = (processed.original.width, processed.original.height);
    let file = new_key(FileKind::Emoji, &processed.original);
    let still = processed.static_version.as_ref().map(|still| new_key(FileKind::Emoji, still));
    let row = Emoji {
        id: cx.ids.next(),
        shortcode: new.shortcode,
        domain: None,
        category: new.category,
        file: Some(file.to_string()),
        static_file: still.as_ref().map(Key::to_string),
        remote_url: None,
        visible_in_picker: true,
        disabled: false,
        sensitive: false,
        aliases: Json(Vec::new()),
        license: None,
        width: Some(i64::from(width)),
        height: Some(i64::from(height)),
        updated_at: cx.clock.now(),
    };
    put_all(cx, [(Some(file), Some(processed.original)), (still, processed.static_version)]).await?;
    let mut tx = cx.db.begin().await?;
    store::emoji::upsert_local(&mut tx, &row, cx.clock.now()).await?;
    let target = audit::Target::new("custom_emoji", row.id, row.shortcode.clone());
    audit::record(cx, &mut tx, staff, Entry::new("custom_emoji.create", target)).await?;
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    let Some(previous) = previous else { return Ok(ImportOutcome::Added) };
    forget(cx, [previous.file, previous.static_file]).await;
    Ok(ImportOutcome::Replaced)
}

/// Copies the emoji `shortcode` of another server, `domain`, as `new`, whose image is ignored. It is fetched from its
/// server.
///
/// # Errors
/// As [`import`]; [`Error::Invalid`] as well when no such emoji is known, when its server is suspended or its media are
/// rejected, and when the file cannot be fetched.
#[model::use_case]
pub async fn copy(cx: &Cx, staff: &Staff, shortcode: &str, domain: &str, new: Import) -> Result<ImportOutcome> {
    let known = store::emoji::list_remote(&cx.db, &[shortcode.to_owned()], &[domain.to_lowercase()]).await?.pop();
    let url = known.and_then(|emoji| emoji.remote_url);
    let url = url.ok_or_else(|| Error::invalid(format!("no emoji {shortcode:?} of {domain:?} is known")))?;
    let target = Target::parse(&url).map_err(|error| Error::invalid(format!("{url:?} is {error}")))?;
    let policy = cx.domain_policy();
    for host in [domain, &target.authority()] {
        let rule = policy.of(host);
        if rule.severity == Severity::Suspend || rule.flags.reject_media {
            return Err(Error::invalid(format!("media of {host} are rejected")));
        }
    }
    let limit = usize::try_from(Purpose::Emoji.max_bytes()).unwrap_or(usize::MAX);
    let document = web_page::document(cx, target, &[], limit).await;
    let document = document.map_err(|error| Error::invalid(format!("{url} could not be fetched: {error}")))?;
    import(cx, staff, Import { image: document.body.to_vec(), ..new }).await
}

/// Removes one emoji. Texts keep its shortcode, which is then shown as plain text.
///
/// # Errors
/// [`Error::Invalid`] when no emoji has this shortcode.
#[model::use_case]
pub async fn remove(cx: &Cx, staff: &Staff, shortcode: &str) -> Result<()> {
    let found = store::emoji::find_local(&cx.db, shortcode).await?;
    let emoji = found.ok_or_else(|| Error::invalid(format!("there is no emoji {shortcode:?} on this server")))?;
    let mut tx = cx.db.begin().await?;
    store::emoji::delete(&mut tx, emoji.id).await?;
    let target = audit::Target::new("custom_emoji", emoji.id, emoji.shortcode.clone());
    audit::record(cx, &mut tx, staff, Entry::new("custom_emoji.delete", target)).await?;
    store::announcement::delete_reactions_named(&mut tx, &emoji.shortcode).await?;
    change::record(cx, &mut tx, Change::EmojiDeleted { emoji: emoji.id, shortcode: emoji.shortcode.clone() }).await?;
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    forget(cx, [emoji.file, emoji.static_file]).await;
    Ok(())
}

/// Requires two letters, digits or underscores at least.
fn check_shortcode(shortcode: &str) -> Result<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if shortcode.len() >= 2 && shortcode.len() <= 128 && shortcode.bytes().all(fits) {
        return Ok(());
    }
    Err(Error::invalid("a shortcode has at least two letters, digits or underscores"))
}

/// Deletes files without references. A failure is ignored: the file only takes up space.
async fn forget(cx: &Cx, files: [Option<String>; 2]) {
    for key in files.into_iter().flatten().filter_map(|key| key.parse::<Key>().ok()) {
        if let Err(error) = cx.storage.delete(&key).await {
            tracing::warn!(%error, file = %key, "could not remove an old file");
        }
    }
}
