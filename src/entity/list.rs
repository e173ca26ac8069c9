//! <https://docs.joinmastodon.org/entities/List/>

use std::collections::HashMap;

use serde::Serialize;

use context::Cx;
use context::error::{Error, Result};
use context::extension::{Entity, Target};
use context::json::Fragment;
use model::list::RepliesPolicy;
use model::{AccountId, Actor, RowId};

/// The member names of a list.
pub(super) const MEMBERS: &[&str] = &["id", "title", "replies_policy", "exclusive", "notify"];

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct List<'a> {
    pub id: RowId,
    pub title: &'a str,
    pub replies_policy: RepliesPolicy,
    pub exclusive: bool,
    pub notify: bool,
}

impl<'a> From<&'a store::list::List> for List<'a> {
    fn from(list: &'a store::list::List) -> Self {
        Self {
            id: list.id,
            title: &list.title,
            replies_policy: list.replies_policy,
            exclusive: list.exclusive,
            notify: list.notify,
        }
    }
}

/// Renders lists of `viewer`, in the order given, with what extensions add.
pub async fn render(cx: &Cx, viewer: &Actor, lists: &[store::list::List]) -> Result<Vec<Fragment>> {
    let mut rendered: Vec<Fragment> =
        lists.iter().map(|list| Fragment::of(&List::from(list))).collect::<Result<_>>()?;
    if !lists.is_empty() && cx.extensions().decorates(Entity::List) {
        let target = |list: &store::list::List| Target {
            id: list.id.into(),
            owner: list.account_id.into(),
            subject: None,
            activity: None,
            code: String::new(),
        };
        let targets = lists.iter().map(target).collect();
        let decorations = cx.extensions().decorate(cx, Some(viewer), Entity::List, targets, &[]).await;
        for (index, list) in rendered.iter_mut().enumerate() {
            if let Some(members) = decorations.of(index) {
                *list = Fragment::from_json(&members.added_to(list.as_str()));
            }
        }
    }
    Ok(rendered)
}

/// Renders one list.
///
/// # Errors
/// When it cannot be serialised, which is a bug.
pub async fn render_one(cx: &Cx, viewer: &Actor, list: &store::list::List) -> Result<Fragment> {
    render(cx, viewer, std::slice::from_ref(list)).await?.pop().ok_or(Error::NotFound)
}

/// The lists of `viewer` that are the subjects of `list_status` notifications, by their activities. No statement when
/// there are none.
pub async fn of_notifications(cx: &Cx, viewer: &Actor, activities: &[i64]) -> Result<HashMap<i64, Fragment>> {
    if activities.is_empty() {
        return Ok(HashMap::new());
    }
    let (activities, lists): (Vec<i64>, Vec<store::list::List>) =
        store::list::list_noticed(&cx.db, activities).await?.into_iter().map(|row| (row.activity, row.list)).unzip();
    Ok(activities.into_iter().zip(render(cx, viewer, &lists).await?).collect())
}

/// As [`of_notifications`], for many owners. One statement for all of them, and one call to extensions for each of
/// `owners` if any adds members to lists.
pub(super) async fn of_each(cx: &Cx, owners: &[&Actor], activities: &[i64]) -> Result<HashMap<i64, Fragment>> {
    if activities.is_empty() {
        return Ok(HashMap::new());
    }
    let mut of_owners: HashMap<AccountId, (Vec<i64>, Vec<store::list::List>)> = HashMap::new();
    for row in store::list::list_noticed(&cx.db, activities).await? {
        let (activities, lists) = of_owners.entry(row.list.account_id).or_default();
        activities.push(row.activity);
        lists.push(row.list);
    }
    let mut rendered = HashMap::new();
    for owner in owners {
        if let Some((activities, lists)) = of_owners.remove(&owner.id) {
            rendered.extend(activities.into_iter().zip(render(cx, owner, &lists).await?));
        }
    }
    Ok(rendered)
}
