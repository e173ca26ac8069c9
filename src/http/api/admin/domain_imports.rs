//! Import and export of blocked and allowed domains. Additions of this server.
//!
//! Spec: docs/contract/admin.csv

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{
    AdminReadDomainAllows, AdminReadDomainBlocks, AdminWriteDomainAllows, AdminWriteDomainBlocks, ManageFederation,
    StaffAuth,
};
use crate::extract::{Params, Upload, Uploads};
use crate::json::Json;
use context::json::Fragment;
use entity::admin::{DomainImport, DomainImportRefused};
use model::Staff;
use model::domain_list::{ImportMode, ListFormat};
use model::instance::Severity;
use service::domain_list::{self, Exported, Import, Imported, LIST_MAX, ListPolicy};

/// Parameters of [`import_blocks`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ImportBlocksParams {
    /// The text of the list, instead of a file.
    list: Option<String>,
    /// Detected by default.
    format: Option<ListFormat>,
    /// The handling of domains that are blocked already: `merge` by default, which never weakens a block.
    mode: Option<ImportMode>,
    /// The severity of entries without one: `suspend` by default.
    severity: Option<Severity>,
    /// Lines with faults are left out; otherwise nothing is applied.
    skip_faults: Option<bool>,
    /// From the preview of the same list with the same options: applies it. Without it, the response is a preview.
    token: Option<String>,
}

/// Parameters of [`import_allows`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ImportAllowsParams {
    /// The text of the list, instead of a file.
    list: Option<String>,
    /// Detected by default.
    format: Option<ListFormat>,
    /// Lines with faults are left out; otherwise nothing is applied.
    skip_faults: Option<bool>,
    /// From the preview of the same list with the same options: applies it. Without it, the response is a preview.
    token: Option<String>,
}

/// The file of an import.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListFile {
    /// Of at most 16 MiB.
    file: Option<Upload>,
}

/// Parameters of [`export_blocks`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ExportBlocksParams {
    /// `csv` by default.
    format: Option<ListFormat>,
    /// All flags, and the comments for the staff; otherwise the columns of Mastodon.
    all: Option<bool>,
}

/// Parameters of [`export_allows`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ExportAllowsParams {
    /// `csv` by default.
    format: Option<ListFormat>,
}

/// `POST /api/v1/admin/domain_blocks/import`: a preview, or with its token, the import; 422 with the faults of a list
/// that is not applied.
pub async fn import_blocks(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Uploads { params, files }: Uploads<ImportBlocksParams, ListFile>,
) -> Result<Json<DomainImport>> {
    let import = Import {
        policy: ListPolicy::Block,
        format: params.format,
        mode: params.mode.unwrap_or(ImportMode::Merge),
        severity: params.severity.unwrap_or(Severity::Suspend),
        skip_faults: params.skip_faults.unwrap_or(false),
    };
    run(&cx, &staff, read(params.list, files).await?, import, params.token).await
}

/// `POST /api/v1/admin/domain_allows/import`: as for blocks.
pub async fn import_allows(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainAllows, ManageFederation>,
    Uploads { params, files }: Uploads<ImportAllowsParams, ListFile>,
) -> Result<Json<DomainImport>> {
    let import = Import {
        policy: ListPolicy::Allow,
        format: params.format,
        mode: ImportMode::Merge,
        severity: Severity::Noop,
        skip_faults: params.skip_faults.unwrap_or(false),
    };
    run(&cx, &staff, read(params.list, files).await?, import, params.token).await
}

/// `GET /api/v1/admin/domain_blocks/export`
pub async fn export_blocks(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
    Params(params): Params<ExportBlocksParams>,
) -> Result<Response> {
    let columns = if params.all == Some(true) { Exported::All } else { Exported::Common };
    export(&cx, ListPolicy::Block, params.format, columns).await
}

/// `GET /api/v1/admin/domain_allows/export`
pub async fn export_allows(
    cx: Cx,
    _: StaffAuth<AdminReadDomainAllows, ManageFederation>,
    Params(params): Params<ExportAllowsParams>,
) -> Result<Response> {
    export(&cx, ListPolicy::Allow, params.format, Exported::Common).await
}

async fn run(
    cx: &Cx,
    staff: &Staff,
    list: Vec<u8>,
    import: Import,
    token: Option<String>,
) -> Result<Json<DomainImport>> {
    let Some(token) = token.filter(|token| !token.is_empty()) else {
        let preview = domain_list::preview(cx, list, import).await?;
        return Json::of(&DomainImport::new(preview, false));
    };
    match domain_list::import(cx, staff, list, import, &token).await? {
        Imported::Applied(preview) => Json::of(&DomainImport::new(preview, true)),
        Imported::Refused(preview) => {
            let refused = Fragment::of(&DomainImportRefused::from(preview))?;
            Ok(Json::new(refused).with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

/// The list of a request: as much of its file as a list may have, and a byte more of one that is too large.
async fn read(list: Option<String>, files: ListFile) -> Result<Vec<u8>> {
    let Some(file) = files.file else {
        return Ok(list.ok_or_else(|| Error::missing("file"))?.into_bytes());
    };
    let mut bytes = Vec::new();
    let file = tokio::fs::File::open(&file.path).await.map_err(|error| Error::of_file(&error))?;
    file.take(LIST_MAX as u64 + 1).read_to_end(&mut bytes).await.map_err(|error| Error::of_file(&error))?;
    Ok(bytes)
}

async fn export(cx: &Cx, policy: ListPolicy, format: Option<ListFormat>, columns: Exported) -> Result<Response> {
    let format = format.unwrap_or(ListFormat::Csv);
    let text = domain_list::export(cx, policy, format, columns).await?;
    let kind = match format {
        ListFormat::Csv => "text/csv; charset=utf-8",
        ListFormat::Plain => "text/plain; charset=utf-8",
        ListFormat::Json => "application/json; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response())
}
