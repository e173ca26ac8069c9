//! Following, blocking, muting and other relationships between accounts.

use chrono::Duration;
use model::relationship::Listed;
use model::{AccountId, Cursor};
use serde_json::json;
use service::rate_limits::{self, Family};
use store::{follow, relationship};

use crate::harness::{Client, TestApp, account_path};
use crate::seed::Seed;

async fn counts(client: &Client) -> (i64, i64) {
    let account = client.get(&format!("/api/v1/accounts/{}", client.id())).ok().await;
    (account["following_count"].as_i64().unwrap(), account["followers_count"].as_i64().unwrap())
}

#[tokio::test]
async fn following_twice_counts_once_and_changes_only_sent_options() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let first = alice.follow(&bob).ok().await;
    assert_eq!(
        (&first["following"], &first["showing_reblogs"], &first["notifying"], &first["languages"]),
        (&json!(true), &json!(true), &json!(false), &json!(null))
    );

    let path = format!("/api/v1/accounts/{}/follow", bob.id());
    let changed = alice.post(&path).json(&json!({"notify": true, "languages": ["en", "ja"]})).ok().await;
    assert_eq!(changed["notifying"], true);
    assert_eq!(changed["showing_reblogs"], true);
    assert_eq!(changed["languages"], json!(["en", "ja"]));

    let again = alice.post(&path).form(&[("reblogs", "false")]).ok().await;
    assert_eq!(again["showing_reblogs"], false);
    assert_eq!(again["notifying"], true);
    assert_eq!(again["languages"], json!(["en", "ja"]));

    let all = alice.post(&path).json(&json!({"languages": []})).ok().await;
    assert_eq!(all["languages"], json!(null));

    assert_eq!(counts(&alice).await, (1, 0));
    assert_eq!(counts(&bob).await, (0, 1));
}

#[tokio::test]
async fn unfollowable_accounts_are_refused() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let path = |client: &Client| format!("/api/v1/accounts/{}/follow", client.id());

    alice.post(&path(&alice)).fails(403).await;
    alice.post("/api/v1/accounts/1/follow").fails(404).await;
    alice.post(&path(&bob)).json(&json!({"languages": ["klingonese"]})).fails(422).await;
    app.anonymous().post(&path(&bob)).fails(401).await;
    alice.with_scopes("read").await.post(&path(&bob)).fails(403).await;
    app.application("write").await.post(&path(&bob)).fails(422).await;

    bob.block(&alice).ok().await;
    alice.post(&path(&bob)).fails(403).await;
    alice.block(&carol).ok().await;
    alice.post(&path(&carol)).fails(403).await;
    alice.unblock(&carol).ok().await;
    app.suspend(&carol).await;
    alice.post(&path(&carol)).fails(404).await;
    assert_eq!(counts(&alice).await, (0, 0));
}

#[tokio::test]
async fn follow_limit_is_enforced() {
    let app = TestApp::with(&[("ROOKERY_ACCOUNTS_MAX_FOLLOWS_THRESHOLD", "1")]).await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;

    alice.follow(&bob).ok().await;
    alice.follow(&carol).fails(422).await;
    alice.follow(&bob).ok().await;

    bob.follow(&alice).ok().await;
    carol.follow(&alice).ok().await;
    alice.follow(&dave).ok().await;
    assert_eq!(counts(&alice).await, (2, 2));
}

#[tokio::test]
async fn unfollowing_ends_everything_that_depends_on_the_follow() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    alice.post(&account_path(&bob, "/pin")).ok().await;
    let list = alice.make_list("Birds").await;
    alice.add_to_list(&list, &[&bob]).ok().await;
    let lists = format!("/api/v1/accounts/{}/lists", bob.id());
    assert_eq!(alice.get(&lists).ok().await.as_array().unwrap().len(), 1);

    let ended = alice.unfollow(&bob).ok().await;
    assert_eq!(ended["following"], false);
    assert_eq!(ended["endorsed"], false);
    assert_eq!(alice.get(&lists).ok().await, json!([]));
    alice.unfollow(&bob).ok().await;
    assert_eq!(counts(&alice).await, (0, 0));
    assert_eq!(counts(&bob).await, (0, 0));
}

