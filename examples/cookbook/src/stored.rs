//! Recipes for what accounts keep: for a while, and in a column that came later.

use rookery_plugin::prelude::*;
use serde_json::{Map, Value};

use crate::sql;

const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[route(put, "/api/v1/drafts/{name}", scopes = ["write:statuses"])]
fn keep_draft(ctx: &Context, name: String, Params(draft): Params<Text>) -> Result<Output> {
    let key = format!("draft:{}:{name}", ctx.account());
    kv::set(&[kv::Item { key, value: draft.text.into_bytes(), expires: Some(system::now() + WEEK_MS) }])?;
    Output::empty()
}

#[route(get, "/api/v1/drafts", scopes = ["read:statuses"])]
fn drafts(ctx: &Context) -> Result<Output> {
    let prefix = format!("draft:{}:", ctx.account());
    let drafts = kv::scan(&prefix, None, 100)?;
    let names: Vec<&str> = drafts.iter().filter_map(|draft| draft.key.strip_prefix(&prefix)).collect();
    Output::json(&names)
}

#[route(get, "/api/v1/drafts/{name}", scopes = ["read:statuses"])]
fn draft(ctx: &Context, name: String) -> Result<Output> {
    let found = kv::get(&[format!("draft:{}:{name}", ctx.account())])?.pop().flatten().ok_or(Error::NotFound)?;
    Output::json(&json!({ "text": String::from_utf8_lossy(&found) }))
}

#[route(delete, "/api/v1/drafts/{name}", scopes = ["write:statuses"])]
fn drop_draft(ctx: &Context, name: String) -> Result<Output> {
    kv::delete(&[format!("draft:{}:{name}", ctx.account())])?;
    Output::empty()
}

#[route(put, "/api/v1/shelves/{id}/look", scopes = ["write:lists"])]
fn set_look(ctx: &Context, id: Id, Json(look): Json<Map<String, Value>>) -> Result<Output> {
    let look = Value::Object(look);
    if sql::set_look(id, ctx.account(), &look).exec()? == 0 {
        return Err(Error::NotFound);
    }
    Output::json(&look)
}

#[route(get, "/api/v1/shelves/{id}/look", scopes = ["read:lists"])]
fn look(ctx: &Context, id: Id) -> Result<Output> {
    let look: Option<Value> = sql::look(id, ctx.account()).one()?;
    Output::json(&look.unwrap_or_else(|| json!({})))
}

#[self_test]
fn self_test() -> Result<()> {
    let (shelf, _): (Id, String) = sql::add_shelf(0, "self-test").one()?;
    sql::set_look(shelf, 0, json!({ "paper": "blue" })).exec()?;
    let look: Option<Value> = sql::look(shelf, 0).one()?;
    sql::delete_shelf(shelf, 0).exec()?;
    if look != Some(json!({ "paper": "blue" })) {
        return Err(Error::internal(format!("the look of a shelf was stored as {look:?}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    #[test]
    fn a_draft_is_kept_for_a_week() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        for name in ["one", "two", "three"] {
            let path = format!("/api/v1/drafts/{name}");
            let _ = fake.put(&path).as_account(alice).form(&[("text", "dear all")]).send().ok();
        }
        let _ = fake.delete("/api/v1/drafts/two").as_account(alice).send().ok();
        let names = |account: Id| fake.get("/api/v1/drafts").as_account(account).send().ok();
        assert_eq!((names(alice), names(bob)), (json!(["one", "three"]), json!([])));
        let one = || fake.get("/api/v1/drafts/one").as_account(alice).send();
        assert_eq!(one().ok(), json!({ "text": "dear all" }));

        fake.advance(WEEK_MS);
        assert_eq!((one().status, names(alice)), (404, json!([])));
    }

    #[test]
    fn a_look_is_returned_as_it_was_sent() {
        let fake = Fake::new::<Cookbook>();
        assert_eq!(fake.self_test(), Ok(()));
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        let _ = fake.post("/api/v1/shelves").as_account(alice).form(&[("title", "a")]).send().ok();
        let path = "/api/v1/shelves/1/look";
        let look = json!({ "paper": "blue", "columns": [1, 2] });
        assert_eq!(fake.get(path).as_account(alice).send().ok(), json!({}));
        assert_eq!(fake.put(path).as_account(alice).json(look.clone()).send().ok(), look);
        assert_eq!(fake.get(path).as_account(alice).send().ok(), look);
        assert_eq!(fake.put(path).as_account(bob).json(look).send().status, 404);
        assert_eq!(fake.put(path).as_account(alice).json(json!([])).send().status, 422);
    }
}
