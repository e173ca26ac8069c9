//! Routes that the server answers by itself: a feed of the plugin's own, or a named statement. No call of the plugin.

use axum::http::{StatusCode, header};
use axum::response::Response;
use rookery_plugin_host::exports::routes::Cursor as Ends;

use super::gate;
use super::output;
use super::paging::Wanted;
use super::table::Found;
use crate::app::App;
use crate::entity::Fragment;
use crate::error::{Error, Result};
use crate::http::error::raw_json;
use crate::model::{Cursor, StatusId};
use crate::plugins::call::Caller;
use crate::plugins::manifest::Native;
use crate::service::visibility::Place;
use crate::store;

/// What a page was cut from, and what is shown of it.
struct Cut {
    /// Paging ids, newest first.
    ids: Vec<i64>,
    items: Vec<Fragment>,
    /// There is more below, as far as anyone can tell.
    more: bool,
}

/// A page of a native route.
///
/// # Errors
/// [`Error::NotFound`] when the owner's check finds nothing.
pub(super) async fn answer(
    app: &App,
    found: &Found,
    rule: &Native,
    caller: &Caller,
    page: Option<Wanted>,
) -> Result<Response> {
    let cut = match &rule.feed {
        Some(feed) => of_feed(app, found, feed, caller, page.as_ref()).await?,
        None => return Err(Error::internal("a native route without a source")),
    };
    let ends = Ends { next_max: cut.ids.last().copied().filter(|_| cut.more), prev_min: cut.ids.first().copied() };
    let mut response = raw_json(StatusCode::OK, Fragment::array(&cut.items).into());
    if let Some(links) = page.and_then(|page| page.links(ends)) {
        response.headers_mut().insert(header::LINK, links);
    }
    Ok(response)
}

/// A timeline that the plugin fills: as core's home timeline, with links whenever there is an entry.
async fn of_feed(app: &App, found: &Found, feed: &str, caller: &Caller, page: Option<&Wanted>) -> Result<Cut> {
    let (name, key) = feed.split_once(':').ok_or_else(|| Error::internal("a feed without a key"))?;
    let key = gate::id(gate::param(found, key.trim_matches(['{', '}']))?)?;
    let cursor = page.map_or_else(|| Cursor::first(DEFAULT), |page| page.paging.cursor.clone());
    let plugin = found.mounted.plugin.id;
    let ids: Vec<StatusId> = store::timeline::plugin_feed(&app.db, plugin, name, key, &cursor).await?;
    let items = output::statuses(app, caller.actor.as_deref(), Place::Home, &ids).await?;
    Ok(Cut { more: true, ids: ids.into_iter().map(i64::from).collect(), items })
}

/// How many entries a route shows that does not page.
const DEFAULT: i64 = 20;
