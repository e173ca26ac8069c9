//! Host functions of plugins, called without a component: permissions, bounds, batches.

use plugins::call::Mode;
use rookery_plugin_host::imports::core_write::{NewNotification, NewStatus};
use rookery_plugin_host::imports::feeds::{CustomFeed, Entry, Feed};
use rookery_plugin_host::imports::http_client::{HttpError, Request};
use rookery_plugin_host::imports::kv::Item;
use rookery_plugin_host::imports::streaming::Message;
use rookery_plugin_host::imports::types::{Page, Viewer};
use serde_json::json;

use super::bench::{Bench, EVERYTHING, code, id, new_status};
use crate::harness::Client;
use crate::seed::{Reply, Seed, Status};

const PAGE: Page = Page { max_id: None, since_id: None, min_id: None, limit: 0 };

#[tokio::test]
async fn status_is_read_with_granted_view() {
    let bench = Bench::new(EVERYTHING).await;
    let [alice, bob] = bench.app.accounts(["alice", "bob"]).await;
    let open = alice.publish("for everyone #Birds").await.number();
    let secret = alice.publish_to("direct", "for me and @bob").await.number();
    let own = alice.publish_to("private", "for me").await.number();
    let ids = vec![own, 1, secret, open, open];

    let as_bob = bench.by(&bob, "read", Mode::Read).await;
    assert_eq!(as_bob.core_visible(Viewer::Caller, ids.clone()).await.unwrap(), [false, false, true, true, true]);
    let nobody = bench.system(Mode::Read);
    assert_eq!(nobody.core_visible(Viewer::Caller, ids.clone()).await.unwrap(), [false, false, false, true, true]);
    assert_eq!(nobody.core_visible(Viewer::System, ids.clone()).await.unwrap(), [true, false, true, true, true]);
    let as_alice = nobody.core_statuses(Viewer::Account(id(&alice)), ids).await.unwrap();
    let texts: Vec<_> = as_alice.iter().map(|status| status.as_ref().map(|status| status.text.as_str())).collect();
    let everyone = Some("\nfor everyone #Birds");
    assert_eq!(texts, [Some("\nfor me"), None, Some("\nfor me and @bob"), everyone, everyone]);
    let status = as_alice[3].as_ref().unwrap();
    assert_eq!((status.tags.as_slice(), status.visibility, status.local), (["birds".to_owned()].as_slice(), 0, true));
    assert_eq!(code(nobody.core_visible(Viewer::Account(1), vec![open]).await), (404, "core.no-viewer".to_owned()));
    assert_eq!(code(nobody.core_visible(Viewer::System, vec![1; 1001]).await), (413, "limit.items".to_owned()));
}

#[tokio::test]
async fn ungranted_capability_is_refused() {
    let bench = Bench::new("[permissions]\ncore = [\"read\"]\ncore-write = [\"touch\"]\nfeeds = [\"custom\"]\ntopics = [\"tray\"]\n[[feed]]\nname = \"tray\"").await;
    let [alice, bob] = bench.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await.number();
    let call = bench.by(&bob, "read write", Mode::Read).await;
    let denied = (403, "host.denied".to_owned());
    assert_eq!(code(call.core_visible(Viewer::System, vec![status]).await), denied);
    assert_eq!(code(call.core_statuses(Viewer::Account(id(&alice)), vec![status]).await), denied);
    assert_eq!(
        call.core_visible(Viewer::Account(id(&bob)), vec![status]).await.unwrap(),
        [true],
        "the caller may name itself"
    );
    assert_eq!(code(call.core_write_create_statuses(vec![new_status(id(&bob), "x", "")]).await), denied);
    assert_eq!(code(call.core_write_delete_statuses(vec![status]).await), denied);
    assert_eq!(code(call.core_write_bookmark(id(&bob), vec![status]).await), denied);
    assert_eq!(code(call.core_write_notify(vec![]).await), denied);
    assert_eq!(code(call.core_write_remove_profile_images(id(&bob), vec![]).await), denied);
    assert_eq!(code(call.core_write_follow(id(&bob), vec![id(&alice)]).await), denied);
    let home = || Entry { feed: Feed::Home(id(&bob)), viewer: None, status, push: false };
    assert_eq!(code(call.feeds_insert(vec![home()]).await), denied);
    let other = Feed::Custom(CustomFeed { name: "basket".to_owned(), key: 1 });
    assert_eq!(code(call.feeds_range(other, PAGE).await), (403, "feeds.undeclared".to_owned()));
    let message = |topic: &str| Message { topic: topic.to_owned(), event: "x".to_owned(), payload: "1".to_owned() };
    assert_eq!(code(call.streaming_publish(vec![message("user:1")]).await), denied);
    assert_eq!(code(call.streaming_publish(vec![message("basket:1")]).await), denied);
    assert_eq!(code(call.settings_get(vec![1]).await), denied);
    assert_eq!(code(call.queue_enqueue(vec![]).await), denied);
    assert_eq!(code(call.kv_get(vec!["a".to_owned()]).await), denied);
    assert_eq!(code(call.sql_query("names".to_owned(), vec![]).await), denied);
    call.core_write_touch("status".to_owned(), vec![status]).await.unwrap();
}

