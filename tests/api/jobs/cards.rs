//! Link previews, from well-behaved and hostile sites.
//!
//! <https://docs.joinmastodon.org/entities/PreviewCard/>

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, Site, TestApp, path};
use crate::jobs::removal;
use crate::platform::contract;
use crate::routes::media::png;

async fn share(author: &Client, text: &str) -> String {
    let status = author.publish(text).await;
    assert_eq!(status["card"], Value::Null, "publishing does not wait for another site");
    status.into_id()
}

async fn status(viewer: &Client, id: &str) -> Value {
    viewer.status(id).ok().await
}

async fn card(viewer: &Client, id: &str) -> Value {
    status(viewer, id).await["card"].clone()
}

async fn world() -> (TestApp, Site, Client) {
    let app = TestApp::with(&Site::KEYS).await;
    let alice = app.account("alice").await;
    (app, Site::start().await, alice)
}

#[tokio::test]
async fn status_shows_the_card_of_its_first_link() {
    let (app, site, alice) = world().await;
    site.put("/rook.png", 200, "image/png", &png(40, 30));
    let url = site.html(
        "/rooks",
        r#"<html lang="en"><title>Rooks</title><meta name="description" content="A bird &amp; more">
        <meta property="og:image" content="/rook.png"><meta property="og:image:alt" content="A rook">
        <meta property="og:site_name" content="Birds">
        <script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2026-01-02T03:04:05Z",
        "author": {"name": "Ann", "url": "https://ann.test/"}}</script>"#,
    );
    let text = format!("@alice #rooks https://example.test/@alice {url}#top {}/second", site.origin);
    let id = share(&alice, &text).await;
    app.run_jobs().await;
    let shown = card(&app.anonymous(), &id).await;
    contract::check("PreviewCard", &shown);
    contract::check("Status", &status(&alice, &id).await);
    let picture = app.anonymous().get(path(&shown["image"])).send().await;
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, "image/png"));
    let expected = json!({
        "url": url, "title": "Rooks", "description": "A bird & more", "language": "en", "type": "link",
        "author_name": "Ann", "author_url": "https://ann.test/", "provider_name": "Birds", "provider_url": "", "html": "",
        "width": 40, "height": 30, "image": shown["image"], "image_description": "A rook", "embed_url": "",
        "blurhash": shown["blurhash"], "published_at": "2026-01-02T03:04:05.000Z",
        "authors": [{"name": "Ann", "url": "https://ann.test/", "account": null}],
    });
    assert_eq!(shown, expected);
    assert!(shown["blurhash"].is_string());
    let home = alice.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home[0]["card"], shown);
    assert_eq!((site.asked("/rooks"), site.asked("/second")), (1, 0));
    app.anonymous().get(&format!("/api/v1/statuses/{id}/card")).fails(404).await;
}

