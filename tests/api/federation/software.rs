//! Documents as other software sends them, and what apps show of them.
//!
//! A file of `software` has invented documents by their paths, with the members that the software is known to write. A
//! [`Liar`] serves them, with its own address instead of `https://NAME.example`.

use serde_json::{Value, json};

use super::scene::{ALICE, Scene};
use crate::harness::Liar;
use crate::harness::liar::{KEY, Person, with};
use crate::platform::contract;

/// A scene beside a server of some software.
struct Software {
    scene: Scene,
    liar: Liar,
    documents: Value,
}

impl Software {
    /// Serves the documents of `name`, whose JSON is `text`.
    async fn new(name: &str, text: &str) -> Self {
        let scene = Scene::new().await;
        let liar = Liar::start().await;
        let text = text.replace(&format!("https://{name}.example"), &liar.url(""));
        let text = text.replace("https://here.example/users/alice", ALICE);
        let mut documents: Value = serde_json::from_str(&text).unwrap();
        for (path, document) in documents.as_object_mut().unwrap() {
            if document["publicKey"].is_object() {
                document["publicKey"]["publicKeyPem"] = json!(KEY.public);
                let person = person(&liar, path, document);
                person.set_webfinger(&person.name, &person.webfinger());
            }
            liar.document(path, document);
        }
        Self { scene, liar, documents }
    }

    fn person(&self, path: &str) -> Person {
        person(&self.liar, path, &self.documents[path])
    }

    /// The status at `path`, fetched as apps look statuses up.
    async fn open(&self, path: &str) -> Value {
        let status = self.scene.open(&self.liar.url(path)).await;
        contract::check("Status", &status);
        assert_eq!(status["uri"], self.liar.url(path));
        self.with_origins(status).await
    }

    /// The status at `path`, delivered by its author.
    async fn deliver(&self, author: &str, path: &str) -> Value {
        self.scene.send(&self.person(author), "Create", self.documents[path].clone()).await;
        let status = self.scene.status(&self.documents[path]).await.expect("the status");
        contract::check("Status", &status);
        self.with_origins(status).await
    }

    /// The account at `path`, which Alice follows from now on.
    async fn follow(&self, path: &str) -> Value {
        self.scene.follow(&self.person(path)).await;
        let account = self.scene.account(&self.person(path)).await;
        contract::check("Account", &account);
        self.with_origins(account).await
    }

    /// An entity with the addresses that its files have at their servers, instead of those that clients load.
    async fn with_origins(&self, entity: Value) -> Value {
        let mut text = entity.to_string();
        while let Some(at) = text.find("http://localhost:3000/media/remote/") {
            let end = at + text[at..].find('"').unwrap();
            let origin = self.scene.app.origin(&json!(text[at..end])).await;
            text.replace_range(at..end, &origin);
        }
        serde_json::from_str(&text).unwrap()
    }

    /// The text of a status, in which this is the address of the server.
    fn text(&self, status: &Value) -> String {
        let html = status["content"].as_str().unwrap().replace(&self.liar.url(""), "HERE");
        html.replace(r#" rel="nofollow noopener noreferrer" target="_blank""#, "")
    }
}

macro_rules! software {
    ($name:literal) => {
        Software::new($name, include_str!(concat!("software/", $name, ".json"))).await
    };
}

/// Whether the poll of a status has several choices, and its options with their votes.
fn options(status: &Value) -> (bool, Vec<(&str, i64)>) {
    let poll = &status["poll"];
    let options = poll["options"].as_array().unwrap().iter();
    let options = options.map(|one| (one["title"].as_str().unwrap(), one["votes_count"].as_i64().unwrap()));
    (poll["multiple"].as_bool().unwrap(), options.collect())
}

fn person(liar: &Liar, path: &str, actor: &Value) -> Person {
    let name = actor["preferredUsername"].as_str().unwrap().to_owned();
    let uri = liar.url(path);
    Person { liar: liar.clone(), name, key_id: format!("{uri}#main-key"), uri }
}

/// The values of one member of each of the entities in `list`.
fn each<'a>(list: &'a Value, member: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|one| one[member].as_str().unwrap_or("-")).collect()
}

