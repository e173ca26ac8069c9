//! <https://docs.joinmastodon.org/methods/conversations/>

use context::change::Change;
use serde_json::{Value, json};

use crate::harness::{Client, Published, TestApp};
use crate::jobs::removal::remove;
use crate::platform::contract;

const PATH: &str = "/api/v1/conversations";

pub async fn direct(author: &Client, text: &str, parent: Option<&Value>) -> Published {
    let mut body = json!({ "status": text, "visibility": "direct" });
    if let Some(parent) = parent {
        body["in_reply_to_id"] = parent["id"].clone();
    }
    author.publish(&body).await
}

/// Accounts that accept messages from strangers.
pub async fn open_accounts<const N: usize>(app: &TestApp, names: [&str; N]) -> [Client; N] {
    let accounts = app.accounts(names).await;
    for account in &accounts {
        account.patch("/api/v2/notifications/policy").json(&json!({ "for_private_mentions": "accept" })).ok().await;
    }
    accounts
}

async fn index(person: &Client) -> Vec<Value> {
    let page = person.get(PATH).ok().await;
    contract::check("Conversation[]", &page);
    page.as_array().unwrap().clone()
}

/// The last statuses, the participants and the unread state.
fn brief(page: &[Value]) -> Vec<(&str, Vec<&str>, bool)> {
    let mut shown = Vec::new();
    for conversation in page {
        let accounts = conversation["accounts"].as_array().unwrap().iter();
        let content = conversation["last_status"]["content"].as_str().unwrap_or("null");
        let accounts = accounts.map(|account| account["acct"].as_str().unwrap()).collect();
        shown.push((content, accounts, conversation["unread"] == true));
    }
    shown
}

/// Compares the last statuses without the mentions at their start.
fn ends(page: &[Value], texts: &[&str]) {
    let shown = brief(page);
    assert_eq!(shown.len(), texts.len(), "{shown:?}");
    for ((content, ..), text) in shown.iter().zip(texts) {
        assert!(content.contains(text), "{content} instead of {text}");
    }
}

#[tokio::test]
async fn each_participant_has_the_thread_with_the_others() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = open_accounts(&app, ["alice", "bob", "carol"]).await;
    let first = direct(&alice, "@bob first", None).await;
    let answer = direct(&bob, "@alice answer", Some(&first)).await;
    direct(&alice, "@bob @carol all three", Some(&answer)).await;

    let of_alice = index(&alice).await;
    ends(&of_alice, &["all three", "answer"]);
    let people: Vec<_> = brief(&of_alice).into_iter().map(|(_, who, new)| (who, new)).collect();
    assert_eq!(people, [(vec!["bob", "carol"], false), (vec!["bob"], true)]);
    ends(&index(&bob).await, &["all three", "answer"]);
    let of_carol = index(&carol).await;
    ends(&of_carol, &["all three"]);
    assert_eq!((brief(&of_carol)[0].1.clone(), brief(&of_carol)[0].2), (vec!["alice", "bob"], true));
}

#[tokio::test]
async fn other_visibilities_make_no_conversation_and_talking_to_oneself_does() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    for visibility in ["public", "unlisted", "private", "login", "mutual"] {
        let body = json!({ "status": "@bob hello", "visibility": visibility });
        alice.publish(&body).await;
    }
    assert_eq!((index(&alice).await.len(), index(&bob).await.len()), (0, 0));
    direct(&alice, "a note", None).await;
    assert_eq!(brief(&index(&alice).await), [("<p>a note</p>", vec!["alice"], false)]);
}

#[tokio::test]
async fn conversation_is_marked_as_read_and_unread() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let mut heard = app.app.live.subscribe();
    let first = direct(&alice, "@bob first", None).await;
    let id = index(&bob).await[0]["id"].as_str().unwrap().to_owned();

    let read = bob.post(&format!("{PATH}/{id}/read")).ok().await;
    contract::check("Conversation", &read);
    assert_eq!((&read["unread"], &read["id"], &read["last_status"]["id"]), (&json!(false), &json!(id), &first["id"]));
    assert_eq!(bob.post(&format!("{PATH}/{id}/unread")).ok().await["unread"], true);
    alice.post(&format!("{PATH}/{id}/read")).fails(404).await;
    direct(&bob, "@alice answer", Some(&first)).await;
    assert_eq!(index(&bob).await[0]["unread"], false, "an own reply is not unread");

    let mut told = Vec::new();
    while let Ok(change) = heard.try_recv() {
        if let Change::ConversationsUpdated { conversations } = &*change {
            told.extend(conversations.iter().map(|(account, _)| *account));
        }
    }
    let (a, b) = (alice.id(), bob.id());
    assert_eq!(told, [a, b, b, b, a, b], "two receive, two marks, two receive");
}

#[tokio::test]
async fn hidden_conversation_comes_back_with_the_next_status() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let first = direct(&alice, "@bob first", None).await;
    let path = format!("{PATH}/{}", index(&bob).await[0]["id"].as_str().unwrap());

    alice.delete(&path).fails(404).await;
    assert_eq!(bob.delete(&path).ok().await, json!({}));
    bob.delete(&path).fails(404).await;
    assert_eq!((index(&bob).await.len(), index(&alice).await.len()), (0, 1));
    bob.status(&first).ok().await;

    let second = direct(&alice, "@bob second", Some(&first)).await;
    ends(&index(&bob).await, &["second"]);
    alice.delete_status(&second).ok().await;
    assert_eq!(index(&bob).await.len(), 0, "a hidden one stays hidden");
    ends(&index(&alice).await, &["first"]);
}

