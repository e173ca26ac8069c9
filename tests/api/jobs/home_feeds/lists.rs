//! Statuses on lists: members, replies and reblogs, with the same result for every way to fill the feed.

use std::collections::BTreeSet;

use store::feed::Feed;

use super::draft::Draft;

/// A status of the comparison, and the policies of lists that show it.
struct Subject {
    label: &'static str,
    id: i64,
    shown: &'static [&'static str],
}

const ALL: &[&str] = &["followed", "list", "none"];

/// Statuses of members and others. Returns the members too; only members after the second repeat a reblog.
fn compared(draft: &mut Draft) -> (Vec<Subject>, Vec<i64>) {
    let me = draft.me;
    let [friend, second, quiet, german, muted, beside] =
        ["friend", "second", "quiet", "german", "muted", "beside"].map(|name| draft.followed(name));
    let [stranger, requested] = ["stranger", "requested"].map(|name| draft.person(name));
    draft.seed.follow_request(me, requested);
    draft.more.push(format!("UPDATE follows SET show_reblogs = FALSE WHERE target_account_id = {quiet}"));
    draft.only_in(german, "[\"de\"]");
    draft.seed.mute(me, muted);

    let mut subjects = Vec::new();
    let mut add = |label, id, shown| {
        subjects.push(Subject { label, id, shown });
        id
    };
    let asked = draft.status(stranger);
    let [first, other, third] = [(); 3].map(|()| draft.status(stranger));
    let plain = add("plain", draft.status(friend), ALL);
    add("private", draft.of_visibility(friend, "private"), ALL);
    let besides = add("of someone followed who is no member", draft.status(beside), &[]);
    add("requested", draft.status(requested), &[]);
    add("muted", draft.status(muted), &[]);
    add("language hidden", draft.status(german), &[]);
    let own = add("own", draft.status(me), ALL);
    add("own, direct", draft.of_visibility(me, "direct"), &[]);
    let told = add("direct to owner", draft.of_visibility(friend, "direct"), ALL);
    draft.seed.mention(told, me);
    add("reply to oneself", draft.reply(friend, plain, friend), ALL);
    add("reply to owner", draft.reply(friend, own, me), ALL);
    add("reply to member", draft.reply(second, plain, friend), &["followed", "list"]);
    add("reply to someone followed", draft.reply(second, besides, beside), &["followed"]);
    add("reply to stranger", draft.reply(second, asked, stranger), &[]);
    add("own reply to stranger", draft.reply(me, asked, stranger), &[]);
    add("reblogs hidden", draft.reblog(quiet, other), &[]);
    add("reblog", draft.reblog(second, first), ALL);
    add("reblog again", draft.reblog(friend, first), &[]);
    add("own reblog", draft.reblog(me, third), ALL);
    (subjects, vec![second, friend, quiet, german, muted, requested, me])
}

fn labels(subjects: &[Subject], held: &[i64]) -> BTreeSet<&'static str> {
    subjects.iter().filter(|subject| held.contains(&subject.id)).map(|subject| subject.label).collect()
}

#[tokio::test]
async fn lists_are_filled_alike_by_fan_out_backfill_and_rebuild() {
    let mut draft = Draft::new().await;
    let (subjects, members) = compared(&mut draft);
    let lists = ALL.iter().map(|policy| {
        let list = draft.list(members[0], policy, false);
        let further = members[1..].iter().map(|member| format!("({list}, {member})")).collect::<Vec<_>>().join(", ");
        draft.more.push(format!("INSERT INTO list_accounts (list_id, account_id) VALUES {further}"));
        (*policy, list)
    });
    let lists: Vec<(&str, i64)> = lists.collect();
    let feeds = draft.write().await;
    let all: Vec<i64> = subjects.iter().map(|subject| subject.id).collect();
    feeds.fan_out(&all).await;
    for (policy, list) in lists {
        let feed = Feed::list(list.into());
        let shown = subjects.iter().filter(|subject| subject.shown.contains(&policy)).map(|subject| subject.id);
        let wanted = labels(&subjects, &shown.collect::<Vec<_>>());
        assert_eq!(labels(&subjects, &feeds.held_in(feed).await), wanted, "fan-out, {policy}");

        feeds.app.execute(&format!("DELETE FROM feed_entries WHERE owner_id = {list}")).await;
        feeds.rebuild_list(list, 100).await;
        assert_eq!(labels(&subjects, &feeds.held_in(feed).await), wanted, "rebuild, {policy}");

        feeds.app.execute(&format!("DELETE FROM feed_entries WHERE owner_id = {list}")).await;
        for member in &members {
            feeds.backfill_list(list, *member).await;
        }
        assert_eq!(labels(&subjects, &feeds.held_in(feed).await), wanted, "backfill, {policy}");
    }
}

#[tokio::test]
async fn dropped_lists_take_no_entries() {
    let mut draft = Draft::new().await;
    let friend = draft.followed("friend");
    let list = draft.list(friend, "list", false);
    let status = draft.status(friend);
    let feeds = draft.write().await;
    feeds.drop_feed().await;
    feeds.fan_out(&[status]).await;
    feeds.backfill_list(list, friend).await;
    feeds.rebuild_list(list, 10).await;
    assert!(feeds.held_in(Feed::list(list.into())).await.is_empty());
}
