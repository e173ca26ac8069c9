//! Members that extensions add to rendered entities.

use async_trait::async_trait;

use super::members::Decorations;
use crate::Cx;
use model::{Actor, text_enum};

text_enum! {
    /// A kind of entity that extensions add members to, by its name in manifests.
    Entity {
        Status = "status",
        Account = "account",
        Notification = "notification",
        /// A group of notifications.
        NotificationGroup = "notification_group",
        List = "list",
        /// A status that may trend. Not an entity of the API; its only member is `weight`.
        Trend = "trend",
    }
}

/// Members that extensions add to entities. The default of every method is the behaviour of a server without
/// extensions.
#[async_trait]
pub trait Decorate {
    /// True when some extension adds members to entities of `kind`, or weight to trends.
    fn decorates(&self, _kind: Entity) -> bool {
        false
    }

    /// The members that extensions add to `targets`, which are of `kind`, for `viewer`. With `versions`, one for each
    /// target, the result may come from a cache.
    ///
    /// For an [`Entity::NotificationGroup`] every sample of a group is a target, adjacent and newest first, with the
    /// `id` of the newest: the members of the first are added to the group.
    ///
    /// An [`Entity::Trend`] is a status that may trend: its member `weight` is added to its reblogs and favourites.
    async fn decorate(
        &self,
        _cx: &Cx,
        _viewer: Option<&Actor>,
        _kind: Entity,
        _targets: Vec<Target>,
        _versions: &[Versions],
    ) -> Decorations {
        Decorations::default()
    }
}

/// An entity of a response that extensions may add members to.
#[derive(Clone, Debug)]
pub struct Target {
    /// The entity's id; for a sample of a group, the id of the group's newest notification.
    pub id: i64,
    /// The account that owns it.
    pub owner: i64,
    /// For a notification, also as a sample: the status.
    pub subject: Option<i64>,
    /// For a notification: the id of the row that caused it.
    pub activity: Option<i64>,
    /// For a notification: its type.
    pub code: String,
}

/// The row versions of a status and of its author: the key of cached members.
#[derive(Clone, Copy, Debug, Default)]
pub struct Versions {
    pub status: i64,
    pub author: i64,
}
