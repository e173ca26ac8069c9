//! Statuses as notes and questions, wrapped in the activities that created them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::attachment::{Document, document};
use super::policy::{Policy, policy};
use super::question::{Collection, Question, question};
use super::{Files, PUBLIC, Tag, audience, emojis};
use crate::emoji::Palette;
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::status::LimitedScope;
use model::{Account, InteractionKind, MediaAttachment, QuoteState, RowId, Status, StatusId, Time, Visibility, urls};
use store::archive::MentionedActor;
use store::interaction_request::InteractionRequest;
use store::poll::OptionRow;

/// References on a page (docs/contract/federation.md#4-collections-and-paging).
pub const REFERENCES_PAGE: usize = 5;

/// What a link to a quoted status means.
const MISSKEY_QUOTE: &str = "https://misskey-hub.net/ns#_misskey_quote";
/// The media type of a link to a status.
const STATUS: &str = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"";

/// `Create` of a note, or `Announce` of a status.
#[derive(Debug, Serialize)]
struct Activity<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    published: String,
    to: Vec<String>,
    cc: Vec<String>,
    object: Object<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Object<'a> {
    Note(Box<Note<'a>>),
    Uri(String),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Note<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    summary: Option<&'a str>,
    in_reply_to: Option<&'a str>,
    published: String,
    url: Option<&'a str>,
    attributed_to: &'a str,
    to: Vec<String>,
    cc: Vec<String>,
    sensitive: bool,
    atom_uri: &'a str,
    in_reply_to_atom_uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    searchable_by: Vec<String>,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_map: Option<BTreeMap<&'a str, Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limited_scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote_authorization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_authorization: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote_uri: Option<&'a str>,
    #[serde(rename = "_misskey_quote", skip_serializing_if = "Option::is_none")]
    misskey_quote: Option<&'a str>,
    interaction_policy: Policy,
    attachment: Vec<Document<'a>>,
    tag: Vec<Tag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replies: Option<Replies>,
    likes: Collection,
    shares: Collection,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<References<'a>>,
    #[serde(flatten)]
    question: Option<Question<'a>>,
}

/// The replies to a note, which are on the pages of the collection.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "Collection")]
struct Replies {
    id: String,
    first: String,
}

impl Replies {
    fn of(id: String) -> Self {
        Self { first: format!("{id}?page=true"), id }
    }
}

/// The statuses that everyone may read among those that a note refers to.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "Collection")]
struct References<'a> {
    id: String,
    /// `None` when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<ReferencesPage<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "CollectionPage", rename_all = "camelCase")]
struct ReferencesPage<'a> {
    id: String,
    part_of: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    items: Vec<&'a str>,
}

impl<'a> References<'a> {
    /// The references of the note `uri`: rows and URIs of their targets.
    fn of(uri: &str, all: &'a [(RowId, String)]) -> Self {
        let id = format!("{uri}/references");
        let (items, rest) = all.split_at(all.len().min(REFERENCES_PAGE));
        let next = items.last().filter(|_| !rest.is_empty());
        let first = (!items.is_empty()).then(|| ReferencesPage {
            id: format!("{id}?page=true"),
            part_of: id.clone(),
            next: next.map(|(last, _)| format!("{id}?min_id={last}&page=true")),
            items: items.iter().map(|(_, target)| target.as_str()).collect(),
        });
        Self { id, first }
    }
}

/// Renders the activities that created `statuses` of the local account `author`, in the order given, without
/// `@context`. One statement for each kind of associated row.
///
/// # Errors
/// When the database fails.
pub async fn activities(cx: &Cx, author: &Account, statuses: &[Status], files: Files<'_>) -> Result<Vec<Fragment>> {
    let rows = Rows::load(cx, statuses).await?;
    let shown = statuses.iter().filter_map(|status| rows.activity(cx, author, status, files));
    shown.map(|activity| Fragment::of(&activity)).collect()
}

