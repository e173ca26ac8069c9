//! Federation in the browser: acting here on what was seen elsewhere, acting elsewhere on what was seen here, and pages of
//! remote accounts and statuses.

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::liar::{ACTIVITY, Reply, with};
use crate::harness::{Answer, Browser, Client, Liar, PASSWORD, Peer, TestApp, form_fields, id, settle};

const PAGE: &str = "/authorize_interaction";
const FORM: &str = "/remote_interaction";
const SUBSCRIBE: &str = "http://ostatus.org/schema/1.0/subscribe";

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn asking(uri: &str) -> String {
    format!("{PAGE}?uri={}", encoded(uri))
}

/// The path and query of a URL.
fn local(url: &str) -> &str {
    let host = url.strip_prefix("http://").expect("a URL without TLS");
    &host[host.find('/').expect("a path")..]
}

/// Two servers with a person on each, and the browser in which Alice is signed in on the first.
async fn scene() -> ([Peer; 2], Client, Client, Browser) {
    let peers = Peer::pair().await;
    let (alice, bob) = (peers[0].account("alice").await, peers[1].named_account("bob").await);
    let browser = Browser::signed_in(&peers[0], "alice").await;
    (peers, alice, bob, browser)
}

/// Submits the form of `page` with the button `act`.
async fn act(browser: &Browser, page: &Answer, act: &str) -> Answer {
    let mut fields = form_fields(&page.text(), PAGE);
    fields.retain(|(name, _)| name != "act");
    fields.push(("act".to_owned(), act.to_owned()));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(PAGE, &fields).await
}

/// The page that `answer` redirects to, on the same server.
async fn follow(browser: &Browser, answer: &Answer) -> Answer {
    assert_eq!(answer.status, 302, "{}", answer.text());
    browser.get(answer.header("location")).await
}

#[tokio::test]
async fn interaction_page_needs_a_session_and_comes_back_to_it() {
    let app = TestApp::new().await;
    app.account("alice").await;
    app.account("bob").await;
    app.set_password("alice", PASSWORD).await;
    let browser = Browser::new(&app);
    let asked = browser.get(&asking("https://example.test/users/bob")).await;
    assert_eq!(asked.status, 302);
    let form = browser.get(asked.header("location")).await;
    let signed_in = browser.submit(&form, "/auth/sign_in", &[("email", "alice"), ("password", PASSWORD)]).await;
    let page = follow(&browser, &signed_in).await;
    assert!(page.text().contains("Follow this account?") && page.text().contains("@bob@example.test"));

    let forged = browser.post(PAGE, &[("uri", "bob@example.test"), ("act", "follow")]).await;
    assert_eq!(forged.status, 403, "without its token");
    assert_eq!(app.count("follows").await, 0);
    let unknown = act(&browser, &page, "dance").await;
    assert_eq!(unknown.status, 400);
    let unfit = act(&browser, &page, "favourite").await;
    assert_eq!(unfit.status, 400, "an account is no status");
}

#[tokio::test]
async fn local_account_is_followed_and_own_account_is_the_profile() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    for uri in [
        "acct:bob@example.test",
        "@bob@example.test",
        "BOB@example.test",
        "https://example.test/@bob",
        "https://example.test/users/bob",
    ] {
        let page = browser.get(&asking(uri)).await;
        assert_eq!(page.status, 200, "{uri}");
        assert_eq!(page.header("cache-control"), "private, no-store");
        assert!(page.text().contains("name=\"robots\" content=\"noindex"), "{uri}");
        let done = act(&browser, &page, "follow").await;
        let page = follow(&browser, &done).await;
        assert!(page.text().contains("You follow this account now."), "{uri}: {}", page.text());
        assert_eq!(app.count("follows").await, 1);
        let done = act(&browser, &page, "unfollow").await;
        let page = follow(&browser, &done).await;
        assert!(page.text().contains("no request is pending"), "{}", page.text());
        assert_eq!(app.count("follows").await, 0);
    }
    for uri in ["alice@example.test", "https://example.test/@alice"] {
        let own = browser.get(&asking(uri)).await;
        assert_eq!((own.status.as_u16(), own.header("location")), (302, "https://example.test/@alice"));
    }
    bob.block(&alice).ok().await;
    let page = browser.get(&asking("bob@example.test")).await;
    let refused = act(&browser, &page, "follow").await;
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("one of you blocks the other"));
    app.suspend(&bob).await;
    assert_eq!(browser.get(&asking("bob@example.test")).await.status, 404);
}

