//! Two servers on one database: what one does to a plugin's tables, and what one cannot load, while the other serves.

use std::time::Duration;

use rookery::plugins::observed::State;
use rookery::plugins::{life, pause, start};
use rookery::store;
use rookery::store::db::Engine;
use rookery::store::plugin_event;

use super::probes::{World, publish};
use super::shelf::{Shelf, manifest, route, routes};

const SQL: &str = "[sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n";

/// Puts version 1 of a plugin with a table and a route, or 2, with which 1 cannot live.
fn put(shelf: &Shelf, version: u8) {
    let mut files = vec![
        ("migrations/0001_notes.sql", "create table notes (id bigint primary key, text text not null);\n"),
        ("sql/queries.sql", "-- name: all returns: many\nselect id, text from notes order by id;\n"),
    ];
    if version == 2 {
        files.push(("migrations/0002_words.sql", "-- contract\nalter table notes rename column text to words;\n"));
        files.push(("sql/queries.sql", "-- name: all returns: many\nselect id, words from notes order by id;\n"));
    }
    for (path, text) in files {
        let path = shelf.folder("notes").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let about = manifest("notes", &format!("{version}.0.0"), &format!("{SQL}{}", route("notes")));
    shelf.put_component("notes", &about, &routes("(call $ok)"));
}

async fn status(shelf: &Shelf) -> u16 {
    shelf.app.anonymous().get("/api/v1/notes").send().await.status.as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_servers_pause_a_plugin_whose_tables_one_of_them_changes() {
    let one = Shelf::in_development().await;
    if one.app.db().engine() == Engine::Sqlite {
        return; // It has one server.
    }
    let other = one.beside().await;
    put(&one, 1);
    put(&other, 1);
    one.enable("notes").await.unwrap();
    life::follow_changes(&other.app.app).await.unwrap();
    assert_eq!((status(&one).await, status(&other).await), (200, 200));

    put(&one, 2);
    let pauses = &other.app.app.plugins.pauses;
    let change = async {
        let changed = one.reload("notes").await;
        assert!(matches!(changed, Ok(life::Outcome::Loaded(_))), "{changed:?}");
    };
    let see = async {
        while !pauses.holds("notes") {
            tokio::time::sleep(Duration::from_millis(20)).await;
            life::follow_changes(&other.app.app).await.unwrap();
        }
        assert_eq!(one.serving("notes").unwrap().1, "1.0.0", "the other sees it before anything is changed");
        assert_eq!(pauses.outlived("notes"), None);
    };
    tokio::join!(change, see);
    assert_eq!((one.serving("notes").unwrap().1.as_str(), status(&one).await), ("2.0.0", 200));

    life::follow_changes(&other.app.app).await.unwrap();
    let State::Failed(fault) = other.state("notes") else { panic!("{:?}", other.state("notes")) };
    assert!(fault.sentence.contains("0002_words") && fault.sentence.contains("install that version"), "{fault}");
    let answer = other.app.anonymous().get("/api/v1/notes").send().await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, "1"), "and not what fails on the tables");

    put(&other, 2);
    other.reload("notes").await.unwrap();
    assert!(!pauses.holds("notes"));
    assert_eq!((other.state("notes"), status(&other).await), (State::Active, 200));
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_did_not_come_back() {
    let shelf = Shelf::in_development().await;
    put(&shelf, 1);
    shelf.enable("notes").await.unwrap();
    let app = &shelf.app.app;
    let plugin = app.plugins.latest().find("notes").unwrap().id;
    let mut tx = app.db.begin().await.unwrap();
    store::plugin::pause(&mut tx, plugin, app.clock.now() + chrono::Duration::seconds(5)).await.unwrap();
    tx.commit().await.unwrap();

    pause::heed(app).await.unwrap();
    assert!(app.plugins.pauses.holds("notes"));
    pause::heed_overdue(app).await.unwrap();
    assert!(app.plugins.pauses.holds("notes"), "it may still be at it");
    app.clock.advance(chrono::Duration::seconds(5));
    pause::heed_overdue(app).await.unwrap();
    assert_eq!((app.plugins.pauses.holds("notes"), status(&shelf).await), (false, 200));
}

#[tokio::test]
async fn what_happens_is_kept_for_a_plugin_that_cannot_be_loaded() {
    let world = World::probed().await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();

    // A server that has no package of it.
    let other = world.app.beside(&[("ROOKERY_PLUGINS_EMBEDDED", "false")]).await;
    start(&other.app).await;
    assert_eq!(other.app.plugins.observed.of("probe").state, Some(State::Missing));
    let mut there = alice.clone();
    there.server = other.clone();
    publish(&there, "elsewhere").await;
    other.run_jobs().await;
    assert_eq!(world.waiting("probe").await, (2, 0), "the event, and the place in feeds");
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    assert_eq!(heard[before..], [("status.created".to_owned(), "elsewhere".to_owned())]);

    // Switched off, it hears of nothing, on no server.
    let id = world.active("probe").id;
    rookery::plugins::admin::disable(&world.app.app, "probe").await.unwrap();
    life::follow_changes(&other.app).await.unwrap();
    publish(&there, "in vain").await;
    assert_eq!(plugin_event::count(other.db(), id).await.unwrap(), (0, 0));
}

#[tokio::test]
async fn what_happens_is_kept_for_a_plugin_that_was_put_aside() {
    let world = World::probed().await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let id = world.active("probe").id;
    let mut tx = world.app.db().begin().await.unwrap();
    let mut plugin = store::plugin::find(&mut tx, "probe").await.unwrap().unwrap();
    plugin.quarantined_at = Some(world.app.app.clock.now());
    store::plugin::update(&mut tx, &plugin).await.unwrap();
    tx.commit().await.unwrap();
    life::follow(&world.app.app).await;
    assert!(world.app.app.plugins.latest().find("probe").is_none());
    publish(&alice, "meanwhile").await;
    world.app.run_jobs().await;
    assert_eq!(plugin_event::count(world.app.db(), id).await.unwrap(), (2, 0));

    rookery::plugins::admin::enable(&world.app.app, "probe").await.unwrap();
    life::reload(&world.app.app, "probe").await.unwrap();
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    assert_eq!(heard.last().unwrap(), &("status.created".to_owned(), "meanwhile".to_owned()));
}
