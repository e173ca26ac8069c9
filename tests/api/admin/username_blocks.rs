//! User names that cannot be used to sign up: their routes, their command, and their effects.

use serde_json::{Value, json};

use crate::harness::{Answer, Browser, Client, PASSWORD, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/username_blocks";

async fn open() -> (TestApp, Client, Client) {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let admin = app.staff("owner", "Admin").await;
    let client = app.application("read write").await;
    (app, admin, client)
}

async fn block(admin: &Client, new: Value) -> Value {
    admin.server.tick();
    let block = admin.post(PATH).json(&new).ok().await;
    contract::check("Admin_UsernameBlock", &block);
    block
}

async fn sign_up(client: &Client, name: &str) -> Answer {
    let email = format!("{}@free.test", name.to_lowercase());
    let form = json!({ "username": name, "email": email, "password": "correct horse", "agreement": true });
    client.post("/api/v1/accounts").json(&form).send().await
}

async fn refused(client: &Client, name: &str) {
    let answer = sign_up(client, name).await;
    assert_eq!(answer.status, 422, "{name}");
    assert_eq!(answer.json()["details"]["username"][0]["error"], "ERR_RESERVED", "{name}");
}

#[tokio::test]
async fn username_block_is_created_listed_and_deleted() {
    let (_, admin, client) = open().await;
    let made = block(&admin, json!({ "username": " Rook_1ng " })).await;
    assert_eq!((&made["username"], &made["normalized_username"]), (&json!("Rook_1ng"), &json!("rooking")));
    assert_eq!((&made["comparison"], &made["allow_with_approval"]), (&json!("equals"), &json!(false)));
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).ok().await, made);
    let other = json!({ "username": "crow", "comparison": "contains", "allow_with_approval": true });
    let other = block(&admin, other).await;
    let listed = admin.get(PATH).ok().await;
    contract::check("Admin_UsernameBlock[]", &listed);
    assert_eq!(listed, json!([other, made]));
    let page = admin.get(&format!("{PATH}?limit=1")).send().await;
    assert_eq!(page.json(), json!([other]));
    assert!(page.header("link").contains("max_id="), "{}", page.header("link"));

    for (wrong, why) in [
        (json!({}), "blank"),
        (json!({ "username": "" }), "blank"),
        (json!({ "username": "___" }), "underscores"),
        (json!({ "username": "böse" }), "letters"),
        (json!({ "username": "x".repeat(31) }), "30"),
        (json!({ "username": "r00king" }), "already"),
        (json!({ "username": "a", "comparison": "begins" }), "comparison"),
    ] {
        let said = admin.post(PATH).json(&wrong).fails(422).await;
        assert!(said.contains(why), "{wrong}: {said}");
    }
    refused(&client, "rooking").await;
    assert_eq!(admin.delete(&path).ok().await, json!({}));
    admin.delete(&path).fails(404).await;
    admin.get(&path).fails(404).await;
    assert_eq!(sign_up(&client, "rooking").await.status, 200, "at once");
}

#[tokio::test]
async fn blocked_name_is_refused_with_its_look_alikes() {
    let (app, admin, client) = open().await;
    block(&admin, json!({ "username": "admin" })).await;
    block(&admin, json!({ "username": "staff", "comparison": "contains" })).await;
    for name in ["admin", "ADMIN", "4dm1n", "a_d_m_i_n", "adrnln", "the_staff", "5taff_of_rooks"] {
        refused(&client, name).await;
    }
    for name in ["admin2b", "my_admin", "staf"] {
        assert_eq!(sign_up(&client, name).await.status, 200, "{name}");
    }
    let browser = Browser::new(&app);
    let page = browser.get("/auth/sign_up").await;
    let form = [("username", "Adm1n"), ("email", "page@free.test"), ("password", "long enough"), ("agreement", "true")];
    let answer = browser.submit(&page, "/auth/sign_up", &form).await;
    assert!(answer.status == 422 && answer.text().contains("reserved"), "{}", answer.text());
}

