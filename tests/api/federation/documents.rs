//! The documents that other servers are served.

use serde_json::json;

use crate::harness::{Answer, OTHER_SECRET, TestApp};
use crate::routes::media::png;

const ACTIVITY: &str = "application/activity+json";

async fn document(app: &TestApp, path: &str) -> Answer {
    app.anonymous().get(path).header("accept", ACTIVITY).send().await
}

#[tokio::test]
async fn actor_is_a_document_or_a_page() {
    let app = TestApp::new().await;
    app.named_account("alice").await;
    let answer = document(&app, "/users/alice").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/activity+json; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "max-age=180, public");
    assert!(answer.header("vary").contains("Accept"));
    let actor = answer.json();
    assert_eq!(actor["id"], "https://example.test/users/alice");
    assert_eq!(actor["publicKey"]["owner"], actor["id"]);
    assert_eq!(actor["webfinger"], "alice@example.test");
    let webfinger = &actor["@context"][2]["webfinger"]["@id"];
    assert_eq!(webfinger, "https://purl.archive.org/socialweb/webfinger#webfinger");
    assert_eq!(actor["endpoints"]["sharedInbox"], "https://example.test/inbox");
    let page = app.anonymous().get("/users/alice").header("accept", "text/html").send().await;
    assert_eq!((page.status.as_u16(), page.header("location")), (301, "https://example.test/@alice"));
    assert!(page.header("vary").contains("Accept"));
    let page = app.anonymous().get("/@alice").send().await;
    let link = "<https://example.test/users/alice>; rel=\"alternate\"; type=\"application/activity+json\"";
    assert_eq!(page.header("link"), link);
}

#[tokio::test]
async fn server_has_an_actor_with_a_key_that_stays() {
    let app = TestApp::new().await;
    let answer = document(&app, "/actor").await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "max-age=600, public"));
    let actor = answer.json();
    assert_eq!((&actor["type"], &actor["preferredUsername"]), (&"Application".into(), &"mastodon.internal".into()));
    assert_eq!(actor["publicKey"]["id"], "https://example.test/actor#main-key");
    let beside = app.beside(&[("ROOKERY_SECRETS_KEY", OTHER_SECRET)]).await;
    assert_eq!(beside.anonymous().get("/actor").send().await.status, 503, "its secret key is another");
    assert_eq!(document(&app, "/actor").await.json(), actor);
    assert_eq!(document(&app, "/actor/outbox").await.json()["totalItems"], 0);
}

