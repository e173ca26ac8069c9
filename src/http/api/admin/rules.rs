//! Translations of the rules, an addition of this server.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminWrite, ManageRules, StaffAuth};
use crate::extract::{Params, Path};
use crate::json::Json;
use context::json::Fragment;
use model::RuleId;
use model::params::required;
use service::rule;

/// Body parameters of [`translate`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RuleTranslationParams {
    /// An ISO 639 code: `de`.
    #[schemars(transform = required)]
    language: Option<String>,
    /// At most 300 characters; empty removes the translation.
    text: Option<String>,
    /// At most 2,000 characters.
    hint: Option<String>,
}

/// `PUT /api/v1/admin/rules/{id}/translations`
pub async fn translate(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageRules>,
    Path(id): Path<RuleId>,
    Params(params): Params<RuleTranslationParams>,
) -> Result<Json<entity::Rule>> {
    let language = params.language.unwrap_or_default();
    let (text, hint) = (params.text.unwrap_or_default(), params.hint.unwrap_or_default());
    let rule = rule::translate(&cx, &staff, id, &language, &text, &hint).await?;
    Ok(Json::new(Fragment::of(&entity::rule::Rule::from(&rule))?))
}
