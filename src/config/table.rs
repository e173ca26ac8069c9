//! The types of the table of keys, and the macro that generates the typed [`Config`](super::Config) from it.
//!
//! The table itself is in [`super::keys`].

use super::{
    load::Reader,
    value::{Bounds, Value},
};

/// A group of keys: `[server]` in a file, `ROOKERY_SERVER_…` in the environment.
pub struct Section {
    /// The name in a file.
    pub name: &'static str,
    /// Lines of documentation, as written in the table.
    pub doc: &'static [&'static str],
    /// In the order of the table.
    pub keys: &'static [Key],
}

/// One key, as the table describes it.
pub struct Key {
    /// The name of its section.
    pub section: &'static str,
    /// The name in a file, below its section.
    pub name: &'static str,
    /// Lines of documentation, as written in the table.
    pub doc: &'static [&'static str],
    /// Whether the value is secret: faults do not show it, and `…_file` may give the path of a file that contains it.
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

    /// Describes the valid values, to follow "… is not".
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

/// The default of a key.
pub(super) enum Fallback {
    Value(Value),
    Derived(Derived),
}

/// A default that is computed from keys before it in the table.
pub(super) struct Derived {
    /// Description in words.
    pub says: &'static str,
    pub from: fn(&Reader) -> Option<Value>,
}

/// A default that is computed from keys before it in the table.
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

/// Generates [`Config`](super::Config), a struct for each section and [`SECTIONS`](super::SECTIONS) from
/// `name: Type = default, range;` rows. A row without a range accepts every value of its type.
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
        /// The configuration that an admin sets before the server starts; every value is within its bounds.
        ///
        /// Settings that change while it runs (registration, rules, contact) are in the database instead.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $section_doc])+ pub $section: $Section,)+
            /// Every value with its origin, for printing; not updated when the other fields change.
            pub(super) effective: Vec<$crate::load::Effective>,
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
            /// Reads every key; `None` when one of them is invalid, which the reader has then recorded.
            pub(super) fn read(reader: &mut Reader) -> Option<Self> {
                $(
                    $(let $name = reader.read::<$Type>(stringify!($section), stringify!($name));)+
                    // A closure, so that a fault here does not prevent checks of later sections.
                    let $section = (|| Some($Section { $($name: $name?,)+ }))();
                )+
                Some(Self { $($section: $section?,)+ effective: reader.take_effective() })
            }
        }
    };
}

pub(super) use config;
