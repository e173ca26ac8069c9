//! Pages as the server asks for them. Permissions and the fields of forms are not enforced here.

use std::fmt::Display;

use super::Fake;
use super::calls::context;
use crate::contract::pages::{Outcome, Request, Submission, Value, View};
use crate::contract::types::CallContext;
use crate::{Context, Result};

/// The visitor of a page.
#[derive(Clone, Debug)]
pub struct Visit<'a> {
    fake: &'a Fake,
    request: Request,
}

impl Fake {
    /// `account` at the page `page`, which is named by its id: `fake.page(alice, "circle").with("id", 7).show()`.
    #[must_use]
    pub fn page(&self, account: impl Into<i64>, page: &str) -> Visit<'_> {
        self.visit(page, context(Some(account.into()), &[], 1))
    }

    /// A visitor at the page `page`, which the manifest declares with `auth = "none"`.
    #[must_use]
    pub fn open_page(&self, page: &str) -> Visit<'_> {
        self.visit(page, context(None, &[], 0))
    }

    fn visit(&self, page: &str, ctx: CallContext) -> Visit<'_> {
        Visit { fake: self, request: Request { ctx, page: page.to_owned(), params: Vec::new(), after: None } }
    }
}

impl Visit<'_> {
    /// With a parameter of the path.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.request.params.push((name.to_owned(), value.to_string()));
        self
    }

    /// At the page that follows this one's `next`.
    #[must_use]
    pub fn after(mut self, after: &str) -> Self {
        self.request.after = Some(after.to_owned());
        self
    }

    /// With this language.
    #[must_use]
    pub fn in_language(mut self, code: &str) -> Self {
        code.clone_into(&mut self.request.ctx.caller.locale);
        self
    }

    /// The content of the page.
    ///
    /// # Errors
    /// The plugin's.
    pub fn show(&self) -> Result<View> {
        let context = Context::new(self.request.ctx.clone());
        self.fake.state(|state| state.caller = Some(self.request.ctx.caller.clone()));
        (self.fake.calls.page)(&context, &self.request)
    }

    /// Submits the form `form`. Its changes are kept if it succeeds.
    ///
    /// # Errors
    /// The plugin's.
    pub fn submit(&self, form: &str, values: &[(&str, Value)]) -> Result<Outcome> {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.send(&Submission { form: form.to_owned(), item: None, values })
    }

    /// Presses the button `action` of an item.
    ///
    /// # Errors
    /// The plugin's.
    pub fn press(&self, action: &str, item: impl Display) -> Result<Outcome> {
        self.send(&Submission { form: action.to_owned(), item: Some(item.to_string()), values: Vec::new() })
    }

    fn send(&self, submission: &Submission) -> Result<Outcome> {
        let submit = self.fake.calls.submit;
        self.fake.transaction(
            Some(self.request.ctx.caller.clone()),
            |outcome| matches!(outcome, Ok(Outcome::Done(_))),
            || submit(&Context::new(self.request.ctx.clone()), &self.request, submission),
        )
    }
}
