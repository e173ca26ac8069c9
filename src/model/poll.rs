//! Polls.

use super::{PollId, StatusId, Time};

/// A row of the polls table; options are stored in a separate table.
#[derive(Clone, Debug, PartialEq, Eq, crate::Row)]
#[row(table = "polls", alias = "p")]
pub struct Poll {
    pub id: PollId,
    pub status_id: StatusId,
    /// Several options may be chosen.
    pub multiple: bool,
    /// The votes of each option are shown only after the end.
    pub hide_totals: bool,
    /// `None`: a remote poll without an end.
    pub expires_at: Option<Time>,
    /// Number of voters; `None`: a remote poll whose server does not send it.
    pub voters_count: Option<i64>,
    pub created_at: Time,
}

impl Poll {
    /// True at and after its end.
    #[must_use]
    pub fn has_ended(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}
