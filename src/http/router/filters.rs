//! Filters. Keywords and statuses of filters have the same paths in both versions.

use crate::api::{filters, filters_v1};
use crate::operation::methods::{get, post};
use crate::policy::{API, Change, Policy, deletes};
use crate::table::Routes;

pub(crate) fn routes() -> Routes {
    const ONE: Policy = API.answers("Filter");
    const V1: Policy = deletes(API.answers("V1_Filter"));
    const KEYWORD: Policy = deletes(API.answers("FilterKeyword"));
    const ENTRY: Policy = deletes(API.answers("FilterStatus"));
    let keyword = || {
        get(filters::show_keyword)
            .put(filters::update_keyword)
            .patch(filters::update_keyword)
            .delete(filters::delete_keyword)
    };
    let status = || get(filters::show_status).delete(filters::delete_status);
    Routes::new()
        .route(
            "/api/v2/filters",
            API.answers("Filter[]").answers_to(Change::Post, "Filter"),
            get(filters::index).post(filters::create),
        )
        .route(
            "/api/v2/filters/{id}",
            deletes(ONE),
            get(filters::show).put(filters::update).patch(filters::update).delete(filters::delete),
        )
        .route(
            "/api/v2/filters/{id}/keywords",
            API.answers("FilterKeyword[]").answers_to(Change::Post, "FilterKeyword"),
            get(filters::keywords).post(filters::create_keyword),
        )
        .route("/api/v2/filters/{id}/keywords/{ignored}", KEYWORD, post(filters::create_keyword_at))
        .route("/api/v2/filters/keywords/{id}", KEYWORD, keyword())
        .route("/api/v1/filters/keywords/{id}", KEYWORD, keyword())
        .route(
            "/api/v2/filters/{id}/statuses",
            API.answers("FilterStatus[]").answers_to(Change::Post, "FilterStatus"),
            get(filters::statuses).post(filters::create_status),
        )
        .route(
            "/api/v1/filters/{id}/statuses",
            API.answers("FilterStatus[]").answers_to(Change::Post, "FilterStatus"),
            get(filters::statuses).post(filters::create_status),
        )
        .route("/api/v2/filters/statuses/{id}", ENTRY, status())
        .route("/api/v1/filters/statuses/{id}", ENTRY, status())
        .route(
            "/api/v1/filters",
            API.answers("V1_Filter[]").answers_to(Change::Post, "V1_Filter"),
            get(filters_v1::index).post(filters_v1::create),
        )
        .route(
            "/api/v1/filters/{id}",
            V1,
            get(filters_v1::show).put(filters_v1::update).patch(filters_v1::update).delete(filters_v1::delete),
        )
}
