//! Acts on an account: follow it with options, mute it for a time, block it, feature it, note something about it.

use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use super::back_to;
use crate::error::{Error, Result};
use crate::extract::Path;
use crate::web::settings::Frame;
use crate::web::{Form, redirect};
use model::{AccountId, Actor, RowId};
use service::follow::{self, FollowParams, FollowState};
use service::{domain_block, list, relationship, suggestion};

/// Fields of the forms of an account.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Act {
    /// `follow`, `unfollow`, `options` (of a follow), `mute`, `unmute`, `block`, `unblock`, `feature`, `unfeature`,
    /// `remove_follower`, `authorize`, `reject`, `note`, `block_domain`, `unblock_domain`, `dismiss` (a suggestion),
    /// `list`, `unlist`.
    act: Option<String>,
    /// Options of a follow: whether reblogs are shown.
    reblogs: Option<bool>,
    /// Whether statuses are notified.
    notify: Option<bool>,
    /// ISO 639 codes of the languages to show; none: all.
    languages: Option<Vec<String>>,
    /// Whether notifications of a muted account are hidden too.
    notifications: Option<bool>,
    /// How long it is muted, in seconds; 0: for ever.
    duration: Option<i64>,
    /// The note.
    comment: Option<String>,
    /// The domain to block.
    domain: Option<String>,
    /// The list of `list` and `unlist`.
    list: Option<RowId>,
    /// The page to return to.
    back: Option<String>,
}

/// `POST /web/accounts/{id}`: does it, and leads back to the page.
///
/// # Errors
/// [`Error::BadRequest`] for another act, and the errors of the act.
pub async fn create(frame: Frame, Path(id): Path<AccountId>, Form(form): Form<Act>) -> Result<Response> {
    let actor = frame.actor().await?;
    let back = back_to(form.back.as_deref(), None);
    if let Some(notice) = act(&frame, &actor, id, form).await? {
        frame.cookies.notice(&frame.say(notice));
    }
    Ok(redirect(&back))
}

/// Performs the act of the form; returns the message to show.
async fn act(frame: &Frame, actor: &Actor, id: AccountId, form: Act) -> Result<Option<&'static str>> {
    let cx = &frame.cx;
    let notice = match form.act.as_deref() {
        Some("follow") => {
            follow::follow(cx, actor, id, FollowParams::default()).await?;
            match follow::state(cx, actor, id).await? {
                FollowState::Requested => Some("interaction.requested"),
                FollowState::Following | FollowState::Absent => Some("interaction.following"),
            }
        }
        Some("options") => {
            let languages = form.languages.unwrap_or_default();
            let params = FollowParams {
                reblogs: Some(form.reblogs.unwrap_or_default()),
                notify: Some(form.notify.unwrap_or_default()),
                languages: Some(languages.into_iter().filter(|code| !code.is_empty()).collect()),
            };
            follow::follow(cx, actor, id, params).await.map(|()| Some("acts.saved"))?
        }
        Some("unfollow") => follow::unfollow(cx, actor, id).await.map(|()| Some("interaction.unfollowed"))?,
        Some("mute") => {
            let (hidden, seconds) = (form.notifications.unwrap_or_default(), form.duration.unwrap_or_default());
            relationship::mute(cx, actor, id, hidden, seconds).await.map(|()| Some("acts.account_muted"))?
        }
        Some("unmute") => relationship::unmute(cx, actor, id).await.map(|()| Some("acts.account_unmuted"))?,
        Some("block") => relationship::block(cx, actor, id).await.map(|()| Some("acts.blocked"))?,
        Some("unblock") => relationship::unblock(cx, actor, id).await.map(|()| Some("acts.unblocked"))?,
        Some("feature") => relationship::endorse(cx, actor, id).await.map(|()| Some("acts.featured"))?,
        Some("unfeature") => relationship::unendorse(cx, actor, id).await.map(|()| Some("acts.unfeatured"))?,
        Some("remove_follower") => {
            follow::remove_follower(cx, actor, id).await.map(|()| Some("acts.follower_removed"))?
        }
        Some("authorize") => follow::authorize(cx, actor, id).await.map(|()| Some("acts.authorized"))?,
        Some("reject") => follow::reject(cx, actor, id).await.map(|()| Some("acts.rejected"))?,
        Some("note") => {
            let comment = form.comment.unwrap_or_default();
            relationship::note(cx, actor, id, &comment).await.map(|()| Some("acts.saved"))?
        }
        Some("block_domain") => {
            let domain = form.domain.ok_or_else(|| Error::missing("domain"))?;
            domain_block::block(cx, actor, &domain).await.map(|()| Some("acts.domain_blocked"))?
        }
        Some("unblock_domain") => {
            let domain = form.domain.ok_or_else(|| Error::missing("domain"))?;
            domain_block::unblock(cx, actor, &domain).await.map(|()| Some("acts.domain_unblocked"))?
        }
        Some("dismiss") => suggestion::dismiss(cx, actor, id).await.map(|()| None)?,
        Some("list") => {
            let list = form.list.ok_or_else(|| Error::missing("list"))?;
            list::add_members(cx, actor, list, &[id]).await.map(|()| Some("acts.listed"))?
        }
        Some("unlist") => {
            let list = form.list.ok_or_else(|| Error::missing("list"))?;
            list::remove_members(cx, actor, list, &[id]).await.map(|()| Some("acts.unlisted"))?
        }
        _ => return Err(Error::bad_request("act is none of the acts").into()),
    };
    Ok(notice)
}
