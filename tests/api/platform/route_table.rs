//! The table of routes, row by row: access, shape of the response, and records of other accounts.
//!
//! Every row of [`GROUPS`] is requested with [`case`], or listed in [`LEFT_OUT`] with a reason; rows of other groups
//! must not exist yet. The effects of a route are tested by its own module.

mod cases;
mod streams;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use crate::harness::{ALL_SCOPES, Answer, Client, PushService, TestApp};
use crate::platform::contract::{self, Route};
use crate::platform::declarations::{plain, routed};
use crate::routes::media::png;
use crate::seed::{Seed, Status};

use cases::{Body, case, request};

/// Complete groups.
const GROUPS: &[&str] = &[
    "oauth",
    "apps",
    "emails",
    "accounts",
    "statuses",
    "timelines",
    "favourites",
    "bookmarks",
    "blocks",
    "mutes",
    "domain_blocks",
    "follow_requests",
    "lists",
    "tags",
    "followed_tags",
    "featured_tags",
    "filters",
    "endorsements",
    "notifications",
    "conversations",
    "announcements",
    "reports",
    "peers",
    "oembed",
    "media",
    "search",
    "markers",
    "push",
    "polls",
    "scheduled_statuses",
    "preferences",
    "custom_emojis",
    "directory",
    "suggestions",
    "trends",
    "instance",
    "well_known",
    "health",
    STREAMS,
];

/// The group of event streams, which are not routes of the crate `http`. [`streams`] has its cases.
const STREAMS: &str = "streaming";

/// Rows of [`GROUPS`] that are not requested, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("GET /oauth/authorize", "a page behind a browser session: its story is in oauth"),
    ("POST /oauth/authorize", "as above"),
    ("DELETE /oauth/authorize", "as above"),
    ("GET /oauth/authorize/native", "as above"),
    ("GET /oauth/authorized_applications", "as above"),
    ("POST /api/v1/emails/confirmations", "for whoever is unconfirmed: its story is in emails"),
    ("GET /api/v1_alpha/async_refreshes/:id", "ids come with a thread of another server: its story is in filling"),
    ("GET /api/v1/instance/domain_blocks", "shown to nobody by default: its story is in instance"),
    ("POST /api/v1/statuses/:id/translate", "needs a translation service: its story is in translations"),
];

/// Rows of [`GROUPS`] that are not served yet, with the reason: they must return 404.
const NOT_YET: &[(&str, &str)] = &[];

/// Routes without a row: web pages, files, probes, the administration of plugins.
const BESIDE_THE_TABLE: &[&str] = &[
    // Statuses of filters have the same paths in both versions (decision 5 of the contract).
    "/api/v1/filters/:/statuses",
    "/api/v1/filters/statuses/",
    "/media/",
    "/livez",
    "/readyz",
    "/assets/",
    "/api/admin/plugin",
    // The table admin.csv has them.
    "/api/v1/admin/",
    "/api/v2/admin/",
    "/api/openapi.json",
];

fn is_later(row: &Route) -> bool {
    NOT_YET.iter().any(|(name, _)| *name == row.name())
}

fn rows() -> Vec<Route> {
    let served = |row: &Route| {
        GROUPS.contains(&row.group.as_str()) && !is_later(row) && !LEFT_OUT.iter().any(|(name, _)| *name == row.name())
    };
    contract::routes().into_iter().filter(served).collect()
}

