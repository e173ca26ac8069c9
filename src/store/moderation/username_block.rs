//! Blocked user names, by the form that look-alikes share.
//!
//! Reached from `service::username_block`, which decides what a block means. Spec: docs/contract/admin.csv.

use database::sql::Texts;
use database::{Conn, Result, Tx, paged, sql};
use model::username_block::UsernameComparison;
use model::{Cursor, RowId, Time, boxed};

/// A user name that cannot be used to sign up.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "username_blocks", alias = "b")]
pub struct UsernameBlock {
    pub id: RowId,
    /// As it was written.
    pub username: String,
    /// The form that look-alikes share; unique.
    pub skeleton: String,
    pub comparison: UsernameComparison,
    /// A moderator decides about each sign-up instead.
    pub allow_with_approval: bool,
    pub created_at: Time,
}

/// A page of the blocked names, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, cursor: &Cursor) -> Result<Vec<UsernameBlock>> {
    let sql = paged!(
        cursor,
        "SELECT " username_block_columns!() " FROM username_blocks b WHERE b.id < $1 AND b.id > $2",
        by "b.id", limit "$3"
    );
    let query = db.query(sql).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<UsernameBlock>> {
    db.query(sql!("SELECT " username_block_columns!() " FROM username_blocks b WHERE b.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// The block with exactly this skeleton.
#[boxed]
pub async fn find_by_skeleton(db: Conn<'_>, skeleton: &str) -> Result<Option<UsernameBlock>> {
    db.query(sql!("SELECT " username_block_columns!() " FROM username_blocks b WHERE b.skeleton = $1"))
        .bind(skeleton.to_owned())
        .optional()
        .await
}

/// The blocks that hold for a name with the skeleton `whole`, whose parts are `parts`: itself and every text within. In
/// no order; a look-up in the index for each part, so that the number of blocks does not matter.
#[boxed]
pub async fn list_of(db: Conn<'_>, whole: &str, parts: &[&str]) -> Result<Vec<UsernameBlock>> {
    db.query(sql!(
        "SELECT " username_block_columns!() " FROM username_blocks b
         WHERE b.skeleton" in("$1") "AND (b.comparison = 'contains' OR b.skeleton = $2)"
    ))
    .bind(Texts::of(parts.iter().copied()))
    .bind(whole.to_owned())
    .all()
    .await
}

/// Inserts a block.
///
/// # Errors
/// A violation of `username_blocks_skeleton` when a look-alike is blocked already.
#[boxed]
pub async fn insert(tx: &mut Tx, block: &UsernameBlock) -> Result<()> {
    tx.query(sql!(username_block_insert!())).bind_row(block).execute().await?;
    Ok(())
}

/// Deletes a block; false when it is missing.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<bool> {
    Ok(tx.query(sql!("DELETE FROM username_blocks WHERE id = $1")).bind(id).execute().await? > 0)
}
