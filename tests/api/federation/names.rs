//! Ids of accounts, and what a change of a user name leaves as it was.

use model::Staff;
use serde_json::{Value, json};

use super::friends::{Friends, relationship};
use crate::harness::{Answer, Client, TestApp, id, settle};

const ACTIVITY: &str = "application/activity+json";

async fn document(app: &TestApp, path: &str) -> Answer {
    app.anonymous().get(path).header("accept", ACTIVITY).send().await
}

async fn webfinger(app: &TestApp, name: &str) -> Value {
    let domain = &app.app.urls.local_domain;
    app.anonymous().get(&format!("/.well-known/webfinger?resource=acct:{name}@{domain}")).ok().await
}

/// The account with the name `acct`, as `viewer` sees it.
async fn lookup(viewer: &Client, acct: &str) -> Value {
    viewer.get(&format!("/api/v1/accounts/lookup?acct={acct}")).ok().await
}

async fn rename(app: &TestApp, old: &str, new: &str) {
    app.tick();
    let account = service::staff::find(&app.app, old).await.unwrap();
    service::username::rename(&app.app, &Staff::operator(), &account, new).await.unwrap();
}

#[tokio::test]
async fn new_account_has_an_id_by_number_and_everything_below_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish("hello #world").await;
    let below = format!("/ap/users/{}", alice.id());
    let uri = format!("https://example.test{below}");
    let actor = document(&app, &below).await.json();
    assert_eq!((&actor["id"], &actor["url"]), (&json!(uri), &json!("https://example.test/@alice")));
    assert_eq!(
        (&actor["publicKey"]["owner"], &actor["publicKey"]["id"]),
        (&json!(uri), &json!(format!("{uri}#main-key")))
    );
    for (member, rest) in [
        ("inbox", "inbox"),
        ("outbox", "outbox"),
        ("followers", "followers"),
        ("following", "following"),
        ("featured", "collections/featured"),
        ("featuredTags", "collections/tags"),
    ] {
        assert_eq!(actor[member], format!("{uri}/{rest}"));
        if member != "inbox" {
            let collection = document(&app, &format!("{below}/{rest}")).await;
            assert_eq!((collection.status.as_u16(), &collection.json()["id"]), (200, &actor[member]));
        }
    }
    let note = format!("{uri}/statuses/{}", id(&status));
    assert_eq!(
        (&status["uri"], &status["url"]),
        (&json!(note), &json!(format!("https://example.test/@alice/{}", id(&status))))
    );
    for rest in ["", "/activity", "/replies", "/likes", "/shares", "/references"] {
        let found = document(&app, &format!("{below}/statuses/{}{rest}", id(&status))).await;
        assert_eq!((found.status.as_u16(), &found.json()["id"]), (200, &json!(format!("{note}{rest}"))));
    }
    let found = webfinger(&app, "alice").await;
    assert_eq!(found["aliases"], json!(["https://example.test/@alice", uri]));
    assert_eq!(found["links"][1]["href"], uri);

    // Browsers are led to pages, and old addresses to the id.
    for (path, page) in [
        (below.clone(), "https://example.test/@alice".to_owned()),
        (format!("{below}/statuses/{}", id(&status)), format!("https://example.test/@alice/{}", id(&status))),
        ("/users/alice".to_owned(), "https://example.test/@alice".to_owned()),
    ] {
        let answer = app.anonymous().get(&path).header("accept", "text/html").send().await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (301, page.as_str()), "{path}");
    }
    for rest in ["", "/outbox", "/followers?page=1", "/collections/featured"] {
        let answer = document(&app, &format!("/users/Alice{rest}")).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("location")),
            (301, format!("{uri}{rest}").as_str()),
            "{rest}"
        );
    }
    for path in ["/ap/users/1", "/ap/users/alice", "/ap/users/-99", "/ap/users/1/outbox", "/users/nobody"] {
        assert_eq!(document(&app, path).await.status, 404, "{path}");
    }
    for address in [uri.as_str(), "https://example.test/users/alice", "https://example.test/@alice"] {
        let found = alice.get(&format!("/api/v2/search?q={address}&type=accounts&resolve=true")).ok().await;
        assert_eq!(found["accounts"][0]["id"], alice.id().to_string(), "{address}");
    }
}

