//! The conditions and exclusions of an antenna: the routes below one antenna, and the routes that find antennas by a
//! listed account.

use rookery_plugin::prelude::*;

use crate::antenna::MOST_ACCOUNTS;
use crate::fault::{Fault, Refusal};
use crate::sql;
use crate::table;
use crate::terms::{Kind, Terms};

/// The entries to add or remove. Each route reads its own field.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entries {
    account_ids: Vec<String>,
    domains: Vec<String>,
    keywords: Vec<String>,
    tags: Vec<String>,
}

/// `GET /api/v1/antennas/{id}/domains`
#[route(get, "/api/v1/antennas/{id}/domains", scopes = ["read:lists"])]
fn domains(ctx: &Context, id: Id) -> Result<Output> {
    let terms = table::find(ctx.account(), id)?.terms();
    Output::json(&json!({ "domains": terms.domains, "exclude_domains": terms.exclude_domains }))
}

/// `GET /api/v1/antennas/{id}/keywords`
#[route(get, "/api/v1/antennas/{id}/keywords", scopes = ["read:lists"])]
fn keywords(ctx: &Context, id: Id) -> Result<Output> {
    let terms = table::find(ctx.account(), id)?.terms();
    Output::json(&json!({ "keywords": terms.keywords, "exclude_keywords": terms.exclude_keywords }))
}

/// `GET /api/v1/antennas/{id}/tags`
#[route(get, "/api/v1/antennas/{id}/tags", scopes = ["read:lists"])]
fn tags(ctx: &Context, id: Id) -> Result<Output> {
    let terms = table::find(ctx.account(), id)?.terms();
    Output::json(&json!({ "tags": terms.tags, "exclude_tags": terms.exclude_tags }))
}

/// `POST /api/v1/antennas/{id}/domains`
#[route(post, "/api/v1/antennas/{id}/domains", scopes = ["write:lists"])]
fn add_domains(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::Domains, entries.domains)
}

/// `DELETE /api/v1/antennas/{id}/domains`
#[route(delete, "/api/v1/antennas/{id}/domains", scopes = ["write:lists"])]
fn remove_domains(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::Domains, entries.domains)
}

/// `POST /api/v1/antennas/{id}/keywords`
#[route(post, "/api/v1/antennas/{id}/keywords", scopes = ["write:lists"])]
fn add_keywords(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::Keywords, entries.keywords)
}

/// `DELETE /api/v1/antennas/{id}/keywords`
#[route(delete, "/api/v1/antennas/{id}/keywords", scopes = ["write:lists"])]
fn remove_keywords(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::Keywords, entries.keywords)
}

/// `POST /api/v1/antennas/{id}/tags`
#[route(post, "/api/v1/antennas/{id}/tags", scopes = ["write:lists"])]
fn add_tags(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::Tags, entries.tags)
}

/// `DELETE /api/v1/antennas/{id}/tags`
#[route(delete, "/api/v1/antennas/{id}/tags", scopes = ["write:lists"])]
fn remove_tags(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::Tags, entries.tags)
}

/// `POST /api/v1/antennas/{id}/exclude_domains`
#[route(post, "/api/v1/antennas/{id}/exclude_domains", scopes = ["write:lists"])]
fn add_exclude_domains(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::ExcludeDomains, entries.domains)
}

/// `DELETE /api/v1/antennas/{id}/exclude_domains`
#[route(delete, "/api/v1/antennas/{id}/exclude_domains", scopes = ["write:lists"])]
fn remove_exclude_domains(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::ExcludeDomains, entries.domains)
}

/// `POST /api/v1/antennas/{id}/exclude_keywords`
#[route(post, "/api/v1/antennas/{id}/exclude_keywords", scopes = ["write:lists"])]
fn add_exclude_keywords(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::ExcludeKeywords, entries.keywords)
}

/// `DELETE /api/v1/antennas/{id}/exclude_keywords`
#[route(delete, "/api/v1/antennas/{id}/exclude_keywords", scopes = ["write:lists"])]
fn remove_exclude_keywords(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::ExcludeKeywords, entries.keywords)
}

/// `POST /api/v1/antennas/{id}/exclude_tags`
#[route(post, "/api/v1/antennas/{id}/exclude_tags", scopes = ["write:lists"])]
fn add_exclude_tags(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add(ctx, id, Kind::ExcludeTags, entries.tags)
}

/// `DELETE /api/v1/antennas/{id}/exclude_tags`
#[route(delete, "/api/v1/antennas/{id}/exclude_tags", scopes = ["write:lists"])]
fn remove_exclude_tags(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove(ctx, id, Kind::ExcludeTags, entries.tags)
}

/// `POST /api/v1/antennas/{id}/accounts`
#[route(post, "/api/v1/antennas/{id}/accounts", scopes = ["write:lists"])]
fn add_accounts(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add_members(ctx, id, Side::Listed, &entries.account_ids)
}

/// `DELETE /api/v1/antennas/{id}/accounts`
#[route(delete, "/api/v1/antennas/{id}/accounts", scopes = ["write:lists"])]
fn remove_accounts(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove_members(ctx, id, Side::Listed, &entries.account_ids)
}

