//! The form of a filter: its fields, the change that it requests, and its errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::frame::sentence;
use crate::Cx;
use crate::error::Result;
use context::Error;
use model::RowId;
use service::filter::keyword::{KeywordAttributes, KeywordParams};
use service::filter::{Filter, FilterParams};

/// Blank lines for further keywords.
const BLANK_KEYWORDS: usize = 3;
/// What leaves the expiry of a filter as it is.
const KEEP: &str = "keep";

/// Fields of the form; a box that is left out is not ticked.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Fields {
    title: Option<String>,
    context: Option<Vec<String>>,
    filter_action: Option<String>,
    /// In seconds from now; blank: never; `keep`: as it is.
    expires_in: Option<String>,
    /// By index.
    keywords: BTreeMap<u16, Keyword>,
    exclude_follows: Option<bool>,
    exclude_local_users: Option<bool>,
    with_quote: Option<bool>,
    with_profile: Option<bool>,
}

/// A line for a keyword; a blank one is ignored.
#[model::parameters]
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct Keyword {
    /// One of the filter's keywords; a new one without.
    id: Option<RowId>,
    keyword: Option<String>,
    whole_word: Option<bool>,
    destroy: Option<bool>,
}

/// The values of the form's fields.
#[derive(Serialize)]
pub(super) struct FilterForm<'a> {
    title: &'a str,
    context: &'a [String],
    filter_action: &'a str,
    expires_in: &'a str,
    keywords: Vec<Keyword>,
    exclude_follows: bool,
    exclude_local_users: bool,
    with_quote: bool,
    with_profile: bool,
}

/// Why a form was refused: as a whole, or by field.
#[derive(Debug, Default)]
pub(super) struct Refused {
    pub error: Option<String>,
    pub errors: Option<BTreeMap<&'static str, String>>,
}

impl Refused {
    /// The error of the service, at the field that it names.
    ///
    /// # Errors
    /// Every error but [`Error::Invalid`].
    pub(super) fn by(cx: &Cx, error: Error) -> Result<Self> {
        let Error::Invalid(text) = error else { return Err(error.into()) };
        let named = text.strip_prefix("Validation failed: ").unwrap_or(&text);
        let fields = [("title ", "title"), ("context ", "context"), ("keyword ", "keywords")];
        for (start, field) in fields {
            if let Some(words) = named.strip_prefix(start) {
                return Ok(Self { errors: Some([(field, sentence(cx, words))].into()), error: None });
            }
        }
        Ok(Self { error: Some(cx.language().say_error(&text).unwrap_or_else(|| named.to_owned())), errors: None })
    }
}

impl Fields {
    /// The fields of a new filter.
    pub(super) fn new() -> Self {
        let context = Some(vec!["home".to_owned(), "public".to_owned()]);
        Self { context, with_quote: Some(true), ..Self::default() }
    }

    pub(super) fn of(filter: &Filter) -> Self {
        let row = &filter.row;
        let keywords = filter.keywords.iter().map(|keyword| Keyword {
            id: Some(keyword.id),
            keyword: Some(keyword.keyword.clone()),
            whole_word: Some(keyword.whole_word),
            destroy: None,
        });
        Self {
            title: Some(row.title.clone()),
            context: Some(row.context.iter().map(ToString::to_string).collect()),
            filter_action: Some(row.action.to_string()),
            expires_in: row.expires_at.map(|_| KEEP.to_owned()),
            keywords: (0..).zip(keywords).collect(),
            exclude_follows: Some(row.exclude_follows),
            exclude_local_users: Some(row.exclude_local_users),
            with_quote: Some(row.with_quote),
            with_profile: Some(row.with_profile),
        }
    }

    pub(super) fn params(&self) -> FilterParams {
        let known = self.context.iter().flatten().filter_map(|context| context.parse().ok());
        let ticked = |field: Option<bool>| Some(field.unwrap_or_default());
        let expires_in = self.expires_in.as_deref().unwrap_or_default();
        FilterParams {
            title: Some(self.title.clone().unwrap_or_default().trim().to_owned()),
            context: Some(known.collect()),
            action: self.filter_action.as_deref().and_then(|action| action.parse().ok()),
            expires_in: (expires_in != KEEP).then(|| expires_in.parse().ok()),
            exclude_follows: ticked(self.exclude_follows),
            exclude_local_users: ticked(self.exclude_local_users),
            with_quote: ticked(self.with_quote),
            with_profile: ticked(self.with_profile),
            keywords: Some(self.keywords.values().filter(|line| !line.is_blank()).map(Keyword::entry).collect()),
        }
    }

    pub(super) fn form(&self) -> FilterForm<'_> {
        let filled = self.keywords.values().filter(|line| !line.is_blank()).cloned();
        let blank = std::iter::repeat_with(Keyword::default).take(BLANK_KEYWORDS);
        FilterForm {
            title: self.title.as_deref().unwrap_or_default(),
            context: self.context.as_deref().unwrap_or_default(),
            filter_action: self.filter_action.as_deref().unwrap_or("warn"),
            expires_in: self.expires_in.as_deref().unwrap_or_default(),
            keywords: filled.chain(blank).collect(),
            exclude_follows: self.exclude_follows.unwrap_or_default(),
            exclude_local_users: self.exclude_local_users.unwrap_or_default(),
            with_quote: self.with_quote.unwrap_or_default(),
            with_profile: self.with_profile.unwrap_or_default(),
        }
    }
}

impl Keyword {
    /// True for a line of the form in which nothing was written.
    fn is_blank(&self) -> bool {
        self.id.is_none() && self.keyword.as_deref().unwrap_or_default().trim().is_empty()
    }

    fn entry(&self) -> KeywordAttributes {
        KeywordAttributes {
            id: self.id,
            params: KeywordParams {
                keyword: self.keyword.clone(),
                whole_word: Some(self.whole_word.unwrap_or_default()),
            },
            destroy: self.destroy,
        }
    }
}
