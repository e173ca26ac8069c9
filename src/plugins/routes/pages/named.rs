//! The statuses and accounts that the blocks of a page name by their ids, as far as the visitor may see them.

use std::collections::HashMap;

use rookery_plugin_host::exports::pages::{Block, View};

use crate::Cx;
use context::Result;
use entity::web::{self, Author, WebStatus};
use model::{AccountId, Actor, StatusId};
use service::visibility::{self, Place, Seen};

/// By id; a missing one is deleted, or hidden from the visitor.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) statuses: HashMap<i64, WebStatus>,
    pub(super) people: HashMap<i64, Author>,
}

impl Named {
    /// What `view` names: a few statements for all statuses, and for all accounts; none where none is named. Without a `viewer`, as
    /// anyone may see it.
    pub(super) async fn load(cx: &Cx, viewer: Option<&Actor>, view: &View) -> Result<Self> {
        let (mut statuses, mut people): (Vec<StatusId>, Vec<AccountId>) = (Vec::new(), Vec::new());
        for block in &view.blocks {
            match block {
                Block::Statuses(list) => statuses.extend(list.statuses.iter().map(|status| StatusId::from(status.id))),
                Block::People(list) => people.extend(list.people.iter().map(|person| AccountId::from(person.id))),
                Block::Text(_)
                | Block::Form(_)
                | Block::Items(_)
                | Block::Figures(_)
                | Block::Bars(_)
                | Block::Picture(_) => {}
            }
        }
        statuses.sort_unstable();
        statuses.dedup();
        let mut named = Self::default();
        let seen = visibility::statuses(cx, viewer, Place::Single, &statuses).await?;
        let shown = web::statuses(cx, viewer, None, &seen).await?;
        let proper: HashMap<StatusId, WebStatus> = shown.into_iter().map(|status| (status.id, status)).collect();
        let status = |seen: &Seen| Some((seen.head().id.into(), proper.get(&seen.proper().id)?.clone()));
        named.statuses = seen.iter().filter_map(status).collect();
        if !people.is_empty() {
            people.sort_unstable();
            people.dedup();
            let there = service::account::list_visible(cx, &people).await?;
            let authors = web::authors(cx, viewer, &there).await?;
            named.people = authors.into_iter().map(|author| (author.id.into(), author)).collect();
        }
        Ok(named)
    }
}
