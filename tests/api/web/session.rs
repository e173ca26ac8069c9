//! Pages, signing in, sessions and the protection of forms.

use chrono::Duration;
use serde_json::json;

use crate::harness::{Browser, PASSWORD, PushService, TestApp, form_fields};

#[tokio::test]
async fn style_sheet_is_immutable_under_its_hash() {
    let app = TestApp::new().await;
    let page = Browser::new(&app).get("/auth/sign_in").await;
    let html = page.text();
    let url = html[html.find("/assets/style.css?v=").unwrap()..].split('"').next().unwrap().to_owned();

    let css = app.anonymous().get(&url).send().await;
    assert_eq!(css.status, 200);
    assert_eq!(css.header("content-type"), "text/css; charset=utf-8");
    assert!(css.header("cache-control").contains("immutable"));

    let plain = app.anonymous().get("/assets/style.css").send().await;
    assert!(!plain.header("cache-control").contains("immutable"));
    let again = app.anonymous().get("/assets/style.css").header("if-none-match", plain.header("etag")).send().await;
    assert_eq!(again.status, 304);
    assert!(again.body.is_empty());
    app.anonymous().get("/assets/nothing.css").fails(404).await;
    app.anonymous().get("/assets/..%2fmod.rs").fails(404).await;
}

#[tokio::test]
async fn page_loads_nothing_from_other_origins() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let settings = Browser::signed_in(&app, "alice").await.get("/settings").await;
    let policy = settings.header("content-security-policy");
    assert_eq!(
        policy,
        "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; manifest-src 'self'; base-uri 'none'; \
         script-src 'self'; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; form-action 'self'"
    );
    let sign_in = Browser::new(&app).get("/auth/sign_in").await;
    assert!(!sign_in.header("content-security-policy").contains("script-src") && !sign_in.text().contains("<script"));
    assert!(!sign_in.header("content-security-policy").contains("form-action"));
    assert_eq!(sign_in.header("cache-control"), "private, no-store");
}

#[tokio::test]
async fn sign_in_takes_name_or_address() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.set_password("alice", PASSWORD).await;
    for name in ["alice", "ALICE", "@alice", "@alice@example.test", "alice@example.test", "Alice@Example.test"] {
        let browser = Browser::new(&app);
        let answer = browser.sign_in(name, PASSWORD).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (302, "/home"), "{name}");

        let settings = browser.get("/settings").await;
        assert_eq!(settings.status, 200);
        assert!(settings.text().contains("alice@example.test"));

        let out = browser.submit(&settings, "/auth/sign_out", &[]).await;
        assert_eq!(out.status, 302);
        assert!(browser.get("/auth/sign_in").await.text().contains("signed out"));
        assert_eq!(browser.get("/settings").await.status, 302);
    }
}

#[tokio::test]
async fn wrong_password_and_unknown_name_look_alike() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.set_password("alice", PASSWORD).await;
    let mut texts = Vec::new();
    for (name, password) in [("alice", "wrong"), ("nobody", PASSWORD), ("", ""), ("nobody@example.test", "x")] {
        let answer = Browser::new(&app).sign_in(name, password).await;
        assert_eq!(answer.status, 422);
        let html = answer.text();
        let alert = html[html.find("role=\"alert\"").expect("an alert")..].split("</p>").next().unwrap().to_owned();
        texts.push(alert);
    }
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
}

#[tokio::test]
async fn unusable_account_gets_reason_after_right_password() {
    let app = TestApp::new().await;
    for (name, word) in [("sue", "suspended"), ("dan", "disabled"), ("una", "confirm"), ("pen", "approve")] {
        let person = app.account(name).await;
        let before = Browser::signed_in(&app, name).await;
        match name {
            "sue" => app.suspend(&person).await,
            "dan" => app.disable(&person).await,
            "una" => app.unconfirm(&person).await,
            _ => app.unapprove(&person).await,
        }

        let right = Browser::new(&app).sign_in(name, PASSWORD).await;
        assert_eq!(right.status, 422);
        assert!(right.text().contains(word), "{name}: {}", right.text());
        assert!(!Browser::new(&app).sign_in(name, "wrong").await.text().contains(word), "{name}");
        assert_eq!(before.get("/settings").await.status, 302, "the session of {name} is over");
    }
}

