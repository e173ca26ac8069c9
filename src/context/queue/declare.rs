//! The macro by which [`kinds`](super::kinds) declares the kinds of jobs.

/// Declares jobs: `Name as "kind" in Lane [, key |job| expression] [, share |job| expression] [, lane |job| expression]
/// => { fields }`.
macro_rules! jobs {
    ($(
        $(#[$doc:meta])*
        $name:ident as $kind:literal in $lane:ident $(, key |$job:ident| $key:expr)?
        $(, share |$caused:ident| $share:expr)? $(, lane |$laned:ident| $other:expr)? => {
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
            $(fn share(&self) -> Option<&str> {
                let $caused = self;
                $share
            })?
            $(fn lane(&self) -> Lane {
                let $laned = self;
                $other
            })?
        }
    )+

        /// The names of all kinds, with their lanes.
        pub const KINDS: &[(&str, Lane)] = &[$(($kind, Lane::$lane)),+];
    };
}

pub(super) use jobs;
