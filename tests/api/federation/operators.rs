//! `rookery federation`: lookups and their explanation, and deliveries to other servers.

use std::time::{Duration, Instant};

use federation::deliver;
use serde_json::{Value, json};

use crate::harness::liar::{ACTIVITY, Person, Reply, with};
use crate::harness::{Client, CommandOutput, Liar, TestApp};
use crate::platform::serve::Running;

async fn scene() -> (TestApp, Client, Liar, Person) {
    let app = TestApp::named("localhost:3000", &Liar::KEYS).await;
    let alice = app.account("alice").await;
    let other = Liar::start().await;
    let carol = other.person("carol");
    (app, alice, other, carol)
}

async fn run(app: &TestApp, arguments: &[&str]) -> CommandOutput {
    app.run_set(&Liar::KEYS, &[&["federation"], arguments].concat()).await
}

async fn explain(app: &TestApp, address: &str) -> Value {
    run(app, &["explain", address, "--json"]).await.json()[0].clone()
}

/// The text of each step with this name, in order.
fn steps(explained: &Value, name: &str) -> Vec<(bool, String)> {
    let steps = explained["steps"].as_array().unwrap().iter().filter(|step| step["step"] == name);
    steps.map(|step| (step["passed"].as_bool().unwrap(), step["text"].as_str().unwrap().to_owned())).collect()
}

async fn stored(app: &TestApp) -> [i64; 2] {
    [app.count("accounts WHERE domain IS NOT NULL").await, app.count("statuses WHERE local = false").await]
}

#[tokio::test]
async fn explanation_names_each_step_and_stores_nothing() {
    let (app, _alice, other, carol) = scene().await;
    let address = carol.address();
    let explained = explain(&app, &format!("@{}", address.to_uppercase())).await;
    assert_eq!(explained["would_be_stored"], true, "{explained}");
    assert_eq!(steps(&explained, "policy")[0], (true, format!("this server talks to {}", other.domain)));
    let requests = steps(&explained, "request");
    assert_eq!(requests.len(), 2, "WebFinger and the actor: {explained}");
    assert!(requests[0].1.contains("/.well-known/webfinger?resource=acct%3Acarol%40") && requests[0].1.contains("200"));
    assert!(requests[1].1.contains(&carol.uri) && requests[1].1.contains(ACTIVITY) && requests[1].1.contains("bytes"));
    assert_eq!(
        steps(&explained, "webfinger"),
        [(true, format!("the subject is acct:{address}")), (true, format!("the self link is {}", carol.uri))]
    );
    for name in ["id", "address", "type", "inbox", "key"] {
        assert!(steps(&explained, name)[0].0, "{name}: {explained}");
    }

    let uri = other.document("/users/carol/notes/1", &carol.note("1"));
    let explained = explain(&app, &uri).await;
    assert_eq!(explained["would_be_stored"], true, "{explained}");
    assert_eq!(steps(&explained, "author"), [(true, format!("{} is on the host of the id", carol.uri))]);
    assert!(steps(&explained, "audience")[0].1.starts_with("visibility public"), "{explained}");
    assert_eq!(stored(&app).await, [0, 0]);

    let text = run(&app, &["explain", &address]).await.ok();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 6 && lines[0].starts_with("ok   policy"), "{text}");
    assert!(lines.last().unwrap().contains("would be stored"), "{text}");

    run(&app, &["fetch", &uri]).await.ok();
    assert_eq!(stored(&app).await, [1, 1]);
    let known = explain(&app, &uri).await;
    assert!(steps(&known, "known")[0].1.contains("stays as it is"), "{known}");
}

