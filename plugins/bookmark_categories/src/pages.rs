//! The pages on which people manage their categories in a browser: all of them, and one.
//!
//! What is filed is shown by apps; here stands how much it is.

use rookery_plugin::pages::{Field, Form, Item, Items, Outcome, Request, Submission, Text, View};
use rookery_plugin::prelude::*;

use crate::category::{Category, TITLE_MAX};
use crate::{make, own, sql};

const TITLE: Text =
    Text(&[("en", "Bookmark categories"), ("de", "Lesezeichen-Kategorien"), ("ja", "ブックマークの分類")]);
const LEAD: Text = Text(&[
    (
        "en",
        "Categories sort what you bookmarked. A post may be in several; whoever deletes a category keeps the bookmarks.",
    ),
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
const NAME: Text = Text(&[("en", "Title"), ("de", "Titel"), ("ja", "タイトル")]);
const CREATE: Text = Text(&[("en", "Create"), ("de", "Anlegen"), ("ja", "作成")]);
const SAVE: Text = Text(&[("en", "Save"), ("de", "Speichern"), ("ja", "保存")]);
const DELETE: Text = Text(&[("en", "Delete"), ("de", "Löschen"), ("ja", "削除")]);
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
    let items = rows.into_iter().map(|row| {
        Item::new(row.id, row.title)
            .line(posts(ctx, row.entries))
            .link(format!("/bookmark_categories/{}", row.id))
            .action("delete", DELETE.of(ctx), true)
    });
    let create = Form::new("create", CREATE.of(ctx)).titled(NEW.of(ctx)).field(title(ctx, ""));
    Ok(View::new(TITLE.of(ctx)).text(LEAD.of(ctx)).form(create).items(Items::new(NONE.of(ctx), items)))
}

/// What `/bookmark_categories` sends.
#[submit("categories")]
fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    if sent.form == "create" {
        let made = make(ctx, sent.text("title").to_owned());
        return Outcome::of(made, "title", Outcome::notice(CREATED.of(ctx)));
    }
    match sql::delete(sent.item_id()?, ctx.account()).exec()? {
        0 => Err(Error::NotFound),
        _ => Ok(Outcome::notice(DELETED.of(ctx))),
    }
}

/// `/bookmark_categories/{id}`
#[page("category")]
fn one(ctx: &Context, request: &Request) -> Result<View> {
    let category = own(ctx, request.id("id")?)?;
    let rename = Form::new("rename", SAVE.of(ctx)).field(title(ctx, &category.title));
    Ok(View::new(category.title).form(rename))
}

/// What `/bookmark_categories/{id}` sends.
#[submit("category")]
fn renamed(ctx: &Context, request: &Request, sent: &Submission) -> Result<Outcome> {
    let title = crate::category::title(sent.text("title").to_owned());
    let renamed = title.and_then(|title| sql::rename(request.id("id")?, ctx.account(), title).one::<Category>());
    Outcome::of(renamed, "title", Outcome::notice_at(SAVED.of(ctx), "/bookmark_categories"))
}

fn title(ctx: &Context, value: &str) -> Field {
    Field::text("title", NAME.of(ctx), TITLE_MAX).required().value(value)
}

fn posts(ctx: &Context, count: i64) -> String {
    let words = if count == 1 {
        Text(&[("en", "1 post"), ("de", "1 Beitrag"), ("ja", "投稿 1 件")])
    } else {
        Text(&[("en", "{} posts"), ("de", "{} Beiträge"), ("ja", "投稿 {} 件")])
    };
    words.of(ctx).replace("{}", &count.to_string())
}
