//! Recipes for jobs: work at a certain time, and more work than fits into one call.

use rookery_plugin::prelude::*;

use crate::sql;

#[derive(Deserialize)]
struct Delay {
    minutes: u32,
}

#[derive(Serialize, Deserialize)]
struct Announce {
    shelf: Id,
    account: Id,
}

#[route(post, "/api/v1/shelves/{id}/announcement", scopes = ["write:statuses"])]
fn announce_later(ctx: &Context, id: Id, Params(delay): Params<Delay>) -> Result<Output> {
    sql::shelf(id, ctx.account()).one::<(Id, String)>()?;
    let job = queue::Job {
        not_before: Some(system::now() + i64::from(delay.minutes) * 60_000),
        unique: Some(id.to_string()),
        max_attempts: 3,
        ..queue::job("announce", &Announce { shelf: id, account: ctx.account() })?
    };
    if queue::enqueue(&[job])? == 0 {
        return Err(Error::Conflict("The shelf is to be announced already".into()));
    }
    Ok(Output::empty()?.with_status(202))
}

#[job("announce")]
fn announce(task: &Task) -> Result<Outcome> {
    let Announce { shelf, account } = task.payload()?;
    let Some((shelf, title)) = sql::shelf(shelf, account).optional::<(Id, String)>()? else {
        return Ok(Outcome::GiveUp("the shelf is gone".into()));
    };
    let status = core_write::NewStatus {
        author: account.0,
        text: format!("I keep a shelf: {title}"),
        spoiler: String::new(),
        visibility: 0,
        language: None,
        reply_to: None,
        media: Vec::new(),
        recipients: Vec::new(),
        extra: None,
        idempotency_key: format!("announce:{}", task.id),
    };
    for published in core_write::create_statuses(&[status])? {
        match published {
            Ok(status) => sql::set_announcement(shelf, status).exec()?,
            Err(error) if error.status() < 500 => return Ok(Outcome::GiveUp(error.to_string())),
            Err(error) => return Err(error),
        };
    }
    Ok(Outcome::Done)
}

#[route(delete, "/api/v1/shelves/{id}/announcement", scopes = ["write:statuses"])]
fn take_back(ctx: &Context, id: Id) -> Result<Output> {
    sql::shelf(id, ctx.account()).one::<(Id, String)>()?;
    if queue::cancel("announce", &[id.to_string()])? == 0 {
        let published: Vec<i64> = sql::forget_announcement(id).all()?;
        core_write::delete_statuses(&published)?;
    }
    Output::empty()
}

#[on(events, kinds = ["follow.created", "follow.deleted"])]
fn audience_changed(batch: &[Event]) -> Result<()> {
    let pairs: Vec<(Id, Id)> = batch.iter().map(|event| event.pair("account", "target")).collect::<Result<_>>()?;
    sql::many::mark_stale(pairs.iter().map(|(_, target)| (target,)))?;
    queue::enqueue(&[queue::Job { unique: Some("all".into()), ..queue::job("measure", &())? }])?;
    Ok(())
}

#[job("measure")]
fn measure() -> Result<Outcome> {
    loop {
        let accounts: Vec<i64> = sql::take_stale().all()?;
        if accounts.is_empty() {
            return Ok(Outcome::Done);
        }
        sql::measure(&accounts).exec()?;
        log::trace("audiences are measured", &[("accounts", &accounts.len().to_string())]);
        if system::elapsed() > 2_000 {
            return Ok(Outcome::Again(system::now()));
        }
    }
}

#[route(get, "/api/v1/audience", scopes = ["read:accounts"])]
fn audience(ctx: &Context) -> Result<Output> {
    let servers: Option<i64> = sql::audience(ctx.account()).optional()?;
    Output::json(&json!({ "servers": servers }))
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    const PATH: &str = "/api/v1/shelves/1/announcement";

    fn announced(fake: &Fake) -> Id {
        let alice = fake.account("alice");
        let _ = fake.post("/api/v1/shelves").as_account(alice).form(&[("title", "birds")]).send().ok();
        let answer = fake.post(PATH).as_account(alice).form(&[("minutes", "30")]).send();
        assert_eq!(answer.status, 202);
        alice
    }

    #[test]
    fn a_shelf_is_announced_in_time_and_once() {
        let fake = Fake::new::<Cookbook>();
        let alice = announced(&fake);
        let again = fake.post(PATH).as_account(alice).form(&[("minutes", "5")]).send();
        assert_eq!(again.error(409), "The shelf is to be announced already");

        assert_eq!(fake.run_jobs(), 0, "it is not due");
        fake.advance(30 * 60_000);
        assert_eq!(fake.run_jobs(), 1);
        let texts =
            |fake: &Fake| fake.state(|state| state.statuses.iter().map(|one| one.text.clone()).collect::<Vec<_>>());
        assert_eq!(texts(&fake), ["I keep a shelf: birds"]);
        let _ = fake.delete(PATH).as_account(alice).send().ok();
        assert_eq!(texts(&fake), [""; 0], "published statuses are deleted");
    }

    #[test]
    fn an_announcement_that_waits_is_cancelled() {
        let fake = Fake::new::<Cookbook>();
        let alice = announced(&fake);
        let _ = fake.delete(PATH).as_account(alice).send().ok();
        fake.advance(30 * 60_000);
        assert_eq!(fake.run_jobs(), 0);
    }

    #[test]
    fn a_shelf_that_is_gone_is_not_announced() {
        let fake = Fake::new::<Cookbook>();
        let alice = announced(&fake);
        let _ = fake.execute("DELETE FROM shelves");
        let payload = json!({ "shelf": "1", "account": alice }).to_string();
        assert_eq!(fake.job("announce", &payload), Ok(Outcome::GiveUp("the shelf is gone".into())));
    }

    #[test]
    fn audiences_are_measured_in_slices() {
        let fake = Fake::new::<Cookbook>();
        let alice = fake.account("alice");
        let followers = ["bob", "carol@birds.example", "dave@birds.example", "erin@trees.example"];
        let followers = followers.map(|acct| fake.account(acct));
        let mut batch = Vec::new();
        for follower in followers {
            fake.follow(follower, alice);
            let pair = json!({ "account": follower, "target": alice }).to_string();
            batch.push(fake.event("follow.created", Some(follower), Subject::Json(pair)));
        }
        assert_eq!(fake.events(&batch), Ok(()));

        let now = fake.state(|state| {
            state.elapsed = 3_000;
            state.now
        });
        assert_eq!(fake.job("measure", "null"), Ok(Outcome::Again(now)));
        assert_eq!(fake.job("measure", "null"), Ok(Outcome::Done));
        let audience = fake.get("/api/v1/audience").as_account(alice).send().ok();
        assert_eq!(audience, json!({ "servers": 2 }));
    }
}
