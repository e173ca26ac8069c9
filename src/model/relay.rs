//! Relays: servers that pass on public statuses to their subscribers.
//!
//! Spec: docs/contract/federation.md#13-relays

use super::text_enum;

text_enum! {
    /// How a relay is followed, and how statuses come from it.
    RelayKind {
        /// The public collection is followed; the relay passes on activities as they are.
        Mastodon = "mastodon",
        /// The relay's actor is followed; both sides announce statuses.
        Litepub = "litepub",
    }
}

text_enum! {
    /// How far the subscription to a relay has come.
    RelayState {
        /// It is not followed.
        Idle = "idle",
        /// The relay did not respond to the follow yet.
        Pending = "pending",
        /// Statuses go both ways.
        Accepted = "accepted",
        /// The relay refused.
        Rejected = "rejected",
    }
}
