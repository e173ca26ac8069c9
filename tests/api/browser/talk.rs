//! The acts of the client, from the first post to a report, with scripts and without; and the stream between two people who
//! are signed in at the same time.

use std::time::{Duration, Instant};

use super::driver::Window;
use super::people::House;
use crate::platform::crash::PATIENCE;

/// Codes of keys in WebDriver.
const ENTER: &str = "\u{e007}";
const END: &str = "\u{e010}";

/// A status on a page: its selectors.
struct Post {
    id: String,
    /// Path of its page.
    path: String,
}

impl Post {
    /// The status whose page is open.
    async fn opened(window: &Window) -> Self {
        window.has("article.detail").await;
        let path = window.path().await;
        let id = window.attribute("article.detail", "data-id").await.unwrap();
        Self { id, path: path.split(['?', '#']).next().unwrap().to_owned() }
    }

    /// Something within the status.
    fn part(&self, css: &str) -> String {
        format!("article[data-id='{}'] {css}", self.id)
    }

    /// Presses a button of the acts, and waits until it is pressed.
    async fn act(&self, window: &Window, act: &str) {
        window.press(&self.part(&format!(".acts > button[value='{act}']"))).await;
        window.has(&self.part(&format!(".acts > button[value='un{act}'][aria-pressed='true']"))).await;
    }

    /// Opens the menu of acts, and presses an entry.
    async fn choose(&self, window: &Window, entry: &str) {
        window.unfold(&self.part(".acts details.act-menu")).await;
        window.press(&self.part(&format!(".acts .act-list {entry}"))).await;
    }
}

/// Appends the text to the form for writing and publishes; returns the new status, whose page is open.
async fn publish(window: &Window, text: &str) -> Post {
    window.fill("#text", &format!("{END}{text}")).await;
    window.press("[data-publish-button]").await;
    window.shows("article.detail", text).await;
    Post::opened(window).await
}

/// Publishes the first status of the newcomer, with a picture and its description.
async fn publish_picture(house: &House, alice: &Window, scripts: bool) -> Post {
    alice.open("/publish").await;
    alice.unfold("details[data-files]").await;
    alice.fill("#file_1", house.picture().to_str().unwrap()).await;
    // Scripts upload the file at once, and the form then has a field for what it shows.
    let description = if scripts { ".attached textarea" } else { "#new-description-1" };
    alice.fill(description, "A rook on a fence").await;
    let post = publish(alice, "The first post").await;
    alice.has(&post.part(".media img[alt='A rook on a fence']")).await;
    post
}

async fn publish_poll(alice: &Window) -> Post {
    alice.open("/publish").await;
    alice.unfold("details:has(#option-1)").await;
    alice.fill("#option-1", "Seeds").await;
    alice.fill("#option-2", "Worms").await;
    publish(alice, "What do rooks eat?").await
}

/// Reloads a page until it shows `text`, which depends on a job.
async fn open_until(window: &Window, path: &str, text: &str) {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        window.open(path).await;
        if window.text("main").await.contains(text) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} never showed {text:?}: {}", window.text("main").await);
}

