//! Who may see the reactions of a page: the policies of its authors, and their ties to the viewer where they matter.

use std::collections::{BTreeSet, HashMap, HashSet};

use rookery_plugin::prelude::*;

use crate::people::{Config, settings_of};
use crate::policy::{Author, Person, Policy};
use crate::shown::StatusReactions;

/// The statuses of a page whose reactions the viewer may see.
pub(crate) struct Audience {
    /// The statuses whose authors let the viewer see reactions.
    pub(crate) sees: HashSet<i64>,
    /// The viewer wants the short form as well.
    pub(crate) compact: bool,
}

impl Audience {
    /// Of the viewer among the authors of `targets`, as far as someone reacted to these.
    ///
    /// # Errors
    /// The host's.
    pub(crate) fn of(
        config: &Config,
        viewer: Option<Id>,
        targets: &[Target],
        shown: &HashMap<i64, StatusReactions>,
    ) -> Result<Self> {
        let reacted: Vec<(&Target, &StatusReactions)> =
            targets.iter().filter_map(|target| Some((target, shown.get(&target.id)?))).collect();
        let owners = |local| {
            let of = reacted.iter().filter(move |(_, shown)| shown.local_author == local);
            of.map(|(target, _)| target.owner).collect::<BTreeSet<i64>>()
        };
        let local = owners(true);
        let people: BTreeSet<i64> = local.iter().copied().chain(viewer.map(i64::from)).collect();
        let settings = settings_of(&people.into_iter().collect::<Vec<_>>())?;
        let own = viewer.and_then(|viewer| settings.get(&viewer.0));
        let compact = own.is_some_and(|settings| settings.emoji_reaction_streaming_notify_impl2);

        let known = local.iter().filter_map(|id| Some(settings.get(id)?.author(*id)));
        let authors: Vec<Author> = known.chain(remote_authors(config, owners(false))?).collect();
        let allowing = allowing(viewer, &authors)?;
        let sees = reacted.iter().filter(|(target, _)| allowing.contains(&target.owner)).map(|(target, _)| target.id);
        Ok(Self { sees: sees.collect(), compact })
    }
}

/// Whether the author of a status lets the viewer see reactions.
///
/// # Errors
/// The host's.
pub(crate) fn sees(config: &Config, viewer: Option<Id>, status: &Status) -> Result<bool> {
    let author: Vec<Author> = if status.local {
        settings_of(&[status.account])?.values().map(|settings| settings.author(status.account)).collect()
    } else {
        remote_authors(config, BTreeSet::from([status.account]))?
    };
    Ok(!allowing(viewer, &author)?.is_empty())
}

/// Authors of other servers, as they say it.
fn remote_authors(config: &Config, ids: BTreeSet<i64>) -> Result<Vec<Author>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let accounts = core::accounts(&ids.into_iter().collect::<Vec<_>>())?;
    accounts.iter().flatten().map(|account| config.author(account)).collect()
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
