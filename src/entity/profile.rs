//! <https://docs.joinmastodon.org/entities/Profile/>: the source form of one's own profile, for editors.

use serde::Serialize;

use super::account::{Field, Images};
use super::featured_tag;
use context::Cx;
use context::error::Result;
use context::json::{Array, Fragment};
use model::AccountId;
use model::account::ActorType;
use service::account;

/// The members that are not lists of entities.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Profile {
    id: AccountId,
    display_name: String,
    note: String,
    fields: Vec<Field>,
    /// HTML.
    formatted_note: String,
    /// Their values are HTML.
    formatted_fields: Vec<Field>,
    avatar: Option<String>,
    avatar_static: Option<String>,
    avatar_description: String,
    header: Option<String>,
    header_static: Option<String>,
    header_description: String,
    locked: bool,
    bot: bool,
    hide_collections: Option<bool>,
    discoverable: Option<bool>,
    indexable: bool,
    show_media: bool,
    show_media_replies: bool,
    show_featured: bool,
    attribution_domains: Vec<String>,
}

/// Renders the profile of `id` in its source form, for its owner.
///
/// # Errors
/// [`Error::NotFound`](context::error::Error::NotFound) when there is no such account.
pub async fn render(cx: &Cx, id: AccountId) -> Result<Fragment> {
    let (account, tags) = account::featured_tags(cx, id).await?;
    let images = Images::new(cx, &account);
    let avatar = account.avatar.is_some().then_some(images.avatar);
    let header = account.header.is_some().then_some(images.header);
    let mut profile = Fragment::of(&Profile {
        id: account.id,
        display_name: account.display_name.clone(),
        note: account.note.clone(),
        fields: account.fields.iter().map(Field::source).collect(),
        formatted_note: account.note_html.clone(),
        formatted_fields: account.fields.iter().map(Field::shown).collect(),
        avatar_static: avatar.is_some().then_some(images.avatar_static),
        avatar,
        avatar_description: account.avatar_description.clone(),
        header_static: header.is_some().then_some(images.header_static),
        header,
        header_description: account.header_description.clone(),
        locked: account.locked,
        bot: matches!(account.actor_type, ActorType::Service | ActorType::Application),
        hide_collections: account.hide_collections,
        discoverable: account.discoverable,
        indexable: account.indexable,
        show_media: account.show_media,
        show_media_replies: account.show_media_replies,
        show_featured: account.show_featured,
        attribution_domains: account.attribution_domains.0.clone(),
    })?
    .open();
    profile.member("featured_tags", Array::from(featured_tag::render(cx, &account, &tags)?).as_str());
    Ok(profile.close())
}
