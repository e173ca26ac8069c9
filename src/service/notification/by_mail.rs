//! Notifications by mail: people who have not read them in an app receive them in a digest.
//!
//! [`queue()`] queues a job that waits [`DELAY`] from the first notification on; [`letter`] then collects the
//! notifications that are still unread. A digest names who did what and links to public pages. It contains no text of
//! statuses, since others may read mail. Each person selects types among [`NotificationType::MAILED`].
//!
//! Spec: docs/contract/events.md#1-notification-types.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde::Serialize;

use super::title::title;
use super::{VisibleNotification, unread};
use crate::access::grants;
use config::MailTransport;
use context::error::{Error, Result};
use context::queue::{self, MailNotifications};
use context::{Cx, Language};
use database::Tx;
use model::notification::NotificationKind;
use model::{
    Account, AccountId, Actor, Cursor, NotificationId, NotificationType, Preferences, Status, StatusId, Visibility,
};
use store::notification::NotificationFilter;
use store::notification::make::CandidateFacts;

/// How long a person has to read a notification in an app before it is mailed, together with later ones.
const DELAY: TimeDelta = TimeDelta::minutes(10);
/// The purpose of the key from which unsubscribe links are derived.
const STOP: &str = "unsubscribe";
/// Most notifications listed in a digest.
const MOST: usize = 20;

#[derive(Debug, Serialize)]
pub struct Letter {
    /// Newest first, at most [`MOST`].
    pub lines: Vec<Line>,
    /// Whether there are more notifications.
    pub more: bool,
}

/// A notification in a digest.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Who did what, in a sentence.
    pub title: String,
    /// The status if anyone may read it; without a status, the profile of the sender.
    pub url: Option<String>,
}

/// True when the receiver of a notice wants notifications of this type by mail.
pub(super) fn wants(kind: &NotificationKind, facts: &CandidateFacts) -> bool {
    let wanted = facts.preferences.as_ref().map(|preferences| &preferences.0.mail_notifications);
    kind.core().zip(wanted).is_some_and(|(kind, wanted)| wanted.contains(&kind))
}

/// Queues a digest for each receiver, with their unread notifications from the given one on. A digest that is already
/// queued will include these notifications.
pub(super) async fn queue(
    cx: &Cx,
    tx: &mut Tx,
    mailed: impl Iterator<Item = (AccountId, NotificationId)>,
) -> Result<()> {
    if cx.config.mail.transport == MailTransport::None {
        return Ok(());
    }
    let mut first: BTreeMap<AccountId, NotificationId> = BTreeMap::new();
    for (receiver, id) in mailed {
        first.entry(receiver).and_modify(|first| *first = id.min(*first)).or_insert(id);
    }
    let jobs: Vec<_> = first.into_iter().map(|(account, first)| MailNotifications { account, first }).collect();
    if jobs.is_empty() {
        return Ok(());
    }
    queue::enqueue_all_at(cx, tx, &jobs, cx.clock.now() + DELAY).await
}

/// The digest for `account`: its unread and visible notifications from `first` on, of the types that it wants by
/// mail. `None` when there are none, or the account cannot be used.
pub async fn letter(cx: &Cx, language: Language, account: AccountId, first: NotificationId) -> Result<Option<Letter>> {
    let Some(actor) = grants::actors(cx, &[account]).await?.pop() else { return Ok(None) };
    let wanted = actor.preferences.mail_notifications.iter().filter(|kind| NotificationType::MAILED.contains(kind));
    let types = wanted.map(|kind| NotificationKind::Core(*kind)).collect();
    let filter = NotificationFilter { types, from: None, filtered: false };
    let limit = i64::try_from(MOST + 1).unwrap_or(i64::MAX);
    let since = unread(cx, &actor, limit).await?.since_id.unwrap_or(i64::MIN).max(i64::from(first) - 1);
    let cursor = Cursor { since_id: Some(since), ..Cursor::first(limit) };
    let (_, shown) = super::list(cx, &actor, &filter, &cursor).await?;
    if shown.is_empty() {
        return Ok(None);
    }
    let more = shown.len() > MOST;
    Ok(Some(Letter { lines: lines(cx, language, &actor, &shown[..shown.len().min(MOST)]).await?, more }))
}

/// The unsubscribe URL of `account`. Anyone with the URL can use it.
#[must_use]
pub fn unsubscribe_url(cx: &Cx, account: AccountId) -> String {
    let token = cx.keys.derive(STOP, &account.to_string());
    cx.urls.path(&format!("/auth/unsubscribe?account={account}&token={}", token.expose()))
}

/// The account of an [`unsubscribe_url`] with these parameters.
///
/// # Errors
/// [`Error::NotFound`] when the URL is invalid, or the account was deleted.
#[model::use_case]
pub async fn receiver_of_letters(cx: &Cx, account: &str, token: &str) -> Result<Account> {
    let id = account.parse().ok().filter(|_| cx.keys.verify(STOP, account, token)).ok_or(Error::NotFound)?;
    store::account::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// Stops notification mails of all types.
///
/// # Errors
/// As [`receiver_of_letters`].
#[model::use_case]
pub async fn stop_letters(cx: &Cx, account: &str, token: &str) -> Result<()> {
    let account = receiver_of_letters(cx, account, token).await?.id;
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account]).await?;
    let user = store::user::find(&mut tx, account).await?.ok_or(Error::NotFound)?;
    let preferences = Preferences { mail_notifications: Vec::new(), ..user.preferences.0 };
    store::profile::update_preferences(&mut tx, account, preferences).await?;
    Ok(tx.commit().await?)
}

async fn lines(cx: &Cx, language: Language, actor: &Actor, shown: &[VisibleNotification]) -> Result<Vec<Line>> {
    let senders: Vec<AccountId> = shown.iter().map(|shown| shown.listed.notification.from_account_id).collect();
    let senders = store::account::list_with_roles(&cx.db, &senders).await?;
    let statuses: Vec<StatusId> = shown.iter().filter_map(|shown| shown.listed.notification.status_id).collect();
    let statuses = store::status::list(&cx.db, &statuses).await?;
    let line = |shown: &VisibleNotification| {
        let about = &shown.listed.notification;
        let sender = senders.iter().map(|row| &row.account).find(|account| account.id == about.from_account_id)?;
        let status = about.status_id.map(|id| statuses.iter().find(|status| status.id == id));
        let title = title(cx, language, &about.kind, actor, sender);
        Some(Line { title, url: url(sender, status) })
    };
    Ok(shown.iter().filter_map(line).collect())
}

/// `status`: `Some(None)` is a status that was just deleted.
fn url(sender: &Account, status: Option<Option<&Status>>) -> Option<String> {
    match status {
        None => sender.url.clone(),
        Some(status) => {
            let open = [Visibility::Public, Visibility::PublicUnlisted, Visibility::Unlisted];
            status.filter(|status| open.contains(&status.visibility)).and_then(|status| status.url.clone())
        }
    }
}
