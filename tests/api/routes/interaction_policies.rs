//! Who may reply, favourite and boost: policies of statuses and of people, requests and decisions, and what authors of
//! threads may do.

use serde_json::{Value, json};

use crate::harness::{Client, Published, TestApp, id, status_path};
use crate::platform::contract;
use crate::routes::notifications::{index, types};
use crate::routes::references::show;

/// A status of `author` with a policy of one rule.
async fn publish(author: &Client, rule: &str, groups: &Value) -> Published {
    author.publish(json!({ "status": "hello", "interaction_policy": { rule: groups } })).await
}

async fn reply(author: &Client, target: &Value) -> Published {
    author.publish(json!({ "status": "an answer", "in_reply_to_id": id(target) })).await
}

/// What `viewer` may do with the status.
async fn may(viewer: &Client, status: &Value, rule: &str) -> Value {
    show(viewer, status).await["interaction_policy"][rule]["current_user"].clone()
}

async fn requests(author: &Client, state: &str) -> Vec<Value> {
    let page = author.get(&format!("/api/v1/interaction_requests{state}")).ok().await;
    contract::check("InteractionRequest[]", &page);
    page.as_array().unwrap().clone()
}

async fn decide(author: &Client, request: &Value, what: &str) -> Value {
    author.post(&format!("/api/v1/interaction_requests/{}/{what}", id(request))).ok().await
}

/// The ids below `status` as `viewer` sees its thread.
async fn below(viewer: &Client, status: &Value) -> Vec<String> {
    let context = viewer.get(&status_path(status, "/context")).ok().await;
    context["descendants"].as_array().unwrap().iter().map(|one| id(one).to_owned()).collect()
}

#[tokio::test]
async fn each_rule_is_enforced_for_each_group() {
    let app = TestApp::new().await;
    let [alice, follower, followed, mentioned, stranger] =
        app.accounts(["alice", "follower", "followed", "mentioned", "stranger"]).await;
    follower.follow(&alice).ok().await;
    alice.follow(&followed).ok().await;
    let people = [("followers", &follower), ("following", &followed), ("mentioned", &mentioned), ("none", &stranger)];
    for (rule, act) in [("can_reply", None), ("can_favourite", Some("/favourite")), ("can_reblog", Some("/reblog"))] {
        for group in ["followers", "following", "mentioned"] {
            let body = json!({ "status": "hello @mentioned", "interaction_policy": { rule: { "always": [group] } } });
            let status = alice.publish(&body).await;
            contract::check("Status", &status);
            assert_eq!(status["interaction_policy"][rule]["always"], json!([group]));
            for (name, person) in people {
                // Someone who is mentioned may always reply.
                let allowed = name == group || (name == "mentioned" && rule == "can_reply");
                let expected = if allowed { "automatic" } else { "denied" };
                assert_eq!(may(person, &status, rule).await, expected, "{rule} {group} {name}");
                let response = match act {
                    Some(path) => person.post(&status_path(&status, path)).send().await,
                    None => {
                        let body = json!({ "status": "an answer", "in_reply_to_id": id(&status) });
                        person.post("/api/v1/statuses").json(&body).send().await
                    }
                };
                assert_eq!(
                    response.status,
                    if allowed { 200 } else { 403 },
                    "{rule} {group} {name}: {}",
                    response.text()
                );
                if !allowed {
                    let error = response.json()["error"].as_str().unwrap().to_owned();
                    assert!(error.starts_with("The author of this post does not let you"), "{error}");
                }
            }
            assert_eq!(may(&alice, &status, rule).await, "automatic", "one's own");
        }
    }
    let open = alice.publish("hello").await;
    assert!(open.get("interaction_policy").is_none(), "everyone may do everything");
}

