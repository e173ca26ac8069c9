//! Exports and imports of follows, blocks, mutes, lists, bookmarks, domain blocks and filters, in Mastodon's file
//! formats.

use std::time::Duration;

use futures_util::future::join_all;
use model::transfer::TransferKind;
use serde_json::{Value, json};
use service::rate_limits::{self, Family};
use service::transfer::{self, Import, Mode};

use crate::harness::{Client, TestApp, TestDatabase};
use crate::platform::crash::{self, Server};
use crate::seed::Seed;

/// Starts an import as the settings page does.
async fn begin(person: &Client, kind: TransferKind, mode: Mode, file: &str) -> Result<Import, String> {
    let begun = transfer::import(&person.server.app, person.id(), kind, mode, file.as_bytes()).await;
    begun.map_err(|error| error.to_string())
}

/// Imports a file; returns the result.
async fn import(person: &Client, kind: TransferKind, mode: Mode, file: &str) -> Import {
    let begun = begin(person, kind, mode, file).await.unwrap();
    person.server.run_jobs().await;
    let import = transfer::find(&person.server.app, person.id(), begun.id).await.unwrap();
    assert!(import.finished_at.is_some(), "{import:?}");
    assert_eq!(import.done + import.failed, import.total, "{import:?}");
    import
}

async fn export(person: &Client, kind: TransferKind) -> String {
    let file = transfer::export(&person.server.app, person.id(), kind).await.unwrap();
    String::from_utf8(file).unwrap()
}

async fn failures(person: &Client, import: &Import) -> String {
    let file = transfer::failures(&person.server.app, person.id(), import.id).await.unwrap();
    String::from_utf8(file).unwrap()
}

async fn names(person: &Client, path: &str) -> Vec<String> {
    let page = person.get(path).ok().await;
    let mut names: Vec<String> =
        page.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

async fn following(person: &Client) -> Vec<String> {
    names(person, &format!("/api/v1/accounts/{}/following", person.id())).await
}

/// Remote accounts known to this server.
async fn far(app: &TestApp, names: &[&str]) {
    let mut seed = Seed::new(app.db().engine(), "example.test");
    for name in names {
        seed.account(name, Some("far.test"));
    }
    seed.write(app.db()).await;
}

#[tokio::test]
async fn follows_round_trip_in_mastodon_format() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    far(&app, &["dora"]).await;
    let file = "Account address,Show boosts,Notify on new posts,Languages\n\
                bob@example.test,false,true,\"en, de\"\n\
                @Carol@EXAMPLE.test,true,false,\n\
                dora@far.test,true,false,\n\
                nobody@far.test,true,false,\n\
                alice@example.test,true,false,\n\
                bob@example.test,true,false,\n\
                x y,true,false,\n";

    let done = import(&alice, TransferKind::Follows, Mode::Merge, file).await;

    assert_eq!((done.total, done.done, done.failed), (6, 3, 3), "repeated accounts count once");
    assert_eq!(following(&alice).await, ["bob", "carol"]);
    let tie = &alice.get(&format!("/api/v1/accounts/relationships?id[]={}", bob.id())).ok().await[0];
    assert_eq!((&tie["showing_reblogs"], &tie["notifying"]), (&json!(false), &json!(true)));
    assert_eq!(tie["languages"], json!(["en", "de"]));
    assert_eq!(bob.get("/api/v1/notifications").ok().await[0]["type"], "follow");
    let failed = failures(&alice, &done).await;
    assert!(failed.starts_with("Account address,Show boosts,Notify on new posts,Languages,Error\n"), "{failed}");
    assert!(failed.contains("This server does not know the account nobody@far.test"), "{failed}");
    assert!(failed.contains("alice@example.test,true,false,,You cannot follow yourself"), "{failed}");
    let again = import(&alice, TransferKind::Follows, Mode::Merge, &failed).await;
    assert_eq!((again.total, again.failed), (3, 3), "the failures are a file like others");

    let file = export(&alice, TransferKind::Follows).await;
    assert_eq!(
        file,
        "Account address,Show boosts,Notify on new posts,Languages\n\
         bob@example.test,false,true,\"en, de\"\n\
         carol@example.test,true,false,\n"
    );
    import(&carol, TransferKind::Follows, Mode::Overwrite, &file).await;
    assert_eq!(following(&carol).await, ["bob"]);
    assert!(transfer::find(&app.app, carol.id(), done.id).await.is_err(), "imports of others are hidden");
}

