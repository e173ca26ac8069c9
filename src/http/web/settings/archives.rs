//! Archives of a user's statuses: requesting and downloading them. They are listed on the page of
//! [exports](super::transfers).

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};

use super::Frame;
use super::transfers::{self, PATH};
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::Form;
use model::RowId;
use schemars::JsonSchema;
use serde::Deserialize;
use service::archive::{self, Archive, KEPT};

/// The form has only a token.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fields {}

/// `POST /settings/archives`
///
/// # Errors
/// None when it is too soon for another: the page is shown again, with 422.
pub async fn create(frame: Frame, Form(Fields {}): Form<Fields>) -> Result<Response> {
    match archive::request(&frame.cx, frame.person.account.id).await {
        Ok(_) => Ok(frame.done("archive.begun", PATH)),
        Err(error @ Error::Invalid(_)) => {
            let page = transfers::page(&frame, "", Some(&error)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// `GET /settings/archives/{id}`
///
/// # Errors
/// [`Error::NotFound`] for an archive that is missing, someone else's, or not finished.
pub async fn show(frame: Frame, Path(id): Path<RowId>) -> Result<Response> {
    let account = &frame.person.account;
    let file = archive::open(&frame.cx, account.id, id).await?;
    let length = file.length();
    let mut response = Body::from_stream(file.into_stream()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    let name = format!("attachment; filename=\"{}-{id}.zip\"", account.username);
    if let Ok(value) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// The data of the page of exports: the archives, newest first, and when the next may be requested.
pub(super) async fn rows(frame: &Frame) -> Result<Value> {
    let language = frame.cx.language();
    let archives = archive::list(&frame.cx, frame.person.account.id).await?;
    let next = archive::next_at(&frame.cx, &archives);
    let row = |archive: &Archive| {
        let until = archive.finished_at.map(|at| at + KEPT);
        context! {
            id => archive.id.to_string(),
            total => language.number(archive.total),
            done => language.number(archive.done),
            megabytes => language.number((archive.size_bytes + 999_999) / 1_000_000),
            is_ready => archive.file.is_some(),
            is_failed => archive.failed,
            begun_iso => archive.created_at.to_api(),
            begun_human => language.minute(&archive.created_at),
            until => until.map(|until| language.minute(&until)),
        }
    };
    Ok(context! {
        rows => archives.iter().map(row).collect::<Vec<_>>(),
        next => next.map(|next| language.minute(&next)),
    })
}
