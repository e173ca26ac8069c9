//! Cost of pages in statements and query plans: numbers that do not depend on the machine.
//!
//! A page of 40 costs as many statements as a page of 2, and every statement finds its rows by an index, also with
//! planner statistics of a table a hundredth as large.

use std::fmt::Write as _;

use database::db::Engine;
use database::sql::STATEMENTS;

use crate::harness::{Client, TestApp};
use crate::seed::{LINK, Reply, Seed, Status};

/// Maximum number of statements of a page, token included. A larger number points to a query that is not batched.
const MOST: u64 = 16;

struct World {
    app: TestApp,
    viewer: Client,
    author: i64,
    /// Author of statuses that all have polls.
    pollster: i64,
    /// A status with 2 replies, and one with 40.
    threads: [i64; 2],
    /// A list of the viewer.
    list: i64,
    /// A status that 45 others quote.
    quoted: i64,
}

/// 45 statuses of 45 people, on every page of the viewer.
async fn world() -> World {
    let app = TestApp::new().await;
    let [viewer, author] = app.accounts(["viewer", "author"]).await;
    app.run_jobs().await;
    let (me, other) = (i64::from(viewer.id()), i64::from(author.id()));
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let tag = seed.tag("birds");
    let threads = [2, 40].map(|answers| {
        let root = seed.status(&Status { author: other, ..Status::default() });
        for n in 0..answers {
            let from = seed.account(&format!("answering{answers}x{n}"), None);
            seed.reply(from, Reply { status: root, account: other, conversation: root }, "public");
        }
        root
    });
    let list = seed.list(me, "list");
    let quoted = seed.status(&Status { author: other, ..Status::default() });
    for n in 0..45 {
        let quoting = seed.account(&format!("quoting{n}"), None);
        let target = seed.status(&Status { author: quoting, visibility: "unlisted", ..Status::default() });
        let status = seed.status(&Status { author: quoting, visibility: "unlisted", ..Status::default() });
        seed.reference(status, target);
        seed.reference(status, quoted);
    }
    let pollster = seed.account("pollster", None);
    let mut shared = Vec::new();
    for _ in 0..45 {
        let status = seed.status(&Status { author: pollster, ..Status::default() });
        seed.poll(status, &["a :rook:", "b"]);
        shared.push(status);
    }
    let mut people = Vec::new();
    seed.link("https://a.test/shared", &shared);
    for n in 0..45 {
        let followed = seed.tag(&format!("followed{n}"));
        seed.follow_tag(me, followed);
        let domain = (n % 2 == 0).then_some("remote.test");
        let person = seed.account(&format!("person{n}"), domain);
        people.push(person);
        let linked = Status { author: person, local: domain.is_none(), content: Some(LINK), ..Status::default() };
        let status = seed.status(&linked);
        seed.card(status);
        seed.status(&Status { author: other, reblog_of: Some(status), text: "", ..Status::default() });
        seed.mention(status, me);
        seed.tagged(status, tag);
        seed.tagged(status, followed);
        seed.home(me, status, None);
        seed.listed(list, status);
        seed.list_member(list, person);
        seed.favourite(me, status);
        seed.favourite(person, threads[0]);
        seed.bookmark(me, status);
        seed.notification(me, person, "mention", Some(status));
        for from in [person, other] {
            seed.grouped_notification(me, from, "reblog", Some(status));
        }
        seed.filtered_mention(me, person, status);
        seed.notification_request(me, person);
        seed.follow(person, me);
        seed.follow(me, person);
        seed.endorse(me, person);
        seed.follow_request(person, other);
        let letter = seed.status(&Status { author: person, visibility: "direct", ..Status::default() });
        seed.mention(letter, me);
        seed.conversation(me, &[person], letter);
        seed.trend(status);
    }
    // Popular people unknown to the viewer.
    for n in 0..45 {
        let popular = seed.account(&format!("popular{n}"), None);
        people[..5].iter().for_each(|person| seed.follow(*person, popular));
    }
    seed.write(app.db()).await;
    app.make_everybody_discoverable().await;
    app.make_feeds_live().await;
    app.make_links_trendable().await;
    app.known(&viewer).await;
    World { app, viewer, author: other, pollster, threads, list, quoted }
}

impl World {
    /// Statements of a request without cached statuses, and the number of entries in the response.
    async fn cost(&self, path: &str) -> (u64, usize) {
        self.app.app.caches.statuses.clear();
        self.app.app.caches.accounts.clear();
        self.app.app.caches.heads.clear();
        let (cost, page) = self.app.cost(self.viewer.get(path).ok()).await;
        let list = ["descendants", "notification_groups"].into_iter().find_map(|name| page[name].as_array());
        let shown = page.as_array().or(list).map_or(1, Vec::len);
        (cost, shown)
    }
}

