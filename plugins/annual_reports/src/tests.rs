//! Reports from making to reading, natively, against the SDK's fake server, whose year is 2024.

use rookery_plugin::prelude::*;
use rookery_plugin::test::{Fake, StatusCounts};
use serde_json::{Value, json};

use crate::{AnnualReports, year};

const REPORTS: &str = "/api/v1/annual_reports";

/// The first id of a month of 2023, from 0 on.
fn month(number: usize) -> i64 {
    year::months(2023).nth(number).unwrap().0
}

/// Runs the command to its end.
fn generate(fake: &Fake, args: &Value) -> Result<Value> {
    let mut answer = fake.command("generate", args)?;
    while let Some(next) = answer.get("continue").cloned() {
        assert!(answer["progress"].is_string(), "{answer}");
        answer = fake.command("generate", &next)?;
    }
    Ok(answer)
}

fn shown(fake: &Fake, account: Id) -> Value {
    fake.get(REPORTS).as_account(account).send().ok()
}

/// A status of an id of one's own.
fn post(fake: &Fake, author: Id, id: i64, text: &str, change: impl FnOnce(&mut Status)) -> i64 {
    fake.status_with(author, text, |status| {
        status.id = id;
        change(status);
    });
    id
}

#[test]
fn report_has_every_figure() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    let his = post(&fake, bob, month(0), "his", |_| {});
    let hers = post(&fake, carol, month(0) + 1, "hers", |_| {});
    let first = post(&fake, alice, month(0) + 2, "#rooks", |_| {});
    post(&fake, alice, month(0) + 3, "#rooks and #jays", |status| status.reply_to_account = Some(alice.0));
    for (at, to) in [(0, bob), (1, bob), (2, carol)] {
        post(&fake, alice, month(1) + at, "indeed", |status| {
            status.reply_to = Some(his);
            status.reply_to_account = Some(to.0);
        });
    }
    for (at, of) in [(0, his), (1, his), (2, hers)] {
        post(&fake, alice, month(2) + at, "", |status| status.reblog_of = Some(of));
    }
    let poll = post(&fake, alice, month(11), "which?", |status| status.has_poll = true);
    let hidden = post(&fake, alice, month(11) + 1, "hidden", |status| status.visibility = 2);
    post(&fake, alice, month(0) - 1, "of the year before", |_| {});
    post(&fake, alice, year::ids(2023).1, "of the year after", |_| {});
    fake.state(|state| {
        let counts = |replies, reblogs, favourites| StatusCounts { replies, reblogs, favourites };
        state.status_counts.insert(first, counts(1, 3, 9));
        state.status_counts.insert(poll, counts(2, 1, 4));
        state.status_counts.insert(hidden, counts(99, 99, 99));
        for (id, name) in [(first, "Web"), (poll, "Tusky"), (month(1), "Tusky")] {
            state.status_applications.insert(id, name.to_owned());
        }
    });
    follow_at(&fake, bob, alice, month(5));
    follow_at(&fake, alice, bob, month(5));
    follow_at(&fake, carol, alice, month(11));
    follow_at(&fake, carol, bob, month(11));

    assert_eq!(generate(&fake, &json!({ "account": "alice" })), Ok(json!({ "year": 2023, "made": 1 })));
    let all = shown(&fake, alice);
    let report = &all["annual_reports"][0];
    assert_eq!((&report["year"], &report["schema_version"]), (&json!(2023), &json!(1)));
    assert_eq!(report["account_id"], alice.to_string());
    let key = key(&report["share_url"], 2023);
    assert_eq!(shown(&fake, alice)["annual_reports"][0]["share_url"], report["share_url"], "it stays");
    assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    let data = &report["data"];
    assert_eq!(data["archetype"], "lurker");
    assert_eq!(data["type_distribution"], json!({ "total": 10, "reblogs": 3, "replies": 3, "standalone": 4 }));
    assert_eq!(
        data["top_statuses"],
        json!({ "by_reblogs": first.to_string(), "by_favourites": poll.to_string(), "by_replies": null })
    );
    assert_eq!(data["most_used_apps"], json!([{ "name": "Tusky", "count": 2 }, { "name": "Web", "count": 1 }]));
    let twice = |account: Id| json!([{ "account_id": account.to_string(), "count": 2 }]);
    assert_eq!(data["commonly_interacted_with_accounts"], twice(bob));
    assert_eq!(data["most_reblogged_accounts"], twice(bob));
    assert_eq!(data["top_hashtags"], json!([{ "name": "rooks", "count": 2 }]));
    let months: Vec<Value> = data["time_series"].as_array().unwrap().clone();
    let numbers = |month: &Value| ["statuses", "following", "followers"].map(|name| month[name].as_u64().unwrap());
    assert_eq!((months.len(), &months[0]["month"], &months[11]["month"]), (12, &json!(1), &json!(12)));
    let expected =
        [[2, 0, 0], [3, 0, 0], [3, 0, 0], [0; 3], [0; 3], [0, 1, 1], [0; 3], [0; 3], [0; 3], [0; 3], [0; 3], [2, 0, 1]];
    assert_eq!(months.iter().map(numbers).collect::<Vec<_>>(), expected);
    // One of three authors posted less than bob; none of the two accounts with new followers gained fewer.
    assert_eq!(data["percentiles"], json!({ "followers": 0.0, "statuses": 50.0 }));
    assert_eq!(all["accounts"], json!([{ "id": bob.to_string(), "acct": "bob" }]));
    assert_eq!(all["statuses"].as_array().unwrap().len(), 2);
}