#[tokio::test]
async fn deleting_the_last_status_shows_the_one_before() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let mut statuses = vec![direct(&alice, "@bob 0", None).await];
    for number in 1..3 {
        let author = if number == 1 { &bob } else { &alice };
        let text = if number == 1 { "@alice 1" } else { "@bob 2" };
        statuses.push(direct(author, text, statuses.last().map(|status| &**status)).await);
    }
    let path = |number: usize| format!("/api/v1/statuses/{}", statuses[number]["id"].as_str().unwrap());
    assert_eq!(index(&bob).await[0]["unread"], true);

    alice.delete(&path(2)).ok().await;
    ends(&index(&bob).await, &[" 1"]);
    assert_eq!(index(&bob).await[0]["unread"], false, "what is left is bob's own");
    alice.delete(&path(0)).ok().await;
    ends(&index(&alice).await, &[" 1"]);
    bob.delete(&path(1)).ok().await;
    assert_eq!((index(&alice).await.len(), index(&bob).await.len()), (0, 0));
    for table in ["account_conversations", "account_conversation_statuses"] {
        let rows: Vec<(i64,)> = app.db().fetch_raw(&format!("SELECT COUNT(*) FROM {table}")).await.unwrap();
        assert_eq!(rows[0].0, 0, "{table}");
    }
}

#[tokio::test]
async fn edit_moves_status_to_conversation_of_new_mentions() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = open_accounts(&app, ["alice", "bob", "carol"]).await;
    let status = direct(&alice, "@bob hello", None).await;
    let path = format!("/api/v1/statuses/{}", status["id"].as_str().unwrap());
    let before = index(&bob).await[0]["id"].clone();

    alice.put(&path).json(&json!({ "status": "@bob hello again" })).ok().await;
    assert_eq!(index(&bob).await[0]["id"], before, "the same people: the same conversation");
    alice.put(&path).json(&json!({ "status": "@bob @carol hello both" })).ok().await;
    for (person, others) in [(&alice, ["bob", "carol"]), (&bob, ["alice", "carol"]), (&carol, ["alice", "bob"])] {
        let page = index(person).await;
        assert_eq!((page.len(), brief(&page)[0].1.as_slice()), (1, others.as_slice()), "{}", person.name);
    }
    alice.put(&path).json(&json!({ "status": "@carol hello" })).ok().await;
    assert_eq!(brief(&index(&carol).await)[0].1, ["alice"]);
    assert_eq!(index(&bob).await.len(), 1, "its recipients keep it");
}

#[tokio::test]
async fn blocks_and_mutes_keep_statuses_out() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = open_accounts(&app, ["alice", "bob", "carol"]).await;
    direct(&bob, "@alice before", None).await;
    direct(&bob, "@alice @carol a crowd", None).await;
    direct(&carol, "@alice stays", None).await;
    alice.block(&bob).ok().await;
    ends(&index(&alice).await, &["stays"]);
    direct(&bob, "@alice after", None).await;
    ends(&index(&alice).await, &["stays"]);
    assert_eq!(index(&bob).await.len(), 3, "a block is not revealed");

    alice.mute(&carol).ok().await;
    direct(&carol, "@alice muted", None).await;
    ends(&index(&alice).await, &["stays"]);
}

#[tokio::test]
async fn last_status_of_someone_who_blocks_is_hidden() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    direct(&bob, "@alice secret", None).await;
    bob.block(&alice).ok().await;
    let page = index(&alice).await;
    assert_eq!((page.len(), &page[0]["last_status"]), (1, &json!(null)));
}

#[tokio::test]
async fn conversations_are_paged_by_last_status() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let mut statuses = Vec::new();
    for number in 0..5 {
        statuses.push(direct(&alice, &format!("@bob {number}"), None).await);
    }
    let first = bob.get(&format!("{PATH}?limit=2")).send().await;
    let link = first.header("link").to_owned();
    let id = |number: usize| statuses[number]["id"].as_str().unwrap();
    assert!(link.contains(&format!("limit=2&max_id={}>; rel=\"next\"", id(3))), "{link}");
    assert!(link.contains(&format!("limit=2&min_id={}>; rel=\"prev\"", id(4))), "{link}");
    let page = |query: String| {
        let bob = bob.clone();
        async move { bob.get(&format!("{PATH}?{query}")).ok().await.as_array().unwrap().clone() }
    };
    ends(&page(format!("limit=2&max_id={}", id(3))).await, &[" 2", " 1"]);
    ends(&page(format!("limit=2&min_id={}", id(1))).await, &[" 3", " 2"]);
    ends(&page(format!("limit=2&since_id={}", id(1))).await, &[" 4", " 3"]);
    assert_eq!(bob.get(&format!("{PATH}?limit=0")).send().await.header("link"), "");
    bob.get(&format!("{PATH}?max_id=nonsense")).fails(400).await;
}

#[tokio::test]
async fn conversations_are_deleted_with_their_owner_only() {
    let app = TestApp::core().await;
    let [alice, bob] = open_accounts(&app, ["alice", "bob"]).await;
    let first = direct(&alice, "@bob first", None).await;
    direct(&bob, "@alice second", Some(&first)).await;
    remove(&app, "alice").await;
    app.run_jobs().await;
    let rows: Vec<(i64,)> = app.db().fetch_raw("SELECT account_id FROM account_conversations").await.unwrap();
    assert_eq!(rows, [(i64::from(bob.id()),)]);
    let page = index(&bob).await;
    ends(&page, &["second"]);
    assert_eq!(page[0]["accounts"][0]["suspended"], true);
}
