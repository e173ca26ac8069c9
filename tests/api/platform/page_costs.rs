//! SQL statements of every page with one entry and with several entries: no page runs a statement per entry.
//!
//! Covers every row of the table that is paginated or returns a list, and every web page. Rows and pages that are not
//! in [`PAGES`] or [`WEB_PAGES`] are listed in [`LEFT_OUT`] or [`WEB_LEFT_OUT`] with the reason. `statements` checks
//! the maximum number of statements; `plugins::page_costs` covers the pages of plugins.

mod world;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::harness::{Browser, Client, TestApp};
use crate::platform::contract::{self, Route};
use crate::platform::declarations::routed;

pub use world::World;

/// Number of entries of each kind in the two worlds.
pub const ENTRIES: [usize; 2] = [2, 6];

/// Name of the row, and the path to request.
pub type Page = (&'static str, fn(&World) -> String);

pub const PAGES: &[Page] = &[
    ("GET /api/v1/accounts", |w| format!("/api/v1/accounts?{}", w.ids())),
    ("GET /api/v1/accounts/search", |_| "/api/v1/accounts/search?q=person".to_owned()),
    ("GET /api/v1/accounts/relationships", |w| format!("/api/v1/accounts/relationships?{}", w.ids())),
    ("GET /api/v1/accounts/familiar_followers", |w| format!("/api/v1/accounts/familiar_followers?{}", w.ids())),
    ("GET /api/v1/accounts/:id/statuses", |w| format!("/api/v1/accounts/{}/statuses", w.author)),
    ("GET /api/v1/accounts/:id/followers", |w| format!("/api/v1/accounts/{}/followers", w.me)),
    ("GET /api/v1/accounts/:id/following", |w| format!("/api/v1/accounts/{}/following", w.me)),
    ("GET /api/v1/accounts/:id/featured_tags", |w| format!("/api/v1/accounts/{}/featured_tags", w.author)),
    ("GET /api/v1/accounts/:id/lists", |w| format!("/api/v1/accounts/{}/lists", w.people[0])),
    ("GET /api/v1/accounts/:id/endorsements", |w| format!("/api/v1/accounts/{}/endorsements", w.me)),
    ("GET /api/v1/statuses", |w| {
        let ids: String = w.statuses.iter().map(|id| format!("id[]={id}&")).collect();
        format!("/api/v1/statuses?{ids}")
    }),
    ("GET /api/v1/interaction_requests", |_| "/api/v1/interaction_requests".to_owned()),
    ("GET /api/v1/statuses/:id/quotes", |w| format!("/api/v1/statuses/{}/quotes", w.quoted)),
    ("GET /api/v1/statuses/:id/reblogged_by", |w| format!("/api/v1/statuses/{}/reblogged_by", w.liked)),
    ("GET /api/v1/statuses/:id/favourited_by", |w| format!("/api/v1/statuses/{}/favourited_by", w.liked)),
    ("GET /api/v1/statuses/:id/mentioned_by", |w| format!("/api/v1/statuses/{}/mentioned_by", w.own)),
    ("GET /api/v1/statuses/:id/referred_by", |w| format!("/api/v1/statuses/{}/referred_by", w.quoted)),
    ("GET /api/v1/statuses/:id/history", |w| format!("/api/v1/statuses/{}/history", w.edited)),
    ("GET /api/v1/statuses/:id/context", |w| format!("/api/v1/statuses/{}/context", w.thread)),
    ("GET /api/v1/timelines/home", |_| "/api/v1/timelines/home".to_owned()),
    ("GET /api/v1/timelines/public", |_| "/api/v1/timelines/public?limit=40".to_owned()),
    ("GET /api/v1/timelines/tag/:hashtag", |_| "/api/v1/timelines/tag/birds".to_owned()),
    ("GET /api/v1/timelines/link", |_| format!("/api/v1/timelines/link?url={}", world::LINKED)),
    ("GET /api/v1/timelines/list/:list_id", |w| format!("/api/v1/timelines/list/{}", w.list)),
    ("GET /api/v1/notifications", |_| "/api/v1/notifications".to_owned()),
    ("GET /api/v1/notifications/requests", |_| "/api/v1/notifications/requests".to_owned()),
    ("GET /api/v2/notifications", |_| "/api/v2/notifications".to_owned()),
    ("GET /api/v2/notifications", |_| "/api/v2/notifications?expand_accounts=partial_avatars".to_owned()),
    ("GET /api/v2/notifications/:group_key/accounts", |w| format!("/api/v2/notifications/{}/accounts", w.group)),
    ("GET /api/v1/lists", |_| "/api/v1/lists".to_owned()),
    ("GET /api/v1/lists/:id/accounts", |w| format!("/api/v1/lists/{}/accounts", w.list)),
    ("GET /api/v1/lists/:id/accounts", |w| format!("/api/v1/lists/{}/accounts?limit=0", w.list)),
    ("GET /api/v2/filters", |_| "/api/v2/filters".to_owned()),
    ("GET /api/v2/filters/:filter_id/keywords", |w| format!("/api/v2/filters/{}/keywords", w.filter)),
    ("GET /api/v2/filters/:filter_id/statuses", |w| format!("/api/v2/filters/{}/statuses", w.filter)),
    ("GET /api/v1/filters", |_| "/api/v1/filters".to_owned()),
    ("GET /api/v2/search", |_| "/api/v2/search?type=accounts&q=person".to_owned()),
    ("GET /api/v2/search", |_| "/api/v2/search?type=hashtags&q=used".to_owned()),
    ("GET /api/v2/search", |_| "/api/v2/search?type=statuses&q=findable".to_owned()),
    ("GET /api/v1/bookmarks", |_| "/api/v1/bookmarks".to_owned()),
    ("GET /api/v1/favourites", |_| "/api/v1/favourites".to_owned()),
    ("GET /api/v1/follow_requests", |_| "/api/v1/follow_requests".to_owned()),
    ("GET /api/v1/mutes", |_| "/api/v1/mutes".to_owned()),
    ("GET /api/v1/blocks", |_| "/api/v1/blocks".to_owned()),
    ("GET /api/v1/domain_blocks", |_| "/api/v1/domain_blocks".to_owned()),
    ("GET /api/v1/scheduled_statuses", |_| "/api/v1/scheduled_statuses".to_owned()),
    ("GET /api/v1/suggestions", |_| "/api/v1/suggestions".to_owned()),
    ("GET /api/v2/suggestions", |_| "/api/v2/suggestions".to_owned()),
    ("GET /api/v1/trends/tags", |_| "/api/v1/trends/tags?limit=20".to_owned()),
    ("GET /api/v1/trends", |_| "/api/v1/trends?limit=20".to_owned()),
    ("GET /api/v1/trends/statuses", |_| "/api/v1/trends/statuses".to_owned()),
    ("GET /api/v1/trends/links", |_| "/api/v1/trends/links".to_owned()),
    ("GET /api/v1/followed_tags", |_| "/api/v1/followed_tags".to_owned()),
    ("GET /api/v1/featured_tags", |_| "/api/v1/featured_tags".to_owned()),
    ("GET /api/v1/featured_tags/suggestions", |_| "/api/v1/featured_tags/suggestions".to_owned()),
    ("GET /api/v1/endorsements", |_| "/api/v1/endorsements".to_owned()),
    ("GET /api/v1/endorsements", |_| "/api/v1/endorsements?limit=0".to_owned()),
    ("GET /api/v1/conversations", |_| "/api/v1/conversations".to_owned()),
    ("GET /api/v1/custom_emojis", |_| "/api/v1/custom_emojis".to_owned()),
    ("GET /api/v1/announcements", |_| "/api/v1/announcements".to_owned()),
    ("GET /api/v1/directory", |_| "/api/v1/directory?limit=80".to_owned()),
    ("GET /api/v1/directory", |_| "/api/v1/directory?limit=80&order=new&local=true".to_owned()),
    ("GET /api/v1/instance/peers", |_| "/api/v1/instance/peers".to_owned()),
    ("GET /api/v1/instance/rules", |_| "/api/v1/instance/rules".to_owned()),
    ("GET /api/v1/instance/domain_blocks", |_| "/api/v1/instance/domain_blocks".to_owned()),
    ("GET /api/v1/peers/search", |_| "/api/v1/peers/search?q=peer".to_owned()),
];

/// Rows with lists that are not in [`PAGES`], with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("GET /api/v1/accounts/:id/identity_proofs", "always empty"),
    ("GET /api/v1/instance/activity", "always twelve weeks"),
    ("GET /api/v1/instance/languages", "as many as the program knows"),
];

