//! Pages of the client in the browser, read with a session: they show what the API shows.

use super::oracle::{Author, Place};
use super::reads::{How, Read};
use super::{Eyes, Findings, World, look_by};
use crate::harness::Browser;

/// Pages that show statuses to a signed-in viewer. Pages that are also in `READS` show more with a session.
pub(super) const PAGES: &[Read] = &[
    Read { name: "GET /@:/:", place: Place::Single, how: How::Each(|world, s| format!("{}/{}", world.page(s), s.id)) },
    Read {
        name: "GET /@:/:",
        place: Place::Thread,
        how: How::Pages(
            |world| world.roots.iter().map(|id| format!("/@booster/{id}")).collect(),
            |subject| subject.reply,
        ),
    },
    Read {
        name: "GET /@:/:/history",
        place: Place::Single,
        how: How::Each(|world, s| format!("{}/{}/history", world.page(s), s.id)),
    },
    Read {
        name: "GET /@:/:/translation",
        place: Place::Single,
        how: How::Pages(
            |world| {
                world.subjects.iter().step_by(3).map(|s| format!("{}/{}/translation", world.page(s), s.id)).collect()
            },
            |_| false,
        ),
    },
    Read {
        name: "GET /@:/:/favourites",
        place: Place::Single,
        how: How::Gate(|world, s| format!("{}/{}/favourites", world.page(s), s.id)),
    },
    Read {
        name: "GET /@:/:/reblogs",
        place: Place::Single,
        how: How::Gate(|world, s| format!("{}/{}/reblogs", world.page(s), s.id)),
    },
    Read {
        name: "GET /@:/:/quotes",
        place: Place::Single,
        how: How::Gate(|world, s| format!("{}/{}/quotes", world.page(s), s.id)),
    },
    Read {
        name: "GET /@:/:/quotes",
        place: Place::Thread,
        how: How::Pages(|world| vec![format!("/@booster/{}/quotes?limit=40", world.referred)], |_| false),
    },
    Read {
        name: "GET /@:",
        place: Place::Profile,
        how: How::Pages(|world| world.names.iter().map(|name| format!("/@{name}")).collect(), |_| false),
    },
    Read {
        name: "GET /@:/with_replies",
        place: Place::Profile,
        how: How::Pages(
            |world| world.names.iter().map(|name| format!("/@{name}/with_replies?limit=40")).collect(),
            |_| false,
        ),
    },
    Read {
        name: "GET /@:/media",
        place: Place::Profile,
        how: How::Pages(|world| world.names.iter().map(|name| format!("/@{name}/media?limit=40")).collect(), |_| false),
    },
    Read {
        name: "GET /home",
        place: Place::Home,
        how: How::Pages(
            |world| {
                let below = world.subjects.iter().filter(|subject| !subject.reply).step_by(14);
                let pages = below.map(|subject| format!("/home?limit=40&max_id={}", subject.id));
                pages.chain(["/home?limit=40".to_owned()]).collect()
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /catch_up",
        place: Place::Home,
        how: How::Pages(|_| vec!["/catch_up?hours=700".to_owned(), "/catch_up".to_owned()], |_| false),
    },
    Read {
        name: "GET /lists/:",
        place: Place::Home,
        how: How::Pages(
            |world| world.lists.iter().map(|(_, id)| format!("/lists/{id}?limit=40")).collect(),
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /public",
        place: Place::Timeline,
        how: How::Pages(|_| vec!["/public?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /public/local",
        place: Place::Timeline,
        how: How::Pages(
            |_| vec!["/public/local?limit=40".to_owned()],
            |subject| !subject.reply && !subject.author.is_remote(),
        ),
    },
    Read {
        name: "GET /tags/:",
        place: Place::Timeline,
        how: How::Pages(|_| ["plain", "replies"].map(|tag| format!("/tags/{tag}?limit=40")).to_vec(), |_| false),
    },
    Read {
        name: "GET /bookmarks",
        place: Place::Collection,
        how: How::Pages(|_| vec!["/bookmarks?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /favourites",
        place: Place::Collection,
        how: How::Pages(|_| vec!["/favourites?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /notifications",
        place: Place::Notification,
        how: How::Pages(|_| vec!["/notifications?limit=80".to_owned()], |_| false),
    },
    Read {
        name: "GET /conversations",
        place: Place::Notification,
        how: How::Pages(|_| vec!["/conversations?limit=40".to_owned()], |_| false),
    },
    Read {
        name: "GET /search",
        place: Place::Search,
        how: How::Pages(
            |_| ["zqPlain", "zqLimited", "zqRemote"].map(|word| format!("/search?q={word}")).to_vec(),
            |_| false,
        ),
    },
    Read {
        name: "GET /publish",
        place: Place::Single,
        how: How::Pages(
            |world| {
                // One parameter per subject: four requests for each would take a minute.
                let ways = ["in_reply_to_id", "quoted_status_id", "edit", "redraft"];
                let ways = ways.iter().cycle().zip(&world.subjects);
                ways.map(|(way, s)| format!("/publish?{way}={}", s.id)).collect()
            },
            |_| false,
        ),
    },
    Read {
        name: "GET /report",
        place: Place::Single,
        how: How::Pages(
            |world| {
                let of = world.authors.iter().map(|id| format!("/report?account_id={id}"));
                let account = |author: Author| world.authors[author as usize];
                let one = world
                    .subjects
                    .iter()
                    .step_by(3)
                    .map(|s| format!("/report?account_id={}&status_id={}", account(s.author), s.id));
                of.chain(one).collect()
            },
            |_| false,
        ),
    },
];

#[tokio::test]
async fn pages_of_people_match_the_oracle() {
    let world = World::new().await;
    let mut browsers = Vec::new();
    for (viewer, own, client) in world.lookers() {
        if viewer.is_person() && own != Some(Author::Suspended) {
            browsers.push((viewer, own, Browser::signed_in(&world.app, &client.name).await));
        }
    }
    let mut findings = Findings::default();
    for read in PAGES {
        for (viewer, own, browser) in &browsers {
            look_by(&world, read, (*viewer, *own, Eyes::Session(browser)), &mut findings).await;
        }
        let shown = findings.shown.get(read.name).copied().unwrap_or_default();
        assert!(
            shown > 0 || read.name.ends_with("/media") || read.name.ends_with("/translation"),
            "{} shows none",
            read.name
        );
    }
    findings.check();
}
