//! Notifications by groups: pages of them, single groups, the accounts behind one.
//!
//! Reached from `/api/v2/notifications`. A group has the key that its notifications were given when they were made; a
//! notification outside of groups, or of a type that the client does not want grouped, is a group of its own with the key
//! `ungrouped-ID`.
//!
//! Spec: contract rules, section 13.

use std::collections::{HashMap, HashSet};

use super::{VisibleNotification, types, unread, with_statuses};
use crate::Cx;
use crate::error::{Error, Result};
use model::notification::NotificationKind;
use model::relationship::Listed;
use model::{Actor, Cursor, NotificationId, NotificationType, Time};
use store::notification::NotificationRow;
use store::notification::groups::{self as rows, GroupExtent, GroupHead};
use store::notification::{NotificationFilter, list};

/// Most notifications of a group whose accounts are shown with it.
const SAMPLES: i64 = 8;
/// What the keys of notifications by themselves begin with.
const UNGROUPED: &str = "ungrouped-";

/// A filter of groups.
#[derive(Clone, Debug)]
pub struct GroupFilter {
    /// The notifications.
    pub notifications: NotificationFilter,
    /// The types that are grouped.
    pub grouped: Vec<NotificationKind>,
}

/// A group that its receiver may see.
#[derive(Clone, Debug)]
pub struct Group {
    /// `None` for a notification by itself.
    pub key: Option<String>,
    /// Its newest notification.
    pub newest: VisibleNotification,
    /// Its newest notifications, that one first.
    pub samples: Vec<NotificationRow>,
    /// How many notifications it has.
    pub count: i64,
    /// What of it is on the page; `None` for a group that was requested by its key.
    pub on_page: Option<OnPage>,
}

/// The notifications of a group that are on a page.
#[derive(Clone, Copy, Debug)]
pub struct OnPage {
    /// The oldest.
    pub min_id: NotificationId,
    /// The newest.
    pub max_id: NotificationId,
    /// When that was.
    pub latest_at: Time,
}

/// The key of a group, as clients send it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    One(NotificationId),
    Group(String),
}

impl Key {
    /// `None` for what no group can have.
    fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix(UNGROUPED) {
            Some(id) => id.parse().ok().map(Self::One),
            None => (!text.contains('\0')).then(|| Self::Group(text.to_owned())),
        }
    }
}

/// The key of a notification by itself.
#[must_use]
pub fn ungrouped(id: NotificationId) -> String {
    format!("{UNGROUPED}{id}")
}

/// The types that may be grouped: some of the server's own, and those of plugins that say so.
#[must_use]
pub fn groupable_types(cx: &Cx) -> Vec<NotificationKind> {
    let groupable = |kind: &NotificationKind| match kind {
        NotificationKind::Core(kind) => NotificationType::is_groupable(*kind),
        NotificationKind::Plugin(name) => cx.extensions().notification_type(name).is_some_and(|kind| kind.groupable),
    };
    types(cx).into_iter().filter(groupable).collect()
}

/// A page of the actor's groups, newest first: the ids at which they stand, for the cursors, and the visible ones.
///
/// A group stands at its newest notification within the cursor, and may so be on several pages.
pub async fn page(cx: &Cx, actor: &Actor, wanted: &GroupFilter, cursor: &Cursor) -> Result<(Vec<i64>, Vec<Group>)> {
    let (heads, whole) = heads(cx, actor, wanted, cursor).await?;
    let (Some(first), Some(last)) = (heads.first(), heads.last()) else { return Ok((Vec::new(), Vec::new())) };
    // The last page opens to its end, so that its last group covers all its notifications (rules, section 13).
    let newest = if !whole && cursor.ascending() { cursor.before().saturating_sub(1) } else { first.id.into() };
    let oldest = if whole || cursor.ascending() { last.id.into() } else { cursor.after().saturating_add(1) };
    let ids = heads.iter().map(|head| head.id.into()).collect();
    Ok((ids, load(cx, actor, heads, Some((oldest, newest))).await?))
}

/// The groups of a page by their heads, and whether the page is full.
async fn heads(cx: &Cx, actor: &Actor, wanted: &GroupFilter, cursor: &Cursor) -> Result<(Vec<GroupHead>, bool)> {
    let filter = &wanted.notifications;
    if filter.types.is_empty() || cursor.limit == 0 {
        return Ok((Vec::new(), true));
    }
    let full = |read: usize| i64::try_from(read).is_ok_and(|read| read >= cursor.limit);
    if filter.from.is_none() {
        let heads = rows::heads(&cx.db, actor.id, filter, &wanted.grouped, cursor).await?;
        let whole = full(heads.len());
        return Ok((heads, whole));
    }
    // One sender is rarely twice in a group: a page of notifications, of which the newest stand for their groups.
    let page = list::page(&cx.db, actor.id, filter, cursor).await?;
    let whole = full(page.len());
    let mut met = HashSet::new();
    let heads = page.into_iter().map(|row| row.notification).filter_map(|row| {
        let group_key = row.group_key.filter(|_| wanted.grouped.contains(&row.kind));
        let new = group_key.as_ref().is_none_or(|key| met.insert(key.clone()));
        new.then_some(GroupHead { id: row.id, group_key })
    });
    Ok((heads.collect(), whole))
}

/// The number of the actor's groups after the marker, capped at `limit`.
pub async fn count_unread(cx: &Cx, actor: &Actor, wanted: &GroupFilter, limit: i64) -> Result<usize> {
    if wanted.notifications.types.is_empty() || limit == 0 {
        return Ok(0);
    }
    let unread = unread(cx, actor, limit).await?;
    Ok(heads(cx, actor, wanted, &unread).await?.0.len())
}

