//! What is shown of reactions: in statuses, notifications and accounts, and who reacted.
//!
//! A page of statuses costs one statement, one look at settings, and one at pictures if a custom emoji is on it.

use std::collections::{BTreeSet, HashMap, HashSet};

use rookery_plugin::prelude::*;

use crate::group::{Emoji, Group, Picture, Pictures, Reaction, group};
use crate::people::{Config, settings_of};
use crate::policy::{Author, Person, Policy};
use crate::react::visible;
use crate::sql;

/// The bit of an account's state that moderators suspended it.
const SUSPENDED: u32 = 1;

/// A reaction that a viewer may know of.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) status: i64,
    pub(crate) reaction: Reaction,
    pub(crate) local_author: bool,
}

#[derive(Row)]
struct SeenRow {
    status_id: i64,
    account_id: i64,
    name: String,
    domain: String,
    custom: bool,
    local_author: bool,
}

/// The reactions to statuses without those that the viewer does not want to know of, in the order of their making.
///
/// # Errors
/// The host's.
pub(crate) fn reactions(statuses: &[i64], viewer: Option<Id>) -> Result<Vec<Seen>> {
    let rows: Vec<SeenRow> = sql::shown(statuses, viewer.map_or(0, i64::from)).all()?;
    let seen = |row: SeenRow| Seen {
        status: row.status_id,
        reaction: Reaction {
            account: row.account_id,
            emoji: Emoji { name: row.name, domain: row.domain, custom: row.custom },
        },
        local_author: row.local_author,
    };
    Ok(rows.into_iter().map(seen).collect())
}

/// The pictures of custom emojis that are enabled.
///
/// # Errors
/// The host's.
pub(crate) fn pictures<'a>(emojis: impl Iterator<Item = &'a Emoji>) -> Result<Pictures> {
    let keys: BTreeSet<String> = emojis.filter(|emoji| emoji.custom).map(Emoji::key).collect();
    if keys.is_empty() {
        return Ok(Pictures::new());
    }
    let keys: Vec<String> = keys.into_iter().collect();
    let found = core::emojis(&keys)?;
    let picture = |emoji: core::Emoji| {
        let url = emoji.url?;
        let static_url = emoji.static_url.unwrap_or_else(|| url.clone());
        Some(Picture { url, static_url, domain: emoji.domain, width: emoji.width, height: emoji.height })
    };
    Ok(keys.into_iter().zip(found).filter_map(|(key, emoji)| Some((key, picture(emoji?)?))).collect())
}

