//! The group `annual_reports`: `plugins/annual_reports`. The tests are in 2026, and create its reports in 2027.

use chrono::Duration;
use database::Engine;
use futures_util::future::join_all;
use plugins::{admin, life};
use serde_json::{Value, json};

use super::groups::{execute, served, settle};
use super::guest;
use crate::harness::{Browser, Client, TestApp, id, ids};
use crate::jobs::removal::remove;
use crate::platform::contract;
use crate::platform::serve::Running;

const REPORTS: &str = "/api/v1/annual_reports";
const NAME: &str = "annual_reports";

/// Ends the year.
async fn next_year(app: &TestApp) {
    settle(app).await;
    app.app.clock.advance(Duration::days(366));
}

/// Runs the command as `rookery plugin run` does, step by step; returns the last response.
async fn generate(app: &TestApp, mut args: Value) -> context::Result<Value> {
    loop {
        let mut answer = admin::run(&app.plugins(), &model::Staff::operator(), NAME, "generate", &args).await?;
        match admin::next_step(&mut answer) {
            Some(next) => args = next,
            None => return Ok(answer),
        }
    }
}

/// Creates the report of `person` for the previous year.
async fn report(person: &Client, name: &str) {
    let made = generate(&person.server, json!({ "account": name })).await.unwrap();
    assert_eq!(made, json!({ "year": 2026, "made": 1 }));
}

async fn shown(person: &Client) -> Value {
    let shown = person.get(REPORTS).ok().await;
    contract::check("AnnualReports", &shown);
    shown
}

#[tokio::test]
async fn reports_are_offered_in_january_while_the_plugin_is_enabled() {
    let year = async |app: &TestApp| app.anonymous().get("/api/v2/instance").ok().await["wrapstodon"].take();
    let app = served(NAME).await;
    assert_eq!(year(&app).await, 2025, "it is January 2026");
    app.app.clock.advance(Duration::days(31));
    assert_eq!(year(&app).await, Value::Null);

    let without = TestApp::new().await;
    assert_eq!(year(&without).await, Value::Null);
}

#[tokio::test]
async fn report_has_every_figure_of_the_year() {
    let app = served(NAME).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for (one, other) in [(&bob, &alice), (&carol, &alice), (&alice, &bob)] {
        one.follow(&other).ok().await;
    }
    let (his, also_his, hers) = (bob.publish("1").await, bob.publish("2").await, carol.publish("3").await);
    let first = alice.publish("#Rooks are birds").await;
    alice.reply(&first, "#rooks and #jays").await;
    for (text, to) in [("yes", &his), ("no", &also_his), ("perhaps", &hers)] {
        alice.reply(to, text).await;
    }
    for status in [&his, &also_his, &hers] {
        alice.reblog(status).ok().await;
    }
    let poll = json!({ "options": ["a", "b"], "expires_in": 3600 });
    let poll = alice.publish(json!({ "status": "which?", "poll": poll })).await;
    let private = alice.publish_to("private", "psst").await;
    bob.reblog(&first).ok().await;
    for (person, status) in [(&bob, &first), (&carol, &first), (&carol, &poll), (&bob, &private), (&carol, &private)] {
        person.favourite(status).ok().await;
    }
    app.anonymous().post("/api/v1/apps").form(&[("client_name", "Tusky"), ("redirect_uris", "a:b")]).ok().await;
    let application = "UPDATE statuses SET app_id = (SELECT MAX(id) FROM oauth_apps)";
    execute(&app, &format!("{application} WHERE account_id = {}", alice.id())).await;
    next_year(&app).await;
    alice.publish("of another year").await;
    report(&alice, "alice").await;

    let all = shown(&alice).await;
    let data = &all["annual_reports"][0]["data"];
    assert_eq!(data["archetype"], "lurker");
    assert_eq!(data["type_distribution"], json!({ "total": 10, "reblogs": 3, "replies": 3, "standalone": 4 }));
    let top = json!({ "by_reblogs": id(&first), "by_favourites": id(&poll), "by_replies": null });
    assert_eq!(data["top_statuses"], top, "public ones, each for one reason");
    assert_eq!(data["most_used_apps"], json!([{ "name": "Tusky", "count": 10 }]));
    let bob_twice = json!([{ "account_id": bob.id().to_string(), "count": 2 }]);
    assert_eq!(data["commonly_interacted_with_accounts"], bob_twice);
    assert_eq!(data["most_reblogged_accounts"], bob_twice);
    assert_eq!(data["top_hashtags"], json!([{ "name": "Rooks", "count": 2 }]), "as it was first written");
    let january = json!({ "month": 1, "statuses": 10, "following": 1, "followers": 2 });
    assert_eq!(data["time_series"][0], january);
    for month in 1..12 {
        let nothing = json!({ "month": month + 1, "statuses": 0, "following": 0, "followers": 0 });
        assert_eq!(data["time_series"][month], nothing);
    }
    // Bob and Carol posted less, of three; Bob gained fewer followers, of two who gained any. Bob's reblog counts.
    let (third, half) = (100.0 / 3.0, 50.0);
    assert_eq!(data["percentiles"], json!({ "followers": third, "statuses": half }));
    assert_eq!(ids(&all["accounts"]), [bob.id().to_string()]);
    assert_eq!(ids(&all["statuses"]), [id(&first), id(&poll)]);
}