/// A server with two accounts, and the records that rows need.
struct World {
    app: TestApp,
    alice: Client,
    bob: Client,
    /// Not approved yet.
    pending: Client,
    suspended: Client,
    /// An application created by a client.
    application: Value,
    push: PushService,
    made: AtomicI64,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, bob, pending, suspended] = app.accounts(["alice", "bob", "pending", "suspended"]).await;
        app.run_jobs().await;
        app.unapprove(&pending).await;
        app.suspend(&suspended).await;
        app.set("registrations_mode", "open").await;
        app.set("contact_email", "rook@example.test").await;
        service::terms::publish(&app.app, &model::Staff::operator(), "2026-01-01", "Be kind", false).await.unwrap();
        let new =
            json!({ "client_name": "a client", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": ALL_SCOPES });
        let application = app.anonymous().post("/api/v1/apps").json(&new).ok().await;
        Self {
            app,
            alice,
            bob,
            pending,
            suspended,
            application,
            push: PushService::start().await,
            made: AtomicI64::new(0),
        }
    }

    fn credentials(&self) -> (&str, &str) {
        let text = |name: &str| self.application[name].as_str().unwrap();
        (text("client_id"), text("client_secret"))
    }

    /// A client whose token belongs to the application only.
    async fn application(&self, scopes: &str) -> Client {
        let (id, secret) = self.credentials();
        let body =
            json!({ "grant_type": "client_credentials", "client_id": id, "client_secret": secret, "scope": scopes });
        let token = self.app.anonymous().post("/oauth/token").json(&body).ok().await;
        let token = token["access_token"].as_str().unwrap().to_owned();
        Client::new(self.app.clone(), None, "", Some(token))
    }

    /// Inserts rows directly into the tables.
    async fn seed<T>(&self, fill: impl FnOnce(&mut Seed) -> T) -> T {
        let mut seed = Seed::after(self.app.db().engine(), "example.test", self.made.fetch_add(100, Ordering::Relaxed));
        let made = fill(&mut seed);
        seed.write(self.app.db()).await;
        made
    }

    async fn status(&self, author: &Client, visibility: &str) -> i64 {
        let author = i64::from(author.id());
        self.seed(|seed| seed.status(&Status { author, visibility, ..Status::default() })).await
    }

    /// A request of Bob that Alice is to decide about.
    async fn request(&self) -> String {
        let policy = json!({ "can_favourite": { "with_approval": ["public"] } });
        let target = self.alice.publish(json!({ "status": "hello", "interaction_policy": policy })).await;
        self.bob.post(&format!("/api/v1/statuses/{}/favourite", target.into_id())).ok().await;
        let requests = self.alice.get("/api/v1/interaction_requests").ok().await;
        requests[0]["id"].as_str().unwrap().to_owned()
    }

    async fn own(&self) -> i64 {
        self.status(&self.alice, "public").await
    }

    async fn theirs(&self) -> i64 {
        self.status(&self.bob, "public").await
    }

    /// A status of Bob that is hidden from Alice.
    async fn hidden(&self) -> i64 {
        self.status(&self.bob, "direct").await
    }

    /// An empty list of `owner`; returns its id.
    async fn list(&self, owner: &Client) -> String {
        let owner = i64::from(owner.id());
        self.seed(|seed| seed.list(owner, "list")).await.to_string()
    }

    /// Makes Alice follow Bob, and removes him from lists.
    async fn friends(&self) {
        let (one, other) = (i64::from(self.alice.id()), i64::from(self.bob.id()));
        self.alice.post(&format!("/api/v1/accounts/{other}/unfollow")).send().await;
        self.seed(|seed| seed.follow(one, other)).await;
    }

    /// A poll, which has the id of its status.
    async fn poll(&self, author: &Client, visibility: &str) -> i64 {
        let author = i64::from(author.id());
        self.seed(|seed| {
            let status = seed.status(&Status { author, visibility, ..Status::default() });
            seed.poll(status, &["a", "b"]);
            status
        })
        .await
    }

    async fn scheduled(&self, author: &Client) -> String {
        // Few enough per day for the limit.
        let day = 1 + self.made.fetch_add(1, Ordering::Relaxed) % 28;
        let body = json!({ "status": "later", "scheduled_at": format!("2027-02-{day:02}T12:00:00Z") });
        let made = author.post("/api/v1/statuses").json(&body).ok().await;
        made["id"].as_str().unwrap().to_owned()
    }

    async fn notification(&self, of: &Client, from: &Client) -> i64 {
        let (of, from) = (i64::from(of.id()), i64::from(from.id()));
        self.seed(|seed| seed.notification(of, from, "follow", None)).await
    }

    /// A notification request to Alice from a new account, whose mention was filtered.
    async fn notification_request(&self) -> i64 {
        let alice = i64::from(self.alice.id());
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        self.seed(|seed| {
            let sender = seed.account(&format!("stranger{number}"), None);
            let status = seed.status(&Status { author: sender, ..Status::default() });
            seed.filtered_mention(alice, sender, status);
            seed.notification_request(alice, sender)
        })
        .await
    }

    async fn conversation(&self, of: &Client, with: &Client) -> i64 {
        let (of, with) = (i64::from(of.id()), i64::from(with.id()));
        self.seed(|seed| {
            let status = seed.status(&Status { author: with, visibility: "direct", ..Status::default() });
            seed.mention(status, of);
            seed.conversation(of, &[with], status)
        })
        .await
    }

    async fn media(&self, owner: &Client) -> String {
        let media = owner.upload(&png(40, 30)).ok().await;
        media["id"].as_str().unwrap().to_owned()
    }
}