/// The kind, URL and description of each attachment.
fn media(status: &Value) -> Vec<[&str; 3]> {
    let files = status["media_attachments"].as_array().unwrap().iter();
    files.map(|file| ["type", "url", "description"].map(|member| file[member].as_str().unwrap_or("-"))).collect()
}

#[tokio::test]
async fn mastodon() {
    let software = software!("mastodon");
    let account = software.follow("/users/anna").await;
    assert_eq!((&account["display_name"], &account["locked"]), (&json!("Anna :owl:"), &json!(true)));
    assert_eq!(each(&account["emojis"], "url"), ["https://files.fedi.example/emoji/owl.png"]);
    assert_eq!(each(&account["fields"], "name"), ["Pronouns", "Site"]);
    assert_eq!(account["avatar"], "https://files.fedi.example/avatars/anna.png");
    assert_eq!(account["url"], software.liar.url("/@anna"));

    let status = software.deliver("/users/anna", "/users/anna/statuses/101").await;
    assert_eq!((&status["spoiler_text"], &status["sensitive"]), (&json!("Owl pictures"), &json!(true)));
    assert!(software.text(&status).contains("eine Eule! :owl: <a href=\"HERE/tags/Eulen\""), "{status}");
    assert_eq!((&status["language"], &status["visibility"]), (&json!("de"), &json!("public")));
    assert_eq!((&status["created_at"], &status["edited_at"]), (&json!("2026-01-12T08:15:30.000Z"), &Value::Null));
    assert_eq!((each(&status["tags"], "name"), each(&status["mentions"], "username")), (vec!["eulen"], vec!["alice"]));
    assert_eq!(each(&status["emojis"], "static_url"), ["https://files.fedi.example/emoji/owl.png"]);
    let files = [
        ["image", "https://files.fedi.example/media/owl.jpg", "A barn owl on a beam"],
        ["video", "https://files.fedi.example/media/owl.mp4", "-"],
    ];
    assert_eq!(media(&status), files);
    let owl = &status["media_attachments"][0];
    assert_eq!(owl["blurhash"], "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH");
    assert_eq!(owl["meta"]["focus"], json!({ "x": 0.25, "y": -0.5 }));
    assert_eq!(owl["meta"]["original"]["size"], "1200x800");
    assert_eq!(software.scene.notifications().await, ["mention"]);

    let reply = software.open("/users/anna/statuses/102").await;
    assert_eq!((&reply["in_reply_to_id"], &reply["quote"]["id"]), (&status["id"], &status["id"]));
    assert_eq!(software.text(&reply), "<p>And it can turn its head.</p>");
    assert_eq!((&reply["visibility"], &reply["edited_at"]), (&json!("unlisted"), &json!("2026-01-12T09:00:00.000Z")));
    let poll = software.open("/users/anna/statuses/103").await;
    assert_eq!((software.text(&poll), &poll["language"]), ("<p>Which bird?</p>".to_owned(), &json!("en")));
    assert_eq!(options(&poll), (false, vec![("Owl :owl:", 4), ("Rook", 1)]));
    let poll = &poll["poll"];
    assert_eq!((&poll["expires_at"], &poll["voters_count"]), (&json!("2036-01-14T07:00:00.000Z"), &json!(5)));
    assert_eq!(each(&poll["emojis"], "shortcode"), ["owl"]);

    // Version 4.5: who may quote.
    for (path, may) in [("104", "automatic"), ("105", "denied")] {
        let status = software.deliver("/users/anna", &format!("/users/anna/statuses/{path}")).await;
        assert_eq!(status["quote_approval"]["current_user"], may, "{path}");
    }
    // The request comes first, then the quote, whose line is hidden.
    let target = software.scene.alice.publish("mine").await;
    let anna = software.person("/users/anna");
    let request =
        with(software.documents["/users/anna/statuses/106/quote_request"].clone(), &json!({ "object": target["uri"] }));
    assert_eq!(anna.letter(&software.scene.app, &request).send(&software.scene.app).await.status, 202);
    software.scene.app.run_jobs().await;
    let note = with(software.documents["/users/anna/statuses/106"].clone(), &json!({ "quote": target["uri"] }));
    software.scene.send(&anna, "Create", note.clone()).await;
    let quoting = software.scene.status(&note).await.expect("the quote");
    assert_eq!((&quoting["quote"]["state"], &quoting["quote"]["id"]), (&json!("accepted"), &target["id"]));
    assert_eq!(quoting["content"], "<p>So true.</p>");
}

