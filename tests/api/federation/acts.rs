//! Acts beyond statuses and follows, between two servers of ours: polls, blocks and pinned statuses.

use chrono::TimeDelta;

use serde_json::{Value, json};

use super::friends::{Friends, relationship};
use crate::harness::id;

/// The votes of each option, and the number of voters.
fn tallies(poll: &Value) -> (Vec<i64>, i64) {
    let options = poll["options"].as_array().unwrap();
    let votes = options.iter().map(|option| option["votes_count"].as_i64().unwrap()).collect();
    (votes, poll["voters_count"].as_i64().unwrap())
}

impl Friends {
    /// As [`Friends::settle`], after the pause between a vote and its update.
    async fn settle_votes(&self) {
        self.settle_after(200).await;
    }

    /// Settles now, and again when `seconds` have passed.
    async fn settle_after(&self, seconds: i64) {
        self.settle().await;
        for peer in &self.peers {
            peer.app.clock.advance(TimeDelta::seconds(seconds));
        }
        self.settle().await;
    }

    async fn publishes_a_poll(&self, poll: Value) -> (Value, Value) {
        let own = self.alice.publish(json!({ "status": "which?", "poll": poll })).await.into_json();
        self.settle().await;
        (own, self.home_of_bob().await.remove(0))
    }
}

#[tokio::test]
async fn votes_are_counted_on_both_servers() {
    let friends = Friends::new().await;
    let (own, there) = friends.publishes_a_poll(json!({ "options": ["red", "green"], "expires_in": 3_600 })).await;
    let poll = &there["poll"];
    assert_eq!((&poll["multiple"], &poll["expired"]), (&false.into(), &false.into()), "{there}");
    assert_eq!(poll["options"][1]["title"], "green");
    assert_eq!(poll["expires_at"], own["poll"]["expires_at"]);
    assert_eq!(tallies(poll), (vec![0, 0], 0));

    let carol = friends.peers[0].account("carol").await;
    let at = |poll: &Value| format!("/api/v1/polls/{}", id(poll));
    carol.post(&format!("{}/votes", at(&own["poll"]))).json(&json!({ "choices": [0] })).ok().await;
    friends.bob.post(&format!("{}/votes", at(poll))).json(&json!({ "choices": [1] })).ok().await;
    let after = friends.bob.get(&at(poll)).ok().await;
    assert_eq!((tallies(&after).0, &after["own_votes"]), (vec![0, 1], &json!([1])), "{after}");
    friends.settle_votes().await;
    let seen = friends.alice.get(&at(&own["poll"])).ok().await;
    assert_eq!(tallies(&seen), (vec![1, 1], 2));
    let after = friends.bob.get(&at(poll)).ok().await;
    assert_eq!((tallies(&after), &after["own_votes"]), ((vec![1, 1], 2), &json!([1])), "{after}");
    assert_eq!(friends.bob.status(&there).ok().await["edited_at"], Value::Null);
}

#[tokio::test]
async fn poll_with_several_choices_ends_on_both_servers() {
    let friends = Friends::new().await;
    let poll = json!({ "options": ["a", "b", "c"], "expires_in": 600, "multiple": true, "hide_totals": true });
    let (own, there) = friends.publishes_a_poll(poll).await;
    let path = format!("/api/v1/polls/{}", id(&there["poll"]));
    friends.bob.post(&format!("{path}/votes")).json(&json!({ "choices": [0, 2] })).ok().await;
    friends.settle_votes().await;
    let seen = friends.alice.get(&format!("/api/v1/polls/{}", id(&own["poll"]))).ok().await;
    assert_eq!(seen["voters_count"], 1);
    friends.settle_after(600).await;
    let seen = friends.alice.get(&format!("/api/v1/polls/{}", id(&own["poll"]))).ok().await;
    assert_eq!((tallies(&seen), &seen["expired"]), ((vec![1, 0, 1], 1), &true.into()));
    let after = friends.bob.get(&path).ok().await;
    assert_eq!((tallies(&after), &after["expired"]), ((vec![1, 0, 1], 1), &true.into()));
    let told = friends.bob.get("/api/v1/notifications?types[]=poll").ok().await;
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
}

#[tokio::test]
async fn options_of_an_edited_poll_follow() {
    let friends = Friends::new().await;
    let (own, there) = friends.publishes_a_poll(json!({ "options": ["a", "b"], "expires_in": 3_600 })).await;
    let votes = format!("/api/v1/polls/{}/votes", id(&there["poll"]));
    friends.bob.post(&votes).json(&json!({ "choices": [0] })).ok().await;
    friends.settle_votes().await;
    let poll = json!({ "options": ["a", "c", "d"], "expires_in": 3_600 });
    friends.alice.edit(&own, json!({ "status": "which now?", "poll": poll })).ok().await;
    friends.settle().await;
    let seen = friends.bob.status(&there).ok().await;
    assert_eq!(seen["poll"]["options"][2]["title"], "d", "{seen}");
    assert_eq!((tallies(&seen["poll"]), &seen["poll"]["voted"]), ((vec![0, 0, 0], 0), &false.into()));
    let history = friends.bob.get(&format!("/api/v1/statuses/{}/history", id(&there))).ok().await;
    assert_eq!(history[0]["poll"]["options"][1]["title"], "b", "{history}");
}

#[tokio::test]
async fn block_ends_follows_on_the_other_server_until_it_is_undone() {
    let friends = Friends::new().await;
    friends.alice.block(&friends.bob_there).ok().await;
    friends.settle().await;
    let tie = relationship(&friends.bob, &friends.alice_there).await;
    assert_eq!(
        (&tie["following"], &tie["followed_by"], &tie["blocked_by"]),
        (&false.into(), &false.into(), &true.into())
    );
    let status = friends.alice.publish("not for Bob").await;
    friends.settle().await;
    assert!(friends.home_of_bob().await.is_empty(), "{}", status.id());

    friends.alice.unblock(&friends.bob_there).ok().await;
    friends.settle().await;
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["blocked_by"], false);
    friends.bob.follow(&friends.alice_there).ok().await;
    friends.settle().await;
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["following"], true);
}

#[tokio::test]
async fn pinned_status_is_pinned_on_the_other_server() {
    let friends = Friends::new().await;
    let status = friends.alice.publish("look at this").await;
    friends.alice.publish("not at this").await;
    friends.settle().await;
    let pinned = format!("/api/v1/accounts/{}/statuses?pinned=true", id(&friends.alice_there));
    friends.alice.pin(&status).ok().await;
    friends.settle().await;
    let shown = friends.bob.get(&pinned).ok().await;
    assert_eq!(shown.as_array().unwrap().len(), 1, "{shown}");
    assert_eq!(shown[0]["uri"], status["uri"]);
    friends.alice.unpin(&status).ok().await;
    friends.settle().await;
    assert_eq!(friends.bob.get(&pinned).ok().await, json!([]));
}

#[tokio::test]
async fn servers_with_authorized_fetch_reach_one_another() {
    let friends = Friends::with(&[("ROOKERY_ACCESS_AUTHORIZED_FETCH", "true")]).await;
    let carol = friends.peers[0].account("carol").await;
    let parent = carol.publish("by Carol").await;
    let posts = [
        friends.alice.publish("for everyone").await,
        friends.alice.publish_to("private", "for followers").await,
        friends.alice.publish_to("mutual", "for friends").await,
        friends.alice.reply(&parent, "whose parent is fetched").await,
    ];
    friends.settle().await;
    for post in posts {
        friends.bob.search_status(&post["uri"]).await;
    }
    friends.bob.search_status(&parent["uri"]).await;
}
