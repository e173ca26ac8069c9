//! The part of a status that is the same for every viewer, as stored in the cache.
//!
//! Reached from [`status`](super::status), which adds the parts that depend on the viewer. One statement per kind of
//! associated row for all statuses of a page that are not cached.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::emoji::{CustomEmoji, Palette};
use super::preview_card::{self, PreviewCard};
use super::room::{CHUNK, Room};
use context::Cx;
use context::by_id::ById;
use context::caches::{Creator, StatusCore};
use context::error::{Error, Result};
use context::json::media::MediaAttachment;
use model::account::Searchability;
use model::status::{LimitedScope, Visibility};
use model::{AccountId, StatusId, Time, boxed};
use store::card::StatusCard;
use store::status::{ApplicationRow, Head, MentionRow};

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
    limited_scope: Option<LimitedScope>,
    local_only: bool,
    searchability: Searchability,
    language: Option<&'a str>,
    uri: &'a str,
    url: Option<&'a str>,
    markdown: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    status_reference_ids: &'a [i64],
    status_references_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote_id: Option<StatusId>,
    edited_at: Option<String>,
    content: &'a str,
    media_attachments: Vec<MediaAttachment>,
    mentions: Vec<StatusMention>,
    tags: Vec<StatusTag>,
    emojis: Vec<CustomEmoji>,
    /// The last member; the author of the linked page is inserted into it.
    card: Option<PreviewCard>,
}

/// <https://docs.joinmastodon.org/entities/Status/#Mention>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatusMention {
    id: AccountId,
    username: String,
    url: Option<String>,
    acct: String,
}

/// <https://docs.joinmastodon.org/entities/Status/#Tag>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatusTag {
    name: String,
    url: String,
}

impl From<&model::Account> for StatusMention {
    fn from(account: &model::Account) -> Self {
        Self { id: account.id, username: account.username.clone(), url: account.url.clone(), acct: account.acct() }
    }
}

/// <https://docs.joinmastodon.org/entities/Status/#application>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatusApplication<'a> {
    name: &'a str,
    website: Option<&'a str>,
}

/// The shared part of each status, from the cache or rendered now, as far as they have room in a response.
#[boxed]
pub(super) async fn cores(cx: &Cx, heads: &[&Head]) -> Result<ById<StatusId, Arc<StatusCore>>> {
    let (mut room, mut taken) = (Room::default(), Vec::with_capacity(heads.len()));
    for chunk in heads.chunks(CHUNK) {
        if room.is_full() {
            break;
        }
        let cores = chunk_of_cores(cx, chunk).await?;
        if room.takes_all(cores.iter().map(|(_, core)| core.members.len()).sum()) {
            taken.extend(cores);
            continue;
        }
        // In the order of the response, whose end is left out.
        let cores: ById<StatusId, Arc<StatusCore>> = cores.into();
        let found = chunk.iter().filter_map(|head| Some((head.id, Arc::clone(cores.get(&head.id)?))));
        taken.extend(found.filter(|(_, core)| room.takes(core.members.len())));
    }
    Ok(taken.into())
}

async fn chunk_of_cores(cx: &Cx, heads: &[&Head]) -> Result<Vec<(StatusId, Arc<StatusCore>)>> {
    let generation = cx.emojis().generation;
    let (mut cores, mut missing) = (Vec::with_capacity(heads.len()), Vec::new());
    for head in heads {
        match cx.caches.statuses.get(&(head.id, head.version, generation, head.author_sensitized)) {
            Some(core) => cores.push((head.id, core)),
            None => missing.push((head.id, head.author_sensitized)),
        }
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        missing.dedup();
        for (id, version, core) in load(cx, &missing).await? {
            let core = Arc::new(core);
            let sensitized = missing.contains(&(id, true));
            cx.caches.statuses.insert((id, version, generation, sensitized), Arc::clone(&core));
            cores.push((id, core));
        }
    }
    Ok(cores)
}

/// Renders the shared part of statuses, given with whether moderators mark their authors' media as sensitive: one
/// statement per kind of associated row.
async fn load(cx: &Cx, missing: &[(StatusId, bool)]) -> Result<Vec<(StatusId, i64, StatusCore)>> {
    let ids: Vec<StatusId> = missing.iter().map(|(id, _)| *id).collect();
    let mut statuses = store::status::list(&cx.db, &ids).await?;
    for status in &mut statuses {
        status.sensitive |= missing.contains(&(status.id, true));
    }
    let rows = Associated::load(cx, &ids, &statuses).await?;
    statuses.iter().map(|status| Ok((status.id, status.version, rows.core(cx, status)?))).collect()
}