#[tokio::test]
async fn gotosocial() {
    let software = software!("gotosocial");
    let account = software.follow("/users/beryl").await;
    assert_eq!((each(&account["fields"], "value"), &account["discoverable"]), (vec!["allotment 12"], &json!(false)));
    let status = software.open("/users/beryl/statuses/01HX1").await;
    assert_eq!((&status["visibility"], &status["spoiler_text"]), (&json!("unlisted"), &json!("")));
    assert_eq!((&status["created_at"], &status["language"]), (&json!("2026-01-10T08:00:00.000Z"), &json!("en")));
    assert_eq!(media(&status), [["image", "https://files.fedi.example/bean.jpg", "a bean sprout"]]);
    assert_eq!((each(&status["tags"], "name"), &status["sensitive"]), (vec!["garden"], &json!(false)));
    let reply = software.deliver("/users/beryl", "/users/beryl/statuses/01HX2").await;
    assert_eq!((&reply["visibility"], &reply["in_reply_to_id"]), (&json!("private"), &status["id"]));

    // Version 0.20: who may interact, under former and present names.
    let asked = software.deliver("/users/beryl", "/users/beryl/statuses/01HX5").await;
    let policy = &asked["interaction_policy"];
    let groups = |rule: &str| (policy[rule]["always"].clone(), policy[rule]["with_approval"].clone());
    assert_eq!(groups("can_favourite"), (json!(["public"]), json!([])));
    assert_eq!(groups("can_reply"), (json!(["followers"]), json!(["public"])));
    assert_eq!(groups("can_reblog"), (json!([]), json!([])));
    assert_eq!(policy["can_reply"]["current_user"], "automatic", "Alice follows her");
}

#[tokio::test]
async fn misskey() {
    let software = software!("misskey");
    let account = software.follow("/users/9kiku").await;
    assert_eq!(
        (each(&account["emojis"], "shortcode"), &account["acct"]),
        (vec!["neko"], &json!(software.person("/users/9kiku").address()))
    );
    // The quoted note is fetched first.
    let status = software.deliver("/users/9kiku", "/notes/9note2").await;
    assert_eq!(software.text(&status), "<p><span>見て</span></p>");
    let quote = &status["quote"];
    assert_eq!(quote["uri"], software.liar.url("/notes/9note1"));
    assert_eq!(software.text(quote), "<p><i>跳ねる</i><span> :neko:</span></p>");
    assert_eq!((&quote["sensitive"], &quote["spoiler_text"]), (&json!(true), &json!("")));
    assert_eq!(
        (each(&quote["emojis"], "url"), &quote["created_at"]),
        (vec!["https://files.fedi.example/neko.webp"], &json!("2026-01-11T05:06:07.891Z"))
    );
    assert_eq!(media(quote), [["image", "https://files.fedi.example/cat.webp", "a cat"]]);
    let sql = "custom_emojis WHERE shortcode = 'neko' AND license = 'CC BY 4.0'";
    assert_eq!(software.scene.app.count(sql).await, 1);
    assert_eq!(software.scene.alice.status(quote).ok().await["quotes_count"], 1);
}

#[tokio::test]
async fn akkoma() {
    let software = software!("akkoma");
    let account = software.follow("/users/dora").await;
    assert_eq!((&account["note"], &account["username"]), (&json!("tea<br />and code"), &json!("dora")));
    let status = software.deliver("/users/dora", "/objects/0a1b").await;
    assert_eq!(software.text(&status), "tea <strong>first</strong> :teapot:");
    assert_eq!((&status["spoiler_text"], &status["sensitive"]), (&json!("food & drink"), &json!(true)));
    assert_eq!((&status["visibility"], &status["language"]), (&json!("public"), &json!("en")));
    assert_eq!(each(&status["emojis"], "url"), ["https://files.fedi.example/emoji/teapot.png"]);
    assert_eq!(media(&status), [["image", "https://files.fedi.example/teapot.png", "teapot.png"]]);
    assert_eq!(status["media_attachments"][0]["meta"]["original"]["width"], 300);
    let poll = software.deliver("/users/dora", "/objects/0a1c").await;
    assert_eq!((&poll["quote"]["id"], software.text(&poll)), (&status["id"], "Milk first?".to_owned()));
    assert_eq!(options(&poll), (true, vec![("yes", 1), ("never", 2)]));
    assert_eq!(poll["poll"]["expires_at"], "2036-01-10T19:00:00.000Z");
}

