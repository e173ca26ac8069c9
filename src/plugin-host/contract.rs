//! The interfaces of the contract: their names, the permission that each import needs in the manifest, and the table
//! that declares each export.
//!
//! Spec: `plugin-sdk/wit/0.1/plugin.wit`.

use std::fmt;

/// The package that every interface belongs to.
pub(crate) const PACKAGE: &str = "rookery:plugin";

/// The version of the contract that this server offers.
pub(crate) const VERSION: &str = "0.1.0";

/// The part of [`VERSION`] that a plugin must have been built for.
pub(crate) const TRACK: &str = "0.1";

/// An interface that a plugin may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as in the contract")]
pub enum Import {
    Log,
    System,
    Config,
    Sealing,
    Settings,
    Core,
    CoreWrite,
    Feeds,
    Streaming,
    Federation,
    Sql,
    Kv,
    Cache,
    HttpClient,
    Queue,
}

impl Import {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Log,
        Self::System,
        Self::Config,
        Self::Sealing,
        Self::Settings,
        Self::Core,
        Self::CoreWrite,
        Self::Feeds,
        Self::Streaming,
        Self::Federation,
        Self::Sql,
        Self::Kv,
        Self::Cache,
        Self::HttpClient,
        Self::Queue,
    ];

    /// Its name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::System => "system",
            Self::Config => "config",
            Self::Sealing => "sealing",
            Self::Settings => "settings",
            Self::Core => "core",
            Self::CoreWrite => "core-write",
            Self::Feeds => "feeds",
            Self::Streaming => "streaming",
            Self::Federation => "federation",
            Self::Sql => "sql",
            Self::Kv => "kv",
            Self::Cache => "cache",
            Self::HttpClient => "http-client",
            Self::Queue => "queue",
        }
    }

    /// The interface of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|import| import.name() == name)
    }

    /// Whether every plugin has it without a permission.
    pub const fn always(self) -> bool {
        matches!(self, Self::Log | Self::System | Self::Config | Self::Sealing)
    }

    /// How the manifest asks for it; empty where no permission is needed.
    pub const fn permission(self) -> &'static str {
        match self {
            Self::Log | Self::System | Self::Config | Self::Sealing => "",
            Self::Settings => "settings = true",
            Self::Core => "core = [\"read\"]",
            Self::CoreWrite => {
                "core-write = [\"create\" | \"delete\" | \"bookmark\" | \"notify\" | \"touch\" | \"profile\" | \"follow\"]"
            }
            Self::Feeds => "feeds = [\"custom\" | \"home\" | \"list\"]",
            Self::Streaming => "topics = [\"NAME\"]",
            Self::Federation => "federation = [\"deliver\" | \"fetch\"]",
            Self::Sql => "[sql]",
            Self::Kv => "storage = [\"kv\"]",
            Self::Cache => "storage = [\"cache\"]",
            Self::HttpClient => "http = [\"https://HOST:443\"]",
            Self::Queue => "queue = true",
        }
    }
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An interface that a plugin may export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "named as in the contract")]
pub enum Export {
    Lifecycle,
    Routes,
    StatusFilter,
    SignUp,
    Events,
    NotificationFilter,
    ActivityFilter,
    ActivityHandler,
    Fanout,
    Decorate,
    Channels,
    Jobs,
    Pages,
    InstanceInfo,
    Admin,
}

impl Export {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Lifecycle,
        Self::Routes,
        Self::StatusFilter,
        Self::SignUp,
        Self::Events,
        Self::NotificationFilter,
        Self::ActivityFilter,
        Self::ActivityHandler,
        Self::Fanout,
        Self::Decorate,
        Self::Channels,
        Self::Jobs,
        Self::Pages,
        Self::InstanceInfo,
        Self::Admin,
    ];

    /// Its name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lifecycle => "lifecycle",
            Self::Routes => "routes",
            Self::StatusFilter => "status-filter",
            Self::SignUp => "sign-up",
            Self::Events => "events",
            Self::NotificationFilter => "notification-filter",
            Self::ActivityFilter => "activity-filter",
            Self::ActivityHandler => "activity-handler",
            Self::Fanout => "fanout",
            Self::Decorate => "decorate",
            Self::Channels => "channels",
            Self::Jobs => "jobs",
            Self::Pages => "pages",
            Self::InstanceInfo => "instance-info",
            Self::Admin => "admin",
        }
    }

    /// The interface of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|export| export.name() == name)
    }

    /// The table of the manifest that declares it.
    pub(crate) const fn declaration(self) -> &'static str {
        match self {
            Self::Lifecycle => "nothing",
            Self::Routes => "[[route]]",
            Self::StatusFilter
            | Self::SignUp
            | Self::Events
            | Self::NotificationFilter
            | Self::ActivityFilter
            | Self::ActivityHandler
            | Self::Fanout
            | Self::Decorate
            | Self::Channels => "[[hook]]",
            Self::Jobs => "[[job]]",
            Self::Pages => "[[page]]",
            Self::InstanceInfo => "[instance]",
            Self::Admin => "[[command]]",
        }
    }
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
