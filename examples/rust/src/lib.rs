//! A private note about each account: routes, tables and a hook, in Rust.
//!
//! The folders beside this one hold the same plugin in other languages.

use rookery_plugin::prelude::*;

/// Longest note, in characters.
const LONGEST: usize = 2000;

#[plugin]
struct Notes;

#[derive(Row)]
struct Note {
    target_id: i64,
    text: String,
}

impl Note {
    fn json(&self) -> serde_json::Value {
        json!({ "account": account_hole(self.target_id), "text": self.text })
    }
}

/// `GET /api/v1/notes`
#[route(get, "/api/v1/notes", scopes = ["read:accounts"])]
fn index(ctx: &Context) -> Result<Output> {
    let notes: Vec<Note> = sql::notes_of(ctx.account()).all()?;
    Output::template(&notes.iter().map(Note::json).collect::<Vec<_>>())
}

/// `GET /api/v1/notes/{account}`
#[route(get, "/api/v1/notes/{account}", scopes = ["read:accounts"])]
fn show(ctx: &Context, account: Id) -> Result<Output> {
    let text: Option<String> = sql::note(ctx.account(), account).optional()?;
    Output::template(&Note { target_id: account.0, text: text.unwrap_or_default() }.json())
}

#[derive(Deserialize)]
struct Update {
    text: String,
}

/// `PUT /api/v1/notes/{account}`
#[route(put, "/api/v1/notes/{account}", scopes = ["write:accounts"])]
fn update(ctx: &Context, account: Id, Params(Update { text }): Params<Update>) -> Result<Output> {
    if text.chars().count() > LONGEST {
        return Err(Error::invalid(format!("text: is longer than {LONGEST} characters")));
    }
    if core::accounts(&[account])?.iter().all(Option::is_none) {
        return Err(Error::NotFound);
    }
    sql::save(ctx.account(), account, &text).exec()?;
    Output::template(&Note { target_id: account.0, text }.json())
}

/// `DELETE /api/v1/notes/{account}`
#[route(delete, "/api/v1/notes/{account}", scopes = ["write:accounts"])]
fn delete(ctx: &Context, account: Id) -> Result<Output> {
    sql::forget(ctx.account(), account).exec()?;
    Output::empty()
}

/// A block deletes the notes about the blocked account.
#[on(events, kinds = ["account.blocked"])]
fn blocked(batch: &[Event]) -> Result<()> {
    for event in batch {
        let (account, target) = event.pair("account", "target")?;
        sql::forget(account, target).exec()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;

    #[test]
    fn a_note_is_kept_for_its_author_alone() {
        let fake = Fake::new::<Notes>();
        let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
        let path = format!("/api/v1/notes/{bob}");

        let _ = fake.put(&path).as_account(alice).form(&[("text", "owes me a book")]).send().ok();

        let bob_json = json!({ "id": bob, "acct": "bob" });
        let own = fake.get("/api/v1/notes").as_account(alice).send().ok();
        assert_eq!(own, json!([{ "account": bob_json, "text": "owes me a book" }]));
        assert_eq!(fake.get("/api/v1/notes").as_account(carol).send().ok(), json!([]));
        assert_eq!(fake.get(&path).as_account(carol).send().ok()["text"], "");

        let _ = fake.delete(&path).as_account(alice).send().ok();
        assert_eq!(fake.get("/api/v1/notes").as_account(alice).send().ok(), json!([]));
    }

    #[test]
    fn mistakes_are_reported() {
        let fake = Fake::new::<Notes>();
        let alice = fake.account("alice");
        let put = |path: &str, text: &str| fake.put(path).as_account(alice).json(json!({ "text": text })).send();

        let path = format!("/api/v1/notes/{alice}");
        assert_eq!(put(&path, &"x".repeat(2001)).error(422), "text: is longer than 2000 characters");
        assert_eq!(put("/api/v1/notes/5", "x").error(404), "Record not found");
        assert_eq!(put("/api/v1/notes/x", "x").error(404), "Record not found");
        assert_eq!(fake.put(&path).as_account(alice).send().error(422), "text: is missing");
        assert_eq!(fake.get(&path).send().status, 401);
        assert_eq!(fake.get(&path).as_account(alice).with_scopes(&["write"]).send().status, 403);
    }

    #[test]
    fn a_block_takes_the_note_away() {
        let fake = Fake::new::<Notes>();
        let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
        let _ = fake.put(&format!("/api/v1/notes/{bob}")).as_account(alice).form(&[("text", "a")]).send().ok();

        let subject = Subject::Json(json!({ "account": alice, "target": bob }).to_string());
        let block = fake.event("account.blocked", Some(alice), subject);
        assert_eq!(fake.events(&[block]), Ok(()));

        assert_eq!(fake.get("/api/v1/notes").as_account(alice).send().ok(), json!([]));
    }
}