#[tokio::test]
async fn blocked_name_may_need_approval_and_stricter_block_wins() {
    let (app, admin, client) = open().await;
    block(&admin, json!({ "username": "rook", "comparison": "contains", "allow_with_approval": true })).await;
    block(&admin, json!({ "username": "rookery" })).await;
    assert_eq!(sign_up(&client, "r00ks").await.status, 200);
    assert_eq!(sign_up(&client, "crow").await.status, 200);
    refused(&client, "rookery").await;
    assert_eq!(sign_up(&client, "rookery_fan").await.status, 200, "that block is for the whole name");
    let approved = async |name: &str| {
        let text =
            "SELECT COUNT(*) FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.approved AND a.username = ";
        app.number(&format!("{text}'{name}'")).await == 1
    };
    assert_eq!((approved("r00ks").await, approved("rookery_fan").await, approved("crow").await), (false, false, true));
}

#[tokio::test]
async fn own_name_is_not_changed_to_a_blocked_one() {
    let (app, admin, _) = open().await;
    app.set("usernames_changeable", true).await;
    block(&admin, json!({ "username": "rook", "allow_with_approval": true })).await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    let change = async |name: &str| {
        let page = browser.get("/settings/moving").await;
        let fields = [("username", name), ("name_password", PASSWORD)];
        browser.submit(&page, "/settings/moving/username", &fields).await
    };
    let answer = change("r00k").await;
    assert!(answer.status == 422 && answer.text().contains("reserved"), "{}", answer.text());
    assert_eq!(change("crow").await.status, 302);
}

#[tokio::test]
async fn username_blocks_need_permission_and_scope() {
    let (app, admin, _) = open().await;
    let made = block(&admin, json!({ "username": "admin" })).await;
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let moderator = app.staff("moderator", "Moderator").await;
    let alice = app.account("alice").await;
    let wrong_scope = admin.with_scopes("read write admin:read:ip_blocks admin:write:ip_blocks").await;
    for client in [&moderator, &alice, &wrong_scope, &app.anonymous()] {
        client.get(PATH).fails(403).await;
        client.get(&path).fails(403).await;
        client.post(PATH).json(&json!({ "username": "other" })).fails(403).await;
        client.delete(&path).fails(403).await;
    }
    admin.with_scopes("admin:read").await.delete(&path).fails(403).await;
    admin.with_scopes("admin:write").await.delete(&path).ok().await;
    let actions: Vec<(String, String)> = app
        .db()
        .fetch_raw("SELECT action, target_name FROM audit_log WHERE action LIKE 'username_block%' ORDER BY id")
        .await
        .unwrap();
    let expected = ["username_block.create", "username_block.destroy"];
    assert_eq!(actions, expected.map(|action| (action.to_owned(), "admin".to_owned())));
}

#[tokio::test]
async fn command_adds_lists_tests_and_removes_username_blocks() {
    let (app, _, client) = open().await;
    let run = async |arguments: &[&str]| app.run(&[&["username-block"], arguments].concat()).await;
    assert!(run(&["add", "Admin"]).await.ok().contains("Names like Admin cannot sign up"));
    assert!(run(&["add", "rook", "--contains", "--allow-with-approval"]).await.ok().contains("need approval"));
    for (arguments, said) in
        [(["add", "4dm1n"], "blocked already"), (["add", "a b"], "letters"), (["remove", "crow"], "not blocked")]
    {
        assert!(run(&arguments).await.fails(1).contains(said), "{arguments:?}");
    }
    let listed = run(&["list", "--json"]).await.list();
    assert_eq!((&listed[0]["comparison"], &listed[1]["username"]), (&"contains".into(), &"Admin".into()));
    let text = run(&["list"]).await.ok();
    assert!(text.contains("blocked        Admin") && text.contains("needs approval *rook*"), "{text}");
    assert_eq!(run(&["test", "adm1n", "--json"]).await.json()[0]["blocked"], true);
    assert!(run(&["test", "r00ks"]).await.ok().contains("needs approval"));
    assert!(run(&["test", "crow"]).await.ok().contains("not blocked"));
    refused(&client, "adm1n").await;
    for name in ["adm1n", "rook"] {
        run(&["remove", name]).await.ok();
    }
    assert_eq!(app.count("username_blocks").await, 0);
}
