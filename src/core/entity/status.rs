//! <https://docs.joinmastodon.org/entities/Status/>

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::cache::StatusCore;
use super::emoji::{CustomEmoji, Palette};
use super::media::MediaAttachment;
use super::{Fragment, Object, account, boolean};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extension::{Members, Target, Versions};
use crate::service::visibility::Seen;
use model::account::Searchability;
use model::status::Visibility;
use model::{AccountId, Actor, StatusId, Time};
use store::status::{ApplicationRow, Head, MentionRow};

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
    "searchability",
    "language",
    "uri",
    "url",
    "replies_count",
    "reblogs_count",
    "favourites_count",
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

/// The members of a status that are the same for every viewer.
#[derive(Debug, Serialize)]
struct Shared<'a> {
    id: StatusId,
    created_at: String,
    in_reply_to_id: Option<StatusId>,
    in_reply_to_account_id: Option<AccountId>,
    sensitive: bool,
    spoiler_text: &'a str,
    visibility: &'static str,
    visibility_ex: Visibility,
    searchability: Searchability,
    language: Option<&'a str>,
    uri: &'a str,
    url: Option<&'a str>,
    replies_count: i64,
    reblogs_count: i64,
    favourites_count: i64,
    edited_at: Option<String>,
    content: &'a str,
    media_attachments: Vec<MediaAttachment>,
    mentions: Vec<StatusMention>,
    tags: Vec<StatusTag>,
    emojis: Vec<CustomEmoji>,
    card: Option<()>,
    poll: Option<()>,
}

/// <https://docs.joinmastodon.org/entities/Status/#Mention>
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct StatusMention {
    pub id: AccountId,
    pub username: String,
    pub url: Option<String>,
    pub acct: String,
}

/// <https://docs.joinmastodon.org/entities/Status/#Tag>
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct StatusTag {
    pub name: String,
    pub url: String,
}

/// <https://docs.joinmastodon.org/entities/Status/#application>
#[derive(Debug, Serialize)]
struct StatusApplication<'a> {
    name: &'a str,
    website: Option<&'a str>,
}

/// Renders a page of statuses as `viewer` sees them, in the order given. No statement when all are cached: what depends
/// on the viewer came with [`Seen`].
///
/// # Errors
/// [`Error::Plugin`] when a plugin whose members are required gives no answer.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, page: &[Seen]) -> Result<Vec<Fragment>> {
    let assemble = Assemble::load(cx, viewer, page, &[]).await?;
    // A status that was deleted since its head was read has no core; it is left out.
    Ok(page.iter().filter_map(|seen| assemble.page_entry(seen)).collect())
}

/// The statuses of a response that also shows accounts: by id, with all accounts.
#[derive(Debug)]
pub struct Beside {
    /// The statuses.
    pub statuses: HashMap<StatusId, Fragment>,
    /// The requested accounts, and the authors of the statuses.
    pub accounts: HashMap<AccountId, Arc<str>>,
}

/// As [`render`], for a response that also shows `accounts` (with their versions): all are rendered together.
///
/// # Errors
/// As [`render`].
pub async fn render_beside(
    cx: &Cx,
    viewer: Option<&Actor>,
    page: &[Seen],
    accounts: &[(AccountId, i64)],
) -> Result<Beside> {
    let assemble = Assemble::load(cx, viewer, page, accounts).await?;
    let statuses = page.iter().filter_map(|seen| Some((seen.head().id, assemble.page_entry(seen)?))).collect();
    Ok(Beside { statuses, accounts: assemble.authors })
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
) -> Result<(Vec<Fragment>, Vec<Fragment>)> {
    let versions = store::account::versions(&cx.db, accounts).await?;
    let assemble = Assemble::load(cx, viewer, page, &versions).await?;
    let statuses = page.iter().filter_map(|seen| assemble.page_entry(seen)).collect();
    let found = accounts.iter().filter_map(|id| assemble.authors.get(id));
    Ok((found.map(|account| Fragment::from_json(account)).collect(), statuses))
}

/// Renders one status as `viewer` sees it.
///
/// # Errors
/// [`Error::NotFound`] when it was deleted meanwhile.
pub async fn render_one(cx: &Cx, viewer: Option<&Actor>, seen: &Seen) -> Result<Fragment> {
    render(cx, viewer, std::slice::from_ref(seen)).await?.pop().ok_or(Error::NotFound)
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

struct Assemble<'a> {
    viewer: Option<&'a Actor>,
    cores: HashMap<StatusId, Arc<StatusCore>>,
    authors: HashMap<AccountId, Arc<str>>,
    /// Plugin members, by the original status.
    added: HashMap<StatusId, Members>,
}

