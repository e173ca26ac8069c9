//! The applications that a person let in, and showing one out again.

use axum::extract::State;
use axum::response::Response;
use minijinja::{Value, context};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::scopes;
use crate::app::App;
use crate::error::{Error, Result};
use crate::http::extract::Path;
use crate::http::extract::params::text;
use crate::http::web::settings::viewer;
use crate::http::web::{Cookies, Csrf, Form, Page, SignedIn, redirect};
use crate::service::application::{self, Authorized};
use crate::service::oauth::revoke;
use model::{AppId, Time};

/// What a form wants that cannot say DELETE.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Override {
    #[serde(deserialize_with = "text", rename = "_method")]
    method: Option<String>,
}

/// `GET /oauth/authorized_applications`
///
/// # Errors
/// When the database does.
pub async fn index(State(app): State<App>, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    let applications = application::list_authorized(&app, person.account.id).await?;
    let context = context! {
        page_title => "Authorised applications",
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "applications",
        viewer => viewer(&app, &person),
        applications => applications.iter().map(shown).collect::<Vec<_>>(),
    };
    Page::render(&app, "settings/applications.html", context)
}

/// `POST /oauth/authorized_applications/{id}` with `_method=delete`
///
/// # Errors
/// [`Error::NotFound`] for any other method, or an application that holds no token of the person.
pub async fn update(
    State(app): State<App>,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    Path(id): Path<AppId>,
    Form(form): Form<Override>,
) -> Result<Response> {
    if form.method.as_deref() != Some("delete") {
        return Err(Error::NotFound);
    }
    delete(State(app), SignedIn(person), cookies, Path(id), Form(IgnoredAny)).await
}

/// `DELETE /oauth/authorized_applications/{id}`
///
/// # Errors
/// [`Error::NotFound`] for an application that holds no token of the person.
pub async fn delete(
    State(app): State<App>,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    Path(id): Path<AppId>,
    Form(_): Form<IgnoredAny>,
) -> Result<Response> {
    revoke::application(&app, person.account.id, id).await?;
    cookies.notice("The application is signed out.");
    Ok(redirect("/oauth/authorized_applications"))
}

fn shown(held: &Authorized) -> Value {
    let day = |time: Time| time.format("%-d %B %Y").to_string();
    context! {
        id => held.id.to_string(),
        name => held.name,
        website => held.website,
        scopes => scopes::describe(&held.scopes),
        created_at_iso => held.since.to_api(),
        created_at_human => day(held.since),
        last_used_human => held.last_used_at.map(day),
    }
}
