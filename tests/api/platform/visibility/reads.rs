//! Paths that read statuses, and the place of the statuses in their responses.

use super::oracle::{AUTHORS, Place, Subject};
use super::{LINKED, World};

/// A path that reads statuses.
pub(super) struct Read {
    /// Name in the router, with `:` for parameters.
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) how: How,
}

/// Paths that show many statuses.
pub(super) type Paths = fn(&World) -> Vec<String>;

/// Subjects that the pages must contain.
pub(super) type Expected = fn(&Subject) -> bool;

pub(super) enum How {
    /// One path per status, which returns 404 if it is hidden and shows its mark otherwise.
    Each(fn(&World, &Subject) -> String),
    /// As [`How::Each`], but the response does not show the status itself.
    Gate(fn(&World, &Subject) -> String),
    Pages(Paths, Expected),
}

pub(super) const READS: &[Read] = &[
    Read {
        name: "GET /api/v1/statuses/:",
        place: Place::Single,
        how: How::Each(|_, s| format!("/api/v1/statuses/{}", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/history",
        place: Place::Single,
        how: How::Each(|_, s| format!("/api/v1/statuses/{}/history", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/source",
        place: Place::Single,
        how: How::Each(|_, s| format!("/api/v1/statuses/{}/source", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/context",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/context", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/context",
        place: Place::Thread,
        how: How::Pages(
            |world| world.roots.iter().map(|id| format!("/api/v1/statuses/{id}/context")).collect(),
            |subject| subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/statuses/:/context",
        place: Place::Thread,
        how: How::Pages(
            |world| {
                let path = format!("/api/v1/statuses/{}/context", world.referring);
                vec![format!("{path}?with_reference=true"), path]
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/statuses/:/referred_by",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/referred_by", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/referred_by",
        place: Place::Thread,
        how: How::Pages(
            |world| vec![format!("/api/v1/statuses/{}/referred_by?limit=40", world.referred)],
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/statuses/:/quotes",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/quotes", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/quotes",
        place: Place::Thread,
        how: How::Pages(
            |world| vec![format!("/api/v1/statuses/{}/quotes?limit=40", world.referred)],
            |subject| !subject.reply,
        ),
    },
    Read {
        // The quotes of the subjects.
        name: "GET /api/v1/statuses",
        place: Place::Single,
        how: How::Pages(
            |world| {
                let some = |some: &[i64]| some.iter().map(|id| format!("id[]={id}&")).collect::<String>();
                world.quoting.chunks(20).map(|chunk| format!("/api/v1/statuses?{}", some(chunk))).collect()
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/statuses/:/reblogged_by",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/reblogged_by", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses/:/favourited_by",
        place: Place::Single,
        how: How::Gate(|_, s| format!("/api/v1/statuses/{}/favourited_by", s.id)),
    },
    Read {
        name: "GET /api/v1/polls/:",
        place: Place::Single,
        how: How::Each(|_, s| format!("/api/v1/polls/{}", s.id)),
    },
    Read {
        name: "GET /api/v1/statuses",
        place: Place::Single,
        how: How::Pages(
            |world| {
                let some = |some: &[Subject]| some.iter().map(|s| format!("id[]={}&", s.id)).collect::<String>();
                world.subjects.chunks(20).map(|chunk| format!("/api/v1/statuses?{}", some(chunk))).collect()
            },
            |_| true,
        ),
    },
    Read {
        name: "GET /api/v1/accounts/:/statuses",
        place: Place::Profile,
        how: How::Pages(
            |world| world.authors.iter().map(|id| format!("/api/v1/accounts/{id}/statuses?limit=40")).collect(),
            |_| true,
        ),
    },
    Read {
        name: "GET /api/v1/accounts/:/statuses",
        place: Place::Profile,
        how: How::Pages(
            |world| {
                world.authors.iter().map(|id| format!("/api/v1/accounts/{id}/statuses?pinned=true&limit=40")).collect()
            },
            |subject| !subject.reply && subject.visibility != "direct",
        ),
    },
    Read {
        // Reblogs of every subject by a friend of everyone.
        name: "GET /api/v1/accounts/:/statuses",
        place: Place::Single,
        how: How::Pages(|world| vec![format!("/api/v1/accounts/{}/statuses?limit=40", world.booster)], |_| false),
    },
    Read {
        name: "GET /api/v1/timelines/home",
        place: Place::Home,
        how: How::Pages(
            |world| {
                // More than a page: each subject, and a reblog of it.
                let below = world.subjects.iter().filter(|subject| !subject.reply).step_by(14);
                let pages = below.map(|subject| format!("/api/v1/timelines/home?limit=40&max_id={}", subject.id));
                pages.chain(["/api/v1/timelines/home?limit=40".to_owned()]).collect()
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        // Lists of other accounts return 404.
        name: "GET /api/v1/timelines/list/:",
        place: Place::Home,
        how: How::Pages(
            |world| world.lists.iter().map(|(_, id)| format!("/api/v1/timelines/list/{id}?limit=40")).collect(),
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/timelines/public",
        place: Place::Timeline,
        how: How::Pages(|_| vec!["/api/v1/timelines/public?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v1/timelines/public",
        place: Place::Timeline,
        how: How::Pages(
            |_| vec!["/api/v1/timelines/public?limit=40&local=true".to_owned()],
            |subject| !subject.reply && !subject.author.is_remote(),
        ),
    },
    Read {
        name: "GET /api/v1/timelines/tag/:",
        place: Place::Timeline,
        how: How::Pages(
            |_| ["plain", "replies"].map(|tag| format!("/api/v1/timelines/tag/{tag}?limit=40")).to_vec(),
            |_| true,
        ),
    },
    Read {
        name: "GET /api/v1/trends/statuses",
        place: Place::Timeline,
        how: How::Pages(
            |_| [0, 40].map(|offset| format!("/api/v1/trends/statuses?limit=40&offset={offset}")).to_vec(),
            |_| true,
        ),
    },
    Read {
        name: "GET /api/v1/timelines/link",
        place: Place::Timeline,
        how: How::Pages(
            |_| vec![format!("/api/v1/timelines/link?limit=40&url={LINKED}")],
            |subject| subject.visibility == "public",
        ),
    },
    Read {
        name: "GET /api/v1/favourites",
        place: Place::Collection,
        how: How::Pages(|_| vec!["/api/v1/favourites?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v1/bookmarks",
        place: Place::Collection,
        how: How::Pages(|_| vec!["/api/v1/bookmarks?limit=40".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v1/notifications",
        place: Place::Notification,
        how: How::Pages(|_| vec!["/api/v1/notifications?limit=80".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v1/notifications/:",
        place: Place::Notification,
        how: How::Pages(
            |world| world.notifications.iter().map(|id| format!("/api/v1/notifications/{id}")).collect(),
            |_| false,
        ),
    },
    Read {
        name: "GET /api/v2/notifications",
        place: Place::Notification,
        how: How::Pages(|_| vec!["/api/v2/notifications?limit=80".to_owned()], |subject| !subject.reply),
    },
    Read {
        name: "GET /api/v2/notifications/:",
        place: Place::Notification,
        how: How::Pages(
            |world| world.notifications.iter().map(|id| format!("/api/v2/notifications/ungrouped-{id}")).collect(),
            |_| false,
        ),
    },
    Read {
        // The last filtered status of each author.
        name: "GET /api/v1/notifications/requests",
        place: Place::Notification,
        how: How::Pages(|_| vec!["/api/v1/notifications/requests".to_owned()], |_| false),
    },
    Read {
        name: "GET /api/v1/notifications/requests/:",
        place: Place::Notification,
        how: How::Pages(
            |world| world.requests.iter().map(|id| format!("/api/v1/notifications/requests/{id}")).collect(),
            |_| false,
        ),
    },
    Read {
        // One's own statuses, and what waits for one's approval.
        name: "GET /api/v1/interaction_requests",
        place: Place::Single,
        how: How::Pages(|_| vec!["/api/v1/interaction_requests".to_owned()], |_| false),
    },
    Read {
        name: "GET /api/v1/interaction_requests/:",
        place: Place::Single,
        how: How::Pages(|_| vec!["/api/v1/interaction_requests/1".to_owned()], |_| false),
    },
    Read {
        // Direct statuses only, although the seed has all statuses there.
        name: "GET /api/v1/conversations",
        place: Place::Notification,
        how: How::Pages(
            |world| {
                let below = world.subjects.iter().filter(|subject| !subject.reply).step_by(14);
                let pages = below.map(|subject| format!("/api/v1/conversations?limit=40&max_id={}", subject.id));
                pages.chain(["/api/v1/conversations?limit=40".to_owned()]).collect()
            },
            |subject| !subject.reply,
        ),
    },
    Read {
        name: "GET /api/v1/announcements",
        place: Place::Single,
        how: How::Pages(
            |_| vec!["/api/v1/announcements".to_owned()],
            |subject| {
                matches!(subject.visibility, "public" | "public_unlisted" | "unlisted") && !subject.author.is_remote()
            },
        ),
    },
    Read {
        name: "GET /@:/:/embed",
        place: Place::Page,
        how: How::Each(|world, s| format!("{}/{}/embed", world.page(s), s.id)),
    },
    Read { name: "GET /@:/:", place: Place::Page, how: How::Each(|world, s| format!("{}/{}", world.page(s), s.id)) },
    Read {
        // A search may return fewer statuses than the viewer may see, never more.
        name: "GET /api/v2/search",
        place: Place::Single,
        how: How::Pages(
            |world| {
                let by_address = world.subjects.iter().flat_map(|s| {
                    let (page, id) = (world.page(s), s.id);
                    let user = page.replace("/@", "/users/");
                    [format!("https://example.test{page}/{id}"), format!("https://example.test{user}/statuses/{id}")]
                });
                let by_text = ["zqPlain", "#plain", "private"].map(|text| text.replace('#', "%23"));
                by_address.chain(by_text).map(|q| format!("/api/v2/search?resolve=true&q={q}")).collect()
            },
            |_| false,
        ),
    },
    Read {
        name: "GET /api/v2/search",
        place: Place::Search,
        how: How::Pages(
            |_| {
                let words = AUTHORS.map(|author| format!("zq{author:?}"));
                words.map(|word| format!("/api/v2/search?type=statuses&limit=80&q={word}")).to_vec()
            },
            |_| true,
        ),
    },
    Read { name: "GET /", place: Place::Page, how: How::Pages(|_| vec!["/".to_owned()], |_| false) },
    Read {
        name: "GET /users/:/statuses/:",
        place: Place::Page,
        how: How::Each(|world, s| format!("{}/statuses/{}", world.page(s).replace("/@", "/users/"), s.id)),
    },
    Read {
        name: "GET /@:",
        place: Place::Page,
        how: How::Pages(
            |world| {
                let all = world
                    .names
                    .iter()
                    .flat_map(|name| ["", ".rss", ".atom", "/feed"].map(|end| format!("/@{name}{end}")));
                all.chain(["/tags/plain", "/tags/replies", "/tags/plain.rss", "/"].map(str::to_owned)).collect()
            },
            |_| true,
        ),
    },
];

/// Pages and files that show no status, or only statuses covered by [`READS`].
pub(super) const SILENT: &[&str] = &[
    "/auth/",
    "/settings",
    "/oauth/",
    "/.well-known/",
    "/nodeinfo/",
    "/opensearch.xml",
    "/manifest",
    "/robots.txt",
    "/custom.css",
    // Trends and the directory, as an anonymous client reads them.
    "/explore",
    "/directory",
    "/share",
    // Lists of accounts, and the viewer's drafts and scheduled statuses.
    "/lists",
    "/notifications/requests",
    // A redirect.
    "/conversations/",
    "/drafts",
    "/scheduled",
    "/follow_requests",
    "/blocks",
    "/mutes",
    "/@:/followers",
    "/@:/following",
    "/web/",
    "/offline",
    "/sw.js",
    "/favicon.ico",
    // Finds as an anonymous search does.
    "/search",
    "/media/",
    "/assets/",
    "/client",
    "/health",
    "/livez",
    "/readyz",
    "/users/",
    "/ap/users/",
    "/tags/",
    "/about",
    "/privacy",
    "/terms-of-service",
    // Finds as the search does, for a session instead of a token.
    "/authorize_interaction",
    "/remote_interaction",
];
