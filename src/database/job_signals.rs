//! Signals to the workers of this process that jobs were queued, per lane.
//!
//! Sent by [`Tx::commit`](super::Tx::commit), received through [`Db::jobs_queued`](super::Db::jobs_queued). Jobs
//! queued by other processes send no signal here: workers find them by polling.

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use model::job::Lane;

/// One signal for each lane.
#[derive(Debug, Default)]
pub(super) struct JobSignals([Notify; Lane::ALL.len()]);

/// A set of lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes(u16);

impl Lanes {
    pub(super) fn insert(&mut self, lane: Lane) {
        self.0 |= 1 << lane as u8;
    }

    fn contains(self, lane: Lane) -> bool {
        self.0 & (1 << lane as u8) != 0
    }
}

impl JobSignals {
    pub(super) fn of(&self, lane: Lane) -> Notified<'_> {
        self.0[lane as usize].notified()
    }

    pub(super) fn ring(&self, lanes: Lanes) {
        for lane in Lane::ALL.iter().filter(|lane| lanes.contains(**lane)) {
            self.0[*lane as usize].notify_waiters();
        }
    }
}
