//! Notifications of listed accounts, and what collections add to notifications and accounts.

use std::collections::HashMap;

use rookery_plugin::core_write::NewNotification;
use rookery_plugin::prelude::*;

use crate::entity::{Collection, CollectionRow};
use crate::sql;

/// The activity is an item.
const ADDED: &str = "added_to_collection";
/// The activity is a collection: a later change replaces the notification of the one before.
const UPDATED: &str = "collection_update";

/// Notifies accounts of their new `items`: pairs of item and account.
pub(crate) fn added(owner: Id, items: &[(i64, i64)]) -> Result<()> {
    notify(items.iter().map(|(item, account)| notification(owner, *account, ADDED, *item)).collect())
}

/// Notifies all accounts of a collection that it changed.
pub(crate) fn updated(owner: Id, collection: Id) -> Result<()> {
    core_write::retract(UPDATED, &[collection])?;
    let items: Vec<(i64, i64)> = sql::listed_in(collection).all()?;
    notify(items.into_iter().map(|(_, account)| notification(owner, account, UPDATED, collection.0)).collect())
}

/// Deletes the notifications of deleted items.
pub(crate) fn retract(items: &[Id]) -> Result<()> {
    if !items.is_empty() {
        core_write::retract(ADDED, items)?;
    }
    Ok(())
}

/// Deletes all notifications of a collection, before it is deleted itself.
pub(crate) fn retract_all(collection: Id) -> Result<()> {
    let items: Vec<(Id, Id)> = sql::listed_in(collection).all()?;
    retract(&items.into_iter().map(|(item, _)| item).collect::<Vec<_>>())?;
    core_write::retract(UPDATED, &[collection])?;
    Ok(())
}

fn notification(from: Id, to: i64, kind: &str, activity: i64) -> NewNotification {
    NewNotification { to, from: from.0, kind: kind.to_owned(), activity, status: None }
}

/// Ignores the hourly limit of notifications, over which a receiver gets none: the change itself succeeds.
fn notify(mut items: Vec<NewNotification>) -> Result<()> {
    items.retain(|item| item.to != item.from);
    if items.is_empty() {
        return Ok(());
    }
    match core_write::notify(&items) {
        Err(error) if error.status() == 429 => Ok(()),
        done => done.map(|_| ()),
    }
}

/// `Notification.collection`
#[on(decorate, kind = "notification")]
fn notifications(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    collections(viewer, targets)
}

/// The same for groups. Both types are not groupable, so that each group has one notification.
#[on(decorate, kind = "notification_group")]
fn notification_groups(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    collections(viewer, targets)
}

fn collections(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let activities = |kind: &str| -> Vec<i64> {
        targets.iter().filter(|target| target.code == kind).filter_map(|target| target.activity).collect()
    };
    let (items, mut ids) = (activities(ADDED), activities(UPDATED));
    let of_items: HashMap<i64, i64> = match items.is_empty() {
        true => HashMap::new(),
        false => sql::collections_of_items(items).all::<(i64, i64)>()?.into_iter().collect(),
    };
    ids.extend(of_items.values());
    let mut extras = Extras::new();
    if ids.is_empty() {
        return Ok(extras);
    }
    let rows: Vec<CollectionRow> = sql::collections_by_id(ids, viewer).all()?;
    let rendered = Collection::render(&rows, viewer)?;
    let by_id: HashMap<i64, &Collection> = rows.iter().map(|row| row.id.0).zip(&rendered).collect();
    for (index, target) in targets.iter().enumerate() {
        let id = match target.code.as_str() {
            ADDED => target.activity.and_then(|item| of_items.get(&item).copied()),
            UPDATED => target.activity,
            _ => None,
        };
        if let Some(collection) = id.and_then(|id| by_id.get(&id)) {
            extras.set(index, "collection", collection)?;
        }
    }
    Ok(extras)
}

/// <https://docs.joinmastodon.org/entities/FeatureApproval/>
#[derive(Serialize)]
struct FeatureApproval {
    automatic: &'static [&'static str],
    manual: [&'static str; 0],
    current_user: &'static str,
}

#[derive(Row)]
struct Policy {
    id: i64,
    local: bool,
    discoverable: bool,
    locked: bool,
}

impl From<&Policy> for FeatureApproval {
    /// Accounts are rendered alike for every viewer, so that whether the viewer follows a locked account is `unknown`.
    fn from(policy: &Policy) -> Self {
        let (automatic, current_user): (&[&str], _) = match policy {
            Policy { local: false, .. } => (&[], "missing"),
            Policy { discoverable: false, .. } => (&[], "denied"),
            Policy { locked: true, .. } => (&["followers"], "unknown"),
            Policy { .. } => (&["public"], "automatic"),
        };
        Self { automatic, manual: [], current_user }
    }
}

/// `Account.feature_approval`: who may list the account.
#[on(decorate, kind = "account")]
fn accounts(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let policies: Vec<Policy> = sql::policies(ids).all()?;
    let by_id: HashMap<i64, &Policy> = policies.iter().map(|policy| (policy.id, policy)).collect();
    let mut extras = Extras::new();
    for (index, target) in targets.iter().enumerate() {
        if let Some(policy) = by_id.get(&target.id) {
            extras.set(index, "feature_approval", &FeatureApproval::from(*policy))?;
        }
    }
    Ok(extras)
}