#[tokio::test]
async fn unknown_or_missing_uri_is_a_page_that_says_so() {
    let app = TestApp::named("localhost:3000", &Liar::KEYS).await;
    let bob = app.named_account("bob").await;
    app.account("alice").await;
    let browser = Browser::signed_in(&app, "alice").await;
    for missing in [PAGE.to_owned(), format!("{PAGE}?uri="), format!("{PAGE}?uri=%20")] {
        let answer = browser.get(&missing).await;
        assert_eq!(answer.status, 400, "{missing}");
        assert!(answer.header("content-type").starts_with("text/html"));
    }
    let (other, private) = (Liar::start().await, bob.publish_to("private", "secret").await);
    other.put("/silent", Reply::status(500, ""));
    other.put("/page", Reply::of("text/html", "<p>hello</p>"));
    for uri in [
        "bob",
        "nobody@localhost:3000",
        "http://localhost:3000/@nobody",
        "http://localhost:3000/settings",
        "//example.org",
        "javascript:alert(1)",
        "mailto:bob@localhost:3000",
        "<script>@x",
        "https://10.0.0.1/@a",
        &format!("nobody@{}", other.domain),
        &other.url("/silent"),
        &other.url("/page"),
        &other.url("/nothing"),
        private["uri"].as_str().unwrap(),
    ] {
        let answer = browser.get(&asking(uri)).await;
        assert_eq!(answer.status, 404, "{uri}");
        let text = answer.text();
        assert!(text.contains("Nothing found there") && !text.contains("secret"), "{uri}");
    }
    assert_eq!(browser.get(&format!("{PAGE}?uri=%00")).await.status, 422);
}

#[tokio::test]
async fn remote_account_is_followed_from_its_profile_on_its_own_server() {
    for domain_alone in [false, true] {
        let (peers, alice, _bob, browser) = scene().await;
        let visitor = Browser::new(&peers[1]);
        let profile = visitor.get("/@bob").await;
        assert!(profile.headers.get_all("set-cookie").iter().next().is_none(), "the profile is the same for everyone");
        let address = if domain_alone { peers[0].domain.clone() } else { format!(" @{} ", peers[0].address(&alice)) };
        let sent = visitor.submit(&profile, FORM, &[("address", &address)]).await;
        let home = format!("http://{}", peers[0].domain);
        let uri = format!("http://{}/users/bob", peers[1].domain);
        assert_eq!(sent.header("location"), format!("{home}{}", asking(&uri)), "{}", sent.text());
        assert_eq!((sent.status.as_u16(), sent.header("cache-control")), (302, "no-store"));
        assert!(sent.headers.get("set-cookie").is_none());

        let page = browser.get(local(sent.header("location"))).await;
        assert!(page.text().contains(&format!("@bob@{}", peers[1].domain)), "{}", page.text());
        let done = act(&browser, &page, "follow").await;
        let pending = follow(&browser, &done).await;
        assert!(pending.text().contains("is pending until"), "{}", pending.text());
        assert!(pending.text().contains("Cancel request"));
        settle(&peers).await;
        let following = browser.get(&asking(&uri)).await;
        assert!(following.text().contains("You follow this account.") && following.text().contains("Unfollow"));
        assert_eq!(peers[1].count("follows").await, 1);
    }
}

#[tokio::test]
async fn remote_status_is_favourited_and_boosted() {
    let (peers, alice, bob, browser) = scene().await;
    let status = bob.publish("look & see").await;
    let visitor = Browser::new(&peers[1]);
    let page = visitor.get(local(status["url"].as_str().unwrap())).await;
    let sent = visitor.submit(&page, FORM, &[("address", &peers[0].address(&alice))]).await;
    assert_eq!(sent.status, 302, "{}", sent.text());

    let page = browser.get(local(sent.header("location"))).await;
    let text = page.text();
    assert!(text.contains("look &amp; see") && text.contains(&format!("@{}", peers[1].address(&bob))), "{text}");
    assert!(text.contains("/web/statuses/"), "with its acts: {text}");
    for name in ["favourite", "reblog"] {
        let done = act(&browser, &page, name).await;
        follow(&browser, &done).await;
    }
    let after = browser.get(&asking(status["uri"].as_str().unwrap())).await;
    assert!(after.text().contains("one of your favourites") && after.text().contains("You boosted this post"));
    assert!(!after.text().contains("class=\"button primary\" type=\"submit\""), "nothing is left to do");
    settle(&peers).await;
    let there = bob.get(&format!("/api/v1/statuses/{}", id(&status))).ok().await;
    assert_eq!((&there["favourites_count"], &there["reblogs_count"]), (&1.into(), &1.into()));
}

