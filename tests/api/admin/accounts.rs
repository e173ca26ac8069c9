//! `/api/v1/admin/accounts` and `/api/v2/admin/accounts`, and `rookery account`.

use futures_util::future::join_all;
use model::moderation::WarningAction;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp, ids};
use crate::platform::contract;
use crate::seed::Seed;

const V1: &str = "/api/v1/admin/accounts";
const V2: &str = "/api/v2/admin/accounts";

fn path(id: impl std::fmt::Display, rest: &str) -> String {
    format!("{V1}/{id}{rest}")
}

/// The user names of a page.
async fn names(staff: &Client, path: &str) -> Vec<String> {
    let page = staff.get(path).ok().await;
    contract::check("Admin_Account[]", &page);
    page.as_array().unwrap().iter().map(|account| account["username"].as_str().unwrap().to_owned()).collect()
}

async fn show(staff: &Client, id: impl std::fmt::Display) -> Value {
    let shown = staff.get(&path(id, "")).ok().await;
    contract::check("Admin_Account", &shown);
    shown
}

/// A server with staff, people in every state, and accounts of other servers.
struct World {
    app: TestApp,
    moderator: Client,
    remote: i64,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, pending, disabled, silenced, suspended, sensitized] =
            app.accounts(["alice", "pending", "disabled", "silenced", "suspended", "sensitized"]).await;
        drop(alice);
        app.unapprove(&pending).await;
        app.disable(&disabled).await;
        app.limit(&silenced).await;
        app.suspend(&suspended).await;
        app.sensitize(&sensitized).await;
        let moderator = app.staff("moderator", "Moderator").await;
        let mut seed = Seed::after(app.db().engine(), "example.test", 100);
        let remote = seed.account("bob", Some("remote.test"));
        seed.account("carol", Some("other.test"));
        seed.write(app.db()).await;
        Self { app, moderator, remote }
    }
}

#[tokio::test]
async fn admin_account_shows_user_and_state() {
    let World { app, moderator, remote } = World::new().await;
    let shown = show(&moderator, moderator.id()).await;
    assert_eq!(
        (&shown["email"], &shown["confirmed"], &shown["approved"], &shown["role"]["name"]),
        (&json!("moderator@example.test"), &json!(true), &json!(true), &json!("Moderator"))
    );
    assert_eq!(
        (&shown["disabled"], &shown["suspended"], &shown["domain"]),
        (&json!(false), &json!(false), &json!(null))
    );
    let far = show(&moderator, remote).await;
    for member in ["email", "ip", "confirmed", "disabled", "approved", "locale", "invite_request", "ips", "role"] {
        assert_eq!(far[member], json!(null), "{member}");
    }
    assert_eq!(far["domain"], json!("remote.test"));
    for (name, member) in
        [("silenced", "silenced"), ("suspended", "suspended"), ("sensitized", "sensitized"), ("disabled", "disabled")]
    {
        let id = service::staff::find(&app.app, name).await.unwrap().id;
        assert_eq!(show(&moderator, id).await[member], json!(true), "{name}");
    }
    moderator.get(&path(1, "")).fails(404).await;
}

#[tokio::test]
async fn admin_accounts_are_filtered_by_the_older_parameters() {
    let World { moderator, .. } = World::new().await;
    let of = async |query: &str| names(&moderator, &format!("{V1}?{query}")).await;
    assert_eq!(of("").await, ["moderator", "sensitized", "silenced", "disabled", "pending", "alice"]);
    assert_eq!(of("suspended=false").await, ["suspended"], "any value counts");
    assert_eq!(of("pending=1&disabled=1").await, ["disabled"], "the last state wins");
    assert_eq!(of("silenced=1").await, ["silenced"]);
    assert_eq!(of("sensitized=1&pending=1").await, ["pending"]);
    assert_eq!(of("remote=true&local=true").await, ["carol", "bob"]);
    assert_eq!(of("remote=true&by_domain=remote.test").await, ["bob"]);
    assert_eq!(of("by_domain=remote.test").await, Vec::<String>::new(), "local is the default");
    assert_eq!(of("staff=1").await, ["moderator"]);
    assert_eq!(of("username=SI").await, ["silenced"]);
    assert_eq!(of("email=alice@").await, ["alice"]);
    assert_eq!(of("username=%25").await, Vec::<String>::new(), "a pattern is no pattern");
    assert_eq!(of("limit=2").await, ["moderator", "sensitized"]);
}

