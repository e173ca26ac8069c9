//! Texts of pages and mails, in every supported language.
//!
//! `src/context/messages` has a file for each language: tables of messages, named `table.key`. `{name}` is a
//! placeholder for an argument. A message with a count is a table of the plural forms of its language (`one`,
//! `other`; CLDR), selected by the argument `count`. The table `errors` translates the English error messages of
//! services, which the API returns. Templates render a message with the function `t` (`service::templates`), other
//! code with [`Language::say`]. The tests below enforce that all files have the same messages, and that each message
//! is used.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;

use chrono::{DateTime, Datelike as _, Utc};

use text::language;

/// A language of pages and mails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// The fallback.
    #[default]
    English,
    /// Informal form of address.
    German,
    /// Polite form of address.
    Japanese,
}

/// The messages of a language, by name.
#[derive(Debug)]
struct Catalogue(BTreeMap<String, Message>);

#[derive(Debug)]
enum Message {
    Plain(String),
    /// `one` is missing in languages without that form.
    Counted {
        one: Option<String>,
        other: String,
    },
}

static ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::read(include_str!("messages/en.toml")));
static GERMAN: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::read(include_str!("messages/de.toml")));
static JAPANESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::read(include_str!("messages/ja.toml")));

impl Language {
    /// All languages, in the order of pages.
    pub const ALL: [Self; 3] = [Self::English, Self::German, Self::Japanese];

    /// The code for `Content-Language` and the attribute `lang`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Japanese => "ja",
        }
    }

    /// Its name in the language itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Japanese => "日本語",
        }
    }

    /// The language of a tag such as `de-AT`; `None` when it is not supported.
    #[must_use]
    pub fn of(tag: &str) -> Option<Self> {
        let code = language::resolve(tag)?;
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The supported language that the header `Accept-Language` prefers.
    #[must_use]
    pub fn accepted(header: &str) -> Option<Self> {
        language::accepted(header).find_map(Self::of)
    }

    /// The message `key`, which has no arguments.
    #[must_use]
    pub fn say(self, key: &str) -> String {
        self.say_with(key, &[])
    }

    /// The message `key` with arguments by name, none of them escaped. A missing message or argument, which is a bug,
    /// is rendered as its name.
    #[must_use]
    pub fn say_with(self, key: &str, arguments: &[(&str, &dyn Display)]) -> String {
        let find = |name: &str| arguments.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        let count = find("count").and_then(|count| count.parse().ok());
        self.pattern(key, count)
            .map_or_else(|| key.to_owned(), |pattern| fill(pattern, find).unwrap_or_else(|name| name))
    }

    /// The pattern of the message `key`; `count` selects the plural form. `None` when there is no such message.
    #[must_use]
    pub fn pattern(self, key: &str, count: Option<i64>) -> Option<&'static str> {
        Some(match self.catalogue().0.get(key)? {
            Message::Plain(pattern) | Message::Counted { one: None, other: pattern } => pattern,
            Message::Counted { one: Some(one), .. } if count == Some(1) => one,
            Message::Counted { other, .. } => other,
        })
    }

    /// Translates an English error message of a service; `None` without a translation, or if this language is
    /// English.
    #[must_use]
    pub fn say_error(self, english: &str) -> Option<String> {
        if self == Self::English {
            return None;
        }
        let errors = ENGLISH.0.iter().filter(|(key, _)| key.starts_with("errors."));
        errors.into_iter().find_map(|(key, message)| {
            let Message::Plain(pattern) = message else { return None };
            let found = arguments_in(pattern, english)?;
            fill(self.pattern(key, None)?, |name| found.get(name).map(|&value| value.to_owned())).ok()
        })
    }

    /// A number with thousands separators: `91,202`.
    #[must_use]
    pub fn number(self, number: i64) -> String {
        let digits = number.unsigned_abs().to_string();
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or_default()).collect();
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{}", groups.join(&self.say("number.separator")))
    }

    /// A length of time in its largest unit, rounded down: `3 days`. `seconds` of less than a minute are a minute.
    #[must_use]
    pub fn duration(self, seconds: i64) -> String {
        let minutes = seconds.max(60) / 60;
        let (key, count) = match minutes {
            1_440.. => ("date.days", minutes / 1_440),
            60.. => ("date.hours", minutes / 60),
            _ => ("date.minutes", minutes),
        };
        self.say_with(key, &[("count", &count)])
    }

    /// `20 Nov 2026`
    #[must_use]
    pub fn day(self, time: &DateTime<Utc>) -> String {
        let month = self.month_name("date.short", time);
        self.say_with("date.day", &[("day", &time.day()), ("month", &month), ("year", &time.year())])
    }

    /// `20 Nov 2026, 08:12 UTC`
    #[must_use]
    pub fn minute(self, time: &DateTime<Utc>) -> String {
        self.say_with("date.minute", &[("day", &self.day(time)), ("time", &time.format("%H:%M"))])
    }

    /// `November 2026`
    #[must_use]
    pub fn month(self, time: &DateTime<Utc>) -> String {
        let month = self.month_name("date.long", time);
        self.say_with("date.month", &[("month", &month), ("year", &time.year())])
    }

    fn month_name(self, names: &str, time: &DateTime<Utc>) -> &'static str {
        let mut names = self.pattern(names, None).unwrap_or_default().split(' ');
        names.nth(time.month0() as usize).unwrap_or_default()
    }

    fn catalogue(self) -> &'static Catalogue {
        match self {
            Self::English => &ENGLISH,
            Self::German => &GERMAN,
            Self::Japanese => &JAPANESE,
        }
    }
}

impl Catalogue {
    fn read(file: &str) -> Self {
        let tables: BTreeMap<String, toml::Table> = toml::from_str(file).expect("the tests read the file");
        let messages = tables.into_iter().flat_map(|(table, messages)| {
            messages.into_iter().map(move |(key, value)| (format!("{table}.{key}"), Message::read(&value)))
        });
        Self(messages.collect())
    }
}

impl Message {
    fn read(value: &toml::Value) -> Self {
        let text = |value: &toml::Value| value.as_str().expect("the tests read the file").to_owned();
        match value {
            toml::Value::Table(forms) => {
                Self::Counted { one: forms.get("one").map(text), other: text(&forms["other"]) }
            }
            value => Self::Plain(text(value)),
        }
    }
}

/// Replaces each `{name}` in `pattern` with its value.
///
/// # Errors
/// The name of an argument that has no value.
pub fn fill(pattern: &str, find: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&find(name).ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// The arguments by name with which `pattern` produces `text`; `None` when it cannot.
fn arguments_in<'a>(pattern: &'a str, text: &'a str) -> Option<BTreeMap<&'a str, &'a str>> {
    let mut found = BTreeMap::new();
    let (first, mut pattern) = pattern.split_once('{').unwrap_or((pattern, ""));
    let mut rest = text.strip_prefix(first)?;
    while let Some((name, after)) = pattern.split_once('}') {
        let (between, further) = after.split_once('{').unwrap_or((after, ""));
        let end = if further.is_empty() { rest.strip_suffix(between)?.len() } else { rest.find(between)? };
        found.insert(name, &rest[..end]);
        rest = &rest[end + between.len()..];
        pattern = further;
    }
    rest.is_empty().then_some(found)
}