impl<'a> Assemble<'a> {
    async fn load(cx: &Cx, viewer: Option<&'a Actor>, page: &[Seen], beside: &[(AccountId, i64)]) -> Result<Self> {
        let heads: Vec<&Head> = page.iter().flat_map(|seen| [Some(seen.head()), seen.original()]).flatten().collect();
        let cores = cores(cx, &heads).await?;
        let mut authors: Vec<(AccountId, i64)> =
            heads.iter().map(|head| (head.account_id, head.account_version)).chain(beside.iter().copied()).collect();
        authors.sort_unstable();
        authors.dedup();
        let authors = account::render_versions(cx, &authors).await?;
        let added = added(cx, viewer, page).await;
        Ok(Self { viewer, cores, authors, added })
    }

    fn page_entry(&self, seen: &Seen) -> Option<Fragment> {
        let reblog = match seen.original() {
            None => None,
            Some(original) => Some(self.status(original, seen, None)?),
        };
        self.status(seen.head(), seen, reblog.as_ref())
    }

    /// `head` is that of `seen`, or that of its original.
    fn status(&self, head: &Head, seen: &Seen, reblog: Option<&Fragment>) -> Option<Fragment> {
        let marked = seen.marked();
        let core = self.cores.get(&head.id)?;
        let author = self.authors.get(&head.account_id)?;
        let reblog = reblog.map_or("null", Fragment::as_str);
        let mut object = Object::with_capacity(core.members.len() + author.len() + reblog.len() + 256);
        object.members(&core.members).member("account", author).member("reblog", reblog);
        let own = self.viewer.is_some_and(|actor| actor.id == head.account_id);
        if let Some((application, public)) = &core.application
            && (*public || own)
        {
            object.member("application", application);
        }
        if self.viewer.is_some() {
            object
                .member("favourited", boolean(marked.favourited))
                .member("reblogged", boolean(marked.reblogged))
                .member("muted", boolean(marked.muted))
                .member("bookmarked", boolean(marked.bookmarked))
                .member("filtered", "[]");
        }
        if let Some(members) = self.added.get(&seen.proper().id) {
            members.add_to(&mut object);
        }
        if own && head.reblog_of_id.is_none() && !matches!(head.visibility, Visibility::Direct | Visibility::Limited) {
            object.member("pinned", boolean(marked.pinned));
        }
        Some(object.close())
    }
}

/// The members that plugins add to the statuses of a page; a reblog shares those of its original, which is asked about
/// once.
async fn added(cx: &Cx, viewer: Option<&Actor>, page: &[Seen]) -> HashMap<StatusId, Members> {
    if !cx.extensions().decorates("status") {
        return HashMap::new();
    }
    let mut heads: Vec<&Head> = page.iter().map(Seen::proper).collect();
    heads.sort_unstable_by_key(|head| head.id);
    heads.dedup_by_key(|head| head.id);
    let target = |head: &&Head| Target {
        id: head.id.into(),
        owner: head.account_id.into(),
        subject: None,
        activity: None,
        code: String::new(),
    };
    let versions: Vec<Versions> =
        heads.iter().map(|head| Versions { status: head.version, author: head.account_version }).collect();
    let decorations =
        cx.extensions().decorate(cx, viewer, "status", heads.iter().map(target).collect(), &versions).await;
    heads.iter().zip(decorations.into_members()).filter_map(|(head, members)| Some((head.id, members?))).collect()
}

/// The shared part of each status, from the cache or rendered now.
async fn cores(cx: &Cx, heads: &[&Head]) -> Result<HashMap<StatusId, Arc<StatusCore>>> {
    let generation = cx.emojis().generation;
    let mut cores = HashMap::with_capacity(heads.len());
    let mut missing = Vec::new();
    for head in heads {
        match cx.cache.statuses.get(&(head.id, head.version, generation)) {
            Some(core) => {
                cores.insert(head.id, core);
            }
            None => missing.push(head.id),
        }
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        missing.dedup();
        for (id, version, core) in load(cx, &missing).await? {
            let core = Arc::new(core);
            cx.cache.statuses.insert((id, version, generation), Arc::clone(&core));
            cores.insert(id, core);
        }
    }
    Ok(cores)
}

