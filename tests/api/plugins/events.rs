//! Events about people: their delivery to plugins, and texts that they omit.

use serde_json::json;

use super::probes::World;
use crate::jobs::removal::remove;

/// Visibilities of the statuses whose text reached a probe with the permissions `asked`.
async fn heard(asked: &str) -> Vec<String> {
    let world = World::new().await;
    world.add("probe", &[("core = [\"read\"]", &format!("core = [\"read\"]\n{asked}"))]).await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    world.app.run_jobs().await;
    for visibility in ["public", "unlisted", "private", "direct"] {
        world.app.tick();
        let text = format!("{visibility} for {} #rooks", bob.id());
        alice.publish(json!({"status": text, "visibility": visibility})).await;
    }
    world.app.run_jobs().await;
    let words = |detail: String| detail.split(' ').next().unwrap_or_default().to_owned();
    let told = world.heard("probe").await.into_iter().filter(|(kind, _)| kind == "status.created");
    told.map(|(_, detail)| words(detail)).collect()
}

#[tokio::test]
async fn non_public_texts_need_a_separate_permission() {
    assert_eq!(heard("").await, ["public", "unlisted", "", ""], "the event is sent without its text");
    assert_eq!(
        heard("core-views = [\"statuses:private\"]").await,
        ["public", "unlisted", "private", "direct"],
        "the permission includes all texts"
    );
}

#[tokio::test]
async fn suspension_and_removal_are_sent_as_events() {
    let world = World::probed().await;
    let [alice, bob] = world.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await;
    bob.follow(&alice).ok().await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();
    remove(&world.app, "alice").await;
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    let kinds: Vec<&str> = heard.iter().skip(before).map(|(kind, _)| kind.as_str()).collect();
    let (follows, of_alice): (Vec<&str>, Vec<&str>) = kinds.into_iter().partition(|kind| kind.starts_with("follow"));
    assert_eq!(of_alice, ["account.suspended", "status.deleted", "account.purged"]);
    assert_eq!(follows, ["follow.deleted"]);
    bob.status(&status).fails(404).await;
}

#[tokio::test]
async fn migration_skips_hooks_and_delays_events() {
    let world = World::new().await;
    // A mandatory filter rejects requests meanwhile.
    world.add("probe", &[("params = [", "policy = \"skip\"\nparams = [")]).await;
    let alice = world.app.account("alice").await;
    world.app.run_jobs().await;
    let before = world.heard("probe").await.len();
    let platform = world.app.plugins();
    let pause = platform.plugins.pauses.pause("probe");
    let status = alice.publish("meanwhile").await;
    assert_eq!(status["by_probe"], "nothing", "the default of the manifest without a response");
    world.app.run_jobs().await;
    assert_eq!(world.heard("probe").await.len(), before);
    assert_eq!(world.waiting("probe").await, (2, 0), "the event, and the place in feeds");
    drop(pause);
    world.app.app.clock.advance(chrono::Duration::seconds(10));
    world.app.run_jobs().await;
    let heard = world.heard("probe").await;
    assert_eq!(heard[before..], [("status.created".to_owned(), "meanwhile".to_owned())]);
    let shown = alice.status(&status).ok().await;
    assert_eq!(shown["by_probe"]["id"], status["id"]);
}
