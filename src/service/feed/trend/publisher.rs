//! Publishers of links: staff decides once about all links of a site.
//!
//! A decision covers the site and its subdomains; the most specific one applies, and the review of a single link goes
//! before it. Publishers are recorded when a link of theirs would be shown but for the missing review.

use std::collections::HashMap;

use crate::audit::Target;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::trend::TrendKind;
use model::{Cursor, RowId, Staff};
pub use store::publisher::Publisher;
use url::{Host, Url};

/// A page of publishers, the last recorded one first.
#[model::use_case]
pub async fn list(cx: &Cx, cursor: &Cursor) -> Result<Vec<Publisher>> {
    Ok(store::publisher::list(&cx.db, cursor).await?)
}

/// The publisher with the domain `domain`, recorded if it was unknown, so that it can be rejected in advance.
///
/// # Errors
/// [`Error::NotFound`] when it is not a domain.
#[model::use_case]
pub async fn find(cx: &Cx, domain: &str) -> Result<RowId> {
    let domain = domain.trim().to_lowercase();
    let parsed = Url::parse(&format!("https://{domain}/")).ok();
    let host = parsed.as_ref().and_then(site).filter(|host| *host == domain).ok_or(Error::NotFound)?;
    let mut tx = cx.db.begin().await?;
    let id = store::publisher::get_or_insert(&mut tx, cx.ids.next(), &host, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(id)
}

/// Approves or rejects the links of a publisher for trends, except those with a review of their own.
///
/// # Errors
/// [`Error::NotFound`] when there is no such publisher.
#[model::use_case]
pub async fn review(cx: &Cx, staff: &Staff, id: RowId, allowed: bool) -> Result<Publisher> {
    let mut tx = cx.db.begin().await?;
    if !store::publisher::review(&mut tx, id, allowed, cx.clock.now()).await? {
        return Err(Error::NotFound);
    }
    let links = store::trend::list(&mut tx, TrendKind::Link).await?;
    let links: Vec<RowId> = links.iter().map(|trend| trend.subject_id.into()).collect();
    let reviews = store::publisher::list_reviews(&mut tx, &links).await?;
    let decided = Decisions::load((&mut tx).into(), reviews.iter().map(|link| link.page_url.as_str())).await?;
    for decision in [true, false] {
        let of = |link: &&store::publisher::LinkReview| {
            link.trendable.is_none() && decided.of(&link.page_url) == Some(decision)
        };
        let links: Vec<RowId> = reviews.iter().filter(of).map(|link| link.id).collect();
        store::trend::set_allowed(&mut tx, TrendKind::Link, &links, decision).await?;
    }
    let publisher = store::publisher::find(&mut tx, id).await?.ok_or(Error::NotFound)?;
    super::review::record(cx, &mut tx, staff, Target::new("publisher", id, &*publisher.domain), allowed).await?;
    tx.commit().await?;
    Ok(publisher)
}

/// Requests a review of the publishers of these links, unless one was requested or made before.
pub(super) async fn request_reviews(cx: &Cx, tx: &mut Tx, links: &[i64]) -> Result<()> {
    let links: Vec<RowId> = links.iter().copied().map(RowId::from).collect();
    let mut sites: Vec<String> = store::publisher::list_reviews(&mut *tx, &links)
        .await?
        .iter()
        .filter_map(|link| site(&Url::parse(&link.page_url).ok()?))
        .collect();
    sites.sort_unstable();
    sites.dedup();
    let rows = sites.iter().map(|site| (cx.ids.next(), site.as_str())).collect();
    Ok(store::publisher::request_reviews(tx, rows, cx.clock.now()).await?)
}

/// The reviews of links, by link: whether staff still has to decide.
#[model::use_case]
pub async fn pending(cx: &Cx, links: &[RowId]) -> Result<HashMap<RowId, bool>> {
    let reviews = store::publisher::list_reviews(&cx.db, links).await?;
    let decided = Decisions::load((&cx.db).into(), reviews.iter().map(|link| link.page_url.as_str())).await?;
    let pending =
        |link: &store::publisher::LinkReview| link.trendable.is_none() && decided.of(&link.page_url).is_none();
    Ok(reviews.iter().map(|link| (link.id, pending(link))).collect())
}

/// Decisions about publishers, by domain.
#[derive(Debug, Default)]
pub(crate) struct Decisions(HashMap<String, bool>);

impl Decisions {
    /// The decisions about the publishers of `urls`. One statement, or none without addresses.
    pub(crate) async fn load<'a>(db: database::Conn<'_>, urls: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut domains: Vec<String> = urls
            .filter_map(|url| site(&Url::parse(url).ok()?))
            .flat_map(|site| within(&site).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        domains.sort_unstable();
        domains.dedup();
        if domains.is_empty() {
            return Ok(Self::default());
        }
        let known = store::publisher::list_by_domains(db, &domains).await?;
        Ok(Self(known.into_iter().filter_map(|known| Some((known.domain, known.trendable?))).collect()))
    }

    /// The decision that covers the link `url`.
    pub(crate) fn of(&self, url: &str) -> Option<bool> {
        let site = site(&Url::parse(url).ok()?)?;
        within(&site).find_map(|domain| self.0.get(domain).copied())
    }
}

/// The domain of an address: in lower case, without a port.
fn site(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(domain) => Some(domain.to_owned()),
        Host::Ipv4(address) => Some(address.to_string()),
        Host::Ipv6(_) => None,
    }
}

/// `site` and the domains that contain it, the most specific one first.
fn within(site: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(site), |domain| domain.split_once('.').map(|(_, parent)| parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_specific_publisher_decides() {
        let decided = Decisions([("example.test".to_owned(), false), ("news.example.test".to_owned(), true)].into());
        assert_eq!(decided.of("https://news.example.test:8080/a"), Some(true));
        assert_eq!(decided.of("https://local.news.example.test/a"), Some(true));
        assert_eq!(decided.of("https://EXAMPLE.test/a"), Some(false));
        assert_eq!(decided.of("https://notexample.test/a"), None);
        assert_eq!(decided.of("no address"), None);
    }
}
