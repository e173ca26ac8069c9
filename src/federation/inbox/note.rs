//! A note as a status: who may see it, whom it concerns, and what is kept of it.

use context::Cx;
use model::account::Searchability;
use model::status::LimitedScope;
use model::{Account, AccountId, StatusId, Time, Visibility};
use service::remote::status::{RemoteMedia, RemoteStatus};

use super::like::known;
use super::refusal::Ignored;
use crate::fetch::profile::searchability;
use crate::fetch::{Failure, same_host};
use crate::vocabulary::{Attachment, Id, Note, is_public};

/// The types that are shown like a note.
const TYPES: [&str; 2] = ["Note", "Question"];
/// The audience of whoever is signed in, in the forms in which it is written.
const LOGIN: [&str; 3] = ["as:LoginOnly", "kmyblue:LoginOnly", "LoginUser"];
/// Longest URL that is kept, in bytes.
const URL_MAX: usize = 2_048;
/// Most addressees that are looked up.
const ADDRESSEES_MAX: usize = 1_000;

/// The actor who wrote `note`: one at home on the host of its id.
///
/// # Errors
/// [`Failure::Disbelieved`].
pub fn author_of(note: &Note) -> Result<&str, Failure> {
    if !note.kind.iter().any(|kind| TYPES.contains(&kind.as_str())) {
        return Err(Failure::Disbelieved("the document is not a note"));
    }
    let author = note.attributed_to.first().ok_or(Failure::Disbelieved("the note has no author"))?;
    if same_host(&author.0, &note.id) {
        Ok(&author.0)
    } else {
        Err(Failure::Disbelieved("the author is on another host"))
    }
}

/// Stores a note that was fetched from its own address.
///
/// # Errors
/// [`Failure`].
pub async fn store_fetched(cx: &Cx, note: &Note, author: &Account) -> Result<StatusId, Failure> {
    let as_failure = |ignored| match ignored {
        Ignored::Because(reason) => Failure::Disbelieved(reason),
        Ignored::Fetch(failure) => failure,
        Ignored::Local(error) => Failure::Local(error),
    };
    let author = Author { id: author.id, uri: author.uri.clone(), followers: followers(cx, author.id).await? };
    let status = read(cx, note, &author, None).await.map_err(as_failure)?.status;
    match service::remote::status::create(cx, status, &[]).await {
        Err(context::Error::Gone) => Err(Failure::Gone),
        created => Ok(created?),
    }
}

async fn followers(cx: &Cx, author: AccountId) -> Result<Option<String>, database::Error> {
    Ok(store::remote::get_actor(&cx.db, author).await?.and_then(|actor| actor.followers_url))
}

/// The author of a note.
#[derive(Clone, Debug)]
pub(super) struct Author {
    pub(super) id: AccountId,
    pub(super) uri: String,
    pub(super) followers: Option<String>,
}

/// A note as a status, and the accounts of this server that it is addressed to.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) status: RemoteStatus,
    pub(super) local: Vec<AccountId>,
}

/// Reads `note`. `mailbox`: the owner of the inbox that it came to.
///
/// # Errors
/// [`Ignored`].
pub(super) async fn read(cx: &Cx, note: &Note, author: &Author, mailbox: Option<AccountId>) -> Result<Read, Ignored> {
    if store::tombstone::exists(&cx.db, &note.id, author.id).await? {
        return Err(Ignored::Because("deleted_before"));
    }
    let now = cx.clock.now();
    let addressees = addressees(cx, note, mailbox).await?;
    let mut visibility = visibility(&note.to, &note.cc, author.followers.as_deref());
    if visibility == Visibility::Direct && !addressees.silent.is_empty() {
        visibility = Visibility::Limited;
    }
    let parent = match note.in_reply_to.first() {
        Some(parent) => known(cx, &parent.0).await?,
        None => None,
    };
    let limited_scope = (visibility == Visibility::Limited).then(|| scope(note.limited_scope.as_deref()));
    let status = RemoteStatus {
        uri: note.id.clone(),
        url: page(note),
        author: author.id,
        content: content(note),
        spoiler_text: note.summary.0.clone().or_else(|| first(note.summary_map.0.as_ref())).unwrap_or_default(),
        sensitive: note.sensitive.unwrap_or_default(),
        language: language(note),
        visibility,
        limited_scope: limited_scope.flatten(),
        searchability: stated_searchability(note, author, visibility),
        in_reply_to: parent,
        conversation: conversation(cx, note),
        mentions: addressees.tagged,
        audience: addressees.silent,
        tags: hashtags(note),
        media: note.attachment.iter().filter_map(media).collect(),
        created_at: note.published.as_deref().and_then(Time::parse_rfc3339).filter(|time| *time < now).unwrap_or(now),
        delivered: mailbox.is_some(),
    };
    Ok(Read { status, local: addressees.local })
}

