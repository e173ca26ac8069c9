//! Antennas: timelines of one's own, of statuses by account, server, hashtag and keyword.
//!
//! Every new and edited status passes [`mod@fanout`], which matches it against all antennas of the server together
//! ([`mod@index`]), decides who may have it ([`audience`]) and where it appears ([`spread`]). The rest is how people
//! keep their antennas: this file has the antennas themselves, [`conditions`] their conditions. The timeline of an
//! antenna is answered by the host alone. What people may list, and how much memory all antennas take together, is
//! bounded ([`terms`], [`room`]); in a browser they keep them on [`mod@pages`]. Spec: the contract's group `antennas`.
//!
//! Not yet: keeping accounts out of the home feed that an antenna brings into an exclusive list; the server's own hashtag that
//! passes an author's refusal.

pub mod antenna;
pub mod audience;
mod channel;
mod conditions;
mod fanout;
pub mod fault;
mod forget;
pub mod index;
pub mod layers;
mod lists;
mod load;
mod pages;
pub mod room;
pub mod spread;
pub mod status;
mod table;
pub mod terms;
#[cfg(test)]
mod tests;

use rookery_plugin::prelude::*;

use crate::antenna::{Choices, MOST};
use crate::fault::{Fault, Refusal};
use crate::table::Stored;

/// The plugin.
#[plugin]
pub struct Antennas;

/// The plugin's own feeds: one for each antenna, by its id.
const FEED: &str = "antenna";

/// `GET /api/v1/antennas`
#[route(get, "/api/v1/antennas", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    Output::json(&table::entities(&table::own(ctx.account())?))
}

/// The parameters of an antenna. Absent parameters change nothing.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AntennaParams {
    title: Option<String>,
    list_id: Option<String>,
    insert_feeds: Option<bool>,
    stl: Option<bool>,
    ltl: Option<bool>,
    with_media_only: Option<bool>,
    ignore_reblog: Option<bool>,
}

impl AntennaParams {
    /// The choices updated from the request; the list must belong to the caller.
    fn with_list(self, ctx: &Context, old: Choices) -> Result<Choices, Refusal> {
        let list_id = match self.list_id.as_deref() {
            None => old.list_id,
            Some(list) => own_list(ctx, list)?,
        };
        Ok(Choices { list_id, ..self.apply(old) })
    }

    /// The choices with the sent parameters; the list is checked separately.
    fn apply(self, old: Choices) -> Choices {
        Choices {
            title: self.title.unwrap_or(old.title),
            list_id: old.list_id,
            insert_feeds: self.insert_feeds.unwrap_or(old.insert_feeds),
            stl: self.stl.unwrap_or(old.stl),
            ltl: self.ltl.unwrap_or(old.ltl),
            with_media_only: self.with_media_only.unwrap_or(old.with_media_only),
            ignore_reblog: self.ignore_reblog.unwrap_or(old.ignore_reblog),
        }
    }
}

/// `POST /api/v1/antennas`
#[route(post, "/api/v1/antennas", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(change): Params<AntennaParams>) -> Result<Output> {
    answer(ctx, make(ctx, &change.with_list(ctx, Choices::default())?)?)
}

/// Makes an antenna of the caller's, unless there are as many as there may be.
fn make(ctx: &Context, choices: &Choices) -> Result<Id, Refusal> {
    let version = table::next_version()?;
    let others = table::own(ctx.account())?;
    check(choices, &others)?;
    if others.len() >= MOST {
        return Err(Fault::ManyAntennas.into());
    }
    Ok(table::insert(ctx.account(), choices, version)?)
}

/// `GET /api/v1/antennas/{id}`
#[route(get, "/api/v1/antennas/{id}", scopes = ["read:lists"])]
fn show(ctx: &Context, id: Id) -> Result<Output> {
    answer(ctx, id)
}

/// `PUT /api/v1/antennas/{id}`
#[route([put, patch], "/api/v1/antennas/{id}", scopes = ["write:lists"])]
fn update(ctx: &Context, id: Id, Params(change): Params<AntennaParams>) -> Result<Output> {
    choose(ctx, id, |old| change.with_list(ctx, old))?;
    answer(ctx, id)
}

/// Has an antenna of the caller's as `choose` makes it.
fn choose(ctx: &Context, id: Id, choose: impl FnOnce(Choices) -> Result<Choices, Refusal>) -> Result<(), Refusal> {
    let version = table::next_version()?;
    let (own, others): (Vec<Stored>, Vec<Stored>) =
        table::own(ctx.account())?.into_iter().partition(|stored| stored.id == id);
    let old = own.into_iter().next().ok_or(Error::NotFound)?.choices();
    let choices = choose(old)?;
    check(&choices, &others)?;
    Ok(table::update(id, &choices, version)?)
}

/// `DELETE /api/v1/antennas/{id}`
#[route(delete, "/api/v1/antennas/{id}", scopes = ["write:lists"])]
fn delete(ctx: &Context, id: Id) -> Result<Output> {
    delete_own(ctx, id)?;
    Output::empty()
}

/// Deletes an antenna of the caller's.
fn delete_own(ctx: &Context, id: Id) -> Result<()> {
    let version = table::next_version()?;
    table::find(ctx.account(), id)?;
    table::delete(&[id.0], version)
}

/// Antenna `id` of the caller; someone else's and none look alike.
fn answer(ctx: &Context, id: Id) -> Result<Output> {
    Output::json(&table::find(ctx.account(), id)?.entity())
}

fn check(choices: &Choices, others: &[Stored]) -> Result<(), Fault> {
    let others: Vec<Choices> = others.iter().map(Stored::choices).collect();
    choices.check(&others)
}

/// The number of a list of the caller's; 0 and nothing stand for the home feed.
fn own_list(ctx: &Context, sent: &str) -> Result<i64, Refusal> {
    match sent.trim() {
        "" | "0" => Ok(0),
        id => {
            let id: i64 = id.parse().map_err(|_| Fault::NoList)?;
            Ok(sql::own_list(id, ctx.account()).optional()?.ok_or(Fault::NoList)?)
        }
    }
}
