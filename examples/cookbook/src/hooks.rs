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
    for status in batch.iter().filter_map(Event::status) {
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
    let accounts = batch.iter().filter_map(Event::id);
    let keys: Vec<String> = accounts.map(|account| format!("visits:{account}")).collect();
    kv::delete(&keys)?;
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

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    #[test]
    fn hundredth_status_is_announced() {
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
        assert_eq!(told, [alice.0], "bob switched it off");
    }

    #[test]
    fn nothing_of_a_deleted_account_is_kept() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        for account in [alice, bob] {
            let _ = fake.post("/api/v1/visits").as_account(account).send().ok();
        }
        let event = fake.event("account.purged", None, Subject::Id(alice.0));
        assert_eq!(fake.events(&[event]), Ok(()));
        let left: Vec<String> = fake.state(|state| state.kv.keys().cloned().collect());
        assert_eq!(left, [format!("visits:{bob}")]);
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
}