#[tokio::test]
async fn admin_accounts_are_filtered_by_the_newer_parameters() {
    let World { moderator, .. } = World::new().await;
    let of = async |query: &str| names(&moderator, &format!("{V2}?{query}")).await;
    let all = ["carol", "bob", "moderator", "sensitized", "suspended", "silenced", "disabled", "pending", "alice"];
    assert_eq!(of("").await.len(), all.len());
    assert_eq!(of("origin=remote").await.len(), 2);
    assert_eq!(of("origin=local&status=suspended").await, ["suspended"]);
    for (status, name) in
        [("pending", "pending"), ("disabled", "disabled"), ("silenced", "silenced"), ("sensitized", "sensitized")]
    {
        assert_eq!(of(&format!("status={status}")).await, [name]);
    }
    assert_eq!(of("status=remote_pending").await, Vec::<String>::new());
    assert_eq!(of("status=active&origin=local&username=@s").await, ["sensitized", "silenced"]);
    assert_eq!(of("permissions=staff&role_ids[]=2").await, ["moderator"], "permissions replace roles");
    assert_eq!(of("role_ids[]=1").await, ["moderator"]);
    assert_eq!(of("role_ids[]=2&role_ids[]=3").await, Vec::<String>::new());
    assert_eq!(of("role_ids[]=-99").await.len(), 6, "the default role is that of everyone without one");
    assert_eq!(of("by_domain=REMOTE.test").await, ["bob"]);
    moderator.get(&format!("{V2}?origin=moon")).fails(400).await;
    moderator.get(&format!("{V2}?status=odd")).fails(400).await;

    let answer = moderator.get(&format!("{V2}?limit=2&role_ids[]=-99")).send().await;
    let link = answer.header("link").to_owned();
    assert!(link.contains("/api/v2/admin/accounts?") && link.contains("role_ids"), "{link}");
    let (mut seen, mut next) = (0, Some(format!("{V2}?limit=2&role_ids[]=-99")));
    while let Some(page) = next {
        let answer = moderator.get(&page).send().await;
        seen += answer.json().as_array().unwrap().len();
        let links = answer.header("link").to_owned();
        let older = links.split(", ").find(|link| link.ends_with("rel=\"next\""));
        next = older.map(|link| link[1..link.find('>').unwrap()].replace("https://example.test", ""));
    }
    assert_eq!(seen, 6);
}

#[tokio::test]
async fn sign_up_is_approved_or_rejected_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.unapprove(&alice).await;
    app.unapprove(&bob).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let approved = moderator.post(&path(alice.id(), "/approve")).ok().await;
    contract::check("Admin_Account", &approved);
    assert_eq!(approved["approved"], json!(true));
    alice.publish("here").await;
    moderator.post(&path(alice.id(), "/approve")).fails(403).await;
    moderator.post(&path(alice.id(), "/reject")).fails(403).await;

    let answers = join_all((0..8).map(|_| moderator.post(&path(bob.id(), "/reject")).send())).await;
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
    moderator.get(&path(bob.id(), "")).fails(404).await;
    app.account("bob").await;
    assert!(app.letters().await.iter().any(|letter| letter.contains("alice@example.test")));
}

