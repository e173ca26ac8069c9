//! The latest requests to plugins' routes, kept in development for the author's page of `rookery plugin dev`.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Requests that are kept.
const KEPT: usize = 200;

/// A request that a plugin's route answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecentRequest {
    /// Counted from 1.
    pub number: u64,
    /// Milliseconds since the epoch.
    pub at: i64,
    pub plugin: String,
    pub method: String,
    /// The path and the query string.
    pub path: String,
    /// The status of the response.
    pub status: u16,
    /// Microseconds until the response was made.
    pub took_us: u64,
}

/// The latest requests of all plugins.
#[derive(Debug, Default)]
pub struct RecentRequests(Mutex<VecDeque<RecentRequest>>);

impl RecentRequests {
    /// Adds a request, whose number is given here.
    pub(super) fn push(&self, request: RecentRequest) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.back().map_or(0, |last| last.number) + 1;
        kept.push_back(RecentRequest { number, ..request });
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }

    /// Those numbered above `after`, oldest first.
    #[must_use]
    pub fn after(&self, after: u64) -> Vec<RecentRequest> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|request| request.number > after).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_requests_are_kept_and_can_be_followed() {
        let recent = RecentRequests::default();
        let request = RecentRequest {
            number: 0,
            at: 0,
            plugin: "notes".into(),
            method: "GET".into(),
            path: "/".into(),
            status: 200,
            took_us: 1,
        };
        (0..=KEPT).for_each(|_| recent.push(request.clone()));
        assert_eq!((recent.after(0).len(), recent.after(0)[0].number), (KEPT, 2));
        assert_eq!(recent.after(200).iter().map(|request| request.number).collect::<Vec<_>>(), [201]);
    }
}
