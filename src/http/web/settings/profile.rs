//! The page on which people edit their profile: what `update_credentials` changes in apps, by the same service.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Frame;
use crate::api::credentials::{CredentialFiles, FieldParams, fields};
use crate::error::Result;
use crate::web::{FormWithFiles, Page, avatar_url};
use model::Account;
use model::account::ActorType;
use service::profile::{self, Changes, FIELDS_MAX};
use service::profile_image::Picture;

/// Where this page is.
const PATH: &str = "/settings/profile";

/// Fields of the form; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    /// At most 30 characters.
    display_name: Option<String>,
    /// At most 500 characters.
    note: Option<String>,
    /// By index, at most 6; they replace all fields, and those with a blank name are dropped.
    #[serde(deserialize_with = "fields")]
    #[schemars(with = "Option<BTreeMap<String, FieldParams>>")]
    fields_attributes: Option<Vec<FieldParams>>,
    locked: Option<bool>,
    bot: Option<bool>,
    discoverable: Option<bool>,
    indexable: Option<bool>,
    hide_collections: Option<bool>,
    /// One a line.
    attribution_domains: Option<String>,
    remove_avatar: Option<bool>,
    remove_header: Option<bool>,
}

/// The values of the form's fields.
#[derive(Serialize)]
struct ProfileForm {
    display_name: String,
    note: String,
    fields: Vec<[String; 2]>,
    locked: bool,
    bot: bool,
    discoverable: bool,
    indexable: bool,
    hide_collections: bool,
    attribution_domains: String,
}

/// `GET /settings/profile`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, &ProfileForm::of(&frame.person.account), None)
}

/// `POST /settings/profile`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn update(
    frame: Frame,
    FormWithFiles { fields, files }: FormWithFiles<Fields, CredentialFiles>,
) -> Result<Response> {
    let actor = frame.actor().await?;
    let (removed, pictures) = pictures(&fields, files);
    match profile::update(&frame.cx, &actor, fields.changes(), pictures).await {
        Ok(()) => {
            profile::take_pictures_off(&frame.cx, &actor, &removed).await?;
            Ok(frame.done("profile_form.saved", PATH))
        }
        Err(error) => {
            let page = page(&frame, &fields.form(), Some(&frame.faults(error)?))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

/// The pictures to remove, and those to set; one that is sent wins over its removal.
fn pictures(fields: &Fields, files: CredentialFiles) -> (Vec<Picture>, Vec<(Picture, PathBuf)>) {
    let (avatar, header) = files.into_paths();
    let both = [
        (Picture::Avatar, avatar, fields.remove_avatar == Some(true)),
        (Picture::Header, header, fields.remove_header == Some(true)),
    ];
    let removed = both.iter().filter(|(_, sent, removed)| *removed && sent.is_none()).map(|(picture, ..)| *picture);
    (removed.collect(), both.iter().filter_map(|(picture, sent, _)| Some((*picture, sent.clone()?))).collect())
}

fn page(frame: &Frame, form: &ProfileForm, errors: Option<&BTreeMap<&'static str, String>>) -> Result<Page> {
    let account = &frame.person.account;
    let header = account.header.as_ref();
    let shown: Value = context! {
        url => account.url,
        creator => format!(
            "<meta name=\"fediverse:creator\" content=\"@{}@{}\">",
            account.username, frame.cx.urls.local_domain
        ),
        avatar => avatar_url(&frame.cx, account),
        header => header.map_or_else(|| frame.cx.urls.default_header(), |key| frame.cx.urls.media(key)),
        has_avatar => account.avatar.is_some(),
        has_header => account.header.is_some(),
    };
    let own = context! { form => form, account => shown, errors => errors };
    frame.page("profile", "settings.profile", "settings/profile.html", own)
}

impl Fields {
    fn pairs(&self) -> Vec<(String, String)> {
        self.fields_attributes.iter().flatten().map(FieldParams::pair).collect()
    }

    fn sites(&self) -> Vec<String> {
        self.attribution_domains.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
    }

    fn changes(&self) -> Changes {
        let ticked = |field: Option<bool>| Some(field.unwrap_or_default());
        Changes {
            display_name: Some(self.display_name.clone().unwrap_or_default()),
            note: Some(self.note.clone().unwrap_or_default().replace("\r\n", "\n")),
            fields: Some(self.pairs()),
            locked: ticked(self.locked),
            bot: ticked(self.bot),
            discoverable: ticked(self.discoverable),
            indexable: ticked(self.indexable),
            hide_collections: ticked(self.hide_collections),
            attribution_domains: Some(self.sites()),
            ..Changes::default()
        }
    }

    fn form(&self) -> ProfileForm {
        ProfileForm {
            display_name: self.display_name.clone().unwrap_or_default(),
            note: self.note.clone().unwrap_or_default(),
            fields: filled_up(self.pairs()),
            locked: self.locked.unwrap_or_default(),
            bot: self.bot.unwrap_or_default(),
            discoverable: self.discoverable.unwrap_or_default(),
            indexable: self.indexable.unwrap_or_default(),
            hide_collections: self.hide_collections.unwrap_or_default(),
            attribution_domains: self.attribution_domains.clone().unwrap_or_default(),
        }
    }
}

impl ProfileForm {
    fn of(account: &Account) -> Self {
        let fields = account.fields.iter().map(|field| (field.name.clone(), field.value.clone()));
        Self {
            display_name: account.display_name.clone(),
            note: account.note.clone(),
            fields: filled_up(fields.collect()),
            locked: account.locked,
            bot: account.actor_type == ActorType::Service,
            discoverable: account.discoverable.unwrap_or_default(),
            indexable: account.indexable,
            hide_collections: account.hide_collections.unwrap_or_default(),
            attribution_domains: account.attribution_domains.join("\n"),
        }
    }
}

/// As many fields as a profile may have, the blank ones at the end.
fn filled_up(fields: Vec<(String, String)>) -> Vec<[String; 2]> {
    let mut rows: Vec<[String; 2]> = fields.into_iter().map(|(name, value)| [name, value]).collect();
    rows.resize_with(rows.len().max(FIELDS_MAX), Default::default);
    rows
}