/// One of the actor's groups; `ungrouped-ID` is each of the actor's notifications by itself.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, someone else's, or about something no longer visible.
pub async fn show(cx: &Cx, actor: &Actor, key: &str) -> Result<Group> {
    let head = match Key::parse(key).ok_or(Error::NotFound)? {
        Key::One(id) => GroupHead { id, group_key: None },
        Key::Group(key) => GroupHead { id: i64::MAX.into(), group_key: Some(key) },
    };
    let group = load(cx, actor, vec![head], None).await?.pop().ok_or(Error::NotFound)?;
    let known = types(cx).contains(&group.newest.listed.notification.kind);
    if known { Ok(group) } else { Err(Error::NotFound) }
}

/// The groups of `heads`, with what stands on a page of these ids (oldest and newest).
async fn load(cx: &Cx, actor: &Actor, heads: Vec<GroupHead>, range: Option<(i64, i64)>) -> Result<Vec<Group>> {
    let (oldest, newest) = range.unwrap_or((i64::MIN, i64::MAX));
    let singles: Vec<NotificationId> =
        heads.iter().filter(|head| head.group_key.is_none()).map(|head| head.id).collect();
    let keys: Vec<String> = heads.iter().filter_map(|head| head.group_key.clone()).collect();
    let members = rows::members(&cx.db, actor.id, &singles, &keys, newest, SAMPLES).await?;
    let extents =
        if keys.is_empty() { Vec::new() } else { rows::extents(&cx.db, actor.id, &keys, oldest, newest).await? };
    let mut parts = Parts::new(members, &singles, extents);
    let whole = heads.into_iter().filter_map(|head| parts.samples(&head).map(|samples| (head, samples)));
    let whole: Vec<(GroupHead, Vec<NotificationRow>)> = whole.collect();
    let newest_rows = whole.iter().map(|(_, samples)| samples[0].clone()).collect();
    let shown = with_statuses(cx, actor, newest_rows).await?;
    let mut shown: HashMap<NotificationId, VisibleNotification> =
        shown.into_iter().map(|shown| (shown.listed.notification.id, shown)).collect();
    let groups = whole.into_iter().filter_map(|(head, samples)| {
        let newest = shown.remove(&samples[0].notification.id)?;
        Some(parts.group(head, newest, samples, range.is_some()))
    });
    Ok(groups.collect())
}

/// What groups are put together from.
struct Parts {
    singles: HashMap<NotificationId, NotificationRow>,
    grouped: HashMap<String, Vec<NotificationRow>>,
    extents: HashMap<String, GroupExtent>,
}

impl Parts {
    fn new(members: Vec<NotificationRow>, singles: &[NotificationId], extents: Vec<GroupExtent>) -> Self {
        let wanted: HashSet<NotificationId> = singles.iter().copied().collect();
        let (mut singles, mut grouped) = (HashMap::new(), HashMap::<String, Vec<NotificationRow>>::new());
        for row in members {
            match &row.notification.group_key {
                Some(key) if !wanted.contains(&row.notification.id) => {
                    grouped.entry(key.clone()).or_default().push(row);
                }
                Some(_) | None => drop(singles.insert(row.notification.id, row)),
            }
        }
        for samples in grouped.values_mut() {
            samples.sort_unstable_by_key(|row| std::cmp::Reverse(row.notification.id));
        }
        let extents = extents.into_iter().map(|extent| (extent.group_key.clone(), extent)).collect();
        Self { singles, grouped, extents }
    }

    /// The newest members of a group, never none; `None` when all are gone.
    fn samples(&mut self, head: &GroupHead) -> Option<Vec<NotificationRow>> {
        match &head.group_key {
            None => self.singles.remove(&head.id).map(|row| vec![row]),
            Some(key) => self.grouped.remove(key),
        }
    }

    fn group(&self, head: GroupHead, newest: VisibleNotification, samples: Vec<NotificationRow>, paged: bool) -> Group {
        let notification = &newest.listed.notification;
        let extent = head.group_key.as_ref().and_then(|key| self.extents.get(key));
        let on_page = OnPage {
            min_id: extent.and_then(|extent| extent.first_id).unwrap_or(notification.id),
            max_id: notification.id,
            latest_at: notification.created_at,
        };
        let count = extent.map_or(1, |extent| extent.members.max(1));
        Group { key: head.group_key, on_page: paged.then_some(on_page), newest, samples, count }
    }
}

/// A page of the accounts behind one of the actor's groups; none for a group that is not there. An account that is behind
/// several of its notifications is shown once.
pub async fn accounts(cx: &Cx, actor: &Actor, key: &str, cursor: &Cursor) -> Result<Vec<Listed>> {
    let mut listed = match Key::parse(key) {
        None => return Ok(Vec::new()),
        Some(Key::Group(key)) if cursor.limit > 0 => rows::accounts(&cx.db, actor.id, &key, cursor).await?,
        Some(Key::Group(_)) => Vec::new(),
        Some(Key::One(id)) => {
            let within = i64::from(id) < cursor.before() && i64::from(id) > cursor.after() && cursor.limit > 0;
            let row = if within { rows::members(&cx.db, actor.id, &[id], &[], 0, 0).await?.pop() } else { None };
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

/// Removes one of the actor's groups with all its notifications; no error when there is none.
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
