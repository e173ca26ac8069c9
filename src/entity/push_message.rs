//! The message of a push: a notification in a few words (docs/contract/push.md#6-payload).
//!
//! An app shows it directly, or fetches the notification with the access token in the message.

use serde::Serialize;

use super::account::Images;
use context::Cx;
use context::error::Result;
use context::json::Fragment;
use context::messages::Language;
use crypto::Secret;
use crypto::push::MAX_MESSAGE_BYTES;
use model::notification::NotificationKind;
use model::{Account, Actor, NotificationId, Status};
use service::notification::{VisibleNotification, title};
use text::plain;

/// Most characters of the body.
const MAX_BODY: usize = 140;
/// Most characters of an image URL; a longer one is left out.
const MAX_ICON: usize = 1_000;

#[derive(Serialize)]
struct PushMessage<'a> {
    access_token: &'a str,
    preferred_locale: &'a str,
    /// A number, unlike in the API.
    notification_id: i64,
    notification_type: &'a NotificationKind,
    icon: &'a str,
    title: String,
    body: String,
}

/// Renders the push message of a notification to `actor`, in `language`; `None` when its subject was deleted
/// meanwhile.
pub async fn render(
    cx: &Cx,
    language: Language,
    actor: &Actor,
    token: &Secret,
    shown: &VisibleNotification,
) -> Result<Option<Fragment>> {
    let about = &shown.listed.notification;
    let Some(sender) = store::account::find(&cx.db, about.from_account_id).await? else { return Ok(None) };
    let status = match &shown.status {
        Some(seen) => match store::status::find(&cx.db, seen.head().id).await? {
            Some(status) => Some(status),
            None => return Ok(None),
        },
        None => None,
    };
    let images = Images::new(cx, &sender);
    let mut message = PushMessage {
        access_token: token.expose(),
        preferred_locale: actor.locale.as_deref().unwrap_or(language.code()),
        notification_id: id(about.id),
        notification_type: &about.kind,
        icon: if images.avatar_static.len() > MAX_ICON { "" } else { &images.avatar_static },
        title: title::title(cx, language, &about.kind, actor, &sender),
        body: body(&sender, status.as_ref()),
    };
    let mut rendered = Fragment::of(&message)?;
    if rendered.as_str().len() > MAX_MESSAGE_BYTES {
        message.icon = "";
        message.body.clear();
        rendered = Fragment::of(&message)?;
    }
    Ok(Some(rendered))
}

fn id(id: NotificationId) -> i64 {
    id.into()
}

/// The content warning of the status, else its text; without a status, the bio of the sender.
fn body(sender: &Account, status: Option<&Status>) -> String {
    let text = match status {
        Some(status) if !status.spoiler_text.trim().is_empty() => status.spoiler_text.trim().to_owned(),
        Some(status) => plain(&status.content),
        None => plain(&sender.note_html),
    };
    title::cut(&text, MAX_BODY)
}
