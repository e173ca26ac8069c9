//! Pages about the server: the front page for visitors, which explains how to connect an app, `/about` and `/privacy-policy`.

use axum::response::Response;
use chrono::DateTime;
use minijinja::{Value, context};

use super::{Page, Visitor, WebSession, redirect};
use crate::Cx;
use crate::error::Result;
use context::Language;
use entity::instance::Document;
use entity::server_pictures;
use entity::web::{self, WebStatus};
use model::Cursor;
use model::instance::Rule;
use model::settings::{FrontPage, RegistrationsMode, ServerFeed};
use service::timeline::{self, TimelineQuery};
use service::trend::{self, Query};
use service::{feed_access, instance, ownership, public, registration};

/// Posts on the front page.
const POSTS: i64 = 10;

/// `GET /`: the front page, or in single-user mode the owner's profile; for people who are signed in, their home.
pub async fn show(cx: Cx, visitor: Visitor) -> Result<Response> {
    if visitor.viewer.is_some() {
        return Ok(redirect("/home"));
    }
    if cx.config.access.single_user
        && let Some(owner) = public::owner(&cx).await?
    {
        return Ok(redirect(&cx.urls.profile(&owner.username)));
    }
    let settings = cx.settings();
    let usage = instance::usage(&cx).await?;
    let context = context! {
        description_html => description(cx.language(), &settings.site_short_description),
        owned => ownership::exists(&cx.db).await?,
        registrations => match registration::mode(&cx).await? {
            RegistrationsMode::Open => "open",
            RegistrationsMode::Approved => "approval",
            RegistrationsMode::None => "closed",
        },
        stats => context! {
            users => usage.users, active_month => usage.active_month,
            statuses => usage.statuses, domains => usage.domains,
        },
        rules => rules(&cx, &cx.rules()),
        contact => contact(&cx).await?,
        shows => settings.front_page.to_string(),
        statuses => posts(&cx, settings.front_page).await?,
        og => preview(&cx),
    };
    Ok(visitor.respond(visitor.page(&cx, "front.html", context)?))
}

/// The posts on the front page, as anyone may read them.
async fn posts(cx: &Cx, shows: FrontPage) -> Result<Vec<WebStatus>> {
    let readable = |feed| feed_access::is_public(cx, feed);
    let seen = match shows {
        FrontPage::Live if readable(ServerFeed::Live) => {
            let query = TimelineQuery { local: true, ..TimelineQuery::default() };
            timeline::public(cx, None, &query, &Cursor::first(POSTS)).await?.shown
        }
        FrontPage::Trends if cx.settings().trends => {
            let query = Query { languages: vec![cx.language().code().to_owned()], limit: POSTS, offset: 0 };
            trend::statuses(cx, None, &query).await?.shown
        }
        FrontPage::About | FrontPage::Live | FrontPage::Trends => return Ok(Vec::new()),
    };
    Ok(web::statuses(cx, None, None, &seen).await?)
}

/// `GET /about`
pub async fn about(cx: Cx, visitor: Visitor) -> Result<Response> {
    let description = Document::extended_description(&cx).content;
    let context = context! {
        page_title => cx.language().say("about.page"),
        extended_description_html => Some(description).filter(|html| !html.is_empty()),
        rules => rules(&cx, &cx.rules()),
        contact => contact(&cx).await?,
        version => env!("CARGO_PKG_VERSION"),
        source_url => cx.config.server.source_url.as_ref().map(|url| url.as_str()),
        og => preview(&cx),
    };
    Ok(visitor.respond(visitor.page(&cx, "about.html", context)?))
}

/// `GET /privacy-policy`: public even on a closed server, so that people can read it before they sign up.
pub async fn privacy(cx: Cx, _visitor: WebSession) -> Result<Page> {
    let document = Document::privacy_policy(&cx, cx.language());
    let updated = document.updated_at.as_deref().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let context = context! {
        page_title => cx.language().say("privacy.title"),
        privacy_html => document.content,
        updated_at_iso => document.updated_at,
        updated_at_human => updated.map(|at| cx.language().day(&at.to_utc())),
    };
    Page::render(&cx, "privacy.html", context)
}

/// Rules in the language of the page, as far as they are translated, for the template.
pub(super) fn rules(cx: &Cx, rules: &[Rule]) -> Vec<Value> {
    let language = cx.language().code();
    let shown = rules.iter().map(|rule| rule.in_language(language));
    shown.map(|(text, hint)| context! { text, hint }).collect()
}

/// The short description as a paragraph; a default text when the admins wrote none.
fn description(language: Language, written: &str) -> String {
    let written = written.trim();
    let shown = if written.is_empty() { language.say("front.default") } else { text::escape(written) };
    format!("<p>{shown}</p>")
}

/// The contact account and e-mail address, for the template.
async fn contact(cx: &Cx) -> Result<Value> {
    let account = match instance::contact(cx).await? {
        Some(account) => web::authors(cx, None, &[account.id]).await?.pop(),
        None => None,
    };
    let email = cx.settings().contact_email.clone();
    Ok(context! { email => Some(email).filter(|email| !email.is_empty()), account })
}

fn preview(cx: &Cx) -> Value {
    let settings = cx.settings();
    let fallback = cx.language().say_with("front.server", &[("domain", &cx.urls.local_domain)]);
    let written = settings.site_short_description.trim();
    context! {
        type => "website",
        title => settings.site_title,
        description => if written.is_empty() { fallback.as_str() } else { written },
        url => cx.urls.path("/"),
        image => server_pictures::thumbnail(cx),
        image_alt => settings.thumbnail_description,
        image_width => 1200,
        image_height => 630,
        card => "summary_large_image",
    }
}