#[tokio::test]
async fn reply_is_hidden_until_it_is_approved() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.follow(&bob).ok().await;
    app.run_jobs().await;
    let policy_of = json!({ "always": ["followers"], "with_approval": ["public"] });
    let target = publish(&alice, "can_reply", &policy_of).await;
    assert_eq!(may(&bob, &target, "can_reply").await, "manual");
    let body = json!({ "status": "an answer @carol", "in_reply_to_id": id(&target) });
    let response = bob.publish(&body).await;
    contract::check("Status", &response);
    assert_eq!(response["approval"], "pending");
    app.run_jobs().await;
    assert_eq!(show(&alice, &target).await["replies_count"], 0);
    assert_eq!(types(&index(&alice, "").await), ["pending.reply"]);
    assert_eq!(index(&alice, "").await[0]["status"]["id"], response["id"]);
    assert_eq!(types(&index(&carol, "").await), [""; 0]);
    carol.status(&response).fails(404).await;
    app.anonymous().status(&response).fails(404).await;
    assert_eq!(below(&carol, &target).await, [""; 0]);
    assert_eq!(below(&bob, &target).await, [id(&response)], "its author sees it");
    assert_eq!(carol.get("/api/v1/timelines/home").ok().await, json!([]));
    // Nobody else decides.
    let request = requests(&alice, "").await.remove(0);
    assert_eq!((&request["type"], &request["reply"]["id"]), (&json!("reply"), &response["id"]));
    bob.post(&format!("/api/v1/interaction_requests/{}/authorize", id(&request))).fails(404).await;

    let decided = decide(&alice, &request, "authorize").await;
    contract::check("InteractionRequest", &decided);
    assert_eq!((&decided["state"], &decided["rejected_at"]), (&json!("accepted"), &Value::Null));
    app.run_jobs().await;
    let shown = show(&carol, &response).await;
    assert_eq!(shown.get("approval"), None);
    assert_eq!(show(&alice, &target).await["replies_count"], 1);
    assert_eq!(types(&index(&carol, "").await), ["mention"]);
    assert_eq!(below(&carol, &target).await, [id(&response)]);
    alice.post(&format!("/api/v1/interaction_requests/{}/reject", id(&request))).fails(404).await;

    let second = reply(&bob, &target).await;
    let request = requests(&alice, "").await.remove(0);
    decide(&alice, &request, "reject").await;
    assert_eq!(show(&bob, &second).await["approval"], "rejected");
    carol.status(&second).fails(404).await;
    alice.status(&second).fails(404).await;
    assert_eq!(show(&alice, &target).await["replies_count"], 1);
    bob.delete_status(&second).ok().await;
    assert_eq!(show(&alice, &target).await["replies_count"], 1, "it was never counted");
    assert_eq!(requests(&alice, "?state=rejected").await.len(), 0, "it goes with the reply");
}

#[tokio::test]
async fn favourite_and_boost_wait_for_approval() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.follow(&bob).ok().await;
    app.run_jobs().await;
    let rule = json!({ "with_approval": ["public"] });
    let body = json!({ "status": "hello", "interaction_policy": { "can_favourite": rule, "can_reblog": rule } });
    let target = alice.publish(&body).await;
    let liked = bob.post(&status_path(&target, "/favourite")).ok().await;
    assert_eq!((&liked["favourited"], &liked["favourites_count"]), (&json!(true), &json!(0)));
    bob.post(&status_path(&target, "/favourite")).ok().await;
    let boost = bob.post(&status_path(&target, "/reblog")).ok().await;
    assert_eq!((&boost["approval"], &boost["reblog"]["reblogged"]), (&json!("pending"), &json!(true)));
    assert_eq!(boost["reblog"]["reblogs_count"], 0);
    app.run_jobs().await;
    assert_eq!(types(&index(&alice, "").await), ["pending.reblog", "pending.favourite"]);
    assert_eq!(carol.get("/api/v1/timelines/home").ok().await, json!([]));
    let favourited_by = alice.get(&status_path(&target, "/favourited_by")).ok().await;
    assert_eq!(favourited_by, json!([]));

    for request in requests(&alice, "").await {
        decide(&alice, &request, "authorize").await;
    }
    app.run_jobs().await;
    let seen = show(&bob, &target).await;
    assert_eq!((&seen["favourites_count"], &seen["reblogs_count"]), (&json!(1), &json!(1)));
    assert_eq!(carol.get("/api/v1/timelines/home").ok().await[0]["reblog"]["id"], target["id"]);
    // What was withdrawn waits no more.
    carol.post(&status_path(&target, "/favourite")).ok().await;
    assert_eq!(requests(&alice, "").await.len(), 1);
    let undone = carol.post(&status_path(&target, "/unfavourite")).ok().await;
    assert_eq!((&undone["favourited"], requests(&alice, "").await.len()), (&json!(false), 0));
    carol.post(&status_path(&target, "/reblog")).ok().await;
    carol.post(&status_path(&target, "/unreblog")).ok().await;
    assert_eq!((requests(&alice, "").await.len(), &show(&bob, &target).await["reblogs_count"]), (0, &json!(1)));
    carol.post(&status_path(&target, "/favourite")).ok().await;
    let request = requests(&alice, "").await.remove(0);
    decide(&alice, &request, "reject").await;
    assert_eq!(show(&carol, &target).await["favourited"], false);
}

