//! The group `invites`: `plugins/invites`, with sign-ups that a plugin admits, and pages.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::groups::{execute, served, settle, switch_off};
use crate::harness::{Answer, Browser, Client, TestApp};
use crate::jobs::removal::remove;
use crate::platform::contract::{self, check};

const SIGN_UP: &str = "/api/v1/accounts";
const PAGE: &str = "/invites";
/// `manage_invites`
const MANAGE: i64 = 1 << 11;
/// `invite_users`
const INVITE: i64 = 1 << 16;

async fn server(mode: &str) -> TestApp {
    let app = served("invites").await;
    app.set("registrations_mode", mode).await;
    app
}

/// Submits the form of the page in `browser`; `changed` are fields other than their defaults.
async fn create(browser: &Browser, changed: &[(&str, &str)]) -> Answer {
    let page = browser.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let mut fields = vec![("max_uses", ""), ("expires_in", ""), ("comment", "")];
    fields.retain(|(name, _)| !changed.iter().any(|(other, _)| other == name));
    fields.extend_from_slice(changed);
    browser.submit(&page, PAGE, &fields).await
}

/// Creates an invite of `inviter`; returns its code.
async fn invite(app: &TestApp, inviter: &Client, changed: &[(&str, &str)]) -> String {
    let browser = Browser::signed_in(app, &inviter.name).await;
    let made = create(&browser, changed).await;
    assert_eq!(made.status, 302, "{}", made.text());
    codes(&browser.get(PAGE).await).swap_remove(0)
}

/// Codes of the links on a page, newest first.
fn codes(page: &Answer) -> Vec<String> {
    let text = page.text();
    let links = text.split("<code>https://example.test/invite/").skip(1);
    links.map(|rest| rest[..rest.find('<').unwrap()].to_owned()).collect()
}

fn form(name: &str, code: Option<&str>) -> Value {
    let mut form = json!({
        "username": name, "email": format!("{name}@mail.test"), "password": "correct horse",
        "agreement": true, "locale": "en",
    });
    if let Some(code) = code {
        form["invite_code"] = json!(code);
    }
    form
}

/// Name of the plugin's table in the database.
fn table(app: &TestApp, name: &str) -> String {
    match app.db().engine() {
        database::Engine::Sqlite => format!("p_invites__{name}"),
        database::Engine::Postgres => format!("p_invites.{name}"),
    }
}

async fn uses(app: &TestApp, code: &str) -> i64 {
    app.number(&format!("SELECT uses FROM {} WHERE code = '{code}'", table(app, "invites"))).await
}

/// Whether an account waits for approval, and who invited it.
async fn joined(app: &TestApp, name: &str) -> (bool, Option<i64>) {
    let sql = format!(
        "SELECT u.approved, u.invited_by_account_id FROM users u JOIN accounts a ON a.id = u.account_id
         WHERE a.username = '{name}'"
    );
    app.db().fetch_raw::<(bool, Option<i64>)>(&sql).await.unwrap()[0]
}

/// Sets the permissions of the default role.
async fn everyone_may(app: &TestApp, permissions: i64) {
    execute(app, &format!("UPDATE roles SET permissions = {permissions} WHERE id = -99")).await;
}

#[tokio::test]
async fn rows_of_the_table_are_served_only_with_the_group() {
    let rows: Vec<String> =
        contract::extensions().iter().filter(|row| row.group == "invites").map(contract::Route::name).collect();
    assert_eq!(rows, ["GET /invite/:code", "POST /api/v1/accounts", "GET /invites"]);
    let app = server("none").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[]).await;
    let application = app.application("write").await;
    application.post(SIGN_UP).json(&form("bob", Some(&code))).ok().await;

    switch_off(&app, "invites").await;
    let browser = Browser::signed_in(&app, "alice").await;
    app.anonymous().get(&format!("/invite/{code}")).fails(404).await;
    assert_eq!(browser.get(&format!("/invite/{code}")).await.status, 404);
    assert_eq!(browser.get(PAGE).await.status, 404);
    application.post(SIGN_UP).json(&form("carol", Some(&code))).fails(403).await;
    app.set("registrations_mode", "approved").await;
    application.post(SIGN_UP).json(&form("carol", Some(&code))).ok().await;
    assert_eq!(joined(&app, "carol").await, (false, None), "the parameter has no effect");
    assert_eq!(uses(&app, &code).await, 1);
}

