//! Visibility and audience of a new status: whom it reaches beside those that its text mentions.
//!
//! Reached from [`publish`](super::publish()) before its transaction, and for the notifications within it. An audience is a list
//! of accounts, kept as silent mentions and never computed again: who follows, or is in a circle, later on sees nothing of
//! before. Knows no circles: a plugin's status filter names their members. Spec: docs/contract/rules.md#10-statuses;
//! docs/contract/extensions.md#3-circles.

use super::draft::Draft;
use crate::visibility;
use context::Cx;
use context::error::{Error, Result};
use model::status::{LimitedScope, Visibility};
use model::{AccountId, Actor, Status, StatusId};

/// Visibility and audience of a status.
#[derive(Debug)]
pub(super) struct Reach {
    /// Who may see it.
    pub(super) visibility: Visibility,
    /// Of a limited status; `None`: nobody said yet.
    pub(super) scope: Option<LimitedScope>,
    /// Accounts that may see it without being mentioned in its text.
    pub(super) audience: Vec<AccountId>,
    /// A reply opens a conversation of its own, and answers nobody.
    pub(super) new_conversation: bool,
}

impl Reach {
    fn plain(visibility: Visibility) -> Self {
        Self { visibility, scope: None, audience: Vec::new(), new_conversation: false }
    }

    /// The same reach, limited to followers.
    pub(super) fn for_followers(self) -> Self {
        if self.visibility.is_wider_than_followers() { Self { visibility: Visibility::Private, ..self } } else { self }
    }

    fn limited(scope: Option<LimitedScope>, audience: Vec<AccountId>) -> Self {
        Self { scope, audience, ..Self::plain(Visibility::Limited) }
    }
}

/// The status that `draft` replies to, and its reach as the author chose; that of `limited`, `reply` and words of plugins
/// may be left to a plugin's filter to say.
///
/// # Errors
/// [`Error::NotFound`] when the status replied to is missing or hidden, [`Error::Invalid`] for an unknown visibility, and
/// for one that `actor` switched off.
pub(super) async fn reach(cx: &Cx, actor: &Actor, draft: &Draft) -> Result<(Option<Status>, Reach)> {
    let parent = parent(cx, actor, draft.in_reply_to_id).await?;
    let word = draft.visibility.as_deref().filter(|word| !word.is_empty());
    refuse_disabled(actor, word.unwrap_or(default_visibility(actor).as_str()))?;
    let mut reach = match word {
        None => Reach::plain(default_visibility(actor)),
        Some("limited") if draft.recipients.is_some() => Reach::limited(Some(LimitedScope::Circle), Vec::new()),
        Some("limited" | "reply") => match of_thread(cx, parent.as_ref()).await? {
            Some(audience) => Reach::limited(Some(LimitedScope::Reply), audience),
            None => Reach::limited(None, Vec::new()),
        },
        Some("mutual") => {
            Reach::limited(Some(LimitedScope::Mutual), store::mention::list_mutuals(&cx.db, actor.id).await?)
        }
        Some(word) if cx.extensions().owns_visibility(word) => Reach::limited(None, Vec::new()),
        Some("circle") => return Err(Error::invalid("visibility: circles are not switched on here")),
        Some(word) => Reach::plain(word.parse().map_err(|expected| Error::invalid(format!("visibility: {expected}")))?),
    };
    if actor.limited && reach.visibility.is_listed() {
        reach = Reach::plain(Visibility::Unlisted);
    }
    reach.audience.extend(draft.recipients.iter().flatten());
    Ok((parent, reach))
}

/// `word` is a value of `visibility`, or a scope.
fn refuse_disabled(actor: &Actor, word: &str) -> Result<()> {
    if actor.preferences.disabled_visibilities.iter().any(|disabled| disabled == word) {
        return Err(Error::invalid(format!("visibility: {word} is switched off in your preferences")));
    }
    Ok(())
}

/// Whom the status replied to reaches by name: those that it mentions, silently or not, and its author; `None` for what is no
/// reply. Of one that is not limited its readers are no audience: an answer to it reaches those it names.
async fn of_thread(cx: &Cx, parent: Option<&Status>) -> Result<Option<Vec<AccountId>>> {
    let Some(parent) = parent else { return Ok(None) };
    let mentions = store::mention::list(&cx.db, parent.id).await?;
    Ok(Some(mentions.into_iter().map(|(_, account, _)| account).chain([parent.account_id]).collect()))
}

/// Leaves out of the audience whom `actor` blocks, by account or domain, and themselves. A limited status that nobody else
/// gets is personal, unless it answers in a thread: its audience is that of the thread. `mentions`: whom its text mentions.
///
/// # Errors
/// [`Error::Invalid`] for a limited status of which neither core nor plugins said who is to see it, and for a scope that
/// `actor` switched off.
pub(super) async fn settle(cx: &Cx, actor: &Actor, mut reach: Reach, mentions: &[AccountId]) -> Result<Reach> {
    if reach.visibility != Visibility::Limited {
        reach.scope = None;
    } else if let Some(scope) = reach.scope {
        refuse_disabled(actor, scope.as_str())?;
    } else {
        return Err(Error::invalid("visibility: nobody said who is to see this status, and it answers none"));
    }
    if !reach.audience.is_empty() {
        reach.audience = store::mention::list_addressable(&cx.db, actor.id, &reach.audience).await?;
    }
    let reaches_nobody = reach.audience.is_empty() && mentions.iter().all(|mentioned| *mentioned == actor.id);
    if reaches_nobody && reach.scope.is_some_and(|scope| scope != LimitedScope::Reply) {
        reach.scope = Some(LimitedScope::Personal);
    }
    Ok(reach)
}

/// The status replied to; of a reblog its original.
async fn parent(cx: &Cx, actor: &Actor, id: Option<StatusId>) -> Result<Option<Status>> {
    let Some(id) = id else { return Ok(None) };
    let seen = visibility::status(cx, Some(actor), id).await?;
    store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound).map(Some)
}

/// The visibility of `actor`'s statuses when none is chosen: their preference, else private for a locked account and
/// public for others.
#[must_use]
pub fn default_visibility(actor: &Actor) -> Visibility {
    actor.preferences.visibility(actor.locked)
}
