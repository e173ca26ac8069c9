//! The pages, natively, against the SDK's fake server.

use rookery_plugin::pages::{Block, Picture, View};
use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;
use serde_json::json;

use crate::AnnualReports;

/// Keeps a report, as the command does.
fn store(fake: &Fake, account: Id, year: i64, followers: u64) {
    let months =
        (1..=12).map(|month| json!({ "month": month, "statuses": month, "following": 1, "followers": followers }));
    let data = json!({
        "archetype": "oracle",
        "type_distribution": { "total": 1204, "reblogs": 200, "replies": 4, "standalone": 1000 },
        "top_statuses": { "by_reblogs": "7", "by_favourites": null, "by_replies": "9" },
        "most_used_apps": [{ "name": "Tusky", "count": 1204 }],
        "commonly_interacted_with_accounts": [{ "account_id": "5", "count": 2 }],
        "time_series": months.collect::<Vec<_>>(),
        "top_hashtags": [{ "name": "Rooks", "count": 12 }],
        "most_reblogged_accounts": [],
        "percentiles": { "followers": 0.0, "statuses": 66.7 },
    });
    fake.execute(&format!(
        "INSERT INTO reports (account_id, year, schema_version, data, created_at) VALUES ({account}, {year}, 1, '{data}', 0)"
    ));
}

fn picture(view: &View) -> Picture {
    let pictures =
        view.blocks.iter().filter_map(|block| if let Block::Picture(one) = block { Some(one) } else { None });
    pictures.into_iter().next().expect("a picture").clone()
}

#[test]
fn years_are_listed_for_their_owner_alone() {
    let fake = Fake::new::<AnnualReports>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    store(&fake, alice, 2022, 0);
    store(&fake, alice, 2023, 0);
    fake.post("/api/v1/annual_reports/2022/read").as_account(alice).send().ok();
    let years = |who: Id| {
        let view = fake.page(who, "reports").show().unwrap();
        let Some(Block::Items(items)) = view.blocks.into_iter().nth(1) else { panic!("no list") };
        items.items.into_iter().map(|item| (item.link.unwrap(), item.lines)).collect::<Vec<_>>()
    };
    let line = vec!["The oracle · 1,204 posts".to_owned()];
    assert_eq!(
        years(alice),
        [("/annual_reports/2023".to_owned(), line.clone()), ("/annual_reports/2022".to_owned(), line)],
        "read or not"
    );
    assert_eq!(years(bob), []);
    let of = |who: Id, year: &str| fake.page(who, "report").with("year", year).show().map(|view| view.title);
    assert_eq!(of(alice, "2022"), Ok("Your 2022".to_owned()));
    for (who, year) in [(bob, "2022"), (alice, "2021"), (alice, "last")] {
        assert_eq!(of(who, year), Err(Error::NotFound));
    }
}

#[test]
fn report_says_everything_in_the_readers_language() {
    let fake = Fake::new::<AnnualReports>();
    let alice = fake.account("alice");
    store(&fake, alice, 2023, 3);
    let page = fake.page(alice, "report").with("year", 2023);
    let view = page.show().unwrap();
    let mut headings = Vec::new();
    for block in &view.blocks {
        match block {
            Block::Bars(bars) => headings.push((bars.title.clone().unwrap(), bars.bars.len())),
            Block::Statuses(list) => headings.push((list.title.clone().unwrap(), list.statuses.len())),
            Block::People(list) => headings.push((list.title.clone().unwrap(), list.people.len())),
            Block::Figures(figures) => {
                let figures = figures.figures.iter().map(|figure| format!("{} {}", figure.value, figure.label));
                let expected = ["1,204 posts", "36 new followers", "12 newly followed", "66 % posted less here"];
                assert_eq!(figures.collect::<Vec<_>>(), expected);
            }
            Block::Items(share) => {
                let link = share.items[0].url.clone().unwrap();
                assert!(link.starts_with("/annual_reports/2023/"), "{link}");
                assert_eq!(fake.page(alice, "report").with("year", 2023).show().unwrap(), view, "it stays");
            }
            Block::Text(_) | Block::Form(_) | Block::Picture(_) => {}
        }
    }
    let headings: Vec<(&str, usize)> = headings.iter().map(|(title, parts)| (title.as_str(), *parts)).collect();
    let expected = [
        ("Posts by month", 12),
        ("What you posted", 3),
        ("What others liked best", 2),
        ("Your hashtags", 1),
        ("Most replies to", 1),
        ("Most boosts of", 0),
        ("New followers by month", 12),
        ("Your apps", 1),
    ];
    assert_eq!(headings, expected);

    let german = page.in_language("de").show().unwrap();
    assert_eq!(german.title, "Dein 2023");
    assert_eq!(picture(&german).figures[0].value, "1.204");
}

#[test]
fn picture_has_figures_and_hashtags_and_no_accounts() {
    let fake = Fake::new::<AnnualReports>();
    let alice = fake.account("alice");
    store(&fake, alice, 2023, 0);
    let shown = picture(&fake.page(alice, "report").with("year", 2023).show().unwrap());
    assert_eq!((shown.id.as_str(), shown.title.as_str()), ("annual-report-2023", "My 2023"));
    assert_eq!((shown.lead.as_deref(), shown.words.as_slice()), (Some("The oracle"), &["#Rooks".to_owned()][..]));
    assert_eq!(shown.bars.unwrap().bars.len(), 12);
    let alt = "My 2023: The oracle, 1,204 posts, 0 new followers, 66 % posted less here, #Rooks";
    assert_eq!(shown.alt, alt);
}
