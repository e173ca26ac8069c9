//! Full-text search for statuses: <https://docs.joinmastodon.org/methods/search/>, and `rookery search`.

use serde_json::{Value, json};

use crate::harness::{Client, Log, Published, Site, TestApp, status_path};
use crate::platform::contract;
use crate::seed::{Seed, Status};

async fn say(author: &Client, text: &str) -> Published {
    author.publish(json!({ "status": text, "searchability": "public" })).await
}

fn encoded(q: &str) -> String {
    q.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Plain texts of the found statuses.
async fn search(viewer: &Client, q: &str, rest: &str) -> Vec<String> {
    let found = viewer.get(&format!("/api/v2/search?type=statuses&q={}{rest}", encoded(q))).ok().await;
    contract::check("Search", &found);
    let text = |status: &Value| {
        let html = status["content"].as_str().unwrap();
        html.trim_start_matches("<p>").trim_end_matches("</p>").to_owned()
    };
    found["statuses"].as_array().unwrap().iter().map(text).collect()
}

async fn finds(viewer: &Client, q: &str) -> Vec<String> {
    search(viewer, q, "").await
}

async fn terms(app: &TestApp) -> i64 {
    let rows: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM status_terms").await.unwrap();
    rows[0].0
}

#[tokio::test]
async fn statuses_are_found_by_their_words_newest_first() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for text in
        ["Rooks eat worms", "Crème brûlée, worms", "今日は東京タワーへ", "我喜欢北京烤鸭", "ฉันรักแมวมาก", "검색은 쉽다"]
    {
        say(&alice, text).await;
    }
    assert_eq!(finds(&bob, "worms").await, ["Crème brûlée, worms", "Rooks eat worms"]);
    assert_eq!(finds(&bob, "WORMS rooks").await, ["Rooks eat worms"]);
    assert_eq!(finds(&bob, "creme").await, ["Crème brûlée, worms"]);
    assert_eq!(finds(&bob, "worm").await, [""; 0], "whole words");
    for (word, text) in
        [("東京", "今日は東京タワーへ"), ("北京", "我喜欢北京烤鸭"), ("แมว", "ฉันรักแมวมาก"), ("검색", "검색은 쉽다")]
    {
        assert_eq!(finds(&bob, word).await, [text], "{word}");
    }
    assert_eq!(finds(&bob, "京").await, ["我喜欢北京烤鸭", "今日は東京タワーへ"]);
    assert_eq!(finds(&bob, "京都").await, [""; 0]);
    assert_eq!(finds(&bob, "\"eat worms\"").await, ["Rooks eat worms"]);
    assert_eq!(finds(&bob, "“worms eat”").await, [""; 0]);
    assert_eq!(finds(&bob, "+worms -rooks").await, ["Crème brûlée, worms"]);
    assert_eq!(search(&bob, "worms", "&limit=1&offset=1").await, ["Rooks eat worms"]);
    assert_eq!(search(&bob, "worms", "&limit=0").await, [""; 0]);
    assert_eq!(finds(&bob, "worms order:asc").await, ["Rooks eat worms", "Crème brûlée, worms"]);
    let anonymous = app.anonymous().get("/api/v2/search?q=worms").ok().await;
    assert_eq!(anonymous["statuses"], json!([]));
}