/// Renders the notes of `statuses` of the local account `author`, in the order given, without `@context`; reblogs are left
/// out. As many statements as [`activities`].
///
/// # Errors
/// When the database fails.
pub async fn notes(cx: &Cx, author: &Account, statuses: &[Status], files: Files<'_>) -> Result<Vec<Fragment>> {
    let rows = Rows::load(cx, statuses).await?;
    let originals = statuses.iter().filter(|status| status.reblog_of_id.is_none());
    originals.map(|status| Fragment::of(&rows.note(cx, author, status, files, &rows.actors_in(status)))).collect()
}

/// Renders the update of `status`, a status of the local account `author` that was edited, or voted on, at `at`, without
/// `@context`.
///
/// # Errors
/// When the database fails.
pub async fn update(cx: &Cx, author: &Account, status: &Status, at: Time, files: Files<'_>) -> Result<Fragment> {
    let rows = Rows::load(cx, std::slice::from_ref(status)).await?;
    let mentioned = rows.actors_in(status);
    let note = rows.note(cx, author, status, files, &mentioned);
    Fragment::of(&Activity {
        id: format!("{}#updates/{}", status.uri, at.timestamp_micros()),
        kind: "Update",
        actor: &author.uri,
        published: at.to_api(),
        to: note.to.clone(),
        cc: note.cc.clone(),
        object: Object::Note(Box::new(note)),
    })
}

/// The id of the activity that published `status` or, for a reblog, that it is: where it is served, in deliveries, in the
/// outbox and in what undoes it.
#[must_use]
pub fn id_of(status: &Status) -> String {
    if status.reblog_of_id.is_some() { status.uri.clone() } else { format!("{}/activity", status.uri) }
}

/// The rows associated with a page of statuses.
struct Rows {
    media: HashMap<StatusId, Vec<MediaAttachment>>,
    mentioned: HashMap<StatusId, Vec<MentionedActor>>,
    tags: HashMap<StatusId, Vec<String>>,
    polls: HashMap<StatusId, Vec<OptionRow>>,
    /// The URI and the author's URI of each status that these statuses reply to, reblog or quote.
    uris: HashMap<StatusId, (String, String)>,
    /// Rows of references, and URIs of their targets.
    references: HashMap<StatusId, Vec<(RowId, String)>>,
    /// The accepted requests to quote and to reply, by the URIs of the statuses.
    authorized: HashMap<String, Vec<InteractionRequest>>,
    palette: Palette,
}

impl Rows {
    async fn load(cx: &Cx, statuses: &[Status]) -> Result<Self> {
        let ids: Vec<StatusId> = statuses.iter().map(|status| status.id).collect();
        let mut media: HashMap<_, Vec<_>> = HashMap::new();
        for row in store::media::list_for_statuses(&cx.db, &ids).await? {
            if let Some(status) = row.status_id {
                media.entry(status).or_default().push(row);
            }
        }
        let mut mentioned: HashMap<_, Vec<_>> = HashMap::new();
        for row in store::archive::list_mentioned(&cx.db, &ids).await? {
            mentioned.entry(row.status_id).or_default().push(row);
        }
        let mut tags: HashMap<_, Vec<_>> = HashMap::new();
        for (status, name) in store::status::tags(&cx.db, &ids).await? {
            tags.entry(status).or_default().push(name);
        }
        let polled: Vec<StatusId> = statuses.iter().filter(|status| status.has_poll).map(|status| status.id).collect();
        let mut polls: HashMap<_, Vec<_>> = HashMap::new();
        if !polled.is_empty() {
            for row in store::poll::list(&cx.db, &polled, None).await? {
                polls.entry(row.poll.status_id).or_default().push(row);
            }
        }
        let referring: Vec<StatusId> =
            statuses.iter().filter(|status| status.has_references).map(|status| status.id).collect();
        let mut references: HashMap<_, Vec<_>> = HashMap::new();
        if !referring.is_empty() {
            for (status, row, uri) in store::reference::list_public(&cx.db, &referring, RowId::from(0)).await? {
                references.entry(status).or_default().push((row, uri));
            }
        }
        let others = statuses.iter().flat_map(|status| [status.in_reply_to_id, status.reblog_of_id, status.quote_id]);
        let others: Vec<StatusId> = others.flatten().collect();
        let uris = store::archive::list_uris(&cx.db, &others).await?;
        let interacting = statuses.iter().filter(|status| status.quoted().is_some() || status.in_reply_to_id.is_some());
        let interacting: Vec<String> = interacting.map(|status| status.uri.clone()).collect();
        let mut authorized: HashMap<_, Vec<_>> = HashMap::new();
        if !interacting.is_empty() {
            for request in service::status::decision::list_accepted(cx, &interacting).await? {
                authorized.entry(request.uri.clone()).or_default().push(request);
            }
        }
        let texts = statuses.iter().flat_map(|status| [status.content.as_str(), status.spoiler_text.as_str()]);
        let palette = Palette::load(cx, &texts.map(|text| (None, text)).collect::<Vec<_>>()).await?;
        let uris = uris.into_iter().map(|(status, uri, author)| (status, (uri, author))).collect();
        Ok(Self { media, mentioned, tags, polls, uris, references, authorized, palette })
    }

