//! Timelines, lists, hashtags, trends and search.

use crate::api::{featured_tags, lists, search, tags, timelines, trends};
use crate::operation::methods::{delete, get, post};
use crate::policy::{API, SHARED};
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .route("/api/v2/search", API, get(search::index))
        .route("/api/v1/accounts/{id}/statuses", SHARED, get(timelines::profile))
        .route("/api/v1/timelines/home", API, get(timelines::home))
        .route("/api/v1/timelines/public", SHARED, get(timelines::public))
        .route("/api/v1/timelines/tag/{hashtag}", SHARED, get(timelines::tag))
        .route("/api/v1/timelines/link", SHARED, get(timelines::link))
        .route("/api/v1/timelines/list/{id}", API, get(timelines::list))
        .route("/api/v1/favourites", API, get(timelines::favourites))
        .route("/api/v1/bookmarks", API, get(timelines::bookmarks))
        .route("/api/v1/trends", SHARED, get(trends::tags))
        .route("/api/v1/trends/tags", SHARED, get(trends::tags))
        .route("/api/v1/trends/statuses", SHARED, get(trends::statuses))
        .route("/api/v1/trends/links", SHARED, get(trends::links))
        .route("/api/v1/tags/{name}", SHARED, get(tags::show))
        .route("/api/v1/tags/{name}/follow", API, post(tags::follow))
        .route("/api/v1/tags/{name}/unfollow", API, post(tags::unfollow))
        .route("/api/v1/tags/{name}/feature", API, post(tags::feature))
        .route("/api/v1/tags/{name}/unfeature", API, post(tags::unfeature))
        .route("/api/v1/followed_tags", API, get(tags::followed))
        .route("/api/v1/featured_tags", API, get(featured_tags::index).post(featured_tags::create))
        .route("/api/v1/featured_tags/suggestions", API, get(featured_tags::suggestions))
        .route("/api/v1/featured_tags/{id}", API, delete(featured_tags::delete))
        .route("/api/v1/lists", API, get(lists::index).post(lists::create))
        .route(
            "/api/v1/lists/{id}",
            API,
            get(lists::show).put(lists::update).patch(lists::update).delete(lists::delete),
        )
        .route(
            "/api/v1/lists/{id}/accounts",
            API,
            get(lists::accounts).post(lists::add_accounts).delete(lists::remove_accounts),
        )
}
