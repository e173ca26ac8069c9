//! The table of the admin API, row by row: who may, what is returned, and that a refused request changes nothing.
//!
//! Each row is requested by an owner, an administrator, a moderator, a person without a role, an application, a token
//! without the scope, and without a token. The effects of a row are tested by its own module.

use std::collections::BTreeSet;

use model::moderation::WarningAction;
use model::{Cursor, Staff};
use serde_json::{Value, json};
use service::moderation::action::{self, ActionParams};
use service::moderation::{appeal, report};
use service::{domain_decision, email_block};

use crate::harness::{Answer, Client, RequestBuilder, TestApp};
use crate::platform::contract::{self, Route};
use crate::platform::declarations::{plain, routed};
use crate::seed::{Seed, Status};

/// The permissions of the built-in role Moderator (docs/contract/extensions.md#13-admin-api).
const MODERATOR: [&str; 5] =
    ["view_dashboard", "view_audit_log", "manage_users", "manage_reports", "manage_taxonomies"];

/// A server with a member of staff for each role, and what rows need.
struct World {
    app: TestApp,
    callers: Vec<(&'static str, Client)>,
    person: Client,
    made: std::cell::Cell<i64>,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let person = app.account("person").await;
        let owner = app.staff("owner", "Owner").await;
        let admin_scopes = "admin:read admin:write";
        let callers = vec![
            ("admin", app.staff("admin", "Admin").await),
            ("moderator", app.staff("moderator", "Moderator").await),
            ("person", person.with_scopes(admin_scopes).await),
            ("application", app.application(admin_scopes).await),
            ("wrong scope", owner.with_scopes("read write follow push").await),
            ("anonymous", app.anonymous()),
            ("owner", owner),
        ];
        Self { app, callers, person, made: 0.into() }
    }

    fn number(&self) -> i64 {
        self.made.set(self.made.get() + 1);
        self.made.get()
    }

    /// Inserts rows directly into the tables.
    async fn seed<T>(&self, fill: impl FnOnce(&mut Seed) -> T) -> T {
        let mut seed = Seed::after(self.app.db().engine(), "example.test", 1_000 * self.number());
        let made = fill(&mut seed);
        seed.write(self.app.db()).await;
        made
    }

    /// A new local account.
    async fn someone(&self) -> Client {
        self.app.account(&format!("someone{}", self.number())).await
    }

    async fn report(&self) -> String {
        let target = self.someone().await;
        let body = json!({ "account_id": target.id().to_string(), "comment": "rude" });
        id(&self.person.post("/api/v1/reports").json(&body).ok().await)
    }

    async fn status(&self) -> i64 {
        let author = i64::from(self.person.id());
        self.seed(|seed| {
            let status = seed.status(&Status { author, ..Status::default() });
            seed.trend(status);
            status
        })
        .await
    }

    async fn link(&self) -> String {
        let author = i64::from(self.person.id());
        let url = format!("https://site{}.test/page", self.number());
        self.seed(|seed| {
            let status = seed.status(&Status { author, ..Status::default() });
            seed.link(&url, &[status]);
        })
        .await;
        self.newest("preview_cards").await
    }

    async fn tag(&self) -> i64 {
        let name = format!("tag{}", self.number());
        self.seed(|seed| seed.tag(&name)).await
    }

    async fn publisher(&self) -> String {
        let domain = format!("news{}.test", self.number());
        let mut tx = self.app.db().begin().await.unwrap();
        let sites = vec![(self.app.app.ids.next(), domain.as_str())];
        store::publisher::request_reviews(&mut tx, sites, self.app.app.clock.now()).await.unwrap();
        tx.commit().await.unwrap();
        self.newest("link_publishers").await
    }

    /// An appeal against a warning.
    async fn appeal(&self) -> String {
        let target = self.someone().await;
        let params = ActionParams {
            action: WarningAction::None,
            report: None,
            preset: None,
            text: String::new(),
            notify: false,
        };
        let warning = action::act(&self.app.app, &Staff::operator(), target.id(), params).await.unwrap();
        let strike = appeal::strike(&self.app.app, target.id(), warning.id).await.unwrap();
        appeal::create(&self.app.app, &strike, "why").await.unwrap().id.to_string()
    }

    /// A role below all others.
    async fn role(&self, name: &str) -> String {
        let body = json!({ "name": name, "position": 1 });
        id(&self.owner().post("/api/v1/admin/roles").json(&body).ok().await)
    }

