//! The pages on which people manage their categories in a browser: all of them, and one.
//!
//! Apps show the statuses; the pages show their number.

use rookery_plugin::pages::words::{SAVE, number};
use rookery_plugin::pages::{Collection, Form, Outcome, Request, Submission, Text, View};
use rookery_plugin::prelude::*;
use rookery_plugin::titled::TITLE_MAX;

use crate::{CATEGORIES, sql};

const TITLE: Text =
    Text(&[("en", "Bookmark categories"), ("de", "Lesezeichen-Kategorien"), ("ja", "ブックマークの分類")]);
const LEAD: Text = Text(&[
    ("en", "Categories sort what you bookmarked. A post may be in several; deleting a category keeps the bookmarks."),
    (
        "de",
        "Kategorien ordnen deine Lesezeichen. Ein Beitrag kann in mehreren stehen; mit einer Kategorie geht kein Lesezeichen verloren.",
    ),
    (
        "ja",
        "ブックマークを分類できます。一つの投稿を複数の分類に入れられます。分類を削除してもブックマークは残ります。",
    ),
]);
const NEW: Text = Text(&[("en", "New category"), ("de", "Neue Kategorie"), ("ja", "新しい分類")]);
const NONE: Text = Text(&[
    ("en", "You have no category yet."),
    ("de", "Du hast noch keine Kategorie."),
    ("ja", "分類はまだありません。"),
]);
const CREATED: Text =
    Text(&[("en", "The category is there."), ("de", "Die Kategorie ist angelegt."), ("ja", "分類を作成しました。")]);
const SAVED: Text =
    Text(&[("en", "The category is saved."), ("de", "Die Kategorie ist gespeichert."), ("ja", "分類を保存しました。")]);
const DELETED: Text =
    Text(&[("en", "The category is gone."), ("de", "Die Kategorie ist gelöscht."), ("ja", "分類を削除しました。")]);

/// The page of all.
const OVERVIEW: Collection = Collection {
    title: TITLE,
    lead: LEAD,
    new: NEW,
    none: NONE,
    created: CREATED,
    deleted: DELETED,
    path: "/bookmark_categories",
    longest: TITLE_MAX,
    opens_new: false,
};

/// A category, and how many statuses are filed in it.
#[derive(Row)]
struct Counted {
    id: Id,
    title: String,
    entries: i64,
}

/// `/bookmark_categories`
#[page("categories")]
fn all(ctx: &Context, _: &Request) -> Result<View> {
    let rows: Vec<Counted> = sql::counted(ctx.account()).all()?;
    Ok(OVERVIEW.view(ctx, rows.into_iter().map(|row| (row.id, row.title, posts(ctx, row.entries)))))
}

/// What `/bookmark_categories` sends.
#[submit("categories")]
fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    OVERVIEW.submit(ctx, sent, |title| Ok(CATEGORIES.create(ctx, title)?.id), |id| CATEGORIES.delete(ctx, id))
}

/// `/bookmark_categories/{id}`
#[page("category")]
fn one(ctx: &Context, request: &Request) -> Result<View> {
    let category = CATEGORIES.find(ctx, request.id("id")?)?;
    let rename = Form::new("rename", SAVE.of(ctx)).field(OVERVIEW.named(ctx, &category.title));
    Ok(View::new(category.title).form(rename))
}

/// What `/bookmark_categories/{id}` sends.
#[submit("category")]
fn renamed(ctx: &Context, request: &Request, sent: &Submission) -> Result<Outcome> {
    let renamed = CATEGORIES.rename(ctx, request.id("id")?, sent.text("title").to_owned());
    Outcome::of(renamed, "title", Outcome::notice_at(SAVED.of(ctx), OVERVIEW.path))
}

fn posts(ctx: &Context, count: i64) -> String {
    let words = if count == 1 {
        Text(&[("en", "1 post"), ("de", "1 Beitrag"), ("ja", "投稿 1 件")])
    } else {
        Text(&[("en", "{} posts"), ("de", "{} Beiträge"), ("ja", "投稿 {} 件")])
    };
    words.of(ctx).replace("{}", &number(ctx, count.unsigned_abs()))
}
