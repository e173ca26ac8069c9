//! The page of followed hashtags, where each can be unfollowed. They are followed in apps.

use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::error::Result;
use crate::extract::Paging;
use crate::web::{Form, Page, redirect};
use service::tag;

/// Where this page is.
const PATH: &str = "/settings/followed_tags";

/// Which hashtag is unfollowed.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Unfollowed {
    name: Option<String>,
}

/// `GET /settings/followed_tags`
pub async fn index(frame: Frame, paging: Paging) -> Result<Page> {
    let rows = tag::followed(&frame.cx, &frame.actor().await?, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.row_id.into()).collect();
    let shown = |name: &str, display_name: &str| {
        context! { name, display_name, url => frame.cx.urls.tag(name) }
    };
    let tags: Vec<Value> = rows.iter().map(|row| shown(&row.tag.name, &row.tag.display_name)).collect();
    let own = context! { tags, older_url => paging.older(&ids), newer_url => paging.newer(&ids) };
    frame.page("followed_tags", "settings.followed_tags", "settings/followed_tags.html", own)
}

/// `POST /settings/followed_tags`: unfollows one.
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) for a text that is not the name of a hashtag.
pub async fn delete(frame: Frame, Form(form): Form<Unfollowed>) -> Result<Response> {
    let name = form.name.unwrap_or_default();
    let tag = tag::unfollow(&frame.cx, &frame.actor().await?, &name).await?;
    let notice = frame.cx.language().say_with("followed_tags.unfollowed", &[("name", &tag.display_name)]);
    frame.cookies.notice(&notice);
    Ok(redirect(PATH))
}