    /// The highest id of a table.
    async fn newest(&self, table: &'static str) -> String {
        self.app.number(&format!("SELECT MAX(id) FROM {table}")).await.to_string()
    }

    /// A request that succeeds for whoever may, with records of its own.
    async fn case(&self, row: &Route, caller: &Client) -> RequestBuilder {
        let (app, operator) = (&self.app, Staff::operator());
        let domain = format!("domain{}.test", self.number());
        // In letters that look like no others.
        let digits = self.number().to_string();
        let username: String =
            digits.bytes().map(|digit| char::from(b"abcdefhjkp"[usize::from(digit - b'0')])).collect();
        let ip = format!("10.0.{}.{}", self.number() / 250, self.number() % 250);
        let mut body = Value::Null;
        let of = async |path: &str| {
            let section = path.trim_start_matches("/api/v1/admin/").trim_start_matches("/api/v2/admin/");
            let name = section.split('/').next().unwrap();
            match name {
                "accounts" => {
                    let target = self.someone().await;
                    match section.rsplit('/').next().unwrap() {
                        "approve" | "reject" => app.unapprove(&target).await,
                        "unsuspend" => app.suspend(&target).await,
                        "enable" => app.disable(&target).await,
                        ":id" if row.method == "DELETE" => app.suspend(&target).await,
                        _ => {}
                    }
                    target.id().to_string()
                }
                "statuses" => {
                    let status = self.status().await;
                    if section.ends_with("unsensitive") {
                        self.owner().post(&format!("/api/v1/admin/statuses/{status}/sensitive")).ok().await;
                    }
                    status.to_string()
                }
                "reports" => {
                    let report = self.report().await;
                    let before = match section.rsplit('/').next().unwrap() {
                        "unassign" => Some("assign_to_self"),
                        "reopen" => Some("resolve"),
                        _ => None,
                    };
                    if let Some(before) = before {
                        self.owner().post(&format!("/api/v1/admin/reports/{report}/{before}")).ok().await;
                    }
                    report
                }
                "domain_blocks" => {
                    let block = json!({ "domain": domain });
                    id(&self.owner().post("/api/v1/admin/domain_blocks").json(&block).ok().await)
                }
                "domain_lists" => {
                    app.execute("DELETE FROM domain_lists").await;
                    let list = json!({ "url": format!("https://{domain}/list.csv") });
                    id(&self.owner().post("/api/v1/admin/domain_lists").json(&list).ok().await)
                }
                "relays" => {
                    app.execute("DELETE FROM relays").await;
                    let relay = json!({ "url": format!("https://{domain}/inbox") });
                    let relay = id(&self.owner().post("/api/v1/admin/relays").json(&relay).ok().await);
                    if section.ends_with("enable") {
                        self.owner().post(&format!("/api/v1/admin/relays/{relay}/disable")).ok().await;
                    }
                    relay
                }
                "domain_allows" => domain_decision::allow(&app.app, &operator, &domain).await.unwrap().0.id.to_string(),
                "email_domain_blocks" => {
                    email_block::create_domain(&app.app, &operator, &domain, false).await.unwrap().id.to_string()
                }
                "username_blocks" => {
                    let block = json!({ "username": username });
                    id(&self.owner().post("/api/v1/admin/username_blocks").json(&block).ok().await)
                }
                "ip_blocks" => {
                    let block = json!({ "ip": ip, "severity": "sign_up_block" });
                    id(&self.owner().post("/api/v1/admin/ip_blocks").json(&block).ok().await)
                }
                "canonical_email_blocks" => {
                    let email = format!("a@{domain}");
                    email_block::create_address(&app.app, &operator, Some(&email), None).await.unwrap().id.to_string()
                }
                "appeals" => self.appeal().await,
                "warning_presets" => {
                    let preset = json!({ "title": domain, "text": "be kind" });
                    id(&self.owner().post("/api/v1/admin/warning_presets").json(&preset).ok().await)
                }
                "roles" => self.role(&domain).await,
                "rules" => service::rule::add(&app.app, &operator, &domain, "").await.unwrap().to_string(),
                "tags" => self.tag().await.to_string(),
                "trends" if section.contains("publishers") => self.publisher().await,
                "trends" if section.contains("links") => self.link().await,
                "trends" if section.contains("tags") => self.tag().await.to_string(),
                "trends" => self.status().await.to_string(),
                _ => panic!("{}: no record is made for the row", row.name()),
            }
        };
        let mut path = row.path.clone();
        if path.contains(":id") {
            let record = of(&row.path).await;
            path = path.replace(":id", &record);
            if path.contains(":note_id") {
                let report: i64 = record.parse().unwrap();
                let note = report::add_note(&app.app, &operator, report.into(), "a note").await.unwrap();
                path = path.replace(":note_id", &note.id.to_string());
            }
        }
        match row.path.as_str() {
            "/api/v1/admin/accounts/:id/action" => body = json!({ "type": "none", "text": "be kind" }),
            "/api/v1/admin/accounts/:id/role" => body = json!({ "role_id": self.role(&domain).await }),
            "/api/v1/admin/roles" => body = json!({ "name": domain, "position": 1 }),
            "/api/v1/admin/rules/:id/translations" => body = json!({ "language": "de", "text": "Sei nett" }),
            "/api/v1/admin/roles/:id" => body = json!({ "color": "#ff0000" }),
            "/api/v1/admin/reports/:id/notes" => body = json!({ "text": "a note" }),
            "/api/v1/admin/warning_presets" => body = json!({ "title": domain, "text": "be kind" }),
            "/api/v1/admin/reports/:id" => body = json!({ "category": "spam" }),
            "/api/v1/admin/domain_blocks" | "/api/v1/admin/domain_allows" | "/api/v1/admin/email_domain_blocks" => {
                body = json!({ "domain": domain });
            }
            "/api/v1/admin/username_blocks" => {
                body = json!({ "username": username });
            }
            "/api/v1/admin/ip_blocks" => body = json!({ "ip": ip, "severity": "no_access" }),
            "/api/v1/admin/ip_blocks/:id" => body = json!({ "comment": "changed" }),
            "/api/v1/admin/domain_lists" => {
                app.execute("DELETE FROM domain_lists").await;
                body = json!({ "url": format!("https://{domain}/list.csv") });
            }
            "/api/v1/admin/domain_lists/:id" => body = json!({ "priority": 1 }),
            "/api/v1/admin/domain_lists/:id/drafts/apply" | "/api/v1/admin/domain_lists/:id/drafts/dismiss" => {
                body = json!({ "all": true });
            }
            "/api/v1/admin/relays" => {
                app.execute("DELETE FROM relays").await;
                body = json!({ "url": format!("https://{domain}/inbox") });
            }
            "/api/v1/admin/remote_media/domains" => body = json!({ "domain": domain, "mode": "pass" }),
            "/api/v1/admin/domains/purge" => {
                let mut tx = app.db().begin().await.unwrap();
                store::remote::insert_instance(&mut tx, &domain, app.app.clock.now()).await.unwrap();
                tx.commit().await.unwrap();
                body = json!({ "domain": domain });
            }
            "/api/v1/admin/domain_exclusions" if row.method == "DELETE" => {
                self.owner().post(&path).json(&json!({ "domain": domain })).ok().await;
                path = format!("{path}?domain={domain}");
            }
            "/api/v1/admin/domain_exclusions" => body = json!({ "domain": domain }),
            "/api/v1/admin/domain_blocks/import" | "/api/v1/admin/domain_allows/import" => {
                let preview = self.owner().post(&path).json(&json!({ "list": domain })).ok().await;
                body = json!({ "list": domain, "token": preview["token"] });
            }
            "/api/v1/admin/domain_blocks/:id" => body = json!({ "severity": "silence" }),
            "/api/v1/admin/canonical_email_blocks" | "/api/v1/admin/canonical_email_blocks/test" => {
                body = json!({ "email": format!("b@{domain}") });
            }
            "/api/v1/admin/tags/:id" => body = json!({ "usable": true }),
            "/api/v1/admin/measures" => body = period(&["active_users", "new_users", "interactions"]),
            "/api/v1/admin/dimensions" => body = period(&["languages", "sources", "space_usage", "software_versions"]),
            "/api/v1/admin/retention" => {
                body = json!({ "start_at": "2026-01-01", "end_at": "2026-01-15", "frequency": "day" });
            }
            _ => {}
        }
        let request = caller.request(row.method.parse().unwrap(), &path);
        if row.method == "GET" || row.method == "DELETE" || body.is_null() { request } else { request.json(&body) }
    }

