//! Recipes for hooks that are asked before something happens.

use rookery_plugin::prelude::*;

#[on(status_filter)]
fn mood(_ctx: &Context, draft: &Draft) -> Result<Verdict> {
    let Some(mood) = draft.param::<String>("mood")? else { return Ok(Verdict::Pass) };
    if mood.chars().count() > 20 {
        return Ok(Verdict::Refuse(Error::invalid("mood: is longer than 20 characters").into()));
    }
    Ok(Verdict::Change(Change {
        text: Some(format!("{}\n\n({mood})", draft.text)),
        extra: Some(json!({ "mood": mood }).to_string()),
        ..Change::default()
    }))
}

#[cfg(test)]
mod tests {
    use rookery_plugin::test::Fake;

    use super::*;
    use crate::Cookbook;

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
        let Ok(Verdict::Refuse(why)) = fake.filter(&draft(json!({ "mood": "x".repeat(21) }))) else { panic!("refused") };
        assert_eq!((why.status, why.message.as_str()), (422, "mood: is longer than 20 characters"));
    }
}
