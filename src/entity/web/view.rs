//! A status as a value of templates, from its JSON.
//!
//! A page shows what an app shows: the same visibility, the same state of a quote. Filters are applied here, as apps apply
//! them.

use serde::Serialize;

use super::author::Author;
use super::clip::clip;
use super::poll::WebPoll;
use super::reactions::WebReactions;
use super::source::{ApprovalSource, FilterSource, MediaSource, PolicySource, Source, WebCard, drawn, time};
use context::Cx;
use context::messages::Language;
use model::filter::{FilterAction, FilterContext};
use model::media::MediaKind;
use model::{AccountId, Actor, StatusId, Time};

/// Longest title of a status in a feed, in characters.
const TITLE_CHARS: usize = 60;

/// An attachment.
#[derive(Clone, Debug, Serialize)]
pub struct Media {
    pub id: String,
    pub kind: MediaKind,
    pub url: Option<String>,
    pub preview_url: Option<String>,
    pub description: Option<String>,
    /// Width of the preview, in pixels.
    pub width: Option<u64>,
    /// Height of the preview, in pixels.
    pub height: Option<u64>,
    /// The point to keep in view when the preview is cropped, in percent from the left and the top.
    pub focus: Option<(u8, u8)>,
}

/// The quote of a status.
#[derive(Clone, Debug, Serialize)]
pub struct WebQuote {
    /// `accepted`, `pending`, `rejected` and the like.
    pub state: String,
    pub status: Option<Box<WebStatus>>,
}

/// The effect of the viewer's filters on a status.
#[derive(Clone, Debug, Serialize)]
pub struct WebFilter {
    /// `warn`, `half_warn` or `blur`; statuses that a filter hides are left out.
    pub action: FilterAction,
    /// The names of the filters.
    pub titles: String,
}

/// The viewer's interactions with a status, and permissions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WebMarks {
    pub is_own: bool,
    pub favourited: bool,
    pub reblogged: bool,
    pub bookmarked: bool,
    pub muted: bool,
    /// `None` for a status that cannot be pinned.
    pub pinned: Option<bool>,
    /// Whether the policy of the author permits it, at least with approval.
    pub may_reply: bool,
    pub may_favourite: bool,
    pub may_reblog: bool,
    pub may_quote: bool,
    /// The viewer owns the thread, and can take this reply out of it.
    pub may_remove: bool,
}

/// A status, on a page or in a feed.
#[derive(Clone, Debug, Serialize)]
pub struct WebStatus {
    pub id: StatusId,
    /// The status itself, or the reblog of it: the key of its place in a timeline.
    pub entry: StatusId,
    pub url: String,
    pub uri: String,
    pub author: Author,
    pub content_html: String,
    pub spoiler_text: String,
    pub spoiler_html: String,
    pub created_at_iso: String,
    pub created_at_human: String,
    #[serde(skip)]
    pub created_at: Time,
    #[serde(skip)]
    pub edited_at: Option<Time>,
    pub edited: bool,
    pub edited_at_human: Option<String>,
    pub visibility: String,
    pub local_only: bool,
    pub sensitive: bool,
    pub media: Vec<Media>,
    pub poll: Option<WebPoll>,
    pub card: Option<WebCard>,
    pub quote: Option<WebQuote>,
    pub replies_count: i64,
    pub reblogs_count: i64,
    pub favourites_count: i64,
    pub quotes_count: i64,
    pub language: Option<String>,
    #[serde(skip)]
    pub in_reply_to_id: Option<StatusId>,
    /// The account that the status replies to, where the status mentions it: its address.
    pub in_reply_to: Option<String>,
    pub reblogged_by: Option<Author>,
    pub pinned: bool,
    pub filter: Option<WebFilter>,
    /// A reply that waits for the approval of the other author.
    pub waiting: bool,
    pub application: Option<String>,
    /// Of extensions that add reactions to statuses.
    pub reactions: Vec<WebReactions>,
    /// `None` without a viewer.
    pub marks: Option<WebMarks>,
    /// For the next reply to it: the other people of the conversation.
    #[serde(skip)]
    pub mentions: Vec<String>,
}

