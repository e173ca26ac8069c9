//! Requests of the group `filters`.

use serde_json::{Value, json};

use super::{Body, Case, World};
use crate::harness::Client;
use crate::platform::contract::Route;

/// The case of a row of filters; `None` if there is none.
pub async fn case(world: &World, row: &Route) -> Option<Case> {
    // Each row is requested often, and the number of filters is limited.
    world.app.execute("DELETE FROM filters").await;
    let [mine, others] = [made(world, &world.alice).await, made(world, &world.bob).await];
    let of = |ids: &Ids, last: &str| row.path.replace(":filter_id", &ids.filter).replace(":id", last);
    let with = |body: Value, last: fn(&Ids) -> &str| {
        Case::json(of(&mine, last(&mine)), body.clone()).refused(of(&others, last(&others)), Body::Json(body), 404)
    };
    let bare =
        |last: fn(&Ids) -> &str| Case::get(of(&mine, last(&mine))).refused(of(&others, last(&others)), Body::None, 404);
    let (filter, keyword, entry) = (Ids::filter, Ids::keyword, Ids::entry);
    let long = json!({ "keyword": "x".repeat(513) });
    let case = match (row.method.as_str(), row.path.as_str()) {
        ("GET", "/api/v1/filters" | "/api/v2/filters") => Case::get(&*row.path),
        ("POST", path @ "/api/v2/filters") => {
            let body = json!({ "title": "a", "context": ["home"], "keywords_attributes": [{ "keyword": "b" }] });
            let wrong = [
                ("title", json!(" ")),
                ("title", json!("x".repeat(257))),
                ("context", json!([])),
                ("context", json!(["nowhere"])),
                ("filter_action", json!("fade")),
                ("expires_in", json!("soon")),
                ("expires_in", json!(-1)),
                ("keywords_attributes", json!([{ "keyword": "", "whole_word": true }])),
            ];
            let refused = |case: Case, (name, value): (&str, Value)| {
                let mut body = body.clone();
                body[name] = value;
                case.refused(path, Body::Json(body), 422)
            };
            wrong.into_iter().fold(Case::json(path, body.clone()).refused(path, Body::None, 422), refused)
        }
        ("PUT", "/api/v2/filters/:id") => with(json!({ "title": "better" }), filter)
            .refused(of(&mine, &mine.filter), Body::Json(json!({ "title": "" })), 422)
            .refused(
                of(&mine, &mine.filter),
                Body::Json(json!({ "keywords_attributes": [{ "id": others.keyword, "keyword": "mine now" }] })),
                404,
            ),
        ("GET" | "DELETE", "/api/v2/filters/:id") => bare(filter),
        ("GET", "/api/v2/filters/:filter_id/keywords" | "/api/v2/filters/:filter_id/statuses") => bare(filter),
        ("POST", "/api/v2/filters/:filter_id/keywords" | "/api/v2/filters/:filter_id/keywords/:id") => with(
            json!({ "keyword": "more" }),
            keyword,
        )
        .refused(of(&mine, "1"), Body::None, 422)
        .refused(of(&mine, "1"), Body::Json(long), 422),
        ("PUT", path) if path.ends_with("/filters/keywords/:id") => with(json!({ "keyword": "other" }), keyword)
            .refused(of(&mine, &mine.keyword), Body::Json(json!({ "keyword": " " })), 422)
            .refused(of(&mine, &mine.keyword), Body::Json(long), 422),
        ("GET" | "DELETE", path) if path.ends_with("/filters/keywords/:id") => bare(keyword),
        ("POST", "/api/v2/filters/:filter_id/statuses") => {
            let [status, hidden] =
                [world.theirs().await, world.hidden().await].map(|id| json!({ "status_id": id.to_string() }));
            with(status, filter)
                .refused(of(&mine, ""), Body::None, 422)
                .refused(of(&mine, ""), Body::Json(hidden), 422)
                .refused(of(&mine, ""), Body::Json(json!({ "status_id": mine.status })), 422)
        }
        ("GET" | "DELETE", "/api/v2/filters/statuses/:id") => bare(entry),
        ("POST", path @ "/api/v1/filters") => Case::json(path, json!({ "phrase": "a", "context": ["home"] }))
            .refused(path, Body::Json(json!({ "phrase": "", "context": ["home"] })), 422)
            .refused(path, Body::Json(json!({ "phrase": "a" })), 422),
        ("PUT", "/api/v1/filters/:id") => with(json!({ "phrase": "other" }), keyword),
        ("GET" | "DELETE", "/api/v1/filters/:id") => bare(keyword),
        _ => return None,
    };
    Some(case)
}

/// A filter with a keyword and a status.
struct Ids {
    filter: String,
    keyword: String,
    entry: String,
    status: String,
}

impl Ids {
    fn filter(&self) -> &str {
        &self.filter
    }

    fn keyword(&self) -> &str {
        &self.keyword
    }

    fn entry(&self) -> &str {
        &self.entry
    }
}

async fn made(world: &World, owner: &Client) -> Ids {
    let body = json!({ "title": "birds", "context": ["home"], "keywords_attributes": [{ "keyword": "rook" }] });
    let filter = owner.post("/api/v2/filters").json(&body).ok().await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (id, status) = (text(&filter["id"]), world.theirs().await.to_string());
    let path = format!("/api/v2/filters/{id}/statuses");
    let entry = owner.post(&path).json(&json!({ "status_id": status })).ok().await;
    Ids { filter: id, keyword: text(&filter["keywords"][0]["id"]), entry: text(&entry["id"]), status }
}
