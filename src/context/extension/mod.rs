//! The port for extensions: what a use case asks of whatever runs beyond the core.
//!
//! The core knows the trait [`Extensions`] and nothing above it. The crate `plugins` implements it; a server without the platform
//! has [`NoExtensions`]. Questions that a hot path asks first ("is anything interested?") have synchronous answers, so
//! that a server with no plugin on pays for a look and no more. Nothing here calls a plugin: see `plugins::hooks`.
//!
//! A request asks the extensions of its own [`Cx`](crate::Cx), which are [pinned](Extensions::pinned): an answer never mixes
//! two generations of a plugin.

mod background;
mod channels;
mod decorate;
mod documents;
mod drafts;
mod marks;
mod members;
mod notifications;
mod port;
mod scopes;
mod sign_up;

pub use background::{ReceiveChanges, RunJobs};
pub use channels::{ServeChannels, Topic};
pub use decorate::{Decorate, Entity, Target, Versions};
pub use documents::{DescribeServer, Described, Document};
pub use drafts::{FilterDrafts, PendingStatus};
pub use marks::{CleanupException, ExceptFromCleanup, FindMarked, MarkedPage};
pub use members::{Decorations, Members};
pub use notifications::{JudgeNotifications, Judgement, Notice, NotificationTraits};
pub use port::{Extensions, NoExtensions};
pub use scopes::{DeclareScopes, DeclaredScope};
pub use sign_up::{Admission, JudgeSignUps};
