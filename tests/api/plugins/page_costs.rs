//! SQL statements of plugin pages with one entry and with several, and of core pages whose entries plugins decorate.
//! See `crate::page_costs`.

use std::collections::BTreeSet;

use database::Engine;
use serde_json::{Value, json};

use super::groups::{all_but, execute, settle};
use super::{crypto, guest};
use crate::harness::{COMPILED, Client, TestApp, id};
use crate::platform::contract::{self, Route};
use crate::platform::declarations::plain;
use crate::platform::page_costs::{Comparison, ENTRIES, PAGES, World, is_page};

/// Plugins with pages of lists.
fn plugins() -> impl Iterator<Item = &'static str> {
    all_but(&["annual_reports", "profile"])
}

/// `invite_users` and `manage_invites`
const INVITES: i64 = (1 << 16) | (1 << 11);

/// A world with the given number of entries in the lists of all plugins.
struct Plugged {
    core: World,
    antenna: String,
    circle: String,
    category: String,
    collection: String,
    /// Account that all antennas exclude.
    popular: i64,
    /// Client of the viewer with encrypted messages.
    device: Client,
}

/// Name of the row, and the path to request.
type Page = (&'static str, fn(&Plugged) -> String);

const ROUTES: &[Page] = &[
    ("GET /api/v1/antennas", |_| "/api/v1/antennas".to_owned()),
    ("GET /api/v1/antennas/:id/accounts", |w| format!("/api/v1/antennas/{}/accounts", w.antenna)),
    ("GET /api/v1/antennas/:id/domains", |w| format!("/api/v1/antennas/{}/domains", w.antenna)),
    ("GET /api/v1/antennas/:id/keywords", |w| format!("/api/v1/antennas/{}/keywords", w.antenna)),
    ("GET /api/v1/antennas/:id/tags", |w| format!("/api/v1/antennas/{}/tags", w.antenna)),
    ("GET /api/v1/antennas/:id/exclude_accounts", |w| format!("/api/v1/antennas/{}/exclude_accounts", w.antenna)),
    ("GET /api/v1/accounts/:id/antennas", |w| format!("/api/v1/accounts/{}/antennas", w.core.people[0])),
    ("GET /api/v1/accounts/:id/exclude_antennas", |w| format!("/api/v1/accounts/{}/exclude_antennas", w.popular)),
    ("GET /api/v1/timelines/antenna/:id", |w| format!("/api/v1/timelines/antenna/{}", w.antenna)),
    ("GET /api/v1/circles", |_| "/api/v1/circles".to_owned()),
    ("GET /api/v1/circles/:id/accounts", |w| format!("/api/v1/circles/{}/accounts", w.circle)),
    ("GET /api/v1/circles/:id/statuses", |w| format!("/api/v1/circles/{}/statuses", w.circle)),
    ("GET /api/v1/accounts/:id/circles", |w| format!("/api/v1/accounts/{}/circles", w.core.people[0])),
    ("GET /api/v1/bookmark_categories", |_| "/api/v1/bookmark_categories".to_owned()),
    ("GET /api/v1/bookmark_categories/:id/statuses", |w| {
        format!("/api/v1/bookmark_categories/{}/statuses", w.category)
    }),
    ("GET /api/v1/statuses/:id/bookmark_categories", |w| {
        format!("/api/v1/statuses/{}/bookmark_categories", w.core.statuses[0])
    }),
    ("GET /api/v1/collections/:id", |w| format!("/api/v1/collections/{}", w.collection)),
    ("GET /api/v1/accounts/:id/collections", |w| format!("/api/v1/accounts/{}/collections", w.core.me)),
    ("GET /api/v1/accounts/:id/in_collections", |w| format!("/api/v1/accounts/{}/in_collections", w.core.me)),
    ("GET /api/v1/statuses/:id/emoji_reactioned_by", |w| {
        format!("/api/v1/statuses/{}/emoji_reactioned_by", w.core.statuses[0])
    }),
    ("GET /api/v1/emoji_reactions", |_| "/api/v1/emoji_reactions".to_owned()),
    ("GET /api/v1/reaction_deck", |_| "/api/v1/reaction_deck".to_owned()),
    // Search operators of plugins.
    ("GET /api/v2/search", |_| "/api/v2/search?type=statuses&q=my:categoried".to_owned()),
    ("GET /api/v2/search", |_| "/api/v2/search?type=statuses&q=my:emoji_reacted".to_owned()),
];

/// Requested with the token of the device.
const MESSAGES: &str = "GET /api/v1/crypto/encrypted_messages";

/// Rows with lists that are not in [`ROUTES`], with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    (MESSAGES, "compared on its own"),
    ("GET /api/v1/timelines/list/:id", "the core's: in its own table"),
    ("GET /api/v1/statuses/:id/referred_by", "as above"),
    ("GET /api/v1/statuses/:id/mentioned_by", "as above"),
];

