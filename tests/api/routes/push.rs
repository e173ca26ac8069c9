//! <https://docs.joinmastodon.org/methods/push/>, with a push service started by the test.

use chrono::Duration;
use model::NotificationType as Type;
use serde_json::{Value, json};

use crate::harness::{Client, OTHER_SECRET, PushService, Site, TestApp};
use crate::platform::contract::check;
use crate::routes::notifications::{notice, notify};

const PATH: &str = "/api/v1/push/subscription";

async fn world() -> (TestApp, PushService, Client, Client) {
    let app = TestApp::with(&Site::KEYS).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    (app, PushService::start().await, alice, bob)
}

async fn subscribe(person: &Client, new: Value) -> Value {
    person.post(PATH).json(&new).ok().await
}

async fn subscriptions(app: &TestApp) -> i64 {
    app.count("push_subscriptions").await
}

/// Inserts a subscription for every token of an account, without the API.
pub async fn subscribe_every_token(app: &TestApp, service: &PushService) {
    let new = service.subscription("/all", false, &[], "all");
    let keys = &new["subscription"]["keys"];
    let text = format!(
        "INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, alerts, policy, created_at)
         SELECT t.id, t.account_id, {}, {}, {}, FALSE, '{{}}', 'all', {}
         FROM oauth_tokens t
         WHERE t.account_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM push_subscriptions s WHERE s.token_id = t.id)",
        format_args!("'{}'", new["subscription"]["endpoint"].as_str().unwrap()),
        format_args!("'{}'", keys["p256dh"].as_str().unwrap()),
        format_args!("'{}'", keys["auth"].as_str().unwrap()),
        crate::routes::notifications::now(app),
    );
    app.execute(&text).await;
}

#[tokio::test]
async fn subscription_is_created_shown_changed_and_deleted() {
    let (app, service, alice, _) = world().await;
    alice.get(PATH).fails(404).await;
    alice.put(PATH).json(&json!({ "data": { "alerts": { "mention": true } } })).fails(404).await;
    alice.delete(PATH).ok().await;

    let mut new = service.subscription("/a", false, &["mention"], "followed");
    new["data"]["alerts"]["follow"] = "0".into();
    new["data"]["alerts"]["no_such_type"] = true.into();
    let made = subscribe(&alice, new.clone()).await;
    check("WebPushSubscription", &made);
    let instance = alice.get("/api/v2/instance").ok().await;
    let key = &instance["configuration"]["vapid"]["public_key"];
    let expected = json!({
        "id": made["id"], "endpoint": format!("{}/a", service.origin), "server_key": key, "policy": "followed", "standard": false,
        "alerts": { "mention": true, "follow": false },
    });
    assert_eq!(made, expected);
    assert!(made["id"].as_i64().unwrap() < 1_000, "apps read it as 32 bits");
    assert_eq!(alice.get(PATH).ok().await, made);

    // Omitted alerts are off, and an omitted policy covers notifications from everyone.
    let changed = json!({ "data": { "alerts": { "favourite": true } } });
    let shown = alice.put(PATH).json(&changed).ok().await;
    assert_eq!((&shown["alerts"], &shown["policy"]), (&json!({ "favourite": true }), &json!("all")));
    let form = [("data[alerts][poll]", "1"), ("data[alerts][admin.sign_up]", "true"), ("data[policy]", "none")];
    let shown = alice.patch(PATH).form(&form).ok().await;
    assert_eq!(shown["alerts"], json!({ "poll": true, "admin.sign_up": true }));
    assert_eq!(shown["policy"], "none");
    alice.put(PATH).json(&json!({ "data": { "policy": "some" } })).fails(422).await;
    assert_eq!(alice.get(PATH).ok().await, shown);

    // Shown as sent: apps compare it with their own.
    let mut bare = service.subscription("", true, &[], "all");
    bare["subscription"]["endpoint"] = "https://push.example".into();
    assert_eq!(subscribe(&alice, bare).await["endpoint"], "https://push.example");

    // One per token: a new subscription replaces it.
    let again = subscribe(&alice, service.subscription("/b", true, &[], "all")).await;
    assert_eq!((&again["endpoint"], &again["alerts"]), (&json!(format!("{}/b", service.origin)), &json!({})));
    let other = alice.with_scopes("push").await;
    let at_once = (0..8).map(|_| subscribe(&other, new.clone()));
    futures_util::future::join_all(at_once).await;
    assert_eq!(subscriptions(&app).await, 2);
    assert_eq!(alice.delete(PATH).ok().await, json!({}));
    assert_eq!(alice.delete(PATH).ok().await, json!({}));
    alice.get(PATH).fails(404).await;
    assert_eq!(subscriptions(&app).await, 1);
}

