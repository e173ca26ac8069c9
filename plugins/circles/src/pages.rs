//! The pages on which people manage their circles in a browser: all of them, and one with its members.

use rookery_plugin::pages::words::{SAVE, address};
use rookery_plugin::pages::{Collection, Field, Form, Item, Items, Outcome, Request, Submission, Text, View};
use rookery_plugin::prelude::*;
use rookery_plugin::titled::TITLE_MAX;

use crate::{CIRCLES, put, sql};

/// Members of a page.
const PAGE: usize = 40;
/// Longest address of an account, in characters.
const ADDRESS_MAX: u32 = 320;

const TITLE: Text = Text(&[("en", "Circles"), ("de", "Kreise"), ("ja", "サークル")]);
const LEAD: Text = Text(&[
    ("en", "A circle is a part of your followers that you can post to. Its members do not learn that they are in it."),
    (
        "de",
        "Ein Kreis ist ein Teil derer, die dir folgen, und du kannst nur für ihn schreiben. Niemand erfährt, in welchen Kreisen er ist.",
    ),
    (
        "ja",
        "サークルはフォロワーの一部に向けて投稿するためのものです。誰がどのサークルにいるかは本人にも分かりません。",
    ),
]);
const NEW: Text = Text(&[("en", "New circle"), ("de", "Neuer Kreis"), ("ja", "新しいサークル")]);
const NONE: Text = Text(&[
    ("en", "You have no circle yet."),
    ("de", "Du hast noch keinen Kreis."),
    ("ja", "サークルはまだありません。"),
]);
const CREATED: Text =
    Text(&[("en", "The circle is there."), ("de", "Der Kreis ist angelegt."), ("ja", "サークルを作成しました。")]);
const SAVED: Text =
    Text(&[("en", "The circle is saved."), ("de", "Der Kreis ist gespeichert."), ("ja", "サークルを保存しました。")]);
const DELETED: Text = Text(&[
    ("en", "The circle is gone. What you posted to it keeps its readers."),
    ("de", "Der Kreis ist gelöscht. Was du für ihn geschrieben hast, behält seine Leser."),
    ("ja", "サークルを削除しました。投稿済みのものはそのまま読めます。"),
]);
const MEMBERS: Text = Text(&[("en", "Members"), ("de", "Mitglieder"), ("ja", "メンバー")]);
const NOBODY: Text =
    Text(&[("en", "It has no members."), ("de", "Niemand ist darin."), ("ja", "メンバーはいません。")]);
const REMOVE: Text = Text(&[("en", "Take out"), ("de", "Herausnehmen"), ("ja", "外す")]);
const REMOVED: Text = Text(&[
    ("en", "They are not in the circle any more."),
    ("de", "Das Konto ist nicht mehr im Kreis."),
    ("ja", "サークルから外しました。"),
]);
const ADD: Text = Text(&[("en", "Add somebody"), ("de", "Jemanden aufnehmen"), ("ja", "メンバーを追加")]);
const ADDRESS: Text = Text(&[("en", "Address"), ("de", "Adresse"), ("ja", "アドレス")]);
const ADDRESS_HINT: Text = Text(&[
    ("en", "A follower: name or name@server"),
    ("de", "Jemand, der dir folgt: Name oder Name@Server"),
    ("ja", "あなたのフォロワー: ユーザー名 または ユーザー名@サーバー"),
]);
const ADDED: Text =
    Text(&[("en", "They are in the circle."), ("de", "Das Konto ist im Kreis."), ("ja", "追加しました。")]);
const NO_FOLLOWER: Text = Text(&[
    ("en", "You have no follower with this address."),
    ("de", "Niemand mit dieser Adresse folgt dir."),
    ("ja", "このアドレスのフォロワーはいません。"),
]);

/// The page of all.
const OVERVIEW: Collection = Collection {
    title: TITLE,
    lead: LEAD,
    new: NEW,
    none: NONE,
    created: CREATED,
    deleted: DELETED,
    path: "/circles",
    longest: TITLE_MAX,
    opens_new: false,
};

/// A circle, and how many are in it.
#[derive(Row)]
struct Counted {
    id: Id,
    title: String,
    members: i64,
}

#[derive(Row)]
struct Member {
    id: Id,
    username: String,
    domain: Option<String>,
}

/// `/circles`
#[page("circles")]
fn all(ctx: &Context, _: &Request) -> Result<View> {
    let rows: Vec<Counted> = sql::counted(ctx.account()).all()?;
    let line = |row: Counted| (row.id, row.title, format!("{}: {}", MEMBERS.of(ctx), row.members));
    Ok(OVERVIEW.view(ctx, rows.into_iter().map(line)))
}

/// What `/circles` sends.
#[submit("circles")]
fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    OVERVIEW.submit(ctx, sent, |title| Ok(CIRCLES.create(ctx, title)?.id), |id| CIRCLES.delete(ctx, id))
}

/// `/circles/{id}`
#[page("circle")]
fn one(ctx: &Context, request: &Request) -> Result<View> {
    let circle = CIRCLES.find(ctx, request.id("id")?)?;
    let after: i64 = request.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(0);
    let members: Vec<Member> = sql::named_members(circle.id, after, PAGE + 1).all()?;
    let next = members.get(PAGE - 1).filter(|_| members.len() > PAGE).map(|last| last.id.to_string());
    let items = members.into_iter().take(PAGE).map(|member| {
        let address = address(&member.username, member.domain.as_deref());
        Item::new(member.id, address).action("remove", REMOVE.of(ctx), false)
    });
    let mut view = View::new(circle.title.clone());
    if request.after.is_none() {
        let address = Field::text("address", ADDRESS.of(ctx), ADDRESS_MAX).required().hint(ADDRESS_HINT.of(ctx));
        view = view
            .form(Form::new("rename", SAVE.of(ctx)).field(OVERVIEW.named(ctx, &circle.title)))
            .form(Form::new("add", ADD.of(ctx)).titled(ADD.of(ctx)).field(address));
    }
    Ok(view.items(Items::new(NOBODY.of(ctx), items).titled(MEMBERS.of(ctx))).with_next(next))
}

/// What `/circles/{id}` sends.
#[submit("circle")]
fn changed(ctx: &Context, request: &Request, sent: &Submission) -> Result<Outcome> {
    let circle = CIRCLES.find(ctx, request.id("id")?)?.id;
    match sent.form.as_str() {
        "rename" => {
            let renamed = CIRCLES.rename(ctx, circle, sent.text("title").to_owned());
            Outcome::of(renamed, "title", Outcome::notice_at(SAVED.of(ctx), OVERVIEW.path))
        }
        "add" => add(ctx, circle, sent.text("address")),
        _ => {
            sql::remove(circle, vec![sent.item_id()?.0]).exec()?;
            Ok(Outcome::notice(REMOVED.of(ctx)))
        }
    }
}

fn add(ctx: &Context, circle: Id, address: &str) -> Result<Outcome> {
    let found = core::accounts_by_acct(&[address.trim().trim_start_matches('@').to_owned()])?;
    let Some(account) = found.into_iter().flatten().next() else {
        return Ok(Outcome::wrong("address", NO_FOLLOWER.of(ctx)));
    };
    match put(ctx, circle, &[account.id]) {
        Err(Error::NotFound) => Ok(Outcome::wrong("address", NO_FOLLOWER.of(ctx))),
        done => Outcome::of(done, "address", Outcome::notice(ADDED.of(ctx))),
    }
}
