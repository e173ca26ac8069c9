//! Verified links of profiles: a page linked from a profile that links back to it with `rel="me"`.
//!
//! Reached from editing a profile, which queues the job [`VerifyLinks`], and from that job. A verified field stays
//! verified until its value changes. An unverified field is checked again whenever the fields are saved.
//!
//! Pages must be `https`, redirects included. `server.development` also permits `http`, since development servers
//! have no certificates.
//!
//! Spec: docs/contract/rules.md#9-accounts, "Field verification"; <https://microformats.org/wiki/rel-me>; RFC 8288
//! for the header.

use outbound::Target;

use crate::web_page::{self, WebPage};
use context::change::{self, Change};
use context::error::Result;
use context::queue::VerifyLinks;
use context::{Cx, job};
use model::{Account, AccountId, Field};

/// The URL of the page of an unverified field: its whole value.
#[must_use]
pub fn unverified(cx: &Cx, field: &Field) -> Option<Target> {
    let target = Target::parse(field.value.trim()).ok().filter(|_| field.verified_at.is_none())?;
    Some(target).filter(|target| target.scheme() == "https" || cx.config.server.development)
}

/// Fetches the pages of the unverified fields of `account`, and marks the fields whose pages link back. A page that
/// cannot be fetched is not verified.
#[model::use_case]
#[job]
async fn verify(cx: &Cx, VerifyLinks { account }: VerifyLinks) -> Result<()> {
    let Some(account) = store::account::find(&cx.db, account).await? else { return Ok(()) };
    if !account.is_local() || account.is_suspended() {
        return Ok(());
    }
    let own = addresses(cx, &account);
    let mut verified: Vec<String> = Vec::new();
    for field in &account.fields.0 {
        let Some(target) = unverified(cx, field) else { continue };
        match web_page::fetch(cx, target, !cx.config.server.development).await {
            Ok(page) if links_back(&page, &own) => verified.push(field.value.clone()),
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(account.id = %account.id, %error, "the page of a profile field was not fetched");
            }
        }
    }
    if verified.is_empty() { Ok(()) } else { note(cx, account.id, &verified).await }
}

/// Marks the fields with these values as verified, if the profile still has them.
async fn note(cx: &Cx, id: AccountId, verified: &[String]) -> Result<()> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let Some(account) = store::account::lock(&mut tx, &[id]).await?.pop() else { return Ok(()) };
    let mut fields = account.fields.0.clone();
    for field in fields.iter_mut().filter(|field| field.verified_at.is_none() && verified.contains(&field.value)) {
        field.verified_at = Some(now.timestamp_micros());
    }
    if fields != account.fields.0 {
        store::profile::set_fields(&mut tx, id, fields).await?;
        change::record(cx, &mut tx, Change::AccountUpdated { account: id }).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// The URLs of the profile, in the form in which they are compared.
fn addresses(cx: &Cx, account: &Account) -> Vec<String> {
    let scheme = cx.urls.origin.split("://").next().unwrap_or("https");
    let at_home = format!("{scheme}://{}/@{}", cx.urls.local_domain, account.username);
    let known =
        [cx.urls.profile(&account.username), cx.urls.named_actor(&account.username), at_home, account.uri.clone()];
    let known = known.into_iter().chain(account.url.clone());
    known.filter_map(|address| Target::parse(&address).ok()).map(|target| comparable(&target)).collect()
}

/// True when `page` links to one of the URLs `own` with `rel="me"`.
fn links_back(page: &WebPage, own: &[String]) -> bool {
    let in_headers = page.links.iter().flat_map(|header| linked_as_me(header));
    let named = page.page.me.iter().map(String::as_str).chain(in_headers);
    let mut targets = named.filter_map(|href| page.target.join(href.trim()).ok());
    targets.any(|target| own.contains(&comparable(&target)))
}

/// Without a query and a trailing slash, in lower case: user names are case-insensitive.
fn comparable(target: &Target) -> String {
    let address = target.url().split('?').next().unwrap_or_default();
    address.trim_end_matches('/').to_lowercase()
}

/// The targets in a header `Link` whose relation is `me`.
fn linked_as_me(header: &str) -> impl Iterator<Item = &str> {
    let links = header.split('<').skip(1).filter_map(|link| link.split_once('>'));
    links.filter(|(_, parameters)| parameters.split(';').any(is_me)).map(|(target, _)| target)
}

fn is_me(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let relations = value.trim().trim_end_matches(',').trim().trim_matches('"');
    name.trim().eq_ignore_ascii_case("rel")
        && relations.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("me"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::page::Page;

    fn page(html: &str, links: &[&str]) -> WebPage {
        WebPage {
            target: Target::parse("https://a.test/me").unwrap(),
            page: Page::read(html),
            links: links.iter().map(|link| (*link).to_owned()).collect(),
        }
    }

    #[test]
    fn page_links_back_by_element_or_header() {
        let own = ["https://example.test/@alice".to_owned()];
        for html in [
            "<a rel=me href='https://example.test/@alice'>",
            "<a rel='nofollow ME' href=' https://EXAMPLE.test/@Alice/?a=b#c '>",
            "<link rel=me href=//example.test/@alice>",
        ] {
            assert!(links_back(&page(html, &[]), &own), "{html}");
        }
        for html in [
            "<a href='https://example.test/@alice'>",
            "<a rel=me href='https://example.test/@alice2'>",
            "<a rel=me href='https://example.test.evil.test/@alice'>",
            "<a rel=me href='http://example.test/@alice'>",
            "<a rel=me href='/@alice'>",
            "<!-- <a rel=me href='https://example.test/@alice'> -->",
            "<a rel=home href='https://example.test/@alice'>",
        ] {
            assert!(!links_back(&page(html, &[]), &own), "{html}");
        }
        for (header, is) in [
            ("<https://example.test/@alice>; rel=me", true),
            ("<https://x.test>; rel=\"next\", <https://example.test/@alice>; title=a; Rel=\"author me\"", true),
            ("<https://example.test/@alice>; rel=next, <https://x.test>; rel=me", false),
            ("https://example.test/@alice; rel=me", false),
            ("<<>>;=;", false),
        ] {
            assert_eq!(links_back(&page("", &[header]), &own), is, "{header}");
        }
    }
}