/// Name of the route, and the path to open. The viewer is signed in.
pub const WEB_PAGES: &[Page] = &[
    ("GET /@:", |_| "/@author".to_owned()),
    ("GET /@:", |_| "/@author.rss".to_owned()),
    ("GET /@:", |_| "/@author.atom".to_owned()),
    ("GET /@:/:", |w| format!("/@author/{}", w.thread)),
    ("GET /tags/:", |_| "/tags/birds".to_owned()),
    ("GET /about", |_| "/about".to_owned()),
    ("GET /home", |_| "/home".to_owned()),
    ("GET /public", |_| "/public".to_owned()),
    ("GET /public/local", |_| "/public/local".to_owned()),
    ("GET /bookmarks", |_| "/bookmarks".to_owned()),
    ("GET /favourites", |_| "/favourites".to_owned()),
    ("GET /lists", |_| "/lists".to_owned()),
    ("GET /lists/:", |w| format!("/lists/{}", w.list)),
    ("GET /lists/:/edit", |w| format!("/lists/{}/edit", w.list)),
    ("GET /notifications", |_| "/notifications".to_owned()),
    ("GET /notifications/requests", |_| "/notifications/requests".to_owned()),
    ("GET /conversations", |_| "/conversations".to_owned()),
    ("GET /scheduled", |_| "/scheduled".to_owned()),
    ("GET /catch_up", |_| "/catch_up?hours=700".to_owned()),
    ("GET /follow_requests", |_| "/follow_requests".to_owned()),
    ("GET /blocks", |_| "/blocks".to_owned()),
    ("GET /mutes", |_| "/mutes".to_owned()),
    ("GET /@:/with_replies", |_| "/@author/with_replies".to_owned()),
    ("GET /@:/media", |_| "/@author/media".to_owned()),
    ("GET /@:/followers", |_| "/@viewer/followers".to_owned()),
    ("GET /@:/following", |_| "/@viewer/following".to_owned()),
    ("GET /@:/:/favourites", |w| format!("/@author/{}/favourites", w.liked)),
    ("GET /@:/:/reblogs", |w| format!("/@author/{}/reblogs", w.liked)),
    ("GET /@:/:/history", |w| format!("/@author/{}/history", w.edited)),
    ("GET /@:/:/quotes", |w| format!("/@author/{}/quotes", w.quoted)),
    ("GET /oauth/authorized_applications", |_| "/oauth/authorized_applications".to_owned()),
    ("GET /settings/profile", |_| "/settings/profile".to_owned()),
    ("GET /settings/filters", |_| "/settings/filters".to_owned()),
    ("GET /settings/filters/:", |w| format!("/settings/filters/{}", w.filter)),
    ("GET /settings/followed_tags", |_| "/settings/followed_tags".to_owned()),
    ("GET /settings/sessions", |_| "/settings/sessions".to_owned()),
    ("GET /settings/transfer", |_| "/settings/transfer".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/following".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/blocking".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/muting".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/domain_blocking".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/lists".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/bookmarks".to_owned()),
    ("GET /settings/transfer/export/:", |_| "/settings/transfer/export/filters".to_owned()),
    ("GET /settings/transfer/:/failures", |w| format!("/settings/transfer/{}/failures", w.import)),
];

