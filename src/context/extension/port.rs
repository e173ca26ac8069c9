//! The port as one trait, and its implementation for a server without extensions.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::background::{ReceiveChanges, RunJobs};
use super::decorate::Decorate;
use super::documents::DescribeServer;
use super::drafts::FilterDrafts;
use super::judge::{JudgeNotifications, JudgeSignUps};
use super::marks::{ExceptFromCleanup, FindMarked};
use super::scopes::DeclareScopes;
use super::serve::{ServeChannels, ServeClient};

/// The extensions as the core sees them: one trait for each group of calls.
pub trait Extensions:
    Any
    + Debug
    + Send
    + Sync
    + FilterDrafts
    + JudgeSignUps
    + Decorate
    + JudgeNotifications
    + FindMarked
    + ExceptFromCleanup
    + DescribeServer
    + ServeChannels
    + ServeClient
    + ReceiveChanges
    + RunJobs
    + DeclareScopes
{
    /// A snapshot of the extensions for one request or job: it does not see plugins that are enabled, disabled or
    /// reloaded meanwhile, and one budget covers all its hooks.
    fn pinned(&self) -> Arc<dyn Extensions>;

    /// Changes whenever the set of active extensions changes: part of the key of cached entities with their members.
    fn generation(&self) -> u64 {
        0
    }

    /// True when extensions have a settings page.
    fn has_pages(&self) -> bool {
        false
    }
}

/// A server without the platform.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtensions;

impl Extensions for NoExtensions {
    fn pinned(&self) -> Arc<dyn Extensions> {
        Arc::new(Self)
    }
}

/// Implements the given traits of the port for a type, with their defaults.
#[macro_export]
macro_rules! default_answers {
    ($type:ty: $($trait:ident),+ $(,)?) => { $(impl $crate::extension::$trait for $type {})+ };
}

default_answers! {
    NoExtensions: FilterDrafts, JudgeSignUps, Decorate, JudgeNotifications, FindMarked, ExceptFromCleanup, DescribeServer, ServeChannels, ServeClient, ReceiveChanges, RunJobs, DeclareScopes
}
