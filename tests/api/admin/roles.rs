//! Roles: their routes, their command, and that a change holds at once.

use serde_json::{Value, json};

use crate::harness::{Browser, Client, PASSWORD, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v1/admin/roles";
const ADMIN: &str = "/api/v1/admin/roles/2";
const MODERATOR: &str = "/api/v1/admin/roles/1";

async fn create(staff: &Client, role: &Value) -> Value {
    let role = staff.post(PATH).json(role).ok().await;
    contract::check("Admin_Role", &role);
    role
}

fn path(role: &Value) -> String {
    format!("{PATH}/{}", role["id"].as_str().unwrap())
}

fn role_of(person: &Client) -> String {
    format!("/api/v1/admin/accounts/{}/role", person.id())
}

/// Gives the role to the person, as `staff`.
async fn give(staff: &Client, person: &Client, role: &Value) {
    let account = staff.put(&role_of(person)).json(&json!({ "role_id": role["id"] })).ok().await;
    contract::check("Admin_Account", &account);
    assert_eq!(account["role"]["id"], role["id"]);
}

#[tokio::test]
async fn role_is_created_listed_changed_and_deleted() {
    let app = TestApp::new().await;
    let owner = app.staff("owner", "Owner").await;
    let made = create(
        &owner,
        &json!({ "name": " Helper ", "color": "#FF8800", "position": 5, "permissions": ["manage_reports", "16384"] }),
    )
    .await;
    let expected = json!({
        "id": made["id"], "name": "Helper", "color": "#ff8800", "position": 5, "permissions": "16400",
        "permission_names": ["manage_reports", "manage_custom_emojis"], "highlighted": false,
    });
    assert_eq!(made, expected);
    assert_eq!(owner.get(&path(&made)).ok().await, made);

    let listed = owner.get(PATH).ok().await;
    contract::check("Admin_Role[]", &listed);
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|role| role["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Owner", "Admin", "Moderator", "Helper", ""]);

    let changed = owner.put(&path(&made)).json(&json!({ "permissions": "4", "highlighted": true })).ok().await;
    assert_eq!((&changed["permission_names"], &changed["color"]), (&json!(["view_audit_log"]), &json!("#ff8800")));
    let changed = owner.patch(&path(&made)).json(&json!({ "color": "", "permissions": [] })).ok().await;
    assert_eq!((&changed["permissions"], &changed["color"]), (&json!("0"), &json!("")));

    assert_eq!(owner.delete(&path(&made)).ok().await, json!({}));
    for request in [owner.get(&path(&made)), owner.put(&path(&made)).json(&json!({})), owner.delete(&path(&made))] {
        request.fails(404).await;
    }
    let log = owner.get("/api/v1/admin/audit_log?action=role").ok().await;
    let actions: Vec<&str> = log.as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["role.delete", "role.update", "role.update", "role.create"]);
    assert_eq!(log[0]["target"], json!({ "type": "role", "id": made["id"], "name": "Helper" }));
}

#[tokio::test]
async fn role_refuses_bad_values() {
    let app = TestApp::new().await;
    let owner = app.staff("owner", "Owner").await;
    let helper = create(&owner, &json!({ "name": "Helper" })).await;
    for (change, named) in [
        (json!({ "name": "" }), "name:"),
        (json!({ "name": "moderator" }), "name:"),
        (json!({ "name": "None" }), "name:"),
        (json!({ "name": "a\nb" }), "name:"),
        (json!({ "name": "a".repeat(61) }), "name:"),
        (json!({ "name": { "a": 1 } }), "name"),
        (json!({ "color": "red" }), "color:"),
        (json!({ "color": "#ff00" }), "color:"),
        (json!({ "color": "#gg0000" }), "color:"),
        (json!({ "position": -1 }), "position:"),
        (json!({ "position": "high" }), "position"),
        (json!({ "permissions": "fly" }), "permissions"),
        (json!({ "permissions": ["manage_users", "fly"] }), "permissions"),
        (json!({ "permissions": [["manage_users"]] }), "permissions"),
        (json!({ "permissions": -1 }), "permissions"),
        (json!({ "permissions": 1_i64 << 40 }), "permissions"),
    ] {
        let mut new = json!({ "name": "Other" });
        new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        for request in [owner.post(PATH).json(&new), owner.put(&path(&helper)).json(&change)] {
            let said = request.fails(422).await;
            assert!(said.contains(named), "{change}: {said}");
        }
    }
    owner.post(PATH).json(&json!({})).fails(422).await;
    owner.post(PATH).json(&json!({ "name": "High", "position": 1000 })).fails(422).await;
    assert_eq!(app.count("roles").await, 5);
}

