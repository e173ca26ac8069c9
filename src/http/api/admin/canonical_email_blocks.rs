//! Blocked e-mail addresses.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/canonical_email_blocks/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminReadCanonicalEmailBlocks, AdminWriteCanonicalEmailBlocks, ManageBlocks, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use context::json::Fragment;
use entity::admin::CanonicalEmailBlock;
use model::RowId;
use model::params::required;
use service::email_block;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct CanonicalEmailBlockParams {
    /// The address; wins over the hash.
    email: Option<String>,
    /// The hash of its canonical form; needed without an address.
    canonical_email_hash: Option<String>,
}

/// Body parameters of [`test()`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TestParams {
    #[schemars(transform = required)]
    email: Option<String>,
}

/// `GET /api/v1/admin/canonical_email_blocks`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadCanonicalEmailBlocks, ManageBlocks>,
    paging: Paging<100, 200>,
) -> Result<Page<CanonicalEmailBlock>> {
    let rows = email_block::list_addresses(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `GET /api/v1/admin/canonical_email_blocks/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadCanonicalEmailBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<CanonicalEmailBlock>> {
    Json::of(&email_block::find_address(&cx, id).await?.into())
}

/// `POST /api/v1/admin/canonical_email_blocks/test`: the blocks of an address, none or one.
pub async fn test(
    cx: Cx,
    _: StaffAuth<AdminReadCanonicalEmailBlocks, ManageBlocks>,
    Params(params): Params<TestParams>,
) -> Result<Json<Vec<CanonicalEmailBlock>>> {
    let email = params.email.filter(|email| !email.trim().is_empty()).ok_or_else(|| Error::missing("email"))?;
    let found = email_block::test_address(&cx, &email).await?.map(CanonicalEmailBlock::from);
    let found: Vec<Fragment> = found.iter().map(Fragment::of).collect::<Result<_, _>>()?;
    Ok(Json::list(found))
}

/// `POST /api/v1/admin/canonical_email_blocks`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteCanonicalEmailBlocks, ManageBlocks>,
    Params(params): Params<CanonicalEmailBlockParams>,
) -> Result<Json<CanonicalEmailBlock>> {
    let (email, hash) = (params.email.as_deref(), params.canonical_email_hash.as_deref());
    Json::of(&email_block::create_address(&cx, &staff, email, hash).await?.into())
}

/// `DELETE /api/v1/admin/canonical_email_blocks/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteCanonicalEmailBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    email_block::delete_address(&cx, &staff, id).await?;
    Ok(Json::empty())
}
