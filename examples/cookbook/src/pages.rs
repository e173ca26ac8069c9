//! Recipe 27: a page for people with a browser.

use rookery_plugin::pages::{self, Field, Form, Item, Items, Outcome, Submission, View};
use rookery_plugin::prelude::*;

use crate::sql;

#[page("my_shelves")]
fn my_shelves(ctx: &Context, request: &pages::Request) -> Result<View> {
    let before = request.after.as_deref().and_then(|after| after.parse().ok());
    let most = Page { max_id: before, since_id: None, min_id: None, limit: 40 };
    let shelves: Vec<(Id, String)> = sql::shelves_of(ctx.account(), &most).all()?;
    let last = shelves.last().filter(|_| shelves.len() == 40).map(|(id, _)| id.to_string());
    let items = shelves.into_iter().map(|(id, title)| Item::new(id, title).action("delete", "Delete", true));
    let add = Form::new("add", "Add").field(Field::text("title", "Title", 100).required());
    Ok(View::new("Shelves").form(add).items(Items::new("You have no shelf yet.", items)).with_next(last))
}

#[submit("my_shelves")]
fn change_shelves(ctx: &Context, _: &pages::Request, sent: &Submission) -> Result<Outcome> {
    if sent.form == "add" {
        let title = sent.text("title");
        if title.contains('/') {
            return Ok(Outcome::wrong("title", "A title has no slash."));
        }
        let _: (Id, String) = sql::add_shelf(ctx.account(), title).one()?;
        return Ok(Outcome::notice("The shelf is there."));
    }
    match sql::delete_shelf(sent.item_id()?, ctx.account()).exec()? {
        0 => Err(Error::NotFound),
        _ => Ok(Outcome::notice("The shelf is gone.")),
    }
}