#[tokio::test]
async fn report_is_created_once_and_shown_until_it_is_read() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let nothing = json!({ "annual_reports": [], "accounts": [], "statuses": [] });
    assert_eq!(shown(&alice).await, nothing);
    alice.publish("hello").await;
    assert!(generate(&app, json!({ "year": 2026 })).await.is_err(), "it is not over");
    next_year(&app).await;
    report(&alice, "alice").await;
    let before = shown(&alice).await;
    execute(&app, &format!("UPDATE statuses SET favourites_count = 9 WHERE account_id = {}", alice.id())).await;
    assert_eq!(generate(&app, json!({ "account": "alice" })).await.unwrap(), json!({ "year": 2026, "made": 0 }));
    assert_eq!(generate(&app, json!({})).await.unwrap(), json!({ "year": 2026, "made": 0 }), "bob posted nothing");
    assert_eq!(shown(&alice).await, before);

    let read = format!("{REPORTS}/2026/read");
    bob.post(&read).fails(404).await;
    alice.post(&format!("{REPORTS}/2025/read")).fails(404).await;
    alice.post(&format!("{REPORTS}/last/read")).fails(404).await;
    for _ in 0..2 {
        assert_eq!(alice.post(&read).ok().await, json!({}));
    }
    assert_eq!(shown(&alice).await, nothing);
}

#[tokio::test]
async fn report_has_a_page_and_a_picture_for_its_owner() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let best = alice.publish("#Rooks are birds").await;
    alice.publish("#rooks again").await;
    let his = bob.publish("his").await;
    for text in ["one", "two"] {
        alice.reply(&his, text).await;
    }
    bob.favourite(&best).ok().await;
    bob.follow(&alice).ok().await;
    let before = Browser::signed_in(&app, "alice").await;
    assert!(before.get("/annual_reports").await.text().contains("There is no report yet"));
    next_year(&app).await;
    let browser = Browser::signed_in(&app, "alice").await;
    report(&alice, "alice").await;
    alice.post(&format!("{REPORTS}/2026/read")).ok().await;

    let listed = browser.get("/annual_reports").await.text();
    assert!(listed.contains("<a href=\"/annual_reports/2026\">2026</a>"), "{listed}");
    assert!(listed.contains("The lurker · 4 posts"), "{listed}");
    let page = browser.get("/annual_reports/2026").await;
    let text = page.text();
    for part in [
        "<h1>Your 2026</h1>",
        "The lurker. You read more than you wrote.",
        "<dt>posts</dt><dd>4</dd>",
        "<dt>new followers</dt><dd>1</dd>",
        "<h3>Favourited most</h3>",
        "are birds",
        "<span class=\"chart-label\">#Rooks</span>",
        "@bob · 2 replies",
        "src=\"/annual_reports/2026?picture=annual-report-2026\"",
        "alt=\"My 2026: The lurker, 4 posts, 1 new followers",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let picture = browser.get("/annual_reports/2026?picture=annual-report-2026").await;
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/png"));

    alice.delete_status(&best).ok().await;
    let text = browser.get("/annual_reports/2026").await.text();
    assert!(!text.contains("are birds") && !text.contains("Favourited most"), "{text}");
    let other = Browser::signed_in(&app, "bob").await;
    for path in ["/annual_reports/2026", "/annual_reports/2026?picture=annual-report-2026"] {
        assert_eq!(other.get(path).await.status, 404, "{path}");
        assert_eq!(Browser::new(&app).get(path).await.status, 302, "{path}");
    }
    assert_eq!(browser.get("/annual_reports/2025").await.status, 404);
}

