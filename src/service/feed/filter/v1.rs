//! The older form of filters: each keyword is one, with the context, expiry and action of the filter that it is in.
//!
//! Reached from `/api/v1/filters`, whose ids are those of keywords.

use context::Cx;
use context::error::{Error, Result};
use model::filter::{FilterAction, FilterContext};
use model::{Actor, RowId};
use store::filter::{FilterKeywordRow, FilterRow};

use super::FilterChange;
use super::keyword::{self, KeywordChange};

/// A keyword and its filter.
pub type Phrase = (FilterRow, FilterKeywordRow);

/// What a request says of a phrase; `None` leaves it as it is, or takes the default of a new one.
#[derive(Debug, Default)]
pub struct PhraseChange {
    /// The keyword; the title of the filter too, when it has no other keyword.
    pub phrase: Option<String>,
    /// At least one.
    pub context: Option<Vec<FilterContext>>,
    /// Whether clients leave out what matches.
    pub irreversible: Option<bool>,
    /// It must stand alone.
    pub whole_word: Option<bool>,
    /// In seconds from now; `Some(None)`: never.
    pub expires_in: Option<Option<i64>>,
    /// As in [`FilterChange`].
    pub exclude_follows: Option<bool>,
    /// As in [`FilterChange`].
    pub exclude_local_users: Option<bool>,
}

/// All keywords of the viewer's filters, oldest first.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor) -> Result<Vec<Phrase>> {
    let filters = store::filter::list(&cx.db, viewer.id).await?;
    let keywords = store::filter::list_keywords(&cx.db, viewer.id).await?.into_iter();
    let phrase = |keyword: FilterKeywordRow| {
        let filter = filters.iter().find(|filter| filter.id == keyword.filter_id)?;
        Some((filter.clone(), keyword))
    };
    Ok(keywords.filter_map(phrase).collect())
}

/// One keyword.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: RowId) -> Result<Phrase> {
    let keyword = keyword::find(cx, viewer, id).await?;
    Ok((super::own(&cx.db, viewer.id, keyword.filter_id).await?, keyword))
}

/// Makes a filter with one keyword, which is its title too.
///
/// # Errors
/// [`Error::Invalid`] as in [`super::create`].
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, change: PhraseChange) -> Result<Phrase> {
    let mut tx = super::begin(cx, actor.id).await?;
    let keyword =
        KeywordChange { keyword: change.phrase.clone(), whole_word: change.whole_word, ..KeywordChange::default() };
    let filter = super::insert(cx, &mut tx, actor.id, &of_filter(change, FilterAction::Warn)).await?;
    let keyword = keyword::insert(cx, &mut tx, filter.id, keyword).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok((filter, keyword))
}

/// Changes a keyword, and its filter when that has no other.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's; [`Error::Invalid`] as in [`super::create`], and when context,
/// expiry or action of a filter with several keywords would change.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: RowId, change: PhraseChange) -> Result<Phrase> {
    let mut tx = super::begin(cx, actor.id).await?;
    let keyword = store::filter::find_keyword(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    let before = super::own(&mut tx, actor.id, keyword.filter_id).await?;
    let alone = store::filter::list_keywords_of(&mut tx, before.id).await?.len() == 1;
    let of_keyword =
        KeywordChange { keyword: change.phrase.clone(), whole_word: change.whole_word, ..KeywordChange::default() };
    let keyword = keyword::overwrite(&mut tx, keyword, of_keyword).await?;
    let mut change = of_filter(change, before.action);
    change.title = change.title.filter(|_| alone);
    let mut filter = before.clone();
    super::overwrite(&mut filter, &change, cx.clock.now())?;
    if filter != before && !alone {
        return Err(Error::invalid(
            "These parameters cannot be changed from this application because they apply to more than one filter keyword",
        ));
    }
    store::filter::update(&mut tx, &filter).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok((filter, keyword))
}

/// What `change` says of the filter, whose action is `before`.
fn of_filter(change: PhraseChange, before: FilterAction) -> FilterChange {
    let action = change.irreversible.map(|hide| match (hide, before) {
        (true, _) => FilterAction::Hide,
        (false, FilterAction::Hide) => FilterAction::Warn,
        (false, other) => other,
    });
    FilterChange {
        title: change.phrase,
        context: change.context,
        action,
        expires_in: change.expires_in,
        exclude_follows: change.exclude_follows,
        exclude_local_users: change.exclude_local_users,
        ..FilterChange::default()
    }
}