#[tokio::test]
async fn roles_above_and_foreign_permissions_are_out_of_reach() {
    let app = TestApp::new().await;
    let (owner, admin) = (app.staff("owner", "Owner").await, app.staff("admin", "Admin").await);
    let moderator = app.staff("moderator", "Moderator").await;
    moderator.get(PATH).fails(403).await;
    moderator.put(&role_of(&admin)).json(&json!({ "role_id": "" })).fails(403).await;
    let token = app.token(Some(admin.id()), "read write").await;
    Client::new(app.clone(), Some(admin.id()), "admin", Some(token)).get(PATH).fails(403).await;

    let peer = create(&owner, &json!({ "name": "Peer", "position": 100 })).await;
    for role in [ADMIN, "/api/v1/admin/roles/3", &path(&peer)] {
        assert!(admin.put(role).json(&json!({ "color": "#000000" })).fails(403).await.contains("not below yours"));
        admin.delete(role).fails(403).await;
    }
    assert!(owner.put(ADMIN).json(&json!({ "position": 1000 })).fails(422).await.contains("position:"));
    for change in [json!({ "position": 100 }), json!({ "permissions": "1" }), json!({ "permissions": ["view_devops"] })]
    {
        let mut new = json!({ "name": "New" });
        new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        admin.post(PATH).json(&new).fails(403).await;
        admin.put(MODERATOR).json(&change).fails(403).await;
    }
    // A permission that the role has already stays, and can be taken away.
    let devops = create(&owner, &json!({ "name": "Devops", "permissions": ["view_devops"] })).await;
    admin.put(&path(&devops)).json(&json!({ "name": "Operators" })).ok().await;
    assert!(
        admin
            .put(&role_of(&moderator))
            .json(&json!({ "role_id": devops["id"] }))
            .fails(403)
            .await
            .contains("view_devops")
    );
    admin.put(&path(&devops)).json(&json!({ "permissions": 0 })).ok().await;
    admin.put(&role_of(&moderator)).json(&json!({ "role_id": devops["id"] })).ok().await;

    // Nobody raises or loses their own role, nor acts on somebody of the same position.
    let other = app.staff("other", "Admin").await;
    for request in [admin.put(&role_of(&admin)), admin.put(&role_of(&other)), admin.put(&role_of(&owner))] {
        request.json(&json!({ "role_id": null })).fails(403).await;
    }
    assert!(owner.put(&role_of(&owner)).json(&json!({ "role_id": "2" })).fails(403).await.contains("own role"));
    for role in ["2", "3"] {
        admin.put(&role_of(&moderator)).json(&json!({ "role_id": role })).fails(403).await;
    }
}

#[tokio::test]
async fn default_role_and_owners_role_are_bounded() {
    let app = TestApp::new().await;
    let owner = app.staff("owner", "Owner").await;
    let everyone = "/api/v1/admin/roles/-99";
    for change in [json!({ "name": "All" }), json!({ "position": 3 }), json!({ "permissions": ["manage_users"] })] {
        owner.put(everyone).json(&change).fails(422).await;
    }
    owner.delete(everyone).fails(403).await;
    let [alice] = app.accounts(["alice"]).await;
    let mine = "/api/v1/accounts/verify_credentials";
    assert_eq!(alice.get(mine).ok().await["role"]["permissions"], "65536");
    assert_eq!(owner.put(everyone).json(&json!({ "permissions": "0" })).ok().await["permission_names"], json!([]));
    assert_eq!(alice.get(mine).ok().await["role"]["permissions"], "0");

    assert!(app.run(&["role", "delete", "owner"]).await.fails(1).contains("owners"));
    assert!(app.run(&["role", "update", "owner", "--permissions", "0"]).await.fails(1).contains("owners"));
    app.run(&["role", "update", "owner", "--color", "#112233"]).await.ok();
    assert!(app.run(&["user", "set-role", "owner", "none"]).await.fails(1).contains("last owner"));
    assert_eq!(owner.get(mine).ok().await["role"]["color"], "#112233");
    app.run(&["user", "set-role", "owner", "none", "--force"]).await.ok();
    assert_eq!(owner.get(mine).ok().await["role"]["id"], "-99");
}

