//! WebFinger, host-meta, NodeInfo.

use serde_json::json;

use crate::harness::{Browser, TestApp};
use crate::platform::contract;

fn webfinger(resource: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("resource", resource).finish();
    format!("/.well-known/webfinger?{query}")
}

#[tokio::test]
async fn webfinger_finds_account_by_every_address_form() {
    let app =
        TestApp::with(&[("ROOKERY_SERVER_WEB_DOMAIN", "web.test"), ("ROOKERY_SERVER_ALTERNATE_DOMAINS", "old.test")])
            .await;
    app.named_account("Alice").await;
    for resource in [
        "acct:alice@example.test",
        "acct:ALICE@EXAMPLE.test",
        "alice@example.test",
        "acct:alice@web.test",
        "acct:alice@old.test",
        "https://web.test/@alice",
        "https://web.test/users/alice",
        "https://example.test/@Alice",
    ] {
        let answer = app.anonymous().get(&webfinger(resource)).send().await;
        assert_eq!(answer.status, 200, "{resource}");
        assert!(answer.header("content-type").starts_with("application/jrd+json"));
        assert!(answer.header("cache-control").contains("max-age=259200"));
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        let found = answer.json();
        contract::check("Webfinger", &found);
        assert_eq!(found["subject"], "acct:Alice@example.test");
        assert_eq!(found["aliases"], json!(["https://web.test/@Alice", "https://web.test/users/Alice"]));
        assert_eq!(found["links"].as_array().unwrap().len(), 8, "no avatar");
        assert_eq!(found["links"][1]["href"], "https://web.test/users/Alice");
    }
}

#[tokio::test]
async fn webfinger_finds_server_by_domain() {
    let app = TestApp::new().await;
    for resource in [
        "example.test",
        "acct:example.test@example.test",
        "acct:mastodon.internal@example.test",
        "https://example.test/",
    ] {
        let found = app.anonymous().get(&webfinger(resource)).ok().await;
        assert_eq!(found["subject"], "acct:mastodon.internal@example.test", "{resource}");
        assert_eq!(found["links"][1]["href"], "https://example.test/actor");
    }
}

#[tokio::test]
async fn webfinger_names_a_page_for_every_intent_that_there_is_one_for() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = bob.publish("hello").await;
    let browser = Browser::signed_in(&app, &alice.name).await;
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    for resource in ["acct:alice@example.test", "example.test"] {
        let found = app.anonymous().get(&webfinger(resource)).ok().await;
        contract::check("Webfinger", &found);
        let links = found["links"].as_array().unwrap();
        for (intent, name, value, shown) in [
            ("Object", "{object}", status["uri"].as_str().unwrap(), "hello"),
            ("Follow", "{object}", "https://example.test/users/bob", "value=\"follow\""),
            ("Like", "{object}", status["uri"].as_str().unwrap(), "value=\"favourite\""),
            ("Announce", "{object}", status["uri"].as_str().unwrap(), "value=\"reblog\""),
            ("Create", "{content}", "what I found", "what I found"),
        ] {
            let rel = format!("https://w3id.org/fep/3b86/{intent}");
            let link = links.iter().find(|link| link["rel"] == rel.as_str()).unwrap_or_else(|| panic!("{intent}"));
            let page = link["template"].as_str().unwrap().replace(name, &encoded(value));
            let mut page = browser.get(page.strip_prefix("https://example.test").unwrap()).await;
            if intent == "Create" {
                assert_eq!(page.status, 302, "to the form");
                page = browser.get(page.header("location")).await;
            }
            assert_eq!(page.status, 200, "{intent}");
            assert!(page.text().contains(shown), "{intent}: {}", page.text());
        }
    }
}

#[tokio::test]
async fn webfinger_of_unknown_or_malformed_is_empty() {
    let app = TestApp::new().await;
    app.named_account("alice").await;
    for (status, path) in [
        (400, "/.well-known/webfinger".to_owned()),
        (400, webfinger("")),
        (400, webfinger("acct:alice")),
        (400, webfinger("@example.test")),
        (400, webfinger("https://")),
        (400, webfinger("acct:a b@c d")),
        (404, webfinger("acct:bob@example.test")),
        (404, webfinger("acct:alice@elsewhere.test")),
        (404, webfinger("https://elsewhere.test/@alice")),
        (404, webfinger("https://example.test/tags/alice")),
        (404, webfinger("acct:al%ice\0@example.test")),
    ] {
        let answer = app.anonymous().get(&path).send().await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (status, 0), "{path}");
        assert!(answer.header("cache-control").contains("max-age=180"), "{path}");
    }
}