#[tokio::test]
async fn text_without_external_link_queues_nothing() {
    let (app, site, alice) = world().await;
    for text in [
        "hello @alice #rooks",
        "https://example.test/@alice and http://EXAMPLE.test:443/",
        "gemini://a.test/ xmpp:a@b.test",
        "https://user:secret@a.test/",
        "a.test/page",
    ] {
        share(&alice, text).await;
    }
    assert_eq!(app.count("jobs WHERE kind = 'attach_card'").await, 0);
    let off = TestApp::with(&[Site::KEYS[1]]).await;
    let bob = off.account("bob").await;
    let id = share(&bob, &site.html("/page", "<title>t</title>")).await;
    off.run_jobs().await;
    assert_eq!((card(&bob, &id).await, site.asked("/page")), (Value::Null, 0), "switched off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn statuses_with_one_link_share_one_fetch() {
    let (app, site, alice) = world().await;
    let url = site.html("/one", "<title>one</title>");
    let posts = (0..8).map(|number| {
        let (alice, body) = (alice.clone(), json!({ "status": format!("{number} {url}") }));
        tokio::spawn(async move { alice.publish(&body).await })
    });
    let mut ids = Vec::new();
    for post in posts.collect::<Vec<_>>() {
        ids.push(post.await.unwrap()["id"].as_str().unwrap().to_owned());
    }
    let workers: Vec<_> =
        (0..4).map(|_| app.app.clone()).map(|cx| tokio::spawn(async move { worker::drain(&cx).await })).collect();
    for worker in workers {
        worker.await.unwrap().unwrap();
    }
    app.app.clock.advance(Duration::minutes(6));
    app.run_jobs().await;
    assert_eq!(site.asked("/one"), 1);
    assert_eq!(app.count("preview_cards").await, 1);
    for id in ids {
        assert_eq!(card(&alice, &id).await["title"], "one");
    }
    assert_eq!(app.count("jobs WHERE kind IN ('attach_card', 'fetch_card')").await, 0);
}

#[tokio::test]
async fn edit_replaces_or_removes_card() {
    let (app, site, alice) = world().await;
    let [one, two] = ["one", "two"].map(|name| site.html(&format!("/{name}"), &format!("<title>{name}</title>")));
    let id = share(&alice, &one).await;
    app.run_jobs().await;
    assert_eq!(card(&alice, &id).await["title"], "one");
    for (text, title) in [
        (format!("{one} again"), json!("one")),
        (two.clone(), json!("two")),
        ("nothing".to_owned(), Value::Null),
        (format!("{two} back"), json!("two")),
    ] {
        app.tick();
        alice.edit(&id, json!({ "status": text })).ok().await;
        app.run_jobs().await;
        assert_eq!(card(&alice, &id).await["title"], title, "{text}");
    }
    assert_eq!((site.asked("/one"), site.asked("/two")), (1, 1));
}

#[tokio::test]
async fn failure_is_remembered_for_a_while() {
    let (app, site, alice) = world().await;
    let gone = format!("{}/gone", site.origin);
    let broken = site.put("/broken", 503, "text/html", b"");
    let first = share(&alice, &gone).await;
    app.run_jobs().await;
    share(&alice, &gone).await;
    app.run_jobs().await;
    assert_eq!(site.asked("/gone"), 1);
    site.html("/gone", "<title>back</title>");
    app.app.clock.advance(Duration::hours(25));
    share(&alice, &gone).await;
    app.run_jobs().await;
    assert_eq!((site.asked("/gone"), &card(&alice, &first).await["title"]), (2, &json!("back")));

    let second = share(&alice, &broken).await;
    app.run_jobs().await;
    assert_eq!(site.asked("/broken"), 1);
    app.app.clock.advance(Duration::minutes(6));
    app.run_jobs().await;
    assert_eq!(site.asked("/broken"), 2, "tried again without being used");
    site.html("/broken", "<title>mended</title>");
    app.app.clock.advance(Duration::minutes(21));
    app.run_jobs().await;
    assert_eq!((site.asked("/broken"), &card(&alice, &second).await["title"]), (3, &json!("mended")));

    let dead = site.put("/dead", 500, "text/html", b"");
    share(&alice, &dead).await;
    for _ in 0..30 {
        app.run_jobs().await;
        app.app.clock.advance(Duration::hours(1));
    }
    assert_eq!(site.asked("/dead"), 4, "then it is not retried");
}

#[tokio::test]
async fn card_used_after_two_weeks_is_fetched_again() {
    let (app, site, alice) = world().await;
    site.put("/old.png", 200, "image/png", &png(8, 8));
    let url = site.html("/page", "<title>old</title><meta property='og:image' content='/old.png'>");
    let first = share(&alice, &url).await;
    app.run_jobs().await;
    let picture = card(&alice, &first).await["image"].clone();
    site.html("/page", "<title>new</title>");
    app.app.clock.advance(Duration::days(13));
    share(&alice, &url).await;
    app.run_jobs().await;
    assert_eq!(site.asked("/page"), 1);
    app.app.clock.advance(Duration::days(2));
    app.run_jobs().await;
    assert_eq!(site.asked("/page"), 1, "it was not used");
    let last = share(&alice, &url).await;
    app.run_jobs().await;
    assert_eq!(site.asked("/page"), 2);
    for id in [first, last] {
        assert_eq!(card(&alice, &id).await["title"], "new");
    }
    assert_eq!(app.anonymous().get(path(&picture)).send().await.status, 404, "the old picture is gone");
    site.put("/page", 404, "text/html", b"");
    app.app.clock.advance(Duration::days(15));
    let kept = share(&alice, &url).await;
    app.run_jobs().await;
    assert_eq!(card(&alice, &kept).await["title"], "new", "a card of a removed page is still shown");
}

#[tokio::test]
async fn oembed_brings_players_and_pictures_but_no_scripts() {
    let (app, site, alice) = world().await;
    site.put("/photo.png", 200, "image/png", &png(60, 20));
    let page = |name: &str, document: Value| {
        site.put(&format!("/{name}.json"), 200, "application/json+oembed", document.to_string().as_bytes());
        let link = format!(r#"<link rel="alternate" type="application/json+oembed" href="/{name}.json">"#);
        site.html(&format!("/{name}"), &format!("<title>{name} page</title>{link}"))
    };
    let player =
        r#"<iframe src="https://v.test/1" width="480" height="270" onload="x()"></iframe><script>x()</script>"#;
    let video = page(
        "video",
        json!({"type": "video", "version": "1.0", "html": player, "width": 480, "height": "270", "title": "A video",
               "author_name": "Bob", "author_url": "https://v.test/bob", "provider_name": "V", "provider_url": "https://v.test/"}),
    );
    let photo = page("photo", json!({"type": "photo", "url": "/photo.png", "width": 600, "height": 200}));
    let rich = page("rich", json!({"type": "rich", "html": "<b>rich</b>", "title": "no"}));
    let odd = page("odd", json!([{"type": 1}]));
    let mut cards = Vec::new();
    for url in [video, photo, rich, odd] {
        let id = share(&alice, &url).await;
        app.run_jobs().await;
        let shown = card(&alice, &id).await;
        contract::check("PreviewCard", &shown);
        cards.push(shown);
    }
    let [video, photo, rich, odd] = <[Value; 4]>::try_from(cards).unwrap();
    assert_eq!((&video["type"], &video["title"], &video["width"]), (&json!("video"), &json!("A video"), &json!(480)));
    assert_eq!((&video["height"], &video["authors"][0]["name"]), (&json!(270), &json!("Bob")));
    assert_eq!(
        video["html"],
        "<iframe src=\"https://v.test/1\" width=\"480\" height=\"270\" sandbox=\"allow-scripts allow-same-origin \
         allow-popups allow-popups-to-escape-sandbox allow-forms\"></iframe>"
    );
    assert_eq!((&photo["type"], &photo["width"]), (&json!("photo"), &json!(600)));
    assert_eq!(photo["embed_url"], format!("{}/photo.png", site.origin));
    assert!(photo["image"].is_string());
    for (card, title) in [(rich, "rich page"), (odd, "odd page")] {
        assert_eq!((&card["type"], &card["title"], &card["html"]), (&json!("link"), &json!(title), &json!("")));
    }
}

#[tokio::test]
async fn hostile_pages_do_no_harm() {
    let (app, site, alice) = world().await;
    let endless = format!("<title>big</title>{}", "<p>x</p>".repeat(500_000));
    let bomb = "<title>bomb</title><meta property='og:image' content='/bomb.png'>";
    site.put("/bomb.png", 200, "image/png", &[&png(8, 8)[..40], &[0; 1000]].concat());
    let inside = "<title>inside</title><meta property='og:image' content='http://10.0.0.1/a.png'>";
    let nul = "<title>a\u{0}b&#0;c</title><meta name=description content='\u{7}'>";
    for (url, title) in [
        (site.html("/endless", &endless), json!("big")),
        (site.html("/bomb", bomb), json!("bomb")),
        (site.html("/inside", inside), json!("inside")),
        (site.html("/nul", nul), json!("ab\u{fffd}c")),
        (site.html("/empty", ""), Value::Null),
        (site.put("/video", 200, "video/mp4", b"<title>no</title>"), Value::Null),
        (site.with_header("/loop", 302, "location", "/loop"), Value::Null),
        (site.with_header("/private", 302, "location", "http://10.0.0.1/"), Value::Null),
        (site.with_header("/file", 302, "location", "file:///etc/passwd"), Value::Null),
        (site.html("/tags", &"<a rel=me ".repeat(100_000)), Value::Null),
        ("http://10.0.0.1/".to_owned(), Value::Null),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), Value::Null),
        (format!("{}/{}", site.origin, "x".repeat(3000)), Value::Null),
    ] {
        let id = share(&alice, &url).await;
        app.run_jobs().await;
        let shown = card(&alice, &id).await;
        assert_eq!((&shown["title"], &shown["image"]), (&title, &Value::Null), "{url:.80}");
    }
    assert_eq!(site.asked("/loop"), 5);
}

