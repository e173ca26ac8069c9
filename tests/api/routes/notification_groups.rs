//! <https://docs.joinmastodon.org/methods/grouped_notifications/>

use chrono::Duration;
use model::{NotificationType as Type, StatusId};
use serde_json::{Value, json};

use super::notifications::{index as singles, notice, notify, status};
use crate::harness::{Client, TestApp};
use crate::platform::contract;

const PATH: &str = "/api/v2/notifications";

/// The page for this query.
async fn page(client: &Client, query: &str) -> Value {
    let page = client.get(&format!("{PATH}{query}")).ok().await;
    contract::check("GroupedNotificationsResults", &page);
    page
}

fn groups(page: &Value) -> &[Value] {
    page["notification_groups"].as_array().unwrap()
}

/// Type and count of each group: `favourite 2`.
fn counts(page: &Value) -> Vec<String> {
    let word = |group: &Value| format!("{} {}", group["type"].as_str().unwrap(), group["notifications_count"]);
    groups(page).iter().map(word).collect()
}

fn ids<'a>(page: &'a Value, list: &str) -> Vec<&'a str> {
    page[list].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

fn key(group: &Value) -> &str {
    group["group_key"].as_str().unwrap()
}

/// Position of a group, for the cursor of another page.
fn at(group: &Value) -> i64 {
    group["most_recent_notification_id"].as_i64().unwrap()
}

struct World {
    app: TestApp,
    alice: Client,
    bob: Client,
    carol: Client,
    own: StatusId,
}

impl World {
    async fn new() -> Self {
        let app = TestApp::new().await;
        let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
        let own = status(&alice, "public").await;
        Self { app, alice, bob, carol, own }
    }

    async fn tell(&self, kind: Type, from: &Client) {
        let about = kind.has_status().then_some(self.own);
        assert_eq!(notify(&self.app, &[notice(&self.app, kind, from, &self.alice, about)]).await, 1);
    }

    /// Favourites of bob and carol, each with a mention after it: the newest is carol's.
    async fn mixed() -> Self {
        let world = Self::new().await;
        for person in [&world.bob, &world.carol] {
            world.tell(Type::Favourite, person).await;
            world.tell(Type::Mention, person).await;
        }
        world
    }
}

#[tokio::test]
async fn group_is_at_the_position_of_its_newest_notification() {
    let world = World::mixed().await;
    let all = singles(&world.alice, "").await;

    let page = page(&world.alice, "").await;

    assert_eq!(counts(&page), ["mention 1", "favourite 2", "mention 1"]);
    let favourites = &groups(&page)[1];
    assert_eq!(favourites["sample_account_ids"], json!([world.carol.id(), world.bob.id()]));
    assert_eq!(favourites["most_recent_notification_id"].to_string(), all[1]["id"].as_str().unwrap());
    assert_eq!(favourites["group_key"], all[1]["group_key"]);
    assert_eq!(favourites["status_id"], world.own.to_string());
    assert_eq!((&favourites["page_max_id"], &favourites["page_min_id"]), (&all[1]["id"], &all[3]["id"]));
    assert_eq!(favourites["latest_page_notification_at"], all[1]["created_at"]);
    assert_eq!(key(&groups(&page)[0]), format!("ungrouped-{}", all[0]["id"].as_str().unwrap()));
    assert_eq!(ids(&page, "statuses"), [world.own.to_string()], "once");
    assert_eq!(ids(&page, "accounts"), [world.carol.id().to_string(), world.bob.id().to_string()], "once");
    assert_eq!(page.get("partial_accounts"), None);
}

