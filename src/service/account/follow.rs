//! Following: follow, unfollow, and follow requests (authorise, reject, accept).
//!
//! Reached from the accounts and `follow_requests` routes, and from the job that accepts pending requests when an
//! account is unlocked. Knows nothing of HTTP. Both accounts are locked first, so that counters and rows agree under
//! concurrency.
//!
//! Spec: docs/contract/rules.md#9-accounts and docs/contract/rules.md#20-blocks-and-requests.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::rate_limits::{self, Family};
use crate::{account, notification, relationship};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use context::queue::{AcceptRequests, Failure};
use context::{Cx, job};
use database::Tx;
use model::relationship::Listed;
use model::{Account, AccountId, Actor, Cursor, Json, NotificationType};
use store::account::AccountCounts;
use store::follow::{Ended, FollowTable, NewFollow, Terms};
use store::relationship::{Relation, RelationshipRow};
use text::language;

/// The options of a follow; `None` leaves one as it is.
#[model::parameters]
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct FollowParams {
    /// Whether the account's reblogs are shown in the home timeline; true for a new follow.
    pub reblogs: Option<bool>,
    /// Whether the account's statuses are notified; false for a new follow.
    pub notify: Option<bool>,
    /// ISO 639 codes of the languages to show; all when empty.
    pub languages: Option<Vec<String>>,
}

/// Makes `actor` follow `target`, or request to. If the follow exists, only the options sent change.
///
/// # Errors
/// [`Error::Forbidden`] for the actor's own account, an account that moved, and across a block; [`Error::NotFound`] for
/// a hidden or suspended account; [`Error::Invalid`] for an unknown language and beyond the limit of follows;
/// [`Error::RateLimited`] beyond the daily limit, of which a new follow takes one.
#[model::use_case]
pub async fn follow(cx: &Cx, actor: &Actor, target: AccountId, params: FollowParams) -> Result<()> {
    if target == actor.id {
        return Err(Error::forbidden("You cannot follow yourself"));
    }
    let params = checked(params)?;
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    let (me, target) = relationship::lock_pair(&mut tx, actor.id, target).await?;
    let tie = relationship::tie(cx, &mut tx, me.id, target.id).await?;
    refuse(&tie, &target)?;
    let mut spent = None;
    if tie.following {
        store::follow::update(&mut tx, FollowTable::Follow, me.id, target.id, terms(&tie, params)).await?;
    } else if tie.requested {
        store::follow::update(&mut tx, FollowTable::Request, me.id, target.id, terms(&tie, params)).await?;
    } else {
        check_limit(cx, &me)?;
        spent = Some(rate_limits::family(cx, me.id, Family::Follows)?);
        begin(cx, &mut tx, &me, &target, new_terms(params)).await?;
    }
    tx.commit().await?;
    if let Some(spent) = spent {
        spent.keep();
    }
    Ok(())
}

/// How far a follow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowState {
    Absent,
    /// The other side has to accept it.
    Requested,
    Following,
}

/// How far `viewer`'s follow of `target` has come.
#[model::use_case]
pub async fn state(cx: &Cx, viewer: &Actor, target: AccountId) -> Result<FollowState> {
    let tie = store::relationship::list(&cx.db, viewer.id, &[target], cx.clock.now()).await?.pop();
    Ok(match tie {
        Some(tie) if tie.following => FollowState::Following,
        Some(tie) if tie.requested => FollowState::Requested,
        Some(_) | None => FollowState::Absent,
    })
}

/// Makes `follower` follow each of `targets`, or request to, in `tx`. Returns true for each new follow. Existing
/// follows stay unchanged, and targets that [`follow`] would refuse are skipped. No daily limit, since the caller is
/// not a person.
///
/// # Errors
/// [`Error::NotFound`] when the account `follower` does not exist.
#[model::use_case]
pub async fn follow_all(cx: &Cx, tx: &mut Tx, follower: AccountId, targets: &[AccountId]) -> Result<Vec<bool>> {
    let visible = account::list_visible(cx, targets).await?;
    let mut new = Vec::with_capacity(targets.len());
    for target in targets {
        let shown = *target != follower && visible.contains(target);
        new.push(shown && add(cx, tx, follower, *target).await?);
    }
    Ok(new)
}

