//! The pages on which people manage their collections in a browser, and where others read them: `Collection.url`.

use rookery_plugin::pages::words::{DELETE, SAVE};
use rookery_plugin::pages::{
    Collection as Listing, Field, Form, Item, Items, Outcome, People, Request, Submission, Text, View,
};
use rookery_plugin::prelude::*;

use crate::entity::{Collection, CollectionRow};
use crate::sent::{DESCRIPTION_MAX, NAME_MAX, Sent, TAG_MAX};
use crate::{change, check_owner, delete_own, items, make, sql, visible};

/// Longest address of an account, in characters.
const ADDRESS_MAX: u32 = 320;

const TITLE: Text = Text(&[("en", "Collections"), ("de", "Sammlungen"), ("ja", "コレクション")]);
const LEAD: Text = Text(&[
    ("en", "A collection is a list of accounts that you recommend to others. Its accounts are notified."),
    ("de", "Eine Sammlung ist eine Liste von Konten, die du anderen empfiehlst. Diese Konten werden benachrichtigt."),
    ("ja", "コレクションは、ほかの人におすすめするアカウントの一覧です。載せたアカウントには通知されます。"),
]);
const NEW: Text = Text(&[("en", "New collection"), ("de", "Neue Sammlung"), ("ja", "新しいコレクション")]);
const NONE: Text = Text(&[
    ("en", "You have no collection yet."),
    ("de", "Du hast noch keine Sammlung."),
    ("ja", "コレクションはまだありません。"),
]);
const CREATED: Text = Text(&[
    ("en", "The collection was created."),
    ("de", "Die Sammlung ist angelegt."),
    ("ja", "コレクションを作成しました。"),
]);
const SAVED: Text = Text(&[
    ("en", "The collection was saved."),
    ("de", "Die Sammlung ist gespeichert."),
    ("ja", "コレクションを保存しました。"),
]);
const DELETED: Text = Text(&[
    ("en", "The collection was deleted."),
    ("de", "Die Sammlung ist gelöscht."),
    ("ja", "コレクションを削除しました。"),
]);
const ACCOUNTS: Text = Text(&[("en", "Accounts"), ("de", "Konten"), ("ja", "アカウント")]);
const EMPTY: Text = Text(&[
    ("en", "There is no account in it."),
    ("de", "Es ist kein Konto darin."),
    ("ja", "アカウントはありません。"),
]);
const DESCRIPTION: Text = Text(&[("en", "Description"), ("de", "Beschreibung"), ("ja", "説明")]);
const HASHTAG: Text = Text(&[("en", "Hashtag"), ("de", "Hashtag"), ("ja", "ハッシュタグ")]);
const SENSITIVE: Text =
    Text(&[("en", "Mark as sensitive"), ("de", "Als heikel kennzeichnen"), ("ja", "閲覧注意にする")]);
const DISCOVERABLE: Text =
    Text(&[("en", "Show on my profile"), ("de", "In meinem Profil zeigen"), ("ja", "プロフィールに表示する")]);
const ADD: Text = Text(&[("en", "Add an account"), ("de", "Konto hinzufügen"), ("ja", "アカウントを追加")]);
const ADDRESS: Text = Text(&[("en", "Name"), ("de", "Name"), ("ja", "ユーザー名")]);
const ADDRESS_HINT: Text = Text(&[
    ("en", "An account of this server that wants to be discovered"),
    ("de", "Ein Konto dieses Servers, das gefunden werden möchte"),
    ("ja", "見つけやすくする設定をしている、このサーバーのアカウント"),
]);
const ADDED: Text =
    Text(&[("en", "The account was added."), ("de", "Das Konto ist hinzugefügt."), ("ja", "追加しました。")]);
const REMOVE: Text = Text(&[("en", "Remove"), ("de", "Entfernen"), ("ja", "外す")]);
const REMOVED: Text =
    Text(&[("en", "The account was removed."), ("de", "Das Konto ist entfernt."), ("ja", "外しました。")]);
const LEAVE: Text = Text(&[
    ("en", "Remove me from this collection"),
    ("de", "Mich aus dieser Sammlung entfernen"),
    ("ja", "このコレクションから自分を外す"),
]);

const COLLECTIONS: Listing = Listing {
    title: TITLE,
    lead: LEAD,
    new: NEW,
    none: NONE,
    created: CREATED,
    deleted: DELETED,
    path: "/collections",
    longest: NAME_MAX,
    opens_new: true,
};

/// `/collections`
#[page("collections")]
fn all(ctx: &Context, _: &Request) -> Result<View> {
    let rows: Vec<(Id, String, i64)> = sql::counted(ctx.account()).all()?;
    let line = |(id, name, items): (Id, String, i64)| (id, name, format!("{}: {items}", ACCOUNTS.of(ctx)));
    Ok(COLLECTIONS.view(ctx, rows.into_iter().map(line)))
}

