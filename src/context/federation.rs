//! The port for federation: what use cases need from other servers.
//!
//! The crate `federation` implements the trait; [`NoFederation`] is a server alone, for tests of lower layers. A use case
//! never learns how another server is reached: it records changes and finds accounts and statuses.

use std::any::Any;
use std::fmt::Debug;

use async_trait::async_trait;

use crate::change::Change;
use crate::{Cx, Result};
use database::Tx;
use model::{AccountId, StatusId};

/// An account or status that was found by its URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    Account(AccountId),
    Status(StatusId),
}

/// A step of a lookup at another server, recorded by [`Cx::step`] for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `policy`, `request`, `webfinger`, `id`, `author`, `address`, `type`, `inbox`, `key`, `audience` or `known`.
    pub name: &'static str,
    /// False when the lookup ends here, or the step is the reason for a refusal later.
    pub passed: bool,
    /// For people.
    pub text: String,
}

/// The follow of a relay by the server's actor.
#[derive(Clone, Debug)]
pub struct RelayFollow {
    /// The id of the activity.
    pub id: String,
    /// The followed actor, or the public collection.
    pub object: String,
    pub inbox: String,
    /// The follow is undone.
    pub undone: bool,
}

/// Other servers, as use cases see them.
#[async_trait]
pub trait Federation: Any + Debug + Send + Sync {
    /// Queues in `tx` what other servers are sent about `changes`. Changes that concern no other server cost a look at
    /// their fields.
    async fn record(&self, cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()>;

    /// The accounts named by `handles`, each `user@domain` of another server in lower case. Known accounts are
    /// refreshed when they are stale. Accounts that cannot be found are left out.
    async fn find_accounts(&self, cx: &Cx, handles: &[String]) -> Result<Vec<AccountId>>;

    /// The account or status with this URL on another server; `None` when there is none that can be shown.
    async fn find_by_url(&self, cx: &Cx, url: &str) -> Result<Option<Resolved>>;

    /// Fetches the profile of an account of another server again, whatever is known of it. False when its server cannot be
    /// asked, or what it says is not believed.
    async fn refresh_account(&self, cx: &Cx, account: AccountId) -> Result<bool>;

    /// The page of another server on which `visitor`, one of its people, acts on the account or status `uri`. `visitor`
    /// is `user@domain`, or the domain alone. `None` when that server names no such page, or cannot be asked.
    async fn interaction_page(&self, cx: &Cx, visitor: &str, uri: &str) -> Result<Option<String>>;

    /// Queues the follow of a relay in `tx`, or its undoing.
    async fn follow_relay(&self, cx: &Cx, tx: &mut Tx, follow: RelayFollow) -> Result<()>;
}

/// A server without other servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFederation;

#[async_trait]
impl Federation for NoFederation {
    async fn record(&self, _: &Cx, _: &mut Tx, _: &[Change]) -> Result<()> {
        Ok(())
    }

    async fn find_accounts(&self, _: &Cx, _: &[String]) -> Result<Vec<AccountId>> {
        Ok(Vec::new())
    }

    async fn find_by_url(&self, _: &Cx, _: &str) -> Result<Option<Resolved>> {
        Ok(None)
    }

    async fn refresh_account(&self, _: &Cx, _: AccountId) -> Result<bool> {
        Ok(false)
    }

    async fn interaction_page(&self, _: &Cx, _: &str, _: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn follow_relay(&self, _: &Cx, _: &mut Tx, _: RelayFollow) -> Result<()> {
        Ok(())
    }
}
