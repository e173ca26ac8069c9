//! <https://docs.joinmastodon.org/methods/instance/>

use serde_json::json;

use crate::harness::TestApp;
use crate::platform::contract;

async fn set(app: &TestApp, key: &str, value: &str) {
    service::settings::set(&app.app, &model::Staff::operator(), key, value).await.unwrap();
}

#[tokio::test]
async fn new_instance_describes_itself() {
    let app = TestApp::new().await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;

    contract::check("Instance", &instance);
    assert_eq!(instance["domain"], "example.test");
    assert!(instance["version"].as_str().unwrap().starts_with("4.4.0 (compatible; Rookery "));
    assert_eq!(instance["api_versions"], json!({"mastodon": 11, "kmyblue": 1, "rookery": 1}));
    assert_eq!(instance["configuration"]["urls"]["streaming"], "wss://example.test");
    assert_eq!(instance["configuration"]["statuses"]["max_characters"], 500);
    assert_eq!(instance["configuration"]["limited_federation"], false);
    assert_eq!(instance["configuration"]["media_attachments"]["description_limit"], 1500);
    assert_eq!(instance["registrations"]["enabled"], false);
    assert_eq!(instance["registrations"]["message"], json!(null));
    assert_eq!(instance["contact"], json!({"email": "", "account": null}));
    assert!(instance["fedibird_capabilities"].as_array().unwrap().contains(&json!("searchability")));
    for icon in instance["icon"].as_array().unwrap() {
        let path = icon["src"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
        assert_eq!(app.anonymous().get(path).send().await.status, 200, "{path}");
    }
    contract::check("V1_Instance", &app.anonymous().get("/api/v1/instance").ok().await);
}

/// A server with the configuration of an instance document, of both versions.
async fn configuration(app: &TestApp, path: &str) -> serde_json::Value {
    let mut instance = app.anonymous().get(path).ok().await;
    instance["configuration"].take()
}

#[tokio::test]
async fn limits_of_profiles_are_those_that_the_server_enforces() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let limits = configuration(&app, "/api/v2/instance").await["accounts"].take();
    let length = |name: &str| usize::try_from(limits[name].as_u64().unwrap()).unwrap();
    for (member, limit) in [
        ("display_name", "max_display_name_length"),
        ("note", "max_note_length"),
        ("avatar_description", "max_avatar_description_length"),
        ("header_description", "max_header_description_length"),
    ] {
        let text = |length: usize| json!({ member: "x".repeat(length) });
        alice.update_profile(text(length(limit))).ok().await;
        alice.update_profile(text(length(limit) + 1)).fails(422).await;
    }
    let (name, value) = (length("profile_field_name_limit"), length("profile_field_value_limit"));
    let fields = |count: usize, name: usize, value: usize| {
        let field = json!({ "name": "n".repeat(name), "value": "v".repeat(value) });
        let fields: serde_json::Map<_, _> = (0..count).map(|index| (index.to_string(), field.clone())).collect();
        json!({ "fields_attributes": fields })
    };
    let most = length("max_profile_fields");
    alice.update_profile(fields(most, name, value)).ok().await;
    for (count, name, value) in [(most + 1, name, value), (1, name + 1, value), (1, name, value + 1)] {
        alice.update_profile(fields(count, name, value)).fails(422).await;
    }
    assert_eq!(limits["max_pinned_statuses"], 5);
    let v1 = configuration(&app, "/api/v1/instance").await["accounts"].take();
    assert_eq!(v1, json!({"max_featured_tags": 10}));
}

#[tokio::test]
async fn instance_names_pages_about_the_server() {
    let app = TestApp::new().await;
    let urls = configuration(&app, "/api/v2/instance").await["urls"].take();
    assert_eq!(urls["status"], json!(null));
    for page in ["about", "privacy_policy"] {
        let path = urls[page].as_str().unwrap().strip_prefix("https://example.test").unwrap();
        assert_eq!(app.anonymous().get(path).send().await.status, 200, "{path}");
    }
    set(&app, "status_page_url", "https://status.example/").await;
    let urls = configuration(&app, "/api/v2/instance").await["urls"].take();
    assert_eq!(urls["status"], "https://status.example/");
    let operator = model::Staff::operator();
    let refused = service::settings::set(&app.app, &operator, "status_page_url", "javascript:alert(1)").await;
    assert!(refused.unwrap_err().to_string().contains("begins with http"));
}

#[tokio::test]
async fn reason_is_announced_while_staff_approves() {
    let app = TestApp::new().await;
    let registrations = async || app.anonymous().get("/api/v2/instance").ok().await["registrations"].take();
    set(&app, "registrations_mode", "open").await;
    assert_eq!(registrations().await["reason_required"], json!(null));
    set(&app, "registrations_mode", "approved").await;
    assert_eq!(registrations().await["reason_required"], json!(false));
    set(&app, "require_invite_text", "true").await;
    assert_eq!(registrations().await["reason_required"], json!(true));
}

