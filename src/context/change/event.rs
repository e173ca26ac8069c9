//! What extensions receive about a change, as rows of [`kinds`](super::kinds) state it.
//!
//! Words: docs/contract/events.md.

use serde_json::{Value, json};

use super::kinds::StatusTraits;
use model::{AccountId, RowId, StatusId, TokenId};

/// An event of the contract: its actor, and the id of its subject or a payload.
#[derive(Clone, Debug)]
pub struct Event {
    /// Events of one account stay in order; those of account 0 share a place.
    pub account: AccountId,
    pub actor: Option<AccountId>,
    pub subject: Option<i64>,
    /// JSON.
    pub payload: Option<String>,
    /// Of the status that is the subject: predicates of extensions read them.
    pub traits: Option<StatusTraits>,
}

impl Event {
    /// `author` wrote, edited or deleted a status.
    pub(super) fn of_status(author: AccountId, status: StatusId, traits: StatusTraits) -> Self {
        Self { subject: Some(status.into()), traits: Some(traits), ..Self::by(author) }
    }

    /// An account did something to itself.
    pub(super) fn by_account(account: AccountId) -> Self {
        Self { subject: Some(account.into()), ..Self::by(account) }
    }

    /// Something was done to an account.
    pub(super) fn about_account(account: AccountId) -> Self {
        Self { actor: None, ..Self::by_account(account) }
    }

    /// `account` did something to `target`.
    pub(super) fn between(account: AccountId, target: AccountId) -> Self {
        Self { payload: text(&json!({ "account": account, "target": target })), ..Self::by(account) }
    }

    /// `account` marked a status, or removed a mark.
    pub(super) fn of_mark(account: AccountId, status: StatusId) -> Self {
        Self { payload: text(&json!({ "account": account, "status": status })), ..Self::by(account) }
    }

    /// An emoji changed.
    pub(super) fn of_emoji(emoji: RowId, shortcode: &str) -> Self {
        let id = i64::from(emoji).to_string();
        let payload = text(&json!({ "id": id, "shortcode": shortcode }));
        Self { actor: None, payload, ..Self::by(AccountId::from(0)) }
    }

    /// A list of `owner` changed.
    pub(super) fn of_list(owner: AccountId, list: RowId) -> Self {
        Self { subject: Some(list.into()), ..Self::by(owner) }
    }

    /// A token changed; `account` owns it, if anyone does.
    pub(super) fn of_token(account: Option<AccountId>, token: TokenId) -> Self {
        let of = account.unwrap_or_else(|| AccountId::from(0));
        Self { actor: account, subject: Some(token.into()), ..Self::by(of) }
    }

    fn by(account: AccountId) -> Self {
        Self { account, actor: Some(account), subject: None, payload: None, traits: None }
    }
}

fn text(value: &Value) -> Option<String> {
    Some(value.to_string())
}
