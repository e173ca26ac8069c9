//! The matrix over streams: every subject is told to everyone who is connected, as if it had entered every feed and just been
//! published.

use std::collections::BTreeSet;

use futures_util::FutureExt as _;
use rookery_core::change::{Change, StatusTraits};

use super::oracle::{Author, Place, Subject, Token, Verdict, Viewer, verdict};
use super::{World, seen_by};
use crate::harness::{Client, Events};

/// A channel, what of the subjects is to be found there, and the timeline that it is like.
type Channel = (&'static str, Place, fn(&Subject) -> bool);

const CHANNELS: [Channel; 6] = [
    ("user", Place::Home, |subject| !subject.reply),
    ("public", Place::Timeline, |subject| !subject.reply),
    ("public/local", Place::Timeline, |subject| !subject.reply && subject.author != Author::Remote),
    ("public/remote", Place::Timeline, |subject| !subject.reply && subject.author == Author::Remote),
    ("hashtag?tag=plain", Place::Timeline, |subject| !subject.reply),
    ("hashtag?tag=replies", Place::Timeline, |subject| subject.reply),
];

/// Someone's streams, in the order of [`CHANNELS`].
struct Listener<'a> {
    viewer: Viewer,
    own: Option<Author>,
    client: &'a Client,
    streams: Vec<Events>,
}

async fn listeners(world: &World) -> Vec<Listener<'_>> {
    let mut listeners = Vec::new();
    for (viewer, own, client) in world.lookers() {
        let person = matches!(viewer.token, Token::Person | Token::Moderator | Token::Author);
        if person && own != Some(Author::Suspended) {
            let mut streams = Vec::new();
            for (path, ..) in CHANNELS {
                streams.push(client.events(path).await);
            }
            listeners.push(Listener { viewer, own, client, streams });
        }
    }
    listeners
}

fn tell(world: &World, subject: &Subject, owners: &[i64]) {
    let live = &world.app.app.live;
    let (status, author) = (subject.id.into(), world.authors[0].into());
    live.tell(Change::FeedEntered { kind: 0, owners: owners.to_vec(), status });
    let traits = StatusTraits {
        visibility: subject.visibility.parse().unwrap(),
        local: subject.author != Author::Remote,
        reblog: false,
        reply: subject.reply,
        media: false,
    };
    live.tell(Change::StatusPublished { status, author, traits });
}

#[tokio::test]
async fn streams_show_what_timelines_show() {
    let world = World::new().await;
    let mut listeners = listeners(&world).await;
    let owners: Vec<i64> = listeners.iter().map(|listener| listener.client.id().into()).collect();
    world.subjects.iter().for_each(|subject| tell(&world, subject, &owners));
    let people: Vec<&Client> = listeners.iter().map(|listener| listener.client).collect();
    world.app.mark(&people);
    let (mut faults, mut count) = (BTreeSet::new(), 0);
    for listener in &mut listeners {
        for ((path, place, there), events) in CHANNELS.iter().zip(&mut listener.streams) {
            let mut text = String::new();
            if *path == "user" {
                text.extend(events.until_mark().await.into_iter().map(|event| event.payload));
            }
            // Everything was told before the mark: it waits in the queues.
            while let Some(event) = tokio::task::unconstrained(events.next()).now_or_never() {
                text.push_str(&event.expect("an open stream").payload);
            }
            for subject in &world.subjects {
                let own = listener.own;
                let mut verdict = verdict(seen_by(listener.viewer, own, subject), subject, *place);
                // They all mention someone whom the authors block: public streams leave that out.
                if *place == Place::Timeline && own.is_some_and(|author| author != subject.author) {
                    verdict = Verdict::Either;
                }
                // What everyone may find is streamed by its hashtags, though timelines of hashtags leave it out.
                if path.starts_with("hashtag") && subject.visibility == "unlisted" && verdict == Verdict::Hidden {
                    verdict = Verdict::Either;
                }
                let shown = text.contains(&subject.mark);
                count += usize::from(shown);
                let wrong = match verdict {
                    Verdict::Hidden => shown,
                    Verdict::Shown => shown != there(subject) && *path != "user",
                    Verdict::Either => false,
                };
                let missing = *path == "user" && verdict == Verdict::Shown && !shown;
                if wrong || missing {
                    let who = listener.viewer.name;
                    faults
                        .insert(format!("{who} ({:?}): {path}: {} should be {verdict:?}", listener.own, subject.mark));
                }
            }
        }
    }
    let first: Vec<_> = faults.iter().take(40).cloned().collect();
    assert!(faults.is_empty(), "{} faults, the first:\n  {}", faults.len(), first.join("\n  "));
    assert!(count > 500, "only {count} statuses were told");
}
