//! Keywords of filters.
//!
//! Reached from the routes of keywords, and from [`super::create`] and [`super::update`], which take changes of several.

use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{Actor, FilterId, RowId};
use store::filter::FilterKeywordRow;

/// Longest keyword, in characters.
const KEYWORD_MAX: usize = 512;

/// A keyword to add, change or delete.
#[derive(Debug, Default)]
pub struct KeywordChange {
    /// Which; `None`: a new one.
    pub id: Option<RowId>,
    /// At most 512 characters, one of which is no space.
    pub keyword: Option<String>,
    /// It must stand alone; true for a new one.
    pub whole_word: Option<bool>,
    /// Deletes it.
    pub destroy: bool,
}

impl KeywordChange {
    /// True when there is nothing in it, as in the empty row of a form.
    fn is_blank(&self) -> bool {
        let named = self.keyword.as_deref().is_some_and(|keyword| !keyword.trim().is_empty());
        self.id.is_none() && !named && self.whole_word != Some(true)
    }
}

/// The keywords of one of the viewer's filters, oldest first.
///
/// # Errors
/// [`Error::NotFound`] when the filter is missing or someone else's.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, filter: FilterId) -> Result<Vec<FilterKeywordRow>> {
    super::own(&cx.db, viewer.id, filter).await?;
    Ok(store::filter::list_keywords_of(&cx.db, filter).await?)
}

/// One keyword of the viewer's filters.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: RowId) -> Result<FilterKeywordRow> {
    store::filter::find_keyword(&cx.db, viewer.id, id).await?.ok_or(Error::NotFound)
}

/// Adds a keyword to one of the actor's filters.
///
/// # Errors
/// [`Error::NotFound`] when the filter is missing or someone else's, [`Error::Invalid`] for a blank or long keyword, and
/// beyond the limits of an account.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, filter: FilterId, change: KeywordChange) -> Result<FilterKeywordRow> {
    let mut tx = super::begin(cx, actor.id).await?;
    super::own(&mut tx, actor.id, filter).await?;
    let made = insert(cx, &mut tx, filter, change).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok(made)
}

/// Changes a keyword.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's, [`Error::Invalid`] as in [`create`].
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: RowId, change: KeywordChange) -> Result<FilterKeywordRow> {
    let mut tx = super::begin(cx, actor.id).await?;
    let row = store::filter::find_keyword(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    let changed = overwrite(&mut tx, row, change).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok(changed)
}

/// Deletes a keyword; its filter stays.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = super::begin(cx, actor.id).await?;
    let row = store::filter::find_keyword(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    store::filter::delete_keyword(&mut tx, row.id).await?;
    super::commit(cx, tx, actor.id).await
}

/// Applies changes to the keywords of `filter`.
///
/// # Errors
/// [`Error::NotFound`] for a keyword that is not one of the filter's, [`Error::Invalid`] as in [`create`].
pub(super) async fn apply(cx: &Cx, tx: &mut Tx, filter: FilterId, changes: Vec<KeywordChange>) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut kept = store::filter::list_keywords_of(&mut *tx, filter).await?;
    for change in changes {
        match change.id {
            None if change.destroy || change.is_blank() => {}
            None => drop(insert(cx, tx, filter, change).await?),
            Some(id) => {
                let index = kept.iter().position(|row| row.id == id).ok_or(Error::NotFound)?;
                if change.destroy {
                    store::filter::delete_keyword(tx, kept.swap_remove(index).id).await?;
                } else {
                    kept[index] = overwrite(tx, kept[index].clone(), change).await?;
                }
            }
        }
    }
    Ok(())
}

pub(super) async fn insert(cx: &Cx, tx: &mut Tx, filter: FilterId, change: KeywordChange) -> Result<FilterKeywordRow> {
    let row = FilterKeywordRow {
        id: cx.ids.next(),
        filter_id: filter,
        keyword: change.keyword.unwrap_or_default(),
        whole_word: change.whole_word.unwrap_or(true),
    };
    check(&row)?;
    store::filter::insert_keyword(tx, &row).await?;
    Ok(row)
}

pub(super) async fn overwrite(
    tx: &mut Tx,
    mut row: FilterKeywordRow,
    change: KeywordChange,
) -> Result<FilterKeywordRow> {
    row.keyword = change.keyword.unwrap_or(row.keyword);
    row.whole_word = change.whole_word.unwrap_or(row.whole_word);
    check(&row)?;
    store::filter::update_keyword(tx, &row).await?;
    Ok(row)
}

fn check(row: &FilterKeywordRow) -> Result<()> {
    if row.keyword.trim().is_empty() {
        return Err(Error::invalid("Validation failed: keyword can't be blank"));
    }
    if row.keyword.chars().count() > KEYWORD_MAX {
        return Err(Error::invalid(format!(
            "Validation failed: keyword is too long (maximum is {KEYWORD_MAX} characters)"
        )));
    }
    Ok(())
}
