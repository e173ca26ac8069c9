//! The pages of filters: the list, and the form of a filter. They use the service of `/api/v2/filters`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};

use super::Frame;
use super::filter_form::{Fields, Refused};
use crate::error::Result;
use crate::extract::Path;
use crate::web::{Form, NoFields, Page};
use model::FilterId;
use model::filter::{FilterAction, FilterContext};
use service::filter::{self, Filter};

/// Where the list is.
const PATH: &str = "/settings/filters";

/// `GET /settings/filters`
pub async fn index(frame: Frame) -> Result<Page> {
    let all = filter::list(&frame.cx, &frame.actor().await?).await?;
    let filters: Vec<Value> = all.iter().map(|filter| row(&frame, filter)).collect();
    frame.page("filters", "settings.filters", "settings/filters.html", context! { filters })
}

/// `GET /settings/filters/new`
pub async fn new(frame: Frame) -> Result<Page> {
    form(&frame, None, &Fields::new(), None)
}

/// `POST /settings/filters`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn create(frame: Frame, Form(fields): Form<Fields>) -> Result<Response> {
    match filter::create(&frame.cx, &frame.actor().await?, fields.params()).await {
        Ok(_) => Ok(frame.done("filters.saved", PATH)),
        Err(error) => refuse(&frame, None, &fields, &Refused::by(&frame.cx, error)?),
    }
}

/// `GET /settings/filters/{id}`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's.
pub async fn edit(frame: Frame, Path(id): Path<FilterId>) -> Result<Page> {
    let filter = filter::find(&frame.cx, &frame.actor().await?, id).await?;
    form(&frame, Some(id), &Fields::of(&filter), None)
}

/// `POST /settings/filters/{id}`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's. An invalid form is shown again, with
/// 422.
pub async fn update(frame: Frame, Path(id): Path<FilterId>, Form(fields): Form<Fields>) -> Result<Response> {
    match filter::update(&frame.cx, &frame.actor().await?, id, fields.params()).await {
        Ok(_) => Ok(frame.done("filters.saved", PATH)),
        Err(error) => refuse(&frame, Some(id), &fields, &Refused::by(&frame.cx, error)?),
    }
}

/// `POST /settings/filters/{id}/delete`
///
/// # Errors
/// [`NotFound`](context::Error::NotFound) when it is missing or someone else's.
pub async fn delete(frame: Frame, Path(id): Path<FilterId>, Form(_): Form<NoFields>) -> Result<Response> {
    filter::delete(&frame.cx, &frame.actor().await?, id).await?;
    Ok(frame.done("filters.deleted", PATH))
}

fn refuse(frame: &Frame, id: Option<FilterId>, fields: &Fields, refused: &Refused) -> Result<Response> {
    let page = form(frame, id, fields, Some(refused))?;
    Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
}

fn form(frame: &Frame, id: Option<FilterId>, fields: &Fields, refused: Option<&Refused>) -> Result<Page> {
    let own = context! {
        action => id.map_or_else(|| PATH.to_owned(), |id| format!("{PATH}/{id}")),
        is_new => id.is_none(),
        form => fields.form(),
        error => refused.and_then(|refused| refused.error.as_deref()),
        errors => refused.and_then(|refused| refused.errors.as_ref()),
    };
    let title = if id.is_none() { "filters.add" } else { "filters.edit" };
    frame.page("filters", title, "settings/filter.html", own)
}

fn row(frame: &Frame, filter: &Filter) -> Value {
    let language = frame.cx.language();
    let row = &filter.row;
    let expires = row.expires_at.map(|at| {
        let key = if at <= frame.cx.clock.now() { "filters.expired" } else { "filters.expires" };
        language.say_with(key, &[("date", &language.minute(&at))])
    });
    context! {
        id => row.id.to_string(),
        title => row.title,
        contexts => row.context.iter().map(|context| language.say(context_name(*context))).collect::<Vec<_>>(),
        action => language.say(action_name(row.action)),
        keywords => filter.keywords.iter().map(|keyword| keyword.keyword.as_str()).collect::<Vec<_>>(),
        statuses => filter.statuses.len(),
        expires => expires,
    }
}

/// The message that names where a filter applies.
fn context_name(context: FilterContext) -> &'static str {
    match context {
        FilterContext::Home => "filters.home",
        FilterContext::Notifications => "filters.notifications",
        FilterContext::Public => "filters.public",
        FilterContext::Thread => "filters.thread",
        FilterContext::Account => "filters.account",
        FilterContext::Explore => "filters.explore",
    }
}

/// The message that describes the effect of a filter.
fn action_name(action: FilterAction) -> &'static str {
    match action {
        FilterAction::Warn => "filters.warn",
        FilterAction::Hide => "filters.hide",
        FilterAction::HalfWarn => "filters.half_warn",
        FilterAction::Blur => "filters.blur",
    }
}