#[tokio::test]
async fn role_change_holds_at_once_for_its_holders() {
    let app = TestApp::new().await;
    let owner = app.staff("owner", "Owner").await;
    let helper = app.staff("helper", "Moderator").await;
    let role = create(&owner, &json!({ "name": "Helper", "permissions": "view_audit_log", "highlighted": true })).await;
    give(&owner, &helper, &role).await;
    let status = helper.publish("hello").await;
    let (log, mine) = ("/api/v1/admin/audit_log", "/api/v1/accounts/verify_credentials");
    let shown = async || {
        let of_status = app.anonymous().get(&format!("/api/v1/statuses/{}", status["id"].as_str().unwrap())).ok().await;
        of_status["account"]["roles"].clone()
    };
    helper.get(log).ok().await;
    assert_eq!(shown().await, json!([{ "id": role["id"], "name": "Helper", "color": "" }]));
    assert_eq!(helper.get(mine).ok().await["role"]["name"], "Helper");

    let change = json!({ "name": "Aide", "color": "#00ff00", "permissions": "0" });
    owner.put(&path(&role)).json(&change).ok().await;
    helper.get(log).fails(403).await;
    assert_eq!(shown().await, json!([{ "id": role["id"], "name": "Aide", "color": "#00ff00" }]));
    let credentials = helper.get(mine).ok().await;
    assert_eq!((&credentials["role"]["name"], &credentials["role"]["permissions"]), (&json!("Aide"), &json!("65536")));

    owner.put(&path(&role)).json(&json!({ "highlighted": false, "permissions": "4" })).ok().await;
    helper.get(log).ok().await;
    assert_eq!(shown().await, json!([]));
    owner.delete(&path(&role)).ok().await;
    helper.get(log).fails(403).await;
    assert_eq!(helper.get(mine).ok().await["role"]["id"], "-99");

    give(&owner, &helper, &json!({ "id": "1" })).await;
    helper.get(log).ok().await;
    for blank in [json!(null), json!("")] {
        let account = owner.put(&role_of(&helper)).json(&json!({ "role_id": blank })).ok().await;
        assert_eq!(account["role"]["id"], "-99");
    }
    helper.get(log).fails(403).await;
    for bad in [json!({}), json!({ "role_id": "7" }), json!({ "role_id": "-99" }), json!({ "role_id": "chief" })] {
        owner.put(&role_of(&helper)).json(&bad).fails(422).await;
    }
    owner.put("/api/v1/admin/accounts/1/role").json(&json!({ "role_id": "" })).fails(404).await;
    let entries = owner.get(&format!("{log}?action=account.role&limit=1")).ok().await;
    assert_eq!(entries[0]["details"], json!({ "from": "Moderator", "to": null }));
}

#[tokio::test]
async fn role_command_manages_roles() {
    let app = TestApp::new().await;
    let made = app.run(&[
        "role",
        "create",
        "Helper",
        "--permissions",
        "manage_reports,manage_users",
        "--position",
        "7",
        "--json",
    ]);
    let made = made.await.json();
    assert_eq!(made[0]["permissions"], json!(["manage_reports", "manage_users"]));
    app.run(&["role", "update", "helper", "--new-name", "Aide", "--highlighted", "true"]).await.ok();
    let listed = app.run(&["role", "list"]).await.ok();
    assert!(listed.contains("Aide") && listed.contains("everyone"), "{listed}");
    app.account("alice").await;
    app.run(&["user", "set-role", "alice", "aide"]).await.ok();
    assert!(app.run(&["role", "create", "X", "--permissions", "fly"]).await.fails(2).contains("\"fly\""));
    let tried = app.run(&["role", "delete", "aide", "--dry-run", "--json"]).await.json();
    assert_eq!(tried[0], json!({ "name": "Aide", "holders": 1, "dry_run": true }));
    assert_eq!(app.run(&["role", "show", "Aide", "--json"]).await.json()[0]["position"], 7);
    assert!(app.run(&["role", "delete", "aide"]).await.ok().contains("Deleted"));
    assert!(app.run(&["role", "show", "aide"]).await.fails(1).contains("Moderator"));
}

#[tokio::test]
async fn last_owner_stays_on_every_way() {
    let app = TestApp::new().await;
    let [olga, second] = [app.staff("olga", "Owner").await, app.staff("second", "Owner").await];
    app.run(&["user", "remove", "second", "--yes"]).await.ok();
    app.run_jobs().await;
    let says = "last owner";
    assert!(app.run(&["user", "remove", "olga", "--yes"]).await.fails(1).contains(says));
    assert!(app.run(&["user", "suspend", "olga"]).await.fails(1).contains(says));
    assert!(app.run(&["account", "disable", "olga"]).await.fails(1).contains(says));
    let browser = Browser::signed_in(&app, "olga").await;
    let page = browser.get("/settings/delete").await;
    let left = browser.submit(&page, "/settings/delete", &[("current_password", PASSWORD)]).await;
    assert!(left.text().contains(says), "{}", left.text());
    assert!(service::ownership::exists(app.db()).await.unwrap());
    assert_eq!(service::owner::setup_link(&app.app).await.unwrap(), None);
    drop((olga, second));

    // One who was lost nevertheless is found missing, and there is a link for another.
    app.run(&["user", "set-role", "olga", "none", "--force"]).await.ok();
    assert!(app.run(&["doctor"]).await.out.contains("none who can sign in"));
    assert!(service::owner::setup_link(&app.app).await.unwrap().is_some());
}