/// Prefixes of web pages that are not in [`WEB_PAGES`], with the reason.
const WEB_LEFT_OUT: &[(&str, &str)] = &[
    ("/auth/", "forms"),
    ("/oauth/authorize", "a form about one application"),
    ("/oauth/token/info", "one document"),
    ("/oauth/userinfo", "one document"),
    ("/authorize_interaction", "one account or status"),
    ("/remote_interaction", "a form"),
    ("/about/api", "as large as the API"),
    ("/privacy-policy", "one text"),
    ("/terms-of-service", "one text, with the dates of the others"),
    ("/users/", "redirects"),
    ("/ap/users/", "redirects"),
    ("/@:/:/embed", "one status"),
    ("/settings/password", "the page of /settings, which is forms"),
    ("/settings/email", "as above"),
    ("/settings/preferences", "a form"),
    ("/settings/filters/new", "a form"),
    ("/settings/archives/", "a file"),
    ("/settings/transfer/account", "one document"),
    ("/settings/cleanup", "a form"),
    (
        "/settings/strikes",
        "a page of strikes with their appeals is two statements (service::moderation::appeal::strikes)",
    ),
    ("/settings/requests", "a page of requests costs the same for any number of them (web::requests)"),
    ("/settings/audit_log", "for staff; a page is one statement (store::audit::list)"),
    ("/settings/delete", "a form"),
    ("/settings/moving", "forms"),
    ("/media/", "files"),
    ("/assets/", "files"),
    ("/client", "files"),
    ("/.well-known/", "one document each"),
    ("/nodeinfo/", "one document"),
    ("/opensearch.xml", "one document"),
    ("/manifest", "one document"),
    ("/robots.txt", "one document"),
    ("/custom.css", "one document"),
    ("/explore", "three short lists, whose costs are those of /api/v1/trends"),
    ("/directory", "a page is that of /api/v1/directory, and its accounts one statement"),
    ("/share", "a redirect"),
    ("/web/", "lists of extensions, suggestions of eight, forms about one status"),
    ("/@:/:/translation", "one status"),
    ("/sw.js", "a file"),
    ("/offline", "one text"),
    ("/drafts", "a page is two statements (service::saved_draft)"),
    ("/publish", "a form about two statuses at most"),
    ("/report", "a form; the statuses beside it are those of a profile"),
    ("/conversations/:", "a redirect"),
    ("/favicon.ico", "a redirect"),
    ("/search", "the results of an anonymous search, whose costs are those of /api/v2/search"),
    ("/health", "no page"),
    ("/livez", "no page"),
    ("/readyz", "no page"),
];

