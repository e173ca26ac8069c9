//! Pages as the server asks for them. Permissions and the fields of forms are not enforced here.

use super::Fake;
use super::calls::context;
use crate::contract::pages::{Outcome, Request, Submission, Value, View};
use crate::{Context, Result};

impl Fake {
    /// What is on the page `page`, for `account`.
    pub fn show_page(&self, account: impl Into<i64>, page: &str, after: Option<&str>) -> Result<View> {
        let request = asked(account.into(), page, after);
        let context = Context::new(request.ctx.clone());
        self.state(|state| state.caller = Some(request.ctx.caller.clone()));
        (self.calls.page)(&context, &request)
    }

    /// Sends the form or action `form` of a page, with `item` for an action. What it changes is kept if it is done.
    pub fn submit_page(
        &self,
        account: impl Into<i64>,
        page: &str,
        form: &str,
        item: Option<&str>,
        values: &[(&str, Value)],
    ) -> Result<Outcome> {
        let request = asked(account.into(), page, None);
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let submission = Submission { form: form.to_owned(), item: item.map(str::to_owned), values };
        let submit = self.calls.submit;
        self.transaction(
            Some(request.ctx.caller.clone()),
            |outcome| matches!(outcome, Ok(Outcome::Done(_))),
            || submit(&Context::new(request.ctx.clone()), &request, &submission),
        )
    }
}

fn asked(account: i64, page: &str, after: Option<&str>) -> Request {
    let ctx = context(Some(account), &[], 1);
    Request { ctx, page: page.to_owned(), params: Vec::new(), after: after.map(str::to_owned) }
}
