//! Requests of the server itself: its description, OAuth, applications.

use serde_json::json;

use super::{Body, Case, World};
use crate::platform::contract::Route;

pub async fn case(world: &World, row: &Route) -> Option<Case> {
    let name = row.name();
    let case = match (row.group.as_str(), name.as_str()) {
        ("peers", _) => Case::get(format!("{}?q=rook", row.path)),
        ("oembed", _) => {
            let address = format!("https://example.test/@bob/{}", world.theirs().await);
            Case::get(format!("{}?url={address}", row.path)).refused(
                format!("{}?url=https://example.test/@bob/1", row.path),
                Body::None,
                404,
            )
        }
        ("instance", "GET /api/v1/instance/terms_of_service/:date") => {
            let of = |date: &str| row.path.replace(":date", date);
            Case::get(of("2026-01-01")).refused(of("2026-01-02"), Body::None, 404)
        }
        ("instance" | "health", _) => Case::get(&*row.path),
        ("well_known", "GET /.well-known/webfinger") => {
            Case::get(format!("{}?resource=acct:alice@example.test", row.path))
                .refused(&*row.path, Body::None, 400)
                .refused(format!("{}?resource=acct:nobody@example.test", row.path), Body::None, 404)
        }
        ("oauth", "POST /oauth/token") => {
            let (id, secret) = world.credentials();
            let body = json!({ "grant_type": "client_credentials", "client_id": id, "client_secret": secret, "scope": "read" });
            let mut wrong = body.clone();
            wrong["client_secret"] = json!("wrong");
            let mut grant = body.clone();
            grant["grant_type"] = json!("password");
            Case::json(&*row.path, body).refused(&*row.path, Body::Json(wrong), 401).refused(
                &*row.path,
                Body::Json(grant),
                400,
            )
        }
        ("oauth", "POST /oauth/revoke" | "POST /oauth/introspect") => {
            let (id, secret) = world.credentials();
            let body = json!({ "client_id": id, "client_secret": secret, "token": "none" });
            let wrong = json!({ "client_id": id, "client_secret": "wrong", "token": "none" });
            let status = if row.path.ends_with("revoke") { 403 } else { 401 };
            Case::json(&*row.path, body).refused(&*row.path, Body::Json(wrong), status)
        }
        ("oauth", "POST /oauth/userinfo") => Case::json(&*row.path, json!({})),
        ("apps", "POST /api/v1/apps") => {
            let blank = json!({ "client_name": "", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob" });
            Case::json(&*row.path, json!({ "client_name": "app", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob" }))
                .refused(&*row.path, Body::Json(blank), 422)
        }
        ("well_known" | "oauth" | "apps" | "emails", _) => Case::get(&*row.path),
        _ => return None,
    };
    Some(case)
}
