//! The preview and the import of a list.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::json;

use super::bounds::ListPolicy;
use super::bulk;
use super::host::Rules;
use super::impact::{DomainImpact, Impact, impact};
use super::parse::{Entry, Fault, Parsed, parse};
use super::plan::{Plan, plan};
use crate::audit::{self, Entry as AuditEntry, Target};
use crate::domain_decision::publish;
use context::Cx;
use context::error::{Error, Result};
use model::domain_list::{ImportMode, ListFormat};
use model::instance::Severity;
use model::{RowId, Staff};
use store::domain_policy::Allow;

/// Most rows of one statement.
const ROWS: usize = 2_000;
/// Most domains that an entry of the audit log names.
pub(super) const DOMAINS_LOGGED: usize = 100;

/// The options of an import.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    pub policy: ListPolicy,
    /// `None`: it is detected.
    pub format: Option<ListFormat>,
    pub mode: ImportMode,
    /// The severity of entries without one.
    pub severity: Severity,
    /// Lines with faults are left out; otherwise none is taken.
    pub skip_faults: bool,
}

/// The effect of a list.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Names the list, the options and the changes: [`import`] needs it.
    pub token: String,
    pub format: ListFormat,
    /// How many domains are blocked or allowed, and were not.
    pub added: usize,
    /// How many blocks change.
    pub changed: usize,
    /// How many entries change nothing.
    pub unchanged: usize,
    /// The first faults.
    pub faults: Vec<Fault>,
    pub faults_count: usize,
    /// The effect of all new and changed blocks.
    pub impact: Impact,
    /// The effect of those with the most accounts.
    pub domains: Vec<DomainImpact>,
}

/// The result of [`import`].
#[derive(Clone, Debug)]
pub enum Imported {
    Applied(Preview),
    /// Nothing was changed: the list has faults.
    Refused(Preview),
}

/// The effect that a list would have.
///
/// # Errors
/// [`Error::TooLarge`], and [`Error::Invalid`] for something that is not a list.
#[model::use_case]
pub async fn preview(cx: &Cx, list: Vec<u8>, import: Import) -> Result<Preview> {
    let list: Arc<[u8]> = list.into();
    let parsed = read(cx, Arc::clone(&list), import).await?;
    Ok(look(cx, &list, import, parsed).await?.0)
}

/// Applies a list in one transaction, when `token` is the one of its preview. With faults, unless they are skipped,
/// nothing is applied.
///
/// # Errors
/// As [`preview`]; [`Error::Conflict`] for another token: the list, the options or the blocks changed since.
#[model::use_case]
pub async fn import(cx: &Cx, staff: &Staff, list: Vec<u8>, import: Import, token: &str) -> Result<Imported> {
    let list: Arc<[u8]> = list.into();
    let parsed = read(cx, Arc::clone(&list), import).await?;
    let (preview, entries) = look(cx, &list, import, parsed).await?;
    if preview.faults_count > 0 && !import.skip_faults {
        return Ok(Imported::Refused(preview));
    }
    if preview.token != token {
        return Err(changed_meanwhile());
    }
    match import.policy {
        ListPolicy::Block => apply_blocks(cx, staff, entries, import, &preview).await?,
        ListPolicy::Allow => apply_allows(cx, staff, entries, import, &preview).await?,
    }
    Ok(Imported::Applied(preview))
}

fn changed_meanwhile() -> Error {
    Error::Conflict(
        "This is another change than the previewed one: the list, the options or the blocks are others. Preview it again".into(),
    )
}

async fn read(cx: &Cx, list: Arc<[u8]>, import: Import) -> Result<Parsed> {
    let excluded = match import.policy {
        ListPolicy::Block => store::domain_subscription::list_exclusions(&cx.db).await?,
        ListPolicy::Allow => Vec::new(),
    };
    let rules = Rules::new(&cx.config, import.policy, excluded);
    // A large list takes a second.
    let parse = move || parse(&list, import.format, import.severity, &rules);
    tokio::task::spawn_blocking(parse).await.map_err(Error::internal)?
}

