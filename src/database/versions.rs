//! When rows last changed, as known to this process, so that values read from them can be cached.
//!
//! SQLite only, where one process writes: its connection reports every changed row of the tables below, so that no
//! statement can be missed. Writes of another process (the command line) are detected by
//! [`Db::notice_other_processes`](crate::Db::notice_other_processes). Readers get [`Versions::now`] before they read
//! and check [`Versions::is_current`] before they use a cached value. Ids share slots, so that the check may fail
//! unnecessarily, but never succeeds wrongly.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::{AccountId, StatusId, TokenId};

/// Slots for each kind of row.
const SLOTS: usize = 4096;

/// A source of a cached value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// The rows of an account and of its user.
    Account(AccountId),
    /// The row of a status.
    Status(StatusId),
    /// The row of a token.
    Token(TokenId),
    /// Any follow request.
    FollowRequests,
}

/// When rows last changed, counted in commits.
#[derive(Debug)]
pub struct Versions {
    now: AtomicU64,
    everything: AtomicU64,
    follow_requests: AtomicU64,
    accounts: Box<[AtomicU64]>,
    statuses: Box<[AtomicU64]>,
    tokens: Box<[AtomicU64]>,
    file: AtomicI64,
}

impl Default for Versions {
    fn default() -> Self {
        let slots = || (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        Self {
            now: AtomicU64::new(1),
            everything: AtomicU64::new(0),
            follow_requests: AtomicU64::new(0),
            accounts: slots(),
            statuses: slots(),
            tokens: slots(),
            file: AtomicI64::new(0),
        }
    }
}

/// Rows changed by the open transaction.
#[derive(Debug, Default)]
pub(crate) struct Touched(Mutex<Rows>);

#[derive(Debug, Default)]
struct Rows {
    some: Vec<Dependency>,
    everything: bool,
}

impl Touched {
    /// Called by SQLite for every row that is inserted, updated or deleted.
    pub(crate) fn note(&self, table: &str, row: i64) {
        let dependency = match table {
            "accounts" | "users" => Dependency::Account(row.into()),
            "statuses" => Dependency::Status(row.into()),
            "oauth_tokens" => Dependency::Token(row.into()),
            "follow_requests" => Dependency::FollowRequests,
            "roles" => return self.lock().everything = true,
            _ => return,
        };
        self.lock().some.push(dependency);
    }

    pub(crate) fn forget(&self) {
        *self.lock() = Rows::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Versions {
    /// The time to store before rows are read.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }

    /// True when no row of `dependencies`, and no role, has changed since `noted`.
    #[must_use]
    pub fn is_current(&self, noted: u64, dependencies: &[Dependency]) -> bool {
        let unchanged = |slot: &AtomicU64| slot.load(Ordering::Acquire) <= noted;
        unchanged(&self.everything) && dependencies.iter().all(|dependency| unchanged(self.slot(*dependency)))
    }

    fn slot(&self, dependency: Dependency) -> &AtomicU64 {
        match dependency {
            Dependency::Account(id) => slot(&self.accounts, id.into()),
            Dependency::Status(id) => slot(&self.statuses, id.into()),
            Dependency::Token(id) => slot(&self.tokens, id.into()),
            Dependency::FollowRequests => &self.follow_requests,
        }
    }

    /// Counts a commit. Called after its changes become visible, and before it is acknowledged: a reader that got the
    /// time earlier may have read the previous rows.
    pub(crate) fn touch(&self, touched: &Touched) {
        let rows = std::mem::take(&mut *touched.lock());
        if rows.some.is_empty() && !rows.everything {
            return;
        }
        let next = self.now.fetch_add(1, Ordering::AcqRel) + 1;
        for dependency in rows.some {
            self.slot(dependency).store(next, Ordering::Release);
        }
        if rows.everything {
            self.everything.store(next, Ordering::Release);
        }
    }

    /// Records the version of the file, which grows when another connection commits.
    pub(crate) fn note_file(&self, version: i64) {
        let before = self.file.swap(version, Ordering::AcqRel);
        if before != version {
            let next = self.now.fetch_add(1, Ordering::AcqRel) + 1;
            self.everything.store(next, Ordering::Release);
        }
    }
}

fn slot(slots: &[AtomicU64], id: i64) -> &AtomicU64 {
    // Ids are milliseconds and a sequence: the product spreads both over the upper bits.
    let spread = id.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros());
    &slots[usize::try_from(spread).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(versions: &Versions, table: &str, row: i64) {
        let touched = Touched::default();
        touched.note(table, row);
        versions.touch(&touched);
    }

    #[test]
    fn changed_rows_invalidate_cached_values() {
        let versions = Versions::default();
        let dependencies = [
            Dependency::Account(AccountId::from(9)),
            Dependency::Status(StatusId::from(8)),
            Dependency::Token(TokenId::from(7)),
            Dependency::FollowRequests,
        ];
        let tables =
            [("accounts", 9), ("users", 9), ("statuses", 8), ("oauth_tokens", 7), ("follow_requests", 1), ("roles", 1)];
        for (table, row) in tables {
            let noted = versions.now();
            assert!(versions.is_current(noted, &dependencies));
            touch(&versions, table, row);
            assert!(!versions.is_current(noted, &dependencies), "{table}");
            assert!(versions.is_current(versions.now(), &dependencies));
        }
    }

    #[test]
    fn other_rows_change_nothing() {
        let versions = Versions::default();
        let noted = versions.now();
        for (table, row) in [("favourites", 9), ("accounts", 10), ("statuses", 9), ("oauth_tokens", 9)] {
            touch(&versions, table, row);
        }
        let dependencies = [
            Dependency::Account(AccountId::from(9)),
            Dependency::Status(StatusId::from(8)),
            Dependency::Token(TokenId::from(7)),
        ];
        assert!(versions.is_current(noted, &dependencies));
    }

    #[test]
    fn writes_of_other_processes_make_everything_stale() {
        let versions = Versions::default();
        versions.note_file(1);
        let noted = versions.now();
        versions.note_file(1);
        assert!(versions.is_current(noted, &[]));
        versions.note_file(2);
        assert!(!versions.is_current(noted, &[]));
    }
}