#[tokio::test]
async fn page_of_forty_costs_as_page_of_two() {
    let world = world().await;
    let me = world.viewer.id();
    let mut table = String::new();
    let mut broken = false;
    for path in [
        "/api/v1/timelines/home".to_owned(),
        "/api/v1/timelines/public".to_owned(),
        "/api/v1/timelines/tag/birds".to_owned(),
        format!("/api/v1/accounts/{}/statuses", world.author),
        format!("/api/v1/timelines/list/{}", world.list),
        format!("/api/v1/lists/{}/accounts", world.list),
        "/api/v1/timelines/link?url=https://a.test/shared".to_owned(),
        "/api/v1/followed_tags".to_owned(),
        format!("/api/v1/accounts/{}/statuses", world.pollster),
        "/api/v1/notifications".to_owned(),
        "/api/v2/notifications".to_owned(),
        "/api/v2/notifications?expand_accounts=partial_avatars".to_owned(),
        "/api/v1/notifications/requests".to_owned(),
        "/api/v1/conversations".to_owned(),
        "/api/v1/endorsements".to_owned(),
        "/api/v1/directory".to_owned(),
        "/api/v1/trends/statuses".to_owned(),
        "/api/v2/suggestions".to_owned(),
        "/api/v1/favourites".to_owned(),
        "/api/v1/bookmarks".to_owned(),
        format!("/api/v1/accounts/{me}/followers"),
        format!("/api/v1/accounts/{me}/following"),
        format!("/api/v1/statuses/{}/favourited_by", world.threads[0]),
        format!("/api/v1/statuses/{}/referred_by", world.quoted),
        "/api/v1/statuses/context".to_owned(),
    ] {
        let paths = match path.as_str() {
            "/api/v1/statuses/context" => world.threads.map(|id| format!("/api/v1/statuses/{id}/context")),
            path => [2, 40].map(|limit| format!("{path}{}limit={limit}", if path.contains('?') { '&' } else { '?' })),
        };
        let (two, shown_two) = world.cost(&paths[0]).await;
        let (forty, shown_forty) = world.cost(&paths[1]).await;
        let _ = writeln!(table, "  {path:<48} {two:>3} statements for {shown_two}, {forty:>3} for {shown_forty}");
        broken |= forty > two || forty > MOST || shown_two != 2 || shown_forty != 40;
    }
    let home = world.viewer.get("/api/v1/timelines/home?limit=2").ok().await;
    assert!(home[0]["card"].is_object() && home[1]["card"].is_object(), "{home}");
    assert!(!broken, "a page of 40 must cost what a page of 2 does, and {MOST} at most:\n{table}");
}

#[tokio::test]
async fn page_of_known_statuses_reads_ids_heads_and_marks() {
    let world = world().await;
    let list = format!("timelines/list/{}", world.list);
    for path in ["timelines/home", "timelines/public", "timelines/tag/birds", &list, "notifications", "favourites"] {
        let path = format!("/api/v1/{path}?limit=40");
        world.viewer.get(&path).ok().await;
        let (statements, page) = world.app.cost(world.viewer.get(&path).ok()).await;
        assert_eq!(page.as_array().map(Vec::len), Some(40), "{path}");
        // At most the token, and the hashtag of a name or the list of an id.
        let most = if path.contains("/tag/") || path.contains("/list/") { 5 } else { 4 };
        assert!(statements <= most, "{path}: {statements} statements");
    }
}

#[tokio::test]
async fn filters_cost_a_page_no_statement() {
    let world = world().await;
    let paths = ["timelines/home", "notifications", "bookmarks"].map(|path| format!("/api/v1/{path}?limit=40"));
    let mut before = Vec::new();
    // Reads the token and the relations, once.
    world.viewer.get(&paths[0]).ok().await;
    for path in &paths {
        before.push(world.cost(path).await);
    }
    let keywords: Vec<_> = (0..20).map(|n| serde_json::json!({ "keyword": format!("word {n}") })).collect();
    let filter = serde_json::json!({
        "title": "twenty words", "context": ["home"], "keywords_attributes": keywords,
        "exclude_follows": true, "exclude_localusers": true, "with_profile": true,
    });
    world.viewer.post("/api/v2/filters").json(&filter).ok().await;
    // Reads the filters, once.
    world.viewer.get(&paths[0]).ok().await;
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(world.cost(path).await, before, "{path}");
    }
}

