//! References of a status to others, and the quote among them.
//!
//! Reached from publishing, editing and deleting a status, in their transactions. A reference is a URL in the text
//! with a mark before it ([`text::references`]), or an id in the request. A target that its author may not see is
//! skipped without an error, and the text stays unchanged. A quote needs a public target whose author allows it, or
//! the author's own status for followers ([`super::quote`]); otherwise a quote requested by its id is an error.
//!
//! Spec: docs/contract/rules.md#10-statuses and docs/contract/rules.md#29-extensions,
//! docs/contract/extensions.md#10-extra-status-routes.

use crate::access::web_address;
use std::collections::HashMap;

use super::consent::{self, NewRequest};
use super::quoting::{Claim, consent};
use super::reference_notices::{self, quote_of};

pub(crate) use super::reference_notices::Referring;
use crate::notification;
use crate::timeline::TimelinePage;
use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{AccountId, Actor, Cursor, NotificationType, QuoteState, RowId, Status, StatusId, Visibility};
use store::reference::{Quote, ReferenceRow};

/// Most references of a status.
pub const MOST: usize = 5;

/// The references of a status, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    list: Vec<Reference>,
    quote: Option<Quote>,
    /// The request that a new quote needs.
    request: Option<NewRequest>,
    /// Whether the quoted status is for followers only and has the same author.
    for_followers: bool,
    /// Whether the quoted status stays on this server.
    local_only: bool,
}

/// A referenced status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reference {
    target: StatusId,
    author: AccountId,
    /// Whether the text contains it.
    in_text: bool,
}

/// The references requested by the parameters and the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReferenceRequest<'a> {
    /// The URLs in the text.
    pub(super) found: &'a [text::Reference],
    /// Further statuses to refer to.
    pub(super) named: &'a [StatusId],
    /// The status to quote, regardless of the text.
    pub(super) quoted: Option<StatusId>,
}

/// A status that may become a reference.
struct Candidate {
    id: StatusId,
    quote: bool,
    in_text: bool,
}

impl References {
    /// True when there are any.
    pub(crate) fn exist(&self) -> bool {
        !self.list.is_empty()
    }

    /// True when the quoted status is for followers: the quoting status must not have a wider visibility.
    pub(super) fn is_for_followers(&self) -> bool {
        self.quote.is_some() && self.for_followers
    }

    /// True when the quoted status stays on this server: the quoting status must stay too.
    pub(super) fn is_local_only(&self) -> bool {
        self.quote.is_some() && self.local_only
    }

    /// The quote.
    pub(crate) fn quote(&self) -> Option<Quote> {
        self.quote
    }

    /// The request that a new quote needs.
    pub(super) fn into_request(self) -> Option<NewRequest> {
        self.request
    }

    /// True when clients show a quote, in whatever state: the text needs no link to the quoted status.
    pub(crate) fn shows_quote(&self) -> bool {
        self.quote.is_some()
    }

    fn targets(&self) -> Vec<StatusId> {
        self.list.iter().map(|reference| reference.target).collect()
    }

    /// Removes statuses that were deleted meanwhile: all that are not in `existing`, which is sorted.
    fn keep(&mut self, existing: &[StatusId]) {
        self.list.retain(|reference| existing.binary_search(&reference.target).is_ok());
        self.drop_quote_unless(|quote| existing.binary_search(&quote.target).is_ok());
    }

    /// Removes the quote, with its request, unless `keep` allows it.
    fn drop_quote_unless(&mut self, keep: impl Fn(&Quote) -> bool) {
        self.quote = self.quote.filter(keep);
        self.request = self.request.take().filter(|_| self.quote.is_some());
    }
}

