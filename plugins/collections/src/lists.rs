//! The collections of an account, and the collections that list it.
//!
//! Clients page by `offset`, as documented, or by the `Link` header, which pages by id.

use rookery_plugin::prelude::*;

use crate::entity::{CollectionRow, listed};
use crate::{forbidden, sql};

/// How many collections `offset` skips at most.
const MOST_SKIPPED: i64 = 1_000;

#[derive(Deserialize)]
struct Skip {
    offset: Option<i64>,
}

/// `GET /api/v1/accounts/{account}/collections`
///
/// Empty for an account that is suspended or blocks the caller.
#[route(get, "/api/v1/accounts/{account}/collections", scopes = ["read:collections"])]
fn of_account(ctx: &Context, account: Id, page: Page, Query(skip): Query<Skip>) -> Result<Output> {
    answer(ctx, page, &skip, |page| sql::collections_of(account, ctx.viewer(), page).all())
}

/// `GET /api/v1/accounts/{account}/in_collections`: the caller's own alone.
#[route(get, "/api/v1/accounts/{account}/in_collections", scopes = ["read:collections"])]
fn with_account(ctx: &Context, account: Id, page: Page, Query(skip): Query<Skip>) -> Result<Output> {
    if account != ctx.account() {
        return Err(forbidden());
    }
    answer(ctx, page, &skip, |page| sql::collections_with(account, page).all())
}

/// A page of the rows from `read`. `offset` is ignored where the request has a bound (`max_id` and so on), since `Link` keeps all
/// other parameters.
fn answer(
    ctx: &Context,
    page: Page,
    skip: &Skip,
    read: impl FnOnce(&Page) -> Result<Vec<CollectionRow>>,
) -> Result<Output> {
    if page.limit == 0 {
        return listed(&[], ctx.viewer());
    }
    let is_bounded = [page.max_id, page.since_id, page.min_id].iter().any(Option::is_some);
    let skipped = if is_bounded { 0 } else { skip.offset.unwrap_or_default().clamp(0, MOST_SKIPPED) };
    let skipped = u16::try_from(skipped).unwrap_or_default();
    let mut rows = read(&Page { limit: page.limit + skipped, ..page })?;
    rows.drain(..rows.len().min(usize::from(skipped)));
    let ids: Vec<i64> = rows.iter().map(|row| row.id.0).collect();
    Ok(listed(&rows, ctx.viewer())?.with_cursor(&ids, page.limit))
}
