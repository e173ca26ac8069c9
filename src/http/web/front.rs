//! What this server is: the front page with how to connect an app, `/about`, `/privacy-policy`.

use axum::extract::State;
use axum::response::Response;
use chrono::DateTime;
use minijinja::{Value, context};

use super::{Page, Visitor, redirect};
use crate::app::App;
use crate::entity::instance::{Document, rules};
use crate::entity::web;
use crate::error::Result;
use crate::service::{instance, public, registration};
use model::settings::RegistrationsMode;

/// `GET /`: the front page; on a server of one person, their page.
///
/// # Errors
/// When the database does.
pub async fn show(State(app): State<App>, visitor: Visitor) -> Result<Response> {
    if app.config.access.single_user
        && let Some(owner) = public::owner(&app).await?
    {
        return Ok(redirect(&app.urls.profile(&owner.username)));
    }
    let settings = app.settings();
    let usage = instance::usage(&app).await?;
    let context = context! {
        description_html => description(&settings.site_short_description),
        registrations => match registration::mode(&app) {
            RegistrationsMode::Open => "open",
            RegistrationsMode::Approved => "approval",
            RegistrationsMode::None => "closed",
        },
        stats => context! {
            users => grouped(usage.users), active_month => grouped(usage.active_month),
            statuses => grouped(usage.statuses), domains => grouped(usage.domains),
        },
        rules => rules(&app),
        contact => contact(&app).await?,
        og => preview(&app),
    };
    Ok(visitor.answer(Page::render(&app, "front.html", context)?))
}

/// `GET /about`
///
/// # Errors
/// When the database does.
pub async fn about(State(app): State<App>, visitor: Visitor) -> Result<Response> {
    let description = Document::extended_description(&app).content;
    let context = context! {
        page_title => "About",
        extended_description_html => Some(description).filter(|html| !html.is_empty()),
        rules => rules(&app),
        contact => contact(&app).await?,
        version => env!("CARGO_PKG_VERSION"),
        source_url => env!("CARGO_PKG_REPOSITORY"),
        og => preview(&app),
    };
    Ok(visitor.answer(Page::render(&app, "about.html", context)?))
}

/// `GET /privacy-policy`: open also where everything else needs a sign-in, so that people know before they sign up.
///
/// # Errors
/// When the database does.
pub async fn privacy(State(app): State<App>) -> Result<Page> {
    let document = Document::privacy_policy(&app);
    let updated = document.updated_at.as_deref().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let context = context! {
        page_title => "Privacy policy",
        privacy_html => Some(document.content).filter(|html| !html.is_empty()),
        updated_at_iso => document.updated_at,
        updated_at_human => updated.map(|at| web::day(&at.to_utc())),
        contact => contact(&app).await?,
    };
    Page::render(&app, "privacy.html", context)
}

/// The short description as a paragraph; what any server could say, where the admins said nothing.
fn description(written: &str) -> String {
    if written.trim().is_empty() {
        return "<p>A place of its own in the fediverse: follow people, talk, and share what you make.</p>".to_owned();
    }
    format!("<p>{}</p>", text::escape(written.trim()))
}

/// Whom to ask.
async fn contact(app: &App) -> Result<Value> {
    let account = match instance::contact(app).await? {
        Some(account) => web::authors(app, &[account.id]).await?.pop(),
        None => None,
    };
    let email = app.settings().contact_email.clone();
    Ok(context! { email => Some(email).filter(|email| !email.is_empty()), account })
}

fn preview(app: &App) -> Value {
    let settings = app.settings();
    let fallback = format!("{} is a server of the fediverse.", app.urls.local_domain);
    let written = settings.site_short_description.trim();
    context! {
        type => "website",
        title => settings.site_title,
        description => if written.is_empty() { fallback.as_str() } else { written },
        url => app.urls.path("/"),
        image => app.urls.path("/assets/thumbnail.png"),
        image_alt => "",
        image_width => 1200,
        image_height => 630,
        card => "summary_large_image",
    }
}

/// Digits in groups of three: `91,202`.
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
