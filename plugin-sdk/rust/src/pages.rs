//! Pages for browsers: their content, as data that the server renders.
//!
//! The records of the contract with short ways to make them. A function marked `#[page("id")]` returns the content of a
//! page, a function marked `#[submit("id")]` receives the submissions of its forms and buttons, as values that fit
//! their fields.
//!
//! ```ignore
//! #[page("notes")]
//! fn notes(ctx: &Context, _: &pages::Request) -> Result<View> {
//!     let add = Form::new("add", "Add").field(Field::text("title", "Title", 60).required());
//!     let rows: Vec<Note> = sql::notes(ctx.account()).all()?;
//!     let items = rows.iter().map(|note| Item::new(note.id, &note.title).action("delete", "Delete", true));
//!     Ok(View::new("Notes").form(add).items(Items::new("There are none yet", items)))
//! }
//! ```

mod charts;
mod collection;
pub mod words;

use std::fmt::Display;

use crate::{Context, Error, Id, Result};

pub use self::collection::Collection;
pub use crate::contract::pages::{
    Action, Bar, Bars, Block, Choice, Field, Figure, Figures, Form, Input, Item, Items, Outcome, People, Person,
    Picture, Request, Statuses, Submission, TitledStatus, Value, View,
};

/// A text in several languages, by their codes, English first: `Text(&[("en", "Notes"), ("de", "Notizen")])`.
#[derive(Clone, Copy, Debug)]
pub struct Text(pub &'static [(&'static str, &'static str)]);

impl Text {
    /// In the language of the caller, else in the first.
    #[must_use]
    pub fn of(self, ctx: &Context) -> &'static str {
        let wanted = ctx.caller().locale.split('-').next();
        let found = self.0.iter().find(|(code, _)| Some(*code) == wanted).or_else(|| self.0.first());
        found.map_or("", |(_, text)| text)
    }
}

impl View {
    /// An empty page.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new(), next: None }
    }

    /// Adds a paragraph.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds a form.
    #[must_use]
    pub fn form(mut self, form: Form) -> Self {
        self.blocks.push(Block::Form(form));
        self
    }

    /// Adds a list.
    #[must_use]
    pub fn items(mut self, items: Items) -> Self {
        self.blocks.push(Block::Items(items));
        self
    }

    /// There is more: [`Request::after`](Request) of the page that follows.
    #[must_use]
    pub fn with_next(mut self, next: Option<String>) -> Self {
        self.next = next;
        self
    }
}

impl Form {
    /// A form without fields, and the words of its button.
    #[must_use]
    pub fn new(id: &str, submit: impl Into<String>) -> Self {
        Self { id: id.into(), title: None, fields: Vec::new(), submit: submit.into() }
    }

    /// With a heading.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }
}

impl Field {
    fn new(name: &str, label: impl Into<String>, input: Input) -> Self {
        let value = String::new();
        Self { name: name.into(), label: label.into(), hint: None, input, required: false, value }
    }

    /// A line of at most `most` characters.
    #[must_use]
    pub fn text(name: &str, label: impl Into<String>, most: u32) -> Self {
        Self::new(name, label, Input::Text((most, 1)))
    }

    /// Several lines, at most `most` characters.
    #[must_use]
    pub fn lines(name: &str, label: impl Into<String>, most: u32, lines: u8) -> Self {
        Self::new(name, label, Input::Text((most, lines)))
    }

    /// A whole number.
    #[must_use]
    pub fn integer(name: &str, label: impl Into<String>, least: i64, most: i64) -> Self {
        Self::new(name, label, Input::Integer((least, most)))
    }

    /// A box to tick.
    #[must_use]
    pub fn flag(name: &str, label: impl Into<String>) -> Self {
        Self::new(name, label, Input::Flag)
    }

    /// One of several values, each with its label.
    #[must_use]
    pub fn choice<V: Display, L: Into<String>>(
        name: &str,
        label: impl Into<String>,
        choices: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let choice = |(value, label): (V, L)| Choice { value: value.to_string(), label: label.into() };
        Self::new(name, label, Input::Choice(choices.into_iter().map(choice).collect()))
    }

    /// Must be given.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// With an explanation.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Its initial value.
    #[must_use]
    pub fn value(mut self, value: impl Display) -> Self {
        self.value = value.to_string();
        self
    }
}

impl Items {
    /// A list, and the text for an empty one.
    #[must_use]
    pub fn new(none: impl Into<String>, items: impl IntoIterator<Item = Item>) -> Self {
        Self { title: None, items: items.into_iter().collect(), none: none.into() }
    }

    /// With a heading.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

impl Item {
    /// An item that is only a title.
    #[must_use]
    pub fn new(id: impl Display, title: impl Into<String>) -> Self {
        Self { id: id.to_string(), title: title.into(), lines: Vec::new(), link: None, url: None, actions: Vec::new() }
    }

    /// Adds a line below the title.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Its title leads to this path.
    #[must_use]
    pub fn link(mut self, path: impl Into<String>) -> Self {
        self.link = Some(path.into());
        self
    }

    /// Shows the whole URL of this path.
    #[must_use]
    pub fn url(mut self, path: impl Into<String>) -> Self {
        self.url = Some(path.into());
        self
    }

    /// Adds a button; one that cannot be undone is a `danger`.
    #[must_use]
    pub fn action(mut self, id: &str, label: impl Into<String>, danger: bool) -> Self {
        self.actions.push(Action { id: id.into(), label: label.into(), danger });
        self
    }
}

impl Request {
    /// A parameter of the path.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter of the path that is an id.
    ///
    /// # Errors
    /// [`Error::NotFound`] for anything else.
    pub fn id(&self, name: &str) -> Result<Id> {
        self.param(name).and_then(|id| id.parse().ok()).map(Id).ok_or(Error::NotFound)
    }
}

impl Submission {
    /// The id of the item whose button was pressed.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a form, and for an item whose id is no number.
    pub fn item_id(&self) -> Result<Id> {
        self.item.as_deref().and_then(|id| id.parse().ok()).map(Id).ok_or(Error::NotFound)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A text or choice; empty when it was not given.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        if let Some(Value::Text(text)) = self.value(name) { text } else { "" }
    }

    /// A number, if it was given.
    #[must_use]
    pub fn integer(&self, name: &str) -> Option<i64> {
        if let Some(Value::Integer(number)) = self.value(name) { Some(*number) } else { None }
    }

    /// Whether a box was ticked.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Flag(true)))
    }
}

impl Outcome {
    /// Done: the notice is shown on the same page.
    #[must_use]
    pub fn notice(notice: impl Into<String>) -> Self {
        Self::Done((notice.into(), None))
    }

    /// Done: the notice is shown on the page at `path`.
    #[must_use]
    pub fn notice_at(notice: impl Into<String>, path: impl Into<String>) -> Self {
        Self::Done((notice.into(), Some(path.into())))
    }

    /// `done`, or for an [invalid](Error::Invalid) submission the message at `field`.
    ///
    /// # Errors
    /// Every other one.
    pub fn of<T>(made: Result<T>, field: &str, done: Self) -> Result<Self> {
        match made {
            Ok(_) => Ok(done),
            Err(Error::Invalid(why)) => Ok(Self::wrong(field, why)),
            Err(error) => Err(error),
        }
    }

    /// Something is wrong with a field; with the whole form where `field` is empty.
    #[must_use]
    pub fn wrong(field: &str, why: impl Into<String>) -> Self {
        Self::Invalid(vec![(field.into(), why.into())])
    }
}
