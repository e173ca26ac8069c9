//! A notification in one sentence, for pushes and mails.

use context::Cx;
use context::messages::Language;
use model::notification::NotificationKind;
use model::{Account, Actor, NotificationType};

/// Most characters of a name in a title.
const MAX_NAME: usize = 60;

/// A sentence that names the sender.
pub fn title(cx: &Cx, language: Language, kind: &NotificationKind, actor: &Actor, sender: &Account) -> String {
    let name = if sender.display_name.trim().is_empty() { &sender.username } else { &sender.display_name };
    sentence(cx, language, kind, sender.id == actor.id, name)
}

/// A sentence about a notification that `name` caused; `is_own` if that is the receiver.
pub fn sentence(cx: &Cx, language: Language, kind: &NotificationKind, is_own: bool, name: &str) -> String {
    let name = cut(name.trim(), MAX_NAME);
    let key = match kind {
        NotificationKind::Core(kind) => match kind {
            NotificationType::Mention => "push.mention",
            NotificationType::Status => "push.status",
            NotificationType::ListStatus => "push.list_status",
            NotificationType::Reblog => "push.reblog",
            NotificationType::StatusReference => "push.status_reference",
            NotificationType::Quote => "push.quote",
            NotificationType::QuotedUpdate => "push.quoted_update",
            NotificationType::PendingQuote => "push.pending_quote",
            NotificationType::PendingReply => "push.pending_reply",
            NotificationType::PendingFavourite => "push.pending_favourite",
            NotificationType::PendingReblog => "push.pending_reblog",
            NotificationType::Follow => "push.follow",
            NotificationType::FollowRequest => "push.follow_request",
            NotificationType::Favourite => "push.favourite",
            NotificationType::Poll if is_own => "push.own_poll",
            NotificationType::Poll => "push.poll",
            NotificationType::Update => "push.update",
            NotificationType::SeveredRelationships => "push.severed_relationships",
            NotificationType::ModerationWarning => "push.moderation_warning",
            NotificationType::Move => "push.move",
            NotificationType::AdminSignUp => "push.admin_sign_up",
            NotificationType::AdminReport => "push.admin_report",
        },
        NotificationKind::Plugin(kind) => match cx.extensions().notification_title(kind, language) {
            Some(title) => return title.replace("{name}", &name),
            None => "push.other",
        },
    };
    language.say_with(key, &[("name", &name)])
}

/// The first `most` characters; the last one is an ellipsis if there are more.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("烏が鳴くから", 4), "烏が鳴…");
        assert_eq!(cut("two words", 5), "two…");
    }
}
