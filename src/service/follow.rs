//! Following: asking, accepting, refusing, ending.
//!
//! Reached from the accounts and follow_requests routes, and from the job that accepts what waits when someone unlocks.
//! Knows nothing of HTTP. Both accounts are locked first, so counters and rows agree whoever else is at work.
//!
//! Spec: contract rules, sections 9 and 20.

use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::limits::{self, Family};
use crate::service::notification::{self, Notice, Notified};
use crate::service::{account, relationship};
use model::relationship::Listed;
use model::{Account, AccountId, Actor, Cursor, Json, NotificationType};
use store::Tx;
use store::follow::{NewFollow, Terms};
use store::relationship::Tie;
use text::language;

/// What a client asked for; `None` leaves a follow that exists as it is.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Show reblogs; a new follow does.
    pub reblogs: Option<bool>,
    /// Notify of every status; a new follow does not.
    pub notify: Option<bool>,
    /// Only these languages; none named: all.
    pub languages: Option<Vec<String>>,
}

/// Makes `actor` follow `target`, or ask to. Following already, only the terms that were sent change.
///
/// # Errors
/// [`Error::Forbidden`] for oneself, an account that moved, and across a block; [`Error::NotFound`] for a hidden or suspended
/// one; [`Error::Invalid`] for an unknown language and beyond the limit of follows;
/// [`Error::RateLimited`] beyond the limit of a day.
pub async fn follow(app: &App, actor: &Actor, target: AccountId, wish: Wish) -> Result<()> {
    if target == actor.id {
        return Err(Error::forbidden("You cannot follow yourself"));
    }
    let wish = checked(wish)?;
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    let (me, target) = relationship::lock_pair(&mut tx, actor.id, target).await?;
    let tie = relationship::tie(app, &mut tx, me.id, target.id).await?;
    refuse(&tie, &target)?;
    let (mut told, mut spent) = (Notified::default(), None);
    if tie.following {
        store::follow::update(&mut tx, me.id, target.id, terms(&tie, wish)).await?;
    } else if tie.requested {
        store::follow::update_request(&mut tx, me.id, target.id, terms(&tie, wish)).await?;
    } else {
        check_limit(app, &me)?;
        spent = Some(limits::family(app, me.id, Family::Follows)?);
        told = begin(app, &mut tx, &me, &target, wish).await?;
    }
    tx.commit().await?;
    told.publish(app);
    if let Some(spent) = spent {
        spent.keep();
    }
    Ok(())
}