#[tokio::test]
async fn last_group_of_last_page_covers_all_its_notifications() {
    let world = World::mixed().await;
    let all = singles(&world.alice, "").await;
    let id = |place: usize| all[place]["id"].as_str().unwrap();

    let first = world.alice.get(&format!("{PATH}?limit=2")).send().await;
    let link = first.header("link").to_owned();
    let first = first.json();
    assert_eq!(counts(&first), ["mention 1", "favourite 2"]);
    assert_eq!(groups(&first)[1]["page_min_id"], id(1), "the page ends with it");
    let url = "https://example.test/api/v2/notifications?limit=2";
    assert_eq!(link, format!("<{url}&max_id={}>; rel=\"next\", <{url}&min_id={}>; rel=\"prev\"", id(1), id(0)));

    let second = page(&world.alice, &format!("?limit=2&max_id={}", id(1))).await;
    assert_eq!(counts(&second), ["mention 1", "favourite 1"], "as of the page");
    assert_eq!(groups(&second)[1]["sample_account_ids"], json!([world.bob.id()]));
    let open = page(&world.alice, "?limit=3&types[]=favourite&types[]=mention").await;
    assert_eq!(groups(&open)[1]["page_min_id"], id(1), "a full page ends with its last group");
    let open = page(&world.alice, "?limit=4").await;
    assert_eq!(groups(&open)[1]["page_min_id"], id(3));
    let since = page(&world.alice, &format!("?limit=4&since_id={}", id(3))).await;
    assert_eq!((counts(&since).len(), &groups(&since)[1]["page_min_id"]), (3, &json!(id(1))), "opens to since_id");
    assert_eq!(counts(&since)[1], "favourite 2", "all members up to the newest of the page");
}

#[tokio::test]
async fn pages_go_both_ways() {
    let world = World::new().await;
    for person in [&world.bob, &world.carol] {
        for kind in [Type::Mention, Type::FollowRequest, Type::Status] {
            world.tell(kind, person).await;
        }
        world.tell(Type::Favourite, person).await;
    }
    let all = page(&world.alice, "").await;
    let keys: Vec<&str> = groups(&all).iter().map(key).collect();
    assert_eq!(keys.len(), 7);
    let id = |place: usize| at(&groups(&all)[place]);
    let of = async |query: String| {
        let page = page(&world.alice, &query).await;
        groups(&page).iter().map(|group| key(group).to_owned()).collect::<Vec<_>>()
    };

    assert_eq!(of("?limit=3".to_owned()).await, keys[..3]);
    assert_eq!(of(format!("?limit=2&max_id={}", id(4))).await, keys[5..7]);
    assert_eq!(of(format!("?limit=2&min_id={}", id(5))).await, keys[3..5]);
    assert_eq!(of(format!("?limit=2&since_id={}", id(5))).await, keys[..2]);
    let between = [keys[2], keys[3], keys[0], keys[4]];
    assert_eq!(of(format!("?max_id={}&since_id={}", id(1), id(5))).await, between, "favourites as of bob's");
    assert_eq!(of("?limit=0".to_owned()).await, Vec::<String>::new());
    // The group of favourites appears again below the favourite at its position.
    let below = of(format!("?max_id={}", id(0))).await;
    assert_eq!((below.len(), below.contains(&keys[0].to_owned())), (7, true));
    let beyond = world.alice.get(&format!("{PATH}?max_id=1")).send().await;
    assert_eq!((counts(&beyond.json()).len(), beyond.header("link")), (0, ""));
}

#[tokio::test]
async fn groups_that_span_the_cursor_appear_below_it() {
    let world = World::new().await;
    world.tell(Type::Favourite, &world.bob).await;
    world.tell(Type::Mention, &world.bob).await;
    world.app.app.clock.advance(Duration::hours(10));
    world.tell(Type::Favourite, &world.carol).await;
    let all = page(&world.alice, "").await;
    assert_eq!(counts(&all), ["favourite 2", "mention 1"]);

    let below = page(&world.alice, &format!("?max_id={}", at(&groups(&all)[0]))).await;

    assert_eq!(counts(&below), ["mention 1", "favourite 1"]);
    assert_eq!(groups(&below)[1]["sample_account_ids"], json!([world.bob.id()]));
}

