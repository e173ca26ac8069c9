//! Notification groups: pages of them, single groups, the accounts behind one.
//!
//! Reached from `/api/v2/notifications`. Notifications receive the key of their group when they are created. A
//! notification without a group, or of a type that the client does not want grouped, forms a separate group with the
//! key `ungrouped-ID`.
//!
//! Spec: docs/contract/rules.md#13-notifications.

use std::collections::{HashMap, HashSet};

use super::{VisibleNotification, types, unread, with_statuses};
use context::Cx;
use context::error::{Error, Result};
use model::notification::NotificationKind;
use model::relationship::Listed;
use model::{Actor, Cursor, NotificationId, NotificationType, Time};
use store::notification::groups::{self as rows, GroupExtent, GroupHead};
use store::notification::{NotificationFilter, NotificationRow, list};

/// Most notifications of a group whose accounts are shown with it.
const SAMPLES: i64 = 8;
/// Prefix of the keys of ungrouped notifications.
const UNGROUPED: &str = "ungrouped-";

/// A filter of groups.
#[derive(Clone, Debug)]
pub struct GroupFilter {
    pub notifications: NotificationFilter,
    /// The types to group.
    pub grouped: Vec<NotificationKind>,
}

/// A group that its receiver may see.
#[derive(Clone, Debug)]
pub struct Group {
    /// `None` for an ungrouped notification.
    pub key: Option<String>,
    pub newest: VisibleNotification,
    /// Its newest notifications, including `newest` as the first.
    pub samples: Vec<NotificationRow>,
    /// The number of its notifications.
    pub count: i64,
    /// Its notifications on the page; `None` for a group that was requested by its key.
    pub on_page: Option<OnPage>,
}

/// The notifications of a group that are on a page.
#[derive(Clone, Copy, Debug)]
pub struct OnPage {
    pub min_id: NotificationId,
    pub max_id: NotificationId,
    /// The time of the latest one.
    pub latest_at: Time,
}

/// The key of a group, as clients send it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    One(NotificationId),
    Group(String),
}

impl Key {
    /// `None` for an invalid key.
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(UNGROUPED) {
            Some(id) => id.parse().ok().map(Self::One),
            None => (!text.contains('\0')).then(|| Self::Group(text.to_owned())),
        }
    }
}

/// The key of an ungrouped notification.
#[must_use]
pub fn ungrouped(id: NotificationId) -> String {
    format!("{UNGROUPED}{id}")
}

/// The types that may be grouped: some of the server's own, and the types that plugins declare as groupable.
#[must_use]
pub fn groupable_types(cx: &Cx) -> Vec<NotificationKind> {
    let groupable = |kind: &NotificationKind| match kind {
        NotificationKind::Core(kind) => NotificationType::is_groupable(*kind),
        NotificationKind::Plugin(name) => cx.extensions().notification_type(name).is_some_and(|kind| kind.groupable),
    };
    types(cx).into_iter().filter(groupable).collect()
}

/// A page of the viewer's groups, newest first: the ids of their positions, for the cursors, and the visible groups.
///
/// The position of a group is its newest notification within the cursor, so a group may be on several pages.
#[model::use_case]
pub async fn page(cx: &Cx, viewer: &Actor, wanted: &GroupFilter, cursor: &Cursor) -> Result<(Vec<i64>, Vec<Group>)> {
    let (heads, whole) = heads(cx, viewer, wanted, cursor).await?;
    let ids: Vec<i64> = heads.iter().map(|head| head.newest.notification.id.into()).collect();
    let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return Ok((Vec::new(), Vec::new())) };
    // The last page extends to its end, so that its last group covers all its notifications
    // (docs/contract/rules.md#13-notifications).
    let newest = if !whole && cursor.ascending() { cursor.before().saturating_sub(1) } else { first };
    let oldest = if whole || cursor.ascending() { last } else { cursor.after().saturating_add(1) };
    Ok((ids, load(cx, viewer, heads, Some((oldest, newest))).await?))
}