/// The preview of a parsed list, and its entries.
async fn look(cx: &Cx, list: &[u8], import: Import, parsed: Parsed) -> Result<(Preview, Vec<Entry>)> {
    let Parsed { format, entries, faults, faults_count } = parsed;
    let (plan, effect) = match import.policy {
        ListPolicy::Block => {
            let existing = bulk::by_domain(store::domain_policy::list_blocks(&cx.db).await?);
            let plan = plan(cx, entries.clone(), &existing, import.mode);
            let blocks = plan.added.iter().chain(&plan.changed);
            let severities = blocks.map(|block| (block.domain.as_str(), block.severity)).collect();
            let effect = impact(cx, &severities).await?;
            ((plan.added.len(), plan.changed.len(), plan.unchanged), effect)
        }
        ListPolicy::Allow => {
            let allowed = allowed(store::domain_policy::list_allows(&cx.db).await?);
            let known = entries.iter().filter(|entry| allowed.contains(&entry.domain)).count();
            ((entries.len() - known, 0, known), Default::default())
        }
    };
    let (added, changed, unchanged) = plan;
    let (impact, domains) = effect;
    let token = token(list, import, plan);
    let preview = Preview { token, format, added, changed, unchanged, faults, faults_count, impact, domains };
    Ok((preview, entries))
}

/// A name for a list, the options of its import and the number of its changes.
fn token(list: &[u8], import: Import, changes: (usize, usize, usize)) -> String {
    let digest = crypto::sha256_hex(list);
    crypto::sha256_hex(format!("{digest} {import:?} {changes:?}").as_bytes())
}

async fn apply_blocks(cx: &Cx, staff: &Staff, entries: Vec<Entry>, import: Import, preview: &Preview) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let domains: Vec<&str> = entries.iter().map(|entry| entry.domain.as_str()).collect();
    let existing = bulk::existing(&mut tx, &domains).await?;
    let plan = plan(cx, entries.clone(), &existing, import.mode);
    if (plan.added.len(), plan.changed.len()) != (preview.added, preview.changed) {
        return Err(changed_meanwhile());
    }
    bulk::write(&mut tx, &plan, cx.clock.now()).await?;
    let Plan { added, changed, .. } = &plan;
    for chunk in domains.chunks(ROWS) {
        store::domain_subscription::release(&mut tx, chunk).await?;
    }
    let logged: Vec<&str> = added.iter().chain(changed).map(|block| block.domain.as_str()).collect();
    let entry = entry("domain_block", import, preview, &logged);
    audit::record(cx, &mut tx, staff, entry).await?;
    let changed = added.iter().chain(changed).map(|block| (block.domain.as_str(), block.created_at)).collect();
    bulk::queue_jobs(cx, &mut tx, &changed).await?;
    publish(cx, tx).await
}

async fn apply_allows(cx: &Cx, staff: &Staff, entries: Vec<Entry>, import: Import, preview: &Preview) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let known = allowed(store::domain_policy::list_allows(&mut tx).await?);
    let new = entries.into_iter().filter(|entry| !known.contains(&entry.domain));
    let allows: Vec<Allow> =
        new.map(|entry| Allow { id: cx.ids.next(), domain: entry.domain, created_at: now }).collect();
    let mut added = 0;
    for chunk in allows.chunks(ROWS) {
        added += store::domain_list::insert_allows(&mut tx, chunk, now).await?;
    }
    if added != preview.added as u64 {
        return Err(changed_meanwhile());
    }
    let logged: Vec<&str> = allows.iter().map(|allow| allow.domain.as_str()).collect();
    audit::record(cx, &mut tx, staff, entry("domain_allow", import, preview, &logged)).await?;
    publish(cx, tx).await
}

fn allowed(allows: Vec<Allow>) -> HashSet<String> {
    allows.into_iter().map(|allow| allow.domain).collect()
}

/// The one entry of the audit log for an import.
fn entry(kind: &'static str, import: Import, preview: &Preview, domains: &[&str]) -> AuditEntry {
    let details: HashMap<&str, serde_json::Value> = HashMap::from([
        ("format", json!(preview.format)),
        ("mode", json!(import.mode)),
        ("added", json!(preview.added)),
        ("changed", json!(preview.changed)),
        ("unchanged", json!(preview.unchanged)),
        ("skipped", json!(preview.faults_count)),
        ("domains", json!(domains.iter().take(DOMAINS_LOGGED).collect::<Vec<_>>())),
    ]);
    let action = if kind == "domain_block" { "domain_block.import" } else { "domain_allow.import" };
    // No record has the id 0.
    let target = Target::new(kind, RowId::from(0), format!("{} domains", domains.len()));
    AuditEntry::new(action, target).with(json!(details))
}