/// Route of the page, and the path to open.
const WEB_PAGES: &[Page] = &[
    ("/antennas", |_| "/antennas".to_owned()),
    ("/antennas/:", |w| format!("/antennas/{}", w.antenna)),
    ("/circles", |_| "/circles".to_owned()),
    ("/circles/:", |w| format!("/circles/{}", w.circle)),
    ("/bookmark_categories", |_| "/bookmark_categories".to_owned()),
    ("/collections", |_| "/collections".to_owned()),
    ("/collections/:", |w| format!("/collections/{}", w.collection)),
    ("/reaction_deck", |_| "/reaction_deck".to_owned()),
    ("/invites", |_| "/invites".to_owned()),
    ("/invites/all", |_| "/invites/all".to_owned()),
];

/// Web pages that are not in [`WEB_PAGES`], with the reason.
const WEB_LEFT_OUT: &[(&str, &str)] = &[("/bookmark_categories/:", "a form about one category")];

fn table(app: &TestApp, plugin: &str, name: &str) -> String {
    match app.db().engine() {
        Engine::Sqlite => format!("p_{plugin}__{name}"),
        Engine::Postgres => format!("p_{plugin}.{name}"),
    }
}

/// The ids as a list in SQL.
fn list(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn texts(ids: &[i64]) -> Vec<String> {
    ids.iter().map(i64::to_string).collect()
}

impl Plugged {
    async fn new(entries: usize) -> Self {
        let keys =
            [("ROOKERY_PLUGINS_EMBEDDED", "false"), ("ROOKERY_PLUGINS_INSTANCES", "8"), COMPILED[0], COMPILED[1]];
        let app = TestApp::with(&keys).await;
        for plugin in plugins() {
            guest::add(&app, plugin).await;
        }
        let core = World::on(app, entries).await;
        let popular = "SELECT id FROM accounts WHERE username LIKE 'popular%' ORDER BY id";
        let popular: Vec<i64> =
            core.app.db().fetch_raw::<(i64,)>(popular).await.unwrap().into_iter().map(|(id,)| id).collect();
        let antenna = antennas(&core, &popular).await;
        let circle = circles(&core).await;
        let category = categories(&core).await;
        let collection = collections(&core).await;
        let device = messages(&core, entries).await;
        rows(&core, entries, &antenna).await;
        let names: Vec<String> = (0..entries).map(|n| format!("rook{n}")).collect();
        core.viewer.post("/api/v1/reaction_deck").json(&json!({ "emojis": names })).ok().await;
        settle(&core.app).await;
        core.app.known(&core.viewer).await;
        Self { core, antenna, circle, category, collection, popular: popular[0], device }
    }
}

/// Creates one antenna per person, each bound to a separate list. The first has all accounts, keywords, hashtags and
/// domains.
///
/// Returns the id of the first.
async fn antennas(core: &World, popular: &[i64]) -> String {
    let lists = core.viewer.get("/api/v1/lists").ok().await;
    let mut first = String::new();
    for (n, list) in (0..core.people.len()).zip(lists.as_array().unwrap()) {
        let new = json!({ "title": format!("antenna {n}"), "list_id": list["id"], "insert_feeds": true });
        let made = core.viewer.post("/api/v1/antennas").json(&new).ok().await;
        let (people, others) = if n == 0 { (&core.people[..], popular) } else { (&core.people[..1], &popular[..1]) };
        let add = async |list: &str, body: Value| {
            core.viewer.post(&format!("/api/v1/antennas/{}/{list}", id(&made))).json(&body).ok().await;
        };
        add("accounts", json!({ "account_ids": texts(people) })).await;
        add("exclude_accounts", json!({ "account_ids": texts(others) })).await;
        if n == 0 {
            let words = |word: &str| (0..core.people.len()).map(|n| format!("{word}{n}")).collect::<Vec<_>>();
            add("keywords", json!({ "keywords": words("word") })).await;
            add("tags", json!({ "tags": words("tag") })).await;
            let domains: Vec<String> = words("domain").into_iter().map(|name| format!("{name}.test")).collect();
            add("domains", json!({ "domains": domains })).await;
            id(&made).clone_into(&mut first);
        }
    }
    first
}

/// Creates one circle per person; returns the id of the first, which has all members and one status per person.
async fn circles(core: &World) -> String {
    let mut first = String::new();
    for n in 0..core.people.len() {
        let made = core.viewer.post("/api/v1/circles").json(&json!({ "title": format!("circle {n}") })).ok().await;
        let people = if n == 0 { &core.people[..] } else { &core.people[..1] };
        let path = format!("/api/v1/circles/{}/accounts", id(&made));
        core.viewer.post(&path).json(&json!({ "account_ids": texts(people) })).ok().await;
        if n == 0 {
            id(&made).clone_into(&mut first);
        }
        core.app.tick();
        let post = json!({ "status": format!("post {n}"), "visibility": "circle", "circle_id": first });
        core.viewer.publish(&post).await;
    }
    settle(&core.app).await;
    first
}

/// Creates one category per status; returns the id of the first, which has all statuses.
async fn categories(core: &World) -> String {
    let mut first = String::new();
    for n in 0..core.statuses.len() {
        let new = json!({ "title": format!("category {n}") });
        let made = core.viewer.post("/api/v1/bookmark_categories").json(&new).ok().await;
        let statuses = if n == 0 { &core.statuses[..] } else { &core.statuses[..1] };
        let path = format!("/api/v1/bookmark_categories/{}/statuses", id(&made));
        core.viewer.post(&path).json(&json!({ "status_ids": texts(statuses) })).ok().await;
        if n == 0 {
            id(&made).clone_into(&mut first);
        }
    }
    first
}

/// Creates collections of all people, and collections by the author that list the viewer; returns the id of the last.
async fn collections(core: &World) -> String {
    let mut last = String::new();
    for n in 0..core.people.len() {
        for (owner, listed) in [(&core.writer, &[core.me][..]), (&core.viewer, &core.people[..])] {
            let new = json!({ "name": format!("collection {n}"), "discoverable": true, "account_ids": texts(listed) });
            let made = owner.post("/api/v1/collections").json(&new).ok().await;
            id(&made["collection"]).clone_into(&mut last);
        }
    }
    last
}

/// Registers a device of the viewer and sends it one message per entry.
async fn messages(core: &World, entries: usize) -> Client {
    let device = crypto::device(&core.viewer, "V", 1, []).await;
    let sender = crypto::device(&core.writer, "A", 3, []).await;
    for n in 0..entries {
        crypto::send(&sender, vec![crypto::letter(&core.viewer, "V", &format!("message {n}"))]).await;
    }
    device
}

/// Inserts feed entries, reactions and invites into the tables.
async fn rows(core: &World, entries: usize, antenna: &str) {
    let app = &core.app;
    let (reactions, invites) = (table(app, "emoji_reactions", "reactions"), table(app, "invites", "invites"));
    let (me, statuses, people) = (core.me, list(&core.statuses), list(&core.people));
    let mut statements = vec![
        "INSERT INTO plugin_feeds (kind, plugin_id, name)
         SELECT 4000, p.id, 'antenna' FROM plugins p WHERE p.name = 'antennas' ON CONFLICT DO NOTHING"
            .to_owned(),
        format!(
            "INSERT INTO feed_entries (kind, owner_id, status_id)
             SELECT f.kind, {antenna}, s.id FROM plugin_feeds f, statuses s
             WHERE f.name = 'antenna' AND s.id IN ({statuses})"
        ),
        format!(
            "INSERT INTO {reactions} (account_id, status_id, name, domain, created_at)
             SELECT a.id, {}, '👍', '', 0 FROM accounts a WHERE a.id IN ({people})",
            core.statuses[0]
        ),
        format!(
            "INSERT INTO {reactions} (account_id, status_id, name, domain, created_at)
             SELECT {me}, s.id, '👍', '', 0 FROM statuses s WHERE s.id IN ({statuses})"
        ),
    ];
    for n in 0..entries {
        statements.push(format!(
            "INSERT INTO {invites} (code, account_id, uses, autofollow, comment, created_at)
             VALUES ('code{n}', {me}, 0, FALSE, 'for {n}', 0)"
        ));
    }
    for statement in statements {
        app.execute(&statement).await;
    }
    execute(app, &format!("UPDATE roles SET permissions = {INVITES} WHERE id = -99")).await;
}

#[tokio::test]
async fn plugin_pages_run_no_statement_per_entry() {
    let [one, several] = [Plugged::new(ENTRIES[0]).await, Plugged::new(ENTRIES[1]).await];
    let mut comparison = Comparison::default();
    for (_, path) in ROUTES {
        let paths = [path(&one), path(&several)];
        comparison.entries([&one.core.viewer, &several.core.viewer], [&paths[0], &paths[1]]).await;
    }
    let messages = MESSAGES.trim_start_matches("GET ");
    comparison.entries([&one.device, &several.device], [messages; 2]).await;
    // Plugins decorate statuses, lists and notifications in one batch per page.
    for (_, path) in PAGES {
        let paths = [path(&one.core), path(&several.core)];
        comparison.entries([&one.core.viewer, &several.core.viewer], [&paths[0], &paths[1]]).await;
    }
    let browsers = [one.core.browser().await, several.core.browser().await];
    for (_, path) in WEB_PAGES {
        let paths = [path(&one), path(&several)];
        let apps = [&one.core.app, &several.core.app];
        comparison.web_pages(apps, [&browsers[0], &browsers[1]], [&paths[0], &paths[1]]).await;
    }
    comparison.check();
}

#[test]
fn plugin_list_routes_are_compared_or_left_out() {
    let known: BTreeSet<&str> =
        ROUTES.iter().map(|(name, _)| *name).chain(LEFT_OUT.iter().map(|(name, _)| *name)).collect();
    let rows = contract::extensions();
    let names = rows.iter().filter(|row| is_page(row)).map(Route::name);
    let missing: Vec<String> = names.filter(|name| !known.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "these are in neither ROUTES nor LEFT_OUT: {missing:#?}");
}

#[tokio::test]
async fn plugin_web_pages_are_compared_or_left_out() {
    let app = TestApp::with(&[("ROOKERY_PLUGINS_EMBEDDED", "false"), COMPILED[0], COMPILED[1]]).await;
    for plugin in plugins() {
        guest::add(&app, plugin).await;
    }
    let known: BTreeSet<&str> =
        WEB_PAGES.iter().map(|(path, _)| *path).chain(WEB_LEFT_OUT.iter().map(|(path, _)| *path)).collect();
    let registry = app.plugins().registry();
    let pages = registry.plugins.iter().flat_map(|active| &active.manifest.pages).map(|page| plain(&page.path));
    let pages: BTreeSet<String> = pages.collect();
    assert_eq!(pages.iter().map(String::as_str).collect::<BTreeSet<_>>(), known);
}
