//! Moves that are not believed.

use serde_json::{Value, json};

use super::Scene;
use crate::harness::Liar;
use crate::harness::liar::{Person, with};

impl Scene {
    /// Sends the move of Mallory to `target`, and returns what became of it.
    async fn moves_to(&self, target: &Value) -> String {
        let activity = with(self.mallory.activity("Move", self.mallory.uri.clone()), &json!({ "target": target }));
        self.send(&self.mallory, &activity).await
    }

    async fn follows(&self, person: &Person) -> bool {
        let sql = format!("follows f JOIN accounts a ON a.id = f.target_account_id WHERE a.uri = '{}'", person.uri);
        let requests = sql.replace("follows f", "follow_requests f");
        self.app.count(&sql).await + self.app.count(&requests).await > 0
    }
}

#[tokio::test]
async fn move_needs_a_target_that_names_the_sender_now() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let far = Liar::start().await;
    let (new, away) = (far.person("new"), scene.liar.person("away"));
    let names = json!({ "alsoKnownAs": [scene.mallory.uri] });

    for (target, result) in [
        (Value::Null, "Move no_target"),
        (json!(scene.mallory.uri), "Move not_movable"),
        (json!(new.uri), "Move not_an_alias"),
        (json!(scene.alice_uri("")), "Move not_an_alias"),
        (json!(far.url("/users/missing")), "Move status"),
    ] {
        assert_eq!(scene.moves_to(&target).await, result, "{target}");
    }
    // Known as an alias, and no longer: what was known does not count.
    new.change_actor(&names);
    scene.find(&new).await;
    new.set_actor(&new.actor());
    assert_eq!(scene.moves_to(&json!(new.uri)).await, "Move not_an_alias");
    // It moves on, or back.
    for target in [&away.uri, &scene.mallory.uri] {
        scene.find(&away).await;
        new.change_actor(&with(names.clone(), &json!({ "movedTo": target })));
        assert_eq!(scene.moves_to(&json!(new.uri)).await, "Move not_movable", "{target}");
    }
    // Someone else's move.
    new.change_actor(&json!({ "alsoKnownAs": [scene.mallory.uri, away.uri] }));
    let of_other = with(scene.mallory.activity("Move", away.uri.clone()), &json!({ "target": new.uri }));
    assert_eq!(scene.send(&scene.mallory, &of_other).await, "Move not_the_actor");
    assert!(scene.follows(&scene.mallory).await && !scene.follows(&new).await);
    assert_eq!(scene.app.count("account_moves").await, 0);

    // Once, and not again in the next days.
    assert_eq!(scene.moves_to(&json!(new.uri)).await, "Move ok");
    scene.app.run_jobs().await;
    assert!(!scene.follows(&scene.mallory).await && scene.follows(&new).await);
    away.change_actor(&names);
    assert_eq!(scene.moves_to(&json!(away.uri)).await, "Move moved_recently");
}

#[tokio::test]
async fn move_to_a_blocked_host_moves_nobody() {
    let scene = Scene::new().await;
    scene.follow(&scene.mallory).await;
    let far = Liar::start().await;
    let new = far.person("new");
    new.change_actor(&json!({ "alsoKnownAs": [scene.mallory.uri] }));
    scene.app.run(&["domain", "block", &far.domain]).await.ok();
    scene.app.app.reload().await.unwrap();
    assert_eq!(scene.moves_to(&json!(new.uri)).await, "Move suspended");
    assert_eq!(far.requests(), 0, "it is not even asked");
    assert!(scene.follows(&scene.mallory).await);
}