/// The path of the link of the first report.
async fn link(person: &Client) -> String {
    let shown = shown(person).await;
    let url = shown["annual_reports"][0]["share_url"].as_str().unwrap();
    let path = url.strip_prefix(&person.server.app.urls.path("")).expect("of this server");
    assert!(path.starts_with("/annual_reports/2026/"), "{url}");
    path.to_owned()
}

#[tokio::test]
async fn link_of_report_opens_its_public_part_to_anyone() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.update_profile(json!({ "display_name": "Alice the Rook" })).ok().await;
    bob.update_profile(json!({ "display_name": "Robert" })).ok().await;
    let best = alice.publish("#Rooks are birds").await;
    let his = bob.publish("a question").await;
    let boosted = alice.reply(&his, "@bob #rooks again").await;
    alice.reply(&his, "@bob indeed").await;
    for _ in 0..3 {
        alice.publish_to("private", "#secret psst").await;
    }
    for text in ["#homely one", "#homely two"] {
        alice.publish(json!({ "status": text, "local_only": true })).await;
    }
    bob.favourite(&best).ok().await;
    bob.reblog(&boosted).ok().await;
    bob.follow(&alice).ok().await;
    next_year(&app).await;
    report(&alice, "alice").await;
    let path = link(&alice).await;
    assert_eq!(link(&alice).await, path, "the key stays");

    let own = Browser::signed_in(&app, "alice").await;
    let owned = own.get("/annual_reports/2026").await.text();
    assert!(owned.contains(&format!("{path}</code>")), "{owned}");
    assert!(owned.contains("#homely") || owned.contains("#Homely"), "the owner sees all: {owned}");
    let before = Browser::new(&app).get(&path).await;
    let text = before.text();
    assert_eq!(before.status, 200, "{text}");
    for part in [
        "<meta name=\"robots\" content=\"noindex",
        "<h1>@alice in 2026</h1>",
        "<strong>Alice the Rook</strong>",
        "class=\"avatar\"",
        "<p>The lurker</p>",
        "<dt>posts</dt><dd>8</dd>",
        "<dt>new followers</dt><dd>1</dd>",
        "<p>Hashtags: #Rooks</p>",
        &format!("<a href=\"/@alice/{}\">Boosted most</a>", id(&boosted)),
        &format!("<a href=\"/@alice/{}\">Favourited most</a>", id(&best)),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["bob", "Robert", "secret", "psst", "omely", "newly followed", "replies", "are birds"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    assert_eq!((before.header("cache-control"), before.header("referrer-policy")), ("no-store", "no-referrer"));

    alice.delete_status(&best).ok().await;
    let text = Browser::new(&app).get(&path).await.text();
    assert!(!text.contains("Favourited most") && text.contains("Boosted most"), "{text}");
}

#[tokio::test]
async fn link_is_not_found_without_its_key_and_its_account() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for person in [&alice, &bob] {
        person.publish("hello").await;
    }
    next_year(&app).await;
    assert_eq!(generate(&app, json!({})).await.unwrap()["made"], 2);
    let (hers, his) = (link(&alice).await, link(&bob).await);
    assert_ne!(hers, his);
    let visitor = Browser::new(&app);
    let missing = async |path: &str| {
        let page = visitor.get(path).await;
        assert_eq!(page.status, 404, "{path}");
        page.text()
    };
    let (stem, key) = hers.rsplit_once('/').unwrap();
    let unknown = missing(&format!("{stem}/{}", "0".repeat(32))).await;
    for other in [
        format!("/annual_reports/2025/{key}"),
        hers[..hers.len() - 1].to_owned(),
        format!("{stem}/{}", key.to_uppercase()),
    ] {
        missing(&other).await;
    }
    app.suspend(&alice).await;
    assert_eq!(missing(&hers).await, unknown, "without a difference");
    app.unsuspend(&alice).await;
    assert_eq!(visitor.get(&hers).await.status, 200);
    remove(&app, "alice").await;
    assert_eq!(missing(&hers).await, unknown);
    settle(&app).await;
    assert_eq!(missing(&hers).await, unknown);
    assert_eq!(visitor.get(&his).await.status, 200, "the others stay");
    assert_eq!(visitor.post(&his, &[]).await.status, 404, "it takes nothing");
}