#[tokio::test]
async fn images_are_removed_from_local_profiles_only() {
    let own = Bench::new("[permissions]\ncore-write = [\"profile\"]\n").await;
    let [alice, bob] = own.app.accounts(["alice", "bob"]).await;
    let avatar = || vec!["avatar".to_owned()];
    let call = own.by(&alice, "write:accounts", Mode::Ambient).await;
    assert_eq!(
        call.core_write_remove_profile_images(id(&alice), avatar()).await,
        Ok(0),
        "removing none is not an error"
    );
    assert_eq!(code(call.core_write_remove_profile_images(id(&bob), avatar()).await), (403, "host.denied".to_owned()));
    let unknown = call.core_write_remove_profile_images(id(&alice), vec!["banner".to_owned()]).await;
    assert_eq!(code(unknown), (404, "core.unknown-kind".to_owned()));
    let narrow = own.by(&alice, "write:statuses", Mode::Ambient).await;
    assert_eq!(
        code(narrow.core_write_remove_profile_images(id(&alice), avatar()).await),
        (403, "core.scope".to_owned())
    );

    let any = Bench::new("[permissions]\ncore-write = [\"profile\", \"as-any\"]\n").await;
    let alice = any.app.account("alice").await;
    let files: [(&str, &str, &[u8]); 1] = [("avatar", "a.png", &crate::routes::media::png(20, 20))];
    alice.patch("/api/v1/accounts/update_credentials").multipart(&[], &files).ok().await;
    let call = any.system(Mode::Ambient);
    assert_eq!(call.core_write_remove_profile_images(id(&alice), avatar()).await, Ok(1));
    assert_eq!(code(call.core_write_remove_profile_images(1, avatar()).await), (404, "core.not-found".to_owned()));
    drop(call);
    let kept = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_ne!(kept["avatar"], "https://example.test/assets/avatar.png", "it was not committed");
}

#[tokio::test]
async fn relationships_of_others_stay_private() {
    const FOLLOWING: u32 = 1;
    const SECRETS: u32 = 4 | 8 | 16 | 64 | 256;
    let bench = Bench::new("[permissions]\ncore = [\"read\"]\n").await;
    let [alice, bob, carol] = bench.app.accounts(["alice", "bob", "carol"]).await;
    for (one, verb, other) in [(&alice, "follow", &carol), (&alice, "mute", &carol), (&alice, "block", &bob)] {
        one.post(&format!("/api/v1/accounts/{}/{verb}", other.id())).ok().await;
    }
    let bits = async |caller: &Client, of: &Client, other: &Client| {
        let call = bench.by(caller, "read", Mode::Read).await;
        call.core_relationships(id(of), vec![id(other)]).await.unwrap()[0].bits
    };
    assert_eq!(bits(&alice, &alice, &bob).await & SECRETS, 4, "she blocks him");
    assert_eq!(bits(&alice, &alice, &carol).await & (SECRETS | FOLLOWING), 16 | FOLLOWING, "she follows and mutes her");
    assert_eq!(bits(&bob, &alice, &bob).await & SECRETS, 4, "he is one of the two");
    assert_eq!(bits(&carol, &alice, &bob).await & SECRETS, 0, "she is not");
    assert_eq!(bits(&bob, &alice, &carol).await & (SECRETS | FOLLOWING), FOLLOWING, "a follow is not secret");
    let nobody = bench.system(Mode::Read);
    assert_eq!(nobody.core_relationships(id(&alice), vec![id(&bob)]).await.unwrap()[0].bits & SECRETS, 0);
    let granted = Bench::new("[permissions]\ncore = [\"read\", \"read-as-any\"]\n").await;
    let [alice, bob] = granted.app.accounts(["alice", "bob"]).await;
    alice.block(&bob).ok().await;
    let all = granted.system(Mode::Read);
    assert_eq!(
        all.core_relationships(id(&alice), vec![id(&bob)]).await.unwrap()[0].bits & SECRETS,
        4,
        "unless it was granted"
    );
}