/// The associated rows of a page of statuses, by status.
struct Associated {
    media: BTreeMap<StatusId, Vec<MediaAttachment>>,
    mentions: BTreeMap<StatusId, Vec<MentionRow>>,
    tags: BTreeMap<StatusId, Vec<String>>,
    /// Ids of statuses, which the contract defines as numbers here.
    references: BTreeMap<StatusId, Vec<i64>>,
    applications: HashMap<StatusId, ApplicationRow>,
    cards: HashMap<StatusId, (PreviewCard, Option<Creator>)>,
    domains: HashMap<AccountId, Option<String>>,
    palette: Palette,
}

impl Associated {
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
        let referring: Vec<StatusId> =
            statuses.iter().filter(|status| status.has_references).map(|status| status.id).collect();
        let mut references: BTreeMap<_, Vec<_>> = BTreeMap::new();
        if !referring.is_empty() {
            for (status, target) in store::reference::list_targets(&cx.db, &referring).await? {
                references.entry(status).or_default().push(i64::from(target));
            }
        }
        let applications = store::status::applications(&cx.db, ids).await?;
        let cards = cards(cx, statuses).await?;
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
        Ok(Self { media, mentions, tags, references, applications, cards, domains, palette })
    }

    fn core(&self, cx: &Cx, status: &model::Status) -> Result<StatusCore> {
        let domain = self.domains.get(&status.account_id).and_then(|domain| domain.as_deref());
        let references = self.references.get(&status.id).map_or(&[][..], Vec::as_slice);
        let card = self.cards.get(&status.id);
        let shared = Shared {
            id: status.id,
            created_at: status.created_at.to_api(),
            in_reply_to_id: status.in_reply_to_id,
            in_reply_to_account_id: status.in_reply_to_account_id,
            sensitive: status.sensitive,
            spoiler_text: &status.spoiler_text,
            visibility: status.visibility.coarse(),
            visibility_ex: status.visibility,
            limited_scope: status.limited_scope,
            local_only: status.local_only,
            searchability: status.searchability,
            language: status.language.as_deref(),
            uri: &status.uri,
            url: status.url.as_deref(),
            markdown: status.markdown,
            expires_at: status.expires_at.map(Time::to_api),
            status_reference_ids: references,
            status_references_count: references.len(),
            quote_id: status.quoted(),
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
            card: card.map(|(card, _)| card.clone()),
        };
        let json = serde_json::to_string(&shared).map_err(Error::internal)?;
        let members = json[1..json.len() - 1].to_owned();
        let application = self.applications.get(&status.id).map(application).transpose()?;
        Ok(StatusCore { members, application, creator: card.and_then(|(_, creator)| creator.clone()) })
    }
}

/// The cards of `statuses`. One statement, or none when no text has a link.
async fn cards(cx: &Cx, statuses: &[model::Status]) -> Result<HashMap<StatusId, (PreviewCard, Option<Creator>)>> {
    // Every link in a text contains that word, added by this server: see `text::to_html` and `text::sanitise`.
    let linked: Vec<StatusId> =
        statuses.iter().filter(|status| status.content.contains("nofollow")).map(|status| status.id).collect();
    if linked.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store::card::list_for_statuses(&cx.db, &linked).await?;
    let card = |row: StatusCard| {
        (row.status_id, (PreviewCard::new(row.card.clone(), &cx.urls), preview_card::creator_of(&row.card)))
    };
    Ok(rows.into_iter().map(card).collect())
}

fn mention(row: &MentionRow) -> StatusMention {
    let acct = match &row.domain {
        None => row.username.clone(),
        Some(domain) => format!("{}@{domain}", row.username),
    };
    StatusMention { id: row.account_id, username: row.username.clone(), url: row.url.clone(), acct }
}

/// A hashtag by its normalised name.
pub(super) fn tag(cx: &Cx, name: &str) -> StatusTag {
    StatusTag { name: name.to_owned(), url: cx.urls.tag(name) }
}

fn application(row: &ApplicationRow) -> Result<(String, bool)> {
    let application = StatusApplication { name: &row.name, website: row.website.as_deref() };
    Ok((serde_json::to_string(&application).map_err(Error::internal)?, row.preferences.show_application))
}
