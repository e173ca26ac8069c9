//! Accounts that move between two servers, and moves that are not believed.

use serde_json::{Value, json};

use super::friends::{Friends, notifications, relationship};
use crate::harness::{Browser, Client, PASSWORD, TestApp, id, settle};

/// Makes `client` name `uri` as the only alias.
async fn name_alias(client: &Client, named: &str) {
    let form = json!({ "also_known_as_uris": [named] });
    let account = client.post("/api/v1/accounts/alias").json(&form).ok().await;
    assert_eq!(account["source"]["also_known_as_uris"].as_array().unwrap().len(), 1);
}

async fn account(viewer: &Client, id: &str) -> Value {
    viewer.get(&format!("/api/v1/accounts/{id}")).ok().await
}

#[tokio::test]
async fn move_takes_followers_along_on_both_servers() {
    let friends = Friends::new().await;
    let [here, there] = &friends.peers;
    let (alice, bob) = (&friends.alice, &friends.bob);
    // People of both servers who know Alice, and her new account on the other server.
    let [dora, muter, blocker] = there.accounts(["dora", "muter", "blocker"]).await;
    let neighbour = here.account("neighbour").await;
    let alice_here = json!({ "id": alice.id().to_string() });
    for client in [&dora, &muter, &blocker] {
        there.find(client, &here.address(alice)).await;
    }
    let old = id(&friends.alice_there);
    dora.post(&format!("/api/v1/accounts/{old}/follow")).form(&[("reblogs", "false"), ("notify", "true")]).ok().await;
    let list = dora.post("/api/v1/lists").json(&json!({ "title": "Friends" })).ok().await;
    dora.post(&format!("/api/v1/lists/{}/accounts", id(&list))).json(&json!({ "account_ids": [old] })).ok().await;
    dora.post(&format!("/api/v1/accounts/{old}/note")).json(&json!({ "comment": "from school" })).ok().await;
    muter
        .post(&format!("/api/v1/accounts/{old}/mute"))
        .form(&[("duration", "3600"), ("notifications", "false")])
        .ok()
        .await;
    blocker.post(&format!("/api/v1/accounts/{old}/block")).ok().await;
    neighbour.follow(&alice_here).ok().await;
    settle(&friends.peers).await;

    let alicia = there.named_account("alicia").await;
    let uri = alice.get("/api/v1/accounts/verify_credentials").ok().await["uri"].as_str().unwrap().to_owned();
    here.set_password("alice", "correct horse").await;
    let address = there.address(&alicia);
    let target = json!({ "password": "correct horse", "moved_to_uri": address });
    let refused = alice.post("/api/v1/accounts/move").json(&target).expect(422.try_into().unwrap()).await;
    assert!(refused["error"].as_str().unwrap().contains("does not name this account"), "{refused}");
    name_alias(&alicia, &uri).await;
    let wrong = json!({ "password": "wrong horse", "moved_to_uri": address });
    alice.post("/api/v1/accounts/move").json(&wrong).fails(422).await;
    alice.post("/api/v1/accounts/move").json(&target).ok().await;
    settle(&friends.peers).await;
    settle(&friends.peers).await;

    // The other server: one follows with the same options, the list, the note, the mute and the block go along.
    let new = alicia.id().to_string();
    for follower in [bob, &dora] {
        let tie = relationship(follower, &json!({ "id": new })).await;
        assert_eq!(tie["following"], true, "{}", follower.name);
        assert_eq!(relationship(follower, &friends.alice_there).await["following"], false);
        let from_alice = ("move".to_owned(), here.address(alice));
        assert!(notifications(follower).await.contains(&from_alice), "{}", follower.name);
    }
    let tie = relationship(&dora, &json!({ "id": new })).await;
    assert_eq!((&tie["showing_reblogs"], &tie["notifying"]), (&false.into(), &true.into()));
    assert_eq!(tie["note"], "from school");
    let members = dora.get(&format!("/api/v1/lists/{}/accounts", id(&list))).ok().await;
    assert_eq!((members.as_array().unwrap().len(), &members[0]["id"]), (1, &json!(new)));
    let tie = relationship(&muter, &json!({ "id": new })).await;
    assert_eq!((&tie["muting"], &tie["muting_notifications"]), (&true.into(), &false.into()));
    assert_eq!(relationship(&blocker, &json!({ "id": new })).await["blocking"], true);
    assert_eq!(account(bob, old).await["moved"]["id"], new);
    bob.follow(&friends.alice_there).fails(403).await;

    // Her own server: the neighbour follows the new account there.
    let alicia_here = alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await["moved"].clone();
    assert_eq!(alicia_here["acct"], address);
    assert_eq!(relationship(&neighbour, &alicia_here).await["following"], true);
    assert_eq!(relationship(&neighbour, &alice_here).await["following"], false);
    let page = here.anonymous().get("/@alice").send().await.text();
    assert!(page.contains(&format!("@{address}")), "{page}");
    let document =
        here.anonymous().get(&uri[uri.find("/ap/").unwrap()..]).header("accept", "application/activity+json");
    assert!(document.ok().await["movedTo"].as_str().unwrap().ends_with("/users/alicia"));

    // Alice reads, and does nothing else but move back; she waits before she moves again.
    alice.get("/api/v1/timelines/home").ok().await;
    alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(alice.post("/api/v1/statuses").json(&json!({ "status": "still here" })).send().await.status, 403);
    alice.delete("/api/v1/accounts/move").ok().await;
    alice.publish("back again").await;
    assert!(account(&neighbour, &alice.id().to_string()).await["moved"].is_null());
    let refused = alice.post("/api/v1/accounts/move").json(&target).expect(422.try_into().unwrap()).await;
    assert!(refused["error"].as_str().unwrap().contains("once in 30 days"), "{refused}");
}

