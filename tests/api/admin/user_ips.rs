//! The addresses that accounts used: when they are recorded, found and deleted.

use std::net::IpAddr;

use chrono::Duration;
use serde_json::json;
use service::user_ip::{accounts_of_network, latest_ips};

use crate::harness::{Browser, Client, RequestBuilder, TestApp};

async fn behind_proxy() -> TestApp {
    TestApp::with(&[("ROOKERY_SERVER_TRUSTED_PROXIES", "127.0.0.0/8")]).await
}

fn from(request: RequestBuilder, address: &str) -> RequestBuilder {
    request.header("x-forwarded-for", address)
}

/// The recorded addresses of an account, each with its time.
async fn ips(person: &Client) -> Vec<(String, String)> {
    let app = &person.server;
    app.noted().await;
    let mut found = latest_ips(&app.app, &[person.id()]).await.unwrap();
    let text = |(ip, used_at): (IpAddr, model::Time)| (ip.to_string(), used_at.to_api());
    found.remove(&person.id()).unwrap_or_default().into_iter().map(text).collect()
}

fn pair(ip: &str, at: &str) -> (String, String) {
    (ip.to_owned(), format!("2026-01-{at}:00.000Z"))
}

#[tokio::test]
async fn use_of_a_token_is_recorded_once_a_day() {
    let app = behind_proxy().await;
    let alice = app.account("alice").await;
    assert_eq!(ips(&alice).await, []);
    let begun = app.app.clock.now();
    app.app.clock.advance(Duration::seconds(59));
    from(alice.get("/api/v1/preferences"), "::ffff:203.0.113.7").ok().await;
    assert_eq!(ips(&alice).await, [pair("203.0.113.7", "15T12:01")]);
    app.app.clock.advance(Duration::hours(1));
    from(alice.get("/api/v1/preferences"), "203.0.113.7").ok().await;
    assert_eq!(ips(&alice).await, [pair("203.0.113.7", "15T12:01")], "not again on the same day");
    app.app.clock.advance(Duration::hours(24));
    from(alice.get("/api/v1/preferences"), "2001:db8::1").ok().await;
    assert_eq!(ips(&alice).await, [pair("2001:db8::1", "16T13:01"), pair("203.0.113.7", "15T12:01")]);
    app.app.clock.advance(Duration::hours(24));
    from(alice.get("/api/v1/preferences"), "203.0.113.7").ok().await;
    assert_eq!(ips(&alice).await, [pair("203.0.113.7", "17T13:01"), pair("2001:db8::1", "16T13:01")]);
    assert!(app.app.clock.now() > begun && app.count("user_ips").await == 2);
}

#[tokio::test]
async fn sign_up_and_sign_in_are_recorded() {
    let app = behind_proxy().await;
    app.set("registrations_mode", "open").await;
    let client = app.application("read write").await;
    let form =
        json!({ "username": "alice", "email": "alice@mail.test", "password": "correct horse", "agreement": true });
    from(client.post("/api/v1/accounts"), "198.51.100.1").json(&form).ok().await;
    let account = store::account::find_local(app.db(), "alice").await.unwrap().unwrap().id;
    let found = latest_ips(&app.app, &[account]).await.unwrap();
    assert_eq!(found[&account][0].0, "198.51.100.1".parse::<IpAddr>().unwrap());

    let bob = app.account("bob").await;
    Browser::signed_in(&app, "bob").await;
    assert_eq!(ips(&bob).await.iter().map(|(ip, _)| ip.as_str()).collect::<Vec<_>>(), ["127.0.0.1"]);
}

#[tokio::test]
async fn accounts_are_found_by_network_and_at_most_twenty_addresses_are_shown() {
    let app = behind_proxy().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for day in 0..25 {
        from(alice.get("/api/v1/preferences"), &format!("203.0.113.{day}")).ok().await;
        app.noted().await;
        app.app.clock.advance(Duration::hours(25));
    }
    from(bob.get("/api/v1/preferences"), "2001:db8:1::7").ok().await;
    app.noted().await;
    let (cost, found) = app.cost(latest_ips(&app.app, &[alice.id(), bob.id()])).await;
    let found = found.unwrap();
    assert_eq!((cost, found[&alice.id()].len(), found[&bob.id()].len()), (1, 20, 1));
    assert_eq!(found[&alice.id()][0].0.to_string(), "203.0.113.24", "the newest first");
    for (network, accounts) in [
        ("203.0.113.3", vec![alice.id()]),
        ("203.0.113.0/24", vec![alice.id()]),
        ("203.0.113.64/26", vec![]),
        ("2001:db8::/32", vec![bob.id()]),
        ("::/0", vec![bob.id()]),
        ("0.0.0.0/0", vec![alice.id()]),
        ("nonsense", vec![]),
    ] {
        assert_eq!(accounts_of_network(&app.app, network).await.unwrap(), accounts, "{network}");
    }
}

#[tokio::test]
async fn addresses_go_after_a_year_and_with_their_account() {
    let app = behind_proxy().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    from(alice.get("/api/v1/preferences"), "203.0.113.1").ok().await;
    app.noted().await;
    app.app.clock.advance(Duration::days(200));
    for (person, ip) in [(&alice, "203.0.113.2"), (&bob, "203.0.113.3")] {
        from(person.get("/api/v1/preferences"), ip).ok().await;
        app.noted().await;
    }
    app.app.clock.advance(Duration::days(166));
    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    assert_eq!(ips(&alice).await.iter().map(|(ip, _)| ip.as_str()).collect::<Vec<_>>(), ["203.0.113.2"]);
    let account = store::account::find_local(app.db(), "bob").await.unwrap().unwrap();
    service::removal::remove(&app.app, &model::Staff::operator(), &account).await.unwrap();
    app.app.clock.advance(Duration::minutes(2));
    app.run_jobs().await;
    assert_eq!(app.count("user_ips").await, 1);
}