#[tokio::test]
async fn types_without_requested_grouping_stay_single() {
    let world = World::mixed().await;
    world.tell(Type::Follow, &world.bob).await;
    world.tell(Type::Follow, &world.carol).await;
    let of = async |query: &str| counts(&page(&world.alice, query).await);

    assert_eq!(
        of("?grouped_types[]=follow").await,
        ["follow 2", "mention 1", "favourite 1", "mention 1", "favourite 1"]
    );
    assert_eq!(
        of("?grouped_types[]=favourite&grouped_types[]=mention").await[..3],
        ["follow 1", "follow 1", "mention 1"]
    );
    assert_eq!(of("?grouped_types[]=nonsense").await.len(), 6);
    assert_eq!(of("?grouped_types[]=").await.len(), 4);
    assert_eq!(of("?types[]=favourite&types[]=nonsense").await, ["favourite 2"]);
    assert_eq!(of("?exclude_types[]=mention").await, ["follow 2", "favourite 2"]);
    assert!(of("?types[]=nonsense").await.is_empty());
    assert_eq!(of(&format!("?account_id={}", world.bob.id())).await, ["follow 1", "mention 1", "favourite 2"]);
    assert!(of("?account_id=nonsense").await.is_empty());
    let alone = page(&world.alice, "?grouped_types[]=follow&types[]=favourite").await;
    let one = &groups(&alone)[0];
    assert_eq!(key(one), format!("ungrouped-{}", at(one)));
    let shown = world.alice.get(&format!("{PATH}/{}", key(one))).ok().await;
    assert_eq!(key(&groups(&shown)[0]), key(one));
}

#[tokio::test]
async fn partial_avatars_show_the_first_of_a_group_whole() {
    let world = World::mixed().await;
    let dave = world.app.account("dave").await;
    world.tell(Type::Favourite, &dave).await;

    let page = page(&world.alice, "?expand_accounts=partial_avatars&types[]=favourite").await;

    assert_eq!(ids(&page, "accounts"), [dave.id().to_string()]);
    assert_eq!(ids(&page, "partial_accounts"), [world.carol.id().to_string(), world.bob.id().to_string()]);
    assert_eq!(page["partial_accounts"][0]["acct"], "carol");
    assert_eq!(page["partial_accounts"][0].get("note"), None);
    world.alice.get(&format!("{PATH}?expand_accounts=full")).ok().await;
    let refused = world.alice.get(&format!("{PATH}?expand_accounts=some")).fails(400).await;
    assert!(refused.contains("expand_accounts"), "{refused}");
}

#[tokio::test]
async fn group_is_shown_and_dismissed_by_its_owner_alone() {
    let world = World::mixed().await;
    let all = page(&world.alice, "").await;
    let [mention, favourites] = [0, 1].map(|place| format!("{PATH}/{}", key(&groups(&all)[place])));

    let shown = world.alice.get(&favourites).ok().await;
    contract::check("GroupedNotificationsResults", &shown);
    assert_eq!(counts(&shown), ["favourite 2"]);
    assert_eq!(groups(&shown)[0].get("page_min_id"), None);
    assert_eq!(counts(&world.alice.get(&mention).ok().await), ["mention 1"]);
    for unknown in ["favourite-1-1", "ungrouped-1", "ungrouped-x"] {
        world.alice.get(&format!("{PATH}/{unknown}")).fails(404).await;
        assert_eq!(world.alice.post(&format!("{PATH}/{unknown}/dismiss")).ok().await, json!({}));
        assert_eq!(world.alice.get(&format!("{PATH}/{unknown}/accounts")).ok().await, json!([]));
    }

    for path in [&favourites, &mention] {
        world.bob.get(path).fails(404).await;
        world.bob.post(&format!("{path}/dismiss")).ok().await;
    }
    assert_eq!(counts(&page(&world.alice, "").await).len(), 3, "groups of others are not dismissed");
    world.alice.post(&format!("{favourites}/dismiss")).ok().await;
    assert_eq!(counts(&page(&world.alice, "").await), ["mention 1", "mention 1"]);
    world.alice.post(&format!("{mention}/dismiss")).ok().await;
    assert_eq!(singles(&world.alice, "").await.len(), 1);
    assert_eq!(world.alice.post(&format!("{PATH}/clear")).ok().await, json!({}));
    assert!(counts(&page(&world.alice, "").await).is_empty());
}

