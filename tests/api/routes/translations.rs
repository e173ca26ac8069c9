//! <https://docs.joinmastodon.org/methods/statuses/#translate>
//!
//! The service is a local stand-in for the APIs of LibreTranslate and DeepL.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::{Client, TestApp};
use crate::platform::contract;
use crate::routes::media::png;

const LANGUAGES: &str = "/api/v1/instance/translation_languages";

/// A request received by the stand-in.
#[derive(Clone, Debug)]
struct Call {
    /// Method and target.
    line: String,
    head: String,
    body: Value,
}

/// A translation service.
#[derive(Clone)]
struct StandIn {
    url: String,
    calls: Arc<Mutex<Vec<Call>>>,
    /// HTTP status of every response.
    status: Arc<Mutex<u16>>,
}

impl StandIn {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stand_in = Self { url, calls: Arc::default(), status: Arc::new(Mutex::new(200)) };
        let serving = stand_in.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.serve(stream).await;
            }
        });
        stand_in
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut text = String::new();
        let call = loop {
            let mut part = vec![0; 65_536];
            let count = stream.read(&mut part).await.unwrap();
            text.push_str(&String::from_utf8_lossy(&part[..count]));
            if let Some(call) = whole(&text) {
                break call;
            }
        };
        self.calls.lock().unwrap().push(call.clone());
        let (status, body) = (*self.status.lock().unwrap(), answer(&call).to_string());
        let head = format!("HTTP/1.1 {status} so\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    }

    fn fail(&self, status: u16) {
        *self.status.lock().unwrap() = status;
    }

    /// Requests for a translation.
    fn translations(&self) -> Vec<Call> {
        self.calls.lock().unwrap().iter().filter(|call| call.line.starts_with("POST")).cloned().collect()
    }
}

/// The request, once it is complete.
fn whole(text: &str) -> Option<Call> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    let line = text.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    (body.len() >= length).then(|| Call { line, head, body: serde_json::from_str(body).unwrap_or_default() })
}

/// Returns the texts in capital letters, with an injected script.
fn answer(call: &Call) -> Value {
    let shouted = |texts: &Value| -> Vec<String> {
        let shout = |text: &Value| {
            let text = text.as_str().unwrap();
            let inner = text.strip_prefix("<p>").and_then(|text| text.strip_suffix("</p>"));
            match inner {
                Some(inner) => format!("<p onclick=\"x\">{}</p><script>x</script>", inner.to_uppercase()),
                None => text.to_uppercase().replace("&AMP;", "&amp;").replace("<BR>", "<br>"),
            }
        };
        texts.as_array().unwrap().iter().map(shout).collect()
    };
    match call.line.as_str() {
        "GET /languages" => json!([
            { "code": "de", "name": "German", "targets": ["de", "en"] },
            { "code": "en", "name": "English", "targets": ["de", "en"] },
        ]),
        "POST /translate" => {
            let texts = shouted(&call.body["q"]);
            let detected: Vec<Value> = texts.iter().map(|_| json!({"language": "de", "confidence": 90})).collect();
            json!({ "translatedText": texts, "detectedLanguage": detected })
        }
        "GET /v2/languages?type=source" => json!([{ "language": "DE" }, { "language": "EN" }]),
        "GET /v2/languages?type=target" => json!([{ "language": "DE" }, { "language": "EN-GB" }]),
        "POST /v2/translate" => {
            let texts = shouted(&call.body["text"]).into_iter();
            let texts: Vec<Value> =
                texts.map(|text| json!({ "text": text, "detected_source_language": "DE" })).collect();
            json!({ "translations": texts })
        }
        other => panic!("asked for {other}"),
    }
}

async fn world(backend: &str, key: &str) -> (TestApp, StandIn, Client) {
    let service = StandIn::start().await;
    let keys = [
        ("ROOKERY_TRANSLATION_BACKEND", backend),
        ("ROOKERY_TRANSLATION_URL", service.url.as_str()),
        ("ROOKERY_TRANSLATION_API_KEY", key),
        ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32"),
    ];
    let app = TestApp::with(&keys).await;
    let alice = app.account("alice").await;
    (app, service, alice)
}

#[tokio::test]
async fn translation_is_off_by_default() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.publish(json!({"status": "hallo", "language": "de"})).await.path("");
    alice.post(&format!("{status}/translate")).fails(404).await;
    assert_eq!(app.anonymous().get(LANGUAGES).ok().await, json!({}));
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["translation"]["enabled"], false);
}

