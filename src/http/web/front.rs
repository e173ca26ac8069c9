//! Pages about the server: the front page, which explains how to connect an app, `/about` and `/privacy-policy`.

use axum::response::Response;
use chrono::DateTime;
use minijinja::{Value, context};

use super::{Page, Visitor, redirect};
use crate::Cx;
use crate::error::Result;
use model::settings::RegistrationsMode;
use rookery_core::entity::instance::{Document, rules};
use rookery_core::entity::web;
use rookery_core::service::{instance, public, registration};

/// `GET /`: the front page, or in single-user mode the owner's profile.
pub async fn show(cx: Cx, visitor: Visitor) -> Result<Response> {
    if cx.config.access.single_user
        && let Some(owner) = public::owner(&cx).await?
    {
        return Ok(redirect(&cx.urls.profile(&owner.username)));
    }
    let settings = cx.settings();
    let usage = instance::usage(&cx).await?;
    let context = context! {
        description_html => description(&settings.site_short_description),
        registrations => match registration::mode(&cx) {
            RegistrationsMode::Open => "open",
            RegistrationsMode::Approved => "approval",
            RegistrationsMode::None => "closed",
        },
        stats => context! {
            users => grouped(usage.users), active_month => grouped(usage.active_month),
            statuses => grouped(usage.statuses), domains => grouped(usage.domains),
        },
        rules => rules(&cx),
        contact => contact(&cx).await?,
        og => preview(&cx),
    };
    Ok(visitor.answer(Page::render(&cx, "front.html", context)?))
}

/// `GET /about`
pub async fn about(cx: Cx, visitor: Visitor) -> Result<Response> {
    let description = Document::extended_description(&cx).content;
    let context = context! {
        page_title => "About",
        extended_description_html => Some(description).filter(|html| !html.is_empty()),
        rules => rules(&cx),
        contact => contact(&cx).await?,
        version => env!("CARGO_PKG_VERSION"),
        source_url => cx.config.server.source_url.as_ref().map(|url| url.as_str()),
        og => preview(&cx),
    };
    Ok(visitor.answer(Page::render(&cx, "about.html", context)?))
}

/// `GET /privacy-policy`: public even on a closed server, so that people can read it before they sign up.
pub async fn privacy(cx: Cx) -> Result<Page> {
    let document = Document::privacy_policy(&cx);
    let updated = document.updated_at.as_deref().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let context = context! {
        page_title => "Privacy policy",
        privacy_html => Some(document.content).filter(|html| !html.is_empty()),
        updated_at_iso => document.updated_at,
        updated_at_human => updated.map(|at| web::day(&at.to_utc())),
        contact => contact(&cx).await?,
    };
    Page::render(&cx, "privacy.html", context)
}

/// The short description as a paragraph; a default text when the admins wrote none.
fn description(written: &str) -> String {
    if written.trim().is_empty() {
        return "<p>A place of its own in the fediverse: follow people, talk, and share what you make.</p>".to_owned();
    }
    format!("<p>{}</p>", text::escape(written.trim()))
}

/// The contact account and e-mail address, for the template.
async fn contact(cx: &Cx) -> Result<Value> {
    let account = match instance::contact(cx).await? {
        Some(account) => web::authors(cx, &[account.id]).await?.pop(),
        None => None,
    };
    let email = cx.settings().contact_email.clone();
    Ok(context! { email => Some(email).filter(|email| !email.is_empty()), account })
}

fn preview(cx: &Cx) -> Value {
    let settings = cx.settings();
    let fallback = format!("{} is a server of the fediverse.", cx.urls.local_domain);
    let written = settings.site_short_description.trim();
    context! {
        type => "website",
        title => settings.site_title,
        description => if written.is_empty() { fallback.as_str() } else { written },
        url => cx.urls.path("/"),
        image => cx.urls.path("/assets/thumbnail.png"),
        image_alt => "",
        image_width => 1200,
        image_height => 630,
        card => "summary_large_image",
    }
}

/// A number with thousands separators: `91,202`.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or_default()).collect();
    format!("{sign}{}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(91_202), "91,202");
        assert_eq!(grouped(-1_000_000), "-1,000,000");
    }
}