#[tokio::test]
async fn overwriting_removes_entries_missing_from_file() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for other in [&bob, &carol] {
        alice.follow(&other).ok().await;
    }
    app.run_jobs().await;
    let lists: Vec<Value> = vec![
        alice.post("/api/v1/lists").json(&json!({"title": "Friends"})).ok().await,
        alice.post("/api/v1/lists").json(&json!({"title": "Gone"})).ok().await,
    ];
    let members = format!("/api/v1/lists/{}/accounts", lists[0]["id"].as_str().unwrap());
    alice.post(&members).json(&json!({"account_ids": [carol.id().to_string()]})).ok().await;

    let done = import(&alice, TransferKind::Lists, Mode::Overwrite, "Friends,bob@example.test\nNew,alice\n").await;
    assert_eq!((done.done, done.failed), (2, 0), "{}", failures(&alice, &done).await);
    assert_eq!(names(&alice, &members).await, ["bob"]);
    let titles = alice.get("/api/v1/lists").ok().await;
    assert_eq!((&titles[0]["title"], &titles[1]["title"]), (&json!("Friends"), &json!("New")));
    assert_eq!(export(&alice, TransferKind::Lists).await, "Friends,bob@example.test\nNew,alice@example.test\n");

    import(&alice, TransferKind::Follows, Mode::Overwrite, "Account address\ncarol\n").await;
    assert_eq!(following(&alice).await, ["carol"]);
    let account = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(account["following_count"], 1);

    import(&alice, TransferKind::Blocks, Mode::Merge, "bob@example.test\ncarol\n").await;
    assert_eq!(names(&alice, "/api/v1/blocks").await, ["bob", "carol"]);
    import(&alice, TransferKind::Blocks, Mode::Overwrite, "bob\n").await;
    assert_eq!(export(&alice, TransferKind::Blocks).await, "bob@example.test\n");
    import(&alice, TransferKind::Mutes, Mode::Merge, "Account address,Hide notifications\nbob,false\ncarol,true").await;
    import(&alice, TransferKind::Mutes, Mode::Overwrite, "bob,false").await;
    assert_eq!(
        export(&alice, TransferKind::Mutes).await,
        "Account address,Hide notifications\nbob@example.test,false\n"
    );
    import(&alice, TransferKind::DomainBlocks, Mode::Merge, "#domain,#severity\nB\u{fc}cher.example,x\nfar.test,y")
        .await;
    let done = import(&alice, TransferKind::DomainBlocks, Mode::Overwrite, "FAR.test\nexample.test\n").await;
    assert_eq!(done.failed, 1, "this server is not blocked");
    assert_eq!(export(&alice, TransferKind::DomainBlocks).await, "far.test\n");
}

#[tokio::test]
async fn bookmarks_and_filters_round_trip() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let publish = |text: &'static str, visibility: &'static str| {
        let body = json!({"status": text, "visibility": visibility});
        let bob = &bob;
        async move { bob.publish(&body).await }
    };
    let (one, two, hidden) =
        (publish("one", "public").await, publish("two", "public").await, publish("no", "direct").await);
    let uri = |status: &Value| status["uri"].as_str().unwrap().to_owned();
    let file = format!(
        "#uri\n{}\n{}\n{}\n{}\nhttps://far.test/1\n",
        uri(&one),
        uri(&two),
        two["url"].as_str().unwrap(),
        uri(&hidden)
    );

    let done = import(&alice, TransferKind::Bookmarks, Mode::Merge, &file).await;

    assert_eq!((done.total, done.done, done.failed), (4, 2, 2), "two addresses of one post count once");
    let failed = failures(&alice, &done).await;
    assert_eq!(failed.matches("does not know the post").count(), 2, "hidden posts look like unknown ones: {failed}");
    import(&alice, TransferKind::Bookmarks, Mode::Overwrite, &uri(&two)).await;
    assert_eq!(export(&alice, TransferKind::Bookmarks).await, format!("{}\n", uri(&two)));

    let filter = json!({
        "title": "Spoilers", "context": ["home", "public"], "filter_action": "hide", "expires_in": 3600,
        "keywords_attributes": [{"keyword": "rook", "whole_word": true}, {"keyword": "crow"}]
    });
    alice.post("/api/v2/filters").json(&filter).ok().await;
    let file = export(&alice, TransferKind::Filters).await;
    import(&alice, TransferKind::Filters, Mode::Merge, &file).await;
    import(&bob, TransferKind::Filters, Mode::Merge, &file).await;
    let (own, other) = (alice.get("/api/v2/filters").ok().await, bob.get("/api/v2/filters").ok().await);
    assert_eq!((own.as_array().unwrap().len(), other.as_array().unwrap().len()), (1, 1));
    assert_eq!(other[0]["filter_action"], "hide");
    assert_eq!(other[0]["keywords"][1]["keyword"], "crow");
    assert!(other[0]["expires_at"].is_string());
    let other = r#"[{"title": "B", "context": ["home"], "keywords": []}, {"title": " ", "context": ["home"]}]"#;
    let done = import(&alice, TransferKind::Filters, Mode::Overwrite, other).await;
    assert!(failures(&alice, &done).await.contains("title can't be blank"));
    assert_eq!(alice.get("/api/v2/filters").ok().await[0]["title"], "B");
    assert_eq!(app.count("import_rows").await, 2 + 1, "finished rows are not stored");
}