#[tokio::test]
async fn app_checks_a_code() {
    let app = server("none").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[("max_uses", "1"), ("expires_in", "1800")]).await;
    assert!(code.len() == 8 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"01IlO".contains(&byte)));
    let path = format!("/invite/{code}");

    let browser = Browser::signed_in(&app, "alice").await;
    let cookies = format!("__Host-rookery_session={}", browser.cookie("__Host-rookery_session").unwrap_or_default());
    for client in [app.anonymous(), alice.with_scopes("push").await] {
        for accept in ["application/json", "*/*"] {
            let answer = client.get(&path).header("accept", accept).header("cookie", &cookies).send().await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            check("Invite", &answer.json());
            assert_eq!(
                answer.json(),
                json!({"invite_code": code, "instance_api_url": "https://example.test/api/v2/instance"})
            );
            let vary: Vec<&str> =
                answer.headers.get_all("vary").iter().filter_map(|value| value.to_str().ok()).collect();
            assert!(vary.join(", ").contains("Accept"), "{vary:?}");
        }
    }
    for unknown in ["nothing1", &code.to_lowercase().replace(char::is_numeric, "x"), "%F0%9F%91%8D", "%27%20OR%201%3D1"]
    {
        app.anonymous().get(&format!("/invite/{unknown}")).fails(404).await;
    }
    app.anonymous().post(&path).fails(404).await;

    app.disable(&alice).await;
    app.anonymous().get(&path).fails(401).await;
    app.set_user(&alice, "disabled = FALSE").await;
    app.unapprove(&alice).await;
    app.anonymous().get(&path).fails(401).await;
    app.approve(&alice).await;
    app.anonymous().get(&path).ok().await;
    app.app.clock.advance(chrono::Duration::minutes(30));
    app.anonymous().get(&path).fails(401).await;
}

#[tokio::test]
async fn invitation_overrides_the_mode_and_a_bad_one_is_ignored() {
    let app = server("none").await;
    let alice = app.account("alice").await;
    let id = Some(i64::from(alice.id()));
    let code = invite(&app, &alice, &[("max_uses", "5")]).await;
    let application = app.application("write").await;
    let sign_up = |name: &str, code: Option<&str>| application.post(SIGN_UP).json(&form(name, code));

    sign_up("nobody", None).fails(403).await;
    sign_up("nobody", Some("nothing1")).fails(403).await;
    sign_up("nobody", Some("")).fails(403).await;
    application.post(SIGN_UP).json(&json!({"invite_code": [code]})).fails(403).await;
    let token = sign_up("closed", Some(&code)).ok().await;
    check("Token", &token);
    assert_eq!(joined(&app, "closed").await, (true, id));

    app.set("registrations_mode", "approved").await;
    app.set("require_invite_text", true).await;
    sign_up("waiting", None).fails(422).await;
    sign_up("waiting", Some("nothing1")).fails(422).await;
    sign_up("approved", Some(&code)).ok().await;
    assert_eq!(joined(&app, "approved").await, (true, id), "no reason was asked for");
    app.set("require_invite_text", false).await;
    sign_up("waiting", Some("nothing1")).ok().await;
    assert_eq!(joined(&app, "waiting").await, (false, None));

    app.set("registrations_mode", "open").await;
    sign_up("open", Some(&code)).ok().await;
    assert_eq!(joined(&app, "open").await, (true, id));
    sign_up("plain", Some("nothing1")).ok().await;
    assert_eq!(joined(&app, "plain").await, (true, None));
    assert_eq!(uses(&app, &code).await, 3);
    let form = [("username", "formed"), ("email", "f@mail.test"), ("password", "correct horse"), ("agreement", "1")];
    let with_code: Vec<(&str, &str)> = form.into_iter().chain([("invite_code", code.as_str())]).collect();
    application.post(SIGN_UP).form(&with_code).ok().await;
    assert_eq!(joined(&app, "formed").await, (true, id), "also as a form");
}

