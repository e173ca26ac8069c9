//! Configuration values: the untyped [`Value`] of a source, the [`Setting`] types it is parsed into, and their ranges.
//!
//! Reached from the table in [`super::keys`]. Does not read files or the environment.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use ipnet::IpNet;
use serde::Serialize;

/// A value as read from a source, before it is converted to the type of its key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Flag(bool),
    Whole(i64),
    Decimal(f64),
    Text(String),
    List(Vec<Value>),
    /// Untyped text (an environment variable or a secret's file), parsed as the type of its key.
    Bare(String),
}

impl Value {
    /// The text of a textual value.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Bare(text) => Some(text),
            Self::Flag(_) | Self::Whole(_) | Self::Decimal(_) | Self::List(_) => None,
        }
    }
}

/// Formats the value as TOML.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number:?}"),
            Self::Text(text) | Self::Bare(text) => {
                write!(f, "{}", toml::Value::String(text.clone()))
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<const N: usize> From<[&str; N]> for Value {
    fn from(items: [&str; N]) -> Self {
        Self::List(items.into_iter().map(Self::from).collect())
    }
}

/// The range of a key's values, both ends included.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bounds {
    None,
    Whole(i64, i64),
    Decimal(f64, f64),
}

impl From<RangeInclusive<i64>> for Bounds {
    fn from(range: RangeInclusive<i64>) -> Self {
        Self::Whole(*range.start(), *range.end())
    }
}

impl From<RangeInclusive<f64>> for Bounds {
    fn from(range: RangeInclusive<f64>) -> Self {
        Self::Decimal(*range.start(), *range.end())
    }
}

/// A type that a configuration key can have.
pub(super) trait Setting: Sized {
    /// Whether the value is secret: faults do not show it, and it may also be given as the path of a file.
    const SECRET: bool = false;

    /// Describes the valid values, to follow "… is not".
    fn expected(bounds: Bounds) -> String;

    /// Parses the value; `None` when it does not match [`expected`](Self::expected).
    fn read(value: &Value, bounds: Bounds) -> Option<Self>;

    /// Converts back to an untyped value, as written in a file.
    fn write(&self) -> Value;

    /// The value with relative paths below `folder`.
    fn located(self, _folder: &Path) -> Self {
        self
    }

    /// The value with secrets removed.
    fn redacted(&self) -> Value {
        self.write()
    }
}

impl Setting for bool {
    fn expected(_: Bounds) -> String {
        "true or false".to_owned()
    }

    fn read(value: &Value, _: Bounds) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(*flag),
            Value::Bare(text) => text.parse().ok(),
            Value::Whole(_) | Value::Decimal(_) | Value::Text(_) | Value::List(_) => None,
        }
    }

    fn write(&self) -> Value {
        Value::Flag(*self)
    }
}

fn expected_number(kind: &str, bounds: Bounds) -> String {
    match bounds {
        Bounds::None => format!("a {kind}"),
        Bounds::Whole(min, max) => format!("a {kind} from {min} to {max}"),
        Bounds::Decimal(min, max) => format!("a {kind} from {min:?} to {max:?}"),
    }
}

