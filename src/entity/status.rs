//! <https://docs.joinmastodon.org/entities/Status/>

use std::collections::HashSet;
use std::sync::Arc;

use super::filter_result::{self, Filtered, What};
use super::interaction_policy;
use super::preview_card::{Creators, write_attributed, write_unconfirmed};
use super::quote::{write_approval, write_shallow, write_word};
use super::room::{self, Room};
use super::status_added::added;
use super::status_core::cores;
use super::status_marks::{add_counts, add_marks};
use super::{account, poll};
use context::Cx;
use context::by_id::ById;
use context::caches::StatusCore;
use context::error::{Error, Result};
use context::extension::Members;
use context::json::{Array, Fragment, Object, boolean};
use model::interaction::Permission;
use model::status::Visibility;
use model::{AccountId, Actor, StatusId, boxed};
use service::visibility::{Marked, Quoted, Seen, ShownState};
use store::status::Head;

/// The member names of a status.
pub(super) const MEMBERS: &[&str] = &[
    "id",
    "created_at",
    "in_reply_to_id",
    "in_reply_to_account_id",
    "sensitive",
    "spoiler_text",
    "visibility",
    "visibility_ex",
    "limited_scope",
    "local_only",
    "searchability",
    "language",
    "uri",
    "url",
    "replies_count",
    "reblogs_count",
    "favourites_count",
    "markdown",
    "expires_at",
    "status_reference_ids",
    "status_references_count",
    "status_referred_by_count",
    "quote_id",
    "quote",
    "quotes_count",
    "quote_approval",
    "interaction_policy",
    "approval",
    "edited_at",
    "content",
    "text",
    "media_attachments",
    "mentions",
    "tags",
    "emojis",
    "card",
    "poll",
    "account",
    "reblog",
    "application",
    "favourited",
    "reblogged",
    "muted",
    "bookmarked",
    "filtered",
    "pinned",
];

/// Size of a status without its shared part and its author, in bytes: the names of the members added here, and their
/// largest values.
const FRAME_BYTES: usize = 1_280;

/// Renders a page of statuses as `viewer` sees them, in the order given. No statement when all are cached: [`Seen`]
/// contains the parts that depend on the viewer.
///
/// # Errors
/// [`Error::Plugin`] when a plugin whose members are required does not respond.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, page: &[Seen]) -> Result<Array> {
    Ok(Parts::load(cx, viewer, page.iter(), &[]).await?.array(page))
}

/// The statuses of a response that also shows accounts: by id, with all accounts.
#[derive(Debug)]
pub struct Beside {
    pub statuses: Vec<(StatusId, Fragment)>,
    /// The requested accounts, and the authors of the statuses.
    pub accounts: account::Rendered,
}

/// As [`render`], for a response that also shows `accounts` (with their versions). Renders all of them together.
///
/// # Errors
/// As [`render`].
pub async fn render_beside(
    cx: &Cx,
    viewer: Option<&Actor>,
    page: &[Seen],
    accounts: &[(AccountId, i64)],
) -> Result<Beside> {
    let parts = Parts::load(cx, viewer, page.iter(), accounts).await?;
    let statuses = parts.entries(page).iter().map(|entry| (entry.seen.head().id, parts.fragment(entry))).collect();
    Ok(Beside { statuses, accounts: parts.authors })
}

/// Renders search results, accounts and statuses, each in the order given.
///
/// # Errors
/// As [`render`].
pub async fn render_results(
    cx: &Cx,
    viewer: Option<&Actor>,
    accounts: &[AccountId],
    page: &[Seen],
) -> Result<(Array, Array)> {
    let versions = store::account::versions(&cx.db, accounts).await?;
    let parts = Parts::load(cx, viewer, page.iter(), &versions).await?;
    let found = accounts.iter().filter_map(|id| parts.authors.get(id)).map(AsRef::as_ref);
    Ok((Array::join(found), parts.array(page)))
}

/// Renders one status as `viewer` sees it.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
#[boxed]
pub async fn render_one(cx: &Cx, viewer: Option<&Actor>, seen: &Seen) -> Result<Fragment> {
    let parts = Parts::load(cx, viewer, std::iter::once(seen), &[]).await?;
    parts.entry(seen).map(|entry| parts.fragment(&entry)).ok_or(Error::NotFound)
}

