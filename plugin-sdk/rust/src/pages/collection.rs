//! The page that many plugins begin with: the things that a person makes and names, with a form for a new one.

use super::words::{CREATE, DELETE, TITLE};
use super::{Field, Form, Item, Items, Outcome, Submission, Text, View};
use crate::{Context, Id, Result};

/// The words of such a page, and where it is: `/circles`, each circle at `/circles/{id}`.
///
/// ```ignore
/// #[page("circles")]
/// fn all(ctx: &Context, _: &Request) -> Result<View> {
///     let rows: Vec<(Id, String, String)> = sql::counted(ctx.account()).all()?;
///     Ok(CIRCLES.view(ctx, rows))
/// }
///
/// #[submit("circles")]
/// fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
///     CIRCLES.submit(ctx, sent, |title| make(ctx, title), |id| delete(ctx, id))
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// The title of the page.
    pub title: Text,
    /// What such a thing is.
    pub lead: Text,
    /// The heading of the form.
    pub new: Text,
    /// Shown while there is none.
    pub none: Text,
    /// The notice that one was made.
    pub created: Text,
    /// The notice that one was deleted.
    pub deleted: Text,
    /// The page's path; each thing's own page is below it, at its id.
    pub path: &'static str,
    /// Longest title of a thing, in characters.
    pub longest: u32,
    /// Whether a new one's own page is shown next.
    pub opens_new: bool,
}

impl Collection {
    /// The page with `things`: of each its id, title and a line about it.
    #[must_use]
    pub fn view(&self, ctx: &Context, things: impl IntoIterator<Item = (Id, String, String)>) -> View {
        let items = things.into_iter().map(|(id, title, line)| {
            Item::new(id, title).line(line).link(self.place(id)).action("delete", DELETE.of(ctx), true)
        });
        let create = Form::new("create", CREATE.of(ctx)).titled(self.new.of(ctx)).field(self.named(ctx, ""));
        View::new(self.title.of(ctx)).text(self.lead.of(ctx)).form(create).items(Items::new(self.none.of(ctx), items))
    }

    /// Handles a submission of the page. `make` creates a thing with this title, `delete` deletes one.
    ///
    /// # Errors
    /// The errors of both; a message of `make` that is [invalid](crate::Error::Invalid) is shown at the title instead.
    pub fn submit(
        &self,
        ctx: &Context,
        sent: &Submission,
        make: impl FnOnce(String) -> Result<Id>,
        delete: impl FnOnce(Id) -> Result<()>,
    ) -> Result<Outcome> {
        if sent.form != "create" {
            delete(sent.item_id()?)?;
            return Ok(Outcome::notice(self.deleted.of(ctx)));
        }
        let made = make(sent.text("title").to_owned());
        let done = match &made {
            Ok(id) if self.opens_new => Outcome::notice_at(self.created.of(ctx), self.place(*id)),
            Ok(_) | Err(_) => Outcome::notice(self.created.of(ctx)),
        };
        Outcome::of(made, "title", done)
    }

    /// The field for the title of a thing, which is called `title`.
    #[must_use]
    pub fn named(&self, ctx: &Context, value: &str) -> Field {
        Field::text("title", TITLE.of(ctx), self.longest).required().value(value)
    }

    /// The path of a thing's own page.
    #[must_use]
    pub fn place(&self, id: Id) -> String {
        format!("{}/{id}", self.path)
    }
}
