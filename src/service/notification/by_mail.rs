//! Notifications by mail: whoever was not seen to read them is told of them, many in one letter.
//!
//! [`queue()`] has a job wait [`DELAY`] from the first notification on; [`letter`] says then what is still unread of those
//! since. A letter names who did what and links to what anybody may read, and holds no text of statuses: mail is read by
//! others than its receiver. Which types, each person chooses among [`NotificationType::MAILED`].
//!
//! Spec: docs/contract/events.md#1-notification-types.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde::Serialize;

use super::title::title;
use super::{VisibleNotification, unread};
use crate::auth;
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

/// How long somebody has to see a notification in an app before it is told by mail, together with those that came since.
const DELAY: TimeDelta = TimeDelta::minutes(10);
/// The purpose of the key from which the links that stop letters are derived.
const STOP: &str = "unsubscribe";
/// Most notifications that a letter tells one by one.
const MOST: usize = 20;

/// What a letter tells.
#[derive(Debug, Serialize)]
pub struct Letter {
    /// Newest first, at most [`MOST`].
    pub lines: Vec<Line>,
    /// There are more than these.
    pub more: bool,
}

/// A notification in a letter.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Who did what, in a sentence.
    pub title: String,
    /// The status, if anybody may read it; where there is none, the profile of whoever did it.
    pub url: Option<String>,
}

/// True when the receiver of a notice wants to be told of it by mail.
pub(super) fn wants(kind: &NotificationKind, facts: &CandidateFacts) -> bool {
    let wanted = facts.preferences.as_ref().map(|preferences| &preferences.0.mail_notifications);
    kind.core().zip(wanted).is_some_and(|(kind, wanted)| wanted.contains(&kind))
}

/// Has each receiver told by mail of what they have not read by then, from the notification named on. While a letter to
/// somebody waits, it tells of this as well.
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

/// What `account` is to be told of by mail: what it has not read of the notifications from `first` on, as far as it wants
/// that and sees them. `None` when that is nothing, or the account cannot be used.
pub async fn letter(cx: &Cx, language: Language, account: AccountId, first: NotificationId) -> Result<Option<Letter>> {
    let Some(actor) = auth::actors(cx, &[account]).await?.pop() else { return Ok(None) };
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

/// Where letters to `account` are stopped: whoever has the address can.
#[must_use]
pub fn unsubscribe_url(cx: &Cx, account: AccountId) -> String {
    let token = cx.keys.derive(STOP, &account.to_string());
    cx.urls.path(&format!("/auth/unsubscribe?account={account}&token={}", token.expose()))
}

/// Whose letters an [`unsubscribe_url`] with these parameters stops.
///
/// # Errors
/// [`Error::NotFound`] when it is no such address, or the account is gone.
#[model::use_case]
pub async fn receiver_of_letters(cx: &Cx, account: &str, token: &str) -> Result<Account> {
    let id = account.parse().ok().filter(|_| cx.keys.verify(STOP, account, token)).ok_or(Error::NotFound)?;
    store::account::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// Stops letters about notifications, of all types.
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

/// `status`: `Some(None)` is one that was deleted just now.
fn url(sender: &Account, status: Option<Option<&Status>>) -> Option<String> {
    match status {
        None => sender.url.clone(),
        Some(status) => {
            let open = [Visibility::Public, Visibility::PublicUnlisted, Visibility::Unlisted];
            status.filter(|status| open.contains(&status.visibility)).and_then(|status| status.url.clone())
        }
    }
}