/// The viewer, and the place of the status.
pub(super) struct View<'a> {
    cx: &'a Cx,
    viewer: Option<AccountId>,
    place: Option<FilterContext>,
    language: Language,
}

impl<'a> View<'a> {
    pub(super) fn new(cx: &'a Cx, viewer: Option<&Actor>, place: Option<FilterContext>) -> Self {
        Self { cx, viewer: viewer.map(|viewer| viewer.id), place, language: cx.language() }
    }

    /// An entry of a timeline; `None` for one that a filter hides.
    pub(super) fn entry(&self, mut source: Source) -> Option<WebStatus> {
        let entry = source.id;
        let Some(reblog) = source.reblog.take() else { return self.shown(source, entry) };
        let filtered = std::mem::take(&mut source.filtered);
        let mut original = *reblog;
        original.filtered.extend(filtered);
        let reblogger = source.account.author(self.viewer.is_some());
        Some(WebStatus { reblogged_by: Some(reblogger), ..self.shown(original, entry)? })
    }

    fn shown(&self, source: Source, entry: StatusId) -> Option<WebStatus> {
        let filter = self.filter(&source.filtered)?;
        let marks = self.viewer.map(|viewer| marks(viewer, &source));
        let mentioned = |id: AccountId| source.mentions.iter().find(|mention| mention.id == id);
        let in_reply_to = source.in_reply_to_account_id.and_then(|id| match mentioned(id) {
            Some(mention) => Some(mention.acct.clone()),
            None => (id == source.account.id).then(|| source.account.acct.clone()),
        });
        let mentions = source.mentions.iter().filter(|mention| Some(mention.id) != self.viewer);
        let content = self.content(&source);
        let (created_at, edited_at) = (time(&source.created_at), source.edited_at.as_deref().map(time));
        let quote = source.quote.map(|quote| WebQuote {
            state: quote.state,
            status: quote.quoted_status.and_then(|status| {
                let id = status.id;
                self.shown(*status, id).map(Box::new)
            }),
        });
        let url = match (self.viewer.is_some() && source.account.acct.contains('@'), source.url) {
            (true, _) => format!("/@{}/{}", source.account.acct, source.id),
            (false, Some(url)) => url,
            (false, None) => source.uri.clone(),
        };
        Some(WebStatus {
            id: source.id,
            entry,
            url,
            uri: source.uri,
            content_html: drawn(&content, &source.emojis),
            spoiler_html: drawn(&text::escape(&source.spoiler_text), &source.emojis),
            spoiler_text: source.spoiler_text,
            created_at_iso: created_at.to_api_seconds(),
            created_at_human: self.language.minute(&created_at),
            created_at,
            edited: edited_at.is_some(),
            edited_at_human: edited_at.map(|at| self.language.minute(&at)),
            edited_at,
            visibility: source.visibility_ex.unwrap_or(source.visibility),
            local_only: source.local_only,
            sensitive: source.sensitive,
            media: source.media_attachments.into_iter().map(Media::from).collect(),
            poll: source.poll.map(|poll| WebPoll::new(poll, self.viewer == Some(source.account.id), self.language)),
            card: source.card.filter(|_| quote.is_none()),
            quote,
            replies_count: source.replies_count,
            reblogs_count: source.reblogs_count,
            favourites_count: source.favourites_count,
            quotes_count: source.quotes_count,
            language: source.language,
            in_reply_to_id: source.in_reply_to_id,
            in_reply_to,
            reblogged_by: None,
            pinned: false,
            filter,
            waiting: source.approval.as_deref() == Some("pending"),
            application: source.application.map(|application| application.name),
            reactions: Vec::new(),
            marks,
            mentions: mentions.map(|mention| mention.acct.clone()).collect(),
            author: source.account.author(self.viewer.is_some()),
        })
    }