#[tokio::test]
async fn thumbnail_is_described() {
    let app = TestApp::new().await;
    let thumbnail = async || app.anonymous().get("/api/v2/instance").ok().await["thumbnail"].take();
    assert_eq!(thumbnail().await["description"], "");
    set(&app, "thumbnail_description", "Rooks on an oak").await;
    assert_eq!(thumbnail().await["description"], "Rooks on an oak");
}

#[tokio::test]
async fn instance_shows_admin_settings_immediately() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for (key, value) in [
        ("site_title", "The Old Oak"),
        ("site_short_description", "Birds & trees"),
        ("contact_email", "staff@example.test"),
        ("contact_username", "alice"),
        ("registrations_mode", "approved"),
        ("registrations_message", "*not* now"),
        ("max_characters", "1000"),
    ] {
        set(&app, key, value).await;
    }

    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    contract::check("Instance", &instance);
    assert_eq!(instance["title"], "The Old Oak");
    assert_eq!(instance["description"], "Birds & trees");
    assert_eq!(instance["contact"]["account"]["id"], alice.id().to_string());
    assert_eq!(instance["configuration"]["statuses"]["max_characters"], 1000);
    assert_eq!(
        (&instance["registrations"]["enabled"], &instance["registrations"]["approval_required"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(instance["registrations"]["message"], json!(null), "only while closed");

    let v1 = app.anonymous().get("/api/v1/instance").ok().await;
    contract::check("V1_Instance", &v1);
    assert_eq!((&v1["registrations"], &v1["approval_required"]), (&json!(true), &json!(true)));
    assert_eq!(v1["contact_account"]["acct"], "alice");

    set(&app, "registrations_mode", "none").await;
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["registrations"]["message"], "<p><em>not</em> now</p>\n");

    alice.update_profile(json!({"display_name": "Alice of the Oak"})).ok().await;
    for (path, contact) in [("/api/v2/instance", "/contact/account"), ("/api/v1/instance", "/contact_account")] {
        let instance = app.anonymous().get(path).ok().await;
        assert_eq!(instance.pointer(contact).unwrap()["display_name"], "Alice of the Oak", "{path}");
    }
}

#[tokio::test]
async fn stats_are_counted_every_few_minutes_only() {
    let app = TestApp::new().await;
    let v1 = app.anonymous().get("/api/v1/instance").ok().await;
    assert_eq!(v1["stats"], json!({"user_count": 0, "status_count": 0, "domain_count": 0}));

    app.account("alice").await;
    let (cost, v1) = app.cost(app.anonymous().get("/api/v1/instance").ok()).await;
    assert_eq!((&v1["stats"]["user_count"], cost), (&json!(0), 0), "still cached, without a statement");

    app.app.clock.advance(chrono::Duration::minutes(6));
    let v1 = app.anonymous().get("/api/v1/instance").ok().await;
    assert_eq!(v1["stats"]["user_count"], 1);
}

#[tokio::test]
async fn activity_covers_twelve_weeks_unless_disabled() {
    let app = TestApp::new().await;
    app.accounts(["alice", "bob"]).await;

    let weeks = app.anonymous().get("/api/v1/instance/activity").ok().await;
    contract::check("InstanceActivity[]", &weeks);
    let weeks = weeks.as_array().unwrap();
    assert_eq!(weeks.len(), 12);
    assert_eq!(weeks[0]["registrations"], "2");
    assert_eq!(weeks[1]["registrations"], "0");
    let begins = |week: usize| weeks[week]["week"].as_str().unwrap().parse::<i64>().unwrap();
    assert_eq!(begins(0) - begins(1), 7 * 24 * 60 * 60, "newest first");

    for (key, path) in [("activity_api_enabled", "activity"), ("peers_api_enabled", "peers")] {
        set(&app, key, "false").await;
        let answer = app.anonymous().get(&format!("/api/v1/instance/{path}")).send().await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (404, 0), "{path}");
    }
}

#[tokio::test]
async fn peers_are_known_servers_without_a_block() {
    let app = TestApp::new().await;
    for domain in ["b.example", "a.example", "bad.example"] {
        let insert =
            format!("INSERT INTO instances (domain, features, created_at) VALUES ('{domain}', '[]', {})", now(&app));
        app.execute(&insert).await;
    }
    block(&app, "bad.example", "noop", false).await;
    let peers = app.anonymous().get("/api/v1/instance/peers").ok().await;
    assert_eq!(peers, json!(["a.example", "b.example"]));
}

