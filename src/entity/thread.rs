//! <https://docs.joinmastodon.org/entities/Context/>

use super::status::{Parts, size_bytes};
use context::Cx;
use context::error::Result;
use context::json::{Array, Fragment, Object};
use model::Actor;
use service::timeline::Thread;

/// Renders the thread around a status as one page.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, thread: &Thread) -> Result<Fragment> {
    let Thread { ancestors, descendants, references } = thread;
    let parts = Parts::load(cx, viewer, ancestors.iter().chain(descendants).chain(references), &[]).await?;
    let [above, below, beside] = [ancestors, descendants, references].map(|page| parts.entries(page));
    let size = size_bytes(&above) + size_bytes(&below) + size_bytes(&beside);
    let mut object = Object::with_capacity(64 + size);
    for (name, entries) in [("ancestors", &above), ("descendants", &below), ("references", &beside)] {
        object.member_with(name, |out| Array::write(out, entries, |out, entry| parts.write(out, entry)));
    }
    Ok(object.close())
}