#[tokio::test]
async fn pending_account_has_no_document_and_suspended_one_says_so() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    app.unconfirm(&bob).await;
    assert_eq!(document(&app, "/users/bob").await.status, 404);
    assert_eq!(document(&app, "/users/nobody").await.status, 404);

    app.suspend(&alice).await;
    let actor = document(&app, "/users/alice").await;
    assert_eq!((actor.status.as_u16(), &actor.json()["suspended"]), (200, &true.into()));
    assert_eq!(actor.json()["summary"], "");
    for path in ["outbox", "followers", "following", "collections/featured", &format!("statuses/{status}")] {
        assert_eq!(document(&app, &format!("/users/alice/{path}")).await.status, 403, "{path}");
    }
    let said = app.run(&["user", "remove", "alice", "--yes"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    for path in ["", "/outbox", &format!("/statuses/{status}")] {
        assert_eq!(document(&app, &format!("/users/alice{path}")).await.status, 410, "{path}");
    }
}

#[tokio::test]
async fn note_has_what_other_servers_show() {
    let app = TestApp::new().await;
    let [alice, _bob] = app.named_accounts(["alice", "bob"]).await;
    let pack = tempfile::tempdir().unwrap();
    std::fs::write(pack.path().join("rook.png"), png(20, 10)).unwrap();
    assert_eq!(app.run(&["emoji", "import", pack.path().to_str().unwrap()]).await.code, 0);
    app.app.reload().await.unwrap();
    let parent = alice.publish("first").await;
    let draft = json!({
        "status": "hello @bob #Tag :rook:", "language": "en", "spoiler_text": "careful",
        "in_reply_to_id": parent.id(), "visibility": "unlisted",
    });
    let status = alice.publish(draft).await;
    let path = format!("/users/alice/statuses/{status}");
    let note = document(&app, &path).await.json();
    let actor = "https://example.test/users/alice";
    assert_eq!((&note["id"], &note["type"], &note["attributedTo"]), (&status["uri"], &"Note".into(), &actor.into()));
    assert_eq!((&note["url"], &note["inReplyTo"]), (&status["url"], &parent["uri"]));
    assert_eq!((&note["summary"], &note["sensitive"]), (&"careful".into(), &true.into()));
    assert_eq!(note["content"], status["content"]);
    assert_eq!(note["contentMap"]["en"], status["content"]);
    assert_eq!(note["to"], json!([format!("{actor}/followers")]));
    assert_eq!(note["cc"], json!(["https://www.w3.org/ns/activitystreams#Public", "https://example.test/users/bob"]));
    let kinds: Vec<&str> = note["tag"].as_array().unwrap().iter().map(|tag| tag["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Mention", "Hashtag", "Emoji"]);
    assert_eq!(note["tag"][0]["name"], "@bob@example.test");

    for client in [app.anonymous(), alice.clone()] {
        let page = client.get(&format!("/@alice/{status}")).header("accept", ACTIVITY).send().await;
        assert_eq!(page.json()["id"], note["id"]);
    }
    let create = document(&app, &format!("{path}/activity")).await.json();
    assert_eq!((&create["type"], &create["object"]["id"]), (&"Create".into(), &note["id"]));
}

#[tokio::test]
async fn note_is_rendered_again_when_it_or_its_counts_change() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    let path = format!("/users/alice/statuses/{status}");
    let (_, first) = app.cost(document(&app, &path)).await;
    let (cost, again) = app.cost(document(&app, &path)).await;
    assert_eq!(first.body, again.body);
    assert!(cost <= 4, "{cost} statements");
    bob.favourite(&status).ok().await;
    assert_eq!(document(&app, &path).await.json()["likes"]["totalItems"], 1);
    app.tick();
    alice.edit(&status, "other words").ok().await;
    let note = document(&app, &path).await.json();
    assert!(note["content"].as_str().unwrap().contains("other words") && note["updated"].is_string());
}

#[tokio::test]
async fn status_that_is_not_public_has_no_document() {
    let app = TestApp::new().await;
    let [alice, _bob] = app.named_accounts(["alice", "bob"]).await;
    for visibility in ["private", "direct", "login", "mutual"] {
        let status = alice.publish_to(visibility, "@bob psst").await;
        for path in ["", "/activity", "/replies"] {
            let answer = document(&app, &format!("/users/alice/statuses/{status}{path}")).await;
            assert_eq!(answer.status, 404, "{visibility}{path}");
        }
        let guessed = app.anonymous().get(&format!("/users/alice/statuses/{status}")).header("accept", ACTIVITY);
        assert_eq!(guessed.header("authorization", "Bearer guessed").send().await.status, 404, "{visibility}");
    }
    let status = alice.publish("hello").await;
    assert_eq!(document(&app, &format!("/users/bob/statuses/{status}")).await.status, 404, "someone else's");
    alice.delete_status(&status).ok().await;
    assert_eq!(document(&app, &format!("/users/alice/statuses/{status}")).await.status, 410);
    let hidden = alice.publish_to("private", "hello").await;
    alice.delete_status(&hidden).ok().await;
    assert_eq!(document(&app, &format!("/users/alice/statuses/{hidden}")).await.status, 404, "it was never readable");
    assert_eq!(app.count("tombstones").await, 1);
}

#[tokio::test]
async fn featured_hashtags_are_a_collection() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    let path = "/users/alice/collections/tags";
    let none = document(&app, path).await.json();
    assert_eq!((&none["type"], &none["totalItems"], &none["items"]), (&"Collection".into(), &0.into(), &json!([])));
    alice.post("/api/v1/featured_tags").json(&json!({ "name": "Rooks" })).ok().await;
    let actor = document(&app, "/users/alice").await.json();
    let tags = document(&app, path).await.json();
    assert_eq!(actor["featuredTags"], tags["id"]);
    let tag = json!({ "type": "Hashtag", "href": "https://example.test/tags/rooks", "name": "#rooks" });
    assert_eq!((&tags["totalItems"], &tags["items"]), (&1.into(), &json!([tag])));
}

