//! <https://docs.joinmastodon.org/entities/FeaturedTag/>

use serde::Serialize;

use context::Cx;
use context::error::Result;
use context::json::Fragment;
use model::urls::path_segment;
use model::{Account, RowId, Time};

/// A hashtag featured on a profile.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FeaturedTag {
    pub id: RowId,
    pub name: String,
    pub url: String,
    /// A number, as a string (docs/contract/rules.md#1-transport).
    pub statuses_count: String,
    pub last_status_at: Option<String>,
}

/// Renders the featured hashtags of `account`.
pub fn render(cx: &Cx, account: &Account, tags: &[store::featured_tag::FeaturedTag]) -> Result<Vec<Fragment>> {
    tags.iter().map(|tag| render_one(cx, account, tag)).collect()
}

/// Renders one featured hashtag of `account`.
pub fn render_one(cx: &Cx, account: &Account, tag: &store::featured_tag::FeaturedTag) -> Result<Fragment> {
    let profile = match (&account.domain, &account.url) {
        (Some(_), Some(url)) => url.clone(),
        _ => cx.urls.profile(&account.username),
    };
    Fragment::of(&FeaturedTag {
        id: tag.id,
        name: tag.display_name.clone(),
        url: format!("{profile}/tagged/{}", path_segment(&tag.name)),
        statuses_count: tag.statuses_count.to_string(),
        last_status_at: tag.last_status_at.map(Time::to_api_date),
    })
}
