//! Values in the payloads of jobs, and how jobs begin.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::kinds::{
    CarryOver, DeleteOldStatuses, MaintainFeeds, PruneCards, PruneRemoteAccounts, PruneRemoteFiles,
    PruneRemoteStatuses, PruneUnused, ReconcileHome, ReconcileList, SeverDomain, TrimFeeds,
};
use model::remote_file::RemoteFileKind;
use model::retention::UnusedPart;
use model::{AccountId, RowId, ScheduledStatusId, StatusId};

/// What other servers are sent by [`Distribute`](super::kinds::Distribute).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// A new status or reblog.
    Published(StatusId),
    /// The edit of a status.
    Edited(StatusId),
    /// The votes of the poll of a status.
    Tally(StatusId),
    /// The change of a profile.
    Profile(AccountId),
    /// The request of a local account to quote a remote status, or to reply to it.
    Requested(RowId),
}

impl Distribution {
    pub(super) fn key(self) -> String {
        match self {
            Self::Published(status) => format!("published-{status}"),
            Self::Edited(status) => format!("edited-{status}"),
            Self::Tally(status) => format!("tally-{status}"),
            Self::Profile(account) => format!("profile-{account}"),
            Self::Requested(request) => format!("requested-{request}"),
        }
    }
}

/// The relationships with an account that moved, in the order in which they are carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarriedPart {
    Notes,
    Mutes,
    Blocks,
    /// Follows, with the lists that contain the account.
    Follows,
}

impl CarriedPart {
    /// The part after this one; `None` after the last.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Notes => Some(Self::Mutes),
            Self::Mutes => Some(Self::Blocks),
            Self::Blocks => Some(Self::Follows),
            Self::Follows => None,
        }
    }
}

impl CarryOver {
    /// The beginning of the work for a move.
    #[must_use]
    pub fn new(moved: RowId) -> Self {
        Self { moved, part: CarriedPart::Notes, after: AccountId::from(0) }
    }
}

/// The kinds of e-mail that jobs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Confirm an e-mail address.
    Confirm,
    /// Reset a password.
    Reset,
    /// A sign-up was approved.
    Approved,
    /// A scheduled status was not published.
    ScheduleFailed(ScheduledStatusId),
    /// Moderators warned the account, or took action on it.
    Warning(RowId),
    /// An appeal was approved or rejected.
    AppealDecided(RowId),
    /// There is a new version of the terms of service.
    Terms(RowId),
}

/// Most statuses in a plugin's feed.
pub const PLUGIN_FEED_LENGTH: i64 = 1_000;

impl ReconcileHome {
    /// Most authors of one job, so that its transaction is short.
    const MOST: usize = 40;

    /// The jobs for `authors`.
    #[must_use]
    pub fn in_parts(account: AccountId, authors: &[AccountId]) -> Vec<Self> {
        authors.chunks(Self::MOST).map(|authors| Self { account, authors: authors.to_vec() }).collect()
    }
}

impl ReconcileList {
    /// Most members of one job, so that its transaction is short.
    const MOST: usize = 40;

    /// The jobs for `members`.
    #[must_use]
    pub fn in_parts(list: RowId, members: &[AccountId]) -> Vec<Self> {
        members.chunks(Self::MOST).map(|members| Self { list, members: members.to_vec() }).collect()
    }
}

impl SeverDomain {
    #[must_use]
    pub fn begin(account: AccountId, domain: String) -> Self {
        Self { account, domain, after: AccountId::from(0), followers: 0, following: 0 }
    }
}

impl TrimFeeds {
    /// Delay between an insertion into a feed and its trimming: trimming does not run in the transaction that fills
    /// up to ten thousand feeds.
    pub const DELAY: TimeDelta = TimeDelta::minutes(10);
}

impl DeleteOldStatuses {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self { account: AccountId::from(0), after: StatusId::from(0) }
    }
}

impl PruneRemoteFiles {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self { kind: RemoteFileKind::Avatar, after: 0 }
    }
}

impl PruneRemoteStatuses {
    /// Starts a pass over all statuses.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: StatusId::from(0), begun_at: 0 }
    }
}

impl PruneRemoteAccounts {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: AccountId::from(0) }
    }
}

impl PruneUnused {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self::of(UnusedPart::Conversations)
    }

    /// Starts with `part`.
    #[must_use]
    pub fn of(part: UnusedPart) -> Self {
        Self { part, after: 0, after_name: String::new() }
    }
}

impl PruneCards {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: RowId::from(0) }
    }
}

impl MaintainFeeds {
    /// Starts a new pass.
    #[must_use]
    pub fn begin() -> Self {
        Self { after: AccountId::from(0) }
    }
}