#[tokio::test]
async fn report_without_key_gets_one_at_its_next_reading() {
    let app = served(NAME).await;
    let alice = app.account("alice").await;
    alice.publish("#rooks").await;
    alice.publish("#rooks").await;
    next_year(&app).await;
    report(&alice, "alice").await;
    let before = link(&alice).await;
    let table = match app.db().engine() {
        Engine::Sqlite => "p_annual_reports__reports",
        Engine::Postgres => "p_annual_reports.reports",
    };
    execute(&app, &format!("UPDATE {table} SET share_key = NULL, public_hashtags = NULL")).await;
    let visitor = Browser::new(&app);
    assert_eq!(visitor.get(&before).await.status, 404);
    let all = join_all((0..4).map(|_| link(&alice))).await;
    assert!(all.iter().all(|path| *path == all[0] && *path != before), "{all:?}");
    let text = visitor.get(&all[0]).await.text();
    assert!(text.contains("@alice in 2026") && !text.contains("Hashtags:"), "{text}");
}

#[tokio::test]
async fn concurrent_requests_create_one_report() {
    let app = served(NAME).await;
    let alice = app.account("alice").await;
    alice.publish("hello").await;
    next_year(&app).await;
    let all = join_all((0..8).map(|_| generate(&app, json!({ "account": "alice" })))).await;
    assert!(all.iter().any(Result::is_ok), "{all:?}");
    assert_eq!(shown(&alice).await["annual_reports"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn deleted_accounts_and_statuses_leave_report() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let his = bob.publish("hello").await;
    alice.reply(&his, "yes").await;
    alice.reply(&his, "no").await;
    let liked = alice.publish("a rook").await;
    bob.favourite(&liked).ok().await;
    next_year(&app).await;
    report(&alice, "alice").await;
    let before = shown(&alice).await;
    assert_eq!((ids(&before["accounts"]).len(), ids(&before["statuses"]).len()), (1, 1));

    alice.delete_status(&liked).ok().await;
    remove(&app, "bob").await;
    settle(&app).await;
    let after = shown(&alice).await;
    let data = &after["annual_reports"][0]["data"];
    assert_eq!(data["top_statuses"]["by_favourites"], json!(null));
    assert_eq!(data["commonly_interacted_with_accounts"], json!([]));
    assert_eq!((&after["accounts"], &after["statuses"]), (&json!([]), &json!([])));
    assert_eq!(data["type_distribution"]["replies"], 2, "numbers stay");
}

#[tokio::test]
async fn reports_are_exported_and_deleted_with_account() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish("hello").await;
    bob.publish("hello").await;
    next_year(&app).await;
    assert_eq!(generate(&app, json!({})).await.unwrap()["made"], 2);
    let kept = async |account| {
        let all = store::plugin_data::export_account(app.db(), account).await.unwrap();
        ["reports", "tallies"].map(|table| all[NAME][table].as_array().unwrap().len())
    };
    assert_eq!(kept(alice.id()).await, [1, 1]);
    remove(&app, "alice").await;
    settle(&app).await;
    assert_eq!((kept(alice.id()).await, kept(bob.id()).await), ([0, 0], [1, 1]));
}

#[tokio::test]
async fn reports_are_created_in_january_if_enabled() {
    let app = served(NAME).await;
    let alice = app.account("alice").await;
    let january = async |wanted: bool| {
        let wanted = json!({ "generate_in_january": wanted });
        admin::configure(&app.plugins(), &model::Staff::operator(), NAME, wanted.as_object().unwrap().clone())
            .await
            .unwrap();
        life::follow(&app.plugins()).await;
        alice.publish("hello").await;
        next_year(&app).await;
        settle(&app).await;
        shown(&alice).await["annual_reports"].as_array().unwrap().len()
    };
    assert_eq!(january(false).await, 0);
    assert_eq!(january(true).await, 1);
}

#[tokio::test]
async fn three_reports_cost_as_many_statements_as_one() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut costs = Vec::new();
    for _ in 0..3 {
        let his = bob.publish("hello").await;
        alice.reply(&his, "yes").await;
        alice.reply(&his, "no").await;
        bob.favourite(&alice.publish("a rook").await).ok().await;
        next_year(&app).await;
        generate(&app, json!({ "account": "alice" })).await.unwrap();
        app.known(&alice).await;
        shown(&alice).await;
        costs.push(app.cost(alice.get(REPORTS).ok()).await.0);
    }
    assert_eq!(shown(&alice).await["annual_reports"].as_array().unwrap().len(), 3);
    assert_eq!(costs[0], costs[2], "{costs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_on_running_server_continues_until_report_is_created() {
    let app = TestApp::new().await;
    guest::put(&app, NAME, "");
    let running =
        Running::start_with(&app, &[("ROOKERY_PLUGINS_ENABLED", "true"), ("ROOKERY_PLUGINS_EMBEDDED", "false")]);
    app.run(&["plugin", "enable", NAME, "--yes"]).await.ok();
    assert!(running.get(REPORTS).starts_with("HTTP/1.1 401"), "it is served");
    app.run(&["user", "create", "alice"]).await.ok();
    let run = async |wanted: Value| app.run(&["--json", "plugin", "run", NAME, "generate", &wanted.to_string()]).await;
    let said = run(json!({ "year": 2020, "account": "alice" })).await;
    assert!(said.err.contains("{\"progress\":\"2020: counting what everyone did\"}"), "{said:?}");
    assert_eq!(said.json(), [json!({ "year": 2020, "made": 1 })]);
    let again = run(json!({ "year": 2020, "account": "alice" })).await;
    assert_eq!(again.err, "", "there is nothing to do");
    assert_eq!(again.json(), [json!({ "year": 2020, "made": 0 })]);
    run(json!({ "year": 2020, "account": "nobody" })).await.fails(1);
    let logged = app.run(&["--json", "audit", "--action", "plugin.run"]).await.list();
    assert_eq!(logged.len(), 3, "one entry for all steps of a run: {logged:?}");
    assert_eq!(logged[0]["details"], json!({ "command": "generate" }), "without its arguments");
}

/// More statuses than one window.
const MANY: i64 = 4_500;

#[tokio::test]
async fn year_of_many_statuses_is_counted_in_windows() {
    let app = served(NAME).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.publish("#Many").await;
    let (from, step) = (app.app.clock.now().timestamp_millis() << 16, ((300_i64 * 24 * 3600 * 1000) << 16) / MANY);
    let made = match app.db().engine() {
        Engine::Sqlite => "(i >> 16) * 1000",
        Engine::Postgres => "to_timestamp((i >> 16) / 1000.0)",
    };
    let numbers = format!(
        "WITH RECURSIVE n (i) AS (SELECT {from} + {step} UNION ALL SELECT i + {step} FROM n WHERE i < {from} + {step} * {MANY})"
    );
    let (alice_id, bob_id) = (alice.id(), bob.id());
    execute(
        &app,
        &format!(
            "{numbers} INSERT INTO statuses (id, account_id, uri, local, text, content, spoiler_text, sensitive, visibility,
                searchability, listed, has_media, replies_count, reblogs_count, favourites_count, created_at, version,
                in_reply_to_account_id)
             SELECT i, {alice_id}, 'https://example.test/many/' || i, TRUE, '', '', '', FALSE, 'public', 'public', FALSE, FALSE,
                0, 0, (i / {step}) % 97, {made}, 1, CASE WHEN (i / {step}) % 2 = 0 THEN {bob_id} END FROM n"
        ),
    )
    .await;
    let tagged = "INSERT INTO status_tags (tag_id, status_id) SELECT t.id, s.id FROM tags t, statuses s";
    execute(&app, &format!("{tagged} WHERE s.uri LIKE 'https://example.test/many/%'")).await;
    next_year(&app).await;
    let (cost, _) = app.cost(report(&alice, "alice")).await;
    assert!(cost < 250, "a few for each window and month: {cost}");

    let all = shown(&alice).await;
    let data = &all["annual_reports"][0]["data"];
    let kinds = &data["type_distribution"];
    let number = |value: &Value| value.as_i64().unwrap();
    assert_eq!((number(&kinds["total"]), &data["archetype"]), (MANY + 1, &json!("oracle")));
    assert_eq!(number(&kinds["replies"]) + number(&kinds["standalone"]), MANY + 1);
    assert_eq!(data["commonly_interacted_with_accounts"][0]["count"], kinds["replies"]);
    assert_eq!(data["top_hashtags"], json!([{ "name": "Many", "count": MANY + 1 }]));
    let months = data["time_series"].as_array().unwrap().iter().map(|month| number(&month["statuses"]));
    assert_eq!(months.clone().sum::<i64>(), MANY + 1);
    assert_eq!(months.filter(|count| *count > 0).count(), 11);
    let best = format!("SELECT MAX(id) FROM statuses WHERE account_id = {alice_id} AND favourites_count = 96");
    let best: Vec<(i64,)> = app.db().fetch_raw(&best).await.unwrap();
    assert_eq!(data["top_statuses"]["by_favourites"], best[0].0.to_string());
}
