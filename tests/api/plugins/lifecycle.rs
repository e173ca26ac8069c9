//! Loading, changing and unloading plugins while the server runs.

use plugins::life::State;
use plugins::life::{self, Outcome};
use plugins::{admin, start};
use rookery_plugin_host::Stage;

use super::shelf::{Shelf, component, manifest};

#[tokio::test]
async fn package_waits_for_admin_and_serves_when_enabled() {
    let shelf = Shelf::new().await;
    shelf.put("notes", "1.0.0", "");

    start(&shelf.app.plugins()).await;
    assert_eq!(shelf.state("notes"), State::Disabled);
    assert_eq!(shelf.serving("notes"), None);

    assert!(matches!(shelf.enable("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.state("notes"), State::Active);
    admin::disable(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    assert_eq!(shelf.reload("notes").await, Ok(Outcome::Unloaded));
    assert_eq!(shelf.serving("notes"), None);
}

#[tokio::test]
async fn changed_file_is_one_generation() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    let (first, _) = shelf.serving("notes").unwrap();

    shelf.put("notes", "1.0.0", "");
    assert_eq!(shelf.reload("notes").await, Ok(Outcome::Unchanged));
    assert_eq!(shelf.serving("notes"), Some((first, "1.0.0".to_owned())));

    shelf.put("notes", "1.0.1", "");
    assert_eq!(shelf.reload("notes").await, Ok(Outcome::Loaded(first + 1)));
    assert_eq!(shelf.serving("notes"), Some((first + 1, "1.0.1".to_owned())));
}

#[tokio::test]
async fn broken_file_keeps_previous_generation_serving() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    let before = shelf.serving("notes");
    let good = component("other");
    let noise: Vec<u8> = (0..5000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let wasi = wat::parse_str("(component (import \"wasi:cli/environment@0.2.0\" (instance)))").unwrap();
    let foreign = wat::parse_str("(component (import \"rookery:plugin/core@9.0.0\" (instance)))").unwrap();
    let core_module = wat::parse_str("(module)").unwrap();
    let plain = manifest("notes", "1.0.1", "");
    let newer = plain.replace("api = \"0.1\"", "api = \"7.0\"");

    for (what, manifest, wasm, stage) in [
        ("truncated", &plain, &good[..good.len() - 3], Stage::Validate),
        ("random", &plain, &noise[..], Stage::Validate),
        ("empty", &plain, &[][..], Stage::Validate),
        ("a core module", &plain, &core_module[..], Stage::Validate),
        ("for WASI", &plain, &wasi[..], Stage::Contract),
        ("of another contract", &plain, &foreign[..], Stage::Contract),
        ("built for another contract", &newer, &good[..], Stage::Contract),
    ] {
        shelf.put_component("notes", manifest, wasm);
        let fault = shelf.reload("notes").await.unwrap_err();
        assert_eq!(fault.stage, stage, "{what}: {fault}");
        assert!(fault.message.contains("notes"), "{what} names the plugin: {fault}");
        assert!(!fault.message.contains('\n') && !fault.message.contains("Some("), "{what}: {fault}");
        assert_eq!(shelf.serving("notes"), before, "{what}");
        assert_eq!(shelf.state("notes"), State::Failed(fault), "{what}");
    }

    shelf.put("notes", "1.0.2", "");
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
}

#[tokio::test]
async fn changed_package_waits_for_admin_outside_of_development() {
    let shelf = Shelf::new().await;
    shelf.serve("notes").await;
    let first = shelf.serving("notes");
    shelf.put("notes", "1.1.0", "");

    assert_eq!(shelf.reload("notes").await, Ok(Outcome::Unchanged), "the accepted one still serves");
    assert_eq!(shelf.serving("notes"), first);
    admin::accept(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "1.1.0");
}

#[tokio::test]
async fn upgrade_needing_permissions_waits_for_grant() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    let first = shelf.serving("notes");
    shelf.put("notes", "2.0.0", "[permissions]\ncore = [\"read\"]\nqueue = true\n");

    let fault = shelf.reload("notes").await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "grants: notes 2.0.0 asks for more than was granted: core:read, queue: `rookery plugin grant notes` grants it"
    );
    assert_eq!(shelf.serving("notes"), first);
    let known = admin::find(&shelf.app.plugins(), "notes").await.unwrap();
    assert_eq!(known.missing.into_iter().collect::<Vec<_>>(), ["core:read", "queue"]);

    admin::grant(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "2.0.0");
}

#[tokio::test]
async fn hooks_on_texts_and_higher_limits_need_a_grant() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    shelf.put(
        "notes",
        "2.0.0",
        "[[hook]]\non = \"events\"\nkinds = [\"status.created\"]\n[limits]\nrows = 20000\nmemory = \"8MiB\"\n",
    );
    let fault = shelf.reload("notes").await.unwrap_err();
    assert!(fault.message.contains("asks for more than was granted: hook:events, limit:rows=20000:"), "{fault}");
}