#[tokio::test]
async fn action_imposes_its_effect_and_is_lifted() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let act = async |kind: &str| moderator.post(&path(alice.id(), "/action")).json(&json!({ "type": kind })).ok().await;
    for (kind, lift, member) in [
        ("sensitive", "/unsensitive", "sensitized"),
        ("silence", "/unsilence", "silenced"),
        ("disable", "/enable", "disabled"),
        ("suspend", "/unsuspend", "suspended"),
    ] {
        assert_eq!(act(kind).await, json!({}));
        assert_eq!(show(&moderator, alice.id()).await[member], json!(true), "{kind}");
        let lifted = moderator.post(&path(alice.id(), lift)).ok().await;
        contract::check("Admin_Account", &lifted);
        assert_eq!(lifted[member], json!(false), "{kind}");
    }
    moderator.post(&path(alice.id(), "/unsuspend")).fails(403).await;
    for lift in ["/unsensitive", "/unsilence", "/enable"] {
        moderator.post(&path(alice.id(), lift)).ok().await;
    }
    let log =
        moderator.get(&format!("/api/v1/admin/audit_log?target_type=account&target_id={}", alice.id())).ok().await;
    assert_eq!(log.as_array().unwrap().len(), 8, "nothing is logged when nothing changed: {log:#}");
    for kind in ["", "delete", "SUSPEND"] {
        moderator.post(&path(alice.id(), "/action")).json(&json!({ "type": kind })).fails(422).await;
    }
    moderator.post(&path(alice.id(), "/action")).fails(422).await;
    let missing = [json!({ "type": "none", "report_id": "1" }), json!({ "type": "none", "warning_preset_id": "1" })];
    for body in missing {
        moderator.post(&path(alice.id(), "/action")).json(&body).fails(404).await;
    }
    let long = json!({ "type": "none", "text": "x".repeat(5_001) });
    moderator.post(&path(alice.id(), "/action")).json(&long).fails(422).await;
    bob.get(&path(alice.id(), "")).fails(403).await;
}

#[tokio::test]
async fn account_is_safe_from_staff_that_does_not_outrank_it() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let [moderator, other] = [app.staff("moderator", "Moderator").await, app.staff("other", "Moderator").await];
    let [admin, owner] = [app.staff("admin", "Admin").await, app.staff("owner", "Owner").await];
    let tried = async |staff: &Client, target: &Client| {
        let body = json!({ "type": "silence" });
        staff.post(&path(target.id(), "/action")).json(&body).send().await.status.as_u16()
    };
    for (staff, target, status) in [
        (&moderator, &alice, 200),
        (&moderator, &moderator, 403),
        (&moderator, &other, 403),
        (&moderator, &admin, 403),
        (&admin, &moderator, 200),
        (&admin, &owner, 403),
        (&owner, &admin, 200),
        (&owner, &owner, 403),
    ] {
        assert_eq!(tried(staff, target).await, status, "{} on {}", staff.name, target.name);
    }
    for rest in ["/unsilence", "/unsensitive", "/enable", "/unsuspend", "/approve", "/reject"] {
        moderator.post(&path(admin.id(), rest)).fails(403).await;
    }
}

#[tokio::test]
async fn strike_is_notified_mailed_and_resolves_reports() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let status = alice.publish("rude").await;
    let mut reports = Vec::new();
    for _ in 0..3 {
        app.tick();
        let body = json!({ "account_id": alice.id().to_string(), "status_ids": [status["id"]] });
        reports.push(bob.post("/api/v1/reports").json(&body).ok().await["id"].as_str().unwrap().to_owned());
    }
    let open = async || {
        let mut left = Vec::new();
        for report in &reports {
            let id: i64 = report.parse().unwrap();
            let row = store::report::list(app.db(), &[id.into()]).await.unwrap().pop().unwrap();
            left.push(row.action_taken_at.is_none());
        }
        left
    };
    let body = json!({ "type": "none", "report_id": reports[0], "text": "be kind" });
    moderator.post(&path(alice.id(), "/action")).json(&body).ok().await;
    assert_eq!(open().await, [false, true, true], "a warning resolves its report");
    let news = alice.get("/api/v1/notifications").ok().await;
    contract::check("Notification", &news[0]);
    assert_eq!(news[0]["type"], json!("moderation_warning"));
    let warning = &news[0]["moderation_warning"];
    contract::check("AccountWarning", warning);
    assert_eq!((&warning["action"], &warning["text"]), (&json!("none"), &json!("be kind")));
    assert_eq!((&warning["status_ids"], &warning["appeal"]), (&json!([status["id"]]), &json!(null)));
    let letters = app.letters().await;
    assert!(letters.iter().any(|letter| letter.contains("be kind")), "{letters:?}");

    let body = json!({ "type": "sensitive", "send_email_notification": false });
    moderator.post(&path(alice.id(), "/action")).json(&body).ok().await;
    assert_eq!(open().await, [false, false, false], "every other action resolves all");
    assert_eq!(alice.get("/api/v1/notifications").ok().await.as_array().unwrap().len(), 1, "and this one is silent");
    let about_bob = bob.post(&format!("/api/v1/accounts/{}/follow", alice.id())).ok().await;
    drop(about_bob);
    let other = json!({ "type": "none", "report_id": reports[0] });
    moderator.post(&path(bob.id(), "/action")).json(&other).fails(422).await;
}

