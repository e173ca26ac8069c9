//! The matches of the viewer's filters on a page: the member `filtered` of statuses.
//!
//! Reached only from [`status`](super::status), through which every status is rendered, so that statuses are marked
//! in every response. Matching statuses stay in the response: hiding them is up to the client. For viewers without
//! filters nothing is loaded.
//!
//! Spec: docs/contract/rules.md#15-filters.

use std::sync::Arc;

use serde::Deserialize;

use super::account;
use super::filter_set::{self, FilterSet, Subject};
use context::Cx;
use context::by_id::ById;
use context::caches::{Profile, StatusCore};
use context::error::{Error, Result};
use context::json::{Array, Fragment};
use model::{AccountId, Actor, StatusId};
use service::relations;
use service::visibility::Seen;
use store::relation_set::Relations;
use store::status::Head;
use text::keywords::Searchable;
use text::plain;

/// The fields of the shared part of a status that filters match.
#[derive(Debug, Deserialize)]
struct Shared {
    spoiler_text: String,
    content: String,
    media_attachments: Vec<Media>,
}

#[derive(Debug, Deserialize)]
struct Media {
    description: Option<String>,
}

/// The fields of a poll that filters match.
#[derive(Debug, Deserialize)]
struct Poll {
    options: Vec<PollOption>,
}

#[derive(Debug, Deserialize)]
struct PollOption {
    title: String,
}

/// The fields of an account that filters match.
#[derive(Debug, Deserialize)]
struct Author {
    acct: String,
    display_name: String,
    note: String,
}

/// Applies the filters of a viewer to statuses.
struct Filtering<'a> {
    cx: &'a Cx,
    viewer: AccountId,
    set: FilterSet,
    /// The accounts that the viewer follows, if a filter depends on it.
    relations: Option<Arc<Relations>>,
    cores: &'a ById<StatusId, Arc<StatusCore>>,
    authors: &'a account::Rendered,
    polls: &'a ById<StatusId, Fragment>,
    what: What,
}

/// The parts of filters to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Their keywords, and the statuses added to them.
    All,
    /// Only their keywords.
    Words,
}

/// The results for the statuses of a page that match.
#[derive(Debug)]
pub(super) struct Filtered {
    /// By the id of the status or the reblog.
    pub(super) page: ById<StatusId, Array>,
    /// Results for quoted statuses, by their ids. Quotes inside quotes are not shown, and not checked.
    pub(super) quoted: ById<StatusId, Array>,
}

impl Filtered {
    pub(super) fn none() -> Self {
        Self { page: Vec::new().into(), quoted: Vec::new().into() }
    }
}

/// The results for the statuses of `page` and their quotes. No statement when the viewer's filters are in memory.
pub(super) async fn find<'s>(
    cx: &Cx,
    viewer: Option<&Actor>,
    page: impl Iterator<Item = &'s Seen> + Clone + Send,
    what: What,
    cores: &ById<StatusId, Arc<StatusCore>>,
    authors: &account::Rendered,
    polls: &ById<StatusId, Fragment>,
) -> Result<Filtered> {
    let Some(viewer) = viewer else { return Ok(Filtered::none()) };
    let Some(set) = filter_set::of(cx, viewer).await? else { return Ok(Filtered::none()) };
    let relations = if set.looks_at_follows() { Some(relations::of(cx, viewer).await?) } else { None };
    let filtering = Filtering { cx, viewer: viewer.id, set, relations, cores, authors, polls, what };
    let quoted = page.clone().filter_map(Seen::quoted).map(|quoted| &quoted.head);
    let quoted =
        quoted.map(|head| Ok(filtering.results([Some(head.id), None], head, None)?.map(|found| (head.id, found))));
    let quoted: Vec<_> = quoted.filter_map(Result::transpose).collect::<Result<_>>()?;
    let found = page.map(|seen| Ok(filtering.of(seen)?.map(|found| (seen.head().id, found))));
    let found: Vec<_> = found.filter_map(Result::transpose).collect::<Result<_>>()?;
    Ok(Filtered { page: found.into(), quoted: quoted.into() })
}

impl Filtering<'_> {
    /// The results for a status of the page.
    fn of(&self, seen: &Seen) -> Result<Option<Array>> {
        let ids = [Some(seen.head().id), seen.original().map(|original| original.id)];
        let quote = seen.quoted().filter(|_| self.set.looks_at_quotes());
        self.results(ids, seen.proper(), quote.map(|quoted| &quoted.head))
    }

    /// `None` when no filter matches, and for the viewer's own statuses. `ids`: the status, and the original of a
    /// reblog.
    fn results(&self, ids: [Option<StatusId>; 2], head: &Head, quote: Option<&Head>) -> Result<Option<Array>> {
        if head.account_id == self.viewer {
            return Ok(None);
        }
        let Some(text) = self.text(head)? else { return Ok(None) };
        let quoted = quote.map(|quote| self.text(quote)).transpose()?.flatten();
        let profile = if self.set.looks_at_authors() { self.profile(head)? } else { None };
        let subject = Subject {
            ids: if self.what == What::All { ids } else { [None; 2] },
            text: &text,
            quoted: quoted.as_deref(),
            profile: profile.as_ref().map(|profile| &profile.text),
            local: profile.as_ref().is_some_and(|profile| profile.local),
            following: self.relations.as_ref().is_some_and(|relations| relations.is_following(head.account_id)),
        };
        Ok(self.set.results(&subject, self.cx.clock.now()))
    }

    /// The text of a status, from the cache or extracted now; `None` when the status was deleted meanwhile.
    fn text(&self, head: &Head) -> Result<Option<Arc<Searchable>>> {
        let key = (head.id, head.version);
        if let Some(text) = self.cx.caches.texts.get(&key) {
            return Ok(Some(text));
        }
        let Some(core) = self.cores.get(&head.id) else { return Ok(None) };
        let text = Arc::new(searchable(core, self.polls.get(&head.id))?);
        self.cx.caches.texts.insert(key, Arc::clone(&text));
        Ok(Some(text))
    }

    /// The author of a status, from the cache or read now; `None` when the account was deleted meanwhile.
    fn profile(&self, head: &Head) -> Result<Option<Arc<Profile>>> {
        let key = (head.account_id, head.account_version);
        if let Some(profile) = self.cx.caches.profiles.get(&key) {
            return Ok(Some(profile));
        }
        let Some(json) = self.authors.get(&head.account_id) else { return Ok(None) };
        let author: Author = serde_json::from_str(json).map_err(Error::internal)?;
        let text = Searchable::new(&format!("{}\n\n{}", author.display_name, plain(&author.note)));
        let profile = Arc::new(Profile { text, local: !author.acct.contains('@') });
        self.cx.caches.profiles.insert(key, Arc::clone(&profile));
        Ok(Some(profile))
    }
}

/// The text of a status: content warning, content, descriptions of media and options of its poll.
fn searchable(core: &StatusCore, poll: Option<&Fragment>) -> Result<Searchable> {
    let shared: Shared = serde_json::from_str(&format!("{{{}}}", core.members)).map_err(Error::internal)?;
    let poll: Option<Poll> =
        poll.map(|poll| serde_json::from_str(poll.as_str())).transpose().map_err(Error::internal)?;
    let content = plain(&shared.content);
    let media = shared.media_attachments.iter().filter_map(|media| media.description.as_deref());
    let options = poll.iter().flat_map(|poll| &poll.options).map(|option| option.title.as_str());
    let texts = [shared.spoiler_text.as_str(), &content].into_iter().chain(media).chain(options);
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    Ok(Searchable::new(&texts.join("\n\n")))
}