#[tokio::test]
async fn unused_card_is_deleted_with_its_picture() {
    let (app, site, alice) = world().await;
    let bob = app.account("bob").await;
    site.put("/a.png", 200, "image/png", &png(8, 8));
    let url = site.html("/a", "<title>a</title><meta property='og:image' content='/a.png'>");
    let [first, _] = [share(&alice, &url).await, share(&bob, &url).await];
    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    let picture = card(&alice, &first).await["image"].clone();
    alice.delete_status(&first).ok().await;
    let later = || async {
        app.app.clock.advance(Duration::days(2));
        app.run_jobs().await;
        app.anonymous().get(path(&picture)).send().await.status.as_u16()
    };
    assert_eq!(later().await, 200, "Bob's has it");
    removal::remove(&app, "bob").await;
    app.run_jobs().await;
    assert_eq!(app.count("status_cards").await, 0);
    assert_eq!(later().await, 404);
    assert_eq!(app.count("preview_cards").await, 0);
    assert_eq!(app.count("jobs WHERE kind = 'prune_cards'").await, 1);
}

#[tokio::test]
async fn staff_reviews_links_and_has_them_fetched_again() {
    let (app, site, alice) = world().await;
    let bob = app.account("bob").await;
    alice.update_profile(json!({ "discoverable": true })).ok().await;
    let url = site.html("/a", "<title>a</title>");
    let [first, second] = [share(&alice, &url).await, share(&alice, &format!("{url}#again")).await];
    share(&bob, &url).await;
    alice.publish(json!({ "status": url, "visibility": "unlisted" })).await;
    app.run_jobs().await;
    let timeline = format!("/api/v1/timelines/link?url={url}");
    alice.get(&timeline).fails(404).await;
    app.run(&["card", "approve", "https://other.test/"]).await.fails(1);
    app.run(&["card", "approve", &url]).await.ok();
    let page = app.anonymous().get(&timeline).send().await;
    assert!(page.header("cache-control").contains("public") && page.header("link").contains("max_id"));
    let ids: Vec<String> =
        page.json().as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, [second.clone(), first], "only listed statuses with this link");
    let older = alice.get(&format!("{timeline}&limit=1&max_id={second}")).ok().await;
    assert_eq!(older.as_array().unwrap().len(), 1);
    assert!(app.run(&["card", "list"]).await.ok().contains(&format!("approved      {url}  a")));

    app.set("timeline_preview", false).await;
    app.anonymous().get(&timeline).fails(401).await;
    alice.get(&timeline).ok().await;
    app.run(&["card", "reject", &url]).await.ok();
    alice.get(&timeline).fails(404).await;

    site.html("/a", "<title>b</title>");
    app.run(&["card", "fetch", &url]).await.ok();
    app.make_jobs_due().await;
    app.run_jobs().await;
    assert_eq!(card(&alice, &second).await["title"], "b");
}

