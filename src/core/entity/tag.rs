//! <https://docs.joinmastodon.org/entities/Tag/>

use std::collections::HashMap;

use serde::Serialize;

use super::Fragment;
use crate::Cx;
use crate::error::{Error, Result};
use model::clock::Ids;
use model::{StatusId, TagId, Time};
use store::tag::FoundTag;

/// Days of usage history, today first.
const DAYS: i64 = 7;
/// Seconds of a day.
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// A hashtag with its usage history.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Tag {
    pub name: String,
    pub url: String,
    pub history: Vec<Day>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub following: Option<bool>,
}

/// One day; numbers are strings (contract rules, section 1).
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "documented by the entity")]
pub struct Day {
    pub day: String,
    pub uses: String,
    pub accounts: String,
}

/// Renders one hashtag, see [`render`].
///
/// # Errors
/// When it cannot be serialised, which is a bug.
pub async fn render_one(cx: &Cx, tag: FoundTag, signed_in: bool) -> Result<Fragment> {
    render(cx, &[tag], signed_in).await?.pop().ok_or(Error::NotFound)
}

/// Renders hashtags, in the order given: one statement for the history of all. With `signed_in`, shows whether the
/// viewer follows them.
pub async fn render(cx: &Cx, tags: &[FoundTag], signed_in: bool) -> Result<Vec<Fragment>> {
    let today = cx.clock.now().timestamp().div_euclid(DAY_SECONDS);
    let first = Time::from_micros((today - DAYS + 1) * DAY_SECONDS * 1_000_000);
    let ids: Vec<TagId> = tags.iter().map(|tag| tag.id).collect();
    let rows = if ids.is_empty() {
        Vec::new()
    } else {
        store::tag::history(&cx.db, &ids, StatusId::from(Ids::first_at(first))).await?
    };
    let used: HashMap<(TagId, i64), (i64, i64)> =
        rows.into_iter().map(|(tag, day, uses, accounts)| ((tag, day), (uses, accounts))).collect();
    let history = |tag: TagId| {
        let day = |back: i64| {
            let (uses, accounts) = used.get(&(tag, today - back)).copied().unwrap_or_default();
            Day {
                day: ((today - back) * DAY_SECONDS).to_string(),
                uses: uses.to_string(),
                accounts: accounts.to_string(),
            }
        };
        (0..DAYS).map(day).collect()
    };
    tags.iter()
        .map(|tag| {
            Fragment::of(&Tag {
                name: tag.display_name.clone(),
                url: cx.urls.tag(&tag.name),
                history: history(tag.id),
                following: signed_in.then_some(tag.following),
            })
        })
        .collect()
}
