//! Sign-ups as the server asks about them.

use serde_json::Value;

use super::Fake;
use super::calls::context;
use crate::contract::sign_up::Admission;
use crate::{Context, Id, Result, SignUp};

impl Fake {
    /// Asks the `sign-up` hook about a sign-up with these parameters: an object.
    pub fn judge_sign_up(&self, params: &Value) -> Result<Option<Admission>> {
        (self.calls.sign_up_judge)(&Context::new(context(None, &[], 0)), &SignUp::new(params.to_string()))
    }

    /// Has the hook count the sign-up of the account that is made next. Its changes are rolled back unless it admits
    /// the sign-up.
    pub fn claim_sign_up(&self, params: &Value, account: impl Into<i64>) -> Result<Option<Admission>> {
        let (ctx, account) = (context(None, &[], 0), Id(account.into()));
        let claim = self.calls.sign_up_claim;
        self.transaction(
            Some(ctx.caller.clone()),
            |said| matches!(said, Ok(Some(_))),
            || claim(&Context::new(ctx), &SignUp::new(params.to_string()), account),
        )
    }
}