#[tokio::test]
async fn strangers_find_statuses_that_authors_permit() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let default = alice.publish("worms by default").await;
    let limited = json!({"status": "worms for me alone", "searchability": "limited"});
    let limited = alice.publish(limited).await;
    assert_eq!(finds(&alice, "worms").await, ["worms for me alone", "worms by default"]);
    assert_eq!(finds(&bob, "worms").await, [""; 0]);

    for status in [&default, &limited] {
        bob.bookmark(&status).ok().await;
    }
    assert_eq!(finds(&bob, "worms").await, ["worms by default"], "what one marked, but for the author's own");
    bob.unbookmark(&default).ok().await;
    assert_eq!(finds(&bob, "worms").await, [""; 0]);
    alice.update_profile(json!({"indexable": true})).ok().await;
    assert_eq!(finds(&bob, "worms").await, ["worms by default"], "public statuses of indexable authors");
    assert_eq!(finds(&bob, "worms in:public").await, ["worms by default"]);
    assert_eq!(finds(&bob, "worms in:library").await, [""; 0]);

    alice.publish(json!({"status": "worms for followers", "searchability": "private"})).await;
    assert_eq!(finds(&bob, "worms followers").await, [""; 0]);
    bob.follow(&alice).ok().await;
    assert_eq!(finds(&bob, "worms followers").await, ["worms for followers"]);
    assert_eq!(finds(&bob, "worms in:following").await.len(), 2);
    assert_eq!(search(&bob, "worms", "&searchability=private").await, ["worms for followers"]);
    assert_eq!(finds(&bob, "worms searchability:limited").await, [""; 0]);
    bob.mute(&alice).ok().await;
    assert_eq!(finds(&bob, "worms").await, [""; 0]);
}

#[tokio::test]
async fn searchability_is_set_by_request_or_preference() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    alice.update_profile(json!({"source": {"searchability": "private"}})).ok().await;
    assert_eq!(alice.publish("a").await["searchability"], "private");
    assert_eq!(say(&alice, "b").await["searchability"], "public");
    let direct = json!({"status": "c", "visibility": "direct", "searchability": "public"});
    assert_eq!(alice.publish(direct).await["searchability"], "direct");
}

#[tokio::test]
async fn interactions_make_status_searchable() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut statuses = Vec::new();
    for name in ["favourited", "reblogged", "bookmarked", "voted", "untouched"] {
        let poll = json!({"options": [format!("option of {name}"), "other"], "expires_in": 600});
        statuses.push(alice.publish(json!({"status": name, "poll": poll})).await);
    }
    alice.publish("@bob mentioned option").await;
    for (status, act) in statuses.iter().zip(["/favourite", "/reblog", "/bookmark"]) {
        bob.post(&status_path(status, act)).ok().await;
    }
    let poll = statuses[3]["poll"]["id"].as_str().unwrap();
    bob.post(&format!("/api/v1/polls/{poll}/votes")).json(&json!({"choices": [0]})).ok().await;

    for q in ["option", "option in:library", "in:library"] {
        let found = finds(&bob, q).await;
        assert!(found[0].contains("mentioned"), "{q}");
        assert_eq!(found[1..], ["voted", "bookmarked", "reblogged", "favourited"], "{q}");
    }
    assert_eq!(finds(&bob, "my:favourited").await, ["favourited"]);
    assert_eq!(finds(&bob, "option my:bookmarked -my:reblogged").await, ["bookmarked"]);
    assert_eq!(finds(&alice, "in:library order:asc").await.len(), 6);
}

#[tokio::test]
async fn operators_narrow_a_search() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let plain = say(&alice, "worms").await;
    let link =
        bob.publish(json!({"status": "worms https://worms.example", "language": "de", "searchability": "public"}));
    let link = link.await;
    let poll = json!({"options": ["one", "two"], "expires_in": 600});
    let question = json!({"status": "which?", "poll": poll, "spoiler_text": "worms", "searchability": "public"});
    alice.publish(question).await;
    let reply = json!({"status": "worms again", "in_reply_to_id": plain["id"], "searchability": "public"});
    bob.publish(reply).await;

    let by_alice = ["which?", "worms"].map(str::to_owned);
    for q in ["worms from:alice", "worms from:@alice@example.test", "worms -from:bob", "from:alice@example.test@x"] {
        assert_eq!(finds(&bob, q).await, by_alice, "{q}");
    }
    assert_eq!(search(&bob, "worms", &format!("&account_id={}", alice.id())).await, by_alice);
    assert_eq!(finds(&bob, "from:me has:link").await.len(), 1);
    assert_eq!(finds(&bob, "has:poll").await, ["which?"]);
    assert_eq!(finds(&bob, "is:sensitive").await, ["which?"]);
    assert_eq!(finds(&bob, "is:reply worms").await, ["worms again"]);
    assert_eq!(finds(&bob, "worms -is:reply -has:link").await, by_alice);
    assert_eq!(finds(&bob, "has:media").await, [""; 0]);
    assert_eq!(finds(&bob, "language:de").await.len(), 1);
    assert_eq!(finds(&bob, "worms domain:example.test").await.len(), 4);
    assert_eq!(finds(&bob, "worms -domain:example.test").await, [""; 0]);
    for (q, count) in [
        ("during:2026-01-15", 4),
        ("after:2026-01-15", 0),
        ("after:2026-01-14", 4),
        ("before:2026-01-15", 0),
        ("before:2026-01-16", 4),
        ("before:1768478400000", 0),
        ("after:1", 4),
    ] {
        assert_eq!(finds(&bob, &format!("worms {q}")).await.len(), count, "{q}");
        assert_eq!(finds(&bob, q).await.len(), count, "{q} alone");
    }
    let id = link["id"].as_str().unwrap();
    assert_eq!(search(&bob, "worms", &format!("&max_id={id}")).await, ["worms"]);
    assert_eq!(search(&bob, "worms", &format!("&min_id={id}")).await, ["worms again", "which?"]);
}