/// Faults in the responses of a row, one per line.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn expect(&mut self, row: &Route, who: &str, wanted: u16, answer: &Answer) {
        if answer.status.as_u16() != wanted {
            let text: String = answer.text().chars().take(200).collect();
            self.0.push(format!("{}: {who}: {} instead of {wanted}: {text}", row.name(), answer.status.as_u16()));
        } else if wanted >= 400 && !text_error_allowed(row, wanted) && answer.error().is_none() {
            self.0.push(format!("{}: {who}: {wanted} without an error text", row.name()));
        }
    }

    fn expect_success(&mut self, row: &Route, who: &str, answer: &Answer) {
        self.expect(row, who, row.success_status, answer);
        if answer.status.as_u16() == row.success_status && contract::is_json(&row.response) {
            let faults = match serde_json::from_slice(&answer.body) {
                Ok(document) => contract::faults(&row.response, &document),
                Err(error) => vec![error.to_string()],
            };
            self.0
                .extend(faults.into_iter().map(|fault| format!("{}: {who}: no {}: {fault}", row.name(), row.response)));
        }
    }
}

/// Errors of Webfinger have no body (contract, column errors).
fn text_error_allowed(row: &Route, status: u16) -> bool {
    row.errors.contains(&format!("{status} (empty)"))
}

/// A scope that the row does not accept.
fn wrong_scope(row: &Route) -> &'static str {
    if row.group == "push" { "read" } else { "push" }
}

async fn check(world: &World, row: &Route, faults: &mut Faults) {
    macro_rules! send {
        ($client:expr) => {{
            // Before the case, which may create a record for every token.
            let client = $client;
            let Some(case) = case(world, row).await else {
                return faults.0.push(format!("{}: nobody wrote a case for this row", row.name()));
            };
            request(client, &row.method, &case.path, &case.body).send().await
        }};
    }
    let anonymous = world.app.anonymous();
    let stale = Client::new(world.app.clone(), None, "", Some("no-token-of-ours".to_owned()));
    match row.auth.as_str() {
        "public" => {
            faults.expect_success(row, "no token", &send!(&anonymous));
            faults.expect_success(row, "a bad token", &send!(&stale));
        }
        "optional" => {
            faults.expect(row, "a bad token", 401, &send!(&stale));
            let application = world.application("read").await;
            for (who, client) in [("no token", &anonymous), ("app token", &application)] {
                match row.errors.contains("unless own status") {
                    true => faults.expect(row, who, 404, &send!(client)),
                    false => faults.expect_success(row, who, &send!(client)),
                }
            }
        }
        "app" => {
            faults.expect(row, "no token", 401, &send!(&anonymous));
            faults.expect(row, "a bad token", 401, &send!(&stale));
            faults.expect_success(row, "app token", &send!(&world.application(ALL_SCOPES).await));
        }
        "user" => {
            faults.expect(row, "no token", if row.scopes.is_empty() { 422 } else { 401 }, &send!(&anonymous));
            faults.expect(row, "a bad token", 401, &send!(&stale));
            let answer = send!(&world.application(ALL_SCOPES).await);
            match row.notes.contains("an app token passes") {
                true => faults.expect_success(row, "app token", &answer),
                false => faults.expect(row, "app token", 422, &answer),
            }
        }
        other => faults.0.push(format!("{}: unknown auth {other}", row.name())),
    }
    if matches!(row.auth.as_str(), "user" | "optional") {
        faults.expect(row, "suspended", 403, &send!(&world.suspended));
    }
    if row.auth == "user" && row.group != "emails" {
        faults.expect(row, "pending", 403, &send!(&world.pending));
    }
    if !row.scopes.is_empty() {
        let wrong = match row.auth.as_str() {
            "app" => world.application(wrong_scope(row)).await,
            _ => world.alice.with_scopes(wrong_scope(row)).await,
        };
        faults.expect(row, "wrong scope", 403, &send!(&wrong));
    }
    if row.auth != "app" {
        for scope in row.scopes.iter().map(String::as_str).chain(row.scopes.is_empty().then_some(ALL_SCOPES)) {
            faults.expect_success(row, &format!("scope {scope}"), &send!(&world.alice.with_scopes(scope).await));
        }
    }
    check_refusals(world, row, faults).await;
}

