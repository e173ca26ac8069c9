//! <https://docs.joinmastodon.org/entities/Tag/#admin>

use serde::Serialize;

use crate::history::{Day, Histories};
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::TagId;
use store::tag_review::ReviewedTag;

/// A hashtag with its history and the decisions of staff.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tag {
    pub name: String,
    pub url: String,
    pub history: Vec<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub following: Option<bool>,
    pub id: TagId,
    pub trendable: bool,
    pub usable: bool,
    pub requires_review: bool,
    pub listable: bool,
}

/// Renders hashtags, in the order given. One statement for the history of all. `signed_in`: shows whether the viewer
/// follows them.
///
/// # Errors
/// When one cannot be serialised, which is a bug.
pub async fn render(cx: &Cx, tags: &[ReviewedTag], signed_in: bool) -> Result<Vec<Fragment>> {
    let ids: Vec<TagId> = tags.iter().map(|reviewed| reviewed.tag.id).collect();
    let histories = Histories::of_tags(cx, &ids).await?;
    let by_default = cx.settings().trendable_by_default;
    tags.iter()
        .map(|reviewed| {
            Fragment::of(&Tag {
                name: reviewed.tag.display_name.clone(),
                url: cx.urls.tag(&reviewed.tag.name),
                history: histories.of(reviewed.tag.id.into()),
                following: signed_in.then_some(reviewed.tag.following),
                id: reviewed.tag.id,
                trendable: reviewed.trendable.unwrap_or(by_default),
                usable: reviewed.usable,
                requires_review: reviewed.reviewed_at.is_none(),
                listable: reviewed.listable.unwrap_or(true),
            })
        })
        .collect()
}

/// Renders one hashtag, see [`render`].
///
/// # Errors
/// As [`render`].
pub async fn render_one(cx: &Cx, tag: ReviewedTag, signed_in: bool) -> Result<Fragment> {
    render(cx, &[tag], signed_in).await?.pop().ok_or(Error::NotFound)
}
