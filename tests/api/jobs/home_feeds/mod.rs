//! Statuses that enter feeds: the fan-out, the backfill, the rebuild and plugins follow one rule
//! (docs/contract/rules.md#12-timelines).

mod draft;
mod lists;

use std::collections::BTreeSet;

use context::change::Change;
use context::queue::{self, FanOut};
use model::{AccountId, StatusId};
use serde_json::json;
use store::feed::{self, Feed, HOME, LIST, Reblogs};

use crate::harness::TestApp;
use crate::seed::Status;
use draft::Draft;

/// A status of the comparison, and whether it belongs in the feed.
struct Subject {
    label: &'static str,
    id: i64,
    author: i64,
    /// The original of a reblog, else the status.
    original: i64,
    shown: bool,
}

/// Statuses × relations. Returns the followed accounts too; only the last one repeats reblogs of others.
fn compared(draft: &mut Draft) -> (Vec<Subject>, Vec<i64>) {
    let me = draft.me;
    let [friend, second, quiet, german, listed, muted, lapsed] =
        ["friend", "second", "quiet", "german", "listed", "muted", "lapsed"].map(|name| draft.followed(name));
    let far = draft.seed.account("far", Some("far.test"));
    draft.seed.follow(me, far);
    draft.seed.block_domain(me, "far.test");
    let [stranger, blocked, blocking, once] =
        ["stranger", "blocked", "blocking", "once"].map(|name| draft.person(name));
    draft.more.push(format!("UPDATE follows SET show_reblogs = FALSE WHERE target_account_id = {quiet}"));
    draft.only_in(german, "[\"de\"]");
    draft.list(listed, "list", true);
    draft.seed.mute(me, muted);
    draft.muted_once(lapsed);
    draft.muted_once(once);
    draft.seed.block(me, blocked);
    draft.seed.block(blocking, me);
    let birds = draft.seed.tag("birds");
    draft.follow_tag(birds);

    let mut subjects = Vec::new();
    let mut add = |label, id, author, original: Option<i64>, shown| {
        subjects.push(Subject { label, id, author, original: original.unwrap_or(id), shown });
        id
    };
    // Statuses of accounts that are in the feed only by hashtags and reblogs.
    let asked = add("stranger", draft.status(stranger), stranger, None, false);
    let [first, third, fourth, fifth] = [(); 4].map(|()| draft.status(stranger));
    let of_blocked = draft.status(blocked);
    let of_blocking = draft.status(blocking);
    let of_once = draft.status(once);
    let naming_muted = draft.mentioning(stranger, muted);
    for (label, visibility, shown) in [("hashtag", "public", true), ("unlisted hashtag", "unlisted", false)] {
        let status = add(label, draft.of_visibility(stranger, visibility), stranger, None, shown);
        draft.seed.tagged(status, birds);
    }
    let answer = add("hashtag in a reply", draft.reply(once, asked, stranger), once, None, true);
    draft.seed.tagged(answer, birds);
    for (label, author) in [("hashtag of muted", muted), ("hashtag of member of exclusive list", listed)] {
        let status = add(label, draft.status(author), author, None, false);
        draft.seed.tagged(status, birds);
    }

    // Followed accounts, by relation.
    let own = add("own", draft.status(me), me, None, true);
    add("own, direct", draft.of_visibility(me, "direct"), me, None, true);
    add("own reply to a stranger", draft.reply(me, asked, stranger), me, None, true);
    let plain = add("plain", draft.status(friend), friend, None, true);
    add("private", draft.of_visibility(friend, "private"), friend, None, true);
    add("reblogs hidden: status", draft.status(quiet), quiet, None, true);
    add("reblogs hidden: reblog", draft.reblog(quiet, fourth), quiet, Some(fourth), false);
    add("language hidden", draft.status(german), german, None, false);
    add("language hidden: reblog", draft.reblog(german, fifth), german, Some(fifth), false);
    let wordless = add("language unknown", draft.status(german), german, None, true);
    draft.more.push(format!("UPDATE statuses SET language = NULL WHERE id = {wordless}"));
    add("member of exclusive list", draft.status(listed), listed, None, false);
    add("muted", draft.status(muted), muted, None, false);
    add("mute expired", draft.status(lapsed), lapsed, None, true);
    let of_far = draft.seed.status(&Status { author: far, local: false, ..Status::default() });
    add("domain blocked", of_far, far, None, false);

    // Replies.
    add("reply to a stranger", draft.reply(friend, asked, stranger), friend, None, false);
    add("reply to oneself", draft.reply(friend, plain, friend), friend, None, true);
    add("reply to the owner", draft.reply(friend, own, me), friend, None, true);
    let theirs = add("reply to someone followed", draft.reply(second, plain, friend), second, None, true);
    let orphan = add("reply to what is deleted", draft.reply(friend, asked, stranger), friend, None, false);
    draft.more.push(format!("UPDATE statuses SET in_reply_to_id = NULL WHERE id = {orphan}"));

    // Mentions and audiences.
    add("mention of muted", draft.mentioning(friend, muted), friend, None, false);
    add("mention of blocked", draft.mentioning(friend, blocked), friend, None, false);
    add("mention of someone muted once", draft.mentioning(friend, once), friend, None, true);
    let hushed = add("muted in the audience", draft.mentioning(friend, muted), friend, None, true);
    draft.more.push(format!("UPDATE mentions SET silent = TRUE WHERE status_id = {hushed}"));
    for (label, visibility, told) in [("direct", "direct", false), ("direct to owner", "direct", true)] {
        let status = add(label, draft.of_visibility(friend, visibility), friend, None, told);
        draft.seed.mention(status, if told { me } else { stranger });
    }
    let limited = add("limited to owner", draft.of_visibility(friend, "limited"), friend, None, true);
    draft.seed.mention(limited, me);

    // Reblogs.
    for (label, author, original, shown) in [
        ("reblog", second, first, true),
        ("reblog repeated by another", friend, first, false),
        ("reblog of what is there", friend, theirs, false),
        ("reblog of one's own", friend, plain, false),
        ("reblog of the owner's own", friend, own, false),
        ("reblog of blocked", friend, of_blocked, false),
        ("reblog of blocking", friend, of_blocking, false),
        ("reblog of domain blocked", friend, of_far, false),
        ("reblog of someone muted once", friend, of_once, true),
        ("reblog of a mention of muted", friend, naming_muted, false),
        ("reblog before the owner's", second, third, true),
        ("owner's reblog", me, third, true),
        ("reblog after the owner's", friend, third, false),
    ] {
        add(label, draft.reblog(author, original), author, Some(original), shown);
    }
    (subjects, vec![second, quiet, german, listed, muted, lapsed, far, friend])
}