#[tokio::test]
async fn thousand_ids_cost_as_many_statements_as_one() {
    let bench = Bench::new(EVERYTHING).await;
    let [viewer] = bench.app.accounts(["viewer"]).await;
    let mut seed = Seed::new(bench.app.db().engine(), "example.test");
    let tag = seed.tag("birds");
    let (mut statuses, mut people, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..500 {
        let domain = (n % 2 == 0).then_some("remote.test");
        let person = seed.account(&format!("person{n}"), domain);
        let status = seed.status(&Status { author: person, local: domain.is_none(), ..Status::default() });
        seed.tagged(status, tag);
        seed.mention(status, id(&viewer));
        seed.follow(person, id(&viewer));
        statuses.push(status);
        people.push(person);
        names.push(format!("@Person{n}{}", domain.map(|domain| format!("@{domain}")).unwrap_or_default()));
    }
    seed.write(bench.app.db()).await;
    let call = bench.by(&viewer, "read write", Mode::Read).await;
    let me = id(&viewer);
    // Follows, blocks and mutes of the viewer are read once. Uses a status that is not the first one below.
    call.core_visible(Viewer::Caller, statuses[1..2].to_vec()).await.unwrap();
    macro_rules! cost {
        ($few:expr, $many:expr, $most:literal) => {{
            let (few_cost, few) = bench.app.cost($few).await;
            let (cost, many) = bench.app.cost($many).await;
            assert!(cost <= few_cost && few_cost <= $most, "{cost} for {}: {few_cost}", stringify!($many));
            (few.unwrap(), many.unwrap())
        }};
    }
    let (_, found) = cost!(
        call.core_statuses(Viewer::Caller, statuses[..1].to_vec()),
        call.core_statuses(Viewer::Caller, statuses.clone()),
        5
    );
    assert!(found.iter().all(|status| status.as_ref().is_some_and(|status| status.mentions == [me])));
    cost!(
        call.core_visible(Viewer::Caller, statuses[..1].to_vec()),
        call.core_visible(Viewer::Caller, statuses.clone()),
        2
    );
    let (_, found) = cost!(call.core_accounts(people[..1].to_vec()), call.core_accounts(people.clone()), 1);
    assert!(found.iter().all(Option::is_some));
    let (_, found) =
        cost!(call.core_accounts_by_acct(names[..1].to_vec()), call.core_accounts_by_acct(names.clone()), 2);
    assert_eq!(found.iter().flatten().map(|account| account.id).collect::<Vec<_>>(), people);
    let (_, ties) =
        cost!(call.core_relationships(me, people[..1].to_vec()), call.core_relationships(me, people.clone()), 1);
    assert!(ties.iter().zip(&people).all(|(tie, person)| (tie.account, tie.bits) == (*person, 2)));
    let (_, followers) =
        cost!(call.core_followers_among(me, people[..1].to_vec()), call.core_followers_among(me, people.clone()), 1);
    assert_eq!(followers, people);
    let (_, new) = cost!(
        call.core_write_bookmark(me, statuses[..1].to_vec()),
        call.core_write_bookmark(me, statuses[1..101].to_vec()),
        4
    );
    assert_eq!(new, [true; 100]);
    let entries = |ids: &[i64]| -> Vec<Entry> {
        let feed = |key| Feed::Custom(CustomFeed { name: "tray".to_owned(), key });
        ids.iter().map(|id| Entry { feed: feed(1), viewer: Some(me), status: *id, push: true }).collect()
    };
    call.feeds_insert(entries(&statuses[..1])).await.unwrap();
    let (few, many) = cost!(call.feeds_insert(entries(&statuses[1..2])), call.feeds_insert(entries(&statuses[1..])), 3);
    assert_eq!((few, many), (1, 498));
    let notes = |ids: &[i64]| -> Vec<NewNotification> {
        let kind = || "tray_filled".to_owned();
        ids.iter().map(|id| NewNotification { to: me, from: *id, kind: kind(), activity: *id, status: None }).collect()
    };
    let (_, made) = cost!(call.core_write_notify(notes(&people[..1])), call.core_write_notify(notes(&people)), 3);
    assert_eq!(made, 499, "one of them was notified before");
    let kind = || "tray_filled".to_owned();
    let (_, gone) = cost!(
        call.core_write_retract(kind(), people[..1].to_vec()),
        call.core_write_retract(kind(), people.clone()),
        2
    );
    assert_eq!(gone, 499);
}

#[tokio::test]
async fn thousand_small_values_are_one_statement() {
    let bench = Bench::new(EVERYTHING).await;
    let call = bench.system(Mode::Read);
    let item = |key: String, value: u8| Item { key, value: vec![value, 0, 255], expires: None };
    let mut items: Vec<Item> = (0..999).map(|number| item(format!("key {number}"), 1)).collect();
    items.push(item("key 7".to_owned(), 2));
    items[8].expires = Some(i64::from(u32::MAX) * 1_000);
    items[9].value = Vec::new();
    let (cost, set) = bench.app.cost(call.kv_set(items)).await;
    set.unwrap();
    assert_eq!(cost, 1);
    let keys = ["key 7", "key 8", "key 9", "key 998"].map(str::to_owned).to_vec();
    let found = call.kv_get(keys).await.unwrap();
    assert_eq!(found, [Some(vec![2, 0, 255]), Some(vec![1, 0, 255]), Some(vec![]), Some(vec![1, 0, 255])]);
    let kept = call.kv_scan("key 8".to_owned(), None, 1).await.unwrap();
    assert_eq!(kept[0].expires, Some(i64::from(u32::MAX) * 1_000));
}

#[tokio::test]
async fn plugin_acts_within_token_of_caller() {
    let bench = Bench::new(EVERYTHING).await;
    let [alice, bob] = bench.app.accounts(["alice", "bob"]).await;
    let status = alice.publish("hello").await.number();
    let reads = bench.by(&bob, "read", Mode::Read).await;
    assert_eq!(
        code(reads.core_write_create_statuses(vec![new_status(id(&bob), "x", "")]).await),
        (403, "core.scope".to_owned())
    );
    assert_eq!(
        reads.core_write_bookmark(id(&bob), vec![status]).await.unwrap(),
        [true],
        "bookmarks are private: the route's scopes decide"
    );
    let writes = bench.by(&bob, "write:statuses", Mode::Read).await;
    let with = NewStatus {
        visibility: 4,
        recipients: vec![id(&alice), 1],
        extra: Some("{\"tray\":1}".to_owned()),
        ..new_status(id(&bob), "to alice", "key")
    };
    let first = writes.core_write_create_statuses(vec![with.clone(), new_status(1, "nobody", "")]).await.unwrap();
    let made = *first[0].as_ref().unwrap();
    assert_eq!(first[1].as_ref().map_err(|failure| failure.status), Err(404));
    let again = writes.core_write_create_statuses(vec![with]).await.unwrap();
    assert_eq!(again[0].as_ref().ok(), Some(&made), "the same key gives the same status");
    alice.status(&made).ok().await;
    bench.app.anonymous().status(&made).fails(404).await;
    let seen = writes.core_statuses(Viewer::Caller, vec![made]).await.unwrap().remove(0).unwrap();
    assert_eq!((seen.visibility, seen.mentions), (4, vec![id(&alice)]));
    let extra: serde_json::Value = serde_json::from_str(&seen.extra.unwrap()).unwrap();
    assert_eq!(extra["tray"], json!({"tray": 1}));
    assert_eq!(writes.core_write_delete_statuses(vec![made, 1]).await.unwrap(), 1);
    alice.status(&made).fails(404).await;
}

#[tokio::test]
async fn feeds_exclude_statuses_unwanted_by_owner() {
    let bench = Bench::new(EVERYTHING).await;
    let engine = bench.app.db().engine();
    let mut seed = Seed::new(engine, "example.test");
    let me = seed.account("me", None);
    let [friend, stranger, blocked, blocking, muted] =
        ["friend", "stranger", "blocked", "blocking", "muted"].map(|name| seed.account(name, None));
    let far = seed.account("far", Some("far.test"));
    seed.follow(me, friend);
    seed.block(me, blocked);
    seed.block(blocking, me);
    seed.mute(me, muted);
    seed.block_domain(me, "far.test");
    let of = |seed: &mut Seed, author| seed.status(&Status { author, ..Status::default() });
    let wanted = [of(&mut seed, friend), of(&mut seed, stranger), of(&mut seed, me)];
    let unwanted = [blocked, blocking, muted, far].map(|author| of(&mut seed, author));
    let parent = Reply { status: wanted[1], account: stranger, conversation: wanted[1] };
    let answer = seed.reply(friend, parent, "public");
    let reblog = seed.status(&Status { author: friend, reblog_of: Some(wanted[1]), text: "", ..Status::default() });
    let of_blocked =
        seed.status(&Status { author: friend, reblog_of: Some(unwanted[0]), text: "", ..Status::default() });
    seed.write(bench.app.db()).await;

    let all: Vec<i64> = [&wanted[..], &unwanted, &[answer, reblog, of_blocked, 1]].concat();
    let call = bench.system(Mode::Ambient);
    let tray = |key| Feed::Custom(CustomFeed { name: "tray".to_owned(), key });
    let entries = |feed: Feed, viewer| -> Vec<Entry> {
        all.iter().map(|status| Entry { feed: feed.clone(), viewer, status: *status, push: false }).collect()
    };
    assert_eq!(call.feeds_insert(entries(Feed::Home(me), None)).await.unwrap(), 3);
    assert_eq!(call.feeds_insert(entries(tray(1), Some(me))).await.unwrap(), 3, "as home is");
    assert_eq!(call.feeds_insert(entries(tray(2), None)).await.unwrap(), 10);
    assert_eq!(call.feeds_insert(entries(tray(2), None)).await.unwrap(), 0, "existing entries do not enter");
    assert_eq!(call.feeds_insert(entries(Feed::Home(far), None)).await.unwrap(), 0, "that feed has no reader");
    let newest_first = |ids: &[i64]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids
    };
    assert_eq!(call.feeds_range(Feed::Home(me), PAGE).await.unwrap(), newest_first(&wanted));
    let custom = newest_first(&wanted);
    assert_eq!(call.feeds_range(tray(1), PAGE).await.unwrap(), custom);
    let page = Page { max_id: Some(custom[0]), limit: 1, ..PAGE };
    assert_eq!(call.feeds_range(tray(1), page).await.unwrap(), custom[1..2]);
    assert_eq!(call.feeds_remove(tray(2), vec![answer, 1]).await.unwrap(), 1);
    assert_eq!(call.feeds_remove_authors(vec![tray(1), tray(3)], vec![stranger]).await.unwrap(), 1);
    assert!(call.feeds_range(tray(2), PAGE).await.unwrap().contains(&reblog), "no filter applies");
    assert_eq!(call.feeds_range(tray(1), PAGE).await.unwrap(), newest_first(&[wanted[0], wanted[2]]));
    assert_eq!(code(call.feeds_drop_feeds(vec![Feed::Home(me)]).await), (403, "feeds.not-own".to_owned()));
    call.feeds_drop_feeds(vec![tray(2)]).await.unwrap();
    call.0.commit().await.unwrap();
    let later = bench.system(Mode::Read);
    assert!(later.feeds_range(tray(2), PAGE).await.unwrap().is_empty());
    assert_eq!(later.feeds_range(tray(1), PAGE).await.unwrap().len(), 2);
}

