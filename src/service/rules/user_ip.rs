//! The addresses that accounts used, for the staff: written at sign-up, at sign-in, and when the use of a token is
//! recorded, which is once a day at most. Addresses older than a year are deleted by the hourly clean-up.
//!
//! Spec: docs/contract/entities/Admin_Ip.schema.json

use std::collections::HashMap;
use std::net::IpAddr;

use chrono::Duration;

use context::Cx;
use context::error::Result;
use database::Tx;
use model::address::{parse_network, sortable_range};
use model::{AccountId, Time};

/// How often the last use of an address is written.
const REFRESH_AFTER: Duration = Duration::days(1);
/// Most addresses of an account that are shown.
const LATEST: i64 = 20;

/// Records that `account` used the address of the client. Does nothing outside of a request.
pub(crate) async fn record(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<()> {
    if let Some(client) = cx.client() {
        let now = cx.clock.now();
        store::user_ip::record(tx, account, client, now, now - REFRESH_AFTER).await?;
    }
    Ok(())
}

/// The last addresses of each of `accounts`, with the time of their last use, the last used one first; at most 20.
/// Accounts without any are left out.
#[model::use_case]
pub async fn latest_ips(cx: &Cx, accounts: &[AccountId]) -> Result<HashMap<AccountId, Vec<(IpAddr, Time)>>> {
    Ok(store::user_ip::latest(&cx.db, accounts, LATEST).await?)
}

/// The accounts that used an address in the network `text`, by id; none when it is not a network.
#[model::use_case]
pub async fn accounts_of_network(cx: &Cx, text: &str) -> Result<Vec<AccountId>> {
    let Some(network) = parse_network(text) else { return Ok(Vec::new()) };
    let (first, last) = sortable_range(&network);
    Ok(store::user_ip::accounts_of_range(&cx.db, first, last).await?)
}
