//! The matrix for plugins: routes that return statuses, notification types, search operators, actions on statuses,
//! and the stream of an antenna.
//!
//! Rows are inserted into the tables of plugins, so that they refer to statuses that their owner may not see.

use std::collections::BTreeSet;

use axum::http::Method;
use database::Engine;
use serde_json::{Value, json};

use super::oracle::{Author, Place, Subject, may_see};
use super::reads::{How, READS as CORE_READS, Read};
use super::streams::{Listeners, Shows};
use super::{World, look, seen_by};
use crate::harness::{COMPILED, Client, TestApp};
use crate::platform::contract;
use crate::platform::declarations::plain;
use crate::plugins::guest;

const PLUGINS: [&str; 4] = ["antennas", "bookmark_categories", "circles", "emoji_reactions"];

/// 🎉, which no reaction of the seed uses.
const PARTY: &str = "%F0%9F%8E%89";

const READS: &[Read] = &[
    Read {
        name: "GET /api/v1/timelines/antenna/:",
        place: Place::Home,
        how: How::Pages(
            |world| of_all(world, "antennas", |id| format!("/api/v1/timelines/antenna/{id}?limit=40")),
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/bookmark_categories/:/statuses",
        place: Place::Collection,
        how: How::Pages(
            |world| {
                let path = |id: i64| format!("/api/v1/bookmark_categories/{id}/statuses?limit=40");
                of_all(world, "bookmark_categories", path)
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/circles/:/statuses",
        place: Place::Circle,
        how: How::Pages(
            |world| of_all(world, "circles", |id| format!("/api/v1/circles/{id}/statuses?limit=40")),
            |subject| !subject.reply && !subject.author.is_remote(),
        ),
    },
    Read {
        name: "GET /api/v1/emoji_reactions",
        place: Place::Collection,
        how: How::Pages(|_| vec!["/api/v1/emoji_reactions?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v1/statuses/:/emoji_reactioned_by",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/emoji_reactioned_by", s.id)),
    },
    Read {
        name: "GET /api/v1/notifications",
        place: Place::Notification,
        how: How::Pages(
            |_| vec!["/api/v1/notifications?limit=80&types[]=emoji_reaction".to_owned()],
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v2/notifications",
        place: Place::Notification,
        how: How::Pages(
            |_| vec!["/api/v2/notifications?limit=80&types[]=emoji_reaction".to_owned()],
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v2/search",
        place: Place::Search,
        how: How::Pages(
            |_| {
                let found = |word: &str| format!("/api/v2/search?type=statuses&limit=80&q=my:{word}");
                ["categoried", "emoji_reacted"].map(found).to_vec()
            },
            |subject| !subject.reply,
        ),
    },
];

/// Actions that return 404 for a hidden status: row, path and body. `ID` is the id of the status.
const ACTS: &[(&str, &str, Option<&str>)] = &[
    ("POST /api/v1/statuses/:/emoji_reactions", "/api/v1/statuses/ID/emoji_reactions", Some(r#"{"emoji":"🎉"}"#)),
    ("PUT /api/v1/statuses/:/emoji_reactions/:", "/api/v1/statuses/ID/emoji_reactions/PARTY", None),
    ("DELETE /api/v1/statuses/:/emoji_reactions/:", "/api/v1/statuses/ID/emoji_reactions/PARTY", None),
    ("POST /api/v1/statuses/:/emoji_unreaction", "/api/v1/statuses/ID/emoji_unreaction", Some(r#"{"emoji":"🎉"}"#)),
    ("POST /api/v1/statuses/:/react/:", "/api/v1/statuses/ID/react/PARTY", None),
    ("POST /api/v1/statuses/:/unreact/:", "/api/v1/statuses/ID/unreact/PARTY", None),
    (
        "POST /api/v1/bookmark_categories/:/statuses",
        "/api/v1/bookmark_categories/CATEGORY/statuses",
        Some(r#"{"status_ids":["ID"]}"#),
    ),
];

/// Rows that show statuses and are not in the matrix, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("GET /api/v1/annual_reports", "a report names statuses of its owner alone, which only they read"),
    ("GET /api/v1/annual_reports/:", "as above"),
];

/// Paths of the objects that viewers own in a plugin; other viewers get 404.
fn of_all(world: &World, plugin: &str, path: impl Fn(i64) -> String) -> Vec<String> {
    world.owned[plugin].iter().map(|(_, id)| path(*id)).collect()
}

fn table(app: &TestApp, plugin: &str, name: &str) -> String {
    match app.db().engine() {
        Engine::Sqlite => format!("p_{plugin}__{name}"),
        Engine::Postgres => format!("p_{plugin}.{name}"),
    }
}

/// Creates an object of `person` with a request to `path`.
async fn make(person: &Client, path: &str) -> i64 {
    let made = person.post(path).json(&json!({ "title": "everything" })).ok().await;
    made["id"].as_str().unwrap().parse().unwrap()
}

/// A world in which every viewer has an antenna, a category and reactions with every subject that is not a reply, and
/// every author has a circle.
async fn world() -> World {
    let keys = [
        ("ROOKERY_PLUGINS_EMBEDDED", "false"),
        ("ROOKERY_PLUGINS_INSTANCES", "8"),
        ("ROOKERY_STREAMING_MAX_PER_ADDRESS", "1000"),
        COMPILED[0],
        COMPILED[1],
    ];
    let app = TestApp::with(&keys).await;
    for plugin in PLUGINS {
        guest::add(&app, plugin).await;
    }
    let mut world = World::on(app).await;
    let (mut antennas, mut categories, mut circles) = (Vec::new(), Vec::new(), Vec::new());
    for (viewer, own, client) in world.lookers() {
        if !viewer.is_person() || own == Some(Author::Suspended) {
            continue;
        }
        let person = i64::from(client.id());
        antennas.push((person, make(client, "/api/v1/antennas").await));
        categories.push((person, make(client, "/api/v1/bookmark_categories").await));
        if own.is_some() {
            circles.push((person, make(client, "/api/v1/circles").await));
        }
    }
    world.owned.extend([("antennas", antennas), ("bookmark_categories", categories), ("circles", circles)]);
    fill(&world).await;
    world
}

async fn fill(world: &World) {
    let app = &world.app;
    let subjects = world.subjects.iter().filter(|subject| !subject.reply).map(|subject| subject.id.to_string());
    let subjects = subjects.collect::<Vec<_>>().join(", ");
    let mut statements = vec![
        "INSERT INTO plugin_feeds (kind, plugin_id, name)
         SELECT 4000, p.id, 'antenna' FROM plugins p WHERE p.name = 'antennas' ON CONFLICT DO NOTHING"
            .to_owned(),
    ];
    for (_, antenna) in &world.owned["antennas"] {
        statements.push(format!(
            "INSERT INTO feed_entries (kind, owner_id, status_id)
             SELECT f.kind, {antenna}, s.id FROM plugin_feeds f, statuses s
             WHERE f.name = 'antenna' AND s.id IN ({subjects})"
        ));
    }
    for (person, category) in &world.owned["bookmark_categories"] {
        statements.push(format!(
            "INSERT INTO {} (category_id, status_id, account_id, filed_at)
             SELECT {category}, s.id, {person}, 0 FROM statuses s WHERE s.id IN ({subjects})",
            table(app, "bookmark_categories", "entries")
        ));
    }
    for (author, circle) in &world.owned["circles"] {
        statements.push(format!(
            "INSERT INTO {} (circle_id, status_id, account_id)
             SELECT {circle}, s.id, {author} FROM statuses s WHERE s.account_id = {author} AND s.id IN ({subjects})",
            table(app, "circles", "entries")
        ));
    }
    let reactions = table(app, "emoji_reactions", "reactions");
    let authors = world.authors.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    statements.push(format!(
        "INSERT INTO {reactions} (account_id, status_id, name, domain, created_at)
         SELECT a.id, s.id, '👍', '', 0 FROM accounts a, statuses s
         WHERE s.id IN ({subjects})
           AND (a.id IN ({authors})
                OR EXISTS (SELECT 1 FROM users u
                           WHERE u.account_id = a.id AND u.confirmed_at IS NOT NULL AND u.approved = TRUE))"
    ));
    // About the reaction of each author, as if the status belonged to the receiver.
    statements.push(format!(
        "INSERT INTO notifications
             (id, account_id, from_account_id, type, activity_id, status_id, filtered, created_at)
         SELECT n.id + 1, n.account_id, n.from_account_id, 'emoji_reaction', r.id, n.status_id, FALSE, n.created_at
         FROM notifications n
         JOIN {reactions} r ON r.status_id = n.status_id AND r.account_id = n.from_account_id
         WHERE n.type = 'mention' AND NOT n.filtered AND n.status_id IN ({subjects})"
    ));
    for statement in statements {
        app.execute(&statement).await;
    }
}

#[tokio::test]
async fn plugin_reads_respect_visibility() {
    let world = world().await;
    let findings = look(&world, READS.iter()).await;
    findings.check();
    let silent: Vec<&str> = READS
        .iter()
        .map(|read| read.name)
        .filter(|name| findings.shown.get(name).is_none_or(|times| *times < 10))
        .collect();
    assert!(silent.is_empty(), "these showed nothing, or next to nothing, to anyone: {silent:?}");
}

#[tokio::test]
async fn plugin_actions_on_hidden_statuses_return_404() {
    let world = world().await;
    let mut faults = Vec::new();
    for (viewer, own, client) in world.lookers() {
        let person = viewer.is_person() && own != Some(Author::Suspended);
        let Some(client_id) = person.then(|| i64::from(client.id())) else { continue };
        let categories = &world.owned["bookmark_categories"];
        let category = categories.iter().find(|(owner, _)| *owner == client_id).unwrap().1.to_string();
        let subjects = world.subjects.iter().filter(|subject| !subject.reply);
        for subject in subjects.filter(|subject| may_see(seen_by(viewer, own, subject), subject) == Some(false)) {
            let id = subject.id.to_string();
            let with = |text: &str| text.replace("ID", &id).replace("PARTY", PARTY).replace("CATEGORY", &category);
            for (name, path, body) in ACTS {
                let method: Method = name.split(' ').next().unwrap().parse().unwrap();
                let body: Value = body.map_or_else(|| json!({}), |body| serde_json::from_str(&with(body)).unwrap());
                let answer = client.request(method, &with(path)).json(&body).send().await;
                if answer.status != 404 || answer.text().contains(&subject.mark) {
                    faults.push(format!("{} ({own:?}): {name}: {}: {}", viewer.name, subject.mark, answer.status));
                }
            }
        }
    }
    let first = faults.iter().take(40).cloned().collect::<Vec<_>>();
    assert!(faults.is_empty(), "{} faults, the first:\n  {}", faults.len(), first.join("\n  "));
}

#[tokio::test]
async fn antenna_streams_respect_visibility() {
    const ANTENNA: &str = "antenna?antenna={antenna}";
    let shows = |there: fn(&Subject) -> bool| [Shows { channel: ANTENNA, place: Place::Home, there: Some(there) }];
    let world = world().await;
    let kind = "SELECT CAST(kind AS BIGINT) FROM plugin_feeds WHERE name = 'antenna'";
    let kind = world.app.number(kind).await;
    let antennas: Vec<i64> = world.owned["antennas"].iter().map(|(_, antenna)| *antenna).collect();
    let mut listeners = Listeners::connect(&world, &["user", ANTENNA]).await;
    listeners.enter(kind, &antennas);
    listeners.receive("entered", &shows(|_| true)).await;
    listeners.edit(false);
    let user = Shows { channel: "user", place: Place::Notification, there: None };
    listeners.receive("edited", &[&shows(|subject| !subject.reply)[..], &[user]].concat()).await;
    listeners.check(200);
}

#[test]
fn plugin_routes_with_statuses_are_in_the_matrix() {
    let reads = CORE_READS.iter().chain(READS).map(|read| read.name);
    let acts = ACTS.iter().map(|(name, ..)| *name);
    let known: BTreeSet<&str> = reads.chain(acts).chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
    let missing: Vec<String> = contract::extensions()
        .iter()
        .filter(|row| contract::shows(&row.response, "Status"))
        .map(|row| format!("{} {}", row.method, plain(&row.path)))
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "these show statuses and are in none of READS, ACTS and LEFT_OUT: {missing:#?}");
}
