//! The command line next to a running server: accounts, tokens, roles.

use std::os::unix::net::UnixListener;
use std::time::Instant;

use crate::harness::{Client, OTHER_SECRET, TestApp};
use crate::routes::media::png;

#[tokio::test]
async fn user_add_makes_account_with_working_token() {
    let app = TestApp::new().await;

    let said = app.run(&["user", "create", "alice", "--token", "write", "--json"]).await.json();

    assert_eq!(said[0]["username"], "alice");
    let token = said[0]["access_token"].as_str().unwrap().to_owned();
    let alice = Client::new(app.clone(), None, "alice", Some(token));
    alice.get("/api/v1/blocks").fails(403).await;
    let account = app.anonymous().get(&format!("/api/v1/accounts/{}", said[0]["id"].as_str().unwrap())).ok().await;
    assert_eq!(account["acct"], "alice");
}

#[tokio::test]
async fn taken_or_malformed_name_is_refused_in_one_sentence() {
    let app = TestApp::new().await;
    app.account("alice").await;
    assert!(app.run(&["user", "create", "Alice"]).await.fails(1).contains("username has already been taken"));
    assert!(app.run(&["user", "create", "a b"]).await.fails(1).contains("letters, numbers and underscores"));
    assert!(app.run(&["user", "create", "bob", "--email", "nonsense"]).await.fails(1).contains("e-mail"));
    assert!(app.run(&["user", "create", "bob", "--role", "ownr"]).await.fails(1).contains("Owner"));
    assert!(app.run(&["user", "token", "nobody"]).await.fails(1).contains("\"nobody\""));
    assert!(app.run(&["user", "token", "alice", "--scopes", "read nonsense"]).await.fails(2).contains("\"nonsense\""));
    assert_eq!(app.run(&["user", "list"]).await.ok().lines().count(), 1);
}

#[tokio::test]
async fn accounts_are_created_from_lines_and_each_line_is_reported() {
    let app = TestApp::new().await;
    app.account("u500").await;
    let lines: String = (0..1000).map(|n| format!("{{\"username\":\"u{n}\",\"scopes\":\"read\"}}\n")).collect();

    let begun = Instant::now();
    let said = app.run_with(&["user", "create", "--stdin"], &lines).await;
    let taken = begun.elapsed();

    assert_eq!(said.code, 1, "one was refused: {}", said.err);
    let answers: Vec<serde_json::Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 1000);
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer["username"], format!("u{n}"));
        assert_eq!(answer["access_token"].is_string(), n != 500, "{answer}");
        assert_eq!(answer["error"].is_string(), n == 500, "{answer}");
    }
    assert!(taken.as_secs() < 60, "{taken:?}");
    let accounts: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM users").await.unwrap();
    assert_eq!(accounts[0].0, 1000);
}

#[tokio::test]
async fn malformed_line_is_reported_and_others_are_processed() {
    let app = TestApp::new().await;
    let lines = "{\"username\":\"a\"}\nrubbish\n\n{\"username\":\"b\",\"colour\":\"red\"}\n{\"username\":\"c\",\"password\":\"short\"}\n{\"username\":\"d\"}";

    let said = app.run_with(&["user", "create", "--stdin"], lines).await;

    assert!(said.err.contains("3 lines were refused"), "{said:?}");
    assert_eq!(said.out.lines().count(), 5);
    assert_eq!(app.run(&["user", "list", "--json"]).await.list().len(), 2);
}

#[tokio::test]
async fn pending_user_is_approved() {
    let app = TestApp::new().await;
    app.run(&["user", "create", "alice", "--unconfirmed", "--unapproved"]).await.ok();
    let token = app.run(&["user", "token", "alice"]).await.ok();
    let alice = Client::new(app.clone(), None, "alice", Some(token));
    alice.get("/api/v1/blocks").fails(403).await;

    assert_eq!(app.run(&["user", "approve", "@alice@example.test", "--json"]).await.json()[0]["changed"], true);
    alice.get("/api/v1/blocks").ok().await;
    assert_eq!(app.run(&["user", "approve", "alice", "--json"]).await.json()[0]["changed"], false);
}

#[tokio::test]
async fn statuses_by_command_line_token_show_the_application() {
    let app = TestApp::new().await;
    app.run(&["user", "create", "alice"]).await.ok();
    for _ in 0..2 {
        let token = app.run(&["user", "token", "alice"]).await.ok();
        let alice = Client::new(app.clone(), None, "alice", Some(token));
        let status = alice.publish("hello").await;
        assert_eq!(status["application"]["name"], "Command line");
    }
    assert_eq!(app.count("oauth_apps").await, 1);
}