#[tokio::test]
async fn quote_waits_for_approval() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let target = publish(&alice, "can_quote", &json!({ "with_approval": ["public"] })).await;
    let approval = &show(&bob, &target).await["quote_approval"];
    assert_eq!(approval, &json!({ "automatic": [], "manual": ["public"], "current_user": "manual" }));
    let ask = json!({ "status": "look", "quoted_status_id": id(&target) });
    let [one, two] = [bob.publish(&ask).await, bob.publish(&ask).await];
    assert_eq!(one["quote"], json!({ "state": "pending", "quoted_status": null }));
    assert_eq!(types(&index(&alice, "").await), ["pending.quote", "pending.quote"]);
    assert_eq!(alice.get(&status_path(&target, "/quotes")).ok().await, json!([]));
    assert_eq!(show(&alice, &target).await["quotes_count"], 0);
    let waiting = requests(&alice, "").await;
    assert_eq!(waiting[1]["quote"]["id"], one["id"]);
    decide(&alice, &waiting[1], "authorize").await;
    decide(&alice, &waiting[0], "reject").await;
    assert_eq!(show(&bob, &one).await["quote"]["id"], target["id"]);
    assert_eq!(show(&bob, &two).await["quote"], json!({ "state": "rejected", "quoted_status": null }));
    assert_eq!(show(&alice, &target).await["quotes_count"], 1);
    assert!(types(&index(&alice, "").await).contains(&"quote"));
    // An edit does not get a rejected quote accepted.
    let edited = bob.edit(&two, "look again").ok().await;
    assert_eq!(edited["quote"]["state"], "rejected");
}

#[tokio::test]
async fn defaults_apply_to_new_statuses_of_a_visibility() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let defaults = alice.get("/api/v1/interaction_policies/defaults").ok().await;
    contract::check("DefaultPolicies", &defaults);
    assert_eq!(defaults["public"]["can_reply"]["always"], json!(["public"]));
    let rules = json!({ "unlisted": { "can_reply": { "always": ["followers"], "with_approval": ["public"] } } });
    let set = alice.patch("/api/v1/interaction_policies/defaults").json(&rules).ok().await;
    contract::check("DefaultPolicies", &set);
    assert_eq!(set["unlisted"]["can_reply"]["manual_approval"], json!(["public"]));
    let [public, unlisted] = [alice.publish("hello").await, alice.publish_to("unlisted", "hello").await];
    assert!(public.get("interaction_policy").is_none());
    assert_eq!(may(&bob, &unlisted, "can_reply").await, "manual");
    // Named on posting, and changed by an edit and by its own route.
    let open = json!({ "status": "hello", "visibility": "unlisted",
        "interaction_policy": { "can_reply": { "always": ["public"] } } });
    let open = alice.publish(&open).await;
    assert!(open.get("interaction_policy").is_none());
    let closed =
        json!({ "status": "hello", "interaction_policy": { "can_reblog": { "always": [] , "with_approval": [] } } });
    let edited = alice.edit(&open, &closed).ok().await;
    assert_eq!((may(&bob, &open, "can_reblog").await, &edited["edited_at"]), (json!("denied"), &Value::Null));
    let path = status_path(&open, "/interaction_policy");
    alice.put(&path).json(&json!({ "interaction_policy": { "can_reblog": { "always": ["author"] } } })).ok().await;
    assert_eq!(may(&bob, &open, "can_reblog").await, "denied");
    let wrong = json!({ "interaction_policy": { "can_reblog": { "always": ["friends"] } } });
    let error = alice.put(&path).json(&wrong).fails(422).await;
    assert!(error.contains("interaction_policy[can_reblog][always]"), "{error}");
    // As a form, too.
    let form = [("status", "hi"), ("interaction_policy[can_favourite][always][]", "followers")];
    let by_form = alice.post("/api/v1/statuses").form(&form).ok().await;
    assert_eq!(by_form["interaction_policy"]["can_favourite"]["always"], json!(["followers"]));
    let back = json!({ "unlisted": {} });
    let set = alice.patch("/api/v1/interaction_policies/defaults").json(&back).ok().await;
    assert_eq!(set["unlisted"]["can_reply"]["always"], json!(["public"]));
    // A scheduled status keeps its policy.
    let later = json!({ "status": "later", "scheduled_at": "2026-01-15T14:00:00Z",
        "interaction_policy": { "can_reply": { "always": ["mentioned"] } } });
    alice.publish(&later).await;
    app.app.clock.advance(chrono::Duration::hours(3));
    app.run_jobs().await;
    let published = alice.get(&format!("/api/v1/accounts/{}/statuses?limit=1", alice.id())).ok().await[0].clone();
    assert_eq!(published["interaction_policy"]["can_reply"]["always"], json!(["mentioned"]));
}