/// Who may see what is addressed `to` and `cc` these.
pub(super) fn visibility(to: &[Id], cc: &[Id], followers: Option<&str>) -> Visibility {
    let has = |ids: &[Id], fits: &dyn Fn(&str) -> bool| ids.iter().any(|id| fits(&id.0));
    let is_followers = |id: &str| followers == Some(id);
    let is_login = |id: &str| LOGIN.contains(&id);
    if has(to, &is_public) {
        Visibility::Public
    } else if has(cc, &is_public) {
        Visibility::Unlisted
    } else if has(to, &is_login) || has(cc, &is_login) {
        Visibility::Login
    } else if has(to, &is_followers) || has(cc, &is_followers) {
        Visibility::Private
    } else {
        Visibility::Direct
    }
}

/// The accounts that a note addresses, as far as they are known here.
struct Addressees {
    /// Named in the text.
    tagged: Vec<AccountId>,
    /// The others.
    silent: Vec<AccountId>,
    /// Those of this server among all.
    local: Vec<AccountId>,
}

async fn addressees(cx: &Cx, note: &Note, mailbox: Option<AccountId>) -> Result<Addressees, Ignored> {
    let tagged: Vec<&str> =
        note.tag.iter().filter(|tag| tag.is("Mention")).filter_map(|tag| tag.href.as_deref()).collect();
    let addressed = note.to.iter().chain(&*note.cc).map(|id| id.0.as_str());
    let all =
        addressed.chain(tagged.iter().copied()).filter(|id| !is_public(id) && crate::fetch::host_of(id).is_some());
    let mut all: Vec<String> = all.take(ADDRESSEES_MAX).map(str::to_owned).collect();
    all.sort_unstable();
    all.dedup();
    let known = if all.is_empty() { Vec::new() } else { store::remote::list_accounts(&cx.db, &all).await? };
    let mut found = Addressees { tagged: Vec::new(), silent: Vec::new(), local: Vec::new() };
    for (id, uri, domain) in known {
        if tagged.contains(&uri.as_str()) {
            found.tagged.push(id);
        } else {
            found.silent.push(id);
        }
        if domain.is_none() {
            found.local.push(id);
        }
    }
    if let Some(owner) = mailbox.filter(|owner| !found.tagged.contains(owner) && !found.silent.contains(owner)) {
        // Others may be addressed by a collection that only their server knows.
        let of_followers = visibility(&note.to, &note.cc, None) != Visibility::Direct;
        if !of_followers && found.local.is_empty() {
            found.silent.push(owner);
            found.local.push(owner);
        }
    }
    Ok(found)
}

fn scope(stated: Option<&str>) -> Option<LimitedScope> {
    match stated {
        Some("Mutual") => Some(LimitedScope::Mutual),
        Some("Reply") => Some(LimitedScope::Reply),
        Some(_) | None => Some(LimitedScope::Circle),
    }
}

/// The stricter of what the note and the author state (docs/contract/federation.md#7-accepting-activities).
fn stated_searchability(note: &Note, author: &Author, visibility: Visibility) -> Searchability {
    let followers = author.followers.clone().map(Id);
    let stated = searchability(note.searchable_by.as_ref(), followers.as_ref(), &author.uri);
    match (stated, visibility) {
        (Some(Searchability::Limited), _) => Searchability::Limited,
        (_, Visibility::Limited | Visibility::Direct) => Searchability::Direct,
        (stated, _) => stated.unwrap_or(Searchability::Direct),
    }
}