#[tokio::test]
async fn note_names_its_collections() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    let [one, two, hidden] =
        [bob.publish("one").await, bob.publish("two").await, bob.publish_to("login", "three").await];
    let ids = json!([one.number(), two.number(), hidden.number()].map(|id| id.to_string()));
    let status = alice.publish(json!({ "status": "see", "status_reference_ids": ids })).await;
    let bare = alice.publish("bare").await;
    bob.favourite(&status).ok().await;
    bob.reblog(&status).ok().await;
    let path = format!("/users/alice/statuses/{status}");
    let (note, id) = (document(&app, &path).await.json(), |rest: &str| format!("https://example.test{path}/{rest}"));
    let counted = |rest: &str| json!({ "type": "Collection", "id": id(rest), "totalItems": 1 });
    assert_eq!((&note["likes"], &note["shares"]), (&counted("likes"), &counted("shares")));
    let first = json!({
        "type": "CollectionPage", "id": id("references?page=true"), "partOf": id("references"),
        "items": [one["uri"], two["uri"]],
    });
    assert_eq!(note["references"], json!({ "type": "Collection", "id": id("references"), "first": first }));
    let without = document(&app, &format!("/users/alice/statuses/{bare}")).await.json();
    let address = format!("https://example.test/users/alice/statuses/{bare}/references");
    assert_eq!(without["references"], json!({ "type": "Collection", "id": address }));

    for rest in ["likes", "shares"] {
        let collection = document(&app, &format!("{path}/{rest}")).await.json();
        let found = (&collection["id"], &collection["type"], &collection["totalItems"]);
        assert_eq!(found, (&id(rest).into(), &"Collection".into(), &1.into()), "{rest}");
    }
    let collection = document(&app, &format!("{path}/references")).await.json();
    assert_eq!((&collection["id"], &collection["first"]), (&id("references").into(), &first["id"]));
    let page = document(&app, &format!("{path}/references?page=true")).await.json();
    assert_eq!((&page["type"], &page["items"], &page["next"]), (&first["type"], &first["items"], &json!(null)));
    let sql = format!("SELECT id FROM status_references WHERE target_id = {}", one.number());
    let (row,) = app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0];
    let page = document(&app, &format!("{path}/references?page=true&min_id={row}")).await.json();
    assert_eq!(page["items"], json!([two["uri"]]));
    for bad in ["references?page=true&min_id=x", "references?page=%00&min_id=-1"] {
        assert_eq!(document(&app, &format!("{path}/{bad}")).await.status, 200, "{bad}");
    }
}

#[tokio::test]
async fn long_list_of_references_has_pages_of_five() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    let status = alice.publish("see").await;
    for position in 0..7 {
        let target = alice.publish(&*format!("{position}")).await;
        app.execute(&format!(
            "INSERT INTO status_references (target_id, status_id, id, position, in_text)
             VALUES ({target}, {status}, {target}, {position}, FALSE)"
        ))
        .await;
    }
    app.execute(&format!("UPDATE statuses SET has_references = TRUE, version = version + 1 WHERE id = {status}")).await;
    let path = format!("/users/alice/statuses/{status}");
    let note = document(&app, &path).await.json();
    let first = &note["references"]["first"];
    assert_eq!(first["items"].as_array().unwrap().len(), 5);
    let next = first["next"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    let page = document(&app, next).await.json();
    assert_eq!((page["items"].as_array().unwrap().len(), page["next"].is_null()), (2, true));
}

