//! Two servers on one database: one migrates the tables of a plugin, or cannot load its package, while the other
//! serves.

use std::time::Duration;

use database::db::Engine;
use plugins::life::{self, State, pause};
use plugins::start;
use rookery_plugin_host::{LoadError, Stage};
use store::plugin_event;

use super::probes::{NO_WORDS, World, package};
use super::shelf::{Shelf, manifest, route, routes};
use crate::harness::TestApp;

const SQL: &str = "[sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n";

/// Puts version 1 of a plugin with a table and a route, or version 2, which is incompatible with 1.
fn put(shelf: &Shelf, version: u8) {
    let mut files =
        vec![("migrations/0001_notes.sql", "create table notes (id bigint primary key, text text not null);\n")];
    if version == 2 {
        files.push(("migrations/0002_words.sql", "-- contract\nalter table notes rename column text to words;\n"));
    }
    for (path, text) in files {
        let path = shelf.folder("notes").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    put_queries(shelf, if version == 2 { "words" } else { "text" });
    let about = manifest("notes", &format!("{version}.0.0"), &format!("{SQL}{}", route("notes")));
    shelf.put_component("notes", &about, &routes("(call $ok)"));
}

fn put_queries(shelf: &Shelf, column: &str) {
    let folder = shelf.folder("notes").join("sql");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("-- name: all returns: many\nselect id, {column} from notes order by id;\n");
    std::fs::write(folder.join("queries.sql"), text).unwrap();
}

/// Time after which a test counts as hanging.
const HANGS: Duration = Duration::from_secs(60);

async fn status(shelf: &Shelf) -> u16 {
    shelf.app.anonymous().get("/api/v1/notes").send().await.status.as_u16()
}

/// Two servers that serve version 1; `None` on SQLite, which has one server.
async fn two() -> Option<[Shelf; 2]> {
    let one = Shelf::in_development().await;
    if one.app.db().engine() == Engine::Sqlite {
        return None;
    }
    let other = one.beside().await;
    for shelf in [&one, &other] {
        // Ends as soon as the other server has noticed, regardless of the time.
        shelf.app.plugins().plugins.pauses.set_notice(HANGS);
        put(shelf, 1);
    }
    one.enable("notes").await.unwrap();
    follow(&other).await;
    assert_eq!((status(&one).await, status(&other).await), (200, 200));
    Some([one, other])
}

async fn follow(shelf: &Shelf) {
    life::follow_changes(&shelf.app.plugins()).await.unwrap();
}

async fn migrations(shelf: &Shelf) -> i64 {
    shelf.app.count("plugin_migrations").await
}

/// Waits until the server has noticed that the plugin pauses, which must happen before `other` changes anything.
async fn sees_it_first(shelf: &Shelf, other: &Shelf) {
    let begun = std::time::Instant::now();
    while !shelf.app.plugins().plugins.pauses.holds("notes") {
        assert!(begun.elapsed() < HANGS, "there was no pause");
        tokio::time::sleep(Duration::from_millis(20)).await;
        pause_seen(shelf).await;
    }
    assert_eq!((migrations(shelf).await, shelf.app.plugins().plugins.pauses.incompatible("notes")), (1, None));
    other.app.plugins().plugins.pauses.end_notice();
}

/// As a server does twice a second.
async fn pause_seen(shelf: &Shelf) {
    shelf.app.app.reload().await.unwrap();
    pause::refresh_if_due(&shelf.app.plugins()).await.unwrap();
}

fn loaded(outcome: &Result<life::Outcome, LoadError>) {
    assert!(matches!(outcome, Ok(life::Outcome::Loaded(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_pauses_plugin_on_all_servers() {
    let Some([one, other]) = two().await else { return };
    let before = one.app.plugins().plugins.latest().find("notes").unwrap().clone();
    put(&one, 2);
    tokio::join!(async { loaded(&one.reload("notes").await) }, sees_it_first(&other, &one));
    assert_eq!((one.serving("notes").unwrap().1.as_str(), status(&one).await), ("2.0.0", 200));
    assert!(before.has_ended(), "earlier requests no longer call it");

    follow(&other).await;
    let State::Failed(fault) = other.state("notes") else { panic!("{:?}", other.state("notes")) };
    assert!(fault.message.contains("0002_words") && fault.message.contains("install that version"), "{fault}");
    let answer = other.app.anonymous().get("/api/v1/notes").send().await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "1"), "and not what fails on the tables");
    let platform = other.app.plugins();
    let waits = platform.plugins.pauses.ended("notes");
    tokio::select! {
        biased;
        ended = waits => assert!(!ended),
        () = tokio::time::sleep(Duration::from_secs(1)) => panic!("no request waits for an admin"),
    }

    put(&other, 2);
    other.reload("notes").await.unwrap();
    assert!(!other.app.plugins().plugins.pauses.holds("notes"));
    assert_eq!((other.state("notes"), status(&other).await), (State::Active, 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_package_pauses_other_nodes() {
    let Some([one, _]) = two().await else { return };
    let newer = one.beside().await;
    newer.app.plugins().plugins.pauses.set_notice(HANGS);
    put(&newer, 2);
    tokio::join!(async { drop(start(&newer.app.plugins()).await) }, sees_it_first(&one, &newer));
    assert_eq!((newer.serving("notes").unwrap().1.as_str(), status(&newer).await), ("2.0.0", 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneously_upgraded_servers_all_serve() {
    let Some([one, other]) = two().await else { return };
    put(&one, 2);
    put(&other, 2);
    [&one, &other].into_iter().for_each(|shelf| shelf.app.plugins().plugins.pauses.end_notice());
    let (first, second) = tokio::join!(one.reload("notes"), other.reload("notes"));
    loaded(&first);
    loaded(&second);
    for shelf in [&one, &other] {
        follow(shelf).await;
        assert!(!shelf.app.plugins().plugins.pauses.holds("notes"));
        assert_eq!((shelf.state("notes"), status(shelf).await), (State::Active, 200));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_continue_after_a_failed_migration() {
    let Some([one, other]) = two().await else { return };
    put(&one, 2);
    let unique = "-- contract\ncreate unique index notes_text on notes (text);\n";
    std::fs::write(one.folder("notes").join("migrations/0002_words.sql"), unique).unwrap();
    put_queries(&one, "text");
    let spoil = async {
        sees_it_first(&other, &one).await;
        let rows = "INSERT INTO p_notes.notes (id, text) VALUES (1, 'twice'), (2, 'twice')";
        one.app.execute(rows).await;
    };
    let (failed, ()) = tokio::join!(one.reload("notes"), spoil);
    assert_eq!(failed.unwrap_err().stage, Stage::Migrate);
    for shelf in [&one, &other] {
        pause_seen(shelf).await;
        assert!(!shelf.app.plugins().plugins.pauses.holds("notes"));
        assert_eq!((shelf.serving("notes").unwrap().1.as_str(), status(shelf).await), ("1.0.0", 200));
    }
}

#[tokio::test]
async fn concurrent_changes_are_all_counted() {
    let app = TestApp::new().await;
    let before = store::settings::generation(app.db()).await.unwrap();
    let changes = (0..8).map(|_| async {
        let mut tx = app.db().begin().await.unwrap();
        store::settings::bump_generation(&mut tx, app.app.clock.now()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        tx.commit().await.unwrap();
    });
    futures_util::future::join_all(changes).await;
    assert_eq!(store::settings::generation(app.db()).await.unwrap(), before + 8);
}

#[tokio::test]
async fn dead_node_is_not_waited_for() {
    let shelf = Shelf::in_development().await;
    put(&shelf, 1);
    shelf.enable("notes").await.unwrap();
    let app = &shelf.app.plugins();
    let plugin = app.plugins.latest().find("notes").unwrap().id;
    let mut tx = app.db.begin().await.unwrap();
    store::plugin::pause(&mut tx, plugin, 1, app.clock.now() + chrono::Duration::seconds(5)).await.unwrap();
    tx.commit().await.unwrap();

    pause::refresh(app).await.unwrap();
    assert!(app.plugins.pauses.holds("notes"));
    pause::refresh_if_due(app).await.unwrap();
    assert!(app.plugins.pauses.holds("notes"), "it may still be running");
    app.clock.advance(chrono::Duration::seconds(5));
    pause::refresh_if_due(app).await.unwrap();
    assert_eq!((app.plugins.pauses.holds("notes"), status(&shelf).await), (false, 200));
}

#[tokio::test]
async fn events_wait_for_unloadable_plugin() {
    let world = World::probed().await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();

    // A server without a package of the plugin.
    let other = world.app.beside(&[("ROOKERY_PLUGINS_EMBEDDED", "false")]).await;
    start(&other.plugins()).await;
    assert_eq!(other.plugins().plugins.observed.of("probe").state(), Some(&State::Missing));
    let mut there = alice.clone();
    there.server = other.clone();
    there.publish("elsewhere").await;
    other.run_jobs().await;
    assert_eq!(world.waiting("probe").await, (2, 0), "the event, and the place in feeds");
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    assert_eq!(heard[before..], [("status.created".to_owned(), "elsewhere".to_owned())]);

    // Enabled while both run, by the server with the package: the other knows which events to store once the plugin
    // serves.
    let folder = world.folder.path();
    package(folder, "later", &[NO_WORDS]);
    plugins::admin::enable(&world.app.plugins(), &model::Staff::operator(), "later").await.unwrap();
    life::follow_changes(&other.plugins()).await.unwrap();
    life::reload(&world.app.plugins(), "later").await.unwrap();
    life::follow_changes(&other.plugins()).await.unwrap();
    there.publish("for both").await;
    let later = world.active("later").id;
    assert_eq!(plugin_event::count(other.db(), later).await.unwrap(), (2, 0));

    // After it is uninstalled with its data, it does not block posts on the other server, which has not noticed yet.
    plugins::install::uninstall(&world.app.plugins(), &model::Staff::operator(), "later", true).await.unwrap();
    there.publish("without it").await;
    world.app.run_jobs().await;

    // A disabled plugin receives no events, on any server.
    let id = world.active("probe").id;
    plugins::admin::disable(&world.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::follow_changes(&other.plugins()).await.unwrap();
    there.publish("in vain").await;
    assert_eq!(plugin_event::count(other.db(), id).await.unwrap(), (0, 0));
}

#[tokio::test]
async fn unreadable_manifest_hides_no_other() {
    let world = World::probed().await;
    package(world.folder.path(), "later", &[NO_WORDS]);
    plugins::admin::enable(&world.app.plugins(), &model::Staff::operator(), "later").await.unwrap();
    loaded(&life::reload(&world.app.plugins(), "later").await);
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let ids = ["later", "probe"].map(|name| world.active(name).id);
    world.app.execute("UPDATE plugins SET manifest = 'of tomorrow' WHERE name = 'later'").await;

    let other = world.app.beside(&[("ROOKERY_PLUGINS_EMBEDDED", "false")]).await;
    start(&other.plugins()).await;
    let mut there = alice.clone();
    there.server = other.clone();
    there.publish("elsewhere").await;
    let [later, probe] = ids.map(|id| plugin_event::count(other.db(), id));
    assert_eq!((later.await.unwrap(), probe.await.unwrap()), ((0, 0), (2, 0)));
}

#[tokio::test]
async fn events_wait_for_quarantined_plugin() {
    let world = World::probed().await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let id = world.active("probe").id;
    let mut tx = world.app.db().begin().await.unwrap();
    let mut plugin = store::plugin::find(&mut tx, "probe").await.unwrap().unwrap();
    plugin.quarantined_at = Some(world.app.app.clock.now());
    store::plugin::update(&mut tx, &plugin).await.unwrap();
    tx.commit().await.unwrap();
    life::follow(&world.app.plugins()).await;
    assert!(world.app.plugins().plugins.latest().find("probe").is_none());
    alice.publish("meanwhile").await;
    world.app.run_jobs().await;
    assert_eq!(plugin_event::count(world.app.db(), id).await.unwrap(), (2, 0));

    plugins::admin::enable(&world.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::reload(&world.app.plugins(), "probe").await.unwrap();
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    assert_eq!(heard.last().unwrap(), &("status.created".to_owned(), "meanwhile".to_owned()));
}

#[tokio::test]
async fn unclaimed_events_are_kept_two_weeks() {
    let world = World::probed().await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let id = world.active("probe").id;
    alice.publish("unheard").await;
    plugins::admin::disable(&world.app.plugins(), &model::Staff::operator(), "probe").await.unwrap();
    life::follow(&world.app.plugins()).await;
    worker::cron::schedule(&world.app.app).await.unwrap();
    for (days, left) in [(13, (2, 0)), (2, (0, 0))] {
        world.app.app.clock.advance(chrono::Duration::days(days));
        world.app.run_jobs().await;
        assert_eq!(plugin_event::count(world.app.db(), id).await.unwrap(), left, "after {days} days more");
    }
}
