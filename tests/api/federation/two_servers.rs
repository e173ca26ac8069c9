//! Two servers of ours in one process, one on each engine where PostgreSQL is there: every act, and back.

use serde_json::{Value, json};

use super::friends::{Friends, notifications, relationship};
use crate::harness::{Client, Peer, id, settle};

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

#[tokio::test]
async fn locked_account_decides_about_its_followers() {
    let peers = Peer::pair().await;
    let [alice, bob] = [peers[0].account("alice").await, peers[1].account("bob").await];
    bob.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
    assert_eq!(bob_there["locked"], true);
    alice.follow(&bob_there).ok().await;
    settle(&peers).await;
    let tie = relationship(&alice, &bob_there).await;
    assert_eq!((&tie["following"], &tie["requested"]), (&false.into(), &true.into()));

    let requests = bob.get("/api/v1/follow_requests").ok().await;
    let alice_there = requests[0].clone();
    assert_eq!(alice_there["acct"], peers[0].address(&alice));
    bob.post(&format!("/api/v1/follow_requests/{}/authorize", id(&alice_there))).ok().await;
    settle(&peers).await;
    assert_eq!(relationship(&alice, &bob_there).await["following"], true);

    let carol = peers[0].account("carol").await;
    carol.follow(&bob_there).ok().await;
    settle(&peers).await;
    let requests = bob.get("/api/v1/follow_requests").ok().await;
    bob.post(&format!("/api/v1/follow_requests/{}/reject", id(&requests[0]))).ok().await;
    settle(&peers).await;
    assert_eq!(relationship(&carol, &bob_there).await["requested"], false);

    // A follower who is removed later does not follow any more either.
    bob.post(&format!("/api/v1/accounts/{}/remove_from_followers", id(&alice_there))).ok().await;
    settle(&peers).await;
    assert_eq!(relationship(&alice, &bob_there).await["following"], false);
}

