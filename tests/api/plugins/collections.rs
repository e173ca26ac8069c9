//! The common behaviour of groups with titled collections: circles, categories of bookmarks and antennas are created,
//! renamed and deleted alike, have a limit, and belong to their owners. Their contents are tested with each group.

use axum::http::Method;
use serde_json::{Value, json};

use super::groups::served;
use crate::harness::{Client, TestApp, id, ids};
use crate::platform::contract;

/// Collections of a group.
#[derive(Clone, Copy)]
struct Kind {
    group: &'static str,
    /// Path of the collections of the caller.
    all: &'static str,
    entity: &'static str,
    /// Most collections of an account.
    limit: usize,
}

const CIRCLES: Kind = Kind { group: "circles", all: "/api/v1/circles", entity: "Circle", limit: 100 };
const CATEGORIES: Kind =
    Kind { group: "bookmark_categories", all: "/api/v1/bookmark_categories", entity: "BookmarkCategory", limit: 20 };
const ANTENNAS: Kind = Kind { group: "antennas", all: "/api/v1/antennas", entity: "Antenna", limit: 30 };

impl Kind {
    async fn create(self, person: &Client, title: &str) -> Value {
        person.post(self.all).form(&[("title", title)]).ok().await
    }

    fn path(self, collection: &Value) -> String {
        format!("{}/{}", self.all, id(collection))
    }
}

#[tokio::test]
async fn circles_are_created_renamed_and_deleted() {
    are_created_renamed_and_deleted(CIRCLES).await;
}

#[tokio::test]
async fn categories_are_created_renamed_and_deleted() {
    are_created_renamed_and_deleted(CATEGORIES).await;
}

#[tokio::test]
async fn antennas_are_created_renamed_and_deleted() {
    are_created_renamed_and_deleted(ANTENNAS).await;
}

#[tokio::test]
async fn circle_needs_title_and_hundred_are_the_limit() {
    need_title_and_have_limit(CIRCLES).await;
}

#[tokio::test]
async fn category_needs_title_and_twenty_are_the_limit() {
    need_title_and_have_limit(CATEGORIES).await;
}

#[tokio::test]
async fn antenna_needs_title_and_thirty_are_the_limit() {
    need_title_and_have_limit(ANTENNAS).await;
}

async fn are_created_renamed_and_deleted(kind: Kind) {
    let app = served(kind.group).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    assert_eq!(alice.get(kind.all).ok().await, json!([]));
    let birds = kind.create(&alice, "Birds").await;
    contract::check(kind.entity, &birds);
    let games = kind.create(&alice, "Games").await;
    let one = kind.path(&birds);
    assert_eq!(alice.get(&one).ok().await, birds);

    let ignored = json!({"title": "Rooks", "replies_policy": "list", "exclusive": true});
    let renamed = alice.put(&one).json(&ignored).ok().await;
    let mut expected = birds.clone();
    expected["title"] = json!("Rooks");
    assert_eq!(renamed, expected, "only the title");
    let patched = alice.patch(&kind.path(&games)).form(&[("title", "Chess")]).ok().await;
    assert_eq!(patched["title"], "Chess");
    assert_eq!(alice.put(&kind.path(&games)).ok().await, patched, "nothing sent changes nothing");
    let all = alice.get(kind.all).ok().await;
    contract::check(&format!("{}[]", kind.entity), &all);
    assert_eq!(all, json!([renamed, patched]));
    assert_eq!(bob.get(kind.all).ok().await, json!([]));

    assert_eq!(alice.delete(&one).ok().await, json!({}));
    alice.get(&one).fails(404).await;
    alice.delete(&one).fails(404).await;
    assert_eq!(alice.get(kind.all).ok().await, json!([patched]));
}

async fn need_title_and_have_limit(kind: Kind) {
    let app = served(kind.group).await;
    let alice = app.account("alice").await;
    for wrong in [json!({}), json!({"title": ""}), json!({"title": " \n"}), json!({"title": "x".repeat(257)})] {
        alice.post(kind.all).json(&wrong).fails(422).await;
    }
    let first = kind.path(&kind.create(&alice, "1").await);
    alice.put(&first).form(&[("title", " ")]).fails(422).await;
    for number in 2..kind.limit - 1 {
        kind.create(&alice, &number.to_string()).await;
    }
    let more = [("title", "more")];
    futures_util::future::join_all((0..6).map(|_| alice.post(kind.all).form(&more).send())).await;
    assert_eq!(ids(&alice.get(kind.all).ok().await).len(), kind.limit, "also for concurrent requests");
    alice.post(kind.all).form(&more).fails(422).await;
    alice.put(&first).form(&[("title", "still editable")]).ok().await;
}

#[tokio::test]
async fn listed_account_reads_of_it_in_words() {
    let app = served("collections").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.update_profile(json!({ "discoverable": true })).ok().await;
    let new = json!({ "name": "Rooks", "account_ids": [bob.id().to_string()] });
    alice.post("/api/v1/collections").json(&new).ok().await;
    app.run_jobs().await;
    let told = bob.get("/api/v1/notifications?supported_types[]=mention").ok().await;
    contract::check("Notification[]", &told);
    assert_eq!((&told[0]["type"], told[0]["collection"].is_object()), (&json!("added_to_collection"), true), "{told}");
    assert_eq!(told[0]["fallback"]["title"], "alice added you to a collection");
}

/// Fails unless the collection `one` of `owner`, with the paths `reads` and `writes`, is only for tokens of the owner
/// with the `scope` (of `read:` and `write:`), and is absent for `other`.
pub async fn belong_to_owner(
    app: &TestApp,
    [owner, other]: [&Client; 2],
    scope: &str,
    one: &str,
    reads: &[String],
    writes: &[(Method, String)],
) {
    let body = json!({
        "title": "mine", "status_ids": [], "account_ids": [], "keywords": ["rook"], "domains": ["far.test"],
        "tags": ["rook"],
    });
    let before = owner.get(one).ok().await;
    let (all, _) = one.rsplit_once('/').unwrap();
    let reader = owner.with_scopes(&format!("read:{scope} write")).await;
    let writer = owner.with_scopes(&format!("read write:{scope}")).await;
    let reads = || reads.iter().map(String::as_str).chain([one]);
    for path in reads().chain([all]) {
        app.anonymous().get(path).fails(401).await;
        reader.get(path).fails(403).await;
    }
    for path in reads() {
        other.get(path).fails(404).await;
    }
    owner.get(&format!("{all}/no_id")).fails(404).await;
    let own = [Method::PUT, Method::PATCH, Method::DELETE].map(|method| (method, one.to_owned()));
    let writes = || writes.iter().chain(&own).cloned();
    for (method, path) in writes().chain([(Method::POST, all.to_owned())]) {
        app.anonymous().request(method.clone(), &path).json(&body).fails(401).await;
        writer.request(method, &path).json(&body).fails(403).await;
    }
    for (method, path) in writes() {
        other.request(method, &path).json(&body).fails(404).await;
    }
    assert_eq!(other.get(all).ok().await, json!([]));
    assert_eq!(owner.get(one).ok().await, before);
}