#[tokio::test]
async fn libre_translate_translates_all_of_a_status() {
    let (app, service, alice) = world("libretranslate", "secret").await;
    let poll = json!({"options": ["ja & nein", "nein"], "expires_in": 600});
    let status = json!({"status": "hallo", "spoiler_text": "vor\nsicht", "language": "de", "poll": poll});
    let status = alice.publish(status).await.path("");
    let made = alice.post(&format!("{status}/translate")).json(&json!({"lang": "en"})).ok().await;
    contract::check("Translation", &made);
    assert_eq!(made["content"], "<p>HALLO</p>", "markup of the service is not trusted");
    assert_eq!(made["poll"]["options"], json!([{"title": "JA & NEIN"}, {"title": "NEIN"}]));
    assert_eq!(
        [&made["spoiler_text"], &made["language"], &made["provider"], &made["detected_source_language"]],
        ["VOR\nSICHT", "en", "LibreTranslate", "de"]
    );
    let calls = service.translations();
    assert_eq!(
        [&calls[0].body["source"], &calls[0].body["target"], &calls[0].body["format"], &calls[0].body["api_key"]],
        ["de", "en", "html", "secret"]
    );
    assert_eq!(calls[0].body["q"].as_array().unwrap().len(), 4);
    let languages = app.anonymous().get(LANGUAGES).send().await;
    assert_eq!(languages.json(), json!({"de": ["en"], "en": ["de"], "und": ["de", "en"]}));
    contract::check("TranslationLanguages", &languages.json());
    assert!(languages.header("cache-control").contains("max-age=300"));
    let instance = app.anonymous().get("/api/v2/instance").ok().await;
    assert_eq!(instance["configuration"]["translation"]["enabled"], true);
    assert!(app.anonymous().get("/api/v1/instance").ok().await["configuration"].get("translation").is_none());
}

#[tokio::test]
async fn deepl_translates_descriptions_of_media_too() {
    let (app, service, alice) = world("deepl", "key:fx").await;
    let media = alice.upload_with(&png(8, 8), &[("description", "ein bild")]);
    let [described, other] = [media.ok().await, alice.upload(&png(8, 8)).ok().await];
    let status = json!({"status": "hallo", "language": "de", "media_ids": [described["id"], other["id"]]});
    let status = alice.publish(status).await.path("");
    let made = alice.post(&format!("{status}/translate")).header("accept-language", "en-GB").ok().await;
    contract::check("Translation", &made);
    assert_eq!([&made["content"], &made["provider"]], ["<p>HALLO</p>", "DeepL.com"]);
    assert_eq!(
        made["media_attachments"],
        json!([{"id": described["id"], "description": "EIN BILD"}, {"id": other["id"], "description": null}])
    );
    assert_eq!(made["poll"], json!(null));
    let call = &service.translations()[0];
    assert!(call.head.contains("authorization: deepl-auth-key key:fx"), "{}", call.head);
    assert_eq!([&call.body["source_lang"], &call.body["tag_handling"]], ["DE", "html"]);
    let languages = app.anonymous().get(LANGUAGES).ok().await;
    assert_eq!(languages["de"], json!(["en", "en-GB", "pt"]));
}

#[tokio::test]
async fn translation_is_kept_for_a_day_and_made_once_for_eight_requests() {
    let (app, service, alice) = world("libretranslate", "").await;
    let path = alice.publish(json!({"status": "hallo", "language": "de"})).await.path("");
    let translate = || alice.post(&format!("{path}/translate")).json(&json!({"lang": "en"}));
    let together: Vec<_> = (0..8).map(|_| tokio::spawn(translate().ok())).collect();
    for task in together {
        assert_eq!(task.await.unwrap()["content"], "<p>HALLO</p>");
    }
    assert_eq!(service.translations().len(), 1);
    app.app.clock.advance(chrono::Duration::hours(23));
    translate().ok().await;
    assert_eq!(service.translations().len(), 1);
    alice.put(&path).json(&json!({"status": "guten tag", "language": "de"})).ok().await;
    assert_eq!(translate().ok().await["content"], "<p>GUTEN TAG</p>", "an edited status is another");
    assert_eq!(service.translations().len(), 2);
    app.app.clock.advance(chrono::Duration::hours(25));
    translate().ok().await;
    assert_eq!(service.translations().len(), 3);
}

#[tokio::test]
async fn only_public_statuses_are_translated_between_known_languages() {
    let (app, service, alice) = world("libretranslate", "").await;
    let bob = app.account("bob").await;
    for visibility in ["private", "direct", "login"] {
        let status = json!({"status": "geheim", "language": "de", "visibility": visibility});
        let path = alice.publish(status).await.path("");
        alice.post(&format!("{path}/translate")).fails(403).await;
        let hidden = if visibility == "login" { 403 } else { 404 };
        bob.post(&format!("{path}/translate")).fails(hidden).await;
    }
    let path = alice.publish(json!({"status": "hallo", "language": "de", "visibility": "unlisted"})).await.path("");
    let translate = |lang: &str| bob.post(&format!("{path}/translate")).json(&json!({ "lang": lang }));
    for language in ["de", "fr", "nonsense"] {
        translate(language).fails(403).await;
    }
    assert_eq!(service.translations().len(), 0);
    assert_eq!(translate("en-US").ok().await["language"], "en");
    bob.post(&format!("{path}/reblog")).ok().await;
    let unknown = alice.publish(json!({"status": "bonjour", "language": "fr"})).await.path("");
    bob.post(&format!("{unknown}/translate")).form(&[("lang", "en")]).fails(403).await;
}

