//! Custom emojis of other servers, as their statuses and profiles bring them.

use context::Cx;
use context::error::Result;
use model::{AccountId, Emoji, Time};
use store::emoji::RemoteEmojiRow;

/// Most custom emojis of one domain.
const DOMAIN_MAX: i64 = 10_000;

/// A custom emoji in a document.
#[derive(Clone, Debug)]
pub struct RemoteEmoji {
    /// Without colons.
    pub shortcode: String,
    pub uri: Option<String>,
    /// Its picture.
    pub url: String,
    pub sensitive: bool,
    pub aliases: Vec<String>,
    pub license: Option<String>,
    pub updated_at: Option<Time>,
}

impl RemoteEmoji {
    fn is(&self, known: &Emoji) -> bool {
        self.shortcode == known.shortcode
            && Some(&self.url) == known.remote_url.as_ref()
            && (self.sensitive, &self.aliases, &self.license) == (known.sensitive, &known.aliases.0, &known.license)
    }
}

/// Stores the emojis in a document of `account`, as emojis of its domain.
pub(super) async fn save_of(cx: &Cx, account: AccountId, emojis: &[RemoteEmoji]) -> Result<()> {
    if emojis.is_empty() {
        return Ok(());
    }
    let domains = store::account::domains(&cx.db, &[account]).await?;
    match domains.into_iter().find_map(|(_, domain)| domain) {
        Some(domain) => save(cx, &domain, emojis).await,
        None => Ok(()),
    }
}

/// Stores `emojis`, which an actor of `domain` uses; none while the domain's media are rejected. Nothing is written when
/// all are known.
///
/// In a transaction of its own: actors of one domain bring the same emojis, and must not wait for one another longer.
pub(super) async fn save(cx: &Cx, domain: &str, emojis: &[RemoteEmoji]) -> Result<()> {
    if emojis.is_empty() || cx.domain_policy().of(domain).flags.reject_media {
        return Ok(());
    }
    let names: Vec<String> = emojis.iter().map(|emoji| emoji.shortcode.clone()).collect();
    let known = store::emoji::list_remote(&cx.db, &names, &[domain.to_owned()]).await?;
    let now = cx.clock.now();
    let new = emojis.iter().filter(|emoji| !known.iter().any(|known| emoji.is(known)));
    let mut rows: Vec<RemoteEmojiRow> = new
        .map(|emoji| RemoteEmojiRow {
            id: cx.ids.next(),
            shortcode: emoji.shortcode.clone(),
            uri: emoji.uri.clone(),
            url: emoji.url.clone(),
            sensitive: emoji.sensitive.into(),
            aliases: emoji.aliases.clone(),
            license: emoji.license.clone(),
            updated_at: emoji.updated_at.map_or(now, |updated| updated.min(now)).timestamp_micros(),
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    if store::emoji::count_remote(&cx.db, domain, DOMAIN_MAX).await? >= DOMAIN_MAX {
        return Ok(());
    }
    // In one order for all, so that two transactions cannot wait for each other.
    rows.sort_by(|one, other| one.shortcode.cmp(&other.shortcode));
    let mut tx = cx.db.begin().await?;
    store::emoji::upsert_remote(&mut tx, domain, &rows, now).await?;
    Ok(tx.commit().await?)
}
