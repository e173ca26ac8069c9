//! The page of imports and exports: files to download, a form to upload one, and how far the last imports are.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use super::{Frame, archives};
use crate::error::{Error, Result};
use crate::extract::{Path, Upload};
use crate::web::{FormWithFiles, Page};
use model::RowId;
use model::transfer::TransferKind;
use service::transfer::{self, FailureReason, Import, Mode};

/// Where this page is.
pub(super) const PATH: &str = "/settings/transfer";

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    /// The kind of records in the file.
    #[schemars(with = "Option<TransferKind>")]
    kind: Option<String>,
    /// Removes existing records that are not in the file.
    overwrite: Option<bool>,
}

/// The file of the form.
#[derive(Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(default)]
pub struct Files {
    /// At most 4 MiB and 20,000 rows.
    file: Option<Upload>,
}

/// `GET /settings/transfer`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, "", None).await
}

/// `POST /settings/transfer`
///
/// # Errors
/// None for a file that is refused: the form is shown again, with 422.
pub async fn create(frame: Frame, FormWithFiles { fields, files }: FormWithFiles<Fields, Files>) -> Result<Response> {
    let kind = fields.kind.as_deref().unwrap_or_default();
    match begin(&frame, kind, fields.overwrite.unwrap_or_default(), files.file).await {
        Ok(_) => Ok(frame.done("transfer.begun", PATH)),
        Err(error @ (Error::Invalid(_) | Error::TooLarge(_))) => {
            let page = page(&frame, kind, Some(&error)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

async fn begin(frame: &Frame, kind: &str, overwrite: bool, file: Option<Upload>) -> Result<Import, Error> {
    let kind = kind.parse().map_err(|_| Error::invalid("Please choose the kind of data in the file"))?;
    let file = file.ok_or_else(|| Error::invalid("Please choose a file"))?;
    let mode = if overwrite { Mode::Overwrite } else { Mode::Merge };
    let file = read(&file.path).await.map_err(Error::internal)?;
    transfer::import(&frame.cx, frame.person.account.id, kind, mode, &file).await
}

/// As much of a file as an import takes, and a byte more of one that is too large.
async fn read(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let (file, mut bytes) = (tokio::fs::File::open(path).await?, Vec::new());
    file.take(transfer::FILE_MAX as u64 + 1).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// `GET /settings/transfer/export/{kind}`
///
/// # Errors
/// [`Error::NotFound`] for an unknown kind.
pub async fn export(frame: Frame, Path(kind): Path<TransferKind>) -> Result<Response> {
    let file = transfer::export(&frame.cx, frame.person.account.id, kind).await?;
    Ok(download(kind, file))
}

/// `GET /settings/transfer/account`: the data that the other files do not contain.
pub async fn document(frame: Frame) -> Result<Response> {
    let document =
        entity::account_document::document(&frame.cx, frame.person.account.id, entity::account_document::SHORT).await?;
    Ok(attachment(entity::account_document::DOCUMENT, "application/json", format!("{document:#}").into_bytes()))
}

/// `GET /settings/transfer/{id}/failures`
///
/// # Errors
/// [`Error::NotFound`] for an import that is missing or someone else's.
pub async fn failures(frame: Frame, Path(id): Path<RowId>) -> Result<Response> {
    let import = transfer::find(&frame.cx, frame.person.account.id, id).await?;
    let file = transfer::failures(&frame.cx, frame.person.account.id, id).await?;
    Ok(download(import.kind, file))
}

/// A file that the browser keeps.
fn download(kind: TransferKind, file: Vec<u8>) -> Response {
    let content_type = match kind {
        TransferKind::Filters => "application/json",
        TransferKind::Follows
        | TransferKind::Blocks
        | TransferKind::Mutes
        | TransferKind::DomainBlocks
        | TransferKind::Lists
        | TransferKind::Bookmarks => "text/csv; charset=utf-8",
    };
    attachment(kind.file_name(), content_type, file)
}

fn attachment(name: &str, content_type: &'static str, file: Vec<u8>) -> Response {
    let mut response = file.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

pub(super) async fn page(frame: &Frame, kind: &str, error: Option<&Error>) -> Result<Page> {
    let imports = transfer::list(&frame.cx, frame.person.account.id).await?;
    let reasons = transfer::reasons(&frame.cx, &imports).await?;
    let own = context! {
        kind => kind,
        archives => archives::rows(frame).await?,
        error => error.map(|error| sentence(frame, &error.to_string())),
        kinds => TransferKind::ALL.iter().map(|kind| [kind.as_str(), kind.file_name()]).collect::<Vec<_>>(),
        imports => imports.iter().map(|import| row(frame, import, &reasons)).collect::<Vec<_>>(),
    };
    frame.page("transfer", "settings.transfer", "settings/transfer.html", own)
}

/// A service's English message, in the language of the page.
fn sentence(frame: &Frame, english: &str) -> String {
    frame.cx.language().say_error(english).unwrap_or_else(|| format!("{english}."))
}

fn row(frame: &Frame, import: &Import, reasons: &[FailureReason]) -> Value {
    let language = frame.cx.language();
    let errors = reasons.iter().filter(|reason| reason.import_id == import.id);
    let errors = errors.map(|reason| (sentence(frame, &reason.error), reason.failed));
    context! {
        id => import.id.to_string(),
        kind => import.kind.as_str(),
        total => language.number(import.total),
        done => language.number(import.done),
        failed => language.number(import.failed),
        has_failed => import.failed > 0,
        errors => errors.collect::<Vec<_>>(),
        is_over => import.finished_at.is_some(),
        begun_iso => import.created_at.to_api(),
        begun_human => language.minute(&import.created_at),
    }
}