async fn people_talk(house: &House, scripts: bool) {
    let alice = house.sign_up(scripts).await;
    alice.shows("main", "First steps").await;
    let post = publish_picture(house, &alice, scripts).await;

    let bob = house.bob(scripts).await;
    bob.open("/@alice").await;
    bob.press(".relation button[value='follow']").await;
    bob.has(".relation button[value='unfollow']").await;

    // With scripts, acts do not load another page.
    bob.open(&post.path).await;
    if scripts {
        bob.evaluate("window.stays = true").await;
    }
    post.act(&bob, "favourite").await;
    post.act(&bob, "reblog").await;
    post.act(&bob, "bookmark").await;
    if scripts {
        assert_eq!(bob.evaluate("return window.stays").await, true, "acts are in place");
    }
    bob.press(&post.part(".reactions a.chip")).await;
    bob.fill("#react", "❤").await;
    bob.press("form:has(#react) button.primary").await;
    bob.has(&post.part(".reactions button[value^='❤'][aria-pressed='true']")).await;

    bob.press(&post.part("a[data-key='r']")).await;
    let reply = publish(&bob, "What a fine bird").await;
    assert!(bob.text("main").await.contains("The first post"), "the thread is above the reply");
    assert_ne!(reply.id, post.id);
    bob.open(&post.path).await;
    post.choose(&bob, "a[data-key='q']").await;
    let quote = publish(&bob, "Look at this").await;
    bob.shows(&quote.part(".quoted"), "The first post").await;

    let poll = publish_poll(&alice).await;
    bob.open(&poll.path).await;
    bob.press(&poll.part(".vote input[value='1']")).await;
    bob.press(&poll.part(".vote button")).await;
    bob.shows(&poll.part(".poll .leads"), "Worms").await;

    // The author sees the notification and the count, and edits.
    open_until(&alice, "/notifications", "What a fine bird").await;
    alice.open(&post.path).await;
    alice.shows(&post.part(".status-foot"), "one favourite").await;
    post.choose(&alice, "a[href^='/publish?edit=']").await;
    alice.refill("#text", "The first post, mended").await;
    alice.press("[data-publish-button]").await;
    alice.shows(&post.part(".status-foot"), "dited").await;
    bob.open(&format!("{}/history", post.path)).await;
    bob.shows("main", "The first post, mended").await;

    open_until(&bob, "/catch_up?hours=24", "What do rooks eat?").await;
    bob.press("form[action='/catch_up'] button.primary").await;
    bob.open("/catch_up").await;
    assert!(!bob.text("main").await.contains("What do rooks eat?"), "what was read is not shown again");

    bob.open(&poll.path).await;
    poll.choose(&bob, "a[href^='/report?']").await;
    bob.fill("#comment", "Rooks eat neither").await;
    bob.press("main form.card button.danger").await;
    bob.has(".flash.notice").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newcomer_signs_up_posts_and_talks_without_scripts() {
    let Some(house) = House::open("newcomer_signs_up_posts_and_talks_without_scripts").await else { return };
    people_talk(&house, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn newcomer_signs_up_posts_and_talks_with_scripts() {
    let Some(house) = House::open("newcomer_signs_up_posts_and_talks_with_scripts").await else { return };
    people_talk(&house, true).await;
}

/// Writes in the short form of home, and waits until it was published.
async fn publish_shortly(window: &Window, text: &str) {
    window.open("/home").await;
    window.fill("#short-text", text).await;
    window.press(".short-form button.primary").await;
    window.shows("main", text).await;
}

/// Distance of the first status of home from the top of the window, in pixels.
async fn first_status(window: &Window) -> serde_json::Value {
    window.evaluate("return document.querySelector('#timeline > [data-id]').getBoundingClientRect().top").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_see_each_other_over_the_stream() {
    let Some(house) = House::open("two_people_see_each_other_over_the_stream").await else { return };
    let alice = house.sign_up(true).await;
    let bob = house.bob(true).await;
    publish_shortly(&alice, "Is anybody there?").await;
    bob.open("/@alice").await;
    bob.press(".relation button[value='follow']").await;
    bob.has(".relation button[value='unfollow']").await;
    open_until(&bob, "/home", "Is anybody there?").await;

    // The bar announces the new status without moving the others.
    alice.open("/notifications").await;
    bob.evaluate("scrollTo({ top: 120, behavior: 'instant' })").await;
    assert!(!bob.exists(".newer-bar").await);
    let before = first_status(&bob).await;
    publish_shortly(&alice, "Hello over the stream").await;
    bob.shows(".newer-bar button", "1").await;
    assert_eq!(first_status(&bob).await, before);
    assert!(!bob.text("#timeline").await.contains("Hello over the stream"));
    bob.press(".newer-bar button").await;
    bob.shows("#timeline > [data-id]:first-child", "Hello over the stream").await;

    // A favourite by the keyboard notifies alice over the stream.
    alice.open("/publish").await;
    bob.keys("f").await;
    bob.has("#timeline > [data-id]:first-child button[value='unfavourite']").await;
    alice.has(".rail a[href='/notifications'].has-news").await;
    bob.keys("r").await;
    bob.has("form[data-publish]").await;
    assert_eq!(bob.evaluate("return document.querySelector('#text').value.trim()").await, "@alice");

    // The name is completed, and the draft is saved on the server.
    bob.fill("#text", "thank you, @ali").await;
    bob.has(".completion [role='option']").await;
    bob.fill("#text", ENTER).await;
    bob.has("input[name='draft_id']:not([value=''])").await;
    bob.open("/drafts").await;
    bob.shows("main", "thank you, @alice").await;
}
