//! <https://docs.joinmastodon.org/entities/Context/>

use super::{Fragment, Object, status};
use crate::Cx;
use crate::error::Result;
use crate::service::timeline::Thread;
use model::Actor;

/// Renders the thread around a status as one page.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, mut thread: Thread) -> Result<Fragment> {
    let ancestors = thread.ancestors.len();
    thread.ancestors.append(&mut thread.descendants);
    let all = status::render(cx, viewer, &thread.ancestors).await?;
    let (ancestors, descendants) = all.split_at(ancestors.min(all.len()));
    let mut object = Object::with_capacity(64);
    object.member("ancestors", &Fragment::array(ancestors)).member("descendants", &Fragment::array(descendants));
    Ok(object.close())
}