#[tokio::test]
async fn blocked_domains_cost_a_page_no_statement() {
    let world = world().await;
    let paths = ["timelines/home", "timelines/public", "notifications", "conversations"];
    let paths = paths.map(|path| format!("/api/v1/{path}?limit=40"));
    let mut before = Vec::new();
    // Reads the token and the relations, once.
    world.viewer.get(&paths[0]).ok().await;
    for path in &paths {
        before.push(world.cost(path).await);
    }
    let mut seed = Seed::after(world.app.db().engine(), "example.test", 100_000);
    for n in 0..45 {
        seed.block_domain(world.viewer.id().into(), &format!("blocked{n}.test"));
    }
    seed.write(world.app.db()).await;
    // Reads the relations and the domains of the authors, once.
    for path in &paths {
        world.viewer.get(path).ok().await;
    }
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(world.cost(path).await, before, "{path}");
    }
    for limit in [2, 40] {
        let (statements, shown) = world.cost(&format!("/api/v1/domain_blocks?limit={limit}")).await;
        assert_eq!((shown, statements - world.app.reread_cost()), (limit, 1));
    }
}

/// Statements that may scan a whole table, by a part of their text, with the reason.
const SCANS: &[(&str, &str)] = &[
    ("FROM settings", "a table of few rows"),
    ("FROM plugins p ORDER BY p.name", "a table of few rows"),
    ("FROM notices ORDER BY id", "in the order of its key, no more than the limit"),
    ("FROM plugin_events e ORDER BY e.seq LIMIT", "in the order of its key, no more than the limit"),
    ("FROM plugin_migrations m ORDER BY", "a table of few rows"),
    ("FROM rules", "a table of few rows"),
    ("FROM announcements a", "a table of few rows"),
    ("listening_nodes", "a row for each node"),
    ("FROM node_changes c GROUP BY c.node", "a table of some minutes, and not used on SQLite"),
    ("FROM plugins p ORDER BY", "a table of few rows"),
    ("DELETE FROM push_subscriptions WHERE TRUE", "an admin resets the key of web push"),
    ("DELETE FROM jobs WHERE kind", "an admin removes a plugin, and with it its jobs"),
    ("plugin_feed_kinds", "a table of one row"),
    ("FROM sqlite_schema s JOIN pragma_foreign_key_list", "the schema, read when a plugin is loaded"),
    ("FROM sqlite_schema s JOIN pragma_table_info", "the schema, read before old remote statuses are removed"),
    ("DELETE FROM plugins", "an admin removes a plugin, and with it the events that wait for it"),
    ("FROM domain_blocks", "a table of few rows"),
    ("FROM domain_allows", "a table of few rows"),
    ("FROM domain_lists d", "a table of at most twenty rows"),
    ("FROM domain_list_blocks m", "read whole when a list changes"),
    ("FROM domain_list_entries e JOIN domain_lists", "read whole when a list changes"),
    ("FROM relays r", "at most 20 rows"),
    ("FROM remote_media_modes m ORDER BY", "read into memory when it changes"),
    ("FROM remote_files f GROUP BY", "figures of all, for the staff and every quarter of an hour"),
    ("FROM domain_exclusions x", "read whole when a list is read"),
    ("FROM ip_blocks b ORDER BY", "read into memory when it changes"),
    ("FROM roles r ORDER BY", "a few, all of which are listed or locked"),
    ("_sqlx_migrations", "a row for each migration"),
    ("FROM custom_emojis", "read into memory when it changes"),
    ("FROM id_nodes n", "a table of 128 rows"),
    ("FROM id_nodes WHERE lease_until", "a table of 128 rows"),
    ("UPDATE id_nodes SET last_id", "a table of 128 rows"),
    ("FROM instances", "a figure that is kept for a while"),
    ("SUM(a.statuses_count)", "a figure that is kept for a while"),
    ("FROM user_activity", "a figure that is kept for a while"),
    ("UPDATE jobs SET run_at", "once, when the clock of the machine was set back"),
    ("FROM jobs GROUP BY", "a measurement, read when somebody measures"),
    ("FROM dead_deliveries) AS dead", "a measurement, read when somebody measures"),
    ("SUM(c.image_bytes)", "once an hour, by an index of the cards that have a picture"),
    ("c.image IS NOT NULL ORDER BY c.used_at", "in the order of an index, no further than the batch"),
    ("FROM media_attachments GROUP BY kind", "a measurement, read when an admin asks"),
    ("FROM users LIMIT 1", "ends with the first row"),
    ("feed_state = 'dropped'", "once a day"),
    ("FROM plugins", "a row for each plugin"),
    ("FROM plugin_events GROUP BY", "a measurement, read when somebody measures"),
    ("a.discoverable  AND +a.id", "in the order of an index, no further than the page"),
    ("a.discoverable AND a.domain IS NULL AND +a.id", "as above"),
    ("claimed_until = NULL WHERE claimed_until IS NOT NULL", "when a server starts, by an index of the claimed ones"),
    ("LIMIT ?8) o", "a list that is cut to its length within the statement"),
];

