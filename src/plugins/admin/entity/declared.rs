//! The declarations of a manifest and the statements of a plugin, as rows.

use serde::Serialize;

use crate::Active;
use crate::sql::Statement;
use plugin_package::manifest::{CleanupException, Hook, Manifest, PageDeclaration, Route, SearchMark};

#[derive(Clone, Debug, Serialize)]
pub struct RouteRow {
    pub id: String,
    pub methods: Vec<String>,
    pub path: String,
    pub auth: String,
    pub scopes: Vec<String>,
    pub native: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct PageRow {
    pub id: String,
    pub path: String,
    /// In English.
    pub title: String,
    /// `user` or `none`: who may open it.
    pub auth: &'static str,
    pub permission: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SearchRow {
    pub my: Vec<String>,
    pub among: String,
    pub newest: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct CleanupRow {
    pub id: String,
    /// In English.
    pub title: String,
    pub statement: String,
    pub counts: bool,
    pub default: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct HookRow {
    pub on: &'static str,
    pub kinds: Vec<String>,
    pub fields: Vec<String>,
    pub priority: i32,
    pub policy: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct ScheduleRow {
    pub job: String,
    pub cron: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct StatementRow {
    pub name: String,
    pub writes: bool,
    pub reads: Vec<String>,
    pub changes: Vec<String>,
}

impl From<&Route> for RouteRow {
    fn from(route: &Route) -> Self {
        Self {
            id: route.id.clone(),
            methods: route.method.all().to_vec(),
            path: route.path.clone(),
            auth: format!("{:?}", route.auth).to_lowercase(),
            scopes: route.scopes.clone(),
            native: route.native.is_some(),
        }
    }
}

impl From<&PageDeclaration> for PageRow {
    fn from(page: &PageDeclaration) -> Self {
        Self {
            id: page.id.clone(),
            path: page.path.clone(),
            title: page.title.in_language("en").to_owned(),
            auth: page.auth.as_str(),
            permission: page.permission.clone(),
        }
    }
}

impl From<&SearchMark> for SearchRow {
    fn from(search: &SearchMark) -> Self {
        let SearchMark { my, among, newest } = search.clone();
        Self { my, among, newest }
    }
}

impl From<&CleanupException> for CleanupRow {
    fn from(cleanup: &CleanupException) -> Self {
        let CleanupException { id, title, statement, counts, default } = cleanup.clone();
        Self { id, title: title.get("en").cloned().unwrap_or_default(), statement, counts, default }
    }
}

impl From<&Hook> for HookRow {
    fn from(hook: &Hook) -> Self {
        let default = plugin_package::manifest::policies(hook.on)[0];
        Self {
            on: hook.on.as_str(),
            kinds: hook.kinds.clone(),
            fields: hook.fields.clone(),
            priority: hook.priority,
            policy: hook.policy.unwrap_or(default).as_str(),
        }
    }
}

pub(super) fn statements(active: &Active) -> Vec<StatementRow> {
    let row = |statement: &Statement| StatementRow {
        name: statement.name.clone(),
        writes: statement.writes,
        reads: statement.reads.clone(),
        changes: statement.changes.clone(),
    };
    active.sql.iter().flat_map(|sql| sql.all().into_iter().map(row)).collect()
}

pub(crate) fn schedules(manifest: &Manifest) -> Vec<ScheduleRow> {
    let row = |job: &str, cron: &str| ScheduleRow { job: job.to_owned(), cron: cron.to_owned() };
    manifest.schedules.iter().map(|schedule| row(&schedule.job, &schedule.cron)).collect()
}
