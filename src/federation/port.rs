//! The port through which use cases reach other servers.

use async_trait::async_trait;
use context::change::Change;
use context::federation::{Federation, RelayFollow, Resolved};
use context::{Cx, Result};
use database::Tx;
use model::AccountId;

use crate::state::Network;
use crate::{deliver, fetch};

#[async_trait]
impl Federation for Network {
    async fn record(&self, cx: &Cx, tx: &mut Tx, changes: &[Change]) -> Result<()> {
        deliver::record(cx, tx, changes).await
    }

    async fn find_accounts(&self, cx: &Cx, handles: &[String]) -> Result<Vec<AccountId>> {
        fetch::accounts(cx, handles).await
    }

    async fn find_by_url(&self, cx: &Cx, url: &str) -> Result<Option<Resolved>> {
        fetch::by_url(cx, url).await
    }

    async fn refresh_account(&self, cx: &Cx, account: AccountId) -> Result<bool> {
        fetch::refresh(cx, account).await
    }

    async fn interaction_page(&self, cx: &Cx, visitor: &str, uri: &str) -> Result<Option<String>> {
        fetch::interaction_page(cx, visitor, uri).await
    }

    async fn follow_relay(&self, cx: &Cx, tx: &mut Tx, follow: RelayFollow) -> Result<()> {
        deliver::follow_relay(cx, tx, follow).await
    }
}