/// Statements of a page, and its size: entries, or bytes of a web page.
#[derive(Clone, Copy)]
struct Cost {
    statements: u64,
    shown: usize,
}

/// Compares pages with one entry to the same pages with several.
#[derive(Default)]
pub struct Comparison {
    table: String,
    is_broken: bool,
}

impl Comparison {
    fn add(&mut self, path: &str, one: Cost, several: Cost) {
        let wrong = if one.shown == 0 || several.shown <= one.shown {
            "  <- shows too little"
        } else if several.statements > one.statements {
            "  <- costs more"
        } else {
            ""
        };
        let (few, many) = (one.statements, several.statements);
        let _ = writeln!(
            self.table,
            "  {path:<64} {few:>3} statements for {:>5}, {many:>3} for {:>5}{wrong}",
            one.shown, several.shown
        );
        self.is_broken |= !wrong.is_empty();
    }

    /// Compares the responses to `viewers`, one per world.
    pub async fn entries(&mut self, viewers: [&Client; 2], paths: [&str; 2]) {
        let mut costs = Vec::new();
        for (viewer, path) in viewers.into_iter().zip(paths) {
            // Fills caches that do not depend on the page.
            viewer.get(path).ok().await;
            forget(&viewer.server);
            let (statements, page) = viewer.server.cost(viewer.get(path).ok()).await;
            costs.push(Cost { statements, shown: entries(&page) });
        }
        self.add(paths[1], costs[0], costs[1]);
    }

    /// Compares web pages in `browsers`, one per world.
    pub async fn web_pages(&mut self, apps: [&TestApp; 2], browsers: [&Browser; 2], paths: [&str; 2]) {
        let mut costs = Vec::new();
        for ((app, browser), path) in apps.into_iter().zip(browsers).zip(paths) {
            let first = browser.get(path).await;
            assert_eq!(first.status, 200, "{path}: {}", first.text());
            forget(app);
            let (statements, page) = app.cost(browser.get(path)).await;
            costs.push(Cost { statements, shown: page.body.len() });
        }
        self.add(paths[1], costs[0], costs[1]);
    }

