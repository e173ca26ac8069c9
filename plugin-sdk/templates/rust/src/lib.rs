//! {{title}}.

use rookery_plugin::prelude::*;

#[plugin]
struct {{Name}};

#[derive(Serialize, Row)]
struct Item {
    id: Id,
    text: String,
}

/// `GET /api/v1/{{name}}`
#[route(get, "/api/v1/{{name}}", scopes = ["read:lists"])]
fn index(ctx: &Context) -> Result<Output> {
    let items: Vec<Item> = sql::items_of(ctx.account()).all()?;
    Output::json(&items)
}

#[derive(Deserialize)]
struct Create {
    text: String,
}

/// `POST /api/v1/{{name}}`
#[route(post, "/api/v1/{{name}}", scopes = ["write:lists"])]
fn create(ctx: &Context, Params(Create { text }): Params<Create>) -> Result<Output> {
    if text.is_empty() {
        return Err(Error::invalid("text: is empty"));
    }
    let item: Item = sql::add(ctx.account(), &text).one()?;
    Output::json(&item)
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;

    #[test]
    fn items_are_their_authors_own() {
        let fake = Fake::new::<{{Name}}>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));

        let made = fake.post("/api/v1/{{name}}").as_account(alice).form(&[("text", "tea")]).send().ok();

        assert_eq!(fake.get("/api/v1/{{name}}").as_account(alice).send().ok(), json!([made]));
        assert_eq!(fake.get("/api/v1/{{name}}").as_account(bob).send().ok(), json!([]));
    }
}
