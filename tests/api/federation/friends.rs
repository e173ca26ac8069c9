//! Two servers of ours in one process whose people follow one another.

use serde_json::Value;

use crate::harness::{Client, Peer, id, settle};

/// Two servers with a person on each who follow one another: one account has an id by number, the other by name.
pub(super) struct Friends {
    pub(super) peers: [Peer; 2],
    pub(super) alice: Client,
    pub(super) bob: Client,
    /// Bob as Alice's server knows him.
    pub(super) bob_there: Value,
    /// Alice as Bob's server knows her.
    pub(super) alice_there: Value,
}

impl Friends {
    pub(super) async fn new() -> Self {
        Self::on(Peer::pair().await).await
    }

    /// Two servers with further configuration keys.
    pub(super) async fn with(keys: &[(&str, &str)]) -> Self {
        Self::on([Peer::with(false, keys).await, Peer::with(true, keys).await]).await
    }

    async fn on(peers: [Peer; 2]) -> Self {
        let alice = peers[0].account("alice").await;
        let bob = peers[1].named_account("bob").await;
        let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
        let alice_there = peers[1].find(&bob, &peers[0].address(&alice)).await;
        alice.follow(&bob_there).ok().await;
        bob.follow(&alice_there).ok().await;
        settle(&peers).await;
        Self { peers, alice, bob, bob_there, alice_there }
    }

    pub(super) async fn settle(&self) {
        settle(&self.peers).await;
    }

    /// The statuses on Bob's home timeline.
    pub(super) async fn home_of_bob(&self) -> Vec<Value> {
        self.bob.get("/api/v1/timelines/home").ok().await.as_array().unwrap().clone()
    }
}

pub(super) async fn relationship(viewer: &Client, target: &Value) -> Value {
    viewer.get(&format!("/api/v1/accounts/relationships?id[]={}", id(target))).ok().await[0].clone()
}

pub(super) async fn notifications(viewer: &Client) -> Vec<(String, String)> {
    let all = viewer.get("/api/v1/notifications").ok().await;
    let one =
        |row: &Value| (row["type"].as_str().unwrap().to_owned(), row["account"]["acct"].as_str().unwrap().to_owned());
    all.as_array().unwrap().iter().map(one).collect()
}
