//! The page where people change their user name, name their other accounts, and move to another account or back.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Frame;
use crate::error::{Error, Result};
use crate::web::{Form, Page};
use crypto::Secret;
use model::{Account, Time};
use service::username::Changeable;
use service::{moving, username};

/// Where this page is.
const PATH: &str = "/settings/moving";

/// Fields of the form for a move.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct MoveFields {
    /// `user@domain`, or the URL of an account.
    target: Option<String>,
    current_password: Option<String>,
    /// `move`, `redirect` or `back`.
    act: Option<String>,
}

/// Fields of the form for a new user name.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NameFields {
    username: Option<String>,
    /// The current password.
    name_password: Option<String>,
}

/// Fields of the forms for aliases.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AliasFields {
    /// Of a new alias: `user@domain`, or the URL of an account.
    alias: Option<String>,
    /// Of one to remove.
    uri: Option<String>,
}

/// What was sent and refused, to be shown again.
#[derive(Default)]
struct Refused {
    errors: BTreeMap<&'static str, String>,
    target: String,
    username: String,
    alias: String,
}

/// `GET /settings/moving`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, Refused::default()).await
}

/// `POST /settings/moving`: moves, redirects, or moves back.
///
/// # Errors
/// None for a refused form: it is shown again, with 422.
pub async fn create(frame: Frame, Form(form): Form<MoveFields>) -> Result<Response> {
    let target = form.target.unwrap_or_default();
    let password = Secret::from(form.current_password.unwrap_or_default());
    let (cx, account) = (&frame.cx, &frame.person.account);
    let (done, notice) = match form.act.as_deref() {
        Some("move") => (moving::move_to(cx, account, password, &target).await.map(drop), "moving.moved"),
        Some("redirect") => (moving::redirect(cx, account, password, &target).await.map(drop), "moving.redirected"),
        Some("back") => (moving::move_back(cx, account).await, "moving.is_back"),
        Some(_) | None => return Err(Error::bad_request("act must be move, redirect or back").into()),
    };
    respond(&frame, done, notice, Refused { target, ..Refused::default() }).await
}

/// `POST /settings/moving/username`
///
/// # Errors
/// As [`create`].
pub async fn rename(frame: Frame, Form(form): Form<NameFields>) -> Result<Response> {
    let new = form.username.unwrap_or_default();
    let password = Secret::from(form.name_password.unwrap_or_default());
    let done = username::change(&frame.cx, &frame.person, password, new.trim()).await.map(drop);
    respond(&frame, done, "moving.renamed", Refused { username: new, ..Refused::default() }).await
}

/// `POST /settings/moving/aliases`
///
/// # Errors
/// As [`create`].
pub async fn add_alias(frame: Frame, Form(form): Form<AliasFields>) -> Result<Response> {
    let alias = form.alias.unwrap_or_default();
    let done = moving::add_alias(&frame.cx, &frame.person.account, &alias).await.map(drop);
    respond(&frame, done, "moving.alias_added", Refused { alias, ..Refused::default() }).await
}

/// `DELETE /settings/moving/aliases`
///
/// # Errors
/// As [`create`].
pub async fn remove_alias(frame: Frame, Form(form): Form<AliasFields>) -> Result<Response> {
    let uri = form.uri.unwrap_or_default();
    let done = moving::remove_alias(&frame.cx, &frame.person.account, &uri).await;
    respond(&frame, done, "moving.alias_removed", Refused::default()).await
}

async fn respond(frame: &Frame, done: context::Result<()>, notice: &str, refused: Refused) -> Result<Response> {
    match done {
        Ok(()) => Ok(frame.done(notice, PATH)),
        Err(error) => {
            let errors = frame.faults(error)?;
            let page = page(frame, Refused { errors, ..refused }).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

async fn page(frame: &Frame, refused: Refused) -> Result<Page> {
    let (cx, account) = (&frame.cx, &frame.person.account);
    let standing = moving::standing(cx, account).await?;
    let named = |account: &Account| context! { acct => account.acct(), url => account.url };
    let aliases: Vec<Value> = moving::aliases(cx, account.id)
        .await?
        .into_iter()
        .map(|alias| context! { uri => alias.uri, account => alias.account.as_ref().map(named) })
        .collect();
    let day = |time: Time| cx.language().day(&time);
    let changeable = username::changeable(cx, account).await?;
    let own = context! {
        errors => refused.errors,
        target => refused.target,
        username => if refused.username.is_empty() { account.username.clone() } else { refused.username },
        alias => refused.alias,
        aliases,
        moved_to => standing.moved_to.as_ref().map(named),
        next_move => standing.next_move_at.map(day),
        changeable => changeable != Changeable::Never,
        next_name => match changeable {
            Changeable::After(time) => Some(day(time)),
            Changeable::Never | Changeable::Now => None,
        },
    };
    frame.page("moving", "settings.moving", "settings/moving.html", own)
}
