//! A status in the form for search: its words, and facts such as `has:image` for operators.
//!
//! The words are taken from the text, the content warning, the descriptions of media and the options of a poll. The
//! same document defines the terms in the index, and whether a candidate from the index matches the query.

use std::collections::BTreeSet;

use context::error::Result;
use database::Conn;
use model::media::MediaKind;
use model::{AccountId, MediaAttachment, Status, StatusId};
use store::poll::OptionRow;
use text::search::{Phrase, Text, term};

/// The values of `has:` and `is:`.
pub(super) const PROPERTIES: &[&str] =
    &["image", "video", "audio", "media", "poll", "link", "embed", "sensitive", "reply", "reference"];
/// The fact of every status, which leads a search without words.
pub(super) const ANY: &str = "*";

#[derive(Debug)]
pub(super) struct Document {
    pub(super) id: StatusId,
    text: Text,
    facts: BTreeSet<String>,
}

/// The fact that `account` is the author.
pub(super) fn by(account: AccountId) -> String {
    format!("from:{account}")
}

/// The fact that its card has a player. The card is fetched after the status is indexed, so the index does not
/// contain it.
pub(super) const EMBED: &str = "has:embed";
/// The fact in the index of every status with a card.
const LINK: &str = "has:link";

/// The fact by which the index finds statuses with `fact`; `None` if the index contains none.
pub(super) fn indexed(fact: &str) -> Option<&str> {
    match fact {
        EMBED => Some(LINK),
        ANY => Some(fact),
        _ => Some(fact).filter(|fact| fact.starts_with("from:") || fact.starts_with("has:")),
    }
}

impl Document {
    fn new(status: &Status, media: &[MediaAttachment], options: &[OptionRow]) -> Self {
        let content = text::plain(&status.content);
        let mut facts: BTreeSet<String> = [ANY.to_owned(), by(status.account_id)].into();
        let mut has = |property: &str| facts.insert(format!("has:{property}"));
        for media in media {
            has("media");
            match media.kind {
                MediaKind::Image => has("image"),
                MediaKind::Video | MediaKind::Gifv => has("video"),
                MediaKind::Audio => has("audio"),
                MediaKind::Unknown => false,
            };
        }
        let links = content.contains("https://") || content.contains("http://");
        let properties = [
            (status.has_poll, "poll"),
            (links, "link"),
            (status.sensitive, "sensitive"),
            (status.in_reply_to_id.is_some(), "reply"),
            (status.has_references, "reference"),
        ];
        for (_, property) in properties.iter().filter(|(is, _)| *is) {
            has(property);
        }
        if let Some(language) = &status.language {
            let language = language.to_lowercase();
            let primary = language.split(['-', '_']).next().unwrap_or_default();
            facts.insert(format!("language:{primary}"));
            facts.insert(format!("language:{language}"));
        }
        let described = media.iter().filter_map(|media| media.description.as_deref());
        let parts = [status.spoiler_text.as_str(), content.as_str()].into_iter().chain(described);
        let text = Text::new(parts.chain(options.iter().map(|option| option.title.as_str())));
        Self { id: status.id, text, facts }
    }

    pub(super) fn contains(&self, phrase: &Phrase) -> bool {
        self.text.contains(phrase)
    }

    pub(super) fn is(&self, fact: &str) -> bool {
        self.facts.contains(fact)
    }

    /// Its terms in the index.
    pub(super) fn terms(&self) -> Vec<i64> {
        let mut terms = self.text.terms();
        terms.extend(self.facts.iter().filter(|fact| indexed(fact) == Some(fact)).map(|fact| term(fact)));
        terms.into_iter().collect()
    }
}

/// The documents of `statuses`, in their order, in at most two statements. Without facts from their cards.
#[model::boxed]
pub(super) async fn of(mut db: Conn<'_>, statuses: &[Status]) -> Result<Vec<Document>> {
    let with_media: Vec<StatusId> = statuses.iter().filter(|status| status.has_media).map(|status| status.id).collect();
    let with_poll: Vec<StatusId> = statuses.iter().filter(|status| status.has_poll).map(|status| status.id).collect();
    let media = match with_media.as_slice() {
        [] => Vec::new(),
        ids => store::media::list_for_statuses(db.reborrow(), ids).await?,
    };
    let options = match with_poll.as_slice() {
        [] => Vec::new(),
        ids => store::poll::list(db.reborrow(), ids, None).await?,
    };
    let document = |status: &Status| {
        let media: Vec<MediaAttachment> =
            media.iter().filter(|media| media.status_id == Some(status.id)).cloned().collect();
        let options: Vec<OptionRow> =
            options.iter().filter(|option| option.poll.status_id == status.id).cloned().collect();
        Document::new(status, &media, &options)
    };
    Ok(statuses.iter().map(document).collect())
}

/// Adds the facts from the cards of statuses to their documents, in one statement.
#[model::boxed]
pub(super) async fn add_cards(db: Conn<'_>, documents: &mut [Document]) -> Result<()> {
    let linking = documents.iter().filter(|document| document.is(LINK)).map(|document| document.id);
    let linking: Vec<StatusId> = linking.collect();
    if linking.is_empty() {
        return Ok(());
    }
    let players = store::card::list_with_players(db, &linking).await?;
    for document in documents.iter_mut().filter(|document| players.contains(&document.id)) {
        document.facts.insert(EMBED.to_owned());
    }
    Ok(())
}