/// Renders the response to a deletion: the source is in `text`, and there is no `content`.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn render_deleted(cx: &Cx, actor: &Actor, seen: &Seen, source: &str) -> Result<Fragment> {
    let rendered = render_one(cx, Some(actor), seen).await?;
    let mut body: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(rendered.as_str()).map_err(Error::internal)?;
    body.remove("content");
    body.insert("text".to_owned(), source.into());
    Fragment::of(&body)
}

/// The data for the statuses of a response.
pub(super) struct Parts<'a> {
    pub(super) viewer: Option<&'a Actor>,
    pub(super) cores: ById<StatusId, Arc<StatusCore>>,
    pub(super) authors: account::Rendered,
    /// The confirmations by the authors of linked pages, whose accounts are among `authors`.
    pub(super) creators: Creators,
    /// By status.
    pub(super) polls: ById<StatusId, Fragment>,
    /// Results of the viewer's filters, by the status or the reblog.
    pub(super) filtered: Filtered,
    /// Plugin members, by the original status.
    pub(super) added: ById<StatusId, Members>,
}

/// The heads of the statuses shown with `seen`: itself, the original, and the quote.
pub(super) fn heads_of(seen: &Seen) -> impl Iterator<Item = &Head> {
    [Some(seen.head()), seen.original(), seen.quoted().map(|quoted| &quoted.head)].into_iter().flatten()
}

/// The heads of the statuses that extensions decorate.
pub(super) fn proper_of(seen: &Seen) -> impl Iterator<Item = &Head> {
    [Some(seen.proper()), seen.quoted().map(|quoted| &quoted.head)].into_iter().flatten()
}

/// A status with all its parts.
pub(super) struct Entry<'a> {
    seen: &'a Seen,
    own: Part<'a>,
    original: Option<Part<'a>>,
    /// JSON.
    filtered: &'a str,
    added: Option<&'a Members>,
    /// The quoted status of the status or of its original.
    quoted: Option<QuotePart<'a>>,
}

/// A quoted status with all its parts.
struct QuotePart<'a> {
    quoted: &'a Quoted,
    part: Part<'a>,
    /// JSON.
    filtered: &'a str,
    added: Option<&'a Members>,
}

/// A status, or the original of a reblog.
struct Part<'a> {
    head: &'a Head,
    core: &'a StatusCore,
    author: &'a str,
    poll: &'a str,
    /// The author of the page of its card.
    creator: Option<&'a str>,
    /// The page of its card names the viewer as its author, and the viewer does not confirm the site.
    unconfirmed: bool,
}

