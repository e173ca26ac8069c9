//! Administration of plugins: the command line, the socket of a running server, the admin API.

use model::Permissions;
use plugins::life::State;
use plugins::{admin, life, start};
use serde_json::json;

use super::shelf::{Shelf, manifest, route, routes};
use crate::harness::OTHER_SECRET;
use crate::platform::serve::Running;

#[tokio::test(flavor = "multi_thread")]
async fn admin_change_is_reported_verbatim() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    shelf.put_route("notes", "1.0.0");
    let running =
        Running::start_with(app, &[("ROOKERY_PLUGINS_ENABLED", "true"), ("ROOKERY_PLUGINS_EMBEDDED", "false")]);

    let said = app.run(&["plugin", "enable", "notes", "--yes"]).await.ok();
    assert!(said.starts_with("notes 1.0.0 serves since generation "), "{said}");
    assert!(running.get("/api/v1/notes").starts_with("HTTP/1.1 200"));
    let listed = app.run(&["plugin", "list", "--json"]).await.json();
    let notes = listed[0].as_array().unwrap().iter().find(|plugin| plugin["name"] == "notes").unwrap().clone();
    assert_eq!((&notes["state"], &notes["enabled"]), (&json!("active"), &json!(true)));

    shelf.put_component("notes", &manifest("notes", "1.1.0", &route("notes")), b"rubbish");
    let sentence = app.run(&["plugin", "reload", "notes"]).await.fails(1);
    assert!(sentence.starts_with("rookery: validate: ") && sentence.contains("notes"), "{sentence}");
    let inspected = app.run(&["plugin", "inspect", "notes"]).await.ok();
    assert!(inspected.contains("failed") && inspected.contains("/api/v1/notes"), "{inspected}");
    let shown = inspected.split_once("\nroutes\n").unwrap().1;
    let mut rows = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(rows.next().unwrap(), ["methods", "path", "auth", "id", "native"], "no route needs a scope");
    assert_eq!(rows.next().unwrap(), ["GET", "/api/v1/notes", "none", "index", "false"]);
    let inspected = &app.run(&["plugin", "inspect", "notes", "--json"]).await.json()[0];
    assert_eq!(inspected["error"]["stage"], "validate");
    assert_eq!(inspected["version"], "1.0.0", "the previous generation still serves");
    assert_eq!(inspected["history"][0]["what"], "failed");

    shelf.put_component("notes", &manifest("notes", "1.2.0", &route("notes")), &routes("(call $ok)"));
    app.run(&["plugin", "reload", "notes"]).await.ok();
    let back = app.run(&["plugin", "rollback", "notes"]).await.ok();
    assert!(back.starts_with("notes 1.0.0 serves"), "{back}");
    app.run(&["plugin", "limits", "notes", "memory=16MiB", "instances=2"]).await.ok();
    let inspected = &app.run(&["plugin", "inspect", "notes", "--json"]).await.json()[0];
    assert_eq!(
        (&inspected["limits"]["memory_bytes"], &inspected["limits"]["instances"]),
        (&json!(16 << 20), &json!(2))
    );
    assert_eq!(app.run(&["plugin", "logs", "notes"]).await.ok(), "notes has written nothing.");
    assert_eq!(app.run(&["plugin", "disable", "notes"]).await.ok(), "notes does not serve.");
    assert!(running.get("/api/v1/notes").starts_with("HTTP/1.1 404"));
    drop(running);

    let said = app.run(&["plugin", "enable", "notes"]).await.ok();
    assert!(said.ends_with("No server runs here: the next one that starts follows."), "{said}");
}

