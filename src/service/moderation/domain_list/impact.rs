//! The effect of changed blocks on known accounts: in queries for all hosts together, never for each.

use std::collections::{BTreeMap, HashMap};

use context::Cx;
use context::error::Result;
use database::Tx;
use model::domain_policy::covering;
use model::instance::Severity;

/// Most hosts of one query for known hosts.
const HOSTS_BATCH: i64 = 1_000;
/// Most domains whose effect is shown separately.
const DOMAINS_SHOWN: usize = 100;

/// The accounts and follows that blocks of some domains and their subdomains concern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impact {
    /// The known accounts.
    pub accounts: i64,
    /// The follows, in both directions, that a suspension ends.
    pub follows: i64,
    /// How many accounts here have one of these follows.
    pub people: i64,
    /// The media attachments of the accounts.
    pub media: i64,
}

/// The effect on one domain and its subdomains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainImpact {
    pub domain: String,
    pub severity: Severity,
    pub impact: Impact,
}

/// The hosts of known accounts, in order.
pub(super) async fn known_hosts(cx: &Cx) -> Result<Vec<String>> {
    let mut hosts: Vec<String> = Vec::new();
    loop {
        let after = hosts.last().map_or("", String::as_str);
        let mut next = store::domain_policy::list_hosts(&cx.db, after, HOSTS_BATCH).await?;
        if next.is_empty() {
            return Ok(hosts);
        }
        hosts.append(&mut next);
    }
}

/// As [`known_hosts`], in a transaction.
pub(super) async fn known_hosts_in(tx: &mut Tx) -> Result<Vec<String>> {
    let mut hosts: Vec<String> = Vec::new();
    loop {
        let after = hosts.last().map_or("", String::as_str);
        let mut next = store::domain_policy::list_hosts(&mut *tx, after, HOSTS_BATCH).await?;
        if next.is_empty() {
            return Ok(hosts);
        }
        hosts.append(&mut next);
    }
}

/// The effect of blocks with these domains and severities: on all of them, and on those with the most accounts.
pub(super) async fn impact(cx: &Cx, blocks: &HashMap<&str, Severity>) -> Result<(Impact, Vec<DomainImpact>)> {
    let hosts = known_hosts(cx).await?;
    // The most specific block decides.
    let closest = |host: &str| covering(host).find_map(|domain| blocks.get_key_value(domain));
    let decided: HashMap<&str, (&str, Severity)> = hosts
        .iter()
        .filter_map(|host| closest(host).map(|(domain, severity)| (host.as_str(), (*domain, *severity))))
        .collect();
    if decided.is_empty() {
        return Ok((Impact::default(), Vec::new()));
    }
    let all: Vec<&str> = decided.keys().copied().collect();
    let suspended: Vec<&str> =
        all.iter().copied().filter(|host| decided.get(host).is_some_and(|(_, s)| *s == Severity::Suspend)).collect();
    let mut by_domain: BTreeMap<&str, DomainImpact> = BTreeMap::new();
    let mut add = |host: &str, add: &dyn Fn(&mut Impact)| {
        let Some((domain, severity)) = decided.get(host) else { return };
        let new = || DomainImpact { domain: (*domain).to_owned(), severity: *severity, impact: Impact::default() };
        add(&mut by_domain.entry(domain).or_insert_with(new).impact);
    };
    let mut total = Impact::default();
    for (host, accounts) in store::domain_list::count_accounts(&cx.db, &all).await? {
        total.accounts += accounts;
        add(&host, &|impact| impact.accounts += accounts);
    }
    for (host, media) in store::domain_list::count_media(&cx.db, &all).await? {
        total.media += media;
        add(&host, &|impact| impact.media += media);
    }
    for found in store::domain_list::count_follows(&cx.db, &suspended).await? {
        total.follows += found.follows;
        add(&found.domain, &|impact| {
            impact.follows += found.follows;
            // An account that follows accounts of several subdomains counts for each.
            impact.people += found.people;
        });
    }
    total.people = store::domain_list::count_people(&cx.db, &suspended).await?;
    let mut domains: Vec<DomainImpact> = by_domain.into_values().collect();
    domains.sort_by_key(|one| std::cmp::Reverse(one.impact.accounts));
    domains.truncate(DOMAINS_SHOWN);
    Ok((total, domains))
}
