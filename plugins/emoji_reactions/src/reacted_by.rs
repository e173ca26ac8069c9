//! Who reacted to a status, and with what.

use rookery_plugin::prelude::*;

use crate::audience;
use crate::emoji::Emoji;
use crate::original::visible;
use crate::people::Config;
use crate::pictures::Pictures;
use crate::sql;

/// An item of the answer.
#[derive(Serialize)]
struct Item {
    id: Id,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    static_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<Option<String>>,
    account: serde_json::Value,
}

#[derive(Row)]
struct ItemRow {
    id: i64,
    account_id: i64,
    name: String,
    domain: String,
    custom: bool,
}

/// `GET /api/v1/statuses/{status}/emoji_reactioned_by`: one item for each reaction, newest first; none where the author
/// does not let the viewer see them.
#[route(get, "/api/v1/statuses/{status}/emoji_reactioned_by", scopes = ["read:accounts"])]
fn reacted_by(ctx: &Context, status: Id, page: Page) -> Result<Output> {
    let config: Config = config::all()?;
    let (viewer, status) = (ctx.viewer(), visible(status)?.ok_or(Error::NotFound)?);
    if !config.enable_emoji_reaction || !audience::sees(&config, viewer, &status)? {
        return Output::json(&[(); 0]);
    }
    let (before, after) = (page.max_id.unwrap_or(i64::MAX), page.since_id.unwrap_or(0));
    let rows: Vec<ItemRow> =
        sql::reacted_by(status.id, viewer.map_or(0, i64::from), before, after, page.limit).all()?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    Ok(Output::template(&items(rows)?)?.with_cursor(&ids, page.limit))
}

/// The items of a page. Custom emojis without a picture are left out, as in statuses.
fn items(rows: Vec<ItemRow>) -> Result<Vec<Item>> {
    let emoji = |row: ItemRow| (row.id, row.account_id, Emoji::new(row.name, row.domain, row.custom));
    let reactions: Vec<(i64, i64, Emoji)> = rows.into_iter().map(emoji).collect();
    let pictures = Pictures::of(reactions.iter().map(|(_, _, emoji)| emoji))?;
    let item = |(id, account, emoji): (i64, i64, Emoji)| {
        let picture = pictures.find(&emoji);
        Item {
            id: Id(id),
            url: picture.map(|picture| picture.url.clone()),
            static_url: picture.map(|picture| picture.static_url.clone()),
            domain: picture.map(|picture| picture.domain.clone()),
            account: account_hole(account),
            name: emoji.name.name,
        }
    };
    Ok(reactions.into_iter().filter(|(_, _, emoji)| pictures.show(emoji)).map(item).collect())
}