/// `POST /api/v1/antennas/{id}/exclude_accounts`
#[route(post, "/api/v1/antennas/{id}/exclude_accounts", scopes = ["write:lists"])]
fn add_exclude_accounts(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    add_members(ctx, id, Side::Excluded, &entries.account_ids)
}

/// `DELETE /api/v1/antennas/{id}/exclude_accounts`
#[route(delete, "/api/v1/antennas/{id}/exclude_accounts", scopes = ["write:lists"])]
fn remove_exclude_accounts(ctx: &Context, id: Id, Params(entries): Params<Entries>) -> Result<Output> {
    remove_members(ctx, id, Side::Excluded, &entries.account_ids)
}

/// `GET /api/v1/accounts/{account}/antennas`: the caller's antennas that list an account.
#[route(get, "/api/v1/accounts/{account}/antennas", scopes = ["read:lists"])]
fn account_antennas(ctx: &Context, account: Id) -> Result<Output> {
    naming(ctx, account, Side::Listed)
}

/// `GET /api/v1/accounts/{account}/exclude_antennas`: the caller's antennas that leave an account out.
#[route(get, "/api/v1/accounts/{account}/exclude_antennas", scopes = ["read:lists"])]
fn account_exclude_antennas(ctx: &Context, account: Id) -> Result<Output> {
    naming(ctx, account, Side::Excluded)
}

fn naming(ctx: &Context, account: Id, side: Side) -> Result<Output> {
    let ids: Vec<Id> = sql::naming(ctx.account(), account, side.excluded()).all()?;
    let mut own = table::own(ctx.account())?;
    own.retain(|stored| ids.contains(&stored.id));
    Output::json(&table::entities(&own))
}

/// Adds words, domains or hashtags.
fn add(ctx: &Context, id: Id, kind: Kind, entries: Vec<String>) -> Result<Output> {
    let version = table::next_version()?;
    let mut terms = table::find(ctx.account(), id)?.terms();
    terms.add(kind, written(kind, entries)?).map_err(Error::from)?;
    save(id, &terms, version)
}

/// Removes words, domains or hashtags; missing ones are not an error.
fn remove(ctx: &Context, id: Id, kind: Kind, entries: Vec<String>) -> Result<Output> {
    let version = table::next_version()?;
    let mut terms = table::find(ctx.account(), id)?.terms();
    let entries: Vec<String> = normal(kind, entries)?.into_iter().flatten().collect();
    terms.remove(kind, &entries);
    save(id, &terms, version)
}

fn save(id: Id, terms: &Terms, version: i64) -> Result<Output> {
    sql::set_terms(id, terms.kept(), version).exec()?;
    Output::empty()
}

/// The entries as the server compares them.
///
/// # Errors
/// [`Fault::Unwritable`] when one is none.
pub(crate) fn written(kind: Kind, entries: Vec<String>) -> Result<Vec<String>, Refusal> {
    let known: Option<Vec<String>> = normal(kind, entries)?.into_iter().collect();
    Ok(known.ok_or(Fault::Unwritable(kind))?)
}

/// The entries in normalised form; without invalid ones.
fn normal(kind: Kind, entries: Vec<String>) -> Result<Vec<Option<String>>> {
    match kind {
        Kind::Keywords | Kind::ExcludeKeywords => Ok(entries.into_iter().map(Some).collect()),
        Kind::Domains | Kind::ExcludeDomains => core::normalise("domain", &entries),
        Kind::Tags | Kind::ExcludeTags => core::normalise("hashtag", &entries),
    }
}

/// Which accounts of an antenna.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Listed,
    Excluded,
}

impl Side {
    pub(crate) fn excluded(self) -> bool {
        self == Self::Excluded
    }
}

/// Adds accounts, all or none.
fn add_members(ctx: &Context, id: Id, side: Side, sent: &[String]) -> Result<Output> {
    let version = table::next_version()?;
    table::find(ctx.account(), id)?;
    let members = known(sent)?;
    put(id, side, &members)?;
    sql::set_version(id, version).exec()?;
    Output::empty()
}

/// Puts accounts into an antenna.
pub(crate) fn put(id: Id, side: Side, members: &[i64]) -> Result<(), Refusal> {
    sql::many::add_member(members.iter().map(|member| (id, side.excluded(), *member)))
        .on_unique(|| Fault::AccountTwice.into())?;
    if sql::count_members(id, side.excluded()).one::<usize>()? > MOST_ACCOUNTS {
        return Err(Fault::ManyAccounts.into());
    }
    Ok(())
}

/// Removes accounts. Missing ones are not an error; among the excluded, unknown accounts are.
fn remove_members(ctx: &Context, id: Id, side: Side, sent: &[String]) -> Result<Output> {
    let version = table::next_version()?;
    table::find(ctx.account(), id)?;
    let members = match side {
        Side::Listed => Id::known(sent),
        Side::Excluded => known(sent)?,
    };
    sql::remove_members(id, side.excluded(), members).exec()?;
    sql::set_version(id, version).exec()?;
    Output::empty()
}

/// The ids of accounts that exist; 404 when one does not.
fn known(sent: &[String]) -> Result<Vec<i64>> {
    let ids = Id::all(sent)?;
    if core::accounts(&ids)?.iter().any(Option::is_none) {
        return Err(Error::NotFound);
    }
    Ok(ids)
}