/// The key of a link.
fn key(share_url: &Value, year: i64) -> String {
    let url = share_url.as_str().expect("a link");
    url.split_once(&format!("/annual_reports/{year}/")).expect("of the year").1.to_owned()
}

/// What strangers see with a key: the title and all texts.
fn seen(fake: &Fake, year: i64, key: &str) -> Result<String> {
    let view = fake.open_page("shared").with("year", year).with("key", key).show()?;
    Ok(format!("{view:?}"))
}

#[test]
fn link_shows_strangers_what_is_public() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let best = post(&fake, alice, month(0), "#rooks", |_| {});
    let newest = post(&fake, alice, month(1), "#Rooks, @bob", |status| status.reply_to_account = Some(bob.0));
    for at in 0..3 {
        post(&fake, alice, month(2) + at, "#secret", |status| status.visibility = 2);
    }
    post(&fake, alice, month(3), "#secret", |_| {});
    post(&fake, alice, month(4), "indeed", |status| status.reply_to_account = Some(bob.0));
    fake.state(|state| {
        state.status_counts.insert(best, StatusCounts { favourites: 1, ..StatusCounts::default() });
    });
    generate(&fake, &json!({ "account": "alice" })).unwrap();
    let report = shown(&fake, alice)["annual_reports"][0].clone();
    assert_eq!(report["data"]["top_hashtags"][0], json!({ "name": "secret", "count": 4 }), "hers has all");
    let key = key(&report["share_url"], 2023);

    let text = seen(&fake, 2023, &key).unwrap();
    let link = format!("\"/@alice/{best}\"");
    for part in
        ["\"@alice in 2023\"", "\"The lurker\"", "value: \"7\", label: \"posts\"", "\"Hashtags: #rooks\"", &link]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["secret", "bob", "newly followed", &format!("id: {bob}")] {
        assert!(!text.contains(part), "{part}: {text}");
    }

    fake.state(|state| state.statuses.retain(|status| ![best, newest].contains(&status.id)));
    let text = seen(&fake, 2023, &key).unwrap();
    assert!(!text.contains("#rooks") && !text.contains("/@alice/"), "{text}");
    for (year, other) in [(2022, key.as_str()), (2023, &key[1..]), (2023, &"0".repeat(32)), (2023, "")] {
        assert_eq!(seen(&fake, year, other), Err(Error::NotFound), "{year} {other}");
    }
    let suspend = |state: u32| {
        fake.state(|all| all.accounts.iter_mut().filter(|one| one.id == alice.0).for_each(|one| one.state = state));
    };
    suspend(1);
    assert_eq!(seen(&fake, 2023, &key), Err(Error::NotFound));
    suspend(0);
    assert!(seen(&fake, 2023, &key).is_ok());
    fake.state(|state| state.accounts.retain(|account| account.id != alice.0));
    assert_eq!(seen(&fake, 2023, &key), Err(Error::NotFound));
}

#[test]
fn report_without_key_gets_it_when_it_is_read() {
    let fake = Fake::new::<AnnualReports>();
    let alice = fake.account("alice");
    for year in [2022, 2023] {
        generate(&fake, &json!({ "year": year, "account": "alice" })).unwrap();
    }
    fake.execute("UPDATE reports SET share_key = NULL, public_hashtags = NULL");
    let links = || {
        let shown = shown(&fake, alice);
        [2023, 2022].map(|year| key(&shown["annual_reports"][usize::from(year == 2022)]["share_url"], year))
    };
    let [first, second] = links();
    assert_ne!(first, second);
    assert_eq!(links(), [first.clone(), second]);
    assert!(seen(&fake, 2023, &first).unwrap().contains("@alice in 2023"));
}

fn follow_at(fake: &Fake, follower: Id, followed: Id, id: i64) {
    fake.follow(follower, followed);
    fake.state(|state| state.followed_at.insert((follower.0, followed.0), id >> 16));
}

#[test]
fn reports_of_all_cover_authors_and_are_made_once() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    post(&fake, alice, month(3), "hello", |_| {});
    post(&fake, bob, month(4), "hello", |_| {});
    assert_eq!(generate(&fake, &json!({ "account": "@bob" })), Ok(json!({ "year": 2023, "made": 1 })));
    let before = shown(&fake, bob);
    post(&fake, bob, month(4) + 1, "found later", |_| {});
    assert_eq!(generate(&fake, &json!({})), Ok(json!({ "year": 2023, "made": 1 })), "hers");
    assert_eq!(shown(&fake, bob), before, "his stays as it is");
    assert_eq!(shown(&fake, alice)["annual_reports"].as_array().unwrap().len(), 1);
    assert_eq!(shown(&fake, carol)["annual_reports"], json!([]));
    assert_eq!(generate(&fake, &json!({})), Ok(json!({ "year": 2023, "made": 0 })));
}

