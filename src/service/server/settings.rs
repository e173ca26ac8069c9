//! Server settings that admins change at run time: the list, their types, reading and setting them.
//!
//! Reached from `rookery settings`. A change is validated and stored; running servers apply
//! it with [`Cx::invalidate`].

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::{self, Entry, Target};
use crate::sign_up;
use config::nearest;
use context::Cx;
use context::error::{Error, Result, Validation};
use model::settings::parse_hours;
use model::{Settings, Staff};
use text::{PATTERN_MAX, PATTERNS_MAX, WordPatterns};

/// Longest text value, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// The type of a setting.
#[derive(Clone, Copy, Debug)]
enum Takes {
    Flag,
    Whole(i64, i64),
    Choice(&'static [&'static str]),
    /// One line of at most this many characters.
    Line(usize),
    /// Markdown; the named setting records when it was written.
    Markdown(Option<&'static str>),
    /// CSS.
    StyleSheet,
    Email,
    Username,
    /// A software name as NodeInfo allows it.
    SoftwareName,
    Hashtags,
    /// Names of at most this many accounts, of this server or others.
    Handles(usize),
    /// Words and regular expressions, one a line.
    Patterns,
    /// Hours of the day.
    Hours,
    /// Read-only: the server sets it.
    Nothing,
}

const MODES: &[&str] = &["none", "approved", "open"];
const AUDIENCES: &[&str] = &["disabled", "users", "all"];

/// Every setting; a test compares it with [`Settings`].
const SETTINGS: &[(&str, Takes, &str)] = &[
    ("registrations_mode", Takes::Choice(MODES), "Who may sign up"),
    ("registrations_message", Takes::Markdown(None), "Shown while registrations are closed"),
    ("require_invite_text", Takes::Flag, "Whether people who need approval must say why they want to join"),
    ("site_title", Takes::Line(200), "Name of the server"),
    ("site_short_description", Takes::Line(1000), "One or two plain sentences about the server"),
    (
        "site_extended_description",
        Takes::Markdown(Some("site_extended_description_updated_at")),
        "Everything there is to say about the server",
    ),
    ("site_extended_description_updated_at", Takes::Nothing, "When the extended description was written"),
    (
        "privacy_policy",
        Takes::Markdown(Some("privacy_policy_updated_at")),
        "Empty: the text that comes with the server",
    ),
    ("privacy_policy_updated_at", Takes::Nothing, "When the privacy policy was written"),
    ("custom_css", Takes::StyleSheet, "A style sheet that pages load after their own"),
    ("contact_email", Takes::Email, "Shown to everyone"),
    ("contact_username", Takes::Username, "User name of the account to ask"),
    ("timeline_preview", Takes::Flag, "Whether public timelines can be read without signing in"),
    ("profile_directory", Takes::Flag, "Whether the profile directory is available"),
    ("trends", Takes::Flag, "Whether trends are shown"),
    ("trendable_by_default", Takes::Flag, "Whether trends are shown before a review"),
    ("activity_api_enabled", Takes::Flag, "Whether figures of each week are served"),
    ("peers_api_enabled", Takes::Flag, "Whether the list of known servers is served"),
    ("show_domain_blocks", Takes::Choice(AUDIENCES), "Who may read which domains are blocked"),
    ("show_domain_blocks_rationale", Takes::Choice(AUDIENCES), "Who may read why they are blocked"),
    ("max_characters", Takes::Whole(1, 100_000), "Characters of a status"),
    ("max_media_attachments", Takes::Whole(1, 16), "Media of a status"),
    ("max_pinned_statuses", Takes::Whole(0, 100), "Statuses pinned to a profile"),
    ("max_featured_tags", Takes::Whole(0, 100), "Hashtags featured on a profile"),
    ("media_description_limit", Takes::Whole(1, 10_000), "Characters of a media description"),
    ("compat.nodeinfo_name", Takes::SoftwareName, "Another software name for NodeInfo; empty announces rookery"),
    ("bootstrap_timeline_accounts", Takes::Handles(40), "Accounts that staff suggests to follow"),
    ("disallowed_hashtags", Takes::Hashtags, "Hashtags that must not be used"),
    (
        "ng_words",
        Takes::Patterns,
        "Words that posts, polls and profiles must not contain; remote posts with one are dropped",
    ),
    ("sensitive_words", Takes::Patterns, "Words that make a post sensitive"),
    ("sensitive_words_warning", Takes::Line(200), "Content warning of such a post that has none"),
    (
        "hold_back_new_accounts",
        Takes::Whole(0, 8_760),
        "Hours in which the first public posts of an account are unlisted; 0: off",
    ),
    ("hold_back_statuses", Takes::Whole(1, 100), "How many posts these are"),
    ("sign_ups_per_day", Takes::Whole(0, 1_000_000), "Sign-ups of a day (UTC) without an invitation; 0: any number"),
    ("sign_up_hours", Takes::Hours, "Hours (UTC) in which people may sign up without an invitation"),
];

