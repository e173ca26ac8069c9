//! The pages, natively, against the SDK's fake server.

use rookery_plugin::pages::{Block, Form, Input, Outcome, Value, View};
use rookery_plugin::prelude::*;
use rookery_plugin::test::{Fake, Visit};
use serde_json::json;

use crate::Antennas;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// A new antenna, made on the page.
fn made(fake: &Fake, owner: Id, title: &str) -> String {
    match fake.page(owner, "antennas").submit("create", &[("title", text(title))]) {
        Ok(Outcome::Done((_, Some(to)))) => to.trim_start_matches("/antennas/").to_owned(),
        other => panic!("{other:?}"),
    }
}

fn at<'a>(fake: &'a Fake, owner: Id, antenna: &str) -> Visit<'a> {
    fake.page(owner, "antenna").with("id", antenna)
}

fn form(view: &View, id: &str) -> Form {
    let forms = view.blocks.iter().filter_map(|block| if let Block::Form(form) = block { Some(form) } else { None });
    forms.into_iter().find(|form| form.id == id).expect("a form").clone()
}

fn value(view: &View, of: &str, field: &str) -> String {
    form(view, of).fields.into_iter().find(|known| known.name == field).expect("a field").value
}

fn lists(accounts: &str, domains: &str, tags: &str, keywords: &str) -> [(&'static str, Value); 4] {
    [("accounts", text(accounts)), ("domains", text(domains)), ("tags", text(tags)), ("keywords", text(keywords))]
}

fn settings(title: &str, place: &str, on: &[&str]) -> Vec<(&'static str, Value)> {
    let flags = ["stl", "ltl", "with_media_only", "ignore_reblog"];
    let flags = flags.into_iter().map(|name| (name, Value::Flag(on.contains(&name))));
    [("title", text(title)), ("place", text(place))].into_iter().chain(flags).collect()
}

fn wrong(outcome: Result<Outcome>) -> Vec<(String, String)> {
    match outcome {
        Ok(Outcome::Invalid(faults)) => faults,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_setting_is_on_the_page_and_saved_by_it() {
    let fake = Fake::new::<Antennas>();
    let alice = fake.account("alice");
    let antenna = made(&fake, alice, "Birds");
    let page = at(&fake, alice, &antenna);
    assert_eq!(value(&page.show().unwrap(), "settings", "place"), "nowhere");

    let outcome = page.submit("settings", &settings("Media at home", "home", &["with_media_only", "ignore_reblog"]));
    assert!(matches!(outcome, Ok(Outcome::Done((_, Some(to)))) if to == "/antennas"));
    let shown = fake.get(&format!("/api/v1/antennas/{antenna}")).as_account(alice).send().ok();
    let expected = json!({
        "id": antenna, "title": "Media at home", "stl": false, "ltl": false, "insert_feeds": true,
        "with_media_only": true, "ignore_reblog": true, "accounts_count": 0, "domains_count": 0, "tags_count": 0,
        "keywords_count": 0, "list": null,
    });
    assert_eq!(shown, expected);
    let view = page.show().unwrap();
    assert_eq!((view.title.as_str(), value(&view, "settings", "place")), ("Media at home", "home".to_owned()));
    assert_eq!(value(&view, "settings", "ignore_reblog"), "true");

    page.submit("settings", &settings("Social", "nowhere", &["stl", "ltl"])).unwrap();
    let shown = fake.get(&format!("/api/v1/antennas/{antenna}")).as_account(alice).send().ok();
    assert_eq!([&shown["stl"], &shown["ltl"], &shown["insert_feeds"]], [&json!(true), &json!(true), &json!(false)]);
    assert_eq!(wrong(page.submit("settings", &settings("A", "999", &[])))[0].0, "place", "a list of nobody");
}

#[test]
fn list_is_replaced_by_its_field() {
    let fake = Fake::new::<Antennas>();
    let [alice, bob, carol] = ["alice", "bob", "carol"].map(|name| fake.account(name));
    let antenna = made(&fake, alice, "Birds");
    let page = at(&fake, alice, &antenna);
    page.submit("listed", &lists("@bob\n", "rooks.example", "#Rooks crows", "a rook\ncrow\ncrow")).unwrap();
    page.submit("excluded", &lists("carol", "", "jays", "x")).unwrap();

    let view = page.show().unwrap();
    let of = |form: &str| ["accounts", "domains", "tags", "keywords"].map(|field| value(&view, form, field));
    assert_eq!(of("listed"), ["@bob", "rooks.example", "rooks\ncrows", "a rook\ncrow"]);
    assert_eq!(of("excluded"), ["@carol", "", "jays", "x"]);

    page.submit("listed", &lists("carol", "", "crows", "")).unwrap();
    let view = page.show().unwrap();
    let of = |form: &str| ["accounts", "domains", "tags", "keywords"].map(|field| value(&view, form, field));
    assert_eq!(of("listed"), ["@carol", "", "crows", ""]);
    assert_eq!(of("excluded"), ["@carol", "", "jays", "x"], "the other side is as it was");

    let left_out = fake.status(carol, "#crows");
    assert_eq!(fake.fan_out(&[left_out]).unwrap(), []);
    page.submit("excluded", &lists("", "", "", "")).unwrap();
    let caught = [fake.status(carol, "#crows"), fake.status(bob, "#crows")];
    let caught = fake.fan_out(&caught).unwrap();
    assert_eq!(caught.len(), 1, "the page's changes are matched from the next status on: {caught:?}");
}

#[test]
fn faults_are_shown_at_their_field_and_nothing_is_stored() {
    let fake = Fake::new::<Antennas>();
    let alice = fake.account("alice");
    fake.account("bob");
    let antenna = made(&fake, alice, "Birds");
    let page = at(&fake, alice, &antenna);
    page.submit("listed", &lists("", "", "rooks", "")).unwrap();

    let faults = wrong(page.submit("listed", &lists("bob\nnobody@else.test", "", "rooks crows", "x")));
    let fields: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["keywords", "accounts"]);
    assert_eq!(faults[1].1, "This server knows no account @nobody@else.test.");
    let german = page.clone().in_language("de").submit("listed", &lists("", "", "", "x"));
    assert_eq!(wrong(german)[0].1, "Jedes braucht mindestens 2 Zeichen.");
    let many: String = (0..101).map(|number| format!("word {number}\n")).collect();
    assert_eq!(wrong(page.submit("listed", &lists("", "", "", &many)))[0].1, "At most 100 fit.");
    let long: String = (0..100).map(|number| format!("{number:->200}\n")).collect();
    assert_eq!(wrong(page.submit("listed", &lists("", "", "", &long)))[0].0, "", "all lists together");
    let view = page.show().unwrap();
    assert_eq!(["tags", "accounts"].map(|field| value(&view, "listed", field)), ["rooks", ""]);

    assert_eq!(wrong(page.submit("settings", &settings(" ", "home", &[])))[0].0, "title");
    assert!(made(&fake, alice, "Social").parse::<i64>().is_ok());
    for id in ["1", "2"] {
        let social = at(&fake, alice, id).submit("settings", &settings("Social", "home", &["stl"]));
        assert_eq!(matches!(social, Ok(Outcome::Done(_))), id == "1", "one social timeline at home: {social:?}");
    }
}

#[test]
fn antennas_are_made_up_to_their_number_and_are_their_owners_own() {
    let fake = Fake::new::<Antennas>();
    let [alice, bob] = ["alice", "bob"].map(|name| fake.account(name));
    let first = made(&fake, alice, "Birds");
    at(&fake, alice, &first).submit("listed", &lists("", "", "rooks crows", "")).unwrap();
    let page = fake.page(alice, "antennas").show().unwrap();
    let items = page.blocks.iter().find_map(|block| if let Block::Items(items) = block { Some(items) } else { None });
    let item = items.unwrap().items[0].clone();
    assert_eq!(item.lines, ["Its own timeline only · Hashtags: 2"]);
    assert_eq!(item.link, Some(format!("/antennas/{first}")));

    assert_eq!(at(&fake, bob, &first).show(), Err(Error::NotFound));
    for form in ["settings", "listed", "excluded"] {
        assert_eq!(at(&fake, bob, &first).submit(form, &settings("Mine", "home", &[])), Err(Error::NotFound), "{form}");
    }
    assert_eq!(fake.page(bob, "antennas").press("delete", &first), Err(Error::NotFound));

    for number in 1..30 {
        made(&fake, alice, &number.to_string());
    }
    let one_more = fake.page(alice, "antennas").in_language("ja").submit("create", &[("title", text("31"))]);
    assert_eq!(wrong(one_more), [("title".to_owned(), "アンテナは 30 件までです。".to_owned())]);
    assert!(fake.page(alice, "antennas").press("delete", &first).is_ok());
    assert_eq!(at(&fake, alice, &first).show(), Err(Error::NotFound));
    let page = at(&fake, alice, &made(&fake, alice, "Room again")).show().unwrap();
    let Some(Input::Choice(places)) = form(&page, "settings").fields.into_iter().nth(1).map(|field| field.input) else {
        panic!("no choice");
    };
    assert_eq!(places.len(), 2, "she has no list");
}
