//! <https://docs.joinmastodon.org/entities/Context/>

use super::{Fragment, Object, status};
use crate::app::App;
use crate::error::Result;
use crate::service::timeline::Thread;
use model::Actor;

/// The thread around a status, rendered as one page.
///
/// # Errors
/// When the database does.
pub async fn render(app: &App, viewer: Option<&Actor>, mut thread: Thread) -> Result<Fragment> {
    let ancestors = thread.ancestors.len();
    thread.ancestors.append(&mut thread.descendants);
    let all = status::render(app, viewer, &thread.ancestors).await?;
    let (ancestors, descendants) = all.split_at(ancestors.min(all.len()));
    let mut object = Object::with_capacity(64);
    object.member("ancestors", &Fragment::array(ancestors)).member("descendants", &Fragment::array(descendants));
    Ok(object.close())
}