/// Ends `actor`'s follow of `target`, or withdraws the request; neither there is no error.
///
/// # Errors
/// [`Error::NotFound`] when the account is.
pub async fn unfollow(app: &App, actor: &Actor, target: AccountId) -> Result<()> {
    account::find_visible(app, target).await?;
    let mut tx = app.db.begin().await?;
    let (me, target) = relationship::lock_pair(&mut tx, actor.id, target).await?;
    sever(app, &mut tx, me.id, target.id).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends `follower`'s follow of `actor`; none there is no error.
///
/// # Errors
/// [`Error::NotFound`] when the account is.
pub async fn remove_follower(app: &App, actor: &Actor, follower: AccountId) -> Result<()> {
    account::find_visible(app, follower).await?;
    let mut tx = app.db.begin().await?;
    let (me, follower) = relationship::lock_pair(&mut tx, actor.id, follower).await?;
    if store::follow::exists(&mut tx, follower.id, me.id).await? {
        sever(app, &mut tx, follower.id, me.id).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Who asks to follow `actor`, the latest request first.
///
/// # Errors
/// When the database does.
pub async fn requests(app: &App, actor: &Actor, cursor: &Cursor) -> Result<Vec<Listed>> {
    Ok(store::follow::list_requests(&app.db, actor.id, cursor).await?)
}

/// Lets `follower`, who asked to, follow `actor`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account or request.
pub async fn authorize(app: &App, actor: &Actor, follower: AccountId) -> Result<()> {
    if accept(app, actor.id, follower).await? { Ok(()) } else { Err(Error::NotFound) }
}

/// Refuses the request of `follower`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account or request.
pub async fn reject(app: &App, actor: &Actor, follower: AccountId) -> Result<()> {
    let mut tx = app.db.begin().await?;
    let request = store::follow::delete_request(&mut tx, follower, actor.id).await?.ok_or(Error::NotFound)?;
    notification::retract(&mut tx, NotificationType::FollowRequest, request.id).await?;
    tx.commit().await?;
    Ok(())
}

/// Turns the request of `follower` into a follow of `target`; false when there is none (any more).
///
/// # Errors
/// When the database does.
pub async fn accept(app: &App, target: AccountId, follower: AccountId) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    let (me, follower) = match relationship::lock_pair(&mut tx, target, follower).await {
        Err(Error::NotFound) => return Ok(false),
        pair => pair?,
    };
    let Some(request) = store::follow::delete_request(&mut tx, follower.id, me.id).await? else { return Ok(false) };
    notification::retract(&mut tx, NotificationType::FollowRequest, request.id).await?;
    let told = establish(app, &mut tx, follower.id, me.id, request.terms).await?;
    tx.commit().await?;
    told.publish(app);
    Ok(true)
}

/// Ends a follow, or a request, with all that hangs on it: counters, lists, endorsement, what the home timeline holds.
///
/// # Errors
/// When the database does.
pub(super) async fn sever(app: &App, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<()> {
    if let Some(request) = store::follow::delete_request(tx, follower, target).await? {
        notification::retract(tx, NotificationType::FollowRequest, request.id).await?;
    }
    if let Some(follow) = store::follow::delete(tx, follower, target).await? {
        store::account::add_counts(tx, follower, 0, -1, 0).await?;
        store::account::add_counts(tx, target, 0, 0, -1).await?;
        notification::retract(tx, NotificationType::Follow, follow).await?;
        relationship::unmerge(app, tx, follower, target).await?;
        hooks::record(app, tx, Change::pair(Kind::FollowDeleted, follower, target)?).await?;
    }
    store::relationship::delete_endorsement(tx, follower, target).await?;
    store::relationship::delete_list_entries(tx, follower, target).await?;
    Ok(())
}

/// A first follow: at once, or as a request where the target, or the follower's standing, asks for one.
async fn begin(app: &App, tx: &mut Tx, me: &Account, target: &Account, wish: Wish) -> Result<Notified> {
    let terms = Terms {
        show_reblogs: wish.reblogs.unwrap_or(true),
        notify: wish.notify.unwrap_or(false),
        languages: wish.languages.and_then(listed),
    };
    if !target.locked && !me.is_limited() && target.is_local() {
        return establish(app, tx, me.id, target.id, terms).await;
    }
    let new = new(app, me.id, target.id, terms);
    let notice = notice(&new, NotificationType::FollowRequest);
    if !store::follow::insert_request(tx, new).await? {
        return Ok(Notified::default());
    }
    notification::notify(app, tx, &[notice]).await
}

async fn establish(app: &App, tx: &mut Tx, follower: AccountId, target: AccountId, terms: Terms) -> Result<Notified> {
    let new = new(app, follower, target, terms);
    let notice = notice(&new, NotificationType::Follow);
    if !store::follow::insert(tx, new).await? {
        return Ok(Notified::default());
    }
    store::account::add_counts(tx, follower, 0, 1, 0).await?;
    store::account::add_counts(tx, target, 0, 0, 1).await?;
    relationship::merge(app, tx, follower, target).await?;
    hooks::record(app, tx, Change::pair(Kind::FollowCreated, follower, target)?).await?;
    notification::notify(app, tx, &[notice]).await
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

fn new(app: &App, follower: AccountId, target: AccountId, terms: Terms) -> NewFollow {
    NewFollow { id: app.ids.next(), account_id: follower, target_account_id: target, terms, now: app.clock.now() }
}

/// The terms of what exists, with what was sent laid over them.
fn terms(tie: &Tie, wish: Wish) -> Terms {
    Terms {
        show_reblogs: wish.reblogs.unwrap_or(tie.show_reblogs),
        notify: wish.notify.unwrap_or(tie.notify),
        languages: match wish.languages {
            Some(languages) => listed(languages),
            None => tie.languages.clone(),
        },
    }
}

fn listed(languages: Vec<String>) -> Option<Json<Vec<String>>> {
    (!languages.is_empty()).then_some(Json(languages))
}

/// The wish with its languages as codes the server knows.
fn checked(wish: Wish) -> Result<Wish> {
    let known = |tag: &String| {
        let code = language::resolve(tag).map(str::to_owned);
        code.ok_or_else(|| Error::invalid("languages: must be codes of languages, such as en"))
    };
    let languages = wish.languages.map(|tags| tags.iter().map(known).collect::<Result<Vec<_>>>()).transpose()?;
    Ok(Wish { languages, ..wish })
}

fn refuse(tie: &Tie, target: &Account) -> Result<()> {
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

/// Everyone may follow so many; beyond that, some times the number of their own followers.
fn check_limit(app: &App, me: &Account) -> Result<()> {
    let limits = &app.config.accounts;
    let threshold = i64::try_from(limits.max_follows_threshold).unwrap_or(i64::MAX);
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a limit, not a count")]
    let earned = (me.followers_count as f64 * limits.max_follows_ratio).round() as i64;
    let limit = threshold.max(earned);
    if me.following_count < limit {
        return Ok(());
    }
    Err(Error::invalid(format!("You cannot follow more than {limit} accounts")))
}
