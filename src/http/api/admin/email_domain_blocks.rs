//! Domains whose e-mail addresses cannot be used to sign up.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/email_domain_blocks/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadEmailDomainBlocks, AdminWriteEmailDomainBlocks, ManageBlocks, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use entity::admin::EmailDomainBlock;
use model::RowId;
use model::params::required;
use service::email_block;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct EmailDomainBlockParams {
    /// The part of addresses after the @; subdomains are blocked as well.
    #[schemars(transform = required)]
    domain: Option<String>,
    /// A moderator decides about each sign-up, instead of none being possible.
    allow_with_approval: Option<bool>,
}

/// `GET /api/v1/admin/email_domain_blocks`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadEmailDomainBlocks, ManageBlocks>,
    paging: Paging<100, 200>,
) -> Result<Page<EmailDomainBlock>> {
    let rows = email_block::list_domains(&cx, &paging.cursor).await?;
    let blocks = EmailDomainBlock::render(&cx, rows).await?;
    Page::of_entities(&paging, blocks.into_iter().map(|block| (block.id.into(), block)).collect())
}

/// `GET /api/v1/admin/email_domain_blocks/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadEmailDomainBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<EmailDomainBlock>> {
    let block = email_block::find_domain(&cx, id).await?;
    Json::of(&EmailDomainBlock::render_one(&cx, block).await?)
}

/// `POST /api/v1/admin/email_domain_blocks`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteEmailDomainBlocks, ManageBlocks>,
    Params(params): Params<EmailDomainBlockParams>,
) -> Result<Json<EmailDomainBlock>> {
    let (domain, approval) = (params.domain.unwrap_or_default(), params.allow_with_approval.unwrap_or_default());
    let block = email_block::create_domain(&cx, &staff, &domain, approval).await?;
    Json::of(&EmailDomainBlock::render_one(&cx, block).await?)
}

/// `DELETE /api/v1/admin/email_domain_blocks/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteEmailDomainBlocks, ManageBlocks>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    email_block::delete_domain(&cx, &staff, id).await?;
    Ok(Json::empty())
}