#[tokio::test]
async fn protected_page_returns_after_sign_in() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.set_password("alice", PASSWORD).await;
    let browser = Browser::new(&app);

    let asked = browser.get("/settings?tab=1").await;
    assert_eq!(asked.header("location"), "/auth/sign_in?next=%2Fsettings%3Ftab%3D1");
    let form = browser.get(asked.header("location")).await;
    let signed_in = browser.submit(&form, "/auth/sign_in", &[("email", "alice"), ("password", PASSWORD)]).await;
    assert_eq!(signed_in.header("location"), "/settings?tab=1");

    let already = browser.get("/auth/sign_in?next=%2Fabout").await;
    assert_eq!(already.header("location"), "/about");
}

#[tokio::test]
async fn sign_in_never_leads_to_another_site() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    for next in [
        "//evil.test/",
        "https://evil.test/",
        "/\\evil.test",
        "/\t/evil.test",
        "/.//evil.test",
        "evil",
        "javascript:alert(1)",
        "",
    ] {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
        let answer = browser.get(&format!("/auth/sign_in?{query}")).await;
        assert_eq!(answer.header("location"), "/home", "{next:?}");
    }
}

#[tokio::test]
async fn form_without_csrf_token_is_refused() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.set_password("alice", PASSWORD).await;
    let fields = [("email", "alice"), ("password", PASSWORD)];

    let without = Browser::new(&app).post("/auth/sign_in", &fields).await;
    assert_eq!(without.status, 403);
    assert!(without.text().contains("<h1"), "a page");
    assert!(without.header("set-cookie").is_empty() || !without.header("set-cookie").contains("session"));

    // The token of one browser is invalid in another.
    let (one, other) = (Browser::new(&app), Browser::new(&app));
    let page = one.get("/auth/sign_in").await;
    other.get("/auth/sign_in").await;
    assert_eq!(other.submit(&page, "/auth/sign_in", &fields).await.status, 403);

    // A token from before the sign-in is invalid for the session.
    let signed_in = one.submit(&page, "/auth/sign_in", &fields).await;
    assert_eq!(signed_in.status, 302);
    let old = form_fields(&page.text(), "/auth/sign_in");
    let csrf = old.iter().find(|(name, _)| name == "csrf").unwrap();
    assert_eq!(one.post("/auth/sign_out", &[("csrf", &csrf.1)]).await.status, 403);
    assert_eq!(one.get("/settings").await.status, 200);
}

#[tokio::test]
async fn sessions_are_stored_hashed_and_end_two_weeks_after_their_last_use() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let token = browser.cookie("rookery_session").or_else(|| browser.cookie("__Host-rookery_session")).unwrap();
    let stored: Vec<(String,)> = app.db().fetch_raw("SELECT token_hash FROM web_sessions").await.unwrap();
    assert_eq!(stored, [(crypto::hash(&token),)]);

    for _ in 0..3 {
        app.app.clock.advance(Duration::days(10));
        assert_eq!(browser.get("/settings").await.status, 200);
    }
    app.app.clock.advance(Duration::days(15));
    assert_eq!(browser.get("/settings").await.status, 302);

    Browser::signed_in(&app, "alice").await;
    let left: Vec<(i64,)> = app.db().fetch_raw("SELECT id FROM web_sessions").await.unwrap();
    assert_eq!(left.len(), 1, "ended sessions are removed");
}

#[tokio::test]
async fn new_password_signs_out_other_browsers_and_apps() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let (here, there) = (Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "alice").await);
    let settings = here.get("/settings").await;

    let wrong = [("current_password", "x"), ("password", "short"), ("password_confirmation", "other")];
    let refused = here.submit(&settings, "/settings/password", &wrong).await;
    assert_eq!(refused.status, 422);
    for field in ["current_password-error", "password-error", "password_confirmation-error"] {
        assert!(refused.text().contains(field), "{field}");
    }

    let right = [
        ("current_password", PASSWORD),
        ("password", "another good one"),
        ("password_confirmation", "another good one"),
    ];
    let changed = here.submit(&settings, "/settings/password", &right).await;
    assert_eq!(changed.header("location"), "/settings");
    assert!(here.get("/settings").await.text().contains("password is changed"));
    assert!(!here.get("/settings").await.text().contains("password is changed"), "told once");
    assert_eq!(there.get("/settings").await.status, 302);
    alice.get("/api/v1/preferences").fails(401).await;
    assert_eq!(Browser::new(&app).sign_in("alice", PASSWORD).await.status, 422);
    assert_eq!(Browser::new(&app).sign_in("alice", "another good one").await.status, 302);
}