#[tokio::test]
async fn locked_target_receives_requests_and_chains_are_refused() {
    let app = TestApp::new().await;
    let [old, new, other, fan] = app.accounts(["old", "new", "other", "fan"]).await;
    fan.follow(&json!({ "id": old.id().to_string() })).ok().await;
    new.patch("/api/v1/accounts/update_credentials").form(&[("locked", "true")]).ok().await;
    for name in ["old", "new", "other"] {
        app.set_password(name, "correct horse").await;
    }
    let uri = |client: &Client| app.app.urls.actor(client.id());
    let go = async |client: &Client, named: &str| {
        let form = json!({ "password": "correct horse", "moved_to_uri": named });
        client.post("/api/v1/accounts/move").json(&form).send().await
    };
    for named in ["", "nobody", "nobody@example.test", "https://example.test/@nobody", &uri(&old), "old@example.test"] {
        assert_eq!(go(&old, named).await.status, 422, "{named:?}");
    }
    // The aliases of a ring.
    let form = json!({ "also_known_as_uris": [uri(&other), "new"] });
    old.post("/api/v1/accounts/alias").json(&form).ok().await;
    name_alias(&new, "@old").await;
    assert_eq!(go(&old, &uri(&new)).await.status, 200);
    app.run_jobs().await;
    let tie = relationship(&fan, &json!({ "id": new.id().to_string() })).await;
    assert_eq!((&tie["following"], &tie["requested"]), (&false.into(), &true.into()));

    // A chain and a ring: the target moved, or leads back.
    for client in [&other, &new] {
        let answer = go(client, "old").await;
        assert_eq!(answer.status, 422);
        assert!(answer.text().contains("has moved itself"), "{}", answer.text());
    }
    let too_many: Vec<String> = (0..21).map(|number| format!("a{number}@example.test")).collect();
    let form = json!({ "also_known_as_uris": too_many });
    new.post("/api/v1/accounts/alias").json(&form).fails(422).await;
    let form = json!({ "also_known_as_uris": ["old", "nobody"] });
    new.post("/api/v1/accounts/alias").json(&form).fails(422).await;
    let form = json!({ "also_known_as_uris": ["new"] });
    new.post("/api/v1/accounts/alias").json(&form).fails(422).await;
    let account = new.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(account["source"]["also_known_as_uris"], json!([uri(&old)]), "nothing is done half");
}

#[tokio::test]
async fn page_names_aliases_and_moves_redirects_and_renames() {
    const PAGE: &str = "/settings/moving";
    let app = TestApp::new().await;
    let [old, new] = app.accounts(["old", "new"]).await;
    let [of_old, of_new] = [Browser::signed_in(&app, "old").await, Browser::signed_in(&app, "new").await];
    let uri = app.app.urls.actor(old.id());

    let page = of_new.get(PAGE).await;
    let refused = of_new.submit(&page, "/settings/moving/aliases", &[("alias", "nobody")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("It cannot be found.") && refused.text().contains("value=\"nobody\""));
    of_new.submit(&page, "/settings/moving/aliases", &[("alias", "@old")]).await;
    assert!(of_new.get(PAGE).await.text().contains("@old</a>"));
    assert_eq!(new.get("/api/v1/accounts/verify_credentials").ok().await["source"]["also_known_as_uris"], json!([uri]));

    let page = of_old.get(PAGE).await;
    assert!(!page.text().contains("/settings/moving/username"), "the setting is off");
    let wrong = [("target", "new"), ("current_password", "wrong horse"), ("act", "redirect")];
    let refused = of_old.submit(&page, PAGE, &wrong).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("is not your current password"));
    let right = [("target", "new"), ("current_password", PASSWORD), ("act", "redirect")];
    assert_eq!(of_old.submit(&page, PAGE, &right).await.status, 302);
    let shown = of_old.get(PAGE).await;
    assert!(shown.text().contains("has moved to"), "{}", shown.text());
    assert_eq!(app.count("account_moves").await, 0);
    assert_eq!(of_old.submit(&shown, PAGE, &[]).await.status, 302, "the first form moves back");
    old.publish("back").await;
    let act = [("target", "new"), ("current_password", PASSWORD), ("act", "move")];
    assert_eq!(of_old.submit(&of_old.get(PAGE).await, PAGE, &act).await.status, 302);
    assert_eq!(app.count("account_moves").await, 1);
    assert!(of_old.get(PAGE).await.text().contains("You can move again on"));
    of_new.submit(&of_new.get(PAGE).await, "/settings/moving/aliases", &[("_method", "delete"), ("uri", &uri)]).await;

    app.set("usernames_changeable", true).await;
    let page = of_new.get(PAGE).await;
    let name = |name| [("username", name), ("name_password", PASSWORD)];
    for refused in ["old", "admin", "no-name", "new", ""] {
        assert_eq!(of_new.submit(&page, "/settings/moving/username", &name(refused)).await.status, 422, "{refused}");
    }
    assert_eq!(of_new.submit(&page, "/settings/moving/username", &name("newer")).await.status, 302);
    assert!(of_new.get(PAGE).await.text().contains("You can change your user name again on"));
    let again = of_new.submit(&page, "/settings/moving/username", &name("newest")).await;
    assert_eq!(again.status, 403);
    assert_eq!(new.get("/api/v1/accounts/verify_credentials").ok().await["username"], "newer");
}
