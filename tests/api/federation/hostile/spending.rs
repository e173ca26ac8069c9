//! Costs that a stranger causes: requests to other servers, places of lanes, and the time of others
//! (docs/architecture.md, "Who may make us spend what"). Honest traffic beside each attack.

use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Scene, text};
use crate::harness::Liar;
use crate::harness::liar::{Person, Reply, with};

/// Requests that one activity may cause, with everything that follows from it.
const REQUESTS: usize = 100;
/// Requests that a domain may cause at another one in five minutes.
const REFLECTED: usize = 300;
/// How long a test waits for a result that comes immediately.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A server that talks to all addresses of this machine: all servers at one address are one domain.
pub(super) async fn scene() -> Scene {
    Scene::with(&[("ROOKERY_FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8")]).await
}

async fn honest() -> Person {
    Liar::at("127.0.0.2").await.person("bob")
}

impl Scene {
    /// Queues an activity, and does nothing yet.
    async fn queue(&self, person: &Person, activity: &Value) {
        let answer = person.letter(&self.app, activity).send(&self.app).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
    }

    /// Waits until `count` of the table says `expected`.
    async fn until(&self, count: &str, expected: i64) {
        let reached = async {
            while self.app.count(count).await != expected {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{count} is not {expected}"));
    }
}

/// A status whose server never answers, by `person`.
fn hanging(person: &Person, name: &str) -> Value {
    let path = format!("{}/notes/{name}", person.path());
    person.liar.put(&path, Reply::Silence);
    person.activity("Create", person.liar.url(&path))
}

#[tokio::test]
async fn slow_objects_of_one_domain_do_not_delay_others() {
    let scene = scene().await;
    let bob = honest().await;
    let note = bob.note("1");
    bob.liar.document("/users/bob/notes/1", &note);
    let mut senders = Vec::new();
    for number in 0..20 {
        senders.push(scene.liar.person(&format!("mallory{number}")));
    }
    for person in senders.iter().chain([&bob]) {
        scene.follow(person).await;
    }
    for person in &senders {
        for name in ["a", "b", "c"] {
            scene.queue(person, &hanging(person, name)).await;
        }
    }
    let (_stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(worker::run(context::Cx::clone(&scene.app.app), stopped));
    // The attack is on, with all that it can have.
    scene.until("jobs WHERE kind = 'process_inbox' AND lane = 'remote' AND state = 'running'", 4).await;
    scene.queue(&bob, &bob.activity("Follow", scene.alice_uri(""))).await;
    let local = format!("follows f JOIN accounts a ON a.id = f.account_id WHERE a.uri = '{}'", bob.uri);
    scene.until(&local, 1).await;
    // Nor does it hold up what must be fetched.
    scene.queue(&bob, &bob.activity("Create", text(&note, "id"))).await;
    scene.until(&format!("statuses WHERE uri = '{}'", text(&note, "id")), 1).await;
    let attack = "inbound_activities WHERE domain = '127.0.0.1' AND body IS NOT NULL";
    assert_eq!(scene.app.count(attack).await, 60, "nothing of the attack ended");
    worker.abort();
}

#[tokio::test]
async fn activities_of_one_sender_are_processed_one_at_a_time() {
    let scene = scene().await;
    let bob = honest().await;
    scene.follow(&scene.mallory).await;
    scene.queue(&scene.mallory, &hanging(&scene.mallory, "slow")).await;
    let (_stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(worker::run(context::Cx::clone(&scene.app.app), stopped));
    scene.until("jobs WHERE kind = 'process_inbox' AND lane = 'remote' AND state = 'running'", 1).await;
    for name in ["a", "b", "c"] {
        let note = scene.mallory.note(name);
        scene.queue(&scene.mallory, &scene.mallory.activity("Create", note)).await;
    }
    scene.until("jobs WHERE kind = 'process_inbox' AND state = 'ready'", 1).await;
    // The worker goes on with what others sent after it.
    scene.queue(&bob, &bob.activity("Follow", scene.alice_uri(""))).await;
    scene.until("follows", 2).await;
    // Asked once, by one job, and later ones wait for earlier ones: until the request is given up, after ten seconds.
    let asked = scene.liar.asked("/users/mallory/notes/slow");
    let waits = scene.app.count("statuses").await == 0;
    assert!(!waits || asked == 1, "asked {asked} times");
    scene.until("statuses", 3).await;
    assert_eq!(scene.liar.asked("/users/mallory/notes/slow"), 1, "the next attempt is due later");
    worker.abort();
}

#[tokio::test]
async fn deletion_waits_for_the_status_that_is_fetched() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    let id = scene.liar.document("/users/mallory/notes/1", &scene.mallory.note("1"));
    scene.queue(&scene.mallory, &scene.mallory.activity("Create", id.clone())).await;
    let changed = with(scene.mallory.note("1"), &json!({ "content": "edited", "updated": "2026-01-15T12:00:01Z" }));
    scene.queue(&scene.mallory, &scene.mallory.activity("Update", changed)).await;
    scene.app.run_jobs().await;
    let seen = scene.status(&id).await.expect("the status");
    assert!(text(&seen, "content").contains("edited"), "{seen}");
}

/// Notes without end: each quotes, answers and is answered by notes that are not known yet, all on the host of `person`.
fn endless(person: &Person, notes: usize) -> Vec<Value> {
    let id = |number: usize| person.liar.url(&format!("{}/notes/{number}", person.path()));
    let replies =
        |number: usize| {
            let path = format!("{}/notes/{number}/replies", person.path());
            let items: Vec<String> = (1..=5).map(|step| id((number * 7 + step) % notes)).collect();
            person.liar.document(&path, &json!({
            "@context": "https://www.w3.org/ns/activitystreams", "id": person.liar.url(&path), "type": "Collection",
            "items": items,
        }))
        };
    let note = |number: usize| {
        let note = with(
            person.note(&number.to_string()),
            &json!({
                "published": "2026-01-14T12:00:00Z", "quoteUrl": id((number * 3 + 1) % notes), "inReplyTo": id((number * 5 + 2) % notes),
                "replies": replies(number),
            }),
        );
        person.liar.document(&format!("{}/notes/{number}", person.path()), &note);
        note
    };
    (0..notes).map(note).collect()
}

#[tokio::test]
async fn one_activity_starts_no_endless_crawl() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    let notes = endless(&scene.mallory, 1_000);
    let before = scene.liar.requests();
    let quoting = with(
        scene.mallory.note("first"),
        &json!({
            "quoteUrl": notes[1]["id"], "inReplyTo": notes[2]["id"], "replies": notes[3]["replies"],
        }),
    );
    assert_eq!(scene.send(&scene.mallory, &scene.mallory.activity("Create", quoting.clone())).await, "Create ok");
    let spent = scene.liar.requests() - before;
    assert!((10..=REQUESTS).contains(&spent), "{spent} requests");
    assert!(scene.has(text(&notes[1], "id")).await, "the quoted status is fetched");
    assert!(scene.has(text(&notes[2], "id")).await, "and the parent");
    assert!(scene.app.count("statuses").await <= i64::try_from(REQUESTS).unwrap());
    assert_eq!(scene.home().await, 1, "the reply is published");
    // Nothing of it is left to be done.
    scene.app.app.clock.advance(chrono::Duration::hours(2));
    scene.app.run_jobs().await;
    assert!(scene.liar.requests() - before <= REQUESTS);
}

#[tokio::test]
async fn reply_is_published_without_its_parent_when_that_is_slow() {
    let scene = scene().await;
    let bob = honest().await;
    scene.follow(&bob).await;
    // Strangers have the whole lane.
    let path = format!("{}/notes/parent", scene.mallory.path());
    scene.liar.put(&path, Reply::Silence);
    let reply = with(bob.note("reply"), &json!({ "inReplyTo": scene.liar.url(&path) }));
    scene.queue(&bob, &bob.activity("Create", reply.clone())).await;
    let (_stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(worker::run(context::Cx::clone(&scene.app.app), stopped));
    scene.until("jobs WHERE kind = 'fill_parent' AND state = 'running'", 1).await;
    assert_eq!(scene.home().await, 0);
    scene.app.app.clock.advance(chrono::Duration::seconds(5));
    scene.until("jobs WHERE kind = 'publish_reply'", 0).await;
    scene.until("jobs WHERE kind = 'fan_out'", 0).await;
    assert_eq!(scene.home().await, 1);
    assert!(!scene.has(&scene.liar.url(&path)).await, "without its parent");
    worker.abort();
}

#[tokio::test]
async fn domain_makes_few_requests_to_another_through_us() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    let victim = honest().await;
    scene.follow(&victim).await;
    let before = victim.liar.requests();
    for number in 0..REFLECTED + 20 {
        let missing = victim.liar.url(&format!("/users/bob/notes/{number}"));
        scene.queue(&scene.mallory, &scene.mallory.activity("Announce", missing)).await;
    }
    scene.counters.take("rookery_inbox_activities_total");
    scene.app.run_jobs().await;
    let results = scene.counters.take("rookery_inbox_activities_total");
    let refused = results.iter().filter(|result| *result == "Announce flood").count();
    assert!(refused >= 1 && results.iter().any(|result| result == "Announce status"), "{results:?}");
    assert_eq!(victim.liar.requests() - before, REFLECTED);
    // Activities of the victim itself are processed, with the fetches that they need.
    let own = victim.liar.document("/users/bob/notes/own", &victim.note("own"));
    assert_eq!(scene.send(&victim, &victim.activity("Create", own.clone())).await, "Create ok");
    assert!(scene.has(&own).await);
    scene.app.app.clock.advance(chrono::Duration::minutes(5));
    let late = victim.liar.document("/users/bob/notes/late", &victim.note("late"));
    let results = scene.send(&scene.mallory, &scene.mallory.activity("Announce", late)).await;
    assert!(results.contains("Announce ok"), "{results}");
}

#[tokio::test]
async fn activities_that_wait_are_bounded_for_each_domain() {
    let scene = scene().await;
    let bob = honest().await;
    scene.follow(&scene.mallory).await;
    let eve = Liar::start().await.person("eve");
    scene.follow(&eve).await;
    let large = with(scene.mallory.note("1"), &json!({ "content": "x".repeat(900_000) }));
    let create = |number: usize| {
        let id = format!("{}/notes/{number}", scene.mallory.uri);
        scene.mallory.activity("Create", with(large.clone(), &json!({ "id": id })))
    };
    let mut queued = 0;
    let refused = loop {
        let answer = scene.mallory.letter(&scene.app, &create(queued)).send(&scene.app).await;
        if answer.status != 202 {
            break answer;
        }
        queued += 1;
        assert!(queued < 60, "{queued} times 900 kB");
    };
    assert_eq!(refused.status, 429, "{}", refused.text());
    // Another port, or another person, is the same domain; an honest one is not.
    let small = eve.activity("Create", eve.note("1"));
    assert_eq!(eve.letter(&scene.app, &small).send(&scene.app).await.status, 429);
    scene.queue(&bob, &bob.activity("Follow", scene.alice_uri(""))).await;
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("inbound_activities WHERE body IS NOT NULL").await, 0);
    let follow = format!("follows f JOIN accounts a ON a.id = f.account_id WHERE a.uri = '{}'", bob.uri);
    assert_eq!(scene.app.count(&follow).await, 1);
    assert_eq!(eve.letter(&scene.app, &small).send(&scene.app).await.status, 202, "what waited is done");
}

#[tokio::test]
async fn deletions_and_polls_of_a_stranger_fill_no_tables() {
    let scene = scene().await;
    scene.follow(&scene.mallory).await;
    for number in 0..600 {
        let gone = format!("{}/notes/gone{number}", scene.mallory.uri);
        scene.queue(&scene.mallory, &scene.mallory.activity("Delete", gone)).await;
    }
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("tombstones").await, 500);
    let option =
        |title: &str| json!({ "type": "Note", "name": title, "replies": { "type": "Collection", "totalItems": 0 } });
    let question = |end: usize| {
        with(
            scene.mallory.note("poll"),
            &json!({
                "type": "Question", "oneOf": [option("a"), option("b")], "endTime": format!("2026-02-{end:02}T00:00:00Z"),
            }),
        )
    };
    scene.receive(&scene.mallory, &question(20)).await;
    for end in 1..=28 {
        scene.queue(&scene.mallory, &scene.mallory.activity("Update", question(end))).await;
    }
    scene.queue(&scene.mallory, &scene.mallory.activity("Update", question(5))).await;
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("jobs WHERE kind = 'expire_poll'").await, 1);
    // It ends when it says so last.
    scene.app.app.clock.advance(chrono::Duration::days(22));
    scene.app.run_jobs().await;
    assert_eq!(scene.app.count("jobs WHERE kind = 'expire_poll'").await, 0);
    // A deletion that comes after the status works as ever.
    scene.receive(&scene.mallory, &scene.mallory.note("later")).await;
    let delete = scene.mallory.activity("Delete", scene.mallory.note("later")["id"].clone());
    assert_eq!(scene.send(&scene.mallory, &delete).await, "Delete ok");
}