#[tokio::test]
async fn sign_up_that_fails_counts_nothing() {
    let app = server("none").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[("max_uses", "1")]).await;
    let application = app.application("write").await;
    let refused =
        application.post(SIGN_UP).json(&form("alice", Some(&code))).expect(StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["details"]["username"][0]["error"], "ERR_TAKEN");
    application.post(SIGN_UP).json(&json!({ "invite_code": code })).fails(422).await;
    app.application("read").await.post(SIGN_UP).json(&form("bob", Some(&code))).fails(403).await;
    assert_eq!(uses(&app, &code).await, 0);

    // The name is taken between the check and the insert: the transaction that counted is rolled back as a whole.
    let both = futures_util::future::join_all(
        (0..2).map(|_| application.post(SIGN_UP).json(&form("bob", Some(&code))).send()),
    )
    .await;
    let mut statuses: Vec<u16> = both.iter().map(|answer| answer.status.as_u16()).collect();
    statuses.sort_unstable();
    assert!([vec![200, 403], vec![200, 422]].contains(&statuses), "{statuses:?}");
    assert_eq!(uses(&app, &code).await, 1);
    assert_eq!(app.count(&table(&app, "arrivals")).await, 1);
    application.post(SIGN_UP).json(&form("carol", Some(&code))).fails(403).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uses_are_counted_once_each_under_concurrency() {
    let app = server("none").await;
    let alice = app.account("alice").await;
    let application = app.application("write").await;
    for (most, made) in [("5", 5), ("", 8)] {
        let code = invite(&app, &alice, &[("max_uses", most)]).await;
        let running: Vec<_> = (0..8)
            .map(|n| application.post(SIGN_UP).json(&form(&format!("guest{made}x{n}"), Some(&code))))
            .map(|request| tokio::spawn(request.send()))
            .collect();
        let mut statuses = Vec::new();
        for task in running {
            statuses.push(task.await.unwrap().status.as_u16());
        }
        let accepted = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(accepted, made, "{statuses:?}");
        assert!(statuses.iter().all(|status| matches!(status, 200 | 403)), "{statuses:?}");
        assert_eq!(uses(&app, &code).await, i64::try_from(made).unwrap());
        let arrived = format!("SELECT COUNT(*) FROM users WHERE invited_by_account_id = {}", alice.id());
        assert_eq!(app.number(&arrived).await, if made == 5 { 5 } else { 13 });
    }
}

/// Signs `name` up and confirms their address.
async fn join(app: &TestApp, name: &str, code: &str) {
    app.application("write").await.post(SIGN_UP).json(&form(name, Some(code))).ok().await;
    let link = app.mailed_link().await;
    Browser::new(app).get(&link).await;
}

async fn followers(app: &TestApp, person: &Client) -> i64 {
    app.number(&format!("SELECT followers_count FROM accounts WHERE id = {}", person.id())).await
}

#[tokio::test]
async fn guest_follows_the_inviter_once_the_account_can_be_used() {
    let app = server("none").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let code = invite(&app, &alice, &[("autofollow", "1")]).await;
    let application = app.application("write").await;
    application.post(SIGN_UP).json(&form("carol", Some(&code))).ok().await;
    settle(&app).await;
    assert_eq!(followers(&app, &alice).await, 0, "the address is not confirmed yet");
    let link = app.mailed_link().await;
    Browser::new(&app).get(&link).await;
    settle(&app).await;
    assert_eq!(followers(&app, &alice).await, 1);
    let notified = alice.get("/api/v1/notifications").ok().await;
    assert_eq!((&notified[0]["type"], &notified[0]["account"]["acct"]), (&json!("follow"), &json!("carol")));

    let plain = invite(&app, &alice, &[]).await;
    join(&app, "dan", &plain).await;
    settle(&app).await;
    assert_eq!(followers(&app, &alice).await, 1, "that invitation includes no follow");

    bob.update_profile(json!({ "locked": true })).ok().await;
    let locked = invite(&app, &bob, &[("autofollow", "1")]).await;
    join(&app, "erin", &locked).await;
    settle(&app).await;
    assert_eq!(followers(&app, &bob).await, 0);
    let waiting = bob.get("/api/v1/follow_requests").ok().await;
    assert_eq!(waiting[0]["acct"], "erin", "a locked account gets a request");
}

