//! The shape of the table of keys, and the macro that makes the typed [`Config`](super::Config) of it.
//!
//! The table itself is in [`super::keys`].

use super::{
    load::Reader,
    value::{Bounds, Value},
};

/// A group of keys: `[server]` in a file, `ROOKERY_SERVER_…` in the environment.
pub struct Section {
    /// As in a file.
    pub name: &'static str,
    /// Lines of documentation, as they stand in the table.
    pub doc: &'static [&'static str],
    /// In the order of the table.
    pub keys: &'static [Key],
}

/// One key, as the table describes it.
pub struct Key {
    /// The name of its section.
    pub section: &'static str,
    /// As in a file, below its section.
    pub name: &'static str,
    /// Lines of documentation, as they stand in the table.
    pub doc: &'static [&'static str],
    /// Whether faults keep the value to themselves and `…_file` may name a file that holds it.
    pub secret: bool,
    pub(super) default: fn() -> Fallback,
    pub(super) bounds: fn() -> Bounds,
    pub(super) expected: fn(Bounds) -> String,
}

impl Key {
    /// `section.name`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// The environment variable that sets this key.
    pub fn variable(&self) -> String {
        format!("{}{}_{}", super::PREFIX, self.section, self.name).to_uppercase()
    }

    /// What the key accepts, to follow "… is not".
    pub fn expected(&self) -> String {
        (self.expected)((self.bounds)())
    }

    /// The default in words or as TOML.
    pub fn default_text(&self) -> String {
        match (self.default)() {
            Fallback::Value(value) => value.to_string(),
            Fallback::Derived(derived) => derived.says.to_owned(),
        }
    }
}

/// What a key is when nobody sets it.
pub(super) enum Fallback {
    Value(Value),
    Derived(Derived),
}

/// A default that follows from keys that stand before it in the table.
pub(super) struct Derived {
    /// In words, for people.
    pub says: &'static str,
    pub from: fn(&Reader) -> Option<Value>,
}

/// A default that follows from keys that stand before it in the table.
pub(super) fn derived(says: &'static str, from: fn(&Reader) -> Option<Value>) -> Derived {
    Derived { says, from }
}

impl From<Derived> for Fallback {
    fn from(derived: Derived) -> Self {
        Self::Derived(derived)
    }
}

impl<T: Into<Value>> From<T> for Fallback {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

/// Makes [`Config`](super::Config), a struct for each section and [`SECTIONS`](super::SECTIONS) from
/// `name: Type = default, range;` rows. A row without a range takes every value of its type.
macro_rules! config {
    ($(
        $(#[doc = $section_doc:literal])+
        $section:ident: $Section:ident {
            $(
                $(#[doc = $doc:literal])+
                $name:ident: $Type:ty = $default:expr $(, $bounds:expr)?;
            )+
        }
    )+) => {
        /// What an admin decides before the server starts; every value is within its bounds.
        ///
        /// What changes while it runs (registration, rules, contact) is in the database instead.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $section_doc])+ pub $section: $Section,)+
            /// Every value with its origin, for printing; it does not follow changes of the other fields.
            pub(super) effective: Vec<$crate::config::load::Effective>,
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug)]
            pub struct $Section {
                $($(#[doc = $doc])+ pub $name: $Type,)+
            }
        )+

        /// Every section and key, in the order in which they are read and printed.
        pub static SECTIONS: &[Section] = &[$(
            Section {
                name: stringify!($section),
                doc: &[$($section_doc),+],
                keys: &[$(
                    Key {
                        section: stringify!($section),
                        name: stringify!($name),
                        doc: &[$($doc),+],
                        secret: <$Type as Setting>::SECRET,
                        default: || Fallback::from($default),
                        bounds: || [$(Bounds::from($bounds),)? Bounds::None][0],
                        expected: <$Type as Setting>::expected,
                    },
                )+],
            },
        )+];

        impl Config {
            /// Reads every key; `None` when one of them is faulty, which the reader then knows.
            pub(super) fn read(reader: &mut Reader) -> Option<Self> {
                $(
                    $(let $name = reader.read::<$Type>(stringify!($section), stringify!($name));)+
                    // A closure, so that a fault here does not keep later sections from being checked.
                    let $section = (|| Some($Section { $($name: $name?,)+ }))();
                )+
                Some(Self { $($section: $section?,)+ effective: reader.take_effective() })
            }
        }
    };
}

pub(super) use config;