/// The groups of a page by their heads, and whether the page is full.
async fn heads(cx: &Cx, viewer: &Actor, wanted: &GroupFilter, cursor: &Cursor) -> Result<(Vec<GroupHead>, bool)> {
    let filter = &wanted.notifications;
    if filter.types.is_empty() || cursor.limit == 0 {
        return Ok((Vec::new(), true));
    }
    let full = |read: usize| i64::try_from(read).is_ok_and(|read| read >= cursor.limit);
    if filter.from.is_none() {
        let heads = rows::heads(&cx.db, viewer.id, filter, &wanted.grouped, cursor).await?;
        let whole = full(heads.len());
        return Ok((heads, whole));
    }
    // A sender is rarely twice in a group: reads a page of notifications, of which the newest represent their groups.
    let page = list::page(&cx.db, viewer.id, filter, cursor).await?;
    let whole = full(page.len());
    let mut met = HashSet::new();
    let heads = page.into_iter().filter_map(|newest| {
        let notification = &newest.notification;
        let key = notification.group_key.as_ref().filter(|_| wanted.grouped.contains(&notification.kind));
        let new = key.is_none_or(|key| met.insert(key.clone()));
        let grouped = key.is_some();
        new.then_some(GroupHead { newest, grouped })
    });
    Ok((heads.collect(), whole))
}