/// A setting as an admin sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    pub key: &'static str,
    /// Its current value.
    pub value: Value,
    pub default: Value,
    /// Description of the accepted values.
    pub takes: String,
    /// The effect of the setting.
    pub about: &'static str,
}

/// All settings with their values.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<Setting>> {
    let stored = store::settings::load(&cx.db).await?;
    let (values, defaults) = (to_object(&stored)?, to_object(&Settings::default())?);
    let of = |values: &Value, key: &str| values.get(key).cloned().unwrap_or_default();
    let settings = SETTINGS.iter().map(|(key, takes, about)| Setting {
        key,
        value: of(&values, key),
        default: of(&defaults, key),
        takes: takes.words(),
        about,
    });
    Ok(settings.collect())
}

/// The setting named `key`.
///
/// # Errors
/// [`Error::Invalid`] for an unknown name, with the closest existing one.
#[model::use_case]
pub async fn get(cx: &Cx, key: &str) -> Result<Setting> {
    find(key)?;
    let setting = list(cx).await?.into_iter().find(|setting| setting.key == key);
    setting.ok_or(Error::NotFound)
}

/// Sets `key` to the value parsed from `text`.
///
/// # Errors
/// [`Error::Invalid`] for an unknown setting or an invalid value.
#[model::use_case]
pub async fn set(cx: &Cx, staff: &Staff, key: &str, text: &str) -> Result<Setting> {
    let takes = find(key)?;
    if let Takes::Patterns = takes {
        WordPatterns::new(&lines(text)).map_err(|fault| Error::invalid(format!("{key}: {fault}")))?;
    }
    let value =
        takes.read(text).ok_or_else(|| Error::invalid(format!("{key}: {:?} is not {}", clip(text), takes.words())))?;
    if let (Takes::Username, Some(name)) = (takes, value.as_str().filter(|name| !name.is_empty())) {
        store::account::find_local(&cx.db, name)
            .await?
            .ok_or_else(|| Error::invalid(format!("{key}: there is no account {name:?} on this server")))?;
    }
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    store::settings::set(&mut tx, key, &value, now).await?;
    if let Takes::Markdown(Some(stamp)) = takes {
        let stamped = if text.trim().is_empty() { String::new() } else { now.to_api_seconds() };
        store::settings::set(&mut tx, stamp, &Value::from(stamped), now).await?;
    }
    let entry = Entry::new("settings.update", Target::new("setting", 0, key));
    audit::record(cx, &mut tx, staff, entry.with(takes.logged(&value))).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    get(cx, key).await
}

fn find(key: &str) -> Result<Takes> {
    if let Some((_, takes, _)) = SETTINGS.iter().find(|(name, ..)| *name == key) {
        return Ok(*takes);
    }
    let meant = nearest(key, SETTINGS.iter().map(|(name, ..)| (*name).to_owned()));
    let hint = meant.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    Err(Error::invalid(format!("there is no setting {:?}{hint}", clip(key))))
}

fn clip(text: &str) -> String {
    text.chars().take(80).collect()
}

fn to_object(settings: &Settings) -> Result<Value> {
    serde_json::to_value(settings).map_err(Error::internal)
}

