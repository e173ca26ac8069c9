//! Blocked user names: names that cannot be used to sign up, and names that look like them.
//!
//! Reached from `/api/v1/admin/username_blocks` and `rookery username-block`. [`judge`] is their effect, at sign-up and
//! when the owner of an account changes its name. Staff may use any name.
//!
//! Spec: docs/contract/admin.csv, docs/contract/rules.md#8-oauth-and-sign-up

use serde_json::json;

use super::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, OnUnique, Result, Validation};
use model::username_block::UsernameComparison;
use model::{Cursor, RowId, Staff};
use store::username_block::UsernameBlock;
use text::skeleton;

/// Longest name, in characters.
const NAME_MAX: usize = 30;

/// Whether a user name may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Accepted,
    /// A moderator decides about the sign-up.
    NeedsApproval,
    Blocked,
}

impl Judgement {
    /// Adds a fault when the name may not be used; true when its sign-up needs approval.
    pub(crate) fn check(self, faults: &mut Validation) -> bool {
        match self {
            Self::Accepted => false,
            Self::NeedsApproval => true,
            Self::Blocked => {
                faults.add("username", "ERR_RESERVED", "is reserved");
                false
            }
        }
    }
}

/// The effect of the blocks on the name `username`: of several that hold, the strictest. A malformed name is accepted,
/// since it is refused elsewhere.
#[model::use_case]
pub async fn judge(cx: &Cx, username: &str) -> Result<Judgement> {
    if !is_name(username) {
        return Ok(Judgement::Accepted);
    }
    let whole = skeleton(username);
    let blocks = store::username_block::list_of(&cx.db, &whole, &parts(&whole)).await?;
    Ok(if blocks.iter().any(|block| !block.allow_with_approval) {
        Judgement::Blocked
    } else if blocks.is_empty() {
        Judgement::Accepted
    } else {
        Judgement::NeedsApproval
    })
}

/// Every text within `whole`, itself included; `whole` is in ASCII.
fn parts(whole: &str) -> Vec<&str> {
    let ends = |start: usize| (start + 1..=whole.len()).map(move |end| (start, end));
    let mut parts: Vec<&str> = (0..whole.len()).flat_map(ends).filter_map(|(from, to)| whole.get(from..to)).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn is_name(text: &str) -> bool {
    text.len() <= NAME_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A page of the blocked names, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, cursor: &Cursor) -> Result<Vec<UsernameBlock>> {
    Ok(store::username_block::list(&cx.db, cursor).await?)
}

/// The block `id`.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<UsernameBlock> {
    store::username_block::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The block of `username` or of a name that looks like it.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no name, and for a name that is not blocked.
#[model::use_case]
pub async fn find_by_name(cx: &Cx, username: &str) -> Result<UsernameBlock> {
    let found = store::username_block::find_by_skeleton(&cx.db, &read(username)?).await?;
    found.ok_or_else(|| Error::invalid(format!("{username} is not blocked")))
}

/// Blocks the name `username` and names that look like it.
///
/// # Errors
/// [`Error::Invalid`] for a text that is no name, and when it or a look-alike is blocked already.
#[model::use_case]
pub async fn create(
    cx: &Cx,
    staff: &Staff,
    username: &str,
    comparison: UsernameComparison,
    allow_with_approval: bool,
) -> Result<UsernameBlock> {
    let username = username.trim();
    let block = UsernameBlock {
        id: cx.ids.next(),
        username: username.to_owned(),
        skeleton: read(username)?,
        comparison,
        allow_with_approval,
        created_at: cx.clock.now(),
    };
    let already = || Error::invalid(format!("username: {username} or a name that looks like it is blocked already"));
    let mut tx = cx.db.begin().await?;
    store::username_block::insert(&mut tx, &block).await.on_unique(already)?;
    let details = json!({ "comparison": comparison, "allow_with_approval": allow_with_approval });
    audit::record(cx, &mut tx, staff, entry("username_block.create", &block).with(details)).await?;
    tx.commit().await?;
    Ok(block)
}

/// Deletes a block.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let block = find(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    if !store::username_block::delete(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    audit::record(cx, &mut tx, staff, entry("username_block.destroy", &block)).await?;
    tx.commit().await?;
    Ok(())
}

fn entry(action: &'static str, block: &UsernameBlock) -> Entry {
    Entry::new(action, Target::new("username_block", block.id, block.username.clone()))
}

/// The skeleton of a name to block.
fn read(username: &str) -> Result<String> {
    let username = username.trim();
    if username.is_empty() {
        return Err(Error::invalid("username: can't be blank"));
    }
    let skeleton = skeleton(username);
    if !is_name(username) || skeleton.is_empty() {
        return Err(Error::invalid(format!(
            "username: must be at most {NAME_MAX} letters, numbers and underscores, and not underscores alone"
        )));
    }
    Ok(skeleton)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_texts_within_each_once() {
        assert_eq!(parts("aba"), ["a", "ab", "aba", "b", "ba"]);
        assert!(parts("").is_empty());
        assert!(parts("abcdefghijklmnopqrstuvwxyz0123").len() <= NAME_MAX * (NAME_MAX + 1) / 2);
    }

    #[test]
    fn only_names_are_blocked() {
        assert_eq!(read(" Adm_1n ").expect("a name"), "admin");
        for text in ["", " ", "__", "a b", "a-b", "bücher", &"x".repeat(31)] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
