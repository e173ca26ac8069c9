//! Recipes for what belongs to one application of a person: a scope of the plugin's own, and what goes with a token.

use rookery_plugin::prelude::*;

#[derive(Serialize, Deserialize)]
struct Place {
    page: u32,
}

fn place_key(token: impl Into<i64>) -> String {
    format!("place:{}", token.into())
}

#[route(put, "/api/v1/shelves/{id}/place", scopes = ["shelf_places"])]
fn set_place(ctx: &Context, id: Id, Params(place): Params<Place>) -> Result<Output> {
    let token = ctx.token().ok_or(Error::NotFound)?;
    let value = json!({ "shelf": id, "page": place.page });
    kv::set(&[kv::Item { key: place_key(token), value: value.to_string().into_bytes(), expires: None }])?;
    streaming::publish(&[streaming::message(&format!("token:{token}"), "shelf_place", &value)?])?;
    Output::json(&json!({ "bookmark": sealing::seal("bookmark", &value.to_string())? }))
}

#[route(get, "/api/v1/shelf_bookmarks/{code}")]
fn open_bookmark(code: String) -> Result<Output> {
    let place = sealing::open("bookmark", &code).ok_or(Error::NotFound)?;
    Output::json(&serde_json::from_str::<serde_json::Value>(&place)?)
}

#[on(events, kinds = ["token.revoked"])]
fn forget_places(batch: &[Event]) -> Result<()> {
    let keys: Vec<String> = batch.iter().filter_map(Event::id).map(place_key).collect();
    kv::delete(&keys)?;
    Ok(())
}