#[tokio::test]
async fn malformed_admin_request_is_refused_in_one_sentence() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    let schema = r#"{"type":"object","properties":{"most":{"type":"integer","minimum":1,"default":3,"description":"Most notes that are kept"}}}"#;
    let more = "[config]\nschema = \"config.json\"\n[permissions]\nsecrets = [\"API_KEY\", \"OTHER\"]\n";
    shelf.put("notes", "1.0.0", more);
    std::fs::write(shelf.folder("notes").join("config.json"), schema).unwrap();
    shelf.enable("notes").await.unwrap();

    app.run(&["plugin", "config", "notes", "most=7"]).await.ok();
    let keys = app.run(&["plugin", "config", "notes"]).await.ok();
    assert_eq!(keys, "most=7  (default 3)  integer: Most notes that are kept");
    app.run(&["plugin", "config", "notes", "most="]).await.ok();
    let keys = &app.run(&["plugin", "config", "notes", "--json"]).await.json()[0];
    assert_eq!((&keys[0]["key"], &keys[0]["value"], &keys[0]["default"]), (&json!("most"), &json!(3), &json!(3)));

    for (arguments, wanted) in [
        (&["enable", "nots"][..], "there is no plugin \"nots\"; did you mean notes?"),
        (&["limits", "notes", "memroy=1MiB"], "there is no key \"memroy\"; did you mean \"memory\"?"),
        (&["limits", "notes", "route-cpu=1h"], "\"1h\" is not a time from 1ms to 5m"),
        (&["config", "notes", "mots=5"], "notes has no configuration \"mots\"; did you mean most?"),
        (&["config", "notes", "most=0"], "the configuration does not fit"),
        (&["secret", "notes", "KEY"], "notes has no secret \"KEY\"; its secrets: API_KEY, OTHER"),
        (&["order", "fan-out"], "there is no hook \"fan-out\""),
        (&["rollback", "notes"], "there is no copy of a package of notes that served before"),
        (&["logs", "notes"], "no server runs here that could be asked"),
    ] {
        let said = app.run(&[&["plugin"], arguments].concat()).await.fails(1);
        assert!(said.contains(wanted), "{said}");
    }
    app.run(&["plugin", "config", "notes", "most=7"]).await.ok();
    app.run_with(&["plugin", "secret", "notes", "API_KEY"], "s3cret-canary\n").await.ok();
    app.run_with(&["plugin", "secret", "notes", "OTHER"], "another-canary\n").await.ok();
    shelf.reload("notes").await.unwrap();
    let registry = app.plugins().registry();
    let notes = registry.find("notes").unwrap();
    assert_eq!(notes.config.0, json!({"most": 7}));
    assert_eq!(notes.secrets["API_KEY"].expose(), "s3cret-canary");
    let inspected = app.run(&["plugin", "inspect", "notes", "--json"]).await.ok();
    assert!(!inspected.contains("canary") && inspected.contains("\"API_KEY\":true"), "{inspected}");
    assert!(!format!("{notes:?}").contains("canary"));
    let kept = app
        .db()
        .fetch_raw::<(String,)>("SELECT CAST(secrets AS TEXT) FROM plugins WHERE name = 'notes'")
        .await
        .unwrap();
    assert!(kept[0].0.contains("API_KEY") && !kept[0].0.contains("canary"), "{kept:?}");

    // A server with another key cannot read it, and reports the remedy.
    let folder = app.app.config.plugins.dir.to_str().unwrap();
    let other = app
        .beside(&[
            ("ROOKERY_PLUGINS_EMBEDDED", "false"),
            ("ROOKERY_PLUGINS_DIR", folder),
            ("ROOKERY_SECRETS_KEY", OTHER_SECRET),
        ])
        .await;
    start(&other.plugins()).await;
    let State::Failed(fault) = other.plugins().plugins.observed.of("notes").state().cloned().unwrap() else {
        panic!("it serves")
    };
    let said = fault.message;
    assert!(said.contains("another key") && said.contains("plugin secret notes API_KEY"), "{said}");
    for secret in ["API_KEY", "OTHER"] {
        admin::set_secret(&other.plugins(), &model::Staff::operator(), "notes", secret, Some("anew".to_owned()))
            .await
            .unwrap();
    }
    life::reload(&other.plugins(), "notes").await.unwrap();
    assert_eq!(other.plugins().plugins.latest().find("notes").unwrap().secrets["OTHER"].expose(), "anew");
}

#[tokio::test]
async fn plugin_order_follows_manifests() {
    let shelf = Shelf::new().await;
    let hook = |more: &str| format!("[[hook]]\non = \"fanout\"\n{more}\n");
    for (name, more) in [("aaa", "priority = 200"), ("bbb", ""), ("ccc", ""), ("ddd", "priority = 5")] {
        shelf.put(name, "1.0.0", &hook(more));
        admin::enable(&shelf.app.plugins(), &model::Staff::operator(), name).await.unwrap();
    }
    let said = shelf.app.run(&["plugin", "order", "fanout", "--json"]).await.json();
    let names: Vec<&str> = said[0].as_array().unwrap().iter().map(|row| row["plugin"].as_str().unwrap()).collect();
    assert_eq!(names, ["ddd", "bbb", "ccc", "aaa"]);
}