#[tokio::test]
async fn reply_is_taken_out_of_a_thread_and_put_back() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let root = alice.publish("hello").await;
    let first = reply(&bob, &root).await;
    let second = reply(&carol, &first).await;
    let path = |status: &Value, what: &str| status_path(status, &format!("/{what}_thread"));
    carol.post(&path(&first, "remove_from")).fails(403).await;
    bob.post(&path(&first, "remove_from")).fails(403).await;
    alice.post(&path(&root, "remove_from")).fails(404).await;
    alice.post(&path(&first, "remove_from")).ok().await;
    assert_eq!(show(&bob, &first).await["approval"], "removed");
    carol.status(&first).fails(404).await;
    alice.status(&first).fails(404).await;
    app.anonymous().status(&first).fails(404).await;
    assert_eq!(show(&alice, &root).await["replies_count"], 0);
    assert!(!below(&carol, &root).await.contains(&id(&first).to_owned()));
    let removed = requests(&alice, "?state=revoked").await;
    assert_eq!(removed[0]["reply"]["id"], first["id"]);
    // The author of what was replied to may do it as well, and each undoes only what they did.
    alice.post(&path(&second, "remove_from")).ok().await;
    bob.post(&path(&second, "restore_to")).fails(404).await;
    bob.post(&path(&first, "restore_to")).fails(404).await;
    alice.post(&path(&first, "restore_to")).ok().await;
    assert_eq!(show(&carol, &first).await.get("approval"), None);
    assert_eq!(show(&alice, &root).await["replies_count"], 1);
    alice.post(&path(&first, "restore_to")).fails(404).await;
    alice.post(&path(&second, "restore_to")).ok().await;
    assert_eq!(show(&bob, &second).await["content"], "<p>an answer</p>");
}

#[tokio::test]
async fn closed_thread_takes_no_reply_of_others() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let root = alice.publish("hello").await;
    let first = reply(&bob, &root).await;
    bob.post(&status_path(&root, "/close_thread")).fails(403).await;
    alice.post(&status_path(&first, "/close_thread")).ok().await;
    for target in [&*root, &first] {
        let body = json!({ "status": "an answer", "in_reply_to_id": id(target) });
        let error = bob.post("/api/v1/statuses").json(&body).fails(403).await;
        assert!(error.contains("closed"), "{error}");
    }
    reply(&alice, &first).await;
    alice.post(&status_path(&root, "/reopen_thread")).ok().await;
    reply(&bob, &root).await;
}

#[tokio::test]
async fn requests_that_wait_are_bounded_and_paged() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rule = json!({ "with_approval": ["public"] });
    let mut targets = Vec::new();
    for _ in 0..3 {
        targets.push(publish(&alice, "can_favourite", &rule).await);
        bob.post(&status_path(&targets[targets.len() - 1], "/favourite")).ok().await;
    }
    let page = alice.get("/api/v1/interaction_requests?limit=2").send().await;
    assert_eq!(page.json().as_array().unwrap().len(), 2);
    assert!(page.header("link").contains("max_id="), "{}", page.header("link"));
    let sql = format!(
        "INSERT INTO interaction_requests (id, kind, target_id, author_id, account_id, uri, state, created_at)
         SELECT q.id + n.value, q.kind, q.target_id, q.author_id, q.account_id, q.uri || n.value, q.state, q.created_at
         FROM (SELECT * FROM interaction_requests LIMIT 1) q CROSS JOIN ({}) n",
        (1..=297).map(|n| format!("SELECT {n} AS value")).collect::<Vec<_>>().join(" UNION ALL ")
    );
    app.execute(&sql).await;
    let last = publish(&alice, "can_favourite", &rule).await;
    let error = bob.post(&status_path(&last, "/favourite")).fails(403).await;
    assert!(error.contains("Too many"), "{error}");
    let carol = app.account("carol").await;
    carol.post(&status_path(&last, "/favourite")).ok().await;
}
