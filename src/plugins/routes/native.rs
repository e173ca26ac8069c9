//! Native routes: served by the server alone, from a feed or a named statement of the plugin, without calling the
//! plugin.
//!
//! Parameters of a statement are filled by name: path parameters, `caller`, and paging parameters.

use axum::http::{StatusCode, header};
use axum::response::Response;
use rookery_plugin_host::exports::routes::Cursor as Ends;
use rookery_plugin_host::imports::sql::{Rows, Value};
use rookery_plugin_host::imports::types::Failure;
use rookery_plugin_host::{CallError, CallErrorKind, Part};

use super::paging::PageRequest;
use super::table::{Found, Mounted};
use super::{gate, output};
use crate::Cx;
use crate::call::{Caller, Timed, log_cause};
use crate::error::{no_answer, refused};
use crate::routes::native_check::parts;
use crate::sql::{Statement, Statements};
use context::error::{Error, Result};
use context::json::Array;
use database::confined::{Lane, ParamType};
use model::{Cursor, StatusId};
use plugin_package::manifest::Native;
use plugin_package::sql::Returns;
use rookery_http::error::raw_json;
use service::visibility::Place;
use store::feed::{Entries, Source};

/// Entries of a feed whose route is not paginated.
const DEFAULT: i64 = 20;

/// The request to a native route.
struct NativeRequest<'a> {
    cx: &'a Cx,
    found: &'a Found,
    caller: &'a Caller,
    page: Option<&'a PageRequest>,
}

/// One page of a keyset pagination.
#[derive(Default)]
struct NativePage {
    /// The pagination keys, newest first.
    ids: Vec<i64>,
    items: Array,
    /// There may be another page.
    more: bool,
}

/// A page of a native route.
///
/// # Errors
/// [`Error::NotFound`] when the `owner-check` returns no row.
pub(super) async fn answer(
    cx: &Cx,
    found: &Found,
    rule: &Native,
    caller: &Caller,
    page: Option<PageRequest>,
) -> Result<Response> {
    let asked = NativeRequest { cx, found, caller, page: page.as_ref() };
    if let Some(name) = &rule.owner_check
        && asked.read(name).await?.1.values.is_empty()
    {
        return Err(Error::NotFound);
    }
    let cut = match (&rule.feed, &rule.statement) {
        (Some(feed), _) => asked.feed(feed).await?,
        (None, Some(name)) => asked.statement(name).await?,
        (None, None) => NativePage::default(),
    };
    let next_max = cut.ids.last().copied().filter(|_| cut.more);
    let ends = Ends { next_max, prev_min: cut.ids.first().copied() };
    let mut response = raw_json(StatusCode::OK, String::from(cut.items).into());
    if let Some(links) = page.and_then(|page| page.links(ends)) {
        response.headers_mut().insert(header::LINK, links);
    }
    Ok(response)
}

impl NativeRequest<'_> {
    /// A page of a feed that the plugin fills: paginated as core's home timeline, with links unless the page is empty.
    async fn feed(&self, feed: &str) -> Result<NativePage> {
        let (name, key) = parts(feed).ok_or(Error::NotFound)?;
        let key = gate::id(gate::param(self.found, key)?)?;
        let cursor = self.page.map_or_else(|| Cursor::first(DEFAULT), |page| page.paging.cursor);
        let plugin = self.found.mounted.plugin.id;
        let ids =
            store::feed::page(&self.cx.db, Source::Named { plugin, name, key }, Entries::Existing, &cursor).await?;
        let items = output::statuses(self.cx, self.caller.actor.as_deref(), Place::Home, &ids).await?;
        Ok(NativePage { more: true, ids: ids.into_iter().map(i64::from).collect(), items })
    }

    /// The rows of a statement, in its order; a full page links to the next.
    async fn statement(&self, name: &str) -> Result<NativePage> {
        let limit = self.page.map(|page| page.paging.cursor.limit);
        let all = self.page.is_some_and(|page| page.all);
        if limit == Some(0) && !all {
            return Ok(NativePage::default());
        }
        let (statement, rows) = self.read(name).await?;
        let found = integers(&rows, "id").ok_or_else(|| Error::internal(format!("{name} gives no id")))?;
        let ids = integers(&rows, "page_id").unwrap_or_else(|| found.clone());
        let items = match statement.returns {
            Returns::Accounts => {
                output::accounts(self.cx, &found.into_iter().map(Into::into).collect::<Vec<_>>()).await?
            }
            _ => {
                let found: Vec<StatusId> = found.into_iter().map(Into::into).collect();
                output::statuses(self.cx, self.caller.actor.as_deref(), Place::Collection, &found).await?
            }
        };
        let more = limit.is_some_and(|limit| i64::try_from(ids.len()).is_ok_and(|count| count >= limit));
        Ok(NativePage { ids, items, more })
    }

    async fn read(&self, name: &str) -> Result<(&Statement, Rows)> {
        let mounted = &self.found.mounted;
        let lost = || Error::internal(format!("no statement {name}"));
        let sql: &Statements = mounted.plugin.sql.as_ref().ok_or_else(lost)?;
        let statement = sql.find(name).ok_or_else(lost)?;
        let params = statement.params.iter().map(|(name, kind)| self.value(name, *kind)).collect::<Result<_>>()?;
        let (plugin, component) = (mounted.plugin.name(), &mounted.plugin.component);
        component.check_database(Part::Routes).map_err(|cause| no_answer(plugin, cause.kind, None))?;
        let timed = Timed::begin(&mounted.plugin, Part::Routes);
        let rows = sql.read_within(self.cx, Lane::Usual, name, params, mounted.plugin.limits.host.bytes_in).await;
        drop(timed);
        Ok((statement, rows.map_err(|failure| self.failed(mounted, failure))?))
    }

    fn value(&self, name: &str, kind: ParamType) -> Result<Value> {
        let integer = |value: Option<i64>| value.map_or(Value::Null, Value::Integer);
        let cursor = self.page.map(|page| &page.paging.cursor);
        Ok(match name {
            "caller" => integer(self.caller.actor.as_ref().map(|actor| actor.id.into())),
            "limit" => integer(cursor.map(|cursor| cursor.limit)),
            "max_id" => integer(cursor.and_then(|cursor| cursor.max_id)),
            "since_id" => integer(cursor.and_then(|cursor| cursor.since_id)),
            "min_id" => integer(cursor.and_then(|cursor| cursor.min_id)),
            _ => match (gate::param(self.found, name)?, kind) {
                (text, ParamType::Integer) => Value::Integer(gate::id(text)?),
                (text, _) => Value::Text(text.to_owned()),
            },
        })
    }

    fn failed(&self, mounted: &Mounted, mut failure: Failure) -> Error {
        log_cause(mounted.plugin.name(), &mounted.route().id, &mut failure);
        if failure.status >= 500 {
            let message = failure.message.clone();
            let cause = CallError {
                kind: CallErrorKind::Failure,
                message,
                failure: Some(failure.clone()),
                backtrace: Vec::new(),
                person: Some(self.caller.actor.as_ref().map_or(0, |actor| actor.id.into())),
            };
            self.cx.plugins.report(&mounted.plugin, "route", &mounted.route().id, &cause);
        }
        refused(failure)
    }
}

/// A column of integers.
fn integers(rows: &Rows, column: &str) -> Option<Vec<i64>> {
    let at = rows.columns.iter().position(|name| name == column)?;
    let cells = rows.values.chunks(rows.columns.len()).filter_map(|row| match row.get(at) {
        Some(Value::Integer(id)) => Some(*id),
        _ => None,
    });
    Some(cells.collect())
}
