//! Reacting to a status, and taking it back.

use rookery_plugin::core_write::NewNotification;
use rookery_plugin::prelude::*;

use crate::emoji::Name;
use crate::group::{self, Emoji, Reaction};
use crate::people::{Config, Settings, settings_of};
use crate::policy::Person;
use crate::{decorate, sql};

/// How many reactions an account may give a status.
const MOST: i64 = 3;
/// The types of notifications: the one with the emoji, and the one that other servers' clients know.
const NOTIFICATIONS: [&str; 2] = ["emoji_reaction", "reaction"];

fn refused(why: &str) -> Error {
    Error::invalid(format!("Validation failed: {why}"))
}

/// The status that a reaction to `status` is to, when the caller may see both: a reblog's original.
///
/// # Errors
/// The host's.
pub(crate) fn visible(status: Id) -> Result<Option<Status>> {
    match core::statuses(Viewer::Caller, &[status])?.pop().flatten() {
        Some(Status { reblog_of: Some(original), .. }) => {
            Ok(core::statuses(Viewer::Caller, &[original])?.pop().flatten())
        }
        other => Ok(other),
    }
}

/// Reacts to a status and answers with it.
///
/// # Errors
/// [`Error::NotFound`] when it is hidden, [`Error::Forbidden`] when the caller blocks its author, [`Error::Invalid`] when
/// the emoji or the author's wishes do not allow it.
pub(crate) fn react(ctx: &Context, id: Id, text: &str) -> Result<Output> {
    let config: Config = config::all()?;
    let status = visible(id)?.ok_or(Error::NotFound)?;
    let settings = permit(ctx.account(), &status, &config)?;
    let name = Name::parse(text).ok_or_else(|| refused("Name is no emoji"))?;
    let Some((emoji, custom)) = usable(&status, &name)? else { return Output::status(id) };
    let reaction = insert(ctx.account(), status.id, &emoji, custom)?;
    if let Some(settings) = settings.filter(|_| status.account != ctx.account().0) {
        notify(&status, ctx.account(), reaction, &settings)?;
    }
    core_write::touch("status", &[status.id])?;
    tell(&config, &status, ctx.account(), &emoji)?;
    Output::status(id)
}

/// Checks whether `me` may react. Gives the settings of an author of this server.
fn permit(me: Id, status: &Status, config: &Config) -> Result<Option<Settings>> {
    let tie = core::relationships(status.account, &[me])?.pop().ok_or(Error::NotFound)?;
    if tie.blocked_by() {
        return Err(Error::forbidden("You block the author of this status"));
    }
    if !config.enable_emoji_reaction {
        return Err(refused("Reactions are switched off on this server"));
    }
    let accounts = core::accounts(&[me.0, status.account])?;
    let [Some(reactor), Some(account)] = accounts.as_slice() else { return Err(Error::NotFound) };
    let settings = if account.domain.is_none() { settings_of(&[account.id])?.remove(&account.id) } else { None };
    let author = match &settings {
        Some(settings) => settings.author(account.id),
        None => config.author(account)?,
    };
    let person =
        Person { id: me.0, local: true, follows_author: tie.followed_by(), followed_by_author: tie.following() };
    if tie.blocking() || !author.allows(Some(&person)) {
        return Err(refused("The author does not want this reaction"));
    }
    let silenced = reactor.state & 2 != 0;
    if silenced && !tie.following() && me.0 != account.id {
        return Err(refused("The author does not follow you"));
    }
    Ok(settings)
}

/// What is reacted with, and the id of a custom emoji. `None` for another server's emoji that nobody used there.
fn usable(status: &Status, name: &Name) -> Result<Option<(Emoji, Option<i64>)>> {
    match core::emojis(&[name.key()])?.pop().flatten() {
        Some(found) if found.domain.is_none() => {
            let emoji = Emoji { name: found.name, domain: String::new(), custom: found.custom.is_some() };
            Ok(Some((emoji, found.custom)))
        }
        _ if name.domain.is_empty() => Err(refused("Name is no emoji")),
        _ => {
            let used = sql::used_there(status.id, &name.name, &name.domain).optional::<i64>()?;
            let emoji = || Emoji { name: name.name.clone(), domain: name.domain.clone(), custom: true };
            Ok(used.map(|custom| (emoji(), Some(custom))))
        }
    }
}

fn insert(me: Id, status: i64, emoji: &Emoji, custom: Option<i64>) -> Result<i64> {
    if sql::count_own(status, me).one::<i64>()? >= MOST {
        return Err(refused(&format!("You have reacted {MOST} times")));
    }
    sql::insert(me, status, &emoji.name, &emoji.domain, custom)
        .one()
        .on_unique(|| refused("You have reacted with this emoji"))
}