async fn form_page(app: &TestApp, uri: &str, address: &str) -> Answer {
    let browser = Browser::new(app);
    browser.post(FORM, &[("uri", uri), ("address", address)]).await
}

#[tokio::test]
async fn visitor_without_a_usable_server_sees_the_form_again() {
    let app = TestApp::named("localhost:3000", &Liar::KEYS).await;
    app.named_account("bob").await;
    let uri = "http://localhost:3000/users/bob";
    let (other, other_domain) = (Liar::start().await, Liar::start().await);
    let carol = other.person("carol");
    for address in ["", "carol", "@", "carol@", "a b@example.org", "https://example.org/@carol", "\"><script>@x.y"] {
        let answer = form_page(&app, uri, address).await;
        assert_eq!(answer.status, 422, "{address}");
        let text = answer.text();
        assert!(text.contains("not an address such as") && !text.contains("<script"), "{address}: {text}");
    }
    let unreachable = [&carol.address(), &format!("nobody@{}", other.domain), &other_domain.domain, "carol@10.0.0.1"];
    for address in unreachable {
        let answer = form_page(&app, uri, address).await;
        assert_eq!(answer.status, 422, "{address}");
        let text = answer.text();
        assert!(text.contains("cannot be asked, or has no page") && text.contains(&format!("value=\"{address}\"")));
        assert!(text.contains(uri), "{text}");
    }
    for template in [
        json!("javascript:alert('{uri}')"),
        json!("data:text/html,{uri}"),
        json!("/authorize_interaction?uri={uri}"),
        json!("//elsewhere.example/?uri={uri}"),
        json!("https://elsewhere.example/"),
        json!("https://user@elsewhere.example/?uri={uri}"),
        json!("{uri}"),
        json!(["https://elsewhere.example/?uri={uri}"]),
        json!(null),
    ] {
        let links =
            json!([{ "rel": "self", "type": ACTIVITY, "href": carol.uri }, { "rel": SUBSCRIBE, "template": template }]);
        carol.set_webfinger("carol", &with(carol.webfinger(), &json!({ "links": links })));
        assert_eq!(form_page(&app, uri, &carol.address()).await.status, 422, "{template}");
    }
    let links = json!([{ "rel": SUBSCRIBE, "template": "https://elsewhere.example/act?a=b&uri={uri}" }]);
    carol.set_webfinger("carol", &with(carol.webfinger(), &json!({ "links": links })));
    let sent = form_page(&app, uri, &carol.address()).await;
    let place = format!("https://elsewhere.example/act?a=b&uri={}", encoded(uri));
    assert_eq!((sent.status.as_u16(), sent.header("location")), (302, place.as_str()));

    let asked = other.asked("/.well-known/webfinger");
    app.run(&["domain", "block", &other.domain]).await.ok();
    app.app.reload().await.unwrap();
    assert_eq!(form_page(&app, uri, &carol.address()).await.status, 422);
    assert_eq!(other.asked("/.well-known/webfinger"), asked, "a suspended server is not asked");

    let own = form_page(&app, uri, "bob@localhost:3000").await;
    assert_eq!(own.header("location"), format!("http://localhost:3000{}", asking(uri)));
}

#[tokio::test]
async fn visitor_form_is_about_public_things_of_this_server_and_from_its_pages() {
    let app = TestApp::with(&[("ROOKERY_RATE_LIMITS_ENABLED", "true")]).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (open, private) = (alice.publish("hello").await, alice.publish_to("private", "secret").await);
    app.suspend(&bob).await;
    let boost = {
        let carol = app.account("carol").await;
        carol.reblog(&open).ok().await
    };
    for uri in [
        "",
        "https://elsewhere.example/@carol",
        "https://example.test",
        "https://example.test/about",
        "https://example.test/@nobody",
        "https://example.test/@bob",
        "https://example.test.elsewhere.example/@alice",
        private["uri"].as_str().unwrap(),
        boost["uri"].as_str().unwrap(),
    ] {
        assert_eq!(form_page(&app, uri, "carol@elsewhere.example").await.status, 404, "{uri}");
        assert_eq!(Browser::new(&app).get(&format!("{FORM}?uri={}", encoded(uri))).await.status, 404, "{uri}");
    }
    for uri in [&open["url"], &open["uri"], &json!("https://example.test/@alice")] {
        let page = Browser::new(&app).get(&format!("{FORM}?uri={}", encoded(uri.as_str().unwrap()))).await;
        assert!(page.text().contains("name=\"address\""), "{uri}");
        assert!(page.headers.get("set-cookie").is_none());
    }
    let fields = [("uri", "https://example.test/users/alice"), ("address", "alice@example.test")];
    for (name, value, status) in [
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "same-origin", 302),
        ("origin", "https://elsewhere.example", 403),
        ("origin", "null", 403),
        ("origin", "https://example.test", 302),
    ] {
        let request = app.anonymous().post(FORM).form(&fields).header(name, value);
        assert_eq!(request.send().await.status, status, "{name}: {value}");
    }
    app.app.clock.advance(Duration::minutes(10));
    for _ in 0..25 {
        assert_eq!(form_page(&app, fields[0].1, "nowhere").await.status, 422);
    }
    assert_eq!(form_page(&app, fields[0].1, "nowhere").await.status, 429);
}

