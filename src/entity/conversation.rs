//! <https://docs.joinmastodon.org/entities/Conversation/>

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::status::{self, Beside};
use super::{account, status_views};
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::{Array, Fragment, Object};
use model::{AccountId, Actor, RowId, StatusId};
use service::conversation::VisibleConversation;
use service::visibility::Seen;

/// Approximate size of a conversation without its accounts and its status, in bytes.
const FRAME_BYTES: usize = 96;

/// The members other than accounts and last status.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shared {
    id: RowId,
    unread: bool,
}

/// Renders conversations of `actor`, in the order given.
pub async fn render(cx: &Cx, actor: &Actor, page: &[VisibleConversation]) -> Result<Array> {
    let versions = store::account::versions(&cx.db, &people(page.iter())).await?;
    let statuses: Vec<Seen> = page.iter().filter_map(|shown| shown.last_status).collect();
    let Beside { statuses, accounts } = status::render_beside(cx, Some(actor), &statuses, &versions).await?;
    let statuses: ById<StatusId, Fragment> = statuses.into();
    let items = page.iter().map(|shown| {
        let last_status = shown.last_status.and_then(|seen| statuses.get(&seen.head().id));
        write(shown, &accounts, last_status.map(Fragment::as_str))
    });
    Ok(items.collect::<Result<Vec<Fragment>>>()?.into())
}

/// Renders one conversation of `actor`.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub async fn render_one(cx: &Cx, actor: &Actor, shown: &VisibleConversation) -> Result<Fragment> {
    let page = String::from(render(cx, actor, std::slice::from_ref(shown)).await?);
    let one = page.strip_prefix('[').and_then(|page| page.strip_suffix(']'));
    one.map(Fragment::from_json).ok_or_else(|| Error::internal("an array without brackets"))
}

/// Renders each conversation for its owner, in order. Conversations with the same last status take as many statements
/// as one.
///
/// # Errors
/// As [`status_views::render_each`].
pub async fn render_each(cx: &Cx, shown: &[(Arc<Actor>, VisibleConversation)]) -> Result<Vec<Fragment>> {
    let versions = store::account::versions(&cx.db, &people(shown.iter().map(|(_, shown)| shown))).await?;
    let accounts = account::render_versions(cx, &versions).await?;
    let seen: Vec<_> = shown.iter().map(|(owner, shown)| Some((Arc::clone(owner), shown.last_status?))).collect();
    let statuses = status_views::render_pairs(cx, &seen).await?;
    let each = shown.iter().zip(&statuses);
    each.map(|((_, shown), status)| write(shown, &accounts, status.as_deref())).collect()
}

/// The participants and the owners of the conversations.
fn people<'a>(conversations: impl Iterator<Item = &'a VisibleConversation>) -> Vec<AccountId> {
    let mut people = BTreeSet::new();
    for VisibleConversation { conversation, .. } in conversations {
        people.extend(&conversation.participants.0);
        people.insert(conversation.account_id);
    }
    people.into_iter().collect()
}

fn write(shown: &VisibleConversation, rendered: &account::Rendered, last_status: Option<&str>) -> Result<Fragment> {
    let conversation = &shown.conversation;
    let mut accounts: Vec<&str> =
        conversation.participants.0.iter().filter_map(|id| rendered.get(id)).map(AsRef::as_ref).collect();
    if accounts.is_empty() {
        // A conversation with oneself.
        accounts.extend(rendered.get(&conversation.account_id).map(AsRef::<str>::as_ref));
    }
    let shared = Fragment::of(&Shared { id: conversation.id, unread: conversation.unread })?;
    let status = last_status.unwrap_or("null");
    let size = FRAME_BYTES + status.len() + accounts.iter().map(|account| account.len() + 1).sum::<usize>();
    let mut object = Object::with_capacity(size);
    object.members_of(shared.as_str());
    object.member_with("accounts", |out| Array::write(out, &accounts, |out, account| out.push_str(account)));
    object.member("last_status", status);
    Ok(object.close())
}
