//! Concurrent requests: each use case with a counter, requested eight times together, counts as often as it took
//! effect.
//!
//! On SQLite the single writer serialises them; on PostgreSQL (READ COMMITTED) locks and constraints do.

use axum::http::StatusCode;
use serde_json::{Value, json};
use service::oauth::exchange;
use service::oauth::exchange::Request as TokenRequest;

use crate::harness::{Answer, Client, RequestBuilder, TestApp, status_path};
use crate::routes::conversations::open_accounts;
use crate::seed::Seed;

/// Number of concurrent requests.
const TOGETHER: usize = 8;

/// Sends `requests` together, each on a separate task.
async fn together(requests: impl IntoIterator<Item = RequestBuilder>) -> Vec<Answer> {
    let running: Vec<_> = requests.into_iter().map(|request| tokio::spawn(request.send())).collect();
    let mut answers = Vec::new();
    for task in running {
        let answer = task.await.unwrap();
        assert!(answer.status.as_u16() < 500, "{}", answer.text());
        answers.push(answer);
    }
    answers
}

/// Sends `request` eight times together; returns the number of 200 responses.
async fn eight(request: impl Fn() -> RequestBuilder) -> usize {
    let answers = together((0..TOGETHER).map(|_| request())).await;
    answers.iter().filter(|answer| answer.status == StatusCode::OK).count()
}

async fn statuses_count(person: &Client) -> i64 {
    person.server.number(&format!("SELECT statuses_count FROM accounts WHERE id = {}", person.id())).await
}

