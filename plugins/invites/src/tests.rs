//! Routes, hooks and pages, natively, against the SDK's fake server.

use rookery_plugin::pages::{Block, Item, Outcome, Value, View};
use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::json;

use crate::Invites;

const HOUR: i64 = 3_600_000;

/// Makes an invitation by the page's form; its code.
fn make(fake: &Fake, inviter: Id, max_uses: &str, expires_in: &str, autofollow: bool) -> String {
    let values = [
        ("max_uses", Value::Text(max_uses.into())),
        ("expires_in", Value::Text(expires_in.into())),
        ("autofollow", Value::Flag(autofollow)),
        ("comment", Value::Text(" for a friend ".into())),
    ];
    let outcome = fake.page(inviter, "invites").submit("create", &values);
    assert!(matches!(outcome, Ok(Outcome::Done(_))), "{outcome:?}");
    items(&fake.page(inviter, "invites").show().unwrap())[0].title.clone()
}

fn items(view: &View) -> Vec<Item> {
    view.blocks
        .iter()
        .flat_map(|block| if let Block::Items(items) = block { items.items.clone() } else { Vec::new() })
        .collect()
}

fn status(fake: &Fake, code: &str) -> u16 {
    fake.get(&format!("/invite/{code}")).send().status
}

#[test]
fn code_is_checked_at_its_link() {
    let fake = Fake::new::<Invites>();
    let alice = fake.account("alice");
    let code = make(&fake, alice, "1", "3600", false);
    let answer = fake.get(&format!("/invite/{code}")).send().ok();
    assert_eq!(answer, json!({"invite_code": code, "instance_api_url": "https://rookery.example/api/v2/instance"}));
    assert_eq!(status(&fake, "nothing1"), 404);
    let other_case: String =
        code.chars().map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
    assert_eq!(status(&fake, &other_case), 404, "case counts");
    fake.advance(HOUR);
    assert_eq!(status(&fake, &code), 401);
}

#[test]
fn uses_end_and_are_counted_only_for_accounts_that_are_made() {
    let fake = Fake::new::<Invites>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    let code = make(&fake, alice, "1", "", false);
    let params = json!({ "invite_code": code });
    let admission = Admission { opens: true, approves: true, invited_by: Some(alice.0) };
    assert_eq!(fake.judge_sign_up(&params), Ok(Some(admission)));
    assert_eq!(fake.judge_sign_up(&params), Ok(Some(admission)), "asking counts nothing");
    assert_eq!(fake.claim_sign_up(&params, bob), Ok(Some(admission)));
    assert_eq!(fake.claim_sign_up(&params, carol), Ok(None), "there was one use");
    assert_eq!(fake.judge_sign_up(&params), Ok(None));
    assert_eq!(status(&fake, &code), 401);
    for other in
        [json!({}), json!({"invite_code": "nothing1"}), json!({"invite_code": {"a": 1}}), json!({"invite_code": null})]
    {
        assert_eq!(fake.judge_sign_up(&other), Ok(None), "{other}");
        assert_eq!(fake.claim_sign_up(&other, carol), Ok(None), "{other}");
    }
}

#[test]
fn invitation_of_an_unusable_account_is_void() {
    let fake = Fake::new::<Invites>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let code = make(&fake, alice, "1", "", false);
    let params = json!({ "invite_code": code });
    for bit in [1, 32] {
        let set = |state: u32| {
            let change = |account: &mut Account| account.state = state;
            fake.state(|all| all.accounts.iter_mut().filter(|known| known.id == alice.0).for_each(change));
        };
        set(bit);
        assert_eq!(fake.judge_sign_up(&params), Ok(None));
        assert_eq!(fake.claim_sign_up(&params, bob), Ok(None));
        assert_eq!(status(&fake, &code), 401);
        set(0);
    }
    assert!(fake.claim_sign_up(&params, bob).unwrap().is_some(), "none of it was counted");
}

#[test]
fn new_account_follows_when_the_invitation_says_so() {
    let fake = Fake::new::<Invites>();
    let [alice, bob, carol, dan] = ["alice", "bob", "carol", "dan"].map(|name| fake.account(name));
    for (autofollow, arriving) in [(true, bob), (false, carol)] {
        let code = make(&fake, alice, "", "", autofollow);
        fake.claim_sign_up(&json!({ "invite_code": code }), arriving).unwrap().unwrap();
    }
    let created = |account: Id| {
        let subject = fake.state(|state| state.accounts.iter().find(|known| known.id == account.0).cloned().unwrap());
        fake.event("account.created", None, Subject::Account(subject))
    };
    let batch: Vec<Event> = [bob, carol, dan].into_iter().map(created).collect();
    fake.events(&batch).unwrap();
    fake.events(&batch).unwrap();
    assert_eq!(fake.state(|state| state.follows.clone()), [(bob.0, alice.0)].into());
}