#[tokio::test]
async fn context_lists_what_everyone_may_read_of_a_thread() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    let context = async |status: &str| {
        let sql = format!("SELECT conversation_id FROM statuses WHERE id = {status}");
        let (id,) = app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0];
        format!("/contexts/{id}")
    };
    let status = alice.publish("hello").await;
    let reply = bob.reply(&status, "yes").await;
    let draft = json!({ "status": "psst", "in_reply_to_id": status.id(), "visibility": "private" });
    bob.publish(draft).await;
    bob.reblog(&status).ok().await;
    let note = document(&app, &format!("/users/alice/statuses/{status}")).await.json();
    let path = context(status.id()).await;
    assert_eq!(note["context"], format!("https://example.test{path}"));
    let thread = document(&app, &path).await.json();
    assert_eq!((&thread["id"], &thread["type"]), (&note["context"], &"OrderedCollection".into()));
    assert_eq!(thread["attributedTo"], "https://example.test/users/alice");
    let first = thread["first"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    let page = document(&app, first).await.json();
    assert_eq!((&page["orderedItems"], &page["next"]), (&json!([status["uri"], reply["uri"]]), &json!(null)));

    let hidden = alice.publish_to("private", "hidden").await;
    let path = context(hidden.id()).await;
    for path in [&path, &format!("{path}?page=true"), "/contexts/1", "/contexts/x", "/contexts/-1"] {
        assert_eq!(document(&app, path).await.status, 404, "{path}");
    }
    let draft = json!({ "status": "open", "in_reply_to_id": hidden.id(), "visibility": "public" });
    let answer = alice.publish(draft).await;
    assert!(document(&app, &path).await.json()["attributedTo"].is_null());
    let page = document(&app, &format!("{path}?page=true")).await.json();
    assert_eq!(page["orderedItems"], json!([answer["uri"]]));
}

#[tokio::test]
async fn long_thread_has_pages() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    let status = alice.publish("hello").await;
    for number in 0..62 {
        alice.reply(&status, &format!("{number}")).await;
    }
    let note = document(&app, &format!("/users/alice/statuses/{status}")).await.json();
    let path = note["context"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
    let (cost, page) = app.cost(document(&app, &format!("{path}?page=true"))).await;
    let page = page.json();
    assert_eq!(page["orderedItems"].as_array().unwrap().len(), 60);
    assert!(cost <= 2, "{cost} statements");
    let next = page["next"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    let page = document(&app, next).await.json();
    assert_eq!((page["orderedItems"].as_array().unwrap().len(), page["next"].is_null()), (3, true));
}

#[tokio::test]
async fn emoji_has_a_document_until_it_is_removed() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    let pack = tempfile::tempdir().unwrap();
    for name in ["rook", "crow"] {
        std::fs::write(pack.path().join(format!("{name}.png")), png(20, 10)).unwrap();
    }
    assert_eq!(app.run(&["emoji", "import", pack.path().to_str().unwrap()]).await.code, 0);
    let rook = "shortcode = 'rook'";
    app.execute(&format!(
        "UPDATE custom_emojis SET license = 'CC0', sensitive = TRUE, aliases = '[\"tower\"]' WHERE {rook}"
    ))
    .await;
    app.app.reload().await.unwrap();
    let status = alice.publish("look :rook:").await;
    let note = document(&app, &format!("/users/alice/statuses/{status}")).await.json();
    let tag = &note["tag"][0];
    let path = tag["id"].as_str().unwrap().strip_prefix("https://example.test").unwrap();
    assert!(path.strip_prefix("/emojis/").unwrap().parse::<i64>().is_ok(), "{path}");
    let answer = document(&app, path).await;
    assert_eq!(answer.header("content-type"), "application/activity+json; charset=utf-8");
    let emoji = answer.json();
    for field in ["id", "type", "name", "icon", "updated", "keywords", "license", "isSensitive"] {
        assert_eq!(emoji[field], tag[field], "{field}");
    }
    assert_eq!((&emoji["type"], &emoji["name"]), (&"Emoji".into(), &":rook:".into()));
    assert_eq!(
        (&emoji["keywords"], &emoji["license"], &emoji["isSensitive"]),
        (&json!(["tower"]), &"CC0".into(), &true.into())
    );
    assert_eq!((&emoji["icon"]["type"], &emoji["icon"]["mediaType"]), (&"Image".into(), &"image/png".into()));
    assert!(chrono::DateTime::parse_from_rfc3339(emoji["updated"].as_str().unwrap()).is_ok(), "{emoji}");
    assert!(emoji["@context"].is_array());

    for path in ["/emojis/rook", "/emojis/1", "/emojis/-1", "/emojis/99999999999999999999"] {
        assert_eq!(document(&app, path).await.status, 404, "{path}");
    }
    app.execute(&format!("UPDATE custom_emojis SET disabled = TRUE WHERE {rook}")).await;
    let mut tx = app.db().begin().await.unwrap();
    store::settings::bump_generation(&mut tx, app.app.clock.now()).await.unwrap();
    tx.commit().await.unwrap();
    app.app.reload().await.unwrap();
    assert_eq!(document(&app, path).await.status, 404);
}