#[tokio::test]
async fn concurrent_imports_run_one_at_a_time_and_keep_the_newest() {
    let app = TestApp::new().await;
    let [alice, _] = app.accounts(["alice", "bob"]).await;
    let begun = join_all((0..8).map(|_| begin(&alice, TransferKind::Blocks, Mode::Merge, "bob\n"))).await;
    assert_eq!(begun.iter().filter(|import| import.is_ok()).count(), 1, "{begun:?}");
    assert!(begun.iter().filter_map(|import| import.as_ref().err()).all(|why| why.contains("still running")));
    for _ in 0..12 {
        app.tick();
        app.run_jobs().await;
        begin(&alice, TransferKind::Blocks, Mode::Merge, "nobody\nbob\n").await.unwrap();
    }
    assert_eq!(app.count("imports").await, 10);
    assert_eq!(transfer::list(&app.app, alice.id()).await.unwrap().len(), 10);
}

#[tokio::test]
async fn rows_are_imported_in_idempotent_batches() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let mut file = String::from("Account address\n");
    for n in 0..120 {
        seed.account(&format!("bird{n}"), None);
        file += &format!("bird{n}\nnobody{n}\n");
    }
    seed.write(app.db()).await;
    let begun = begin(&alice, TransferKind::Follows, Mode::Overwrite, &file).await.unwrap();
    assert_eq!(begun.total, 240);
    // Killed after the first rows of a batch: these rows are imported again.
    for n in 0..5 {
        let account = app.anonymous().get(&format!("/api/v1/accounts/lookup?acct=bird{n}")).ok().await;
        alice.follow(&account).ok().await;
    }
    app.run_jobs().await;
    let import = transfer::find(&app.app, alice.id(), begun.id).await.unwrap();
    assert_eq!((import.done, import.failed), (120, 120));
    assert_eq!(app.count("follows").await, 120);
    let account = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(account["following_count"], 120);
}

