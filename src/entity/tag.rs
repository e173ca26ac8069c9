//! <https://docs.joinmastodon.org/entities/Tag/>

use serde::Serialize;

use super::history::{Day, Histories};
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::TagId;
use store::tag::FoundTag;

/// A hashtag with its usage history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tag {
    /// `None` for a name that was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TagId>,
    pub name: String,
    pub url: String,
    pub history: Vec<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub following: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub featuring: Option<bool>,
}

/// Renders one hashtag, see [`render`].
///
/// # Errors
/// When it cannot be serialised, which is a bug.
pub async fn render_one(cx: &Cx, tag: FoundTag, signed_in: bool) -> Result<Fragment> {
    render(cx, &[tag], signed_in).await?.pop().ok_or(Error::NotFound)
}

/// Renders hashtags, in the order given. One statement for the history of all. `signed_in`: shows whether the viewer
/// follows and features them.
pub async fn render(cx: &Cx, tags: &[FoundTag], signed_in: bool) -> Result<Vec<Fragment>> {
    let ids: Vec<TagId> = tags.iter().map(|tag| tag.id).collect();
    let histories = Histories::of_tags(cx, &ids).await?;
    tags.iter()
        .map(|tag| {
            Fragment::of(&Tag {
                id: Some(tag.id).filter(|id| i64::from(*id) != 0),
                name: tag.display_name.clone(),
                url: cx.urls.tag(&tag.name),
                history: histories.of(tag.id.into()),
                following: signed_in.then_some(tag.following),
                featuring: signed_in.then_some(tag.featuring),
            })
        })
        .collect()
}
