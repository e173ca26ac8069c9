//! The members about reactions in statuses, notifications and accounts.
//!
//! A page of 40 statuses costs one statement, one look at settings, and one at pictures if a custom emoji is on it.

use std::collections::HashMap;

use rookery_plugin::prelude::*;

use crate::audience::Audience;
use crate::emoji::Emoji;
use crate::group::{Group, group};
use crate::people::{Config, settings_of};
use crate::pictures::{Picture, Pictures};
use crate::{shown, sql};

/// Adds the reactions to statuses.
#[on(decorate, kind = "status")]
fn statuses(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let config: Config = config::all()?;
    let mut extras = Extras::new();
    if !config.enable_emoji_reaction {
        return Ok(extras);
    }
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let mut shown = shown::reactions(&ids, viewer)?;
    let audience = Audience::of(&config, viewer, targets, &shown)?;
    shown.retain(|status, _| audience.sees.contains(status));
    let pictures = Pictures::of(shown.values().flat_map(|shown| &shown.reactions).map(|one| &one.emoji))?;
    for (index, target) in targets.iter().enumerate() {
        let reactions = shown.get(&target.id).map(|shown| shown.reactions.as_slice()).unwrap_or_default();
        let groups = group(reactions, &pictures, viewer.is_some());
        if !groups.is_empty() {
            extras.set(index, "emoji_reactions", &groups)?;
            extras.set(index, "emoji_reactions_count", &groups.iter().map(|group| group.count).sum::<usize>())?;
        }
        if audience.compact {
            extras.set(index, "reactions", &groups.iter().map(Group::compact).collect::<Vec<_>>())?;
        }
    }
    Ok(extras)
}

/// `Notification.emoji_reaction`: the emoji of the notification.
#[derive(Serialize)]
struct Told {
    name: String,
    count: usize,
    me: bool,
    #[serde(flatten)]
    picture: Option<Picture>,
}

#[derive(Row)]
struct ReactionRow {
    id: i64,
    name: String,
    domain: String,
    custom: bool,
}

/// Adds the reaction to the notification of one.
#[on(decorate, kind = "notification")]
fn notifications(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let mut extras = Extras::new();
    let reactions = Reactions::of(targets)?;
    for (index, target) in targets.iter().enumerate() {
        if let Some(emoji) = reactions.emoji(target) {
            extras.set(index, "emoji_reaction", &reactions.told(emoji, 1))?;
        }
    }
    Ok(extras)
}

/// An element of `NotificationGroup.emoji_reaction_groups`.
#[derive(Serialize)]
struct ToldGroup {
    emoji_reaction: Told,
    sample_account_ids: Vec<String>,
}

/// Adds the emojis to groups of notifications: of the newest reactions, in this order. The samples of a group are
/// adjacent, and the members of the first are the group's.
#[on(decorate, kind = "notification_group")]
fn notification_groups(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let mut extras = Extras::new();
    let reactions = Reactions::of(targets)?;
    let mut index = 0;
    for samples in targets.chunk_by(|one, other| one.id == other.id) {
        if samples[0].code == REACTION {
            extras.set(index, "emoji_reaction_groups", &reactions.told_groups(samples))?;
        }
        index += samples.len();
    }
    Ok(extras)
}

/// The type of the notifications that say which emoji it was.
const REACTION: &str = "emoji_reaction";

/// The reactions that notifications are about.
struct Reactions {
    emojis: HashMap<i64, Emoji>,
    pictures: Pictures,
}

impl Reactions {
    fn of(targets: &[Target]) -> Result<Self> {
        let ids: Vec<i64> = targets.iter().filter_map(reaction).collect();
        if ids.is_empty() {
            return Ok(Self { emojis: HashMap::new(), pictures: Pictures::default() });
        }
        let rows: Vec<ReactionRow> = sql::by_id(&ids).all()?;
        let emoji = |row: ReactionRow| (row.id, Emoji::new(row.name, row.domain, row.custom));
        let emojis: HashMap<i64, Emoji> = rows.into_iter().map(emoji).collect();
        let pictures = Pictures::of(emojis.values())?;
        Ok(Self { emojis, pictures })
    }

    fn emoji(&self, target: &Target) -> Option<&Emoji> {
        reaction(target).and_then(|id| self.emojis.get(&id))
    }

    fn told(&self, emoji: &Emoji, count: usize) -> Told {
        Told { name: emoji.name.name.clone(), count, me: false, picture: self.pictures.find(emoji).cloned() }
    }

    /// The samples of a group by their emojis.
    fn told_groups(&self, samples: &[Target]) -> Vec<ToldGroup> {
        let mut groups: Vec<(&Emoji, Vec<String>)> = Vec::new();
        for (emoji, owner) in samples.iter().filter_map(|sample| Some((self.emoji(sample)?, sample.owner.to_string())))
        {
            match groups.iter_mut().find(|(known, _)| *known == emoji) {
                Some((_, owners)) => owners.push(owner),
                None => groups.push((emoji, vec![owner])),
            }
        }
        let told = |(emoji, owners): (&Emoji, Vec<String>)| ToldGroup {
            emoji_reaction: self.told(emoji, owners.len()),
            sample_account_ids: owners,
        };
        groups.into_iter().map(told).collect()
    }
}

/// The reaction that a notification is about.
fn reaction(target: &Target) -> Option<i64> {
    if target.code == REACTION { target.activity } else { None }
}

/// Says whose reactions an account wants, and that its server knows them. What another server can do is learnt by
/// federating.
#[on(decorate, kind = "account")]
fn accounts(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let config: Config = config::all()?;
    let mut extras = Extras::new();
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let accounts = core::accounts(&ids)?;
    let local: Vec<i64> = accounts.iter().flatten().filter(|one| one.domain.is_none()).map(|one| one.id).collect();
    let settings = settings_of(&local)?;
    for (index, account) in accounts.iter().enumerate() {
        let Some((account, settings)) = account.as_ref().and_then(|one| Some((one, settings.get(&one.id)?))) else {
            continue;
        };
        extras.set(index, "server_features.emoji_reaction", &config.enable_emoji_reaction)?;
        if !account.suspended() {
            let policy = if config.enable_emoji_reaction { &settings.emoji_reaction_policy } else { "block" };
            extras.set(index, "other_settings.emoji_reaction_policy", policy)?;
        }
    }
    Ok(extras)
}
