//! A request for every row of the table, and what must be refused.

mod filters;

use std::sync::atomic::Ordering;

use axum::http::Method;
use serde_json::{Value, json};

use super::World;
use crate::harness::{Client, RequestBuilder};
use crate::platform::contract::Route;
use crate::routes::announcements::announce;
use crate::routes::media::png;
use crate::routes::push;
use crate::seed::{Reply, Status};

/// A request that must succeed, and others that must not.
pub struct Case {
    pub path: String,
    pub body: Body,
    /// Path, body and status of what is refused to someone with every right.
    pub refused: Vec<(String, Body, u16)>,
}

#[derive(Clone)]
pub enum Body {
    None,
    Json(Value),
    Image(&'static str),
}

impl Case {
    fn get(path: impl Into<String>) -> Self {
        Self { path: path.into(), body: Body::None, refused: Vec::new() }
    }

    fn json(path: impl Into<String>, body: Value) -> Self {
        Self { body: Body::Json(body), ..Self::get(path) }
    }

    fn refused(mut self, path: impl Into<String>, body: Body, status: u16) -> Self {
        self.refused.push((path.into(), body, status));
        self
    }
}

pub fn request(client: &Client, method: &str, path: &str, body: &Body) -> RequestBuilder {
    let request = client.request(Method::from_bytes(method.as_bytes()).unwrap(), path);
    match body {
        Body::None => request,
        Body::Json(json) => request.json(json),
        Body::Image(name) => request.multipart(&[], &[(name, "a.png", &png(40, 30))]),
    }
}

/// The request of a row; `None` when nobody wrote one.
pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let (alice, bob) = (i64::from(world.alice.id()), i64::from(world.bob.id()));
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
        ("filters", _) => filters::case(world, row).await?,
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
        ("statuses", "POST /api/v1/statuses/:id/reblog") => {
            let follow = (alice, bob);
            world.alice.post(&format!("/api/v1/accounts/{}/unfollow", follow.1)).send().await;
            world.seed(|seed| seed.follow(follow.0, follow.1)).await;
            let private = world.status(&world.bob, "private").await;
            Case::get(on(world.theirs().await.to_string())).refused(on(private.to_string()), Body::None, 403)
        }
        ("statuses", _) => Case::get(on(world.theirs().await.to_string())),
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
            for change in [
                format!("UPDATE preview_cards SET trendable = TRUE WHERE url = '{url}'"),
                format!(
                    "UPDATE accounts SET discoverable = TRUE WHERE id IN (SELECT account_id FROM statuses WHERE id = {status})"
                ),
            ] {
                world.app.execute(&change).await;
            }
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
        ("peers", _) => Case::get(format!("{}?q=rook", row.path)),
        ("oembed", _) => {
            let address = format!("https://example.test/@bob/{}", world.theirs().await);
            Case::get(format!("{}?url={address}", row.path)).refused(
                format!("{}?url=https://example.test/@bob/1", row.path),
                Body::None,
                404,
            )
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
        ("markers", "GET /api/v1/markers") => Case::get(format!("{}?timeline[]=home", row.path)),
        ("markers", _) => Case::json(&*row.path, json!({ "home": { "last_read_id": "1" } })),
        ("instance" | "health", _) => Case::get(&*row.path),
        ("well_known", "GET /.well-known/webfinger") => {
            Case::get(format!("{}?resource=acct:alice@example.test", row.path))
                .refused(&*row.path, Body::None, 400)
                .refused(format!("{}?resource=acct:nobody@example.test", row.path), Body::None, 404)
        }
        ("oauth", "POST /oauth/token") => {
            let (id, secret) = world.credentials();
            let body = json!({ "grant_type": "client_credentials", "client_id": id, "client_secret": secret, "scope": "read" });
            let mut wrong = body.clone();
            wrong["client_secret"] = json!("wrong");
            let mut grant = body.clone();
            grant["grant_type"] = json!("password");
            Case::json(&*row.path, body).refused(&*row.path, Body::Json(wrong), 401).refused(
                &*row.path,
                Body::Json(grant),
                400,
            )
        }
        ("oauth", "POST /oauth/revoke" | "POST /oauth/introspect") => {
            let (id, secret) = world.credentials();
            let body = json!({ "client_id": id, "client_secret": secret, "token": "none" });
            let wrong = json!({ "client_id": id, "client_secret": "wrong", "token": "none" });
            let status = if row.path.ends_with("revoke") { 403 } else { 401 };
            Case::json(&*row.path, body).refused(&*row.path, Body::Json(wrong), status)
        }
        ("apps", "POST /api/v1/apps") => {
            let blank = json!({ "client_name": "", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob" });
            Case::json(&*row.path, json!({ "client_name": "app", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob" }))
                .refused(&*row.path, Body::Json(blank), 422)
        }
        ("well_known" | "oauth" | "apps" | "emails", _) => Case::get(&*row.path),
        _ => return None,
    };
    Some(case)
}
