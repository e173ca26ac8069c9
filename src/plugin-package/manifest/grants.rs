//! The permissions that a manifest requests: as strings that an admin grants one by one, and as interfaces that are
//! linked.

use std::collections::BTreeSet;

use rookery_plugin_host::{Export, Import};

use super::{Manifest, Moment};

impl Manifest {
    /// Everything that the plugin asks for, one string each: `core:read`, `http:https://example.org:443`, `queue`;
    /// including the moments that show it what people write or do (`hook:events`), and limits above the defaults
    /// (`limit:rows=20000`).
    #[must_use]
    pub fn requested(&self) -> BTreeSet<String> {
        let asked = &self.permissions;
        let lists = [
            ("core-views", &asked.core_views),
            ("core", &asked.core),
            ("core-write", &asked.core_write),
            ("feeds", &asked.feeds),
            ("http", &asked.http),
            ("secrets", &asked.secrets),
            ("topics", &asked.topics),
            ("storage", &asked.storage),
            ("federation", &asked.federation),
        ];
        let mut wanted: BTreeSet<String> =
            lists.iter().flat_map(|(key, values)| values.iter().map(move |value| format!("{key}:{value}"))).collect();
        let flags = [("queue", asked.queue), ("settings", asked.settings), ("sql", self.sql.is_some())];
        wanted.extend(flags.iter().filter(|(_, asked)| *asked).map(|(key, _)| (*key).to_owned()));
        wanted
            .extend(self.hooks.iter().filter(|hook| hook.on.shows()).map(|hook| format!("hook:{}", hook.on.as_str())));
        wanted.extend(self.limits.raised().into_iter().map(|raised| format!("limit:{raised}")));
        wanted
    }

    /// The interfaces to link for the permissions asked for.
    #[must_use]
    pub fn imports(&self) -> BTreeSet<Import> {
        let asked = &self.permissions;
        let storage = |kind: &str| asked.storage.iter().any(|storage| storage == kind);
        let optional = [
            (Import::Settings, asked.settings),
            (Import::Core, !asked.core.is_empty()),
            (Import::CoreWrite, !asked.core_write.is_empty()),
            (Import::Feeds, !asked.feeds.is_empty()),
            (Import::Streaming, !asked.topics.is_empty()),
            (Import::Federation, !asked.federation.is_empty()),
            (Import::Sql, self.sql.is_some()),
            (Import::Kv, storage("kv")),
            (Import::Cache, storage("cache")),
            (Import::HttpClient, !asked.http.is_empty()),
            (Import::Queue, asked.queue),
        ];
        let always = [Import::Log, Import::System, Import::Config, Import::Sealing];
        always.into_iter().chain(optional.iter().filter(|(_, asked)| *asked).map(|(import, _)| *import)).collect()
    }

    /// The interfaces that the component must export. `lifecycle` and `instance-info` are optional.
    #[must_use]
    pub fn exports(&self) -> BTreeSet<Export> {
        let mut exports: BTreeSet<Export> = self.hooks.iter().map(|hook| hook.on.export()).collect();
        if self.routes.iter().any(|route| route.native.is_none()) {
            exports.insert(Export::Routes);
        }
        if !self.jobs.is_empty() || !self.schedules.is_empty() {
            exports.insert(Export::Jobs);
        }
        if !self.pages.is_empty() {
            exports.insert(Export::Pages);
        }
        if !self.commands.is_empty() {
            exports.insert(Export::Admin);
        }
        exports
    }
}

impl Moment {
    /// As a manifest and the contract write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.export().name()
    }

    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::StatusFilter,
        Self::SignUp,
        Self::Events,
        Self::NotificationFilter,
        Self::ActivityFilter,
        Self::ActivityHandler,
        Self::Fanout,
        Self::Decorate,
        Self::Channels,
    ];

    /// True when the hook shows the plugin what people write or do, which an admin has to grant.
    fn shows(self) -> bool {
        match self {
            Self::StatusFilter
            | Self::SignUp
            | Self::Events
            | Self::NotificationFilter
            | Self::ActivityFilter
            | Self::ActivityHandler
            | Self::Fanout => true,
            Self::Decorate | Self::Channels => false,
        }
    }

    fn export(self) -> Export {
        match self {
            Self::StatusFilter => Export::StatusFilter,
            Self::SignUp => Export::SignUp,
            Self::Events => Export::Events,
            Self::NotificationFilter => Export::NotificationFilter,
            Self::ActivityFilter => Export::ActivityFilter,
            Self::ActivityHandler => Export::ActivityHandler,
            Self::Fanout => Export::Fanout,
            Self::Decorate => Export::Decorate,
            Self::Channels => Export::Channels,
        }
    }
}
