//! The directory of profiles.
//!
//! Spec: <https://docs.joinmastodon.org/methods/directory/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::AnyScope;
use crate::extract::{AppAuth, OffsetPaging, Params};
use crate::json::Json;

use service::directory::{self, DirectoryPage, Order};

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DirectoryParams {
    /// `active`, the default: by the last status; `new`: by age.
    order: Option<String>,
    /// Only accounts of this server.
    local: Option<bool>,
}

/// `GET /api/v1/directory`: for a signed-in user, without accounts that the user blocks or mutes.
pub async fn index(
    cx: Cx,
    auth: Option<AppAuth<AnyScope>>,
    paging: OffsetPaging<40, 80>,
    Params(params): Params<DirectoryParams>,
) -> Result<Json<Vec<entity::Account>>> {
    let viewer = auth.as_ref().and_then(|AppAuth(grant, ..)| grant.actor.as_deref());
    let page = DirectoryPage {
        order: if params.order.as_deref() == Some("new") { Order::New } else { Order::Active },
        local: params.local.unwrap_or_default(),
        limit: paging.limit,
        offset: paging.offset,
    };
    let accounts = directory::list(&cx, viewer, page).await?;
    Ok(Json::list(entity::account::render_in_order(&cx, &accounts).await?))
}