/// The number of the viewer's groups after the marker, capped at `limit`.
#[model::use_case]
pub async fn count_unread(cx: &Cx, viewer: &Actor, wanted: &GroupFilter, limit: i64) -> Result<usize> {
    let filter = &wanted.notifications;
    if filter.types.is_empty() || limit == 0 {
        return Ok(0);
    }
    let unread = unread(cx, viewer, limit).await?;
    if filter.from.is_some() {
        return Ok(heads(cx, viewer, wanted, &unread).await?.0.len());
    }
    let count = rows::count(&cx.db, viewer.id, filter, &wanted.grouped, &unread).await?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// One of the viewer's groups; `ungrouped-ID` is a single notification of the viewer.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, someone else's, or about something no longer visible.
#[model::use_case]
pub async fn show(cx: &Cx, viewer: &Actor, key: &str) -> Result<Group> {
    let head = match Key::parse(key).ok_or(Error::NotFound)? {
        Key::One(id) => one(cx, viewer, id).await?.map(|newest| GroupHead { newest, grouped: false }),
        Key::Group(key) => {
            let newest = rows::samples(&cx.db, viewer.id, &[key], i64::MAX, 1).await?.pop();
            newest.map(|newest| GroupHead { newest, grouped: true })
        }
    };
    let head = head.filter(|head| types(cx).contains(&head.newest.notification.kind)).ok_or(Error::NotFound)?;
    load(cx, viewer, vec![head], None).await?.pop().ok_or(Error::NotFound)
}

/// One of the viewer's notifications, ungrouped.
async fn one(cx: &Cx, viewer: &Actor, id: NotificationId) -> Result<Option<NotificationRow>> {
    Ok(store::notification::find(&cx.db, viewer.id, id, &types(cx)).await?)
}

/// The groups of `heads`, with their notifications on a page of these ids (oldest and newest).
async fn load(cx: &Cx, viewer: &Actor, heads: Vec<GroupHead>, range: Option<(i64, i64)>) -> Result<Vec<Group>> {
    let (oldest, newest) = range.unwrap_or((i64::MIN, i64::MAX));
    let keys: Vec<String> = heads.iter().filter_map(key).collect();
    let extents =
        if keys.is_empty() { Vec::new() } else { rows::extents(&cx.db, viewer.id, &keys, oldest, newest).await? };
    // Most groups have one member, which is loaded already.
    let several: Vec<String> =
        extents.iter().filter(|extent| extent.members > 1).map(|extent| extent.group_key.clone()).collect();
    let samples = if several.is_empty() {
        Vec::new()
    } else {
        rows::samples(&cx.db, viewer.id, &several, newest, SAMPLES).await?
    };
    let mut parts = Parts::new(samples, extents);
    let shown = with_statuses(cx, viewer, heads.iter().map(|head| head.newest.clone()).collect()).await?;
    let mut shown: HashMap<NotificationId, VisibleNotification> =
        shown.into_iter().map(|shown| (shown.listed.notification.id, shown)).collect();
    let groups = heads.into_iter().filter_map(|head| {
        let newest = shown.remove(&head.newest.notification.id)?;
        Some(parts.group(&head, newest, range.is_some()))
    });
    Ok(groups.collect())
}

/// The key of the group that `head` represents; `None` for an ungrouped notification.
fn key(head: &GroupHead) -> Option<String> {
    head.newest.notification.group_key.clone().filter(|_| head.grouped)
}

/// The data for groups, by their keys.
struct Parts {
    /// The newest members of groups with several, the newest first.
    samples: HashMap<String, Vec<NotificationRow>>,
    extents: HashMap<String, GroupExtent>,
}

impl Parts {
    fn new(rows: Vec<NotificationRow>, extents: Vec<GroupExtent>) -> Self {
        let mut samples = HashMap::<String, Vec<NotificationRow>>::new();
        for row in rows {
            if let Some(key) = &row.notification.group_key {
                samples.entry(key.clone()).or_default().push(row);
            }
        }
        for samples in samples.values_mut() {
            samples.sort_unstable_by_key(|row| std::cmp::Reverse(row.notification.id));
        }
        let extents = extents.into_iter().map(|extent| (extent.group_key.clone(), extent)).collect();
        Self { samples, extents }
    }

    fn group(&mut self, head: &GroupHead, newest: VisibleNotification, paged: bool) -> Group {
        let key = key(head);
        let extent = key.as_ref().and_then(|key| self.extents.get(key));
        let samples = key.as_ref().and_then(|key| self.samples.remove(key));
        let notification = &newest.listed.notification;
        let on_page = OnPage {
            min_id: extent.and_then(|extent| extent.first_id).unwrap_or(notification.id),
            max_id: notification.id,
            latest_at: notification.created_at,
        };
        let count = extent.map_or(1, |extent| extent.members.max(1));
        let samples = samples.unwrap_or_else(|| vec![newest.listed.clone()]);
        Group { key, on_page: paged.then_some(on_page), newest, samples, count }
    }
}

/// A page of the accounts behind one of the actor's groups; empty for a missing group. An account with several
/// notifications in it appears once.
#[model::use_case]
pub async fn accounts(cx: &Cx, actor: &Actor, key: &str, cursor: &Cursor) -> Result<Vec<Listed>> {
    let mut listed = match Key::parse(key) {
        None => return Ok(Vec::new()),
        Some(Key::Group(key)) if cursor.limit > 0 => rows::accounts(&cx.db, actor.id, &key, cursor).await?,
        Some(Key::Group(_)) => Vec::new(),
        Some(Key::One(id)) => {
            let within = i64::from(id) < cursor.before() && i64::from(id) > cursor.after() && cursor.limit > 0;
            let row = if within { one(cx, actor, id).await? } else { None };
            let listed = |NotificationRow { notification, from_version }| Listed {
                row_id: i64::from(notification.id).into(),
                account_id: notification.from_account_id,
                version: from_version,
                hidden: false,
            };
            row.map(listed).into_iter().collect()
        }
    };
    let mut met = HashSet::new();
    for row in &mut listed {
        row.hidden |= !met.insert(row.account_id);
    }
    Ok(listed)
}

/// Removes one of the actor's groups with all its notifications; not an error when there is none.
#[model::use_case]
pub async fn dismiss(cx: &Cx, actor: &Actor, key: &str) -> Result<()> {
    let Some(key) = Key::parse(key) else { return Ok(()) };
    let mut tx = cx.db.begin().await?;
    match key {
        Key::One(id) => store::notification::delete(&mut tx, actor.id, id).await.map(drop)?,
        Key::Group(key) => rows::delete(&mut tx, actor.id, &key).await?,
    }
    Ok(tx.commit().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_a_notification_or_a_group() {
        assert_eq!(Key::parse("ungrouped-5"), Some(Key::One(5.into())));
        assert_eq!(Key::parse("ungrouped-five"), None);
        assert_eq!(Key::parse("follow-490000"), Some(Key::Group("follow-490000".to_owned())));
        assert_eq!(Key::parse("a\0b"), None);
    }
}
