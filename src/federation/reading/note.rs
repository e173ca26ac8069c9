//! A note as a status: its visibility, its addressees, and the members that are kept.

use std::borrow::Cow;

use context::Cx;
use model::account::Searchability;
use model::status::LimitedScope;
use model::{AccountId, Time, Visibility};
use service::remote::poll::RemotePoll;
use service::remote::status::RemoteStatus;

use super::converted;
use super::emoji::emojis;
use super::known::known;
use super::media::media;
use super::profile::{is_misskey, searchability};
use crate::Failure;
use crate::address::{URL_MAX, actor_of, host_of, is_usable, same_host};
use crate::steps::Steps;
use crate::vocabulary::{Choice, Closed, Id, Note, Tag, is_public};

/// The audience of signed-in people, in the forms in which it is written.
const LOGIN: [&str; 3] = ["as:LoginOnly", "kmyblue:LoginOnly", "LoginUser"];
/// Most references that are looked up (docs/contract/federation.md#7-accepting-activities).
const REFERENCES_MAX: usize = 8;
/// Most mentioned actors that are fetched.
const UNKNOWN_MAX: usize = 20;
/// Most addressees that are looked up.
const ADDRESSEES_MAX: usize = 1_000;

/// The actor who wrote `note`: one at home on the host of its id.
///
/// # Errors
/// [`Failure::Disbelieved`].
pub(crate) fn author_of<'a>(cx: &impl Steps, note: &'a Note) -> Result<&'a str, Failure> {
    let is_known = note.is_status();
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
    let addressees = addressees(cx, note, author.followers.as_deref(), mailbox).await?;
    let mut visibility = visibility(&note.to, &note.cc, author.followers.as_deref());
    if visibility == Visibility::Direct && !addressees.silent.is_empty() {
        visibility = Visibility::Limited;
    }
    let parent = match note.in_reply_to.first() {
        Some(parent) => known(cx, &parent.0).await?,
        None => None,
    };
    let missing = note.in_reply_to.first().filter(|_| parent.is_none()).map(|parent| parent.0.clone());
    cx.step("audience", true, || {
        let (parent, local) = (if parent.is_some() { "known" } else { "none that is known" }, addressees.local.len());
        format!("visibility {}, addressed accounts of this server: {local}, parent: {parent}", visibility.as_str())
    });
    let misskey = is_of_misskey(cx, note).await?;
    let limited_scope = (visibility == Visibility::Limited).then(|| scope(note.limited_scope.as_deref()));
    let page = page(note);
    let status = RemoteStatus {
        uri: note.id.clone(),
        author: author.id,
        content: if note.is_converted() { converted::content(note, &page) } else { content(note) },
        url: Some(page),
        spoiler_text: spoiler(note),
        sensitive: note.sensitive.unwrap_or_default(),
        language: language(note).or_else(|| misskey.then(|| "ja".to_owned())),
        visibility,
        limited_scope: limited_scope.flatten(),
        searchability: effective_searchability(note, author, visibility, misskey),
        in_reply_to: parent,
        missing_parent: missing.filter(|uri| is_foreign(cx, uri)),
        replies: note.replies.as_ref().map(|url| url.0.clone()).filter(|url| same_host(url, &note.id)),
        depth: 0,
        conversation: conversation(cx, note),
        mentions: addressees.tagged,
        unknown_mentions: addressees.unknown,
        unknown_audience: addressees.unnamed,
        audience: addressees.silent,
        tags: hashtags(note),
        poll: poll(note, now),
        media: media(note),
        emojis: emojis(&note.id, &note.tag),
        references: references(note),
        created_at: note.published.as_deref().and_then(Time::parse_rfc3339).filter(|time| *time < now).unwrap_or(now),
        edited_at: note.updated.as_deref().and_then(Time::parse_rfc3339),
        delivered: mailbox.is_some(),
    };
    Ok(Read { status, local: addressees.local })
}

/// True for a note of software of the Misskey family that leaves out what such software never states.
async fn is_of_misskey(cx: &Cx, note: &Note) -> Result<bool, Failure> {
    if note.searchable_by.is_some() {
        return Ok(false);
    }
    let host = host_of(&note.id).unwrap_or_default();
    Ok(store::instance::software(&cx.db, &host).await?.is_some_and(|software| is_misskey(&software)))
}

/// True for the address of something on another server.
fn is_foreign(cx: &Cx, uri: &str) -> bool {
    host_of(uri).is_some_and(|host| !cx.config.is_local_domain(&host))
}

/// The poll of a question; `None` for anything else.
pub(crate) fn poll(note: &Note, now: Time) -> Option<RemotePoll> {
    let multiple = note.one_of.is_empty();
    let choices = if multiple { &note.any_of } else { &note.one_of };
    if choices.is_empty() {
        return None;
    }
    let votes = |choice: &Choice| choice.replies.as_ref().map_or(0, |replies| replies.total_items);
    let end = note.end_time.as_deref().and_then(Time::parse_rfc3339);
    let closed = note.closed.as_ref().and_then(|closed| match closed {
        Closed::State(closed) => closed.then_some(now),
        Closed::At(time) => Time::parse_rfc3339(time),
    });
    Some(RemotePoll {
        options: choices.iter().map(|choice| (choice.name.clone(), votes(choice))).collect(),
        multiple,
        expires_at: end.into_iter().chain(closed).min(),
        voters_count: note.voters_count.0,
    })
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
    /// Actors of other servers that the text names and that are not known.
    unknown: Vec<String>,
    /// Others that are not known, of a note for named accounts only: they may see it too.
    unnamed: Vec<String>,
}