/// Labels of the subjects in `held`.
fn labels(subjects: &[Subject], held: &[i64]) -> BTreeSet<&'static str> {
    subjects.iter().filter(|subject| held.contains(&subject.id)).map(|subject| subject.label).collect()
}

#[tokio::test]
async fn fan_out_backfill_and_rebuild_fill_the_same_feed() {
    let mut draft = Draft::new().await;
    let (subjects, follows) = compared(&mut draft);
    let feeds = draft.write().await;
    let shown: Vec<i64> = subjects.iter().filter(|subject| subject.shown).map(|subject| subject.id).collect();
    let wanted = labels(&subjects, &shown);

    for subject in &subjects {
        if subject.author == feeds.me {
            feeds.publish_own(subject.id, subject.original).await;
        }
        feeds.fan_out(&[subject.id]).await;
    }
    assert_eq!(labels(&subjects, &feeds.held().await), wanted, "fan-out");

    feeds.drop_feed().await;
    feeds.rebuild(100).await;
    assert_eq!(labels(&subjects, &feeds.held().await), wanted, "rebuild");
    let rebuilt = feeds.held().await;
    feeds.rebuild(100).await;
    assert_eq!(feeds.held().await, rebuilt, "a repeated rebuild adds nothing");

    feeds.app.execute("DELETE FROM feed_entries").await;
    for subject in subjects.iter().filter(|subject| subject.author == feeds.me && subject.id == subject.original) {
        feeds.publish_own(subject.id, subject.original).await;
    }
    for target in follows {
        feeds.backfill(target).await;
    }
    let by_others = ["hashtag", "hashtag in a reply", "owner's reblog"];
    let wanted: BTreeSet<&str> = wanted.into_iter().filter(|label| !by_others.contains(label)).collect();
    assert_eq!(labels(&subjects, &feeds.held().await), wanted, "backfill");
}