#[tokio::test]
async fn explanation_and_lookup_decide_alike() {
    let (app, _alice, other, carol) = scene().await;
    let stranger = Liar::start().await;
    let [mallory, dave, erin, frank] = ["mallory", "dave", "erin", "frank"].map(|name| other.person(name));
    mallory.change_actor(&json!({ "inbox": null }));
    dave.change_actor(&json!({ "type": "Rook" }));
    erin.change_actor(&json!({ "id": stranger.url("/users/erin") }));
    frank.set_webfinger("frank", &json!({ "subject": format!("acct:{}", frank.address()), "links": [] }));
    let keyless = other.person("keyless");
    keyless.change_actor(&json!({ "publicKey": null }));
    let note = |name: &str, members: Value| {
        other.document(&format!("/users/carol/notes/{name}"), &with(carol.note(name), &members))
    };
    let moved = other.put("/moved", Reply::redirect(&note("2", json!({}))));
    let cases = [
        (carol.address(), true, ""),
        (carol.uri.clone(), true, ""),
        (keyless.address(), true, ""),
        (note("1", json!({})), true, ""),
        (moved, true, ""),
        (note("3", json!({ "attributedTo": stranger.url("/users/carol") })), false, "another host"),
        (note("4", json!({ "attributedTo": mallory.uri })), false, "no inbox"),
        (note("5", json!({ "type": "Chess" })), false, "not a note"),
        (note("6", json!({ "id": stranger.url("/notes/6") })), false, "404"),
        (other.put("/plain", Reply::of("application/json", "{}")), false, "not a document, and names none"),
        (other.put("/gone", Reply::status(410, "")), false, "deleted"),
        (other.url("/nothing"), false, "404"),
        (mallory.address(), false, "no inbox"),
        (dave.address(), false, "not an actor"),
        (erin.address(), false, "404"),
        (frank.address(), false, "names no actor"),
        (format!("nobody@{}", other.domain), false, "404"),
        ("alice@localhost:3000".to_owned(), false, "a domain of this server"),
        ("https://10.0.0.1/users/x".to_owned(), false, "not public"),
        ("nonsense".to_owned(), false, ""),
    ];
    for (address, found, why) in &cases {
        let before = stored(&app).await;
        let explained = explain(&app, address).await;
        assert_eq!(stored(&app).await, before, "{address}");
        let fetched = run(&app, &["fetch", address]).await;
        assert_eq!(explained["would_be_stored"], *found, "{address}: {explained}");
        let verdict = explained["verdict"].as_str().unwrap();
        if *found {
            fetched.ok();
        } else {
            let said = fetched.fails(1);
            assert!(said.contains(verdict), "{address}: {said} for {explained}");
            assert!(verdict.contains(why), "{address}: {verdict}");
        }
    }
    assert!(!steps(&explain(&app, &keyless.uri).await, "key")[0].0);

    app.run(&["domain", "block", &other.domain]).await.ok();
    let asked = other.asked("/users/carol");
    for address in [carol.address(), carol.uri.clone(), other.url("/users/carol/notes/1")] {
        let refused = explain(&app, &address).await;
        assert_eq!((&refused["would_be_stored"], &refused["verdict"]), (&json!(false), &json!("a suspended domain")));
        let decided = steps(&refused, "policy");
        assert_eq!(decided.last().unwrap(), &(false, format!("{} is a suspended domain", other.domain)));
        assert!(run(&app, &["fetch", &address]).await.fails(1).contains("a suspended domain"));
    }
    assert_eq!(other.asked("/users/carol"), asked);
}

#[tokio::test]
async fn fetch_prints_what_it_stored_and_refreshes_accounts() {
    let (app, _alice, other, carol) = scene().await;
    let fetched = run(&app, &["fetch", &carol.address(), "--json"]).await.json()[0].clone();
    assert_eq!((&fetched["type"], &fetched["acct"]), (&json!("account"), &json!(carol.address())));
    assert_eq!((&fetched["uri"], &fetched["url"]), (&json!(carol.uri), &json!(other.url("/@carol"))));
    carol.change_actor(&json!({ "name": "Carol C." }));
    let text = run(&app, &["fetch", &carol.uri]).await.ok();
    assert!(text.contains(&format!("Account {}", carol.address())), "{text}");
    assert_eq!(app.count("accounts WHERE display_name = 'Carol C.'").await, 1, "however fresh it was");

    let uri = other.document("/users/carol/notes/1", &carol.note("1"));
    let status = run(&app, &["fetch", &uri, "--json"]).await.json()[0].clone();
    let expected = json!({
        "type": "status", "id": status["id"], "author": carol.address(), "visibility": "public", "uri": uri, "url": uri,
    });
    assert_eq!(status, expected);
}

/// Makes `person` a follower of Alice, and the inbox of their server fail.
async fn failing(app: &TestApp, alice: &Client, person: &Person) {
    person.follow_alice(app).await;
    person.liar.put(&format!("{}/inbox", person.path()), Reply::status(503, ""));
    assert_eq!(alice.get("/api/v1/follow_requests").send().await.status, 200);
}

