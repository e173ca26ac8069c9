//! Reacting to a status, and taking it back.

use rookery_plugin::prelude::*;

use crate::emoji::{Emoji, Name};
use crate::original::{self, Original, visible};
use crate::people::{Config, Settings, settings_of};
use crate::policy::Person;
use crate::{sql, tell};

/// How many reactions an account may give a status.
pub(crate) const MOST: i64 = 3;

fn refused(why: &str) -> Error {
    Error::invalid(format!("Validation failed: {why}"))
}

/// Reacts to a status and answers with it.
///
/// # Errors
/// [`Error::NotFound`] when it is hidden, [`Error::Forbidden`] when the caller blocks its author, [`Error::Invalid`] when
/// the emoji or the author's wishes do not allow it.
pub(crate) fn react(ctx: &Context, id: Id, text: &str) -> Result<Output> {
    let config: Config = config::all()?;
    let status = Original::from(&visible(id)?.ok_or(Error::NotFound)?);
    let settings = permit(ctx.account(), &status, &config)?;
    let name = Name::read(text)?.ok_or_else(|| refused("Name is no emoji"))?;
    let Some((emoji, custom)) = usable(&status, name)? else { return Output::status(id) };
    let reaction = insert(ctx.account(), status.id, &emoji, custom)?;
    if let Some(settings) = settings.filter(|_| status.author != ctx.account().0) {
        tell::notify(&status, ctx.account(), reaction, &settings)?;
    }
    tell::stream(&config, &status, ctx.account(), &emoji)?;
    Output::status(id)
}

/// Checks whether `me` may react. Gives the settings of an author of this server.
fn permit(me: Id, status: &Original, config: &Config) -> Result<Option<Settings>> {
    let tie = core::relationships(status.author, &[me])?.pop().ok_or(Error::NotFound)?;
    if tie.blocked_by() {
        return Err(Error::forbidden("You block the author of this status"));
    }
    if !config.enable_emoji_reaction {
        return Err(refused("Reactions are switched off on this server"));
    }
    let accounts = core::accounts(&[me.0, status.author])?;
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
    if reactor.silenced() && !tie.following() && me.0 != account.id {
        return Err(refused("The author does not follow you"));
    }
    Ok(settings)
}

/// The emoji of a reaction, and the id of a custom emoji. `None` for another server's emoji that is not in use on the
/// status.
fn usable(status: &Original, name: Name) -> Result<Option<(Emoji, Option<i64>)>> {
    let found = core::emojis(&[name.key()])?.pop().flatten();
    if !name.domain.is_empty() && sql::used_there(status.id, &name.name, &name.domain).optional::<i64>()?.is_none() {
        return Ok(None);
    }
    let found = found.ok_or_else(|| refused("Name is no emoji"))?;
    let emoji = Emoji { name: Name { name: found.name, ..name }, custom: found.custom.is_some() };
    Ok(Some((emoji, found.custom)))
}

/// The reaction's id. The change of the status comes first: reactions to it wait for each other there, so that
/// reactions of one account are counted one after the other.
fn insert(me: Id, status: i64, emoji: &Emoji, custom: Option<i64>) -> Result<i64> {
    core_write::touch("status", &[status])?;
    let reaction = sql::insert(me, status, &emoji.name.name, &emoji.name.domain, custom)
        .one()
        .on_unique(|| refused("You have reacted with this emoji"))?;
    if sql::count_own(status, me).one::<i64>()? > MOST {
        return Err(refused(&format!("You have reacted {MOST} times")));
    }
    Ok(reaction)
}

/// Removes a reaction and returns the status: for a status that is hidden meanwhile, `{}`.
///
/// # Errors
/// [`Error::NotFound`] when the status is hidden and has no reaction of the caller.
pub(crate) fn unreact(ctx: &Context, id: Id, text: &str) -> Result<Output> {
    let seen = visible(id)?;
    let status = match &seen {
        Some(status) => Original::from(status),
        None => original::any(id)?.ok_or(Error::NotFound)?,
    };
    let taken = take_back(ctx.account(), status.id, text)?;
    if let Some(emoji) = &taken {
        tell::stream(&config::all()?, &status, ctx.account(), emoji)?;
    }
    // One's own can be taken back from a status that one may not see any more.
    if seen.is_none() && taken.is_none() { Err(Error::NotFound) } else { Output::status(id) }
}

/// Deletes a reaction of `me` with its notifications; returns its emoji.
fn take_back(me: Id, status: i64, text: &str) -> Result<Option<Emoji>> {
    let Some(name) = Name::read(text)? else { return Ok(None) };
    // A Unicode emoji may be written in more than one way.
    let name = match core::emojis(&[name.key()])?.pop().flatten() {
        Some(found) => Name { name: found.name, ..name },
        None => name,
    };
    // First, as in `insert`: both hold the status before a reaction.
    core_write::touch("status", &[status])?;
    let deleted = sql::delete(me, status, &name.name, &name.domain).optional::<(i64, Option<i64>)>()?;
    let Some((reaction, custom)) = deleted else { return Ok(None) };
    tell::retract(&[reaction])?;
    Ok(Some(Emoji { name, custom: custom.is_some() }))
}
