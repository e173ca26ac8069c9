//! Recipes for a timeline of the plugin's own.

use rookery_plugin::prelude::*;

#[on(fanout)]
fn photos_feed(batch: &[Status]) -> Result<Vec<Entry>> {
    let entry = |status: &Status| Entry {
        feed: feeds::custom("photos", 0),
        viewer: None,
        status: status.id,
        push: false,
    };
    Ok(batch.iter().map(entry).collect())
}

#[route(get, "/api/v1/timelines/photos", scopes = ["read:statuses"])]
fn photos(page: Page) -> Result<Output> {
    let ids = feeds::range(&feeds::custom("photos", 0), page)?;
    Ok(Output::statuses(ids.iter().copied())?.with_cursor(&ids, page.limit))
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
}
