//! <https://docs.joinmastodon.org/entities/Context/>

use super::room::Room;
use super::status::{Parts, size_bytes};
use context::Cx;
use context::error::Result;
use context::json::{Array, Fragment, Object};
use model::Actor;
use service::timeline::Thread;

/// Renders the thread around a status as one page.
pub async fn render(cx: &Cx, viewer: Option<&Actor>, thread: &Thread) -> Result<Fragment> {
    let Thread { ancestors, descendants, references, refresh: _ } = thread;
    let parts = Parts::load(cx, viewer, ancestors.iter().chain(references).chain(descendants), &[]).await?;
    let mut room = Room::default();
    let [above, beside, below] = [ancestors, references, descendants].map(|page| parts.entries_within(&mut room, page));
    let size = size_bytes(&above) + size_bytes(&below) + size_bytes(&beside);
    let mut object = Object::with_capacity(64 + size);
    for (name, entries) in [("ancestors", &above), ("descendants", &below), ("references", &beside)] {
        object.member_with(name, |out| Array::write(out, entries, |out, entry| parts.write(out, entry)));
    }
    Ok(object.close())
}