macro_rules! whole_number {
    ($($type:ty)+) => {$(
        impl Setting for $type {
            fn expected(bounds: Bounds) -> String {
                expected_number("whole number", bounds)
            }

            fn read(value: &Value, bounds: Bounds) -> Option<Self> {
                let number = match value {
                    Value::Whole(number) => *number,
                    Value::Bare(text) => text.parse().ok()?,
                    Value::Flag(_) | Value::Decimal(_) | Value::Text(_) | Value::List(_) => return None,
                };
                match bounds {
                    Bounds::Whole(min, max) if !(min..=max).contains(&number) => None,
                    Bounds::Whole(..) | Bounds::Decimal(..) | Bounds::None => number.try_into().ok(),
                }
            }

            fn write(&self) -> Value {
                // Only values above i64::MAX do not fit, and `read` never returns one.
                Value::Whole(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )+};
}

whole_number!(u16 u32 u64 usize);

impl Setting for f64 {
    fn expected(bounds: Bounds) -> String {
        expected_number("number", bounds)
    }

    fn read(value: &Value, bounds: Bounds) -> Option<Self> {
        let number = match value {
            Value::Decimal(number) => *number,
            Value::Whole(number) => Self::from(i32::try_from(*number).ok()?),
            Value::Bare(text) => text.parse().ok()?,
            Value::Flag(_) | Value::Text(_) | Value::List(_) => return None,
        };
        match bounds {
            Bounds::Decimal(min, max) if !(min..=max).contains(&number) => None,
            Bounds::Whole(..) | Bounds::Decimal(..) | Bounds::None => number.is_finite().then_some(number),
        }
    }

    fn write(&self) -> Value {
        Value::Decimal(*self)
    }
}

/// An empty text means `None`.
impl<T: Setting> Setting for Option<T> {
    const SECRET: bool = T::SECRET;

    fn expected(bounds: Bounds) -> String {
        format!("{}, or empty", T::expected(bounds))
    }

    fn read(value: &Value, bounds: Bounds) -> Option<Self> {
        match value.as_text() {
            Some("") => Some(None),
            Some(_) | None => T::read(value, bounds).map(Some),
        }
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::from(""), T::write)
    }

    fn redacted(&self) -> Value {
        self.as_ref().map_or(Value::from(""), T::redacted)
    }

    fn located(self, folder: &Path) -> Self {
        self.map(|value| value.located(folder))
    }
}

/// An array in TOML; in an environment variable a comma-separated list.
impl<T: Setting> Setting for Vec<T> {
    fn expected(bounds: Bounds) -> String {
        format!("a list in which each item is {}", T::expected(bounds))
    }

    fn read(value: &Value, bounds: Bounds) -> Option<Self> {
        match value {
            Value::List(items) => items.iter().map(|item| T::read(item, bounds)).collect(),
            Value::Bare(text) if text.trim().is_empty() => Some(Self::new()),
            Value::Bare(text) => {
                let items = text.split(',').map(|item| Value::Bare(item.trim().to_owned()));
                items.map(|item| T::read(&item, bounds)).collect()
            }
            Value::Flag(_) | Value::Whole(_) | Value::Decimal(_) | Value::Text(_) => None,
        }
    }

    fn write(&self) -> Value {
        Value::List(self.iter().map(T::write).collect())
    }
}

/// A type with a textual form.
pub(super) trait Text: Sized {
    /// Describes the valid values, to follow "… is not".
    const EXPECTED: &'static str;

    /// Parses the text; `None` when it is not valid.
    fn parse(text: &str) -> Option<Self>;

    /// The textual form.
    fn text(&self) -> String;

    /// As [`Setting::located`].
    fn located(self, _folder: &Path) -> Self {
        self
    }
}

impl<T: Text> Setting for T {
    fn expected(_: Bounds) -> String {
        T::EXPECTED.to_owned()
    }

    fn read(value: &Value, _: Bounds) -> Option<Self> {
        T::parse(value.as_text()?)
    }

    fn write(&self) -> Value {
        Value::Text(self.text())
    }

    fn located(self, folder: &Path) -> Self {
        Text::located(self, folder)
    }
}

impl Text for String {
    const EXPECTED: &'static str = "a text without control characters";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains(char::is_control)).then(|| text.to_owned())
    }

    fn text(&self) -> String {
        self.clone()
    }
}

impl Text for PathBuf {
    const EXPECTED: &'static str = "a path";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('\0')).then(|| text.into())
    }

    fn text(&self) -> String {
        self.to_string_lossy().into_owned()
    }

    fn located(self, folder: &Path) -> Self {
        absolute(folder, &self)
    }
}

/// `path` as an absolute path: below `folder` if it is relative, which is below the working directory if it is relative too.
pub(super) fn absolute(folder: &Path, path: &Path) -> PathBuf {
    let path = folder.join(path);
    // It only fails without a working directory.
    std::path::absolute(&path).unwrap_or(path)
}

impl Text for SocketAddr {
    const EXPECTED: &'static str = "an IP address and port such as 127.0.0.1:3000 or [::1]:3000";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// A single address is accepted as a network of one host.
impl Text for IpNet {
    const EXPECTED: &'static str = "a network such as 10.0.0.0/8 or fd00::/8";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(Self::from))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_types_are_strict_and_bare_text_takes_the_type_of_its_key() {
        let any = Bounds::None;
        assert_eq!(u64::read(&Value::Whole(3), any), Some(3));
        assert_eq!(u64::read(&Value::from("3"), any), None);
        assert_eq!(u64::read(&Value::Bare("3".into()), any), Some(3));
        assert_eq!(u64::read(&Value::Whole(-1), any), None);
        assert_eq!(bool::read(&Value::from("true"), any), None);
        assert_eq!(bool::read(&Value::Bare("true".into()), any), Some(true));
        assert_eq!(f64::read(&Value::Whole(2), any), Some(2.0));
        assert_eq!(f64::read(&Value::Bare("nan".into()), any), None);
    }

    #[test]
    fn both_ends_of_a_range_belong_to_it() {
        let bounds = Bounds::from(2..=5);
        let accepted: Vec<_> = (0..8).filter_map(|n| u32::read(&Value::Whole(n), bounds)).collect();
        assert_eq!(accepted, [2, 3, 4, 5]);
    }

    #[test]
    fn bare_list_is_split_at_commas() {
        let read = |text: &str| Vec::<IpNet>::read(&Value::Bare(text.into()), Bounds::None);
        assert_eq!(read(""), Some(vec![]));
        let networks = read("10.0.0.0/8, ::1").expect("two networks");
        assert_eq!(networks.write().to_string(), r#"["10.0.0.0/8", "::1/128"]"#);
        assert_eq!(read("10.0.0.0/8,,"), None);
    }

    #[test]
    fn empty_text_is_none() {
        let read = |text: &str| Option::<SocketAddr>::read(&Value::from(text), Bounds::None);
        assert_eq!(read(""), Some(None));
        assert!(read("127.0.0.1:9000").flatten().is_some());
        assert_eq!(read("127.0.0.1"), None);
    }

    #[test]
    fn texts_are_quoted_as_toml() {
        assert_eq!(Value::from("plain").to_string(), r#""plain""#);
        for text in ["say \"hi\"", "a\nb", r"C:\x", "\u{7f}"] {
            let line = format!("x = {}", Value::from(text));
            let table: toml::Table = toml::from_str(&line).expect("valid TOML");
            assert_eq!(table["x"].as_str(), Some(text));
        }
    }
}
