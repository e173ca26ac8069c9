//! Recipes for hooks that are asked before something happens.

use std::cell::RefCell;
use std::rc::Rc;

use rookery_plugin::contract::notification_filter;
use rookery_plugin::prelude::*;

#[on(status_filter)]
fn filter(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    check_words(draft, mood(draft)?)
}

fn mood(draft: &Draft) -> Result<Verdict> {
    let Some(mood) = draft.param::<String>("mood")? else { return Ok(Verdict::Pass) };
    if mood.chars().count() > 20 {
        return Err(Error::invalid("mood: is longer than 20 characters"));
    }
    Ok(Verdict::Change(Change {
        text: Some(format!("{}\n\n({mood})", draft.text)),
        extra: Some(json!({ "mood": mood }).to_string()),
        ..Change::default()
    }))
}

/// The words that the admin lists, in lower case.
#[derive(Deserialize)]
struct Words {
    refused_words: Vec<String>,
    sensitive_words: Vec<String>,
}

thread_local! {
    static WORDS: RefCell<Option<(u64, Rc<Words>)>> = const { RefCell::new(None) };
}

fn words() -> Result<Rc<Words>> {
    let version = config::version();
    if let Some((_, words)) = WORDS.with_borrow(|kept| kept.clone()).filter(|(of, _)| *of == version) {
        return Ok(words);
    }
    let mut words: Words = config::all()?;
    for word in words.refused_words.iter_mut().chain(&mut words.sensitive_words) {
        *word = word.to_lowercase();
    }
    let words = Rc::new(words);
    WORDS.set(Some((version, Rc::clone(&words))));
    Ok(words)
}

fn check_words(draft: &Draft, verdict: Verdict) -> Result<Verdict> {
    let words = words()?;
    let text = format!("{}\n{}", draft.spoiler, draft.text).to_lowercase();
    let has_one_of = |words: &[String]| words.iter().any(|word| text.contains(word));
    if has_one_of(&words.refused_words) {
        return Ok(Verdict::Refuse(Error::invalid("There is a word in it that is not welcome here").into()));
    }
    if !has_one_of(&words.sensitive_words) {
        return Ok(verdict);
    }
    Ok(match verdict {
        Verdict::Pass => Verdict::Change(Change { sensitive: Some(true), ..Change::default() }),
        Verdict::Change(change) => Verdict::Change(Change { sensitive: Some(true), ..change }),
        Verdict::Refuse(_) => verdict,
    })
}

#[derive(Serialize, Deserialize)]
struct Settings {
    favourites: Favourites,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Favourites {
    All,
    Quiet,
    None,
}

#[route(put, "/api/v1/shelf_settings", scopes = ["write:accounts"])]
fn set_settings(ctx: &Context, Json(settings): Json<Settings>) -> Result<Output> {
    settings::set(ctx.account(), &settings)?;
    Output::json(&settings)
}

const DELIVER: u8 = 0;
const DROP: u8 = 1;
const WITHOUT_PUSH: u8 = 2;

#[on(notification_filter)]
fn quieten(batch: &[notification_filter::Draft]) -> Result<Vec<u8>> {
    let receivers: Vec<i64> = batch.iter().map(|draft| draft.to).collect();
    let settings: Vec<Settings> = settings::get(&receivers)?;
    let judge = |(draft, settings): (&notification_filter::Draft, &Settings)| match settings.favourites {
        _ if draft.kind != "favourite" => DELIVER,
        Favourites::All => DELIVER,
        Favourites::Quiet => WITHOUT_PUSH,
        Favourites::None => DROP,
    };
    Ok(batch.iter().zip(&settings).map(judge).collect())
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

    fn draft(text: &str, params: &serde_json::Value) -> Draft {
        Draft {
            author: 1,
            text: text.into(),
            spoiler: String::new(),
            visibility: 0,
            sensitive: false,
            language: None,
            reply_to: None,
            media: Vec::new(),
            recipients: Vec::new(),
            extra: params.to_string(),
            editing: None,
        }
    }

    fn refusal(verdict: Result<Verdict>) -> (u16, String) {
        match verdict {
            Ok(Verdict::Refuse(why)) => (why.status, why.message),
            Err(error) => (error.status(), error.to_string()),
            Ok(other) => panic!("{other:?} is no refusal"),
        }
    }

    #[test]
    fn a_mood_is_written_below_the_text() {
        let fake = Fake::new::<Cookbook>();
        assert_eq!(fake.filter(&draft("hello", &json!({}))), Ok(Verdict::Pass));
        let sunny = fake.filter(&draft("hello", &json!({ "mood": "sunny" })));
        let Ok(Verdict::Change(change)) = sunny else { panic!("a change") };
        assert_eq!(change.text.as_deref(), Some("hello\n\n(sunny)"));
        let long = fake.filter(&draft("hello", &json!({ "mood": "x".repeat(21) })));
        assert_eq!(refusal(long), (422, "mood: is longer than 20 characters".into()));
        assert_eq!(refusal(fake.filter(&draft("hello", &json!({ "mood": ["a"] })))).0, 422);
    }

    #[test]
    fn words_are_read_again_when_the_admin_changes_them() {
        let fake = Fake::new::<Cookbook>();
        fake.configure("refused_words", json!(["Casino"]));
        let casino = draft("win at the CASINO", &json!({ "mood": "rich" }));
        assert_eq!(refusal(fake.filter(&casino)).0, 422);
        assert!(matches!(fake.filter(&draft("hello", &json!({}))), Ok(Verdict::Pass)));
        assert_eq!(fake.state(|state| state.calls["config.all"]), 1, "a warm instance remembers them");

        fake.configure("refused_words", json!([]));
        fake.configure("sensitive_words", json!(["casino"]));
        let Ok(Verdict::Change(change)) = fake.filter(&casino) else { panic!("a change") };
        assert_eq!((change.sensitive, change.text.is_some()), (Some(true), true));
    }

    #[test]
    fn favourites_are_quiet_on_request() {
        let fake = Fake::new::<Cookbook>();
        let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
        for (account, favourites) in [(bob, "quiet"), (carol, "none")] {
            let settings = json!({ "favourites": favourites });
            let _ = fake.put("/api/v1/shelf_settings").as_account(account).json(settings).send().ok();
        }
        let wrong = json!({ "favourites": "loud" });
        assert_eq!(fake.put("/api/v1/shelf_settings").as_account(bob).json(wrong).send().status, 422);

        let draft = |to: Id, kind: &str| notification_filter::Draft {
            to: to.0,
            from: alice.0,
            kind: kind.into(),
            status: None,
        };
        let batch =
            [draft(alice, "favourite"), draft(bob, "favourite"), draft(carol, "favourite"), draft(carol, "follow")];
        assert_eq!(fake.judge(&batch), Ok(vec![DELIVER, WITHOUT_PUSH, DROP, DELIVER]));
    }
}
