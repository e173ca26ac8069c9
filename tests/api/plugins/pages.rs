//! Pages and sign-ups of a plugin that returns scripted results, and follows by plugins: the server's part of them.

use plugins::call::Mode;
use serde_json::{Value, json};

use super::bench::{Bench, code, id};
use super::guest;
use crate::harness::{Browser, NO_PLUGIN_YET, TestApp, form_fields};

const SIGN_UP: &str = "/api/v1/accounts";

async fn mirror(mode: &str) -> TestApp {
    let app = guest::serve("mirror", &[]).await;
    app.set("registrations_mode", mode).await;
    app
}

async fn kept(app: &TestApp) -> i64 {
    let table = match app.db().engine() {
        database::Engine::Sqlite => "p_mirror__kept",
        database::Engine::Postgres => "p_mirror.kept",
    };
    app.db().fetch_raw::<(i64,)>(&format!("SELECT COUNT(*) FROM {table}")).await.unwrap()[0].0
}

#[tokio::test]
async fn view_is_rendered_as_text_in_the_language_of_its_reader() {
    let app = mirror("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/mirror?after=a%26b").await;
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    for part in [
        "<h1>Mirror &lt;1&gt;</h1>",
        "en Some(&quot;a&amp;b&quot;)",
        "&lt;i&gt;x&lt;/i&gt;",
        "action=\"/mirror?after=a%26b\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(alice.get("/mirror").await.header("cache-control"), "private, no-store");
    assert!(alice.get("/mirror/more").await.text().contains("href=\"/mirror/more?after=a%26b%3Dc\""));
    let listed = alice.get("/settings/extensions").await.text();
    assert!(listed.contains("<a href=\"/mirror\">Mirrors</a>") && !listed.contains("Hall"), "{listed}");
    let japanese = Browser::preferring(&app, "ja");
    assert_eq!(japanese.sign_in("alice", crate::harness::PASSWORD).await.status, 302);
    assert!(japanese.get("/mirror").await.text().contains("ja None"));
    assert!(japanese.get("/settings/extensions").await.text().contains("<a href=\"/mirror\">鏡</a>"));
}

#[tokio::test]
async fn invalid_view_is_not_shown() {
    let app = mirror("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    for (wing, status) in [
        ("away", 502),
        ("twice", 502),
        ("many", 502),
        ("frames", 502),
        ("unframed", 502),
        ("crowded", 502),
        ("crowd", 502),
        ("trap", 500),
        ("north", 404),
    ] {
        let answer = alice.get(&format!("/mirror/{wing}")).await;
        assert_eq!(answer.status, status, "{wing}");
        assert!(answer.header("content-type").starts_with("text/html"), "{wing}");
        assert!(!answer.text().contains("evil.test"), "{wing}");
    }
    assert_eq!(alice.get("/mirror").await.status, 200, "the others are served");
}

#[tokio::test]
async fn plugin_mistake_is_not_reported_as_error_of_the_person() {
    let app = mirror("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    assert_eq!(alice.get("/mirror/mistake").await.status, 500);
    let page = alice.get("/mirror").await;
    assert_eq!(alice.submit(&page, "/mirror", &[("form", "speak"), ("say", "mistake")]).await.status, 500);
    assert_eq!(kept(&app).await, 0);
    let failures = app.plugins().plugins.observed.of("mirror").failures;
    assert_eq!(failures.len(), 2);
    assert!(failures.iter().all(|failure| failure.message.contains("nowhere")), "{failures:?}");
    let log = app.plugins().plugins.logs.after("mirror", 0);
    assert!(log.iter().any(|line| line.message.contains("nowhere")), "{log:?}");
}

#[tokio::test]
async fn every_block_is_rendered_with_data_visible_to_its_reader() {
    let app = mirror("none").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let shown = alice.publish("for all").await;
    let hidden = bob.publish_to("private", "psst").await;
    carol.update_profile(json!({ "display_name": "<Carol>" })).ok().await;
    app.suspend(&bob).await;
    let named =
        format!("{},{},{},{},77", shown["id"].as_str().unwrap(), hidden["id"].as_str().unwrap(), carol.id(), bob.id());
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get(&format!("/mirror/gallery?after={named}")).await;
    let text = page.text();
    assert_eq!(page.status, 200, "{text}");
    for part in [
        "<h2>Figures &lt;1&gt;</h2>",
        "<dt>&lt;b&gt;posts&lt;/b&gt;</dt><dd>1,204</dd>",
        "<li class=\"longest\"><span class=\"chart-label\">F</span>",
        "<rect x=\"0\" y=\"75\" width=\"10\" height=\"25\"/>",
        "<rect x=\"0\" y=\"0\" width=\"25\" height=\"10\"/>",
        "<h3>Best of all</h3>",
        "for all",
        "&lt;Carol&gt;</strong>",
        "&lt;i&gt;7&lt;/i&gt; times",
        "alt=\"a &quot;poster&quot;\"",
        "download=\"poster.png\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("Best of all").count(), 1, "hers only: {text}");
    assert!(!text.contains("psst") && !text.contains("@bob"), "{text}");
    let empty = browser.get("/mirror/gallery").await.text();
    assert!(!empty.contains("<h2>People") && !empty.contains("<h2>Statuses"), "{empty}");
}

#[tokio::test]
async fn picture_of_page_needs_access_to_the_page() {
    let app = mirror("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    assert!(
        alice
            .get("/mirror/gallery?after=1")
            .await
            .text()
            .contains("src=\"/mirror/gallery?after=1&amp;picture=poster\"")
    );
    let drawn = alice.get("/mirror/gallery?after=1&picture=poster").await;
    assert_eq!(drawn.status, 200);
    assert_eq!(drawn.header("content-type"), "image/png");
    assert_eq!(drawn.header("content-disposition"), "inline; filename=\"poster.png\"");
    assert_eq!(drawn.header("cache-control"), "private, no-store");
    let side = |at: usize| u32::from_be_bytes(drawn.body[at..at + 4].try_into().unwrap());
    assert_eq!((&drawn.body[1..4], side(16), side(20)), (&b"PNG"[..], 1200, 630));

    for other in ["/mirror/gallery?picture=other", "/mirror?picture=poster"] {
        assert_eq!(alice.get(other).await.status, 404, "{other}");
    }
    let anonymous = Browser::new(&app).get("/mirror/gallery?picture=poster").await;
    assert_eq!(anonymous.status, 302);
    assert!(anonymous.header("location").starts_with("/auth/sign_in"), "{}", anonymous.header("location"));
}

#[tokio::test]
async fn page_for_anyone_shows_everyone_the_same_and_takes_nothing() {
    let app = mirror("none").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (public, private) = (alice.publish("for all").await, alice.publish_to("private", "psst").await);
    app.suspend(&bob).await;
    let named = [&public, &private].map(|status| status["id"].as_str().unwrap()).join(",");
    let named = format!("{named},{},{}", alice.id(), bob.id());
    let path = format!("/mirror/window/shared?after={named}");
    let owner = Browser::signed_in(&app, "alice").await;
    for browser in [&Browser::new(&app), &owner] {
        let page = browser.get(&path).await;
        let text = page.text();
        assert_eq!(page.status, 200, "{text}");
        assert_eq!((page.header("cache-control"), page.header("referrer-policy")), ("no-store", "no-referrer"));
        for part in
            ["<meta name=\"robots\" content=\"noindex", "<h1>Mirror &lt;1&gt;</h1>", "a stranger", "for all", "@alice"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("psst") && !text.contains("@bob") && !text.contains("settings-side"), "{text}");
    }
    for (wing, status) in [("form", 502), ("poster", 502), ("button", 502), ("trap", 500), ("north", 404)] {
        assert_eq!(owner.get(&format!("/mirror/window/{wing}")).await.status, status, "{wing}");
    }
    let page = owner.get("/mirror").await;
    let csrf = form_fields(&page.text(), "/mirror")[0].1.clone();
    let sent = [("csrf", csrf.as_str()), ("_form", "speak"), ("say", "hello")];
    assert_eq!(owner.post("/mirror/window/shared", &sent).await.status, 404, "no form is there");
    assert_eq!(kept(&app).await, 0);
    assert!(!owner.get("/settings/extensions").await.text().contains("/mirror/window"), "it has a parameter");
}

#[tokio::test]
async fn limited_federation_closes_page_for_anyone() {
    let app = guest::serve("mirror", &[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
    app.account("alice").await;
    let stranger = Browser::new(&app).get("/mirror/window/shared").await;
    assert_eq!(stranger.status, 302);
    assert!(stranger.header("location").starts_with("/auth/sign_in"), "{}", stranger.header("location"));
    assert_eq!(Browser::signed_in(&app, "alice").await.get("/mirror/window/shared").await.status, 200);
}

#[tokio::test]
async fn inspection_names_the_pages() {
    let app = mirror("none").await;
    let inspected = app.run(&["plugin", "inspect", "mirror"]).await.ok();
    let pages = inspected.split_once("\npages\n").expect("a section").1;
    assert!(pages.contains("/mirror/{wing}") && pages.contains("Hall of mirrors"), "{inspected}");
    let inspected = &app.run(&["plugin", "inspect", "mirror", "--json"]).await.json()[0];
    let entrance =
        json!({ "id": "entrance", "path": "/mirror", "title": "Mirrors", "auth": "user", "permission": null });
    assert_eq!(inspected["pages"][1], entrance);
    assert_eq!((&inspected["pages"][2]["id"], &inspected["pages"][2]["auth"]), (&json!("window"), &json!("none")));
}

#[tokio::test]
async fn form_changes_commit_only_on_success() {
    let app = mirror("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let page = alice.get("/mirror").await;
    let say = async |what: &str| alice.submit(&page, "/mirror", &[("say", what)]).await;

    let dim = say("wrong").await;
    assert_eq!(dim.status, 422);
    assert!(dim.text().contains("The mirror is dim.") && dim.text().contains("value=\"wrong\""), "{}", dim.text());
    let refused = say("refuse").await;
    assert_eq!(refused.status, 403);
    assert_eq!(say("trap").await.status, 500);
    let away = say("away").await;
    assert_eq!((away.status.as_u16(), away.header("location")), (502, ""));
    assert_eq!(say("").await.status, 422, "it is required");
    assert_eq!(kept(&app).await, 0);

    let elsewhere = say("elsewhere").await;
    assert_eq!((elsewhere.status.as_u16(), elsewhere.header("location")), (302, "/about?x=1"));
    assert_eq!(say("hello").await.header("location"), "/mirror");
    assert!(alice.get("/mirror").await.text().contains("&quot;speak&quot; None"));
    let csrf = form_fields(&page.text(), "/mirror")[0].1.clone();
    let wipe = [("csrf", csrf.as_str()), ("_form", "wipe"), ("_item", "7"), ("say", "trap")];
    assert_eq!(alice.post("/mirror", &wipe).await.status, 302, "a button has no fields");
    assert_eq!(kept(&app).await, 3);
}

fn form(name: &str, code: &str) -> Value {
    json!({
        "username": name, "email": format!("{name}@mail.test"), "password": "correct horse", "agreement": true,
        "mirror_code": code,
    })
}

#[tokio::test]
async fn failing_plugin_is_ignored_or_stops_the_sign_up() {
    let app = mirror("open").await;
    let application = app.application("write").await;
    for (name, code) in [("a", "judge-trap"), ("b", "judge-fail")] {
        application.post(SIGN_UP).json(&form(name, code)).ok().await;
    }
    assert_eq!(kept(&app).await, 0, "refused sign-ups are not counted");
    for code in ["claim-trap", "claim-fail"] {
        application.post(SIGN_UP).json(&form("c", code)).fails(503).await;
    }
    app.set("registrations_mode", "none").await;
    application.post(SIGN_UP).json(&form("c", "judge-trap")).fails(403).await;
    assert_eq!(app.count("users").await, 2);
    assert_eq!(kept(&app).await, 0);

    let app = TestApp::with(&NO_PLUGIN_YET).await;
    app.set("registrations_mode", "open").await;
    guest::put(&app, "mirror", "");
    let manifest = app.app.config.plugins.dir.join("mirror/plugin.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("on = \"sign-up\"", "on = \"sign-up\"\npolicy = \"refuse\"")).unwrap();
    guest::enable(&app, "mirror").await;
    let application = app.application("write").await;
    application.post(SIGN_UP).json(&form("a", "judge-trap")).fails(503).await;
    application.post(SIGN_UP).json(&json!({ "username": "a" })).fails(422).await;
}

#[tokio::test]
async fn sign_up_is_decided_when_the_account_is_created() {
    let app = mirror("none").await;
    let application = app.application("write").await;
    let sign_up = |name: &str, code: &str| application.post(SIGN_UP).json(&form(name, code));
    sign_up("late", "claim-nothing").fails(403).await;
    sign_up("late", "nothing").fails(403).await;
    sign_up("late", "approves").fails(403).await;
    assert_eq!(kept(&app).await, 0);
    sign_up("opened", "opens").ok().await;
    sign_up("strange", "stranger").ok().await;
    app.set("registrations_mode", "approved").await;
    sign_up("approved", "approves").ok().await;
    sign_up("waiting", "claim-nothing").ok().await;
    app.set("require_invite_text", true).await;
    sign_up("late", "claim-nothing").fails(422).await;
    sign_up("late", "opens").fails(422).await;
    let users = "SELECT a.username, u.approved, u.invited_by_account_id FROM users u
        JOIN accounts a ON a.id = u.account_id ORDER BY a.username";
    let users: Vec<(String, bool, Option<i64>)> = app.db().fetch_raw(users).await.unwrap();
    let told: Vec<(&str, bool, Option<i64>)> = users.iter().map(|row| (row.0.as_str(), row.1, row.2)).collect();
    assert_eq!(
        told,
        [("approved", true, None), ("opened", false, None), ("strange", true, None), ("waiting", false, None)]
    );
    assert_eq!(kept(&app).await, 3, "counted with each account that was admitted");
}

#[tokio::test]
async fn follows_by_plugin_obey_rules_of_own_follows() {
    let own = Bench::new("[permissions]\ncore-write = [\"follow\"]\n").await;
    let [alice, bob] = own.app.accounts(["alice", "bob"]).await;
    let call = own.by(&alice, "write:follows", Mode::Ambient).await;
    assert_eq!(code(call.core_write_follow(id(&bob), vec![id(&alice)]).await), (403, "host.denied".to_owned()));
    assert_eq!(code(call.core_write_follow(id(&alice), vec![1; 21]).await), (413, "limit.items".to_owned()));
    let narrow = own.by(&alice, "write:statuses", Mode::Ambient).await;
    assert_eq!(code(narrow.core_write_follow(id(&alice), vec![id(&bob)]).await), (403, "core.scope".to_owned()));

    let any = Bench::new("[permissions]\ncore-write = [\"follow\", \"as-any\"]\n").await;
    let [alice, bob, carol, dan, erin] = any.app.accounts(["alice", "bob", "carol", "dan", "erin"]).await;
    for (one, verb, other) in [(&carol, "block", &alice), (&alice, "follow", &erin)] {
        one.post(&format!("/api/v1/accounts/{}/{verb}", other.id())).ok().await;
    }
    dan.update_profile(json!({ "locked": true })).ok().await;
    let call = any.system(Mode::Ambient);
    let targets = [&bob, &carol, &dan, &erin, &alice].map(id).into_iter().chain([1, id(&bob)]).collect();
    let new = call.core_write_follow(id(&alice), targets).await.unwrap();
    assert_eq!(new, [true, false, true, false, false, false, false], "blocked, followed, oneself, nobody, twice");
    assert_eq!(code(call.core_write_follow(1, vec![id(&bob)]).await), (404, "core.not-found".to_owned()));
    call.0.commit().await.unwrap();
    let following = alice.get(&format!("/api/v1/accounts/{}/following", alice.id())).ok().await;
    let mut following: Vec<&str> =
        following.as_array().unwrap().iter().map(|who| who["acct"].as_str().unwrap()).collect();
    following.sort_unstable();
    assert_eq!(following, ["bob", "erin"]);
    assert_eq!(dan.get("/api/v1/follow_requests").ok().await[0]["acct"], "alice");
    let own = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(own["following_count"], 2);
}
