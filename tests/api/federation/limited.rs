//! Limited federation: a walk over every route of the source. Strangers, applications without a user, and other servers
//! that are not allowed learn nothing of accounts and statuses.
//!
//! Every text of the seeded account has a mark, and its files are requested by their addresses, so that a leak is found
//! anywhere in a response. The account itself sees the mark on the same paths.
//!
//! Spec: docs/contract/rules.md#7-access-modes, docs/contract/federation.md#10-limited-federation-and-domain-policy.

use std::collections::BTreeSet;
use std::path::Path;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::liar::Person;
use crate::harness::{Answer, Browser, Client, Letter, Liar, TestApp, id};
use crate::routes::media::png;

const LIMITED: (&str, &str) = ("ROOKERY_ACCESS_LIMITED_FEDERATION", "true");
/// A part of every text of the account.
const MARK: &str = "zqmarkqz";
/// The user name.
const NAME: &str = "zqnameqz";
const TAG: &str = "zqtagqz";
/// Paths that may name an account: they are requested by its name.
const NAMED: [&str; 1] = ["/.well-known/webfinger"];
const ORIGIN: &str = "http://localhost:3000";

struct Scene {
    app: TestApp,
    alice: Client,
    /// A person of a server that is not allowed.
    stranger: Person,
    status: String,
    poll: String,
    list: String,
    media: String,
    emoji: String,
    conversation: String,
    /// Paths of stored files.
    files: Vec<String>,
}

/// The path of a URL of this server.
fn path(url: &Value) -> String {
    url.as_str().unwrap_or_else(|| panic!("{url}")).strip_prefix(ORIGIN).expect("a URL of this server").to_owned()
}

