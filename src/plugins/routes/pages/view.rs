//! The content of a page from a plugin: checked, and converted for the template.

use std::collections::BTreeSet;

use minijinja::{Value, context};
use rookery_plugin_host::exports::pages::{
    Bar, Bars, Block, Field, Figure, Form, Input, Item, Items, People, Picture, Statuses, View,
};

use super::Again;
use super::named::Named;
use context::Language;
use rookery_http::web::next::is_own_path;

/// Most blocks of a page.
const BLOCKS: usize = 100;
/// Most items, fields, choices, figures, bars and words of a page together.
const PARTS: usize = 1_000;
/// Most statuses of a page, and most people.
const NAMED: usize = 100;
/// Most pictures of a page.
const PICTURES: usize = 4;
/// Most figures of a picture.
const FIGURES: usize = 4;
/// Most bars of a picture.
const BARS: usize = 31;
/// Longest name of a form, field, action or item, in bytes.
const NAME_MAX: usize = 64;

/// Checks a view.
///
/// # Errors
/// A message for the plugin's author.
pub(super) fn check(view: &View) -> Result<(), String> {
    if view.blocks.len() > BLOCKS {
        return Err(format!("{} blocks are more than {BLOCKS}", view.blocks.len()));
    }
    let parts: usize = view.blocks.iter().map(parts).sum();
    if parts > PARTS {
        return Err(format!("{parts} items, fields and other parts are more than {PARTS}"));
    }
    check_counts(view)?;
    pictures(view)?;
    let forms = view.blocks.iter().filter_map(|block| if let Block::Form(form) = block { Some(form) } else { None });
    unique("forms", forms.clone().map(|form| form.id.as_str()))?;
    forms.clone().try_for_each(self::form)?;
    for block in &view.blocks {
        if let Block::Items(items) = block {
            unique("items", items.items.iter().map(|item| item.id.as_str()))?;
            items.items.iter().try_for_each(item)?;
        }
    }
    let actions = view.blocks.iter().flat_map(actions);
    match actions.into_iter().find(|action| forms.clone().any(|form| form.id == *action)) {
        Some(both) => Err(format!("{both:?} is a form and an action")),
        None => Ok(()),
    }
}

fn parts(block: &Block) -> usize {
    match block {
        Block::Text(_) => 0,
        Block::Figures(figures) => figures.figures.len(),
        Block::Bars(bars) => bars.bars.len(),
        Block::Statuses(statuses) => statuses.statuses.len(),
        Block::People(people) => people.people.len(),
        Block::Picture(picture) => {
            picture.figures.len() + picture.words.len() + picture.bars.as_ref().map_or(0, |bars| bars.bars.len())
        }
        Block::Form(form) => {
            let choices = |field: &Field| if let Input::Choice(choices) = &field.input { choices.len() } else { 0 };
            form.fields.iter().map(|field| 1 + choices(field)).sum()
        }
        Block::Items(items) => items.items.iter().map(|item| 1 + item.actions.len() + item.lines.len()).sum(),
    }
}

/// Checks how many statuses and people there are.
fn check_counts(view: &View) -> Result<(), String> {
    let count = |of: fn(&Block) -> usize| view.blocks.iter().map(of).sum::<usize>();
    let statuses = count(|block| if let Block::Statuses(list) = block { list.statuses.len() } else { 0 });
    let people = count(|block| if let Block::People(list) = block { list.people.len() } else { 0 });
    match (statuses.max(people) > NAMED).then_some((statuses, people)) {
        Some((statuses, people)) => Err(format!("{statuses} statuses, {people} people: at most {NAMED} of each")),
        None => Ok(()),
    }
}

fn pictures(view: &View) -> Result<(), String> {
    let all: Vec<&Picture> = view
        .blocks
        .iter()
        .filter_map(|block| if let Block::Picture(picture) = block { Some(picture) } else { None })
        .collect();
    if all.len() > PICTURES {
        return Err(format!("{} pictures are more than {PICTURES}", all.len()));
    }
    unique("pictures", all.iter().map(|picture| picture.id.as_str()))?;
    all.into_iter().try_for_each(|picture| {
        let Picture { id, figures, bars, .. } = picture;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
        if !id.bytes().all(plain) {
            return Err(format!("the picture {id:?} is not of small letters, digits, _ and -"));
        }
        let bars = bars.as_ref().map_or(0, |bars| bars.bars.len());
        if figures.len() > FIGURES || bars > BARS {
            return Err(format!("the picture {id:?} has more than {FIGURES} figures or {BARS} bars"));
        }
        Ok(())
    })
}