#[tokio::test]
async fn peertube() {
    let software = software!("peertube");
    let account = software.follow("/accounts/emil").await;
    let channel = software.follow("/video-channels/workshop").await;
    assert_eq!((&channel["group"], &channel["display_name"]), (&json!(true), &json!("Workshop")));
    let uri = json!(software.liar.url("/videos/watch/7f3a"));
    software.scene.send(&software.person("/video-channels/workshop"), "Announce", uri).await;
    let home = software.scene.alice.get("/api/v1/timelines/home").ok().await;
    let status = &home[0]["reblog"];
    contract::check("Status", status);
    assert_eq!((&home[0]["account"]["id"], &status["account"]["id"]), (&channel["id"], &account["id"]));
    assert_eq!(
        software.text(status),
        r#"<p><strong>How to carve a &lt;spoon&gt;</strong></p><p>A **spoon** from birch.</p><p>Tools: a knife</p><p><a href="HERE/w/7f3a">HERE/w/7f3a</a></p>"#
    );
    let mp4 = "https://files.fedi.example/videos/720-fragmented.mp4";
    let status = software.with_origins(status.clone()).await;
    assert_eq!(media(&status), [["video", mp4, "-"]]);
    let file = &status["media_attachments"][0];
    assert_eq!(file["preview_url"], "https://files.fedi.example/videos/large.jpg");
    let meta = &file["meta"]["original"];
    assert_eq!((&meta["duration"], &meta["width"], &meta["height"]), (&json!(205.0), &json!(1280), &json!(720)));
    assert_eq!((&status["language"], &status["url"]), (&json!("en"), &json!(software.liar.url("/w/7f3a"))));
    assert_eq!(
        (&status["created_at"], &status["edited_at"]),
        (&json!("2026-01-08T12:00:00.000Z"), &json!("2026-01-08T15:00:00.000Z"))
    );
    let mut tags = each(&status["tags"], "name");
    tags.sort_unstable();
    assert_eq!(tags, ["carving", "woodwork"]);
}

#[tokio::test]
async fn lemmy() {
    let software = software!("lemmy");
    let group = software.follow("/c/chess").await;
    assert_eq!((&group["group"], &group["avatar"]), (&json!(true), &json!("https://files.fedi.example/chess.png")));
    // A community passes on the activities of its members.
    let announce = &software.documents["/activities/announce/create/1"];
    let letter = software.person("/c/chess").letter(&software.scene.app, announce);
    assert_eq!(letter.send(&software.scene.app).await.status, 202);
    software.scene.app.run_jobs().await;
    let home = software.scene.alice.get("/api/v1/timelines/home").ok().await;
    let status = &home[0]["reblog"];
    contract::check("Status", status);
    assert_eq!((&home[0]["account"]["id"], &status["account"]["username"]), (&group["id"], &json!("fritz")));
    assert_eq!(
        software.text(status).replace('\n', ""),
        r#"<p><strong>An old endgame</strong></p><p>White wins, but <em>how</em>?</p><p><a href="https://studies.example/endgame?id=1&amp;lang=en">https://studies.example/endgame?id=1&amp;lang=en</a></p><p><a href="HERE/post/501">HERE/post/501</a></p>"#
    );
    let status = software.with_origins(status.clone()).await;
    assert_eq!(media(&status), [["image", "https://files.fedi.example/endgame.png", "-"]]);
    assert_eq!((&status["visibility"], &status["language"]), (&json!("public"), &json!("en")));
    assert_eq!(each(&status["tags"], "name"), ["chess"]);

    let picture = software.open("/post/502").await;
    assert_eq!(media(&picture), [["image", "https://files.fedi.example/board.jpeg", "a board of oak"]]);
    assert_eq!((&picture["sensitive"], &picture["language"]), (&json!(true), &Value::Null));
    let comment = software.open("/comment/601").await;
    assert_eq!((&comment["in_reply_to_id"], each(&comment["mentions"], "username")), (&status["id"], vec!["fritz"]));
}