impl Scene {
    async fn new() -> Self {
        let app = TestApp::named("localhost:3000", &[Liar::KEYS[0], LIMITED]).await;
        let alice = app.account(NAME).await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("{MARK}.png")), png(20, 10)).unwrap();
        app.run(&["emoji", "import", folder.path().to_str().unwrap()]).await.ok();
        app.app.reload().await.unwrap();

        let fields = [
            ("display_name", MARK),
            ("note", MARK),
            ("fields_attributes[0][name]", MARK),
            ("fields_attributes[0][value]", MARK),
            ("discoverable", "true"),
            ("indexable", "true"),
        ];
        let images = png(8, 8);
        let profile = alice.patch("/api/v1/accounts/update_credentials");
        let profile =
            profile.multipart(&fields, &[("avatar", "a.png", &images), ("header", "h.png", &images)]).ok().await;
        let media = alice.upload_with(&images, &[("description", MARK)]).ok().await;
        let draft = json!({ "status": format!("{MARK} #{TAG}"), "spoiler_text": MARK, "media_ids": [media["id"]] });
        let status = alice.publish(draft).await;
        let options = [format!("{MARK} a"), format!("{MARK} b")];
        let asking = json!({ "status": MARK, "poll": { "options": options, "expires_in": 3600 } });
        let poll = alice.publish(asking).await["poll"].clone();
        alice.reply(&status, MARK).await;
        for act in ["pin", "favourite", "bookmark"] {
            alice.post(&format!("/api/v1/statuses/{status}/{act}")).ok().await;
        }
        alice.post("/api/v1/featured_tags").json(&json!({ "name": TAG })).ok().await;
        let list = alice.make_list(MARK).await;
        let filter = json!({ "title": MARK, "context": ["home"], "keywords_attributes": [{ "keyword": "other" }] });
        alice.post("/api/v2/filters").json(&filter).ok().await;
        app.set("contact_username", NAME).await;
        app.run_jobs().await;

        let number = async |sql: String| app.db().fetch_raw::<(i64,)>(&sql).await.unwrap()[0].0.to_string();
        let emojis = alice.get("/api/v1/custom_emojis").ok().await;
        let files = [&media["url"], &media["preview_url"], &profile["avatar"], &profile["header"], &emojis[0]["url"]];
        Self {
            files: files.map(path).to_vec(),
            emoji: number("SELECT id FROM custom_emojis".to_owned()).await,
            conversation: number(format!("SELECT conversation_id FROM statuses WHERE id = {status}")).await,
            stranger: Liar::start().await.person("stranger"),
            media: id(&media).to_owned(),
            poll: id(&poll).to_owned(),
            status: status.into_id(),
            list,
            alice,
            app,
        }
    }

    /// The value of the parameter `name` of a path that begins with `before`.
    fn value(&self, before: &str, name: &str) -> String {
        let tag = before.contains("/tag");
        match name {
            "name" | "hashtag" if tag => TAG.to_owned(),
            "name" => NAME.to_owned(),
            "entity" => "Account".to_owned(),
            "kind" => "following_accounts.csv".to_owned(),
            "*rest" => "public".to_owned(),
            "account_id" => self.alice.id().to_string(),
            "id" if before.ends_with("/accounts/") => self.alice.id().to_string(),
            "id" if before.ends_with("/lists/") => self.list.clone(),
            "id" if before.ends_with("/media/") => self.media.clone(),
            "id" if before.ends_with("/polls/") => self.poll.clone(),
            "id" if before.ends_with("/contexts/") => self.conversation.clone(),
            "id" if before.ends_with("/emojis/") => self.emoji.clone(),
            "id" if before.ends_with("/statuses/") || before.contains("/@") => self.status.clone(),
            _ => "1".to_owned(),
        }
    }

    /// The paths of a route: with the records of the account, with a query that names them, and as feeds.
    fn paths(&self, template: &str) -> Vec<String> {
        if template == "/media/{*key}" {
            return self.files.clone();
        }
        let (mut filled, mut rest) = (String::new(), template);
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').expect("the end of a parameter");
            filled.push_str(before);
            filled.push_str(&self.value(&filled, name));
            rest = after;
        }
        filled.push_str(rest);
        let url = format!("{ORIGIN}/@{NAME}/{}", self.status);
        let pairs = [
            ("url", url.as_str()),
            ("uri", &url),
            ("resource", &format!("acct:{NAME}@localhost:3000")),
            ("acct", NAME),
            ("q", &NAME[..5]),
            ("id[]", &self.alice.id().to_string()),
            ("tag", TAG),
            ("page", "true"),
        ];
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let feeds = matches!(template, "/@{name}" | "/tags/{name}" | "/users/{name}");
        let endings: &[&str] = if feeds { &["", ".atom", ".rss", ".json"] } else { &[""] };
        let ended = endings.iter().map(|ending| format!("{filled}{ending}"));
        ended.chain([format!("{filled}?{query}")]).collect()
    }
}

/// The paths of all routes that the source mounts, each as it is written there.
fn templates() -> BTreeSet<String> {
    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let routes = text.split(".route(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                let paths = routes.filter_map(|rest| rest.split('"').next()).filter(|path| path.starts_with('/'));
                found.extend(paths.map(str::to_owned));
            }
        }
    }
    let mut found = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let known = rookery_http::router::templates().iter().filter(|path| !found.contains(**path));
    assert_eq!(known.collect::<Vec<_>>(), Vec::<&&str>::new(), "routes that the source names otherwise");
    found
}

/// The mark, the name or the hashtag in a response. A redirect, and the cookie with which a sign-in returns, repeat the
/// requested path.
fn leak(path: &str, answer: &Answer) -> Option<&'static str> {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "location" && *name != "set-cookie");
    let headers: Vec<_> = headers.map(|(_, value)| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let text = format!("{}\n{}", headers.join("\n"), answer.text()).to_lowercase();
    let named = NAMED.iter().any(|named| path.starts_with(named));
    let may_repeat = |mark: &str| (named && mark == NAME) || (mark == TAG && path.contains(TAG));
    [MARK, NAME, TAG].into_iter().find(|mark| text.contains(mark) && !may_repeat(mark))
}

