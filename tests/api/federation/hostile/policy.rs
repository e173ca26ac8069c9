//! The flags of blocks of domains, each on the way in, and out where it says so.

use model::Staff;
use model::domain_policy::Flags;
use model::instance::Severity;
use serde_json::{Value, json};
use service::domain_decision::{self, BlockParams};

use super::Scene;
use crate::harness::liar::{Person, with};
use crate::routes::trends::refresh;

impl Scene {
    /// Blocks the liar's domain with one flag.
    async fn flag(&self, flag: &str) {
        self.app.tick();
        let mut flags = Flags::NONE;
        match flag {
            "reject-media" => flags.reject_media = true,
            "reject-hashtag" => flags.reject_hashtag = true,
            "reject-favourite" => flags.reject_favourite = true,
            "reject-reply-exclude-followers" => flags.reject_reply_exclude_followers = true,
            "reject-straight-follow" => flags.reject_straight_follow = true,
            "reject-new-follow" => flags.reject_new_follow = true,
            "reject-send-sensitive" => flags.reject_send_sensitive = true,
            "block-trends" => flags.block_trends = true,
            other => panic!("{other}"),
        }
        let params = BlockParams { flags, ..BlockParams::new(Severity::Noop) };
        domain_decision::block(&self.app.app, &Staff::operator(), &self.liar.domain, params).await.unwrap();
        self.app.run_jobs().await;
    }

    async fn creates(&self, name: &str, members: &Value) -> String {
        let note = with(self.mallory.note(name), members);
        self.send(&self.mallory, &self.mallory.activity("Create", note)).await
    }

    async fn asks_to_follow(&self, person: &Person) -> (String, Vec<Value>) {
        let before = self.liar.received().len();
        let result = self.send(person, &person.activity("Follow", self.alice_uri(""))).await;
        self.app.run_jobs().await;
        (result, self.liar.received()[before..].to_vec())
    }
}

#[tokio::test]
async fn rejected_media_leave_profiles_and_statuses() {
    let scene = Scene::new().await;
    let image = json!({ "type": "Document", "mediaType": "image/png", "url": scene.liar.url("/a.png") });
    scene.mallory.change_actor(&json!({ "icon": { "type": "Image", "url": scene.liar.url("/face.png") } }));
    scene.follow(&scene.mallory).await;
    assert_eq!(scene.creates("before", &json!({ "attachment": [image] })).await, "Create ok");
    assert_eq!(scene.app.count("media_attachments").await, 1);
    scene.flag("reject-media").await;
    assert_eq!(scene.app.count("media_attachments").await, 0, "what was known is cleared");
    assert_eq!(scene.creates("after", &json!({ "attachment": [image] })).await, "Create ok");
    let home = scene.alice.get("/api/v1/timelines/home").ok().await;
    for status in home.as_array().unwrap() {
        assert_eq!(status["media_attachments"], json!([]));
        assert!(!status["account"]["avatar"].as_str().unwrap().contains("face.png"));
    }
    assert_eq!(home.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rejected_hashtags_and_favourites_have_no_effect() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let status = scene.alice.publish("hello").await;
    scene.flag("reject-hashtag").await;
    let tag = json!({ "type": "Hashtag", "name": "#birds", "href": scene.liar.url("/tags/birds") });
    assert_eq!(scene.creates("tagged", &json!({ "tag": [tag] })).await, "Create ok");
    assert_eq!(scene.alice.get("/api/v1/timelines/home").ok().await[0]["tags"], json!([]));
    scene.flag("reject-favourite").await;
    let like = scene.mallory.activity("Like", status["uri"].clone());
    assert_eq!(scene.send(&scene.mallory, &like).await, "Like favourites_rejected");
    assert_eq!(scene.app.count("favourites").await, 0);
}

#[tokio::test]
async fn replies_and_mentions_of_strangers_are_rejected() {
    let scene = Scene::new().await;
    let bob = scene.app.named_account("bob").await;
    scene.follow(&scene.mallory).await;
    let of_bob = bob.publish("hello").await;
    scene.flag("reject-reply-exclude-followers").await;
    let mention = |name: &str| {
        let uri = format!("http://localhost:3000/users/{name}");
        json!({ "to": ["https://www.w3.org/ns/activitystreams#Public", uri], "tag": [{ "type": "Mention", "href": uri }] })
    };
    assert_eq!(scene.creates("to-alice", &mention("alice")).await, "Create ok", "she follows the author");
    assert_eq!(scene.creates("to-bob", &mention("bob")).await, "Create replies_rejected");
    let reply = json!({ "inReplyTo": of_bob["uri"] });
    assert_eq!(scene.creates("reply", &reply).await, "Create replies_rejected");
    assert_eq!(scene.app.count(&format!("notifications WHERE account_id = {}", bob.id())).await, 0);
}

#[tokio::test]
async fn follows_are_requested_or_rejected() {
    let scene = Scene::new().await;
    let [first, second, third] = ["first", "second", "third"].map(|name| scene.liar.person(name));
    assert_eq!(scene.asks_to_follow(&first).await.1[0]["type"], "Accept");
    scene.flag("reject-straight-follow").await;
    let (result, received) = scene.asks_to_follow(&second).await;
    assert_eq!((result.as_str(), received.len()), ("Follow ok", 0));
    assert_eq!(scene.app.count("follow_requests").await, 1);
    scene.flag("reject-new-follow").await;
    assert_eq!(scene.asks_to_follow(&third).await.1[0]["type"], "Reject");
    assert_eq!(scene.asks_to_follow(&first).await.1[0]["type"], "Accept", "an old follow stays");
    assert_eq!(scene.app.count("follows").await, 1);
}

#[tokio::test]
async fn sensitive_statuses_are_not_sent() {
    let scene = Scene::new().await;
    scene.asks_to_follow(&scene.mallory).await;
    scene.flag("reject-send-sensitive").await;
    let before = scene.liar.received().len();
    let warned = json!({ "status": "look", "spoiler_text": "careful" });
    for form in [warned, json!({ "status": "look away", "sensitive": true })] {
        scene.alice.post("/api/v1/statuses").json(&form).ok().await;
        scene.app.run_jobs().await;
    }
    assert_eq!(scene.liar.received().len(), before);
    scene.alice.publish("harmless").await;
    scene.app.run_jobs().await;
    assert_eq!(scene.liar.received().len(), before + 1);
}

#[tokio::test]
async fn statuses_of_domain_leave_trends() {
    let scene = Scene::new().await;
    let admin = scene.app.staff("admin", "Admin").await;
    let fans = scene.app.accounts(["fan1", "fan2", "fan3", "fan4", "fan5"]).await;
    scene.follow(&scene.mallory).await;
    scene.creates("liked", &json!({})).await;
    scene.app.make_everybody_discoverable().await;
    let status = scene.alice.get("/api/v1/timelines/home").ok().await[0].clone();
    for fan in &fans {
        fan.favourite(&status).ok().await;
    }
    let trends = async || {
        refresh(&scene.app).await;
        admin.get("/api/v1/admin/trends/statuses").ok().await.as_array().unwrap().len()
    };
    assert_eq!(trends().await, 1);
    scene.flag("block-trends").await;
    assert_eq!(trends().await, 0);
}