#[tokio::test]
async fn follower_can_be_removed() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;

    assert_eq!(alice.post(&account_path(&bob, "/remove_from_followers")).ok().await["followed_by"], false);
    assert_eq!(alice.post(&account_path(&bob, "/remove_from_followers")).ok().await["followed_by"], false);
    assert_eq!(counts(&alice).await, (0, 0));
    assert_eq!(counts(&bob).await, (0, 0));
}

#[tokio::test]
async fn block_ends_follows_both_ways() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.follow(&bob).ok().await;
    bob.follow(&alice).ok().await;

    let tie = alice.block(&bob).ok().await;
    assert_eq!(
        (&tie["blocking"], &tie["following"], &tie["followed_by"]),
        (&json!(true), &json!(false), &json!(false))
    );
    alice.block(&bob).ok().await;
    assert_eq!(counts(&alice).await, (0, 0));
    assert_eq!(counts(&bob).await, (0, 0));

    let seen = bob.get(&format!("/api/v1/accounts/relationships?id[]={}", alice.id())).ok().await;
    assert_eq!(seen[0]["blocked_by"], true);
    assert_eq!(alice.unblock(&bob).ok().await["blocking"], false);
    assert_eq!(alice.block(&alice).ok().await["blocking"], false);
}

#[tokio::test]
async fn note_is_private_and_bounded() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/accounts/{}/note", bob.id());

    assert_eq!(alice.post(&path).form(&[("comment", "met at the lake")]).ok().await["note"], "met at the lake");
    let theirs = bob.get(&format!("/api/v1/accounts/relationships?id={}", alice.id())).ok().await;
    assert_eq!(theirs[0]["note"], "");
    alice.post(&path).form(&[("comment", &"x".repeat(2001))]).fails(422).await;
    assert_eq!(alice.post(&path).form(&[("comment", " ")]).ok().await["note"], "");
}

#[tokio::test]
async fn relationships_are_returned_in_requested_order_by_one_query() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    alice.follow(&carol).ok().await;
    dave.follow(&alice).ok().await;
    app.suspend(&dave).await;

    let query = format!("id[]={}&id[]=1&id[]={}&id[]={}", dave.id(), carol.id(), bob.id());
    let ties = alice.get(&format!("/api/v1/accounts/relationships?{query}")).ok().await;
    let ids: Vec<_> = ties.as_array().unwrap().iter().map(|tie| tie["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, [carol.id().to_string(), bob.id().to_string()]);
    assert_eq!(ties[0]["following"], true);

    let ties = alice.get(&format!("/api/v1/accounts/relationships?{query}&with_suspended=true")).ok().await;
    assert_eq!(ties.as_array().unwrap().len(), 3);
    assert_eq!(ties[0]["followed_by"], true);

    alice.get("/api/v1/accounts/relationships").fails(400).await;
    alice.get("/api/v1/accounts/relationships?id[]=x").fails(422).await;
}

#[tokio::test]
async fn mute_expires() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/accounts/{}/mute", bob.id());

    let tie = alice.post(&path).form(&[("duration", "60"), ("notifications", "false")]).ok().await;
    assert_eq!((&tie["muting"], &tie["muting_notifications"]), (&json!(true), &json!(false)));
    let tie = alice.post(&path).form(&[("duration", "120")]).ok().await;
    assert_eq!((&tie["muting"], &tie["muting_notifications"]), (&json!(true), &json!(true)));

    app.app.clock.advance(Duration::seconds(61));
    app.run_jobs().await;
    let muted = alice.get("/api/v1/mutes").ok().await;
    assert_eq!(muted[0]["mute_expires_at"], "2026-01-15T12:02:02.000Z");

    app.app.clock.advance(Duration::seconds(60));
    assert_eq!(alice.get("/api/v1/mutes").ok().await, json!([]));
    let relationships = format!("/api/v1/accounts/relationships?id[]={}", bob.id());
    assert_eq!(alice.get(&relationships).ok().await[0]["muting"], false);
    app.run_jobs().await;
    let left: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM mutes").await.unwrap();
    assert_eq!(left[0].0, 0);

    alice.post(&path).form(&[("duration", "-1")]).fails(422).await;
    alice.post(&path).form(&[("duration", "9223372036854775807")]).fails(422).await;
}

