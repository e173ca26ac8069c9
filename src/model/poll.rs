//! Polls.

use super::{PollId, StatusId, Time};

/// A row of the polls table; its options are rows of their own.
#[derive(Clone, Debug, PartialEq, Eq, crate::Row)]
#[row(table = "polls", alias = "p")]
pub struct Poll {
    /// Known to clients.
    pub id: PollId,
    /// The status that it belongs to.
    pub status_id: StatusId,
    /// Several options may be chosen.
    pub multiple: bool,
    /// The votes of each option are shown after the end alone.
    pub hide_totals: bool,
    /// `None`: a remote poll that has no end.
    pub expires_at: Option<Time>,
    /// How many people voted; `None`: a remote poll whose server does not say.
    pub voters_count: Option<i64>,
    /// When it was made.
    pub created_at: Time,
}

impl Poll {
    /// True from its end on.
    #[must_use]
    pub fn has_ended(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}