#[test]
fn read_report_is_not_listed() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    for year in [2021, 2022, 2023] {
        generate(&fake, &json!({ "year": year, "account": "alice" })).unwrap();
    }
    let years = || {
        let shown = shown(&fake, alice);
        shown["annual_reports"].as_array().unwrap().iter().map(|one| one["year"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(years(), [2023, 2022, 2021]);
    let read = format!("{REPORTS}/2022/read");
    assert_eq!(fake.post(&read).as_account(alice).send().ok(), json!({}));
    assert_eq!(fake.post(&read).as_account(alice).send().ok(), json!({}), "again is no error");
    assert_eq!(years(), [2023, 2021]);
    fake.post(&read).as_account(bob).send().error(404);
    fake.post(&format!("{REPORTS}/2020/read")).as_account(alice).send().error(404);
}

#[test]
fn deleted_accounts_and_statuses_are_dropped() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    for number in 0..2 {
        post(&fake, alice, month(0) + number, "indeed", |status| status.reply_to_account = Some(bob.0));
    }
    let top = post(&fake, alice, month(1), "liked", |_| {});
    fake.state(|state| state.status_counts.insert(top, StatusCounts { favourites: 1, ..StatusCounts::default() }));
    generate(&fake, &json!({ "account": "alice" })).unwrap();
    let named = || {
        let shown = shown(&fake, alice);
        let data = &shown["annual_reports"][0]["data"];
        (data["commonly_interacted_with_accounts"].clone(), data["top_statuses"]["by_favourites"].clone())
    };
    assert_eq!(named(), (json!([{ "account_id": bob.to_string(), "count": 2 }]), json!(top.to_string())));
    fake.state(|state| {
        state.accounts.retain(|account| account.id != bob.0);
        state.statuses.retain(|status| status.id != top);
    });
    assert_eq!(named(), (json!([]), json!(null)));
}

#[test]
fn year_must_be_over_and_the_account_here() {
    let fake = Fake::new::<AnnualReports>();
    fake.account("alice@elsewhere.example");
    for args in [json!({ "year": 2024 }), json!({ "year": 1969 }), json!({ "account": "nobody" })] {
        assert!(generate(&fake, &args).is_err(), "{args}");
    }
    assert!(generate(&fake, &json!({ "account": "alice@elsewhere.example" })).is_err());
    assert!(generate(&fake, &json!({ "yaer": 2023 })).is_err(), "a mistake is no wish for all reports");
}

#[test]
fn reports_are_made_in_january_if_the_admin_wants_them() {
    let fake = Fake::new::<AnnualReports>();
    let alice = fake.account("alice");
    post(&fake, alice, month(6), "hello", |_| {});
    let january = || fake.job("yearly", "{\"schedule\":\"0 4 2 1 *\"}").map(|_| fake.run_jobs()).unwrap();
    assert_eq!(january(), 0);
    fake.configure("generate_in_january", true);
    assert!(january() > 1, "a job for each step");
    assert_eq!(shown(&fake, alice)["annual_reports"][0]["year"], 2023);
}

#[test]
fn report_is_made_on_request() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    post(&fake, alice, month(3), "hello", |_| {});
    let state = |account, year: i64| {
        fake.get(&format!("{REPORTS}/{year}/state")).as_account(account).send().ok()["state"].clone()
    };
    let ask = |account, year: i64| fake.post(&format!("{REPORTS}/{year}/generate")).as_account(account).send();
    for (account, year, wanted) in
        [(alice, 2023, "eligible"), (bob, 2023, "ineligible"), (alice, 2022, "ineligible"), (alice, 2024, "ineligible")]
    {
        assert_eq!(state(account, year), wanted, "{year}");
    }
    assert_eq!(ask(bob, 2023).status, 200);
    fake.get(&format!("{REPORTS}/2023")).as_account(alice).send().error(404);
    for _ in 0..2 {
        assert_eq!(ask(alice, 2023).status, 202);
        assert_eq!(state(alice, 2023), "generating");
    }
    assert!(fake.run_jobs() > 0);
    assert_eq!(state(alice, 2023), "available");
    assert_eq!(ask(alice, 2023).status, 200);
    let one = fake.get(&format!("{REPORTS}/2023")).as_account(alice).send().ok();
    assert_eq!(one["annual_reports"][0]["year"], 2023);
    assert_eq!(one["annual_reports"].as_array().unwrap().len(), 1);
    fake.post(&format!("{REPORTS}/2023/read")).as_account(alice).send().ok();
    assert_eq!(shown(&fake, alice)["annual_reports"], json!([]));
    assert_eq!(fake.get(&format!("{REPORTS}/2023")).as_account(alice).send().ok(), one, "read or not");
}
