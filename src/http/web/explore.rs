//! Pages to look around: `/explore` with what many people use at present, and `/directory` with people of this server.
//!
//! Both show the same as the API, to anonymous clients and to people who are signed in. Spec: docs/contract/federation.md#12-pages

use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Visitor;
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use entity::web;
use model::AccountId;
use model::filter::FilterContext;
use service::directory::{self, DirectoryPage, Order};
use service::trend::{self, Query};

/// Hashtags and links on the page.
const SHORT_LIST: i64 = 10;
/// Posts on the page.
const POSTS: i64 = 20;
/// People on a page of the directory.
const PEOPLE: i64 = 40;

/// `GET /explore`: hashtags, posts and links that trend; a page that says so while there are none.
pub async fn show(cx: Cx, visitor: Visitor) -> Result<Response> {
    let viewer = visitor.viewer.as_ref();
    let query = |limit| Query { languages: vec![cx.language().code().to_owned()], limit, offset: 0 };
    let tags = trend::tags(&cx, viewer, &query(SHORT_LIST)).await?.shown;
    let statuses = trend::statuses(&cx, viewer, &query(POSTS)).await?.shown;
    let links = trend::links(&cx, &query(SHORT_LIST)).await?.shown;
    let tags: Vec<Value> =
        tags.iter().map(|tag| context! { name => tag.display_name, url => cx.urls.tag(&tag.name) }).collect();
    let links: Vec<Value> = links
        .iter()
        .map(|card| context! { url => card.page_url, title => card.title, from => card.provider_name })
        .collect();
    let context = context! {
        page_title => cx.language().say("explore.title"),
        directory => cx.settings().profile_directory,
        statuses => web::statuses(&cx, viewer, Some(FilterContext::Explore), &statuses).await?,
        tags, links,
    };
    Ok(visitor.respond(visitor.page(&cx, "explore.html", context)?))
}

/// Query parameters of the directory.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Place {
    /// `active`, the default: by the last post; `new`: the newest account first.
    order: Option<String>,
    /// The number of the page, from 1.
    page: Option<i64>,
}

/// `GET /directory`: people of this server who want to be found.
///
/// # Errors
/// [`Error::NotFound`](crate::error::Error::NotFound) while the directory is off.
pub async fn directory(cx: Cx, visitor: Visitor, Params(place): Params<Place>) -> Result<Response> {
    let number = place.page.unwrap_or(1).max(1);
    let new = place.order.as_deref() == Some("new");
    let asked = DirectoryPage {
        order: if new { Order::New } else { Order::Active },
        local: true,
        // One more shows that there is a further page.
        limit: PEOPLE + 1,
        offset: (number - 1).saturating_mul(PEOPLE),
    };
    let mut found = directory::list(&cx, None, asked).await?;
    let further = found.len() > usize::try_from(PEOPLE).unwrap_or_default();
    found.truncate(usize::try_from(PEOPLE).unwrap_or_default());
    let ids: Vec<AccountId> = found.into_iter().map(|(id, _)| id).collect();
    let order = if new { "new" } else { "active" };
    let url = |number: i64| format!("/directory?order={order}&page={number}");
    let context = context! {
        page_title => cx.language().say("directory.title"),
        noindex => number > 1,
        order,
        accounts => web::authors(&cx, visitor.viewer.as_ref(), &ids).await?,
        previous_url => (number > 1).then(|| url(number - 1)),
        next_url => further.then(|| url(number + 1)),
    };
    Ok(visitor.respond(visitor.page(&cx, "directory.html", context)?))
}