async fn of_status(app: &TestApp, id: &str, column: &str) -> i64 {
    app.number(&format!("SELECT {column} FROM statuses WHERE id = {id}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn idempotency_key_publishes_once_under_concurrency() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for round in 0..4 {
        let answers = together((0..TOGETHER).map(|_| {
            let key = format!("round {round}");
            alice.post("/api/v1/statuses").header("idempotency-key", &key).json(&json!({"status": "once"}))
        }))
        .await;
        let mut ids: Vec<String> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 1, "all get the same status");
        assert_eq!(statuses_count(&alice).await, round + 1);
    }
    assert_eq!(app.count("statuses").await, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn idempotency_key_of_deleted_status_publishes_again() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let keyed = || alice.post("/api/v1/statuses").header("idempotency-key", "again").json(&json!({"status": "again"}));
    let first = keyed().ok().await;
    alice.delete_status(&first).ok().await;

    eight(keyed).await;

    assert_eq!(statuses_count(&alice).await, 1);
    assert_eq!(app.count("statuses").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_status_counts_once_and_each_deletion_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let parent = bob.publish("a question").await.into_id();
    alice.publish("kept").await;

    let answer = || alice.post("/api/v1/statuses").json(&json!({"status": "answer", "in_reply_to_id": parent}));
    assert_eq!(eight(answer).await, TOGETHER);
    assert_eq!((statuses_count(&alice).await, of_status(&app, &parent, "replies_count").await), (9, 8));

    let reply = alice.reply(&parent, "one more").await.into_id();
    assert_eq!(eight(|| alice.delete_status(&reply)).await, 1, "the others find nothing");
    assert_eq!((statuses_count(&alice).await, of_status(&app, &parent, "replies_count").await), (9, 8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reblogs_and_favourites_count_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("good").await.into_id();
    bob.publish("kept").await;
    for (there, back, column) in
        [("/reblog", "/unreblog", "reblogs_count"), ("/favourite", "/unfavourite", "favourites_count")]
    {
        assert_eq!(eight(|| bob.post(&status_path(&status, there))).await, TOGETHER);
        assert_eq!(of_status(&app, &status, column).await, 1, "{column}");
        assert_eq!(eight(|| bob.post(&status_path(&status, back))).await, TOGETHER);
        assert_eq!(of_status(&app, &status, column).await, 0, "{column}");
    }
    assert_eq!(statuses_count(&bob).await, 1);
    assert_eq!(app.count("notifications").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn follows_count_once() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.update_profile(json!({"locked": true})).ok().await;
    let counts = |person: &Client| {
        let id = person.id();
        let app = app.clone();
        async move {
            let sql = format!("SELECT followers_count * 100 + following_count FROM accounts WHERE id = {id}");
            app.number(&sql).await
        }
    };
    assert_eq!(eight(|| alice.follow(&bob)).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&bob).await), (1, 100));
    assert_eq!(eight(|| alice.unfollow(&bob)).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&bob).await), (0, 0));

    alice.follow(&carol).ok().await;
    assert_eq!(eight(|| carol.authorize(&alice)).await, 1);
    assert_eq!((counts(&alice).await, counts(&carol).await), (1, 100));
    assert_eq!(eight(|| carol.block(&alice)).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&carol).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conversation_is_shared_and_ends_with_its_last_status() {
    let app = TestApp::new().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let rows = "SELECT COUNT(*) FROM account_conversations";
    let first = alice.publish_to("direct", "@bob first").await.into_id();
    let answer = |person: &Client, other: &str| {
        let text = format!("@{other} answer");
        person.post("/api/v1/statuses").json(&json!({"status": text, "visibility": "direct", "in_reply_to_id": first}))
    };
    let requests =
        (0..TOGETHER).map(|number| if number % 2 == 0 { answer(&alice, "bob") } else { answer(&bob, "alice") });
    let answers = together(requests).await;
    assert_eq!(app.number(rows).await, 2);
    assert_eq!(app.count("account_conversation_statuses").await, 18);
    let last = "SELECT COUNT(*) FROM account_conversations WHERE last_status_id = (SELECT MAX(id) FROM statuses)";
    assert_eq!(app.number(last).await, 2);

    let mut statuses: Vec<(Client, String)> = vec![(alice.clone(), first)];
    for (index, answer) in answers.iter().enumerate() {
        let author = if index % 2 == 0 { &alice } else { &bob };
        statuses.push((author.clone(), answer.json()["id"].as_str().unwrap().to_owned()));
    }
    let (kept, gone) = statuses.split_first().unwrap();
    together(gone.iter().map(|(author, id)| author.delete_status(&id))).await;
    let left = format!("{rows} WHERE last_status_id = {}", kept.1);
    assert_eq!((app.number(rows).await, app.number(&left).await), (2, 2));
    assert_eq!(eight(|| kept.0.delete_status(&kept.1)).await, 1);
    assert_eq!(app.number(rows).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn announcement_counts_each_reaction_once_and_has_eight_at_most() {
    let app = TestApp::new().await;
    let names = ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1"];
    let people = app.accounts(names).await;
    let path = crate::routes::announcements::announce(&app, "hello").await;
    let emoji = |number: usize| format!("{path}/reactions/%F0%9F%8D%{:02X}", 0x80 + number);
    assert_eq!(eight(|| people[0].put(&emoji(0))).await, 1, "the others get an error");
    assert!(together(people[1..].iter().map(|person| person.put(&emoji(0)))).await.iter().all(|one| one.status == 200));
    let count = "SELECT count FROM announcement_reaction_counts";
    assert_eq!(app.number(count).await, 8);
    let answers = together((1..=TOGETHER).map(|number| people[0].put(&emoji(number)))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), 7);
    assert_eq!(app.count("announcement_reaction_counts").await, 8);
    assert_eq!(eight(|| people[0].delete(&emoji(0))).await, 1);
    assert_eq!(app.number(&format!("{count} ORDER BY id")).await, 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pins_stay_within_their_limit() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let most = usize::try_from(app.app.settings().max_pinned_statuses).unwrap();
    let mut statuses = Vec::new();
    for _ in 0..most + 3 {
        statuses.push(alice.publish("pinned").await.into_id());
    }
    let answers = together(statuses.iter().map(|id| alice.pin(&id))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), most);
    assert_eq!(app.count("status_pins").await, i64::try_from(most).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_and_their_members_stay_within_their_limits() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let create = || alice.post("/api/v1/lists").json(&json!({"title": "a list"}));
    let list = create().ok().await["id"].as_str().unwrap().to_owned();
    for _ in 1..46 {
        create().ok().await;
    }
    assert_eq!(eight(create).await, 4);
    assert_eq!(app.count("lists").await, 50);

    alice.follow(&bob).ok().await;
    let member = json!({"account_ids": [bob.id().to_string()]});
    let path = format!("/api/v1/lists/{list}/accounts");
    assert_eq!(eight(|| alice.post(&path).json(&member)).await, 1, "the others find him there");
    together([
        alice.unfollow(&bob),
        alice.delete(&path).json(&member),
        alice.post(&path).json(&member),
        alice.post(&path).json(&member),
    ])
    .await;
    assert_eq!(app.count("list_accounts").await, 0, "all members are followed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hashtags_are_followed_once_and_featured_within_their_limit() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    assert_eq!(eight(|| alice.post("/api/v1/tags/rooks/follow")).await, TOGETHER);
    assert_eq!(app.count("tag_follows").await, 1);
    assert_eq!(app.count("tags").await, 1);
    let feature = |name: String| alice.post("/api/v1/featured_tags").json(&json!({ "name": name }));
    assert_eq!(eight(|| feature("rooks".to_owned())).await, 1);
    for n in 0..5 {
        feature(format!("rook{n}")).ok().await;
    }
    let answers = together((0..TOGETHER).map(|n| feature(format!("crow{n}")))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), 4);
    assert_eq!(app.count("featured_tags").await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filters_stay_within_their_limits() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let keywords = |number: usize| vec![json!({"keyword": "a"}); number];
    let body = |number| json!({"title": "a", "context": ["home"], "keywords_attributes": keywords(number)});
    let filter = alice.post("/api/v2/filters").json(&body(497)).ok().await;
    assert_eq!(eight(|| alice.post("/api/v2/filters").json(&body(1))).await, 3);
    assert_eq!(app.count("filter_keywords").await, 500);

    let status = alice.publish("a").await.into_id();
    let path = format!("/api/v2/filters/{}/statuses", filter["id"].as_str().unwrap());
    assert_eq!(eight(|| alice.post(&path).json(&json!({"status_id": status}))).await, 1, "once in a filter");
    let version = format!("SELECT filters_version FROM accounts WHERE id = {}", alice.id());
    assert_eq!(app.number(&version).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_edit_leaves_the_revision_before_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish("revision none #tag").await.into_id();
    let answers = together((0..TOGETHER).map(|number| alice.edit(&status, &format!("revision {number} #tag")))).await;
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));

    let history = alice.get(&status_path(&status, "/history")).ok().await;
    let mut texts: Vec<&str> = history.as_array().unwrap().iter().filter_map(|edit| edit["content"].as_str()).collect();
    assert_eq!(texts.len(), TOGETHER + 1);
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), TOGETHER + 1, "no revision is duplicated or missing");
    assert_eq!(app.count("status_tags").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn status_deletion_ends_concurrent_actions_on_it() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for _ in 0..4 {
        let parent = alice.publish("soon gone").await.into_id();
        let reply = alice.reply(&parent, "and this").await.into_id();
        let requests = vec![
            alice.delete_status(&parent),
            alice.delete_status(&reply),
            alice.reblog(&parent),
            bob.reblog(&parent),
            carol.reblog(&parent),
            bob.favourite(&parent),
            carol.bookmark(&reply),
            alice.post("/api/v1/statuses").json(&json!({"status": "too late", "in_reply_to_id": reply})),
        ];
        together(requests).await;
    }
    for person in [&alice, &bob, &carol] {
        let sql = format!("SELECT COUNT(*) FROM statuses WHERE account_id = {}", person.id());
        assert_eq!(statuses_count(person).await, app.number(&sql).await, "{}", person.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_vote_counts_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for (multiple, most) in [(false, 1), (true, 4)] {
        let poll = json!({"options": ["a", "b", "c", "d"], "expires_in": 600, "multiple": multiple});
        let status = alice.post("/api/v1/statuses").json(&json!({"status": "which?", "poll": poll})).ok().await;
        let path = format!("/api/v1/polls/{}/votes", status["poll"]["id"].as_str().unwrap());
        let votes = (0..TOGETHER).map(|number| bob.post(&path).json(&json!({"choices": [number % 4]})));
        let answers = together(votes).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), most);
        let poll = alice.status(&status).ok().await["poll"].clone();
        assert_eq!((&poll["votes_count"], &poll["voters_count"]), (&json!(most), &json!(1)));
    }
    assert_eq!(app.count("poll_votes").await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn votes_during_a_poll_edit_are_counted_or_discarded() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for round in 0..4 {
        let poll = |second: &str| json!({"options": ["a", second], "expires_in": 600});
        let status = alice.post("/api/v1/statuses").json(&json!({"status": "which?", "poll": poll("b")})).ok().await;
        let id = status["id"].as_str().unwrap();
        let path = format!("/api/v1/polls/{}/votes", status["poll"]["id"].as_str().unwrap());
        let other = poll(&format!("round {round}"));
        let mut requests = vec![alice.edit(&id, json!({"status": "which?", "poll": other}))];
        requests.extend([&bob, &carol].map(|voter| voter.post(&path).json(&json!({"choices": [1]}))));
        requests.extend([alice.delete_status(&id)].into_iter().filter(|_| round == 3));
        together(requests).await;
    }
    let differing = "SELECT COUNT(*) FROM polls p
        WHERE p.voters_count <> (SELECT COUNT(*) FROM poll_votes v WHERE v.poll_id = p.id)
           OR p.voters_count <> (SELECT SUM(o.votes_count) FROM poll_options o WHERE o.poll_id = p.id)";
    assert_eq!(app.number(differing).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn schedules_stop_at_the_limit_of_a_day() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let later = |key: usize| {
        let body = json!({"status": "later", "scheduled_at": "2026-02-01T12:00:00Z"});
        alice.post("/api/v1/statuses").header("idempotency-key", &format!("key {key}")).json(&body)
    };
    let mut made = 0;
    for batch in 0..4 {
        let answers = together((0..TOGETHER).map(|number| later(batch * TOGETHER + number))).await;
        made += answers.iter().filter(|answer| answer.status == StatusCode::OK).count();
    }
    assert_eq!(made, 25);
    assert_eq!(eight(|| later(0)).await, TOGETHER, "the same one again");
    assert_eq!(app.count("scheduled_statuses").await, 25);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn attachment_belongs_to_one_status_under_concurrency() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let upload = alice.upload(&crate::routes::media::png(8, 8));
    let media = upload.ok().await["id"].clone();
    let request = |number: usize| {
        let at = if number.is_multiple_of(2) { json!("2026-02-01T12:00:00Z") } else { Value::Null };
        let body = json!({"status": number.to_string(), "media_ids": [media], "scheduled_at": at});
        alice.post("/api/v1/statuses").json(&body)
    };
    let answers = together((0..TOGETHER).map(request)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), 1);
    let made = "SELECT (SELECT COUNT(*) FROM statuses) + (SELECT COUNT(*) FROM scheduled_statuses)";
    assert_eq!(app.number(made).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn application_gets_one_token_under_concurrency() {
    let app = TestApp::new().await;
    let made = app
        .anonymous()
        .post("/api/v1/apps")
        .json(&json!({"client_name": "Eight", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}))
        .ok()
        .await;
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    let running: Vec<_> = (0..TOGETHER)
        .map(|_| {
            let cx = app.app.clone();
            let request = TokenRequest {
                grant_type: Some("client_credentials".to_owned()),
                credentials: service::oauth::Credentials {
                    client_id: Some(text("client_id")),
                    client_secret: Some(text("client_secret").into()),
                },
                ..TokenRequest::default()
            };
            tokio::spawn(async move { exchange::exchange(&cx, &request).await.unwrap().text.expose().to_owned() })
        })
        .collect();
    let mut tokens = Vec::new();
    for task in running {
        tokens.push(task.await.unwrap());
    }
    tokens.dedup();
    assert_eq!(tokens.len(), 1);
    assert_eq!(app.count("oauth_tokens").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filtered_mentions_make_one_request() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let requests = "/api/v1/notifications/requests";
    let mention = || bob.post("/api/v1/statuses").json(&json!({"status": "@alice psst", "visibility": "direct"}));
    for action in ["dismiss", "accept"] {
        assert_eq!(eight(mention).await, TOGETHER);
        let all = alice.get(requests).ok().await;
        assert_eq!((all.as_array().map(Vec::len), &all[0]["notifications_count"]), (Some(1), &json!("8")));
        let path = format!("{requests}/{}/{action}", all[0]["id"].as_str().unwrap());
        assert_eq!(eight(|| alice.post(&path)).await, 1, "the others find nothing");
        app.run_jobs().await;
        let left = if action == "accept" { 8 } else { 0 };
        assert_eq!(app.count("notifications").await, left);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn mentions_while_a_request_is_accepted_are_merged() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let requests = "/api/v1/notifications/requests";
    let mention = || bob.post("/api/v1/statuses").json(&json!({"status": "@alice psst", "visibility": "direct"}));
    mention().ok().await;
    let request = alice.get(requests).ok().await[0]["id"].clone();
    let accept = alice.post(&format!("{requests}/accept")).json(&json!({"id": [request]}));
    together((0..TOGETHER).map(|_| mention()).chain([accept])).await;
    app.run_jobs().await;

    assert_eq!(app.count("notifications WHERE NOT filtered").await, 9);
    assert_eq!(app.count("notification_requests").await, 0);
    assert_eq!(alice.get(&format!("{requests}/merged")).ok().await["merged"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn favourites_that_come_and_go_leave_no_group() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let people = app.accounts(["b", "c", "d", "e"]).await;
    let status = alice.publish("good").await.into_id();
    for _ in 0..3 {
        let all = people
            .iter()
            .flat_map(|person| ["/favourite", "/unfavourite"].map(|act| person.post(&status_path(&status, act))));
        together(all).await;
    }
    let members = app.number("SELECT COUNT(DISTINCT group_key) FROM notifications").await;
    assert_eq!(app.count("notification_groups").await, members);
    together(people.iter().map(|person| person.unfavourite(&status))).await;
    assert_eq!(app.count("notification_groups").await, 0);
    together(people.iter().map(|person| person.favourite(&status))).await;
    let page = alice.get("/api/v2/notifications").ok().await;
    assert_eq!(page["notification_groups"][0]["notifications_count"], 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn values_of_a_policy_are_changed_together() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let path = "/api/v2/notifications/policy";
    let names = ["for_not_following", "for_not_followers", "for_new_accounts", "for_private_mentions"];
    together(names.iter().map(|name| alice.patch(path).json(&json!({ (*name): "drop" })))).await;
    let policy = alice.get(path).ok().await;
    assert!(names.iter().all(|name| policy[*name] == "drop"), "{policy}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn suggestion_is_dismissed_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let path = format!("/api/v1/suggestions/{}", bob.id());
    assert_eq!(eight(|| alice.delete(&path)).await, TOGETHER);
    assert_eq!(app.count("suggestion_dismissals").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn references_are_counted_as_they_come_and_go() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let one = alice.publish("one").await.into_id();
    let two = alice.publish("two").await.into_id();
    let text = |first: &str, second: &str| {
        format!("RT https://example.test/@alice/{first} QT https://example.test/@alice/{second}")
    };
    let new = |n: usize| {
        let author = if n.is_multiple_of(2) { &alice } else { &bob };
        let text = if n.is_multiple_of(3) { text(&one, &two) } else { text(&two, &one) };
        author.post("/api/v1/statuses").json(&json!({ "status": text }))
    };
    let answers = together((0..TOGETHER).map(new)).await;
    let made: Vec<Value> = answers.iter().map(Answer::json).collect();
    for id in [&one, &two] {
        assert_eq!(of_status(&app, id, "referred_by_count").await, 8);
    }
    let ids: Vec<(usize, &str)> =
        made.iter().enumerate().map(|(n, status)| (n, status["id"].as_str().unwrap())).collect();
    let change = |(n, id): &(usize, &str)| {
        let author = if n.is_multiple_of(2) { &alice } else { &bob };
        if n % 4 < 2 { author.delete_status(&id) } else { author.edit(&id, "no more") }
    };
    let target = alice.delete_status(&two);
    together(ids.iter().map(change).chain([target])).await;
    assert_eq!(of_status(&app, &one, "referred_by_count").await, 0);
    assert_eq!(app.count("status_references").await, 0);
    let wrong = "SELECT COUNT(*) FROM statuses s WHERE s.quote_id IS NOT NULL";
    assert_eq!(app.number(wrong).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn domain_is_blocked_once_and_its_follows_end_once() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.run_jobs().await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for n in 0..60 {
        let far = seed.account(&format!("far{n}"), Some("far.test"));
        seed.follow(alice.id().into(), far);
        seed.follow(far, alice.id().into());
    }
    seed.write(app.db()).await;
    let path = "/api/v1/domain_blocks";
    assert_eq!(eight(|| alice.post(path).form(&[("domain", "far.test")])).await, TOGETHER);
    assert_eq!(app.count("account_domain_blocks").await, 1);
    assert_eq!(app.count("jobs WHERE kind = 'sever_domain'").await, 1);
    app.run_jobs().await;
    assert_eq!(
        app.number("SELECT CAST(SUM(followers_count + following_count) AS BIGINT) FROM account_severances").await,
        120
    );
    assert_eq!(app.count("follows").await, 0);
    let counts = "SELECT CAST(SUM(followers_count + following_count) AS BIGINT) FROM accounts";
    assert_eq!(app.number(counts).await, 0);
    assert_eq!(eight(|| alice.delete(path).form(&[("domain", "far.test")])).await, TOGETHER);
    assert_eq!(app.count("account_domain_blocks").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_are_decided_once_and_counted_once() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut people = Vec::new();
    for number in 0..TOGETHER {
        people.push(app.account(&format!("person{number}")).await);
    }
    let rule = json!({ "with_approval": ["public"] });
    let policy = json!({ "can_quote": rule, "can_favourite": rule, "can_reblog": rule, "can_reply": rule });
    let target = alice.publish(json!({ "status": "hello", "interaction_policy": policy })).await.into_id();
    let quote = json!({ "status": "look", "quoted_status_id": target });
    let reply = json!({ "status": "an answer", "in_reply_to_id": target });
    let act = |person: &Client| {
        let path = |what: &str| format!("/api/v1/statuses/{target}/{what}");
        [
            person.post("/api/v1/statuses").json(&quote),
            person.post("/api/v1/statuses").json(&reply),
            person.post(&path("favourite")),
            person.post(&path("reblog")),
        ]
    };
    let all = together(people.iter().flat_map(act)).await;
    assert!(all.iter().all(|one| one.status == StatusCode::OK));
    assert_eq!(app.count("interaction_requests WHERE state = 'pending'").await, 32);
    let requests = alice.get("/api/v1/interaction_requests?limit=40").ok().await;
    let ids: Vec<String> =
        requests.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    // Each is decided by two requests that run together: one of them decides.
    let decide = |id: &String| {
        let path = format!("/api/v1/interaction_requests/{id}/authorize");
        [alice.post(&path), alice.post(&path)]
    };
    let decided = together(ids.iter().flat_map(decide)).await;
    assert_eq!(decided.iter().filter(|one| one.status == StatusCode::OK).count(), 32);
    assert!(decided.iter().all(|one| one.status == StatusCode::OK || one.status == StatusCode::NOT_FOUND));
    let counters = async || {
        let seen = alice.get(&format!("/api/v1/statuses/{target}")).ok().await;
        ["quotes_count", "replies_count", "favourites_count", "reblogs_count"].map(|name| seen[name].as_i64().unwrap())
    };
    assert_eq!(counters().await, [8, 8, 8, 8]);
    // Revoked, and taken out of the thread, twice each.
    let quotes = alice.get(&format!("/api/v1/statuses/{target}/quotes?limit=40")).ok().await;
    let replies = alice.get(&format!("/api/v1/statuses/{target}/context")).ok().await;
    let revoke = |quote: &Value| {
        let path = format!("/api/v1/statuses/{target}/quotes/{}/revoke", quote["id"].as_str().unwrap());
        [alice.post(&path), alice.post(&path)]
    };
    let remove = |reply: &Value| {
        let path = format!("/api/v1/statuses/{}/remove_from_thread", reply["id"].as_str().unwrap());
        [alice.post(&path), alice.post(&path)]
    };
    let quotes = quotes.as_array().unwrap();
    let replies = replies["descendants"].as_array().unwrap();
    together(quotes.iter().flat_map(revoke).chain(replies.iter().flat_map(remove))).await;
    assert_eq!(counters().await, [0, 0, 8, 8]);
}