/// The references in `asked` that `actor` may create: the first [`MOST`] among the status to quote, the URLs in the
/// text, and the ids. `own` is the status itself, if it exists already: it may continue to quote the same status,
/// unless the quote was revoked.
///
/// # Errors
/// [`Error::NotFound`] and [`Error::Invalid`] when the status to be quoted is hidden, or may not be quoted.
pub(super) async fn resolve(
    cx: &Cx,
    actor: &Actor,
    asked: ReferenceRequest<'_>,
    own: Option<&Status>,
    claim: Option<Claim<'_>>,
) -> Result<References> {
    let candidate = |quote| move |id: &StatusId| Candidate { id: *id, quote, in_text: false };
    let mut candidates: Vec<Candidate> = asked.quoted.iter().map(candidate(true)).collect();
    candidates.extend(in_text(cx, asked.found).await?);
    candidates.extend(asked.named.iter().take(MOST).map(candidate(false)));
    let revoked = match own {
        Some(own) => store::reference::list_revoked(&cx.db, own.id).await?,
        None => Vec::new(),
    };
    let ids: Vec<StatusId> = candidates.iter().map(|candidate| candidate.id).collect();
    let seen = visibility::statuses(cx, Some(actor), Place::Single, &ids).await?;
    let seen: HashMap<StatusId, &Seen> = seen.iter().map(|seen| (seen.head().id, seen)).collect();
    let mut references = References::default();
    for candidate in candidates {
        let Some(seen) = seen.get(&candidate.id).filter(|seen| Some(seen.proper().id) != own.map(|own| own.id)) else {
            continue;
        };
        let head = seen.proper();
        let known = references.list.iter().any(|known| known.target == head.id);
        if !known && references.list.len() == MOST {
            continue;
        }
        if !known {
            let reference = Reference { target: head.id, author: head.account_id, in_text: candidate.in_text };
            references.list.push(reference);
        }
        let for_followers = head.visibility == Visibility::Private;
        // The audience of a status is fixed when it is published.
        let wider = own.is_some_and(|own| {
            (for_followers && own.visibility.is_wider_than_followers()) || (head.local_only && !own.local_only)
        });
        if !candidate.quote || references.quote.is_some() || wider {
            continue;
        }
        let before = own.and_then(quote_of).filter(|quote| quote.target == head.id);
        // Another server may have got the authorization meanwhile.
        let waits = |quote: &Quote| quote.state == QuoteState::Pending && claim.is_some();
        let decided = match before {
            Some(quote) if !waits(&quote) => Some((quote.state, None)),
            None if revoked.contains(&head.id) => None,
            Some(_) | None => consent(cx, actor, seen, claim).await?,
        };
        if let Some((state, request)) = decided {
            references.quote = Some(Quote { target: head.id, state });
            references.request = request;
            references.for_followers = for_followers;
            references.local_only = head.local_only;
        }
    }
    match asked.quoted {
        Some(id) if !seen.contains_key(&id) => Err(Error::NotFound),
        Some(_) if references.quote.is_none() => {
            Err(Error::invalid("Validation failed: quoted_status_id names a status that you may not quote"))
        }
        Some(_) | None => Ok(references),
    }
}

/// The references in `found` that `actor` of another server may create in a status of this visibility, as [`resolve`] finds
/// the ones in a text.
pub(crate) async fn resolve_remote(
    cx: &Cx,
    actor: &Actor,
    found: &[text::Reference],
    visibility: Visibility,
    own: Option<&Status>,
    claim: Claim<'_>,
) -> Result<References> {
    if found.is_empty() {
        return Ok(References::default());
    }
    let request = ReferenceRequest { found, ..ReferenceRequest::default() };
    let mut references = resolve(cx, actor, request, own, Some(claim)).await?;
    let too_wide = references.is_for_followers() && visibility.is_wider_than_followers();
    references.drop_quote_unless(|_| !too_wide);
    Ok(references)
}

/// The statuses at these URLs, in order. URLs of this server contain the id, and the others are looked up by one
/// statement.
async fn in_text(cx: &Cx, found: &[text::Reference]) -> Result<Vec<Candidate>> {
    let own = |url: &str| web_address::status(cx, url).map(|(_, id)| id);
    let others: Vec<String> =
        found.iter().filter(|found| own(&found.url).is_none()).map(|found| found.url.clone()).collect();
    let others: HashMap<String, StatusId> = if others.is_empty() {
        HashMap::new()
    } else {
        store::reference::list_by_addresses(&cx.db, &others).await?.into_iter().collect()
    };
    let candidate = |found: &text::Reference| {
        let id = own(&found.url).or_else(|| others.get(&found.url).copied())?;
        Some(Candidate { id, quote: found.quote, in_text: true })
    };
    Ok(found.iter().filter_map(candidate).collect())
}

