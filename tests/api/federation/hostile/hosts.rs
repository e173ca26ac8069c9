//! Host names that look like others, or that readers read in different ways.

use serde_json::json;

use super::{Scene, text};
use crate::harness::Letter;
use crate::harness::liar::{KEY, with};

impl Scene {
    /// Ways to write `path` of Mallory's host, or of this one, that do not name it as it is.
    fn deceptive(&self, path: &str) -> Vec<String> {
        let host = &self.liar.domain;
        let port = host.rsplit(':').next().unwrap();
        [
            format!("http://localhost:3000@{host}"),
            format!("http://{host}@localhost:3000"),
            format!("http://mallory:secret@{host}"),
            format!("http://{host}\\@localhost:3000"),
            format!("http:\\\\{host}"),
            format!("http:/{host}"),
            format!("http:{host}"),
            format!("//{host}"),
            host.clone(),
            format!("http://127.0.0.1.:{port}"),
            format!("http://127%2e0%2e0%2e1:{port}"),
            format!("http://%31%32%37.0.0.1:{port}"),
            format!("http://2130706433:{port}"),
            format!("http://0x7f000001:{port}"),
            format!("http://0177.0.0.1:{port}"),
            format!("http://0177.0.0.01:{port}"),
            format!("http://127.1:{port}"),
            format!("http://[::ffff:127.0.0.1]:{port}"),
            format!("http://[::ffff:7f00:1]:{port}"),
            format!("http://127\u{3002}0\u{3002}0\u{3002}2:{port}"),
            format!("http://0.0.0.0:{port}"),
            format!("http://localhost.:{port}"),
            format!("ht\ntp://{host}"),
            format!("http://127.0.0.1\t:{port}"),
            format!(" http://{host}"),
            format!("http://{host} "),
            "http://localhost:3000".to_owned(),
            "http://LOCALHOST:3000".to_owned(),
            "http://localhost:03000".to_owned(),
            "http://localhost.:3000".to_owned(),
            "http://\u{2113}ocalhost:3000".to_owned(),
            "http://\u{ff4c}ocalhost:3000".to_owned(),
        ]
        .into_iter()
        .map(|origin| format!("{origin}{path}"))
        .collect()
    }
}

#[tokio::test]
async fn note_at_a_deceptive_host_is_not_stored() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    for id in scene.deceptive("/users/mallory/notes/1") {
        for object in [json!(id), with(scene.mallory.note("1"), &json!({ "id": id }))] {
            let result = scene.send(&scene.mallory, &scene.mallory.activity("Create", object)).await;
            assert_eq!(result, "Create foreign_object", "{id:?}");
        }
    }
    assert_eq!(scene.app.count("statuses").await, 0);
    assert_eq!(scene.liar.asked("/users/mallory/notes/1"), 0);
}

#[tokio::test]
async fn author_at_a_deceptive_host_is_not_believed() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    for author in scene.deceptive("/users/mallory") {
        let note = with(scene.mallory.note("1"), &json!({ "attributedTo": author }));
        let result = scene.send(&scene.mallory, &scene.mallory.activity("Create", note.clone())).await;
        assert_eq!(result, "Create disbelieved", "{author:?}");
        let url = scene.liar.document("/users/mallory/notes/1", &note);
        assert_eq!(scene.open(&url).await, None, "{author:?}");
    }
}