#[tokio::test]
async fn host_meta_links_webfinger_in_both_forms() {
    let app = TestApp::new().await;
    let xml = app.anonymous().get("/.well-known/host-meta").send().await;
    assert!(xml.header("content-type").starts_with("application/xrd+xml"));
    assert!(
        xml.text().contains("template=\"https://example.test/.well-known/webfinger?resource={uri}\""),
        "{}",
        xml.text()
    );
    for request in [
        app.anonymous().get("/.well-known/host-meta.json"),
        app.anonymous().get("/.well-known/host-meta").header("accept", "application/json"),
    ] {
        let json = request.ok().await;
        contract::check("HostMeta", &json);
        assert_eq!(json["links"][0]["rel"], "lrdd");
    }
}

#[tokio::test]
async fn nodeinfo_matches_its_schema_and_names_the_upstream() {
    let app = TestApp::new().await;
    app.accounts(["alice", "bob"]).await;
    let discovery = app.anonymous().get("/.well-known/nodeinfo").ok().await;
    contract::check("NodeInfoDiscovery", &discovery);
    assert_eq!(discovery["links"][0]["href"], "https://example.test/nodeinfo/2.0");
    let actor = "https://example.test/actor";
    assert_eq!(
        discovery["links"][1],
        json!({"rel": "https://www.w3.org/ns/activitystreams#Application", "href": actor})
    );
    for resource in ["https://example.test/", "https://example.test", "example.test"] {
        let server = app.anonymous().get(&format!("/.well-known/webfinger?resource={resource}")).ok().await;
        let links = server["links"].as_array().unwrap();
        let service = links.iter().find(|link| link["rel"] == "https://www.w3.org/ns/activitystreams#Service");
        assert_eq!(service.unwrap()["href"], actor, "{resource}");
    }

    let later = &discovery["links"][2];
    assert_eq!(later["rel"], "http://nodeinfo.diaspora.software/ns/schema/2.1");
    let later = app.anonymous().get("/nodeinfo/2.1").ok().await;
    assert_eq!((&later["version"], &later["usage"]["users"]["total"]), (&json!("2.1"), &json!(2)));
    let answer = app.anonymous().get("/nodeinfo/2.0").send().await;
    assert!(answer.header("cache-control").contains("max-age=1800"));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let document = answer.json();
    contract::check("NodeInfo", &document);
    assert_eq!(document["software"]["name"], "rookery");
    assert_eq!(document["metadata"]["upstream"], json!({"name": "Mastodon", "version": "4.4.0"}));
    assert_eq!(document["usage"]["users"]["total"], 2);
    assert_eq!(document["openRegistrations"], false);
    rookery_http::well_known::check_nodeinfo(&app.app).await.unwrap();
}

#[tokio::test]
async fn another_software_can_be_announced() {
    let app = TestApp::new().await;
    service::settings::set(&app.app, &model::Staff::operator(), "compat.nodeinfo_name", "mastodon").await.unwrap();
    let document = app.anonymous().get("/nodeinfo/2.0").ok().await;
    contract::check("NodeInfo", &document);
    assert_eq!(document["software"]["name"], "mastodon");
    assert!(document["software"]["version"].as_str().unwrap().starts_with("4.4.0"));
}

#[tokio::test]
async fn change_password_redirects_to_settings() {
    let app = TestApp::new().await;
    let answer = app.anonymous().get("/.well-known/change-password").send().await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (301, "/settings/password"));
}

#[tokio::test]
async fn security_contact_is_named_if_there_is_one() {
    let app = TestApp::new().await;
    let path = "/.well-known/security.txt";
    assert_eq!(app.anonymous().get(path).send().await.status, 404);
    app.set("contact_email", "rook@example.test").await;
    let answer = app.anonymous().get(path).send().await;
    assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
    let expected = "Contact: mailto:rook@example.test\nExpires: 2026-07-14T12:00:00Z\n\
                    Canonical: https://example.test/.well-known/security.txt\n";
    assert_eq!(answer.text(), expected);
}
