//! Trending links and statuses as staff sees them: each says whether it still has to be reviewed.

use crate::{preview_card, status};
use context::Cx;
use context::error::{Error, Result};
use context::json::{Fragment, boolean};
use model::{Actor, PreviewCard};
use service::trend::unreviewed::Reviewable;
use service::visibility::Seen;

/// Renders links with their history, in the order given, as [`preview_card::render_trends`]. Their ids are JSON
/// integers (docs/contract/extensions.md#13-admin-api).
///
/// # Errors
/// When one cannot be serialised, which is a bug.
pub async fn render_links(cx: &Cx, links: Vec<Reviewable<PreviewCard>>) -> Result<Vec<Fragment>> {
    let reviews: Vec<(i64, bool)> = links.iter().map(|link| (link.subject.id.into(), link.requires_review)).collect();
    let cards = links.into_iter().map(|link| link.subject).collect();
    let rendered = preview_card::render_trends(cx, cards).await?;
    let extended = |(link, (id, requires_review)): (Fragment, (i64, bool))| {
        let mut link = link.open();
        link.number("id", id).member("requires_review", boolean(requires_review));
        link.close()
    };
    Ok(rendered.into_iter().zip(reviews).map(extended).collect())
}

/// Renders one link, see [`render_links`].
///
/// # Errors
/// As [`render_links`].
pub async fn render_link(cx: &Cx, link: Reviewable<PreviewCard>) -> Result<Fragment> {
    render_links(cx, vec![link]).await?.pop().ok_or(Error::NotFound)
}

/// Renders statuses as `viewer` sees them, in the order given; without statuses that were deleted meanwhile.
///
/// # Errors
/// As [`status::render`].
pub async fn render_statuses(cx: &Cx, viewer: Option<&Actor>, page: &[Reviewable<Seen>]) -> Result<Vec<Fragment>> {
    let seen: Vec<Seen> = page.iter().map(|found| found.subject).collect();
    let rendered = status::render_beside(cx, viewer, &seen, &[]).await?.statuses;
    let extended = |(id, status): (model::StatusId, Fragment)| {
        let found = page.iter().find(|found| found.subject.head().id == id)?;
        let mut status = status.open();
        status.member("requires_review", boolean(found.requires_review));
        Some(status.close())
    };
    Ok(rendered.into_iter().filter_map(extended).collect())
}

/// Renders one status, see [`render_statuses`].
///
/// # Errors
/// As [`render_statuses`]; [`Error::NotFound`] when it was deleted meanwhile.
pub async fn render_status(cx: &Cx, viewer: Option<&Actor>, found: Reviewable<Seen>) -> Result<Fragment> {
    render_statuses(cx, viewer, &[found]).await?.pop().ok_or(Error::NotFound)
}
