//! A request for every row of the table, and requests that must fail.

mod accounts;
mod filters;
mod notifications;
mod server;
mod statuses;
mod timelines;

use axum::http::Method;
use serde_json::Value;

use super::World;
use crate::harness::{Client, RequestBuilder};
use crate::platform::contract::Route;
use crate::routes::media::png;

/// A request that must succeed, and requests that must fail.
pub struct Case {
    pub path: String,
    pub body: Body,
    /// Path, body and status of requests that fail with every scope.
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

/// The case of a row; `None` if there is none.
pub async fn case(world: &World, row: &Route) -> Option<Case> {
    match row.group.as_str() {
        "filters" => filters::case(world, row).await,
        "timelines" | "lists" | "tags" | "followed_tags" | "featured_tags" => timelines::case(world, row).await,
        "statuses" | "polls" | "scheduled_statuses" | "media" => statuses::case(world, row).await,
        "notifications" | "conversations" | "announcements" | "markers" | "reports" => {
            notifications::case(world, row).await
        }
        "instance" | "health" | "well_known" | "oauth" | "apps" | "emails" | "peers" | "oembed" => {
            server::case(world, row).await
        }
        "accounts" | "endorsements" | "search" | "favourites" | "bookmarks" | "blocks" | "mutes" | "preferences"
        | "custom_emojis" | "suggestions" | "directory" | "trends" | "domain_blocks" | "push" | "follow_requests" => {
            accounts::case(world, row).await
        }
        _ => None,
    }
}