#[tokio::test]
async fn plugin_feed_is_cut_to_thousand() {
    let bench = Bench::new(EVERYTHING).await;
    let mut seed = Seed::new(bench.app.db().engine(), "example.test");
    let author = seed.account("author", None);
    let ids: Vec<i64> = (0..1_100).map(|_| seed.status(&Status { author, ..Status::default() })).collect();
    seed.write(bench.app.db()).await;
    let feed = || Feed::Custom(CustomFeed { name: "tray".to_owned(), key: 1 });
    let entry = |status: &i64| Entry { feed: feed(), viewer: None, status: *status, push: false };
    let call = bench.system(Mode::Read);
    assert_eq!(call.feeds_insert(ids.iter().map(entry).collect()).await.unwrap(), 1_100);
    bench.app.app.clock.advance(chrono::Duration::minutes(11));
    bench.app.run_jobs().await;
    let kept: Vec<(i64,)> =
        bench.app.db().fetch_raw("SELECT status_id FROM feed_entries ORDER BY status_id").await.unwrap();
    assert_eq!(kept.iter().map(|(id,)| *id).collect::<Vec<_>>(), ids[100..]);
}

#[tokio::test]
async fn settings_must_match_their_schema() {
    let bench = Bench::new(EVERYTHING).await;
    let [alice] = bench.app.accounts(["alice"]).await;
    let me = id(&alice);
    let call = bench.system(Mode::Read);
    assert_eq!(call.settings_get(vec![me, 1]).await.unwrap(), ["{\"size\":5,\"loud\":false}"; 2]);
    call.settings_set(me, "{\"size\": 9, \"loud\": true}".to_owned()).await.unwrap();
    call.settings_set(me, "{\"loud\": null}".to_owned()).await.unwrap();
    assert_eq!(call.settings_get(vec![me]).await.unwrap(), ["{\"size\":9,\"loud\":false}"]);
    for wrong in ["{\"size\": 10}", "{\"size\": \"9\"}", "{\"colour\": 1}", "[]", "{", "{\"size\": 1.5}"] {
        assert_eq!(
            code(call.settings_set(me, wrong.to_owned()).await),
            (422, "settings.invalid".to_owned()),
            "{wrong}"
        );
    }
    assert_eq!(code(call.settings_set(1, "{\"size\": 1}".to_owned()).await).0, 404);
    assert_eq!(call.settings_get(vec![me]).await.unwrap(), ["{\"size\":9,\"loud\":false}"]);
}

