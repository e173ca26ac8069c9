//! The fields of the form for writing, and their conversion for publishing, editing and drafts.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::error::Error;
use crate::web::settings::policy_fields::RuleFields;
use model::interaction::PolicyRules;
use model::{MediaAttachment, MediaId, QuotePolicy, SavedDraftId, StatusId, Time};
use service::media::MediaUpdate;
use service::poll::PollDraft;
use service::saved_draft;
use service::status::{Draft, EditDraft};

/// The format of `<input type="datetime-local">`.
const LOCAL_TIME: &str = "%Y-%m-%dT%H:%M";

/// An uploaded file in the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct MediaFields {
    pub(super) id: Option<MediaId>,
    /// Alternative text.
    pub(super) description: Option<String>,
    /// The point to keep in view when cropping: `x,y`, each from -1 to 1.
    pub(super) focus: Option<String>,
    /// Whether it is left out.
    pub(super) remove: Option<bool>,
}

/// The poll in the form.
#[model::parameters]
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub(super) struct PollFields {
    /// Blank ones are left out; without two others there is no poll.
    pub(super) options: Option<Vec<String>>,
    /// In seconds.
    pub(super) expires_in: Option<i64>,
    pub(super) multiple: Option<bool>,
    pub(super) hide_totals: Option<bool>,
}

/// Fields of the form; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    pub(super) text: Option<String>,
    pub(super) spoiler_text: Option<String>,
    pub(super) visibility: Option<String>,
    pub(super) local_only: Option<bool>,
    pub(super) sensitive: Option<bool>,
    /// ISO 639 code.
    pub(super) language: Option<String>,
    pub(super) in_reply_to_id: Option<StatusId>,
    pub(super) quoted_status_id: Option<StatusId>,
    /// Blank: the preference.
    pub(super) quote_approval_policy: Option<String>,
    /// Who may reply, boost and favourite.
    pub(super) policy: Option<RuleFields>,
    pub(super) media: Option<Vec<MediaFields>>,
    /// The descriptions of `file_1`, `file_2` and so on, by these names.
    pub(super) descriptions: Option<BTreeMap<String, String>>,
    pub(super) poll: Option<PollFields>,
    /// When to publish: a local time of the offset `offset`.
    pub(super) scheduled_at: Option<String>,
    /// UTC minus local time, in minutes, as JavaScript's `getTimezoneOffset` returns it.
    pub(super) offset: Option<i64>,
    pub(super) edit: Option<StatusId>,
    pub(super) redraft: Option<StatusId>,
    /// The draft that the server keeps of this form.
    pub(super) draft_id: Option<SavedDraftId>,
    pub(super) idempotency_key: Option<String>,
    /// `publish`, or `save` for a draft; anything else shows the form again, with the files that were sent.
    pub(super) act: Option<String>,
    /// Whether the response to `save` is the id of the draft alone, as text, instead of a redirect.
    pub(super) part: Option<bool>,
    /// Fields of plugins.
    #[serde(flatten)]
    pub(super) rest: Map<String, serde_json::Value>,
}

/// The value of a field, unless it is blank.
fn filled(field: Option<&String>) -> Option<String> {
    field.filter(|text| !text.is_empty()).cloned()
}

impl Fields {
    pub(super) fn quote_policy(&self) -> Result<Option<QuotePolicy>, Error> {
        let word = filled(self.quote_approval_policy.as_ref());
        word.map(|word| word.parse()).transpose().map_err(|how| Error::invalid(format!("quote_approval_policy {how}")))
    }

    pub(super) fn rules(&self) -> Result<PolicyRules, Error> {
        let rules = self.policy.as_ref().map(|fields| fields.change(PolicyRules::default())).transpose();
        Ok(rules.map_err(|_| Error::invalid("policy is none of the choices"))?.unwrap_or_default())
    }

    pub(super) fn poll(&self) -> Option<PollDraft> {
        let poll = self.poll.as_ref()?;
        let options: Vec<String> =
            poll.options.iter().flatten().filter(|option| !option.trim().is_empty()).cloned().collect();
        (!options.is_empty()).then(|| PollDraft {
            options,
            expires_in: poll.expires_in,
            multiple: poll.multiple.unwrap_or_default(),
            hide_totals: poll.hide_totals.unwrap_or_default(),
        })
    }

