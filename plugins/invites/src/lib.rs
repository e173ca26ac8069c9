//! Invitations: links with which people let others in.
//!
//! A usable invitation opens registration and replaces approval; the new account may follow the inviter as soon as it
//! can be used. Apps check a code at its link; people open the sign-up page there, which is the server's. They are made
//! and expired on two pages, and nowhere else: the contract has no REST for that. Uses are counted in the transaction
//! that makes the account.
//!
//! Spec: the contract's group `invites`.

mod invite;
mod manage;
#[cfg(test)]
mod tests;
mod words;

use rookery_plugin::prelude::*;

use crate::invite::Invite;

/// The plugin.
#[plugin]
pub struct Invites;

/// `GET /invite/{invite_code}`, asked for as JSON
#[route(get, "/invite/{invite_code}")]
fn check(invite_code: String) -> Result<Output> {
    let invite: Invite = sql::by_code(invite_code).one()?;
    if !invite.is_open(system::now()) || !invite::may_invite(invite.account_id)? {
        return Err(Error::Unauthorized("This invitation is used up or expired".into()));
    }
    Output::template(&json!({ "invite_code": invite.code, "instance_api_url": url_hole("/api/v2/instance") }))
}

/// The effect of a code.
#[on(sign_up_judge)]
fn judge(_ctx: &Context, sign_up: &SignUp) -> Result<Option<Admission>> {
    let Some(code) = code(sign_up) else { return Ok(None) };
    let invite: Option<Invite> = sql::by_code(code).optional()?;
    match invite.filter(|invite| invite.is_open(system::now())) {
        Some(invite) => admission(invite.account_id),
        None => Ok(None),
    }
}

/// Counts a use for the account that is made next.
#[on(sign_up_claim)]
fn claim(_ctx: &Context, sign_up: &SignUp, account: Id) -> Result<Option<Admission>> {
    let Some(code) = code(sign_up) else { return Ok(None) };
    let counted: Option<(Id, Id)> = sql::count_use(code).optional()?;
    let Some((invite, inviter)) = counted else { return Ok(None) };
    sql::arrive(account, invite).exec()?;
    admission(inviter)
}

/// The sent code. A value that is not text is ignored.
fn code(sign_up: &SignUp) -> Option<String> {
    sign_up.param("invite_code").ok().flatten()
}

/// The admission by an invitation of `inviter`: none if the inviter may no longer use the server.
fn admission(inviter: Id) -> Result<Option<Admission>> {
    let admission = Admission { opens: true, approves: true, invited_by: Some(inviter.0) };
    Ok(invite::may_invite(inviter)?.then_some(admission))
}

/// Makes the new account follow the inviter if the invitation says so.
#[on(events, kinds = ["account.created"])]
fn follow(batch: &[Event]) -> Result<()> {
    let accounts: Vec<i64> = batch.iter().filter_map(Event::id).collect();
    let ties: Vec<(Id, Id)> = sql::to_follow(&accounts).all()?;
    for (arrived, inviter) in ties {
        match core_write::follow(arrived, &[inviter]) {
            // Their account cannot be used any more.
            Err(error) if error.status() == 404 => {}
            other => drop(other?),
        }
    }
    Ok(())
}