#[tokio::test]
async fn admin_api_needs_permission_of_plugins() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    shelf.put("notes", "1.0.0", "");
    start(&app.plugins()).await;
    let [owner, alice] = app.accounts(["owner", "alice"]).await;
    app.run(&["user", "set-role", "owner", "Owner"]).await.ok();
    app.run(&["user", "set-role", "alice", "Moderator"]).await.ok();
    let manager = owner.with_scopes("admin:read admin:write").await;
    let path = "/api/admin/plugins";

    app.anonymous().get(path).fails(403).await;
    owner.get(path).fails(403).await;
    alice.with_scopes("admin:read admin:write").await.get(path).fails(403).await;
    owner.with_scopes("admin:read").await.post("/api/admin/plugins/notes/enable").fails(403).await;
    let listed = manager.get(path).ok().await;
    assert!(listed.as_array().unwrap().iter().any(|plugin| plugin["name"] == "notes"), "{listed}");

    let enabled = manager.post("/api/admin/plugins/notes/enable").ok().await;
    assert_eq!((&enabled["state"], &enabled["enabled"]), (&json!("active"), &json!(true)));
    assert!(shelf.serving("notes").is_some());
    manager.get("/api/admin/plugins/notes/logs").ok().await;
    assert_eq!(manager.get("/api/admin/plugin_order/events").ok().await, json!([]));
    let error = manager.post("/api/admin/plugins/nobody/enable").fails(422).await;
    assert!(error.contains("nobody"), "{error}");
    let limited = manager.post("/api/admin/plugins/notes/limits").json(&json!({"rows": 5})).ok().await;
    assert_eq!(limited["limits"]["rows"], 5);
    let disabled = manager.post("/api/admin/plugins/notes/disable").ok().await;
    assert_eq!((&disabled["state"], &disabled["generation"]), (&json!("disabled"), &json!(null)));
    assert_eq!(Permissions::MANAGE_PLUGINS, 1 << 28, "docs/contract/extensions.md#13-admin-api");
    // The permission to change settings does not include plugins.
    app.run(&["role", "create", "Decorator", "--permissions", "manage_settings"]).await.ok();
    app.run(&["user", "set-role", "alice", "Decorator"]).await.ok();
    alice.with_scopes("admin:read admin:write").await.get(path).fails(403).await;
}

#[tokio::test]
async fn admin_api_is_open_to_a_role_with_only_manage_plugins() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    shelf.put("notes", "1.0.0", "");
    start(&app.plugins()).await;
    let keeper = app.staff("keeper", "Moderator").await;
    keeper.post("/api/admin/plugins/notes/enable").fails(403).await;
    app.run(&["role", "create", "Keeper", "--permissions", "manage_plugins"]).await.ok();
    app.make(&keeper, "Keeper").await;
    keeper.post("/api/admin/plugins/notes/enable").ok().await;
    keeper.get("/api/admin/plugins").ok().await;
    keeper.get("/api/v1/admin/audit_log").fails(403).await;
}

#[tokio::test]
async fn staff_grants_no_plugin_what_they_lack() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    shelf.put("notes", "1.0.0", "[permissions]\ncore = [\"read-all\"]\n");
    start(&app.plugins()).await;
    app.run(&["role", "create", "Keeper", "--permissions", "manage_plugins"]).await.ok();
    let keeper = app.staff("keeper", "Keeper").await;
    for act in ["enable", "grant"] {
        let error = keeper.post(&format!("/api/admin/plugins/notes/{act}")).fails(403).await;
        assert!(error.contains("core:read-all") && error.contains("administrator"), "{error}");
    }
    let owner = app.staff("owner", "Owner").await;
    owner.post("/api/admin/plugins/notes/enable").ok().await;
    keeper.post("/api/admin/plugins/notes/disable").ok().await;
    let again = keeper.post("/api/admin/plugins/notes/enable").ok().await;
    assert_eq!(again["enabled"], true, "nothing new is granted: {again}");
}

