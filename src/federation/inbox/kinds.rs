//! Every type of activity that this server understands, one row each. A new one needs a row here and its file.

use context::Cx;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use super::{
    accept, announce, block, consent, create, delete, flag, follow, forwarded, like, moving, pin, undo, update,
};

/// Declares the types: `Name => what it does, forwarded [what is done if another server passes it on], …;`.
///
/// `of_suspended`: it is accepted from suspended senders too, since it takes something away or keeps a profile true.
macro_rules! activities {
    (@forwarded $cx:ident, $inbound:ident, $uri:ident) => { Err(Reason::NotTheActor.into()) };
    (@forwarded $cx:ident, $inbound:ident, $uri:ident, $apply:path) => { $apply($cx, $inbound, $uri).await };
    (@is_some) => { false };
    (@is_some $path:path) => { true };
    ($($name:ident => $apply:path , forwarded [$($forwarded:path)?], of_suspended: $of_suspended:literal;)+) => {
        /// The type of an activity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($name,)+
        }

        impl Kind {
            const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The name, also a label of metrics.
            pub(super) fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// True when another server may pass the activity on.
            pub(super) fn may_be_forwarded(self) -> bool {
                match self {
                    $(Self::$name => activities!(@is_some $($forwarded)?),)+
                }
            }

            /// True when the activity is accepted from suspended senders too.
            pub(super) fn is_accepted_of_suspended(self) -> bool {
                match self {
                    $(Self::$name => $of_suspended,)+
                }
            }

            /// Performs an activity of its sender.
            pub(super) async fn perform(self, cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
                match self {
                    $(Self::$name => $apply(cx, inbound).await,)+
                }
            }

            /// Looks at the object `uri` of an activity that the sender passed on.
            pub(super) async fn perform_forwarded(
                self,
                cx: &Cx,
                inbound: &Inbound,
                uri: &str,
            ) -> Result<(), Ignored> {
                match self {
                    $(Self::$name => activities!(@forwarded cx, inbound, uri $(, $forwarded)?),)+
                }
            }
        }
    };
}

activities! {
    Create => create::create, forwarded [forwarded::created], of_suspended: false;
    Update => update::update, forwarded [forwarded::updated], of_suspended: true;
    Delete => delete::delete, forwarded [forwarded::deleted], of_suspended: true;
    Announce => announce::announce, forwarded [], of_suspended: false;
    Like => like::like, forwarded [], of_suspended: false;
    Follow => follow::follow, forwarded [], of_suspended: false;
    Accept => accept::accept, forwarded [], of_suspended: false;
    Reject => accept::reject, forwarded [], of_suspended: true;
    Undo => undo::undo, forwarded [], of_suspended: true;
    Block => block::block, forwarded [], of_suspended: false;
    Add => pin::add, forwarded [], of_suspended: false;
    Remove => pin::remove, forwarded [], of_suspended: false;
    QuoteRequest => consent::quote, forwarded [], of_suspended: false;
    LikeRequest => consent::like, forwarded [], of_suspended: false;
    ReplyRequest => consent::reply, forwarded [], of_suspended: false;
    AnnounceRequest => consent::announce, forwarded [], of_suspended: false;
    Flag => flag::flag, forwarded [], of_suspended: false;
    Move => moving::moved, forwarded [], of_suspended: false;
}

impl Kind {
    /// The first kind that one of these types names; `None` when none is known.
    pub(crate) fn of(types: &[String]) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| types.iter().any(|name| name == kind.as_str()))
    }
}