async fn addressees(
    cx: &Cx,
    note: &Note,
    followers: Option<&str>,
    mailbox: Option<AccountId>,
) -> Result<Addressees, Failure> {
    let mentions = note.tag.iter().filter(|tag| tag.is("Mention")).filter_map(|tag| tag.href.as_deref());
    let tagged: Vec<Cow<'_, str>> = mentions.map(|href| actor_of(&cx.urls, href)).collect();
    let addressed = note.to.iter().chain(&*note.cc).map(|id| actor_of(&cx.urls, &id.0));
    let all = addressed.chain(tagged.iter().cloned()).filter(|id| !is_public(id) && host_of(id).is_some());
    let mut all: Vec<String> = all.take(ADDRESSEES_MAX).map(Cow::into_owned).collect();
    all.sort_unstable();
    all.dedup();
    let known = if all.is_empty() { Vec::new() } else { store::remote::list_accounts(&cx.db, &all).await? };
    let is_known = |id: &str| known.iter().any(|(_, uri, _)| uri == id);
    let strangers = all.iter().filter(|id| !is_known(id) && is_foreign(cx, id)).take(UNKNOWN_MAX);
    let is_named = |id: &&String| tagged.contains(&Cow::Borrowed(id.as_str()));
    let (unknown, mut unnamed): (Vec<&String>, Vec<&String>) = strangers.partition(is_named);
    if visibility(&note.to, &note.cc, followers) != Visibility::Direct {
        unnamed.clear();
    }
    let owned = |ids: Vec<&String>| ids.into_iter().cloned().collect();
    let (unknown, unnamed) = (owned(unknown), owned(unnamed));
    let mut found = Addressees { tagged: Vec::new(), silent: Vec::new(), local: Vec::new(), unknown, unnamed };
    for (id, uri, domain) in known {
        if tagged.contains(&Cow::Borrowed(uri.as_str())) {
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
fn effective_searchability(note: &Note, author: &Author, visibility: Visibility, misskey: bool) -> Searchability {
    let followers = author.followers.clone().map(Id);
    let stated = searchability(note.searchable_by.as_ref(), followers.as_ref(), &author.uri);
    let of_audience = match visibility {
        Visibility::Limited | Visibility::Direct => Searchability::Direct,
        _ => Searchability::Public,
    };
    let unstated = match visibility {
        Visibility::Public | Visibility::Unlisted => Searchability::Public,
        _ => Searchability::Limited,
    };
    let stated = stated.or(misskey.then_some(unstated));
    // In the order of their declaration, each is stricter than the one before.
    stated.unwrap_or(author.searchability).max(author.searchability).max(of_audience)
}

pub(super) fn content(note: &Note) -> String {
    note.content.0.clone().or_else(|| first(note.content_map.0.as_ref())).unwrap_or_default()
}

fn first(map: Option<&std::collections::BTreeMap<String, String>>) -> Option<String> {
    map?.values().next().cloned()
}

/// The content warning.
pub(super) fn spoiler(note: &Note) -> String {
    if note.is_converted() {
        return converted::warning(note).unwrap_or_default().to_owned();
    }
    note.summary.0.clone().or_else(|| first(note.summary_map.0.as_ref())).unwrap_or_default()
}

/// The language of the text: of the map that states it, the one whose text is the content, title or summary.
pub(super) fn language(note: &Note) -> Option<String> {
    let maps = [(&note.content, &note.content_map), (&note.name, &note.name_map), (&note.summary, &note.summary_map)];
    let tag = maps.into_iter().find_map(|(text, map)| {
        let map = map.as_ref()?;
        let of_text = map.iter().find(|(_, one)| text.as_ref() == Some(*one));
        of_text.or_else(|| map.iter().next()).map(|(tag, _)| tag)
    });
    let tag = tag.or_else(|| note.language.as_ref().map(|language| &language.identifier))?;
    text::language::resolve(tag).map(str::to_owned)
}

/// The page of the note, on its own host; its id when there is none.
pub(super) fn page(note: &Note) -> String {
    let fits = |href: &str| same_host(href, &note.id);
    let is_page = |kind: Option<&str>| kind.is_none_or(|kind| kind == "text/html");
    let page = note.url.iter().find(|link| is_page(link.media_type.as_deref()) && fits(&link.href));
    page.map_or_else(|| note.id.clone(), |link| link.href.clone())
}

/// The URI of the thread, unless it is one of this server: those are found by the status replied to.
fn conversation(cx: &Cx, note: &Note) -> Option<String> {
    let named = note.context.as_ref().or(note.conversation.as_ref()).map(|id| id.0.as_str())?;
    let own = named.starts_with(&cx.urls.path("/")) || named.starts_with(&format!("tag:{},", cx.urls.local_domain));
    (!own && named.len() <= URL_MAX).then(|| named.to_owned())
}

pub(super) fn hashtags(note: &Note) -> Vec<(String, String)> {
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

/// The statuses that the note refers to, of which the first may be its quote.
pub(super) fn references(note: &Note) -> Vec<text::Reference> {
    let named = [&note.quote, &note.quote_url, &note.quote_url_in_capitals, &note.misskey_quote];
    let named = named.into_iter().find_map(|id| Some(id.as_ref()?.0.as_str()));
    let quote = note.tag.iter().find_map(Tag::object).or(named);
    let quote = quote.map(|url| text::Reference { url: url.to_owned(), quote: true });
    let listed =
        note.references.iter().flat_map(|all| all.items.iter().chain(all.first.iter().flat_map(|page| &*page.items)));
    let listed = listed.take(REFERENCES_MAX).map(|id| text::Reference { url: id.0.clone(), quote: false });
    let usable = |one: &text::Reference| one.url != note.id && is_usable(&one.url);
    quote.into_iter().chain(listed).filter(usable).collect()
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