/// Fails unless `from` is a page that names `to` and leads there, or is absent. A redirect would lend this server's name to
/// any address that another one states.
async fn leads(browser: &Browser, from: &str, to: Option<&str>) {
    let answer = browser.get(from).await;
    match to {
        Some(to) => {
            let page = answer.text().replace("&#x2f;", "/");
            assert_eq!((answer.status.as_u16(), answer.header("location")), (200, ""), "{from}: {page}");
            assert!(page.contains(&format!("href=\"{to}\"")) && page.contains(&format!("<code>{to}</code>")), "{page}");
            assert!(page.contains("noindex"), "{from}");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
        None => {
            assert_eq!(answer.status, 404, "{from}");
            assert!(answer.text().contains("noindex"), "{from}");
        }
    }
}

#[tokio::test]
async fn pages_of_remote_accounts_and_statuses_lead_to_their_own_server() {
    let (peers, alice, bob, signed_in) = scene().await;
    let bob_there = peers[0].find(&alice, &peers[1].address(&bob)).await;
    alice.follow(&bob_there).ok().await;
    settle(&peers).await;
    let open = bob.publish("hello").await;
    let private = bob.publish_to("private", "secret").await;
    settle(&peers).await;
    let stranger = Browser::new(&peers[0]);
    let there = |status: &Value| {
        let (status, alice) = (status.clone(), alice.clone());
        async move {
            let found = alice.get("/api/v1/timelines/home").ok().await;
            let found = found.as_array().unwrap().iter().find(|seen| seen["uri"] == status["uri"]).cloned();
            id(&found.expect("the status arrived")).to_owned()
        }
    };
    let profile = format!("/@bob@{}", peers[1].domain);
    let (open_here, private_here) = (there(&open).await, there(&private).await);
    leads(&stranger, &profile, Some(&format!("http://{}/@bob", peers[1].domain))).await;
    leads(&stranger, &profile.replace("bob", "BOB"), Some(&format!("http://{}/@bob", peers[1].domain))).await;
    leads(&stranger, &format!("{profile}/{open_here}"), open["url"].as_str()).await;
    for path in [
        format!("/@carol@{}", peers[1].domain),
        format!("{profile}/1"),
        format!("/@alice@{}/{open_here}", peers[1].domain),
        format!("/@bob@elsewhere.example/{open_here}"),
        "/@bob@elsewhere.example".to_owned(),
        format!("{profile}/{private_here}"),
    ] {
        leads(&stranger, &path, None).await;
    }

    // People of this server stay here.
    let shown = signed_in.get(&profile).await.text();
    assert!(shown.contains("value=\"unfollow\"") && shown.contains("hello") && shown.contains("secret"), "{shown}");
    for (status, words) in [(&open_here, "hello"), (&private_here, "secret")] {
        let page = signed_in.get(&format!("{profile}/{status}")).await;
        assert!(page.status == 200 && page.text().contains(words), "{}", page.text());
    }
    assert_eq!(signed_in.get(&format!("{profile}/1")).await.status, 404);
    let unknown = signed_in.get(&format!("/@carol@{}", peers[1].domain)).await;
    assert!(unknown.header("location").starts_with("/authorize_interaction?uri=carol"), "{:?}", unknown.headers);

    peers[0].execute("UPDATE accounts SET url = 'javascript:alert(1)' WHERE domain IS NOT NULL").await;
    leads(&stranger, &profile, None).await;
    peers[0].execute("UPDATE accounts SET url = NULL WHERE domain IS NOT NULL").await;
    leads(&stranger, &profile, None).await;
    peers[0].execute("UPDATE statuses SET url = 'ftp://elsewhere.example/1' WHERE local = false").await;
    leads(&stranger, &format!("{profile}/{open_here}"), None).await;
    peers[0].suspend(&bob_there).await;
    leads(&stranger, &profile, None).await;
}