#[tokio::test]
async fn senseless_operators_are_refused() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for q in [
        "colour:red",
        "has:legs",
        "in:here",
        "my:hat",
        "order:random",
        "searchability:some",
        "before:yesterday",
        "after:2026-02-30",
        "during:99999999999999999999",
        "after:9999999999999999",
        "-in:library",
        "-before:2026-01-01",
        &"word ".repeat(33),
    ] {
        let refused = alice.get(&format!("/api/v2/search?q={}", encoded(q))).fails(422).await;
        assert!(!refused.is_empty(), "{q}");
    }
    alice.get("/api/v2/search?q=x&searchability=some").fails(422).await;
    alice.get("/api/v2/search?q=from:nobody").fails(404).await;
    alice.get("/api/v2/search?q=has:legs&type=accounts").ok().await;
}

#[tokio::test]
async fn index_follows_edits_and_deletions() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = say(&alice, "red worms").await;
    assert_eq!(finds(&alice, "red").await, ["red worms"]);
    alice.edit(&status, json!({"status": "blue worms", "spoiler_text": "careful"})).ok().await;
    assert_eq!(finds(&alice, "red").await, [""; 0]);
    assert_eq!(finds(&alice, "blue careful worms").await, ["blue worms"]);
    alice.delete_status(&status).ok().await;
    assert_eq!(finds(&alice, "worms").await, [""; 0]);
    assert_eq!(terms(&app).await, 0, "nothing stays behind");
}

#[tokio::test]
async fn descriptions_of_media_are_found() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let file = crate::routes::media::png(8, 8);
    let media = alice.upload_with(file.as_slice(), &[("description", "a rook")]).ok();
    let media = media.await;
    let status = alice.publish(json!({"status": "look", "media_ids": [media["id"]]})).await;
    assert_eq!(finds(&alice, "rook has:image").await, ["look"]);
    let attributes = json!([{"id": media["id"], "description": "a crow"}]);
    let edit = json!({"status": "look", "media_ids": [media["id"]], "media_attributes": attributes});
    alice.edit(&status, &edit).ok().await;
    assert_eq!((finds(&alice, "rook").await.len(), finds(&alice, "crow").await.len()), (0, 1));
    alice.delete_status(&status).ok().await;
    assert_eq!(terms(&app).await, 0);
}

#[tokio::test]
async fn references_are_found_as_they_come_and_go() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let target = say(&alice, "red worms").await;
    let text = format!("blue worms RT {}", target["url"].as_str().unwrap());
    let referring = say(&alice, &text).await;
    assert_eq!(finds(&alice, "worms has:reference").await.len(), 1);
    alice.edit(&referring, "blue worms").ok().await;
    assert_eq!(finds(&alice, "worms has:reference").await, [""; 0]);
    alice.edit(&referring, json!({ "status": text })).ok().await;
    assert_eq!(finds(&alice, "blue has:reference").await.len(), 1);
    alice.delete_status(&referring).ok().await;
    alice.delete_status(&target).ok().await;
    assert_eq!(terms(&app).await, 0, "nothing stays behind");
}

