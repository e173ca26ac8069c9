//! Native routes, which the server answers from a statement or a feed without calling the plugin.

use serde_json::Value as Json;
use toml::Table;

use super::request::{TestRequest, TestResponse, refused};
use super::{Fake, render};
use crate::contract::feeds::{CustomFeed, Feed};
use crate::contract::routes::Cursor;
use crate::contract::sql::{Rows, Value};
use crate::contract::types::{Failure, Page};

/// Entries of a page where the route has no `page`.
const DEFAULT: u16 = 20;

/// A request to a native route.
pub(super) struct Native<'a> {
    pub(super) asked: &'a TestRequest<'a>,
    /// The path's parameters.
    pub(super) params: &'a [(String, String)],
    pub(super) page: Option<Page>,
    /// `limit=0` returns everything.
    pub(super) all: bool,
}

impl Native<'_> {
    /// The answer by the `rule` of the manifest.
    pub(super) fn answer(&self, rule: &Table) -> TestResponse {
        let text = |key: &str| rule.get(key).and_then(toml::Value::as_str);
        let done = match (text("owner-check").map(|name| self.query(name)), text("feed"), text("statement")) {
            (Some(Ok(rows)), ..) if rows.values.is_empty() => Err(None),
            (Some(Err(failure)), ..) => Err(Some(failure)),
            (_, Some(feed), _) => self.feed(feed).ok_or(None),
            (_, None, Some(name)) => self.statement(name).map_err(Some),
            (_, None, None) => Err(None),
        };
        match done {
            Ok((json, cursor)) => {
                TestResponse { status: 200, json, output: None, cursor: Some(cursor), headers: Vec::new() }
            }
            Err(None) => refused(404, "Record not found"),
            Err(Some(failure)) => refused(failure.status, &failure.message),
        }
    }

    fn fake(&self) -> &Fake {
        self.asked.fake
    }

    /// Most entries of this page.
    fn limit(&self) -> usize {
        match self.page.map_or(DEFAULT, |page| page.limit) {
            0 if self.all => usize::MAX,
            limit => limit.into(),
        }
    }

    /// The page of these: newest first, and with `min_id` those directly above it.
    fn cut<T>(&self, mut newest_first: Vec<T>) -> Vec<T> {
        let surplus = newest_first.len().saturating_sub(self.limit());
        if self.page.is_some_and(|page| page.min_id.is_some()) {
            newest_first.drain(..surplus);
        } else {
            newest_first.truncate(self.limit());
        }
        newest_first
    }

    /// The newest statuses of `notes:{id}` within the page that the viewer may see.
    fn feed(&self, feed: &str) -> Option<(Json, Cursor)> {
        let (name, key) = feed.split_once(':')?;
        let key = self.param(key.strip_prefix('{')?.strip_suffix('}')?)?.parse().ok()?;
        let feed = Feed::Custom(CustomFeed { name: name.into(), key });
        let (below, above) = self.page.map_or((None, None), |page| (page.max_id, page.min_id.or(page.since_id)));
        let within = |id: &i64| below.is_none_or(|most| *id < most) && above.is_none_or(|least| *id > least);
        let ids = self.cut(self.fake().state(|state| state.feed(&feed)).into_iter().filter(within).collect());
        Some((self.statuses(&ids), Cursor { next_max: ids.last().copied(), prev_min: ids.first().copied() }))
    }

    fn statement(&self, name: &str) -> Result<(Json, Cursor), Failure> {
        let rows = self.query(name)?;
        let column = |wanted: &str| {
            let at = rows.columns.iter().position(|column| column == wanted)?;
            let cells = rows.values.chunks(rows.columns.len()).filter_map(|row| match row.get(at) {
                Some(Value::Integer(id)) => Some(*id),
                _ => None,
            });
            Some(cells.collect::<Vec<i64>>())
        };
        let ids = column("id").unwrap_or_default();
        let keys = column("page_id").unwrap_or_else(|| ids.clone());
        let mut rows: Vec<(i64, i64)> = keys.into_iter().zip(ids).collect();
        rows.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        let (keys, ids): (Vec<i64>, Vec<i64>) = self.cut(rows).into_iter().unzip();
        let is_full = keys.len() >= self.limit();
        let cursor = Cursor { next_max: keys.last().copied().filter(|_| is_full), prev_min: keys.first().copied() };
        let accounts = self.fake().state(|state| state.database.returns_accounts(name));
        let json = if accounts {
            self.fake().state(|state| ids.iter().filter_map(|id| render::account(state, *id)).collect())
        } else {
            self.statuses(&ids)
        };
        Ok((json, cursor))
    }

    fn statuses(&self, ids: &[i64]) -> Json {
        let viewer = self.asked.account;
        self.fake().state(|state| ids.iter().filter_map(|id| render::status(state, viewer, *id)).collect())
    }

    /// Runs a statement, whose parameters are filled by name.
    fn query(&self, name: &str) -> Result<Rows, Failure> {
        self.fake().state(|state| {
            let names = state.database.params(name);
            let values: Vec<Value> = names.iter().map(|(name, integer)| self.value(name, *integer)).collect();
            state.database.query(state, name, &values)
        })
    }

    fn value(&self, name: &str, integer: bool) -> Value {
        let number = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
        match name {
            "caller" => number(self.asked.account),
            "limit" => Value::Integer(i64::try_from(self.limit()).unwrap_or(i64::MAX)),
            "max_id" => number(self.page.and_then(|page| page.max_id)),
            "since_id" => number(self.page.and_then(|page| page.since_id)),
            "min_id" => number(self.page.and_then(|page| page.min_id)),
            _ if integer => number(self.param(name).and_then(|text| text.parse().ok())),
            _ => self.param(name).map_or(Value::Null, |text| Value::Text(text.to_owned())),
        }
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