    fn owner(&self) -> &Client {
        &self.callers.last().unwrap().1
    }

    /// The number of entries of the audit log.
    async fn logged(&self) -> usize {
        store::audit::list(self.app.db(), &Default::default(), &Cursor::first(10_000)).await.unwrap().len()
    }
}

fn id(entity: &Value) -> String {
    entity["id"].as_str().unwrap().to_owned()
}

fn period(keys: &[&str]) -> Value {
    json!({ "keys": keys, "start_at": "2026-01-01", "end_at": "2026-01-15" })
}

/// The permission that the notes of a row name.
fn permission(row: &Route) -> &str {
    let (_, rest) = row.notes.split_once("Permission").unwrap();
    let (_, rest) = rest.split_once(": ").unwrap();
    rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap()
}

fn may(row: &Route, caller: &str) -> bool {
    match caller {
        "owner" | "admin" => true,
        "moderator" => MODERATOR.contains(&permission(row)),
        // Without the permission, the row is the public one.
        "person" | "application" | "anonymous" => row.auth == "optional",
        _ => false,
    }
}

/// The faults of a response to `caller`.
fn faults(row: &Route, caller: &str, answer: &Answer) -> Vec<String> {
    let status = answer.status.as_u16();
    let place = format!("{} by {caller}: {status}", row.name());
    if !may(row, caller) {
        let error = answer.error().unwrap_or_default();
        return if status == 403 && !error.is_empty() {
            Vec::new()
        } else {
            vec![format!("{place} {}", answer.text())]
        };
    }
    if status != row.success_status {
        return vec![format!("{place} {}", answer.text())];
    }
    let shape = row.response.replace("::", "_");
    if shape.is_empty() || !shape.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | ']')) {
        // Files, and responses that are held against the OpenAPI document, as all are.
        return Vec::new();
    }
    contract::faults(&shape, &answer.json()).into_iter().map(|fault| format!("{place}: {fault}")).collect()
}

