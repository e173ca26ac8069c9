//! The page of a report for anyone who has its link: a part of it, about its owner alone.
//!
//! There is no caller, so that `core::visible` finds what strangers may read. Statuses are links: their text may name
//! others. A hashtag is shown while strangers may read the newest public status that has it.
//!
//! Spec: docs/contract/extensions.md#7-annual-reports.

use std::collections::BTreeSet;

use rookery_plugin::pages::{Figures, Item, Items, People, Request, View};
use rookery_plugin::prelude::*;

use super::words::*;
use super::{TAGS, figures_for_others, top_of};
use crate::data::{Data, PublicHashtag};
use crate::{report, share, sql, there};

/// The report of a link.
#[derive(Row)]
struct Shared {
    account_id: Id,
    data: String,
    public_hashtags: Option<String>,
}

/// `/annual_reports/{year}/{key}`
///
/// # Errors
/// [`Error::NotFound`] for another key or year, and while the account is suspended or removed.
#[page("shared")]
fn shared(ctx: &Context, request: &Request) -> Result<View> {
    let (year, key) = (request.id("year")?, request.param("key").unwrap_or_default());
    if !share::is_key(key) {
        return Err(Error::NotFound);
    }
    let shared: Shared = sql::shared(year, key).one()?;
    let owner = core::accounts(&[shared.account_id])?.into_iter().flatten().next();
    let owner = owner.filter(|owner| report::is_there(Some(owner))).ok_or(Error::NotFound)?;
    let data: Data = serde_json::from_str(&shared.data)?;
    let hashtags: Vec<PublicHashtag> =
        shared.public_hashtags.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default();
    let named: BTreeSet<i64> = data.statuses().chain(hashtags.iter().map(|tag| tag.newest.0)).collect();
    let public = there(named, |ids| core::visible(Viewer::Caller, ids))?;

    let title = YEAR_OF.of(ctx).replace("{name}", &owner.acct).replace("{year}", &year.to_string());
    let mut view = View::new(title)
        .text(archetype(data.archetype).0.of(ctx))
        .people(People::new([(shared.account_id, "")]))
        .figures(Figures::new(figures_for_others(ctx, &data)));
    let words: Vec<String> = hashtags
        .iter()
        .filter(|tag| public.contains(&tag.newest.0))
        .take(TAGS)
        .map(|tag| format!("#{}", tag.name))
        .collect();
    if !words.is_empty() {
        view = view.text(format!("{}: {}", PUBLIC_HASHTAGS.of(ctx), words.join(", ")));
    }
    let link = |id: Id| format!("/@{}/{id}", owner.acct);
    let links: Vec<Item> = top_of(&data)
        .filter(|(_, id)| public.contains(&id.0))
        .map(|(title, id)| Item::new(id, title.of(ctx)).link(link(id)))
        .collect();
    if !links.is_empty() {
        view = view.items(Items::new("", links).titled(TOP.of(ctx)));
    }
    Ok(view)
}
