//! Recipes for hooks.

use std::collections::BTreeMap;

use rookery_plugin::prelude::*;

use crate::sql;

#[derive(Deserialize)]
struct Settings {
    milestones: bool,
}

#[on(events, kinds = ["status.created"])]
fn count(batch: &[Event]) -> Result<()> {
    let mut new: BTreeMap<i64, i64> = BTreeMap::new();
    for status in batch.iter().filter_map(Event::status).filter(|status| status.local) {
        *new.entry(status.account).or_default() += 1;
    }
    for (account, by) in new {
        let count: i64 = sql::tally(account, by).one()?;
        if (count - by) / 100 < count / 100 {
            queue::enqueue(&[queue::job("tell", &Tell { account: Id(account), count })?])?;
        }
    }
    Ok(())
}

#[on(events, kinds = ["account.purged"])]
fn forget(batch: &[Event]) -> Result<()> {
    for account in batch.iter().filter_map(Event::id) {
        sql::forget_tally(account).exec()?;
    }
    Ok(())
}

#[derive(Serialize, Deserialize)]
struct Tell {
    account: Id,
    count: i64,
}

#[job("tell")]
fn tell(task: &Task) -> Result<()> {
    let Tell { account, count } = task.payload()?;
    let wanted: Vec<Settings> = settings::get(&[account])?;
    if wanted.iter().any(|settings| settings.milestones) {
        core_write::notify(&[core_write::NewNotification {
            to: account.0,
            from: account.0,
            kind: "milestone".into(),
            activity: count,
            status: None,
        }])?;
    }
    Ok(())
}

#[derive(Row)]
struct Count {
    status_id: i64,
    count: i64,
}

#[on(decorate, kind = "status")]
fn shelved(_viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    let ids: Vec<i64> = targets.iter().map(|target| target.id).collect();
    let counts: Vec<Count> = sql::shelved_counts(&ids).all()?;
    let counts: BTreeMap<i64, i64> = counts.iter().map(|row| (row.status_id, row.count)).collect();
    let mut extras = Extras::new();
    for (index, target) in targets.iter().enumerate() {
        if let Some(count) = counts.get(&target.id) {
            extras.set(index, "shelved_count", count)?;
        }
    }
    Ok(extras)
}

#[on(status_filter)]
fn mood(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    let Some(mood) = draft.param::<String>("mood")? else { return Ok(Verdict::Pass) };
    if mood.chars().count() > 20 {
        return Err(Error::invalid("mood: is longer than 20 characters"));
    }
    Ok(Verdict::Change(Change {
        text: Some(format!("{}\n\n({mood})", draft.text)),
        spoiler: None,
        visibility: None,
        limited_scope: None,
        sensitive: None,
        language: None,
        recipients: None,
        extra: Some(json!({ "mood": mood }).to_string()),
    }))
}

#[on(fanout)]
fn photos_feed(batch: &[Status]) -> Result<Vec<Entry>> {
    let pictures = batch.iter().filter(|status| status.reblog_of.is_none());
    Ok(pictures
        .map(|status| Entry { feed: feeds::custom("photos", 0), viewer: None, status: status.id, push: false })
        .collect())
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
    fn the_hundredth_status_is_told() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        fake.set(bob, "milestones", false);
        for account in [alice, bob] {
            for _ in 0..100 {
                let id = fake.status(account, "hi");
                let status = fake.state(|state| state.statuses.iter().find(|status| id == status.id).cloned());
                let event = fake.event("status.created", Some(account), Subject::Status(status.unwrap()));
                assert_eq!(fake.events(&[event]), Ok(()));
            }
        }
        assert_eq!(fake.run_jobs(), 2);
        let told: Vec<i64> = fake.state(|state| state.notifications.iter().map(|note| note.to).collect());
        assert_eq!(told, [alice.0], "bob asked not to be told");
    }

    #[test]
    fn a_page_is_decorated_by_one_statement() {
        let fake = Fake::new::<Cookbook>();
        let alice = fake.account("alice");
        let [first, second] = ["a", "b"].map(|text| fake.status(alice, text));
        let _ = fake.post("/api/v1/shelves").as_account(alice).form(&[("title", "a")]).send().ok();
        let fill = json!({ "status_ids": [second] });
        let _ = fake.post("/api/v1/shelves/1/statuses").as_account(alice).json(fill).send().ok();

        let before = fake.state(|state| state.calls.get("sql.query").copied());
        let extras = fake.decorate(Some(alice), "status", &[first, second]).unwrap();
        assert_eq!((extras[0].get("shelved_count"), extras[1].get("shelved_count")), (None, Some(&json!(1))));
        let after = fake.state(|state| state.calls.get("sql.query").copied());
        assert_eq!(after, before.map(|count| count + 1));
    }

    #[test]
    fn a_mood_is_written_below_the_text() {
        let fake = Fake::new::<Cookbook>();
        let alice = fake.account("alice");
        let draft = |extra: serde_json::Value| Draft {
            author: alice.0,
            text: "hello".into(),
            spoiler: String::new(),
            visibility: 0,
            sensitive: false,
            language: None,
            reply_to: None,
            media: Vec::new(),
            recipients: Vec::new(),
            extra: extra.to_string(),
            editing: None,
        };
        assert_eq!(fake.filter(&draft(json!({}))), Ok(Verdict::Pass));
        let Ok(Verdict::Change(change)) = fake.filter(&draft(json!({ "mood": "sunny" }))) else { panic!("a change") };
        assert_eq!(change.text.as_deref(), Some("hello\n\n(sunny)"));
        assert!(fake.filter(&draft(json!({ "mood": "x".repeat(21) }))).is_err());
    }

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