#[tokio::test]
async fn suspended_account_is_deleted_after_thirty_days_unless_lifted() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for person in [&alice, &bob] {
        person.publish("hello").await;
    }
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    app.suspend(&alice).await;
    app.suspend(&bob).await;
    alice.get("/api/v1/accounts/verify_credentials").fails(403).await;
    app.unsuspend(&bob).await;
    app.run_jobs().await;
    app.app.clock.advance(chrono::TimeDelta::days(29));
    app.run_jobs().await;
    assert!(store::user::find(app.db(), alice.id()).await.unwrap().is_some());
    app.app.clock.advance(chrono::TimeDelta::days(2));
    app.run_jobs().await;
    app.app.clock.advance(chrono::TimeDelta::minutes(2));
    app.run_jobs().await;
    assert!(store::user::find(app.db(), alice.id()).await.unwrap().is_none());
    assert_eq!(store::removal::list_statuses(app.db(), alice.id(), 1).await.unwrap(), []);
    assert_eq!(
        store::removal::list_statuses(app.db(), bob.id(), 5).await.unwrap().len(),
        1,
        "his suspension was lifted"
    );
}

#[tokio::test]
async fn lifted_suspension_restores_follows_and_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let status = alice.publish("hello").await;
    app.run_jobs().await;
    app.suspend(&alice).await;
    app.run_jobs().await;
    bob.get(&status.path("")).fails(404).await;
    app.unsuspend(&alice).await;
    app.run_jobs().await;
    bob.get(&status.path("")).ok().await;
    assert_eq!(ids(&bob.get("/api/v1/timelines/home").ok().await), [status.id()]);
    let account = bob.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["followers_count"], json!(1));
    alice.publish("again").await;
}

#[tokio::test]
async fn suspended_account_is_deleted_at_once_by_those_who_may() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let [moderator, admin] = [app.staff("moderator", "Moderator").await, app.staff("admin", "Admin").await];
    admin.delete(&path(alice.id(), "")).fails(403).await;
    app.suspend(&alice).await;
    moderator.delete(&path(alice.id(), "")).fails(403).await;
    assert_eq!(admin.delete(&path(alice.id(), "")).ok().await, json!({}));
    admin.delete(&path(alice.id(), "")).fails(403).await;
    admin.post(&path(alice.id(), "/unsuspend")).fails(403).await;
    assert!(store::user::find(app.db(), alice.id()).await.unwrap().is_none());
}

#[tokio::test]
async fn media_of_sensitized_account_are_sensitive_on_every_path() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let status = alice.publish("picture").await;
    app.run_jobs().await;
    let paths = [
        status.path(""),
        "/api/v1/timelines/home".to_owned(),
        "/api/v1/timelines/public".to_owned(),
        format!("/api/v1/accounts/{}/statuses", alice.id()),
        status.path("/history"),
    ];
    let marks = async || {
        let mut marks = Vec::new();
        for path in &paths {
            let shown = bob.get(path).ok().await;
            let shown = if shown.is_array() { shown[0].clone() } else { shown };
            marks.push(shown["sensitive"].as_bool().unwrap());
        }
        marks
    };
    assert_eq!(marks().await, [false; 5]);
    app.sensitize(&alice).await;
    assert_eq!(marks().await, [true; 5]);
    let note = app.anonymous().get(&format!("/users/alice/statuses/{status}"));
    let note = note.header("accept", "application/activity+json").ok().await;
    assert_eq!(note["sensitive"], json!(true));
    let page = app.anonymous().get(&format!("/@alice/{status}")).send().await.text();
    assert!(page.contains("picture"));
    let staff = model::Staff::operator();
    service::moderation::account::unsensitive(&app.app, &staff, alice.id()).await.unwrap();
    assert_eq!(marks().await, [false; 5]);
}