#[tokio::test]
async fn rebuilt_feed_respects_languages_of_follows() {
    let mut draft = Draft::new().await;
    let author = draft.followed("author");
    draft.only_in(author, "[\"de\", \"fr\"]");
    let [english, french] = [(); 2].map(|()| draft.status(author));
    draft.more.push(format!("UPDATE statuses SET language = 'fr' WHERE id = {french}"));
    let feeds = draft.write().await;
    feeds.fan_out(&[english, french]).await;
    assert_eq!(feeds.held().await, [french]);
    feeds.drop_feed().await;
    feeds.rebuild(10).await;
    assert_eq!(feeds.held().await, [french]);
}

#[tokio::test]
async fn backfill_leaves_out_mentions_of_muted_accounts() {
    let mut draft = Draft::new().await;
    let (author, muted) = (draft.followed("author"), draft.person("muted"));
    draft.seed.mute(draft.me, muted);
    draft.mentioning(author, muted);
    let plain = draft.status(author);
    let feeds = draft.write().await;
    feeds.backfill(author).await;
    assert_eq!(feeds.held().await, [plain]);
}

#[tokio::test]
async fn rebuild_and_backfill_show_a_reblogged_status_once() {
    let mut draft = Draft::new().await;
    let (one, other, stranger) = (draft.followed("one"), draft.followed("other"), draft.person("stranger"));
    let original = draft.status(stranger);
    let (first, _second) = (draft.reblog(one, original), draft.reblog(other, original));
    let feeds = draft.write().await;
    feeds.drop_feed().await;
    feeds.rebuild(10).await;
    assert_eq!(feeds.held().await, [first]);
    feeds.backfill(other).await;
    assert_eq!(feeds.held().await, [first]);
}

#[tokio::test]
async fn status_reblogged_again_after_forty_others_is_rebuilt_twice() {
    let mut draft = Draft::new().await;
    let (one, other, stranger) = (draft.followed("one"), draft.followed("other"), draft.person("stranger"));
    let original = draft.status(stranger);
    let mut ids = vec![draft.reblog(one, original)];
    ids.extend((0..40).map(|_| draft.status(other)));
    ids.push(draft.reblog(other, original));
    let feeds = draft.write().await;
    feeds.fan_out(&ids).await;
    assert_eq!(feeds.held().await, ids);
    feeds.drop_feed().await;
    feeds.rebuild(100).await;
    assert_eq!(feeds.held().await, ids);
}

#[tokio::test]
async fn rebuilt_feed_has_followed_hashtags() {
    let mut draft = Draft::new().await;
    let (author, stranger) = (draft.followed("author"), draft.person("stranger"));
    let tags = ["birds", "rooks"].map(|name| draft.seed.tag(name));
    let statuses = [draft.status(stranger), draft.status(author)];
    for tag in tags {
        draft.follow_tag(tag);
        for status in statuses {
            draft.seed.tagged(status, tag);
        }
    }
    let feeds = draft.write().await;
    assert_eq!(feeds.fan_out(&statuses).await, [feeds.owner(); 2], "once for each, whatever leads there");
    feeds.drop_feed().await;
    feeds.rebuild(10).await;
    assert_eq!(feeds.held().await, statuses);
}

#[tokio::test]
async fn rebuild_stays_within_its_limit() {
    let mut draft = Draft::new().await;
    let (me, author) = (draft.me, draft.followed("author"));
    let tag = draft.seed.tag("birds");
    draft.follow_tag(tag);
    let ids: Vec<i64> = (0..4).flat_map(|_| [draft.status(author), draft.status(me)]).collect();
    for status in &ids {
        draft.seed.tagged(*status, tag);
    }
    let feeds = draft.write().await;
    feeds.drop_feed().await;
    feeds.rebuild(3).await;
    assert_eq!(feeds.held().await, ids[5..]);
}

