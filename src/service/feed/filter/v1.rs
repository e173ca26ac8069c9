//! Version 1 of filters: each keyword is a filter, with the context, expiry and action of the filter that contains
//! it.
//!
//! Reached from `/api/v1/filters`, whose ids are the ids of keywords.

use schemars::JsonSchema;
use serde::Deserialize;

use context::Cx;
use context::error::{Error, Result};
use model::filter::{FilterAction, FilterContext};
use model::params::{required_to_create, sent_int};
use model::{Actor, RowId};
use store::filter::{FilterKeywordRow, FilterRow};

use super::FilterParams;
use super::keyword::{self, KeywordParams};

/// A keyword and its filter.
pub type Phrase = (FilterRow, FilterKeywordRow);

/// A phrase; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PhraseParams {
    /// The keyword, of at most 256 characters; also the title of the filter, if it has no other keyword.
    #[schemars(transform = required_to_create)]
    pub phrase: Option<String>,
    /// Where clients apply it: at least one context.
    #[schemars(transform = required_to_create)]
    pub context: Option<Vec<FilterContext>>,
    /// Whether clients hide matching statuses; false by default.
    pub irreversible: Option<bool>,
    /// Whether it must not be part of a longer word; true by default.
    pub whole_word: Option<bool>,
    /// In seconds from now; blank, the default, for a filter that does not expire.
    #[serde(deserialize_with = "sent_int")]
    #[schemars(with = "Option<i64>")]
    pub expires_in: Option<Option<i64>>,
    /// Excludes statuses of accounts that the user follows.
    pub exclude_follows: Option<bool>,
    /// Excludes statuses of accounts of this server.
    #[serde(rename = "exclude_localusers")]
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

/// Creates a filter with one keyword, which is also its title.
///
/// # Errors
/// [`Error::Invalid`] as in [`super::create`].
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, params: PhraseParams) -> Result<Phrase> {
    let mut tx = super::begin(cx, actor.id).await?;
    let keyword = KeywordParams { keyword: params.phrase.clone(), whole_word: params.whole_word };
    let filter = super::insert(cx, &mut tx, actor.id, &of_filter(params, FilterAction::Warn)).await?;
    let keyword = keyword::insert(cx, &mut tx, filter.id, keyword).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok((filter, keyword))
}

/// Changes a keyword, and its filter if it has no other keyword.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's; [`Error::Invalid`] as in [`super::create`], and when
/// context, expiry or action of a filter with several keywords would change.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: RowId, params: PhraseParams) -> Result<Phrase> {
    let mut tx = super::begin(cx, actor.id).await?;
    let keyword = store::filter::find_keyword(&mut tx, actor.id, id).await?.ok_or(Error::NotFound)?;
    let before = super::own(&mut tx, actor.id, keyword.filter_id).await?;
    let alone = store::filter::list_keywords_of(&mut tx, before.id).await?.len() == 1;
    let of_keyword = KeywordParams { keyword: params.phrase.clone(), whole_word: params.whole_word };
    let keyword = keyword::overwrite(&mut tx, keyword, of_keyword).await?;
    let mut params = of_filter(params, before.action);
    params.title = params.title.filter(|_| alone);
    let mut filter = before.clone();
    super::overwrite(&mut filter, &params, cx.clock.now())?;
    if filter != before && !alone {
        return Err(Error::invalid(
            "These parameters cannot be changed from this application because they apply to more than one filter keyword",
        ));
    }
    store::filter::update(&mut tx, &filter).await?;
    super::commit(cx, tx, actor.id).await?;
    Ok((filter, keyword))
}

/// The parameters for the filter, whose action is `before`.
fn of_filter(params: PhraseParams, before: FilterAction) -> FilterParams {
    let action = params.irreversible.map(|hide| match (hide, before) {
        (true, _) => FilterAction::Hide,
        (false, FilterAction::Hide) => FilterAction::Warn,
        (false, other) => other,
    });
    FilterParams {
        title: params.phrase,
        context: params.context,
        action,
        expires_in: params.expires_in,
        exclude_follows: params.exclude_follows,
        exclude_local_users: params.exclude_local_users,
        ..FilterParams::default()
    }
}
