//! <https://docs.joinmastodon.org/entities/List/>

use serde::Serialize;

use super::Fragment;
use crate::error::Result;
use model::RowId;

/// A list.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct List<'a> {
    pub id: RowId,
    pub title: &'a str,
    pub replies_policy: &'a str,
    pub exclusive: bool,
    pub notify: bool,
}

/// Renders lists.
pub fn render(lists: &[store::list::List]) -> Result<Vec<Fragment>> {
    let shown = lists.iter().map(|list| List {
        id: list.id,
        title: &list.title,
        replies_policy: &list.replies_policy,
        exclusive: list.exclusive,
        notify: list.notify,
    });
    shown.map(|list| Fragment::of(&list)).collect()
}
