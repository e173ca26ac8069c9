//! `rookery account refresh`: fetches the profiles of accounts of other servers again.

use clap::Args;
use context::Cx;
use model::AccountId;
use serde::Serialize;
use service::{domain, staff};
use terminal::{Failure, Output};

/// Accounts per query.
const BATCH: i64 = 200;

#[derive(Debug, Args)]
pub(super) struct Refresh {
    /// bob@example.org
    #[arg(required_unless_present = "domain", conflicts_with = "domain")]
    name: Option<String>,
    /// All known accounts of this domain, one after the other
    #[arg(long)]
    domain: Option<String>,
    /// Most accounts of the domain, the oldest first
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
}

#[derive(Serialize)]
struct Refreshed {
    /// Accounts whose profile was fetched.
    refreshed: u32,
    /// Accounts whose server did not respond, or whose profile was not believed.
    failed: u32,
}

pub(super) async fn run(cx: &Cx, refresh: Refresh, output: Output) -> Result<(), Failure> {
    let mut done = Refreshed { refreshed: 0, failed: 0 };
    if let Some(text) = &refresh.domain {
        let domain = domain::parse(text).ok_or_else(|| Failure::new(format!("{text:?} is not a domain")))?;
        refresh_all(cx, &domain, refresh.limit, &mut done).await?;
        return output
            .respond(&done, || format!("{} profiles were fetched, {} were not.", done.refreshed, done.failed));
    }
    let name = refresh.name.unwrap_or_default();
    let account = staff::find_any(cx, &name).await?;
    if account.is_local() {
        return Err(Failure::new(format!("@{} is an account of this server", account.acct())));
    }
    if !cx.federation.refresh_account(cx, account.id).await? {
        let why = "its server did not respond, or its profile is not believed";
        return Err(Failure::new(format!("@{} was not fetched: {why}", account.acct())));
    }
    done.refreshed += 1;
    output.respond(&done, || format!("The profile of @{} was fetched.", account.acct()))
}

async fn refresh_all(cx: &Cx, domain: &str, limit: u32, done: &mut Refreshed) -> Result<(), Failure> {
    let mut after = AccountId::from(0);
    loop {
        let batch = service::remote::account::list_of(cx, domain, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(()) };
        after = *last;
        for account in batch {
            if done.refreshed + done.failed == limit {
                return Ok(());
            }
            match cx.federation.refresh_account(cx, account).await {
                Ok(true) => done.refreshed += 1,
                // A suspended account is not found.
                Ok(false) | Err(context::Error::NotFound) => done.failed += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
