//! The port for extensions: calls from use cases to code beyond the core.
//!
//! The core knows the trait [`Extensions`] and nothing above it. The crate `plugins` implements it; a server without
//! the platform has [`NoExtensions`]. The first checks of a hot path ("is any extension interested?") are
//! synchronous, so that a server without active plugins pays for one lookup. Nothing here calls a plugin: see
//! `plugins::hooks`.
//!
//! A request uses the extensions of its [`Cx`](crate::Cx), which are [pinned](Extensions::pinned): a response never mixes two
//! generations of a plugin.

mod background;
mod client;
mod decorate;
mod documents;
mod drafts;
mod judge;
mod marks;
mod members;
mod port;
mod scopes;
mod serve;

pub use background::{ReceiveChanges, RunJobs};
pub use client::{ClientKind, ClientPart, ClientResponse, ClientUse};
pub use decorate::{Decorate, Entity, Target, Versions};
pub use documents::{DescribeServer, Described, Document};
pub use drafts::{FilterDrafts, PendingStatus};
pub use judge::{Admission, JudgeNotifications, JudgeSignUps, Judgement, Notice, NotificationTraits};
pub use marks::{CleanupException, ExceptFromCleanup, FindMarked, MarkedPage};
pub use members::{Decorations, Members};
pub use port::{Extensions, NoExtensions};
pub use scopes::{DeclareScopes, DeclaredScope};
pub use serve::{ServeChannels, ServeClient, Topic};