#[tokio::test]
async fn translate_needs_a_person_with_the_scope() {
    let (app, _, alice) = world("libretranslate", "").await;
    let path = format!("{}/translate", alice.publish(json!({"status": "hallo", "language": "de"})).await.path(""));
    app.anonymous().post(&path).fails(401).await;
    app.application("read").await.post(&path).fails(422).await;
    alice.with_scopes("write read:accounts").await.post(&path).fails(403).await;
    alice.with_scopes("read:statuses").await.post(&path).ok().await;
    alice.post("/api/v1/statuses/1/translate").fails(404).await;
    alice.post("/api/v1/statuses/nonsense/translate").fails(404).await;
}

#[tokio::test]
async fn failing_service_is_unavailable_and_retried() {
    let (app, service, alice) = world("libretranslate", "").await;
    let path = alice.publish(json!({"status": "hallo", "language": "de"})).await.path("");
    let translate = || alice.post(&format!("{path}/translate")).json(&json!({"lang": "en"}));
    for status in [429, 403, 500, 302] {
        service.fail(status);
        translate().fails(503).await;
    }
    app.anonymous().get(LANGUAGES).fails(503).await;
    service.fail(200);
    translate().ok().await;
}

#[tokio::test]
async fn deepl_without_key_is_an_invalid_configuration() {
    let keys = [("ROOKERY_TRANSLATION_BACKEND".to_owned(), "deepl".to_owned())];
    let faults = config::Config::load(None, keys.into_iter()).unwrap_err();
    assert!(faults.to_string().contains("translation.api_key"), "{faults}");
}

async fn limited(key: &str, value: &str) -> (TestApp, StandIn, Client) {
    let service = StandIn::start().await;
    let keys = [
        ("ROOKERY_TRANSLATION_BACKEND", "libretranslate"),
        ("ROOKERY_TRANSLATION_URL", service.url.as_str()),
        ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32"),
        ("ROOKERY_RATE_LIMITS_ENABLED", "true"),
        (key, value),
    ];
    let app = TestApp::with(&keys).await;
    let alice = app.account("alice").await;
    (app, service, alice)
}

#[tokio::test]
async fn translations_are_limited_per_person_except_cached_ones() {
    let (app, service, alice) = limited("ROOKERY_TRANSLATION_PER_PERSON_PER_HOUR", "2").await;
    let bob = app.account("bob").await;
    let mut paths = Vec::new();
    for text in ["eins", "zwei", "drei"] {
        paths.push(alice.publish(json!({"status": text, "language": "de"})).await.path(""));
    }
    let translate = |who: &Client, path: &str| who.post(&format!("{path}/translate")).json(&json!({"lang": "en"}));
    translate(&alice, &paths[0]).ok().await;
    translate(&alice, &paths[1]).ok().await;
    translate(&alice, &paths[2]).fails(429).await;
    translate(&alice, &paths[0]).ok().await;
    assert_eq!(service.translations().len(), 2);
    translate(&bob, &paths[2]).ok().await;
    translate(&alice, &paths[2]).ok().await;
}

#[tokio::test]
async fn server_has_a_budget_of_characters_a_day() {
    // "<p>eins</p>" has 11.
    let (app, service, alice) = limited("ROOKERY_TRANSLATION_CHARACTERS_PER_DAY", "25").await;
    let mut paths = Vec::new();
    for text in ["eins", "zwei", "drei"] {
        paths.push(alice.publish(json!({"status": text, "language": "de"})).await.path(""));
    }
    let translate = |path: &str| alice.post(&format!("{path}/translate")).json(&json!({"lang": "en"}));
    translate(&paths[0]).ok().await;
    translate(&paths[1]).ok().await;
    let said = translate(&paths[2]).fails(503).await;
    assert_eq!(said, "This server has reached its daily limit of translations: try again tomorrow");
    assert_eq!(service.translations().len(), 2);

    let keys = [
        ("ROOKERY_TRANSLATION_BACKEND", "libretranslate"),
        ("ROOKERY_TRANSLATION_URL", service.url.as_str()),
        ("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.1/32"),
        ("ROOKERY_TRANSLATION_CHARACTERS_PER_DAY", "25"),
    ];
    let again = alice.at(&app.beside(&keys).await);
    again.post(&format!("{}/translate", paths[2])).json(&json!({"lang": "en"})).fails(503).await;

    app.app.clock.advance(chrono::Duration::days(1));
    translate(&paths[2]).ok().await;
}