#[tokio::test]
async fn expired_mute_hides_nothing() {
    let mut draft = Draft::new().await;
    let author = draft.followed("author");
    draft.muted_once(author);
    let status = draft.status(author);
    let feeds = draft.write().await;
    feeds.backfill(author).await;
    assert_eq!(feeds.held().await, [status]);
    feeds.drop_feed().await;
    feeds.rebuild(10).await;
    assert_eq!(feeds.held().await, [status]);
    let relation = feed::find_relation(feeds.app.db(), feeds.owner(), author.into(), feeds.now()).await.unwrap();
    assert_eq!(relation, (true, false), "follows, and hides nothing");
}

#[tokio::test]
async fn dropped_feed_takes_no_entries() {
    let mut draft = Draft::new().await;
    let author = draft.followed("author");
    let status = draft.status(author);
    let feeds = draft.write().await;
    feeds.drop_feed().await;
    assert_eq!(feeds.fan_out(&[status]).await, []);
    feeds.backfill(author).await;
    assert_eq!(feeds.insert(Feed::home(feeds.owner()), &[status]).await, 0);
    assert!(feeds.held().await.is_empty());
}

#[tokio::test]
async fn list_takes_the_replies_that_its_policy_names() {
    let mut draft = Draft::new().await;
    let (friend, requested, stranger) = (draft.followed("friend"), draft.person("requested"), draft.person("stranger"));
    draft.seed.follow_request(draft.me, requested);
    let asked = [draft.status(requested), draft.status(friend), draft.status(stranger)];
    let replies = [(0, requested), (1, friend), (2, stranger)].map(|(n, to)| draft.reply(requested, asked[n], to));
    let others = [(0, requested), (1, friend), (2, stranger)].map(|(n, to)| draft.reply(stranger, asked[n], to));
    let lists = ["list", "followed", "none"].map(|policy| draft.list(requested, policy, false));
    let feeds = draft.write().await;
    let to_itself = [replies[0]];
    for (list, wanted) in lists.into_iter().zip([
        vec![to_itself[0], others[0], others[2]],
        vec![to_itself[0], replies[1], others[1], others[2]],
        vec![to_itself[0], others[2]],
    ]) {
        let feed = Feed { kind: LIST, owner: list };
        feeds.insert(feed, &[replies, others].concat()).await;
        assert_eq!(feeds.held_in(feed).await, wanted);
    }
}

#[tokio::test]
async fn first_reblog_that_passes_the_filter_enters() {
    let mut draft = Draft::new().await;
    let (muted, one, other, stranger) =
        (draft.person("muted"), draft.person("one"), draft.person("other"), draft.person("stranger"));
    draft.seed.mute(draft.me, muted);
    let original = draft.status(stranger);
    let reblogs = [muted, one, other].map(|author| draft.reblog(author, original));
    let feeds = draft.write().await;
    assert_eq!(feeds.insert(Feed::home(feeds.owner()), &reblogs).await, 1);
    assert_eq!(feeds.held().await, [reblogs[1]]);
}

#[tokio::test]
async fn blocked_author_leaves_feeds_with_all_reblogs() {
    let mut draft = Draft::new().await;
    let (author, friend, stranger) = (draft.followed("author"), draft.followed("friend"), draft.person("stranger"));
    let [theirs, others] = [author, stranger].map(|author| draft.status(author));
    let statuses = [draft.status(author), draft.reblog(author, others), draft.reblog(friend, theirs)];
    let feeds = draft.write().await;
    let feed = Feed::home(feeds.owner());
    for (reblogs, left) in [(Reblogs::Own, &statuses[2..]), (Reblogs::OfAuthor, &[])] {
        feeds.fan_out(&statuses).await;
        let mut tx = feeds.begin().await;
        feed::delete_authors(&mut tx, &[feed], &[author.into()], reblogs).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(feeds.held().await, *left);
    }
}