#[tokio::test]
async fn admin_rows_are_for_those_who_may() {
    let world = World::new().await;
    let mut found = Vec::new();
    for row in contract::admin() {
        for (name, caller) in &world.callers {
            let request = world.case(&row, caller).await;
            let before = world.logged().await;
            let answer = request.send().await;
            found.extend(faults(&row, name, &answer));
            let entries = world.logged().await - before;
            let may_log = may(&row, name) && row.method != "GET";
            if entries > usize::from(may_log) {
                found.push(format!("{} by {name}: {entries} entries of the audit log", row.name()));
            }
            if may_log && row.notes.contains("Logged") && entries != 1 && !row.notes.contains("idempotent") {
                found.push(format!("{} by {name}: not logged", row.name()));
            }
        }
    }
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn admin_rows_refuse_unknown_records() {
    let world = World::new().await;
    let mut found = Vec::new();
    for row in contract::admin().iter().filter(|row| row.path.contains(":id")) {
        for unknown in ["7", "-1", "99999999999999999999", "x", "%00"] {
            let path = row.path.replace(":id", unknown).replace(":note_id", unknown);
            let answer = world.owner().request(row.method.parse().unwrap(), &path).json(&json!({})).send().await;
            let status = answer.status.as_u16();
            if !matches!(status, 404 | 422 | 400) || answer.error().is_none() {
                found.push(format!("{} {path}: {status} {}", row.method, answer.text()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn router_serves_exactly_the_admin_table() {
    let is_admin = |name: &&String| name.contains("/admin/") && name.contains(" /api/v");
    let name = |row: &Route| format!("{} {}", row.method, plain(&row.path));
    let table: BTreeSet<String> = contract::admin().iter().map(name).collect();
    let served: BTreeSet<String> = routed().iter().filter(is_admin).cloned().collect();
    let missing: Vec<&String> = table.difference(&served).collect();
    assert!(missing.is_empty(), "not served: {missing:#?}");
    // PUT and PATCH are interchangeable (docs/contract/rules.md#1-transport).
    let twin = |name: &str| table.contains(&name.replacen("PATCH ", "PUT ", 1));
    let unknown: Vec<&String> = served.difference(&table).filter(|name| !twin(name)).collect();
    assert!(unknown.is_empty(), "in no row: {unknown:#?}");
}
