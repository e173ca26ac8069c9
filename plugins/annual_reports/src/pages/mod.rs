//! The pages of the reports: a list of the years, a year with its picture to share, and a year for others ([`shared`]).
//!
//! The first two show stored reports, read or unread, to their account. Statuses and accounts are named by their ids: the server
//! renders the ones that the account may still see. The picture has only figures and hashtags.

pub(crate) mod shared;
#[cfg(test)]
mod tests;
mod words;

use rookery_plugin::pages::words::number;
use rookery_plugin::pages::{Bars, Figure, Figures, Item, Items, People, Picture, Request, Statuses, Text, View};
use rookery_plugin::prelude::*;

use self::words::*;
use crate::data::{Counted, Data, Month, Named};
use crate::{StoredReport, share, sql};

/// Most years that are listed.
const YEARS: usize = 100;
/// Most hashtags and applications on the page.
const TAGS: usize = 10;
/// Most hashtags of the picture.
const WORDS: usize = 5;
/// Most accounts of a list.
const FEW: usize = 12;

/// `/annual_reports`
#[page("reports")]
fn reports(ctx: &Context, _: &Request) -> Result<View> {
    let kept: Vec<StoredReport> = sql::reports(ctx.account(), YEARS).all()?;
    let mut items = Vec::with_capacity(kept.len());
    for kept in kept {
        let data: Data = serde_json::from_str(&kept.data)?;
        let posts = format!("{} {}", number(ctx, data.type_distribution.total), POSTS.of(ctx));
        let line = format!("{} · {posts}", archetype(data.archetype).0.of(ctx));
        items.push(
            Item::new(kept.year, kept.year.to_string()).line(line).link(format!("/annual_reports/{}", kept.year)),
        );
    }
    Ok(View::new(REPORTS.of(ctx)).text(LEAD.of(ctx)).items(Items::new(NONE.of(ctx), items)))
}

/// `/annual_reports/{year}`
#[page("report")]
fn report(ctx: &Context, request: &Request) -> Result<View> {
    let kept: StoredReport = sql::report(ctx.account(), request.id("year")?).one()?;
    let data: Data = serde_json::from_str(&kept.data)?;
    let (called, why) = archetype(data.archetype);
    let mut view = View::new(filled(ctx, YOURS, kept.year))
        .text(format!("{}. {}", called.of(ctx), why.of(ctx)))
        .picture(picture(ctx, kept.year, &data))
        .figures(Figures::new(figures(ctx, &data)))
        .bars(months(ctx, &data, |month| month.statuses).titled(MONTHS.of(ctx)))
        .bars(kinds(ctx, &data))
        .statuses(top(ctx, &data))
        .bars(bars(&data.top_hashtags, "#").titled(HASHTAGS.of(ctx)))
        .people(people(ctx, &data.commonly_interacted_with_accounts, ANSWERS).titled(TALKED_TO.of(ctx)))
        .people(people(ctx, &data.most_reblogged_accounts, TIMES).titled(REBLOGGED.of(ctx)));
    if data.time_series.iter().any(|month| month.followers > 0) {
        view = view.bars(months(ctx, &data, |month| month.followers).titled(NEW_BY_MONTH.of(ctx)));
    }
    view = view.bars(bars(&data.most_used_apps, "").titled(APPS.of(ctx)));
    let link =
        Item::new("link", FOR_OTHERS.of(ctx)).line(FOR_OTHERS_HINT.of(ctx)).url(share::path(ctx.account(), &kept)?);
    Ok(view.items(Items::new("", [link]).titled(SHARE.of(ctx))))
}

/// The picture of a year, for sharing: without other people.
fn picture(ctx: &Context, year: i64, data: &Data) -> Picture {
    let (title, lead) = (filled(ctx, MINE, year), archetype(data.archetype).0.of(ctx));
    let figures = figures_for_others(ctx, data);
    let words: Vec<String> = data.top_hashtags.iter().take(WORDS).map(|tag| format!("#{}", tag.name)).collect();
    let said = figures.iter().map(|figure| format!("{} {}", figure.value, figure.label));
    let alt = [format!("{title}: {lead}")].into_iter().chain(said).chain(words.clone()).collect::<Vec<_>>().join(", ");
    Picture::new(format!("annual-report-{year}"), title, alt)
        .lead(lead)
        .figures(figures)
        .bars(months(ctx, data, |month| month.statuses))
        .words(words)
}

fn figures(ctx: &Context, data: &Data) -> Vec<Figure> {
    let sum = |of: fn(&Month) -> u64| number(ctx, data.time_series.iter().map(of).sum());
    let mut figures = vec![
        Figure::new(number(ctx, data.type_distribution.total), POSTS.of(ctx)),
        Figure::new(sum(|month| month.followers), FOLLOWERS.of(ctx)),
        Figure::new(sum(|month| month.following), FOLLOWING.of(ctx)),
    ];
    // Fewer than one of 100 is nothing to tell.
    let less = data.percentiles.statuses.floor();
    if less >= 1.0 {
        figures.push(Figure::new(format!("{less} %"), POSTED_LESS.of(ctx)));
    }
    figures
}

/// The figures, without those about others.
fn figures_for_others(ctx: &Context, data: &Data) -> Vec<Figure> {
    figures(ctx, data).into_iter().filter(|figure| figure.label != FOLLOWING.of(ctx)).collect()
}

fn months(ctx: &Context, data: &Data, of: fn(&Month) -> u64) -> Bars {
    let names = MONTH_NAMES.iter().map(|name| name.of(ctx));
    Bars::new(names.zip(data.time_series.iter().map(of))).upright()
}

fn kinds(ctx: &Context, data: &Data) -> Bars {
    let kinds = data.type_distribution;
    let bars = [(STANDALONE, kinds.standalone), (REPLIES, kinds.replies), (REBLOGS, kinds.reblogs)];
    Bars::new(bars.map(|(name, count)| (name.of(ctx), count))).titled(KINDS.of(ctx))
}

fn top(ctx: &Context, data: &Data) -> Statuses {
    Statuses::new(top_of(data).map(|(title, id)| (title.of(ctx), id))).titled(TOP.of(ctx))
}

/// The statuses with the most of each, with their titles.
fn top_of(data: &Data) -> impl Iterator<Item = (Text, Id)> {
    let top = data.top_statuses;
    let all = [(MOST_REBLOGGED, top.by_reblogs), (MOST_FAVOURITED, top.by_favourites), (MOST_REPLIED, top.by_replies)];
    all.into_iter().filter_map(|(title, id)| Some((title, id?)))
}

fn bars(list: &[Named], sign: &str) -> Bars {
    Bars::new(list.iter().take(TAGS).map(|one| (format!("{sign}{}", one.name), one.count)))
}

fn people(ctx: &Context, list: &[Counted], line: Text) -> People {
    let line = |count| line.of(ctx).replace("{}", &number(ctx, count));
    People::new(list.iter().take(FEW).map(|one| (one.account_id, line(one.count))))
}

fn filled(ctx: &Context, text: Text, year: i64) -> String {
    text.of(ctx).replace("{}", &year.to_string())
}
