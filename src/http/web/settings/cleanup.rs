//! The page of automatic deletion: how old statuses get, and which are kept, also for what plugins know of them.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use minijinja::context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Frame;
use crate::error::{Error, Result};
use crate::web::{Form, Page};
use context::error::Validation;
use context::extension::CleanupException;
use model::AccountId;
use service::status_cleanup::{self, AGES, StatusCleanupPolicy};

/// Where this page is.
const PATH: &str = "/settings/cleanup";

/// Fields of the form; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Fields {
    enabled: Option<bool>,
    /// In seconds: one of the values that the page offers.
    min_status_age: Option<String>,
    keep_direct: Option<bool>,
    keep_pinned: Option<bool>,
    keep_polls: Option<bool>,
    keep_media: Option<bool>,
    keep_self_fav: Option<bool>,
    keep_self_bookmark: Option<bool>,
    /// Blank: however many.
    min_favs: Option<String>,
    /// Blank: however many.
    min_reblogs: Option<String>,
    /// Exceptions of plugins that hold, by name: `1`, or the least number; blank: however many.
    exceptions: BTreeMap<String, String>,
}

/// `GET /settings/cleanup`
pub async fn show(frame: Frame) -> Result<Page> {
    let account = frame.person.account.id;
    let policy = status_cleanup::find(&frame.cx, account).await?;
    let chosen = status_cleanup::exceptions(&frame.cx, account).await?.into_iter().filter(|(_, least)| *least > 0);
    let exceptions = chosen.map(|(offered, least)| (offered.name, least.to_string())).collect();
    page(&frame, &Fields { exceptions, ..Fields::of(&policy) }, None)
}

/// `POST /settings/cleanup`
///
/// # Errors
/// None for an invalid form: that is shown again, with 422.
pub async fn update(frame: Frame, Form(form): Form<Fields>) -> Result<Response> {
    match save(&frame, &form).await {
        Ok(()) => Ok(frame.done("cleanup.saved", PATH)),
        Err(error) => {
            let page = page(&frame, &form, Some(&frame.faults(error)?))?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY).into_response())
        }
    }
}

async fn save(frame: &Frame, form: &Fields) -> Result<(), Error> {
    let (policy, offered) = (form.policy(frame.person.account.id)?, frame.cx.extensions().cleanup_exceptions());
    status_cleanup::set(&frame.cx, &policy, &form.chosen(&offered)?).await
}

/// An exception of a plugin, as the page shows it.
#[derive(Serialize)]
struct Offered {
    name: String,
    title: String,
    counts: bool,
}

fn page(frame: &Frame, form: &Fields, errors: Option<&BTreeMap<&'static str, String>>) -> Result<Page> {
    let offered = frame.cx.extensions().cleanup_exceptions();
    let language = frame.cx.language();
    let offered: Vec<Offered> = offered
        .iter()
        .map(|one| Offered { name: one.name.clone(), title: one.title(language).to_owned(), counts: one.counts })
        .collect();
    let ages: Vec<String> = AGES.iter().map(i64::to_string).collect();
    let own = context! { form => form, errors => errors, ages => ages, offered => offered };
    frame.page("cleanup", "settings.cleanup", "settings/cleanup.html", own)
}

impl Fields {
    fn of(policy: &StatusCleanupPolicy) -> Self {
        Self {
            enabled: Some(policy.enabled),
            min_status_age: Some(policy.min_status_age.to_string()),
            keep_direct: Some(policy.keep_direct),
            keep_pinned: Some(policy.keep_pinned),
            keep_polls: Some(policy.keep_polls),
            keep_media: Some(policy.keep_media),
            keep_self_fav: Some(policy.keep_self_fav),
            keep_self_bookmark: Some(policy.keep_self_bookmark),
            min_favs: policy.min_favs.map(|least| least.to_string()),
            min_reblogs: policy.min_reblogs.map(|least| least.to_string()),
            exceptions: BTreeMap::new(),
        }
    }

    /// The chosen values of the offered exceptions: 0 for an exception that is off.
    fn chosen(&self, offered: &[CleanupException]) -> Result<BTreeMap<String, i64>, Error> {
        let mut faults = Validation::default();
        let mut chosen = BTreeMap::new();
        for CleanupException { name, counts, .. } in offered {
            let written = self.exceptions.get(name).map_or("", |written| written.trim());
            let least = match (written, counts) {
                ("", _) => Some(0),
                (_, false) => Some(1),
                (number, true) => number.parse::<i64>().ok().filter(|least| *least > 0),
            };
            if least.is_none() {
                faults.add("exceptions", "ERR_INVALID", "must be 1 or more");
            }
            chosen.insert(name.clone(), least.unwrap_or_default());
        }
        faults.check().map(|()| chosen)
    }

    /// The policy of the form.
    fn policy(&self, account: AccountId) -> Result<StatusCleanupPolicy, Error> {
        let ticked = |field: Option<bool>| field.unwrap_or_default();
        let mut faults = Validation::default();
        let mut number = |attribute: &'static str, field: &Option<String>| {
            let written = field.as_deref().map(str::trim).filter(|written| !written.is_empty())?;
            let number = written.parse::<i64>().ok();
            if number.is_none() {
                faults.add(attribute, "ERR_INVALID", "must be 1 or more");
            }
            number
        };
        let (min_favs, min_reblogs) = (number("min_favs", &self.min_favs), number("min_reblogs", &self.min_reblogs));
        let min_status_age = self.min_status_age.as_deref().and_then(|age| age.parse().ok()).unwrap_or_default();
        faults.check()?;
        Ok(StatusCleanupPolicy {
            account_id: account,
            enabled: ticked(self.enabled),
            min_status_age,
            keep_direct: ticked(self.keep_direct),
            keep_pinned: ticked(self.keep_pinned),
            keep_polls: ticked(self.keep_polls),
            keep_media: ticked(self.keep_media),
            keep_self_fav: ticked(self.keep_self_fav),
            keep_self_bookmark: ticked(self.keep_self_bookmark),
            min_favs,
            min_reblogs,
        })
    }
}