#[tokio::test]
async fn emojis_and_names_are_parsed_as_people_write_them() {
    let bench = Bench::new(EVERYTHING).await;
    for (id, domain, disabled) in [(1, "NULL", false), (2, "'far.test'", false), (3, "'off.test'", true)] {
        let when = match bench.app.db().engine() {
            database::Engine::Sqlite => "0",
            database::Engine::Postgres => "now()",
        };
        let insert = format!(
            "INSERT INTO custom_emojis (id, shortcode, domain, file, visible_in_picker, disabled, sensitive, aliases, \
             width, height, created_at, updated_at) VALUES ({id}, 'rook', {domain}, 'a.png', TRUE, {disabled}, FALSE, '[]', \
             20, 10, {when}, {when})"
        );
        bench.app.execute(&insert).await;
    }
    let mut tx = bench.app.db().begin().await.unwrap();
    store::settings::bump_generation(&mut tx, bench.app.app.clock.now()).await.unwrap();
    tx.commit().await.unwrap();
    bench.app.app.reload().await.unwrap();
    let call = bench.system(Mode::Read);
    let names = [
        "👍",
        "❤️",
        "❤",
        "👍🏽",
        "rook",
        ":rook:",
        "rook@EXAMPLE.test",
        ":rook@far.test:",
        "rook@off.test",
        "no_such",
        "",
        "rook@",
        "@far.test",
        ":::",
        "👍👍",
        "hello",
    ];
    let found = call.core_emojis(names.iter().map(|name| (*name).to_owned()).collect()).await.unwrap();
    let meant: Vec<Option<(String, Option<i64>)>> =
        found.iter().map(|found| found.as_ref().map(|emoji| (emoji.name.clone(), emoji.custom))).collect();
    let unicode = |text: &str| Some((text.to_owned(), None));
    let custom = |id| Some(("rook".to_owned(), Some(id)));
    assert_eq!(meant[..2], [unicode("👍"), unicode("❤️")]);
    assert_eq!(meant[2], unicode("❤️"), "with and without the selector it is one emoji");
    assert_eq!(meant[3..8], [unicode("👍🏽"), custom(1), custom(1), custom(1), custom(2)]);
    assert!(meant[8..].iter().all(Option::is_none), "{:?}", &meant[8..]);
    assert_eq!(
        (found[7].as_ref().unwrap().domain.as_deref(), found[7].as_ref().unwrap().width),
        (Some("far.test"), Some(20))
    );

    let forms = |kind: &str, texts: &[&str]| (kind.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect());
    let (kind, texts) = forms("acct", &["Alice", "@Bob@EXAMPLE.test", "carol@Far.Test", "a b", "@", "x@y@z", "a@b..c"]);
    let expected = [Some("alice"), Some("bob"), Some("carol@far.test"), None, None, None, None];
    assert_eq!(call.core_normalise(kind, texts).await.unwrap(), expected.map(|form| form.map(str::to_owned)));
    let (kind, texts) = forms("hashtag", &["#Été", "two words"]);
    assert_eq!(call.core_normalise(kind, texts).await.unwrap(), [Some("ete".to_owned()), None]);
    assert_eq!(code(call.core_normalise("colour".to_owned(), vec![]).await), (404, "core.unknown-kind".to_owned()));
}

