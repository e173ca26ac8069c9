//! Antennas as the tables have them.
//!
//! A change of an antenna takes the next version first, before reading the data that it depends on: this locks the
//! counter's row until the end of the transaction, so that changes are serialised, limits are enforced, and an index in
//! memory misses none.

use rookery_plugin::prelude::*;

use crate::antenna::{Choices, Entity};
use crate::terms::Terms;
use crate::{FEED, sql};

/// A row with the attributes for its owner.
#[derive(Clone, Debug, Row)]
pub(crate) struct Stored {
    pub(crate) id: Id,
    pub(crate) title: String,
    pub(crate) list_id: i64,
    pub(crate) insert_feeds: bool,
    pub(crate) stl: bool,
    pub(crate) ltl: bool,
    pub(crate) with_media_only: bool,
    pub(crate) ignore_reblog: bool,
    pub(crate) terms: String,
    pub(crate) accounts_count: i64,
    pub(crate) list_title: Option<String>,
}

impl Stored {
    /// The owner's choices.
    pub(crate) fn choices(&self) -> Choices {
        Choices {
            title: self.title.clone(),
            list_id: self.list_id,
            insert_feeds: self.insert_feeds,
            stl: self.stl,
            ltl: self.ltl,
            with_media_only: self.with_media_only,
            ignore_reblog: self.ignore_reblog,
        }
    }

    /// Its conditions besides accounts.
    pub(crate) fn terms(&self) -> Terms {
        terms(&self.terms)
    }

    /// As clients see it.
    pub(crate) fn entity(&self) -> Entity {
        Entity::new(self.id.0, self.choices(), &self.terms(), self.accounts_count, self.list_title.clone())
    }
}

/// The column `terms`, which this plugin alone writes.
pub(crate) fn terms(json: &str) -> Terms {
    serde_json::from_str(json).unwrap_or_default()
}

/// As clients see them.
pub(crate) fn entities(stored: &[Stored]) -> Vec<Entity> {
    stored.iter().map(Stored::entity).collect()
}

/// The antennas of an account, oldest first.
pub(crate) fn own(account: Id) -> Result<Vec<Stored>> {
    sql::antennas(account).all()
}

/// One antenna of an account.
pub(crate) fn find(account: Id, id: Id) -> Result<Stored> {
    sql::antenna(id, account).one()
}

/// The version of a change, see above.
pub(crate) fn next_version() -> Result<i64> {
    sql::next_version().one()
}

/// A new antenna, which listens for nothing yet.
pub(crate) fn insert(account: Id, choices: &Choices, version: i64) -> Result<Id> {
    let Choices { title, list_id, insert_feeds, stl, ltl, with_media_only, ignore_reblog } = choices;
    sql::insert(account, title, *list_id, *insert_feeds, *stl, *ltl, *with_media_only, *ignore_reblog, version).one()
}

/// Other choices.
pub(crate) fn update(id: Id, choices: &Choices, version: i64) -> Result<()> {
    let Choices { title, list_id, insert_feeds, stl, ltl, with_media_only, ignore_reblog } = choices;
    sql::update(id, title, *list_id, *insert_feeds, *stl, *ltl, *with_media_only, *ignore_reblog, version).exec()?;
    Ok(())
}

/// Deletes antennas with their feeds.
pub(crate) fn delete(ids: &[i64], version: i64) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    sql::many::delete(ids.iter().map(|id| (*id,)))?;
    sql::many::note_removed(ids.iter().map(|id| (*id, version)))?;
    let feeds: Vec<Feed> = ids.iter().map(|id| feeds::custom(FEED, *id)).collect();
    feeds::drop_feeds(&feeds)
}
