//! Server settings that admins change at run time: listing, reading and setting them. They are declared in
//! [`model::settings`].
//!
//! Reached from `rookery settings`. A change is validated and stored; running servers apply
//! it with [`Cx::invalidate`].

use serde::Serialize;
use serde_json::{Value, json};

use crate::audit::{self, Entry, Target};
use crate::email_block;
use crate::server::picture;
use crate::sign_up;
use config::nearest;
use context::Cx;
use context::error::{Error, Result, Validation};
use model::settings::{SETTINGS, SettingRow, SettingType, parse_hours};
use model::{Settings, Staff};
use text::{PATTERN_MAX, PATTERNS_MAX, WordPatterns};

/// Longest text value, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// Longest address of a page, in bytes.
const ADDRESS_MAX: usize = 2_000;

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
    let settings = SETTINGS.iter().map(|SettingRow { key, takes, about }| Setting {
        key,
        value: of(&values, key),
        default: of(&defaults, key),
        takes: words(*takes),
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
    if let (SettingType::Picture, "") = (takes, text.trim()) {
        picture::remove(cx, staff, key).await?;
        return get(cx, key).await;
    }
    if let SettingType::Patterns = takes {
        WordPatterns::new(&lines(text)).map_err(|fault| Error::invalid(format!("{key}: {fault}")))?;
    }
    let value =
        read(takes, text).ok_or_else(|| Error::invalid(format!("{key}: {:?} is not {}", clip(text), words(takes))))?;
    if let (SettingType::Username, Some(name)) = (takes, value.as_str().filter(|name| !name.is_empty())) {
        store::account::find_local(&cx.db, name)
            .await?
            .ok_or_else(|| Error::invalid(format!("{key}: there is no account {name:?} on this server")))?;
    }
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    store::settings::set(&mut tx, key, &value, now).await?;
    if let SettingType::Markdown(Some(stamp)) = takes {
        let stamped = if text.trim().is_empty() { String::new() } else { now.to_api_seconds() };
        store::settings::set(&mut tx, stamp, &Value::from(stamped), now).await?;
    }
    let entry = Entry::new("settings.update", Target::new("setting", 0, key));
    audit::record(cx, &mut tx, staff, entry.with(logged(takes, &value))).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    get(cx, key).await
}

/// True for a setting whose value is a picture.
///
/// # Errors
/// [`Error::Invalid`] for an unknown name, with the closest existing one.
pub fn is_picture(key: &str) -> Result<bool> {
    Ok(matches!(find(key)?, SettingType::Picture))
}

fn find(key: &str) -> Result<SettingType> {
    if let Some(row) = SETTINGS.iter().find(|row| row.key == key) {
        return Ok(row.takes);
    }
    let meant = nearest(key, SETTINGS.iter().map(|row| row.key.to_owned()));
    let hint = meant.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
    Err(Error::invalid(format!("there is no setting {:?}{hint}", clip(key))))
}

fn clip(text: &str) -> String {
    text.chars().take(80).collect()
}

fn to_object(settings: &Settings) -> Result<Value> {
    serde_json::to_value(settings).map_err(Error::internal)
}

/// Describes the accepted values, to follow "… is not".
fn words(takes: SettingType) -> String {
    match takes {
        SettingType::Flag => "true or false".to_owned(),
        SettingType::Whole(min, max) => format!("a whole number from {min} to {max}"),
        SettingType::Choice(words) => format!("one of {}", words.join(", ")),
        SettingType::Line(max) => format!("a line of at most {max} characters"),
        SettingType::StyleSheet => format!("a style sheet (CSS) of at most {TEXT_MAX} bytes"),
        SettingType::Markdown(_) => format!("a text in Markdown of at most {TEXT_MAX} bytes"),
        SettingType::Email => "an e-mail address, or empty".to_owned(),
        SettingType::WebAddress => format!("an address of at most {ADDRESS_MAX} bytes that begins with http, or empty"),
        SettingType::Username => "the user name of an account, or empty".to_owned(),
        SettingType::SoftwareName => "a name of small letters, digits and -, or empty".to_owned(),
        SettingType::Hashtags => "hashtags separated by commas, or empty".to_owned(),
        SettingType::Handles(max) => {
            format!("at most {max} account names (user or user@domain) separated by commas, or empty")
        }
        SettingType::Patterns => format!(
            "words, or regular expressions between slashes, one a line, at most {PATTERNS_MAX} of {PATTERN_MAX} characters"
        ),
        SettingType::Picture => "a picture: name its file at the command line, or nothing".to_owned(),
        SettingType::Hours => "hours from 0 to 24 such as 8-20, or empty".to_owned(),
        SettingType::Nothing => "changeable: the server sets it".to_owned(),
    }
}

/// The value in the audit log: texts are left out.
fn logged(takes: SettingType, value: &Value) -> Value {
    match takes {
        SettingType::Flag | SettingType::Whole(..) | SettingType::Choice(_) => json!({ "value": value }),
        _ => json!({}),
    }
}

/// Parses `text`; `None` when it is invalid.
fn read(takes: SettingType, text: &str) -> Option<Value> {
    if text.contains('\0') {
        return None;
    }
    let word = text.trim();
    match takes {
        SettingType::Flag => word.parse::<bool>().ok().map(Value::from),
        SettingType::Whole(min, max) => {
            word.parse::<i64>().ok().filter(|number| (min..=max).contains(number)).map(Value::from)
        }
        SettingType::Choice(words) => words.contains(&word).then(|| word.into()),
        SettingType::Line(max) => {
            (word.chars().count() <= max && !word.contains(char::is_control)).then(|| word.into())
        }
        SettingType::Markdown(_) | SettingType::StyleSheet => (text.len() <= TEXT_MAX).then(|| text.into()),
        SettingType::Email => (word.is_empty() || is(email_block::check_email, word)).then(|| word.into()),
        SettingType::WebAddress => (word.is_empty() || is_web_address(word)).then(|| word.into()),
        SettingType::Username => {
            let name = word.trim_start_matches('@');
            (name.is_empty() || is(sign_up::check_username, name)).then(|| name.into())
        }
        SettingType::SoftwareName => {
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            (word.len() <= 64 && word.bytes().all(fits)).then(|| word.into())
        }
        SettingType::Hashtags => {
            let tags = word.split([',', ' ']).map(|tag| tag.trim_start_matches('#')).filter(|tag| !tag.is_empty());
            tags.map(|tag| text::hashtag::normalise(tag).map(Value::from)).collect()
        }
        SettingType::Handles(max) => {
            let names = word.split([',', ' ']).map(|name| name.trim_start_matches('@')).filter(|name| !name.is_empty());
            let names: Option<Vec<Value>> = names.map(handle).collect();
            names.filter(|names| names.len() <= max).map(Value::from)
        }
        SettingType::Patterns => Some(lines(text).into()),
        SettingType::Hours => (word.is_empty() || parse_hours(word).is_some()).then(|| word.into()),
        SettingType::Picture | SettingType::Nothing => None,
    }
}

/// True for the address of a web page, without a password in it.
fn is_web_address(text: &str) -> bool {
    let parsed = url::Url::parse(text).ok().filter(|_| text.len() <= ADDRESS_MAX);
    parsed.is_some_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    })
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
    fn every_setting_accepts_its_default() {
        let defaults = to_object(&Settings::default()).expect("serialises");
        for SettingRow { key, takes, .. } in SETTINGS {
            let default = match &defaults[*key] {
                Value::Null => panic!("{key} is no member"),
                Value::String(text) => text.clone(),
                Value::Array(_) => String::new(),
                other => other.to_string(),
            };
            assert!(
                read(*takes, &default).is_some() || matches!(takes, SettingType::Picture | SettingType::Nothing),
                "{key} = {default:?}"
            );
        }
    }

    #[test]
    fn value_out_of_bounds_is_rejected() {
        assert_eq!(read(SettingType::Whole(1, 5), "6"), None);
        assert_eq!(read(SettingType::Flag, "yes"), None);
        assert_eq!(read(SettingType::SoftwareName, "Mastodon"), None);
        assert_eq!(read(SettingType::Email, "nobody"), None);
        assert_eq!(read(SettingType::Line(3), "a\nb"), None);
        for address in ["status.example", "ftp://status.example", "https://", "https://a:b@status.example"] {
            assert_eq!(read(SettingType::WebAddress, address), None, "{address}");
        }
        assert_eq!(read(SettingType::WebAddress, "https://status.example/"), Some("https://status.example/".into()));
        assert_eq!(read(SettingType::Username, "@alice"), Some("alice".into()));
        assert_eq!(read(SettingType::Handles(2), "@Alice, bob@B.test"), Some(vec!["alice", "bob@b.test"].into()));
        assert_eq!(read(SettingType::Handles(1), "alice bob"), None);
        assert_eq!(read(SettingType::Handles(2), "alice@b test@"), None);
    }
}
