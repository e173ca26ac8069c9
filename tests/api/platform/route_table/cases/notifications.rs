//! Requests of notifications, conversations, announcements, markers and reports.

use serde_json::json;

use super::{Body, Case, World};
use crate::platform::contract::Route;
use crate::routes::announcements::announce;

pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let bob = i64::from(world.bob.id());
    let on = |id: String| row.path.replace(":id", &id).replace(":account_id", &id);
    let name = row.name();
    let case = match (row.group.as_str(), name.as_str()) {
        ("notifications", "GET /api/v1/notifications/:id" | "POST /api/v1/notifications/:id/dismiss") => {
            let mine = world.notification(&world.alice, &world.bob).await;
            let others = world.notification(&world.bob, &world.alice).await;
            Case::get(on(mine.to_string())).refused(on(others.to_string()), Body::None, 404)
        }
        ("notifications", "PUT /api/v1/notifications/policy") => Case::json(
            &*row.path,
            json!({ "filter_not_following": false, "filter_new_accounts": "0" }),
        )
        .refused(&*row.path, Body::Json(json!({ "filter_new_accounts": {} })), 422),
        ("notifications", "PATCH /api/v2/notifications/policy") => Case::json(
            &*row.path,
            json!({ "for_private_mentions": "filter", "for_new_accounts": "accept" }),
        )
        .refused(&*row.path, Body::Json(json!({ "for_new_accounts": "hide" })), 422),
        (
            "notifications",
            "POST /api/v1/notifications/requests/accept" | "POST /api/v1/notifications/requests/dismiss",
        ) => {
            let request = world.notification_request().await;
            Case::json(&*row.path, json!({ "id": [request.to_string(), "1"] }))
        }
        ("notifications", path) if path.contains("/requests/:id") => {
            Case::get(on(world.notification_request().await.to_string()))
        }
        ("notifications", path) if path.ends_with("/requests") => {
            world.notification_request().await;
            Case::get(&*row.path)
        }
        ("notifications", path) if path.contains(":group_key") => {
            let on = |id: i64| row.path.replace(":group_key", &format!("ungrouped-{id}"));
            let mine = Case::get(on(world.notification(&world.alice, &world.bob).await));
            if !path.ends_with(":group_key") {
                return Some(mine);
            }
            let others = world.notification(&world.bob, &world.alice).await;
            mine.refused(on(others), Body::None, 404).refused(on(1), Body::None, 404)
        }
        ("notifications", "GET /api/v2/notifications") => {
            world.notification(&world.alice, &world.bob).await;
            Case::get(&*row.path).refused(format!("{}?expand_accounts=few", row.path), Body::None, 400)
        }
        ("notifications", _) => {
            world.notification(&world.alice, &world.bob).await;
            Case::get(&*row.path)
        }
        ("conversations", "GET /api/v1/conversations") => {
            world.conversation(&world.alice, &world.bob).await;
            Case::get(&*row.path)
        }
        ("conversations", _) => {
            let mine = world.conversation(&world.alice, &world.bob).await;
            let others = world.conversation(&world.bob, &world.alice).await;
            Case::get(on(mine.to_string())).refused(on(others.to_string()), Body::None, 404)
        }
        ("announcements", "PUT /api/v1/announcements/:id/reactions/:name") => {
            let path = announce(&world.app, "hello").await;
            Case::get(format!("{path}/reactions/%F0%9F%8E%89")).refused(format!("{path}/reactions/no"), Body::None, 422)
        }
        ("announcements", "DELETE /api/v1/announcements/:id/reactions/:name") => {
            let path = format!("{}/reactions/%F0%9F%8E%89", announce(&world.app, "hello").await);
            world.alice.put(&path).ok().await;
            Case::get(path.clone()).refused(path.replace("89", "8A"), Body::None, 404)
        }
        ("announcements", _) => {
            let path = announce(&world.app, "hello").await;
            let id = path.rsplit('/').next().unwrap().to_owned();
            Case::get(on(id))
        }
        ("reports", _) => {
            let target = bob.to_string();
            let long = "x".repeat(1001);
            Case::json(&*row.path, json!({ "account_id": target, "comment": "rude" }))
                .refused(&*row.path, Body::Json(json!({ "account_id": target, "comment": long })), 422)
                .refused(&*row.path, Body::Json(json!({ "account_id": target, "rule_ids": ["1"] })), 422)
                .refused(&*row.path, Body::Json(json!({ "account_id": "1" })), 404)
        }
        ("markers", "GET /api/v1/markers") => Case::get(format!("{}?timeline[]=home", row.path)),
        ("markers", _) => Case::json(&*row.path, json!({ "home": { "last_read_id": "1" } })),
        _ => return None,
    };
    Some(case)
}