    /// The effect of the filters for this place; outer `None` when one of them hides the status.
    fn filter(&self, filtered: &[FilterSource]) -> Option<Option<WebFilter>> {
        let Some(place) = self.place else { return Some(None) };
        let mut action = None;
        let mut titles: Vec<&str> = Vec::new();
        for FilterSource { filter } in filtered.iter().filter(|one| one.filter.context.contains(&place)) {
            action = match (action, filter.filter_action_ex) {
                (_, FilterAction::Hide) => return None,
                (Some(FilterAction::Warn), _) | (_, FilterAction::Warn) => Some(FilterAction::Warn),
                (Some(FilterAction::HalfWarn), _) | (_, FilterAction::HalfWarn) => Some(FilterAction::HalfWarn),
                (_, FilterAction::Blur) => Some(FilterAction::Blur),
            };
            if !titles.contains(&filter.title.as_str()) {
                titles.push(&filter.title);
            }
        }
        Some(action.map(|action| WebFilter { action, titles: titles.join(", ") }))
    }

    /// The text; for a viewer, with mentions and hashtags that lead to pages of this server.
    fn content(&self, source: &Source) -> String {
        if self.viewer.is_none() || (source.mentions.is_empty() && source.tags.is_empty()) {
            return source.content.clone();
        }
        text::relink(&source.content, |link| {
            let mention = source.mentions.iter().find(|mention| mention.url.as_deref() == Some(link.href.as_ref()));
            if let Some(mention) = mention {
                return Some(format!("/@{}", mention.acct));
            }
            let name = link.href.rsplit('/').next().filter(|_| link.is_hashtag)?;
            let name = percent_encoding::percent_decode_str(name).decode_utf8().ok()?.to_lowercase();
            let tag = source.tags.iter().find(|tag| tag.name.to_lowercase() == name)?;
            Some(self.cx.urls.tag(&tag.name))
        })
    }
}

fn marks(viewer: AccountId, source: &Source) -> WebMarks {
    let permits = |word: Option<&str>| word.is_none_or(|word| word != "denied");
    let policy = source.interaction_policy.as_ref();
    let rule = |of: fn(&PolicySource) -> &ApprovalSource| {
        permits(policy.and_then(|policy| of(policy).current_user.as_deref()))
    };
    let is_own = source.account.id == viewer;
    let few = matches!(source.visibility.as_str(), "private" | "direct" | "limited");
    WebMarks {
        is_own,
        favourited: source.favourited,
        reblogged: source.reblogged,
        bookmarked: source.bookmarked,
        muted: source.muted,
        pinned: source.pinned,
        may_reply: rule(|policy| &policy.can_reply),
        may_favourite: rule(|policy| &policy.can_favourite),
        may_reblog: if few { is_own && source.visibility == "private" } else { rule(|policy| &policy.can_reblog) },
        may_quote: permits(source.quote_approval.current_user.as_deref()) && source.visibility != "direct",
        may_remove: false,
    }
}

impl From<MediaSource> for Media {
    fn from(source: MediaSource) -> Self {
        let meta = source.meta.unwrap_or_default();
        let size = meta.small.or(meta.original).unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let whole =
            |number: Option<f64>| number.filter(|number| *number >= 1.0).map(|number| number.min(65_535.0) as u64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
        let percent = |share: f64| (share.clamp(0.0, 1.0) * 100.0).round() as u8;
        Self {
            id: source.id,
            kind: source.kind,
            url: source.url,
            preview_url: source.preview_url,
            description: source.description.filter(|text| !text.is_empty()),
            width: whole(size.width),
            height: whole(size.height),
            focus: meta.focus.map(|focus| (percent(f64::midpoint(focus.x, 1.0)), percent((1.0 - focus.y) / 2.0))),
        }
    }
}

impl WebStatus {
    /// The whole text without markup.
    #[must_use]
    pub fn words(&self) -> String {
        text::plain(&self.content_html)
    }

    /// The first line; without text, the name of its kind.
    #[must_use]
    pub fn title(&self, language: Language) -> String {
        let words = self.words();
        let line = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        if line.is_empty() {
            return language.say(if self.media.is_empty() { "feed.status" } else { "feed.media" });
        }
        clip(line, TITLE_CHARS)
    }
}
