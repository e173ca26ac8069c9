//! Requests of timelines, lists and hashtags.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{Body, Case, World};
use crate::harness::Client;
use crate::platform::contract::Route;

pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let alice = i64::from(world.alice.id());
    let bob = i64::from(world.bob.id());
    let on = |id: String| row.path.replace(":id", &id).replace(":account_id", &id);
    let name = row.name();
    let case = match (row.group.as_str(), name.as_str()) {
        ("timelines", "GET /api/v1/timelines/tag/:hashtag") => {
            let status = world.theirs().await;
            let number = world.made.fetch_add(1, Ordering::Relaxed);
            let tag = format!("birds{number}");
            world
                .seed(|seed| {
                    let tag = seed.tag(&tag);
                    seed.tagged(status, tag);
                })
                .await;
            Case::get(row.path.replace(":hashtag", &tag))
        }
        ("timelines", "GET /api/v1/timelines/link") => {
            let status = world.theirs().await;
            let number = world.made.fetch_add(1, Ordering::Relaxed);
            let url = format!("https://a.test/{number}");
            world.seed(|seed| seed.link(&url, &[status])).await;
            service::trend::card_review::review(&world.app.app, &model::Staff::operator(), &url, true).await.unwrap();
            world.app.make_everybody_discoverable().await;
            let refused = ["", "?url=", "?url=https://other.test/"].map(|query| format!("{}{query}", row.path));
            let case = Case::get(format!("{}?url={url}", row.path));
            refused.into_iter().fold(case, |case, path| case.refused(path, Body::None, 404))
        }
        ("timelines", "GET /api/v1/timelines/list/:list_id") => {
            let (status, list) = (world.theirs().await, world.list(&world.alice).await);
            let theirs = world.list(&world.bob).await;
            world.seed(|seed| seed.listed(list.parse().unwrap(), status)).await;
            let on = |id: &str| row.path.replace(":list_id", id);
            let refused = [theirs.as_str(), "1", "nonsense"].map(on);
            refused.into_iter().fold(Case::get(on(&list)), |case, path| case.refused(path, Body::None, 404))
        }
        ("timelines", _) => {
            let (status, owner) = (world.theirs().await, alice);
            world.seed(|seed| seed.home(owner, status, None)).await;
            Case::get(&*row.path)
        }
        ("lists", "GET /api/v1/lists") => {
            world.list(&world.alice).await;
            Case::get(&*row.path)
        }
        ("lists", "POST /api/v1/lists") => {
            let list = json!({ "title": "Friends", "replies_policy": "none", "exclusive": true, "notify": "1" });
            Case::json(&*row.path, list)
                .refused(&*row.path, Body::Json(json!({})), 422)
                .refused(&*row.path, Body::Json(json!({ "title": " " })), 422)
                .refused(&*row.path, Body::Json(json!({ "title": "x".repeat(257) })), 422)
                .refused(&*row.path, Body::Json(json!({ "title": "a", "replies_policy": "some" })), 422)
        }
        ("lists", "PUT /api/v1/lists/:id") => {
            let (mine, theirs) = (world.list(&world.alice).await, world.list(&world.bob).await);
            let body = json!({ "title": "Better" });
            Case::json(on(mine.clone()), body.clone())
                .refused(on(theirs), Body::Json(body), 404)
                .refused(on(mine.clone()), Body::Json(json!({ "title": "" })), 422)
                .refused(on(mine), Body::Json(json!({ "replies_policy": "some" })), 422)
        }
        ("lists", "POST /api/v1/lists/:id/accounts" | "DELETE /api/v1/lists/:id/accounts") => {
            world.friends().await;
            let (empty, theirs) = (world.list(&world.alice).await, world.list(&world.bob).await);
            let full = world.list(&world.alice).await;
            world.seed(|seed| seed.list_member(full.parse().unwrap(), bob)).await;
            let body = json!({ "account_ids": [bob.to_string()] });
            let (adds, stranger) = (row.method == "POST", world.pending.id().to_string());
            let case = Case::json(on(if adds { empty.clone() } else { full.clone() }), body.clone())
                .refused(on(theirs), Body::Json(body.clone()), 404)
                .refused(on(empty.clone()), Body::Json(json!({})), 400)
                .refused(on(empty.clone()), Body::Json(json!({ "account_ids": ["nonsense"] })), 422);
            if !adds {
                return Some(case);
            }
            case.refused(on(full), Body::Json(body), 422)
                .refused(on(empty.clone()), Body::Json(json!({ "account_ids": [bob.to_string(), stranger] })), 404)
                .refused(on(empty), Body::Json(json!({ "account_ids": ["1"] })), 404)
        }
        ("lists", _) => {
            let (mine, theirs) = (world.list(&world.alice).await, world.list(&world.bob).await);
            Case::get(on(mine)).refused(on(theirs), Body::None, 404)
        }
        ("tags", _) => {
            let on = |name: &str| row.path.replace(":name", name);
            let refused = ["a%20b", "2026", &"a".repeat(300)].map(on);
            refused.into_iter().fold(Case::get(on("Birds")), |case, path| case.refused(path, Body::None, 404))
        }
        ("followed_tags", _) => {
            world.alice.post("/api/v1/tags/birds/follow").ok().await;
            Case::get(&*row.path)
        }
        ("featured_tags", "POST /api/v1/featured_tags" | "DELETE /api/v1/featured_tags/:id") => {
            world.app.execute("DELETE FROM featured_tags").await;
            let feature = async |client: &Client| {
                client.post("/api/v1/featured_tags").json(&json!({ "name": "taken" })).ok().await["id"].clone()
            };
            let (mine, theirs) = (feature(&world.alice).await, feature(&world.bob).await);
            if row.method == "DELETE" {
                let on = |id: &Value| row.path.replace(":id", id.as_str().unwrap());
                return Some(Case::get(on(&mine)).refused(on(&theirs), Body::None, 404));
            }
            Case::json(&*row.path, json!({ "name": "#Birds" }))
                .refused(&*row.path, Body::Json(json!({})), 400)
                .refused(&*row.path, Body::Json(json!({ "name": " " })), 400)
                .refused(&*row.path, Body::Json(json!({ "name": "no tag" })), 422)
                .refused(&*row.path, Body::Json(json!({ "name": "Taken" })), 422)
        }
        ("featured_tags", _) => Case::get(&*row.path),
        _ => return None,
    };
    Some(case)
}
