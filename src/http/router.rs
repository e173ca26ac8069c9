//! Every core route on one page, and the layers around them.

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post};

use super::api::{accounts, media, statuses};
use super::{auth, error, files, health, observe};
use crate::app::App;

/// The whole server.
pub fn router(app: App) -> Router {
    Router::new()
        .merge(api())
        .merge(health())
        .route("/media/{*key}", get(files::show))
        .fallback(not_found)
        .method_not_allowed_fallback(not_found)
        .layer(middleware::from_fn_with_state(app.clone(), auth::layer))
        .layer(middleware::from_fn_with_state(app.clone(), observe::layer))
        .with_state(app)
}

fn api() -> Router<App> {
    Router::new()
        // accounts
        .route("/api/v1/accounts/{id}", get(accounts::show))
        // media
        .route("/api/v2/media", post(media::create))
        .route("/api/v1/media", post(media::create))
        .route("/api/v1/media/{id}", get(media::show).put(media::update).patch(media::update))
        // statuses
        .route("/api/v1/statuses/{id}", get(statuses::show))
}

fn health() -> Router<App> {
    Router::new()
        .route("/health", get(health::alive))
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
}

/// Unknown paths, and unknown methods of known paths (contract rules, section 1).
async fn not_found() -> Response {
    error::failure(StatusCode::NOT_FOUND, "Record not found")
}