#[tokio::test]
async fn actor_at_a_deceptive_host_is_not_stored() {
    let scene = Scene::new().await;
    for id in scene.deceptive("/users/mallory") {
        scene.mallory.change_actor(&json!({
            "id": id, "publicKey": { "id": scene.mallory.key_id, "owner": id, "publicKeyPem": KEY.public },
        }));
        assert_eq!(scene.search(&scene.mallory.address()).await, None, "{id:?}");
        let follow = with(scene.mallory.activity("Follow", scene.alice_uri("")), &json!({ "actor": id }));
        let answer = scene.mallory.letter(&scene.app, &follow).send(&scene.app).await;
        assert_eq!(answer.status, 401, "{id:?}: {}", answer.text());
        scene.app.app.clock.advance(chrono::Duration::minutes(6));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn key_at_a_deceptive_host_does_not_sign() {
    let scene = Scene::new().await;
    let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
    for key_id in scene.deceptive("/users/mallory#main-key") {
        if !key_id.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
            // No header can have it.
            continue;
        }
        let letter = Letter::new(&scene.app, "/inbox", follow.to_string()).signed(&key_id, &KEY);
        let (status, reason) = scene.refuse(&letter).await;
        let expected = [(401, "forged"), (403, "own_domain"), (401, "malformed"), (401, "no_key")];
        assert!(expected.contains(&(status, reason.as_str())), "{key_id:?}: {status} {reason}");
    }
    // The same machine by an address of IPv6 is another host, which may be asked; it says nothing about Mallory's.
    assert_eq!(scene.liar.asked("/users/mallory"), 1);
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn self_link_to_a_deceptive_host_is_not_followed() {
    let scene = Scene::new().await;
    for href in scene.deceptive("/users/mallory") {
        let links = json!([{ "rel": "self", "type": "application/activity+json", "href": href }]);
        scene.mallory.set_webfinger("mallory", &with(scene.mallory.webfinger(), &json!({ "links": links })));
        if let Some(found) = scene.search(&scene.mallory.address()).await {
            panic!("{href:?} leads to {found}");
        }
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        scene.refuses(&scene.mallory, &follow, 401, "no_key").await;
        scene.app.app.clock.advance(chrono::Duration::minutes(6));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn subject_at_a_deceptive_host_is_not_believed() {
    let scene = Scene::new().await;
    let host = scene.liar.domain.clone();
    let port = host.rsplit(':').next().unwrap();
    for domain in [
        format!("localhost:3000@{host}"),
        format!("{host}@localhost:3000"),
        format!("{host}/@localhost:3000"),
        format!("{host}\\@localhost"),
        format!("{host}#"),
        format!("{host}?"),
        format!("127.0.0.1.:{port}"),
        format!("127%2e0.0.1:{port}"),
        format!("2130706433:{port}"),
        format!("0x7f000001:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("127.1:{port}"),
        format!("[::1]:{port}"),
        format!("0.0.0.0:{port}"),
        "localhost:3000".to_owned(),
        "LOCALHOST:3000".to_owned(),
        "localhost.:3000".to_owned(),
        "localhost:03000".to_owned(),
        "\u{ff4c}ocalhost".to_owned(),
        String::new(),
    ] {
        let subject = json!({ "subject": format!("acct:mallory@{domain}") });
        scene.mallory.set_webfinger("mallory", &with(scene.mallory.webfinger(), &subject));
        assert_eq!(scene.search(&scene.mallory.address()).await, None, "{domain:?}");
        let follow = scene.mallory.activity("Follow", scene.alice_uri(""));
        // Some have names that could be found later.
        let (status, reason) = scene.refuse(&scene.mallory.letter(&scene.app, &follow)).await;
        assert!(matches!(status, 401 | 503) && reason == "no_key", "{domain:?}: {status} {reason}");
        scene.app.app.clock.advance(chrono::Duration::minutes(6));
    }
    assert_eq!(scene.app.count("accounts WHERE domain IS NOT NULL").await, 0);
}

#[tokio::test]
async fn target_at_a_deceptive_host_is_nobody_here() {
    let scene = Scene::new().await;
    let status = scene.alice.publish("hello").await;
    for host in ["LOCALHOST:3000", "localhost.:3000", "localhost:03000", "x@localhost:3000", "\u{ff4c}ocalhost:3000"] {
        let follow = scene.mallory.activity("Follow", format!("http://{host}/users/alice"));
        assert_eq!(scene.send(&scene.mallory, &follow).await, "Follow unknown_target", "{host}");
        let like = scene.mallory.activity("Like", format!("http://{host}/users/alice/statuses/{status}"));
        assert_eq!(scene.send(&scene.mallory, &like).await, "Like unknown_status", "{host}");
    }
    assert_eq!(scene.alice.status(&status).ok().await["favourites_count"], 0);
}

#[tokio::test]
async fn blocked_domain_in_upper_case_or_with_a_port_is_blocked() {
    let scene = Scene::new().await;
    let host = scene.liar.domain.clone();
    let block = service::domain_decision::BlockParams {
        severity: model::instance::Severity::Suspend,
        flags: model::domain_policy::Flags::NONE,
        obfuscate: false,
        hidden: false,
        private_comment: None,
        public_comment: None,
    };
    service::domain_decision::block(&scene.app.app, &model::Staff::operator(), "evil.test", block).await.unwrap();
    for name in ["evil.test", "EVIL.test", "a.evil.test", "evil.test:8443", "EVIL.TEST:443", "ev\u{ff49}l.test"] {
        let url = format!("https://{name}/users/x");
        let failure = federation::fetch::account(&scene.app.app, &url).await.expect_err("it is blocked");
        assert_eq!(failure.as_str(), "suspended", "{name}");
    }
    for name in ["evil.test.", "x@evil.test"] {
        let failure = federation::fetch::account(&scene.app.app, &format!("https://{name}/")).await;
        assert_eq!(failure.expect_err("it is no address").as_str(), "url", "{name}");
    }
    assert_eq!(text(&scene.find(&scene.mallory).await, "acct"), format!("mallory@{host}"), "others are not");
}
