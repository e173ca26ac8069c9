//! Cursors for keyset pagination by id.

/// A cursor for keyset pagination by id (docs/contract/rules.md#4-pagination). `min_id` takes precedence over `since_id`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// Maximum number of records; 0 returns none.
    pub limit: i64,
    /// Only ids below this.
    pub max_id: Option<i64>,
    /// Only ids above this; the page has the newest of them.
    pub since_id: Option<i64>,
    /// Only ids above this; the page has the oldest of them.
    pub min_id: Option<i64>,
}

impl Cursor {
    /// The first `limit` records, without bounds.
    #[must_use]
    pub fn first(limit: i64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The exclusive upper bound of the ids.
    #[must_use]
    pub fn before(&self) -> i64 {
        self.max_id.unwrap_or(i64::MAX)
    }

    /// The exclusive lower bound of the ids.
    #[must_use]
    pub fn after(&self) -> i64 {
        self.min_id.or(self.since_id).unwrap_or(i64::MIN)
    }

    /// True for the page just above `min_id`: its rows are read oldest first and then reversed.
    #[must_use]
    pub fn ascending(&self) -> bool {
        self.min_id.is_some()
    }

    /// Reorders rows that were read in the cursor's direction to newest first.
    #[must_use]
    pub fn newest_first<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        if self.ascending() {
            rows.reverse();
        }
        rows
    }
}
