//! The topics of subscriptions.

use model::settings::ServerFeed;
use model::{AccountId, RowId};
use service::feed_access::Part;
use store::feed::{Feed, HOME, LIST};

/// The subject of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// An account's home feed, and the events for its owner alone: filters, announcements, messages of plugins.
    User(AccountId),
    /// An account's notifications.
    Notifications(AccountId),
    /// An account's conversations.
    Direct(AccountId),
    List(RowId),
    /// A feed of a plugin.
    Feed(Feed),
    /// The public timeline, or a part of it.
    Public(Public),
    /// The public statuses with a hashtag, by its normal form.
    Tag {
        name: String,
        local: bool,
    },
    /// The messages of a plugin to a topic that it names.
    Messages(String),
}

/// A part of the public timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Public {
    /// `None`: all statuses; else only statuses of this server, or only statuses of other servers.
    pub(crate) local: Option<bool>,
    /// Only statuses with media.
    pub(crate) media: bool,
}

impl Topic {
    pub(crate) fn of_feed(feed: Feed) -> Self {
        match feed.kind {
            HOME => Self::User(feed.owner.into()),
            LIST => Self::List(feed.owner.into()),
            _ => Self::Feed(feed),
        }
    }

    /// The feed whose statuses the topic shows, if it shows one.
    pub(crate) fn feed(&self) -> Option<Feed> {
        match self {
            Self::User(account) => Some(Feed::home(*account)),
            Self::List(list) => Some(Feed::list(*list)),
            Self::Feed(feed) => Some(*feed),
            Self::Notifications(_) | Self::Direct(_) | Self::Public(_) | Self::Tag { .. } | Self::Messages(_) => None,
        }
    }

    /// The feed of the whole server that the topic shows, if it shows one.
    pub(crate) fn server_feed(&self) -> Option<ServerFeed> {
        match self {
            Self::Public(_) => Some(ServerFeed::Live),
            Self::Tag { .. } => Some(ServerFeed::Topic),
            Self::User(_)
            | Self::Notifications(_)
            | Self::Direct(_)
            | Self::List(_)
            | Self::Feed(_)
            | Self::Messages(_) => None,
        }
    }

    /// The part of that feed.
    pub(crate) fn part(&self) -> Part {
        let remote = matches!(self, Self::Public(Public { local: Some(false), .. }));
        Part::new(self.is_local(), remote)
    }

    /// True when only statuses of this server are shown, so that blocked domains do not matter.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Public(Public { local: Some(true), .. }) | Self::Tag { local: true, .. })
    }
}

impl Public {
    /// The parts of the public timeline that show a status.
    pub(crate) fn parts(local: bool, has_media: bool) -> impl Iterator<Item = Self> {
        let media: &[bool] = if has_media { &[false, true] } else { &[false] };
        [None, Some(local)].into_iter().flat_map(|local| media.iter().map(move |media| Self { local, media: *media }))
    }
}
