//! What other servers are sent about a change, as rows of [`kinds`](super::kinds) state it.
//!
//! Names what happened; `federation` decides whether another server is concerned, and makes the activity. A new form
//! needs an arm in `federation::deliver::record`.

use crate::queue::Distribution;
use model::{AccountId, InteractionKind, RowId, StatusId};

/// A change that may concern other servers.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// A document that a job renders, and for which it finds the recipients.
    Distribute(Distribution),
    /// A status, or a reblog, of this server was deleted.
    Deleted { status: StatusId, author: AccountId, reblog: bool },
    /// A profile changed.
    Profile(AccountId),
    /// `account` moved to `target`. `id`: the row of the move.
    Moved { account: AccountId, target: AccountId, id: RowId },
    /// A report is to be forwarded to other servers.
    Reported(RowId),
    /// The removal of an account began.
    AccountRemoved(AccountId),
    /// `account` follows `target`.
    Followed { account: AccountId, target: AccountId },
    /// `account` requested to follow `target`.
    FollowRequested { account: AccountId, target: AccountId },
    /// A follow or a request for one ended. `uri`: the activity, if it came from another server.
    FollowEnded { account: AccountId, target: AccountId, follow: RowId, uri: Option<String> },
    /// `account` blocked `target`.
    Blocked { account: AccountId, target: AccountId },
    /// A block ended. `block`: its row.
    Unblocked { account: AccountId, target: AccountId, block: RowId },
    /// A status was marked as a favourite, or no longer is (`undone`). `favourite`: its row.
    Favourite { account: AccountId, status: StatusId, favourite: Option<RowId>, undone: bool },
    /// An interaction with a status needs the approval of its author.
    InteractionRequested(RowId),
    /// The author of a status accepted or rejected an interaction.
    InteractionDecided(RowId),
    /// A policy forbade the interaction `uri` by an account of another server. `request`: the activity that requested it.
    InteractionRefused {
        kind: InteractionKind,
        target: StatusId,
        account: AccountId,
        uri: String,
        request: Option<String>,
    },
    /// The author of a status took back the authorization of an interaction.
    AuthorizationRevoked(RowId),
    /// Someone voted in a poll. `choices`: the positions of the options.
    Voted { account: AccountId, status: StatusId, choices: Vec<i64> },
    /// The poll of a status ended.
    PollEnded(StatusId),
    /// A status was pinned to a profile (`added`), or unpinned.
    Pin { account: AccountId, status: StatusId, added: bool },
    /// A hashtag is featured on a profile (`added`), or no longer is. `name`: in normal form.
    FeaturedTag { account: AccountId, name: String, added: bool },
}