#[tokio::test]
async fn administration_is_in_the_audit_log_without_values() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    let schema = r#"{"type":"object","properties":{"most":{"type":"integer","minimum":1,"default":3}}}"#;
    let more = "[config]\nschema = \"config.json\"\n[permissions]\nsecrets = [\"API_KEY\"]\n";
    shelf.put("notes", "1.0.0", more);
    std::fs::write(shelf.folder("notes").join("config.json"), schema).unwrap();
    start(&app.plugins()).await;
    let owner = app.staff("owner", "Owner").await;
    let act = async |what: &str, body: serde_json::Value| {
        app.tick();
        owner.post(&format!("/api/admin/plugins/notes/{what}")).json(&body).ok().await;
    };
    act("enable", json!({})).await;
    act("enable", json!({})).await;
    act("config", json!({ "most": 4711 })).await;
    act("secrets", json!({ "name": "API_KEY", "value": "hush" })).await;
    act("limits", json!({ "rows": 5 })).await;
    act("disable", json!({})).await;
    app.tick();
    app.run(&["plugin", "enable", "notes", "--yes"]).await.ok();
    act("uninstall", json!({ "purge": true })).await;

    let log = owner.get("/api/v1/admin/audit_log?action=plugin").ok().await;
    let log = log.as_array().unwrap();
    let found = |by: &str, action: &str| {
        let found: Vec<_> = log.iter().filter(|entry| entry["actor"] == by && entry["action"] == action).collect();
        assert_eq!(found.len(), 1, "{by} {action}: {log:?}");
        found[0]["details"].clone()
    };
    assert_eq!(log.len(), 7, "a change that changes nothing has no entry");
    assert_eq!(found("owner", "plugin.enable"), json!({}));
    assert_eq!(found("operator", "plugin.enable"), json!({}));
    assert_eq!(found("owner", "plugin.configure"), json!({ "keys": ["most"] }));
    assert_eq!(found("owner", "plugin.set_secret"), json!({ "secret": "API_KEY" }));
    assert_eq!(found("owner", "plugin.limits"), json!({ "keys": ["rows"] }));
    assert_eq!(found("owner", "plugin.disable"), json!({}));
    assert_eq!(found("owner", "plugin.uninstall"), json!({ "purge": true }));
    assert!(log.iter().all(|entry| entry["target"]["name"] == "notes"));
}

#[tokio::test]
async fn permissions_wait_for_admin_grant() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    let asks = |more: &str| format!("[permissions]\ncore = [\"read\"{more}]\n");
    shelf.put("notes", "1.0.0", &asks(""));

    let asked = app.run(&["plugin", "enable", "notes"]).await;
    assert_eq!(asked.code, 2, "there is no terminal to ask on: {asked:?}");
    assert!(asked.err.contains("core:read") && asked.err.contains("`rookery plugin enable notes --yes`"), "{asked:?}");
    assert!(!app.run(&["plugin", "inspect", "notes", "--json"]).await.json()[0]["enabled"].as_bool().unwrap());
    let said = app.run(&["plugin", "enable", "notes", "--yes"]).await.ok();
    assert!(said.contains("It may use core:read."), "{said}");
    app.run(&["plugin", "disable", "notes"]).await.ok();
    app.run(&["plugin", "enable", "notes"]).await.ok();

    shelf.put("notes", "1.1.0", &format!("{}storage = [\"kv\"]\n", asks(", \"read-all\"")));
    let row = || async {
        let listed = app.run(&["plugin", "list"]).await.ok();
        listed.lines().find(|line| line.starts_with("notes ")).unwrap().to_owned()
    };
    assert!(row().await.contains("1.1.0 waits for a grant of core:read-all, storage:kv"), "{}", row().await);
    let refused = app.run(&["plugin", "grant", "notes", "storage:cv"]).await.fails(1);
    assert!(refused.contains("does not ask for the permission \"storage:cv\"; did you mean storage:kv?"), "{refused}");
    let said = app.run(&["plugin", "grant", "notes", "storage:kv"]).await.ok();
    assert!(said.contains("It may use core:read, storage:kv."), "{said}");
    assert!(row().await.contains("1.1.0 waits for a grant of core:read-all"), "{}", row().await);
    app.run(&["plugin", "grant", "notes"]).await.ok();
    assert!(row().await.starts_with("notes                    1.1.0 "), "{}", row().await);
}
