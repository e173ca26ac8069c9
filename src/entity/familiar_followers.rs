//! <https://docs.joinmastodon.org/entities/FamiliarFollowers/>

use super::account;
use context::Cx;
use context::error::Result;
use context::json::{Array, Fragment, Object};
use model::{AccountId, Actor};
use store::relationship::FamiliarFollower;

/// Most accounts listed for each of `targets`.
const MOST: i64 = 40;

/// Size of an entity without its accounts, in bytes.
const FRAME_BYTES: usize = 64;

/// Renders, for each existing account of `targets` in the order given, its followers that `viewer` follows. A
/// constant number of statements.
pub async fn render(cx: &Cx, viewer: &Actor, targets: &[AccountId]) -> Result<Vec<Fragment>> {
    let known: Vec<AccountId> =
        store::account::versions(&cx.db, targets).await?.into_iter().map(|(id, _)| id).collect();
    let rows = store::relationship::list_familiar_followers(&cx.db, viewer.id, &known, MOST).await?;
    let mut versions: Vec<(AccountId, i64)> = rows.iter().map(|row| (row.account, row.version)).collect();
    versions.sort_unstable();
    versions.dedup();
    let accounts = account::render_versions(cx, &versions).await?;
    let shown = targets.iter().filter(|id| known.contains(id));
    Ok(shown.map(|target| of_target(*target, &rows, &accounts)).collect())
}

fn of_target(target: AccountId, rows: &[FamiliarFollower], accounts: &account::Rendered) -> Fragment {
    let followers = rows.iter().filter(|row| row.target == target);
    let followers = Array::join(followers.filter_map(|row| accounts.get(&row.account)).map(AsRef::as_ref));
    let mut object = Object::with_capacity(followers.as_str().len() + FRAME_BYTES);
    object.member("id", &format!("\"{target}\"")).member("accounts", followers.as_str());
    object.close()
}