#[tokio::test]
async fn import_of_removed_account_ends() {
    let app = TestApp::new().await;
    let [alice, _] = app.accounts(["alice", "bob"]).await;
    let begun = begin(&alice, TransferKind::Blocks, Mode::Merge, "bob\n").await.unwrap();
    app.run(&["user", "suspend", "alice"]).await.ok();
    app.run_jobs().await;
    let import = transfer::find(&app.app, alice.id(), begun.id).await.unwrap();
    assert_eq!((import.done, import.failed, import.finished_at.is_some()), (0, 1, true));
    crate::jobs::removal::remove(&app, "alice").await;
    app.run_jobs().await;
    for table in ["imports", "import_rows"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn command_line_exports_and_imports() {
    let app = TestApp::new().await;
    let [alice, _] = app.accounts(["alice", "bob"]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("blocks.csv"), "bob@example.test\nnobody\n").unwrap();

    let begun = app.run(&["--json", "user", "import", "alice", "blocking", &path("blocks.csv")]).await.json();
    assert_eq!((&begun[0]["total"], &begun[0]["finished_at"]), (&json!(2), &Value::Null));
    let refused = app.run(&["user", "import", "alice", "blocking", &path("blocks.csv"), "--overwrite"]).await.fails(1);
    assert!(refused.contains("still running"), "{refused}");
    app.make_jobs_due().await;
    app.run_jobs().await;
    let listed = app.run(&["--json", "user", "imports", "alice"]).await.list();
    assert_eq!((&listed[0]["done"], &listed[0]["failed"]), (&json!(1), &json!(1)));
    let failed = app.run(&["user", "imports", "alice", listed[0]["id"].as_str().unwrap()]).await.ok();
    assert!(failed.starts_with("nobody,"), "{failed}");
    assert_eq!(names(&alice, "/api/v1/blocks").await, ["bob"]);

    assert_eq!(app.run(&["user", "export", "alice", "blocking"]).await.ok(), "bob@example.test");
    app.run(&["user", "export", "alice", "blocking", &path("out.csv")]).await.ok();
    assert_eq!(std::fs::read_to_string(path("out.csv")).unwrap(), "bob@example.test\n");
    assert!(app.run(&["user", "import", "alice", "blocking", &path("none.csv")]).await.fails(1).contains("none.csv"));
    assert!(app.run(&["user", "export", "alice"]).await.ok().contains("\"plugins\""), "what plugins store");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_after_kill_processes_every_row_once() {
    const BIRDS: i64 = 400;
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = crash::prepare(&database.url).await;
    let mut seed = Seed::after(db.engine(), "example.test", 10_000);
    let mut file = String::from("Account address\n");
    for n in 0..BIRDS {
        seed.account(&format!("bird{n}"), None);
        file += &format!("bird{n}\n");
    }
    seed.write(&db).await;
    let path = folder.path().join("follows.csv");
    std::fs::write(&path, file).unwrap();
    let mut import = crash::program(folder.path(), &database.url);
    assert!(import.args(["user", "import", "alice", "following"]).arg(&path).status().unwrap().success());
    for round in 0..crash::rounds() {
        let mut server = Server::start(folder.path(), &database.url).await;
        tokio::time::sleep(Duration::from_millis(60 + (round as u64 * 97) % 200)).await;
        server.kill();
        // Skips the back-off of the interrupted job.
        let ready = format!("UPDATE jobs SET state = 'ready', run_at = {} WHERE kind = 'run_import'", crash::now(&db));
        db.execute_raw(&ready).await.unwrap();
    }
    // Several servers may share a PostgreSQL database, so interrupted jobs are released when their lease ends.
    let ended = format!("UPDATE jobs SET lease_until = {} WHERE state = 'running'", crash::now(&db));
    db.execute_raw(&ended).await.unwrap();
    let _server = Server::start(folder.path(), &database.url).await;
    crash::settle(&db).await;
    let one = |sql: &'static str| {
        let db = &db;
        async move { db.fetch_raw::<(i64,)>(sql).await.unwrap()[0].0 }
    };
    let follows = "SELECT COUNT(*) FROM follows f JOIN accounts a ON a.id = f.account_id WHERE a.username = 'alice'";
    assert_eq!(one(follows).await, BIRDS);
    assert_eq!(one("SELECT following_count FROM accounts WHERE username = 'alice'").await, BIRDS);
    assert_eq!(one("SELECT COUNT(*) FROM notifications WHERE type = 'follow'").await, BIRDS);
    assert_eq!(one("SELECT done FROM imports").await, BIRDS);
    assert_eq!(one("SELECT COUNT(*) FROM import_rows").await, 0);
}

#[tokio::test]
async fn import_respects_follow_limit_and_continues_when_renewed() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let mut file = String::from("Account address\n");
    for n in 0..30 {
        seed.account(&format!("bird{n}"), None);
        file += &format!("bird{n}\n");
    }
    seed.write(app.db()).await;
    // All but ten follows of the daily limit.
    for _ in 0..390 {
        rate_limits::family(&app.app, alice.id(), Family::Follows).unwrap().keep();
    }
    let begun = begin(&alice, TransferKind::Follows, Mode::Merge, &file).await.unwrap();
    let state = async || {
        let import = transfer::find(&app.app, alice.id(), begun.id).await.unwrap();
        (import.done, import.failed, import.finished_at.is_some())
    };
    app.run_jobs().await;
    assert_eq!(state().await, (10, 0, false));
    let bird = app.anonymous().get("/api/v1/accounts/lookup?acct=bird29").ok().await;
    alice.follow(&bird).fails(429).await;
    app.run_jobs().await;
    assert_eq!(state().await, (10, 0, false), "no attempt is spent on waiting");

    app.app.clock.advance(chrono::Duration::days(1));
    app.run_jobs().await;
    assert_eq!(state().await, (30, 0, true));
    assert_eq!(following(&alice).await.len(), 30);
}
