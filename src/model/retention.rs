//! Why statuses and accounts of other servers stay here beyond their age.
//!
//! Spec: docs/contract/rules.md#28-defaults-of-settings

use super::text_enum;

text_enum! {
    /// The reason that keeps an old status of another server. Reasons from `answered` on are settings.
    StatusKeepReason {
        /// It boosts or quotes a status of this server, whose counters include it.
        Own = "own",
        /// It is pinned to the profile of its author.
        Pinned = "pinned",
        /// A report or a strike names it.
        Reported = "reported",
        /// A direct or limited status that an account of this server is addressed by.
        Direct = "direct",
        /// An account of this server voted in its poll.
        Voted = "voted",
        /// A plugin stores a row about it for an account of this server.
        Plugin = "plugin",
        /// An account of this server wrote in its thread.
        Answered = "answered",
        /// An account of this server marked it as a favourite.
        Favourited = "favourited",
        /// An account of this server boosted it.
        Boosted = "boosted",
        /// An account of this server bookmarked it.
        Bookmarked = "bookmarked",
        /// A status of this server quotes it, or refers to it.
        Quoted = "quoted",
        /// It mentions an account of this server.
        Mentioned = "mentioned",
        /// An account of this server follows its author.
        Followed = "followed",
    }
}

text_enum! {
    /// The reason that keeps an old account of another server.
    AccountKeepReason {
        /// It was fetched, or sent something, within the time.
        Recent = "recent",
        /// Statuses of it are here.
        Statuses = "statuses",
        /// It marked statuses, voted, or is mentioned.
        Marks = "marks",
        /// A follow, block, mute, note, list or recommendation names it.
        Related = "related",
        /// Notifications come from it.
        Notified = "notified",
        /// The staff decided about it, or reports name it.
        Moderated = "moderated",
        /// It moved, or another account moved to it.
        Moved = "moved",
        /// It is the actor of a relay, or named by a link preview.
        Used = "used",
        /// A plugin stores a row about it.
        Plugin = "plugin",
    }
}

text_enum! {
    /// Rows without use that a job deletes, in the order of its walk.
    UnusedPart {
        /// Threads without statuses.
        Conversations = "conversations",
        /// Hashtags without use and without a decision.
        Tags = "tags",
        /// Applications that no account signed in with.
        Applications = "applications",
        /// Publishers of links without a decision.
        Publishers = "publishers",
        /// Servers without accounts here.
        Servers = "servers",
        /// Hosts whose last failure is long ago.
        Hosts = "hosts",
    }
}

impl UnusedPart {
    /// The part after this one; `None` after the last.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        Self::ALL.iter().copied().find(|part| *part > self)
    }
}