#[tokio::test]
async fn link_leads_to_the_sign_up_page_which_carries_the_code() {
    let app = server("none").await;
    app.set("require_invite_text", true).await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[("max_uses", "1")]).await;
    let browser = Browser::new(&app);
    let page = browser.get(&format!("/invite/{code}")).await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("<strong>@alice</strong> invited you to example.test."), "{}", page.text());
    assert!(page.header("content-type").starts_with("text/html") && page.header("vary").contains("Accept"));

    let short = [("username", "bob"), ("email", "bob@mail.test"), ("password", "short"), ("agreement", "true")];
    let again = browser.submit(&page, "/auth/sign_up", &short).await;
    assert_eq!(again.status, 422);
    assert!(again.text().contains("@alice"), "still by the invitation");
    let good = [("username", "bob"), ("email", "bob@mail.test"), ("password", "long enough"), ("agreement", "true")];
    let done = browser.submit(&again, "/auth/sign_up", &good).await;
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(joined(&app, "bob").await, (true, Some(alice.id().into())));

    let used = browser.get(&format!("/invite/{code}")).await;
    assert_eq!(used.status, 200);
    assert!(used.text().contains("That invitation is unknown, used up or expired"), "{}", used.text());
    assert!(!used.text().contains("name=\"password\""), "and no other sign-up is admitted");
    app.set("registrations_mode", "open").await;
    let open = browser.get("/invite/nothing1").await.text();
    assert!(open.contains("You can still sign up without it") && open.contains("name=\"password\""), "{open}");
    let plain = browser.get("/auth/sign_up").await.text();
    assert!(!plain.contains("invite_code") && !plain.contains("invitation"), "{plain}");
    let signed_in = Browser::signed_in(&app, "alice").await;
    assert_eq!(signed_in.get("/invite/nothing1").await.status, 200, "a session has no effect");
    let german = Browser::preferring(&app, "de").get("/invite/nothing1").await.text();
    assert!(german.contains("Diese Einladung ist unbekannt"), "{german}");
}

#[tokio::test]
async fn single_user_server_accepts_no_invites() {
    let keys = [("ROOKERY_ACCESS_SINGLE_USER", "true")];
    let app = super::guest::serve("invites", &keys).await;
    app.set("registrations_mode", "open").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[]).await;
    let path = format!("/invite/{code}");
    app.anonymous().get(&path).fails(403).await;
    app.anonymous().get("/invite/nothing1").fails(404).await;
    let page = Browser::new(&app).get(&path).await;
    assert_eq!(page.status, 403);
    assert!(!page.text().contains("name=\"password\""));
    app.application("write").await.post(SIGN_UP).json(&form("bob", Some(&code))).fails(403).await;
    assert_eq!(uses(&app, &code).await, 0);
}

#[tokio::test]
async fn page_needs_permission_to_invite() {
    let app = server("none").await;
    app.account("alice").await;
    let stranger = Browser::new(&app);
    let sent = stranger.get("/invites?after=5").await;
    assert_eq!((sent.status.as_u16(), sent.header("location")), (302, "/auth/sign_in?next=%2Finvites%3Fafter%3D5"));
    assert_eq!(stranger.post(PAGE, &[("_form", "create")]).await.status, 302);

    let alice = Browser::signed_in(&app, "alice").await;
    let listed = alice.get("/settings/extensions").await.text();
    assert!(listed.contains("<a href=\"/invites\">Invitations</a>") && !listed.contains("/invites/all"), "{listed}");
    assert_eq!(alice.get("/invites/all").await.status, 403);
    everyone_may(&app, 0).await;
    assert_eq!(alice.get(PAGE).await.status, 403);
    assert!(!alice.get("/settings/extensions").await.text().contains("/invites"));
    everyone_may(&app, MANAGE).await;
    assert_eq!(alice.get(PAGE).await.status, 403);
    assert_eq!(alice.get("/invites/all").await.status, 200);
    everyone_may(&app, INVITE).await;
    assert_eq!(alice.get(PAGE).await.status, 200);
    assert_eq!(alice.delete(PAGE, &[]).await.status, 404);
    let json = app.anonymous().get(PAGE).header("accept", "application/json").send().await;
    assert_eq!(json.status, 302, "there is no other form of it");
}