#[tokio::test]
async fn lost_search_index_is_rebuilt_by_command() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for n in 0..3 {
        say(&alice, &format!("worms {n}")).await;
    }
    let all = terms(&app).await;
    app.execute("DELETE FROM status_terms").await;
    assert_eq!(finds(&alice, "worms").await, [""; 0]);
    assert_eq!(app.run(&["search", "reindex", "--json"]).await.json()[0]["statuses"], 3);
    assert_eq!((finds(&alice, "worms").await.len(), terms(&app).await), (3, all));
}

#[tokio::test]
async fn frequent_words_cost_no_additional_statements() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    for n in 0..50 {
        say(&alice, &format!("common words {n}")).await;
    }
    finds(&bob, "common").await;
    app.known(&bob).await;
    let cost = async |rest: &str| {
        app.app.caches.statuses.clear();
        app.app.caches.heads.clear();
        let (cost, found) = app.cost(search(&bob, "common words", rest)).await;
        (found.len(), cost)
    };
    let ((two, small), (forty, large)) = (cost("&limit=2").await, cost("&limit=40").await);
    assert_eq!((two, forty), (2, 40));
    assert!(large <= small && large <= 16, "{small} statements for 2, {large} for 40");
}

#[tokio::test]
async fn statuses_with_a_player_are_found() {
    let app = TestApp::with(&Site::KEYS).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let site = Site::start().await;
    let oembed = json!({
        "type": "video", "version": "1.0", "title": "A video", "width": 480, "height": 270,
        "html": "<iframe src=\"https://player.test/1\"></iframe>",
    });
    site.put("/oembed", 200, "application/json", oembed.to_string().as_bytes());
    let link = r#"<title>video</title><link rel="alternate" type="application/json+oembed" href="/oembed">"#;
    let (video, page) = (site.html("/video", link), site.html("/page", "<title>page</title>"));
    for (text, url) in [("a film", &video), ("a text", &page), ("both", &video)] {
        say(&alice, &format!("{text} {url}")).await;
    }
    say(&alice, "neither").await;
    let first = |found: Vec<String>| -> Vec<String> {
        found.iter().map(|text| text.split(" <a").next().unwrap().to_owned()).collect()
    };
    assert_eq!(first(finds(&bob, "has:embed").await), [""; 0], "not before it was fetched");
    app.run_jobs().await;
    assert_eq!(first(finds(&bob, "has:embed").await), ["both", "a film"]);
    assert_eq!(first(finds(&bob, "film is:embed").await), ["a film"]);
    assert_eq!(first(finds(&bob, "-has:embed").await), ["neither", "a text"]);
}

#[tokio::test]
async fn size_of_the_index_is_measured() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let before = store::status_search::size_bytes(app.db()).await.unwrap();
    for part in 0..20 {
        let words: Vec<String> = (0..60).map(|word| format!("word{part}x{word}")).collect();
        say(&alice, &words.join(" ")[..480]).await;
    }
    let after = store::status_search::size_bytes(app.db()).await.unwrap();
    assert!(after > before, "{before} {after}");
}

#[tokio::test]
async fn truncated_search_is_logged() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let author = i64::from(alice.id());
    for _ in 0..1_100 {
        seed.status(&Status { author, text: "worms early", ..Status::default() });
    }
    seed.write(app.db()).await;
    app.run(&["search", "reindex"]).await.ok();

    let (log, _guard) = Log::of_this_thread();
    assert_eq!(finds(&alice, "worms").await.len(), 40);
    assert!(!log.text().contains("cut short"), "{}", log.text());
    // Both words are in every status, but never adjacent in this order.
    assert_eq!(finds(&alice, "\"early worms\"").await, [""; 0]);
    let text = log.text();
    assert!(text.contains("cut short by a bound") && text.contains("by=Read"), "{text}");
    assert!(!text.contains("early"), "not the search terms: {text}");
    assert_eq!(finds(&bob, "nothing").await, [""; 0]);
}