#[tokio::test]
async fn relationship_actions_need_their_scope() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let actions = [
        ("follow", "write:follows"),
        ("unfollow", "follow"),
        ("remove_from_followers", "write:follows"),
        ("block", "write:blocks"),
        ("unblock", "follow"),
        ("mute", "write:mutes"),
        ("unmute", "follow"),
        ("unpin", "write:accounts"),
        ("note", "write:accounts"),
    ];
    for (action, scope) in actions {
        let path = format!("/api/v1/accounts/{}/{action}", bob.id());
        app.anonymous().post(&path).fails(401).await;
        alice.with_scopes("read write:statuses").await.post(&path).fails(403).await;
        alice.with_scopes(scope).await.post(&path).ok().await;
        alice.post(&format!("/api/v1/accounts/17/{action}")).fails(404).await;
    }
}

#[tokio::test]
async fn pending_accounts_are_hidden_from_others() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.unapprove(&bob).await;
    for action in ["follow", "block", "mute", "note", "pin", "unfollow"] {
        alice.post(&format!("/api/v1/accounts/{}/{action}", bob.id())).fails(404).await;
    }
    alice.get(&format!("/api/v1/accounts/{}", bob.id())).fails(404).await;
    assert_eq!(alice.get(&format!("/api/v1/accounts?id[]={}", bob.id())).ok().await, json!([]));
}

/// Types and senders of the notifications of `client`, newest first.
async fn told(client: &Client) -> Vec<(String, String)> {
    let list = client.get("/api/v1/notifications").ok().await;
    let pair = |notification: &serde_json::Value| {
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        (text(&notification["type"]), text(&notification["account"]["acct"]))
    };
    list.as_array().unwrap().iter().map(pair).collect()
}

#[tokio::test]
async fn follow_notification_ends_with_follow() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [follow, request] = ["follow", "follow_request"].map(|kind| (kind.to_owned(), "alice".to_owned()));

    alice.follow(&bob).ok().await;
    alice.follow(&bob).ok().await;
    assert_eq!(told(&bob).await, std::slice::from_ref(&follow));
    alice.unfollow(&bob).ok().await;
    assert_eq!(told(&bob).await, []);

    bob.update_profile(json!({"locked": true})).ok().await;
    alice.follow(&bob).ok().await;
    assert_eq!(told(&bob).await, std::slice::from_ref(&request));
    alice.unfollow(&bob).ok().await;
    assert_eq!(told(&bob).await, []);
    alice.follow(&bob).ok().await;
    bob.authorize(&alice).ok().await;
    assert_eq!(told(&bob).await, [follow]);
    bob.block(&alice).ok().await;
    assert_eq!(told(&bob).await, []);
}

#[tokio::test]
async fn follows_have_a_daily_limit() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    alice.follow(&bob).ok().await;
    alice.follow(&alice).fails(403).await;
    for _ in 0..399 {
        rate_limits::family(&app.app, alice.id(), Family::Follows).unwrap().keep();
    }
    alice.follow(&carol).fails(429).await;
    assert_eq!(counts(&alice).await, (1, 0));
    alice.follow(&bob).ok().await;
    app.app.clock.advance(Duration::days(1));
    alice.follow(&carol).ok().await;
}

