//! Recipes for showing data of an account to others.

use rookery_plugin::prelude::*;

use crate::sql;

#[route(post, "/api/v1/shelves/{id}/link", scopes = ["write:lists"])]
fn share(ctx: &Context, id: Id) -> Result<Output> {
    sql::shelf(id, ctx.account()).one::<(Id, String)>()?;
    let secret: String = system::random(16).iter().map(|byte| format!("{byte:02x}")).collect();
    sql::set_link(id, &secret).exec()?;
    Output::json(&json!({ "path": format!("/api/v1/shared/{secret}") }))
}

#[route(get, "/api/v1/shared/{secret}")]
fn shared(secret: String, page: Page) -> Result<Output> {
    let shelf: Id = sql::linked_shelf(&secret).one()?;
    sql::batch([sql::count_visit(shelf), sql::count_day()])?;
    let ids: Vec<i64> = sql::statuses_on(shelf, &page).all()?;
    Ok(Output::statuses(ids.iter().copied())?.with_cursor(&ids, page.limit))
}

#[derive(Deserialize)]
struct Readers {
    accts: Vec<String>,
}

#[route(get, "/api/v1/shelves/{id}/readers", scopes = ["read:lists"])]
fn readers(ctx: &Context, id: Id, Query(asked): Query<Readers>) -> Result<Output> {
    if asked.accts.len() > 20 {
        return Err(Error::invalid("accts: more than 20"));
    }
    sql::shelf(id, ctx.account()).one::<(Id, String)>()?;
    let written: Vec<i64> = sql::written_by(ctx.account(), id).all()?;
    let mut readers = Vec::new();
    for account in core::accounts_by_acct(&asked.accts)?.into_iter().flatten().filter(|account| !account.suspended()) {
        let seen = core::visible(Viewer::Account(account.id), &written)?;
        if seen.iter().all(|seen| *seen) {
            readers.push(account.id);
        }
    }
    Output::accounts(readers)
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    /// Alice's shelf with a public and a private status of hers.
    fn shelf(fake: &Fake) -> Id {
        let alice = fake.account("alice");
        let open = fake.status(alice, "open");
        let private = fake.status_with(alice, "private", |status| status.visibility = 2);
        let _ = fake.post("/api/v1/shelves").as_account(alice).form(&[("title", "a")]).send().ok();
        let fill = json!({ "status_ids": [open, private] });
        let _ = fake.post("/api/v1/shelves/1/statuses").as_account(alice).json(fill).send().ok();
        alice
    }

    #[test]
    fn a_link_shows_a_shelf_until_there_is_another() {
        let fake = Fake::new::<Cookbook>();
        let alice = shelf(&fake);
        let share = || {
            let link = fake.post("/api/v1/shelves/1/link").as_account(alice).send().ok();
            link["path"].as_str().unwrap().to_owned()
        };
        let first = share();
        assert_eq!(first.len(), "/api/v1/shared/".len() + 32);
        let statuses = fake.get(&first).send().ok();
        assert_eq!(statuses.as_array().unwrap().len(), 1, "an anonymous viewer sees public entries");
        assert_eq!(statuses[0]["content"], "open");
        assert_eq!(fake.execute("DELETE FROM links WHERE visits = 1"), 1);
        assert_eq!(fake.execute("DELETE FROM daily_visits WHERE visits = 1"), 1);

        let first = share();
        assert_ne!(share(), first);
        assert_eq!(fake.get(&first).send().status, 404);
    }

    #[test]
    fn only_who_sees_everything_is_a_reader() {
        let fake = Fake::new::<Cookbook>();
        let alice = shelf(&fake);
        let [bob, _carol] = ["bob", "carol"].map(|name| fake.account(name));
        fake.follow(bob, alice);
        let path = "/api/v1/shelves/1/readers?accts[]=bob&accts[]=carol&accts[]=nobody";
        let readers = fake.get(path).as_account(alice).send().ok();
        assert_eq!(readers, json!([{ "id": bob, "acct": "bob" }]));
        assert_eq!(fake.get(path).as_account(bob).send().status, 404, "the shelf is alice's");
    }
}
