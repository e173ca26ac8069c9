//! Keywords of filters.
//!
//! Reached from the routes of keywords, and from [`super::create`] and [`super::update`], which take several.

use schemars::JsonSchema;
use serde::Deserialize;

use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::params::required_to_create;
use model::{Actor, FilterId, RowId};
use store::filter::FilterKeywordRow;

/// Longest keyword, in characters.
const KEYWORD_MAX: usize = 512;

/// A keyword; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct KeywordParams {
    /// At most 512 characters.
    #[schemars(transform = required_to_create)]
    pub keyword: Option<String>,
    /// Whether it must not be part of a longer word; true by default.
    pub whole_word: Option<bool>,
}

/// A keyword of a filter to change, or without an id to add. A blank one is ignored.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct KeywordAttributes {
    /// One of the filter's keywords.
    pub id: Option<RowId>,
    /// The values to set.
    #[serde(flatten)]
    pub params: KeywordParams,
    /// Whether to delete it.
    #[serde(rename = "_destroy")]
    pub destroy: Option<bool>,
}

impl KeywordAttributes {
    /// True when it is empty, as in the empty row of a form.
    fn is_blank(&self) -> bool {
        let named = self.params.keyword.as_deref().is_some_and(|keyword| !keyword.trim().is_empty());
        self.id.is_none() && !named && self.params.whole_word != Some(true)
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
/// [`Error::NotFound`] when the filter is missing or someone else's, [`Error::Invalid`] for a blank or long keyword,
/// and beyond the limits of an account.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, filter: FilterId, params: KeywordParams) -> Result<FilterKeywordRow> {
    let mut tx = super::begin(cx, actor.id).await?;
    super::own(&mut tx, actor.id, filter).await?;
    let made = insert(cx, &mut tx, filter, params).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok(made)
}

/// Changes a keyword.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's, [`Error::Invalid`] as in [`create`].
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: RowId, params: KeywordParams) -> Result<FilterKeywordRow> {
    let mut tx = super::begin(cx, actor.id).await?;
    let row = store::filter::find_keyword(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    let changed = overwrite(&mut tx, row, params).await?;
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

/// Adds, changes and deletes keywords of `filter`.
///
/// # Errors
/// [`Error::NotFound`] for a keyword that is not one of the filter's, [`Error::Invalid`] as in [`create`].
pub(super) async fn apply(cx: &Cx, tx: &mut Tx, filter: FilterId, entries: Vec<KeywordAttributes>) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut rows = store::filter::list_keywords_of(&mut *tx, filter).await?;
    for entry in entries {
        let destroy = entry.destroy.unwrap_or_default();
        match entry.id {
            None if destroy || entry.is_blank() => {}
            None => drop(insert(cx, tx, filter, entry.params).await?),
            Some(id) => {
                let index = rows.iter().position(|row| row.id == id).ok_or(Error::NotFound)?;
                if destroy {
                    store::filter::delete_keyword(tx, rows.swap_remove(index).id).await?;
                } else {
                    rows[index] = overwrite(tx, rows[index].clone(), entry.params).await?;
                }
            }
        }
    }
    Ok(())
}

pub(super) async fn insert(cx: &Cx, tx: &mut Tx, filter: FilterId, params: KeywordParams) -> Result<FilterKeywordRow> {
    let row = FilterKeywordRow {
        id: cx.ids.next(),
        filter_id: filter,
        keyword: params.keyword.unwrap_or_default(),
        whole_word: params.whole_word.unwrap_or(true),
    };
    check(&row)?;
    store::filter::insert_keyword(tx, &row).await?;
    Ok(row)
}

pub(super) async fn overwrite(
    tx: &mut Tx,
    mut row: FilterKeywordRow,
    params: KeywordParams,
) -> Result<FilterKeywordRow> {
    row.keyword = params.keyword.unwrap_or(row.keyword);
    row.whole_word = params.whole_word.unwrap_or(row.whole_word);
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
