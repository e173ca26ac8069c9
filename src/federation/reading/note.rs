//! A note as a status: its visibility, its addressees, and the members that are kept.

use context::Cx;
use model::account::Searchability;
use model::status::LimitedScope;
use model::{AccountId, Time, Visibility};
use service::remote::status::{RemoteMedia, RemoteStatus};

use super::known::known;
use super::profile::searchability;
use crate::Failure;
use crate::address::{host_of, same_host};
use crate::vocabulary::{Attachment, Id, Note, is_public};

/// The types that are shown like a note.
const TYPES: [&str; 2] = ["Note", "Question"];
/// The audience of signed-in people, in the forms in which it is written.
const LOGIN: [&str; 3] = ["as:LoginOnly", "kmyblue:LoginOnly", "LoginUser"];
/// Longest URL that is kept, in bytes.
const URL_MAX: usize = 2_048;
/// Most addressees that are looked up.
const ADDRESSEES_MAX: usize = 1_000;

/// The actor who wrote `note`: one at home on the host of its id.
///
/// # Errors
/// [`Failure::Disbelieved`].
pub(crate) fn author_of<'a>(cx: &Cx, note: &'a Note) -> Result<&'a str, Failure> {
    let is_known = note.kind.iter().any(|kind| TYPES.contains(&kind.as_str()));
    cx.step("type", is_known, || {
        format!("the type {:?} is {}", &*note.kind, if is_known { "known" } else { "not the type of a status" })
    });
    if !is_known {
        return Err(Failure::Disbelieved("the document is not a note"));
    }
    let author = note.attributed_to.first().ok_or(Failure::Disbelieved("the note has no author"))?;
    let is_at_home = same_host(&author.0, &note.id);
    cx.step("author", is_at_home, || match is_at_home {
        true => format!("{} is on the host of the id", author.0),
        false => format!("{} is on another host than the id {}", author.0, note.id),
    });
    if is_at_home { Ok(&author.0) } else { Err(Failure::Disbelieved("the author is on another host")) }
}

/// The author of a note.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) id: AccountId,
    pub(crate) uri: String,
    pub(crate) followers: Option<String>,
    pub(crate) searchability: Searchability,
}

/// A note as a status, and the accounts of this server that it is addressed to.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) status: RemoteStatus,
    pub(crate) local: Vec<AccountId>,
}

/// Reads `note`. `mailbox`: the owner of the inbox that it came to.
///
/// # Errors
/// [`Failure`].
pub(crate) async fn read(cx: &Cx, note: &Note, author: &Author, mailbox: Option<AccountId>) -> Result<Read, Failure> {
    if store::tombstone::exists(&cx.db, &note.id, author.id).await? {
        return Err(Failure::Gone);
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
    cx.step("audience", true, || {
        let (parent, local) = (if parent.is_some() { "known" } else { "none that is known" }, addressees.local.len());
        format!("visibility {}, addressed accounts of this server: {local}, parent: {parent}", visibility.as_str())
    });
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
        searchability: effective_searchability(note, author, visibility),
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

/// The visibility of an object with these recipients (`to`) and recipients of copies (`cc`).
pub(crate) fn visibility(to: &[Id], cc: &[Id], followers: Option<&str>) -> Visibility {
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
    /// The accounts of this server among all.
    local: Vec<AccountId>,
}

async fn addressees(cx: &Cx, note: &Note, mailbox: Option<AccountId>) -> Result<Addressees, Failure> {
    let tagged: Vec<&str> =
        note.tag.iter().filter(|tag| tag.is("Mention")).filter_map(|tag| tag.href.as_deref()).collect();
    let addressed = note.to.iter().chain(&*note.cc).map(|id| id.0.as_str());
    let all = addressed.chain(tagged.iter().copied()).filter(|id| !is_public(id) && host_of(id).is_some());
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

/// The stricter of the values of the note and of the author, who decides alone if the note states none
/// (docs/contract/federation.md#7-accepting-activities).
fn effective_searchability(note: &Note, author: &Author, visibility: Visibility) -> Searchability {
    let followers = author.followers.clone().map(Id);
    let stated = searchability(note.searchable_by.as_ref(), followers.as_ref(), &author.uri);
    let of_audience = match visibility {
        Visibility::Limited | Visibility::Direct => Searchability::Direct,
        _ => Searchability::Public,
    };
    // In the order of their declaration, each is stricter than the one before.
    stated.unwrap_or(author.searchability).max(author.searchability).max(of_audience)
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
    if url.len() > URL_MAX || host_of(url).is_none() {
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