#[tokio::test]
async fn limited_federation_shows_strangers_nothing_on_any_route() {
    let scene = Scene::new().await;
    let templates = templates();
    assert!(templates.len() > 200 && templates.contains("/users/{name}/outbox"), "{templates:?}");
    let paths: Vec<String> = templates.iter().flat_map(|template| scene.paths(template)).collect();
    let (anonymous, application) = (scene.app.anonymous(), scene.app.application("read write").await);
    let mut leaks = BTreeSet::new();
    let mut check = |who: &str, method: &Method, path: &str, answer: &Answer| {
        if let Some(mark) = leak(path, answer) {
            leaks.insert(format!("{who}: {method} {path}: {} with {mark}", answer.status));
        }
    };
    for path in &paths {
        for accept in ["*/*", "text/html", "application/activity+json"] {
            let answer = anonymous.get(path).header("accept", accept).send().await;
            check(accept, &Method::GET, path, &answer);
        }
        check("an application", &Method::GET, path, &application.get(path).send().await);
        let letter = Letter::read(&scene.app, path).signed(&scene.stranger.key_id, &crate::harness::liar::KEY);
        check("a stranger's server", &Method::GET, path, &letter.send(&scene.app).await);
        let changes = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
        for method in changes.into_iter().filter(|_| !path.contains('?')) {
            let answer = anonymous.request(method.clone(), path).json(&json!({})).send().await;
            check("a change", &method, path, &answer);
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n  {}", leaks.len(), leaks.into_iter().collect::<Vec<_>>().join("\n  "));
    for file in &scene.files {
        assert_eq!(anonymous.get(file).send().await.status, StatusCode::UNAUTHORIZED, "{file}");
    }
    assert_eq!(scene.stranger.liar.requests(), 0, "a server that is not allowed is not asked");
}

#[tokio::test]
async fn limited_federation_shows_its_people_what_strangers_do_not_see() {
    let scene = Scene::new().await;
    let browser = Browser::signed_in(&scene.app, NAME).await;
    let (mut by_token, mut by_session) = (BTreeSet::new(), BTreeSet::new());
    // A stream does not end.
    for template in templates().into_iter().filter(|template| !template.contains("/streaming")) {
        for path in scene.paths(&template) {
            if scene.alice.get(&path).send().await.text().contains(MARK) {
                by_token.insert(template.clone());
            }
            if browser.get(&path).await.text().contains(MARK) {
                by_session.insert(template.clone());
            }
        }
    }
    for template in [
        "/api/oembed",
        "/api/v1/accounts/{id}",
        "/api/v1/accounts/{id}/statuses",
        "/api/v1/custom_emojis",
        "/api/v1/lists",
        "/api/v1/polls/{id}",
        "/api/v1/statuses/{id}",
        "/api/v1/timelines/public",
        "/api/v2/instance",
    ] {
        assert!(by_token.contains(template), "{template}: {by_token:?}");
    }
    for template in ["/@{name}", "/@{name}/{id}", "/tags/{name}"] {
        assert!(by_session.contains(template), "{template}: {by_session:?}");
    }
}

#[tokio::test]
async fn limited_federation_shows_contexts_and_emojis_to_allowed_servers() {
    let scene = Scene::new().await;
    let paths = [format!("/contexts/{}", scene.conversation), format!("/emojis/{}", scene.emoji)];
    for path in &paths {
        assert_eq!(Letter::read(&scene.app, path).send(&scene.app).await.status, 401, "{path}");
        assert_eq!(scene.stranger.reads(&scene.app, path).send(&scene.app).await.status, 403, "{path}");
    }
    let domain = &scene.stranger.liar.domain;
    service::domain_decision::allow(&scene.app.app, &model::Staff::operator(), domain).await.unwrap();
    for path in &paths {
        let answer = scene.stranger.reads(&scene.app, path).send(&scene.app).await;
        assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "private, no-store"), "{path}");
    }
}