#[tokio::test]
async fn unusable_push_endpoint_is_refused_by_name() {
    let (app, service, alice, _) = world().await;
    let good = service.subscription("/a", false, &["mention"], "all");
    alice.post(PATH).json(&json!({ "data": {} })).fails(400).await;
    let broken = [
        ("endpoint", json!(null)),
        ("endpoint", json!("")),
        ("endpoint", json!("push.example/a")),
        ("endpoint", json!("ftp://push.example/a")),
        ("endpoint", json!(format!("https://push.example/{}", "a".repeat(2_000)))),
        ("p256dh", json!("AAAA")),
        ("p256dh", json!("B".repeat(87))),
        ("p256dh", json!("not base64!")),
        ("auth", json!("AAAA")),
        ("auth", json!(null)),
    ];
    for (name, value) in broken {
        let mut new = good.clone();
        let place = if name == "endpoint" { &mut new["subscription"] } else { &mut new["subscription"]["keys"] };
        place[name] = value.clone();
        let error = alice.post(PATH).json(&new).fails(422).await;
        assert!(error.contains(name), "{name} {value}: {error}");
    }
    let error =
        alice.post(PATH).json(&json!({ "subscription": { "endpoint": "https://a.example/" } })).fails(422).await;
    assert!(error.contains("p256dh"), "{error}");
    alice.post(PATH).json(&json!({ "subscription": [] })).fails(422).await;
    alice.with_scopes("read write").await.post(PATH).json(&good).fails(403).await;
    app.anonymous().post(PATH).json(&good).fails(401).await;
    app.application("push").await.post(PATH).json(&good).fails(422).await;
    assert_eq!(subscriptions(&app).await, 0);
}

#[tokio::test]
async fn mention_is_pushed_in_both_encodings_and_signed() {
    let (app, service, alice, bob) = world().await;
    app.set("contact_email", "admin@example.test").await;
    let made =
        app.anonymous().post("/api/v1/apps").json(&json!({ "client_name": "a", "redirect_uris": "a://b" })).ok().await;
    let key = made["vapid_key"].as_str().unwrap();
    for (standard, encoding) in [(false, "aesgcm"), (true, "aes128gcm")] {
        let made = subscribe(&alice, service.subscription("/inbox", standard, &["mention"], "all")).await;
        assert_eq!(made["standard"], standard);
        bob.publish("@alice <b>hello</b> &amp; more").await;
        assert_eq!(app.count("jobs WHERE lane = 'push'").await, 1, "kept with the notification");
        app.run_jobs().await;
        let [sent] = <[_; 1]>::try_from(service.taken()).unwrap();
        assert_eq!((sent.path.as_str(), sent.header("content-encoding")), ("/inbox", encoding));
        assert_eq!(sent.header("content-type"), "application/octet-stream");
        assert_eq!((sent.header("ttl"), sent.header("urgency")), ("172800", "normal"));
        let claims = sent.claims(key);
        assert_eq!((&claims["aud"], &claims["sub"]), (&json!(service.origin), &json!("mailto:admin@example.test")));
        let day = Duration::hours(24).num_seconds();
        assert_eq!(claims["exp"], app.app.clock.now().timestamp() + day);

        let message = service.read(&sent);
        let notification = alice.get("/api/v1/notifications?limit=1").ok().await[0].clone();
        let expected = json!({
            "access_token": alice.token, "preferred_locale": "en",
            "notification_id": notification["id"].as_str().unwrap().parse::<i64>().unwrap(),
            "notification_type": "mention", "icon": notification["account"]["avatar_static"],
            "title": "bob mentioned you", "body": "@alice <b>hello</b> &amp; more",
        });
        assert_eq!(message, expected);
        // The access token in the message can read the notification.
        let path = format!("/api/v1/notifications/{}", message["notification_id"]);
        assert_eq!(alice.get(&path).ok().await["type"], "mention");
    }
    let stored: Vec<(String,)> = app.db().fetch_raw("SELECT private_key FROM server_keys").await.unwrap();
    assert!(!stored[0].0.starts_with("MI"), "sealed");
}

