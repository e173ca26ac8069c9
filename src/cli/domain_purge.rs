//! `rookery domain purge`: removes everything that is known of a domain.

use clap::Args;
use context::Cx;
use entity::admin::DomainPurge;
use model::Staff;
use service::domain_purge;
use terminal::{Failure, Output};

#[derive(Debug, Args)]
pub(super) struct Purge {
    /// The domain, without its subdomains: example.org
    domain: String,
    /// Remove it; without this, the accounts and deliveries are only counted
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Only count, which is the default
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(cx: &Cx, purge: Purge, output: Output) -> Result<(), Failure> {
    let extent = match purge.yes {
        true => domain_purge::purge(cx, &Staff::operator(), &purge.domain).await?,
        false => domain_purge::preview(cx, &purge.domain).await?,
    };
    let purge = DomainPurge::new(extent, purge.yes);
    output.respond(&purge, || {
        let DomainPurge { domain, accounts_count, deliveries_count, purged } = &purge;
        let effect = match purged {
            true => "They are removed in the background. What is not blocked may come back.",
            false => "Nothing was changed: --yes removes them.",
        };
        format!("{domain} has {accounts_count} accounts here and is owed {deliveries_count} deliveries. {effect}")
    })
}