#[tokio::test]
async fn outgoing_requests_reach_permitted_hosts_only() {
    let bench = Bench::new(EVERYTHING).await;
    let call = bench.system(Mode::Read);
    let request = |url: &str, header: Option<(&str, &str)>| Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: header.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: None,
        timeout_ms: 500,
    };
    let granted = "http://127.0.0.1:9/";
    let answers = call
        .fetch(vec![
            request(granted, None),
            request("http://2130706433:9/", None),
            request("http://127.0.0.1:10/", None),
            request("https://example.org/", None),
            request("https://user@a.example.com/", None),
            request("https://a.example.com./", None),
            request(granted, Some(("Host", "example.org"))),
            request(granted, Some(("x-a", "b\r\nx-c: d"))),
            Request { method: "CONNECT".to_owned(), ..request(granted, None) },
        ])
        .await;
    assert!(answers[..2].iter().all(|answer| matches!(answer, Err(HttpError::BlockedAddress))), "{answers:?}");
    assert!(answers[2..].iter().all(|answer| matches!(answer, Err(HttpError::Denied(_)))), "{answers:?}");
}

#[tokio::test]
async fn plugin_storage_and_logs_stay_private() {
    let bench = Bench::new(EVERYTHING).await;
    let call = bench.system(Mode::Read);
    call.cache_set("a:1".to_owned(), vec![1], 1_000);
    call.cache_set("a:2".to_owned(), vec![2], 60_000);
    call.cache_set("b:1".to_owned(), vec![3], 60_000);
    call.cache_set("b:2".to_owned(), vec![0; 17 << 20], 60_000);
    assert_eq!(bench.system(Mode::Read).cache_get("a:1"), Some(vec![1].into()), "another call finds it");
    bench.app.tick();
    assert_eq!(call.cache_get("a:1"), None);
    call.cache_drop_prefix("a:");
    assert_eq!((call.cache_get("a:2"), call.cache_get("b:1")), (None, Some(vec![3].into())));
    assert!(call.cache_get("b:2").is_none(), "a value that does not fit is not stored");

    for number in 0..600 {
        call.emit(rookery_plugin_host::imports::log::Level::Info, &format!("line {number}\nERROR forged"), &[]);
    }
    let lines = bench.app.plugins().plugins.logs.after("tray", 0);
    assert!(lines.len() >= 500 && lines.iter().all(|line| !line.message.contains('\n')));
    assert!(lines.iter().all(|line| line.message.starts_with("line ") || line.message.starts_with("suppressed ")));
    assert_eq!(call.random(32).len(), 32);
    assert_ne!(call.random(32), call.random(32));
}