#[tokio::test]
async fn message_is_short_and_in_the_language_of_its_reader() {
    let (app, service, alice, bob) = world().await;
    app.set_user(&alice, "locale = 'ja'").await;
    let wanted = ["mention", "follow", "favourite", "poll", "emoji_reaction"];
    subscribe(&alice, service.subscription("/a", true, &wanted, "all")).await;
    bob.update_profile(json!({ "display_name": "Bob 🐦", "note": "x ".repeat(200) })).ok().await;

    let spoiler = json!({ "status": "@alice secret", "spoiler_text": " a warning " });
    bob.publish(&spoiler).await;
    app.run_jobs().await;
    let message = service.message();
    assert_eq!(message["preferred_locale"], "ja");
    assert_eq!(
        (&message["title"], &message["body"]),
        (&json!("Bob 🐦さんからメンションがありました"), &json!("a warning"))
    );

    bob.publish(&format!("@alice {}", "烏".repeat(300))).await;
    app.run_jobs().await;
    let body = service.message()["body"].as_str().unwrap().to_owned();
    assert_eq!((body.chars().count(), body.ends_with('…')), (140, true));

    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    let message = service.message();
    assert_eq!(
        (&message["notification_type"], &message["title"]),
        (&json!("follow"), &json!("Bob 🐦さんにフォローされました"))
    );
    assert!(message["body"].as_str().unwrap().starts_with("x x"), "the text of the sender's own choice");
}

#[tokio::test]
async fn alerts_and_policy_decide() {
    let (app, service, alice, bob) = world().await;
    let carol = app.account("carol").await;
    alice.follow(&bob).ok().await;
    carol.follow(&alice).ok().await;
    let cases =
        [("all", [true, true]), ("followed", [true, false]), ("follower", [false, true]), ("none", [false, false])];
    for (policy, pushed) in cases {
        subscribe(&alice, service.subscription("/a", true, &["mention"], policy)).await;
        for (author, pushed) in [(&bob, pushed[0]), (&carol, pushed[1])] {
            author.publish("@alice hello").await;
            app.run_jobs().await;
            assert_eq!(service.taken().len(), usize::from(pushed), "{policy}: {}", author.name);
        }
    }
    // An alert that is off, is disabled before it is sent, or whose notification is deleted before that.
    subscribe(&alice, service.subscription("/a", true, &["follow"], "all")).await;
    bob.publish("@alice hello").await;
    assert_eq!(app.count("jobs WHERE lane = 'push'").await, 0);
    subscribe(&alice, service.subscription("/a", true, &["mention"], "all")).await;
    bob.publish("@alice hello").await;
    alice.put(PATH).json(&json!({ "data": { "alerts": { "mention": false } } })).ok().await;
    app.run_jobs().await;
    subscribe(&alice, service.subscription("/a", true, &["mention"], "all")).await;
    let status = bob.publish("@alice hello").await;
    bob.delete_status(&status).ok().await;
    app.run_jobs().await;
    // A notification filtered by the receiver's policy.
    alice.patch("/api/v2/notifications/policy").json(&json!({ "for_not_following": "filter" })).ok().await;
    carol.publish("@alice hello").await;
    app.run_jobs().await;
    // It is merged when she accepts the request: then it is no longer new.
    let requests = alice.get("/api/v1/notifications/requests").ok().await;
    let accept = format!("/api/v1/notifications/requests/{}/accept", requests[0]["id"].as_str().unwrap());
    alice.post(&accept).ok().await;
    app.run_jobs().await;
    // A notification that is too old.
    bob.publish("@alice hello").await;
    app.app.clock.advance(Duration::hours(49));
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 0);
    bob.publish("@alice hello").await;
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 1);
}