#[tokio::test]
async fn reenabled_plugin_has_granted_permissions_only() {
    let shelf = Shelf::new().await;
    shelf.serve("notes").await;
    admin::disable(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    shelf.put("notes", "2.0.0", "[permissions]\ncore = [\"read\"]\n");

    let enabled = admin::enable(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();

    assert_eq!(enabled.granted.0, Vec::<String>::new());
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0", "the copy of the accepted package");
}

#[tokio::test]
async fn accepted_package_serves_although_file_is_broken() {
    let shelf = Shelf::new().await;
    shelf.serve("notes").await;
    let app = &shelf.app.plugins();
    admin::disable(app, &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    std::fs::write(shelf.folder("notes").join("notes.wasm"), b"rubbish").unwrap();
    let on = |plugin: &mut store::plugin::Plugin| {
        plugin.enabled = true;
        Ok(())
    };
    plugins::life::desired::change(app, "notes", on).await.unwrap();

    start(app).await;

    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
}

#[tokio::test]
async fn refused_change_is_not_stored() {
    let shelf = Shelf::with(&[("ROOKERY_PLUGINS_MEMORY_LIMIT_BYTES", "67108864")]).await;
    shelf.put_route("notes", "1.0.0");
    shelf.enable("notes").await.unwrap();
    let limits = serde_json::json!({"memory": "512MiB"}).as_object().unwrap().clone();
    let refused =
        admin::set_limits(&shelf.app.plugins(), &model::Staff::operator(), "notes", limits).await.unwrap_err();
    assert!(refused.to_string().contains("memory"), "{refused}");
    let kept = admin::find(&shelf.app.plugins(), "notes").await.unwrap();
    assert_eq!(kept.plugin.limits.0, serde_json::json!({}));
}

#[tokio::test]
async fn rollback_stays_on_previous_generation() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    shelf.put("notes", "1.1.0", "");
    shelf.reload("notes").await.unwrap();

    admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
    life::follow(&shelf.app.plugins()).await;
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0", "the folder still holds 1.1.0");

    shelf.put("notes", "1.2.0", "");
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "1.2.0");
}

#[tokio::test]
async fn broken_package_does_not_stop_others() {
    let shelf = Shelf::new().await;
    shelf.serve("good").await;
    shelf.put("broken", "1.0.0", "");
    admin::enable(&shelf.app.plugins(), &model::Staff::operator(), "broken").await.unwrap();
    std::fs::write(shelf.folder("broken").join("broken.wasm"), b"rubbish").unwrap();

    let reports = start(&shelf.app.plugins()).await;

    assert!(reports.iter().any(|report| matches!(report.outcome, Outcome::Failed(_))));
    assert!(shelf.serving("good").is_some());
    shelf.app.anonymous().get("/api/v2/instance").ok().await;
}

#[tokio::test]
async fn change_by_another_process_is_applied() {
    let shelf = Shelf::new().await;
    shelf.put("notes", "1.0.0", "");
    start(&shelf.app.plugins()).await;

    shelf.app.run(&["plugin", "enable", "notes", "--yes"]).await.ok();
    life::follow_changes(&shelf.app.plugins()).await.unwrap();
    assert!(shelf.serving("notes").is_some());
    shelf.app.run(&["plugin", "disable", "notes"]).await.ok();
    life::follow_changes(&shelf.app.plugins()).await.unwrap();
    assert!(shelf.serving("notes").is_none());
}

/// Resources of this process that could leak.
fn held() -> (usize, usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    (count("/proc/self/fd"), count("/proc/self/task"), maps)
}

#[tokio::test]
async fn repeated_enabling_and_disabling_leaks_nothing() {
    let shelf = Shelf::new().await;
    shelf.serve("notes").await;
    let app = &shelf.app.plugins();
    let turn = async |times: usize| {
        for _ in 0..times {
            admin::disable(app, &model::Staff::operator(), "notes").await.unwrap();
            assert_eq!(life::reload(app, "notes").await, Ok(Outcome::Unloaded));
            admin::enable(app, &model::Staff::operator(), "notes").await.unwrap();
            assert!(matches!(life::reload(app, "notes").await, Ok(Outcome::Loaded(_))));
        }
    };
    turn(20).await;
    let before = held();
    turn(300).await;
    let after = held();

    assert_eq!(app.registry().plugins.len(), 1);
    // Other tests of this process open and close things meanwhile.
    let near = |before: usize, after: usize, most: usize| after <= before + most;
    assert!(near(before.0, after.0, 100), "file descriptors: {before:?}, {after:?}");
    assert!(near(before.1, after.1, 100), "threads: {before:?}, {after:?}");
    assert!(near(before.2, after.2, 500), "mappings: {before:?}, {after:?}");
}

#[tokio::test]
async fn doctor_finds_enabled_plugin_without_package() {
    let shelf = Shelf::new().await;
    let app = &shelf.app;
    shelf.put("notes", "1.0.0", "");
    start(&app.plugins()).await;
    app.run(&["plugin", "enable", "notes", "--yes"]).await.ok();
    let said = app.run(&["doctor"]).await;
    assert!(said.out.contains("each with its package"), "{said:?}");
    std::fs::remove_dir_all(shelf.folder("notes")).unwrap();
    let copies = app.app.config.plugins.cache_dir.join("packages");
    let _ = std::fs::remove_dir_all(copies);
    let said = app.run(&["doctor"]).await;
    assert!(said.code == 1 && said.out.contains("there is no package of notes"), "{said:?}");
}