/// The members of statuses.
///
/// # Errors
/// The host's.
pub(crate) fn statuses(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let config: Config = config::all()?;
    let mut extras = Extras::new();
    if !config.enable_emoji_reaction {
        return Ok(extras);
    }
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let mut seen: HashMap<i64, Vec<Seen>> = HashMap::new();
    for one in reactions(&ids, viewer)? {
        seen.entry(one.status).or_default().push(one);
    }
    let audience = Audience::of(&config, viewer, targets, &seen)?;
    seen.retain(|status, _| audience.sees.contains(status));
    let pictures = pictures(seen.values().flatten().map(|one| &one.reaction.emoji))?;
    for (index, target) in targets.iter().enumerate() {
        let seen = seen.get(&target.id).map(Vec::as_slice).unwrap_or_default();
        let groups = group(seen.iter().map(|one| &one.reaction), &pictures, viewer.map(i64::from));
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

/// What the viewer may see of a page.
struct Audience {
    /// The statuses whose authors let the viewer see reactions.
    sees: HashSet<i64>,
    /// The viewer wants the short form as well.
    compact: bool,
}

impl Audience {
    fn of(config: &Config, viewer: Option<Id>, targets: &[Target], seen: &HashMap<i64, Vec<Seen>>) -> Result<Self> {
        let reacted: Vec<(&Target, bool)> =
            targets.iter().filter_map(|target| Some((target, seen.get(&target.id)?.first()?.local_author))).collect();
        let local = reacted.iter().filter(|(_, local)| *local).map(|(target, _)| target.owner);
        let people: BTreeSet<i64> = local.chain(viewer.map(i64::from)).collect();
        let settings = settings_of(&people.into_iter().collect::<Vec<_>>())?;
        let own = viewer.and_then(|viewer| settings.get(&viewer.0));
        let compact = own.is_some_and(|settings| settings.emoji_reaction_streaming_notify_impl2);

        let mut authors: Vec<Author> = settings.iter().map(|(id, settings)| settings.author(*id)).collect();
        let remote: BTreeSet<i64> =
            reacted.iter().filter(|(_, local)| !local).map(|(target, _)| target.owner).collect();
        authors.extend(remote_authors(config, remote)?);
        let allowing = allowing(viewer, &authors)?;
        let sees = reacted.iter().filter(|(target, _)| allowing.contains(&target.owner)).map(|(target, _)| target.id);
        Ok(Self { sees: sees.collect(), compact })
    }
}

/// Authors of other servers, as they say it.
fn remote_authors(config: &Config, ids: BTreeSet<i64>) -> Result<Vec<Author>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let accounts = core::accounts(&ids.into_iter().collect::<Vec<_>>())?;
    accounts.iter().flatten().map(|account| config.author(account)).collect()
}

/// The author of a status.
fn author(config: &Config, status: &Status) -> Result<Vec<Author>> {
    if !status.local {
        return remote_authors(config, BTreeSet::from([status.account]));
    }
    Ok(settings_of(&[status.account])?.values().map(|settings| settings.author(status.account)).collect())
}

/// Those authors who let the viewer see reactions. Ties are looked up where they matter only.
fn allowing(viewer: Option<Id>, authors: &[Author]) -> Result<HashSet<i64>> {
    let open = |author: &&Author| matches!(author.policy, Policy::Allow | Policy::Block);
    let doubtful: Vec<i64> = authors.iter().filter(|author| !open(author)).map(|author| author.id).collect();
    let ties: HashMap<i64, Relationship> = match viewer {
        Some(viewer) if !doubtful.is_empty() => {
            core::relationships(viewer, &doubtful)?.into_iter().map(|tie| (tie.account, tie)).collect()
        }
        _ => HashMap::new(),
    };
    let allows = |author: &&Author| {
        let tie = ties.get(&author.id);
        let person = viewer.map(|viewer| Person {
            id: viewer.0,
            local: true,
            follows_author: tie.is_some_and(|tie| tie.following()),
            followed_by_author: tie.is_some_and(|tie| tie.followed_by()),
        });
        author.allows(person.as_ref())
    };
    Ok(authors.iter().filter(allows).map(|author| author.id).collect())
}

/// `Notification.emoji_reaction`: what one notification is about.
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

/// The members of notifications.
///
/// # Errors
/// The host's.
pub(crate) fn notifications(targets: &[Target]) -> Result<Extras> {
    let mut extras = Extras::new();
    let told = |target: &Target| if target.code == "emoji_reaction" { target.activity } else { None };
    let ids: Vec<i64> = targets.iter().filter_map(told).collect();
    if ids.is_empty() {
        return Ok(extras);
    }
    let rows: Vec<ReactionRow> = sql::by_id(&ids).all()?;
    let emoji = |row: ReactionRow| (row.id, Emoji { name: row.name, domain: row.domain, custom: row.custom });
    let emojis: HashMap<i64, Emoji> = rows.into_iter().map(emoji).collect();
    let pictures = pictures(emojis.values())?;
    for (index, target) in targets.iter().enumerate() {
        if let Some(emoji) = told(target).and_then(|id| emojis.get(&id)) {
            let picture = pictures.get(&emoji.key()).filter(|_| emoji.custom).cloned();
            let told = Told { name: emoji.name.clone(), count: 1, me: false, picture };
            extras.set(index, "emoji_reaction", &told)?;
        }
    }
    Ok(extras)
}

/// The members of accounts of this server. What another server can do is learnt by federating.
///
/// # Errors
/// The host's.
pub(crate) fn accounts(targets: &[Target]) -> Result<Extras> {
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
        if account.state & SUSPENDED == 0 {
            let policy = if config.enable_emoji_reaction { &settings.emoji_reaction_policy } else { "block" };
            extras.set(index, "other_settings.emoji_reaction_policy", policy)?;
        }
    }
    Ok(extras)
}

/// An item of `emoji_reactioned_by`.
#[derive(Serialize)]
struct Item {
    id: Id,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    static_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<Option<String>>,
    account: serde_json::Value,
}

#[derive(Row)]
struct ItemRow {
    id: i64,
    account_id: i64,
    name: String,
    domain: String,
    custom: bool,
}

/// Who reacted to a visible status, and with what; nobody where the author does not let the viewer see it.
///
/// # Errors
/// The host's.
pub(crate) fn reacted_by(viewer: Option<Id>, status: Id, page: &Page) -> Result<Output> {
    let config: Config = config::all()?;
    let status = visible(status)?.ok_or(Error::NotFound)?;
    let author = author(&config, &status)?;
    if !config.enable_emoji_reaction || allowing(viewer, &author)?.is_empty() {
        return Output::json(&[(); 0]);
    }
    let (before, after) = (page.max_id.unwrap_or(i64::MAX), page.since_id.unwrap_or(0));
    let rows: Vec<ItemRow> =
        sql::reacted_by(status.id, viewer.map_or(0, i64::from), before, after, page.limit).all()?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    Ok(Output::template(&items(rows)?)?.with_cursor(&ids, page.limit))
}

fn items(rows: Vec<ItemRow>) -> Result<Vec<Item>> {
    let emoji = |row: &ItemRow| Emoji { name: row.name.clone(), domain: row.domain.clone(), custom: row.custom };
    let emojis: Vec<Emoji> = rows.iter().map(emoji).collect();
    let pictures = pictures(emojis.iter())?;
    let item = |(row, emoji): (ItemRow, Emoji)| {
        let picture = pictures.get(&emoji.key()).filter(|_| emoji.custom);
        Item {
            id: Id(row.id),
            url: picture.map(|picture| picture.url.clone()),
            static_url: picture.map(|picture| picture.static_url.clone()),
            domain: picture.map(|picture| picture.domain.clone()),
            name: emoji.name,
            account: account_hole(row.account_id),
        }
    };
    Ok(rows.into_iter().zip(emojis).map(item).collect())
}
