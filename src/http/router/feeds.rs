//! Timelines, lists, hashtags, trends and search.

use crate::api::{featured_tags, lists, search, tags, timelines, trends};
use crate::operation::methods::{delete, get, post};
use crate::policy::{API, Change, SHARED, deletes};
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v2/search", API.answers("Search"), get(search::index))
        .route("/api/v1/accounts/{id}/statuses", SHARED.answers("Status[]"), get(timelines::profile))
        .route("/api/v1/timelines/home", API.answers("Status[]"), get(timelines::home))
        .route("/api/v1/timelines/public", SHARED.answers("Status[]"), get(timelines::public))
        .route("/api/v1/timelines/tag/{hashtag}", SHARED.answers("Status[]"), get(timelines::tag))
        .route("/api/v1/timelines/link", SHARED.answers("Status[]"), get(timelines::link))
        .route("/api/v1/timelines/list/{id}", API.answers("Status[]"), get(timelines::list))
        .route("/api/v1/favourites", API.answers("Status[]"), get(timelines::favourites))
        .route("/api/v1/bookmarks", API.answers("Status[]"), get(timelines::bookmarks))
        .route("/api/v1/trends", SHARED.answers("Tag[]"), get(trends::tags))
        .route("/api/v1/trends/tags", SHARED.answers("Tag[]"), get(trends::tags))
        .route("/api/v1/trends/statuses", SHARED.answers("Status[]"), get(trends::statuses))
        .route("/api/v1/trends/links", SHARED.answers("TrendsLink[]"), get(trends::links))
        .route("/api/v1/tags/{name}", SHARED.answers("Tag"), get(tags::show))
        .route("/api/v1/tags/{name}/follow", API.answers("Tag"), post(tags::follow))
        .route("/api/v1/tags/{name}/unfollow", API.answers("Tag"), post(tags::unfollow))
        .route("/api/v1/tags/{name}/feature", API.answers("Tag"), post(tags::feature))
        .route("/api/v1/tags/{name}/unfeature", API.answers("Tag"), post(tags::unfeature))
        .route("/api/v1/followed_tags", API.answers("Tag[]"), get(tags::followed))
        .route(
            "/api/v1/featured_tags",
            API.answers("FeaturedTag[]").answers_to(Change::Post, "FeaturedTag"),
            get(featured_tags::index).post(featured_tags::create),
        )
        .route("/api/v1/featured_tags/suggestions", API.answers("Tag[]"), get(featured_tags::suggestions))
        .route("/api/v1/featured_tags/{id}", API.answers("{}"), delete(featured_tags::delete))
        .route(
            "/api/v1/lists",
            API.answers("List[]").answers_to(Change::Post, "List"),
            get(lists::index).post(lists::create),
        )
        .route(
            "/api/v1/lists/{id}",
            deletes(API.answers("List")),
            get(lists::show).put(lists::update).patch(lists::update).delete(lists::delete),
        )
        .route(
            "/api/v1/lists/{id}/accounts",
            deletes(API.answers("Account[]").answers_to(Change::Post, "{}")),
            get(lists::accounts).post(lists::add_accounts).delete(lists::remove_accounts),
        )
}