#[tokio::test]
async fn role_shows_on_profile_immediately() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let profile = format!("/api/v1/accounts/{}", alice.id());
    assert_eq!(alice.get(&profile).ok().await["roles"], serde_json::json!([]));

    app.run(&["user", "set-role", "alice", "moderator"]).await.ok();
    assert_eq!(alice.get(&profile).ok().await["roles"][0]["name"], "Moderator");

    app.run(&["user", "set-role", "alice", "none"]).await.ok();
    assert_eq!(alice.get(&profile).ok().await["roles"], serde_json::json!([]));
}

#[tokio::test]
async fn new_password_ends_all_sessions() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.get("/api/v1/blocks").ok().await;

    let said = app.run(&["user", "reset-password", "alice", "--json"]).await.json();
    assert!(said[0]["password"].as_str().unwrap().len() >= 20);
    alice.get("/api/v1/blocks").fails(401).await;

    assert!(
        app.run_with(&["user", "reset-password", "alice", "--password-stdin"], "short\n").await.fails(2).contains("8")
    );
    let hidden = app.run_with(&["user", "reset-password", "alice", "--password-stdin"], "correct horse\n").await.ok();
    assert!(!hidden.contains("horse"));
}

#[tokio::test]
async fn migrating_twice_does_nothing_the_second_time() {
    let app = TestApp::new().await;
    assert_eq!(app.run(&["db", "migrate", "--json"]).await.json()[0]["applied"], serde_json::json!([]));
}

#[tokio::test]
async fn configuration_error_says_where_and_how() {
    let app = TestApp::new().await;
    let mut program = app.program();
    let output = program.args(["config", "check"]).env("ROOKERY_SERVER_LISTN", "x").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ROOKERY_SERVER_LISTEN"));

    assert!(app.run(&["config", "check"]).await.ok().contains("is good"));
    let printed = app.run(&["config", "print"]).await.ok();
    assert!(printed.contains("local_domain = \"example.test\""), "{printed}");
    let entries = app.run(&["--json", "config", "print"]).await.list();
    let of = |key: &str| entries.iter().find(|entry| entry["key"] == key).unwrap().clone();
    assert_eq!(of("server.local_domain")["value"], "example.test");
    assert!(of("server.local_domain")["set_by"].as_str().unwrap().contains("ROOKERY_SERVER_LOCAL_DOMAIN"));
    assert!(of("server.trusted_proxies")["value"].is_array() && of("server.trusted_proxies")["set_by"].is_null());
    app.run_set(
        &[("ROOKERY_SECRETS_KEY", "a key that nobody may read, of 32 bytes and more")],
        &["--json", "config", "print"],
    )
    .await
    .list()
    .iter()
    .for_each(|entry| assert!(!entry.to_string().contains("nobody may read"), "{entry}"));
}

