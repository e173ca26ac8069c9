//! The page of authorised applications, where a user can revoke access.

use axum::response::Response;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::scopes;
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::settings::viewer;
use crate::web::{Cookies, Csrf, Form, NoFields, Page, SignedIn, redirect};
use model::{AppId, Time};
use service::application::{self, Authorized};
use service::oauth::revoke;

/// The method override of a form, as HTML forms cannot send DELETE.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct MethodOverride {
    #[serde(rename = "_method")]
    method: Option<String>,
}

/// `GET /oauth/authorized_applications`
pub async fn index(cx: Cx, SignedIn(person): SignedIn, cookies: Cookies, csrf: Csrf) -> Result<Page> {
    let applications = application::list_authorized(&cx, person.account.id).await?;
    let context = context! {
        page_title => cx.language().say("applications.title"),
        noindex => true,
        flash => cookies.take_flash(),
        csrf => csrf.0,
        section => "applications",
        viewer => viewer(&cx, &person),
        applications => applications.iter().map(|held| row(&cx, held)).collect::<Vec<_>>(),
    };
    Page::render(&cx, "settings/applications.html", context)
}

/// `POST /oauth/authorized_applications/{id}` with `_method=delete`
///
/// # Errors
/// [`Error::NotFound`] for any other method, or for an application that has no token of this user.
pub async fn update(
    cx: Cx,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    Path(id): Path<AppId>,
    Form(form): Form<MethodOverride>,
) -> Result<Response> {
    if form.method.as_deref() != Some("delete") {
        return Err(Error::NotFound.into());
    }
    delete(cx, SignedIn(person), cookies, Path(id), Form(NoFields {})).await
}

/// `DELETE /oauth/authorized_applications/{id}`
///
/// # Errors
/// [`Error::NotFound`] for an application that has no token of this user.
pub async fn delete(
    cx: Cx,
    SignedIn(person): SignedIn,
    cookies: Cookies,
    Path(id): Path<AppId>,
    Form(_): Form<NoFields>,
) -> Result<Response> {
    revoke::application(&cx, person.account.id, id).await?;
    cookies.notice(&cx.language().say("applications.revoked"));
    Ok(redirect("/oauth/authorized_applications"))
}

fn row(cx: &Cx, held: &Authorized) -> Value {
    let day = |time: Time| cx.language().day(&time);
    context! {
        id => held.id.to_string(),
        name => held.name,
        website => held.website,
        scopes => scopes::describe(cx, &held.scopes),
        created_at_iso => held.since.to_api(),
        created_at_human => day(held.since),
        last_used_human => held.last_used_at.map(day),
    }
}
