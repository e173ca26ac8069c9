//! Preferences that people set on pages: defaults of posting, how apps show statuses, notifications by mail, languages.
//!
//! Reached from `/settings/preferences`. Apps set some of them by [`profile`](crate::profile), and read them by
//! `GET /api/v1/preferences`.
//!
//! Spec: docs/contract/rules.md#28-defaults-of-settings.

use std::collections::BTreeMap;

use crate::profile::quoting;
use context::change::{self, Change};
use context::error::{Error, Result, Validation};
use context::{Cx, Language};
use model::interaction::PolicyRules;
use model::{AccountId, Actor, NotificationType, Preferences, Visibility};
use store::profile::Profile;
use text::language;

/// How apps show media: as marked by the author, always, or never.
pub const EXPAND_MEDIA: [&str; 3] = ["default", "show_all", "hide_all"];

/// The values of `visibility` that the server itself defines.
const VISIBILITIES: [&str; 9] =
    ["public", "public_unlisted", "login", "unlisted", "private", "mutual", "reply", "limited", "direct"];

/// The values of `visibility` that a person may disable for their own account: the server's own, and those defined by
/// plugins.
#[must_use]
pub fn visibilities(cx: &Cx) -> Vec<String> {
    VISIBILITIES.iter().map(|word| (*word).to_owned()).chain(cx.extensions().visibilities()).collect()
}

/// Replaces the preferences of `account`; `locale` is the language of its pages and mails.
///
/// # Errors
/// [`Error::Validation`] naming the value that is not a valid choice.
#[model::use_case]
pub async fn update(cx: &Cx, account: AccountId, preferences: Preferences, locale: Option<&str>) -> Result<()> {
    check(cx, &preferences, locale)?;
    let mut tx = cx.db.begin().await?;
    let found = store::account::lock(&mut tx, &[account]).await?.pop().ok_or(Error::NotFound)?;
    let profile = Profile::from(&found);
    let other_settings = quoting(&profile.other_settings, preferences.default_quote_policy);
    store::profile::update_preferences(&mut tx, account, preferences).await?;
    store::user::set_locale(&mut tx, account, locale).await?;
    if other_settings != profile.other_settings {
        store::profile::update(&mut tx, account, Profile { other_settings, ..profile }, cx.clock.now()).await?;
        change::record(cx, &mut tx, Change::AccountUpdated { account }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Replaces the rules of who may interact with `actor`'s new statuses of these visibilities; empty ones are the server's
/// defaults. Returns the preferences.
///
/// # Errors
/// [`Error::NotFound`] when the account is gone.
#[model::use_case]
pub async fn set_policies(cx: &Cx, actor: &Actor, rules: BTreeMap<Visibility, PolicyRules>) -> Result<Preferences> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[actor.id]).await?.pop().ok_or(Error::NotFound)?;
    let user = store::user::find(&mut tx, actor.id).await?.ok_or(Error::NotFound)?;
    let mut preferences = user.preferences.0;
    for (visibility, rules) in rules {
        match rules.iter().next() {
            Some(_) => preferences.interaction_policies.insert(visibility, rules),
            None => preferences.interaction_policies.remove(&visibility),
        };
    }
    store::profile::update_preferences(&mut tx, actor.id, preferences.clone()).await?;
    tx.commit().await?;
    Ok(preferences)
}

fn check(cx: &Cx, preferences: &Preferences, locale: Option<&str>) -> Result<()> {
    let mut faults = Validation::default();
    let known = |code: &String| language::resolve(code) == Some(code);
    let mut require = |attribute: &'static str, holds: bool| {
        if !holds {
            faults.add(attribute, "ERR_INCLUSION", "is none of the choices");
        }
    };
    let narrow = [Visibility::Direct, Visibility::Limited];
    require("visibility", preferences.default_visibility.is_none_or(|visibility| !narrow.contains(&visibility)));
    let disabled = &preferences.disabled_visibilities;
    let default = preferences.default_visibility;
    require("visibility", default.is_none_or(|visibility| !disabled.iter().any(|word| word == visibility.as_str())));
    let offered = visibilities(cx);
    require("disabled_visibilities", disabled.iter().all(|word| offered.contains(word)));
    require("language", preferences.default_language.iter().all(known));
    require("chosen_languages", preferences.chosen_languages.iter().all(known));
    let mailed = |kind: &NotificationType| NotificationType::MAILED.contains(kind);
    require("mail_notifications", preferences.mail_notifications.iter().all(mailed));
    require("expand_media", EXPAND_MEDIA.contains(&preferences.expand_media.as_str()));
    require("locale", locale.is_none_or(|locale| Language::ALL.iter().any(|language| language.code() == locale)));
    faults.check()
}