/// Creates a follow of a visible account with the default options; false when there is one, or it is refused.
async fn add(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<bool> {
    let (me, target) = relationship::lock_pair(tx, follower, target).await?;
    let tie = relationship::tie(cx, tx, me.id, target.id).await?;
    if tie.following || tie.requested || refuse(&tie, &target).is_err() || check_limit(cx, &me).is_err() {
        return Ok(false);
    }
    begin(cx, tx, &me, &target, new_terms(FollowParams::default())).await?;
    Ok(true)
}

/// Makes `follower` follow `target`, or request to, with the options of another follow that ends. True when it does now, or
/// did before; false when that is refused, and for the account itself. No limit, since another follow ends.
pub(super) async fn carry(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId, terms: Terms) -> Result<bool> {
    if follower == target {
        return Ok(false);
    }
    let (me, target) = relationship::lock_pair(tx, follower, target).await?;
    let tie = relationship::tie(cx, tx, me.id, target.id).await?;
    if tie.following || tie.requested {
        return Ok(true);
    }
    if refuse(&tie, &target).is_err() {
        return Ok(false);
    }
    begin(cx, tx, &me, &target, terms).await?;
    Ok(true)
}

/// Ends `actor`'s follow of `target`, or withdraws the request; not an error when there is neither.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing.
#[model::use_case]
pub async fn unfollow(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(cx, target).await?;
    let mut tx = cx.db.begin().await?;
    let (me, target) = relationship::lock_pair(&mut tx, actor.id, target).await?;
    sever(cx, &mut tx, me.id, target.id).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes `follower` from the followers of `actor`; not an error when it does not follow.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing.
#[model::use_case]
pub async fn remove_follower(cx: &Cx, actor: &Actor, follower: AccountId) -> Result<()> {
    account::find_visible(cx, follower).await?;
    let mut tx = cx.db.begin().await?;
    let (me, follower) = relationship::lock_pair(&mut tx, actor.id, follower).await?;
    if store::follow::exists(&mut tx, follower.id, me.id).await? {
        sever(cx, &mut tx, follower.id, me.id).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The pending follow requests to `viewer`, newest first.
#[model::use_case]
pub async fn requests(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<Listed>> {
    Ok(store::follow::list_requests(&cx.db, viewer.id, cursor).await?)
}

/// Accepts the follow request of `follower`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account or request.
#[model::use_case]
pub async fn authorize(cx: &Cx, actor: &Actor, follower: AccountId) -> Result<()> {
    if accept(cx, actor.id, follower).await? { Ok(()) } else { Err(Error::NotFound) }
}

/// Rejects the follow request of `follower`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account or request.
#[model::use_case]
pub async fn reject(cx: &Cx, actor: &Actor, follower: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let request =
        store::follow::delete(&mut tx, FollowTable::Request, follower, actor.id).await?.ok_or(Error::NotFound)?;
    notification::retract(&mut tx, NotificationType::FollowRequest, request.id).await?;
    store::relationship::delete_list_entries(&mut tx, follower, actor.id).await?;
    change::record(cx, &mut tx, ended(follower, actor.id, request)).await?;
    tx.commit().await?;
    Ok(())
}

/// Turns the request of `follower` into a follow of `target`; false when there is no request (any more).
#[model::use_case]
pub async fn accept(cx: &Cx, target: AccountId, follower: AccountId) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let (me, follower) = match relationship::lock_pair(&mut tx, target, follower).await {
        Err(Error::NotFound) => return Ok(false),
        pair => pair?,
    };
    let Some(request) = store::follow::delete(&mut tx, FollowTable::Request, follower.id, me.id).await? else {
        return Ok(false);
    };
    notification::retract(&mut tx, NotificationType::FollowRequest, request.id).await?;
    establish(cx, &mut tx, follower.id, me.id, request.terms, request.uri).await?;
    tx.commit().await?;
    Ok(true)
}

/// Deletes a follow or request with its dependents, as [`end`], and lets the server of the other side know. True when a
/// follow ended.
pub(crate) async fn sever(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<bool> {
    let (request, follow) = end(cx, tx, follower, target).await?;
    let was_following = follow.is_some();
    let ended: Vec<Change> = [request, follow].into_iter().flatten().map(|row| ended(follower, target, row)).collect();
    change::record_all(cx, tx, &ended).await?;
    Ok(was_following)
}

/// Deletes a follow or request with its dependents: counters, list memberships, endorsement, home feed entries. Returns
/// the request and the follow that ended.
pub(crate) async fn end(
    cx: &Cx,
    tx: &mut Tx,
    follower: AccountId,
    target: AccountId,
) -> Result<(Option<Ended>, Option<Ended>)> {
    let request = store::follow::delete(tx, FollowTable::Request, follower, target).await?;
    if let Some(request) = &request {
        notification::retract(tx, NotificationType::FollowRequest, request.id).await?;
    }
    let follow = store::follow::delete(tx, FollowTable::Follow, follower, target).await?;
    if let Some(follow) = &follow {
        count(tx, follower, target, -1).await?;
        notification::retract(tx, NotificationType::Follow, follow.id).await?;
        change::record(cx, tx, Change::Unfollowed { account: follower, target }).await?;
    }
    store::relationship::delete(tx, Relation::Endorsement, follower, target).await?;
    store::relationship::delete_list_entries(tx, follower, target).await?;
    Ok((request, follow))
}

fn ended(follower: AccountId, target: AccountId, Ended { id, uri, .. }: Ended) -> Change {
    Change::FollowEnded { account: follower, target, follow: id, uri }
}

/// Creates a follow, or a request when the target is locked or remote, or the follower limited.
async fn begin(cx: &Cx, tx: &mut Tx, me: &Account, target: &Account, terms: Terms) -> Result<()> {
    if !target.locked && !me.is_limited() && target.is_local() {
        return establish(cx, tx, me.id, target.id, terms, None).await;
    }
    request(cx, tx, me.id, target.id, terms, None).await?;
    if target.is_local() {
        return Ok(());
    }
    change::record(cx, tx, Change::FollowRequested { account: me.id, target: target.id }).await
}

/// Inserts a follow request; nothing when there is one.
pub(crate) async fn request(
    cx: &Cx,
    tx: &mut Tx,
    follower: AccountId,
    target: AccountId,
    terms: Terms,
    uri: Option<String>,
) -> Result<()> {
    let new = new(cx, follower, target, terms, uri);
    let notice = notice(&new, NotificationType::FollowRequest);
    if !store::follow::insert(tx, FollowTable::Request, new).await? {
        return Ok(());
    }
    notification::notify(cx, tx, &[notice]).await.map(drop)
}

/// Inserts a follow, with all that follows from it; nothing when there is one.
pub(crate) async fn establish(
    cx: &Cx,
    tx: &mut Tx,
    follower: AccountId,
    target: AccountId,
    terms: Terms,
    uri: Option<String>,
) -> Result<()> {
    let new = new(cx, follower, target, terms, uri);
    let notice = notice(&new, NotificationType::Follow);
    if !store::follow::insert(tx, FollowTable::Follow, new).await? {
        return Ok(());
    }
    count(tx, follower, target, 1).await?;
    change::record(cx, tx, Change::Followed { account: follower, target }).await?;
    notification::notify(cx, tx, &[notice]).await.map(drop)
}

/// Adds `by` to the counters of both sides of a follow: 1 for a new one, -1 for one that ended.
async fn count(tx: &mut Tx, follower: AccountId, target: AccountId, by: i64) -> Result<()> {
    store::account::add_counts(tx, follower, AccountCounts { following: by, ..AccountCounts::default() }).await?;
    store::account::add_counts(tx, target, AccountCounts { followers: by, ..AccountCounts::default() }).await?;
    Ok(())
}

fn notice(new: &NewFollow, kind: NotificationType) -> Notice {
    Notice {
        receiver: new.target_account_id,
        from: new.account_id,
        kind: kind.into(),
        activity: new.id.into(),
        status: None,
    }
}

fn new(cx: &Cx, follower: AccountId, target: AccountId, terms: Terms, uri: Option<String>) -> NewFollow {
    NewFollow { id: cx.ids.next(), account_id: follower, target_account_id: target, terms, uri, now: cx.clock.now() }
}

/// The options of a new follow.
fn new_terms(params: FollowParams) -> Terms {
    Terms {
        show_reblogs: params.reblogs.unwrap_or(true),
        notify: params.notify.unwrap_or(false),
        languages: params.languages.and_then(listed),
    }
}

/// The options of an existing follow, overridden by the options of the request.
fn terms(tie: &RelationshipRow, params: FollowParams) -> Terms {
    Terms {
        show_reblogs: params.reblogs.unwrap_or(tie.show_reblogs),
        notify: params.notify.unwrap_or(tie.notify),
        languages: match params.languages {
            Some(languages) => listed(languages),
            None => tie.languages.clone(),
        },
    }
}

fn listed(languages: Vec<String>) -> Option<Json<Vec<String>>> {
    (!languages.is_empty()).then_some(Json(languages))
}

/// Validates the languages and normalises them to codes the server knows.
fn checked(params: FollowParams) -> Result<FollowParams> {
    let known = |tag: &String| {
        let code = language::resolve(tag).map(str::to_owned);
        code.ok_or_else(|| Error::invalid("languages: must be codes of languages, such as en"))
    };
    let languages = params.languages.map(|tags| tags.iter().map(known).collect::<Result<Vec<_>>>()).transpose()?;
    Ok(FollowParams { languages, ..params })
}

fn refuse(tie: &RelationshipRow, target: &Account) -> Result<()> {
    if target.is_suspended() {
        return Err(Error::NotFound);
    }
    if target.moved_to_account_id.is_some() && !tie.following {
        return Err(Error::forbidden("This account has moved"));
    }
    if tie.blocking || tie.blocked_by || tie.domain_blocking {
        return Err(Error::forbidden("You cannot follow this account: one of you blocks the other"));
    }
    Ok(())
}

/// Checks the limit of follows: a fixed number for everyone, beyond that a multiple of one's own followers.
fn check_limit(cx: &Cx, me: &Account) -> Result<()> {
    let limits = &cx.config.accounts;
    let threshold = i64::try_from(limits.max_follows_threshold).unwrap_or(i64::MAX);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a limit, not a count")]
    let earned = (me.followers_count as f64 * limits.max_follows_ratio).round() as i64;
    let limit = threshold.max(earned);
    if me.following_count < limit {
        return Ok(());
    }
    Err(Error::invalid(format!("You cannot follow more than {limit} accounts")))
}

/// Pending requests fetched per query.
const BATCH: i64 = 100;

/// Accepts the pending requests after an account was unlocked. Requests of limited accounts stay pending.
#[model::use_case]
#[job]
async fn accept_requests(cx: &Cx, job: AcceptRequests) -> Result<(), Failure> {
    while store::account::find(&cx.db, job.account).await?.is_some_and(|account| !account.locked) {
        let waiting = store::follow::list_acceptable(&cx.db, job.account, BATCH).await?;
        if waiting.is_empty() {
            break;
        }
        for follower in waiting {
            accept(cx, job.account, follower).await?;
        }
    }
    Ok(())
}
