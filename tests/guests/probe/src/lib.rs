//! Implements every hook: the texts of tests are commands.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "called by the sandbox alone"))]

use std::sync::OnceLock;

use rookery_plugin::contract::decorate::Target;
use rookery_plugin::contract::events::Event;
use rookery_plugin::contract::notification_filter;
use rookery_plugin::contract::types::{Failure, Fields};
use rookery_plugin::prelude::*;

#[plugin]
struct Probe;

/// The name it goes by: tests give it several.
static NAME: OnceLock<String> = OnceLock::new();

fn name() -> &'static str {
    NAME.get().map_or("probe", String::as_str)
}

#[init]
fn init(environment: &Environment) -> Result<()> {
    let _ = NAME.set(environment.plugin.clone());
    Ok(())
}

/// `trap NAME`, `refuse`, `order`, `private`, `public`, `spy ID`, `wordless`, `klingon`; anything else passes.
#[on(status_filter)]
fn before_save(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    let text = &draft.text;
    assert!(!text.contains(&format!("trap {}", name())), "as asked");
    if text.contains("refuse") {
        return Ok(Verdict::Refuse(failure("no such words here")));
    }
    let mut change = nothing();
    if text.contains("order") {
        change.text = Some(format!("{text} {}", name()));
    }
    if text.contains("private") {
        change.visibility = Some(2);
    }
    if text.contains("public") {
        change.visibility = Some(0);
    }
    if let Some(spy) = text.split_once("spy ").and_then(|(_, id)| id.split_whitespace().next()?.parse().ok()) {
        change.visibility = Some(4);
        change.limited_scope = Some("circle".to_owned());
        change.recipients = Some(vec![spy]);
    }
    for (word, language) in [("wordless", ""), ("klingon", "tlh")] {
        if text.contains(word) {
            change.language = Some(language.to_owned());
        }
    }
    if text.contains("long") {
        change.text = Some("a".repeat(100_000));
    }
    if let Some(mood) = draft.param::<String>("mood")? {
        change.extra = Some(json!({ "mood": mood, "was": draft.text }).to_string());
    }
    let circle = draft.param::<String>("visibility")?.is_some_and(|word| word == "circle");
    if let Some(member) = draft.param::<Id>("circle_id")?.filter(|_| circle) {
        change.limited_scope = Some("circle".to_owned());
        change.recipients = Some(vec![member.0]);
    }
    Ok(Verdict::Change(change))
}

fn nothing() -> Change {
    Change {
        text: None,
        spoiler: None,
        visibility: None,
        limited_scope: None,
        sensitive: None,
        language: None,
        recipients: None,
        extra: None,
        new_conversation: false,
    }
}

fn failure(message: &str) -> Failure {
    Failure { status: 422, code: "probe.refused".to_owned(), message: message.to_owned(), detail: None }
}

/// Stores events. `poison` always fails, `later` fails for ten seconds.
#[on(events)]
fn hear(batch: &[Event]) -> Result<()> {
    for event in batch {
        let text = event.status().map(|status| status.text.trim().to_owned());
        let detail = match (&text, &event.subject) {
            (Some(text), _) => text.clone(),
            (None, rookery_plugin::contract::events::Subject::Json(json)) => json.clone(),
            (None, rookery_plugin::contract::events::Subject::Account(account)) => account.acct.clone(),
            (None, _) => String::new(),
        };
        let seq = i64::try_from(event.seq).map_err(Error::internal)?;
        sql::hear(seq, &event.kind, event.id().unwrap_or_default(), &detail).exec()?;
        assert!(!detail.contains("poison"), "as asked");
        assert!(!detail.contains("later") || system::now() >= event.at + 10_000, "as asked");
    }
    Ok(())
}

/// `for ID`: puts it into that person's home.
#[on(fanout)]
fn place(batch: &[Status]) -> Result<Vec<Entry>> {
    let wanted = |status: &Status| {
        let person = status.text.split_once("for ")?.1.split_whitespace().next()?.parse().ok()?;
        Some(Entry { feed: Feed::Home(person), viewer: None, status: status.id, push: false })
    };
    Ok(batch.iter().filter_map(wanted).collect())
}

/// No favourites; reblogs in silence.
#[on(notification_filter)]
fn judge(batch: &[notification_filter::Draft]) -> Result<Vec<u8>> {
    let code = |draft: &notification_filter::Draft| match draft.kind.as_str() {
        "favourite" => 1,
        "reblog" => 2,
        _ => 0,
    };
    Ok(batch.iter().map(code).collect())
}

/// Returns its parameters, and more than it may.
#[on(decorate, kind = "status")]
fn decorate(viewer: Option<Id>, targets: &[Target]) -> Result<Extras> {
    assert!(!name().starts_with("broken"), "as asked");
    let mut extras = Extras::new();
    for (index, target) in targets.iter().enumerate() {
        if target.id % 2 == 0 || !name().starts_with("sparse") {
            let said = json!({ "id": target.id.to_string(), "owner": target.owner.to_string(), "viewer": viewer });
            extras.set(index, &format!("by_{}", name()), &said)?;
        }
        extras.set(index, "content", "mine")?;
    }
    extras.set(100_000, &format!("by_{}", name()), "nobody's")?;
    Ok(extras)
}

/// Adds a member, and tries to change one.
#[on(instance_info)]
fn describe(document: &str) -> Result<Fields> {
    let said = json!({ "document": document }).to_string();
    Ok(vec![(format!("configuration.told_{}", name()), said), ("title".to_owned(), "\"Mine\"".to_owned())])
}
