//! Host functions of plugins for one token of a person, and sealed texts: called without a component.

use context::change::Change;
use plugins::call::Mode;
use rookery_plugin_host::imports::streaming::Message;

use super::bench::{Bench, code};

#[tokio::test]
async fn sealed_text_is_read_for_its_purpose_alone() {
    let bench = Bench::new("").await;
    let call = bench.system(Mode::Read);
    let token = call.seal("notes", "a secret").unwrap();
    assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{token}");
    assert_ne!(token, call.seal("notes", "a secret").unwrap(), "the same looks like another");
    assert_eq!(call.open("notes", &token).as_deref(), Some("a secret"));
    assert_eq!((call.open("drafts", &token), call.open("notes", "a secret")), (None, None));
    let keys = &bench.app.app.keys;
    assert_eq!(keys.open("plugins", "notes", &token), None, "the server's own key is another");
    assert_eq!(code(call.seal("notes", &"x".repeat((64 << 10) + 1))), (413, "limit.items".to_owned()));
    assert_eq!(code(call.seal(&"x".repeat(257), "")), (413, "limit.items".to_owned()));
}

#[tokio::test]
async fn message_to_one_token_requires_a_scope_of_its_plugin() {
    let manifest = "[permissions]\ntopics = [\"token\"]\n[[scope]]\nname = \"notes\"\ndescription = \"Your notes\"\n";
    let bench = Bench::new(manifest).await;
    let mut events = bench.app.app.live.subscribe();
    let to = |topic: &str| Message { topic: topic.to_owned(), event: "filled".to_owned(), payload: "1".to_owned() };
    let call = bench.system(Mode::Read);
    assert_eq!(code(call.streaming_publish(vec![to("user:7")]).await), (403, "host.denied".to_owned()));
    for nobody in ["token", "token:", "token:x"] {
        assert_eq!(code(call.streaming_publish(vec![to(nobody)]).await), (422, "streaming.invalid".to_owned()));
    }
    call.streaming_publish(vec![to("token:7")]).await.unwrap();
    let told = events.try_recv().unwrap();
    let Change::TopicMessage { topic, scopes, .. } = &*told else { panic!("{told:?}") };
    assert_eq!((topic.as_str(), scopes.as_slice()), ("token:7", &["notes".to_owned()][..]));
    assert!(events.try_recv().is_err());
}
