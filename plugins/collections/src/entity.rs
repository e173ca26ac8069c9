//! The documented entities, rendered for a viewer.
//!
//! A page of collections costs one statement for their items. Accounts are placeholders that the server fills.
//!
//! Spec: <https://docs.joinmastodon.org/entities/Collection/> and its neighbours.

use std::collections::HashMap;

use rookery_plugin::prelude::*;
use rookery_plugin::time::iso;

use crate::sql;

/// A collection as it is stored, with its owner's ActivityPub id.
#[derive(Clone, Debug, Row)]
pub(crate) struct CollectionRow {
    pub(crate) id: Id,
    pub(crate) account_id: Id,
    uri: Option<String>,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) language: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) sensitive: bool,
    pub(crate) discoverable: bool,
    created_at: i64,
    updated_at: i64,
    owner_uri: String,
}

#[derive(Row)]
struct ItemRow {
    id: Id,
    collection_id: Id,
    account_id: Id,
    created_at: i64,
    consents: bool,
}

/// <https://docs.joinmastodon.org/entities/Collection/>
#[derive(Debug, Serialize)]
pub(crate) struct Collection {
    id: Id,
    account_id: Id,
    uri: String,
    url: Option<String>,
    name: String,
    description: String,
    language: Option<String>,
    local: bool,
    sensitive: bool,
    discoverable: bool,
    tag: Option<ShallowTag>,
    item_count: usize,
    pub(crate) items: Vec<CollectionItem>,
    created_at: String,
    updated_at: String,
}

/// <https://docs.joinmastodon.org/entities/ShallowTag/>
#[derive(Debug, Serialize)]
struct ShallowTag {
    name: String,
    url: String,
}

/// <https://docs.joinmastodon.org/entities/CollectionItem/>
#[derive(Debug, Serialize)]
pub(crate) struct CollectionItem {
    pub(crate) id: Id,
    pub(crate) account_id: Id,
    state: &'static str,
    created_at: String,
}

impl From<&ItemRow> for CollectionItem {
    fn from(row: &ItemRow) -> Self {
        // Consent that was taken back: only the owner and the account itself see such an item.
        let state = if row.consents { "accepted" } else { "pending" };
        Self { id: row.id, account_id: row.account_id, state, created_at: iso(row.created_at) }
    }
}

impl Collection {
    fn new(row: &CollectionRow, items: Vec<CollectionItem>) -> Self {
        let origin = origin(&row.owner_uri);
        let tag = row.tag.as_ref().map(|name| ShallowTag { name: name.clone(), url: format!("{origin}/tags/{name}") });
        Self {
            id: row.id,
            account_id: row.account_id,
            uri: row.uri.clone().unwrap_or_else(|| format!("{}/collections/{}", row.owner_uri, row.id)),
            url: row.uri.is_none().then(|| format!("{origin}/collections/{}", row.id)),
            name: row.name.clone(),
            description: html(&row.description),
            language: row.language.clone(),
            local: row.uri.is_none(),
            sensitive: row.sensitive,
            discoverable: row.discoverable,
            tag,
            item_count: items.len(),
            items,
            created_at: iso(row.created_at),
            updated_at: iso(row.updated_at),
        }
    }

    /// What `viewer` sees of each collection, in the order given.
    pub(crate) fn render(rows: &[CollectionRow], viewer: Option<Id>) -> Result<Vec<Self>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let mut items: HashMap<Id, Vec<CollectionItem>> = HashMap::new();
        for item in sql::items_in(ids, viewer).all::<ItemRow>()? {
            items.entry(item.collection_id).or_default().push(CollectionItem::from(&item));
        }
        Ok(rows.iter().map(|row| Self::new(row, items.remove(&row.id).unwrap_or_default())).collect())
    }

    /// A page of one.
    pub(crate) fn render_one(row: &CollectionRow, viewer: Option<Id>) -> Result<Self> {
        Self::render(std::slice::from_ref(row), viewer)?.pop().ok_or(Error::NotFound)
    }
}

/// <https://docs.joinmastodon.org/entities/Collection/#WrappedCollection>
#[derive(Serialize)]
struct WrappedCollection {
    collection: Collection,
}

/// <https://docs.joinmastodon.org/entities/CollectionItem/#WrappedCollectionItem>
#[derive(Serialize)]
struct WrappedCollectionItem {
    collection_item: CollectionItem,
}

/// <https://docs.joinmastodon.org/methods/collections/#get_collections>
#[derive(Serialize)]
struct Collections {
    collections: Vec<Collection>,
}

/// <https://docs.joinmastodon.org/entities/CollectionWithAccounts/>
#[derive(Serialize)]
struct CollectionWithAccounts {
    accounts: Vec<serde_json::Value>,
    collection: Collection,
}

pub(crate) fn wrapped(row: &CollectionRow, viewer: Option<Id>) -> Result<Output> {
    Output::json(&WrappedCollection { collection: Collection::render_one(row, viewer)? })
}

/// The item of `account`, as the owner sees it.
pub(crate) fn wrapped_item(row: &CollectionRow, account: i64) -> Result<Output> {
    let items = Collection::render_one(row, Some(row.account_id))?.items;
    let collection_item = items.into_iter().find(|item| item.account_id == account).ok_or(Error::NotFound)?;
    Output::json(&WrappedCollectionItem { collection_item })
}

pub(crate) fn listed(rows: &[CollectionRow], viewer: Option<Id>) -> Result<Output> {
    Output::json(&Collections { collections: Collection::render(rows, viewer)? })
}

/// With the owner first, then the accounts of the items, each once.
pub(crate) fn with_accounts(row: &CollectionRow, viewer: Option<Id>) -> Result<Output> {
    let collection = Collection::render_one(row, viewer)?;
    let listed = collection.items.iter().map(|item| item.account_id).filter(|id| *id != row.account_id);
    let accounts = std::iter::once(row.account_id).chain(listed).map(account_hole).collect();
    Output::template(&CollectionWithAccounts { accounts, collection })
}

/// Scheme and host of an address of this server.
fn origin(uri: &str) -> &str {
    uri.match_indices('/').nth(2).map_or(uri, |(end, _)| &uri[..end])
}

/// Plain text as HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_ends_before_the_path() {
        assert_eq!(origin("https://rookery.example/users/alice"), "https://rookery.example");
        assert_eq!(origin("http://localhost:3000/users/alice"), "http://localhost:3000");
        assert_eq!(origin("https://rookery.example"), "https://rookery.example");
    }

    #[test]
    fn description_is_escaped() {
        assert_eq!(html("a < b & \"c\" > d"), "a &lt; b &amp; \"c\" &gt; d");
    }
}