#[tokio::test]
async fn response_of_push_service_decides_on_subscription() {
    let (app, service, alice, bob) = world().await;
    let new = service.subscription("/a", true, &["mention"], "all");
    for status in [400, 404, 410, 413] {
        subscribe(&alice, new.clone()).await;
        service.answers(status);
        bob.publish("@alice hello").await;
        app.run_jobs().await;
        assert_eq!((service.taken().len(), subscriptions(&app).await), (1, 0), "{status}");
    }
    subscribe(&alice, new.clone()).await;
    for status in [408, 429, 500, 503, 302] {
        service.answers(status);
        bob.publish("@alice hello").await;
        // The first attempt and five retries, each later than the previous one; then it is given up.
        for attempt in 1..=8 {
            app.run_jobs().await;
            assert_eq!(service.taken().len(), usize::from(attempt <= 6), "{status}, attempt {attempt}");
            app.run_jobs().await;
            assert_eq!(service.taken().len(), 0, "not immediately");
            app.app.clock.advance(Duration::hours(2));
        }
        assert_eq!(app.count("jobs WHERE lane = 'push'").await, 0, "no dead letter");
        assert_eq!(subscriptions(&app).await, 1);
        service.answers(201);
        bob.publish("@alice hello").await;
        app.run_jobs().await;
        assert_eq!(service.taken().len(), 1, "{status}");
        assert_eq!(app.count("push_subscriptions WHERE failing_since IS NOT NULL").await, 0);
    }
}

#[tokio::test]
async fn retry_after_of_push_service_is_respected() {
    let (app, service, alice, bob) = world().await;
    subscribe(&alice, service.subscription("/a", true, &["mention"], "all")).await;
    service.answers_later(429, "120");
    bob.publish("@alice first").await;
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 1);
    service.answers(201);
    bob.publish("@alice second").await;
    app.app.clock.advance(Duration::seconds(110));
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 0);
    app.app.clock.advance(Duration::seconds(11));
    app.run_jobs().await;
    let bodies: Vec<Value> = service.taken().iter().map(|sent| service.read(sent)["body"].clone()).collect();
    assert_eq!(bodies, ["@alice first", "@alice second"]);
}

#[tokio::test]
async fn subscription_that_is_never_reached_is_deleted_after_a_week() {
    let (app, service, alice, bob) = world().await;
    subscribe(&alice, service.subscription("/a", true, &["mention"], "all")).await;
    service.answers(500);
    for round in 0..2 {
        assert_eq!(subscriptions(&app).await, 1, "{round}");
        bob.publish("@alice hello").await;
        for _ in 0..8 {
            app.run_jobs().await;
            app.app.clock.advance(Duration::hours(2));
        }
        app.app.clock.advance(Duration::days(8));
    }
    assert_eq!(subscriptions(&app).await, 0);
}

#[tokio::test]
async fn failing_push_service_does_not_delay_others() {
    let (app, service, alice, bob) = world().await;
    let carol = app.account("carol").await;
    let down = PushService::start().await;
    down.answers(500);
    subscribe(&alice, down.subscription("/a", true, &["mention"], "all")).await;
    subscribe(&carol, service.subscription("/c", true, &["mention"], "all")).await;
    for _ in 0..12 {
        bob.publish("@alice @carol hello").await;
    }
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 12);
    assert_eq!(down.taken().len(), 5, "it is spared after five failures in a row");
}

