//! What plugins let people set, each in a form of its own.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use serde_json::Map;

use super::settings::viewer;
use super::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use crate::app::App;
use crate::error::{Error, Result};
use crate::http::extract::Path;
use crate::plugins::settings::{self, Kind, Offer, Setting};
use crate::service::session::Person;

/// `GET /settings/extensions`
///
/// # Errors
/// When the database does.
pub async fn show(State(app): State<App>, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    page(&app, &person, &cookies, &csrf, None).await
}

/// `POST /settings/extensions/{plugin}`
///
/// # Errors
/// When the database does; what a plugin does not take is the page again, with 422.
pub async fn update(
    State(app): State<App>,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    csrf: Csrf,
    Path(plugin): Path<String>,
    Form(form): Form<Map<String, serde_json::Value>>,
) -> Result<Response> {
    match settings::submit(&app, person.account.id, &plugin, &form).await {
        Ok(()) => {
            cookies.notice("Your settings are saved.");
            Ok(redirect("/settings/extensions"))
        }
        Err(Error::Invalid(why)) => {
            let page = page(&app, &person, &cookies, &csrf, Some((&plugin, &why))).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error),
    }
}

async fn page(
    app: &App,
    person: &Person,
    cookies: &Cookies,
    csrf: &Csrf,
    refused: Option<(&str, &str)>,
) -> Result<Page> {
    let offers = settings::offers(app, person.account.id).await?;
    let context = context! {
        page_title => "Extensions",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "extensions",
        viewer => viewer(app, person),
        offers => offers.iter().map(|offer| shown(offer, refused)).collect::<Vec<_>>(),
    };
    Page::render(app, "settings/extensions.html", context)
}

fn shown(offer: &Offer, refused: Option<(&str, &str)>) -> Value {
    context! {
        plugin => offer.plugin,
        title => offer.title,
        error => refused.filter(|(plugin, _)| *plugin == offer.plugin).map(|(_, why)| why),
        settings => offer.settings.iter().map(setting).collect::<Vec<_>>(),
    }
}

fn setting(setting: &Setting) -> Value {
    let (kind, words, least, most) = match &setting.kind {
        Kind::Flag => ("flag", None, None, None),
        Kind::Choice(words) => ("choice", Some(words), None, None),
        Kind::Number(least, most) => ("number", None, *least, *most),
        Kind::Text => ("text", None, None, None),
    };
    let value = match &setting.value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    context! { name => setting.name, label => setting.label, kind, words, least, most, value }
}
