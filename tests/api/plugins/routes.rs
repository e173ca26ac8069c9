//! The server's part of a plugin's routes. The plugin is `tests/guests/mirror`: it returns its request, or a scripted
//! response.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::guest;
use crate::harness::{Answer, Client, NO_PLUGIN_YET, TestApp};

async fn mirror() -> TestApp {
    mirror_with(&[]).await
}

async fn mirror_with(keys: &[(&str, &str)]) -> TestApp {
    guest::serve("mirror", keys).await
}

/// Makes the mirror send this response to `person`.
async fn answer(person: &Client, told: Value) -> Answer {
    person.post("/api/v1/mirror/answer").json(&told).send().await
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|entity| entity["id"].as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn path_is_matched_encoded_and_passed_decoded() {
    let app = mirror().await;
    let nobody = app.anonymous();
    for (sent, meant) in [
        ("%F0%9F%91%8D", "👍"),
        ("name%40domain", "name@domain"),
        ("name@domain", "name@domain"),
        (":name:", ":name:"),
        ("a%2Fb", "a/b"),
        ("%252F", "%2F"),
        ("far%2Etest", "far.test"),
    ] {
        let told = nobody.get(&format!("/api/v1/mirror/echo/{sent}")).ok().await;
        assert_eq!(told["params"], json!([["segment", meant]]), "{sent}");
    }
    nobody.get("/api/v1/mirror/echo/x/").ok().await;
    for unknown in [
        "/api/v1/mirror/echo",
        "/api/v1/mirror/echo/a/b",
        "/api/v1/mirror/echo/%FF",
        "/api/v1%2Fmirror/echo/a",
        "/api/v1/%6dirror/echo/x",
        "/%61pi/v1/mirror/echo/x",
        "/api/./v1/mirror/echo/x",
        "//api/v1/mirror/echo/x",
    ] {
        assert_eq!(nobody.get(unknown).fails(404).await, "Record not found", "{unknown}");
    }
    assert_eq!(nobody.patch("/api/v1/mirror/echo/x").fails(404).await, "Record not found");
    nobody.get("/api/v1/mirror/numbers/12").ok().await;
    nobody.get("/api/v1/mirror/numbers/twelve").fails(404).await;
    let head = nobody.request(Method::HEAD, "/api/v1/mirror/echo/x").send().await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
}

#[tokio::test]
async fn parameters_arrive_as_they_were_sent_and_tokens_do_not() {
    let app = mirror().await;
    let alice = app.account("alice").await;
    let token = alice.token.clone().unwrap();
    let path = format!("/api/v1/mirror/echo/x?ids[]=1&ids[]=2&access_token={token}");

    let echo = alice.delete(&path).form(&[("more[]", "3"), ("bearer_token", &token)]).ok().await;
    assert_eq!(echo["query"], json!([["ids[]", "1"], ["ids[]", "2"]]));
    assert_eq!(echo["body"], json!([["more[]", "3"]]));
    let echo = alice.put("/api/v1/mirror/echo/x").json(&json!({"a": {"b": [1]}, "access_token": token})).ok().await;
    assert_eq!(echo["body"], json!({"a": {"b": [1]}}));
    let echo = alice.post("/api/v1/mirror/echo/x").multipart(&[("a", "ä")], &[]).ok().await;
    assert_eq!(echo["body"], json!([["a", "ä"]]));
    let echo = alice.get("/api/v1/mirror/echo/x").json(&json!({"a": 1})).ok().await;
    assert_eq!(echo["body"], Value::Null, "a GET has no body");

    let echo = alice
        .get("/api/v1/mirror/echo/x")
        .header("accept-language", "de")
        .header("x-canary", "1")
        .header("cookie", "session=canary")
        .header("x-other", "canary")
        .ok()
        .await;
    assert_eq!(echo["headers"], json!([["accept-language", "de"], ["x-canary", "1"]]));
    assert!(!echo.to_string().contains(&token) && !echo.to_string().contains("session=canary"));
}

#[tokio::test]
async fn malformed_body_is_refused_as_by_core_routes() {
    let app = mirror().await;
    let nobody = app.anonymous();
    let post = |path: &str| nobody.post(&format!("/api/v1/mirror/{path}"));
    let deep = "[".repeat(40) + &"]".repeat(40);
    for (status, kind, body) in [
        (400, "application/json", "{\"a\":".to_owned()),
        (400, "application/json", "[1]".to_owned()),
        (400, "application/json", format!("{{\"a\":{deep}}}")),
        (422, "application/json", "{\"a\":\"\\u0000\"}".to_owned()),
        (400, "application/x-www-form-urlencoded", "a=1&a[]=2".to_owned()),
        (422, "application/x-www-form-urlencoded", "a=%00".to_owned()),
        (400, "multipart/form-data", "x".to_owned()),
        (413, "application/json", format!("{{\"a\":\"{}\"}}", "x".repeat(1024))),
        (413, "text/plain", "x".repeat(1025)),
    ] {
        let answer = post("echo/x").body(kind, body.into_bytes()).send().await;
        assert_eq!(answer.status, status, "{kind}: {}", answer.text());
        assert!(answer.error().is_some(), "{kind}");
    }
    post("echo/x").multipart(&[], &[("file", "a.png", b"x")]).fails(422).await;
    let echo = post("echo/x").body("text/plain", b"four".to_vec()).ok().await;
    assert_eq!(echo["body"], 4);
}

#[tokio::test]
async fn token_is_checked_as_by_core_routes() {
    let app = mirror().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (other, reads) = (alice.with_scopes("write").await, alice.with_scopes("read").await);
    let application = app.application("read").await;
    let nobody = app.anonymous();
    let mut stranger = nobody.clone();
    stranger.token = Some("not-a-token".to_owned());
    app.suspend(&bob).await;

    for (path, answers) in [
        ("user", [401, 401, 403, 422, 403, 200]),
        ("optional", [200, 401, 403, 200, 403, 200]),
        ("moderators", [401, 401, 403, 422, 403, 403]),
    ] {
        let callers = [&nobody, &stranger, &other, &application, &bob, &reads];
        for (caller, wanted) in callers.into_iter().zip(answers) {
            let answer = caller.get(&format!("/api/v1/mirror/for/{path}")).send().await;
            assert_eq!(answer.status, wanted, "{path}: {}", answer.text());
            assert_eq!(answer.error().is_some(), wanted != 200);
            assert_eq!(!answer.header("www-authenticate").is_empty(), wanted == 401);
        }
    }
    let told = reads.get("/api/v1/mirror/for/user").ok().await["caller"].clone();
    assert_eq!(told["account"], alice.id().to_string());
    assert_eq!((&told["scopes"], &told["role"]), (&json!(["read"]), &json!(1)));
    assert_eq!(nobody.get("/api/v1/mirror/for/optional").ok().await["caller"]["account"], Value::Null);
}

#[tokio::test]
async fn route_subject_must_exist_and_be_visible() {
    let app = mirror().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let open = alice.publish("open").await.number();
    let hidden = alice.publish_to("direct", "hidden").await.number();
    let of = |status: i64| format!("/api/v1/statuses/{status}/mirror/%F0%9F%91%8D");

    bob.get(&of(open)).ok().await;
    bob.get(&of(hidden)).fails(404).await;
    alice.get(&of(hidden)).ok().await;
    bob.get(&of(1)).fails(404).await;
    bob.get("/api/v1/statuses/x/mirror/y").fails(404).await;
    bob.get(&format!("/api/v1/accounts/{}/mirror", alice.id())).ok().await;
    bob.get("/api/v1/accounts/1/mirror").fails(404).await;
}

#[tokio::test]
async fn entities_are_rendered_for_caller_as_by_core_routes() {
    let app = mirror().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let open = alice.publish("open").await.number();
    let hidden = alice.publish_to("private", "hidden").await.number();
    let core = bob.status(&open).ok().await;

    assert_eq!(answer(&bob, json!({"shown": open})).await.json(), core);
    assert_eq!(answer(&bob, json!({"shown": hidden})).await.status, 404);
    assert_eq!(answer(&bob, json!({"shown": 1})).await.status, 404);
    assert_eq!(answer(&bob, json!({"statuses": [hidden, open, 1, open]})).await.json(), json!([core, core]));
    assert_eq!(ids(&answer(&alice, json!({"statuses": [hidden, open]})).await.json()), [hidden, open]);
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    let alice_id = i64::from(alice.id());
    assert_eq!(answer(&bob, json!({"account": alice_id})).await.json(), account);
    assert_eq!(answer(&bob, json!({"account": 1})).await.status, 404);
    assert_eq!(answer(&bob, json!({"accounts": [1, alice_id]})).await.json(), json!([account]));

    let template = format!(
        r#"{{"z":[{{"$status":"{open}"}},{{"$status":"{hidden}"}},{{"$list":"1"}}],"a":{{"$status":"{hidden}"}},"by":{{"$account":"{alice_id}"}}}}"#
    );
    let filled = answer(&bob, json!({"template": template})).await;
    assert_eq!(filled.json(), json!({"z": [core], "a": null, "by": account}));
    assert!(filled.text().starts_with("{\"z\":"), "members keep their order");
}

#[tokio::test]
async fn page_of_statuses_costs_same_statements_at_any_length() {
    let app = mirror().await;
    let alice = app.account("alice").await;
    let mut published = Vec::new();
    for n in 0..12 {
        published.push(alice.publish(&format!("{n}")).await.number());
    }
    app.known(&alice).await;
    let mut costs = Vec::new();
    for count in [2, 12] {
        answer(&alice, json!({"statuses": published[..count]})).await;
        let (cost, shown) = app.cost(answer(&alice, json!({"statuses": published[..count]}))).await;
        assert_eq!(shown.json().as_array().unwrap().len(), count);
        costs.push(cost);
    }
    assert_eq!(costs[0], costs[1]);
}

#[tokio::test]
async fn responses_of_plugin_are_sanitised() {
    let app = mirror().await;
    let nobody = app.anonymous();
    let headers = json!([
        ["Set-Cookie", "a=b"],
        ["Location", "/x\r\nSet-Cookie: a=b"],
        ["Content-Security-Policy", "default-src *"],
        ["Access-Control-Allow-Origin", "https://evil.test"],
        ["Content-Length", "1"],
        ["Host", "evil.test"],
        ["Content-Type", "text/html"],
        ["X-Accel-Redirect", "/etc/passwd"],
        ["ETag", "\"1\""],
    ]);
    let said = answer(&nobody, json!({"json": "{}", "headers": headers})).await;
    assert_eq!((said.status, said.header("etag")), (StatusCode::OK, "\"1\""));
    for (name, value) in [
        ("set-cookie", ""),
        ("location", ""),
        ("host", ""),
        ("x-accel-redirect", ""),
        ("access-control-allow-origin", "*"),
        ("content-type", "application/json; charset=utf-8"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; form-action 'none'"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(said.header(name), value, "{name}");
    }

    let csv = answer(&nobody, json!({"bytes": ["text/csv", "<script>"]})).await;
    assert_eq!((csv.header("content-type"), csv.text().as_str()), ("text/csv; charset=utf-8", "<script>"));
    assert_eq!(csv.header("content-security-policy"), "sandbox; default-src 'none'");
    assert_eq!(csv.header("x-content-type-options"), "nosniff");

    let deep = "[".repeat(33) + &"]".repeat(33);
    for nonsense in [
        json!({"bytes": ["text/html", "<script>"]}),
        json!({"bytes": ["image/svg+xml", "<svg>"]}),
        json!({"bytes": ["application/json", "{"]}),
        json!({"json": deep}),
        json!({"json": "{\"a\":1,\"a\":2}"}),
        json!({"template": "{\"$status\":1}"}),
        json!({"json": "{}", "status": 199}),
        json!({"json": "{}", "status": 600}),
    ] {
        let said = answer(&nobody, nonsense.clone()).await;
        assert_eq!(said.status, 502, "{nonsense}: {}", said.text());
        let said = said.json();
        assert_eq!((&said["error_code"], &said["plugin"]), (&json!("plugin.output"), &json!("mirror")));
    }
}

#[tokio::test]
async fn failures_are_reported_as_documented() {
    let app = mirror().await;
    let nobody = app.anonymous();
    let said = answer(&nobody, json!({"error": [422, "mirror.full", "The shelf is full"]})).await;
    assert_eq!(said.status, 422);
    assert_eq!(said.json(), json!({"error": "The shelf is full", "error_code": "mirror.full"}));
    for status in [200, 399, 600, 0] {
        assert_eq!(answer(&nobody, json!({"error": [status, "mirror.odd", "odd"]})).await.status, 500, "{status}");
    }

    let trapped = answer(&nobody, json!({"trap": true})).await;
    assert_eq!(trapped.status, 500);
    let body = trapped.json();
    assert_eq!(body["error"], "The mirror extension could not answer");
    assert_eq!((&body["error_code"], &body["plugin"]), (&json!("plugin.trap"), &json!("mirror")));
    assert_eq!(body["request_id"], trapped.header("x-request-id"));
    assert!(!trapped.text().contains("abort") && !trapped.text().contains("wasm"), "{}", trapped.text());

    let slow = answer(&nobody, json!({"spin": true})).await;
    assert_eq!(
        (slow.status, slow.json()["error_code"].as_str()),
        (StatusCode::GATEWAY_TIMEOUT, Some("plugin.timeout"))
    );
    nobody.get("/api/v1/mirror/echo/x").ok().await;
    nobody.get("/api/v2/instance").ok().await;
}

#[tokio::test]
async fn breaker_responds_for_failing_plugin() {
    let app = mirror().await;
    let nobody = app.anonymous();
    let mut last = answer(&nobody, json!({"trap": true})).await;
    for _ in 0..60 {
        if last.status == 503 {
            break;
        }
        last = answer(&nobody, json!({"trap": true})).await;
    }
    assert_eq!(last.status, 503, "{}", last.text());
    assert_eq!(last.json()["error_code"], "plugin.unavailable");
    assert_eq!(last.header("retry-after"), "1");
    nobody.get("/api/v2/instance").ok().await;
}

#[tokio::test]
async fn call_changes_commit_only_on_success() {
    let app = mirror().await;
    let alice = app.account("alice").await;
    let mut published = Vec::new();
    for n in 0..3 {
        published.push(alice.publish(&format!("{n}")).await.number());
    }
    let keep = |status: i64| alice.post(&format!("/api/v1/mirror/kept/{status}"));
    let kept = || async { ids(&alice.get("/api/v1/mirror/kept?limit=0").ok().await) };

    keep(published[0]).ok().await;
    keep(published[1]).json(&json!({"status": 422})).expect(StatusCode::UNPROCESSABLE_ENTITY).await;
    keep(published[1]).json(&json!({"error": [404, "x", "x"]})).fails(404).await;
    keep(published[1]).json(&json!({"trap": true})).fails(500).await;
    keep(published[1]).json(&json!({"json": "{\"a\":1,\"a\":1}"})).fails(502).await;
    assert_eq!(kept().await, [published[0]]);
    keep(published[2]).json(&json!({"status": 201})).expect(StatusCode::CREATED).await;
    assert_eq!(kept().await, [published[2], published[0]]);
}

#[tokio::test]
async fn native_statement_is_paged_without_plugin() {
    let app = mirror().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("one").await.number();
    let hidden = bob.publish_to("direct", "two").await.number();
    for status in [status, hidden, status, status, status] {
        alice.post(&format!("/api/v1/mirror/kept/{status}")).ok().await;
    }
    let url = app.app.urls.path("/api/v1/mirror/kept");
    let page = |query: &str| {
        let request = alice.get(&format!("/api/v1/mirror/kept{query}"));
        async {
            let answer = request.send().await;
            (ids(&answer.json()).len(), answer.header("link").replace(&url, ""))
        }
    };
    assert_eq!(
        page("?x=y&limit=2").await,
        (2, "<?x=y&limit=2&max_id=4>; rel=\"next\", <?x=y&limit=2&since_id=5>; rel=\"prev\"".to_owned())
    );
    assert_eq!(page("?limit=99&max_id=3").await, (1, "<?limit=4&since_id=2>; rel=\"prev\"".to_owned()));
    assert_eq!(page("?limit=0").await, (4, String::new()));
    assert_eq!(page("?max_id=1").await, (0, String::new()));
    assert_eq!(page("?min_id=1&limit=1").await.0, 0, "the hidden one is left out after the cut");
    assert_eq!(alice.get("/api/v1/mirror/kept?max_id=x").send().await.status, 400);

    assert_eq!(ids(&alice.get("/api/v1/mirror/shelves/1/accounts").ok().await), [i64::from(alice.id())]);
    alice.get("/api/v1/mirror/shelves/2/accounts").fails(404).await;
    alice.with_scopes("write").await.get("/api/v1/mirror/kept").fails(403).await;
}

#[tokio::test]
async fn native_feed_is_timeline() {
    let app = mirror().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let mut published = Vec::new();
    for person in [&bob, &carol, &bob] {
        published.push(person.publish("hello").await.number());
    }
    let feed = "INSERT INTO plugin_feeds (kind, plugin_id, name)
                SELECT 4000, p.id, 'shelf' FROM plugins p WHERE p.name = 'mirror' ON CONFLICT DO NOTHING";
    app.execute(feed).await;
    for status in &published {
        let text = format!(
            "INSERT INTO feed_entries (kind, owner_id, status_id)
             SELECT f.kind, 1, s.id FROM plugin_feeds f, statuses s
             WHERE f.name = 'shelf' AND s.id = {status}"
        );
        app.execute(&text).await;
    }
    let page = alice.get("/api/v1/mirror/shelves/1").send().await;
    assert_eq!(ids(&page.json()), [published[2], published[1]]);
    assert!(page.header("link").contains(&format!("max_id={}", published[1])), "{}", page.header("link"));
    assert!(page.header("link").contains(&format!("min_id={}", published[2])));
    let above = alice.get(&format!("/api/v1/mirror/shelves/1?limit=1&min_id={}", published[0])).send().await;
    assert_eq!(ids(&above.json()), [published[1]]);

    alice.mute(&carol).ok().await;
    assert_eq!(ids(&alice.get("/api/v1/mirror/shelves/1").ok().await), [published[2]]);
    assert_eq!(alice.get("/api/v1/mirror/shelves/1?limit=0").ok().await, json!([]));
    alice.get("/api/v1/mirror/shelves/2").fails(404).await;
}

#[tokio::test]
async fn paging_parameters_and_links_match_core() {
    let app = mirror().await;
    let nobody = app.anonymous();
    let page = nobody.get("/api/v1/mirror/page?limit=500&max_id=9&only=x&access_token=").send().await;
    assert_eq!(page.json()["page"], json!([9, null, null, 40]));
    let url = app.app.urls.path("/api/v1/mirror/page");
    assert_eq!(
        page.header("link"),
        format!("<{url}?limit=40&only=x&max_id=60>; rel=\"next\", <{url}?limit=40&only=x&min_id=100>; rel=\"prev\"")
    );
    assert_eq!(nobody.get("/api/v1/mirror/page").ok().await["page"], json!([null, null, null, 20]));
    for nothing in ["0", "x"] {
        assert_eq!(nobody.get(&format!("/api/v1/mirror/page?limit={nothing}")).ok().await, json!([]));
    }
}

#[tokio::test]
async fn route_may_have_own_rate_limit() {
    let app = mirror_with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for left in [1, 0] {
        let answer = alice.get("/api/v1/mirror/seldom").send().await;
        assert_eq!(
            (answer.status, answer.header("x-ratelimit-remaining")),
            (StatusCode::OK, left.to_string().as_str())
        );
    }
    assert_eq!(alice.get("/api/v1/mirror/seldom").fails(429).await, "Too many requests");
    bob.get("/api/v1/mirror/seldom").ok().await;
    let core = bob.get("/api/v1/mirror/for/user").send().await;
    assert_eq!(core.header("x-ratelimit-limit"), "300", "the server's own limits hold as well");
}

#[tokio::test]
async fn anonymous_responses_are_cacheable_briefly() {
    let app = mirror().await;
    let alice = app.account("alice").await;
    let cached = |answer: &Answer| answer.header("cache-control").starts_with("max-age=15, public");
    assert!(cached(&app.anonymous().get("/api/v1/mirror/for/optional").send().await));
    assert!(!cached(&alice.get("/api/v1/mirror/for/optional").send().await));
    assert!(!cached(&app.anonymous().get("/api/v1/mirror/echo/x").send().await), "it depends on headers");
    assert!(!cached(&answer(&app.anonymous(), json!({})).await));
    assert!(!cached(&app.anonymous().get("/api/v1/statuses/1/mirror/x").send().await), "a failure");
}

#[tokio::test]
async fn requests_do_not_see_state_of_previous_requests() {
    let app = mirror().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for person in [&alice, &bob, &alice] {
        let echo = person.get("/api/v1/mirror/for/user").ok().await;
        assert_eq!((&echo["served"], &echo["caller"]["account"]), (&json!(1), &json!(person.id().to_string())));
    }
}

#[tokio::test]
async fn shared_instance_keeps_callers_apart() {
    let app = TestApp::with(&NO_PLUGIN_YET).await;
    guest::put(&app, "mirror", "[limits]\nroutes = \"pooled\"\ninstances = 1\n");
    guest::enable(&app, "mirror").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut most = 0;
    for turn in 0..1_000 {
        let (person, other) = if turn % 2 == 0 { (&alice, &bob) } else { (&bob, &alice) };
        let (own, foreign) = (person.id().to_string(), other.id().to_string());
        let echo = person.get(&format!("/api/v1/mirror/for/user?canary=of-{own}")).ok().await;
        assert_eq!(echo["caller"]["account"], own);
        assert!(!echo.to_string().contains(&foreign), "{echo}");
        most = most.max(echo["served"].as_u64().unwrap());
    }
    assert!(most > 100, "the instance is used again: {most}");
}

#[tokio::test]
async fn response_names_its_generation_in_development() {
    let app = mirror_with(&[("ROOKERY_SERVER_DEVELOPMENT", "true")]).await;
    let echo = app.anonymous().get("/api/v1/mirror/echo/x").send().await;
    let registry = app.plugins().registry();
    let active = registry.find("mirror").unwrap();
    assert_eq!(echo.header("x-plugin"), format!("mirror@{}({})", active.generation, &active.sha256[..8]));
    assert_eq!(app.anonymous().get("/api/v2/instance").send().await.header("x-plugin"), "");
    let plain = mirror().await;
    assert_eq!(plain.anonymous().get("/api/v1/mirror/echo/x").send().await.header("x-plugin"), "");
}
