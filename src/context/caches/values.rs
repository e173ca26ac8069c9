//! Cached value types that no lower layer defines, and the sizes of all cached values.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::Size;
use crate::json::Fragment;
use model::instance::Usage;
use model::settings::RegistrationsMode;
use model::suggestion::Suggestions;
use model::translation::{Languages, Translation};
use model::{AccountId, Actor, Grant, StatusId, Time};
use store::filter::FilterRow;
use store::relation_set::Relations;
use store::status::Head;
use text::keywords::{Keywords, Searchable};

/// The part of a status that is the same for all viewers.
#[derive(Debug)]
pub struct StatusCore {
    /// Members of the entity, without braces.
    pub members: String,
    /// The member `application`, and whether everyone may see it or the author alone.
    pub application: Option<(String, bool)>,
    /// The author that the page of its card names; the card is the last of `members`.
    pub creator: Option<Creator>,
}

/// The author that a page names, and the host of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    pub account: AccountId,
    pub host: String,
}

/// The name and note of an author, which filters match.
#[derive(Debug)]
pub struct Profile {
    pub text: Searchable,
    /// It is an account of this server.
    pub local: bool,
}

/// The filters of one account, compiled.
#[derive(Debug)]
pub struct CompiledFilters {
    /// Each with its rendered `Filter`, ordered by id.
    pub filters: Vec<(FilterRow, Fragment)>,
    /// Keywords, by the index of their filter.
    pub keywords: Keywords,
    /// Statuses with the index of their filter, sorted.
    pub statuses: Vec<(StatusId, usize)>,
}

/// A document as sent to clients.
#[derive(Debug)]
pub struct Rendered {
    pub body: Bytes,
    /// The gzip-compressed body, created by the first request for it.
    pub gzip: OnceLock<Bytes>,
}

/// The sources of a public document. Addresses and configuration do not change while a server runs.
#[derive(Debug, Default, PartialEq)]
pub struct DocumentSources {
    /// The generation of settings, rules and emojis.
    pub settings: i64,
    /// The generation of extensions, if they add to the document.
    pub extensions: u64,
    /// The statistics that the document contains.
    pub usage: Option<Usage>,
    /// The contact account that the document contains, rendered.
    pub contact: Option<Arc<str>>,
    /// Who may sign up at this moment, if the document says so.
    pub registrations: Option<RegistrationsMode>,
    /// The year of annual reports that the document contains.
    pub reported_year: Option<i32>,
    /// The number of accepted types of still pictures.
    pub stills: usize,
    /// The translation languages that the document contains.
    pub languages: Option<Arc<Languages>>,
}

impl Size for Arc<StatusCore> {
    fn size_bytes(&self) -> usize {
        self.members.len()
    }
}

impl Size for Arc<Searchable> {
    fn size_bytes(&self) -> usize {
        Searchable::size_bytes(self)
    }
}

impl Size for Arc<Profile> {
    fn size_bytes(&self) -> usize {
        self.text.size_bytes()
    }
}

impl Size for Arc<CompiledFilters> {
    fn size_bytes(&self) -> usize {
        let filter = |(row, json): &(FilterRow, Fragment)| {
            size_of::<(FilterRow, Fragment)>() + row.title.len() + json.as_str().len()
        };
        size_of::<CompiledFilters>()
            + self.keywords.size_bytes()
            + self.statuses.len() * size_of::<(StatusId, usize)>()
            + self.filters.iter().map(filter).sum::<usize>()
    }
}

impl Size for Head {
    fn size_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

/// About 1 KiB, with the person's preferences.
impl Size for (Arc<Grant>, Time) {
    fn size_bytes(&self) -> usize {
        960
    }
}

/// About 1 KiB, with the person's preferences.
impl Size for Arc<Actor> {
    fn size_bytes(&self) -> usize {
        960
    }
}

impl Size for Arc<Relations> {
    fn size_bytes(&self) -> usize {
        Relations::size_bytes(self)
    }
}

impl Size for Arc<Suggestions> {
    fn size_bytes(&self) -> usize {
        Suggestions::size_bytes(self)
    }
}

impl Size for Arc<(Time, Translation)> {
    fn size_bytes(&self) -> usize {
        self.1.size_bytes()
    }
}

impl Size for Arc<(DocumentSources, Arc<Rendered>)> {
    fn size_bytes(&self) -> usize {
        self.1.body.len()
    }
}