#[tokio::test]
async fn hosts_are_listed_with_what_is_owed_to_them() {
    let (app, alice, other, carol) = scene().await;
    assert_eq!(run(&app, &["hosts"]).await.ok().trim(), "Nothing is owed to any host, and none failed.");
    let second = Liar::start().await;
    let dave = second.person("dave");
    failing(&app, &alice, &carol).await;
    for text in ["one", "two"] {
        alice.publish(text).await;
    }
    failing(&app, &alice, &dave).await;
    alice.publish("three").await;
    app.run_jobs().await;

    let rows = run(&app, &["hosts", "--json"]).await.json()[0].clone();
    let hosts: Vec<(&str, i64)> = rows.as_array().unwrap().iter().map(host).collect();
    assert_eq!(hosts, [(other.domain.as_str(), 3), (second.domain.as_str(), 1)]);
    assert_eq!(rows[0]["attempts"], 1);
    assert!(rows[0]["oldest_at"].as_str().unwrap().starts_with("2026-01-15T12:00:0"), "{rows}");
    assert!(rows[0]["next_at"].as_str().unwrap() > "2026-01-15T12:00:00.000Z");

    let states = async |assignment: &str| {
        app.execute(&format!("UPDATE jobs SET {assignment} WHERE kind = 'deliver_to_host'")).await;
        run(&app, &["hosts", "--json"]).await.json()[0][0]["state"].clone()
    };
    assert_eq!(rows[0]["state"], "due", "by the clock of the command");
    app.app.clock.advance(chrono::Duration::days(365 * 50));
    let later = deliver::hosts(&app.app, "", 10).await.unwrap();
    assert_eq!(later[0].state.as_str(), "due");
    assert_eq!(states("state = 'dead'").await, "stuck");
    assert_eq!(run(&app, &["hosts", "--json"]).await.json()[0][0]["next_at"], Value::Null);

    let mut names = [other.domain.as_str(), second.domain.as_str()];
    names.sort_unstable();
    let page = |rows: Vec<Value>| rows[0].as_array().unwrap().iter().map(|row| row["host"].clone()).collect::<Vec<_>>();
    assert_eq!(page(run(&app, &["hosts", "--limit", "1", "--json"]).await.json()), [names[0]]);
    assert_eq!(page(run(&app, &["hosts", "--after", names[0], "--json"]).await.json()), [names[1]]);
    assert!(page(run(&app, &["hosts", "--after", names[1], "--json"]).await.json()).is_empty());
    assert_eq!(run(&app, &["hosts", "--limit", "0"]).await.code, 2);
    let text = run(&app, &["hosts"]).await.ok();
    assert!(text.contains("next attempt") && text.contains(&other.domain) && text.contains("stuck"), "{text}");
}

fn host(row: &Value) -> (&str, i64) {
    (row["host"].as_str().unwrap(), row["owed"].as_i64().unwrap())
}

#[tokio::test]
async fn retry_delivers_before_the_next_attempt_is_due() {
    let (app, alice, other, carol) = scene().await;
    failing(&app, &alice, &carol).await;
    alice.publish("one").await;
    app.run_jobs().await;
    let waiting = deliver::hosts(&app.app, "", 10).await.unwrap();
    assert_eq!((waiting[0].state.as_str(), waiting[0].attempts), ("waiting", 1));
    carol.liar.put("/users/carol/inbox", Reply::status(202, ""));
    app.run_jobs().await;
    assert_eq!(app.count("deliveries").await, 1, "it is not due");

    assert!(run(&app, &["retry", "elsewhere.example"]).await.fails(1).contains("nothing is owed to elsewhere.example"));
    assert!(run(&app, &["retry", "https://elsewhere.example/"]).await.fails(1).contains("is not a host"));
    let before = other.received().len();
    assert_eq!(deliver::retry(&app.app, &other.domain.to_uppercase()).await.unwrap(), other.domain);
    assert_eq!(deliver::hosts(&app.app, "", 10).await.unwrap()[0].state.as_str(), "due");
    app.run_jobs().await;
    assert_eq!((app.count("deliveries").await, other.received().len()), (0, before + 1));
    assert!(run(&app, &["retry", &other.domain]).await.fails(1).contains("nothing is owed"));
}

#[tokio::test]
async fn retry_queues_a_job_where_there_is_none() {
    let (app, alice, other, carol) = scene().await;
    failing(&app, &alice, &carol).await;
    alice.publish("one").await;
    app.run_jobs().await;
    app.execute("DELETE FROM jobs WHERE kind = 'deliver_to_host'").await;
    carol.liar.put("/users/carol/inbox", Reply::status(202, ""));
    assert_eq!(deliver::hosts(&app.app, "", 10).await.unwrap()[0].state.as_str(), "stuck");
    deliver::retry(&app.app, &other.domain).await.unwrap();
    app.run_jobs().await;
    assert_eq!(app.count("deliveries").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_delivers_after_retry() {
    let (app, alice, other, carol) = scene().await;
    failing(&app, &alice, &carol).await;
    alice.publish("one").await;
    app.run_jobs().await;
    let future = match app.db().engine() {
        database::Engine::Sqlite => "4102444800000000",
        database::Engine::Postgres => "TIMESTAMPTZ '2100-01-01'",
    };
    app.execute(&format!("UPDATE jobs SET run_at = {future} WHERE kind = 'deliver_to_host'")).await;
    carol.liar.put("/users/carol/inbox", Reply::status(202, ""));
    // Polls so seldom that only the command wakes it.
    let keys = [Liar::KEYS[0], ("ROOKERY_JOBS_POLL_INTERVAL_MS", "60000")];
    let running = Running::start_with(&app, &keys);
    assert!(running.get("/readyz").starts_with("HTTP/1.1 200"));
    let before = other.received().len();
    let said = run(&app, &["retry", &other.domain]).await;
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let begun = Instant::now();
    while other.received().len() == before {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing was delivered");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
