//! How the kinds of jobs are declared: the macro of [`kinds`](super::kinds).

/// Declares jobs: `Name in Lane as "kind" [keyed by expression] { fields }`.
macro_rules! jobs {
    ($(
        $(#[$doc:meta])*
        $name:ident as $kind:literal in $lane:ident $(, key |$job:ident| $key:expr)? => {
            $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)?
        }
    )+) => {
        $(
        $(#[$doc])*
        #[derive(Debug, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type),*
        }

        impl Job for $name {
            const KIND: &'static str = $kind;
            const LANE: Lane = Lane::$lane;
            $(fn key(&self) -> Option<String> {
                let $job = self;
                Some($key)
            })?
        }
    )+

        /// The names of all kinds, with their lanes.
        pub const KINDS: &[(&str, Lane)] = &[$(($kind, Lane::$lane)),+];
    };
}

pub(super) use jobs;
