//! Sending one notification to one subscription.

use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use outbound::{HeaderMap, Request, Target, header};

use super::request::{self, TTL};
use crate::access::grants;
use crate::notification::{self, VisibleNotification};
use context::Cx;
use context::error::{Error, Result};
use context::hosts::{Ended, Spared, Visit};
use context::messages::Language;
use crypto::Secret;
use crypto::push::Receiver;
use model::notification::PushPolicy;
use model::{Actor, NotificationId, Time};
use store::push::Subscription;

/// How long a push waits for a slot of a busy push service.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it checks for a slot.
const LOOK: Duration = Duration::from_millis(20);
/// How long a subscription may fail before it is deleted.
const STALE: TimeDelta = TimeDelta::days(7);

/// The outcome of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was sent, or is no longer wanted.
    Done,
    /// The push service must not be contacted before this time.
    Later(Time),
    /// The push service failed, but may succeed next time.
    Failed(String),
}

/// The response of a push service, or the lack of one.
enum PushOutcome {
    Taken,
    /// The subscription has ended.
    Ended,
    /// It requests a pause.
    Pause(TimeDelta),
    /// It responded with an error, or did not respond: the reason.
    Failed(Ended, String),
}

/// A notification that is to be sent to a subscription.
#[derive(Debug)]
pub struct DuePush {
    subscription: Subscription,
    pub actor: Actor,
    /// The subscriber's access token, which the message contains.
    pub token: Secret,
    /// The language of the message.
    pub language: Language,
    pub shown: VisibleNotification,
}

/// The push of the notification `id` to the subscription `number`; `None` when either was deleted, or the receiver
/// does not want or may not see it.
#[model::use_case]
pub async fn due(cx: &Cx, number: i64, id: NotificationId) -> Result<Option<DuePush>> {
    let Some((subscription, nonce)) = store::push::find(&cx.db, number).await? else { return Ok(None) };
    let Some(actor) = grants::actors(cx, &[subscription.account_id]).await?.pop() else { return Ok(None) };
    let shown = match notification::show(cx, &actor, id).await {
        Ok(shown) if wants(cx, &subscription, &actor, &shown).await? => shown,
        Ok(_) | Err(Error::NotFound) => return Ok(None),
        Err(error) => return Err(error),
    };
    let token = grants::text(cx, subscription.token_id, &nonce);
    let language = actor.locale.as_deref().and_then(Language::of).unwrap_or_else(|| cx.language());
    Ok(Some(DuePush { subscription, actor, token, language, shown }))
}

/// Sends `message` to the subscription of `push`. With `last`, another failure is not retried: a subscription that
/// has failed for that long is deleted.
#[model::use_case]
pub async fn send(cx: &Cx, push: &DuePush, message: &str, last: bool) -> Result<Sent> {
    let subscription = &push.subscription;
    let Some(request) = build(cx, subscription, message)? else { return end(cx, subscription).await };
    let host = format!("{}:{}", request.target.host(), request.target.port());
    let visit = match enter(cx, &host).await {
        Ok(visit) => visit,
        Err(until) => return Ok(Sent::Later(until)),
    };
    let answer = post(cx, request).await;
    apply(cx, subscription, visit, answer, last).await
}

/// True when the subscription wants a notification: not if it is too old, or not visible to its receiver yet.
async fn wants(cx: &Cx, to: &Subscription, actor: &Actor, shown: &VisibleNotification) -> Result<bool> {
    let about = &shown.listed.notification;
    if about.filtered || about.created_at + TTL < cx.clock.now() {
        return Ok(false);
    }
    if to.alerts.0.get(about.kind.as_str()) != Some(&true) {
        return Ok(false);
    }
    let (receiver, sender) = (actor.id, about.from_account_id);
    Ok(match to.policy {
        PushPolicy::None => false,
        PushPolicy::All => true,
        PushPolicy::Followed | PushPolicy::Follower if sender == receiver => true,
        PushPolicy::Followed => store::follow::exists(&cx.db, receiver, sender).await?,
        PushPolicy::Follower => store::follow::exists(&cx.db, sender, receiver).await?,
    })
}