fn actions(block: &Block) -> Vec<&str> {
    let Block::Items(items) = block else { return Vec::new() };
    items.items.iter().flat_map(|item| item.actions.iter().map(|action| action.id.as_str())).collect()
}

fn form(form: &Form) -> Result<(), String> {
    unique("fields", form.fields.iter().map(|field| field.name.as_str()))?;
    form.fields.iter().try_for_each(|field| {
        let name = &field.name;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.bytes().all(plain) || name == "csrf" {
            return Err(format!("the field {name:?} is not of small letters, digits and _, a letter first"));
        }
        Ok(())
    })
}

fn item(item: &Item) -> Result<(), String> {
    unique("actions", item.actions.iter().map(|action| action.id.as_str()))?;
    match item.link.iter().chain(&item.url).find(|path| !is_own_path(path)) {
        Some(path) => Err(format!("{path:?} is no path of this server")),
        None => Ok(()),
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(format!("the name {name:?} among {what} is not of 1 to {NAME_MAX} bytes"));
        }
        if !seen.insert(name) {
            return Err(format!("there are two {what} called {name:?}"));
        }
    }
    Ok(())
}

/// What blocks are rendered with.
pub(super) struct Around<'a> {
    pub(super) again: Option<&'a Again>,
    /// The statuses and accounts that they name.
    pub(super) named: &'a Named,
    /// Makes a URL of a path.
    pub(super) whole: &'a dyn Fn(&str) -> String,
    /// The address of a picture.
    pub(super) picture: &'a dyn Fn(&str) -> String,
    /// A text as HTML, with pictures for shortcodes.
    pub(super) drawn: &'a dyn Fn(&str) -> String,
}

/// A block for the template.
pub(super) fn block(block: &Block, around: &Around<'_>) -> Value {
    let Around { again, named, picture: address, drawn, .. } = *around;
    match block {
        Block::Text(text) => context! { kind => "text", text_html => drawn(text) },
        Block::Form(form) => {
            let again = again.filter(|again| again.form == form.id);
            let fault = again.and_then(|again| fault(again, ""));
            let fields: Vec<Value> = form.fields.iter().map(|of| field(&form.id, of, again)).collect();
            context! { kind => "form", id => form.id, title => form.title, fields, submit => form.submit, error => fault }
        }
        Block::Items(items) => list(items, around),
        Block::Figures(figures) => {
            let of = |figure: &Figure| context! { value => figure.value, label_html => drawn(&figure.label) };
            let figure_rows: Vec<Value> = figures.figures.iter().map(of).collect();
            context! { kind => "figures", title => figures.title, rows => figure_rows }
        }
        Block::Bars(bars) => chart(bars, drawn),
        Block::Statuses(statuses) => shown_statuses(statuses, named),
        Block::People(people) => shown_people(people, named),
        Block::Picture(picture) => {
            let url = address(&picture.id);
            context! { kind => "picture", url, file => format!("{}.png", picture.id), alt => picture.alt }
        }
    }
}

/// The bars of a chart, with their lengths in parts of 100, of the longest.
fn chart(bars: &Bars, drawn: &dyn Fn(&str) -> String) -> Value {
    let longest = bars.bars.iter().map(|bar| bar.length).max().unwrap_or_default().max(1);
    let row = |bar: &Bar| {
        let part = u128::from(bar.length) * 100 / u128::from(longest);
        context! { label_html => drawn(&bar.label), length => bar.length, part, rest => 100 - part, longest => bar.length == longest }
    };
    let rows: Vec<Value> = bars.bars.iter().map(row).collect();
    context! { kind => "bars", title => bars.title, upright => bars.upright, rows }
}

fn shown_statuses(statuses: &Statuses, named: &Named) -> Value {
    let rows: Vec<Value> = statuses
        .statuses
        .iter()
        .filter_map(|status| Some(context! { title => status.title, status => named.statuses.get(&status.id)? }))
        .collect();
    context! { kind => "statuses", title => statuses.title, rows }
}

fn shown_people(people: &People, named: &Named) -> Value {
    let rows: Vec<Value> = people
        .people
        .iter()
        .filter_map(|person| Some(context! { account => named.people.get(&person.id)?, line => person.line }))
        .collect();
    context! { kind => "people", title => people.title, rows }
}

