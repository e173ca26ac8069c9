//! The pages where people make, list and expire invitations: their own, or with `manage_invites` everybody's.
//!
//! The server checked permission, token and the types of sent values; choices are from the page's options.

use rookery_plugin::pages::words::moment;
use rookery_plugin::pages::{self, Field, Form, Item, Items, Outcome, Request, Submission, View};
use rookery_plugin::prelude::{Context, Error, Id, Result, Row, config, page, submit, system};

use crate::invite::{Invite, new_code};
use crate::sql;
use crate::words::Words;

/// Longest comment, in characters.
const COMMENT_MAX: u32 = 420;
/// How often an invitation may be used, as the form offers it.
const USES: [i64; 6] = [1, 5, 10, 25, 50, 100];
/// For how long, in seconds.
const LIFETIMES: [i64; 6] = [1_800, 3_600, 21_600, 43_200, 86_400, 604_800];
/// The lifetime that the form shows at first.
const USUAL_LIFETIME: i64 = 86_400;
/// How many a person may have, unless the admin says otherwise.
const MOST: i64 = 100;
/// Invitations of a page.
const PAGE: usize = 40;
/// How often another code is drawn when one is taken.
const TRIES: usize = 5;

/// An invitation with its creator.
#[derive(Row)]
struct InviteRow {
    id: Id,
    code: String,
    account_id: Id,
    max_uses: Option<i64>,
    uses: i64,
    expires_at: Option<i64>,
    autofollow: bool,
    comment: String,
    username: String,
}

/// `/invites`
#[page("invites")]
fn own(ctx: &Context, request: &Request) -> Result<View> {
    let words = Words::of(ctx);
    let rows: Vec<Invite> = sql::of_account(ctx.account(), before(request), PAGE + 1).all()?;
    let next = next(rows.get(PAGE - 1).map(|row| row.id), rows.len());
    let items = rows.iter().take(PAGE).map(|row| item(ctx, &words, row));
    let mut view = View::new(words.title).text(words.lead);
    if request.after.is_none() {
        view = view.form(form(&words));
    }
    Ok(view.items(Items::new(words.none, items)).with_next(next))
}

/// `/invites/all`
#[page("all_invites")]
fn all(ctx: &Context, request: &Request) -> Result<View> {
    let words = Words::of(ctx);
    let rows: Vec<InviteRow> = sql::of_all(before(request), PAGE + 1).all()?;
    let next = next(rows.get(PAGE - 1).map(|row| row.id), rows.len());
    let items = rows.into_iter().take(PAGE).map(|row| {
        let by = words.by(&row.username);
        item(ctx, &words, &row.into()).line(by)
    });
    Ok(View::new(words.title_all).items(Items::new(words.none, items)).with_next(next))
}

impl From<InviteRow> for Invite {
    fn from(made: InviteRow) -> Self {
        let InviteRow { id, code, account_id, max_uses, uses, expires_at, autofollow, comment, .. } = made;
        Self { id, code, account_id, max_uses, uses, expires_at, autofollow, comment }
    }
}

/// What `/invites` sends.
#[submit("invites")]
fn sent(ctx: &Context, _: &Request, submission: &Submission) -> Result<Outcome> {
    if submission.form == "create" {
        return create(ctx, submission);
    }
    expired(ctx, sql::expire(submission.item_id()?, ctx.account()).exec()?)
}

/// What `/invites/all` sends.
#[submit("all_invites")]
fn sent_by_staff(ctx: &Context, _: &Request, submission: &Submission) -> Result<Outcome> {
    expired(ctx, sql::expire_any(submission.item_id()?).exec()?)
}

fn expired(ctx: &Context, changed: u64) -> Result<Outcome> {
    if changed == 0 {
        return Err(Error::NotFound);
    }
    Ok(Outcome::notice(Words::of(ctx).expired))
}

fn create(ctx: &Context, submission: &Submission) -> Result<Outcome> {
    make_room(ctx)?;
    let chosen = |name: &str| submission.text(name).parse::<i64>().ok();
    let expires_at = chosen("expires_in").map(|seconds| system::now() + seconds * 1_000);
    let comment = submission.text("comment").trim();
    for _ in 0..TRIES {
        let code = new_code();
        let (max_uses, autofollow) = (chosen("max_uses"), submission.flag("autofollow"));
        let made: Option<Id> =
            sql::create(code, ctx.account(), max_uses, expires_at, autofollow, comment).optional()?;
        if made.is_some() {
            return Ok(Outcome::notice(Words::of(ctx).created));
        }
    }
    Err(Error::internal("every code that was drawn is taken"))
}

/// Deletes expired invitations if needed for one more invitation of the caller.
///
/// # Errors
/// 422 `invites.limit` when as many as a person may have can still be used.
fn make_room(ctx: &Context) -> Result<()> {
    let most: i64 = config::get("max_per_person")?.unwrap_or(MOST);
    sql::hold_inviter(ctx.account()).exec()?;
    let surplus = sql::count(ctx.account()).one::<i64>()? - most + 1;
    if surplus <= 0 {
        return Ok(());
    }
    let gone = sql::forget_expired(ctx.account(), surplus).exec()?;
    if i64::try_from(gone).is_ok_and(|gone| gone < surplus) {
        return Err(Error::with_code(422, "invites.limit", Words::of(ctx).too_many(most)));
    }
    Ok(())
}

fn form(words: &Words) -> Form {
    let uses = USES.map(|most| (most.to_string(), words.times(most)));
    let lifetimes = LIFETIMES.map(|seconds| (seconds.to_string(), words.lifetime(seconds)));
    let or = |first: &str, rest: [(String, String); 6]| {
        std::iter::once((String::new(), first.to_owned())).chain(rest).collect::<Vec<_>>()
    };
    Form::new("create", words.create)
        .titled(words.new)
        .field(Field::choice("max_uses", words.max_uses, or(words.unlimited, uses)))
        .field(Field::choice("expires_in", words.expires_in, or(words.never, lifetimes)).value(USUAL_LIFETIME))
        .field(Field::flag("autofollow", words.autofollow))
        .field(Field::lines("comment", words.comment, COMMENT_MAX, 2).hint(words.comment_hint))
}

fn item(ctx: &Context, words: &Words, invite: &Invite) -> Item {
    let now = system::now();
    let mut item = Item::new(invite.id, &invite.code).line(words.used(invite.uses, invite.max_uses));
    item = match invite.expires_at {
        None => item,
        Some(at) if invite.lasts(now) => item.line(words.until(&moment(ctx, at))),
        Some(at) => item.line(words.over(&moment(ctx, at))),
    };
    if invite.autofollow {
        item = item.line(words.follows);
    }
    if !invite.comment.is_empty() {
        item = item.line(&invite.comment);
    }
    if invite.is_open(now) {
        item = item.url(format!("/invite/{}", invite.code));
    }
    if invite.lasts(now) {
        item = item.action("expire", words.expire, true);
    }
    item
}

/// Only invitations with smaller ids are on the page.
fn before(request: &pages::Request) -> i64 {
    request.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(i64::MAX)
}

/// Where the next page begins, after one whose last row is `last`, of `found` rows.
fn next(last: Option<Id>, found: usize) -> Option<String> {
    last.filter(|_| found > PAGE).map(|id| id.to_string())
}