impl Takes {
    /// Describes the accepted values, to follow "… is not".
    fn words(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Line(max) => format!("a line of at most {max} characters"),
            Self::StyleSheet => format!("a style sheet (CSS) of at most {TEXT_MAX} bytes"),
            Self::Markdown(_) => format!("a text in Markdown of at most {TEXT_MAX} bytes"),
            Self::Email => "an e-mail address, or empty".to_owned(),
            Self::Username => "the user name of an account, or empty".to_owned(),
            Self::SoftwareName => "a name of small letters, digits and -, or empty".to_owned(),
            Self::Hashtags => "hashtags separated by commas, or empty".to_owned(),
            Self::Handles(max) => {
                format!("at most {max} account names (user or user@domain) separated by commas, or empty")
            }
            Self::Patterns => format!(
                "words, or regular expressions between slashes, one a line, at most {PATTERNS_MAX} of {PATTERN_MAX} characters"
            ),
            Self::Hours => "hours from 0 to 24 such as 8-20, or empty".to_owned(),
            Self::Nothing => "changeable: the server sets it".to_owned(),
        }
    }

    /// The value in the audit log: texts are left out.
    fn logged(self, value: &Value) -> Value {
        match self {
            Self::Flag | Self::Whole(..) | Self::Choice(_) => json!({ "value": value }),
            _ => json!({}),
        }
    }

    /// Parses `text`; `None` when it is invalid.
    fn read(self, text: &str) -> Option<Value> {
        if text.contains('\0') {
            return None;
        }
        let word = text.trim();
        match self {
            Self::Flag => word.parse::<bool>().ok().map(Value::from),
            Self::Whole(min, max) => {
                word.parse::<i64>().ok().filter(|number| (min..=max).contains(number)).map(Value::from)
            }
            Self::Choice(words) => words.contains(&word).then(|| word.into()),
            Self::Line(max) => (word.chars().count() <= max && !word.contains(char::is_control)).then(|| word.into()),
            Self::Markdown(_) | Self::StyleSheet => (text.len() <= TEXT_MAX).then(|| text.into()),
            Self::Email => (word.is_empty() || is(sign_up::check_email, word)).then(|| word.into()),
            Self::Username => {
                let name = word.trim_start_matches('@');
                (name.is_empty() || is(sign_up::check_username, name)).then(|| name.into())
            }
            Self::SoftwareName => {
                let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                (word.len() <= 64 && word.bytes().all(fits)).then(|| word.into())
            }
            Self::Hashtags => {
                let tags = word.split([',', ' ']).map(|tag| tag.trim_start_matches('#')).filter(|tag| !tag.is_empty());
                tags.map(|tag| text::hashtag::normalise(tag).map(Value::from)).collect()
            }
            Self::Handles(max) => {
                let names =
                    word.split([',', ' ']).map(|name| name.trim_start_matches('@')).filter(|name| !name.is_empty());
                let names: Option<Vec<Value>> = names.map(handle).collect();
                names.filter(|names| names.len() <= max).map(Value::from)
            }
            Self::Patterns => Some(lines(text).into()),
            Self::Hours => (word.is_empty() || parse_hours(word).is_some()).then(|| word.into()),
            Self::Nothing => None,
        }
    }
}

/// The lines of a text that are not blank.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// `user`, or `user@domain`, in lower case; `None` when it is invalid. Other servers allow more in names.
fn handle(name: &str) -> Option<Value> {
    let name = name.to_lowercase();
    let fits = match name.split_once('@') {
        None => is(sign_up::check_username, &name),
        Some((username, domain)) => {
            let of_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            !username.is_empty() && username.chars().all(of_name) && url::Host::parse(domain).is_ok()
        }
    };
    fits.then(|| name.into())
}

fn is(check: fn(&str, &mut Validation), text: &str) -> bool {
    let mut faults = Validation::default();
    check(text, &mut faults);
    faults.check().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_the_table_and_accepts_its_default() {
        let defaults = to_object(&Settings::default()).expect("serialises");
        let mut fields: Vec<&String> = defaults.as_object().expect("an object").keys().collect();
        fields.sort_unstable();
        let mut names: Vec<&str> = SETTINGS.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        assert_eq!(fields, names);
        for (name, takes, _) in SETTINGS {
            let default = match &defaults[*name] {
                Value::String(text) => text.clone(),
                Value::Array(_) => String::new(),
                other => other.to_string(),
            };
            assert!(takes.read(&default).is_some() || matches!(takes, Takes::Nothing), "{name} = {default:?}");
        }
    }

    #[test]
    fn value_out_of_bounds_is_rejected() {
        assert_eq!(Takes::Whole(1, 5).read("6"), None);
        assert_eq!(Takes::Flag.read("yes"), None);
        assert_eq!(Takes::SoftwareName.read("Mastodon"), None);
        assert_eq!(Takes::Email.read("nobody"), None);
        assert_eq!(Takes::Line(3).read("a\nb"), None);
        assert_eq!(Takes::Username.read("@alice"), Some("alice".into()));
        assert_eq!(Takes::Handles(2).read("@Alice, bob@B.test"), Some(vec!["alice", "bob@b.test"].into()));
        assert_eq!(Takes::Handles(1).read("alice bob"), None);
        assert_eq!(Takes::Handles(2).read("alice@b test@"), None);
    }
}