#[tokio::test]
async fn new_password_ends_streams_and_push_unless_apps_stay_signed_in() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let service = PushService::start().await;
    crate::routes::push::subscribe_every_token(&app, &service).await;
    let subscriptions = async || {
        let sql = "SELECT account_id FROM push_subscriptions ORDER BY account_id";
        app.db().fetch_raw::<(i64,)>(sql).await.unwrap().into_iter().map(|(id,)| id).collect::<Vec<_>>()
    };
    let [of_alice, of_bob] = [i64::from(alice.id()), i64::from(bob.id())];
    let here = Browser::signed_in(&app, "alice").await;
    let change = async |current: &str, new: &str, more: &[(&str, &str)]| {
        let fields = [("current_password", current), ("password", new), ("password_confirmation", new)];
        let settings = here.get("/settings").await;
        assert_eq!(here.submit(&settings, "/settings/password", &[&fields, more].concat()).await.status, 302);
    };
    let stream = alice.events("user").await;

    change(PASSWORD, "another good one", &[("keep_applications", "1")]).await;
    alice.get("/api/v1/preferences").ok().await;
    assert_eq!(subscriptions().await, [of_alice, of_bob]);

    change("another good one", "yet another one", &[]).await;
    alice.get("/api/v1/preferences").fails(401).await;
    assert!(stream.rest().await.contains(":The access token is not valid any more"));
    assert_eq!(subscriptions().await, [of_bob], "other people's apps stay");
    bob.get("/api/v1/preferences").ok().await;
    assert_eq!(here.get("/settings").await.status, 200, "this browser stays");
}

#[tokio::test]
async fn password_change_needs_session() {
    let app = TestApp::new().await;
    let answer = Browser::new(&app).post("/settings/password", &[("password", "something long")]).await;
    assert_eq!(answer.status, 302);
    assert!(answer.header("location").starts_with("/auth/sign_in"));
}

#[tokio::test]
async fn unknown_path_is_page_or_json() {
    let app = TestApp::new().await;
    let page = Browser::new(&app).get("/no/such/page").await;
    assert_eq!(page.status, 404);
    assert!(page.header("content-type").starts_with("text/html"));
    app.anonymous().get("/no/such/page").fails(404).await;
    let api = Browser::new(&app).get("/api/v1/nothing").await;
    assert!(api.header("content-type").starts_with("application/json"));
}

#[tokio::test]
async fn every_form_carries_its_token() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let settings = browser.get("/settings").await.text();
    for action in ["/auth/sign_out", "/settings/password"] {
        assert!(
            form_fields(&settings, action).iter().any(|(name, value)| name == "csrf" && value.len() > 20),
            "{action}"
        );
    }
}

#[tokio::test]
async fn header_and_front_page_know_who_is_signed_in() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.update_profile(serde_json::json!({"display_name": "Alice <Rook>"})).ok().await;
    let stranger = app.anonymous().get("/").send().await;
    assert!(stranger.header("cache-control").contains("public"), "{}", stranger.header("cache-control"));
    let text = stranger.text();
    assert!(text.contains("<a href=\"/auth/sign_in\">Sign in</a>") && !text.contains("class=\"you\""), "{text}");

    let browser = Browser::signed_in(&app, "alice").await;
    for path in ["/home", "/about", "/privacy-policy", "/explore", "/directory", "/search", "/@alice", "/settings"] {
        let page = browser.get(path).await;
        assert_eq!(page.header("cache-control"), "private, no-store", "{path}");
        assert!(page.text().contains("<span>Alice &lt;Rook&gt;</span></a>"), "{path}: {}", page.text());
    }
    let missing = browser.get("/@nobody").await;
    assert!(missing.status == 404 && missing.text().contains("class=\"you\""), "{}", missing.text());
    assert_eq!(browser.get("/").await.header("location"), "/home");
}

#[tokio::test]
async fn front_page_says_how_to_set_up_while_there_is_no_owner() {
    let app = TestApp::new().await;
    let front = async || app.anonymous().get("/").send().await.text();
    let text = front().await;
    assert!(text.contains("This server has no owner yet.") && !text.contains("by invitation only"), "{text}");
    app.account("alice").await;
    app.run(&["user", "set-role", "alice", "Owner"]).await.ok();
    let text = front().await;
    assert!(!text.contains("no owner yet") && text.contains("by invitation only"), "{text}");
}

