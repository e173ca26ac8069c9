//! Two servers of ours in one process, one on each engine where PostgreSQL is there: every act, and back.

use serde_json::Value;

use crate::harness::{Client, Peer, id, settle};

/// Two servers with a person on each who follow one another.
struct Friends {
    peers: [Peer; 2],
    alice: Client,
    bob: Client,
    /// Bob as Alice's server knows him.
    bob_there: Value,
    /// Alice as Bob's server knows her.
    alice_there: Value,
}

impl Friends {
    async fn new() -> Self {
        let peers = Peer::pair().await;
        let alice = peers[0].account("alice").await;
        let bob = peers[1].account("bob").await;
        let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
        let alice_there = peers[1].find(&bob, &peers[0].address(&alice)).await;
        alice.follow(&bob_there).ok().await;
        bob.follow(&alice_there).ok().await;
        settle(&peers).await;
        Self { peers, alice, bob, bob_there, alice_there }
    }

    async fn settle(&self) {
        settle(&self.peers).await;
    }

    /// The statuses on Bob's home timeline.
    async fn home_of_bob(&self) -> Vec<Value> {
        self.bob.get("/api/v1/timelines/home").ok().await.as_array().unwrap().clone()
    }
}

async fn relationship(viewer: &Client, target: &Value) -> Value {
    viewer.get(&format!("/api/v1/accounts/relationships?id[]={}", id(target))).ok().await[0].clone()
}

async fn notifications(viewer: &Client) -> Vec<(String, String)> {
    let all = viewer.get("/api/v1/notifications").ok().await;
    let one =
        |row: &Value| (row["type"].as_str().unwrap().to_owned(), row["account"]["acct"].as_str().unwrap().to_owned());
    all.as_array().unwrap().iter().map(one).collect()
}

#[tokio::test]
async fn follow_of_an_open_account_is_accepted() {
    let friends = Friends::new().await;
    let tie = relationship(&friends.alice, &friends.bob_there).await;
    assert_eq!(
        (&tie["following"], &tie["followed_by"], &tie["requested"]),
        (&true.into(), &true.into(), &false.into())
    );
    let tie = relationship(&friends.bob, &friends.alice_there).await;
    assert_eq!((&tie["following"], &tie["followed_by"]), (&true.into(), &true.into()));
    assert!(
        notifications(&friends.bob).await.contains(&("follow".to_owned(), friends.peers[0].address(&friends.alice)))
    );

    friends.alice.unfollow(&friends.bob_there).ok().await;
    friends.settle().await;
    let tie = relationship(&friends.bob, &friends.alice_there).await;
    assert_eq!(tie["followed_by"], false);
}

#[tokio::test]
async fn status_reaches_followers_of_another_server() {
    let friends = Friends::new().await;
    let status = friends.alice.publish("hello #world").await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert_eq!(home.len(), 1, "{home:?}");
    assert_eq!(home[0]["uri"], status["uri"]);
    assert_eq!(home[0]["url"], status["url"]);
    assert_eq!(home[0]["account"]["acct"], friends.peers[0].address(&friends.alice));
    assert_eq!(home[0]["visibility"], "public");
    assert_eq!(home[0]["tags"][0]["name"], "world");
}