#[submit("collections")]
fn sent(ctx: &Context, _: &Request, sent: &Submission) -> Result<Outcome> {
    let named = |name| Sent { name: Some(name), ..Sent::default() };
    COLLECTIONS.submit(ctx, sent, |name| make(ctx, named(name)), |id| delete_own(ctx, id))
}

/// `/collections/{id}`
#[page("collection")]
fn one(ctx: &Context, request: &Request) -> Result<View> {
    let row = visible(ctx, request.id("id")?)?;
    let collection = Collection::render_one(&row, ctx.viewer())?;
    let people = People::new(collection.items.iter().map(|item| (item.account_id, ""))).titled(ACCOUNTS.of(ctx));
    if row.account_id == ctx.account() {
        return managed(ctx, &row, &collection);
    }
    let mut view = View::new(row.name.clone());
    for text in [&row.description].into_iter().filter(|text| !text.is_empty()) {
        view = view.text(text);
    }
    if collection.items.iter().any(|item| item.account_id == ctx.account()) {
        view = view.form(Form::new("leave", LEAVE.of(ctx)));
    }
    Ok(if collection.items.is_empty() { view.text(EMPTY.of(ctx)) } else { view.people(people) })
}

/// The page for the owner.
fn managed(ctx: &Context, row: &CollectionRow, collection: &Collection) -> Result<View> {
    let ids: Vec<i64> = collection.items.iter().map(|item| item.account_id.0).collect();
    let accounts = core::accounts(&ids)?;
    let listed = collection.items.iter().zip(accounts).filter_map(|(item, account)| {
        let address = format!("@{}", account?.acct);
        Some(Item::new(item.id, address).action("remove", REMOVE.of(ctx), false))
    });
    let edit = Form::new("edit", SAVE.of(ctx))
        .field(COLLECTIONS.named(ctx, &row.name))
        .field(Field::text("description", DESCRIPTION.of(ctx), DESCRIPTION_MAX).value(&row.description))
        .field(Field::text("tag", HASHTAG.of(ctx), TAG_MAX).value(row.tag.as_deref().unwrap_or_default()))
        .field(Field::flag("sensitive", SENSITIVE.of(ctx)).value(row.sensitive))
        .field(Field::flag("discoverable", DISCOVERABLE.of(ctx)).value(row.discoverable));
    let address = Field::text("address", ADDRESS.of(ctx), ADDRESS_MAX).required().hint(ADDRESS_HINT.of(ctx));
    Ok(View::new(row.name.clone())
        .form(edit)
        .form(Form::new("add", ADD.of(ctx)).titled(ADD.of(ctx)).field(address))
        .items(Items::new(EMPTY.of(ctx), listed).titled(ACCOUNTS.of(ctx)))
        .form(Form::new("delete", DELETE.of(ctx))))
}

#[submit("collection")]
fn changed(ctx: &Context, request: &Request, sent: &Submission) -> Result<Outcome> {
    let id = request.id("id")?;
    match sent.form.as_str() {
        "edit" => Outcome::of(change(ctx, id, edited(sent)), "", Outcome::notice(SAVED.of(ctx))),
        "add" => add(ctx, id, sent.text("address")),
        "delete" => {
            delete_own(ctx, id)?;
            Ok(Outcome::notice_at(DELETED.of(ctx), COLLECTIONS.path))
        }
        "leave" => {
            let item: Id = sql::own_item(id, ctx.account()).one()?;
            items::withdraw(ctx, id, item)?;
            Ok(Outcome::notice(REMOVED.of(ctx)))
        }
        _ => {
            items::take_out(ctx, id, sent.item_id()?)?;
            Ok(Outcome::notice(REMOVED.of(ctx)))
        }
    }
}

fn edited(sent: &Submission) -> Sent {
    Sent {
        name: Some(sent.text("title").to_owned()),
        description: Some(Some(sent.text("description").to_owned())),
        tag_name: Some(Some(sent.text("tag").to_owned())),
        sensitive: Some(sent.flag("sensitive")),
        discoverable: Some(sent.flag("discoverable")),
        ..Sent::default()
    }
}

fn add(ctx: &Context, id: Id, address: &str) -> Result<Outcome> {
    check_owner(ctx, id)?;
    let found = core::accounts_by_acct(&[address.trim().trim_start_matches('@').to_owned()])?;
    let Some(account) = found.into_iter().flatten().next() else {
        return Outcome::of(Err::<(), _>(items::not_addable()), "address", Outcome::notice(ADDED.of(ctx)));
    };
    Outcome::of(items::put(ctx.account(), id, &[account.id]), "address", Outcome::notice(ADDED.of(ctx)))
}