#[tokio::test]
async fn front_page_shows_posts_or_trends_by_the_setting() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.publish("a post for everyone").await;
    alice.publish(json!({ "status": "a post for followers", "visibility": "private" })).await;
    let front = async || app.anonymous().get("/").send().await.text();
    assert!(!front().await.contains("a post for everyone"), "about, by default");
    app.set("front_page", "live").await;
    let text = front().await;
    assert!(text.contains("a post for everyone") && !text.contains("a post for followers"), "{text}");
    app.set("timeline_preview", false).await;
    assert!(!front().await.contains("a post for everyone"), "where posts are not public, they are not here either");
    app.set("timeline_preview", true).await;
    app.set("front_page", "trends").await;
    assert!(!front().await.contains("a post for everyone"), "nothing trends");
}

#[tokio::test]
async fn streams_and_push_of_a_browser_end_with_its_session() {
    let app = TestApp::new().await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let tokens =
        async || app.number("SELECT COUNT(*) FROM oauth_tokens WHERE app_id IS NULL AND revoked_at IS NULL").await;
    let before = tokens().await;
    let page = browser.get("/notifications").await;
    assert!(page.text().contains("data-push data-key="), "{}", page.text());
    for (fields, status) in [
        (&[("act", "maybe")][..], 400),
        (&[("act", "on"), ("endpoint", "nowhere"), ("p256dh", "x"), ("auth", "y")], 422),
        (&[("act", "off")], 204),
    ] {
        let answer = browser.submit(&page, "/web/push", fields).await;
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.text());
    }
    assert_eq!(tokens().await, before + 1, "one token, however often it is needed");
    assert!(!browser.get("/oauth/authorized_applications").await.text().contains("push"));

    let settings = browser.get("/settings").await;
    browser.submit(&settings, "/auth/sign_out", &[]).await;
    assert_eq!(tokens().await, before);
}

#[tokio::test]
async fn stream_of_a_page_needs_a_session_and_a_name() {
    let app = TestApp::new().await;
    app.account("alice").await;
    assert_eq!(app.anonymous().get("/web/stream?stream=user").send().await.status, 302);
    let browser = Browser::signed_in(&app, "alice").await;
    for (path, status) in
        [("/web/stream", 400), ("/web/stream?stream=nothing", 400), ("/web/stream?stream=list&list=1", 404)]
    {
        let answer = browser.get(path).await;
        assert!(answer.status == status || answer.status == 401, "{path}: {} {}", answer.status, answer.text());
    }
}

#[tokio::test]
async fn service_worker_and_offline_page_are_the_same_for_everyone() {
    let app = TestApp::new().await;
    let worker = app.anonymous().get("/sw.js").send().await;
    assert_eq!(worker.status, 200);
    assert_eq!(worker.header("content-type"), "text/javascript; charset=utf-8");
    assert!(worker.text().contains("/offline"));
    assert!(app.anonymous().get("/offline").send().await.text().contains("You are offline"));
    let script = app.anonymous().get("/assets/client.js").send().await;
    assert!(script.body.len() < 40_000, "{} bytes", script.body.len());
}

#[tokio::test]
async fn words_are_completed_for_people_who_are_signed_in() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bobby"]).await;
    bob.publish("#rooks #rookery").await;
    alice.follow(&bob).ok().await;
    app.run_jobs().await;
    let browser = Browser::signed_in(&app, "alice").await;
    let complete = async |q: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", q).finish();
        let answer = browser.get(&format!("/web/completions?{query}")).await;
        assert_eq!(answer.status, 200, "{q}");
        serde_json::from_str::<serde_json::Value>(&answer.text()).unwrap()
    };
    assert_eq!(complete("@bob").await[0]["value"], "@bobby");
    assert!(complete("#rook").await.as_array().unwrap().iter().any(|one| one["value"] == "#rooks"));
    for q in ["", "@", "bob", ":nothing", "é"] {
        assert_eq!(complete(q).await, serde_json::json!([]), "{q:?}");
    }
    assert_eq!(app.anonymous().get("/web/completions?q=%40bob").send().await.status, 302);
}