/// Checks requests that fail with every scope: the refused requests of the case, invalid ids, and hidden records.
async fn check_refusals(world: &World, row: &Route, faults: &mut Faults) {
    let Some(case) = case(world, row).await else { return };
    let application = world.application(ALL_SCOPES).await;
    let client = if row.auth == "app" { &application } else { &world.alice };
    for (path, body, status) in &case.refused {
        let answer = request(client, &row.method, path, body).send().await;
        faults.expect(row, &format!("refused {path}"), *status, &answer);
    }
    if row.path.contains(":id") || row.path.contains(":account_id") {
        let mut ids = vec!["1".to_owned(), "nonsense".to_owned(), "99999999999999999999".to_owned()];
        match row.group.as_str() {
            "statuses" => ids.push(world.hidden().await.to_string()),
            "polls" => ids.push(world.poll(&world.bob, "direct").await.to_string()),
            _ => {}
        }
        for id in ids {
            let path = row.path.replace(":id", &id).replace(":account_id", &id);
            let answer = request(client, &row.method, &path, &case.body).send().await;
            let wanted = if row.notes.starts_with("always 200") { 200 } else { 404 };
            faults.expect(row, &format!("id {id}"), wanted, &answer);
        }
    }
}

async fn check_groups(groups: &[&str]) {
    let world = World::new().await;
    let mut faults = Faults::default();
    let rows: Vec<Route> = rows().into_iter().filter(|row| groups.contains(&row.group.as_str())).collect();
    // Rows that are not served are reported once, by `router_serves_exactly_the_table`.
    let routed = routed();
    for row in rows.iter().filter(|row| routed.contains(&format!("{} {}", row.method, plain(&row.path)))) {
        check(&world, row, &mut faults).await;
    }
    assert!(faults.0.is_empty(), "{} faults in {} rows:\n  {}", faults.0.len(), rows.len(), faults.0.join("\n  "));
}

#[tokio::test]
async fn oauth_rows_match_the_contract() {
    check_groups(&["oauth", "apps", "emails"]).await;
}

#[tokio::test]
async fn account_rows_match_the_contract() {
    check_groups(&["accounts", "preferences", "markers"]).await;
}

#[tokio::test]
async fn relationship_rows_match_the_contract() {
    check_groups(&["blocks", "mutes", "follow_requests"]).await;
}

#[tokio::test]
async fn list_rows_match_the_contract() {
    check_groups(&["lists", "tags", "followed_tags", "featured_tags"]).await;
}

#[tokio::test]
async fn discovery_rows_match_the_contract() {
    check_groups(&["directory", "suggestions", "trends"]).await;
}

#[tokio::test]
async fn filter_rows_match_the_contract() {
    check_groups(&["filters"]).await;
}

