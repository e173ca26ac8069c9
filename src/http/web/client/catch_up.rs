//! Catching up: statuses of followed accounts since the last visit, quiet authors first.
//!
//! The last visit is the marker `home` of the API, which apps move as somebody reads; here it moves when they say that they
//! have caught up. Boosts are counted, not shown.

use std::collections::HashMap;

use axum::response::Response;
use chrono::TimeDelta;
use minijinja::{Value, context};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::extract::Params;
use crate::web::settings::Frame;
use crate::web::{Form, Page};
use entity::web::{self, WebStatus};
use model::clock::Ids;
use model::filter::FilterContext;
use model::marker::MarkedTimeline;
use model::{AccountId, Cursor, StatusId};
use service::visibility::Seen;
use service::{marker, timeline};

/// Statuses that are looked at, from the newest back.
const LOOKED_AT: i64 = 400;
/// Statuses of an author that are shown; the others are on the profile.
const SHOWN_EACH: usize = 3;
/// Authors that are shown.
const AUTHORS: usize = 30;
/// The choices of how far to look back, in hours.
const SPANS: [i64; 4] = [1, 6, 24, 72];
/// Without a last visit.
const USUAL_SPAN: i64 = 24;

/// Query parameters of [`show`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Since {
    /// How far to look back, in hours; since the last visit when left out.
    hours: Option<i64>,
}

/// The statuses of an author, as a value for templates.
struct Written {
    author: AccountId,
    statuses: Vec<Seen>,
}

/// `GET /catch_up`
///
/// # Errors
/// [`Error::BadRequest`] for less than an hour or more than a month.
pub async fn show(frame: Frame, Params(since): Params<Since>) -> Result<Page> {
    let (cx, viewer) = (&frame.cx, frame.actor().await?);
    if since.hours.is_some_and(|hours| !(1..=744).contains(&hours)) {
        return Err(Error::bad_request("hours must be from 1 to 744").into());
    }
    let marked = marker::list(cx, &viewer, &[MarkedTimeline::Home]).await?.pop();
    let from = match (since.hours, marked) {
        (None, Some(marker)) => marker.last_read_id,
        (hours, _) => {
            let span = TimeDelta::hours(hours.unwrap_or(USUAL_SPAN));
            Ids::first_at(cx.clock.now() - span)
        }
    };
    let cursor = Cursor { since_id: Some(from), ..Cursor::first(LOOKED_AT) };
    let (slice, rebuilding) = timeline::home(cx, &viewer, &cursor).await?;
    let boosts = slice.shown.iter().filter(|seen| seen.original().is_some()).count();
    let written = by_author(slice.shown);
    let counts: Vec<usize> = written.iter().map(|one| one.statuses.len()).collect();
    let chosen: Vec<Seen> =
        written.iter().take(AUTHORS).flat_map(|one| one.statuses.iter().take(SHOWN_EACH)).cloned().collect();
    let mut shown: HashMap<AccountId, Vec<WebStatus>> = HashMap::new();
    for status in web::statuses(cx, Some(&viewer), Some(FilterContext::Home), &chosen).await? {
        shown.entry(status.author.id).or_default().push(status);
    }
    let groups: Vec<Value> = written
        .iter()
        .zip(&counts)
        .filter_map(|(one, count)| {
            let statuses = shown.remove(&one.author)?;
            let author = statuses.first()?.author.clone();
            Some(context! { author, more => count.saturating_sub(SHOWN_EACH), statuses })
        })
        .collect();
    let own = context! {
        newest => slice.ids.first().map(ToString::to_string),
        is_full => slice.ids.len() >= usize::try_from(LOOKED_AT).unwrap_or_default(),
        others => counts.len().saturating_sub(AUTHORS),
        spans => SPANS.map(|hours| context! { hours, label => cx.language().duration(hours * 3_600) }),
        hours => since.hours,
        groups, boosts, rebuilding,
    };
    frame.page("catch_up", "catch_up.title", "client/catch_up.html", own)
}

/// The statuses by author, without reblogs: who wrote least comes first, then who wrote last. Each author's oldest first.
fn by_author(newest_first: Vec<Seen>) -> Vec<Written> {
    let mut written: Vec<Written> = Vec::new();
    let mut places: HashMap<AccountId, usize> = HashMap::new();
    for seen in newest_first.into_iter().filter(|seen| seen.original().is_none()) {
        let author = seen.head().account_id;
        let place = *places.entry(author).or_insert(written.len());
        match written.get_mut(place) {
            Some(one) => one.statuses.push(seen),
            None => written.push(Written { author, statuses: vec![seen] }),
        }
    }
    written.sort_by_key(|one| one.statuses.len());
    written.iter_mut().for_each(|one| one.statuses.reverse());
    written
}

/// Fields of the form.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Read {
    /// The newest status that was shown.
    newest: Option<StatusId>,
}

/// `POST /catch_up`: moves the marker `home`, and leads home.
///
/// # Errors
/// [`Error::BadRequest`] without a status.
pub async fn update(frame: Frame, Form(read): Form<Read>) -> Result<Response> {
    let newest = read.newest.ok_or_else(|| Error::missing("newest"))?;
    marker::save(&frame.cx, &frame.actor().await?, &[(MarkedTimeline::Home, newest.into())]).await?;
    Ok(frame.done("catch_up.done", "/home"))
}
