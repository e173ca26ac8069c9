//! Statements of plugins that the server runs by itself, for a whole page of statuses: for the statuses that an account
//! marked, which the search needs, and for the statuses that automatic deletion keeps. No plugin is called.
//!
//! Parameters are filled by name: `caller`, the person who is meant, `statuses`, the page, and `least`, a number that the
//! person chose; a statement with `{page:…}` has the paging parameters. Its column `id` is the result.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rookery_plugin_host::imports::sql::Value;
use rookery_plugin_host::{CallError, CallErrorKind, Part};

use crate::call::{Timed, log_cause};
use crate::cx::Session;
use crate::error::no_answer;
use crate::hooks::named_check::MOST;
use crate::{Active, Cx, Registry};
use async_trait::async_trait;
use context::error::{Error, Result};
use context::extension::{CleanupException, ExceptFromCleanup, FindMarked, MarkedPage};
use model::{AccountId, PluginId, StatusId};
use plugin_package::manifest::{Manifest, SearchMark};

#[async_trait]
impl FindMarked for Session {
    fn search_words(&self) -> Vec<String> {
        self.ask(search_words)
    }

    async fn marked(
        &self,
        cx: &context::Cx,
        viewer: AccountId,
        word: Option<&str>,
        statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        marked(&Cx::of(cx)?, viewer, word, statuses).await
    }

    async fn list_marked(
        &self,
        cx: &context::Cx,
        viewer: AccountId,
        word: Option<&str>,
        page: MarkedPage,
    ) -> Result<Vec<StatusId>> {
        list_marked(&Cx::of(cx)?, viewer, word, page).await
    }
}

#[async_trait]
impl ExceptFromCleanup for Session {
    fn cleanup_exceptions(&self) -> Vec<CleanupException> {
        self.ask(exceptions)
    }

    async fn kept_from_cleanup(
        &self,
        cx: &context::Cx,
        account: AccountId,
        chosen: &BTreeMap<String, i64>,
        statuses: &[StatusId],
    ) -> Result<HashSet<StatusId>> {
        exempt(&Cx::of(cx)?, account, chosen, statuses).await
    }
}

/// The values of `my:` that plugins serve.
pub fn search_words(registry: &Registry) -> Vec<String> {
    let searches = registry.plugins.iter().flat_map(|active| &active.manifest.searches);
    searches.flat_map(|search| search.my.iter().cloned()).collect()
}

/// The ways that are meant by `word`, or all of them, each with its plugin.
fn ways<'a>(registry: &'a Registry, word: Option<&'a str>) -> impl Iterator<Item = (&'a Arc<Active>, &'a SearchMark)> {
    let all = registry.plugins.iter().flat_map(|active| active.manifest.searches.iter().map(move |way| (active, way)));
    all.filter(move |(_, way)| word.is_none_or(|word| way.my.iter().any(|own| own == word)))
}

/// The statuses among `statuses` that `viewer` marked in the way that `word` names, or in any way.
///
/// # Errors
/// [`Error::Plugin`] when the plugin that `word` belongs to cannot say. Without a word such a plugin is left out.
pub async fn marked(
    cx: &Cx,
    viewer: AccountId,
    word: Option<&str>,
    statuses: &[StatusId],
) -> Result<HashSet<StatusId>> {
    let registry = cx.registry();
    let mut found = HashSet::new();
    for (active, way) in ways(&registry, word) {
        for page in statuses.chunks(MOST) {
            let asked = StatementParams { statuses: page, ..StatementParams::of(viewer) };
            match asked.within_budget(cx, active, "search", &way.among).await {
                Ok(ids) => found.extend(ids),
                Err(error) if word.is_some() => return Err(error),
                Err(_) => {}
            }
        }
    }
    Ok(found)
}

