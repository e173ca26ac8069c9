//! Telling people of reactions: notifications to authors, and streams.

use rookery_plugin::core_write::NewNotification;
use rookery_plugin::prelude::*;

use crate::emoji::Emoji;
use crate::group::Group;
use crate::original::Original;
use crate::people::{Config, Settings, settings_of};
use crate::pictures::Pictures;
use crate::shown;

/// The types of notifications: the one with the emoji, and the one that other servers' clients know.
const NOTIFICATIONS: [&str; 2] = ["emoji_reaction", "reaction"];

/// Notifies the author, as they like it.
///
/// # Errors
/// The host's.
pub(crate) fn notify(status: &Original, me: Id, reaction: i64, settings: &Settings) -> Result<()> {
    let wanted = [settings.enable_emoji_reaction, settings.emoji_reaction_streaming_notify_impl2];
    if !settings.enable_emoji_reaction {
        return Ok(());
    }
    let notice = |(kind, _): (&str, bool)| NewNotification {
        to: status.author,
        from: me.0,
        kind: kind.to_owned(),
        activity: reaction,
        status: Some(status.id),
    };
    let notices: Vec<_> = NOTIFICATIONS.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(notice).collect();
    core_write::notify(&notices)?;
    Ok(())
}

/// Takes the notifications of reactions back.
///
/// # Errors
/// The host's.
pub(crate) fn retract(reactions: &[i64]) -> Result<()> {
    for kind in NOTIFICATIONS {
        core_write::retract(kind, reactions)?;
    }
    Ok(())
}

/// The payload of the stream event.
#[derive(Serialize)]
struct Message {
    #[serde(flatten)]
    group: Group,
    status_id: Id,
}

/// Sends the present group of this emoji to the streams of the author and of the accounts that reacted, unless they
/// switched it off.
///
/// # Errors
/// The host's.
pub(crate) fn stream(config: &Config, status: &Original, me: Id, emoji: &Emoji) -> Result<()> {
    let people: Vec<i64> = if status.local && status.author != me.0 { vec![me.0, status.author] } else { vec![me.0] };
    let settings = settings_of(&people)?;
    let wants =
        |id: &&i64| settings.get(id).is_some_and(|set| set.enable_emoji_reaction && !set.stop_emoji_reaction_streaming);
    let topics: Vec<String> = people.iter().filter(wants).map(|id| format!("user:{id}")).collect();
    if topics.is_empty() || !config.streaming_local_emoji_reaction {
        return Ok(());
    }
    let message = Message { group: current(status.id, emoji)?, status_id: Id(status.id) };
    let messages: Result<Vec<_>> =
        topics.iter().map(|topic| streaming::message(topic, "emoji_reaction", &message)).collect();
    streaming::publish(&messages?)?;
    Ok(())
}

/// The group of an emoji on a status, an empty one when the last reaction went.
fn current(status: i64, emoji: &Emoji) -> Result<Group> {
    let (accounts, total) = shown::group_of(status, &emoji.name)?;
    let group = Group::new(emoji, total, &Pictures::of([emoji])?);
    Ok(Group { account_ids: accounts.iter().map(ToString::to_string).collect(), ..group })
}