#[tokio::test]
async fn new_card_is_shown_on_other_nodes() {
    let (app, site, alice) = world().await;
    if app.db().engine() == database::Engine::Sqlite {
        return;
    }
    let url = site.html("/a", "<title>a</title>");
    let id = share(&alice, &url).await;
    let other = app.beside(&[]).await;
    let path = format!("/api/v1/statuses/{id}");
    assert_eq!(other.anonymous().get(&path).ok().await["card"], Value::Null);
    app.run_jobs().await;
    assert_eq!(other.anonymous().get(&path).ok().await["card"]["title"], "a");
}

/// A page of `site` that declares `creator` as its author.
fn signed(site: &Site, path: &str, creator: &str) -> String {
    site.html(path, &format!(r#"<title>t</title><meta name="fediverse:creator" content="{creator}">"#))
}

#[tokio::test]
async fn author_of_page_is_shown_when_both_sides_confirm() {
    let app = TestApp::with(&Site::KEYS).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let site = Site::start().await;
    let url = signed(&site, "/signed", "@Alice@example.test");
    let id = share(&bob, &url).await;
    let other = share(&bob, &signed(&site, "/strange", "@nobody@example.test")).await;
    app.run_jobs().await;
    let author = async |id: &str| card(&bob, id).await["authors"][0]["account"].clone();
    assert_eq!(author(&id).await, Value::Null, "she did not say so yet");
    let own = card(&alice, &id).await;
    contract::check("PreviewCard", &own);
    assert_eq!((&own["missing_attribution"], &own["title"]), (&json!(true), &json!("t")), "she is asked");
    assert_eq!(card(&bob, &id).await.get("missing_attribution"), None, "nobody else is");

    let host = url::Url::parse(&site.origin).unwrap().host_str().unwrap().to_owned();
    let say = async |sites: Value| {
        let body = json!({ "attribution_domains": sites });
        alice.patch("/api/v1/accounts/update_credentials").json(&body).ok().await["source"]["attribution_domains"]
            .clone()
    };
    assert_eq!(say(json!([format!("http://{host}")])).await, json!([host]));
    assert_eq!(card(&alice, &id).await.get("missing_attribution"), None);
    let shown = card(&bob, &id).await;
    contract::check("PreviewCard", &shown);
    assert_eq!(shown["authors"][0]["account"]["acct"], "alice");
    assert_eq!(author(&other).await, Value::Null);
    alice.update_profile(json!({"display_name": "Al"})).ok().await;
    assert_eq!(author(&id).await["display_name"], "Al", "with her current name");
    let home = bob.get("/api/v1/timelines/home").ok().await;
    assert_eq!(home[1]["card"]["authors"][0]["account"]["display_name"], "Al");

    let cost = async || {
        let before = app.db().statements();
        bob.get("/api/v1/timelines/home").ok().await;
        app.db().statements() - before
    };
    cost().await;
    let one = cost().await;
    share(&bob, &format!("again {url}")).await;
    app.run_jobs().await;
    cost().await;
    assert_eq!(cost().await, one, "one statement for any number");

    assert_eq!(say(json!([])).await, json!([]));
    assert_eq!(author(&id).await, Value::Null);
    let bad = json!({ "attribution_domains": ["no domain"] });
    alice.patch("/api/v1/accounts/update_credentials").json(&bad).fails(422).await;
    let many: Vec<String> = (0..101).map(|number| format!("s{number}.test")).collect();
    let many = json!({ "attribution_domains": many });
    alice.patch("/api/v1/accounts/update_credentials").json(&many).fails(422).await;
}

#[tokio::test]
async fn full_cache_evicts_least_recently_used_pictures() {
    let (app, site, alice) = world().await;
    let page = |name: &str| {
        site.put(&format!("/{name}.png"), 200, "image/png", &png(40, 30));
        site.html(
            &format!("/{name}"),
            &format!(r#"<title>{name}</title><meta property="og:image" content="/{name}.png">"#),
        )
    };
    share(&alice, &page("one")).await;
    app.run_jobs().await;
    let size = app.number("SELECT image_bytes FROM preview_cards").await;
    assert!(size > 0);

    let limit = (2 * size).to_string();
    let keys = [Site::KEYS[0], Site::KEYS[1], ("ROOKERY_MEDIA_CACHE_LIMIT_BYTES", limit.as_str())];
    let app = TestApp::with(&keys).await;
    let alice = app.account("alice").await;
    let mut ids = Vec::new();
    for name in ["one", "two", "three"] {
        ids.push(share(&alice, &page(name)).await);
    }
    app.run_jobs().await;
    let first = card(&alice, &ids[0]).await["image"].clone();
    app.app.clock.advance(Duration::minutes(1));
    // Used again, so that the second is the oldest.
    share(&alice, &page("one")).await;
    app.run_jobs().await;
    let gone = card(&alice, &ids[1]).await["image"].clone();

    worker::cron::schedule(&app.app).await.unwrap();
    app.run_jobs().await;
    let shown: Vec<Value> = futures_util::future::join_all(ids.iter().map(|id| card(&alice, id))).await;
    assert_eq!((&shown[0]["image"], &shown[1]["image"]), (&first, &Value::Null), "{shown:?}");
    assert!(shown[2]["image"].is_string());
    assert_eq!((&shown[1]["title"], &shown[1]["width"], &shown[1]["height"]), (&json!("two"), &json!(0), &json!(0)));
    contract::check("PreviewCard", &shown[1]);
    assert_eq!(app.anonymous().get(path(&gone)).send().await.status, 404);
    assert_eq!(app.anonymous().get(path(&first)).send().await.status, 200);

    // Used again, it is fetched again.
    let again = share(&alice, &page("two")).await;
    app.run_jobs().await;
    assert!(card(&alice, &again).await["image"].is_string());
    let none = TestApp::with(&[Site::KEYS[0], Site::KEYS[1], ("ROOKERY_MEDIA_CACHE_LIMIT_BYTES", "0")]).await;
    let bob = none.account("bob").await;
    let id = share(&bob, &page("one")).await;
    worker::cron::schedule(&none.app).await.unwrap();
    none.run_jobs().await;
    assert!(card(&bob, &id).await["image"].is_string(), "no limit");
}