#[tokio::test]
async fn concurrent_follows_keep_counters_consistent() {
    let app = TestApp::new().await;
    let people = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for round in 0..3 {
        for actor in people.clone() {
            for target in people.clone() {
                if actor.id() != target.id() {
                    let actor = actor.clone();
                    let action = if round == 1 { "unfollow" } else { "follow" };
                    tasks.spawn(async move {
                        actor.post(&format!("/api/v1/accounts/{}/{action}", target.id())).ok().await;
                    });
                }
            }
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let wrong: Vec<(i64,)> = app
        .db()
        .fetch_raw(
            "SELECT COUNT(*) FROM accounts a
             WHERE a.following_count <> (SELECT COUNT(*) FROM follows f WHERE f.account_id = a.id)
                OR a.followers_count <> (SELECT COUNT(*) FROM follows f WHERE f.target_account_id = a.id)",
        )
        .await
        .unwrap();
    assert_eq!(wrong[0].0, 0);
}

#[tokio::test]
async fn relationships_page_costs_as_many_statements_as_one() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    app.known(&alice).await;
    let count = async |path: &str| app.cost(alice.get(path).ok()).await.0;
    let one = count(&format!("/api/v1/accounts/relationships?id[]={}", bob.id())).await;
    let all = format!("/api/v1/accounts/relationships?id[]={}&id[]={}&id[]={}", bob.id(), carol.id(), dave.id());
    assert_eq!(one, count(&all).await);
    assert_eq!(one, app.reread_cost() + 1, "the token and the relationships");
    for follower in [&bob, &carol, &dave] {
        follower.follow(&alice).ok().await;
    }
    let followers = format!("/api/v1/accounts/{}/followers", alice.id());
    // The accounts on the page are rendered once.
    count(&followers).await;
    let page = count(&followers).await;
    assert_eq!(page, count(&format!("{followers}?limit=1")).await);
    assert_eq!(page, app.reread_cost() + 2, "the token, the account and the page");
}

/// The documentation of these pages names only `since_id`; `min_id` works as on all other routes.
#[tokio::test]
async fn min_id_gives_the_accounts_right_above() {
    let app = TestApp::new().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let me = seed.account("me", None);
    let people = ["one", "two", "three", "four"].map(|name| {
        let person = seed.account(name, None);
        seed.follow(me, person);
        seed.follow(person, me);
        seed.follow_request(person, me);
        seed.block(me, person);
        seed.mute(me, person);
        AccountId::from(person)
    });
    seed.write(app.db()).await;
    let (db, me, now) = (app.db(), AccountId::from(me), app.app.clock.now());
    let pages = async |cursor: Cursor| {
        let muted = relationship::list_mutes(db, me, &cursor, now).await.unwrap();
        [
            follow::list_following(db, me, Some(me), &cursor, now).await.unwrap(),
            follow::list_followers(db, me, Some(me), &cursor, now).await.unwrap(),
            follow::list_requests(db, me, &cursor).await.unwrap(),
            relationship::list_blocks(db, me, &cursor).await.unwrap(),
            muted.into_iter().map(|muted| muted.listed).collect(),
        ]
    };
    for (number, page) in pages(Cursor::first(4)).await.into_iter().enumerate() {
        let oldest = i64::from(page[3].row_id);
        let above = pages(Cursor { min_id: Some(oldest), ..Cursor::first(2) }).await[number].clone();
        let newest = pages(Cursor { since_id: Some(oldest), ..Cursor::first(2) }).await[number].clone();
        let ids = |page: Vec<Listed>| page.into_iter().map(|listed| listed.account_id).collect::<Vec<_>>();
        assert_eq!((ids(above), ids(newest)), (vec![people[2], people[1]], vec![people[3], people[2]]), "{number}");
    }
}

#[tokio::test]
async fn familiar_followers_are_followed_by_the_caller() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave, erin] = app.accounts(["alice", "bob", "carol", "dave", "erin"]).await;
    for (one, other) in [(&alice, &bob), (&alice, &carol), (&bob, &dave), (&carol, &dave), (&erin, &dave)] {
        one.follow(&other).ok().await;
    }
    let path = format!("/api/v1/accounts/familiar_followers?id[]={}&id[]={}&id[]=1", dave.id(), erin.id());
    let of_dave = || async {
        let found = alice.get(&path).ok().await;
        crate::platform::contract::check("FamiliarFollowers[]", &found);
        assert_eq!((found.as_array().unwrap().len(), &found[1]["accounts"]), (2, &json!([])), "{found}");
        let accounts = found[0]["accounts"].as_array().unwrap().clone();
        accounts.iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of_dave().await, ["bob", "carol"]);
    // Some clients send the parameters of a GET request in a body.
    let ids = json!({ "id": [dave.id().to_string(), erin.id().to_string(), "1"] });
    let asked = alice.get("/api/v1/accounts/familiar_followers").json(&ids).ok().await;
    assert_eq!(asked, alice.get(&path).ok().await);
    alice.get("/api/v1/accounts/familiar_followers").json(&json!(["no object"])).fails(400).await;
    let hide = |person: &Client| person.update_profile(json!({"hide_collections": true}));
    hide(&carol).ok().await;
    assert_eq!(of_dave().await, ["bob"], "Carol hides her follows");
    hide(&dave).ok().await;
    assert!(of_dave().await.is_empty());
}
