//! Recipes for a timeline of the plugin's own.

use rookery_plugin::prelude::*;

use crate::sql;

#[on(fanout)]
fn photos_feed(batch: &[Status]) -> Result<Vec<Entry>> {
    let entry =
        |status: &Status| Entry { feed: feeds::custom("photos", 0), viewer: None, status: status.id, push: false };
    Ok(batch.iter().map(entry).collect())
}

#[route(get, "/api/v1/timelines/photos", scopes = ["read:statuses"])]
fn photos(page: Page) -> Result<Output> {
    let ids = feeds::range(&feeds::custom("photos", 0), page)?;
    Ok(Output::statuses(ids.iter().copied())?.with_cursor(&ids, page.limit))
}

#[derive(Deserialize)]
struct Tagged {
    tags: Vec<String>,
}

#[route(post, "/api/v1/timelines/photos", scopes = ["write:lists"])]
fn add_photos(Params(asked): Params<Tagged>) -> Result<Output> {
    let tags: Vec<String> = core::normalise("hashtag", &asked.tags)?.into_iter().flatten().collect();
    let older: Vec<i64> = sql::photos_tagged(tags).all()?;
    let entry = |status| Entry { feed: feeds::custom("photos", 0), viewer: None, status, push: false };
    let entries: Vec<Entry> = older.into_iter().map(entry).collect();
    Output::json(&json!({ "added": feeds::insert(&entries)? }))
}

#[route(delete, "/api/v1/timelines/photos/{status}", scopes = ["write:lists"])]
fn remove_photo(ctx: &Context, status: Id) -> Result<Output> {
    let photo = core::statuses(Viewer::Caller, &[status])?.pop().flatten().ok_or(Error::NotFound)?;
    if photo.account != ctx.account() && !ctx.is_moderator() {
        return Err(Error::forbidden("This action is not allowed"));
    }
    feeds::remove(&feeds::custom("photos", 0), &[status])?;
    Output::empty()
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    #[test]
    fn pictures_have_a_timeline() {
        let fake = Fake::new::<Cookbook>();
        let alice = fake.account("alice");
        let picture = fake.status_with(alice, "a cat", |status| status.media_count = 1);
        assert_eq!(fake.fan_out(&[picture]).unwrap().len(), 1);
        let page = fake.get("/api/v1/timelines/photos").as_account(alice).send().ok();
        assert_eq!(page[0]["content"], "a cat");
    }

    #[test]
    fn older_photos_are_added_and_photos_are_removed() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob, mo] = ["alice", "bob", "mo"].map(|name| fake.account(name));
        let photo = |text: &str| fake.status_with(alice, text, |status| status.media_count = 1);
        let [cat, dog] = ["a #Cat", "a #dog"].map(photo);
        let _ = (photo("a tree"), fake.status(alice, "a #cat, but no photo"));
        let add = |role: u8| {
            let tags = json!({ "tags": ["#CAT", "dog", "#CAT #dog"] });
            fake.post("/api/v1/timelines/photos").as_account(mo).with_role(role).json(tags).send()
        };
        assert_eq!(add(1).status, 403);
        assert_eq!(add(2).ok(), json!({ "added": 2 }));
        let kept = || fake.state(|state| state.feed(&feeds::custom("photos", 0)));
        assert_eq!(kept(), [dog.0, cat.0]);

        let remove = |photo: Id| fake.delete(&format!("/api/v1/timelines/photos/{photo}"));
        assert_eq!(remove(cat).as_account(bob).send().status, 403);
        let _ = remove(cat).as_account(alice).send().ok();
        let _ = remove(dog).as_account(mo).with_role(2).send().ok();
        assert_eq!(kept(), [0; 0]);
    }
}
