//! The macro that declares the kinds of change ([`kinds`](super::kinds)): the enum, and what each listener is given.

/// Declares changes: `Name = "its.word" { fields } => [listener(what it is given), …];`.
///
/// A listener is `jobs(…)` with jobs or any `FollowUp`, `push(…)` with notifications, `outbox(…)` with an `Event`,
/// `delivery(…)` with a `Delivery` or an option of one, or `stream(…)` with a `Streamed`, each made from the fields.
/// Generates `Change` with its `ChangeKind`, `listeners`, and a method for what each listener is given.
macro_rules! changes {
    (@listener jobs) => { Listener::Jobs };
    (@listener push) => { Listener::Push };
    (@listener outbox) => { Listener::Outbox };
    (@listener delivery) => { Listener::Delivery };
    (@listener stream) => { Listener::Stream };
    // Adds what a row gives to one listener to `$given`; the last rule is for the other listeners of the row.
    (@add $given:ident jobs: jobs $($value:expr),+) => { $(FollowUp::add_to($value, &mut $given)?;)+ };
    (@add $given:ident push: push $($value:expr),+) => { $given = Some(($($value),+)) };
    (@add $given:ident outbox: outbox $($value:expr),+) => { $given = Some(($($value),+)) };
    (@add $given:ident delivery: delivery $($value:expr),+) => { $given = Option::from(($($value),+)) };
    (@add $given:ident stream: stream $($value:expr),+) => { $given = Some(($($value),+)) };
    (@add $given:ident $listener:ident: $other:ident $($value:expr),+) => {};
    // What `$change` gives to `$listener`, from `$none`.
    (@given $change:ident $listener:ident $none:expr,
        [$($name:ident { $($field:ident),* } [$($other:ident($($value:expr),+))+])+]) => {{
        let mut given = $none;
        #[expect(unused_variables, reason = "not every listener needs every field")]
        match $change.clone() {
            $(Self::$name { $($field),* } => { $(changes!(@add given $listener: $other $($value),+);)+ })+
        }
        given
    }};
    ($(
        $(#[$doc:meta])*
        $name:ident = $word:literal { $($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)? }
            => [$($listener:ident($($value:expr),+)),+ $(,)?];
    )+) => {
        text_enum! {
            /// The kinds of change. Kinds that extensions may subscribe to have the names of the contract.
            ChangeKind { $($(#[$doc])* $name = $word,)+ }
        }

        /// Something that happened.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Change {
            $($(#[$doc])* $name { $($(#[$attribute])* $field: $type),* },)+
        }

        impl Change {
            #[must_use]
            pub fn kind(&self) -> ChangeKind {
                match self {
                    $(Self::$name { .. } => ChangeKind::$name,)+
                }
            }

            /// The jobs that follow.
            pub(super) fn jobs(&self) -> Result<Vec<Queued>> {
                Ok(changes!(@given self jobs Vec::new(), [$($name { $($field),* } [$($listener($($value),+))+])+]))
            }

            /// The notifications to push; empty for other changes.
            pub(super) fn pushed(&self) -> Vec<CreatedNotification> {
                let given: Option<_> =
                    changes!(@given self push None, [$($name { $($field),* } [$($listener($($value),+))+])+]);
                given.unwrap_or_default()
            }

            /// What extensions receive; `None` for changes that they cannot subscribe to.
            #[must_use]
            pub fn event(&self) -> Option<Event> {
                changes!(@given self outbox None, [$($name { $($field),* } [$($listener($($value),+))+])+])
            }

            /// What other servers are sent; `None` for changes that concern this server alone, as far as they tell.
            #[must_use]
            pub fn delivery(&self) -> Option<Delivery> {
                changes!(@given self delivery None, [$($name { $($field),* } [$($listener($($value),+))+])+])
            }

            /// What streams show; `None` for changes that no stream shows.
            #[must_use]
            pub fn streamed(&self) -> Option<Streamed> {
                changes!(@given self stream None, [$($name { $($field),* } [$($listener($($value),+))+])+])
            }
        }

        /// The listeners to changes of a kind.
        pub(super) const fn listeners(kind: ChangeKind) -> &'static [Listener] {
            match kind {
                $(ChangeKind::$name => &[$(changes!(@listener $listener)),+],)+
            }
        }
    };
}

pub(super) use changes;
