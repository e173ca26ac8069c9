//! The page where accounts change their settings for plugins, one form for each plugin.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use serde_json::Map;

use crate::Cx;
use crate::routes::pages;
use crate::settings::{self, Offer, Setting, SettingKind};
use context::Error;
use rookery_http::Result;
use rookery_http::extract::Path;
use rookery_http::web::settings::viewer;
use rookery_http::web::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use service::session::{self, Person};
use service::templates::Templates;

/// `GET /settings/extensions`
pub async fn show(cx: Cx, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    page(&cx, &person, &cookies, &csrf, None).await
}

/// `POST /settings/extensions/{plugin}`
///
/// Invalid values render the page again, with 422.
pub async fn update(
    cx: Cx,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    csrf: Csrf,
    Path(plugin): Path<String>,
    Form(form): Form<Map<String, serde_json::Value>>,
) -> Result<Response> {
    match settings::submit(&cx, person.account.id, &plugin, &form).await {
        Ok(()) => {
            cookies.notice(&cx.language().say("settings.saved"));
            Ok(redirect("/settings/extensions"))
        }
        Err(Error::Invalid(why)) => {
            let page = page(&cx, &person, &cookies, &csrf, Some((&plugin, &why))).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The templates of the server's pages, and this one.
static TEMPLATES: LazyLock<Templates> = LazyLock::new(|| {
    rookery_http::web::TEMPLATES.clone().with(&[("settings/extensions.html", include_str!("extensions.html"))])
});

fn request(cx: &Cx) -> rookery_http::Cx {
    rookery_http::Cx(context::Cx::clone(cx))
}

async fn page(cx: &Cx, person: &Person, cookies: &Cookies, csrf: &Csrf, refused: Option<(&str, &str)>) -> Result<Page> {
    let offers = settings::offers(cx, person.account.id).await?;
    let actor = session::actor(cx, person).await?;
    let links = pages::listed(cx, &actor, cx.language());
    let context = context! {
        page_title => cx.language().say("extensions.title"),
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "extensions",
        viewer => viewer(&request(cx), person),
        pages => links,
        offers => offers.iter().map(|offer| row(offer, refused)).collect::<Vec<_>>(),
    };
    Page::render_of(&request(cx), &TEMPLATES, "settings/extensions.html", context)
}

fn row(offer: &Offer, refused: Option<(&str, &str)>) -> Value {
    context! {
        plugin => offer.plugin,
        title => offer.title,
        error => refused.filter(|(plugin, _)| *plugin == offer.plugin).map(|(_, why)| why),
        settings => offer.settings.iter().map(setting).collect::<Vec<_>>(),
    }
}

fn setting(setting: &Setting) -> Value {
    let (kind, options, least, most) = match &setting.kind {
        SettingKind::Flag => ("flag", None, None, None),
        SettingKind::Choice(options) => ("choice", Some(options), None, None),
        SettingKind::Number(least, most) => ("number", None, *least, *most),
        SettingKind::Text => ("text", None, None, None),
    };
    let value = match &setting.value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    context! { name => setting.name, label => setting.label, kind, options, least, most, value }
}
