//! Shares of lanes in which other servers cause the jobs: no domain has more than a quarter of the places.
//!
//! Counted by this process: each node has separate places.

use std::collections::HashMap;

use model::job::Lane;

/// The part of the places that one domain may have.
const SHARE: usize = 4;

/// True for a lane that domains share.
pub(crate) fn is_shared(lane: Lane) -> bool {
    matches!(lane, Lane::Inbox | Lane::Remote)
}

/// The domains whose jobs are running in a lane that they share, with the number of each.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Most jobs of one domain; `None` for a lane that is not shared.
    most: Option<usize>,
    running: HashMap<String, usize>,
}

impl Shares {
    /// For a lane in which `places` jobs run concurrently.
    pub(crate) fn new(lane: Lane, places: usize) -> Self {
        let most = is_shared(lane).then(|| (places / SHARE).max(1));
        Self { most, running: HashMap::new() }
    }

    /// How many of `room` jobs may be claimed together, so that no domain exceeds its share.
    pub(crate) fn room(&self, room: usize) -> usize {
        let Some(most) = self.most else { return room };
        let highest = self.running.values().copied().filter(|running| *running < most).max().unwrap_or(0);
        room.min(most - highest)
    }

    /// The domains that have their whole share.
    pub(crate) fn full(&self) -> Vec<String> {
        let full = |running: usize| self.most.is_some_and(|most| running >= most);
        self.running.iter().filter(|(_, running)| full(**running)).map(|(domain, _)| domain.clone()).collect()
    }

    pub(crate) fn begin(&mut self, share: Option<&String>) {
        if let Some(share) = share {
            *self.running.entry(share.clone()).or_default() += 1;
        }
    }

    pub(crate) fn end(&mut self, share: Option<&String>) {
        let Some(share) = share else { return };
        if let Some(running) = self.running.get_mut(share) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_has_quarter_of_the_places() {
        let mut shares = Shares::new(Lane::Inbox, 16);
        let (evil, honest) = ("evil.test".to_owned(), "honest.test".to_owned());
        assert_eq!((shares.room(16), shares.full()), (4, Vec::new()));
        for _ in 0..3 {
            shares.begin(Some(&evil));
        }
        shares.begin(None);
        assert_eq!((shares.room(12), shares.full()), (1, Vec::new()), "the next four could all be of one domain");
        shares.begin(Some(&evil));
        assert_eq!((shares.room(11), shares.full()), (4, vec![evil.clone()]));
        shares.begin(Some(&honest));
        assert_eq!(shares.room(2), 2);
        shares.end(Some(&evil));
        assert_eq!(shares.full(), Vec::<String>::new());
        assert_eq!(Shares::new(Lane::Mail, 2).room(2), 2);
    }
}