#[test]
fn own_invitations_are_listed_and_expired_by_their_owner() {
    let fake = Fake::new::<Invites>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let code = make(&fake, alice, "5", "3600", true);
    let view = fake.page(alice, "invites").show().unwrap();
    let item = items(&view).pop().unwrap();
    assert_eq!(item.url, Some(format!("/invite/{code}")));
    assert_eq!(
        item.lines,
        ["Used 0 of 5 times", "Until 1 Jan 2024, 13:00 UTC", "People who use it follow the inviter.", "for a friend"]
    );
    assert_eq!(items(&fake.page(bob, "invites").show().unwrap()), []);

    let expire = |who: Id, page: &str, item: &str| fake.page(who, page).press("expire", item);
    assert_eq!(expire(bob, "invites", &item.id), Err(Error::NotFound), "it is hers");
    assert!(expire(alice, "invites", &item.id).is_ok());
    assert_eq!(status(&fake, &code), 401);
    let item = items(&fake.page(alice, "invites").show().unwrap()).pop().unwrap();
    assert!(item.actions.is_empty() && item.url.is_none(), "{item:?}");
    assert_eq!(expire(alice, "invites", &item.id), Err(Error::NotFound), "it is over already");

    let other = make(&fake, bob, "", "", false);
    let all = fake.page(alice, "all_invites").show().unwrap();
    let (first, lines) = (items(&all)[0].clone(), items(&all)[0].lines.clone());
    assert_eq!((first.title, lines.last().map(String::as_str)), (other.clone(), Some("By @bob")));
    assert!(expire(alice, "all_invites", &first.id).is_ok(), "staff expires anybody's");
    assert_eq!(status(&fake, &other), 401);
}

#[test]
fn many_invitations_are_shown_in_pages() {
    let fake = Fake::new::<Invites>();
    let alice = fake.account("alice");
    for _ in 0..85 {
        make(&fake, alice, "", "", false);
    }
    let (mut after, mut codes, mut sizes) = (None, Vec::new(), Vec::new());
    loop {
        let page = fake.page(alice, "invites");
        let page = after.as_deref().map_or(page.clone(), |after: &str| page.after(after));
        let view = page.show().unwrap();
        assert_eq!(view.blocks.iter().any(|block| matches!(block, Block::Form(_))), after.is_none());
        sizes.push(items(&view).len());
        codes.extend(items(&view).into_iter().map(|item| item.title));
        after = view.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [40, 40, 5]);
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), 85);
}

#[test]
fn expired_invitations_make_room_and_open_ones_do_not() {
    let fake = Fake::new::<Invites>();
    fake.configure("max_per_person", 3);
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let first = make(&fake, alice, "", "1800", false);
    for _ in 0..2 {
        make(&fake, alice, "", "", false);
    }
    let values = [("max_uses", Value::Text(String::new())), ("expires_in", Value::Text(String::new()))];
    let refused = fake.page(alice, "invites").submit("create", &values).unwrap_err();
    assert_eq!((refused.status(), refused.to_string().contains("3 invitations")), (422, true), "{refused:?}");
    make(&fake, bob, "", "", false);
    fake.advance(HOUR);
    make(&fake, alice, "", "", false);
    assert_eq!(items(&fake.page(alice, "invites").show().unwrap()).len(), 3);
    assert_eq!(status(&fake, &first), 404, "the expired one made room");
    assert!(fake.page(alice, "invites").submit("create", &values).is_err());
}

#[test]
fn times_are_written_in_the_language_of_the_person() {
    let fake = Fake::new::<Invites>();
    let alice = fake.account("alice");
    make(&fake, alice, "1", "3600", false);
    let until = |language: &str| {
        let view = fake.page(alice, "invites").in_language(language).show().unwrap();
        items(&view)[0].lines[1].clone()
    };
    assert_eq!(until("en"), "Until 1 Jan 2024, 13:00 UTC");
    assert_eq!(until("de"), "Bis 1. Jan. 2024, 13:00 UTC");
    assert_eq!(until("ja"), "2024年1月1日 13:00 UTC まで");
}