#[tokio::test]
async fn status_rows_match_the_contract() {
    check_groups(&["statuses"]).await;
}

#[tokio::test]
async fn poll_and_schedule_rows_match_the_contract() {
    check_groups(&["polls", "scheduled_statuses"]).await;
}

#[tokio::test]
async fn timeline_rows_match_the_contract() {
    check_groups(&["timelines", "favourites", "bookmarks"]).await;
}

#[tokio::test]
async fn notification_rows_match_the_contract() {
    check_groups(&["notifications"]).await;
}

#[tokio::test]
async fn people_rows_match_the_contract() {
    check_groups(&["conversations", "announcements", "reports", "peers", "oembed"]).await;
}

#[tokio::test]
async fn media_rows_match_the_contract() {
    check_groups(&["media"]).await;
}

#[tokio::test]
async fn instance_rows_match_the_contract() {
    check_groups(&["custom_emojis", "instance", "well_known", "health"]).await;
}

#[test]
fn router_serves_exactly_the_table() {
    let routed = routed();
    let name = |row: &Route| format!("{} {}", row.method, plain(&row.path));
    let table = contract::routes();
    let due: Vec<&Route> = table.iter().filter(|row| GROUPS.contains(&row.group.as_str()) && !is_later(row)).collect();
    // `streams::stream_rows_match_the_contract` requests the others.
    let core = due.iter().filter(|row| row.group != STREAMS);
    let missing: Vec<String> = core.filter(|row| !routed.contains(&name(row))).map(|row| row.name()).collect();
    assert!(missing.is_empty(), "not served: {missing:#?}");
    let later: BTreeSet<String> =
        table.iter().filter(|row| !due.iter().any(|due| due.name() == row.name())).map(name).collect();
    let early: Vec<&String> = routed.intersection(&later).collect();
    assert!(early.is_empty(), "served, but the table is told that they are not: {early:#?}");
    let known: BTreeSet<String> = due.iter().map(|row| name(row)).collect();
    let twins = |name: &String| {
        // PUT and PATCH are interchangeable (docs/contract/rules.md#1-transport).
        let (put, patch) = (name.replacen("PATCH ", "PUT ", 1), name.replacen("PUT ", "PATCH ", 1));
        known.contains(name) || known.contains(&put) || known.contains(&patch)
    };
    let beside = |name: &String| BESIDE_THE_TABLE.iter().any(|path| name.contains(path));
    let unknown: Vec<&String> =
        routed.iter().filter(|name| name.contains(" /api/") && !twins(name) && !beside(name)).collect();
    assert!(unknown.is_empty(), "under /api and in no row: {unknown:#?}");
}

/// All but one route, which is PATCH only (docs/contract/rules.md#1-transport).
#[test]
fn update_routes_are_served_by_put_and_patch() {
    let routed = routed();
    let alone = |name: &&String| {
        let (method, path) = name.split_once(' ').unwrap();
        let twin = match method {
            "PUT" => "PATCH",
            "PATCH" => "PUT",
            _ => return false,
        };
        let alone = path == "/api/v1/accounts/update_credentials";
        path.starts_with("/api/") && alone == routed.contains(&format!("{twin} {path}"))
    };
    let alone: Vec<&String> = routed.iter().filter(alone).collect();
    assert!(alone.is_empty(), "served by one of both: {alone:?}");
}

#[tokio::test]
async fn rows_of_other_groups_do_not_exist() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let later = |row: &Route| !GROUPS.contains(&row.group.as_str()) || is_later(row);
    let mut there = Vec::new();
    for row in contract::routes().iter().filter(|row| later(row)) {
        let path = row
            .path
            .split('/')
            .map(|part| if part.starts_with(':') { "1" } else { part })
            .collect::<Vec<_>>()
            .join("/");
        let answer = request(&alice, &row.method, &path, &Body::None).send().await;
        if answer.status.as_u16() != 404 {
            there.push(format!("{}: {}", row.name(), answer.status));
        }
    }
    assert!(there.is_empty(), "{there:#?}");
}