/// Tells the author, as they like it.
fn notify(status: &Status, me: Id, reaction: i64, settings: &Settings) -> Result<()> {
    let wanted = [settings.enable_emoji_reaction, settings.emoji_reaction_streaming_notify_impl2];
    if !settings.enable_emoji_reaction {
        return Ok(());
    }
    let notice = |(kind, _): (&str, bool)| NewNotification {
        to: status.account,
        from: me.0,
        kind: kind.to_owned(),
        activity: reaction,
        status: Some(status.id),
    };
    let notices: Vec<_> = NOTIFICATIONS.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(notice).collect();
    core_write::notify(&notices)?;
    Ok(())
}

/// Takes a reaction back and answers with the status: also of one that is hidden by now, and then with nothing.
///
/// # Errors
/// [`Error::NotFound`] when the status is hidden and there is nothing to take back.
pub(crate) fn unreact(ctx: &Context, id: Id, text: &str) -> Result<Output> {
    let status = visible(id)?;
    let original = status.as_ref().map_or(id.0, |status| status.id);
    let taken = take_back(ctx.account(), original, text)?;
    match (status, taken) {
        (None, None) => Err(Error::NotFound),
        (None, Some(_)) => Output::empty(),
        (Some(_), None) => Output::status(id),
        (Some(status), Some(emoji)) => {
            tell(&config::all()?, &status, ctx.account(), &emoji)?;
            Output::status(id)
        }
    }
}

/// Deletes a reaction of `me` with its notifications; gives what it was with.
fn take_back(me: Id, status: i64, text: &str) -> Result<Option<Emoji>> {
    let Some(name) = Name::parse(text) else { return Ok(None) };
    // A Unicode emoji may be written in more than one way, and this server's name stands for no other.
    let name = match core::emojis(&[name.key()])?.pop().flatten() {
        Some(found) => Name { name: found.name, domain: found.domain.unwrap_or_default() },
        None => name,
    };
    let Some(reaction) = sql::delete(me, status, &name.name, &name.domain).optional::<i64>()? else { return Ok(None) };
    for kind in NOTIFICATIONS {
        core_write::retract(kind, &[reaction])?;
    }
    core_write::touch("status", &[status])?;
    Ok(Some(Emoji { name: name.name, domain: name.domain, custom: false }))
}

/// The payload of the stream event.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    group: group::Group,
    status_id: Id,
}

/// Tells the streams of the author and of whoever reacted what there is of this emoji now, unless they do not want it.
fn tell(config: &Config, status: &Status, me: Id, emoji: &Emoji) -> Result<()> {
    let people: Vec<i64> = if status.local && status.account != me.0 { vec![me.0, status.account] } else { vec![me.0] };
    let settings = settings_of(&people)?;
    let wants =
        |id: &&i64| settings.get(id).is_some_and(|set| set.enable_emoji_reaction && !set.stop_emoji_reaction_streaming);
    let topics: Vec<String> = people.iter().filter(wants).map(|id| format!("user:{id}")).collect();
    if topics.is_empty() || !config.streaming_local_emoji_reaction {
        return Ok(());
    }
    let told = current(status.id, emoji)?;
    let messages: Result<Vec<_>> =
        topics.iter().map(|topic| streaming::message(topic, "emoji_reaction", &told)).collect();
    streaming::publish(&messages?)?;
    Ok(())
}

/// The group of an emoji on a status, an empty one when the last reaction went.
fn current(status: i64, emoji: &Emoji) -> Result<Told> {
    let reactions: Vec<Reaction> = decorate::reactions(&[status], None)?
        .into_iter()
        .map(|seen| seen.reaction)
        .filter(|reaction| (&reaction.emoji.name, &reaction.emoji.domain) == (&emoji.name, &emoji.domain))
        .collect();
    let pictures = decorate::pictures(reactions.iter().map(|reaction| &reaction.emoji))?;
    let group = group::group(&reactions, &pictures, None).pop();
    Ok(Told { group: group.unwrap_or_else(|| group::Group::none(&emoji.name)), status_id: Id(status) })
}

/// An emoji that is gone, or cannot be used for now.
#[derive(Deserialize)]
pub(crate) struct Gone {
    id: Id,
}

/// Forgets the reactions with an emoji that is gone for good.
///
/// # Errors
/// The host's.
pub(crate) fn forget_emoji(gone: &Gone) -> Result<()> {
    let forgotten: Vec<(i64, i64)> = sql::forget_emoji(gone.id).all()?;
    let (reactions, statuses): (Vec<i64>, Vec<i64>) = forgotten.into_iter().unzip();
    for (reactions, statuses) in reactions.chunks(1_000).zip(statuses.chunks(1_000)) {
        for kind in NOTIFICATIONS {
            core_write::retract(kind, reactions)?;
        }
        core_write::touch("status", statuses)?;
    }
    Ok(())
}
