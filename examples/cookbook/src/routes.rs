//! Recipes for routes.

use rookery_plugin::prelude::*;

use crate::sql;

#[derive(Serialize, Row)]
struct Shelf {
    id: Id,
    title: String,
}

#[route(get, "/api/v1/shelves", scopes = ["read:lists"])]
fn shelves(ctx: &Context, page: Page) -> Result<Output> {
    let shelves: Vec<Shelf> = sql::shelves_of(ctx.account(), &page).all()?;
    let ids: Vec<i64> = shelves.iter().map(|shelf| shelf.id.0).collect();
    Ok(Output::json(&shelves)?.with_cursor(&ids, page.limit))
}

#[derive(Deserialize)]
struct NewShelf {
    title: String,
}

#[route(post, "/api/v1/shelves", scopes = ["write:lists"])]
fn create_shelf(ctx: &Context, Params(new): Params<NewShelf>) -> Result<Output> {
    let most: i64 = config::get("shelves_max")?.unwrap_or(10);
    sql::hold_owner(ctx.account()).exec()?;
    if sql::count_shelves(ctx.account()).one::<i64>()? >= most {
        return Err(Error::invalid(format!("You have {most} shelves already")));
    }
    let shelf: Shelf =
        sql::add_shelf(ctx.account(), &new.title).one().on_unique(|| Error::invalid("Title has already been taken"))?;
    Output::json(&shelf)
}

#[derive(Deserialize)]
struct Fill {
    status_ids: Vec<Id>,
}

#[route(post, "/api/v1/shelves/{id}/statuses", scopes = ["write:lists"])]
fn fill_shelf(ctx: &Context, id: Id, Params(fill): Params<Fill>) -> Result<Output> {
    let shelf: Shelf = sql::shelf(id, ctx.account()).one()?;
    if core::visible(Viewer::Caller, &fill.status_ids)?.contains(&false) {
        return Err(Error::NotFound);
    }
    sql::many::put_on_shelf(fill.status_ids.iter().map(|status| (shelf.id, status)))?;
    Output::empty()
}

#[route(get, "/api/v1/shelves/{id}/statuses", scopes = ["read:lists"])]
fn shelf_statuses(ctx: &Context, id: Id, page: Page) -> Result<Output> {
    let shelf: Shelf = sql::shelf(id, ctx.account()).one()?;
    let ids: Vec<i64> = sql::statuses_on(shelf.id, &page).all()?;
    Ok(Output::statuses(ids.iter().copied())?.with_cursor(&ids, page.limit))
}

#[route(get, "/api/v1/shelves/{id}", scopes = ["read:lists"])]
fn shelf(ctx: &Context, id: Id) -> Result<Output> {
    let shelf: Shelf = sql::shelf(id, ctx.account()).one()?;
    let first = Page { max_id: None, since_id: None, min_id: None, limit: 3 };
    let newest: Vec<i64> = sql::statuses_on(shelf.id, &first).all()?;
    Output::template(&json!({
        "id": shelf.id,
        "title": shelf.title,
        "owner": account_hole(ctx.account()),
        "newest": newest.into_iter().map(status_hole).collect::<Vec<_>>(),
    }))
}

#[route(post, "/api/v1/visits", scopes = ["write:accounts"])]
fn visits(ctx: &Context) -> Result<Output> {
    let count = kv::add(&format!("visits:{}", ctx.account()), 1)?;
    Output::json(&json!({ "visits": count }))
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    #[test]
    fn shelves_are_paged_and_their_titles_unique() {
        let fake = Fake::new::<Cookbook>();
        fake.configure("shelves_max", 3);
        let alice = fake.account("alice");
        let make = |title: &str| fake.post("/api/v1/shelves").as_account(alice).form(&[("title", title)]).send();
        for title in ["a", "b", "c"] {
            assert_eq!(make(title).ok()["title"], title);
        }
        assert_eq!(make("d").error(422), "You have 3 shelves already");
        fake.configure("shelves_max", 4);
        assert_eq!(make("a").error(422), "Title has already been taken");

        let first = fake.get("/api/v1/shelves?limit=2").as_account(alice).send();
        let next = first.cursor.as_ref().and_then(|cursor| cursor.next_max);
        assert_eq!(first.ok(), json!([{ "id": "3", "title": "c" }, { "id": "2", "title": "b" }]));
        let second = fake.get(&format!("/api/v1/shelves?max_id={}", next.unwrap())).as_account(alice).send();
        assert_eq!(second.ok(), json!([{ "id": "1", "title": "a" }]));
    }

    #[test]
    fn only_statuses_that_one_may_see_are_shelved_and_shown() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        let open = fake.status(bob, "open");
        let direct = fake.status_with(bob, "direct", |status| status.visibility = 3);
        let _ = fake.post("/api/v1/shelves").as_account(alice).form(&[("title", "a")]).send().ok();

        let fill = |id: Id| {
            let path = "/api/v1/shelves/1/statuses";
            fake.post(path).as_account(alice).json(json!({ "status_ids": [id] })).send()
        };
        assert_eq!(fill(direct).status, 404);
        assert_eq!(fill(open).ok(), json!({}));

        let statuses = fake.get("/api/v1/shelves/1/statuses").as_account(alice).send().ok();
        assert_eq!(statuses[0]["content"], "open");
        let shelf = fake.get("/api/v1/shelves/1").as_account(alice).send().ok();
        assert_eq!((&shelf["owner"]["acct"], &shelf["newest"][0]["content"]), (&json!("alice"), &json!("open")));
        assert_eq!(fake.get("/api/v1/shelves/1").as_account(bob).send().status, 404);

        let among = |caller: Id| crate::sql::shelved_among(vec![open.0, direct.0], caller).all::<Id>().unwrap();
        assert_eq!((among(alice), among(bob)), (vec![open], Vec::new()));
    }

    #[test]
    fn visits_are_counted_without_sql() {
        let fake = Fake::new::<Cookbook>();
        let alice = fake.account("alice");
        let visit = || fake.post("/api/v1/visits").as_account(alice).send().ok();
        assert_eq!((visit(), visit()), (json!({ "visits": 1 }), json!({ "visits": 2 })));
    }
}
