//! Recipes 28 and 30: pages for people with a browser.

use rookery_plugin::pages::words::number;
use rookery_plugin::pages::{
    self, Field, Figure, Figures, Form, Item, Items, Outcome, Picture, Statuses, Submission, View,
};
use rookery_plugin::prelude::*;

use crate::sql;

#[page("my_shelves")]
fn my_shelves(ctx: &Context, request: &pages::Request) -> Result<View> {
    let before = request.after.as_deref().and_then(|after| after.parse().ok());
    let most = Page { max_id: before, since_id: None, min_id: None, limit: 40 };
    let shelves: Vec<(Id, String)> = sql::shelves_of(ctx.account(), &most).all()?;
    let last = shelves.last().filter(|_| shelves.len() == 40).map(|(id, _)| id.to_string());
    let items = shelves
        .into_iter()
        .map(|(id, title)| Item::new(id, title).link(format!("/shelves/{id}")).action("delete", "Delete", true));
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

#[page("my_shelf")]
fn my_shelf(ctx: &Context, request: &pages::Request) -> Result<View> {
    let (id, title): (Id, String) = sql::shelf(request.id("id")?, ctx.account()).one()?;
    let newest = Page { max_id: None, since_id: None, min_id: None, limit: 40 };
    let ids: Vec<Id> = sql::statuses_on(id, &newest).all()?;
    let figure = Figure::new(number(ctx, ids.len() as u64), "posts");
    let alt = format!("My shelf {title}: {} posts", figure.value);
    let picture = Picture::new(format!("shelf-{id}"), format!("My shelf: {title}"), alt).figures([figure.clone()]);
    let shown = Statuses::new(ids.into_iter().take(3).map(|id| ("On the shelf", id)));
    Ok(View::new(title).figures(Figures::new([figure])).statuses(shown).picture(picture))
}