#[tokio::test]
async fn account_from_before_keeps_its_id() {
    let app = TestApp::new().await;
    let bob = app.named_account("bob").await;
    let actor = document(&app, "/users/bob").await.json();
    assert_eq!(
        (&actor["id"], &actor["inbox"]),
        (&json!("https://example.test/users/bob"), &json!("https://example.test/users/bob/inbox"))
    );
    assert_eq!(document(&app, &format!("/ap/users/{}", bob.id())).await.status, 404, "it has one id");
    app.run(&["account", "rename", "bob", "robert"]).await.ok();
    assert_eq!(document(&app, "/users/bob").await.json()["preferredUsername"], "robert");
    let answer = document(&app, "/users/robert/outbox").await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (301, "https://example.test/users/bob/outbox"));
    let status = bob.publish("still here").await;
    assert_eq!(status["uri"], format!("https://example.test/users/bob/statuses/{}", id(&status)));
    assert_eq!(status["url"], format!("https://example.test/@robert/{}", id(&status)));
}

#[tokio::test]
async fn new_name_reaches_followers_and_the_old_one_leads_to_it() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    let before = friends.alice.publish("before").await;
    friends.settle().await;
    rename(here, "alice", "alicia").await;
    rename(there, "bob", "robert").await;
    friends.settle().await;

    let alice = lookup(&friends.bob, &format!("alicia@{}", here.domain)).await;
    assert_eq!(alice["id"], friends.alice_there["id"], "the same account under the new name");
    let bob = lookup(&friends.alice, &format!("robert@{}", there.domain)).await;
    assert_eq!(bob["id"], friends.bob_there["id"]);
    let tie = relationship(&friends.bob, &alice).await;
    assert_eq!((&tie["following"], &tie["followed_by"]), (&true.into(), &true.into()));

    for (app, old, new) in [(here, "alice", "alicia"), (there, "bob", "robert")] {
        let (found, present) = (webfinger(app, old).await, webfinger(app, new).await);
        assert_eq!(found["subject"], format!("acct:{new}@{}", app.domain));
        assert_eq!(found, present);
        let page = app.anonymous().get(&format!("/@{old}")).send().await;
        assert_eq!((page.status.as_u16(), page.header("location")), (302, app.app.urls.profile(new).as_str()));
        assert_eq!(lookup(&app.anonymous(), old).await["username"], new);
    }
    let page = here.anonymous().get(&format!("/@alice/{}", id(&before))).send().await;
    assert_eq!(page.header("location"), here.app.urls.path(&format!("/@alicia/{}", id(&before))));

    // Statuses and mentions go on under the new names.
    let after = friends.alice.publish(&format!("after, @robert@{}", there.domain)).await;
    friends.settle().await;
    let home = friends.home_of_bob().await;
    assert_eq!(
        (&home[0]["uri"], &home[0]["account"]["acct"]),
        (&after["uri"], &json!(format!("alicia@{}", here.domain)))
    );
    assert_eq!(home[0]["mentions"][0]["id"], friends.bob.id().to_string());
}

#[tokio::test]
async fn former_name_is_reserved_for_its_account() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    app.run(&["account", "rename", "alice", "alicia"]).await.ok();
    app.set("registrations_mode", "open").await;
    let form =
        json!({ "username": "Alice", "email": "new@example.test", "password": "correct horse", "agreement": true });
    let client = app.application("write:accounts").await;
    let refused = client.post("/api/v1/accounts").json(&form).expect(422.try_into().unwrap()).await;
    assert_eq!(refused["details"]["username"][0]["error"], "ERR_TAKEN");
    for (name, new) in [("bob", "ALICE"), ("bob", "alicia"), ("bob", "no-name"), ("bob", "bob"), ("nobody", "somebody")]
    {
        let output = app.run(&["account", "rename", name, new]).await;
        assert_ne!(output.code, 0, "{name} to {new}: {output:?}");
    }
    assert_eq!(lookup(&bob, "bob").await["username"], "bob", "nothing is done half");
    // Its own former name, and another way to write the present one.
    app.run(&["account", "rename", "alicia", "Alice"]).await.ok();
    app.run(&["account", "rename", "alice", "alice"]).await.ok();
    assert_eq!(lookup(&bob, "alicia").await["id"], alice.id().to_string());
    assert_eq!(app.count("former_usernames").await, 1);
}

#[tokio::test]
async fn unproven_or_taken_name_of_another_server_is_not_believed() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    // Another account of that server is known under the name.
    let other = here.account("other").await;
    there.find(&friends.bob, &here.address(&other)).await;
    here.set_account(&other, "username = 'gone'").await;
    here.set_account(&friends.alice, "username = 'other'").await;
    friends.alice.patch("/api/v1/accounts/update_credentials").form(&[("display_name", "Other")]).ok().await;
    settle(&friends.peers).await;
    let account = friends.bob.get(&format!("/api/v1/accounts/{}", id(&friends.alice_there))).ok().await;
    assert_eq!((&account["display_name"], &account["username"]), (&json!("Other"), &json!("alice")));
}