#[tokio::test]
async fn private_addresses_are_never_contacted() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let service = PushService::start().await;
    subscribe(&alice, service.subscription("/a", true, &["mention"], "all")).await;
    bob.publish("@alice hello").await;
    app.run_jobs().await;
    assert_eq!((service.taken().len(), subscriptions(&app).await), (0, 0));
}

#[tokio::test]
async fn subscription_is_deleted_with_its_token() {
    let (app, service, alice, bob) = world().await;
    let new = service.subscription("/a", true, &["mention"], "all");

    // Revoked by its application.
    let registered = json!({ "client_name": "a", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "push" });
    let made = app.anonymous().post("/api/v1/apps").json(&registered).ok().await;
    let application = made["id"].as_str().unwrap();
    subscribe(&alice, new.clone()).await;
    app.execute(&format!("UPDATE oauth_tokens SET app_id = {application}")).await;
    let credentials =
        json!({ "client_id": made["client_id"], "client_secret": made["client_secret"], "token": alice.token });
    app.anonymous().post("/oauth/revoke").json(&credentials).ok().await;
    assert_eq!(subscriptions(&app).await, 0);

    // Revoked with all tokens of its account.
    subscribe(&bob, new.clone()).await;
    let mut tx = app.db().begin().await.unwrap();
    service::oauth::revoke::everything(&app.app, &mut tx, bob.id()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(subscriptions(&app).await, 0);

    // Deleted with its account; nothing is sent while the account is suspended.
    let [carol, dora] = app.accounts(["carol", "dora"]).await;
    subscribe(&carol, new.clone()).await;
    dora.publish("@carol hello").await;
    app.suspend(&carol).await;
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 0);
    crate::jobs::removal::remove(&app, "carol").await;
    app.run_jobs().await;
    assert_eq!(subscriptions(&app).await, 0);
}

#[tokio::test]
async fn key_is_kept_and_another_secret_key_does_not_replace_it() {
    let secret = ("ROOKERY_SECRETS_KEY", "the secret that is long enough for this test");
    let app = TestApp::with(&[secret]).await;
    let (alice, service) = (app.account("alice").await, PushService::start().await);
    let key = |app: &TestApp| app.app.vapid.as_ref().map(|vapid| vapid.public_key().to_owned());
    let first = key(&app).unwrap();
    let restarted = app.beside(&[secret]).await;
    assert_eq!(key(&restarted), Some(first));

    let other = app.beside(&[("ROOKERY_SECRETS_KEY", OTHER_SECRET)]).await;
    assert_eq!(key(&other), None);
    let new = service.subscription("/a", true, &["mention"], "all");
    alice.at(&other).post(PATH).json(&new).fails(503).await;
    let instance = alice.at(&other).get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["vapid"]["public_key"], Value::Null);

    subscribe(&alice, new).await;
    assert_eq!(service::push::reset(&other.app).await.unwrap(), 1);
    assert!(key(&app.beside(&[secret]).await).is_some_and(|new| Some(new) != key(&app)));
}

#[tokio::test]
async fn batch_of_notifications_reads_subscriptions_once() {
    let (app, service, alice, bob) = world().await;
    let carol = app.account("carol").await;
    for person in [&alice, &carol] {
        subscribe(person, service.subscription("/x", true, &["follow"], "all")).await;
        app.known(person).await;
    }
    let notices: Vec<_> = [&alice, &carol].map(|receiver| notice(&app, Type::Follow, &bob, receiver, None)).into();
    let (one, _) = app.cost(notify(&app, &notices[..1])).await;
    app.run_jobs().await;
    let (two, _) = app.cost(notify(&app, &notices)).await;
    assert_eq!(two, one, "no statement for each");
    app.run_jobs().await;
    assert_eq!(service.taken().len(), 2);
}