#[tokio::test]
async fn invitations_are_created_listed_and_expired_on_the_page() {
    let app = server("none").await;
    app.accounts(["alice", "bob"]).await;
    let [alice, bob] = [Browser::signed_in(&app, "alice").await, Browser::signed_in(&app, "bob").await];
    let empty = alice.get(PAGE).await;
    assert!(empty.text().contains("There are no invitations yet."), "{}", empty.text());
    assert!(empty.header("content-security-policy").contains("default-src 'none'"));
    assert!(empty.header("cache-control").contains("no-store"));

    let fields = [("max_uses", "10"), ("expires_in", "604800"), ("autofollow", "1"), ("comment", "<b>for</b> friends")];
    let made = create(&alice, &fields).await;
    assert_eq!((made.status.as_u16(), made.header("location")), (302, PAGE));
    let page = alice.get(PAGE).await;
    let text = page.text();
    for part in [
        "The invitation is ready.",
        "Used 0 of 10 times",
        "Until 22 Jan 2026, 12:0",
        "People who use it follow the inviter.",
        "&lt;b&gt;for&lt;/b&gt; friends",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("<b>for"));
    let code = codes(&page).swap_remove(0);
    let link = format!("<a href=\"https://example.test/invite/{code}\">");
    assert!(text.contains(&link), "{text}");
    assert!(!bob.get(PAGE).await.text().contains(&code), "his own page");

    // Bob sends the request of her page, with the token of his page.
    let token = crate::harness::form_fields(&bob.get(PAGE).await.text(), PAGE)[0].1.clone();
    let id = app.number(&format!("SELECT id FROM {}", table(&app, "invites"))).await.to_string();
    let expire = [("csrf", token.as_str()), ("_form", "expire"), ("_item", id.as_str())];
    assert_eq!(bob.post(PAGE, &expire).await.status, 404);
    assert_eq!(alice.post(PAGE, &expire).await.status, 403, "his token is not hers");
    app.anonymous().get(&format!("/invite/{code}")).ok().await;

    let token = crate::harness::form_fields(&text, PAGE)[0].1.clone();
    let expire = [("csrf", token.as_str()), ("_form", "expire"), ("_item", id.as_str())];
    assert_eq!(alice.post(PAGE, &expire).await.status, 302);
    app.anonymous().get(&format!("/invite/{code}")).fails(401).await;
    assert!(alice.get(PAGE).await.text().contains("Expired 15 Jan 2026, 12:0"));
    assert_eq!(alice.post(PAGE, &expire).await.status, 404, "it is over");

    create(&bob, &[]).await;
    everyone_may(&app, MANAGE | INVITE).await;
    let all = alice.get("/invites/all").await;
    assert!(all.text().contains("By @bob") && all.text().contains("By @alice"), "{}", all.text());
    let code = codes(&all).swap_remove(0);
    let sent = alice.submit(&all, "/invites/all", &[]).await;
    assert_eq!((sent.status.as_u16(), sent.header("location")), (302, "/invites/all"));
    app.anonymous().get(&format!("/invite/{code}")).fails(401).await;
}

#[tokio::test]
async fn form_is_validated_before_the_plugin_receives_it() {
    let app = server("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let count = async || app.count(&table(&app, "invites")).await;
    for (changed, said) in [
        (vec![("max_uses", "2")], "It is none of the choices."),
        (vec![("max_uses", "-1")], "It is none of the choices."),
        (vec![("expires_in", "999999999999999999999")], "It is none of the choices."),
    ] {
        let answer = create(&alice, &changed).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text().contains(said), "{}", answer.text());
    }
    let long = "x".repeat(421);
    let answer = create(&alice, &[("comment", &long), ("autofollow", "1")]).await;
    assert_eq!(answer.status, 422);
    assert!(answer.text().contains("It is too long (maximum is 420 characters)."), "{}", answer.text());
    assert!(answer.text().contains(&long), "the input stays");
    assert!(answer.text().contains("value=\"1\" checked"), "and the ticked boxes");
    let german = Browser::preferring(&app, "de");
    assert_eq!(german.sign_in("alice", crate::harness::PASSWORD).await.status, 302);
    let answer = create(&german, &[("comment", &long)]).await.text();
    assert!(
        answer.contains("Das ist zu lang (höchstens 420 Zeichen).") && answer.contains("Einladung anlegen"),
        "{answer}"
    );

    let token = crate::harness::form_fields(&alice.get(PAGE).await.text(), PAGE)[0].1.clone();
    for (fields, status) in [
        (vec![("_form", "create")], 403),
        (vec![("csrf", "forged"), ("_form", "create")], 403),
        (vec![("csrf", token.as_str())], 404),
        (vec![("csrf", token.as_str()), ("_form", "destroy")], 404),
        (vec![("csrf", token.as_str()), ("_form", "create"), ("_item", "1")], 404),
        (vec![("csrf", token.as_str()), ("_form", "expire"), ("_item", "1")], 404),
    ] {
        assert_eq!(alice.post(PAGE, &fields).await.status, status, "{fields:?}");
    }
    assert_eq!(count().await, 0);
    assert_eq!(create(&alice, &[("comment", &"猫".repeat(420))]).await.status, 302);
    assert_eq!(count().await, 1);
}

