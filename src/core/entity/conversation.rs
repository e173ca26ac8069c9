//! <https://docs.joinmastodon.org/entities/Conversation/>

use std::collections::BTreeSet;

use serde::Serialize;

use super::status::{self, Beside};
use super::{Array, Fragment, Object};
use crate::Cx;
use crate::by_id::ById;
use crate::error::{Error, Result};
use crate::service::conversation::VisibleConversation;
use crate::service::visibility::Seen;
use model::{AccountId, Actor, RowId, StatusId};

/// Bytes of a conversation that are neither its accounts nor its status, about.
const FRAME_BYTES: usize = 96;

/// The members other than accounts and last status.
#[derive(Debug, Serialize)]
struct Shared {
    id: RowId,
    unread: bool,
}

/// Renders conversations of `actor`, in the order given.
pub async fn render(cx: &Cx, actor: &Actor, page: &[VisibleConversation]) -> Result<Array> {
    let mut people: BTreeSet<AccountId> = page.iter().flat_map(|shown| shown.participants().iter().copied()).collect();
    people.insert(actor.id);
    let people: Vec<AccountId> = people.into_iter().collect();
    let versions = store::account::versions(&cx.db, &people).await?;
    let statuses: Vec<Seen> = page.iter().filter_map(|shown| shown.last_status).collect();
    let Beside { statuses, accounts } = status::render_beside(cx, Some(actor), &statuses, &versions).await?;
    let statuses: ById<StatusId, Fragment> = statuses.into();
    let items = page.iter().map(|shown| {
        let mut others: Vec<&str> =
            shown.participants().iter().filter_map(|id| accounts.get(id)).map(AsRef::as_ref).collect();
        if others.is_empty() {
            others.extend(accounts.get(&actor.id).map(AsRef::<str>::as_ref));
        }
        write(shown, &others, shown.last_status.and_then(|seen| statuses.get(&seen.head().id)))
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

fn write(shown: &VisibleConversation, accounts: &[&str], last_status: Option<&Fragment>) -> Result<Fragment> {
    let conversation = &shown.conversation;
    let shared = Fragment::of(&Shared { id: conversation.id, unread: conversation.unread })?;
    let status = last_status.map_or("null", Fragment::as_str);
    let size = FRAME_BYTES + status.len() + accounts.iter().map(|account| account.len() + 1).sum::<usize>();
    let mut object = Object::with_capacity(size);
    object.members_of(shared.as_str());
    object.member_with("accounts", |out| Array::write(out, accounts, |out, account| out.push_str(account)));
    object.member("last_status", status);
    Ok(object.close())
}

impl VisibleConversation {
    fn participants(&self) -> &[AccountId] {
        &self.conversation.participants.0
    }
}