#[tokio::test]
async fn pixelfed() {
    let software = software!("pixelfed");
    let account = software.follow("/users/gina").await;
    assert_eq!(account["note"], "light &amp; shadow");
    let status = software.deliver("/users/gina", "/p/gina/888").await;
    let alts: Vec<&str> =
        media(&status).iter().map(|[kind, _, alt]| if *kind == "image" { *alt } else { "" }).collect();
    assert_eq!(alts, ["boats", "gulls", "-", "ropes", "nets"]);
    assert_eq!(status["media_attachments"][4]["url"], "https://files.fedi.example/px/5.jpg");
    assert_eq!(status["media_attachments"][0]["meta"]["original"]["aspect"], 0.8);
    assert!(software.text(&status).starts_with("Harbour at dawn <a href="), "{status}");
    assert_eq!((each(&status["tags"], "name"), &status["sensitive"]), (vec!["harbour"], &json!(false)));
    assert_eq!(status["created_at"], "2026-01-06T05:30:00.000Z");
}

#[tokio::test]
async fn wordpress() {
    let software = software!("wordpress");
    let account = software.follow("/?author=2").await;
    assert_eq!(
        (&account["display_name"], &account["url"]),
        (&json!("Hanna's notes"), &json!(software.liar.url("/author/hanna/")))
    );
    assert_eq!(each(&account["fields"], "name"), ["Blog"]);
    let status = software.deliver("/?author=2", "/?p=55").await;
    assert_eq!(
        software.text(&status),
        r#"<p><strong>Tide tables &amp; other &lt;tools&gt;</strong></p><p>Why tables from 1905 still work.</p><p><a href="HERE/2026/01/tide-tables/">HERE/2026/01/tide-tables/</a></p>"#
    );
    assert_eq!((&status["spoiler_text"], &status["sensitive"]), (&json!(""), &json!(false)), "a summary is no warning");
    assert_eq!((&status["language"], &status["edited_at"]), (&json!("en"), &json!("2026-01-05T21:30:00.000Z")));
    assert_eq!(media(&status), [["image", "https://files.fedi.example/wp/tide.jpg", "a gauge"]]);
    assert_eq!(status["url"], software.liar.url("/2026/01/tide-tables/"));
    let status = software.open("/?p=56").await;
    let text = software.text(&status);
    assert!(text.starts_with("<p><strong>Storm</strong></p><p>The tide tables of the last century are"), "{text}");
    assert!(text.contains("…</p><p><a href=") && text.len() < 700, "{text}");
    assert_eq!(media(&status), [["image", "https://files.fedi.example/wp/tide.jpg", "a gauge"]]);
}

#[tokio::test]
async fn mobilizon() {
    let software = software!("mobilizon");
    let status = software.open("/events/1").await;
    assert_eq!(
        software.text(&status),
        r#"<p><strong>Repair evening</strong></p><p>2026-03-01 19:00 – 21:30 (UTC+01:00)<br />Library, Main Street 1, 8010, Graz, Austria</p><p>Bring broken things.</p><p><a href="HERE/events/1">HERE/events/1</a></p>"#
    );
    assert_eq!(media(&status), [["image", "https://files.fedi.example/repair.jpg", "Banner"]]);
    assert_eq!((&status["edited_at"], each(&status["tags"], "name")), (&Value::Null, vec!["repair"]));
}

#[tokio::test]
async fn funkwhale() {
    let software = software!("funkwhale");
    let status = software.open("/federation/music/uploads/1").await;
    assert_eq!(
        software.text(&status),
        r#"<p><strong>Low tide - Jo</strong></p><p><a href="HERE/library/tracks/1">HERE/library/tracks/1</a></p>"#
    );
    assert_eq!(media(&status), [["audio", "https://files.fedi.example/low-tide.ogg", "-"]]);
    let file = &status["media_attachments"][0];
    assert_eq!(
        (&file["preview_url"], &file["meta"]["original"]["duration"]),
        (&json!("https://files.fedi.example/cover.jpg"), &json!(125.0))
    );
}