/// The request; `None` while the server has no key pair, or for an endpoint that would be refused today.
fn build(cx: &Cx, to: &Subscription, message: &str) -> Result<Option<Request>> {
    let (Some(vapid), Ok(target)) = (&cx.vapid, Target::parse(&to.endpoint)) else { return Ok(None) };
    let Ok(receiver) = Receiver::parse(&to.p256dh, &to.auth) else { return Ok(None) };
    request::build(cx, vapid, target, &receiver, to.standard, message.as_bytes()).map(Some)
}

/// Waits a moment for a slot of `host`, or returns when to try again.
async fn enter<'a>(cx: &'a Cx, host: &str) -> Result<Visit<'a>, Time> {
    let begun = tokio::time::Instant::now();
    loop {
        match cx.push_hosts.enter(host, cx.clock.now()) {
            Ok(visit) => return Ok(visit),
            Err(Spared::Busy(_)) if begun.elapsed() < PATIENCE => tokio::time::sleep(LOOK).await,
            Err(spared) => return Err(spared.until()),
        }
    }
}

async fn post(cx: &Cx, request: Request) -> PushOutcome {
    let host = request.target.host();
    let response = match cx.outbound.send_reusing(request).await {
        Ok(response) => response,
        // An address outside the public internet was never the push service of an app.
        Err(outbound::Error::Blocked | outbound::Error::Url(_)) => return PushOutcome::Ended,
        Err(error) => return PushOutcome::Failed(Ended::Silent, format!("{host}: {error}")),
    };
    let pause = pause(&response.headers, cx.clock.now());
    match (response.status.as_u16(), pause) {
        (200..=299, _) => PushOutcome::Taken,
        (429 | 503, Some(pause)) => PushOutcome::Pause(pause),
        (400..=499, _) if !matches!(response.status.as_u16(), 408 | 429) => PushOutcome::Ended,
        (status, _) => PushOutcome::Failed(Ended::Refused, format!("{host} answered {status}")),
    }
}

/// `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date; limited to the lifetime of a message.
fn pause(headers: &HeaderMap, now: Time) -> Option<TimeDelta> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = match text.parse::<i64>() {
        Ok(seconds) => seconds,
        Err(_) => DateTime::parse_from_rfc2822(text).ok()?.timestamp() - now.timestamp(),
    };
    Some(TimeDelta::seconds(seconds.clamp(1, TTL.num_seconds())))
}

/// Applies the response of a push service.
async fn apply(cx: &Cx, to: &Subscription, visit: Visit<'_>, answer: PushOutcome, last: bool) -> Result<Sent> {
    let now = cx.clock.now();
    let result = match &answer {
        PushOutcome::Taken => "sent",
        PushOutcome::Ended => "ended",
        PushOutcome::Pause(_) => "paused",
        PushOutcome::Failed(..) => "failed",
    };
    metrics::counter!("rookery_pushes_total", "result" => result).increment(1);
    match answer {
        PushOutcome::Taken => {
            visit.end(Ended::Answered, now);
            if to.failing_since.is_some() {
                note(cx, to, None).await?;
            }
            Ok(Sent::Done)
        }
        PushOutcome::Ended => {
            visit.end(Ended::Answered, now);
            end(cx, to).await
        }
        PushOutcome::Pause(pause) => {
            visit.end_until(now + pause);
            Ok(Sent::Later(now + pause))
        }
        PushOutcome::Failed(ended, why) => {
            visit.end(ended, now);
            match to.failing_since {
                Some(since) if last && since + STALE < now => return end(cx, to).await,
                None if last => note(cx, to, Some(now)).await?,
                _ => {}
            }
            Ok(Sent::Failed(why))
        }
    }
}

async fn note(cx: &Cx, to: &Subscription, since: Option<Time>) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::push::set_failing(&mut tx, to.number, since).await?;
    Ok(tx.commit().await?)
}

/// Deletes the subscription, unless it was replaced meanwhile.
async fn end(cx: &Cx, to: &Subscription) -> Result<Sent> {
    let mut tx = cx.db.begin().await?;
    store::push::delete(&mut tx, to.number, &to.endpoint).await?;
    tx.commit().await?;
    Ok(Sent::Done)
}