#[tokio::test]
async fn blocked_domains_are_shown_according_to_setting() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    block(&app, "worst.example", "suspend", false).await;
    block(&app, "hidden.example", "suspend", true).await;
    block(&app, "noisy.example", "silence", false).await;
    let path = "/api/v1/instance/domain_blocks";
    let answer = alice.get(path).send().await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (404, 0));

    set(&app, "show_domain_blocks", "users").await;
    assert_eq!(app.anonymous().get(path).send().await.status, 404);
    let blocks = alice.get(path).ok().await;
    contract::check("DomainBlock[]", &blocks);
    assert_eq!(blocks.as_array().unwrap().len(), 2);
    assert_eq!(blocks[0]["domain"], "noisy.example");
    assert_eq!((&blocks[1]["severity"], &blocks[1]["comment"]), (&json!("suspend"), &json!(null)));

    set(&app, "show_domain_blocks", "all").await;
    set(&app, "show_domain_blocks_rationale", "all").await;
    let blocks = app.anonymous().get(path).ok().await;
    assert_eq!(blocks[1]["comment"], "spam");
    // Public routes do not read the token for access (docs/contract/rules.md#0-how-to-read-the-files).
    app.anonymous().get(path).header("authorization", "Bearer nonsense").ok().await;
}

#[tokio::test]
async fn texts_of_admins_are_sanitised_markdown() {
    let app = TestApp::new().await;
    let policy = app.anonymous().get("/api/v1/instance/privacy_policy").ok().await;
    contract::check("PrivacyPolicy", &policy);
    assert_eq!(policy["updated_at"], "2022-10-07T00:00:00Z");
    assert!(policy["content"].as_str().unwrap().contains("example.test"));
    let description = app.anonymous().get("/api/v1/instance/extended_description").ok().await;
    assert_eq!(description, json!({"updated_at": null, "content": ""}));

    set(&app, "site_extended_description", "**Hi** <script>alert(1)</script>").await;
    set(&app, "privacy_policy", "We keep *nothing*.").await;
    let description = app.anonymous().get("/api/v1/instance/extended_description").ok().await;
    contract::check("ExtendedDescription", &description);
    assert_eq!(description["updated_at"], "2026-01-15T12:00:00Z");
    assert!(description["content"].as_str().unwrap().contains("<strong>Hi</strong>"));
    assert!(!description["content"].as_str().unwrap().contains("<script"));
    let policy = app.anonymous().get("/api/v1/instance/privacy_policy").ok().await;
    assert_eq!(policy["content"], "<p>We keep <em>nothing</em>.</p>\n");
}

#[tokio::test]
async fn rules_languages_and_translations_are_lists() {
    let app = TestApp::new().await;
    assert_eq!(app.anonymous().get("/api/v1/instance/rules").ok().await, json!([]));
    for text in ["Be kind", "Be quiet"] {
        service::rule::add(&app.app, &model::Staff::operator(), text, "").await.unwrap();
    }
    set(&app, "trends", "false").await;
    let rules = app.anonymous().get("/api/v1/instance/rules").ok().await;
    contract::check("Rule[]", &rules);
    assert_eq!((&rules[0]["text"], &rules[1]["text"]), (&json!("Be kind"), &json!("Be quiet")));

    let languages = app.anonymous().get("/api/v1/instance/languages").ok().await;
    contract::check("Language[]", &languages);
    assert!(languages.as_array().unwrap().contains(&json!({"code": "en", "name": "English"})));
    assert_eq!(app.anonymous().get("/api/v1/instance/translation_languages").ok().await, json!({}));
}

#[tokio::test]
async fn instance_documents_are_cacheable() {
    let app = TestApp::new().await;
    for path in ["/api/v2/instance", "/api/v1/instance/rules", "/api/v1/custom_emojis"] {
        let answer = app.account(&path.replace(['/', '.'], "_")).await.get(path).send().await;
        assert!(answer.header("cache-control").starts_with("max-age=300, public"), "{path}: {:?}", answer.headers);
    }
}

/// Now, as a literal of the engine.
fn now(app: &TestApp) -> &'static str {
    match app.db().engine() {
        database::Engine::Sqlite => "0",
        database::Engine::Postgres => "now()",
    }
}

async fn block(app: &TestApp, domain: &str, severity: &str, hidden: bool) {
    let id: i64 = app.app.ids.next();
    let insert = format!(
        "INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, obfuscate, hidden, public_comment, created_at)
         VALUES ({id}, '{domain}', '{severity}', FALSE, FALSE, FALSE, {hidden}, 'spam', {})",
        now(app)
    );
    app.execute(&insert).await;
}
