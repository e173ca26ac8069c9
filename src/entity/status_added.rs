//! What plugins add to statuses.

use context::Cx;
use context::extension::{Entity, Members, Target, Versions};
use model::{Actor, StatusId};
use store::status::Head;

/// The members that plugins add to the statuses of a page and to their quotes. A reblog shares the members of its
/// original. Plugins are called once for each status.
pub(super) async fn added(
    cx: &Cx,
    viewer: Option<&Actor>,
    heads: impl Iterator<Item = &Head> + Send,
) -> Vec<(StatusId, Members)> {
    if !cx.extensions().decorates(Entity::Status) {
        return Vec::new();
    }
    let mut heads: Vec<&Head> = heads.collect();
    heads.sort_unstable_by_key(|head| head.id);
    heads.dedup_by_key(|head| head.id);
    let target = |head: &&Head| Target {
        id: head.id.into(),
        owner: head.account_id.into(),
        subject: None,
        activity: None,
        code: String::new(),
    };
    let versions: Vec<Versions> =
        heads.iter().map(|head| Versions { status: head.version, author: head.account_version }).collect();
    let decorations =
        cx.extensions().decorate(cx, viewer, Entity::Status, heads.iter().map(target).collect(), &versions).await;
    let added = heads.iter().zip(decorations.into_members()).filter_map(|(head, members)| Some((head.id, members?)));
    added.collect()
}