#[tokio::test]
async fn eight_actions_at_once_are_eight_strikes_and_one_effect() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    let moderator = app.staff("moderator", "Moderator").await;
    let body = json!({ "type": "suspend" });
    let answers = join_all((0..8).map(|_| moderator.post(&path(alice.id(), "/action")).json(&body).send())).await;
    assert!(answers.iter().all(|answer| answer.status.as_u16() == 200));
    assert_eq!(store::warning::list_of(app.db(), alice.id(), 20).await.unwrap().len(), 8);
    let lifted = join_all((0..8).map(|_| moderator.post(&path(alice.id(), "/unsuspend")).send())).await;
    let ok = lifted.iter().filter(|answer| answer.status.as_u16() == 200).count();
    assert_eq!(ok, 1, "seven find no suspension");
}

#[tokio::test]
async fn account_command_moderates_local_and_remote_accounts() {
    let World { app, .. } = World::new().await;
    let listed = app.run(&["--json", "account", "list", "--status", "silenced"]).await.list();
    assert_eq!(listed[0]["acct"], json!("silenced"));
    let tried = app.run(&["--json", "account", "suspend", "bob@remote.test", "--dry-run"]).await.json();
    assert_eq!(tried[0]["dry_run"], json!(true));
    let state = async |name: &str| app.run(&["--json", "account", "show", name]).await.json()[0].clone();
    assert_eq!(state("bob@remote.test").await["suspended_at"], json!(null));
    for action in ["silence", "unsilence", "sensitive", "unsensitive", "warn", "suspend"] {
        app.run(&["account", action, "bob@remote.test"]).await.ok();
    }
    assert_ne!(state("bob@remote.test").await["suspended_at"], json!(null));
    app.run(&["account", "disable", "bob@remote.test"]).await.fails(1);
    app.run(&["account", "unsuspend", "bob@remote.test"]).await.ok();
    app.run(&["account", "disable", "alice", "--text", "later", "--quiet"]).await.ok();
    assert_eq!(state("alice").await["disabled"], json!(true));
    app.run(&["account", "enable", "alice"]).await.ok();
    app.run(&["account", "approve", "pending"]).await.ok();
    app.run(&["account", "reject", "pending", "--yes"]).await.fails(1);
    app.run(&["account", "delete", "suspended"]).await.fails(2);
    app.run(&["account", "delete", "suspended", "--yes"]).await.ok();
    assert!(app.run(&["account", "warn", "nobody"]).await.fails(1).contains("nobody"));
    let log = audit(&app).await;
    assert!(log.contains(&("operator".to_owned(), "account.delete".to_owned())), "{log:?}");
}

async fn audit(app: &TestApp) -> Vec<(String, String)> {
    let all = store::audit::list(app.db(), &Default::default(), &model::Cursor::first(100)).await.unwrap();
    all.into_iter().map(|entry| (entry.actor_name, entry.action)).collect()
}

#[tokio::test]
async fn disabled_account_may_do_nothing_until_enabled() {
    let app = TestApp::new().await;
    let [alice] = app.accounts(["alice"]).await;
    alice.get("/api/v1/accounts/verify_credentials").ok().await;
    app.act(&alice, WarningAction::Disable).await;
    let error = alice.get("/api/v1/accounts/verify_credentials").fails(403).await;
    assert!(error.contains("disabled"), "{error}");
    service::moderation::account::enable(&app.app, &model::Staff::operator(), alice.id()).await.unwrap();
    alice.get("/api/v1/accounts/verify_credentials").ok().await;
}

#[tokio::test]
async fn stream_ends_with_the_account_that_staff_closes() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let server = app.listen().await;
    for kind in ["disable", "suspend"] {
        let person = app.account(&format!("{kind}d")).await;
        let mut socket = server.socket(&person, "?stream=user").await;
        moderator.post(&path(person.id(), "/action")).json(&json!({ "type": kind })).ok().await;
        assert_eq!(u16::from(socket.closed().await.unwrap().code), 1008, "{kind}");
    }
}