/// The statuses of `page` that `viewer` marked in the way that `word` names, or in any way, in the order of the page.
///
/// # Errors
/// As [`marked`].
pub async fn list_marked(cx: &Cx, viewer: AccountId, word: Option<&str>, page: MarkedPage) -> Result<Vec<StatusId>> {
    let registry = cx.registry();
    let mut found = Vec::new();
    for (active, way) in ways(&registry, word) {
        let asked = StatementParams { page: Some(page), ..StatementParams::of(viewer) };
        match asked.within_budget(cx, active, "search", &way.newest).await {
            Ok(ids) => found.extend(ids),
            Err(error) if word.is_some() => return Err(error),
            Err(_) => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    if !page.oldest_first {
        found.reverse();
    }
    found.truncate(usize::try_from(page.limit).unwrap_or_default());
    Ok(found)
}

/// The exceptions of automatic deletion of all enabled plugins, including plugins that are not active at the moment.
pub fn exceptions(registry: &Registry) -> Vec<CleanupException> {
    let here = registry.plugins.iter().map(|active| (active.id, &active.manifest));
    let absent = registry.absent.iter().map(|absent| (absent.id, &*absent.manifest));
    let mut all: Vec<CleanupException> = here.chain(absent).flat_map(|(id, manifest)| declared(id, manifest)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn declared(plugin: PluginId, manifest: &Manifest) -> impl Iterator<Item = CleanupException> {
    let name = &manifest.plugin.name;
    manifest.cleanups.iter().map(move |cleanup| CleanupException {
        plugin,
        name: format!("{name}.{}", cleanup.id),
        titles: cleanup.title.clone(),
        counts: cleanup.counts,
        default: cleanup.default,
    })
}

/// The statuses among `statuses` by `account` that an exception keeps. `chosen` has the names of exceptions, each with
/// the number that the account chose.
///
/// # Errors
/// [`Error::Plugin`] when one of them cannot be asked: its plugin is enabled and does not serve.
pub async fn exempt(
    cx: &Cx,
    account: AccountId,
    chosen: &BTreeMap<String, i64>,
    statuses: &[StatusId],
) -> Result<HashSet<StatusId>> {
    let registry = cx.registry();
    let mut found = HashSet::new();
    for absent in &registry.absent {
        if declared(absent.id, &absent.manifest).any(|one| chosen.contains_key(&one.name)) {
            return Err(no_answer(&absent.manifest.plugin.name, CallErrorKind::Open, None));
        }
    }
    for active in &registry.plugins {
        for cleanup in &active.manifest.cleanups {
            let name = format!("{}.{}", active.name(), cleanup.id);
            let Some(least) = chosen.get(&name) else { continue };
            for page in statuses.chunks(MOST) {
                let asked = StatementParams { statuses: page, least: *least, ..StatementParams::of(account) };
                found.extend(asked.run(cx, active, "cleanup", &cleanup.statement).await?);
            }
        }
    }
    Ok(found)
}

/// The parameters of a statement.
struct StatementParams<'a> {
    caller: AccountId,
    statuses: &'a [StatusId],
    least: i64,
    page: Option<MarkedPage>,
}

impl StatementParams<'_> {
    fn of(caller: AccountId) -> Self {
        Self { caller, statuses: &[], least: 0, page: None }
    }

    /// As [`StatementParams::run`], at the expense of the request's time for hooks.
    async fn within_budget(&self, cx: &Cx, active: &Arc<Active>, what: &str, name: &str) -> Result<Vec<StatusId>> {
        if cx.hook_time_left().is_zero() {
            return Err(no_answer(active.name(), CallErrorKind::Wall, Some(503)));
        }
        cx.spend_hook_time(self.run(cx, active, what, name)).await
    }

    /// The ids that the statement answers.
    async fn run(&self, cx: &Cx, active: &Arc<Active>, what: &str, name: &str) -> Result<Vec<StatusId>> {
        let plugin = active.name();
        let refused = |cause: CallError| no_answer(plugin, cause.kind, Some(503));
        cx.plugins.pauses.check(active).map_err(refused)?;
        let part = if what == "cleanup" { Part::Jobs } else { Part::Routes };
        active.component.check_database(part).map_err(refused)?;
        let lost = || Error::internal(format!("{plugin} has no statement {name}"));
        let sql = active.sql.as_ref().ok_or_else(lost)?;
        let statement = sql.find(name).ok_or_else(lost)?;
        let params = statement.params.iter().map(|(param, _)| self.value(param)).collect();
        let timed = Timed::begin(active, part);
        let rows = sql.read(cx, name, params).await;
        drop(timed);
        let message = match rows {
            Ok(rows) if !rows.truncated => {
                let at = rows.columns.iter().position(|column| column == "id").unwrap_or_default();
                let ids = rows.values.chunks(rows.columns.len().max(1)).filter_map(|row| match row.get(at) {
                    Some(Value::Integer(id)) => Some(StatusId::from(*id)),
                    _ => None,
                });
                return Ok(ids.collect());
            }
            Ok(_) => format!("{name} has more rows than {}: each status once", statement.max_rows),
            Err(mut failure) => {
                log_cause(plugin, name, &mut failure);
                failure.message
            }
        };
        let cause =
            CallError { kind: CallErrorKind::Failure, message, failure: None, backtrace: Vec::new(), person: None };
        cx.plugins.report(active, what, name, &cause);
        Err(no_answer(plugin, cause.kind, Some(503)))
    }

    fn value(&self, param: &str) -> Value {
        let page =
            |cursor: fn(MarkedPage) -> Option<i64>| self.page.and_then(cursor).map_or(Value::Null, Value::Integer);
        match param {
            "caller" => Value::Integer(self.caller.into()),
            "least" => Value::Integer(self.least),
            "statuses" => {
                let ids: Vec<String> = self.statuses.iter().map(|id| i64::from(*id).to_string()).collect();
                Value::Text(format!("[{}]", ids.join(",")))
            }
            "max_id" => page(|page| Some(page.before.into())),
            // The page just above the bound is the one that is read from its oldest on.
            "since_id" => page(|page| (!page.oldest_first).then(|| page.after.into())),
            "min_id" => page(|page| page.oldest_first.then(|| page.after.into())),
            _ => page(|page| Some(page.limit)),
        }
    }
}
