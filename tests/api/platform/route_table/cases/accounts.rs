//! Requests of accounts, of relationships, and of the own settings.

use std::sync::atomic::Ordering;

use model::AccountId;
use serde_json::json;

use super::{Body, Case, World};
use crate::platform::contract::Route;
use crate::routes::push;

pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let alice = i64::from(world.alice.id());
    let bob = i64::from(world.bob.id());
    let on = |id: String| row.path.replace(":id", &id).replace(":account_id", &id);
    let name = row.name();
    let case = match (row.group.as_str(), name.as_str()) {
        ("accounts", "POST /api/v1/accounts") => {
            let number = world.made.fetch_add(1, Ordering::Relaxed);
            let person = json!({ "username": format!("carol{number}"), "email": format!("carol{number}@example.test"),
                "password": "a long password", "agreement": true, "locale": "en" });
            let (path, mut wrong) = (row.path.as_str(), person.clone());
            wrong["username"] = json!("not a name");
            Case::json(path, person).refused(path, Body::Json(wrong), 422)
        }
        ("accounts", "PATCH /api/v1/accounts/update_credentials") => {
            let long = "x".repeat(31);
            Case::json(
                &*row.path,
                json!({ "display_name": "Alice", "fields_attributes": { "0": { "name": "a", "value": "b" } } }),
            )
            .refused(&*row.path, Body::Json(json!({ "display_name": long })), 422)
            .refused(&*row.path, Body::Json(json!({ "source": { "privacy": "everyone" } })), 422)
        }
        ("accounts", "PATCH /api/v1/profile") => {
            let long = "x".repeat(1501);
            Case::json(&*row.path, json!({ "note": "hello", "avatar_description": "a rook" })).refused(
                &*row.path,
                Body::Json(json!({ "header_description": long })),
                422,
            )
        }
        ("accounts", "GET /api/v1/accounts") => Case::get(format!("{}?id[]={alice}&id[]={bob}&id[]=1", row.path)),
        ("accounts", "GET /api/v1/accounts/lookup") => {
            Case::get(format!("{}?acct=bob", row.path)).refused(format!("{}?acct=nobody", row.path), Body::None, 404)
        }
        ("search", "GET /api/v2/search") => Case::get(format!("{}?q=bob", row.path))
            .refused(&*row.path, Body::None, 400)
            .refused(format!("{}?q=colour:red", row.path), Body::None, 422),
        ("accounts", "GET /api/v1/accounts/search") => Case::get(format!("{}?q=bob", row.path)),
        ("endorsements", _) => Case::get(&*row.path),
        ("accounts", "GET /api/v1/accounts/familiar_followers") => Case::get(format!("{}?id[]={bob}", row.path)),
        ("accounts", "GET /api/v1/accounts/relationships") => Case::get(format!("{}?id[]={bob}", row.path)),
        ("accounts", "GET /api/v1/accounts/verify_credentials") => Case::get(&*row.path),
        ("accounts", "GET /api/v1/accounts/:id/statuses") => {
            world.theirs().await;
            Case::get(on(bob.to_string()))
        }
        ("accounts", "POST /api/v1/accounts/:id/pin" | "POST /api/v1/accounts/:id/endorse") => {
            let (one, other) = (alice, bob);
            world.alice.post(&format!("/api/v1/accounts/{other}/unfollow")).send().await;
            world.seed(|seed| seed.follow(one, other)).await;
            Case::get(on(bob.to_string())).refused(on(alice.to_string()), Body::None, 422)
        }
        ("accounts", "POST /api/v1/accounts/:id/follow") => {
            Case::get(on(bob.to_string())).refused(on(alice.to_string()), Body::None, 403)
        }
        ("accounts", "POST /api/v1/accounts/:id/note") => Case::json(on(bob.to_string()), json!({ "comment": "kind" }))
            .refused(on(bob.to_string()), Body::Json(json!({ "comment": "x".repeat(2001) })), 422),
        ("accounts", "POST /api/v1/accounts/alias") => Case::json(&*row.path, json!({ "also_known_as_uris": ["bob"] }))
            .refused(&*row.path, Body::Json(json!({ "also_known_as_uris": ["nobody"] })), 422),
        ("accounts", "POST /api/v1/accounts/move") => {
            let uri = world.app.app.urls.actor(AccountId::from(alice));
            world.app.set_password("alice", "a long password").await;
            for sql in [
                "DELETE FROM account_moves".to_owned(),
                format!("UPDATE accounts SET moved_to_account_id = NULL, version = version + 1 WHERE id = {alice}"),
                format!("UPDATE accounts SET also_known_as = '[\"{uri}\"]' WHERE id = {bob}"),
            ] {
                world.app.execute(&sql).await;
            }
            let to = |name| json!({ "password": "a long password", "moved_to_uri": name });
            Case::json(&*row.path, to("bob")).refused(&*row.path, Body::Json(to("nobody")), 422).refused(
                &*row.path,
                Body::Json(json!({ "password": "wrong", "moved_to_uri": "bob" })),
                422,
            )
        }
        ("accounts", "DELETE /api/v1/accounts/move") => Case::get(&*row.path),
        ("accounts", _) => Case::get(on(bob.to_string())),
        ("favourites" | "bookmarks" | "blocks" | "mutes" | "preferences" | "custom_emojis", _) => Case::get(&*row.path),
        ("suggestions", "DELETE /api/v1/suggestions/:account_id") => Case::get(on(bob.to_string())),
        ("directory" | "suggestions" | "trends", _) => Case::get(&*row.path),
        ("domain_blocks", "GET /api/v1/domain_blocks/preview") => Case::get(format!("{}?domain=far.test", row.path))
            .refused(&*row.path, Body::None, 400)
            .refused(format!("{}?domain=a%20b", row.path), Body::None, 422),
        ("domain_blocks", "GET /api/v1/domain_blocks") => {
            world.alice.post("/api/v1/domain_blocks").json(&json!({ "domain": "near.test" })).ok().await;
            Case::get(&*row.path)
        }
        ("domain_blocks", _) => {
            let missing = if row.method == "POST" { 422 } else { 400 };
            let case = Case::json(&*row.path, json!({ "domain": "far.test" })).refused(
                &*row.path,
                Body::Json(json!({})),
                missing,
            );
            if row.method != "POST" {
                return Some(case);
            }
            case.refused(&*row.path, Body::Json(json!({ "domain": "a b" })), 422).refused(
                &*row.path,
                Body::Json(json!({ "domain": "example.test" })),
                422,
            )
        }
        ("push", "POST /api/v1/push/subscription") => {
            let new = world.push.subscription("/a", false, &["mention"], "all");
            Case::json(&*row.path, new).refused(&*row.path, Body::Json(json!({})), 400).refused(
                &*row.path,
                Body::Json(json!({ "subscription": { "endpoint": "nowhere" } })),
                422,
            )
        }
        ("push", "DELETE /api/v1/push/subscription") => Case::get(&*row.path),
        ("push", _) => {
            push::subscribe_every_token(&world.app, &world.push).await;
            Case::json(&*row.path, json!({ "data": { "alerts": { "mention": true } } }))
        }
        ("follow_requests", "GET /api/v1/follow_requests") => {
            let (one, other) = (alice, bob);
            if world.app.db().fetch_raw::<(i64,)>("SELECT id FROM follow_requests").await.unwrap().is_empty() {
                world.seed(|seed| seed.follow_request(other, one)).await;
            }
            Case::get(&*row.path)
        }
        ("follow_requests", _) => {
            let one = alice;
            let number = world.made.fetch_add(1, Ordering::Relaxed);
            let asking = world
                .seed(|seed| {
                    let asking = seed.account(&format!("asking{number}"), None);
                    seed.follow_request(asking, one);
                    asking
                })
                .await;
            Case::get(on(asking.to_string())).refused(on(alice.to_string()), Body::None, 404)
        }
        _ => return None,
    };
    Some(case)
}
