//! <https://docs.joinmastodon.org/entities/Relationship/>

use std::collections::HashMap;

use serde::Serialize;

use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::{AccountId, Actor, Time};
use store::relationship::RelationshipRow;

/// The relationship between the viewer and an account.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Relationship {
    pub id: AccountId,
    pub following: bool,
    pub showing_reblogs: bool,
    pub notifying: bool,
    pub languages: Option<Vec<String>>,
    pub followed_by: bool,
    pub blocking: bool,
    pub blocked_by: bool,
    pub muting: bool,
    pub muting_notifications: bool,
    pub muting_expires_at: Option<String>,
    pub requested: bool,
    pub requested_by: bool,
    pub domain_blocking: bool,
    pub endorsed: bool,
    pub note: String,
}

impl From<RelationshipRow> for Relationship {
    fn from(tie: RelationshipRow) -> Self {
        Self {
            id: tie.id,
            following: tie.following,
            showing_reblogs: tie.show_reblogs,
            notifying: tie.notify,
            languages: tie.languages.map(|json| json.0),
            followed_by: tie.followed_by,
            blocking: tie.blocking,
            blocked_by: tie.blocked_by,
            muting: tie.muting,
            muting_notifications: tie.hide_notifications,
            muting_expires_at: tie.mute_expires_at.map(Time::to_api),
            requested: tie.requested,
            requested_by: tie.requested_by,
            domain_blocking: tie.domain_blocking,
            endorsed: tie.endorsed,
            note: tie.note,
        }
    }
}

/// Renders `viewer`'s relationship with each existing account of `targets`, in the order given, in one query.
pub async fn render(cx: &Cx, viewer: &Actor, targets: &[AccountId], with_suspended: bool) -> Result<Vec<Fragment>> {
    let ties = store::relationship::list(&cx.db, viewer.id, targets, cx.clock.now()).await?;
    let mut ties: HashMap<AccountId, RelationshipRow> = ties.into_iter().map(|tie| (tie.id, tie)).collect();
    let shown = targets.iter().filter_map(|id| ties.remove(id)).filter(|tie| with_suspended || !tie.suspended);
    shown.map(|tie| Fragment::of(&Relationship::from(tie))).collect()
}

/// Renders `viewer`'s relationship with `target`.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
pub async fn render_one(cx: &Cx, viewer: &Actor, target: AccountId) -> Result<Fragment> {
    render(cx, viewer, &[target], true).await?.pop().ok_or(Error::NotFound)
}