    /// The activity of one status; `None` for a reblog of a deleted status.
    fn activity<'a>(
        &'a self,
        cx: &Cx,
        author: &'a Account,
        status: &'a Status,
        files: Files<'_>,
    ) -> Option<Activity<'a>> {
        let context = status.conversation_id.map(|id| cx.urls.path(&format!("/contexts/{id}")));
        let mentioned = self.actors_in(status);
        let (kind, mentioned, object) = match status.reblog_of_id {
            None => ("Create", mentioned, None),
            Some(original) => {
                let (uri, its_author) = self.uris.get(&original)?;
                ("Announce", vec![its_author.clone()], Some(Object::Uri(uri.clone())))
            }
        };
        let audience = audience::of(status.visibility, &author.uri, &mentioned, context.as_deref());
        let object = match object {
            Some(object) => object,
            None => Object::Note(Box::new(self.note(cx, author, status, files, &mentioned))),
        };
        Some(Activity {
            id: id_of(status),
            kind,
            actor: &author.uri,
            published: status.created_at.to_api(),
            to: audience.to,
            cc: audience.cc,
            object,
        })
    }

    fn note<'a>(
        &'a self,
        cx: &Cx,
        author: &'a Account,
        status: &'a Status,
        files: Files<'_>,
        mentioned: &[String],
    ) -> Note<'a> {
        let context = status.conversation_id.map(|id| cx.urls.path(&format!("/contexts/{id}")));
        let audience = audience::of(status.visibility, &author.uri, mentioned, context.as_deref());
        let uri = |id: Option<StatusId>| id.and_then(|id| self.uris.get(&id)).map(|(uri, _)| uri.as_str());
        let sent = matches!(status.quote_state, Some(QuoteState::Accepted | QuoteState::Pending));
        let (answered, quoted) = (uri(status.in_reply_to_id), uri(status.quote_id.filter(|_| sent)));
        let content = match quoted {
            Some(quoted) => Cow::Owned(format!("{}{}", status.content, fallback(quoted))),
            None => Cow::Borrowed(status.content.as_str()),
        };
        let media = self.media.get(&status.id).map(Vec::as_slice).unwrap_or_default();
        let references = self.references.get(&status.id).map(Vec::as_slice).unwrap_or_default();
        let own = |name: &str| match files {
            Files::Served(_) => Some(format!("{}/{name}", status.uri)),
            Files::Beside => None,
        };
        Note {
            id: &status.uri,
            kind: if status.has_poll { "Question" } else { "Note" },
            summary: Some(status.spoiler_text.as_str()).filter(|text| !text.is_empty()),
            in_reply_to: answered,
            published: status.created_at.to_api(),
            url: status.url.as_deref(),
            attributed_to: &author.uri,
            to: audience.to,
            cc: audience.cc,
            sensitive: status.sensitive || author.is_sensitized(),
            atom_uri: &status.uri,
            in_reply_to_atom_uri: answered,
            conversation: status.conversation_id.map(|id| thread(cx, id.into())),
            context,
            searchable_by: audience::searchable_by(status, &author.uri, mentioned),
            content_map: status.language.as_deref().map(|language| BTreeMap::from([(language, content.clone())])),
            content,
            updated: status.edited_at.map(Time::to_api),
            limited_scope: (status.visibility == Visibility::Limited).then(|| scope(status.limited_scope)),
            quote: quoted,
            quote_authorization: self.authorization(cx, status, InteractionKind::Quote, status.quote_id),
            reply_authorization: self.authorization(cx, status, InteractionKind::Reply, status.in_reply_to_id),
            quote_url: quoted,
            quote_uri: quoted,
            interaction_policy: policy(author, status, mentioned, PUBLIC),
            misskey_quote: quoted,
            attachment: media.iter().filter_map(|media| document(media, files)).collect(),
            tag: self.tags(cx, status, quoted),
            replies: own("replies").map(Replies::of),
            likes: Collection { id: own("likes"), total_items: status.favourites_count },
            shares: Collection { id: own("shares"), total_items: status.reblogs_count },
            references: own("references").map(|_| References::of(&status.uri, references)),
            question: self.polls.get(&status.id).and_then(|options| question(cx, options)),
        }
    }

    /// The authorization of what `status` does with `target`, if it has one.
    fn authorization(
        &self,
        cx: &Cx,
        status: &Status,
        kind: InteractionKind,
        target: Option<StatusId>,
    ) -> Option<String> {
        let target = target?;
        let is_it = |request: &&InteractionRequest| request.kind == kind && request.target_id == target;
        let request = self.authorized.get(&status.uri)?.iter().find(is_it)?;
        match &request.authorization_uri {
            Some(uri) => Some(uri.clone()),
            None => {
                let (_, author) = self.uris.get(&target)?;
                cx.urls.owner(author).map(|_| urls::authorization(author, request.id))
            }
        }
    }

    /// The mentioned actors that the status is addressed to.
    fn actors_in(&self, status: &Status) -> Vec<String> {
        let addressed = self.mentioned_in(status).iter().filter(|actor| actor.addressed);
        addressed.map(|actor| actor.uri.clone()).collect()
    }

    fn mentioned_in(&self, status: &Status) -> &[MentionedActor] {
        self.mentioned.get(&status.id).map(Vec::as_slice).unwrap_or_default()
    }

    fn tags(&self, cx: &Cx, status: &Status, quoted: Option<&str>) -> Vec<Tag> {
        let mention = |actor: &MentionedActor| {
            let domain = actor.domain.as_deref().unwrap_or(&cx.urls.local_domain);
            Tag::Mention { href: actor.uri.clone(), name: format!("@{}@{domain}", actor.username) }
        };
        let mut tags: Vec<Tag> = self.mentioned_in(status).iter().map(mention).collect();
        tags.extend(self.tags.get(&status.id).into_iter().flatten().map(|name| Tag::hashtag(&cx.urls, name)));
        tags.extend(emojis(cx, &self.palette, &[&status.content, &status.spoiler_text]));
        let link = |href: &str| Tag::Link {
            href: href.to_owned(),
            media_type: STATUS,
            rel: MISSKEY_QUOTE,
            name: format!("RE: {href}"),
        };
        tags.extend(quoted.map(link));
        tags
    }
}

/// The link to the quoted status for software that shows no quotes.
fn fallback(quoted: &str) -> String {
    let quoted = text::escape(quoted);
    format!(r#"<span class="quote-inline"><br/>RE: <a href="{quoted}">{quoted}</a></span>"#)
}

/// The URI of a thread, in the form that Mastodon-compatible servers use. Its date is derived from its id.
fn thread(cx: &Cx, id: i64) -> String {
    let day = Time::from_micros((id >> 16) * 1_000).to_api_date();
    format!("tag:{},{day}:objectId={id}:objectType=Conversation", cx.urls.local_domain)
}

fn scope(scope: Option<LimitedScope>) -> &'static str {
    match scope {
        Some(LimitedScope::Mutual) => "Mutual",
        Some(LimitedScope::Circle) => "Circle",
        Some(LimitedScope::Reply) => "Reply",
        Some(LimitedScope::Personal) | None => "",
    }
}
