//! Filters. Keywords and statuses of filters have the same paths in both versions.

use crate::api::{filters, filters_v1};
use crate::operation::methods::{get, post};
use crate::policy::API;
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    let keyword = || {
        get(filters::show_keyword)
            .put(filters::update_keyword)
            .patch(filters::update_keyword)
            .delete(filters::delete_keyword)
    };
    let status = || get(filters::show_status).delete(filters::delete_status);
    Routes::new()
        .route("/api/v2/filters", API, get(filters::index).post(filters::create))
        .route(
            "/api/v2/filters/{id}",
            API,
            get(filters::show).put(filters::update).patch(filters::update).delete(filters::delete),
        )
        .route("/api/v2/filters/{id}/keywords", API, get(filters::keywords).post(filters::create_keyword))
        .route("/api/v2/filters/{id}/keywords/{ignored}", API, post(filters::create_keyword_at))
        .route("/api/v2/filters/keywords/{id}", API, keyword())
        .route("/api/v1/filters/keywords/{id}", API, keyword())
        .route("/api/v2/filters/{id}/statuses", API, get(filters::statuses).post(filters::create_status))
        .route("/api/v1/filters/{id}/statuses", API, get(filters::statuses).post(filters::create_status))
        .route("/api/v2/filters/statuses/{id}", API, status())
        .route("/api/v1/filters/statuses/{id}", API, status())
        .route("/api/v1/filters", API, get(filters_v1::index).post(filters_v1::create))
        .route(
            "/api/v1/filters/{id}",
            API,
            get(filters_v1::show).put(filters_v1::update).patch(filters_v1::update).delete(filters_v1::delete),
        )
}