fn content(note: &Note) -> String {
    note.content.0.clone().or_else(|| first(note.content_map.0.as_ref())).unwrap_or_default()
}

fn first(map: Option<&std::collections::BTreeMap<String, String>>) -> Option<String> {
    map?.values().next().cloned()
}

/// The language of the text: of the map that states it, the one whose text is the content.
fn language(note: &Note) -> Option<String> {
    let map = note.content_map.0.as_ref()?;
    let of_content = map.iter().find(|(_, text)| note.content.0.as_ref() == Some(*text));
    let (tag, _) = of_content.or_else(|| map.iter().next())?;
    text::language::resolve(tag).map(str::to_owned)
}

/// The page of the note, on its own host; its id when there is none.
fn page(note: &Note) -> Option<String> {
    let fits = |href: &str| href.len() <= URL_MAX && same_host(href, &note.id);
    let is_page = |kind: Option<&str>| kind.is_none_or(|kind| kind == "text/html");
    let page = note.url.iter().find(|link| is_page(link.media_type.as_deref()) && fits(&link.href));
    Some(page.map_or_else(|| note.id.clone(), |link| link.href.clone()))
}

/// The URI of the thread, unless it is one of this server: those are found by the status replied to.
fn conversation(cx: &Cx, note: &Note) -> Option<String> {
    let named = note.context.as_ref().or(note.conversation.as_ref()).map(|id| id.0.as_str())?;
    let own = named.starts_with(&cx.urls.path("/")) || named.starts_with(&format!("tag:{},", cx.urls.local_domain));
    (!own && named.len() <= URL_MAX).then(|| named.to_owned())
}

fn hashtags(note: &Note) -> Vec<(String, String)> {
    let mut tags: Vec<(String, String)> = Vec::new();
    for tag in note.tag.iter().filter(|tag| tag.is("Hashtag")) {
        let written = text::hashtag::bare(tag.name.as_deref().unwrap_or_default());
        let Some(name) = text::hashtag::normalise(written) else { continue };
        if !tags.iter().any(|(known, _)| *known == name) {
            tags.push((name, written.to_owned()));
        }
    }
    tags
}

fn media(file: &Attachment) -> Option<RemoteMedia> {
    let url = file.url.first().map(|link| link.href.as_str()).or(file.href.as_deref())?;
    let mime = file.media_type.0.clone().or_else(|| file.url.first().and_then(|link| link.media_type.clone()));
    if url.len() > URL_MAX || crate::fetch::host_of(url).is_none() {
        return None;
    }
    let is_short = |text: &&String| text.len() <= 128;
    Some(RemoteMedia {
        url: url.to_owned(),
        mime: mime.filter(|mime| mime.len() <= 128).unwrap_or_default(),
        description: file.summary.0.clone().or_else(|| file.name.0.clone()),
        blurhash: file.blurhash.0.as_ref().filter(is_short).cloned(),
        focus: file.focal_point.0,
        size: file.width.0.zip(file.height.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &[&str]) -> Vec<Id> {
        names.iter().map(|name| Id((*name).to_owned())).collect()
    }

    #[test]
    fn visibility_follows_from_the_addressees() {
        let of = |to: &[&str], cc: &[&str]| visibility(&ids(to), &ids(cc), Some("https://a.test/f"));
        let public = "https://www.w3.org/ns/activitystreams#Public";
        assert_eq!(of(&[public], &["https://a.test/f"]), Visibility::Public);
        assert_eq!(of(&["https://a.test/f"], &["as:Public"]), Visibility::Unlisted);
        assert_eq!(of(&["https://a.test/f", "LoginUser"], &[]), Visibility::Login);
        assert_eq!(of(&["https://a.test/f"], &["https://b.test/u"]), Visibility::Private);
        assert_eq!(of(&["https://b.test/u"], &[]), Visibility::Direct);
        assert_eq!(of(&["https://b.test/f"], &[]), Visibility::Direct, "the followers of someone else");
        assert_eq!(of(&[], &[]), Visibility::Direct);
    }
}