#[tokio::test]
async fn outbox_pages_through_what_everyone_may_read() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    for number in 0..22 {
        alice.publish(&*format!("{number}")).await;
    }
    alice.publish_to("private", "hidden").await;
    let other = bob.publish("by bob").await;
    alice.reblog(&other).ok().await;
    let outbox = document(&app, "/users/alice/outbox").await.json();
    assert_eq!((&outbox["type"], &outbox["totalItems"]), (&"OrderedCollection".into(), &24.into()));
    let (mut next, mut kinds) = (outbox["first"].clone(), Vec::new());
    while let Some(url) = next.as_str() {
        let page = document(&app, url.strip_prefix("https://example.test").unwrap()).await.json();
        assert_eq!(page["partOf"], outbox["id"]);
        let items = page["orderedItems"].as_array().unwrap().clone();
        kinds.extend(items.iter().map(|item| item["type"].as_str().unwrap().to_owned()));
        next = if items.is_empty() { serde_json::Value::Null } else { page["next"].clone() };
    }
    assert_eq!(kinds.len(), 23);
    assert_eq!(kinds.iter().filter(|kind| *kind == "Announce").count(), 1);
}

#[tokio::test]
async fn followers_are_listed_unless_they_are_hidden() {
    let app = TestApp::new().await;
    let alice = app.named_account("alice").await;
    for number in 0..14 {
        app.named_account(&format!("fan{number}")).await.follow(&alice.id()).ok().await;
    }
    let followers = document(&app, "/users/alice/followers").await.json();
    assert_eq!(followers["totalItems"], 14);
    let page = document(&app, "/users/alice/followers?page=1").await.json();
    assert_eq!(page["orderedItems"].as_array().unwrap().len(), 12);
    assert_eq!(page["orderedItems"][0], "https://example.test/users/fan13");
    let next = page["next"].as_str().unwrap().strip_prefix("https://example.test").unwrap().to_owned();
    let page = document(&app, &next).await.json();
    assert_eq!((page["orderedItems"].as_array().unwrap().len(), page["next"].is_null()), (2, true));
    assert_eq!(
        document(&app, "/users/fan1/following?page=1").await.json()["orderedItems"][0],
        "https://example.test/users/alice"
    );

    alice.patch("/api/v1/accounts/update_credentials").form(&[("hide_collections", "true")]).ok().await;
    assert!(document(&app, "/users/alice/followers").await.json()["first"].is_null());
    assert_eq!(document(&app, "/users/alice/followers?page=1").await.status, 403);
}

#[tokio::test]
async fn pins_and_replies_are_collections() {
    let app = TestApp::new().await;
    let [alice, bob] = app.named_accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    alice.pin(&status).ok().await;
    let featured = document(&app, "/users/alice/collections/featured").await.json();
    assert_eq!((&featured["totalItems"], &featured["orderedItems"][0]["id"]), (&1.into(), &status["uri"]));

    let own = alice.reply(&status, "and more").await;
    let other = bob.reply(&status, "yes").await;
    bob.publish(json!({ "status": "psst", "in_reply_to_id": status.id(), "visibility": "private" })).await;
    let path = format!("/users/alice/statuses/{status}/replies");
    let replies = document(&app, &path).await.json();
    let first =
        document(&app, replies["first"].as_str().unwrap().strip_prefix("https://example.test").unwrap()).await.json();
    assert_eq!(first["items"], json!([own["uri"]]));
    let next =
        document(&app, first["next"].as_str().unwrap().strip_prefix("https://example.test").unwrap()).await.json();
    assert_eq!(next["items"], json!([other["uri"]]));
    assert!(next["next"].is_null());
}

#[tokio::test]
async fn page_is_chosen_by_what_is_accepted_first() {
    let app = TestApp::new().await;
    app.named_account("alice").await;
    let kind = async |accept: &str| {
        let answer = app.anonymous().get("/@alice").header("accept", accept).send().await;
        answer.header("content-type").split(';').next().unwrap().to_owned()
    };
    for accept in
        [ACTIVITY, "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"", "application/json"]
    {
        assert_eq!(kind(accept).await, ACTIVITY, "{accept}");
    }
    for accept in
        ["*/*", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html, application/json"]
    {
        assert_eq!(kind(accept).await, "text/html", "{accept}");
    }
}