    pub(super) fn time(&self) -> Result<Option<Time>, Error> {
        let Some(text) = filled(self.scheduled_at.as_ref()) else { return Ok(None) };
        let local = chrono::NaiveDateTime::parse_from_str(text.trim_end_matches('Z'), LOCAL_TIME)
            .map_err(|_| Error::invalid("The time is not valid"))?;
        let offset = chrono::Duration::minutes(self.offset.unwrap_or_default().clamp(-1_000, 1_000));
        Ok(Some(Time::from(local.and_utc() + offset)))
    }

    /// The fields of plugins that are filled in.
    pub(super) fn filled_rest(&self) -> Map<String, serde_json::Value> {
        let filled = self.rest.iter().filter(|(_, value)| value.as_str() != Some(""));
        filled.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The form of a draft.
    pub(super) fn of_draft(id: SavedDraftId, saved: saved_draft::Parameters) -> Self {
        Self {
            text: Some(saved.text),
            spoiler_text: Some(saved.spoiler_text),
            visibility: saved.visibility,
            local_only: Some(saved.local_only),
            sensitive: saved.sensitive,
            language: saved.language,
            in_reply_to_id: saved.in_reply_to_id,
            quoted_status_id: saved.quoted_status_id,
            quote_approval_policy: saved.quote_approval_policy.map(|policy| policy.to_string()),
            policy: Some(RuleFields::of(saved.interaction_policy)),
            poll: saved.poll.map(|poll| PollFields {
                options: Some(poll.options),
                expires_in: poll.expires_in,
                multiple: Some(poll.multiple),
                hide_totals: Some(poll.hide_totals),
            }),
            draft_id: Some(id),
            idempotency_key: Some(crypto::random_text(16)),
            ..Self::default()
        }
    }

    /// The parameters of a draft with these fields.
    pub(super) fn parameters(&self, media: &[MediaAttachment]) -> Result<saved_draft::Parameters, Error> {
        Ok(saved_draft::Parameters {
            text: self.text.clone().unwrap_or_default(),
            spoiler_text: self.spoiler_text.clone().unwrap_or_default(),
            sensitive: Some(self.sensitive.unwrap_or_default()),
            visibility: filled(self.visibility.as_ref()),
            local_only: self.local_only.unwrap_or_default(),
            language: filled(self.language.as_ref()),
            in_reply_to_id: self.in_reply_to_id,
            quoted_status_id: self.quoted_status_id,
            media_ids: media.iter().map(|media| media.id).collect(),
            poll: self.poll(),
            quote_approval_policy: self.quote_policy()?,
            interaction_policy: self.rules()?,
            ..saved_draft::Parameters::default()
        })
    }

    pub(super) fn draft(&self, headers: &HeaderMap, media: &[MediaAttachment]) -> Result<Draft, Error> {
        let language = headers.get(header::ACCEPT_LANGUAGE);
        Ok(Draft {
            request_language: language.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
            idempotency_key: filled(self.idempotency_key.as_ref()),
            saved_draft_id: self.draft_id,
            params: self.filled_rest(),
            ..Draft::from(self.parameters(media)?)
        })
    }

    pub(super) fn edit_draft(&self, media: &[MediaAttachment]) -> Result<EditDraft, Error> {
        let description = |media: &MediaAttachment| MediaUpdate {
            description: Some(media.description.clone().unwrap_or_default()),
            focus: None,
            thumbnail: None,
        };
        Ok(EditDraft {
            text: self.text.clone().unwrap_or_default(),
            spoiler_text: self.spoiler_text.clone().unwrap_or_default(),
            sensitive: self.sensitive.unwrap_or_default(),
            language: filled(self.language.as_ref()),
            media_ids: media.iter().map(|media| media.id).collect(),
            media_attributes: media.iter().map(|media| (media.id, description(media))).collect(),
            poll: self.poll(),
            quote_approval_policy: self.quote_policy()?,
            interaction_policy: self.rules()?,
            params: self.filled_rest(),
            ..EditDraft::default()
        })
    }
}