fn list(items: &Items, around: &Around<'_>) -> Value {
    let Around { again, whole, drawn, .. } = *around;
    let shown = |item: &Item| {
        let actions: Vec<Value> = item
            .actions
            .iter()
            .map(|action| context! { id => action.id, label => action.label, danger => action.danger })
            .collect();
        let sent = |again: &&Again| again.sent.get("_item").and_then(|sent| sent.as_str()) == Some(&item.id);
        let about = again.filter(|again| item.actions.iter().any(|action| action.id == again.form)).filter(sent);
        context! {
            id => item.id,
            title => item.title,
            title_html => drawn(&item.title),
            lines_html => item.lines.iter().map(|line| drawn(line)).collect::<Vec<_>>(),
            link => item.link,
            url => item.url.as_deref().map(whole),
            actions,
            error => about.and_then(|again| again.faults.first()).map(|(_, why)| why),
        }
    };
    let rows: Vec<Value> = items.items.iter().map(shown).collect();
    context! { kind => "items", title => items.title, rows, none => items.none }
}

/// A field, with the submitted value where its form is shown again.
fn field(form: &str, field: &Field, again: Option<&Again>) -> Value {
    let sent = again.map(|again| again.sent.get(&field.name).and_then(|sent| sent.as_str()).unwrap_or_default());
    let (kind, most, lines, least, choices) = match &field.input {
        Input::Text((most, lines)) => ("text", Some(i64::from(*most)), *lines, None, Vec::new()),
        Input::Integer((least, most)) => ("integer", Some(*most), 1, Some(*least), Vec::new()),
        Input::Flag => ("flag", None, 1, None, Vec::new()),
        Input::Choice(choices) => {
            ("choice", None, 1, None, choices.iter().map(|choice| [&*choice.value, &*choice.label]).collect())
        }
    };
    let ticked = sent.map_or(field.value == "true", |sent| !sent.is_empty());
    context! {
        kind, most, lines, least, choices, ticked,
        id => format!("{form}-{}", field.name),
        name => field.name,
        label => field.label,
        hint => field.hint,
        required => field.required,
        value => sent.unwrap_or(&field.value),
        error => again.and_then(|again| fault(again, &field.name)),
    }
}

/// The error of a field, or of the form under the empty name.
fn fault<'a>(again: &'a Again, name: &str) -> Option<&'a str> {
    again.faults.iter().find(|(field, _)| field == name).map(|(_, why)| why.as_str())
}

/// A sentence about a field, of the server's own words for it.
pub(super) fn in_language(language: Language, words: &str) -> String {
    language.say_error(words).unwrap_or_else(|| format!("It {words}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_field(name: &str) -> Field {
        let (label, value) = ("A".to_owned(), String::new());
        Field { name: name.to_owned(), label, hint: None, input: Input::Flag, required: false, value }
    }

    fn a_form(id: &str, fields: Vec<Field>) -> Block {
        Block::Form(Form { id: id.to_owned(), title: None, fields, submit: "Send".to_owned() })
    }

    fn an_item(id: &str, link: Option<&str>) -> Item {
        Item {
            id: id.to_owned(),
            title: "A".to_owned(),
            lines: Vec::new(),
            link: link.map(str::to_owned),
            url: None,
            actions: Vec::new(),
        }
    }

    fn refused(blocks: Vec<Block>) -> String {
        check(&View { title: "A".to_owned(), blocks, next: None }).expect_err("refused")
    }

    #[test]
    fn view_names_its_parts_once_and_leads_nowhere_else() {
        let items = |items| Block::Items(Items { title: None, items, none: String::new() });
        let good = vec![a_form("a", vec![a_field("x"), a_field("y")]), items(vec![an_item("1", Some("/notes/1"))])];
        assert_eq!(check(&View { title: "A".to_owned(), blocks: good, next: None }), Ok(()));
        assert!(refused(vec![a_form("a", Vec::new()), a_form("a", Vec::new())]).contains("two forms called \"a\""));
        assert!(refused(vec![a_form("a", vec![a_field("x"), a_field("x")])]).contains("two fields called"));
        for name in ["csrf", "_form", "A", "a b"] {
            assert!(refused(vec![a_form("a", vec![a_field(name)])]).contains("small letters"), "{name}");
        }
        assert!(refused(vec![items(vec![an_item("1", None), an_item("1", None)])]).contains("two items"));
        for link in ["https://evil.test/", "//evil.test", "notes", "javascript:alert(1)"] {
            assert!(refused(vec![items(vec![an_item("1", Some(link))])]).contains("no path of this server"), "{link}");
        }
        let many = (0..=PARTS).map(|id| an_item(&id.to_string(), None)).collect();
        assert!(refused(vec![items(many)]).contains("more than 1000"));
    }
}
