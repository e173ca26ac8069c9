//! Requests of statuses, their polls, media and schedules.

use serde_json::json;

use super::{Body, Case, World};
use crate::platform::contract::Route;
use crate::seed::{Reply, Status};

pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let alice = i64::from(world.alice.id());
    let bob = i64::from(world.bob.id());
    let on = |id: String| row.path.replace(":id", &id).replace(":account_id", &id);
    let name = row.name();
    let case = match (row.group.as_str(), name.as_str()) {
        ("statuses", "GET /api/v1/statuses") => {
            let (own, hidden) = (world.own().await, world.hidden().await);
            Case::get(format!("{}?id[]={own}&id[]={hidden}", row.path))
        }
        ("statuses", "POST /api/v1/statuses") => {
            let (path, hidden) = (&*row.path, world.hidden().await);
            Case::json(path, json!({ "status": "hello" }))
                .refused(path, Body::Json(json!({})), 422)
                .refused(path, Body::Json(json!({ "status": "a", "visibility": "everyone" })), 422)
                .refused(path, Body::Json(json!({ "status": "x".repeat(501) })), 422)
                .refused(path, Body::Json(json!({ "status": "a", "in_reply_to_id": hidden.to_string() })), 404)
                .refused(path, Body::Json(json!({ "status": "a", "media_ids": ["1"] })), 422)
        }
        ("statuses", "PUT /api/v1/statuses/:id") => {
            let body = json!({ "status": "better" });
            Case::json(on(world.own().await.to_string()), body.clone())
                .refused(on(world.theirs().await.to_string()), Body::Json(body), 404)
                .refused(on(world.own().await.to_string()), Body::Json(json!({})), 422)
        }
        ("statuses", "DELETE /api/v1/statuses/:id") => {
            Case::get(on(world.own().await.to_string())).refused(on(world.theirs().await.to_string()), Body::None, 404)
        }
        ("statuses", "POST /api/v1/statuses/:id/pin") => {
            Case::get(on(world.own().await.to_string())).refused(on(world.theirs().await.to_string()), Body::None, 422)
        }
        ("statuses", "POST /api/v1/statuses/:id/unpin" | "GET /api/v1/statuses/:id/mentioned_by") => {
            Case::get(on(world.own().await.to_string()))
        }
        ("statuses", "GET /api/v1/statuses/:id/context") => {
            let (one, other) = (alice, bob);
            let middle = world
                .seed(|seed| {
                    let root = seed.status(&Status { author: one, ..Status::default() });
                    let reply = Reply { status: root, account: one, conversation: root };
                    let middle = seed.reply(other, reply, "public");
                    seed.reply(one, Reply { status: middle, account: other, conversation: root }, "public");
                    middle
                })
                .await;
            Case::get(on(middle.to_string()))
        }
        ("statuses", "GET /api/v1/statuses/:id/referred_by") => {
            let (one, target) = (alice, world.theirs().await);
            world
                .seed(|seed| {
                    let status = seed.status(&Status { author: one, ..Status::default() });
                    seed.reference(status, target);
                })
                .await;
            Case::get(on(target.to_string()))
        }
        ("statuses", "POST /api/v1/statuses/:id/quotes/:quoting_id/revoke") => {
            let (other, own, theirs) = (bob, world.own().await, world.theirs().await);
            let quoting = world
                .seed(|seed| {
                    let status = seed.status(&Status { author: other, ..Status::default() });
                    seed.reference(status, own);
                    status
                })
                .await;
            let on = |id: i64, quoting: i64| on(id.to_string()).replace(":quoting_id", &quoting.to_string());
            Case::get(on(own, quoting))
                .refused(on(own, theirs), Body::None, 404)
                .refused(on(own, 1), Body::None, 404)
                .refused(on(theirs, quoting), Body::None, 403)
        }
        ("statuses", "PUT /api/v1/statuses/:id/interaction_policy") => {
            let (own, theirs) = (on(world.own().await.to_string()), on(world.theirs().await.to_string()));
            let policy = |word: &str| json!({ "quote_approval_policy": word });
            Case::json(&*own, policy("nobody"))
                .refused(theirs, Body::Json(policy("nobody")), 404)
                .refused(&*own, Body::Json(policy("friends")), 422)
                .refused(own, Body::None, 400)
        }
        ("statuses", "POST /api/v1/statuses/:id/remove_from_thread") => {
            let (own, theirs) = (world.own().await, world.theirs().await);
            let reply = |status: i64, account: i64| Reply { status, account, conversation: status };
            let (to_own, to_theirs) = world
                .seed(|seed| {
                    (seed.reply(bob, reply(own, alice), "public"), seed.reply(bob, reply(theirs, bob), "public"))
                })
                .await;
            Case::get(on(to_own.to_string())).refused(on(to_theirs.to_string()), Body::None, 403).refused(
                on(theirs.to_string()),
                Body::None,
                404,
            )
        }
        ("statuses", "POST /api/v1/statuses/:id/restore_to_thread") => {
            let (own, theirs) = (world.own().await, world.theirs().await);
            let parent = Reply { status: own, account: alice, conversation: own };
            let reply = world.seed(|seed| seed.reply(bob, parent, "public")).await;
            world.alice.post(&format!("/api/v1/statuses/{reply}/remove_from_thread")).ok().await;
            Case::get(on(reply.to_string())).refused(on(theirs.to_string()), Body::None, 404)
        }
        ("statuses", "POST /api/v1/statuses/:id/close_thread" | "POST /api/v1/statuses/:id/reopen_thread") => {
            let own = world.alice.publish("hello").await.into_id();
            Case::get(on(own)).refused(on(world.bob.publish("hello").await.into_id()), Body::None, 403)
        }
        ("statuses", "GET /api/v1/interaction_requests") => {
            world.request().await;
            Case::get(&*row.path).refused(format!("{}?state=open", row.path), Body::None, 422)
        }
        ("statuses", "GET /api/v1/interaction_requests/:id") => Case::get(on(world.request().await)),
        (
            "statuses",
            "POST /api/v1/interaction_requests/:id/authorize" | "POST /api/v1/interaction_requests/:id/reject",
        ) => Case::get(on(world.request().await)).refused(on("1".to_owned()), Body::None, 404),
        ("statuses", "GET /api/v1/interaction_policies/defaults") => Case::get(&*row.path),
        ("statuses", "PATCH /api/v1/interaction_policies/defaults") => {
            let policy = |word: &str| json!({ "unlisted": { "can_reply": { "always": [word] } } });
            Case::json(&*row.path, policy("followers")).refused(&*row.path, Body::Json(policy("friends")), 422)
        }
        ("statuses", "POST /api/v1/statuses/:id/reblog") => {
            let follow = (alice, bob);
            world.alice.post(&format!("/api/v1/accounts/{}/unfollow", follow.1)).send().await;
            world.seed(|seed| seed.follow(follow.0, follow.1)).await;
            let private = world.status(&world.bob, "private").await;
            Case::get(on(world.theirs().await.to_string())).refused(on(private.to_string()), Body::None, 403)
        }
        ("statuses", _) => Case::get(on(world.theirs().await.to_string())),
        ("polls", "GET /api/v1/polls/:id") => Case::get(on(world.poll(&world.bob, "public").await.to_string())),
        ("polls", _) => {
            let (theirs, own) = (world.poll(&world.bob, "public").await, world.poll(&world.alice, "public").await);
            let (path, vote) = (on(theirs.to_string()), json!({ "choices": [0] }));
            Case::json(&*path, vote.clone())
                .refused(&*path, Body::Json(json!({})), 400)
                .refused(&*path, Body::Json(json!({ "choices": [2] })), 422)
                .refused(on(own.to_string()), Body::Json(vote), 422)
        }
        ("scheduled_statuses", "GET /api/v1/scheduled_statuses") => {
            world.scheduled(&world.alice).await;
            Case::get(&*row.path)
        }
        ("scheduled_statuses", _) => {
            let (mine, others) = (world.scheduled(&world.alice).await, world.scheduled(&world.bob).await);
            let time = |time: &str| Body::Json(json!({ "scheduled_at": time }));
            let body = if row.method == "PUT" { time("2027-03-01T12:00:00Z") } else { Body::None };
            let case = Case { body: body.clone(), ..Case::get(on(mine.clone())) }.refused(on(others), body, 404);
            match row.method.as_str() {
                "PUT" => case.refused(on(mine.clone()), time("2026-01-15T12:04:00Z"), 422).refused(
                    on(mine),
                    time("never"),
                    422,
                ),
                _ => case,
            }
        }
        ("media", "POST /api/v2/media" | "POST /api/v1/media") => {
            Case { body: Body::Image("file"), ..Case::get(&*row.path) }.refused(&*row.path, Body::None, 422).refused(
                &*row.path,
                Body::Image("something"),
                422,
            )
        }
        ("media", _) => {
            let body = if row.method == "PUT" { Body::Json(json!({ "description": "a bird" })) } else { Body::None };
            let (mine, others) = (world.media(&world.alice).await, world.media(&world.bob).await);
            Case { body: body.clone(), ..Case::get(on(mine)) }.refused(on(others), body, 404)
        }
        _ => return None,
    };
    Some(case)
}