#[tokio::test]
async fn statements_find_rows_by_index_with_any_statistics() {
    let app = TestApp::new().await;
    if app.db().engine() != Engine::Sqlite {
        return;
    }
    // Statistics of tables with a row or two each …
    let mut seed = Seed::new(Engine::Sqlite, "example.test");
    let [one, other] = ["one", "other"].map(|name| seed.account(name, None));
    let status = seed.status(&Status { author: one, ..Status::default() });
    seed.follow(one, other);
    seed.favourite(other, status);
    seed.bookmark(other, status);
    seed.mention(status, other);
    seed.home(one, status, None);
    seed.notification(one, other, "mention", Some(status));
    seed.write(app.db()).await;
    app.execute("ANALYZE").await;
    // … and then a hundred times as many.
    let mut seed = Seed::after(Engine::Sqlite, "example.test", 1_000);
    for n in 0..200 {
        let person = seed.account(&format!("person{n}"), None);
        let status = seed.status(&Status { author: person, ..Status::default() });
        seed.follow(one, person);
        seed.favourite(one, status);
        seed.home(one, status, None);
        seed.notification(one, person, "mention", Some(status));
    }
    seed.write(app.db()).await;
    // A server that starts now must not rely on these statistics.
    let options = context::cx::db_options(&app.app.config);
    let db = database::Db::open(&options).await.unwrap();
    let tables: Vec<(String,)> = db.fetch_raw("SELECT name FROM sqlite_master WHERE type = 'table'").await.unwrap();
    let mut scans = Vec::new();
    for statement in STATEMENTS {
        let text = statement.sqlite;
        if SCANS.iter().any(|(part, _)| text.contains(part)) {
            continue;
        }
        let plan: Vec<(i64, i64, i64, String)> = db.fetch_raw(&format!("EXPLAIN QUERY PLAN {text}")).await.unwrap();
        for (_, _, _, step) in plan {
            if step.contains("VIRTUAL TABLE") {
                continue;
            }
            let Some(name) = step.strip_prefix("SCAN ").and_then(|rest| rest.split(' ').next()) else { continue };
            if is_table(text, name, &tables) {
                scans.push(format!("{}:{}: {step}", statement.place.0, statement.place.1));
            }
        }
    }
    assert!(scans.is_empty(), "these read a whole table or index:\n  {}", scans.join("\n  "));
}

/// A post to a circle has hundreds of silent mentions, and filling feeds queries the other mentions once per reader.
#[tokio::test]
async fn mentions_in_a_text_are_found_without_its_audience() {
    let app = TestApp::new().await;
    if app.db().engine() != Engine::Sqlite {
        return;
    }
    let mut found = 0;
    for statement in STATEMENTS {
        let text = statement.sqlite;
        // A statement for one status and one account reads a single row.
        let asks = ["x", "m"]
            .iter()
            .any(|name| text.contains(&format!("NOT {name}.silent")) && !text.contains(&format!("NOT {name}.silent)")));
        if !asks {
            continue;
        }
        found += 1;
        let plan: Vec<(i64, i64, i64, String)> =
            app.db().fetch_raw(&format!("EXPLAIN QUERY PLAN {text}")).await.unwrap();
        let by_index = plan.iter().any(|(.., step)| step.contains("mentions_in_text"));
        assert!(by_index, "{}:{}: {plan:?}", statement.place.0, statement.place.1);
    }
    assert!(found > 5, "{found} statements");
}

/// True when `name` in the plan of `text` is one of `tables`, by its name or an alias.
fn is_table(text: &str, name: &str, tables: &[(String,)]) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let known = |word: &str| tables.iter().any(|(table,)| table == word);
    known(name)
        || words.windows(3).any(|words| {
            (known(words[0]) && words[1] == name) || (known(words[0]) && words[1] == "AS" && words[2] == name)
        })
}
