//! The pages, natively, against the SDK's fake server.

use rookery_plugin::pages::{Block, Item, Outcome, Value, View};
use rookery_plugin::prelude::*;
use rookery_plugin::test::Fake;

use crate::tests::{COLLECTIONS, listed, of, server, texts};

/// The ids of a page's forms.
fn forms(view: &View) -> Vec<String> {
    let form = |block: &Block| if let Block::Form(form) = block { Some(form.id.clone()) } else { None };
    view.blocks.iter().filter_map(form).collect()
}

fn items(view: &View) -> Vec<Item> {
    let items = |block: &Block| if let Block::Items(items) = block { items.items.clone() } else { Vec::new() };
    view.blocks.iter().flat_map(items).collect()
}

fn people(view: &View) -> Vec<i64> {
    let people = |block: &Block| if let Block::People(people) = block { people.people.clone() } else { Vec::new() };
    view.blocks.iter().flat_map(people).map(|person| person.id).collect()
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn is_done(outcome: &Result<Outcome>) -> bool {
    matches!(outcome, Ok(Outcome::Done(_)))
}

fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[test]
fn collections_are_made_changed_and_deleted_on_pages() {
    let (fake, [alice, bob]) = server(["alice", "bob"]);
    let all = || items(&fake.page(alice, "collections").show().unwrap());
    assert!(all().is_empty());
    let blank = fake.page(alice, "collections").submit("create", &[("title", text(" "))]);
    assert!(matches!(blank, Ok(Outcome::Invalid(_))), "{blank:?}");
    let made = fake.page(alice, "collections").submit("create", &[("title", text("Rooks"))]);
    assert!(is_done(&made), "{made:?}");
    let one = all().remove(0);
    assert_eq!((one.title.as_str(), one.lines.as_slice()), ("Rooks", ["Accounts: 0".to_owned()].as_slice()));
    let page = fake.page(alice, "collection").with("id", &one.id);
    assert_eq!(forms(&page.show().unwrap()), ["edit", "add", "delete"]);

    let edit = |tag: &str| {
        let values = [
            ("title", text("Crows")),
            ("description", text("loud")),
            ("tag", text(tag)),
            ("sensitive", Value::Flag(false)),
            ("discoverable", Value::Flag(true)),
        ];
        page.submit("edit", &values)
    };
    assert!(matches!(edit("two words"), Ok(Outcome::Invalid(_))));
    assert!(is_done(&edit("#birds")));
    for (address, done) in [("nobody", false), ("@bob", true), ("bob", false)] {
        assert_eq!(is_done(&page.submit("add", &[("address", text(address))])), done, "{address}");
    }
    let path = format!("{COLLECTIONS}/{}", one.id);
    let shown = fake.get(&path).send().ok();
    assert_eq!((&shown["collection"]["name"], &shown["collection"]["tag"]["name"]), (&json!("Crows"), &json!("birds")));
    assert_eq!(listed(&fake, None, &path), texts(&[bob]));
    let item = items(&page.show().unwrap()).remove(0);
    assert_eq!(item.title, "@bob");
    assert!(is_done(&page.press("remove", &item.id)));
    assert!(items(&page.show().unwrap()).is_empty());
    assert!(is_done(&page.submit("delete", &[])));
    assert!(all().is_empty());
}

#[test]
fn others_read_a_collection_and_leave_it() {
    let (fake, [alice, bob, carol]) = server(["alice", "bob", "carol"]);
    let path = of(&fake, alice, &[bob]);
    let at = |fake: &Fake, person: Id| fake.page(person, "collection").with("id", id(&path)).show().unwrap();
    let view = at(&fake, carol);
    assert_eq!((people(&view), forms(&view)), (vec![bob.0], Vec::new()));
    assert_eq!(forms(&at(&fake, bob)), ["leave"]);
    let page = |person: Id| fake.page(person, "collection").with("id", id(&path));
    for (form, person) in [("edit", carol), ("delete", bob), ("add", bob)] {
        let values = [("title", text("mine")), ("address", text("bob"))];
        assert_eq!(page(person).submit(form, &values).unwrap_err().status(), 403, "{form}");
    }
    assert_eq!(page(carol).submit("leave", &[]).unwrap_err(), Error::NotFound);
    assert!(is_done(&page(bob).submit("leave", &[])));
    assert!(people(&at(&fake, carol)).is_empty() && forms(&at(&fake, bob)).is_empty());
    fake.block(alice, carol);
    assert_eq!(page(carol).show().unwrap_err(), Error::NotFound);
}
