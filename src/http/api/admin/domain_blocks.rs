//! Blocked domains of other servers.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/domain_blocks/>

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadDomainBlocks, AdminWriteDomainBlocks, ManageFederation, StaffAuth};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use context::json::Fragment;
use entity::admin::{DomainBlock, DomainBlockConflict};
use model::RowId;
use model::instance::Severity;
use model::params::required_to_create;
use service::domain_decision::{self, BlockParams, Created};

/// A blocked domain; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DomainBlockParams {
    /// With its subdomains; ignored by a change.
    #[schemars(transform = required_to_create)]
    domain: Option<String>,
    /// `silence` by default.
    severity: Option<Severity>,
    /// No avatars, headers, attachments and emojis.
    reject_media: Option<bool>,
    /// Reports are ignored.
    reject_reports: Option<bool>,
    /// Favourites and reactions are ignored.
    reject_favourite: Option<bool>,
    /// Mentions of and replies to accounts that do not follow the sender are ignored.
    reject_reply_exclude_followers: Option<bool>,
    /// Sensitive statuses are not sent there.
    reject_send_sensitive: Option<bool>,
    /// Hashtags are dropped.
    reject_hashtag: Option<bool>,
    /// Follows need approval.
    reject_straight_follow: Option<bool>,
    /// Follows are rejected.
    reject_new_follow: Option<bool>,
    /// No friend relation.
    reject_friend: Option<bool>,
    /// Not in trends.
    block_trends: Option<bool>,
    /// Treated as software of the Misskey family for unlisted statuses.
    detect_invalid_subscription: Option<bool>,
    /// The published list hides the middle of the domain.
    obfuscate: Option<bool>,
    /// The published list leaves the domain out.
    hidden: Option<bool>,
    /// For the staff.
    private_comment: Option<String>,
    /// For the published list.
    public_comment: Option<String>,
}

/// `GET /api/v1/admin/domain_blocks`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
    paging: Paging<100, 500>,
) -> Result<Page<DomainBlock>> {
    let rows = domain_decision::list_blocks(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `GET /api/v1/admin/domain_blocks/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<DomainBlock>> {
    Json::of(&domain_decision::find_block(&cx, id).await?.into())
}

/// `POST /api/v1/admin/domain_blocks`: 422 with the existing block where one covers the domain that is at least as
/// strict.
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(mut params): Params<DomainBlockParams>,
) -> Result<Json<DomainBlock>> {
    let domain = params.domain.take().unwrap_or_default();
    let mut block = BlockParams::new(Severity::Silence);
    params.apply(&mut block);
    match domain_decision::create(&cx, &staff, &domain, block).await? {
        Created::Block(block) => Json::of(&block.into()),
        Created::Conflict(existing) => {
            let conflict = Fragment::of(&DomainBlockConflict::from(existing))?;
            Ok(Json::new(conflict).with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

/// `PUT /api/v1/admin/domain_blocks/{id}`
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<DomainBlockParams>>,
) -> Result<Json<DomainBlock>> {
    let Params(params) = params.or_missing(domain_decision::find_block(&cx, id)).await?;
    let block = domain_decision::update(&cx, &staff, id, |block| params.apply(block)).await?;
    Json::of(&block.into())
}

/// `DELETE /api/v1/admin/domain_blocks/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    domain_decision::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}

impl DomainBlockParams {
    /// Replaces the values that were sent.
    fn apply(self, block: &mut BlockParams) {
        let set = |value: &mut bool, sent: Option<bool>| *value = sent.unwrap_or(*value);
        let flags = &mut block.flags;
        set(&mut flags.reject_media, self.reject_media);
        set(&mut flags.reject_reports, self.reject_reports);
        set(&mut flags.reject_favourite, self.reject_favourite);
        set(&mut flags.reject_reply_exclude_followers, self.reject_reply_exclude_followers);
        set(&mut flags.reject_send_sensitive, self.reject_send_sensitive);
        set(&mut flags.reject_hashtag, self.reject_hashtag);
        set(&mut flags.reject_straight_follow, self.reject_straight_follow);
        set(&mut flags.reject_new_follow, self.reject_new_follow);
        set(&mut flags.reject_friend, self.reject_friend);
        set(&mut flags.block_trends, self.block_trends);
        set(&mut flags.detect_invalid_subscription, self.detect_invalid_subscription);
        set(&mut block.obfuscate, self.obfuscate);
        set(&mut block.hidden, self.hidden);
        block.severity = self.severity.unwrap_or(block.severity);
        block.private_comment = self.private_comment.or(block.private_comment.take());
        block.public_comment = self.public_comment.or(block.public_comment.take());
    }
}