    /// Fails the test if a page with several entries runs more statements or does not show more entries.
    pub fn check(&self) {
        assert!(
            !self.is_broken,
            "pages must not run more statements for several entries than for one:\n{}",
            self.table
        );
    }
}

/// Clears the caches of statuses and accounts.
fn forget(app: &TestApp) {
    app.app.caches.statuses.clear();
    app.app.caches.accounts.clear();
    app.app.caches.heads.clear();
}

/// Number of entries in a document: length of the list, or of all lists in the object.
fn entries(page: &Value) -> usize {
    match page {
        Value::Array(list) => list.len(),
        Value::Object(members) => members.values().filter_map(Value::as_array).map(Vec::len).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// True for rows that are paginated or return a list.
pub fn is_page(row: &Route) -> bool {
    row.method == "GET" && (row.paginated != "none" || row.response.contains("[]"))
}

#[tokio::test]
async fn pages_run_no_statement_per_entry() {
    let [one, several] = [World::new(ENTRIES[0]).await, World::new(ENTRIES[1]).await];
    let mut comparison = Comparison::default();
    for (_, path) in PAGES {
        let paths = [path(&one), path(&several)];
        comparison.entries([&one.viewer, &several.viewer], [&paths[0], &paths[1]]).await;
    }
    comparison.check();
}

#[tokio::test]
async fn web_pages_run_no_statement_per_entry() {
    let [one, several] = [World::new(ENTRIES[0]).await, World::new(ENTRIES[1]).await];
    let browsers = [one.browser().await, several.browser().await];
    let [one, several] = [one.imported(&browsers[0]).await, several.imported(&browsers[1]).await];
    let mut comparison = Comparison::default();
    for (_, path) in WEB_PAGES {
        let paths = [path(&one), path(&several)];
        let browsers = [&browsers[0], &browsers[1]];
        comparison.web_pages([&one.app, &several.app], browsers, [&paths[0], &paths[1]]).await;
    }
    comparison.check();
}

#[test]
fn list_routes_are_compared_or_left_out() {
    let compared: BTreeSet<&str> = PAGES.iter().map(|(name, _)| *name).collect();
    let left_out = |name: &str| LEFT_OUT.iter().any(|(known, _)| *known == name);
    let missing: Vec<String> = contract::routes()
        .iter()
        .filter(|row| is_page(row))
        .map(Route::name)
        .filter(|name| !compared.contains(name.as_str()) && !left_out(name))
        .collect();
    assert!(missing.is_empty(), "these are in neither PAGES nor LEFT_OUT: {missing:#?}");
    let known: BTreeSet<String> = contract::routes().iter().map(Route::name).collect();
    let unknown: Vec<&&str> = compared.iter().filter(|name| !known.contains(**name)).collect();
    assert!(unknown.is_empty(), "these are no rows: {unknown:?}");
}

#[test]
fn web_pages_are_compared_or_left_out() {
    let compared: BTreeSet<&str> = WEB_PAGES.iter().map(|(name, _)| *name).collect();
    let left_out = |path: &str| {
        ["/", "/settings"].contains(&path) || WEB_LEFT_OUT.iter().any(|(start, _)| path.starts_with(start))
    };
    let routed = routed();
    let pages = routed.iter().filter(|name| name.starts_with("GET /") && !name.starts_with("GET /api/"));
    let missing: Vec<&String> =
        pages.filter(|name| !compared.contains(name.as_str()) && !left_out(name.trim_start_matches("GET "))).collect();
    assert!(missing.is_empty(), "these are in neither WEB_PAGES nor WEB_LEFT_OUT: {missing:#?}");
    let unknown: Vec<&&str> = compared.iter().filter(|name| !routed.contains(**name)).collect();
    assert!(unknown.is_empty(), "these are no routes: {unknown:?}");
}
