//! The page of preferences: defaults of posting, what apps show, notifications by mail, languages.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Frame;
use super::policy_fields::PolicyFields;
use crate::error::Result;
use crate::web::{Form, Page};
use context::Language;
use context::error::{Error, Validation};
use model::actor::User;
use model::{NotificationType, Permissions, Preferences, QuotePolicy};
use service::notification::staff_notifications;
use service::{preference, session};
use text::language;

/// Where this page is.
const PATH: &str = "/settings/preferences";

/// Fields of the form; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Fields {
    /// The language of pages and mails; blank: the browser's language.
    locale: Option<String>,
    /// Blank: by whether followers are approved.
    visibility: Option<String>,
    /// Values of `visibility` that are never to be posted with.
    disabled_visibilities: Option<Vec<String>>,
    searchability: Option<String>,
    quote_policy: Option<String>,
    /// Who may do other things with new posts.
    policies: Option<PolicyFields>,
    /// ISO 639 code; blank: the language of the pages.
    language: Option<String>,
    sensitive: Option<bool>,
    keep_visibility: Option<bool>,
    show_application: Option<bool>,
    expand_media: Option<String>,
    expand_spoilers: Option<bool>,
    autoplay_gifs: Option<bool>,
    /// Types of notifications.
    mail_notifications: Option<Vec<String>>,
    /// Types of notifications for staff; counts for staff only.
    staff_notifications: Option<Vec<String>>,
    /// ISO 639 codes; none: all languages.
    chosen_languages: Option<Vec<String>>,
}

/// `GET /settings/preferences`
pub async fn show(frame: Frame) -> Result<Page> {
    page(&frame, &Fields::of(&frame.person.user), None).await
}

/// `POST /settings/preferences`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn update(frame: Frame, Form(form): Form<Fields>) -> Result<Response> {
    match save(&frame, &form).await {
        Ok(()) => {
            // The notice is in the language that was chosen just now.
            form.locale.as_deref().and_then(Language::of).into_iter().for_each(|language| frame.cx.speak(language));
            Ok(frame.done("preferences.saved", PATH))
        }
        Err(error) => {
            let page = page(&frame, &form, Some(&frame.faults(error)?)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

async fn save(frame: &Frame, form: &Fields) -> Result<(), Error> {
    let staff = staff_notifications(session::actor(&frame.cx, &frame.person).await?.permissions);
    let mut muted = frame.person.user.preferences.0.muted_staff_notifications.clone();
    muted.retain(|kind| !staff.contains(kind));
    let ticked = |kind: &NotificationType| form.staff_notifications.iter().flatten().any(|word| word == kind.as_str());
    muted.extend(staff.into_iter().filter(|kind| !ticked(kind)));
    let preferences = form.preferences(&frame.person.user.preferences.0)?;
    let preferences = Preferences { muted_staff_notifications: muted, ..preferences };
    preference::update(&frame.cx, frame.person.account.id, preferences, filled(&form.locale)).await
}

type Errors = BTreeMap<&'static str, String>;

async fn page(frame: &Frame, form: &Fields, errors: Option<&Errors>) -> Result<Page> {
    let staff = staff_notifications(frame.actor().await?.permissions);
    let (visibilities, spoken) = (preference::visibilities(&frame.cx), frame.cx.language());
    let title = |word: &String| Some((word.clone(), frame.cx.extensions().visibility_title(word, spoken)?));
    let titles: BTreeMap<String, String> = visibilities.iter().filter_map(title).collect();
    let own = context! {
        form => form,
        errors => errors,
        titles => titles,
        visibilities => visibilities,
        locales => Language::ALL.map(|language| [language.code(), language.name()]),
        mails => NotificationType::MAILED.map(NotificationType::as_str),
        staff => staff.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
        languages => language::listed_in(spoken.code()),
    };
    frame.page("preferences", "settings.preferences", "settings/preferences.html", own)
}

/// The value of a field, unless it is blank.
fn filled(field: &Option<String>) -> Option<&str> {
    field.as_deref().filter(|text| !text.is_empty())
}

impl Fields {
    fn of(user: &User) -> Self {
        let preferences = &user.preferences.0;
        Self {
            locale: user.locale.clone(),
            visibility: preferences.default_visibility.map(|visibility| visibility.to_string()),
            disabled_visibilities: Some(preferences.disabled_visibilities.clone()),
            searchability: Some(preferences.searchability().to_string()),
            quote_policy: Some(preferences.default_quote_policy.to_string()),
            policies: Some(PolicyFields::of(&preferences.interaction_policies)),
            language: preferences.default_language.clone(),
            sensitive: Some(preferences.default_sensitive),
            keep_visibility: Some(preferences.keep_visibility),
            show_application: Some(preferences.show_application),
            expand_media: Some(preferences.expand_media.clone()),
            expand_spoilers: Some(preferences.expand_spoilers),
            autoplay_gifs: Some(preferences.autoplay_gifs),
            mail_notifications: Some(preferences.mail_notifications.iter().map(ToString::to_string).collect()),
            staff_notifications: Some(
                staff_notifications(Permissions(Permissions::ALL))
                    .into_iter()
                    .filter(|kind| !preferences.muted_staff_notifications.contains(kind))
                    .map(|kind| kind.to_string())
                    .collect(),
            ),
            chosen_languages: Some(preferences.chosen_languages.clone()),
        }
    }

    /// The preferences of the form, without those of staff; `stored` are the present ones.
    fn preferences(&self, stored: &Preferences) -> Result<Preferences, Error> {
        let mut faults = Validation::default();
        let mut known = |attribute: &'static str, is_known: bool| {
            if !is_known {
                faults.add(attribute, "ERR_INCLUSION", "is none of the choices");
            }
        };
        let visibility = filled(&self.visibility).map(str::parse).transpose();
        known("visibility", visibility.is_ok());
        let searchability = filled(&self.searchability).map(str::parse).transpose();
        known("searchability", searchability.is_ok());
        let quote_policy = filled(&self.quote_policy).map(str::parse).transpose();
        known("quote_policy", quote_policy.is_ok());
        let stored = &stored.interaction_policies;
        let policies = self.policies.as_ref().map_or_else(|| Ok(stored.clone()), |fields| fields.change(stored));
        known("policies", policies.is_ok());
        let mailed = self.mail_notifications.iter().flatten().map(|kind| kind.parse()).collect::<Result<Vec<_>, _>>();
        known("mail_notifications", mailed.is_ok());
        faults.check()?;
        let ticked = |field: Option<bool>| field.unwrap_or_default();
        Ok(Preferences {
            default_visibility: visibility.ok().flatten(),
            disabled_visibilities: self.disabled_visibilities.clone().unwrap_or_default(),
            default_searchability: searchability.ok().flatten(),
            default_quote_policy: quote_policy.ok().flatten().unwrap_or(QuotePolicy::Public),
            default_language: filled(&self.language).map(str::to_owned),
            default_sensitive: ticked(self.sensitive),
            keep_visibility: ticked(self.keep_visibility),
            show_application: ticked(self.show_application),
            expand_media: filled(&self.expand_media).unwrap_or("default").to_owned(),
            expand_spoilers: ticked(self.expand_spoilers),
            autoplay_gifs: ticked(self.autoplay_gifs),
            mail_notifications: mailed.unwrap_or_default(),
            muted_staff_notifications: Vec::new(),
            interaction_policies: policies.unwrap_or_default(),
            chosen_languages: self.chosen_languages.clone().unwrap_or_default(),
        })
    }
}