/// Locks the references and the parent of a new status of `author`, in the order in which deletions lock them, and
/// removes deleted statuses from `references`.
pub(crate) async fn lock_for_new(
    tx: &mut Tx,
    author: AccountId,
    parent: Option<StatusId>,
    references: &mut References,
) -> Result<()> {
    if !references.exist() {
        return Ok(());
    }
    store::account::lock(tx, &[author]).await?;
    let mut ids = references.targets();
    ids.extend(parent);
    let existing = store::reference::lock_statuses(tx, &ids).await?;
    references.keep(&existing);
    Ok(())
}

/// Stores the references of a new status, counts them, and notifies the referenced authors.
pub(crate) async fn insert(
    cx: &Cx,
    tx: &mut Tx,
    status: Referring,
    references: &References,
    audience: &[AccountId],
) -> Result<()> {
    if !references.exist() {
        return Ok(());
    }
    add(cx, tx, status, references, &[], audience).await?;
    count_quote(tx, status, None, references.quote).await?;
    ask(cx, tx, status, references.request.as_ref()).await
}

/// Replaces the references of `status`, which the transaction is about to edit: the references in the text by `new`.
/// Statuses named by the request that published it stay, also as a quote. The row of its author must be locked.
pub(crate) async fn replace(
    cx: &Cx,
    tx: &mut Tx,
    status: Referring,
    mut new: References,
    audience: &[AccountId],
) -> Result<()> {
    if !status.has_references && !new.exist() {
        return Ok(());
    }
    let old = store::reference::list(&mut *tx, status.id).await?;
    let named: Vec<StatusId> = old.iter().filter(|row| !row.in_text).map(|row| row.target_id).collect();
    let named = if named.is_empty() { Vec::new() } else { store::reference::list_authors(&mut *tx, &named).await? };
    for (target, author) in named {
        let known = new.list.iter().any(|reference| reference.target == target);
        if !known && new.list.len() < MOST {
            new.list.push(Reference { target, author, in_text: false });
        }
        if status.quote.is_some_and(|quote| quote.target == target) {
            new.quote = status.quote;
        }
    }
    let targets = new.targets();
    let gone: Vec<ReferenceRow> = old.iter().filter(|row| !targets.contains(&row.target_id)).copied().collect();
    if !gone.is_empty() {
        remove(tx, status, &gone).await?;
    }
    add(cx, tx, status, &new, &old, audience).await?;
    count_quote(tx, status, status.quote, new.quote).await?;
    ask(cx, tx, status, new.request.as_ref()).await?;
    Ok(store::reference::set_facts(tx, status.id, new.exist(), new.quote).await?)
}

/// Stores the request that the quote of `status` needs.
async fn ask(cx: &Cx, tx: &mut Tx, status: Referring, request: Option<&NewRequest>) -> Result<()> {
    let Some(request) = request else { return Ok(()) };
    let Some(row) = store::status::find(&mut *tx, status.id).await? else { return Ok(()) };
    consent::ask(cx, tx, row.account_id, |_| row.uri, row.id, request.clone()).await
}

/// The row of the reference of `status` to `target`, which notifications name.
pub(super) async fn find_quote_row(tx: &mut Tx, status: StatusId, target: StatusId) -> Result<Option<RowId>> {
    let rows = store::reference::list(&mut *tx, status).await?;
    Ok(rows.iter().find(|row| row.target_id == target).map(|row| row.id))
}

/// Locks `status` and its references, before and after its edit, in the order in which deletions lock them. The row
/// of its author must be locked, so that its references cannot change.
pub(crate) async fn lock_for_edit(tx: &mut Tx, status: StatusId, new: &mut References) -> Result<()> {
    let old = store::reference::list(&mut *tx, status).await?;
    if old.is_empty() && !new.exist() {
        return Ok(());
    }
    let ids: Vec<StatusId> = old.iter().map(|row| row.target_id).chain(new.targets()).chain([status]).collect();
    let existing = store::reference::lock_statuses(tx, &ids).await?;
    new.keep(&existing);
    Ok(())
}