impl<'a> Parts<'a> {
    /// The parts of the statuses of `page`, and the accounts of `beside`, with their versions.
    pub(super) async fn load<'s>(
        cx: &Cx,
        viewer: Option<&'a Actor>,
        page: impl Iterator<Item = &'s Seen> + Clone + Send,
        beside: &[(AccountId, i64)],
    ) -> Result<Self> {
        let Parts { cores, authors, creators, .. } = Parts::shared(cx, page.clone(), beside).await?;
        let polls = poll::render(cx, viewer, page.clone().flat_map(heads_of)).await?;
        let filtered = filter_result::find(cx, viewer, page.clone(), What::All, &cores, &authors, &polls).await?;
        let added = added(cx, viewer, page.flat_map(proper_of)).await.into();
        Ok(Self { viewer, cores, authors, creators, polls, filtered, added })
    }

    /// As [`Parts::load`], without the parts that depend on the viewer.
    pub(super) async fn shared<'s>(
        cx: &Cx,
        page: impl Iterator<Item = &'s Seen> + Send,
        beside: &[(AccountId, i64)],
    ) -> Result<Self> {
        let heads: Vec<&Head> = page.flat_map(heads_of).collect();
        let cores = cores(cx, &heads).await?;
        let creators = Creators::load(cx, cores.iter().filter_map(|(_, core)| core.creator.as_ref())).await?;
        let mut authors: Vec<(AccountId, i64)> =
            heads.iter().map(|head| (head.account_id, head.account_version)).chain(beside.iter().copied()).collect();
        authors.extend(&creators.versions);
        let mut met = HashSet::with_capacity(authors.len());
        authors.retain(|author| met.insert(*author));
        let authors = room::accounts(cx, &authors).await?;
        let (polls, added) = (Vec::new().into(), Vec::new().into());
        Ok(Self { viewer: None, cores, authors, creators, polls, filtered: Filtered::none(), added })
    }

    fn array(&self, page: &[Seen]) -> Array {
        let entries = self.entries(page);
        Array::of(size_bytes(&entries), &entries, |out, entry| self.write(out, entry))
    }

    pub(super) fn fragment(&self, entry: &Entry<'_>) -> Fragment {
        let mut text = String::with_capacity(entry.size_bytes());
        self.write(&mut text, entry);
        Fragment::from_string(text)
    }

    /// The statuses of a page that have room in a response of their own.
    pub(super) fn entries<'s>(&'s self, page: &'s [Seen]) -> Vec<Entry<'s>> {
        self.entries_within(&mut Room::default(), page)
    }

    /// The statuses of a page that have room.
    pub(super) fn entries_within<'s>(&'s self, room: &mut Room, page: &'s [Seen]) -> Vec<Entry<'s>> {
        let entries = page.iter().filter_map(|seen| self.entry(seen));
        entries.filter(|entry| room.takes(entry.size_bytes())).collect()
    }

    /// `None` for a status that was deleted since its head was read, or has no room. It is left out.
    pub(super) fn entry<'s>(&'s self, seen: &'s Seen) -> Option<Entry<'s>> {
        let original = match seen.original() {
            None => None,
            Some(original) => Some(self.part(original)?),
        };
        let filtered = self.filtered.page.get(&seen.head().id).map_or("[]", Array::as_str);
        let added = self.added.get(&seen.proper().id);
        let quoted = seen.quoted().and_then(|quoted| self.quoted(quoted));
        Some(Entry { seen, own: self.part(seen.head())?, original, filtered, added, quoted })
    }

    fn quoted<'s>(&'s self, quoted: &'s Quoted) -> Option<QuotePart<'s>> {
        let id = quoted.head.id;
        let filtered = self.filtered.quoted.get(&id).map_or("[]", Array::as_str);
        Some(QuotePart { quoted, part: self.part(&quoted.head)?, filtered, added: self.added.get(&id) })
    }

    fn part<'s>(&'s self, head: &'s Head) -> Option<Part<'s>> {
        let poll = self.polls.get(&head.id).map_or("null", Fragment::as_str);
        let core = self.cores.get(&head.id)?;
        let creator = core.creator.as_ref().and_then(|creator| self.creators.confirmed(creator, &self.authors));
        let named = core.creator.as_ref().map(|creator| creator.account);
        let unconfirmed = creator.is_none() && named.is_some() && named == self.viewer.map(|viewer| viewer.id);
        Some(Part { head, core, author: self.authors.get(&head.account_id)?, poll, creator, unconfirmed })
    }

    /// Appends a status to `out`.
    pub(super) fn write(&self, out: &mut String, entry: &Entry<'_>) {
        self.write_part(out, entry, &entry.own, entry.original.as_ref());
    }

    fn write_part(&self, out: &mut String, entry: &Entry<'_>, part: &Part<'_>, reblog: Option<&Part<'_>>) {
        Object::write(out, |object| {
            self.add_shared(object, part, |out| match reblog {
                None => out.push_str("null"),
                Some(original) => self.write_part(out, entry, original, None),
            });
            if let Some(quote) = entry.seen.quote().filter(|_| part.head.quote_state.is_some()) {
                object.member_with("quote", |out| self.write_quote(out, quote.state, entry.quoted.as_ref()));
            }
            self.add_approval(object, entry.seen.proper(), entry.seen.marked());
            self.add_viewed(object, part, entry.seen.marked(), entry.filtered, entry.added);
        });
    }

    /// Appends a quote to `out`: its state and the quoted status, once as a member, where its own quote is shallow
    /// (<https://docs.joinmastodon.org/entities/Quote/>), and once by its members, where its own quote is null.
    fn write_quote(&self, out: &mut String, state: ShownState, quoted: Option<&QuotePart<'_>>) {
        Object::write(out, |object| {
            let gone = quoted.is_none() && state == ShownState::Accepted;
            let state = if gone { ShownState::Deleted } else { state };
            object.member_with("state", |out| write_word(out, state.as_str()));
            let Some(quoted) = quoted else {
                object.member("quoted_status", "null");
                return;
            };
            object.member_with("quoted_status", |out| {
                Object::write(out, |object| {
                    self.add_quoted(object, quoted);
                    if let Some(own) = quoted.quoted.quote {
                        object.member_with("quote", |out| write_shallow(out, own));
                    }
                });
            });
            self.add_quoted(object, quoted);
            if quoted.quoted.quote.is_some() {
                object.member("quote", "null");
            }
            if self.viewer.is_some() {
                object.member("quote_muted", boolean(quoted.quoted.muted));
            }
        });
    }

    /// Adds the members of a quoted status, without its quote.
    fn add_quoted(&self, object: &mut Object, quoted: &QuotePart<'_>) {
        self.add_shared(object, &quoted.part, |out| out.push_str("null"));
        self.add_approval(object, &quoted.quoted.head, quoted.quoted.marked);
        self.add_viewed(object, &quoted.part, quoted.quoted.marked, quoted.filtered, quoted.added);
    }

    /// Adds the members that hardly depend on the viewer.
    fn add_shared(&self, object: &mut Object, part: &Part<'_>, reblog: impl FnOnce(&mut String)) {
        let Part { head, core, author, poll, creator, unconfirmed } = *part;
        match creator {
            None if unconfirmed => object.members_with(|out| write_unconfirmed(out, &core.members)),
            None => object.members(&core.members),
            Some(creator) => object.members_with(|out| write_attributed(out, &core.members, creator)),
        };
        object.member("poll", poll).member("account", author).member_with("reblog", reblog);
        if let Some(approval) = head.approval {
            object.member_with("approval", |out| write_word(out, approval.as_str()));
        }
        add_counts(object, head);
        match &core.application {
            Some((application, public)) if *public || self.is_own(head) => {
                object.member("application", application);
            }
            // The author always sees the application, also that there is none.
            None if self.is_own(head) => {
                object.member("application", "null");
            }
            Some(_) | None => {}
        }
    }

    /// Adds the viewer's interactions and filter results, and the members of plugins.
    fn add_viewed(
        &self,
        object: &mut Object,
        part: &Part<'_>,
        marked: Marked,
        filtered: &str,
        added: Option<&Members>,
    ) {
        let head = part.head;
        if self.viewer.is_some() {
            add_marks(object, marked, filtered);
        }
        if let Some(members) = added {
            members.add_to(object);
        }
        let few = matches!(head.visibility, Visibility::Direct | Visibility::Limited);
        if self.is_own(head) && head.reblog_of_id.is_none() && !few {
            object.member("pinned", boolean(marked.pinned));
        }
    }

    /// Adds who may quote `head`, and whether the viewer may: <https://docs.joinmastodon.org/entities/QuoteApproval/>.
    fn add_approval(&self, object: &mut Object, head: &Head, marked: Marked) {
        if !head.interaction_policy.is_open() {
            object.member_with("interaction_policy", |out| {
                interaction_policy::write(out, head.interaction_policy, self.viewer.map(|_| marked.may));
            });
        }
        object.member_with("quote_approval", |out| {
            let rule = head.interaction_policy.quotes(head.visibility.is_anonymous());
            write_approval(out, rule, self.viewer.map_or(Permission::Denied, |_| marked.may.quote));
        });
    }

    fn is_own(&self, head: &Head) -> bool {
        self.viewer.is_some_and(|actor| actor.id == head.account_id)
    }
}

impl Entry<'_> {
    /// An upper estimate of the size of its JSON.
    pub(super) fn size_bytes(&self) -> usize {
        let added = self.added.map_or(0, Members::size_bytes);
        let parts = [Some(&self.own), self.original.as_ref()].into_iter().flatten();
        let own: usize = parts.map(|part| FRAME_BYTES + part.size_bytes() + self.filtered.len() + added).sum();
        own + self.quoted.as_ref().map_or(FRAME_BYTES, QuotePart::size_bytes)
    }
}

impl QuotePart<'_> {
    fn size_bytes(&self) -> usize {
        let added = self.added.map_or(0, Members::size_bytes);
        3 * FRAME_BYTES + 2 * (self.part.size_bytes() + self.filtered.len() + added)
    }
}

impl Part<'_> {
    fn size_bytes(&self) -> usize {
        let application = self.core.application.as_ref().map_or(0, |(json, _)| json.len());
        self.core.members.len() + self.author.len() + self.poll.len() + application + self.creator.map_or(0, str::len)
    }
}

/// An upper estimate of the size of an array of `entries`.
pub(super) fn size_bytes(entries: &[Entry<'_>]) -> usize {
    2 + entries.iter().map(Entry::size_bytes).sum::<usize>()
}
