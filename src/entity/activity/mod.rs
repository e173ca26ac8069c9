//! ActivityPub documents of this server's accounts and statuses, rendered a page at a time.
//!
//! Reached from archives ([`service::archive`]) and from `federation`, which serves and sends them. Collections of replies
//! and references are served at separate URLs.
//!
//! Spec: <https://www.w3.org/TR/activitystreams-vocabulary/>; docs/contract/federation.md#3-documents-sent.

mod actor;
mod attachment;
mod audience;
mod emoji;
mod files;
mod image;
mod note;
mod policy;
mod question;

pub use actor::actor;
pub use emoji::emoji;
pub use files::Files;
pub use note::{REFERENCES_PAGE, activities, id_of, notes, update};

use serde::Serialize;

use model::urls::Urls;

/// The collection that means everyone.
pub const PUBLIC: &str = "https://www.w3.org/ns/activitystreams#Public";

/// The value of `@context` (docs/contract/federation.md#3-documents-sent), as JSON.
pub const CONTEXT: &str = r##"["https://www.w3.org/ns/activitystreams","https://w3id.org/security/v1",{"as":"https://www.w3.org/ns/activitystreams#","toot":"http://joinmastodon.org/ns#","schema":"http://schema.org#","ostatus":"http://ostatus.org#","fedibird":"http://fedibird.com/ns#","kmyblue":"http://kmy.blue/ns#","misskey":"https://misskey-hub.net/ns#","manuallyApprovesFollowers":"as:manuallyApprovesFollowers","sensitive":"as:sensitive","Hashtag":"as:Hashtag","movedTo":{"@id":"as:movedTo","@type":"@id"},"alsoKnownAs":{"@id":"as:alsoKnownAs","@type":"@id"},"Emoji":"toot:Emoji","featured":{"@id":"toot:featured","@type":"@id"},"featuredTags":{"@id":"toot:featuredTags","@type":"@id"},"focalPoint":{"@container":"@list","@id":"toot:focalPoint"},"blurhash":"toot:blurhash","discoverable":"toot:discoverable","indexable":"toot:indexable","memorial":"toot:memorial","votersCount":"toot:votersCount","suspended":"toot:suspended","attributionDomains":{"@id":"toot:attributionDomains","@type":"@id"},"PropertyValue":"schema:PropertyValue","value":"schema:value","keywords":"schema:keywords","license":"schema:license","atomUri":"ostatus:atomUri","inReplyToAtomUri":"ostatus:inReplyToAtomUri","conversation":"ostatus:conversation","searchableBy":{"@id":"fedibird:searchableBy","@type":"@id"},"otherSetting":"fedibird:otherSetting","references":{"@id":"fedibird:references","@type":"@id"},"quoteUri":"fedibird:quoteUri","_misskey_quote":"misskey:_misskey_quote","quoteUrl":"as:quoteUrl","quote":{"@id":"https://w3id.org/fep/044f#quote","@type":"@id"},"quoteAuthorization":{"@id":"https://w3id.org/fep/044f#quoteAuthorization","@type":"@id"},"QuoteAuthorization":"https://w3id.org/fep/044f#QuoteAuthorization","QuoteRequest":"https://w3id.org/fep/044f#QuoteRequest","gts":"https://gotosocial.org/ns#","LikeRequest":"gts:LikeRequest","ReplyRequest":"gts:ReplyRequest","AnnounceRequest":"gts:AnnounceRequest","interactionPolicy":{"@id":"gts:interactionPolicy","@type":"@id"},"canQuote":{"@id":"gts:canQuote","@type":"@id"},"canReply":{"@id":"gts:canReply","@type":"@id"},"canLike":{"@id":"gts:canLike","@type":"@id"},"canAnnounce":{"@id":"gts:canAnnounce","@type":"@id"},"automaticApproval":{"@id":"gts:automaticApproval","@type":"@id"},"manualApproval":{"@id":"gts:manualApproval","@type":"@id"},"replyAuthorization":{"@id":"gts:replyAuthorization","@type":"@id"},"LikeAuthorization":"gts:LikeAuthorization","ReplyAuthorization":"gts:ReplyAuthorization","AnnounceAuthorization":"gts:AnnounceAuthorization","interactingObject":{"@id":"gts:interactingObject","@type":"@id"},"interactionTarget":{"@id":"gts:interactionTarget","@type":"@id"},"limitedScope":"kmyblue:limitedScope","webfinger":{"@id":"https://purl.archive.org/socialweb/webfinger#webfinger"}}]"##;

/// A tag of a text.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Tag {
    Mention {
        href: String,
        name: String,
    },
    Hashtag {
        href: String,
        name: String,
    },
    /// A link to the quoted status.
    Link {
        href: String,
        media_type: &'static str,
        /// What the link means: a quote.
        rel: &'static str,
        /// The replacement in the text for software without quotes.
        name: String,
    },
    /// It has its own type.
    #[serde(untagged)]
    Emoji(emoji::Emoji),
}

impl Tag {
    /// The hashtag `name`, in normal form.
    fn hashtag(urls: &Urls, name: &str) -> Self {
        Self::Hashtag { href: urls.tag(name), name: format!("#{name}") }
    }
}

/// A hashtag that an account features.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "Hashtag")]
pub struct FeaturedHashtag {
    href: String,
    name: String,
}

impl FeaturedHashtag {
    /// The hashtag `name`, in normal form.
    #[must_use]
    pub fn new(urls: &Urls, name: &str) -> Self {
        Self { href: urls.tag(name), name: format!("#{name}") }
    }
}

/// The custom emojis of this server in `texts`.
fn emojis(cx: &context::Cx, palette: &super::emoji::Palette, texts: &[&str]) -> Vec<Tag> {
    palette.found(None, texts).into_iter().map(|found| Tag::Emoji(emoji::Emoji::new(&cx.urls, found))).collect()
}