/// Subtracts a status that is about to be deleted from the counters of its references.
pub(super) async fn uncount(tx: &mut Tx, status: Referring) -> Result<()> {
    if !status.has_references || !counts(status) {
        return Ok(());
    }
    let targets: Vec<StatusId> =
        store::reference::list(&mut *tx, status.id).await?.iter().map(|row| row.target_id).collect();
    store::reference::add_counts(tx, &targets, -1).await?;
    count_quote(tx, status, status.quote, None).await
}

/// Moves the quote count from the quote `before` to the one that `status` has now. Only what is shown is counted.
pub(super) async fn count_quote(
    tx: &mut Tx,
    status: Referring,
    before: Option<Quote>,
    now: Option<Quote>,
) -> Result<()> {
    let counted = |quote: Option<Quote>| quote.filter(|quote| quote.is_accepted()).map(|quote| quote.target);
    let (before, now) = (counted(before), counted(now));
    if before == now || !counts(status) {
        return Ok(());
    }
    for (target, by) in [(before, -1), (now, 1)] {
        if let Some(target) = target {
            store::reference::add_quotes(tx, target, by).await?;
        }
    }
    Ok(())
}

/// As with replies, only statuses that anyone may read are counted, so that a counter does not disclose others.
fn counts(status: Referring) -> bool {
    status.visibility.is_anonymous()
}

async fn remove(tx: &mut Tx, status: Referring, gone: &[ReferenceRow]) -> Result<()> {
    let targets: Vec<StatusId> = gone.iter().map(|row| row.target_id).collect();
    let ids: Vec<i64> = gone.iter().map(|row| row.id.into()).collect();
    notification::retract_all(tx, &NotificationType::StatusReference.into(), &ids).await?;
    notification::retract_all(tx, &NotificationType::Quote.into(), &ids).await?;
    store::reference::delete(tx, status.id, &targets).await?;
    if counts(status) {
        store::reference::add_counts(tx, &targets, -1).await?;
    }
    Ok(())
}

/// Stores all of `references`, counts the ones that are not in `old`, and notifies their authors.
async fn add(
    cx: &Cx,
    tx: &mut Tx,
    status: Referring,
    references: &References,
    old: &[ReferenceRow],
    audience: &[AccountId],
) -> Result<()> {
    if !references.exist() {
        return Ok(());
    }
    let known = |target: StatusId| old.iter().find(|row| row.target_id == target).map(|row| row.id);
    let rows = references.list.iter().map(|reference| ReferenceRow {
        id: known(reference.target).unwrap_or_else(|| cx.ids.next()),
        target_id: reference.target,
        in_text: reference.in_text,
    });
    let rows: Vec<ReferenceRow> = rows.collect();
    store::reference::upsert(tx, status.id, &rows).await?;
    let new = rows.iter().zip(&references.list).filter(|(row, _)| known(row.target_id).is_none());
    let new: Vec<(ReferenceRow, AccountId)> = new.map(|(row, reference)| (*row, reference.author)).collect();
    if new.is_empty() {
        return Ok(());
    }
    if counts(status) {
        let targets: Vec<StatusId> = new.iter().map(|(row, _)| row.target_id).collect();
        store::reference::add_counts(tx, &targets, 1).await?;
    }
    reference_notices::notify(cx, tx, status, &new, references.quote, audience).await
}

/// A page of the statuses that refer to `id`, newest first, without statuses of accounts that `viewer` blocks or
/// mutes, or that moderators limited.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn list_referring(cx: &Cx, viewer: Option<&Actor>, id: StatusId, cursor: &Cursor) -> Result<TimelinePage> {
    let seen = visibility::status(cx, viewer, id).await?;
    let ids = store::reference::list_referring(&cx.db, seen.proper().id, cursor).await?;
    let shown = visibility::statuses(cx, viewer, Place::Thread, &ids).await?;
    Ok(TimelinePage { ids: ids.into_iter().map(i64::from).collect(), shown })
}