#[tokio::test]
async fn every_list_is_an_array_and_says_when_it_is_empty() {
    let app = TestApp::new().await;
    for list in [
        &["user", "list"][..],
        &["account", "list"],
        &["audit"],
        &["appeal", "list"],
        &["report", "list"],
        &["announcement", "list"],
        &["rule", "list"],
        &["domain", "list"],
        &["ip-block", "list"],
        &["email-block", "list"],
        &["username-block", "list"],
        &["warning-preset", "list"],
        &["emoji", "list"],
        &["trend", "tags"],
        &["trend", "statuses"],
        &["trend", "links"],
        &["trend", "publishers"],
        &["trend", "hashtags"],
        &["card", "list"],
        &["federation", "hosts"],
        &["federation", "dead"],
    ] {
        assert_eq!(app.run(&[&["--json"], list].concat()).await.ok(), "[]", "{list:?}");
        let said = app.run(list).await.ok();
        assert!(said.ends_with('.') && said.lines().count() == 1, "{list:?}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["wren", "auk"] {
        std::fs::write(folder.path().join(format!("{name}.png")), png(20, 10)).unwrap();
    }
    app.run(&["emoji", "import", folder.path().to_str().unwrap()]).await.ok();
    assert_eq!(app.run(&["emoji", "list"]).await.ok(), ":auk:\n:wren:");
    let listed = app.run(&["emoji", "list", "--json"]).await.list();
    assert_eq!((&listed[0]["shortcode"], &listed[1]["visible_in_picker"]), (&"auk".into(), &true.into()));
    assert!(listed[0]["url"].as_str().unwrap().starts_with("https://example.test/media/"));
}

#[tokio::test]
async fn doctor_checks_everything_and_changes_nothing() {
    let app = TestApp::new().await;
    let said = app.run(&["doctor", "--json"]).await;
    let checks: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let state = |name: &str| {
        let check = checks.as_array().unwrap().iter().find(|check| check["name"] == name);
        check.unwrap_or_else(|| panic!("no {name}: {checks}"))["state"].as_str().unwrap().to_owned()
    };
    for name in ["data folder", "media folder", "secret key", "clock", "database", "schema", "jobs", "signing keys"] {
        assert_eq!(state(name), "good", "{name}: {checks}");
    }
    assert_eq!(state("mail"), "warning", "{checks}");

    let mut program = app.program();
    let output = program.arg("doctor").env("ROOKERY_DATABASE_URL", "postgres://localhost:1/none").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = "PostgreSQL at localhost:1 (database.url) cannot be reached: ";
    assert!(said.contains("BAD      database") && said.contains(expected), "{said}");
}

#[tokio::test]
async fn signing_keys_of_another_secret_key_are_reported_and_renewed_on_demand() {
    let key = |text| [("ROOKERY_SECRETS_KEY", text)];
    let first = TestApp::with(&key("the secret that is long enough for this test")).await;
    first.accounts(["alice", "bob"]).await;
    first.run_jobs().await;
    let stored = async || {
        let sql = "SELECT public_key, private_key FROM accounts WHERE private_key IS NOT NULL ORDER BY id";
        first.db().fetch_raw::<(String, String)>(sql).await.unwrap()
    };
    let before = stored().await;
    assert_eq!(before.len(), 2);
    assert!(first.run(&["doctor"]).await.out.contains("good     signing keys"));
    assert_eq!(first.run(&["user", "renew-keys", "--json"]).await.json()[0]["users"], 0);

    // The server was moved without its secret key.
    let other = first.beside(&key(OTHER_SECRET)).await;
    other.account("carol").await;
    other.run_jobs().await;
    assert_eq!(stored().await[..2], before, "nothing is renewed without a request");
    let said = other.run(&["doctor"]).await;
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("BAD      signing keys") && said.out.contains("the keys of 2 among"), "{said:?}");
    assert!(
        first.run(&["doctor"]).await.out.contains("the keys of 1 among"),
        "with the earlier key only the new one is closed"
    );

    assert_eq!(other.run(&["user", "renew-keys", "--json"]).await.json()[0]["users"], 2);
    other.make_jobs_due().await;
    other.run_jobs().await;
    let after = stored().await;
    assert_eq!(after.len(), 3);
    for (old, new) in before.iter().zip(&after) {
        assert!(old.0 != new.0 && old.1 != new.1, "another pair");
    }
    assert!(other.run(&["doctor"]).await.out.contains("good     signing keys"));
    assert_eq!(other.run(&["user", "renew-keys", "--json"]).await.json()[0]["users"], 0);
}

#[tokio::test]
async fn command_without_server_does_not_wait() {
    let app = TestApp::new().await;
    let socket = app.app.config.storage.data_dir.join("admin.sock");
    let alone = app.run(&["settings", "set", "site_title", "The Elm"]).await;
    assert_eq!((alone.code, alone.err.as_str()), (0, ""), "{alone:?}");

    // As left behind by a killed server.
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let beside = app.run(&["settings", "set", "site_title", "The Ash"]).await;
    assert_eq!((beside.code, beside.err.as_str()), (0, ""), "{beside:?}");
}

#[tokio::test]
async fn command_reports_an_unresponsive_server() {
    let app = TestApp::new().await;
    // The kernel accepts connections, but no process reads them.
    let _hanging = UnixListener::bind(app.app.config.storage.data_dir.join("admin.sock")).unwrap();

    let said = app.run(&["settings", "set", "site_title", "The Ash"]).await;

    assert_eq!((said.code, said.out.as_str()), (0, "The Ash"), "{said:?}");
    assert!(said.err.contains("did not answer in time"), "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
}

#[tokio::test]
async fn every_command_is_described_for_admins() {
    let app = TestApp::new().await;
    let described = include_str!("../../../docs/running.md");
    let commands = async |arguments: &[&str]| {
        let help = app.run(&[arguments, &["--help"]].concat()).await.ok();
        let names = help.split("Commands:\n").nth(1).unwrap_or_default().lines().map_while(|line| {
            let name = line.strip_prefix("  ").filter(|line| !line.is_empty())?;
            Some(name.split(' ').next().unwrap_or_default().to_owned())
        });
        names.filter(|name| !name.is_empty() && name != "help").collect::<Vec<String>>()
    };
    for name in commands(&[]).await {
        let row = described.lines().filter(|line| line.starts_with(&format!("| `{name}"))).collect::<String>();
        assert!(!row.is_empty(), "docs/running.md does not describe {name}");
        for below in commands(&[&name]).await {
            assert!(
                row.contains(&format!("`{below}`")) || row.contains(&format!("`{name} {below}`")),
                "{name} {below}"
            );
        }
    }
}