#[tokio::test]
async fn withdrawn_request_disappears_on_the_other_server() {
    let peers = Peer::pair().await;
    let [alice, bob] = [peers[0].account("alice").await, peers[1].account("bob").await];
    bob.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
    alice.follow(&bob_there).ok().await;
    settle(&peers).await;
    assert_eq!(bob.get("/api/v1/follow_requests").ok().await.as_array().unwrap().len(), 1);
    alice.unfollow(&bob_there).ok().await;
    settle(&peers).await;
    assert_eq!(bob.get("/api/v1/follow_requests").ok().await.as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn every_visibility_keeps_its_audience() {
    let friends = Friends::new().await;
    let stranger = friends.peers[1].account("stranger").await;
    let mention = format!("@{}", friends.peers[1].address(&friends.bob));
    for (visibility, arrives, anonymous) in [
        ("public", "public", true),
        ("unlisted", "unlisted", true),
        ("public_unlisted", "unlisted", true),
        ("login", "login", false),
        ("private", "private", false),
        ("direct", "direct", false),
    ] {
        let status = friends.alice.publish_to(visibility, &format!("{mention} {visibility}")).await;
        friends.settle().await;
        let seen = notifications_with_status(&friends.bob, &status["uri"]).await;
        assert_eq!(
            seen["visibility_ex"].as_str().unwrap_or(seen["visibility"].as_str().unwrap()),
            arrives,
            "{visibility}: {seen}"
        );
        let path = format!("/api/v1/statuses/{}", id(&seen));
        assert_eq!(friends.bob.get(&path).send().await.status, 200, "{visibility}");
        let open = matches!(arrives, "public" | "unlisted" | "login");
        assert_eq!(stranger.get(&path).send().await.status.is_success(), open, "{visibility}");
        let shown = friends.peers[1].anonymous().get(&path).send().await.status.is_success();
        assert_eq!(shown, anonymous, "{visibility}");
    }
}

/// The status with this URI in the newest mention of `viewer`.
async fn notifications_with_status(viewer: &Client, uri: &Value) -> Value {
    let all = viewer.get("/api/v1/notifications?types[]=mention").ok().await;
    let found = all.as_array().unwrap().iter().find(|row| row["status"]["uri"] == *uri);
    found.unwrap_or_else(|| panic!("{uri} is not among {all}"))["status"].clone()
}

#[tokio::test]
async fn limited_status_reaches_its_audience_alone() {
    let friends = Friends::new().await;
    let carol = friends.peers[1].account("carol").await;
    let status = friends.alice.publish_to("mutual", "for friends").await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert_eq!(home.len(), 1, "{home:?}");
    assert_eq!((&home[0]["uri"], &home[0]["visibility_ex"]), (&status["uri"], &"limited".into()));
    assert!(home[0]["content"].as_str().unwrap().contains("for friends"));
    carol.get(&format!("/api/v1/statuses/{}", id(&home[0]))).fails(404).await;

    // Its capability opens the note, for the time that deliveries take.
    let here = &friends.peers[0];
    let token = format!("Bearer {}", here.app.keys.derive("bearcap", status["id"].as_str().unwrap()).expose());
    let note = status["uri"].as_str().unwrap().split_once(&here.domain).unwrap().1;
    let with_token = async || {
        let asked = here.anonymous().get(note).header("accept", "application/activity+json");
        asked.header("authorization", &token).send().await.status.as_u16()
    };
    assert_eq!(with_token().await, 200);
    here.app.clock.advance(chrono::TimeDelta::days(15));
    assert_eq!(with_token().await, 404);
}

#[tokio::test]
async fn reply_favourite_and_reblog_come_back_and_are_undone() {
    let friends = Friends::new().await;
    let status = friends.alice.publish("hello").await;
    friends.settle().await;
    let there = friends.home_of_bob().await.remove(0);

    let reply = friends.bob.reply(&there, &format!("@{} hi", friends.peers[0].address(&friends.alice))).await;
    friends.bob.favourite(&there).ok().await;
    friends.bob.reblog(&there).ok().await;
    friends.settle().await;
    let seen = friends.alice.status(&status).ok().await;
    assert_eq!(
        (&seen["replies_count"], &seen["favourites_count"], &seen["reblogs_count"]),
        (&1.into(), &1.into(), &1.into())
    );
    let bob = friends.peers[1].address(&friends.bob);
    let told = notifications(&friends.alice).await;
    for kind in ["mention", "favourite", "reblog"] {
        assert!(told.contains(&(kind.to_owned(), bob.clone())), "{kind}: {told:?}");
    }
    let context = friends.alice.get(&status.path("/context")).ok().await;
    assert_eq!(context["descendants"][0]["uri"], reply["uri"]);
    assert_eq!(context["descendants"][0]["in_reply_to_id"], status["id"]);

    friends.bob.unfavourite(&there).ok().await;
    friends.bob.unreblog(&there).ok().await;
    friends.bob.delete_status(&reply).ok().await;
    friends.settle().await;
    let seen = friends.alice.status(&status).ok().await;
    assert_eq!(
        (&seen["replies_count"], &seen["favourites_count"], &seen["reblogs_count"]),
        (&0.into(), &0.into(), &0.into())
    );
}

#[tokio::test]
async fn reblog_of_a_local_status_reaches_followers_elsewhere() {
    let friends = Friends::new().await;
    let carol = friends.peers[0].account("carol").await;
    let status = carol.publish("by carol").await;
    friends.alice.reblog(&status).ok().await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert_eq!(home.len(), 1, "{home:?}");
    assert_eq!(home[0]["reblog"]["uri"], status["uri"]);
    assert_eq!(home[0]["reblog"]["account"]["acct"], friends.peers[0].address(&carol));
    friends.alice.unreblog(&status).ok().await;
    friends.settle().await;
    assert_eq!(friends.home_of_bob().await.len(), 0);
}

#[tokio::test]
async fn edit_and_deletion_follow_the_status() {
    let friends = Friends::new().await;
    let status = friends.alice.publish("first words").await;
    friends.settle().await;
    let there = friends.home_of_bob().await.remove(0);
    for peer in &friends.peers {
        peer.tick();
    }
    friends.alice.edit(&status, "other words").ok().await;
    friends.settle().await;
    let seen = friends.bob.status(&there).ok().await;
    assert!(seen["content"].as_str().unwrap().contains("other words"), "{seen}");
    assert!(seen["edited_at"].is_string());
    let history = friends.bob.get(&format!("/api/v1/statuses/{}/history", id(&there))).ok().await;
    assert_eq!(history.as_array().unwrap().len(), 2);

    let address = status["uri"].as_str().unwrap().to_owned();
    friends.alice.delete_status(&status).ok().await;
    friends.settle().await;
    friends.bob.status(&there).fails(404).await;
    let path = address.split_once(&friends.peers[0].domain).unwrap().1;
    let gone = friends.peers[0].anonymous().get(path).header("accept", "application/activity+json").send().await;
    assert_eq!(gone.status, 410);
}

#[tokio::test]
async fn change_of_a_profile_follows_the_account() {
    let friends = Friends::new().await;
    let changes = [
        ("display_name", "Alice A."),
        ("note", "About me"),
        ("fields_attributes[0][name]", "Site"),
        ("fields_attributes[0][value]", "x"),
    ];
    friends.alice.patch("/api/v1/accounts/update_credentials").form(&changes).ok().await;
    friends.settle().await;
    let seen = friends.bob.get(&format!("/api/v1/accounts/{}", id(&friends.alice_there))).ok().await;
    assert_eq!(seen["display_name"], "Alice A.");
    assert!(seen["note"].as_str().unwrap().contains("About me"));
    assert_eq!(seen["fields"][0]["name"], "Site");
}

#[tokio::test]
async fn deleted_account_disappears_from_the_other_server() {
    let friends = Friends::new().await;
    friends.alice.publish("hello").await;
    friends.settle().await;
    assert_eq!(friends.home_of_bob().await.len(), 1);
    let said = friends.peers[0].run(&["user", "remove", "alice", "--yes"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    friends.peers[0].make_jobs_due().await;
    friends.settle().await;
    friends.peers[1].make_jobs_due().await;
    friends.settle().await;
    assert_eq!(friends.home_of_bob().await.len(), 0);
    friends.bob.get(&format!("/api/v1/accounts/{}", id(&friends.alice_there))).fails(404).await;
}

#[tokio::test]
async fn mention_of_an_unknown_account_finds_it() {
    let peers = Peer::pair().await;
    let [alice, bob] = [peers[0].account("alice").await, peers[1].account("bob").await];
    let status = alice.publish(&*format!("hello @{}", peers[1].address(&bob))).await;
    assert_eq!(status["mentions"][0]["acct"], peers[1].address(&bob));
    settle(&peers).await;
    let told = notifications(&bob).await;
    assert_eq!(told, [("mention".to_owned(), peers[0].address(&alice))]);
}

#[tokio::test]
async fn status_and_account_are_found_by_their_urls() {
    let peers = Peer::pair().await;
    let [alice, bob] = [peers[0].account("alice").await, peers[1].account("bob").await];
    let status = bob.publish("find me").await;
    for url in [&status["url"], &status["uri"]] {
        let path = format!("/api/v2/search?resolve=true&q={}", url.as_str().unwrap());
        let found = alice.get(&path).ok().await;
        assert_eq!(found["statuses"][0]["uri"], status["uri"], "{url}: {found}");
    }
    let page = format!("http://{}/@bob", peers[1].domain);
    let found = alice.get(&format!("/api/v2/search?resolve=true&q={page}")).ok().await;
    assert_eq!(found["accounts"][0]["acct"], peers[1].address(&bob), "{found}");
    let missing = alice.get(&format!("/api/v2/search?resolve=true&q={page}by")).ok().await;
    assert_eq!(missing["accounts"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn searchability_is_the_stricter_of_author_and_status() {
    let friends = Friends::new().await;
    let stated = [("public", "public"), ("private", "private"), ("direct", "direct"), ("limited", "limited")];
    for (searchability, arrives) in stated {
        friends.alice.publish(json!({ "status": searchability, "searchability": searchability })).await;
        friends.settle().await;
        assert_eq!(friends.home_of_bob().await[0]["searchability"], arrives);
    }
    let direct = json!({ "status": "psst", "searchability": "public", "visibility": "direct" });
    friends.alice.publish(direct).await;
    friends.settle().await;
    let uri = "SELECT searchability FROM statuses WHERE NOT local ORDER BY id DESC LIMIT 1";
    let stored = friends.peers[1].db().fetch_raw::<(String,)>(uri).await.unwrap();
    assert!(stored.iter().all(|(searchability,)| searchability != "public"), "{stored:?}");
}

#[tokio::test]
async fn suspension_by_its_own_server_hides_an_account_while_it_lasts() {
    let friends = Friends::new().await;
    let status = friends.alice.publish("hello").await;
    friends.settle().await;
    let [here, there] = &friends.peers;
    let shown = async || {
        let path = format!("/api/v1/accounts/{}", id(&friends.alice_there));
        let account = friends.bob.get(&path).ok().await;
        (account["suspended"] == true, friends.home_of_bob().await.len())
    };
    assert_eq!(shown().await, (false, 1));
    here.suspend(&friends.alice).await;
    friends.settle().await;
    assert_eq!(shown().await, (true, 0));
    here.unsuspend(&friends.alice).await;
    friends.settle().await;
    assert_eq!(shown().await, (false, 1));
    assert_eq!(friends.home_of_bob().await[0]["uri"], status["uri"]);
    assert_eq!(relationship(&friends.bob, &friends.alice_there).await["following"], true);

    // What staff of this server decided stays.
    here.suspend(&friends.alice).await;
    friends.settle().await;
    let address = here.address(&friends.alice);
    let moderator = there.staff("moderator", "Moderator").await;
    let act = json!({ "type": "suspend" });
    moderator.post(&format!("/api/v1/admin/accounts/{}/action", id(&friends.alice_there))).json(&act).ok().await;
    friends.settle().await;
    here.unsuspend(&friends.alice).await;
    friends.settle().await;
    assert_eq!(shown().await, (true, 0), "{address}");
}