#[tokio::test]
async fn entered_feeds_are_announced_with_their_owners() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for follower in [&bob, &carol] {
        follower.follow(&alice).ok().await;
    }
    app.run_jobs().await;
    let mut events = app.app.live.subscribe();
    let mut entered = || {
        let mut entered = Vec::new();
        while let Ok(event) = events.try_recv() {
            if let Change::FeedEntered { kind, owners, status } = &*event {
                assert_eq!(*kind, HOME);
                entered.push((owners.clone(), status.to_string()));
            }
        }
        entered
    };
    let ids = |people: &[AccountId]| people.iter().copied().map(i64::from).collect::<Vec<_>>();

    app.tick();
    let status = alice.publish("hello").await;
    let id = status["id"].as_str().unwrap().to_owned();
    assert_eq!(entered(), [(ids(&[alice.id()]), id.clone())]);
    app.run_jobs().await;
    let followers = entered();
    assert_eq!(followers.len(), 1, "one change for all of them: {followers:?}");
    assert_eq!(BTreeSet::from_iter(followers[0].0.clone()), BTreeSet::from_iter(ids(&[bob.id(), carol.id()])));
    assert_eq!(followers[0].1, id);

    bob.unfollow(&alice).ok().await;
    bob.follow(&alice).ok().await;
    app.run_jobs().await;
    assert_eq!(entered(), [], "a backfill is not announced");
}

#[tokio::test]
async fn page_is_full_although_a_status_was_deleted() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.follow(&alice).ok().await;
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        app.tick();
        let status = alice.publish(json!({"status": text})).await;
        ids.push(status["id"].as_str().unwrap().to_owned());
    }
    app.run_jobs().await;
    alice.delete_status(&ids[1]).ok().await;

    let page = bob.get("/api/v1/timelines/home?limit=2").ok().await;
    let shown: Vec<&str> = page.as_array().unwrap().iter().map(|status| status["id"].as_str().unwrap()).collect();
    assert_eq!(shown, [ids[2].as_str(), ids[0].as_str()]);
}

#[tokio::test]
async fn statuses_that_wait_together_enter_feeds_together() {
    let mut draft = Draft::new().await;
    let [friend, second] = ["friend", "second"].map(|name| draft.followed(name));
    let stranger = draft.person("stranger");
    let original = draft.status(stranger);
    let statuses = [draft.status(friend), draft.status(second)];
    let reblogs = [draft.reblog(friend, original), draft.reblog(second, original), draft.reblog(second, statuses[0])];
    let feeds = draft.write().await;
    let mut tx = feeds.begin().await;
    for status in statuses.iter().chain(&reblogs) {
        queue::enqueue(&feeds.app.app, &mut tx, &FanOut { status: StatusId::from(*status) }).await.unwrap();
    }
    tx.commit().await.unwrap();

    feeds.app.run_jobs().await;
    assert_eq!(feeds.held().await, [statuses[0], statuses[1], reblogs[0]], "no reblog of an existing entry");
    assert_eq!(jobs(&feeds.app).await, []);
}

#[tokio::test]
async fn failed_job_does_not_fail_others() {
    let mut draft = Draft::new().await;
    let friend = draft.followed("friend");
    let status = draft.status(friend);
    let feeds = draft.write().await;
    let mut tx = feeds.begin().await;
    queue::enqueue(&feeds.app.app, &mut tx, &FanOut { status: StatusId::from(status) }).await.unwrap();
    queue::enqueue(&feeds.app.app, &mut tx, &FanOut { status: StatusId::from(status) }).await.unwrap();
    tx.commit().await.unwrap();
    feeds.app.execute("UPDATE jobs SET payload = '{}' WHERE id = (SELECT MIN(id) FROM jobs)").await;

    feeds.app.run_jobs().await;
    assert_eq!(feeds.held().await, [status]);
    assert_eq!(jobs(&feeds.app).await, [("fan_out".to_owned(), "dead".to_owned())]);
}

/// The remaining jobs of feeds, as (kind, state).
async fn jobs(app: &TestApp) -> Vec<(String, String)> {
    app.db().fetch_raw("SELECT kind, state FROM jobs WHERE lane = 'feed'").await.unwrap()
}