#[tokio::test]
async fn accounts_behind_a_group_are_paged() {
    let world = World::mixed().await;
    let dave = world.app.account("dave").await;
    world.tell(Type::Favourite, &dave).await;
    world.tell(Type::Favourite, &dave).await;
    let all = page(&world.alice, "").await;
    assert_eq!(counts(&all)[0], "favourite 4");
    let path = format!("{PATH}/{}/accounts", key(&groups(&all)[0]));
    let names = |page: &Value| -> Vec<String> {
        page.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect()
    };

    let page = world.alice.get(&path).ok().await;
    contract::check("Account[]", &page);
    assert_eq!(names(&page), ["dave", "carol", "bob"], "each once");
    let first = world.alice.get(&format!("{path}?limit=2")).send().await;
    let link = first.header("link").to_owned();
    let max_id = link.split("max_id=").nth(1).unwrap().split('>').next().unwrap();
    let second = world.alice.get(&format!("{path}?limit=2&max_id={max_id}")).ok().await;
    assert_eq!((names(&first.json()), names(&second)), (vec!["dave".to_owned()], vec!["carol".into(), "bob".into()]));
    let single = format!("{PATH}/{}/accounts", key(&groups(&all)[1]));
    assert_eq!(names(&world.alice.get(&single).ok().await), ["carol"]);
    assert_eq!(world.bob.get(&single).ok().await, json!([]));
}

#[tokio::test]
async fn unread_counts_groups() {
    let world = World::mixed().await;
    let count = async |query: &str| {
        let answer = world.alice.get(&format!("{PATH}/unread_count{query}")).ok().await;
        contract::check("UnreadCount", &answer);
        answer["count"].as_i64().unwrap()
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count("?limit=2").await, 2);
    assert_eq!(count("?types[]=favourite").await, 1);
    assert_eq!(count("?exclude_types[]=mention&grouped_types[]=reblog").await, 2);
    assert_eq!(count(&format!("?account_id={}&grouped_types[]=reblog", world.bob.id())).await, 2);
    assert_eq!(count("?account_id=nonsense").await, 0);
    let all = page(&world.alice, "").await;
    let read = json!({"notifications": {"last_read_id": at(&groups(&all)[1]).to_string()}});
    world.alice.post("/api/v1/markers").json(&read).ok().await;
    assert_eq!(count("").await, 1);
}

#[tokio::test]
async fn undone_notification_leaves_its_group() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = alice.publish("hello").await;
    let path = format!("/api/v1/statuses/{}", status["id"].as_str().unwrap());
    for person in [&bob, &carol] {
        app.tick();
        person.post(&format!("{path}/favourite")).ok().await;
    }
    assert_eq!(counts(&page(&alice, "").await), ["favourite 2"]);

    carol.post(&format!("{path}/unfavourite")).ok().await;
    let left = page(&alice, "").await;
    assert_eq!(
        (counts(&left), &groups(&left)[0]["sample_account_ids"]),
        (vec!["favourite 1".into()], &json!([bob.id()]))
    );
    bob.post(&format!("{path}/unfavourite")).ok().await;
    assert!(counts(&page(&alice, "").await).is_empty());
    let kept = app.count("notification_groups").await;
    assert_eq!(kept, 0);
    bob.post(&format!("{path}/favourite")).ok().await;
    assert_eq!(counts(&page(&alice, "").await), ["favourite 1"]);
    alice.delete(&path).ok().await;
    assert!(counts(&page(&alice, "").await).is_empty());
    let kept = app.count("notification_groups").await;
    assert_eq!(kept, 0, "groups are deleted with their status");
}

#[tokio::test]
async fn suspended_accounts_are_not_behind_groups() {
    let world = World::mixed().await;
    world.app.suspend(&world.carol).await;

    let page = page(&world.alice, "").await;

    assert_eq!(ids(&page, "accounts"), [world.bob.id().to_string()]);
    let types: Vec<&str> = groups(&page).iter().map(|group| group["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["mention", "favourite"]);
}

#[tokio::test]
async fn page_costs_same_for_large_and_small_groups() {
    let world = World::mixed().await;
    let cost = async |query: &str| world.app.cost(page(&world.alice, query)).await.0;
    world.app.known(&world.alice).await;
    cost("").await;

    let few = cost("?limit=2").await;
    for _ in 0..30 {
        world.tell(Type::Favourite, &world.bob).await;
        world.tell(Type::Reblog, &world.carol).await;
    }
    assert_eq!(counts(&page(&world.alice, "").await)[..2], ["reblog 30", "favourite 32"]);
    assert_eq!(cost("").await, few);
    let reread = world.app.reread_cost();
    assert_eq!(
        few,
        reread + 3 + reread + 1,
        "the token, the page, its members and their number, the status, its marks"
    );
}