/// Renders the shared part of `ids`: one statement per kind of associated row.
async fn load(cx: &Cx, ids: &[StatusId]) -> Result<Vec<(StatusId, i64, StatusCore)>> {
    let statuses = store::status::list(&cx.db, ids).await?;
    let parts = Parts::load(cx, ids, &statuses).await?;
    statuses.iter().map(|status| Ok((status.id, status.version, parts.core(cx, status)?))).collect()
}

/// The associated rows of a page of statuses, by status.
struct Parts {
    media: BTreeMap<StatusId, Vec<MediaAttachment>>,
    mentions: BTreeMap<StatusId, Vec<MentionRow>>,
    tags: BTreeMap<StatusId, Vec<String>>,
    applications: HashMap<StatusId, ApplicationRow>,
    domains: HashMap<AccountId, Option<String>>,
    palette: Palette,
}

impl Parts {
    async fn load(cx: &Cx, ids: &[StatusId], statuses: &[model::Status]) -> Result<Self> {
        let mut media: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in store::media::list_for_statuses(&cx.db, ids).await? {
            if let Some(status) = row.status_id {
                media.entry(status).or_default().push(MediaAttachment::new(&row, &cx.urls));
            }
        }
        let mut mentions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for row in store::status::mentions(&cx.db, ids).await? {
            mentions.entry(row.status_id).or_default().push(row);
        }
        let mut tags: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (status, name) in store::status::tags(&cx.db, ids).await? {
            tags.entry(status).or_default().push(name);
        }
        let applications = store::status::applications(&cx.db, ids).await?;
        let authors: Vec<AccountId> =
            statuses.iter().filter(|status| !status.local).map(|status| status.account_id).collect();
        let domains: HashMap<AccountId, Option<String>> = if authors.is_empty() {
            HashMap::new()
        } else {
            store::account::domains(&cx.db, &authors).await?.into_iter().collect()
        };
        let texts = statuses.iter().flat_map(|status| {
            let domain = domains.get(&status.account_id).and_then(|domain| domain.as_deref());
            [(domain, status.content.as_str()), (domain, status.spoiler_text.as_str())]
        });
        let palette = Palette::load(cx, &texts.collect::<Vec<_>>()).await?;
        let applications = applications.into_iter().map(|row| (row.status_id, row)).collect();
        Ok(Self { media, mentions, tags, applications, domains, palette })
    }

    fn core(&self, cx: &Cx, status: &model::Status) -> Result<StatusCore> {
        let domain = self.domains.get(&status.account_id).and_then(|domain| domain.as_deref());
        let shared = Shared {
            id: status.id,
            created_at: status.created_at.to_api(),
            in_reply_to_id: status.in_reply_to_id,
            in_reply_to_account_id: status.in_reply_to_account_id,
            sensitive: status.sensitive,
            spoiler_text: &status.spoiler_text,
            visibility: status.visibility.coarse(),
            visibility_ex: status.visibility,
            searchability: status.searchability,
            language: status.language.as_deref(),
            uri: &status.uri,
            url: status.url.as_deref(),
            replies_count: status.replies_count,
            reblogs_count: status.reblogs_count,
            favourites_count: status.favourites_count,
            edited_at: status.edited_at.map(Time::to_api),
            content: &status.content,
            media_attachments: self.media.get(&status.id).cloned().unwrap_or_default(),
            mentions: self.mentions.get(&status.id).map(|rows| rows.iter().map(mention).collect()).unwrap_or_default(),
            tags: self
                .tags
                .get(&status.id)
                .map(|names| names.iter().map(|name| tag(cx, name)).collect())
                .unwrap_or_default(),
            emojis: self.palette.of(&cx.urls, domain, &[&status.content, &status.spoiler_text]),
            card: None,
            poll: None,
        };
        let json = serde_json::to_string(&shared).map_err(Error::internal)?;
        let members = json[1..json.len() - 1].to_owned();
        let application = self.applications.get(&status.id).map(application).transpose()?;
        Ok(StatusCore { members, application })
    }
}

fn mention(row: &MentionRow) -> StatusMention {
    let acct = match &row.domain {
        None => row.username.clone(),
        Some(domain) => format!("{}@{domain}", row.username),
    };
    StatusMention { id: row.account_id, username: row.username.clone(), url: row.url.clone(), acct }
}

fn tag(cx: &Cx, name: &str) -> StatusTag {
    StatusTag { name: name.to_owned(), url: cx.urls.tag(name) }
}

fn application(row: &ApplicationRow) -> Result<(String, bool)> {
    let application = StatusApplication { name: &row.name, website: row.website.as_deref() };
    Ok((serde_json::to_string(&application).map_err(Error::internal)?, row.preferences.show_application))
}
