//! Visibility and audience of a new status: the accounts that it reaches besides the ones mentioned in its text.
//!
//! Reached from [`publish`](super::publish()) before its transaction, and for the notifications within it. An
//! audience is a list of accounts, stored as silent mentions and never computed again: accounts that follow or join a
//! circle later do not see earlier statuses. Circles are unknown here: a plugin's status filter returns their
//! members. Spec: docs/contract/rules.md#10-statuses;
//! docs/contract/extensions.md#3-circles.

use chrono::Duration;

use super::consent::{self, NewRequest};
use super::draft::Draft;
use crate::visibility;
use context::Cx;
use context::error::{Error, Result};
use model::status::{LimitedScope, Visibility};
use model::{AccountId, Actor, InteractionKind, Status, StatusId};

/// Visibility and audience of a status.
#[derive(Debug)]
pub(super) struct Audience {
    /// Who may see it.
    pub(super) visibility: Visibility,
    /// The scope of a limited status; `None`: not decided yet.
    pub(super) scope: Option<LimitedScope>,
    /// Accounts that may see it without being mentioned in its text.
    pub(super) audience: Vec<AccountId>,
    /// Whether a reply opens a new conversation, without a status that it replies to.
    pub(super) new_conversation: bool,
}

impl Audience {
    fn plain(visibility: Visibility) -> Self {
        Self { visibility, scope: None, audience: Vec::new(), new_conversation: false }
    }

    /// The same reach, narrowed to followers at most.
    pub(super) fn for_followers(self) -> Self {
        if self.visibility.is_wider_than_followers() { Self { visibility: Visibility::Private, ..self } } else { self }
    }

    fn limited(scope: Option<LimitedScope>, audience: Vec<AccountId>) -> Self {
        Self { scope, audience, ..Self::plain(Visibility::Limited) }
    }
}

/// The status that `draft` replies to, the request that it needs, and the reach chosen by the author. For `limited`, `reply` and visibilities of
/// plugins a plugin's filter may complete the reach.
///
/// # Errors
/// [`Error::NotFound`] when the status replied to is missing or hidden, [`Error::Forbidden`] when its author does not let
/// `actor` reply, [`Error::Invalid`] for an unknown visibility, and for one that `actor` disabled.
pub(super) async fn reach(
    cx: &Cx,
    actor: &Actor,
    draft: &Draft,
) -> Result<(Option<Status>, Option<NewRequest>, Audience)> {
    let (parent, request) = parent(cx, actor, draft.in_reply_to_id).await?.unzip();
    let word = draft.visibility.as_deref().filter(|word| !word.is_empty());
    refuse_disabled(actor, word.unwrap_or(default_visibility(actor).as_str()))?;
    let mut reach = match word {
        None => Audience::plain(default_visibility(actor)),
        Some("limited") if draft.recipients.is_some() => Audience::limited(Some(LimitedScope::Circle), Vec::new()),
        Some("limited" | "reply") => match of_thread(cx, parent.as_ref()).await? {
            Some(audience) => Audience::limited(Some(LimitedScope::Reply), audience),
            None => Audience::limited(None, Vec::new()),
        },
        Some("mutual") => {
            Audience::limited(Some(LimitedScope::Mutual), store::mention::list_mutuals(&cx.db, actor.id).await?)
        }
        Some(word) if cx.extensions().owns_visibility(word) => Audience::limited(None, Vec::new()),
        Some("circle") => return Err(Error::invalid("visibility: circles are not switched on here")),
        Some(word) => {
            Audience::plain(word.parse().map_err(|expected| Error::invalid(format!("visibility: {expected}")))?)
        }
    };
    if actor.limited && reach.visibility.is_listed() {
        reach = Audience::plain(Visibility::Unlisted);
    }
    reach.audience.extend(draft.recipients.iter().flatten());
    Ok((parent, request.flatten(), reach))
}

/// Makes one of the first public statuses of a new account unlisted, as the settings `hold_back_new_accounts` and
/// `hold_back_statuses` say. Reads nothing while that is off.
pub(super) async fn hold_back(cx: &Cx, actor: &Actor, reach: Audience) -> Result<Audience> {
    let settings = cx.settings();
    if settings.hold_back_new_accounts == 0 || !reach.visibility.is_listed() {
        return Ok(reach);
    }
    let account = store::account::find(&cx.db, actor.id).await?.ok_or(Error::NotFound)?;
    if cx.clock.now() - account.created_at >= Duration::hours(settings.hold_back_new_accounts) {
        return Ok(reach);
    }
    let known = store::status::count_anonymous(&cx.db, actor.id, settings.hold_back_statuses).await?;
    let held = known < settings.hold_back_statuses;
    Ok(if held { Audience { visibility: Visibility::Unlisted, ..reach } } else { reach })
}

/// `word` is a value of `visibility`, or a scope.
fn refuse_disabled(actor: &Actor, word: &str) -> Result<()> {
    if actor.preferences.disabled_visibilities.iter().any(|disabled| disabled == word) {
        return Err(Error::invalid(format!("visibility: {word} is disabled in your preferences")));
    }
    Ok(())
}

/// The accounts that a reply to `parent` reaches: the ones it mentions, silently or not, and its author; `None`
/// without a parent. A reply to a status that is not limited reaches only the accounts it mentions.
async fn of_thread(cx: &Cx, parent: Option<&Status>) -> Result<Option<Vec<AccountId>>> {
    let Some(parent) = parent else { return Ok(None) };
    let mentions = store::mention::list(&cx.db, parent.id).await?;
    Ok(Some(mentions.into_iter().map(|(_, account, _)| account).chain([parent.account_id]).collect()))
}

/// Removes accounts that `actor` blocks, by account or domain, and the actor from the audience. A limited status that
/// reaches no other account becomes personal, unless it is a reply with the audience of its thread. `mentions`: the
/// accounts mentioned in its text.
///
/// # Errors
/// [`Error::Invalid`] for a limited status whose audience neither the core nor plugins decided, and for a scope that
/// `actor` disabled.
pub(super) async fn settle(cx: &Cx, actor: &Actor, mut reach: Audience, mentions: &[AccountId]) -> Result<Audience> {
    if reach.visibility != Visibility::Limited {
        reach.scope = None;
    } else if let Some(scope) = reach.scope {
        refuse_disabled(actor, scope.as_str())?;
    } else {
        return Err(Error::invalid("visibility: `limited` needs a circle or a status to reply to"));
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

/// The status replied to, which is the original of a reblog, and the request that the reply needs.
async fn parent(cx: &Cx, actor: &Actor, id: Option<StatusId>) -> Result<Option<(Status, Option<NewRequest>)>> {
    let Some(id) = id else { return Ok(None) };
    let seen = visibility::status(cx, Some(actor), id).await?;
    let parent = store::status::find(&cx.db, seen.proper().id).await?.ok_or(Error::NotFound)?;
    let request = consent::needed(cx, actor, &seen, InteractionKind::Reply).await?;
    consent::refuse_closed(cx, actor, parent.conversation_id).await?;
    Ok(Some((parent, request)))
}

/// The visibility of `actor`'s statuses when none is chosen: their preference, else private for a locked account and
/// public for others.
#[must_use]
pub fn default_visibility(actor: &Actor) -> Visibility {
    actor.preferences.visibility(actor.locked)
}