#[tokio::test]
async fn plugin_data_is_exported_and_removed_with_account() {
    let app = server("none").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let (hers, his) = (invite(&app, &alice, &[]).await, invite(&app, &bob, &[]).await);
    join(&app, "carol", &hers).await;
    join(&app, "dan", &his).await;
    settle(&app).await;
    let kept = app.run(&["user", "export", "alice", "--json"]).await.ok();
    assert!(kept.contains(&hers) && !kept.contains(&his), "{kept}");

    remove(&app, "alice").await;
    settle(&app).await;
    app.anonymous().get(&format!("/invite/{hers}")).fails(404).await;
    app.anonymous().get(&format!("/invite/{his}")).ok().await;
    let left = |name: &str| format!("SELECT COUNT(*) FROM {}", table(&app, name));
    assert_eq!((app.number(&left("invites")).await, app.number(&left("arrivals")).await), (1, 1));
    remove(&app, "dan").await;
    settle(&app).await;
    assert_eq!((app.number(&left("invites")).await, app.number(&left("arrivals")).await), (1, 0));
    assert!(joined(&app, "carol").await.0, "invited accounts stay");
}

#[tokio::test]
async fn page_of_forty_costs_as_many_statements_as_one_of_two() {
    let app = server("none").await;
    app.account("alice").await;
    let alice = Browser::signed_in(&app, "alice").await;
    let mut costs = Vec::new();
    for count in [2, 38] {
        for _ in 0..count {
            assert_eq!(create(&alice, &[]).await.status, 302);
        }
        alice.get(PAGE).await;
        let (cost, page) = app.cost(alice.get(PAGE)).await;
        costs.push(cost);
        assert_eq!(codes(&page).len(), if count == 2 { 2 } else { 40 });
        assert!(!page.text().contains("Show more"));
    }
    assert_eq!(costs[0], costs[1]);
    assert!(costs[0] <= 6, "{costs:?}");
    create(&alice, &[]).await;
    let first = alice.get(PAGE).await;
    let text = first.text();
    let next = text[text.find("/invites?after=").unwrap()..].split('"').next().unwrap().to_owned();
    assert_eq!(codes(&alice.get(&next).await).len(), 1);
}

#[tokio::test]
async fn invitation_adds_a_few_statements_to_a_sign_up() {
    let app = server("open").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[]).await;
    let application = app.application("write").await;
    let mut costs = Vec::new();
    for (name, code) in [("warm", Some(&code)), ("plain", None), ("invited", Some(&code)), ("again", Some(&code))] {
        costs.push(app.cost(application.post(SIGN_UP).json(&form(name, code.map(String::as_str))).ok()).await.0);
    }
    assert_eq!(costs[2], costs[3], "{costs:?}");
    assert!(costs[2] <= costs[1] + 8, "{costs:?}");
}

#[tokio::test]
async fn instance_shows_whether_all_users_may_invite() {
    let app = server("none").await;
    let enabled = async || app.anonymous().get("/api/v1/instance").ok().await["invites_enabled"].clone();
    everyone_may(&app, INVITE).await;
    assert_eq!(enabled().await, true);
    everyone_may(&app, MANAGE).await;
    assert_eq!(enabled().await, false);
    everyone_may(&app, INVITE).await;
    switch_off(&app, "invites").await;
    assert_eq!(enabled().await, false);
}

#[tokio::test]
async fn person_has_as_many_invitations_as_the_admin_allows() {
    let app = server("none").await;
    let most = [("max_per_person".to_owned(), json!(2))].into_iter().collect();
    plugins::admin::configure(&app.plugins(), &model::Staff::operator(), "invites", most).await.unwrap();
    plugins::life::follow(&app.plugins()).await;
    let alice = app.account("alice").await;
    for _ in 0..2 {
        invite(&app, &alice, &[]).await;
    }
    let browser = Browser::signed_in(&app, "alice").await;
    let refused = create(&browser, &[]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("You have 2 invitations, which is the limit"), "{}", refused.text());
}

#[tokio::test]
async fn invitation_lifts_limit_and_hours_of_sign_ups() {
    let app = server("open").await;
    let alice = app.account("alice").await;
    let code = invite(&app, &alice, &[]).await;
    let client = app.application("write:accounts").await;
    app.set("sign_ups_per_day", 1).await;
    client.post(SIGN_UP).json(&form("invited", Some(&code))).ok().await;
    client.post(SIGN_UP).json(&form("first", None)).ok().await;
    client.post(SIGN_UP).json(&form("second", None)).fails(403).await;
    client.post(SIGN_UP).json(&form("second", Some(&code))).ok().await;
    app.set("sign_ups_per_day", 0).await;
    app.set("sign_up_hours", "1-2").await;
    client.post(SIGN_UP).json(&form("third", None)).fails(403).await;
    client.post(SIGN_UP).json(&form("third", Some(&code))).ok().await;
}
