//! Bounds of a page by id.

/// Bounds of a page by id (contract rules, section 4). `min_id` wins over `since_id`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// At most so many records; 0 asks for none.
    pub limit: i64,
    /// Only ids below.
    pub max_id: Option<i64>,
    /// Only ids above, the newest of them.
    pub since_id: Option<i64>,
    /// Only ids above, the oldest of them.
    pub min_id: Option<i64>,
}

impl Cursor {
    /// The first `limit` records, without bounds.
    #[must_use]
    pub fn first(limit: i64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Ids must be below this.
    #[must_use]
    pub fn before(&self) -> i64 {
        self.max_id.unwrap_or(i64::MAX)
    }

    /// Ids must be above this.
    #[must_use]
    pub fn after(&self) -> i64 {
        self.min_id.or(self.since_id).unwrap_or(i64::MIN)
    }

    /// True when the page is the one just above `min_id`: rows are then read oldest first and turned round.
    #[must_use]
    pub fn ascending(&self) -> bool {
        self.min_id.is_some()
    }

    /// Puts rows that were read in the cursor's own direction newest first.
    #[must_use]
    pub fn newest_first<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        if self.ascending() {
            rows.reverse();
        }
        rows
    }
}
